/* SPDX-License-Identifier: MIT
 *
 * Outputs that overlap raw inputs.
 */
#include "whole.h"

TestSuite(overlap, .init = whole_open, .fini = whole_close);

/* Each pair of views of one array: raw input and output, raw output too. */
Test(overlap, raw_inputs_that_overlap_are_copied)
{
    static const quern_slice views[] = {{0, 100, 1},
                                        {1, 100, 1},
                                        {0, 99, 1},
                                        {50, 100, 1},
                                        {0, 100, 2},
                                        {0, 100, -1},
                                        {QUERN_SLICE_NONE, QUERN_SLICE_NONE, -1}};
    int64_t host[100];
    quern_kernel *k[] = {kernel_of("raw T w", "T z", "z = w[w.size() - 1 - i] + 1000"),
                         kernel_of("raw T w", "raw T z", "z[i] = w[w.size() - 1 - i] + 1000")};
    for (int n = 0; n < 100; n++) {
        host[n] = n;
    }
    for (size_t c = 0; c < 7 * 7 * 2; c++) {
        int64_t first[100], then[100];
        quern_array *x = array_of(QUERN_INT64, SHAPE(100), host), *w, *z;
        OK(quern_array_slice(&w, x, 1, &views[c / 2 % 7]));
        OK(quern_array_slice(&z, x, 1, &views[c / 14]));
        int64_t have = quern_array_count(w), count = quern_array_count(z);
        if (have > 0 && count > 0 && count <= have) {
            OK(quern_array_read(w, first, (size_t)have * sizeof *first));
            quern_call_options options = QUERN_CALL_OPTIONS_INIT;
            options.loop_size = c % 2 ? &count : NULL;
            quern_value values[] = {quern_value_array(w), quern_value_array(z)};
            OK(quern_call_n(k[c % 2], values, 2, &options));
            OK(quern_array_read(z, then, (size_t)count * sizeof *then));
            for (int64_t n = 0; n < count; n++) {
                cr_assert_eq(then[n], first[have - 1 - n] + 1000, "case %zu, element %d", c,
                             (int)n);
            }
        }
        quern_array_release(x);
        quern_array_release(w);
        quern_array_release(z);
    }
    quern_kernel_release(k[0]);
    quern_kernel_release(k[1]);
}
