/* SPDX-License-Identifier: MIT
 *
 * What the executor reports: printf, assertions, and everything that a kernel can do wrong, each
 * with who did it, where in the source, and what is near the address.
 */
#include "run_support.h"

#include <criterion/redirect.h>
#include <stdio.h>
#include <time.h>

/* The report must point to `line` of run.cu. */
static void place_is(const char *text)
{
    const char *file;
    uint32_t line, column;
    char *source, *at;
    size_t size;
    cr_assert(qn_error_get_place(&file, &line, &column));
    cr_assert_str_eq(file, "run.cu");
    cr_assert(qn_file_read(QN_TEST_DATA "/run.cu", &source, &size) == QUERN_OK);
    for (at = source; line > 1; line--) {
        at = strchr(at, '\n') + 1;
    }
    *strchr(at, '\n') = '\0';
    cr_assert(strstr(at, text) != NULL, "'%s' is not in '%s'", text, at);
    qn_free(source);
}

Test(ptx_run_report, printf_in_order_of_blocks, .init = cr_redirect_stdout)
{
    bench b = bench_open();
    int n = 2;
    char expected[1000] = "";
    for (int block = 0; block < 70; block++) {
        for (int t = 0; t < n && block < 3; t++) {
            snprintf(expected + strlen(expected), 200,
                     "block %d thread %d: %5.2f %s %lld %%|%c|%-4u|%x\n", block, t, t * 0.5, "text",
                     t * 10000000000ll, 'a' + t, (unsigned)t, 255);
        }
    }
    bench_shape(&b, 3, 1024);
    b.launch.threads = 2;
    bench_good(&b, "prints", PARAMETERS(&n));
    cr_assert_stdout_eq_str(expected);
    bench_close(&b);
}

Test(ptx_run_report, assertion)
{
    bench b = bench_open();
    int *x = bench_buffer(&b, 32 * 4);
    bench_bad(&b, "asserts", PARAMETERS(&x), QUERN_ERROR_LAUNCH,
              "kernel 'asserts', block (0,0,0), thread (5,0,0): assertion 'x > 5' failed, "
              "run.cu:12, in 'asserts'");
    place_is("__assertfail");
    qn_free(x);
    bench_close(&b);
}

Test(ptx_run_report, out_of_bounds)
{
    bench b = bench_open();
    int *x = bench_buffer(&b, 40);
    char expected[300];
    snprintf(
        expected, sizeof expected,
        "kernel 'out_of_bounds', block (0,0,0), thread (10,0,0): write of 4 bytes at 0x%llx, "
        "byte 40 of parameter 1, 0 bytes past the end of array of 40 bytes at 0x%llx, at run.cu:",
        (unsigned long long)(uintptr_t)(x + 10), (unsigned long long)(uintptr_t)x);
    bench_bad(&b, "out_of_bounds", PARAMETERS(&x), QUERN_ERROR_ACCESS, expected);
    place_is("x[i] = i;");
    int *before = x - 5;
    bench_shape(&b, 1, 1);
    bench_bad(&b, "out_of_bounds", PARAMETERS(&before), QUERN_ERROR_ACCESS,
              "20 bytes before the beginning of array of 40 bytes");
    for (int i = 0; i < 10; i++) {
        cr_assert_eq(x[i], 0); /* lanes of the same instruction do nothing */
    }
    qn_free(x);
    bench_close(&b);
}

Test(ptx_run_report, null_and_nowhere)
{
    bench b = bench_open();
    int *x = NULL;
    bench_bad(&b, "out_of_bounds", PARAMETERS(&x), QUERN_ERROR_ACCESS, "null pointer");
    x = (int *)(uintptr_t)0x123456000;
    bench_bad(&b, "out_of_bounds", PARAMETERS(&x), QUERN_ERROR_ACCESS, "in no allocation");
    bench_close(&b);
}

Test(ptx_run_report, freed)
{
    bench b = bench_open();
    int *x = bench_buffer(&b, 128);
    bench_good(&b, "out_of_bounds", PARAMETERS(&x));
    qn_memory_map_remove(b.map, x, 128);
    bench_bad(&b, "out_of_bounds", PARAMETERS(&x), QUERN_ERROR_ACCESS, "inside array of 128 bytes");
    cr_assert(strstr(quern_last_error()->message, "which was freed") != NULL);
    qn_free(x);
    bench_close(&b);
}

/* Memory that is wrapped as several arrays, one in another. */
Test(ptx_run_report, ranges_may_overlap)
{
    bench b = bench_open();
    int *x = bench_buffer(&b, 128);
    cr_assert(qn_memory_map_add(b.map, x, 64, "the first half"));
    cr_assert(qn_memory_map_add(b.map, x + 8, 16, "some inside"));
    bench_good(&b, "out_of_bounds", PARAMETERS(&x));
    qn_memory_map_remove(b.map, x, 128);
    bench_bad(&b, "out_of_bounds", PARAMETERS(&x), QUERN_ERROR_ACCESS,
              "thread (16,0,0): write of 4 bytes");
    cr_assert(qn_memory_map_add(b.map, x, 128, "all"));
    qn_memory_map_remove(b.map, x, 64);
    qn_memory_map_remove(b.map, x + 8, 16);
    bench_good(&b, "out_of_bounds", PARAMETERS(&x));
    qn_free(x);
    bench_close(&b);
}

Test(ptx_run_report, misaligned)
{
    bench b = bench_open();
    char *x = bench_buffer(&b, 1024);
    int *out = bench_buffer(&b, 1024);
    bench_bad(&b, "misaligned", PARAMETERS(&x, &out), QUERN_ERROR_ACCESS,
              "thread (3,0,0): read of 4 bytes");
    cr_assert(strstr(quern_last_error()->message, "misaligned: it must be a multiple of 4") !=
              NULL);
    qn_free(x);
    qn_free(out);
    bench_close(&b);
}

Test(ptx_run_report, shared_and_local_memory)
{
    bench b = bench_open();
    int *x = bench_buffer(&b, 1024), n = 1;
    bench_shape(&b, 1, 8);
    bench_bad(&b, "shared_out_of_bounds", PARAMETERS(&x, &n), QUERN_ERROR_ACCESS,
              "thread (7,0,0): read of 4 bytes at 0x20 of shared memory, of which the block has 32 "
              "bytes");
    x[0] = 100000;
    bench_bad(&b, "local_out_of_bounds", PARAMETERS(&x, &n), QUERN_ERROR_ACCESS,
              "outside of the thread's local memory");
    qn_free(x);
    bench_close(&b);
}

Test(ptx_run_report, deadlocks)
{
    bench b = bench_open();
    int *x = bench_buffer(&b, 1024);
    bench_shape(&b, 1, 64);
    bench_bad(&b, "deadlock", PARAMETERS(&x), QUERN_ERROR_LAUNCH, "deadlock: all threads wait");
    cr_assert(strstr(quern_last_error()->message, "warp 1 lanes 0xffffffff wait at") != NULL);
    bench_shape(&b, 1, 32);
    bench_bad(&b, "lost_lane", PARAMETERS(&x), QUERN_ERROR_LAUNCH,
              "lanes 0x0000ffff wait for lanes 0xffff0000");
    bench_bad(&b, "not_a_member", PARAMETERS(&x), QUERN_ERROR_LAUNCH,
              "thread (16,0,0): this thread is not in the member mask 0x0000ffff");
    qn_free(x);
    bench_close(&b);
}

typedef struct stopper {
    atomic_uint interrupts;
    double at_ms; /* when the last one came */
} stopper;

static void *stop_later(void *context)
{
    stopper *mine = context;
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    mine->at_ms = qn_now_ms();
    atomic_fetch_add(&mine->interrupts, 1);
    return NULL;
}

Test(ptx_run_report, an_endless_loop_is_stopped, .timeout = 60)
{
    bench b = bench_open();
    int *x = bench_buffer(&b, 1024);
    stopper mine = {.interrupts = 7}; /* those before the launch mean nothing to it */
    double best_ms = 1e9;
    b.launch.interrupts = &mine.interrupts;
    bench_shape(&b, 100, 256);
    for (int k = 0; k < 5; k++) {
        pthread_t thread;
        cr_assert(pthread_create(&thread, NULL, stop_later, &mine) == 0);
        bench_bad(&b, "endless", PARAMETERS(&x), QUERN_ERROR_INTERRUPTED, "interrupted");
        double now_ms = qn_now_ms();
        pthread_join(thread, NULL);
        best_ms = QN_MIN(best_ms, now_ms - mine.at_ms);
    }
    cr_expect_lt(best_ms, 100, "stopping took %g ms", best_ms);
    bench_good(&b, "trapped", PARAMETERS(&x));
    qn_free(x);
    bench_close(&b);
}

Test(ptx_run_report, trap)
{
    bench b = bench_open();
    int *x = bench_buffer(&b, 1024);
    bench_good(&b, "trapped", PARAMETERS(&x));
    x[9] = 1;
    bench_bad(&b, "trapped", PARAMETERS(&x), QUERN_ERROR_LAUNCH,
              "thread (9,0,0): the kernel gave up");
    qn_free(x);
    bench_close(&b);
}

Test(ptx_run_report, heap_of_kernels)
{
    bench b = bench_open();
    uint64_t *out = bench_buffer(&b, 1024);
    int n = 10;
    bench_shape(&b, 1, 64);
    bench_good(&b, "heap", PARAMETERS(&out, &n));
    for (unsigned t = 0; t < 64; t++) {
        cr_assert_eq(out[t], 45 + 10 * t);
    }
    n = 1; /* the sum 0 makes it read what it has freed */
    bench_bad(&b, "heap", PARAMETERS(&out, &n), QUERN_ERROR_ACCESS, "which was freed");
    qn_free(out);
    bench_close(&b);
}

Test(ptx_run_report, unknown_instruction)
{
    static const char text[] = ".version 8.0\n.target sm_75\n.address_size 64\n"
                               ".visible .entry k(.param .u32 n)\n{\n"
                               ".reg .pred %p<2>; .reg .b32 %r<5>;\n"
                               "ld.param.u32 %r1, [n];\nsetp.eq.u32 %p1, %r1, 0;\n"
                               "@%p1 bra end;\ntex.imaginary.b32 %r2, %r1;\nend: ret;\n}\n";
    bench b = bench_of(text);
    int n = 0;
    bench_good(&b, "k", PARAMETERS(&n));
    n = 1;
    bench_bad(&b, "k", PARAMETERS(&n), QUERN_ERROR_NOT_SUPPORTED, "'tex.imaginary.b32'");
    bench_close(&b);
}

Test(ptx_run_report, shapes)
{
    bench b = bench_open();
    int *x = NULL;
    bench_shape(&b, 0, 32);
    bench_bad(&b, "trapped", PARAMETERS(&x), QUERN_ERROR_INVALID_ARGUMENT, "must not be 0");
    bench_shape(&b, 1, 1025);
    bench_bad(&b, "trapped", PARAMETERS(&x), QUERN_ERROR_INVALID_ARGUMENT, "at most 1024");
    bench_close(&b);
}

/* Each allocation of decoding and running fails once: an error that says so, or success if it is
 * not needed; never anything else. */
Test(ptx_run_report, out_of_memory)
{
    bench b = bench_open();
    int *n = bench_buffer(&b, 32 * 4), *out = bench_buffer(&b, 32 * 4);
    n[3] = 9;
    unsigned failed = 0;
    for (uint64_t k = 1; k < 60; k++) {
        qn_ptx_function *kernel = qn_ptx_kernel(b.module, "recursion");
        qn_ptx_undecode(kernel);
        qn_memory_fail_after(k, k % 2 == 0);
        quern_status status = bench_run(&b, "recursion", PARAMETERS(&n, &out));
        qn_memory_fail_after(0, false);
        failed += status != QUERN_OK;
        cr_assert(status == QUERN_OK || status == QUERN_ERROR_OUT_OF_MEMORY, "%d: %s", status,
                  quern_last_error()->message);
    }
    cr_assert_gt(failed, 5);
    bench_good(&b, "recursion", PARAMETERS(&n, &out));
    cr_assert_eq(out[3], 34);
    qn_free(n);
    qn_free(out);
    bench_close(&b);
}
