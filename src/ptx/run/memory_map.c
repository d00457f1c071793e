/* SPDX-License-Identifier: MIT
 *
 * The live allocations of a device. Arrays are added and removed under a lock; a launch takes a
 * snapshot, which is a sorted array that nobody changes, and shares it with the launches after it
 * until the map changes. What kernels allocate themselves is not here but in the heap, which is
 * made at the first such allocation.
 */
#include "ptx/run/heap.h"

#include <string.h>

enum { TOMBSTONES = 64 };

struct qn_memory_map {
    pthread_mutex_t lock;
    QN_LIST(qn_range) ranges; /* sorted by begin */
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

/* How many ranges begin at or before `address`. */
static size_t ranges_upto(const qn_range *ranges, size_t count, uint64_t address)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ranges[middle].begin <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

const qn_range *qn_range_before(const qn_range *ranges, size_t count, uint64_t address)
{
    size_t upto = ranges_upto(ranges, count, address);
    return upto ? &ranges[upto - 1] : NULL;
}

/* Put `range` where it belongs: `at` is how many begin at or before it. */
static bool add_locked(qn_memory_map *map, size_t at, qn_range range)
{
    if (!QN_ROOM(map->ranges)) {
        return false;
    }
    memmove(map->ranges.items + at + 1, map->ranges.items + at,
            (map->ranges.count - at) * sizeof *map->ranges.items);
    map->ranges.items[at] = range;
    map->ranges.count++;
    atomic_fetch_add(&map->version, 1);
    return true;
}

/* Remove a range. Its marks, if it has any, go to the caller through `written`. */
static bool remove_locked(qn_memory_map *map, uint64_t begin, uint64_t bytes,
                          unsigned char **written)
{
    size_t upto = ranges_upto(map->ranges.items, map->ranges.count, begin);
    while (upto > 0 && map->ranges.items[upto - 1].begin == begin &&
           map->ranges.items[upto - 1].end != begin + bytes) {
        upto--; /* another range that begins there: foreign memory may be wrapped several times */
    }
    if (upto == 0 || map->ranges.items[upto - 1].begin != begin) {
        return false;
    }
    if (written) {
        *written = map->ranges.items[upto - 1].written;
    }
    map->ranges.items[upto - 1].written = NULL;
    map->freed[map->freed_count++ % TOMBSTONES] = map->ranges.items[upto - 1];
    memmove(map->ranges.items + upto - 1, map->ranges.items + upto,
            (map->ranges.count - upto) * sizeof *map->ranges.items);
    map->ranges.count--;
    atomic_fetch_add(&map->version, 1);
    return true;
}

void qn_memory_map_free(qn_memory_map *map)
{
    if (!map) {
        return;
    }
    qn_heap_free(qn_memory_map_heap(map));
    for (size_t k = 0; k < map->ranges.count; k++) {
        qn_free(map->ranges.items[k].written);
    }
    qn_snapshot_release(map->snapshot);
    pthread_mutex_destroy(&map->lock);
    qn_free(map->ranges.items);
    qn_free(map);
}

static bool add(qn_memory_map *map, void *base, uint64_t bytes, unsigned char *written,
                const char *label)
{
    const uint64_t begin = (uint64_t)(uintptr_t)base;
    const qn_range range = {
        .begin = begin, .end = begin + bytes, .written = written, .label = label, .whole = true};
    pthread_mutex_lock(&map->lock);
    const size_t at = ranges_upto(map->ranges.items, map->ranges.count, begin);
    const bool added = add_locked(map, at, range);
    pthread_mutex_unlock(&map->lock);
    return added;
}

/* An allocation of which `range` has a part, and more than it; NULL: none. `at` is how many ranges
 * begin at or before it. Where very many tensors lie in one allocation it may go unseen. */
static const qn_range *crossed_by(const qn_memory_map *map, const qn_range *range, size_t at)
{
    enum { SEEN = 16 }; /* on either side */
    const qn_range *items = map->ranges.items;
    for (size_t k = at; k > 0 && k + SEEN > at; k--) {
        if (items[k - 1].whole) {
            const bool meets = range->begin < items[k - 1].end;
            if (meets && range->end > items[k - 1].end) {
                return &items[k - 1];
            }
            break; /* allocations do not overlap */
        }
    }
    for (size_t k = at; k < map->ranges.count && k < at + SEEN && items[k].begin < range->end;
         k++) {
        if (items[k].whole) {
            return &items[k];
        }
    }
    return NULL;
}

qn_adoption qn_memory_map_adopt(qn_memory_map *map, void *base, uint64_t bytes, const char *label,
                                uint64_t crossed[2])
{
    const uint64_t begin = (uint64_t)(uintptr_t)base;
    const qn_range range = {.begin = begin, .end = begin + bytes, .label = label};
    pthread_mutex_lock(&map->lock);
    const size_t at = ranges_upto(map->ranges.items, map->ranges.count, begin);
    const qn_range *allocation = crossed ? crossed_by(map, &range, at) : NULL;
    qn_adoption result = QN_ADOPTION_CROSSES;
    if (allocation) {
        crossed[0] = allocation->begin;
        crossed[1] = allocation->end;
    } else {
        result = add_locked(map, at, range) ? QN_ADOPTED : QN_ADOPTION_NO_MEMORY;
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
    unsigned char *written = NULL;
    pthread_mutex_lock(&map->lock);
    remove_locked(map, (uint64_t)(uintptr_t)base, bytes, &written);
    pthread_mutex_unlock(&map->lock);
    qn_free(written);
}

bool qn_memory_map_has(qn_memory_map *map, const void *address)
{
    const uint64_t at = (uint64_t)(uintptr_t)address;
    bool has = false;
    pthread_mutex_lock(&map->lock); /* ranges overlap: one that began earlier may reach further */
    const size_t upto = ranges_upto(map->ranges.items, map->ranges.count, at);
    for (size_t k = 0; k < upto && !has; k++) {
        has = at < map->ranges.items[k].end;
    }
    pthread_mutex_unlock(&map->lock);
    return has;
}

/* The marks of `bytes` from `address` on, if they lie in a range that has marks. */
static unsigned char *marks_of(const qn_memory_map *map, uint64_t address, uint64_t bytes)
{
    const qn_heap *heap = qn_memory_map_heap(map);
    qn_range piece;
    const qn_range *range = heap && qn_heap_find(heap, address, &piece)
                                ? &piece
                                : qn_range_before(map->ranges.items, map->ranges.count, address);
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

/* Copy sorted ranges; those that overlap, as wrapped memory may, become one, so that the last range
 * that begins at or before an address is the only one that can hold it. Returns how many. */
static size_t join(qn_range *to, const qn_range *from, size_t count)
{
    size_t joined = 0;
    for (size_t k = 0; k < count; k++) {
        qn_range *last = joined ? &to[joined - 1] : NULL;
        if (last && from[k].begin < last->end) {
            last->end = QN_MAX(last->end, from[k].end);
            last->written = NULL;
        } else {
            to[joined++] = from[k];
        }
    }
    return joined;
}

static qn_snapshot *snapshot_locked(qn_memory_map *map)
{
    uint64_t version = atomic_load(&map->version);
    if (!map->snapshot || map->snapshot->version != version) {
        qn_snapshot *fresh = qn_alloc(sizeof *fresh + map->ranges.count * sizeof(qn_range));
        if (!fresh) {
            return NULL;
        }
        atomic_init(&fresh->references, 1);
        fresh->version = version;
        fresh->count = join(fresh->ranges, map->ranges.items, map->ranges.count);
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

void qn_snapshot_release(qn_snapshot *snapshot)
{
    if (snapshot && atomic_fetch_sub(&snapshot->references, 1) == 1) {
        qn_free(snapshot);
    }
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
