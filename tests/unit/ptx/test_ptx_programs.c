/* SPDX-License-Identifier: MIT
 *
 * Programs as people write them, with cooperative groups and libcu++'s barriers, pipelines and
 * semaphores: each in the two forms that the libraries have for compute capability 7.5 and 9.0.
 */
#include "run_support.h"

static const char *const forms[] = {"programs_75.ptx", "programs_90.ptx"};

static int *numbers(bench *b, int count)
{
    int *x = bench_buffer(b, (size_t)count * sizeof *x);
    uint32_t state = 12345;
    for (int k = 0; k < count; k++) {
        state = state * 1664525 + 1013904223;
        x[k] = (int)(state >> 24);
    }
    return x;
}

Test(ptx_programs, groups_of_lanes)
{
    for (size_t f = 0; f < QN_COUNT(forms); f++) {
        bench b = bench_file(forms[f]);
        int *x = numbers(&b, 64), *o = bench_buffer(&b, 192 * sizeof *o);
        bench_shape(&b, 1, 64);
        bench_good(&b, "groups", PARAMETERS(&x, &o));
        for (int t = 0; t < 64; t++) {
            int sum = 0, size = 0, rank = 0, scan = 0;
            for (int k = t / 32 * 32; k < t / 32 * 32 + 32; k++) {
                sum += x[k] % 3 == x[t] % 3 ? x[k] : 0;
                size += x[k] % 5 < 2;
                rank += x[k] % 5 < 2 && k < t;
                scan += k >= t / 16 * 16 && k <= t ? x[k] : 0;
            }
            cr_expect_eq(o[t], sum, "%s, thread %d", forms[f], t);
            cr_expect_eq(o[64 + t], x[t] % 5 < 2 ? size * 100 + rank : -1, "%s, thread %d",
                         forms[f], t);
            cr_expect_eq(o[128 + t], scan, "%s, thread %d", forms[f], t);
        }
        qn_free(x);
        qn_free(o);
        bench_close(&b);
    }
}

Test(ptx_programs, asynchronous_copies)
{
    for (size_t f = 0; f < QN_COUNT(forms); f++) {
        bench b = bench_file(forms[f]);
        int *x = numbers(&b, 384), *o = bench_buffer(&b, 412 * sizeof *o);
        bench_shape(&b, 1, 128);
        bench_good(&b, "copies", PARAMETERS(&x, &o));
        for (int k = 0; k < 412; k++) {
            int wanted = k < 384 ? x[k / 128 * 128 + 127 - k % 128] : 1;
            cr_expect_eq(o[k], wanted, "%s, %d", forms[f], k);
        }
        qn_free(x);
        qn_free(o);
        bench_close(&b);
    }
}

Test(ptx_programs, makers_and_takers)
{
    for (size_t f = 0; f < QN_COUNT(forms); f++) {
        bench b = bench_file(forms[f]);
        int *x = numbers(&b, 384), *o = bench_buffer(&b, 64 * sizeof *o);
        bench_shape(&b, 1, 128);
        bench_good(&b, "stages", PARAMETERS(&x, &o));
        for (int t = 0; t < 64; t++) {
            int sum = 0;
            for (int i = 0; i < 6; i++) {
                sum = sum * 3 + x[i * 64 + 63 - t] * 2;
            }
            cr_expect_eq(o[t], sum, "%s, thread %d", forms[f], t);
        }
        qn_free(x);
        qn_free(o);
        bench_close(&b);
    }
}

Test(ptx_programs, a_semaphore_lets_one_through, .timeout = 30)
{
    for (size_t f = 0; f < QN_COUNT(forms); f++) {
        bench b = bench_file(forms[f]);
        int *o = bench_buffer(&b, 128 * sizeof *o);
        bench_shape(&b, 1, 128);
        bench_good(&b, "one_by_one", PARAMETERS(&o));
        for (int t = 0; t < 128; t++) {
            cr_expect_eq(o[t], 128, "%s, thread %d", forms[f], t);
        }
        qn_free(o);
        bench_close(&b);
    }
}
