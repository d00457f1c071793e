/* SPDX-License-Identifier: MIT
 *
 * For tests of reductions over drawn axes: bit k of `reduced` says that axis k is one of them.
 * Kernels have one input and one output.
 */
#ifndef QUERN_TEST_REDUCED_H
#define QUERN_TEST_REDUCED_H

#include "whole.h"

#include <quern/quern.h>
#include <stdlib.h>

/** Options of a call over those of `ndim` axes, which are written to `axes`. */
static inline quern_call_options over_axes(int *axes, int ndim, uint32_t reduced)
{
    quern_call_options o = QUERN_CALL_OPTIONS_INIT;
    for (int d = 0; d < ndim; d++) {
        if (reduced >> d & 1) {
            axes[o.axis_count++] = d;
        }
    }
    o.axes = axes;
    return o;
}

/** Outputs over an input of that shape. */
static inline int64_t outputs_over(const int64_t *shape, int ndim, uint32_t reduced)
{
    int64_t outputs = 1;
    for (int d = 0; d < ndim; d++) {
        outputs *= reduced >> d & 1 ? 1 : shape[d];
    }
    return outputs;
}

/** The `count` results over `x`, of 8 bytes each; the caller frees them. */
static inline int64_t *reduced_values(quern_kernel *k, quern_array *x, const quern_call_options *o,
                                      size_t count)
{
    int64_t *got = calloc(count, sizeof *got);
    quern_array *y = NULL;
    const quern_value values[] = {QUERN_VALUES(x, &y)};
    cr_assert(got);
    OK(quern_call_n(k, values, 2, o));
    OK(quern_array_read(y, got, count * sizeof *got));
    quern_array_release(y);
    return got;
}

/** How they are had; the caller releases it. */
static inline quern_explanation *reduced_how(quern_kernel *k, quern_array *x,
                                             const quern_call_options *o)
{
    quern_array *y = NULL;
    const quern_value values[] = {QUERN_VALUES(x, &y)};
    quern_explanation *e;
    OK(quern_explain(&e, k, values, 2, o));
    return e;
}

#endif /* QUERN_TEST_REDUCED_H */
