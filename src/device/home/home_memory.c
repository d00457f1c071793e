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

/* Count bytes of the device, unless the limit does not allow them. */
static bool count_used(qn_account *a, size_t bytes)
{
    uint_fast64_t used = load(&a->used);
    do {
        const uint64_t limit = load(&a->limit);
        if (limit != 0 && (bytes > limit || used > limit - bytes)) {
            return false;
        }
    } while (!atomic_compare_exchange_weak_explicit(&a->used, &used, used + bytes,
                                                    memory_order_relaxed, memory_order_relaxed));
    return true;
}

/* The same; what waits for later launches may be enough. */
static bool count_or_reclaim(qn_home *home, size_t bytes)
{
    qn_account *a = &home->account;
    return count_used(a, bytes) ||
           (bytes <= load(&a->limit) && home->owner->reclaim(home) && count_used(a, bytes));
}

/* Count `bytes` that are about to be allocated; where that fails nothing is counted. */
static quern_status take(qn_home *home, const qn_source *from, size_t bytes, quern_memory memory)
{
    qn_account *a = &home->account;
    if (is_of_host(memory)) {
        add(&a->host, bytes);
    } else if (!count_or_reclaim(home, bytes)) {
        return qn_fail(QUERN_ERROR_DEVICE_MEMORY,
                       "%zu bytes of %s were asked for, and this engine may have %llu in all "
                       "(quern_memory_set_limit)",
                       bytes, home->place, (unsigned long long)load(&a->limit));
    } else if (from || memory != QUERN_MEMORY_DEVICE) {
        add(&a->elsewhere, bytes);
    }
    add(&a->pieces, 1);
    return QUERN_OK;
}

static void put_back(qn_home *home, const qn_source *from, size_t bytes, quern_memory memory)
{
    qn_account *a = &home->account;
    add(&a->pieces, -(uint64_t)1);
    if (is_of_host(memory)) {
        add(&a->host, -(uint64_t)bytes);
        return;
    }
    add(&a->used, -(uint64_t)bytes);
    if (from || memory != QUERN_MEMORY_DEVICE) {
        add(&a->elsewhere, -(uint64_t)bytes);
    }
}

uint64_t qn_memory_held(const qn_home *home)
{
    const qn_account *a = &home->account;
    const uint64_t elsewhere = load(&a->elsewhere), used = load(&a->used);
    const uint64_t held = home->methods->held ? home->methods->held(home->device) : 0;
    return QN_MAX(held + elsewhere, used);
}

/* ---- from the program's allocator ----------------------------------------------------------- */

/* A multiple of 4: atomics on elements of one byte swap the aligned bytes around it, and those
 * must be there (templates/atomic.cuh). */
static size_t padded(size_t bytes)
{
    return bytes > SIZE_MAX - 3 ? bytes : (bytes + 3) / 4 * 4;
}

/* A call of one of the allocator's functions. */
typedef struct question {
    const quern_allocator *allocator;
    void *pointer, *stream;
    size_t bytes;
    bool release, asked;
} question;

static void ask(void *context)
{
    question *q = context;
    const quern_allocator *a = q->allocator;
    q->asked = true;
    if (q->release) {
        a->release(a->context, q->pointer, q->bytes, q->stream);
    } else {
        q->pointer = a->allocate(a->context, q->bytes, ALIGNMENT, q->stream);
    }
}

static void ask_within(const qn_home *home, question *q)
{
    if (home->methods->within) {
        home->methods->within(home->device, ask, q);
    } else {
        ask(q);
    }
}

static void return_to(const qn_source *source, const qn_home *home, void *pointer, size_t bytes,
                      void *stream)
{
    ask_within(home, &(question){&source->allocator, pointer, stream, padded(bytes), true, false});
}

static quern_status ask_program(void **out, const qn_source *source, const qn_home *home,
                                size_t bytes, void *stream)
{
    question q = {&source->allocator, NULL, stream, padded(bytes), false, false};
    ask_within(home, &q);
    if (!q.asked) { /* the device has said why */
        return quern_last_error()->status;
    }
    if (!q.pointer) {
        return qn_fail(QUERN_ERROR_DEVICE_MEMORY, "the program's own allocator has no %zu bytes",
                       q.bytes);
    }
    quern_status status = QUERN_OK;
    if ((uintptr_t)q.pointer % ALIGNMENT != 0) {
        status = qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                         "the program's own allocator gave memory at %p, which is not aligned to "
                         "%d bytes",
                         q.pointer, ALIGNMENT);
    } else if (home->methods->adopt) {
        status = home->methods->adopt(home->device, q.pointer, bytes);
    }
    if (status != QUERN_OK) {
        return_to(source, home, q.pointer, bytes, stream);
        return status;
    }
    *out = q.pointer;
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

/* Add to an error who has what of the device. */
static quern_status tell_holders(const qn_home *home)
{
    const uint64_t used = load(&home->account.used), held = qn_memory_held(home);
    const uint64_t others = qn_homes_hold(home), pieces = load(&home->account.pieces);
    qn_error_suffix("; this engine uses %llu bytes in %llu piece%s", (unsigned long long)used,
                    (unsigned long long)pieces, pieces == 1 ? "" : "s");
    if (held > used) {
        qn_error_suffix(" and keeps %llu for later", (unsigned long long)(held - used));
    }
    if (others > 0) {
        qn_error_suffix("; other engines of this process have %llu", (unsigned long long)others);
    }
    return QUERN_ERROR_DEVICE_MEMORY;
}

quern_status qn_memory_new(void **out, const qn_source **from, qn_home *home, size_t bytes,
                           quern_memory memory, void *stream)
{
    *out = NULL;
    *from = memory == QUERN_MEMORY_DEVICE
                ? atomic_load_explicit(&home->account.source, memory_order_acquire)
                : NULL;
    if (take(home, *from, bytes, memory) != QUERN_OK) {
        return tell_holders(home);
    }
    quern_status status = allocate(out, *from, home, bytes, memory, stream);
    if (status == QUERN_ERROR_DEVICE_MEMORY && qn_homes_reclaim(home)) {
        qn_error_reset();
        status = allocate(out, *from, home, bytes, memory, stream);
    }
    if (status != QUERN_OK) {
        put_back(home, *from, bytes, memory);
        return status == QUERN_ERROR_DEVICE_MEMORY ? tell_holders(home) : status;
    }
    raise_to(&home->account.peak, load(&home->account.used));
    return QUERN_OK;
}

void qn_memory_free(void *pointer, const qn_source *from, qn_home *home, size_t bytes,
                    quern_memory memory, void *stream)
{
    const quern_device_methods *methods = home->methods;
    if (from) {
        if (methods->disown) {
            methods->disown(home->device, pointer, bytes);
        }
        return_to(from, home, pointer, bytes, stream);
    } else if (memory == QUERN_MEMORY_DEVICE) {
        methods->release(home->device, pointer, bytes, stream);
    } else {
        methods->release_in(home->device, pointer, bytes, memory, stream);
    }
    put_back(home, from, bytes, memory);
}
