/* SPDX-License-Identifier: MIT
 *
 * The executor where threads meet: shuffles, votes, atomics, barriers, locks, cooperative grids.
 */
#include "run_support.h"

Test(ptx_run_warp, shuffles)
{
    bench b = bench_open();
    int *x = bench_buffer(&b, 32 * 4), *out = bench_buffer(&b, 192 * 4);
    for (int i = 0; i < 32; i++) {
        x[i] = i * i + 1;
    }
    bench_good(&b, "shuffles", PARAMETERS(&x, &out));
    int total = 0;
    for (int i = 0; i < 32; i++) {
        total += x[i];
    }
    cr_assert_eq(out[0], total);
    for (int t = 0; t < 32; t++) {
        cr_assert_eq(out[32 + t], t < 3 ? x[t] : x[t - 3]);
        cr_assert_eq(out[64 + t], x[t ^ 5]);
        cr_assert_eq(out[96 + t], x[t * 7 % 32]);
        cr_assert_eq(out[128 + t], t % 8 < 6 ? x[t + 2] : x[t]);
        cr_assert_eq(out[160 + t], x[t & 1 ? 31 : 30]);
    }
    qn_free(x);
    qn_free(out);
    bench_close(&b);
}

Test(ptx_run_warp, votes)
{
    bench b = bench_open();
    int *x = bench_buffer(&b, 32 * 4);
    unsigned *out = bench_buffer(&b, 256 * 4), ballot = 0;
    for (int i = 0; i < 32; i++) {
        x[i] = i * 3 % 8;
        ballot |= (unsigned)(x[i] > 3) << i;
    }
    bench_good(&b, "votes", PARAMETERS(&x, &out));
    for (int t = 0; t < 32; t++) {
        unsigned same = 0;
        for (int i = 0; i < 32; i++) {
            same |= (unsigned)(x[i] == x[t]) << i;
        }
        cr_assert_eq(out[t], ballot);
        cr_assert_eq(out[32 + t], 1);
        cr_assert_eq(out[64 + t], 1);
        cr_assert_eq(out[96 + t], same);
        cr_assert_eq(out[128 + t], t < 10 ? 0x3ffu : 0);
        cr_assert_eq(out[160 + t], 0xffffffffu + 1);
        cr_assert_eq(out[192 + t], (unsigned)__builtin_popcount(ballot));
        cr_assert_eq(out[224 + t], 3);
    }
    qn_free(x);
    qn_free(out);
    bench_close(&b);
}

Test(ptx_run_warp, histogram)
{
    enum { N = 10000 };
    bench b = bench_open();
    unsigned char *x = bench_buffer(&b, N);
    unsigned *bins = bench_buffer(&b, 64), expected[16] = {0};
    int n = N;
    for (int i = 0; i < N; i++) {
        x[i] = (unsigned char)(i * i / 7);
        expected[x[i] & 15]++;
    }
    b.launch.threads = 2;
    bench_shape(&b, 16, 192);
    bench_good(&b, "histogram", PARAMETERS(&x, &bins, &n));
    cr_assert_arr_eq(bins, expected, sizeof expected);
    qn_free(x);
    qn_free(bins);
    bench_close(&b);
}

Test(ptx_run_warp, atomics)
{
    bench b = bench_open();
    int *i = bench_buffer(&b, 16);
    unsigned *u = bench_buffer(&b, 24);
    uint64_t *l = bench_buffer(&b, 24);
    float *f = bench_buffer(&b, 4);
    double *d = bench_buffer(&b, 8);
    u[1] = 3;
    u[2] = 0xffffffffu;
    b.launch.threads = 2;
    bench_shape(&b, 40, 100);
    bench_good(&b, "atomics", PARAMETERS(&i, &u, &l, &f, &d));
    const unsigned calls = 4000;
    cr_assert(i[0] == -99 && i[1] == 99 && i[2] == 77 && i[3] == -2 * (int)calls);
    cr_assert_eq(u[0], calls % 10);
    cr_assert_eq(u[1], (3 + 10 * calls - calls) % 10);
    cr_assert_eq(u[2], 0);
    cr_assert_eq(u[3], 0xffffffffu);
    cr_assert_eq(u[4], 0); /* each bit is turned an even number of times */
    cr_assert_eq(u[5], 0x80000063u);
    cr_assert_eq(l[0], 0x100000001u * (uint64_t)calls);
    cr_assert_eq(l[1], UINT64_C(1) << 63);
    cr_assert_eq(l[2], 3 * calls);
    cr_assert(*f == 0.5f * (float)calls && *d == 0.25 * calls);
    qn_free(i);
    qn_free(u);
    qn_free(l);
    qn_free(f);
    qn_free(d);
    bench_close(&b);
}

Test(ptx_run_warp, spin_lock)
{
    bench b = bench_open();
    int *counter = bench_buffer(&b, 4);
    b.launch.threads = 2;
    bench_shape(&b, 40, 64);
    bench_good(&b, "spin", PARAMETERS(&counter));
    cr_assert_eq(*counter, 40 * 64);
    qn_free(counter);
    bench_close(&b);
}

Test(ptx_run_warp, a_warp_waits_for_the_next)
{
    bench b = bench_open();
    int *out = bench_buffer(&b, 64 * 4);
    bench_shape(&b, 1, 64);
    bench_good(&b, "handshake", PARAMETERS(&out));
    for (int i = 0; i < 64; i++) {
        cr_assert_eq(out[i], i < 32 ? 5 : 6);
    }
    qn_free(out);
    bench_close(&b);
}

Test(ptx_run_warp, barrier_of_a_grid)
{
    enum { BLOCKS = 37, THREADS = 96, N = BLOCKS * THREADS };
    bench b = bench_open();
    int *x = bench_buffer(&b, N * 4), *y = bench_buffer(&b, N * 4);
    b.launch.cooperative = true;
    bench_shape(&b, BLOCKS, THREADS);
    for (unsigned threads = 1; threads <= 3; threads++) {
        b.launch.threads = threads;
        memset(x, 0, N * 4);
        bench_good(&b, "grid_barrier", PARAMETERS(&x, &y));
        for (int i = 0; i < N; i++) {
            cr_assert_eq(y[i], (i + THREADS) % N + 1);
        }
    }
    qn_free(x);
    qn_free(y);
    bench_close(&b);
}

Test(ptx_run_warp, exited_threads_are_not_waited_for)
{
    bench b = bench_open();
    int *x = bench_buffer(&b, 70 * 4);
    bench_shape(&b, 1, 70);
    bench_good(&b, "exits", PARAMETERS(&x));
    for (int i = 0; i < 70; i++) {
        int count = 0;
        for (int j = i / 32 * 32; j < QN_MIN(70, i / 32 * 32 + 32); j++) {
            count += j % 3 != 0;
        }
        cr_assert_eq(x[i], i % 3 ? count : 0);
    }
    qn_free(x);
    bench_close(&b);
}
