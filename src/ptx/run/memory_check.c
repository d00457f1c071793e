/* SPDX-License-Identifier: MIT
 *
 * Checks every access of a kernel. In: an operation with its address register and the lanes; out:
 * 32 addresses that may be touched, or a report. The common case, all lanes inside the range that
 * the warp hit last, is two comparisons; everything else looks each lane up.
 */
#include "ptx/lanes/levels.h"
#include "ptx/run/heap.h"
#include "ptx/watch/watch.h"

QN_LEVELS(qn_memory_lanes, qn_memory_lanes);

const qn_memory_lanes *qn_memory_lanes_level(int level)
{
    return levels[level];
}

const qn_memory_lanes *qn_memory_lanes_get(void)
{
    static _Atomic(const qn_memory_lanes *) chosen;
    const qn_memory_lanes *lanes = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (!lanes) {
        lanes = qn_memory_lanes_level(qn_lane_level_count() - 1);
        atomic_store_explicit(&chosen, lanes, memory_order_relaxed);
    }
    return lanes;
}

const qn_element *qn_element_find(unsigned memory_bits, bool is_signed, unsigned register_bits)
{
    const qn_memory_lanes *lanes = qn_memory_lanes_get();
    for (size_t k = 0; k < lanes->element_count; k++) {
        const qn_element *element = &lanes->elements[k];
        if (element->memory_bits == memory_bits && element->register_bits == register_bits &&
            (element->is_signed == is_signed || memory_bits == 128)) {
            return element;
        }
    }
    return NULL;
}

const qn_vector *qn_vector_find(const qn_element *element, unsigned count)
{
    const qn_memory_lanes *lanes = qn_memory_lanes_get();
    for (size_t k = 0; k < lanes->vector_count; k++) {
        const qn_vector *vector = &lanes->vectors[k];
        if (vector->count == count && vector->bits == element->memory_bits &&
            vector->bits == element->register_bits) {
            return vector;
        }
    }
    return NULL;
}

static bool inside(const qn_range *range, uint64_t address, uint64_t bytes)
{
    return range && address >= range->begin && address <= range->end &&
           range->end - address >= bytes;
}

const qn_range *qn_access_range(const qn_warp *warp, uint64_t address, qn_range *piece)
{
    const qn_snapshot *snapshot = warp->block->worker->snapshot;
    const qn_run *run = warp->run;
    const qn_heap *heap = qn_memory_map_heap(run->launch->memory);
    if (heap && qn_heap_find(heap, address, piece)) {
        return piece;
    }
    const qn_range *range = qn_snapshot_before(snapshot, address);
    if (!inside(range, address, 1)) {
        range = qn_range_before(run->code->variables, run->code->variable_count, address);
    }
    if (!inside(range, address, 1)) {
        range = run->launch->cooperative ? &run->workspace_range : NULL;
    }
    return inside(range, address, 1) ? range : NULL;
}

/* The program may allocate while a kernel runs. Out of memory: the old snapshot must do. */
static void renew_snapshot(qn_worker *worker)
{
    qn_memory_map *map = worker->run->launch->memory;
    if (qn_memory_map_version(map) == worker->snapshot->version) {
        return;
    }
    qn_snapshot *fresh = qn_memory_map_snapshot(map);
    if (fresh) {
        qn_snapshot_release(worker->snapshot);
        worker->snapshot = fresh;
    }
}

/* Neighbouring operations have entries of their own, so that arrays do not evict one another. */
static unsigned hit_of(const qn_warp *warp, const qn_op *op)
{
    return (unsigned)(op - warp->frame->code->ops) % QN_HITS;
}

/* Do the `bytes` at every address from `low` to `high` lie in one range? */
static bool in_global(qn_warp *warp, const qn_op *op, uint64_t low, uint64_t high, uint64_t bytes)
{
    renew_snapshot(warp->block->worker);
    qn_range piece;
    const qn_range *range = qn_access_range(warp, low, &piece);
    if (!range || high < low || !inside(range, high, bytes)) {
        return false;
    }
    if (range != &piece && !warp->run->watched) { /* else every access must come here */
        warp->hits[hit_of(warp, op)].begin = range->begin;
        warp->hits[hit_of(warp, op)].bytes = range->end - range->begin;
    }
    return true;
}

static qn_range local_range(const qn_warp *warp, unsigned lane)
{
    uint64_t begin = (uint64_t)(uintptr_t)warp->local + lane * warp->run->local_stride;
    return (qn_range){.begin = begin, .end = begin + warp->frame->local_top};
}

static qn_range shared_range(const qn_warp *warp)
{
    uint64_t begin = (uint64_t)(uintptr_t)warp->block->shared;
    return (qn_range){.begin = begin, .end = begin + warp->run->shared_bytes};
}

static qn_range params_range(const qn_warp *warp)
{
    uint64_t begin = (uint64_t)(uintptr_t)warp->run->params;
    return (qn_range){.begin = begin, .end = begin + warp->run->kernel->param_bytes};
}

/* Do the `bytes` at every address from `low` to `high` lie in a range that is every lane's own: the
 * block's shared memory, or the kernel's parameters? */
static bool in_common(const qn_warp *warp, uint64_t low, uint64_t high, uint64_t bytes)
{
    const qn_range ranges[] = {shared_range(warp), params_range(warp)};
    for (size_t k = 0; k < QN_COUNT(ranges); k++) {
        if (inside(&ranges[k], low, 1)) {
            return high >= low && inside(&ranges[k], high, bytes);
        }
    }
    return false;
}

/* Is every lane's address in its own local memory? */
static bool in_local(const qn_warp *warp, uint32_t mask, unsigned bytes, const qn_addresses *a)
{
    const uint64_t begin = (uint64_t)(uintptr_t)warp->local, stride = warp->run->local_stride;
    const uint64_t top = warp->frame->local_top;
    if (top < bytes) {
        return false;
    }
    uint32_t outside = 0;
    for (unsigned lane = 0; lane < QN_LANES; lane++) {
        outside |= (uint32_t)(a->at[lane] - (begin + lane * stride) > top - bytes) << lane;
    }
    return (outside & mask) == 0;
}

/* The range of any space but global that a lane may reach through the generic space. */
static bool find_own(const qn_warp *warp, unsigned lane, uint64_t address, qn_range *out)
{
    uint64_t frame = (uint64_t)(uintptr_t)warp->frame->params + lane * warp->frame->param_stride;
    const qn_range ranges[] = {
        shared_range(warp),
        local_range(warp, lane),
        params_range(warp),
        {.begin = frame, .end = frame + warp->frame->param_stride},
    };
    for (size_t k = 0; k < QN_COUNT(ranges); k++) {
        if (inside(&ranges[k], address, 1)) {
            *out = ranges[k];
            return true;
        }
    }
    return false;
}

uint64_t qn_access_extent(qn_warp *warp, unsigned lane, uint64_t address)
{
    qn_range own;
    const qn_range *range =
        find_own(warp, lane, address, &own) ? &own : qn_access_range(warp, address, &own);
    return range ? range->end - address : 0;
}

bool qn_access_check(qn_warp *warp, const qn_op *op, unsigned lane, uint64_t address,
                     uint64_t bytes, qn_access_kind kind)
{
    if (qn_access_extent(warp, lane, address) < bytes &&
        !in_global(warp, op, address, address, bytes)) {
        return qn_fault_access(warp, op, lane, address, bytes, kind);
    }
    return !warp->run->watched || qn_watch_address(warp, op, lane, address, bytes, kind);
}

/* Which of two bytes are memory: bit 0, bit 1. */
static unsigned live_bytes(qn_warp *warp, const qn_op *op, unsigned lane, uint64_t address)
{
    if (op->space == QN_SPACE_SHARED) {
        return (address < warp->run->shared_bytes) | (address + 1 < warp->run->shared_bytes) << 1;
    }
    return (qn_access_extent(warp, lane, address) != 0) |
           (qn_access_extent(warp, lane, address + 1) != 0) << 1;
}

/* May a lane's atomic go on although its two bytes do not lie in one range? Yes, if they lie in two
 * adjacent ranges, or if one is the last or first byte of an array and the other is not changed. */
static bool atomic_at_edge(qn_warp *warp, const qn_op *op, unsigned lane, qn_access_kind kind,
                           unsigned bytes, qn_addresses *addresses)
{
    if (kind != QN_ATOMIC || bytes != 2) {
        return false;
    }
    const unsigned live = live_bytes(warp, op, lane, addresses->at[lane]);
    if (live != 3 && !qn_atomic_at_edge(warp, op, lane, live)) {
        return false;
    }
    addresses->edge |= (uint32_t)(live != 3) << lane;
    return true;
}

/* Check each lane by itself. */
static bool check_lanes(qn_warp *warp, const qn_op *op, uint32_t mask, unsigned bytes,
                        qn_access_kind kind, qn_addresses *addresses)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        unsigned lane = qn_first_lane(rest);
        uint64_t address = addresses->at[lane];
        qn_range range;
        bool fine = false;
        if (op->space == QN_SPACE_LOCAL) {
            range = local_range(warp, lane);
            fine = inside(&range, address, bytes);
        } else if (op->space == QN_SPACE_NONE && find_own(warp, lane, address, &range)) {
            fine = inside(&range, address, bytes);
        } else {
            fine = in_global(warp, op, address, address, bytes);
        }
        if (!fine && !atomic_at_edge(warp, op, lane, kind, bytes, addresses)) {
            return qn_fault_access(warp, op, lane, address, bytes, kind);
        }
    }
    return true;
}

/* A called function's parameters: one copy per lane. */
static void param_addresses(const qn_warp *warp, const qn_op *op, qn_addresses *out)
{
    const qn_frame *frame = warp->frame;
    uint64_t first = (uint64_t)(uintptr_t)frame->params + (uint64_t)op->offset;
    for (unsigned lane = 0; lane < QN_LANES; lane++) {
        out->at[lane] = first + (uint64_t)lane * frame->param_stride;
    }
    out->strided = true;
    out->stride = frame->param_stride;
    out->base = 0;
}

static bool check_shared(qn_warp *warp, const qn_op *op, uint32_t mask, unsigned bytes,
                         qn_access_kind kind, qn_addresses *out)
{
    const uint64_t size = warp->run->shared_bytes, unwatched = warp->run->shared_unwatched;
    out->base = (uint64_t)(uintptr_t)warp->block->shared;
    if (__builtin_expect(unwatched >= bytes && out->high <= unwatched - bytes, true)) {
        return true;
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        unsigned lane = qn_first_lane(rest);
        if ((size < bytes || out->at[lane] > size - bytes) &&
            !atomic_at_edge(warp, op, lane, kind, bytes, out)) {
            return qn_fault_access(warp, op, lane, out->at[lane], bytes, kind);
        }
    }
    return !warp->run->watched || qn_watch_access(warp, op, mask, bytes, kind, out);
}

/* Misaligned: name the first lane that is. */
static bool misaligned(qn_warp *warp, const qn_op *op, uint32_t mask, unsigned bytes,
                       qn_access_kind kind, const qn_addresses *addresses)
{
    while (mask && (addresses->at[qn_first_lane(mask)] & (bytes - 1)) == 0) {
        mask &= mask - 1;
    }
    if (!mask) {
        return true;
    }
    unsigned lane = qn_first_lane(mask);
    return qn_fault_access(warp, op, lane, addresses->at[lane], bytes, kind);
}

/* Are all lanes inside what is looked up once for all of them? If not, each must be by itself. */
static bool found(qn_warp *warp, const qn_op *op, uint32_t mask, unsigned bytes,
                  const qn_addresses *a)
{
    if (op->space == QN_SPACE_LOCAL) {
        return in_local(warp, mask, bytes, a);
    }
    const bool generic = op->space == QN_SPACE_NONE;
    return (generic && in_common(warp, a->low, a->high, bytes)) ||
           in_global(warp, op, a->low, a->high, bytes) ||
           (generic && in_local(warp, mask, bytes, a));
}

bool qn_access_prepare(qn_warp *warp, const qn_op *op, uint32_t mask, unsigned bytes,
                       qn_access_kind kind, qn_addresses *out)
{
    const qn_memory_lanes *lanes = qn_memory_lanes_get();
    if (op->space == QN_SPACE_PARAM) {
        param_addresses(warp, op, out);
        return true;
    }
    if (op->bits == 64) {
        lanes->addresses64(out, qn_at(warp, op->a), op->offset, mask);
    } else {
        lanes->addresses32(out, qn_at(warp, op->a), op->offset, mask);
    }
    if (__builtin_expect((out->bits & (bytes - 1)) != 0, false) &&
        !misaligned(warp, op, mask, bytes, kind, out)) {
        return false;
    }
    if (op->space == QN_SPACE_SHARED) {
        return check_shared(warp, op, mask, bytes, kind, out);
    }
    out->base = 0;
    if (op->space != QN_SPACE_LOCAL) {
        const unsigned hit = hit_of(warp, op);
        const uint64_t begin = warp->hits[hit].begin, size = warp->hits[hit].bytes;
        if (__builtin_expect(
                size >= bytes && out->low >= begin && out->high - begin <= size - bytes, true)) {
            return true;
        }
    }
    return (found(warp, op, mask, bytes, out) || check_lanes(warp, op, mask, bytes, kind, out)) &&
           (!warp->run->watched || qn_watch_access(warp, op, mask, bytes, kind, out));
}
