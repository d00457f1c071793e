/* SPDX-License-Identifier: MIT
 *
 * Reductions that only choose: which texts are understood so, and what is asked where the positions
 * of two values are known.
 */
#include "lang/lang.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define BEST   "struct best { float value; long long at; };\n"
#define BETTER "__device__ best better(best a, best b) "

static const struct {
    const char *map, *reduce, *preamble;
    const char *takes_second; /* NULL: no choice */
} rows[] = {
    /* expressions */
    {"best{x, _J}", "a.value < b.value ? b : a", BEST, "a.value < b.value"},
    {"best{x, _J}", "a.value < b.value ? a : b", BEST, "!(a.value < b.value)"},
    {"best{(int)(x), _J}", "(a.value<b.value)? b:a", BEST, "(a.value<b.value)"},
    {"best{f(x, 2), _J}", "isnan(b.value) || b.value >= a.value ? b : a", BEST,
     "isnan(b.value) || b.value >= a.value"},
    /* ties by position: the first is lower */
    {"best{x, _J}", "b.value > a.value || (b.value == a.value && b.at < a.at) ? b : a", BEST,
     "b.value > a.value || (b.value == a.value && false)"},
    {"best{x, _J}", "b.value > a.value || (b.value == a.value && a.at < b.at) ? b : a", BEST,
     "b.value > a.value || (b.value == a.value && true)"},
    {"best{x, _J}", "a.at<=b.at ? b : a", BEST, "true"},
    {"best{x, _J}", "a.at >= b.at ? b : a", BEST, "false"},
    {"best{x, _J}", "b.at <= a.at ? b : a", BEST, "false"},
    {"best{x, _J}", "b.at > a.at ? b : a", BEST, "true"},
    {"best{x, _J}", "a.at == b.at ? b : a", BEST, "false"},
    {"best{x, _J}", "a.at != b.at ? b : a", BEST, "true"},
    {"best{x, _J}", "a.at == a.at && a.at <= a.at ? b : a", BEST, "true && true"},
    {"best{x, _J}", "a.at != a.at || a.at < a.at ? b : a", BEST, "false || false"},
    /* functions */
    {"best{x, _J}", "better(a, b)", BEST BETTER "{ return p.value > q.value ? p : q; }", NULL},
    {"best{x, _J}", "better(a, b)", BEST BETTER "{ return a.value > b.value ? a : b; }",
     "!(a.value > b.value)"},
    {"best{x, _J}", "better(a, b)",
     BEST
     "__device__ best better(const best &p, best q)\n{\n    return p.value < q.value ? q : p;\n}",
     "p.value < q.value"},
    {"best{x, _J}", "better(b, a)", BEST BETTER "{ return a.value > b.value ? a : b; }", NULL},
    {"best{x, _J}", "better(a, b)", BEST BETTER "{ a.at = 7; return a.value > b.value ? a : b; }",
     NULL},
    {"best{x, _J}", "better(a, b)",
     BEST BETTER "{ return a.value > b.value ? a : b; }\n" BETTER "{ return a.at ? a : b; }", NULL},
    {"best{x, _J}", "better(a, b)", BEST "template <typename T> T better(T a, T b) { return a; }",
     NULL},
    {"best{x, _J}", "better(a, b)", BEST, NULL},
    /* more than a choice, or by more than which position is lower */
    {"best{x, _J}", "a.value < b.value ? b : b", BEST, NULL},
    {"best{x, _J}", "a.value < b.value ? b : best{0, 0}", BEST, NULL},
    {"best{x, _J}", "best{a.value + b.value, a.at}", BEST, NULL},
    {"best{x, _J}", "a.at % 2 < b.at % 2 ? b : a", BEST, NULL},
    {"best{x, _J}", "a.at < b.at + 1 ? b : a", BEST, NULL},
    {"best{x, _J}", "1 + a.at < b.at ? b : a", BEST, NULL},
    {"best{x, _J}", "!a.at < b.at ? b : a", BEST, NULL},
    {"best{x, _J}", "a.at < 5 ? b : a", BEST, NULL},
    {"best{x, _J}", "a.at << b.at ? b : a", BEST, NULL},
    {"best{x, _J}", "a.at < b.value ? b : a", BEST, NULL},
    {"best{x, _J}", "f(a) < f(b) ? b : a", BEST, NULL},
    {"best{x, _J}", "(a.value += 1) < b.value ? b : a", BEST, NULL},
    {"best{x, _J}", "(a.value = 1) < b.value ? b : a", BEST, NULL},
    {"best{x, _J}", "a.value++ < b.value ? b : a", BEST, NULL},
    {"best{x, _J}", "a.value < w[0] ? b : a", BEST, NULL},
    {"best{x, _J}", "a.value < b.value ? b : a /* ", BEST, NULL},
    /* the structure and the position in it */
    {"best{_J, x}", "a.value < b.value ? b : a", "struct best { int at; float value; };",
     "a.value < b.value"},
    {"best{x, y, _J}", "a.u < b.u ? b : a", "struct best { float u, v; ptrdiff_t at; };",
     "a.u < b.u"},
    {"best{x, _J}", "a.value < b.value ? b : a",
     "struct best { float value; unsigned long long at; };", "a.value < b.value"},
    {"best{x, _J}", "a.value < b.value ? b : a", "struct best { float value; float at; };", NULL},
    {"best{x, _J}", "a.value < b.value ? b : a", "struct best { float value; short at; };", NULL},
    {"best{x, _J}", "a.value < b.value ? b : a", "struct best { float value; int at, old; };",
     NULL},
    {"best{x, _J}", "a.value < b.value ? b : a", "struct best { float value; int at; best(); };",
     NULL},
    {"best{x, _J}", "a.value < b.value ? b : a", "struct best { float value; int at = 0; };", NULL},
    {"best{x, _J}", "a.value < b.value ? b : a", "struct best : other { float value; int at; };",
     NULL},
    {"best{x, _J}", "a.value < b.value ? b : a", "#define at value\n" BEST, NULL},
    {"best{x, _J}", "a.value < b.value ? b : a", "struct best { pair value; int at; };", NULL},
    {"best{x, _J}", "a.value < b.value ? b : a", "struct best { const float value; int at; };",
     NULL},
    {"best{x, _J}", "a.value < b.value ? b : a",
     "struct best { char value; int at; } __attribute__((packed));", NULL},
    {"best{x, _J}", "a.value < b.value ? b : a", "_Pragma(\"pack(1)\") " BEST, NULL},
    {"best{f<1, 2>(x), _J}", "a.u < b.u ? b : a", "struct best { float u, v; int at; };", NULL},
    {"best{x > 0, _J}", "a.value < b.value ? b : a", "struct best { bool value; int at; };",
     "a.value < b.value"},
    {"best{x, _J + 1}", "a.value < b.value ? b : a", BEST, NULL},
    {"best{x * _J, _J}", "a.value < b.value ? b : a", BEST, NULL},
    {"best{x[_J], 0}", "a.value < b.value ? b : a", BEST, NULL},
    {"best{x, (_J)}", "a.value < b.value ? b : a", BEST, NULL},
    {"best(x, _J)", "a.value < b.value ? b : a", BEST, NULL},
    {"best{x}", "a.value < b.value ? b : a", BEST, NULL},
    {"best{x, _J}.at", "a.value < b.value ? b : a", BEST, NULL},
    {"other{x, _J}", "a.value < b.value ? b : a", BEST, NULL},
    {"x", "a + b", "", NULL},
    {"", "", "", NULL},
};

Test(choice, of_texts)
{
    qn_arena arena = {0};
    for (size_t k = 0; k < QN_COUNT(rows); k++) {
        const qn_choice_texts texts = {rows[k].map, rows[k].reduce, rows[k].preamble, "best"};
        qn_choice choice;
        const bool is = qn_text_study_choice(&choice, &arena, &texts, "_J");
        cr_expect_eq(is, rows[k].takes_second != NULL, "%s | %s", rows[k].map, rows[k].reduce);
        cr_expect_eq(is, choice.field != NULL);
        if (is && rows[k].takes_second) {
            cr_expect_str_eq(choice.takes_second, rows[k].takes_second);
            cr_expect_str_eq(choice.field, "at");
        }
    }
    qn_arena_free(&arena);
}

/* Whether all that matters is whose field is greater. */
Test(choice, of_the_greatest)
{
    static const struct {
        const char *condition;
        bool plain;
    } conditions[] = {
        {"a.value < b.value", true},
        {"!(a.value >= b.value)", true},
        {"b.value > a.value || (b.value == a.value && b.at < a.at)", true},
        {"a.at < b.at && a.value <= b.value", true},
        {"a.value < a.value | b.value > a.value", true},
        {"isnan(b.value) || b.value > a.value", false},
        {"abs(a.value) < abs(b.value)", false},
        {"(a.value) < b.value", false},
        {"a.value < 5", false},
        {"a.value < b.value && b.value > 0", false},
        {"a.value && b.value", false},
        {"a.value < !b.value", false},
        {"a.value < b.value == 1", false},
        {"!a.value < b.value", false},
    };
    qn_arena arena = {0};
    for (size_t k = 0; k < QN_COUNT(conditions); k++) {
        char reduce[128];
        (void)snprintf(reduce, sizeof reduce, "%s ? b : a", conditions[k].condition);
        const qn_choice_texts texts = {"best{x, _J}", reduce, BEST, "best"};
        qn_choice choice;
        cr_expect(qn_text_study_choice(&choice, &arena, &texts, "_J"), "%s", reduce);
        cr_expect_eq(choice.value != NULL, conditions[k].plain, "%s", reduce);
        cr_expect(!choice.value || strcmp(choice.value, "value") == 0);
    }
    const qn_choice_texts two = {"best{x, y, _J}", "a.u < b.u ? b : a",
                                 "struct best { float u, v; ptrdiff_t at; };", "best"};
    qn_choice choice;
    cr_expect(qn_text_study_choice(&choice, &arena, &two, "_J") && !choice.value);
    qn_arena_free(&arena);
}

Test(choice, of_texts_cut_off)
{
    qn_arena arena = {0};
    const char *const texts[] = {
        "best{f(x)[0], _J}", "better(a, b)",
        BEST BETTER "{ return a.value < b.value || (a.value == b.value && b.at < a.at) ? b : a; }"};
    const qn_choice_texts whole = {texts[0], texts[1], texts[2], "best"};
    qn_choice whole_choice;
    cr_assert(qn_text_study_choice(&whole_choice, &arena, &whole, "_J"));
    for (int t = 0; t < 3; t++) {
        for (size_t length = 0; length < strlen(texts[t]); length++) {
            char *cut = strndup(texts[t], length);
            const qn_choice_texts some = {t == 0 ? cut : texts[0], t == 1 ? cut : texts[1],
                                          t == 2 ? cut : texts[2], "best"};
            qn_choice choice;
            cr_expect_not(qn_text_study_choice(&choice, &arena, &some, "_J"), "%s", cut);
            free(cut);
        }
    }
    qn_arena_free(&arena);
}

Test(choice, is_none_without_memory)
{
    const qn_choice_texts texts = {"best{x, _J}", "a.value < b.value ? a : b", BEST, "best"};
    for (uint64_t n = 1; n < 20; n++) {
        qn_arena arena = {0};
        qn_choice choice;
        qn_memory_fail_after(n, true);
        const bool is = qn_text_study_choice(&choice, &arena, &texts, "_J");
        const bool all = qn_memory_fail_after(0, false) < n;
        cr_expect_eq(is, all);
        cr_expect_eq(choice.field != NULL, all);
        qn_arena_free(&arena);
    }
}
