/* SPDX-License-Identifier: MIT
 *
 * The watch of a block. In: accesses whose addresses have been checked, of any space, 32 lanes at
 * once. Out: touches, one per lane, in the space where each landed, handed to the checks that were
 * asked for. What is remembered of local memory is mapped, like that memory itself.
 */
#include "ptx/run/heap.h"
#include "ptx/watch/shadow.h"

#include <string.h>
#include <sys/mman.h>

static void *map_bytes(uint64_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void unmap(void *memory, uint64_t bytes)
{
    if (memory) {
        munmap(memory, bytes);
    }
}

/* Pages that are given back read as zero. */
static void forget(void *memory, uint64_t bytes)
{
    if (memory && bytes) {
        (void)madvise(memory, bytes, MADV_DONTNEED);
    }
}

/* Give the kernel's frame of each warp its shadows. */
static bool set_up_shadows(qn_watch *watch, const qn_block *block)
{
    const uint64_t bytes = qn_shadow_bytes(block->run->code, block->warps[0].root.param_stride);
    watch->brought = qn_calloc((size_t)block->warp_count * QN_LANES, sizeof *watch->brought);
    watch->shadow_bytes = bytes * block->warp_count;
    watch->shadows = map_bytes(watch->shadow_bytes);
    for (uint32_t w = 0; w < block->warp_count && watch->shadows; w++) {
        qn_shadow_set_up(&block->warps[w].root, watch->shadows + w * bytes);
    }
    return watch->brought && watch->shadows;
}

static bool set_up(qn_watch *watch, const qn_block *block)
{
    const qn_run *run = block->run;
    watch->order = qn_order_new(block->warp_count);
    if (!watch->order) {
        return false;
    }
    if (run->launch->aids.check_init) {
        watch->shared_written = qn_alloc(run->shared_bytes);
        watch->local_written = block->local ? map_bytes(block->local_bytes) : NULL;
        watch->shared_from = map_bytes((run->shared_bytes + 1) * sizeof(qn_source));
        watch->local_from = block->local ? map_bytes(block->local_bytes * sizeof(qn_source)) : NULL;
        if (!watch->shared_written || !watch->shared_from ||
            (block->local && !(watch->local_written && watch->local_from)) ||
            !set_up_shadows(watch, block)) {
            return false;
        }
    }
    if (run->launch->aids.check_races) {
        watch->history = qn_history_new(run->shared_bytes);
        return watch->history != NULL;
    }
    return true;
}

bool qn_watch_new(qn_watch **out, const qn_block *block)
{
    qn_watch *watch = qn_calloc(1, sizeof *watch);
    *out = NULL;
    if (!watch || !set_up(watch, block)) {
        qn_watch_free(watch, block);
        return false;
    }
    *out = watch;
    return true;
}

void qn_watch_free(qn_watch *watch, const qn_block *block)
{
    if (!watch) {
        return;
    }
    unmap(watch->local_written, block->local_bytes);
    unmap(watch->shared_from, (block->run->shared_bytes + 1) * sizeof(qn_source));
    unmap(watch->local_from, block->local_bytes * sizeof(qn_source));
    unmap(watch->shadows, watch->shadow_bytes);
    qn_free(watch->brought);
    qn_free(watch->shared_written);
    qn_order_free(watch->order);
    qn_history_free(watch->history);
    qn_free(watch);
}

void qn_watch_begin(qn_watch *watch, const qn_block *block)
{
    qn_order_begin(watch->order);
    if (watch->shared_written) {
        memset(watch->shared_written, 0, block->run->shared_bytes);
    }
    forget(watch->local_written, block->local_bytes);
    forget(watch->local_from, block->local_bytes * sizeof(qn_source));
    forget(watch->shared_from, block->run->shared_bytes * sizeof(qn_source));
    watch->local_sources = false;
    for (uint32_t w = 0; w < block->warp_count && watch->shadows; w++) {
        qn_shadow_begin(&block->warps[w].root);
    }
    if (watch->history) {
        qn_history_begin(watch->history);
    }
}

void qn_watch_local(qn_warp *warp, uint32_t mask, uint64_t begin, uint64_t end)
{
    const qn_block *block = warp->block;
    if (!block->watch || !block->watch->local_written) {
        return;
    }
    unsigned char *written = block->watch->local_written + (warp->local - block->local);
    for (; mask; mask &= mask - 1) {
        const uint64_t at = qn_first_lane(mask) * warp->run->local_stride + begin;
        memset(written + at, 0, end - begin);
        if (block->watch->local_sources) {
            memset(block->watch->local_from + (warp->local - block->local) + at, 0,
                   (end - begin) * sizeof(qn_source));
        }
    }
}

qn_source *qn_watch_source(const qn_touch *touch, uint64_t address)
{
    const qn_block *block = touch->warp->block;
    switch (touch->space) {
    case QN_SPACE_SHARED:
        return block->watch->shared_from + (address - (uint64_t)(uintptr_t)block->shared);
    case QN_SPACE_LOCAL:
        return block->watch->local_from + (address - (uint64_t)(uintptr_t)block->local);
    default:
        return NULL;
    }
}

/* Find where an address of the generic space is. Parameters count as written, and so does memory
 * for which no range has marks. */
void qn_watch_locate(qn_touch *touch, uint64_t address)
{
    const qn_warp *warp = touch->warp;
    const qn_block *block = warp->block;
    const qn_watch *watch = block->watch;
    const uint64_t in_shared = address - (uint64_t)(uintptr_t)block->shared;
    const uint64_t in_local = address - (uint64_t)(uintptr_t)block->local;
    touch->address = address;
    touch->written = NULL;
    if (in_shared < warp->run->shared_bytes) {
        touch->space = QN_SPACE_SHARED;
        touch->address = in_shared;
        touch->written = watch->shared_written ? watch->shared_written + in_shared : NULL;
    } else if (block->local && in_local < block->local_bytes) {
        touch->space = QN_SPACE_LOCAL;
        touch->written = watch->local_written ? watch->local_written + in_local : NULL;
    } else {
        touch->space = QN_SPACE_GLOBAL;
        if (watch->shared_written) {
            qn_range piece;
            const qn_range *range = qn_access_range(warp, address, &piece);
            touch->written =
                range && range->written ? range->written + (address - range->begin) : NULL;
        }
    }
}

/* Does the instruction say that others change the memory? */
static bool is_volatile(const qn_touch *touch)
{
    const qn_ptx_function *function = touch->warp->frame->code->function;
    return strstr(function->instructions[touch->op->origin].opcode, ".volatile") != NULL;
}

/* Memory of arrays alone is shared by streams: not the heap, not variables of the module. */
static bool look_at_streams(const qn_touch *touch)
{
    const qn_warp *warp = touch->warp;
    qn_stream_work *work = warp->run->launch->work;
    char why[320];
    if (touch->space != QN_SPACE_GLOBAL || !work || !work->history) {
        return true;
    }
    const qn_heap *heap = qn_memory_map_heap(warp->run->launch->memory);
    qn_range piece;
    const qn_access_kind kind = touch->strong ? QN_ATOMIC : touch->kind;
    return (heap && qn_heap_find(heap, touch->address, &piece)) ||
           qn_stream_touch(work, touch->address, touch->bytes, kind, is_volatile(touch), why,
                           sizeof why) ||
           qn_fault_order(touch->warp, touch->op, touch->lane, touch->address, touch->bytes,
                          touch->kind, why);
}

static bool look(const qn_touch *touch)
{
    const qn_watch *watch = touch->warp->block->watch;
    return look_at_streams(touch) && (!watch->shared_written || qn_shadow_touch(touch)) &&
           (touch->space != QN_SPACE_SHARED || touch->bytes == 0 || !watch->history ||
            qn_watch_races(touch));
}

bool qn_watch_address(qn_warp *warp, const qn_op *op, unsigned lane, uint64_t address,
                      uint64_t bytes, qn_access_kind kind)
{
    qn_touch touch = {.warp = warp, .op = op, .lane = lane, .bytes = (unsigned)bytes, .kind = kind};
    qn_watch_locate(&touch, address);
    return look(&touch);
}

const qn_transfer *qn_watch_elements(const qn_op *op)
{
    return op->function == qn_run_load || op->function == qn_run_store ? op->extra : NULL;
}

/* What the instruction says about its order, as qn_order_word. */
static unsigned order_of(const qn_op *op)
{
    const qn_transfer *access = qn_watch_elements(op);
    if (access) {
        return access->order;
    }
    return op->function == qn_run_atomic ? ((const qn_atomic *)op->extra)->order : 0;
}

bool qn_watch_access(qn_warp *warp, const qn_op *op, uint32_t mask, unsigned bytes,
                     qn_access_kind kind, const qn_addresses *addresses)
{
    const qn_watch *watch = warp->block->watch;
    const unsigned order = order_of(op);
    qn_touch touch = {.warp = warp,
                      .op = op,
                      .bytes = bytes,
                      .kind = kind,
                      .strong = kind == QN_ATOMIC || order != 0};
    if (order & QN_ORDER_RELEASE) {
        qn_order_fence(watch->order, warp);
    }
    if (touch.strong) {
        qn_order_atomic(watch->order, warp);
    }
    if (op->space == QN_SPACE_GLOBAL && !watch->shared_written && !warp->run->launch->work) {
        mask = 0; /* nothing is remembered of device memory */
    }
    for (; mask; mask &= mask - 1) {
        touch.first = 0;
        touch.lane = qn_first_lane(mask);
        touch.bytes =
            kind == QN_ATOMIC ? qn_atomic_bytes(warp, op, touch.lane, bytes, &touch.first) : bytes;
        qn_watch_locate(&touch, addresses->at[touch.lane] + addresses->base + touch.first);
        if (!look(&touch)) {
            return false;
        }
    }
    if (order & QN_ORDER_ACQUIRE) {
        qn_order_fence(watch->order, warp);
    }
    return true;
}
