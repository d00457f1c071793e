/* SPDX-License-Identifier: MIT
 *
 * The table of dtypes and the names that users write.
 */
#include "lang/lang.h"
#include <quern/record.h>

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

Test(dtype, table_matches_the_public_list){
#define CHECK(constant, code, text)                                                                \
    {                                                                                              \
        const qn_dtype_info *info = qn_dtype_find(constant);                                       \
        cr_assert_not_null(info);                                                                  \
        cr_expect_eq(info->dtype, constant);                                                       \
        cr_expect_str_eq(info->name, text);                                                        \
        cr_expect_str_eq(quern_dtype_name(constant), text);                                        \
        cr_expect_eq(quern_dtype_from_name(text), constant);                                       \
        cr_expect_eq(quern_dtype_size(constant), info->size);                                      \
    }
    QUERN_DTYPE_MAP(CHECK)
#undef CHECK
}

Test(dtype, sizes_and_npy_names_agree)
{
    for (int d = QUERN_BOOL; d <= QUERN_FLOAT8_E5M2; d++) {
        const qn_dtype_info *info = qn_dtype_find((quern_dtype)d);
        cr_expect_eq(strtoul(info->descr + 2, NULL, 10), info->size, "%s", info->name);
        cr_expect_eq(info->descr[0], info->size > 1 ? '<' : '|', "%s", info->name);
        cr_expect(info->descr[1] == 'V' || info->descr[1] == "biufc"[info->kind]);
        cr_expect_str_eq(quern_dtype_descr((quern_dtype)d), info->descr);
        size_t bits = strcspn(info->name, "0123456789");
        if (info->name[bits]) {
            cr_expect_eq(strtoul(info->name + bits, NULL, 10), info->size * 8, "%s", info->name);
        }
    }
}

Test(dtype, what_is_none)
{
    cr_expect_null(qn_dtype_find(QUERN_DTYPE_NONE));
    cr_expect_null(qn_dtype_find((quern_dtype)18));
    cr_expect_null(qn_dtype_find((quern_dtype)-1));
    cr_expect_str_eq(quern_dtype_name((quern_dtype)99), "none");
    cr_expect_eq(quern_dtype_size(QUERN_DTYPE_NONE), 0);
    cr_expect_eq(quern_dtype_from_name(NULL), QUERN_DTYPE_NONE);
    cr_expect_eq(quern_dtype_from_name(""), QUERN_DTYPE_NONE);
}

static const struct {
    const char *name;
    quern_dtype dtype;
} names[] = {
    {"bool", QUERN_BOOL},
    {"_Bool", QUERN_BOOL},
    {"char", QUERN_INT8},
    {"signed char", QUERN_INT8},
    {"char signed", QUERN_INT8},
    {"unsigned char", QUERN_UINT8},
    {"short", QUERN_INT16},
    {"short int", QUERN_INT16},
    {"signed short int", QUERN_INT16},
    {"unsigned short", QUERN_UINT16},
    {"short unsigned int", QUERN_UINT16},
    {"int", QUERN_INT32},
    {"signed", QUERN_INT32},
    {"signed int", QUERN_INT32},
    {"unsigned", QUERN_UINT32},
    {"unsigned int", QUERN_UINT32},
    {"int unsigned", QUERN_UINT32},
    {"long", QUERN_INT64},
    {"long int", QUERN_INT64},
    {"signed long", QUERN_INT64},
    {"long long", QUERN_INT64},
    {"long signed long int", QUERN_INT64},
    {"unsigned long", QUERN_UINT64},
    {"long unsigned int", QUERN_UINT64},
    {"unsigned long long", QUERN_UINT64},
    {"long unsigned int long", QUERN_UINT64},
    {"unsigned  long\tlong\n int", QUERN_UINT64},
    {" float ", QUERN_FLOAT32},
    {"double", QUERN_FLOAT64},
    {"half", QUERN_FLOAT16},
    {"__half", QUERN_FLOAT16},
    {"_Float16", QUERN_FLOAT16},
    {"__nv_bfloat16", QUERN_BFLOAT16},
    {"float complex", QUERN_COMPLEX64},
    {"_Complex double", QUERN_COMPLEX128},
    {"int8_t", QUERN_INT8},
    {"uint16_t", QUERN_UINT16},
    {"int32_t", QUERN_INT32},
    {"uint64_t", QUERN_UINT64},
    {"size_t", QUERN_UINT64},
    {"ptrdiff_t", QUERN_INT64},
    /* not types */
    {"", QUERN_DTYPE_NONE},
    {"  ", QUERN_DTYPE_NONE},
    {"Float", QUERN_DTYPE_NONE},
    {"float31", QUERN_DTYPE_NONE},
    {"float32 float32", QUERN_DTYPE_NONE},
    {"float float", QUERN_DTYPE_NONE},
    {"unsigned float", QUERN_DTYPE_NONE},
    {"unsigned signed", QUERN_DTYPE_NONE},
    {"unsigned unsigned", QUERN_DTYPE_NONE},
    {"unsigned int32", QUERN_DTYPE_NONE},
    {"short long", QUERN_DTYPE_NONE},
    {"short short", QUERN_DTYPE_NONE},
    {"long long long", QUERN_DTYPE_NONE},
    {"long double", QUERN_DTYPE_NONE},
    {"int int", QUERN_DTYPE_NONE},
    {"complex", QUERN_DTYPE_NONE},
    {"int complex", QUERN_DTYPE_NONE},
    {"signed signed signed signed signed signed signed signed", QUERN_DTYPE_NONE},
    {"long int long int long int", QUERN_DTYPE_NONE},
    {"void", QUERN_DTYPE_NONE},
    {"T", QUERN_DTYPE_NONE},
};

Test(dtype, names)
{
    for (size_t k = 0; k < QN_COUNT(names); k++) {
        cr_expect_eq(quern_dtype_from_name(names[k].name), names[k].dtype, "\"%s\" is %s",
                     names[k].name, quern_dtype_name(quern_dtype_from_name(names[k].name)));
    }
}

static const struct {
    const char *written, *meant;
} slips[] = {
    {"float31", "float32"},
    {"float23", "float32"},
    {"flaot", "float"},
    {"FLOAT64", "float64"},
    {"itn", "int"},
    {"duoble", "double"},
    {"unsinged char", "unsigned char"},
    {" unsigned  lnog ", "unsigned long"},
    {"fp16", "float16"},
    {"F32", "float32"},
    {"uint", "unsigned int"},
    {"long double", "double"},
    {"complex", "complex64"},
    {"compelx128", "complex128"},
    {"boolean", "bool"},
    {"bfloat", "bfloat16"},
    {"size", "size_t"},
    {"foo", NULL},
    {"T1", NULL},
    {"x", NULL},
    {"", NULL},
    {"   ", NULL},
    {"float x", NULL},
    {"a very long text that is certainly no type at all", NULL},
};

Test(dtype, suggestions)
{
    for (size_t k = 0; k < QN_COUNT(slips); k++) {
        const char *got = qn_dtype_suggest(qn_str_of(slips[k].written));
        if (slips[k].meant) {
            cr_expect(got && strcmp(got, slips[k].meant) == 0, "\"%s\" gives %s", slips[k].written,
                      got ? got : "nothing");
            cr_expect(got && qn_dtype_parse(qn_str_of(got)), "\"%s\" is no type", got);
        } else {
            cr_expect_null(got, "\"%s\" gives %s", slips[k].written, got);
        }
    }
}

/* One of a program's own names, of any length that a slip of the finger can be seen in. */
Test(dtype, suggestions_among_given_names)
{
#define LONG_64 "a_name_of_64_letters_is_the_longest_of_which_a_slip_is_looked_fo"
    static const char *const known[] = {"saxpy", "scale<float>", "k1", LONG_64, LONG_64 "r"};
    static const struct {
        const char *written, *meant;
    } cases[] = {
        {"saxpi", "saxpy"},
        {"saxyp", "saxpy"},
        {"scale<double>", NULL},
        {"scale<flaot>", "scale<float>"},
        {"k2", "k1"},
        {"q2", NULL},
        {"", NULL},
        {"a_name_of_64_letters_is_the_longest_of_which_a_slip_is_looked_fx", LONG_64},
        {LONG_64 "x", NULL},
    };
#undef LONG_64
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        const char *got = qn_name_suggest(qn_str_of(cases[k].written), known, QN_COUNT(known));
        cr_expect_str_eq(got ? got : "", cases[k].meant ? cases[k].meant : "", "\"%s\" gives %s",
                         cases[k].written, got ? got : "nothing");
    }
    cr_expect_null(qn_name_suggest(QN_STR("saxpi"), NULL, 0));
}

/* Whatever is suggested exists: every text that is one change away from a name. */
Test(dtype, suggestions_exist)
{
    for (int d = QUERN_BOOL; d <= QUERN_FLOAT8_E5M2; d++) {
        const char *name = quern_dtype_name((quern_dtype)d);
        for (size_t k = 0; name[k]; k++) {
            char changed[32];
            strcpy(changed, name);
            changed[k] = 'q';
            const char *got = qn_dtype_suggest(qn_str_of(changed));
            cr_assert_not_null(got, "%s", changed);
            cr_expect_not_null(qn_dtype_parse(qn_str_of(got)), "%s", got);
        }
    }
}
