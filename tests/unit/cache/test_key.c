/* SPDX-License-Identifier: MIT
 *
 * The key: every field changes it, and nothing moves from one field to the next unseen.
 */
#include "cache/cache.h"

#include <criterion/criterion.h>
#include <string.h>

static const char *const one_two[] = {"-DA", "-DB"}, *const joined[] = {"-DA-DB"},
                         *const two_one[] = {"-DB", "-DA"};
static const qn_header header[] = {{"a.h", "text"}}, other_name[] = {{"b.h", "text"}},
                       other_text[] = {{"a.h", "texts"}}, moved[] = {{"a.ht", "ext"}};

/* All different; the first is the plain one. */
static const qn_key_fields fields[] = {
    {.source = "s", .arch = 90, .kind = QN_IMAGE_CUBIN},
    {.source = "t", .arch = 90, .kind = QN_IMAGE_CUBIN},
    {.source = "", .arch = 90, .kind = QN_IMAGE_CUBIN},
    {.source = "s", .arch = 80, .kind = QN_IMAGE_CUBIN},
    {.source = "s", .arch = 90, .kind = QN_IMAGE_PTX},
    {.source = "s", .arch = 90, .kind = QN_IMAGE_CUBIN, .line_info = true},
    {.source = "s", .arch = 90, .kind = QN_IMAGE_CUBIN, .minimal = true},
    {.source = "s", .arch = 90, .kind = QN_IMAGE_CUBIN, .options = one_two, .option_count = 2},
    {.source = "s", .arch = 90, .kind = QN_IMAGE_CUBIN, .options = two_one, .option_count = 2},
    {.source = "s", .arch = 90, .kind = QN_IMAGE_CUBIN, .options = joined, .option_count = 1},
    {.source = "s",
     .arch = 90,
     .kind = QN_IMAGE_CUBIN,
     .expressions = one_two,
     .expression_count = 2},
    {.source = "s", .arch = 90, .kind = QN_IMAGE_CUBIN, .headers = header, .header_count = 1},
    {.source = "s", .arch = 90, .kind = QN_IMAGE_CUBIN, .headers = other_name, .header_count = 1},
    {.source = "s", .arch = 90, .kind = QN_IMAGE_CUBIN, .headers = other_text, .header_count = 1},
    {.source = "s", .arch = 90, .kind = QN_IMAGE_CUBIN, .headers = moved, .header_count = 1},
};

Test(key, every_field_counts)
{
    qn_key keys[QN_COUNT(fields)];
    for (size_t k = 0; k < QN_COUNT(fields); k++) {
        cr_assert_eq(qn_key_make(&keys[k], &fields[k]), QUERN_OK);
        cr_expect_eq(strlen(keys[k].hex), 32);
        qn_str source = qn_key_source((qn_str){keys[k].material, keys[k].material_size});
        cr_expect(qn_str_is(source, fields[k].source));
        for (size_t other = 0; other < k; other++) {
            cr_expect_str_neq(keys[k].hex, keys[other].hex, "fields %zu and %zu", k, other);
        }
    }
    for (size_t k = 0; k < QN_COUNT(fields); k++) {
        qn_key again;
        cr_assert_eq(qn_key_make(&again, &fields[k]), QUERN_OK);
        cr_expect_str_eq(again.hex, keys[k].hex);
        qn_key_free(&again);
        qn_key_free(&keys[k]);
    }
}

Test(key, is_the_same_on_every_machine)
{
    /* a change here means that all caches start anew: raise KEY_FORMAT and say so */
    qn_key key;
    cr_assert_eq(qn_key_make(&key, &fields[0]), QUERN_OK);
    cr_expect_str_eq(key.hex, "5aa7dad4746fdd4d5bafcee1c98232f9", "%s", key.hex);
    qn_key_free(&key);
}

Test(key, out_of_memory)
{
    qn_key key;
    qn_memory_fail_after(1, true);
    cr_expect_eq(qn_key_make(&key, &fields[0]), QUERN_ERROR_OUT_OF_MEMORY);
    qn_memory_fail_after(0, false);
    cr_expect_null(key.material);
    qn_key_free(&key);
}
