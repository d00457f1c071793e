/* SPDX-License-Identifier: MIT
 *
 * The trace of one thread: each instruction in order, with its place, what it read and what it
 * wrote; other threads are not in it; it ends after 10,000 lines, and with what failed.
 */
#include "run_support.h"

#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static FILE *file; /* standard error goes there: a pipe would be full before the trace ends */

static void redirect(void)
{
    file = tmpfile();
    cr_assert(file && dup2(fileno(file), STDERR_FILENO) >= 0);
}

/* All that was printed to standard error; to be freed. */
static char *printed(void)
{
    qn_text text = {0};
    char line[400];
    fflush(stderr);
    rewind(file);
    while (fgets(line, sizeof line, file)) {
        qn_text_puts(&text, line);
    }
    cr_assert_not_null(text.data);
    return qn_text_take(&text);
}

/* The pieces are in the text, in this order. */
static void has_in_order(const char *text, const char *const *lines, size_t count)
{
    const char *at = text;
    for (size_t k = 0; k < count; k++) {
        const char *found = strstr(at, lines[k]);
        cr_assert(found != NULL, "'%s' is not in, or not behind the lines before it:\n%s", lines[k],
                  text);
        at = found + strlen(lines[k]);
    }
}

static size_t count_lines(const char *text)
{
    size_t lines = 0;
    for (; *text; text++) {
        lines += *text == '\n';
    }
    return lines;
}

typedef struct arrays {
    bench b;
    float *x, *y;
    int *k;
    uint64_t *z;
    double d;
} arrays;

static arrays arrays_new(void)
{
    arrays a = {.b = bench_file("watch.ptx"), .d = 2.5};
    a.x = bench_buffer(&a.b, 64 * 4);
    a.y = bench_buffer(&a.b, 64 * 4);
    a.k = bench_buffer(&a.b, 64 * 4);
    a.z = bench_buffer(&a.b, 64 * 8);
    for (int i = 0; i < 64; i++) {
        a.x[i] = (float)i;
        a.k[i] = i - 40;
    }
    bench_shape(&a.b, 2, 32);
    a.b.launch.threads = 2;
    return a;
}

static void arrays_free(arrays *a)
{
    qn_free(a->x);
    qn_free(a->y);
    qn_free(a->k);
    qn_free(a->z);
    bench_close(&a->b);
}

static void run_traced(arrays *a, uint32_t block, uint32_t thread)
{
    a->b.launch.aids =
        (qn_ptx_aids){.trace = true, .trace_block = {block}, .trace_thread = {thread}};
    bench_good(&a->b, "traced", PARAMETERS(&a->x, &a->y, &a->k, &a->z, &a->d));
}

/* Thread 10 of block 1: x is 42 and k is 2, so it takes the first way. */
Test(ptx_trace, each_instruction, .init = redirect)
{
    arrays a = arrays_new();
    run_traced(&a, 1, 10);
    static const char *const lines[] = {
        "trace of kernel 'traced', block (1,0,0), thread (10,0,0)\nwatch.cu:",
        "ld.param.u64 %rd3, [traced_param_0]",
        "ld.param.f64 %fd1, [traced_param_4]",
        "-> %fd1 = 2.5\n",
        "mov.u32 %r3, %ctaid.x",
        "-> %r3 = 1\n",
        "%r3 = 1, %r2 = 32, %r1 = 10 -> %r4 = 42\n",
        "setp.lt.s32 %p1, %r5, 1",
        "%r5 = 2 -> %p1 = false\n",
        "@%p1 bra line ",
        "not executed\n",
        "ld.global.f32 %f4, [%rd11]",
        "-> %f4 = 42\n",
        "fma.rn.f32 %f5, %f4, 2, 0.5 ",
        "%f4 = 42 -> %f5 = 84.5\n",
        "st.global.f32 [%rd14], %f5 ",
        ", %f5 = 84.5\n",
        "call.uni (retval0), twice, (param0)\n",
        "shl.b32 %r2, %r1, 1 ",
        "-> %r2 = 0x4\n",
        "ret\n",
        "st.shared.u32 [%rd17], %r7 ",
        "[0x28], %r7 = 4\n",
        "bar.sync 0\n",
        "ld.shared.u32 %r10, [%rd19] ",
        "[0x54] -> %r10 = 26\n",
        "%fd2 = 26, %fd1 = 2.5 -> %fd3 = 65\n",
        "%fd3 = 65 -> %rd20 = 65\n",
        "ret\n",
    };
    char *text = printed();
    has_in_order(text, lines, QN_COUNT(lines));
    cr_assert_eq(a.z[42], 65);
    qn_free(text);
    arrays_free(&a);
}

/* Thread 3 of block 0 goes the other way, and nothing is said of any other. */
Test(ptx_trace, one_thread_only, .init = redirect)
{
    arrays a = arrays_new();
    run_traced(&a, 0, 3);
    char *text = printed();
    static const char *const lines[] = {"-> %p1 = true\n", "@%p1 bra line ", "[0xc]", "[0x70]"};
    has_in_order(text, lines, QN_COUNT(lines));
    cr_assert(!strstr(text, "fma.") && !strstr(text, "ld.global.f32"), "%s", text);
    cr_assert_lt(count_lines(text), 80, "%s", text);
    qn_free(text);
    arrays_free(&a);
}

Test(ptx_trace, no_such_thread, .init = redirect)
{
    arrays a = arrays_new();
    run_traced(&a, 2, 0);
    run_traced(&a, 0, 32);
    char *text = printed();
    static const char *const lines[] = {
        "no trace of kernel 'traced', block (2,0,0), thread (0,0,0): this launch does not have "
        "it\n",
        "no trace of kernel 'traced', block (0,0,0), thread (32,0,0): this launch"};
    has_in_order(text, lines, QN_COUNT(lines));
    cr_assert_eq(count_lines(text), 2, "%s", text);
    qn_free(text);
    arrays_free(&a);
}

/* The instruction that fails is the last line. */
Test(ptx_trace, what_fails, .init = redirect)
{
    arrays a = arrays_new();
    qn_memory_map_remove(a.b.map, a.y, 64 * 4);
    a.b.launch.aids = (qn_ptx_aids){.trace = true};
    bench_bad(&a.b, "traced", PARAMETERS(&a.x, &a.y, &a.k, &a.z, &a.d), QUERN_ERROR_ACCESS,
              "which was freed");
    char *text = printed();
    char *last = strrchr(text, '\n');
    cr_assert_not_null(last);
    *last = '\0';
    last = strrchr(text, '\n');
    cr_assert(last && strstr(last, "st.global.f32 ["), "%s", last);
    qn_free(text);
    arrays_free(&a);
}

/* When the trace has grown no more for a while, however slow the machine is. */
static void *stop_later(void *context)
{
    struct stat now = {0};
    off_t before;
    do {
        before = now.st_size;
        nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    } while (fstat(fileno(file), &now) == 0 && (now.st_size == 0 || now.st_size != before));
    atomic_fetch_add((atomic_uint *)context, 1);
    return NULL;
}

Test(ptx_trace, its_limit, .init = redirect, .timeout = 60)
{
    bench b = bench_file("watch.ptx");
    int *x = bench_buffer(&b, 4);
    atomic_uint interrupts = 0;
    pthread_t thread;
    b.launch.aids.trace = true;
    b.launch.interrupts = &interrupts;
    cr_assert(pthread_create(&thread, NULL, stop_later, &interrupts) == 0);
    bench_bad(&b, "endless", PARAMETERS(&x), QUERN_ERROR_INTERRUPTED, "interrupted");
    pthread_join(thread, NULL);
    char *text = printed();
    cr_assert_eq(count_lines(text), 10002); /* the heading and the sentence that it ends */
    cr_assert(strstr(text, "the trace ends here, after 10000 lines\n") != NULL);
    qn_free(text);
    qn_free(x);
    bench_close(&b);
}

/* A launch may be traced and watched at once, and neither afterwards. */
Test(ptx_trace, with_checks, .init = redirect)
{
    bench b = bench_file("watch.ptx");
    int *x = bench_buffer(&b, 512), barrier = 0;
    bench_shape(&b, 1, 64);
    b.launch.aids = (qn_ptx_aids){.trace = true, .check_races = true, .check_init = true};
    bench_bad(&b, "reverse", PARAMETERS(&x, &barrier), QUERN_ERROR_ACCESS,
              "which no thread of the block has");
    b.launch.aids = (qn_ptx_aids){0};
    bench_good(&b, "reverse", PARAMETERS(&x, &barrier));
    char *text = printed();
    cr_assert(strncmp(text, "trace of kernel 'reverse'", 25) == 0, "%s", text);
    cr_assert(!strstr(strstr(text, "trace of") + 1, "trace of"));
    qn_free(text);
    qn_free(x);
    bench_close(&b);
}
