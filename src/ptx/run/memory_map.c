/* SPDX-License-Identifier: MIT
 *
 * The live allocations of a device. Arrays are added and removed under a lock; a launch takes a
 * snapshot, which nobody changes, and shares it with the launches after it until the map changes
 * (ranges.h). What kernels allocate themselves is not here but in the heap, which is
 * made at the first such allocation.
 */
#include "ptx/run/heap.h"
#include "ptx/run/ranges.h"

#include <string.h>

enum { TOMBSTONES = 64 };

struct qn_memory_map {
    pthread_mutex_t lock;
    qn_ranges ranges;
    atomic_uint_fast64_t version;
    qn_snapshot *snapshot; /* of `version`, or older; may be NULL */
    qn_range freed[TOMBSTONES];
    size_t freed_count;
    _Atomic(qn_heap *) heap; /* NULL: no kernel has asked */
};

qn_memory_map *qn_memory_map_new(void)
{
    qn_memory_map *map = qn_calloc(1, sizeof *map);
    if (map) {
        pthread_mutex_init(&map->lock, NULL);
    }
    return map;
}

/* Remove a range. Its marks, if it has any, go to the caller. */
static unsigned char *remove_locked(qn_memory_map *map, uint64_t begin, uint64_t bytes)
{
    qn_range range;
    if (!qn_ranges_take(&range, &map->ranges, begin, begin + bytes)) {
        return NULL;
    }
    unsigned char *written = range.written;
    range.written = NULL;
    map->freed[map->freed_count++ % TOMBSTONES] = range;
    atomic_fetch_add(&map->version, 1);
    return written;
}

static bool add_locked(qn_memory_map *map, const qn_range *range)
{
    if (!qn_ranges_add(&map->ranges, range)) {
        return false;
    }
    atomic_fetch_add(&map->version, 1);
    return true;
}

void qn_memory_map_free(qn_memory_map *map)
{
    if (!map) {
        return;
    }
    qn_heap_free(qn_memory_map_heap(map));
    qn_ranges_free(&map->ranges);
    qn_snapshot_release(map->snapshot);
    pthread_mutex_destroy(&map->lock);
    qn_free(map);
}

static bool add(qn_memory_map *map, void *base, uint64_t bytes, unsigned char *written,
                const char *label)
{
    const uint64_t begin = (uint64_t)(uintptr_t)base;
    const qn_range range = {
        .begin = begin, .end = begin + bytes, .written = written, .label = label, .whole = true};
    pthread_mutex_lock(&map->lock);
    const bool added = add_locked(map, &range);
    pthread_mutex_unlock(&map->lock);
    return added;
}

/* An allocation of which `range` has a part, and more than it; NULL: none. Where very many tensors
 * lie in one allocation it may go unseen. */
static const qn_range *crossed_by(const qn_ranges *ranges, const qn_range *range)
{
    enum { SEEN = 16 }; /* on either side */
    const qn_range_cursor middle = qn_ranges_upto(ranges, range->begin);
    qn_range_cursor cursor = middle;
    const qn_range *other = qn_ranges_back(ranges, &cursor);
    for (int k = 1; k < SEEN && other && !other->whole; k++) {
        other = qn_ranges_back(ranges, &cursor);
    }
    if (other && other->whole && range->begin < other->end && range->end > other->end) {
        return other; /* allocations do not overlap: no other meets its begin */
    }
    cursor = middle;
    other = qn_ranges_next(ranges, &cursor);
    for (int k = 1; k < SEEN && other && !other->whole; k++) {
        other = qn_ranges_next(ranges, &cursor);
    }
    return other && other->whole && other->begin < range->end ? other : NULL;
}

qn_adoption qn_memory_map_adopt(qn_memory_map *map, void *base, uint64_t bytes, const char *label,
                                uint64_t crossed[2])
{
    const uint64_t begin = (uint64_t)(uintptr_t)base;
    const qn_range range = {.begin = begin, .end = begin + bytes, .label = label};
    pthread_mutex_lock(&map->lock);
    const qn_range *allocation = crossed ? crossed_by(&map->ranges, &range) : NULL;
    qn_adoption result = QN_ADOPTION_CROSSES;
    if (allocation) {
        crossed[0] = allocation->begin;
        crossed[1] = allocation->end;
    } else {
        result = add_locked(map, &range) ? QN_ADOPTED : QN_ADOPTION_NO_MEMORY;
    }
    pthread_mutex_unlock(&map->lock);
    return result;
}

bool qn_memory_map_add(qn_memory_map *map, void *base, uint64_t bytes, const char *label)
{
    return add(map, base, bytes, NULL, label);
}

bool qn_memory_map_add_unwritten(qn_memory_map *map, void *base, uint64_t bytes, const char *label)
{
    unsigned char *written = qn_calloc(1, bytes);
    if (!written || !add(map, base, bytes, written, label)) {
        qn_free(written);
        return false;
    }
    return true;
}

void qn_memory_map_remove(qn_memory_map *map, void *base, uint64_t bytes)
{
    pthread_mutex_lock(&map->lock);
    unsigned char *written = remove_locked(map, (uint64_t)(uintptr_t)base, bytes);
    pthread_mutex_unlock(&map->lock);
    qn_free(written);
}

const char *qn_memory_map_label(qn_memory_map *map, const void *address)
{
    pthread_mutex_lock(&map->lock);
    const qn_range *range = qn_ranges_holding(&map->ranges, (uint64_t)(uintptr_t)address);
    const char *label = range ? range->label : NULL;
    pthread_mutex_unlock(&map->lock);
    return label;
}

/* The marks of `bytes` from `address` on, if they lie in a range that has marks. */
static unsigned char *marks_of(const qn_memory_map *map, uint64_t address, uint64_t bytes)
{
    const qn_heap *heap = qn_memory_map_heap(map);
    qn_range piece;
    qn_range_cursor cursor = qn_ranges_upto(&map->ranges, address);
    const qn_range *range = heap && qn_heap_find(heap, address, &piece)
                                ? &piece
                                : qn_ranges_back(&map->ranges, &cursor);
    return range && range->written && address < range->end && range->end - address >= bytes
               ? range->written + (address - range->begin)
               : NULL;
}

void qn_memory_map_written(qn_memory_map *map, const void *to, uint64_t bytes, const void *from)
{
    pthread_mutex_lock(&map->lock);
    unsigned char *marks = marks_of(map, (uint64_t)(uintptr_t)to, bytes);
    const unsigned char *given = from ? marks_of(map, (uint64_t)(uintptr_t)from, bytes) : NULL;
    if (marks && given) {
        memmove(marks, given, bytes);
    } else if (marks) {
        memset(marks, 0xff, bytes);
    }
    pthread_mutex_unlock(&map->lock);
}

uint64_t qn_memory_map_version(const qn_memory_map *map)
{
    return atomic_load_explicit(&((qn_memory_map *)map)->version, memory_order_acquire);
}

static qn_snapshot *snapshot_locked(qn_memory_map *map)
{
    uint64_t version = atomic_load(&map->version);
    if (!map->snapshot || map->snapshot->version != version) {
        qn_snapshot *fresh = qn_ranges_snapshot(&map->ranges, version);
        if (!fresh) {
            return NULL;
        }
        qn_snapshot_release(map->snapshot);
        map->snapshot = fresh;
    }
    atomic_fetch_add(&map->snapshot->references, 1);
    return map->snapshot;
}

qn_snapshot *qn_memory_map_snapshot(qn_memory_map *map)
{
    pthread_mutex_lock(&map->lock);
    qn_snapshot *snapshot = snapshot_locked(map);
    pthread_mutex_unlock(&map->lock);
    return snapshot;
}

bool qn_memory_map_freed(qn_memory_map *map, uint64_t address, qn_range *out)
{
    const qn_heap *heap = qn_memory_map_heap(map);
    bool found = heap && qn_heap_freed(heap, address, out);
    pthread_mutex_lock(&map->lock);
    size_t kept = QN_MIN(map->freed_count, (size_t)TOMBSTONES);
    for (size_t k = 1; k <= kept && !found; k++) { /* the latest first */
        const qn_range *range = &map->freed[(map->freed_count - k) % TOMBSTONES];
        if (address >= range->begin && address < range->end) {
            *out = *range;
            found = true;
        }
    }
    pthread_mutex_unlock(&map->lock);
    return found;
}

qn_heap *qn_memory_map_heap(const qn_memory_map *map)
{
    return atomic_load_explicit(&((qn_memory_map *)map)->heap, memory_order_acquire);
}

qn_heap *qn_memory_map_heap_new(qn_memory_map *map)
{
    qn_heap *heap = qn_memory_map_heap(map);
    if (heap) {
        return heap;
    }
    pthread_mutex_lock(&map->lock);
    heap = qn_memory_map_heap(map);
    if (!heap) {
        heap = qn_heap_new();
        atomic_store_explicit(&map->heap, heap, memory_order_release);
    }
    pthread_mutex_unlock(&map->lock);
    return heap;
}
