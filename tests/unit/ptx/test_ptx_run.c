/* SPDX-License-Identifier: MIT
 *
 * The executor on kernels that NVRTC compiled: elements, control flow, shared and local memory,
 * calls. Each result is compared with the same computation in C.
 */
#include "run_support.h"

Test(ptx_run, saxpy)
{
    enum { N = 100003 };
    bench b = bench_open();
    float *x = bench_buffer(&b, N * sizeof *x), *y = bench_buffer(&b, N * sizeof *y), a = 2.5f;
    int n = N;
    for (int i = 0; i < N; i++) {
        x[i] = (float)i;
        y[i] = 1.0f;
    }
    for (unsigned threads = 1; threads <= 4; threads += 3) {
        b.launch.threads = threads;
        bench_shape(&b, (N + 127) / 128, 128);
        bench_good(&b, "saxpy", PARAMETERS(&a, &x, &y, &n));
        for (int i = 0; i < N; i++) {
            float expected = threads == 1 ? 2.5f * (float)i + 1 : 2.5f * (float)i * 2 + 1;
            cr_assert(y[i] == expected, "%d: %g, not %g", i, (double)y[i], (double)expected);
        }
    }
    qn_free(x);
    qn_free(y);
    bench_close(&b);
}

Test(ptx_run, vectors_of_four)
{
    enum { N = 1000 };
    bench b = bench_open();
    float *x = bench_buffer(&b, N * 16), *y = bench_buffer(&b, N * 16);
    int n = N;
    for (int i = 0; i < 4 * N; i++) {
        x[i] = (float)i;
    }
    bench_shape(&b, 4, 256);
    bench_good(&b, "pack", PARAMETERS(&x, &y, &n));
    for (int i = 0; i < N; i++) {
        cr_assert(y[4 * i] == x[4 * i + 3] && y[4 * i + 1] == x[4 * i + 2] + 1 &&
                  y[4 * i + 2] == x[4 * i + 1] && y[4 * i + 3] == x[4 * i]);
    }
    qn_free(x);
    qn_free(y);
    bench_close(&b);
}

Test(ptx_run, bytes_and_shorts)
{
    enum { N = 300 };
    bench b = bench_open();
    signed char *x = bench_buffer(&b, N);
    unsigned char *y = bench_buffer(&b, N);
    short *z = bench_buffer(&b, N * 2);
    int n = N;
    for (int i = 0; i < N; i++) {
        x[i] = (signed char)(i * 7);
        y[i] = (unsigned char)(i * 11);
    }
    bench_shape(&b, 3, 100);
    bench_good(&b, "bytes", PARAMETERS(&x, &y, &z, &n));
    for (int i = 0; i < N; i++) {
        cr_assert_eq(z[i], (short)(x[i] * 2 + y[N - 1 - i]));
    }
    qn_free(x);
    qn_free(y);
    qn_free(z);
    bench_close(&b);
}

static unsigned collatz(unsigned v)
{
    unsigned count = 0;
    while (v != 1) {
        v = v & 1 ? 3 * v + 1 : v >> 1;
        if (++count > 500) {
            break;
        }
    }
    return count;
}

Test(ptx_run, divergent_loop)
{
    enum { N = 1000 };
    bench b = bench_open();
    unsigned *x = bench_buffer(&b, N * 4), *steps = bench_buffer(&b, N * 4);
    int n = N;
    for (unsigned i = 0; i < N; i++) {
        x[i] = i + 1;
    }
    bench_shape(&b, 8, 128);
    bench_good(&b, "collatz", PARAMETERS(&x, &steps, &n));
    for (unsigned i = 0; i < N; i++) {
        cr_assert_eq(steps[i], collatz(i + 1));
    }
    qn_free(x);
    qn_free(steps);
    bench_close(&b);
}

Test(ptx_run, reduction_in_shared_memory)
{
    enum { N = 1000 };
    bench b = bench_open();
    float *x = bench_buffer(&b, N * 4), *out = bench_buffer(&b, 4 * 4);
    int n = N;
    for (int i = 0; i < N; i++) {
        x[i] = (float)(i % 17);
    }
    bench_shape(&b, 4, 256);
    bench_good(&b, "reduce", PARAMETERS(&x, &out, &n));
    for (int block = 0; block < 4; block++) {
        float sum = 0;
        for (int i = block * 256; i < QN_MIN(N, block * 256 + 256); i++) {
            sum += x[i];
        }
        cr_assert(out[block] == sum);
    }
    qn_free(x);
    qn_free(out);
    bench_close(&b);
}

Test(ptx_run, dynamic_shared_memory)
{
    bench b = bench_open();
    double *x = bench_buffer(&b, 96 * 8), *y = bench_buffer(&b, 96 * 8);
    unsigned *sizes = bench_buffer(&b, 96 * 4);
    for (int i = 0; i < 96; i++) {
        x[i] = i * 1.5;
    }
    bench_shape(&b, 1, 96);
    b.launch.dynamic_shared = 96 * 12;
    bench_good(&b, "dynamic", PARAMETERS(&x, &y, &sizes));
    for (unsigned i = 0; i < 96; i++) {
        cr_assert(y[i] == x[95 - i] && sizes[i] == 95 - i);
    }
    b.launch.dynamic_shared = 96 * 12 - 4;
    bench_bad(&b, "dynamic", PARAMETERS(&x, &y, &sizes), QUERN_ERROR_ACCESS, "shared memory");
    qn_free(x);
    qn_free(y);
    qn_free(sizes);
    bench_close(&b);
}

static int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

Test(ptx_run, recursion)
{
    bench b = bench_open();
    int *n = bench_buffer(&b, 32 * 4), *out = bench_buffer(&b, 32 * 4);
    for (int i = 0; i < 32; i++) {
        n[i] = i % 13;
    }
    bench_good(&b, "recursion", PARAMETERS(&n, &out));
    for (int i = 0; i < 32; i++) {
        cr_assert_eq(out[i], fibonacci(i % 13));
    }
    out[7] = 1 << 20;
    bench_bad(&b, "deep", PARAMETERS(&out), QUERN_ERROR_LAUNCH, "stack overflow");
    qn_free(n);
    qn_free(out);
    bench_close(&b);
}

Test(ptx_run, function_pointers)
{
    bench b = bench_open();
    int *which = bench_buffer(&b, 64 * 4), *x = bench_buffer(&b, 64 * 4),
        *out = bench_buffer(&b, 64 * 4);
    for (int i = 0; i < 64; i++) {
        which[i] = i * 5 % 3;
        x[i] = 100 - i;
    }
    bench_shape(&b, 1, 64);
    bench_good(&b, "pointers", PARAMETERS(&which, &x, &out));
    for (int i = 0; i < 64; i++) {
        int expected[] = {x[i] + i, x[i] * i, x[i] - i};
        cr_assert_eq(out[i], expected[which[i]]);
    }
    qn_free(which);
    qn_free(x);
    qn_free(out);
    bench_close(&b);
}

struct big {
    int n;
    float c[10];
    const float *p;
    struct {
        short a;
        char b;
    } in[3];
};

Test(ptx_run, structure_by_value)
{
    bench b = bench_open();
    float *p = bench_buffer(&b, 32 * 4), *out = bench_buffer(&b, 32 * 4);
    struct big big = {.n = 3, .p = p, .in = {{-5, 1}, {6, 2}, {7, 3}}};
    for (int i = 0; i < 32; i++) {
        p[i] = (float)i / 2;
        big.c[i % 10] = (float)(i % 10) * 100;
    }
    for (int j = 0; j < 3; j++) {
        bench_good(&b, "structure", PARAMETERS(&big, &out, &j));
        for (int i = 0; i < 32; i++) {
            float expected =
                big.c[j] + p[i] + (float)big.in[i % 3].a + (float)big.in[j].b + (float)big.n;
            cr_assert(out[i] == expected);
        }
    }
    qn_free(p);
    qn_free(out);
    bench_close(&b);
}

Test(ptx_run, local_array)
{
    bench b = bench_open();
    int *x = bench_buffer(&b, 32 * 4), *out = bench_buffer(&b, 32 * 4), n = 32;
    for (int i = 0; i < 32; i++) {
        x[i] = i * 7 + 3;
    }
    bench_good(&b, "locals", PARAMETERS(&x, &out, &n));
    for (unsigned t = 0; t < 32; t++) {
        unsigned a[16], sum = 0;
        for (int k = 0; k < 16; k++) {
            a[k] = (unsigned)x[k] * t;
        }
        for (int k = 0; k < n; k++) {
            a[x[k] & 15] += a[(x[k] + k) & 15];
        }
        for (int k = 0; k < 16; k++) {
            sum = sum * 31 + a[k];
        }
        cr_assert_eq((unsigned)out[t], sum);
    }
    qn_free(x);
    qn_free(out);
    bench_close(&b);
}

Test(ptx_run, variables_of_the_module)
{
    bench b = bench_open();
    int *out = bench_buffer(&b, 32 * 4);
    void *count;
    uint64_t bytes;
    static const int weights[] = {1, 10, 100, 1000};
    cr_assert(qn_ptx_global(b.module, "global_count", &count, &bytes) && bytes == 4);
    for (int factor = 3; factor < 5; factor++) {
        bench_good(&b, "globals", PARAMETERS(&out));
        for (int i = 0; i < 32; i++) {
            cr_assert_eq(out[i], weights[i % 4] * factor);
        }
        *(int *)count = factor + 1;
    }
    qn_free(out);
    bench_close(&b);
}

static const char jump_table[] = ".version 8.0\n.target sm_75\n.address_size 64\n"
                                 ".visible .entry k(.param .u64 out)\n{\n"
                                 ".reg .b32 %r<5>; .reg .b64 %rd<4>;\n"
                                 "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\n"
                                 "and.b32 %r2, %r1, 3;\nmul.wide.u32 %rd2, %r1, 4;\n"
                                 "add.s64 %rd3, %rd1, %rd2;\n"
                                 "targets: .branchtargets L0, L1, L2, L1;\n"
                                 "brx.idx %r2, targets;\n"
                                 "L0: mov.u32 %r3, 10; bra.uni end;\n"
                                 "L1: mov.u32 %r3, 20; bra.uni end;\n"
                                 "L2: mov.u32 %r3, 30;\n"
                                 "end: st.global.u32 [%rd3], %r3;\nret;\n}\n";

Test(ptx_run, jump_table)
{
    bench b = bench_of(jump_table);
    int *out = bench_buffer(&b, 32 * 4);
    static const int expected[] = {10, 20, 30, 20};
    bench_good(&b, "k", PARAMETERS(&out));
    for (int i = 0; i < 32; i++) {
        cr_assert_eq(out[i], expected[i % 4]);
    }
    qn_free(out);
    bench_close(&b);
}

Test(ptx_run, many_dimensions)
{
    static const char text[] =
        ".version 8.0\n.target sm_75\n.address_size 64\n"
        ".visible .entry k(.param .u64 out)\n{\n"
        ".reg .b32 %r<20>; .reg .b64 %rd<4>;\n"
        "ld.param.u64 %rd1, [out];\n"
        "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %tid.y;\nmov.u32 %r3, %tid.z;\n"
        "mov.u32 %r4, %ntid.x;\nmov.u32 %r5, %ntid.y;\n"
        "mov.u32 %r6, %ctaid.x;\nmov.u32 %r7, %ctaid.y;\n"
        "mov.u32 %r8, %nctaid.x;\nmov.u32 %r9, %ntid.z;\n"
        "mad.lo.u32 %r10, %r3, %r5, %r2;\nmad.lo.u32 %r10, %r10, %r4, %r1;\n"
        "mad.lo.u32 %r11, %r7, %r8, %r6;\nmul.lo.u32 %r12, %r4, %r5;\n"
        "mul.lo.u32 %r12, %r12, %r9;\nmad.lo.u32 %r13, %r11, %r12, %r10;\n"
        "mul.wide.u32 %rd2, %r13, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
        "mad.lo.u32 %r14, %r3, 100, %r1;\nmad.lo.u32 %r14, %r7, 1000, %r14;\n"
        "st.global.u32 [%rd3], %r14;\nret;\n}\n";
    bench b = bench_of(text);
    enum { THREADS = 5 * 3 * 4, BLOCKS = 2 * 3 };
    unsigned *out = bench_buffer(&b, THREADS * BLOCKS * 4);
    b.launch = (qn_ptx_launch){.memory = b.map, .grid = {2, 3, 1}, .block = {5, 3, 4}};
    bench_good(&b, "k", PARAMETERS(&out));
    for (unsigned i = 0; i < THREADS * BLOCKS; i++) {
        unsigned thread = i % THREADS, block = i / THREADS;
        cr_assert_eq(out[i], thread / 15 * 100 + thread % 5 + block / 2 * 1000);
    }
    qn_free(out);
    bench_close(&b);
}
