/* SPDX-License-Identifier: MIT
 *
 * What the benchmarks share: a clock, a median, and one JSON object per line, as in
 *     {"bench": "...", "peer": "...", "case": "...", "metric": "...", "value": 1.0}
 */
#ifndef QUERN_BENCH_H
#define QUERN_BENCH_H

#include <quern/quern.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline double bench_now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static inline int bench_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/** Sorts the values. */
static inline double bench_median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, bench_compare);
    return values[count / 2];
}

static inline void bench_print(const char *bench, const char *peer, const char *what,
                               const char *metric, double value)
{
    printf("{\"bench\": \"%s\", \"peer\": \"%s\", \"case\": \"%s\", \"metric\": \"%s\", "
           "\"value\": %.4f}\n",
           bench, peer, what, metric, value);
    fflush(stdout);
}

/** End the program with the library's explanation. */
static inline void bench_check(quern_status status)
{
    if (status != QUERN_OK) {
        fputs(quern_last_error_text(), stderr);
        exit(1);
    }
}

#endif /* QUERN_BENCH_H */
