/* SPDX-License-Identifier: MIT
 *
 * Allocation, fault injection and arenas.
 */
#include "base/base.h"

#include <criterion/criterion.h>
#include <string.h>

Test(memory, size_zero_can_be_freed)
{
    void *pointers[] = {qn_alloc(0), qn_calloc(0, 8), qn_calloc(8, 0), qn_realloc(NULL, 0),
                        qn_alloc_aligned(64, 0)};
    for (size_t k = 0; k < QN_COUNT(pointers); k++) {
        cr_expect_not_null(pointers[k]);
        qn_free(pointers[k]);
    }
    qn_free(NULL);
}

Test(memory, alignment)
{
    for (size_t alignment = 1; alignment <= 4096; alignment *= 2) {
        void *pointer = qn_alloc_aligned(alignment, 10);
        cr_expect_eq((uintptr_t)pointer % alignment, 0);
        qn_free(pointer);
    }
}

Test(memory, copies_of_text)
{
    char *whole = qn_strdup("abc"), *part = qn_strndup("abc", 2), *none = qn_strndup(NULL, 0);
    cr_expect_str_eq(whole, "abc");
    cr_expect_str_eq(part, "ab");
    cr_expect_str_eq(none, "");
    qn_free(whole);
    qn_free(part);
    qn_free(none);
}

Test(memory, nth_allocation_fails)
{
    qn_memory_fail_after(2, false);
    void *first = qn_alloc(1), *second = qn_calloc(1, 1), *third = qn_realloc(NULL, 1);
    cr_expect_eq(qn_memory_fail_after(0, false), 3);
    cr_expect_not_null(first);
    cr_expect_null(second);
    cr_expect_not_null(third);
    qn_free(first);
    qn_free(third);
}

Test(memory, sticky_failure_lasts)
{
    qn_memory_fail_after(1, true);
    cr_expect_null(qn_alloc(1));
    cr_expect_null(qn_calloc(1, 1));
    cr_expect_null(qn_realloc(NULL, 1));
    cr_expect_null(qn_alloc_aligned(16, 1));
    cr_expect_null(qn_strdup("a"));
    cr_expect_eq(qn_memory_fail_after(0, false), 5);
    void *again = qn_alloc(1);
    cr_expect_not_null(again);
    qn_free(again);
}

/* ---- counting from many threads ------------------------------------------------------------- */

static void *allocate_many(void *nulls)
{
    for (int k = 0; k < 10000; k++) {
        void *pointer = qn_alloc(8);
        if (!pointer) {
            atomic_fetch_add((atomic_int *)nulls, 1);
        }
        qn_free(pointer);
    }
    return NULL;
}

Test(memory, counts_and_fails_once_whatever_the_thread)
{
    pthread_t threads[4];
    atomic_int nulls = 0;
    qn_memory_fail_after(20000, false);
    for (int k = 0; k < 4; k++) {
        cr_assert_eq(pthread_create(&threads[k], NULL, allocate_many, &nulls), 0);
    }
    for (int k = 0; k < 4; k++) {
        pthread_join(threads[k], NULL);
    }
    cr_expect_eq(qn_memory_fail_after(0, false), 40000);
    cr_expect_eq(nulls, 1);
}

/* ---- arenas --------------------------------------------------------------------------------- */

Test(arena, zeroed_aligned_and_apart)
{
    qn_arena arena = {0};
    unsigned char *pieces[300];
    for (size_t k = 0; k < 300; k++) {
        pieces[k] = qn_arena_alloc(&arena, k);
        cr_assert_not_null(pieces[k]);
        cr_assert_eq((uintptr_t)pieces[k] % 16, 0);
        for (size_t j = 0; j < k; j++) {
            cr_assert_eq(pieces[k][j], 0);
        }
        memset(pieces[k], (int)(k & 0xff), k);
    }
    for (size_t k = 0; k < 300; k++) {
        for (size_t j = 0; j < k; j++) {
            cr_assert_eq(pieces[k][j], k & 0xff);
        }
    }
    qn_arena_free(&arena);
    cr_expect_null(arena.head);
}

Test(arena, large_pieces_and_impossible_ones)
{
    qn_arena arena = {0};
    cr_expect_not_null(qn_arena_alloc(&arena, 1 << 20));
    cr_expect_null(qn_arena_alloc(&arena, SIZE_MAX));
    cr_expect_null(qn_arena_alloc(&arena, SIZE_MAX - 20));
    cr_expect_str_eq(qn_arena_strndup(&arena, "abcdef", 3), "abc");
    qn_memory_fail_after(1, false);
    cr_expect_null(qn_arena_alloc(&arena, 1 << 20));
    qn_memory_fail_after(0, false);
    cr_expect_not_null(qn_arena_alloc(&arena, 1 << 20));
    qn_arena_free(&arena);
}

/* A list grows without losing what it has, and where memory ends nothing changes. */
Test(memory, lists)
{
    QN_LIST(uint16_t) list = {0};
    for (uint32_t k = 0; k < 1000; k++) {
        cr_assert(QN_ROOM(list));
        cr_assert_lt(list.count, list.capacity);
        list.items[list.count++] = (uint16_t)(k * 7);
    }
    for (uint32_t k = 0; k < 1000; k++) {
        cr_expect_eq(list.items[k], (uint16_t)(k * 7));
    }
    list.count = list.capacity;
    const uint32_t capacity = list.capacity;
    const uint16_t *items = list.items;
    qn_memory_fail_after(1, true);
    cr_expect_not(QN_ROOM(list));
    qn_memory_fail_after(0, false);
    cr_expect_eq(list.capacity, capacity);
    cr_expect_eq(list.items, items);
    uint32_t most = UINT32_C(1) << 31;
    void *array = NULL;
    cr_expect_not(qn_room(&array, most, &most, 1), "twice that is no number of elements");
    qn_free(list.items);
}
