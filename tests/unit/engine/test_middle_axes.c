/* SPDX-License-Identifier: MIT
 *
 * Sums and positions of the largest along the middle axis of (n, length, m): few elements for each
 * of many outputs, in rows that begin anywhere; and sums of few long rows into wider elements. In:
 * drawn extents. Out: each result. The thing to know: all elements of an output are read before the
 * first is combined, in batches whose number the code knows, so each length is code of its own.
 */
#include "base/base.h"
#include "draw.h"
#include "numbered.h"

static void open_few(void)
{
    whole_open_on("soft:2,shared=227");
}

TestSuite(middle_axes, .init = open_few, .fini = whole_close);

static const quern_dtype dtypes[] = {QUERN_UINT8, QUERN_UINT16, QUERN_FLOAT32, QUERN_INT64};

enum { DRAWN = 12, OUTPUTS = 20000, COLUMNS = 1 << 16 };

static const char best_text[] = "struct best { int value; int at; };\n"
                                "__device__ best better(best a, best b)\n"
                                "{\n"
                                "    return b.value > a.value ? b : a;\n"
                                "}\n";

static quern_kernel *sum_kernel(void)
{
    quern_kernel *k;
    OK(quern_reduction(&k, engine, "T x", "int64 y", "(long long)x", "a + b", "y = a", "0", NULL));
    return k;
}

static quern_kernel *largest_kernel(void)
{
    const quern_reduction_options o = {
        .size = sizeof o, .ordered = 1, .preamble = best_text, .reduce_type = "best"};
    quern_kernel *k;
    OK(quern_reduction(&k, engine, "T x", "int64 y", "best{(int)x, (int)_J}", "better(a, b)",
                       "y = a.at", NULL, &o));
    return k;
}

/* The first position of the largest of `length` elements, `m` apart. */
static int64_t first_largest(int64_t begin, int64_t length, int64_t m)
{
    int64_t best = 0;
    for (int64_t j = 1; j < length; j++) {
        best = numbered(begin + j * m) > numbered(begin + best * m) ? j : best;
    }
    return best;
}

static int64_t sum_of(int64_t begin, int64_t length, int64_t m)
{
    int64_t sum = 0;
    for (int64_t j = 0; j < length; j++) {
        sum += numbered(begin + j * m);
    }
    return sum;
}

/* Whether some element is more than 50. */
static int64_t any_large(int64_t begin, int64_t length, int64_t m)
{
    bool any = false;
    for (int64_t j = 0; j < length; j++) {
        any |= numbered(begin + j * m) > 50;
    }
    return any;
}

/* What is expected of the `length` elements from `begin` on, `m` apart. */
typedef int64_t expected(int64_t begin, int64_t length, int64_t m);

/* Returns whether a thread had outputs a block apart. */
static bool check(quern_kernel *k, quern_dtype dtype, expected *want, int64_t n, int64_t length,
                  int64_t m)
{
    quern_array *const memory = numbered_memory(dtype, n * length * m);
    quern_array *x;
    OK(quern_array_reshape(&x, memory, SHAPE(n, length, m)));
    quern_explanation *e;
    int64_t *const got = reduced_along(&e, k, x, 1, n * m);
    for (int64_t at = 0; at < n * m; at++) {
        const int64_t right = want(at / m * length * m + at % m, length, m);
        cr_assert_eq(got[at], right, "%ld for %ld: %ld of (%ld, %ld, %ld), %s", (long)got[at],
                     (long)right, (long)at, (long)n, (long)length, (long)m, e->plan);
    }
    free(got);
    const bool apart = strstr(e->plan, "a block apart") != NULL;
    quern_explanation_release(e);
    quern_array_release(memory);
    quern_array_release(x);
    return apart;
}

static void check_lengths(quern_kernel *k, expected *want, int64_t most)
{
    int apart = 0;
    for (size_t d = 0; d < QN_COUNT(dtypes); d++) {
        state = d + 1;
        for (int n = 0; n < drawn(DRAWN); n++) {
            const int64_t m = draw(10, 700) | 1;
            apart += check(k, dtypes[d], want, OUTPUTS / m + 1, draw(1, most), m);
        }
    }
    cr_assert(apart >= drawn(DRAWN) || !whole_is_soft(), "%d of %d", apart,
              drawn(DRAWN) * (int)QN_COUNT(dtypes)); /* a GPU asks for more outputs */
    quern_kernel_release(k);
}

Test(middle_axes, sums)
{
    check_lengths(sum_kernel(), sum_of, 36);
}

Test(middle_axes, largest)
{
    check_lengths(largest_kernel(), first_largest, 70);
}

/* Few rows of so many columns that each has one thread. Of bytes it has 16, whose sums take 128
 * bytes: a warp writes them together, where all of its threads have some. */
static void check_few_rows(quern_kernel *k, quern_dtype dtype, expected *want)
{
    state = 1;
    for (int n = 0; n < 3; n++) {
        check(k, dtype, want, 1, draw(1, 4), COLUMNS + 16 * draw(0, 100));
    }
}

Test(middle_axes, few_rows_into_wider_elements)
{
    quern_kernel *const k = sum_kernel();
    for (size_t d = 0; d < QN_COUNT(dtypes); d++) {
        check_few_rows(k, dtypes[d], sum_of);
    }
    quern_kernel_release(k);
}

/* Values of a byte leave a warp no room for packs of wider results. */
Test(middle_axes, few_rows_of_narrow_values)
{
    const quern_reduction_options o = {.size = sizeof o, .reduce_type = "bool"};
    quern_kernel *k;
    OK(quern_reduction(&k, engine, "T x", "int64 y", "x > 50", "a || b", "y = a", "false", &o));
    for (size_t d = 0; d < QN_COUNT(dtypes); d++) {
        check_few_rows(k, dtypes[d], any_large);
    }
    quern_kernel_release(k);
}
