/* SPDX-License-Identifier: MIT
 *
 * One image as bytes that can leave this machine. In: an image with its key, or bytes from
 * somewhere. Out: the bytes, or the image. All numbers are little-endian:
 *
 *       0  "QNE1"                            80  microseconds of compilation, 8
 *       4  packing, kind, 1 with material    88  bytes of key material, 8
 *       7  0                                 96  bytes of lowered names, 8
 *       8  bytes of the entry, 8            104  bytes of the image, 8
 *      16  key, 16                          112  bytes of the body, as it is stored, 8
 *      32  hash of the material, 32         120  compiler, compiler's text, name, without ends
 *      64  architecture, 4                    +  body: lowered names, material, image
 *      68  bytes of the three texts, 3 x 4    +  XXH3-128 of all before, big end first, 16
 *
 * Any bytes may come in. Nothing is believed before its length is checked, and a length that an
 * unpacked body would have is held against what zstd can reach from the packed one.
 */
#include "cache/entry.h"

#include "cache/little.h"
#include "cache/store.h"

#define XXH_INLINE_ALL
#include <string.h>
#include <xxhash.h>

enum { HEAD = QN_ENTRY_HEAD_BYTES, SUM = 16, TEXTS = 3 };

/* zstd repeats a byte 128 KiB times in a block of 4; and no kernel is as large as this. */
#define ZSTD_MOST  32768u
#define PLAIN_MOST ((uint64_t)1 << 30)

#define LONGEST_MS 1e12 /* of a compilation: 30 years */

static const char magic[4] = {'Q', 'N', 'E', '1'};

static bool no(const char **why, const char *reason)
{
    *why = reason;
    return false;
}

static void sum_of(unsigned char out[SUM], const char *data, size_t bytes)
{
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(data, bytes));
    memcpy(out, canonical.digest, SUM);
}

/* ---- writing -------------------------------------------------------------------------------- */

/* The body, packed when that makes it smaller. */
static bool add_body(qn_text *out, qn_packing *packing, qn_str plain, int level)
{
    size_t packed = 0;
    char *frame = level > 0 ? qn_zstd_pack(&packed, plain.data, plain.length, level) : NULL;
    *packing = frame && packed < plain.length ? QN_PACKED_ZSTD : QN_PACKED_NOT;
    if (*packing == QN_PACKED_ZSTD) {
        qn_text_add(out, frame, packed);
    } else {
        qn_text_add(out, plain.data, plain.length);
    }
    qn_free(frame);
    return !out->failed;
}

static void fill_head(char *head, const qn_entry *e, uint64_t total)
{
    const qn_str texts[TEXTS] = {e->compiler, e->compiler_text, e->name};
    memcpy(head, magic, sizeof magic);
    head[4] = (char)e->packing;
    head[5] = (char)e->kind;
    head[6] = e->has_material;
    qn_little_put(head + 8, total, 8);
    memcpy(head + 16, e->key, sizeof e->key);
    memcpy(head + 32, e->material_hash, sizeof e->material_hash);
    qn_little_put(head + 64, (uint64_t)e->arch, 4);
    for (int k = 0; k < TEXTS; k++) {
        qn_little_put(head + 68 + 4 * k, texts[k].length, 4);
    }
    qn_little_put(
        head + 80,
        e->compile_ms > 0 && e->compile_ms < LONGEST_MS ? (uint64_t)(e->compile_ms * 1e3) : 0, 8);
    qn_little_put(head + 88, e->material_bytes, 8);
    qn_little_put(head + 96, e->lowered_bytes, 8);
    qn_little_put(head + 104, e->image_bytes, 8);
    qn_little_put(head + 112, e->body.length, 8);
}

/* `e` says all but what becomes of the body. */
static bool write_plain(qn_text *out, qn_entry *e, qn_str plain, int level)
{
    char head[HEAD] = {0};
    unsigned char sum[SUM];
    const size_t begin = out->length;
    qn_text_add(out, head, sizeof head);
    qn_text_add(out, e->compiler.data, e->compiler.length);
    qn_text_add(out, e->compiler_text.data, e->compiler_text.length);
    qn_text_add(out, e->name.data, e->name.length);
    const size_t body = out->length;
    if (!add_body(out, &e->packing, plain, level)) {
        return false;
    }
    e->body = (qn_str){NULL, out->length - body};
    fill_head(head, e, out->length - begin + SUM);
    memcpy(out->data + begin, head, sizeof head);
    sum_of(sum, out->data + begin, out->length - begin);
    qn_text_add(out, (const char *)sum, sizeof sum);
    return !out->failed;
}

bool qn_entry_write_row(qn_text *out, const qn_entry *entry, const qn_entry_body *body, int level)
{
    qn_entry e = *entry;
    qn_text plain = {0};
    e.lowered_bytes = body->lowered.length;
    e.image_bytes = body->image.length;
    qn_text_add(&plain, body->lowered.data, body->lowered.length);
    if (e.has_material) {
        e.material_bytes = body->material.length;
        qn_text_add(&plain, body->material.data, body->material.length);
    }
    qn_text_add(&plain, body->image.data, body->image.length);
    bool done = !plain.failed &&
                write_plain(out, &e, (qn_str){plain.data ? plain.data : "", plain.length}, level);
    qn_text_free(&plain);
    return done;
}

bool qn_entry_write(qn_text *out, const qn_entry_source *s)
{
    qn_entry e = {.compiler = qn_str_of(s->row->compiler),
                  .compiler_text = qn_str_of(s->row->compiler_text),
                  .name = qn_str_of(s->row->name),
                  .kind = s->image->kind,
                  .arch = s->row->arch,
                  .compile_ms = s->image->compile_ms,
                  .material_bytes = s->key->material_size,
                  .has_material = !s->without_material};
    qn_row_key(e.key, s->key);
    if (s->material_hash) {
        memcpy(e.material_hash, s->material_hash, sizeof e.material_hash);
    }
    qn_text lowered = {0};
    bool done = qn_row_join(&lowered, s->image->lowered, s->image->lowered_count) &&
                qn_row_join_warnings(&lowered, s->image->log);
    qn_entry_body body = {.lowered = {lowered.data ? lowered.data : "", lowered.length},
                          .material = {s->key->material, s->key->material_size},
                          .image = {s->image->data, s->image->size}};
    done = done && qn_entry_write_row(out, &e, &body, s->level);
    qn_text_free(&lowered);
    return done;
}

/* ---- reading -------------------------------------------------------------------------------- */

uint64_t qn_entry_length(qn_str bytes)
{
    if (bytes.length < HEAD || memcmp(bytes.data, magic, sizeof magic) != 0) {
        return 0;
    }
    return qn_little_get(bytes.data + 8, 8);
}

static bool take_head(qn_entry *e, const char *head, const char **why)
{
    const unsigned packing = (unsigned char)head[4], kind = (unsigned char)head[5],
                   held = (unsigned char)head[6];
    if (packing > QN_PACKED_ZSTD) {
        return no(why, "it is packed in a way that this Quern does not know");
    }
    if (kind < QN_IMAGE_CUBIN || kind > QN_IMAGE_LTO_IR) {
        return no(why, "its image is of a kind that this Quern does not know");
    }
    if (held > 1 || head[7] != 0) {
        return no(why, "its head has bits that this Quern does not know");
    }
    e->packing = (qn_packing)packing;
    e->kind = (qn_image_kind)kind;
    e->has_material = held;
    memcpy(e->key, head + 16, sizeof e->key);
    memcpy(e->material_hash, head + 32, sizeof e->material_hash);
    e->arch = (int)(qn_little_get(head + 64, 4) & INT32_MAX);
    e->compile_ms = (double)qn_little_get(head + 80, 8) / 1e3;
    e->material_bytes = qn_little_get(head + 88, 8);
    e->lowered_bytes = qn_little_get(head + 96, 8);
    e->image_bytes = qn_little_get(head + 104, 8);
    return true;
}

/* The next `length` of what is left; false: there is less. */
static bool take_piece(qn_str *out, qn_str *left, uint64_t length)
{
    if (length > left->length) {
        return false;
    }
    *out = (qn_str){left->data, (size_t)length};
    left->data += length;
    left->length -= (size_t)length;
    return true;
}

/* What the three parts of the body come to, unpacked; false: to nothing that this body can be. */
static bool plain_length(size_t *out, const qn_entry *e)
{
    const uint64_t parts[] = {e->lowered_bytes, e->has_material ? e->material_bytes : 0,
                              e->image_bytes};
    const uint64_t packed = e->packing == QN_PACKED_ZSTD ? ZSTD_MOST : 1,
                   most = QN_MIN((uint64_t)e->body.length * packed, PLAIN_MOST);
    uint64_t sum = 0;
    for (size_t k = 0; k < QN_COUNT(parts); k++) {
        if (parts[k] > most - sum) {
            return false;
        }
        sum += parts[k];
    }
    *out = (size_t)sum;
    return e->packing == QN_PACKED_ZSTD || sum == e->body.length;
}

bool qn_entry_read(qn_entry *out, qn_str bytes, const char **why)
{
    *out = (qn_entry){0};
    *why = NULL;
    if (bytes.length < HEAD + SUM || memcmp(bytes.data, magic, sizeof magic) != 0) {
        return no(why, "it is not an entry of a kernel cache");
    }
    if (qn_entry_length(bytes) != bytes.length) {
        return no(why, "it is cut short, or something follows it");
    }
    unsigned char sum[SUM];
    sum_of(sum, bytes.data, bytes.length - SUM);
    if (memcmp(sum, bytes.data + bytes.length - SUM, SUM) != 0) {
        return no(why, "its checksum is wrong");
    }
    qn_entry e = {0};
    if (!take_head(&e, bytes.data, why)) {
        return false;
    }
    qn_str left = {bytes.data + HEAD, bytes.length - HEAD - SUM};
    qn_str *texts[TEXTS] = {&e.compiler, &e.compiler_text, &e.name};
    bool fits = true;
    for (int k = 0; fits && k < TEXTS; k++) {
        fits = take_piece(texts[k], &left, qn_little_get(bytes.data + 68 + 4 * k, 4));
    }
    size_t plain;
    if (!fits || !take_piece(&e.body, &left, qn_little_get(bytes.data + 112, 8)) ||
        left.length != 0 || !plain_length(&plain, &e)) {
        return no(why, "its lengths do not fit each other");
    }
    *out = e;
    return true;
}

/* ---- what is in it -------------------------------------------------------------------------- */

static bool unpack(qn_str *plain, char **room, const qn_entry *e, const char **why)
{
    *room = NULL;
    if (e->packing == QN_PACKED_NOT) {
        *plain = e->body;
        return true;
    }
    if (!qn_zstd_found()) {
        return no(why, "it is packed with zstd, and libzstd.so.1 was not found (Debian: libzstd1)");
    }
    size_t bytes;
    if (!plain_length(&bytes, e)) {
        return no(why, "its lengths do not fit each other");
    }
    *room = qn_alloc(bytes);
    if (!*room) {
        return no(why, "there is not enough memory to unpack it");
    }
    if (!qn_zstd_unpack(*room, bytes, e->body.data, e->body.length)) {
        qn_free(*room);
        *room = NULL;
        return no(why, "it cannot be unpacked");
    }
    *plain = (qn_str){*room, bytes};
    return true;
}

static bool material_fits(const qn_entry *e, qn_str material)
{
    unsigned char sum[SUM];
    sum_of(sum, material.data, material.length);
    return memcmp(sum, e->key, sizeof e->key) == 0;
}

bool qn_entry_open(qn_entry_body *out, const qn_entry *e, const char **why)
{
    qn_str plain;
    *out = (qn_entry_body){0};
    if (!unpack(&plain, &out->room, e, why)) {
        return false;
    }
    bool whole = take_piece(&out->lowered, &plain, e->lowered_bytes) &&
                 take_piece(&out->material, &plain, e->has_material ? e->material_bytes : 0) &&
                 take_piece(&out->image, &plain, e->image_bytes);
    if (whole && (!e->has_material || material_fits(e, out->material))) {
        return true;
    }
    qn_entry_body_free(out);
    return no(why, "its key is not that of its key material");
}

void qn_entry_body_free(qn_entry_body *body)
{
    qn_free(body->room);
    *body = (qn_entry_body){0};
}

bool qn_entry_is(const qn_entry *e, const qn_key *key, const char *compiler)
{
    unsigned char wanted[16];
    qn_row_key(wanted, key);
    return memcmp(wanted, e->key, sizeof wanted) == 0 && e->material_bytes == key->material_size &&
           (!compiler || !*compiler || qn_str_is(e->compiler, compiler));
}

/* A copy of the image and its names. */
static bool copy_image(qn_image *out, const qn_entry *e, const qn_entry_body *body)
{
    *out = (qn_image){.kind = e->kind, .compile_ms = e->compile_ms};
    out->data = qn_strndup(body->image.data, body->image.length);
    out->size = body->image.length;
    out->log = qn_strdup("");
    if (out->data && out->log && qn_row_split(out, body->lowered)) {
        return true;
    }
    qn_image_free(out);
    return false;
}

bool qn_entry_image(qn_image *out, const qn_entry *e, const qn_key *key, const char **why)
{
    qn_entry_body body;
    *out = (qn_image){0};
    if (!qn_entry_open(&body, e, why)) {
        return false;
    }
    bool fits = !key || (qn_entry_is(e, key, NULL) &&
                         (!e->has_material ||
                          qn_str_same(body.material, (qn_str){key->material, key->material_size})));
    bool done = fits && copy_image(out, e, &body);
    qn_entry_body_free(&body);
    if (!fits) {
        return no(why, "it is the image of another key");
    }
    return done ? true : no(why, "there is not enough memory for it");
}
