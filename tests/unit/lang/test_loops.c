/* SPDX-License-Identifier: MIT
 *
 * Loops of operations: run alike for neighbouring elements or not, where raw arrays are read, and
 * the parameters on which that depends.
 */
#include "lang/lang.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *text;
    bool even, placed;
    const char *counts; /* names of one letter */
} rows[] = {
    /* counted, or not */
    {"y = x", true, false, ""},
    {"for (int k = 0; k < 4; k++) y = (y + x / y) / 2", true, false, ""},
    {"for (int k = 0; k < n; k++) y += x", true, false, "n"},
    {"for (int k = 0, j = 9; k < j; k += 2, j--) y += x", true, false, ""},
    {"for (int a = 0; a < 3; a++) for (int b = a; b < 3; b++) y += a * b", true, false, ""},
    {"for (float t = 0; t < 1; t += 0.25f) y += t * x", true, false, ""},
    {"for (size_t k = 0; k < r.size(); k++) y += r[k]", true, false, ""},
    {"for (int k = 0; k < r.shape()[0]; k++) y += r[k]", true, false, ""},
    {"int m = 5; for (int k = 0; k < m; k++) y += x", false, false, ""},
    {"for (int k = 0; k < x; k++) y += 1", true, false, "x"},
    {"for (int k = 0; k < i; k++) y += 1", false, false, ""},
    {"for (int k = 0; k < r[0]; k++) y += 1", false, false, ""},
    {"for (int k = 0; k < f(3); k++) y += 1", false, false, ""},
    {"for (k = 0; k < 3; k++) y += 1", true, false, ""},
    {"while (y < 50) y += x", false, false, ""},
    {"do y += x; while (y < 50)", false, false, ""},
    {"again: y += x; if (y < 50) goto again", false, false, ""},
    {"for (int k = 0; k < 50; k++) { if (y > x) break; y += x; }", false, false, ""},
    {"for (int k = 0; k < 50; k++) { if (y > x) return; y += x; }", false, false, ""},
    {"for (int k = 0; k < 50; k++) { if (y > x) continue; y += x; }", true, false, ""},
    {"for (;;) y += x", true, false, ""},
    {"for (int k = 0; k < 50", true, false, ""},
    {"for", true, false, ""},
    /* raw arrays, side by side or not */
    {"y = r[i]", true, true, ""},
    {"y = r[i + 1] - r[i]", true, true, ""},
    {"y = r[n - 1 - i]", true, true, "n"},
    {"for (int k = 0; k < 7; k++) y += s[k] * r[i + k]", true, true, ""},
    {"for (int a = 0; a < 3; a++) for (int b = 0; b < 3; b++) y += r[i + a * n + b]", true, true,
     "n"},
    {"for (int k = 0; k < n; k++) y += r[k * n + i]", true, true, "n"},
    {"for (int k = 0; k < n; k++) y += r[i * n + k]", false, true, "n"},
    {"for (int k = 0; k < n; k++) y += r[(i + k) * 2]", false, true, "n"},
    {"for (int k = 0; k < 7; k++) y += r[i / 2 + k]", false, true, ""},
    {"int c = i % n; for (int k = 0; k < 7; k++) y += r[c + k]", false, true, ""},
    {"for (int k = 0; k < 7; k++) y += r[s[k]]", false, true, ""},
    {"for (int k = 0; k < 7; k++) y += r[_ind.get()[0] + k]", false, true, ""},
    {"y = r[x]", true, false, "x"},
    {"y = r[x * 4 + n]", true, false, "xn"},
    {"y = r[3]", true, false, ""},
    {"y = f(r)", false, true, ""},
    {"y = r.size()", true, false, ""},
    {"q[i] = x", false, true, ""},
    {"q[x] = 1", false, false, "x"},
    {"y = r[i", false, true, ""},
    {"/* for (;;) while r[i] */ y = x // do", true, false, ""},
};

static void study(qn_loop_facts *facts, const char *operation, const char *preamble,
                  const qn_signature *signature)
{
    const char *const options[] = {"-DFIVE=5", "-DSOME=x", "--use_fast_math",
                                   "--define-macro=SIX=6"};
    const qn_loop_texts texts = {operation, preamble, options, QN_COUNT(options)};
    qn_text_study_loops(facts, &texts, signature, "i");
}

Test(loops, of_operations)
{
    static const char *const named = "xnrsyq";
    qn_arena arena = {0};
    qn_signature signature;
    cr_assert_eq(
        qn_signature_parse(&signature, &arena, "T x, int32 n, raw T r, raw T s", "T y, raw T q"),
        QUERN_OK);
    for (size_t k = 0; k < QN_COUNT(rows); k++) {
        qn_loop_facts facts;
        study(&facts, rows[k].text, "", &signature);
        cr_expect_eq(facts.even, rows[k].even, "%s: even %d", rows[k].text, facts.even);
        cr_expect_eq(facts.placed, rows[k].placed, "%s: placed %d", rows[k].text, facts.placed);
        for (uint32_t p = 0; p < signature.count; p++) {
            const bool counts = strchr(rows[k].counts, named[p]) != NULL;
            cr_expect_eq(facts.counts[p], counts, "%s: counts %c", rows[k].text, named[p]);
        }
    }
    qn_arena_free(&arena);
}

/* Functions that an operation calls, and constants of both. */
static const struct {
    const char *preamble, *operation;
    bool even;
} called[] = {
    {"T f(T x) { T y = 1; for (int k = 0; k < 8; k++) y = y * x + k; return y; }", "y = f(x)",
     true},
    {"T f(T x) { for (int k = 0; k < 8; k++) x *= x; return x; } T g(T x) { return f(x); }",
     "y = g(x)", true},
    {"T f(T x, int m) { for (int k = 0; k < m; k++) x *= x; return x; }", "y = f(x, 3)", false},
    {"T f(T x, int n) { for (int k = 0; k < n; k++) x *= x; return x; }", "y = f(x, n)", false},
    {"T f(T x) { while (x < 2) x *= x; return x; }", "y = f(x)", false},
    {"T f(T x) { for (int k = 0; k < 8; k++) { if (x > 2) return k; x *= x; } return x; }",
     "y = f(x)", false},
    {"T f(T x) { for (int k = 0; k < 8; k++) if (x > 2) return k; return x; }", "y = f(x)", false},
    {"T f(T x) { for (int k = 0; k < 8; k++) if (x > 2) break; return x; }", "y = f(x)", false},
    {"T f(T x) { for (int k = 0; k < 2; k++) for (int j = 0; j < k; j++) { x += j; } return x; }",
     "y = f(x)", true},
    {"T f(T x) { return x; }", "for (int k = 0; k < 8; k++) { if (f(x)) return; y = k; }", false},
    {"template <int N> T f(T x) { for (int k = 0; k < N; k++) x *= x; return x; }", "y = f<3>(x)",
     true},
    {"template <typename N> T f(N m) { for (N k = 0; k < m; k++) m--; return m; }", "y = f(x)",
     false},
    {"template <class A, unsigned B> T f(A x) { for (int k = 0; k < B; k++) x *= x; return x; }",
     "y = f<T, 3>(x)", true},
    {"#define TAPS 5\n", "for (int k = 0; k < TAPS; k++) y += s[k] * r[i + k]", true},
    {"#define TAPS 5 // taps\n", "for (int k = 0; k < TAPS; k++) y += x", true},
    {"#define TAPS 5 * x\n", "for (int k = 0; k < TAPS; k++) y += x", false},
    {"#define TAPS x\n", "for (int k = 0; k < TAPS; k++) y += x", false},
    {"#define TAPS\n5;", "for (int k = 0; k < TAPS; k++) y += x", false},
    {"# define TAPS 5", "for (int k = 0; k < TAPS; k++) y += x", true},
    {"constexpr int taps = 5;", "for (int k = 0; k < taps; k++) y += x", true},
    {"constexpr int taps = 5; int other = taps;", "for (int k = 0; k < other; k++) y += x", false},
    {"", "constexpr int m = 5; for (int k = 0; k < m; k++) y += x", true},
    {"", "for (int k = 0; k < FIVE; k++) y += x", true},
    {"", "for (int k = 0; k < SOME; k++) y += x", false},
    {"", "for (int k = 0; k < SIX; k++) y += x", true},
    {"enum { few = 3, more = 5 };", "for (int k = few; k < more; k++) y += x", true},
    {"constexpr int a = 3, b = 4;", "for (int k = a; k < b; k++) y += x", true},
    {"static const int taps = 5;", "for (int k = 0; k < taps; k++) y += x", true},
    {"", "const int m = 5; for (int k = 0; k < m; k++) y += x", true},
    {"", "const int m = 5 * x; for (int k = 0; k < m; k++) y += x", false},
    {"", "const int m = x; for (int k = 0; k < m; k++) y += x", false},
    {"T f(const T x) { int m = 5; for (int k = 0; k < m; k++) x++; return x; }", "y = f(x)", false},
    {"constexpr T f(T x) { int m = x; for (int k = 0; k < m; k++) x++; return x; }", "y = f(x)",
     false},
    {"#define", "y = x", true},
    {"template", "y = x", true},
    {"template <int", "y = x", true},
    {"constexpr", "y = x", true},
};

Test(loops, of_functions_and_constants)
{
    qn_arena arena = {0};
    qn_signature signature;
    cr_assert_eq(qn_signature_parse(&signature, &arena, "T x, int32 n, raw T r, raw T s", "T y"),
                 QUERN_OK);
    for (size_t k = 0; k < QN_COUNT(called); k++) {
        qn_loop_facts facts;
        study(&facts, called[k].operation, called[k].preamble, &signature);
        cr_expect_eq(facts.even, called[k].even, "%s, %s", called[k].preamble, called[k].operation);
    }
    qn_arena_free(&arena);
}

/* More counters than have room are unknown names. */
Test(loops, many_counters)
{
    qn_arena arena = {0};
    qn_signature signature;
    cr_assert_eq(qn_signature_parse(&signature, &arena, "T x", "T y"), QUERN_OK);
    for (int count = 1; count <= QN_MAX_KNOWN + 1; count++) {
        char text[64 * (QN_MAX_KNOWN + 1)] = "";
        for (int k = 0; k < count; k++) {
            const size_t used = strlen(text);
            snprintf(text + used, sizeof text - used, "for (int k%d = 0; k%d < 2; k%d++) ", k, k,
                     k);
        }
        qn_loop_facts facts;
        study(&facts, text, "", &signature);
        cr_expect_eq(facts.even, count < QN_MAX_KNOWN - 1, "%d", count); /* FIVE, SIX */
    }
    qn_arena_free(&arena);
}
