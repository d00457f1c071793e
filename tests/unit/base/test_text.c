/* SPDX-License-Identifier: MIT
 *
 * Growing text and borrowed pieces of it.
 */
#include "base/base.h"

#include <criterion/criterion.h>
#include <string.h>

Test(text, pieces)
{
    cr_expect_eq(qn_str_of(NULL).length, 0);
    cr_expect(qn_str_is(QN_STR("ab"), "ab"));
    cr_expect_not(qn_str_is(QN_STR("ab"), "abc"));
    cr_expect_not(qn_str_is(QN_STR("ab"), "ac"));
    cr_expect(qn_str_same((qn_str){NULL, 0}, QN_STR("")));
    cr_expect(qn_str_same((qn_str){"abc", 2}, (qn_str){"abd", 2}));
}

Test(text, begins)
{
    static const struct {
        const char *text, *start;
        bool begins;
    } cases[] = {
        {"", "", true},       {"ab", "", true},   {"ab", "a", true}, {"ab", "ab", true},
        {"ab", "abc", false}, {"ab", "b", false}, {"", "a", false},
    };
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        cr_expect_eq(qn_begins(cases[k].text, cases[k].start), cases[k].begins, "case %zu", k);
        cr_expect_eq(qn_str_begins(qn_str_of(cases[k].text), cases[k].start), cases[k].begins,
                     "case %zu", k);
    }
    cr_expect_not(qn_str_begins((qn_str){"abc", 2}, "abc"), "what lies behind is not looked at");
}

Test(text, grows)
{
    qn_text text = {0};
    cr_expect_null(text.data);
    for (int k = 0; k < 1000; k++) {
        qn_text_printf(&text, "%d,", k);
        cr_assert_eq(strlen(text.data), text.length);
    }
    qn_text_puts(&text, "end");
    qn_text_add(&text, "\0x", 2);
    cr_expect_eq(text.length, 10 + 90 * 2 + 900 * 3 + 1000 + 3 + 2);
    cr_expect_eq(strncmp(text.data, "0,1,2,", 6), 0);
    char *taken = qn_text_take(&text);
    cr_expect_not_null(taken);
    cr_expect_null(text.data);
    cr_expect_eq(text.length, 0);
    qn_free(taken);
}

Test(text, empty_is_a_string)
{
    qn_text text = {0};
    char *taken = qn_text_take(&text);
    cr_expect_str_eq(taken, "");
    qn_free(taken);
    qn_text_free(&text);
}

Test(text, failure_is_remembered)
{
    for (uint64_t n = 1; n <= 4; n++) {
        qn_text text = {0};
        qn_memory_fail_after(n, false);
        for (int k = 0; k < 100; k++) {
            qn_text_puts(&text, "0123456789");
        }
        qn_memory_fail_after(0, false);
        cr_expect(text.failed, "allocation %d", (int)n);
        size_t length = text.length;
        qn_text_puts(&text, "more");
        qn_text_printf(&text, "%d", 1);
        cr_expect_eq(text.length, length);
        cr_expect_null(qn_text_take(&text));
        cr_expect_not(text.failed);
        qn_text_free(&text);
    }
}

Test(text, impossible_length)
{
    qn_text text = {0};
    qn_text_add(&text, "x", SIZE_MAX);
    cr_expect(text.failed);
    qn_text_free(&text);
}
