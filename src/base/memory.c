/* SPDX-License-Identifier: MIT
 *
 * All memory of the library: the only file that names malloc. Arenas hold what is freed together.
 *
 * Every allocation is counted, and a test can make the N-th one fail, so that each "out of memory"
 * path is really taken. qn_memory_fail_after() counts for the whole process, whatever the thread.
 */
#include "base/base.h"

#include <stdlib.h>
#include <string.h>

static _Atomic uint64_t allocations; /* since the last qn_memory_fail_after() */
static _Atomic uint64_t failing;     /* which one fails; 0: none */
static atomic_bool failing_sticky;

uint64_t qn_memory_fail_after(uint64_t n, bool sticky)
{
    atomic_store(&failing, 0);
    uint64_t counted = atomic_exchange(&allocations, 0);
    atomic_store(&failing_sticky, sticky);
    atomic_store(&failing, n);
    return counted;
}

/* QUERN_FAIL_ALLOC=N fails the N-th allocation of the process; N+ fails it and all after it. */
__attribute__((constructor)) static void fail_from_environment(void)
{
    const char *text = secure_getenv("QUERN_FAIL_ALLOC");
    if (text) {
        char *end;
        uint64_t n = strtoull(text, &end, 10);
        qn_memory_fail_after(n, *end == '+');
    }
}

static bool fails_now(void)
{
    uint64_t serial = atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed) + 1;
    uint64_t n = atomic_load_explicit(&failing, memory_order_relaxed);
    return n != 0 && (serial == n || (serial > n && atomic_load(&failing_sticky)));
}

void *qn_alloc(size_t size)
{
    return fails_now() ? NULL : malloc(size ? size : 1);
}

void *qn_calloc(size_t count, size_t size)
{
    return fails_now() ? NULL : calloc(count ? count : 1, size ? size : 1);
}

void *qn_realloc(void *pointer, size_t size)
{
    return fails_now() ? NULL : realloc(pointer, size ? size : 1);
}

void *qn_alloc_aligned(size_t alignment, size_t size)
{
    void *pointer = NULL;
    if (fails_now() ||
        posix_memalign(&pointer, QN_MAX(alignment, sizeof(void *)), size ? size : 1) != 0) {
        return NULL;
    }
    return pointer;
}

char *qn_strdup(const char *text)
{
    return qn_strndup(text, strlen(text));
}

char *qn_strndup(const char *text, size_t length)
{
    char *copy = qn_alloc(length + 1);
    if (copy) {
        if (length > 0) {
            memcpy(copy, text, length);
        }
        copy[length] = '\0';
    }
    return copy;
}

void qn_free(void *pointer)
{
    free(pointer);
}

bool qn_room(void **items, uint32_t count, uint32_t *capacity, size_t size)
{
    if (count < *capacity) {
        return true;
    }
    uint32_t larger = *capacity ? *capacity * 2 : 16;
    void *grown = larger > count ? qn_realloc(*items, larger * size) : NULL;
    if (!grown) {
        return false;
    }
    *items = grown;
    *capacity = larger;
    return true;
}

/* ---- arenas --------------------------------------------------------------------------------- */

#define ARENA_ALIGNMENT  16
#define ARENA_BLOCK_SIZE 4096

struct qn_arena_block {
    struct qn_arena_block *next;
    size_t used, size; /* of `bytes` */
    _Alignas(ARENA_ALIGNMENT) unsigned char bytes[];
};

void *qn_arena_alloc(qn_arena *arena, size_t size)
{
    if (size > PTRDIFF_MAX) {
        return NULL;
    }
    size_t rounded = (QN_MAX(size, 1) + ARENA_ALIGNMENT - 1) & ~(size_t)(ARENA_ALIGNMENT - 1);
    struct qn_arena_block *block = arena->head;
    if (!block || block->size - block->used < rounded) {
        size_t block_size = QN_MAX(rounded, ARENA_BLOCK_SIZE - sizeof(struct qn_arena_block));
        block = qn_calloc(1, sizeof *block + block_size);
        if (!block) {
            return NULL;
        }
        block->size = block_size;
        block->next = arena->head;
        arena->head = block;
    }
    void *pointer = block->bytes + block->used;
    block->used += rounded;
    return pointer;
}

char *qn_arena_strndup(qn_arena *arena, const char *text, size_t length)
{
    char *copy = qn_arena_alloc(arena, length + 1);
    if (copy && length > 0) {
        memcpy(copy, text, length);
    }
    return copy;
}

void qn_arena_free(qn_arena *arena)
{
    while (arena->head) {
        struct qn_arena_block *next = arena->head->next;
        qn_free(arena->head);
        arena->head = next;
    }
}
