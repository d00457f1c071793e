/* SPDX-License-Identifier: MIT
 *
 * home_memory: what is allocated on a home. In: sizes and kinds. Out: memory of the device, or of
 * the allocator that the program has set, counted and kept within a limit. The thing to know: each
 * piece of memory goes back where it came from, so an allocator that was ever set is remembered
 * until the home ends, and a change of it needs no lock where memory is asked for.
 */
#include "device/device_internal.h"

#include <string.h>

enum { ALIGNMENT = 256 };

/* An allocator that is or was set; the lists of a home only grow. */
struct qn_source {
    const qn_source *next;
    quern_allocator allocator;
};

/* ---- counting ------------------------------------------------------------------------------- */

static uint64_t load(const atomic_uint_fast64_t *number)
{
    return atomic_load_explicit(number, memory_order_relaxed);
}

static void add(atomic_uint_fast64_t *number, uint64_t difference)
{
    atomic_fetch_add_explicit(number, difference, memory_order_relaxed);
}

static void raise_to(atomic_uint_fast64_t *peak, uint64_t used)
{
    uint_fast64_t seen = load(peak);
    while (used > seen && !atomic_compare_exchange_weak_explicit(
                              peak, &seen, used, memory_order_relaxed, memory_order_relaxed)) {
    }
}

/* Memory of the host that is given to arrays takes nothing of the device's. */
static bool is_of_host(quern_memory memory)
{
    return memory == QUERN_MEMORY_PINNED || memory == QUERN_MEMORY_MAPPED;
}

/* Count `bytes` that are about to be allocated. */
static quern_status take(qn_home *home, size_t bytes, quern_memory memory)
{
    qn_account *a = &home->account;
    if (is_of_host(memory)) {
        add(&a->host, bytes);
        add(&a->pieces, 1);
        return QUERN_OK;
    }
    const uint64_t used =
        atomic_fetch_add_explicit(&a->used, bytes, memory_order_relaxed) + (uint64_t)bytes;
    const uint64_t limit = load(&a->limit);
    if (limit != 0 && (used > limit || used < bytes)) {
        add(&a->used, -(uint64_t)bytes);
        return qn_fail(QUERN_ERROR_DEVICE_MEMORY,
                       "%zu bytes were asked of %s, where this engine may have %llu", bytes,
                       home->place, (unsigned long long)limit);
    }
    raise_to(&a->peak, used);
    add(&a->pieces, 1);
    return QUERN_OK;
}

static void put_back(qn_home *home, size_t bytes, quern_memory memory)
{
    add(is_of_host(memory) ? &home->account.host : &home->account.used, -(uint64_t)bytes);
    add(&home->account.pieces, -(uint64_t)1);
}

/* ---- from the program's allocator ----------------------------------------------------------- */

/* A multiple of 4: atomics on elements of one byte swap the aligned bytes around it, and those
 * must be there (templates/atomic.cuh). */
static size_t padded(size_t bytes)
{
    return bytes > SIZE_MAX - 3 ? bytes : (bytes + 3) / 4 * 4;
}

static void return_to(const qn_source *source, void *pointer, size_t bytes, void *stream)
{
    const quern_allocator *a = &source->allocator;
    a->release(a->context, pointer, padded(bytes), stream);
}

static quern_status ask_program(void **out, const qn_source *source, const qn_home *home,
                                size_t bytes, void *stream)
{
    const quern_allocator *a = &source->allocator;
    void *pointer = a->allocate(a->context, padded(bytes), ALIGNMENT, stream);
    if (!pointer) {
        return qn_fail(QUERN_ERROR_DEVICE_MEMORY, "the program's own allocator has no %zu bytes",
                       padded(bytes));
    }
    quern_status status = QUERN_OK;
    if ((uintptr_t)pointer % ALIGNMENT != 0) {
        status = qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                         "the program's own allocator gave memory at %p, which is not aligned to "
                         "%d bytes",
                         pointer, ALIGNMENT);
    } else if (home->methods->adopt) {
        status = home->methods->adopt(home->device, pointer, bytes);
    }
    if (status != QUERN_OK) {
        return_to(source, pointer, bytes, stream);
        return status;
    }
    *out = pointer;
    return QUERN_OK;
}

static bool is_same(const quern_allocator *a, const quern_allocator *b)
{
    return a->allocate == b->allocate && a->release == b->release && a->context == b->context;
}

quern_status qn_memory_use(qn_home *home, const quern_allocator *allocator)
{
    qn_account *a = &home->account;
    const qn_source *found = NULL;
    if (allocator) {
        found = atomic_load(&a->sources);
        while (found && !is_same(&found->allocator, allocator)) {
            found = found->next;
        }
    }
    if (allocator && !found) {
        qn_source *made = qn_calloc(1, sizeof *made);
        if (!made) {
            return qn_fail_memory("setting an allocator");
        }
        made->allocator = *allocator;
        made->next = atomic_load(&a->sources);
        while (!atomic_compare_exchange_weak(&a->sources, &made->next, made)) {
        }
        found = made;
    }
    atomic_store(&a->source, found);
    return QUERN_OK;
}

void qn_memory_forget(qn_home *home)
{
    const qn_source *source = atomic_exchange(&home->account.sources, NULL);
    while (source) {
        const qn_source *next = source->next;
        qn_free((void *)(uintptr_t)source);
        source = next;
    }
}

/* ---- allocating ----------------------------------------------------------------------------- */

static quern_status allocate(void **out, const qn_source *source, const qn_home *home, size_t bytes,
                             quern_memory memory, void *stream)
{
    const quern_device_methods *methods = home->methods;
    if (source) {
        return ask_program(out, source, home, bytes, stream);
    }
    if (memory == QUERN_MEMORY_DEVICE) {
        return methods->allocate(home->device, out, bytes, stream);
    }
    if (!methods->allocate_in || !methods->release_in) {
        return qn_fail(QUERN_ERROR_NOT_SUPPORTED,
                       "the device \"%s\" has no memory but its own (QUERN_MEMORY_DEVICE)",
                       methods->name);
    }
    return methods->allocate_in(home->device, out, bytes, memory, stream);
}

quern_status qn_memory_new(void **out, const qn_source **from, qn_home *home, size_t bytes,
                           quern_memory memory, void *stream)
{
    *out = NULL;
    *from = memory == QUERN_MEMORY_DEVICE
                ? atomic_load_explicit(&home->account.source, memory_order_acquire)
                : NULL;
    QN_TRY(take(home, bytes, memory));
    quern_status status = allocate(out, *from, home, bytes, memory, stream);
    if (status != QUERN_OK) {
        put_back(home, bytes, memory);
    }
    return status;
}

void qn_memory_free(void *pointer, const qn_source *from, qn_home *home, size_t bytes,
                    quern_memory memory, void *stream)
{
    const quern_device_methods *methods = home->methods;
    if (from) {
        if (methods->disown) {
            methods->disown(home->device, pointer, bytes);
        }
        return_to(from, pointer, bytes, stream);
    } else if (memory == QUERN_MEMORY_DEVICE) {
        methods->release(home->device, pointer, bytes, stream);
    } else {
        methods->release_in(home->device, pointer, bytes, memory, stream);
    }
    put_back(home, bytes, memory);
}
