/* SPDX-License-Identifier: MIT
 *
 * Reductions that only choose, beside the same ones in words that are not understood so: `(_J)` for
 * `_J`. Of drawn extents, order of axes and reduced ones, at any element, with gaps, and of few
 * different values, so that most choices are by position. The thing to know: both kernels must give
 * the same element, since their conditions say which of equal ones is chosen; the plan says which
 * way a kernel goes.
 */
#include "base/base.h"
#include "drawn_view.h"
#include "numbered.h"
#include "reduced.h"

#include <stdio.h>

TestSuite(choices, .init = whole_open_large, .fini = whole_close);

enum { DRAWN = 60, AXES = VIEW_AXES };

static const char *const choose[] = {
    "b.value > a.value || (b.value == a.value && b.at < a.at) ? b : a",
    "b.value < a.value || (b.value == a.value && b.at > a.at) ? b : a",
    "a.value < b.value || (a.value == b.value && a.at < b.at) ? b : a",
    "a.value < b.value || (!(b.value < a.value) && a.at <= b.at) ? a : b",
};

/* What the kernels' compiler is given, or NULL. */
static const char *option;

/* `position`: how map names it. */
static quern_kernel *kernel_that(const char *position, const char *reduce, const char *value)
{
    quern_kernel *k;
    char preamble[96], map[96];
    (void)snprintf(map, sizeof map, "best{(%s)x, %s}", value, position);
    (void)snprintf(preamble, sizeof preamble, "struct best { %s value; long long at; };", value);
    const quern_reduction_options o = {.size = sizeof o,
                                       .reduce_type = "best",
                                       .preamble = preamble,
                                       .options = &option,
                                       .option_count = option != NULL};
    OK(quern_reduction(&k, engine, "T x", "int64 y", map, reduce, "y = a.at", NULL, &o));
    return k;
}

/* Returns whether the first kernel's plan is that of a choice. */
static bool compare(quern_kernel *const *kernels, quern_array *memory, const int64_t *shape)
{
    int64_t extent[AXES] = {shape[0], shape[1], shape[2]};
    const char *order;
    quern_array *x = draw_view(memory, extent, &order);
    const uint32_t reduced = (uint32_t)draw(1, 7);
    int axes[AXES];
    const quern_call_options o = over_axes(axes, AXES, reduced);
    const int64_t *now = quern_array_shape(x);
    const size_t count = (size_t)outputs_over(now, AXES, reduced);
    quern_explanation *e = reduced_how(kernels[0], x, &o);
    const bool is = strstr(e->plan, "no positions compared") != NULL;
    int64_t *got = reduced_values(kernels[0], x, &o, count);
    int64_t *want = reduced_values(kernels[1], x, &o, count);
    for (size_t y = 0; y < count; y++) {
        cr_assert_eq(got[y], want[y], "%zu of (%ld, %ld, %ld) in memory as %s, over %u: %s", y,
                     (long)now[0], (long)now[1], (long)now[2], order, reduced, e->plan);
    }
    quern_explanation_release(e);
    free(got);
    free(want);
    quern_array_release(x);
    return is;
}

/* Bools are any bytes. */
static quern_array *memory_of(quern_dtype dtype, int64_t count)
{
    if (dtype != QUERN_BOOL) {
        return numbered_memory(dtype, count);
    }
    quern_array *bytes = numbered_memory(QUERN_UINT8, count), *bools;
    OK(quern_array_view(&bools, bytes, QUERN_BOOL));
    quern_array_release(bytes);
    return bools;
}

/* Returns how many of them are planned as choices. */
static int check_drawn(quern_dtype dtype, const char *value, int cases)
{
    enum { MOST = 400000 };
    quern_array *memory = memory_of(dtype, MOST + 64 * 1024);
    int choices = 0;
    for (int n = 0; n < drawn(cases); n++) {
        const char *const text = choose[n % QN_COUNT(choose)];
        quern_kernel *kernels[] = {kernel_that("_J", text, value),
                                   kernel_that("(_J)", text, value)};
        int64_t shape[AXES];
        draw_extents(shape);
        if (shape[0] * shape[1] * (shape[2] + 16) <= MOST) {
            choices += compare(kernels, memory, shape);
        }
        quern_kernel_release(kernels[0]);
        quern_kernel_release(kernels[1]);
    }
    quern_array_release(memory);
    return choices;
}

static void check_numbers(quern_dtype dtype)
{
    const int choices = check_drawn(dtype, "float", DRAWN);
    cr_assert_geq(choices, drawn(DRAWN) / 4, "%d of %d", choices, drawn(DRAWN));
}

Test(choices, of_bytes)
{
    state = 1;
    check_numbers(QUERN_UINT8);
}

/* Bytes are compared as one number with which element it is; not where they become greater ones. */
Test(choices, of_integers)
{
    state = 5;
    const int choices = check_drawn(QUERN_UINT8, "unsigned char", DRAWN / 3) +
                        check_drawn(QUERN_INT8, "unsigned", DRAWN / 3) +
                        check_drawn(QUERN_INT8, "int", DRAWN / 3) +
                        check_drawn(QUERN_UINT16, "unsigned short", DRAWN / 3);
    cr_assert_geq(choices, drawn(DRAWN) / 8, "%d of %d", choices, drawn(DRAWN));
}

/* And by two at once, as where an instruction of the GPU compares so. */
Test(choices, of_bytes_by_pairs)
{
    state = 6;
    option = "-DQUERN_PAIRS=1";
    const int choices =
        check_drawn(QUERN_UINT8, "unsigned char", DRAWN / 3) +
        check_drawn(QUERN_UINT8, "int", DRAWN / 3) + check_drawn(QUERN_INT8, "int", DRAWN / 3) +
        check_drawn(QUERN_INT8, "signed char", DRAWN / 3) +
        check_drawn(QUERN_BOOL, "bool", DRAWN / 3) + check_drawn(QUERN_BOOL, "int", DRAWN / 3);
    cr_assert_geq(choices, drawn(DRAWN) / 3, "%d of %d", choices, 2 * drawn(DRAWN));
}

Test(choices, of_two_bytes)
{
    state = 2;
    check_numbers(QUERN_UINT16);
}

Test(choices, of_floats)
{
    state = 3;
    check_numbers(QUERN_FLOAT32);
}

Test(choices, of_eight_bytes)
{
    state = 4;
    check_numbers(QUERN_INT64);
}

/* NaN is chosen where the condition says so, and a narrow position is enough. */
Test(choices, of_nan_and_narrow_positions)
{
    enum { COUNT = 100000 };
    quern_kernel *k;
    const quern_reduction_options o = {.size = sizeof o,
                                       .reduce_type = "best",
                                       .preamble = "struct best { unsigned at; float value; };"};
    OK(quern_reduction(&k, engine, "float32 x", "int64 y", "best{_J, x}",
                       "!isnan(a.value) && (isnan(b.value) || b.value > a.value) ? b : a",
                       "y = a.at", NULL, &o));
    float *host = malloc(COUNT * sizeof *host);
    for (int n = 0; n < COUNT; n++) {
        host[n] = n == 70001 ? 0.0f / 0.0f : (float)(n * 37 % 50021);
    }
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(COUNT), host), *y = NULL;
    OK(quern_call(k, x, &y));
    int64_t at = 0;
    OK(quern_array_read(y, &at, sizeof at));
    cr_assert_eq(at, 70001);
    quern_array_release(x);
    quern_array_release(y);
    quern_kernel_release(k);
    free(host);
}
