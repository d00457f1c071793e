/* SPDX-License-Identifier: MIT
 *
 * Entries: what goes in comes out, packed or not, with its source or without; and bytes that were
 * altered, cut short or followed by others are refused, wherever that is.
 */
#include "cache/entry.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static qn_key key_of(const char *source)
{
    qn_key key;
    cr_assert_eq(
        qn_key_make(&key, &(qn_key_fields){.source = source, .arch = 90, .kind = QN_IMAGE_CUBIN}),
        QUERN_OK);
    return key;
}

static char *names[] = {(char *)"_Z1fv", (char *)"_Z1gi"};
static const char code[] = "the code, the code, the code, the code, the code, the code";

static qn_str write_entry(const qn_key *key, int level, bool without_material)
{
    const qn_image image = {.kind = QN_IMAGE_CUBIN,
                            .data = (char *)code,
                            .size = sizeof code - 1,
                            .lowered = names,
                            .lowered_count = 2,
                            .log = (char *)"a warning",
                            .compile_ms = 12.5};
    const qn_store_row row = {"scale", "abcd", "NVRTC 13.0", 90};
    qn_text out = {0};
    cr_assert(qn_entry_write(&out, &(qn_entry_source){.key = key,
                                                      .image = &image,
                                                      .row = &row,
                                                      .level = level,
                                                      .without_material = without_material}));
    return (qn_str){out.data, out.length};
}

static const struct {
    int level;
    bool without;
} ways[] = {{0, false}, {3, false}, {19, false}, {0, true}, {3, true}};

Test(entry, comes_back)
{
    qn_key key = key_of("f = a * 2 + a * 2 + a * 2 + a * 2 + a * 2"), other = key_of("other");
    for (size_t k = 0; k < QN_COUNT(ways); k++) {
        qn_str bytes = write_entry(&key, ways[k].level, ways[k].without);
        qn_entry entry;
        qn_image image;
        const char *why = NULL;
        cr_assert_eq(qn_entry_length(bytes), bytes.length);
        cr_assert(qn_entry_read(&entry, bytes, &why), "%s", why);
        cr_assert_eq(entry.packing, ways[k].level > 0 ? QN_PACKED_ZSTD : QN_PACKED_NOT);
        cr_assert(qn_str_is(entry.name, "scale") && qn_str_is(entry.compiler_text, "NVRTC 13.0"));
        cr_assert(qn_entry_is(&entry, &key, "abcd") && qn_entry_is(&entry, &key, ""));
        cr_assert(!qn_entry_is(&entry, &key, "abce") && !qn_entry_is(&entry, &other, "abcd"));
        cr_assert(!qn_entry_image(&image, &entry, &other, &why));
        cr_assert(qn_entry_image(&image, &entry, &key, &why), "%s", why);
        cr_assert_eq(image.size, sizeof code - 1);
        cr_assert_str_eq(image.data, code);
        cr_assert_eq(image.lowered_count, 2);
        cr_assert_str_eq(image.lowered[1], "_Z1gi");
        cr_assert_str_eq(image.log, "a warning");
        cr_assert_eq(image.compile_ms, 12.5);
        qn_image_free(&image);
        qn_free((char *)bytes.data);
    }
    qn_key_free(&key);
    qn_key_free(&other);
}

/* A copy of its own for each, so that a sanitizer sees a byte read behind the end. */
static bool reads(qn_str bytes, size_t length, size_t flipped)
{
    char *copy = malloc(length);
    memcpy(copy, bytes.data, QN_MIN(length, bytes.length));
    if (flipped < length) {
        copy[flipped] ^= 0x10;
    }
    qn_entry entry;
    const char *why = NULL;
    bool good = qn_entry_read(&entry, (qn_str){copy, length}, &why);
    cr_assert(good || why);
    free(copy);
    return good;
}

Test(entry, damage_is_seen)
{
    qn_key key = key_of("source");
    for (size_t k = 0; k < QN_COUNT(ways); k++) {
        qn_str bytes = write_entry(&key, ways[k].level, ways[k].without);
        for (size_t at = 0; at < bytes.length; at++) {
            cr_assert(!reads(bytes, bytes.length, at), "byte %zu was altered", at);
            cr_assert(!reads(bytes, at, SIZE_MAX), "%zu bytes were left", at);
        }
        cr_assert(!reads(bytes, bytes.length + 1, bytes.length + 1));
        cr_assert(reads(bytes, bytes.length, SIZE_MAX));
        qn_free((char *)bytes.data);
    }
    qn_key_free(&key);
}

/* An entry whose checksum is right and whose material belongs to another key. */
Test(entry, foreign_material)
{
    qn_key key = key_of("source"), other = key_of("sourec");
    qn_str bytes = write_entry(&other, 0, false);
    qn_entry entry;
    qn_entry_body body;
    const char *why = NULL;
    cr_assert(qn_entry_read(&entry, bytes, &why));
    cr_assert(qn_entry_open(&body, &entry, &why));
    cr_assert_eq(key.material_size, other.material_size);
    for (int k = 0; k < 8; k++) {
        entry.key[k] = (unsigned char)(key.hash[0] >> (56 - 8 * k));
        entry.key[8 + k] = (unsigned char)(key.hash[1] >> (56 - 8 * k));
    }
    qn_text forged = {0};
    cr_assert(qn_entry_write_row(&forged, &entry, &body, 0));
    qn_entry_body_free(&body);
    qn_image image;
    cr_assert(qn_entry_read(&entry, (qn_str){forged.data, forged.length}, &why), "%s", why);
    cr_assert(qn_entry_is(&entry, &key, "abcd"));
    cr_assert(!qn_entry_image(&image, &entry, &key, &why));
    cr_assert_str_eq(why, "its key is not that of its key material");
    qn_text_free(&forged);
    qn_free((char *)bytes.data);
    qn_key_free(&key);
    qn_key_free(&other);
}
