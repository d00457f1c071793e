/* SPDX-License-Identifier: MIT
 *
 * Long rows that share an input: blocks go over the rows before they go on along them. Aligned
 * rows, rows that are not, and an input that only some dimensions share.
 */
#include "whole.h"

TestSuite(shared_rows, .init = whole_open, .fini = whole_close);

static int8_t at(int64_t n)
{
    return (int8_t)(n * 37 % 101);
}

static quern_array *bytes_of(int ndim, const int64_t *shape, int64_t first)
{
    int64_t count = 1;
    for (int d = 0; d < ndim; d++) {
        count *= shape[d];
    }
    int8_t *host = malloc((size_t)count);
    for (int64_t n = 0; n < count; n++) {
        host[n] = at(first + n);
    }
    quern_array *a = array_of(QUERN_INT8, ndim, shape, host);
    free(host);
    return a;
}

/* `outer` times `rows` rows, of which those of the same number share one. */
static void check(int64_t outer, int64_t rows, int64_t width)
{
    quern_kernel *k = kernel_of("T x, T w", "T y", "y = x ^ w");
    quern_array *x = bytes_of(3, (int64_t[]){outer, rows, width}, 0);
    quern_array *w = bytes_of(3, (int64_t[]){1, rows, width}, 7), *y = NULL;
    const quern_value values[] = {QUERN_VALUES(x, w, &y)};
    quern_explanation *e;
    OK(quern_explain(&e, k, values, 3, NULL));
    cr_assert(strstr(e->plan, "across rows"), "%s", e->plan);
    quern_explanation_release(e);
    OK(quern_call_n(k, values, 3, NULL));
    int8_t *got = malloc((size_t)(outer * rows * width));
    OK(quern_array_read(y, got, (size_t)(outer * rows * width)));
    for (int64_t n = 0; n < outer * rows * width; n++) {
        cr_assert_eq(got[n], (int8_t)(at(n) ^ at(7 + n % (rows * width))), "element %ld", (long)n);
    }
    free(got);
    quern_array_release(x);
    quern_array_release(w);
    quern_array_release(y);
    quern_kernel_release(k);
}

Test(shared_rows, aligned)
{
    check(2, 1, 12 << 20);
}

Test(shared_rows, of_any_length)
{
    check(2, 1, (12 << 20) + 5);
}

Test(shared_rows, of_several)
{
    check(2, 3, (4 << 20) + 3);
}
