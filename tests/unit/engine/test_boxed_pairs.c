/* SPDX-License-Identifier: MIT
 *
 * Products of two arrays, added up by boxes (src/array/fold_joined.c), beside sums made on the
 * host. Each case is drawn: the type, the extents, which axes are added up. One of the arrays runs
 * backwards along the first axis, so that the lowest of its memory is not where the walk begins.
 */
#include "draw.h"
#include "lying.h"
#include "reduced.h"

static void open_pairs(void)
{
    whole_open_on("soft:4");
}

TestSuite(boxed_pairs, .init = open_pairs, .fini = whole_close);

enum { DRAWN = 40, LEAST_ELEMENTS = 60000 };

static void expect(int64_t *sums, const int64_t *shape, unsigned reduced, const lying *x,
                   const lying *z)
{
    for (int64_t n = 0; n < shape[0] * shape[1] * shape[2] * shape[3]; n++) {
        int64_t at[DIMS], output = 0;
        position_of(at, shape, n);
        for (int d = 0; d < DIMS; d++) {
            output = reduced >> d & 1 ? output : output * shape[d] + at[d];
        }
        sums[output] += lying_at(x, at) * lying_at(z, at);
    }
}

/* Returns whether it goes by boxes. */
static bool check(int n, element type)
{
    int64_t shape[DIMS] = {2 + rand() % 5, 1, 3 + rand() % 30, 2 + rand() % 8};
    const unsigned reduced = rand() % 2 == 0 ? 1u << 2 : 1u << 3 | 1u << 1;
    int axes[DIMS];
    const quern_call_options o = over_axes(axes, DIMS, reduced);
    shape[1] = LEAST_ELEMENTS / (shape[0] * shape[2] * shape[3]) + rand() % 50;
    const int64_t outputs = outputs_over(shape, DIMS, reduced);
    const layout forwards = in_c_order(shape, 0);
    layout backwards = in_c_order(shape, 0);
    turn_around(&backwards, shape, 0);
    lying x = lay(type, shape, &forwards), z = lay(type, shape, &backwards);
    int64_t *sums = calloc((size_t)outputs, sizeof *sums);
    cr_assert(sums);
    expect(sums, shape, reduced, &x, &z);
    const quern_reduction_options options = {.size = sizeof options, .reduce_type = "long long"};
    quern_kernel *kernel;
    OK(quern_reduction(&kernel, engine, "T x, T z", "int64 y", "(long long)(x) * (long long)(z)",
                       "a + b", "y = a", "0", &options));
    quern_array *y = NULL;
    const quern_value values[] = {QUERN_VALUES(x.array, z.array, &y)};
    quern_explanation *e;
    OK(quern_explain(&e, kernel, values, 3, &o));
    OK(quern_call_n(kernel, values, 3, &o));
    cr_expect_eq(differing(y, (const char *)sums, outputs * 8), 0, "case %d: %s", n, e->plan);
    const bool boxes = strstr(e->plan, "by boxes of") != NULL;
    quern_explanation_release(e);
    quern_kernel_release(kernel);
    quern_array_release(y);
    lying_release(&x);
    lying_release(&z);
    free(sums);
    return boxes;
}

Test(boxed_pairs, backwards_along_an_outer_axis)
{
    static const element types[] = {{QUERN_INT8, 1}, {QUERN_INT16, 2}, {QUERN_INT32, 4}};
    const int cases = whole_is_soft() ? drawn(DRAWN) : 16;
    int boxes = 0;
    srand(7);
    for (int n = 0; n < cases; n++) {
        boxes += check(n, types[rand() % 3]);
    }
    cr_expect(!whole_is_soft() || drawn_part() != 1 || boxes >= 10, "%d by boxes", boxes);
}
