/* SPDX-License-Identifier: MIT
 *
 * Recipes: what a key was made of, sent to another machine, which compiles it there. What comes
 * back is what went in, cuts and altered bytes are refused, and none names a place outside itself.
 */
#include "cache/fleet.h"
#include "cache/key_tags.h"
#include "cache/little.h"

#include <criterion/criterion.h>

Test(recipes, are_what_the_key_was_made_of)
{
    static const char *const options[] = {"-DN=4", "--use_fast_math"};
    static const qn_header headers[] = {{"a.h", "int a;"}, {"b.h", ""}};
    static const char *const expressions[] = {"f<int>"};
    qn_key key;
    qn_text text = {0};
    qn_str material;
    char name[256];
    qn_recipe r;
    cr_assert_eq(qn_key_make(&key, &(qn_key_fields){.source = "__global__ void f() {}",
                                                    .file_name = "x/f.cu",
                                                    .options = options,
                                                    .option_count = 2,
                                                    .headers = headers,
                                                    .header_count = 2,
                                                    .expressions = expressions,
                                                    .expression_count = 1,
                                                    .arch = 90,
                                                    .kind = QN_IMAGE_CUBIN,
                                                    .line_info = true}),
                 QUERN_OK);
    cr_assert(qn_recipe_write(&text, "f", (qn_str){key.material, key.material_size}));
    cr_assert(qn_recipe_read(&material, name, key.hex, (qn_str){text.data, text.length}));
    cr_expect_str_eq(name, "f");
    cr_assert_eq(qn_recipe_open(&r, material), QUERN_OK);
    cr_expect_str_eq(r.source, "__global__ void f() {}");
    cr_expect_str_eq(r.file_name, "f.cu");
    cr_expect(r.options.count == 2 && strcmp(r.options.items[1], "--use_fast_math") == 0);
    cr_expect(r.headers.count == 2 && strcmp(r.headers.items[0].text, "int a;") == 0);
    cr_expect(r.expressions.count == 1 && r.arch == 90 && r.kind == QN_IMAGE_CUBIN && r.line_info);
    qn_recipe_free(&r);
    for (size_t length = 0; length < text.length; length++) {
        cr_expect_not(qn_recipe_read(&material, name, key.hex, (qn_str){text.data, length}));
        if (qn_recipe_open(&r, (qn_str){key.material, length}) == QUERN_OK) {
            qn_recipe_free(&r);
        }
    }
    text.data[text.length - 1] ^= 1;
    cr_expect_not(qn_recipe_read(&material, name, key.hex, (qn_str){text.data, text.length}));
    qn_text_free(&text);
    qn_key_free(&key);
}

Test(recipes, with_folders_of_another_machine_are_none)
{
    static const char *const options[] = {"-I/home/me/include"};
    qn_key key;
    qn_recipe r;
    cr_assert_eq(qn_key_make(&key, &(qn_key_fields){.source = "#include <mine.h>",
                                                    .options = options,
                                                    .option_count = 1,
                                                    .arch = 90,
                                                    .kind = QN_IMAGE_CUBIN}),
                 QUERN_OK);
    cr_expect_eq(qn_recipe_open(&r, (qn_str){key.material, key.material_size}), QUERN_ERROR_CACHE);
    qn_key_free(&key);
}

/* What another machine may have written, whose keys need not be Quern's. */
static void add_field(qn_text *out, enum tag tag, const char *text)
{
    qn_little_add(out, tag, 4);
    qn_little_add(out, strlen(text), 8);
    qn_text_puts(out, text);
}

static void add_number(qn_text *out, enum tag tag, uint64_t number)
{
    qn_little_add(out, tag, 4);
    qn_little_add(out, 8, 8);
    qn_little_add(out, number, 8);
}

Test(recipes, from_outside_name_no_places_of_this_machine)
{
    static const struct {
        const char *file_name, *option, *value;
        bool good;
    } cases[] = {
        {"f.cu", "-DN=4", NULL, true},
        {"f.cu", "-I", "/etc", false},
        {"f.cu", "-I/etc", NULL, false},
        {"f.cu", "-I=/etc", NULL, false},
        {"f.cu", "--include-path=/etc", NULL, false},
        {"f.cu", "--include-path", "/etc", false},
        {"f.cu", "-include-path=/etc", NULL, false},
        {"f.cu", "--pre-include=/etc/passwd", NULL, false},
        {"f.cu", "-include", "/etc/passwd", false},
        {"/etc/f.cu", "-DN=4", NULL, false},
        {"../f.cu", "-DN=4", NULL, false},
    };
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        qn_text m = {0};
        qn_recipe r;
        qn_text_puts(&m, QN_KEY_MAGIC);
        qn_little_add(&m, QN_KEY_FORMAT, 4);
        add_field(&m, SOURCE, "__global__ void f() {}");
        add_field(&m, OPTION, cases[k].option);
        if (cases[k].value) {
            add_field(&m, OPTION, cases[k].value);
        }
        add_number(&m, ARCH, 90);
        add_number(&m, KIND, QN_IMAGE_CUBIN);
        add_field(&m, FILE_NAME, cases[k].file_name);
        const quern_status status = qn_recipe_open(&r, (qn_str){m.data, m.length});
        cr_expect_eq(status, cases[k].good ? QUERN_OK : QUERN_ERROR_CACHE, "%s %s",
                     cases[k].file_name, cases[k].option);
        qn_recipe_free(&r);
        qn_text_free(&m);
    }
}
