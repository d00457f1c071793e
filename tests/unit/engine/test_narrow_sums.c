/* SPDX-License-Identifier: MIT
 *
 * Sums of narrow integers in 64 bits, beside the same ones in words that are not understood so:
 * `(a) + b` for `a + b`. Of drawn extents, order of axes and reduced ones, of the greatest and the
 * least values that there are, for the most part. The thing to know: both kernels must give the
 * same bits; what is compiled says which way a kernel goes.
 */
#include "drawn_view.h"
#include "reduced.h"

#include <stdlib.h>

TestSuite(narrow_sums, .init = whole_open_large, .fini = whole_close);

enum { DRAWN = 3, AXES = VIEW_AXES, MOST = 400000, BEYOND = 64 * 1024 };

/* What is added up: of at most 16 bits, and of more. */
static const char *const maps[] = {"x",     "(long long)(x)", "(double)x",       "x > 0",
                                   "x * x", "(double)x / 2",  "(long long)x + 1"};

static const char *const sums[][2] = {
    {"int64 y", "long long"}, {"uint64 y", "unsigned long long"}, {"float64 y", "double"}};

static quern_array *extremes(quern_dtype dtype, size_t size)
{
    unsigned char *host = malloc((MOST + BEYOND) * size);
    for (size_t k = 0; k < (MOST + BEYOND) * size; k++) {
        static const unsigned char often[] = {0xff, 0x80, 0x7f, 0};
        host[k] = dtype == QUERN_BOOL ? (unsigned char)draw(0, 1)
                  : draw(0, 3) == 0   ? (unsigned char)draw(0, 255)
                                      : often[k % size == 0 && size > 1 ? 0 : draw(0, 3)];
    }
    quern_array *a = array_of(dtype, SHAPE(MOST + BEYOND), host);
    free(host);
    return a;
}

static bool knows_narrow(quern_kernel *k, quern_array *x, const quern_call_options *o)
{
    quern_explanation *e = reduced_how(k, x, o);
    const bool knows = strstr(e->source, "_quern_narrow") != NULL;
    quern_explanation_release(e);
    return knows;
}

/* Returns whether the first kernel has narrow sums. */
static bool compare(quern_kernel *const *kernels, quern_array *memory, const char *what)
{
    int64_t extent[AXES] = {MOST};
    const char *order;
    while (extent[0] * extent[1] * (extent[2] + 16) > MOST || extent[2] == 0) {
        draw_extents(extent);
    }
    quern_array *x = draw_view(memory, extent, &order);
    const uint32_t reduced = (uint32_t)draw(1, 7);
    int axes[AXES];
    const quern_call_options o = over_axes(axes, AXES, reduced);
    const int64_t *now = quern_array_shape(x);
    const size_t count = (size_t)outputs_over(now, AXES, reduced);
    const bool narrow = knows_narrow(kernels[0], x, &o);
    cr_assert(!knows_narrow(kernels[1], x, &o));
    int64_t *got = reduced_values(kernels[0], x, &o, count);
    int64_t *want = reduced_values(kernels[1], x, &o, count);
    for (size_t y = 0; y < count; y++) {
        cr_assert_eq(got[y], want[y], "%s: %zu of (%ld, %ld, %ld) in memory as %s, over %u", what,
                     y, (long)now[0], (long)now[1], (long)now[2], order, reduced);
    }
    free(got);
    free(want);
    quern_array_release(x);
    return narrow;
}

static void check(quern_dtype dtype, size_t size)
{
    quern_array *memory = extremes(dtype, size);
    int narrow = 0, all = 0;
    for (size_t t = 0; t < QN_COUNT(maps); t++) {
        const char *const *sum = sums[draw(0, QN_COUNT(sums) - 1)];
        const quern_reduction_options o = {.size = sizeof o, .reduce_type = sum[1]};
        quern_kernel *kernels[2];
        OK(quern_reduction(&kernels[0], engine, "T x", sum[0], maps[t], "a + b", "y = a", "0", &o));
        OK(quern_reduction(&kernels[1], engine, "T x", sum[0], maps[t], "(a) + b", "y = a", "0",
                           &o));
        for (int n = 0; n < drawn(DRAWN); n++, all++) {
            narrow += compare(kernels, memory, maps[t]);
        }
        quern_kernel_release(kernels[0]);
        quern_kernel_release(kernels[1]);
    }
    cr_assert_geq(narrow, all / 4, "%d of %d", narrow, all);
    quern_array_release(memory);
}

Test(narrow_sums, of_bool)
{
    state = 1;
    check(QUERN_BOOL, 1);
}

Test(narrow_sums, of_int8)
{
    state = 2;
    check(QUERN_INT8, 1);
}

Test(narrow_sums, of_uint8)
{
    state = 3;
    check(QUERN_UINT8, 1);
}

Test(narrow_sums, of_int16)
{
    state = 4;
    check(QUERN_INT16, 2);
}

Test(narrow_sums, of_uint16)
{
    state = 5;
    check(QUERN_UINT16, 2);
}

/* An expression that is none is reported as the user wrote it, in map. */
Test(narrow_sums, tell_where_map_is_wrong)
{
    quern_kernel *k;
    OK(quern_reduction(&k, engine, "int8 x", "int64 y", "x +", "a + b", "y = a", "0", NULL));
    quern_array *x = array_of(QUERN_INT8, SHAPE(2), (const int8_t[]){1, 2}), *y = NULL;
    cr_expect_eq(quern_call(k, x, &y), QUERN_ERROR_COMPILE);
    cr_expect(strstr(quern_last_error()->message, "map") != NULL, "%s",
              quern_last_error()->message);
    quern_array_release(x);
    quern_kernel_release(k);
}
