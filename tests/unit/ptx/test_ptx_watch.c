/* SPDX-License-Identifier: MIT
 *
 * What a launch may be asked to look for: reads of memory that nobody wrote, and races in shared
 * memory. Each mistake of data/watch.cu is found, with who, what and where; its correct twin is not
 * reported. Nothing is reported unless it is asked for.
 */
#include "run_support.h"

#include <stdio.h>

enum { COUNT = 128 };

typedef struct trial {
    const char *kernel;
    unsigned threads;
    int argument;
    const char *says;  /* NULL: nothing is wrong */
    const char *place; /* a part of the line of watch.cu that the report points to */
} trial;

/* The report must point to a line of watch.cu that contains `text`. */
static void place_is(const trial *t)
{
    const char *file;
    uint32_t line, column;
    char *source, *at;
    size_t size;
    cr_assert(qn_error_get_place(&file, &line, &column), "%s: no place", t->kernel);
    cr_assert_str_eq(file, "watch.cu");
    cr_assert(qn_file_read(QN_TEST_DATA "/watch.cu", &source, &size) == QUERN_OK);
    for (at = source; line > 1; line--) {
        at = strchr(at, '\n') + 1;
    }
    *strchr(at, '\n') = '\0';
    cr_assert(strstr(at, t->place) != NULL, "%s: '%s' is not in '%s'", t->kernel, t->place, at);
    qn_free(source);
}

/* Each kernel gets an array, a number, and two more arrays; those that take fewer ignore the
 * rest. */
static void try_all(const trial *trials, size_t count, qn_ptx_aids aids)
{
    bench b = bench_file("watch.ptx");
    for (size_t k = 0; k < count; k++) {
        const trial *t = &trials[k];
        int *x = bench_buffer(&b, COUNT * sizeof(int));
        int *y = bench_buffer(&b, COUNT * sizeof(int));
        void *const one_number[] = {&x, (void *)&t->argument, &y, &y};
        int eight = 8;
        void *const two_numbers[] = {&x, &eight, (void *)&t->argument};
        void *const two_arrays[] = {&x, &y, (void *)&t->argument};
        const bool counts = strcmp(t->kernel, "histogram") == 0;
        const bool allocates = strcmp(t->kernel, "stale_alloca") == 0;
        for (int i = 0; i < COUNT; i++) {
            x[i] = i;
        }
        bench_shape(&b, 3, t->threads);
        b.launch.dynamic_shared = strcmp(t->kernel, "dynamic_gap") == 0 ? 64 * sizeof(int) : 0;
        void *const *parameters = counts ? two_arrays : allocates ? two_numbers : one_number;
        b.launch.aids = (qn_ptx_aids){0};
        bench_good(&b, t->kernel, parameters);
        b.launch.aids = aids;
        if (t->says) {
            bench_bad(&b, t->kernel, parameters, QUERN_ERROR_ACCESS, t->says);
            place_is(t);
        } else {
            bench_good(&b, t->kernel, parameters);
        }
        qn_memory_map_remove(b.map, x, COUNT * sizeof(int));
        qn_memory_map_remove(b.map, y, COUNT * sizeof(int));
        qn_free(x);
        qn_free(y);
    }
    bench_close(&b);
}

static const trial races[] = {
    {"reverse", 64, 0,
     "thread (32,0,0): write of 4 bytes at offset 128 of 'tile' in shared memory races with the "
     "read by thread (31,0,0) at watch.cu:",
     "tile[threadIdx.x] = x[threadIdx.x];"},
    {"reverse", 64, 1, NULL, NULL},
    {"overwrite", 64, 0,
     "thread (0,0,0): read of 4 bytes at offset 252 of 'tile' in shared memory races with the "
     "write by thread (63,0,0) at watch.cu:",
     "x[threadIdx.x] = tile[63 - threadIdx.x];"},
    {"overwrite", 64, 1, NULL, NULL},
    {"all_write", 64, 0,
     "thread (1,0,0): write of 4 bytes at offset 0 of 'flag' in shared memory races with the write "
     "by thread (0,0,0)",
     "flag = same ? 7 : threadIdx.x;"},
    {"all_write", 64, 1, NULL, NULL},
    {"warp_sum", 32, 0, "neither __syncwarp() nor a barrier is between them",
     "int other = s[threadIdx.x ^ step];"},
    {"warp_sum", 32, 1, NULL, NULL},
    {"named_barrier", 64, 0, "no barrier is between them", "box[t - 32] = x[t];"},
    {"named_barrier", 64, 1, NULL, NULL},
    {"histogram", 64, 0, NULL, NULL},
    {"histogram", 64, 1,
     "atomic access of 4 bytes at offset 0 of 'bins' in shared memory races with the write by "
     "thread (0,0,0)",
     "atomicAdd(&bins[x[threadIdx.x] & 7], 1);"},
    {"histogram", 64, 2, "races with the read by thread (40,0,0)", "bins[x[threadIdx.x] & 7]++;"},
    {"locked", 64, 0, "of 'sum' in shared memory races with the write", "sum += x[threadIdx.x];"},
    {"locked", 64, 1, NULL, NULL},
    {"message", 64, 0, "of 'text' in shared memory races with the write by thread (32,0,0)",
     "x[1] = text;"},
    {"message", 64, 1, NULL, NULL},
    {"leavers", 64, 0, NULL, NULL},
    {"bytes_apart", 64, 0, NULL, NULL},
};

Test(ptx_watch, races)
{
    try_all(races, QN_COUNT(races), (qn_ptx_aids){.check_races = true});
}

static const trial inits[] = {
    {"shared_gap", 64, 63,
     "kernel 'shared_gap', block (0,0,0), thread (0,0,0): read of 4 bytes at offset 252 of 'tile' "
     "in shared memory, which no thread of the block has written, at watch.cu:",
     "x[threadIdx.x] = tile[63 - threadIdx.x];"},
    {"shared_gap", 64, 64, NULL, NULL},
    {"dynamic_gap", 64, 63, "read of 4 bytes at offset 252 of 'dynamic' in shared memory",
     "dynamic[63 - threadIdx.x] + fixed;"},
    {"dynamic_gap", 64, 64, NULL, NULL},
    {"local_gap", 1, 15,
     "read of 4 bytes at offset 60 of the thread's local memory, which it has not written",
     "sum += a[(i * 7 + x[0]) & 15];"},
    {"local_gap", 1, 16, NULL, NULL},
    {"stale_call", 32, 0, "read of 4 bytes at offset 0 of the thread's local memory",
     "return a[x[n] & 7];"},
    {"stale_call", 32, 1, NULL, NULL},
    {"stale_alloca", 32, 0, "read of 4 bytes at offset 0 of the thread's local memory",
     "x[threadIdx.x + 32] = a[x[n] & 7];"},
    {"stale_alloca", 32, 8, NULL, NULL},
    {"bad_count", 32, 0, "atomic access of 4 bytes at offset 0 of 'found' in shared memory",
     "atomicAdd(&found, 1);"},
    {"bad_count", 32, 1, NULL, NULL},
    {"copies", 64, 1, NULL, NULL},
    {"large_copies", 64, 1, NULL, NULL},
    {"copied_gap", 64, 1, "read of 4 bytes at offset 376 of 'b' in shared memory",
     "out[threadIdx.x] = b[63 - threadIdx.x].number;"},
    {"bit_fields", 64, 0, "of 'f' in shared memory, which no thread of the block has written",
     "x[threadIdx.x] = f[63 - threadIdx.x].small + 1;"},
    {"bit_fields", 64, 1, NULL, NULL},
    {"from_heap", 32, 0, "offset 0 of 32 bytes from malloc, which nobody has written",
     "out[threadIdx.x] = a[n & 7];"},
    {"from_heap", 32, 8, NULL, NULL},
};

Test(ptx_watch, memory_that_nobody_wrote)
{
    try_all(inits, QN_COUNT(inits), (qn_ptx_aids){.check_init = true});
}

/* Device memory: the host's copies write, and copies of what nobody wrote do not. */
Test(ptx_watch, device_memory)
{
    enum { BYTES = 32 * sizeof(float) };
    bench b = bench_file("watch.ptx");
    float *x = qn_alloc_aligned(64, BYTES), *y = qn_alloc_aligned(64, BYTES);
    int n = 32;
    memset(x, 0, BYTES);
    cr_assert(qn_memory_map_add_unwritten(b.map, x, BYTES, "array of 128 bytes"));
    cr_assert(qn_memory_map_add_unwritten(b.map, y, BYTES, "array of 128 bytes"));
    b.launch.aids.check_init = true;
    void *const forth[] = {&x, &y, &n}, *const back[] = {&y, &x, &n};
    qn_memory_map_written(b.map, x, 31 * sizeof(float), NULL);
    bench_bad(&b, "sum", back, QUERN_ERROR_ACCESS, "offset 0 of array of 128 bytes");
    bench_bad(&b, "sum", forth, QUERN_ERROR_ACCESS,
              "offset 124 of array of 128 bytes, which nobody has written");
    n = 31;
    bench_good(&b, "sum", forth);
    bench_good(&b, "sum", back);
    n = 32;
    bench_bad(&b, "sum", back, QUERN_ERROR_ACCESS, "offset 124 of array");
    qn_memory_map_written(b.map, y, BYTES, x);
    bench_bad(&b, "sum", back, QUERN_ERROR_ACCESS, "offset 124 of array");
    qn_memory_map_written(b.map, x, BYTES, NULL);
    bench_good(&b, "sum", forth);
    bench_good(&b, "sum", back);
    qn_memory_map_remove(b.map, x, BYTES);
    cr_assert(qn_memory_map_add(b.map, x, BYTES, "wrapped memory"));
    bench_good(&b, "sum", forth);
    bench_close(&b);
    qn_free(x);
    qn_free(y);
}

/* Every allocation of a launch that is watched fails once. */
Test(ptx_watch, out_of_memory)
{
    bench b = bench_file("watch.ptx");
    int *x = bench_buffer(&b, COUNT * sizeof(int)), n = 8, again = 1;
    unsigned failed = 0;
    b.launch.aids = (qn_ptx_aids){.check_init = true, .check_races = true};
    for (uint64_t k = 1; k < 60; k++) {
        qn_ptx_undecode(qn_ptx_kernel(b.module, "stale_call"));
        qn_memory_fail_after(k, k % 2 == 0);
        quern_status status = bench_run(&b, "stale_call", PARAMETERS(&x, &again, &n));
        qn_memory_fail_after(0, false);
        failed += status != QUERN_OK;
        cr_assert(status == QUERN_OK || status == QUERN_ERROR_OUT_OF_MEMORY, "%d: %s", status,
                  quern_last_error()->message);
    }
    cr_assert_gt(failed, 5);
    bench_good(&b, "stale_call", PARAMETERS(&x, &again, &n));
    qn_free(x);
    bench_close(&b);
}

#define REVERSE(between)                                                                           \
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 x)\n{\n"         \
    ".reg .b32 %r<6>; .reg .b64 %rd<4>;\n.shared .align 4 .b8 s[256];\n"                           \
    "ld.param.u64 %rd1, [x];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, s;\nshl.b32 %r3, %r1, 2;\n"       \
    "add.u32 %r3, %r3, %r2;\nst.shared.u32 [%r3], %r1;\n" between                                  \
    "sub.u32 %r4, 63, %r1;\nshl.b32 %r4, %r4, 2;\nadd.u32 %r4, %r4, %r2;\n"                        \
    "ld.shared.u32 %r5, [%r4];\nmul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd3, %rd1, %rd2;\n"           \
    "st.global.u32 [%rd3], %r5;\nret;\n}\n"

/* Barriers that NVRTC writes for newer GPUs only. */
Test(ptx_watch, the_clusters_barrier)
{
    static const struct {
        const char *text;
        bool races;
    } texts[] = {
        {REVERSE(""), true},
        {REVERSE("barrier.cluster.arrive;\n"), true},
        {REVERSE("barrier.cluster.arrive;\nbarrier.cluster.wait;\n"), false},
        {REVERSE("barrier.sync 3;\n"), false},
    };
    for (size_t k = 0; k < QN_COUNT(texts); k++) {
        bench b = bench_of(texts[k].text);
        int *x = bench_buffer(&b, COUNT * sizeof(int));
        bench_shape(&b, 2, 64);
        b.launch.aids.check_races = true;
        if (texts[k].races) {
            bench_bad(&b, "k", PARAMETERS(&x), QUERN_ERROR_ACCESS, "of 's' in shared memory races");
        } else {
            bench_good(&b, "k", PARAMETERS(&x));
            cr_assert_eq(x[5], 58);
        }
        qn_free(x);
        bench_close(&b);
    }
}
