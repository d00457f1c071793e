/* SPDX-License-Identifier: MIT
 *
 * Correct signatures: parameters, letters, and their places in the text.
 */
#include "lang/lang.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* A parsed signature as text: "raw T#0 x; -> float32 z; " where T is letter 0. */
static char *describe(const qn_signature *s)
{
    qn_text text = {0};
    for (uint32_t k = 0; k < s->count; k++) {
        const qn_parameter *p = &s->parameters[k];
        qn_text_printf(&text, "%s%s%s", k == s->input_count ? "-> " : "", p->raw ? "raw " : "",
                       p->is_const ? "const " : "");
        if (p->letter >= 0) {
            qn_text_printf(&text, "%c#%d", s->letters[p->letter], p->letter);
        } else {
            qn_text_puts(&text, quern_dtype_name(p->dtype));
        }
        qn_text_printf(&text, " %.*s; ", (int)p->name.length, p->name.data);
    }
    return qn_text_take(&text);
}

static const struct {
    const char *in, *out, *expected;
} cases[] = {
    {"", "", ""},
    {" \t\n", "  ", ""},
    {NULL, NULL, ""},
    {"T x", "T z", "T#0 x; -> T#0 z; "},
    {"T x, U y", "V z", "T#0 x; U#1 y; -> V#2 z; "},
    {"T x, U y, T w", "U z", "T#0 x; U#1 y; T#0 w; -> U#1 z; "},
    {"", "T z", "-> T#0 z; "},
    {"T x", "", "T#0 x; "},
    {"t x, T y", "", "t#0 x; T#1 y; "},
    {"float32 x", "float64 z", "float32 x; -> float64 z; "},
    {"raw T x", "raw T z", "raw T#0 x; -> raw T#0 z; "},
    {"const T x", "T z", "const T#0 x; -> T#0 z; "},
    {"const raw T x, raw const T y", "", "raw const T#0 x; raw const T#0 y; "},
    {"unsigned long long x", "", "uint64 x; "},
    {"long unsigned int x", "", "uint64 x; "},
    {"const unsigned char x", "", "const uint8 x; "},
    {"raw signed char x", "", "raw int8 x; "},
    {"unsigned x", "", "uint32 x; "},
    {"long x", "", "int64 x; "},
    {"float complex x", "", "complex64 x; "},
    {"size_t x, half y", "", "uint64 x; float16 y; "},
    {"  T\tx ,\n float32\n y  ", "", "T#0 x; float32 y; "},
    {"T x,U y", "T z", "T#0 x; U#1 y; -> T#0 z; "},
    /* names that only look reserved */
    {"n x", "T n_", "n#0 x; -> T#1 n_; "},
    {"T n", "", "T#0 n; "},
    {"T nn, T ii, T x_, T N, T I, T in, T out", "",
     "T#0 nn; T#0 ii; T#0 x_; T#0 N; T#0 I; T#0 in; T#0 out; "},
    {"T float31, T Const, T constant", "T raw_",
     "T#0 float31; T#0 Const; T#0 constant; -> T#0 raw_; "},
    {"T x1, T x2y3", "", "T#0 x1; T#0 x2y3; "},
};

Test(signature, right_ones)
{
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        qn_arena arena = {0};
        qn_signature s;
        cr_assert_eq(qn_signature_parse(&s, &arena, cases[k].in, cases[k].out), QUERN_OK,
                     "case %zu: %s", k, quern_last_error_text());
        char *got = describe(&s);
        cr_expect_str_eq(got, cases[k].expected, "case %zu: %s", k, got);
        qn_free(got);
        qn_arena_free(&arena);
    }
}

Test(signature, positions)
{
    qn_arena arena = {0};
    qn_signature s;
    cr_assert_eq(qn_signature_parse(&s, &arena, " raw  unsigned \tlong  abc,T y", "U  z"),
                 QUERN_OK);
    const qn_parameter *p = s.parameters;
    cr_expect(qn_str_is(p[0].type, "unsigned \tlong"));
    cr_expect(qn_str_is(p[0].name, "abc"));
    cr_expect_eq(p[0].type_begin, 6);
    cr_expect_eq(p[0].type_end, 20);
    cr_expect_eq(p[0].name_begin, 22);
    cr_expect_eq(p[0].name_end, 25);
    cr_expect_eq(p[0].type.data, s.in_text + 6);
    cr_expect_eq(p[1].type_begin, 26);
    cr_expect_eq(p[2].name_begin, 3);
    cr_expect_eq(p[2].name.data, s.out_text + 3);
    cr_expect(p[2].output && !p[1].output);
    qn_arena_free(&arena);
}

Test(signature, texts_are_copied)
{
    char in[] = "T x";
    qn_arena arena = {0};
    qn_signature s;
    cr_assert_eq(qn_signature_parse(&s, &arena, in, "T z"), QUERN_OK);
    memset(in, '?', sizeof in - 1);
    cr_expect(qn_str_is(s.parameters[0].name, "x"));
    qn_arena_free(&arena);
}

/* Write `count` parameters "T a0, T a1, ...". */
static void many(char *out, int count)
{
    for (int k = 0; k < count; k++) {
        out += sprintf(out, "%sT a%d", k > 0 ? ", " : "", k);
    }
}

Test(signature, as_many_parameters_as_may_be)
{
    char in[1024];
    qn_arena arena = {0};
    qn_signature s;
    many(in, QUERN_MAX_PARAMETERS - 1);
    cr_assert_eq(qn_signature_parse(&s, &arena, in, "T z"), QUERN_OK);
    cr_expect_eq(s.count, QUERN_MAX_PARAMETERS);
    cr_expect_eq(s.input_count, QUERN_MAX_PARAMETERS - 1);
    cr_expect_eq(qn_signature_parse(&s, &arena, in, "T y, T z"), QUERN_ERROR_SIGNATURE);
    cr_expect_str_eq(quern_last_error()->message,
                     "a kernel has at most 64 parameters, inputs and outputs together");
    cr_expect_str_eq(quern_last_error()->text_name, "out");
    cr_expect_eq(quern_last_error()->begin, 5);
    cr_expect_eq(quern_last_error()->end, 8);
    cr_expect_eq(s.count, 0);
    qn_arena_free(&arena);
}

Test(signature, every_letter)
{
    char in[512], *end = in;
    qn_arena arena = {0};
    qn_signature s;
    for (const char *c = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghjklmnopqrstuvwxyz"; *c; c++) {
        end += sprintf(end, "%s%c %c_", end > in ? "," : "", *c, *c);
    }
    cr_assert_eq(qn_signature_parse(&s, &arena, in, ""), QUERN_OK, "%s", quern_last_error_text());
    cr_expect_eq(s.letter_count, 51);
    qn_arena_free(&arena);
}

Test(signature, out_of_memory)
{
    for (uint64_t n = 1; n <= 2; n++) {
        qn_arena arena = {0};
        qn_signature s;
        qn_memory_fail_after(n, true);
        quern_status status = qn_signature_parse(&s, &arena, "T x", "T z");
        qn_memory_fail_after(0, false);
        cr_expect_eq(status, QUERN_ERROR_OUT_OF_MEMORY);
        cr_expect_eq(s.count, 0);
        qn_arena_free(&arena);
    }
}
