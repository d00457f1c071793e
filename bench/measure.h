/* SPDX-License-Identifier: MIT
 *
 * What the benchmarks of kernels share: arrays with ordinary numbers, and the device time of a
 * call.
 */
#ifndef QUERN_BENCH_MEASURE_H
#define QUERN_BENCH_MEASURE_H

#include "bench.h"

#define BENCH_RUNS     15
#define BENCH_WARM_UPS 3

/** An array of random bits that are ordinary numbers in every dtype: small positive integers, and
 * floats between 1 and 2. */
static inline quern_array *bench_random(quern_engine *engine, quern_dtype dtype, int ndim,
                                        const int64_t *shape)
{
    quern_array *a;
    quern_kernel *fill;
    bench_check(quern_array_new(&a, engine, dtype, ndim, shape));
    bench_check(quern_elementwise(&fill, engine, "", "T y",
                                  "y = T(1 + ((i * 2654435761LL) >> 7 & 63) / 64.0f)", NULL));
    bench_check(quern_call(fill, a));
    quern_kernel_release(fill);
    return a;
}

/** Median milliseconds of device time of a call, from events before and after it. */
static inline double bench_call_ms(quern_engine *engine, quern_kernel *kernel,
                                   const quern_value *values, size_t count,
                                   const quern_call_options *options)
{
    quern_event *begin, *end;
    double times[BENCH_RUNS];
    bench_check(quern_event_new(&begin, engine));
    bench_check(quern_event_new(&end, engine));
    for (int run = -BENCH_WARM_UPS; run < BENCH_RUNS; run++) {
        bench_check(quern_event_record(begin, NULL));
        bench_check(quern_call_n(kernel, values, count, options));
        bench_check(quern_event_record(end, NULL));
        bench_check(quern_event_wait(end));
        if (run >= 0) {
            bench_check(quern_event_elapsed(&times[run], begin, end));
        }
    }
    quern_event_release(begin);
    quern_event_release(end);
    return bench_median(times, BENCH_RUNS);
}

/** Bytes of an array's elements, those that are repeated counted once. */
static inline double bench_bytes(const quern_array *a)
{
    int64_t bytes = (int64_t)quern_dtype_size(quern_array_dtype(a));
    for (int d = 0; d < quern_array_ndim(a); d++) {
        if (quern_array_strides(a)[d] != 0) {
            bytes *= quern_array_shape(a)[d];
        }
    }
    return (double)bytes;
}

#endif /* QUERN_BENCH_MEASURE_H */
