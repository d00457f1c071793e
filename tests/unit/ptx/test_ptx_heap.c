/* SPDX-License-Identifier: MIT
 *
 * The heap of malloc in kernels: pieces with exact ends, used again after they are freed; by
 * itself, and as kernels see it.
 */
#include "ptx/run/heap.h"
#include "run_support.h"

/* ---- by itself ------------------------------------------------------------------------------ */

static const uint64_t sizes[] = {1,    15,    16,    17,    48,    100,     112,     113,
                                 1000, 16000, 32752, 32753, 65520, 1 << 20, 64 << 20};

Test(ptx_heap, pieces_end_where_they_end)
{
    qn_heap *heap = qn_heap_new();
    cr_assert_not_null(heap);
    for (size_t k = 0; k < 3 * QN_COUNT(sizes); k++) {
        const uint64_t bytes = sizes[k % QN_COUNT(sizes)];
        const uint64_t piece = qn_heap_take(heap, bytes, false);
        qn_range found;
        cr_assert(piece != 0 && piece % 16 == 0, "%zu bytes", (size_t)bytes);
        memset((void *)(uintptr_t)piece, 1, bytes < 4096 ? bytes : 4096);
        cr_assert(qn_heap_find(heap, piece, &found) && found.begin == piece &&
                  found.end == piece + bytes && !found.written);
        cr_assert(qn_heap_find(heap, piece + bytes - 1, &found) && found.begin == piece);
        cr_assert(!qn_heap_find(heap, piece + bytes, &found), "%zu bytes", (size_t)bytes);
        cr_assert(!qn_heap_find(heap, piece - 1, &found), "%zu bytes", (size_t)bytes);
    }
    qn_heap_free(heap);
}

Test(ptx_heap, only_a_live_piece_is_freed)
{
    qn_heap *heap = qn_heap_new();
    qn_range found;
    for (size_t k = 0; k < QN_COUNT(sizes); k++) {
        const uint64_t bytes = sizes[k], piece = qn_heap_take(heap, bytes, false);
        cr_assert(!qn_heap_freed(heap, piece, &found));
        cr_assert(!qn_heap_give_back(heap, piece + 16) && !qn_heap_give_back(heap, piece - 16));
        cr_assert(qn_heap_give_back(heap, piece));
        cr_assert(!qn_heap_give_back(heap, piece), "twice");
        cr_assert(!qn_heap_find(heap, piece, &found));
        cr_assert(qn_heap_freed(heap, piece + bytes - 1, &found) && found.begin == piece &&
                  found.end == piece + bytes);
        cr_assert(!qn_heap_freed(heap, piece + bytes, &found));
    }
    cr_assert(!qn_heap_give_back(heap, 0) && !qn_heap_give_back(heap, (uintptr_t)&found));
    cr_assert(!qn_heap_find(heap, 0, &found) && !qn_heap_freed(heap, (uintptr_t)&found, &found));
    qn_heap_free(heap);
}

/* All that it has, once for each size: what was freed serves any other size. */
Test(ptx_heap, freed_memory_is_used_again)
{
    qn_heap *heap = qn_heap_new();
    static uint64_t pieces[QN_HEAP_BYTES / 1024 + 1]; /* and the null after them */
    static const uint64_t steps[] = {1000, 64 << 20, 40000, QN_HEAP_BYTES - 16, 1000};
    for (size_t k = 0; k < QN_COUNT(steps); k++) {
        size_t count = 0;
        while ((pieces[count] = qn_heap_take(heap, steps[k], false)) != 0) {
            count++;
        }
        cr_assert_geq(count * steps[k], QN_HEAP_BYTES / 2, "%zu pieces of %zu bytes", count,
                      (size_t)steps[k]);
        cr_assert(qn_heap_give_back(heap, pieces[count / 2]));
        cr_assert_eq(qn_heap_take(heap, steps[k], false), pieces[count / 2]);
        for (size_t piece = 0; piece < count; piece++) {
            cr_assert(qn_heap_give_back(heap, pieces[piece]));
        }
    }
    for (size_t k = 0; k < 1000000; k++) {
        const uint64_t piece = qn_heap_take(heap, sizes[k % QN_COUNT(sizes)], false);
        cr_assert(piece != 0 && qn_heap_give_back(heap, piece));
    }
    cr_assert_eq(qn_heap_take(heap, 0, false), 0);
    cr_assert_eq(qn_heap_take(heap, QN_HEAP_BYTES - 15, false), 0);
    cr_assert_eq(qn_heap_take(heap, UINT64_MAX, false), 0);
    qn_heap_free(heap);
}

Test(ptx_heap, neighbours)
{
    qn_heap *heap = qn_heap_new();
    const uint64_t a = qn_heap_take(heap, 40, false), b = qn_heap_take(heap, 40, false);
    const uint64_t big = qn_heap_take(heap, 100000, false);
    qn_range near[2];
    cr_assert_eq(qn_heap_around(heap, a + 40, near), 2);
    cr_assert(near[0].begin == a && near[1].begin == b);
    cr_assert_eq(qn_heap_around(heap, a - 1, near), 1);
    cr_assert_eq(near[0].begin, a);
    cr_assert_eq(qn_heap_around(heap, big - 1, near), 2);
    cr_assert(near[0].begin == b && near[1].begin == big);
    cr_assert_eq(qn_heap_around(heap, big + 100000, near), 1);
    cr_assert_eq(near[0].begin, big);
    cr_assert(qn_heap_give_back(heap, a));
    cr_assert_eq(qn_heap_around(heap, a, near), 1);
    cr_assert_eq(near[0].begin, b);
    cr_assert_eq(qn_heap_around(heap, big + (64 << 20), near), 0);
    cr_assert_eq(qn_heap_around(heap, 4096, near), 0);
    qn_heap_free(heap);
}

/* Threads fill pieces of any size with a number of their own, and find it there later. */
typedef struct crowd {
    qn_heap *heap;
    uint64_t failures;
} crowd;

static void one_of_crowd(void *context)
{
    enum { HELD = 64, STEPS = 20000 };
    static atomic_uint everyone;
    crowd *all = context;
    uint32_t *held[HELD] = {0}, words[HELD] = {0};
    uint64_t failures = 0;
    const uint32_t mine = atomic_fetch_add(&everyone, 1) + 1;
    uint32_t random = 2654435769u * mine;
    for (uint32_t step = 0; step < STEPS; step++) {
        random = random * 1664525u + 1013904223u;
        const uint32_t at = random >> 26;
        qn_range found;
        if (held[at]) {
            const uint64_t piece = (uintptr_t)held[at];
            for (uint32_t k = 0; k < words[at]; k++) {
                failures += held[at][k] != mine + at;
            }
            failures += !qn_heap_find(all->heap, piece, &found) ||
                        found.end != piece + words[at] * sizeof(uint32_t) || !found.written;
            failures += !qn_heap_give_back(all->heap, piece);
            held[at] = NULL;
            continue;
        }
        words[at] = 1 + (random >> 8) % (at ? 400 : 30000);
        held[at] =
            (uint32_t *)(uintptr_t)qn_heap_take(all->heap, words[at] * sizeof(uint32_t), true);
        for (uint32_t k = 0; held[at] && k < words[at]; k++) {
            held[at][k] = mine + at;
        }
        failures += !held[at];
    }
    __atomic_fetch_add(&all->failures, failures, __ATOMIC_RELAXED);
}

Test(ptx_heap, threads)
{
    crowd all = {.heap = qn_heap_new()};
    qn_threads_run(7, one_of_crowd, &all);
    cr_assert_eq(all.failures, 0, "%zu", (size_t)all.failures);
    qn_heap_free(all.heap);
}

/* ---- as kernels see it ---------------------------------------------------------------------- */

Test(ptx_heap, lives_across_launches)
{
    enum { BLOCKS = 400, THREADS = 256, ALL = BLOCKS * THREADS };
    bench b = bench_file("heap.ptx");
    uint64_t *kept = bench_buffer(&b, ALL * sizeof *kept);
    int *sums = bench_buffer(&b, ALL * sizeof *sums);
    bench_shape(&b, BLOCKS, THREADS);
    b.launch.threads = 4;
    for (int round = 0; round < 3; round++) {
        bench_good(&b, "keep", PARAMETERS(&kept));
        bench_good(&b, "collect", PARAMETERS(&kept, &sums));
        for (int k = 0; k < ALL; k++) {
            cr_assert_eq(sums[k], k);
        }
    }
    qn_free(kept);
    qn_free(sums);
    bench_close(&b);
}

/* Many times what the heap has. */
Test(ptx_heap, loops_do_not_grow)
{
    bench b = bench_file("heap.ptx");
    int count = 2000, size = 1000;
    bench_shape(&b, 4, 256);
    b.launch.threads = 2;
    bench_good(&b, "loop", PARAMETERS(&count, &size));
    count = 300;
    size = 50000;
    b.launch.aids.check_init = true;
    bench_shape(&b, 2, 32);
    bench_good(&b, "loop", PARAMETERS(&count, &size));
    bench_close(&b);
}

Test(ptx_heap, null_when_there_is_none)
{
    static const struct {
        uint64_t bytes;
        int null;
    } cases[] = {{0, 1},          {1, 0},          {QN_HEAP_BYTES - 16, 0}, {QN_HEAP_BYTES - 15, 1},
                 {UINT64_MAX, 1}, {UINT32_MAX, 1}, {UINT64_C(1) << 32, 1}};
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        bench b = bench_file("heap.ptx");
        int *null = bench_buffer(&b, sizeof *null);
        uint64_t bytes = cases[k].bytes;
        bench_shape(&b, 1, 1);
        bench_good(&b, "is_null", PARAMETERS(&null, &bytes));
        cr_assert_eq(*null, cases[k].null, "%zu bytes", (size_t)bytes);
        qn_free(null);
        bench_close(&b);
    }
}

Test(ptx_heap, mistakes)
{
    static const struct {
        const char *kernel;
        int number;
        const char *says;
    } cases[] = {
        {"outside", 10, "0 bytes past the end of 40 bytes from malloc at 0x"},
        {"outside", 12, "8 bytes past the end of 40 bytes from malloc at 0x"},
        {"outside", -1, "4 bytes before the beginning of 40 bytes from malloc at 0x"},
        {"after_free", 9, ", inside 40 bytes from malloc at 0x"},
        {"after_free", 0, ", which was freed, at heap.cu:"},
        {"free_again", 0, ", which malloc did not return or which was freed before"},
        {"free_again", 16, ", which malloc did not return or which was freed before"},
        {"freed_by_another", 9, "thread (32,0,0): read of 4 bytes at 0x"},
        {"freed_by_another", 0, ", inside 40 bytes from malloc at 0x"},
    };
    for (size_t k = 0; k < 2 * QN_COUNT(cases); k++) {
        int number = cases[k / 2].number;
        bench b = bench_file("heap.ptx");
        bench_shape(&b, 1, 64);
        b.launch.aids.check_init = k % 2;
        bench_bad(&b, cases[k / 2].kernel, PARAMETERS(&number), QUERN_ERROR_ACCESS,
                  cases[k / 2].says);
        bench_close(&b);
    }
}
