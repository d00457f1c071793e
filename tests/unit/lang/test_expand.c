/* SPDX-License-Identifier: MIT
 *
 * Templates: holes, and everything that only looks like one.
 */
#include "lang/lang.h"

#include <criterion/criterion.h>

static const qn_hole holes[] = {
    {"body", "z = HOLE_x + x"}, {"x", "1"}, {"empty", NULL}, {"a_2", "two"}, {"no", "0"},
};

static const struct {
    const char *text, *expected;
} cases[] = {
    {"", ""},
    {"no hole", "no hole"},
    {"HOLE_x", "1"},
    {"HOLE_x HOLE_x", "1 1"},
    {"a HOLE_x b", "a 1 b"},
    {"[HOLE_empty]", "[]"},
    {"HOLE_a_2;", "two;"},
    {"HOLE_x(HOLE_x,HOLE_x)", "1(1,1)"},
    /* what fills a hole is not expanded */
    {"{ HOLE_body }", "{ z = HOLE_x + x }"},
    /* these are not holes */
    {"HOLE_", "HOLE_"},
    {"HOLE", "HOLE"},
    {"HOLE_ x", "HOLE_ x"},
    {"KEYHOLE_x", "KEYHOLE_x"},
    {"_HOLE_x", "_HOLE_x"},
    {"HOLE_-HOLE_x", "HOLE_-1"},
    /* lines that a 0 or a 1 leaves out */
    {"a\n#if HOLE_x\nb HOLE_a_2\n#endif\nc", "a\nb two\nc"},
    {"a\n#if HOLE_no\nb HOLE_none\n#endif\nc HOLE_x", "a\nc 1"},
    {"#if HOLE_x\nb\n#else\nc\n#endif", "b\n"},
    {"#if HOLE_no\nb\n#else\nc\n#endif\n", "c\n"},
    {"#if HOLE_no\n#if HOLE_x\nb\n#else\nc\n#endif\n#else\nd\n#endif\n", "d\n"},
    {"#if HOLE_x\n#if HOLE_no\nb\n#else\nc\n#endif\n#else\nd\n#endif\n", "c\n"},
    {"#if HOLE_x\n#ifdef y\nb\n#endif\n#endif\n", "#ifdef y\nb\n#endif\n"},
    {"#if HOLE_a_2\nb\n#endif\n", "#if two\nb\n#endif\n"},
    {" #if HOLE_x\nb", " #if 1\nb"},
};

Test(expand, cases)
{
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        qn_text out = {0};
        cr_assert_eq(qn_expand(&out, cases[k].text, holes, QN_COUNT(holes)), QUERN_OK, "%s",
                     cases[k].text);
        char *got = qn_text_take(&out);
        cr_expect_str_eq(got, cases[k].expected);
        qn_free(got);
    }
}

Test(expand, hole_that_nothing_fills)
{
    qn_text out = {0};
    cr_expect_eq(qn_expand(&out, "a HOLE_none b", holes, QN_COUNT(holes)), QUERN_ERROR_INTERNAL);
    cr_expect_str_eq(quern_last_error()->message,
                     "the template has a hole \"none\" that nothing fills");
    cr_expect_eq(qn_expand(&out, "HOLE_x", NULL, 0), QUERN_ERROR_INTERNAL);
    cr_expect_eq(qn_expand(&out, "#if HOLE_x\n#if y\n#endif\n", holes, QN_COUNT(holes)),
                 QUERN_ERROR_INTERNAL);
    cr_expect_str_eq(quern_last_error()->message, "the template has no #endif for \"x\"");
    qn_text_free(&out);
}

Test(expand, out_of_memory)
{
    qn_text out = {0};
    qn_memory_fail_after(1, false);
    quern_status status = qn_expand(&out, "some text", holes, QN_COUNT(holes));
    qn_memory_fail_after(0, false);
    cr_expect_eq(status, QUERN_ERROR_OUT_OF_MEMORY);
    qn_text_free(&out);
}
