/* SPDX-License-Identifier: MIT
 *
 * For tests of reductions over drawn axes: bit k of `reduced` says that axis k is one of them.
 */
#ifndef QUERN_TEST_REDUCED_H
#define QUERN_TEST_REDUCED_H

#include <quern/quern.h>

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

#endif /* QUERN_TEST_REDUCED_H */
