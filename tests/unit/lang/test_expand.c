/* SPDX-License-Identifier: MIT
 *
 * Templates: holes, and everything that only looks like one.
 */
#include "lang/lang.h"

#include <criterion/criterion.h>

static const qn_hole holes[] = {
    {"body", "z = @x@ + x"},
    {"x", "1"},
    {"empty", NULL},
    {"a_2", "two"},
};

static const struct {
    const char *text, *expected;
} cases[] = {
    {"", ""},
    {"no hole", "no hole"},
    {"@x@", "1"},
    {"@x@@x@", "11"},
    {"a @x@ b", "a 1 b"},
    {"[@empty@]", "[]"},
    {"@a_2@", "two"},
    /* what fills a hole is not looked into */
    {"{ @body@ }", "{ z = @x@ + x }"},
    /* these are no holes */
    {"@", "@"},
    {"@@", "@@"},
    {"@x", "@x"},
    {"x@", "x@"},
    {"@p bra L; @!p ret;", "@p bra L; @!p ret;"},
    {"@X@", "@X@"},
    {"a@ x@x@", "a@ x1"},
    {"@@x@@", "@1@"},
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
    cr_expect_eq(qn_expand(&out, "a @none@ b", holes, QN_COUNT(holes)), QUERN_ERROR_INTERNAL);
    cr_expect_str_eq(quern_last_error()->message,
                     "the template has a hole \"none\" that nothing fills");
    cr_expect_eq(qn_expand(&out, "@x@", NULL, 0), QUERN_ERROR_INTERNAL);
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
