/* SPDX-License-Identifier: MIT
 *
 * The heap of a device: what kernels malloc, in one region of host memory that is reserved once and
 * takes pages when they are first touched. In: sizes. Out: pieces, and for any address the piece
 * that holds it, at once and without a lock, because every access of a kernel asks.
 *
 * The region is cut into chunks. A run of them (one chunk, unless a piece is larger) is divided
 * into slots of equal size, each with a guard before its piece, so that one piece never touches the
 * next. Freed memory is used again as late as possible: new slots are given out first, then the one
 * freed longest ago, and chunks are cut to another size only when no others are free. Until then,
 * reports can name a piece that was freed.
 */
#include "ptx/run/heap.h"

#include <string.h>
#include <sys/mman.h>

enum {
    CHUNK = 64 << 10,
    CHUNKS = QN_HEAP_BYTES / CHUNK,
    GUARD = 16, /* bytes before each piece, and the alignment of slots */
    SMALLEST = 2 * GUARD,
    SLOTS = CHUNK / SMALLEST, /* of a chunk, at most */
    LARGEST = CHUNK / 2,      /* slot in a shared chunk; a larger one has its own run */
    CLASSES = 72,             /* of slots that share a chunk: see class_of */
    ALONE = CLASSES,          /* the class of all others */
    NONE = CHUNKS,            /* no chunk */
};

/* Bits of a slot's state; the others count the bytes of its piece. 0: it never had one. */
#define LIVE   0x80000000u
#define MARKED 0x40000000u /* the heap remembers which of its bytes were written */
#define BYTES  0x3fffffffu

typedef struct slot {
    _Atomic uint32_t state;
    uint32_t next; /* the slot of the run that was freed after this one */
} slot;

/* The first chunk of a run holds the data of all; only `shape` is set in each. */
typedef struct chunk {
    _Atomic uint64_t shape; /* first chunk of the run, bytes of a slot in the low half; or 0 */
    uint32_t count;         /* chunks of the run that begins here; 0: none does */
    uint32_t class, slots;
    uint32_t used, fresh;    /* slots that are live; that ever had a piece */
    uint32_t oldest, newest; /* of the freed ones, if used < fresh */
    uint32_t next;           /* run in the list of its class */
} chunk;

/* The runs of one class that have a slot to give, in the order in which they are asked. */
typedef struct list {
    uint32_t first, last;
} list;

struct qn_heap {
    uint64_t base;
    unsigned char *written; /* a mark for each byte; NULL: nobody has asked for any */
    pthread_mutex_t lock;   /* of all but shapes and states, which are read without it */
    uint32_t idle;          /* chunks without a live piece */
    list open[CLASSES];
    bool taken[CHUNKS]; /* belongs to a run */
    chunk chunks[CHUNKS];
    slot slots[(size_t)CHUNKS * SLOTS]; /* those of chunk k from k * SLOTS on */
};

static void *reserve(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void clear_lists(qn_heap *heap)
{
    for (unsigned k = 0; k < CLASSES; k++) {
        heap->open[k] = (list){NONE, NONE};
    }
}

qn_heap *qn_heap_new(void)
{
    qn_heap *heap = reserve(sizeof *heap);
    void *region = heap ? reserve(QN_HEAP_BYTES) : NULL;
    if (!region) {
        qn_heap_free(heap);
        return NULL;
    }
    heap->base = (uint64_t)(uintptr_t)region;
    heap->idle = CHUNKS;
    clear_lists(heap);
    pthread_mutex_init(&heap->lock, NULL);
    return heap;
}

void qn_heap_free(qn_heap *heap)
{
    if (!heap) {
        return;
    }
    if (heap->base) {
        munmap((void *)(uintptr_t)heap->base, QN_HEAP_BYTES);
        pthread_mutex_destroy(&heap->lock);
    }
    if (heap->written) {
        munmap(heap->written, QN_HEAP_BYTES);
    }
    munmap(heap, sizeof *heap);
}

/* ---- runs ----------------------------------------------------------------------------------- */

/* The class of slots that hold `bytes`, and their size: 32, 48, 64, 80, 96, 112, 128, 160, 192,
 * 224, 256, 320 and so on, four to a doubling. */
static uint32_t class_of(uint64_t bytes, uint64_t *slot_bytes)
{
    unsigned doublings = 0;
    if (bytes > LARGEST) {
        *slot_bytes = (bytes + CHUNK - 1) / CHUNK * CHUNK;
        return ALONE;
    }
    while (bytes > 8u * GUARD << doublings) {
        doublings++;
    }
    const uint64_t step = (uint64_t)GUARD << doublings, steps = (bytes + step - 1) / step;
    *slot_bytes = steps * step;
    return (uint32_t)(8 * doublings + steps - 1);
}

static void open_run(qn_heap *heap, uint32_t first)
{
    chunk *run = &heap->chunks[first];
    if (run->class == ALONE) {
        return;
    }
    list *runs = &heap->open[run->class];
    run->next = NONE;
    if (runs->first == NONE) {
        runs->first = first;
    } else {
        heap->chunks[runs->last].next = first;
    }
    runs->last = first;
}

/* The first of `count` neighbours that belong to no run. */
static uint32_t find_free(const qn_heap *heap, uint32_t count)
{
    uint32_t length = 0;
    for (uint32_t k = 0; k < CHUNKS; k++) {
        length = heap->taken[k] ? 0 : length + 1;
        if (length == count) {
            return k + 1 - count;
        }
    }
    return NONE;
}

/* Dissolve the runs in which nothing is live. */
static void sweep(qn_heap *heap)
{
    clear_lists(heap);
    for (uint32_t k = 0; k < CHUNKS; k++) {
        chunk *run = &heap->chunks[k];
        if (run->count > 0 && run->used == 0) {
            memset(heap->taken + k, false, run->count);
            run->count = 0;
        } else if (run->count > 0 && run->used < run->slots) {
            open_run(heap, k);
        }
    }
}

static uint32_t new_run(qn_heap *heap, uint32_t class, uint64_t slot_bytes)
{
    const uint32_t count = (uint32_t)((slot_bytes + CHUNK - 1) / CHUNK);
    if (count > heap->idle) {
        return NONE;
    }
    uint32_t first = find_free(heap, count);
    if (first == NONE) {
        sweep(heap);
        first = find_free(heap, count);
    }
    if (first == NONE) {
        return NONE;
    }
    chunk *run = &heap->chunks[first];
    run->count = count;
    run->class = class;
    run->slots = (uint32_t)(count * (uint64_t)CHUNK / slot_bytes);
    run->used = run->fresh = 0;
    /* One state more than there are slots: addresses in the rest of the run have it. */
    for (uint32_t k = 0; k < QN_MIN(run->slots + 1, (uint32_t)SLOTS); k++) {
        atomic_store_explicit(&heap->slots[(size_t)first * SLOTS + k].state, 0,
                              memory_order_relaxed);
    }
    /* Last, and with release: who reads the new shape without the lock finds the new states. */
    for (uint32_t k = first; k < first + count; k++) {
        heap->taken[k] = true;
        atomic_store_explicit(&heap->chunks[k].shape, (uint64_t)first << 32 | slot_bytes,
                              memory_order_release);
    }
    open_run(heap, first);
    return first;
}

/* ---- pieces --------------------------------------------------------------------------------- */

/* Take a slot of a run that has one; with its last slot the run leaves its list. */
static uint32_t take_slot(qn_heap *heap, uint32_t first)
{
    chunk *run = &heap->chunks[first];
    uint32_t index = run->oldest;
    if (run->fresh < run->slots) {
        index = run->fresh++;
    } else {
        run->oldest = heap->slots[(size_t)first * SLOTS + index].next;
    }
    if (run->used++ == 0) {
        heap->idle -= run->count;
    }
    if (run->used == run->slots && run->class != ALONE) {
        heap->open[run->class].first = run->next;
    }
    return index;
}

static uint64_t take_locked(qn_heap *heap, uint64_t bytes, bool unwritten)
{
    uint64_t slot_bytes;
    const uint32_t class = class_of(bytes + GUARD, &slot_bytes);
    uint32_t first = class == ALONE ? NONE : heap->open[class].first;
    if (unwritten && !heap->written) {
        heap->written = reserve(QN_HEAP_BYTES);
    }
    if (first == NONE) {
        first = new_run(heap, class, slot_bytes);
    }
    if (first == NONE || (unwritten && !heap->written)) {
        return 0;
    }
    const uint32_t index = take_slot(heap, first);
    const uint64_t at = first * (uint64_t)CHUNK + index * slot_bytes + GUARD;
    if (unwritten) {
        memset(heap->written + at, 0, bytes);
    }
    atomic_store_explicit(&heap->slots[(size_t)first * SLOTS + index].state,
                          (uint32_t)bytes | LIVE | (unwritten ? MARKED : 0), memory_order_release);
    return heap->base + at;
}

uint64_t qn_heap_take(qn_heap *heap, uint64_t bytes, bool unwritten)
{
    if (bytes == 0 || bytes > QN_HEAP_BYTES - GUARD) {
        return 0;
    }
    pthread_mutex_lock(&heap->lock);
    const uint64_t piece = take_locked(heap, bytes, unwritten);
    pthread_mutex_unlock(&heap->lock);
    return piece;
}

/* The slot that holds `address`, or NULL; and where its piece begins. */
static const slot *slot_at(const qn_heap *heap, uint64_t address, uint64_t *begin)
{
    const uint64_t at = address - heap->base;
    if (at >= QN_HEAP_BYTES) {
        return NULL;
    }
    const uint64_t shape =
        atomic_load_explicit(&heap->chunks[at / CHUNK].shape, memory_order_acquire);
    if (shape == 0) {
        return NULL;
    }
    const uint64_t first = shape >> 32, slot_bytes = (uint32_t)shape;
    const uint64_t index = (at - first * CHUNK) / slot_bytes;
    *begin = heap->base + first * CHUNK + index * slot_bytes + GUARD;
    return &heap->slots[first * SLOTS + index];
}

static void free_locked(qn_heap *heap, slot *freed)
{
    const size_t at = (size_t)(freed - heap->slots);
    const uint32_t first = (uint32_t)(at / SLOTS), index = (uint32_t)(at % SLOTS);
    chunk *run = &heap->chunks[first];
    atomic_fetch_and_explicit(&freed->state, ~LIVE, memory_order_release);
    if (run->fresh == run->used) {
        run->oldest = index;
    } else {
        heap->slots[(size_t)first * SLOTS + run->newest].next = index;
    }
    run->newest = index;
    if (run->used == run->slots) {
        open_run(heap, first);
    }
    if (--run->used == 0) {
        heap->idle += run->count;
    }
}

bool qn_heap_give_back(qn_heap *heap, uint64_t address)
{
    uint64_t begin;
    pthread_mutex_lock(&heap->lock);
    const slot *found = slot_at(heap, address, &begin);
    const bool live = found && begin == address &&
                      atomic_load_explicit(&found->state, memory_order_relaxed) & LIVE;
    if (live) {
        free_locked(heap, (slot *)found);
    }
    pthread_mutex_unlock(&heap->lock);
    return live;
}

/* ---- which piece an address is in ----------------------------------------------------------- */

static qn_range range_of(const qn_heap *heap, uint32_t state, uint64_t begin)
{
    return (qn_range){
        .begin = begin,
        .end = begin + (state & BYTES),
        .written = state & MARKED ? heap->written + (begin - heap->base) : NULL,
    };
}

/* The piece that holds `address`, if it is live, or freed, as `live` says. */
static bool piece_at(const qn_heap *heap, uint64_t address, uint32_t live, qn_range *out)
{
    uint64_t begin = 0;
    const slot *found = slot_at(heap, address, &begin);
    const uint32_t state = found ? atomic_load_explicit(&found->state, memory_order_acquire) : 0;
    if (address - begin >= (state & BYTES) || (state & LIVE) != live) {
        return false;
    }
    *out = range_of(heap, state, begin);
    return true;
}

bool qn_heap_find(const qn_heap *heap, uint64_t address, qn_range *out)
{
    return piece_at(heap, address, LIVE, out);
}

bool qn_heap_freed(const qn_heap *heap, uint64_t address, qn_range *out)
{
    return piece_at(heap, address, 0, out);
}

/* Look at the live pieces of the run that holds `address`. */
static void look_around(const qn_heap *heap, uint64_t run_address, uint64_t address,
                        qn_range *before, qn_range *after)
{
    const uint64_t at = run_address - heap->base;
    const uint64_t shape =
        at < QN_HEAP_BYTES
            ? atomic_load_explicit(&heap->chunks[at / CHUNK].shape, memory_order_acquire)
            : 0;
    const uint64_t first = shape >> 32, slot_bytes = (uint32_t)shape;
    for (uint64_t k = 0; shape && k * slot_bytes < CHUNK; k++) {
        const uint32_t state =
            atomic_load_explicit(&heap->slots[first * SLOTS + k].state, memory_order_acquire);
        const uint64_t begin = heap->base + first * CHUNK + k * slot_bytes + GUARD;
        if (state & LIVE && begin <= address && begin >= before->begin) {
            *before = range_of(heap, state, begin);
        } else if (state & LIVE && begin > address && begin < after->begin) {
            *after = range_of(heap, state, begin);
        }
    }
}

size_t qn_heap_around(const qn_heap *heap, uint64_t address, qn_range out[2])
{
    qn_range before = {0}, after = {.begin = UINT64_MAX};
    size_t count = 0;
    look_around(heap, address - CHUNK, address, &before, &after);
    look_around(heap, address, address, &before, &after);
    look_around(heap, address + CHUNK, address, &before, &after);
    if (before.end > 0) {
        out[count++] = before;
    }
    if (after.end > 0) {
        out[count++] = after;
    }
    return count;
}
