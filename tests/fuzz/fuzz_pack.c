/* SPDX-License-Identifier: MIT
 *
 * Packs of compiled kernels, and entries by themselves, as they come over a network. Any bytes, as
 * they are; and once more with all checksums made right, since no chance finds those. What is read
 * is written again, and comes back the same.
 */
#include "cache/pack.h"

#define XXH_INLINE_ALL
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds) {
        abort();
    }
}

/* What is written of an entry is read as that entry. */
static void write_again(const qn_entry *e, const qn_entry_body *body)
{
    for (int level = 0; level < 2; level++) {
        qn_text out = {0};
        qn_entry again;
        qn_entry_body parts;
        const char *why;
        must(qn_entry_write_row(&out, e, body, level));
        must(qn_entry_read(&again, (qn_str){out.data, out.length}, &why));
        must(qn_entry_open(&parts, &again, &why));
        must(qn_str_same(parts.image, body->image) && qn_str_same(parts.lowered, body->lowered) &&
             qn_str_same(parts.material, body->material) && qn_str_same(again.name, e->name) &&
             again.arch == e->arch && again.kind == e->kind);
        qn_entry_body_free(&parts);
        qn_text_free(&out);
    }
}

static void use_entry(const qn_entry *entry)
{
    const char *why = NULL;
    qn_entry_body body;
    qn_image image;
    if (qn_entry_open(&body, entry, &why)) {
        if (body.lowered.length + body.material.length + body.image.length < 1 << 20) {
            write_again(entry, &body);
        }
        qn_entry_body_free(&body);
    } else {
        must(why != NULL);
    }
    if (qn_entry_image(&image, entry, NULL, &why)) {
        must(image.data[image.size] == '\0');
        qn_image_free(&image);
    }
}

static void use_pack(const char *data, size_t size)
{
    qn_pack_file pack;
    const char *why = NULL;
    if (!qn_pack_memory_open(&pack, data, size, &why)) {
        must(why != NULL);
        return;
    }
    for (size_t row = 0; row < pack.count; row++) {
        qn_entry entry;
        char *room;
        must(qn_pack_file_find(&pack, pack.rows[row].key) <= row);
        if (qn_pack_file_entry(&entry, &room, &pack, row, &why)) {
            use_entry(&entry);
            qn_free(room);
        }
    }
    qn_pack_file_close(&pack);
}

static void put_sum(char *at, XXH128_hash_t sum)
{
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, sum);
    memcpy(at, canonical.digest, sizeof canonical);
}

static void mend_entry(char *data, size_t size)
{
    if (size >= 16) {
        put_sum(data + size - 16, XXH3_128bits(data, size - 16));
    }
}

/* The checksum of head, index and tail, where the tail says that there is an index. */
static void mend_index(char *data, size_t size)
{
    uint64_t offset;
    XXH3_state_t state;
    if (size < QN_PACK_HEAD + QN_PACK_TAIL) {
        return;
    }
    memcpy(&offset, data + size - QN_PACK_TAIL + 8, sizeof offset);
    if (offset > size - QN_PACK_TAIL) {
        return;
    }
    XXH3_128bits_reset(&state);
    XXH3_128bits_update(&state, data, QN_PACK_HEAD);
    XXH3_128bits_update(&state, data + offset, size - 16 - offset);
    put_sum(data + size - 16, XXH3_128bits_digest(&state));
}

static void mend_entries(char *data, size_t size)
{
    qn_pack_file pack;
    const char *why;
    if (qn_pack_memory_open(&pack, data, size, &why)) {
        for (size_t row = 0; row < pack.count; row++) {
            mend_entry(data + pack.rows[row].offset, (size_t)pack.rows[row].bytes);
        }
        qn_pack_file_close(&pack);
    }
}

static void use_bytes(const char *data, size_t size)
{
    qn_entry entry;
    const char *why = NULL;
    if (qn_entry_read(&entry, (qn_str){data, size}, &why)) {
        use_entry(&entry);
    } else {
        must(why != NULL);
    }
    use_pack(data, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = malloc(size + 1);
    must(copy != NULL);
    memcpy(copy, data, size);
    use_bytes(copy, size);
    mend_entry(copy, size);
    use_bytes(copy, size);
    mend_index(copy, size);
    mend_entries(copy, size);
    mend_index(copy, size); /* an entry may reach into what it should not */
    use_bytes(copy, size);
    free(copy);
    return 0;
}
