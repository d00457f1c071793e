/* SPDX-License-Identifier: MIT
 *
 * Images by their contents: whole or damaged, targets, names, and the PTX in a fatbin. Images that
 * were cut or changed must be refused or read, and never crash.
 */
#include "image_data.h"

static const struct {
    const char *file;
    quern_image_kind kind;
    const char *targets;
} images[] = {
    {"gather.cubin", QUERN_IMAGE_CUBIN, "sm_90"},
    {"plain.fatbin", QUERN_IMAGE_FATBIN, "compute_75, compute_90"},
    {"lz4.fatbin", QUERN_IMAGE_FATBIN, "compute_75, compute_90"},
    {"zstd.fatbin", QUERN_IMAGE_FATBIN, "compute_75, compute_90"},
};

static void assert_targets(quern_image_kind kind, const void *image, size_t bytes,
                           const char *wanted)
{
    qn_text text = {0};
    qn_image_print_targets(&text, kind, image, bytes);
    cr_assert_str_eq(text.data ? text.data : "", wanted);
    qn_text_free(&text);
}

static bool has(const char *const *names, size_t count, const char *name)
{
    bool found = false;
    for (size_t k = 0; k < count; k++) {
        found |= strcmp(names[k], name) == 0;
    }
    return found;
}

static void assert_names_of_gather(const qn_image_names *names)
{
    cr_assert_eq(names->function_count, 1);
    cr_assert_str_eq(names->functions[0], "gather");
    cr_assert_eq(names->global_count, 2);
    cr_assert(has(names->globals, 2, "total"));
    cr_assert(has(names->globals, 2, "scale"));
}

Test(image, tells_targets_and_names)
{
    for (size_t k = 0; k < QN_COUNT(images); k++) {
        image_data image = read_image(images[k].file);
        cr_assert_eq(qn_image_check(images[k].kind, image.bytes, image.size), QUERN_OK);
        assert_targets(images[k].kind, image.bytes, image.size, images[k].targets);
        qn_image_names names;
        cr_assert(qn_image_names_read(&names, images[k].kind, image.bytes, image.size), "%s",
                  images[k].file);
        assert_names_of_gather(&names);
        qn_image_names_free(&names);
        qn_free(image.bytes);
    }
}

Test(image, packed_code_that_is_damaged)
{
    static const char *const files[] = {"lz4.fatbin", "zstd.fatbin"};
    for (size_t k = 0; k < QN_COUNT(files); k++) {
        image_data image = damage_packed(files[k]);
        cr_assert_eq(qn_image_check(QUERN_IMAGE_FATBIN, image.bytes, image.size), QUERN_OK);
        qn_image_names names;
        cr_assert_not(qn_image_names_read(&names, QUERN_IMAGE_FATBIN, image.bytes, image.size));
        qn_image_names_free(&names);
        char *text;
        size_t length;
        cr_assert_eq(qn_fatbin_ptx(&text, &length, image.bytes, image.size, 75), QUERN_ERROR_IMAGE);
        cr_assert_null(text);
        qn_free(image.bytes);
    }
}

Test(image, names_of_a_cubin_in_a_fatbin)
{
    image_data cubin = read_image("gather.cubin"), fatbin = wrap_cubin(cubin, 90);
    qn_image_names names;
    cr_assert_eq(qn_image_check(QUERN_IMAGE_FATBIN, fatbin.bytes, fatbin.size), QUERN_OK);
    assert_targets(QUERN_IMAGE_FATBIN, fatbin.bytes, fatbin.size, "sm_90");
    cr_assert(qn_image_names_read(&names, QUERN_IMAGE_FATBIN, fatbin.bytes, fatbin.size));
    assert_names_of_gather(&names);
    qn_image_names_free(&names);
    qn_free(cubin.bytes);
    qn_free(fatbin.bytes);
}

Test(image, targets_of_what_else_is_in_a_fatbin)
{
    static const struct {
        char kind;
        const char *targets;
    } cases[] = {{1, "compute_90"}, {2, "sm_90"}, {8, "lto_90"}, {99, ""}};
    image_data cubin = read_image("gather.cubin"), fatbin = wrap_cubin(cubin, 90);
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        fatbin.bytes[16] = cases[k].kind;
        assert_targets(QUERN_IMAGE_FATBIN, fatbin.bytes, fatbin.size, cases[k].targets);
    }
    qn_free(cubin.bytes);
    qn_free(fatbin.bytes);
}

Test(image, targets_of_ptx)
{
    static const struct {
        const char *text, *target;
        int arch;
    } cases[] = {
        {".version 9.0\n.target sm_75\n", "sm_75", 75},
        {".version 9.0\n.target\tsm_100a, debug\n", "sm_100a", 100},
        {".version 9.0\n.target sm_90", "sm_90", 90},
        {".version 9.0\n.target", "", 0},
        {".target texmode_unified", "texmode_unified", 0},
        {".target sm_", "sm_", 0},
        {".version 9.0\n", "", 0},
        {"", "", 0},
    };
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        size_t length = strlen(cases[k].text);
        assert_targets(QUERN_IMAGE_PTX, cases[k].text, length, cases[k].target);
        cr_assert_eq(qn_image_arch(QUERN_IMAGE_PTX, cases[k].text, length), cases[k].arch);
    }
}

Test(image, names_of_ptx_leave_out_what_the_compiler_made)
{
    static const char text[] = ".version 8.0\n.target sm_75\n.address_size 64\n"
                               ".visible .global .align 4 .u32 mine;\n"
                               ".visible .global .align 1 .b8 $str[2] = {65, 0};\n"
                               ".visible .entry run()\n{\nret;\n}\n"
                               ".func helper()\n{\nret;\n}\n";
    static const char *const refused[] = {"nonsense {", "", ".version 9.0\n.target sm_75\n}"};
    qn_image_names names;
    cr_assert(qn_image_names_read(&names, QUERN_IMAGE_PTX, text, sizeof text));
    cr_assert_eq(names.function_count, 1);
    cr_assert_str_eq(names.functions[0], "run");
    cr_assert_eq(names.global_count, 1);
    cr_assert_str_eq(names.globals[0], "mine");
    qn_image_names_free(&names);
    for (size_t k = 0; k < QN_COUNT(refused); k++) {
        cr_assert_not(qn_image_names_read(&names, QUERN_IMAGE_PTX, refused[k], strlen(refused[k])),
                      "%s", refused[k]);
        cr_assert_null(names.functions);
    }
}

/* ---- damage --------------------------------------------------------------------------------- */

/* Everything that is asked of an image which was found whole. */
static void read_all(quern_image_kind kind, const void *image, size_t bytes)
{
    qn_image_names names;
    qn_text targets = {0};
    char *ptx;
    size_t length;
    qn_image_print_targets(&targets, kind, image, bytes);
    (void)qn_image_arch(kind, image, bytes);
    (void)qn_image_names_read(&names, kind, image, bytes);
    if (kind == QUERN_IMAGE_FATBIN && qn_fatbin_ptx(&ptx, &length, image, bytes, 75) == QUERN_OK) {
        cr_assert_eq(ptx[length], '\0');
        qn_free(ptx);
    }
    qn_image_names_free(&names);
    qn_text_free(&targets);
}

Test(image, cut_images_are_refused)
{
    for (size_t k = 0; k < QN_COUNT(images); k++) {
        image_data image = read_image(images[k].file);
        for (size_t size = 0; size < image.size; size++) {
            char *cut = qn_alloc(size); /* of just this size: a sanitizer sees reads past it */
            memcpy(cut, image.bytes, size);
            cr_assert_eq(qn_image_check(images[k].kind, cut, size), QUERN_ERROR_IMAGE,
                         "%s cut to %zu", images[k].file, size);
            cr_assert(strstr(quern_last_error()->message, "damaged"));
            qn_free(cut);
        }
        qn_free(image.bytes);
    }
}

Test(image, changed_images_are_refused_or_read)
{
    static const unsigned char changes[] = {0x01, 0x80, 0xff};
    for (size_t k = 0; k < QN_COUNT(images); k++) {
        image_data image = read_image(images[k].file);
        size_t refused = 0;
        for (size_t at = 0; at < image.size * QN_COUNT(changes); at++) {
            unsigned char change = changes[at % QN_COUNT(changes)];
            image.bytes[at / QN_COUNT(changes)] ^= (char)change;
            if (qn_image_check(images[k].kind, image.bytes, image.size) == QUERN_OK) {
                read_all(images[k].kind, image.bytes, image.size);
            } else {
                refused++;
            }
            image.bytes[at / QN_COUNT(changes)] ^= (char)change;
        }
        cr_assert_gt(refused, 0);
        qn_free(image.bytes);
    }
}

Test(image, unknown_kinds)
{
    cr_assert_eq(qn_image_check((quern_image_kind)9, "", 0), QUERN_ERROR_IMAGE);
    cr_assert(strstr(quern_last_error()->message, "9"));
}

/* ---- the PTX in a fatbin -------------------------------------------------------------------- */

Test(image, the_fitting_ptx_of_a_fatbin)
{
    static const struct {
        const char *file;
        int arch;
        const char *holds;
    } cases[] = {
        {"plain.fatbin", 75, ".target sm_75"}, {"plain.fatbin", 100, ".target sm_90"},
        {"plain.fatbin", 60, ".target sm_75"}, {"lz4.fatbin", 75, ".target sm_75"},
        {"lz4.fatbin", 90, ".target sm_90"},   {"zstd.fatbin", 75, ".target sm_75"},
        {"zstd.fatbin", 90, ".target sm_90"},
    };
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        image_data image = read_image(cases[k].file);
        char *text;
        size_t length;
        quern_status status = qn_fatbin_ptx(&text, &length, image.bytes, image.size, cases[k].arch);
        cr_assert_eq(status, QUERN_OK, "%s", quern_last_error()->message);
        cr_assert(strstr(text, cases[k].holds), "%s", text);
        cr_assert(strstr(text, ".entry gather"));
        qn_free(text);
        qn_free(image.bytes);
    }
}

/* By liblz4: all but what a block may not be. */
Test(image, blocks_of_lz4)
{
#define BLOCK(text) (text), sizeof(text) - 1
    static const struct {
        const char *block;
        size_t bytes;
        const char *holds; /* NULL: refused */
        size_t room;
    } cases[] = {
        {BLOCK("\x50"
               "abcde"),
         "abcde", 5},
        {BLOCK("\x1f"
               "a\x01\x00\x01\x50"
               "bcdef"),
         "aaaaaaaaaaaaaaaaaaaaabcdef", 26}, /* a match that reaches into itself */
        {BLOCK("\xf0\x01"
               "0123456789abcdef"),
         "0123456789abcdef", 16},
        {BLOCK("\x50"
               "abcd"),
         NULL, 5}, /* fewer letters than it says */
        {BLOCK("\x50"
               "abcde"),
         NULL, 4}, /* more than there is room for */
        {BLOCK("\x50"
               "abcde"),
         NULL, 6}, /* fewer than were promised */
        {BLOCK("\x1f"
               "a\x02\x00\x01\x50"
               "bcdef"),
         NULL, 26}, /* from before the beginning */
        {BLOCK("\x1f"
               "a\x01\x00\xff\xff"),
         NULL, 600}, /* a length that does not end */
        {BLOCK("\xf0\xff"), NULL, 300},
    };
#undef BLOCK
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        char room[1024] = {0};
        bool unpacked = qn_lz4_unpack(room, cases[k].room, cases[k].block, cases[k].bytes);
        cr_assert_eq(unpacked, cases[k].holds != NULL, "case %zu", k);
        cr_assert_eq(room[cases[k].room], 0, "case %zu", k);
        if (cases[k].holds) {
            cr_assert_str_eq(room, cases[k].holds);
        }
    }
}
