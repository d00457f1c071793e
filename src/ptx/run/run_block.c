/* SPDX-License-Identifier: MIT
 *
 * A block: its memory, made once and used for one block after the other, and the turns of its
 * warps. The memory is one piece: the warps, then the frames of the kernel, then shared memory;
 * local memory is mapped separately, since a deep stack for each lane is large and hardly ever
 * touched.
 */
#include "ptx/watch/watch.h"

#include <string.h>
#include <sys/mman.h>

static size_t rounded(size_t bytes)
{
    return (bytes + 63) & ~(size_t)63;
}

static uint32_t param_stride(const qn_ptx_function *kernel)
{
    return (kernel->frame_param_bytes + 15u) & ~15u;
}

/* Where the variables of called functions begin in local memory. */
static uint64_t local_top(const qn_ptx_function *kernel)
{
    return (kernel->local_bytes + 15u) & ~15u;
}

/* What does not change from block to block. */
static void set_up_warp(qn_block *block, uint32_t index, unsigned char *memory)
{
    qn_run *run = block->run;
    const qn_code *code = run->code;
    const uint32_t *dims = run->launch->block;
    qn_warp *warp = &block->warps[index];
    warp->run = run;
    warp->block = block;
    warp->index = index;
    warp->first_thread = index * QN_LANES;
    uint32_t count = QN_MIN(run->block_threads - warp->first_thread, QN_LANES);
    warp->lanes = count == QN_LANES ? QN_ALL_LANES : (1u << count) - 1;
    for (uint32_t lane = 0; lane < QN_LANES; lane++) {
        uint32_t thread = warp->first_thread + lane;
        warp->thread[0][lane] = thread % dims[0];
        warp->thread[1][lane] = thread / dims[0] % dims[1];
        warp->thread[2][lane] = thread / dims[0] / dims[1];
    }
    warp->root = (qn_frame){.code = code,
                            .registers = memory,
                            .pool = run->pool,
                            .params = memory + code->frame_bytes,
                            .param_stride = param_stride(code->function),
                            .local_top = local_top(code->function)};
    for (unsigned k = 0; k < 3; k++) {
        if (code->lines[k]) {
            memcpy(memory + code->lines[k], warp->thread[k], sizeof warp->thread[k]);
        }
    }
}

static bool map_local(qn_block *block)
{
    const uint64_t stride = block->run->local_stride;
    if (stride == 0) {
        return true;
    }
    block->local_bytes = stride * QN_LANES * block->warp_count;
    void *local = mmap(NULL, block->local_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (local == MAP_FAILED) {
        return false;
    }
    block->local = local;
    for (uint32_t w = 0; w < block->warp_count; w++) {
        block->warps[w].local = block->local + w * stride * QN_LANES;
    }
    return true;
}

bool qn_block_new(qn_block **out, qn_worker *worker, qn_run *run)
{
    const uint32_t warps = (run->block_threads + QN_LANES - 1) / QN_LANES;
    const size_t frame =
        rounded(run->code->frame_bytes + (size_t)param_stride(run->kernel) * QN_LANES);
    const size_t header = rounded(sizeof(qn_block)), table = rounded(warps * sizeof(qn_warp));
    const size_t bytes = header + table + warps * frame + rounded(run->shared_bytes) + 64;
    *out = NULL;
    qn_block *block = qn_alloc_aligned(128, bytes);
    if (!block) {
        return false;
    }
    memset(block, 0, bytes - rounded(run->shared_bytes));
    block->run = run;
    block->worker = worker;
    block->warp_count = warps;
    block->warps = (qn_warp *)((unsigned char *)block + header);
    unsigned char *frames = (unsigned char *)block + header + table;
    block->shared = frames + warps * frame;
    for (uint32_t w = 0; w < warps; w++) {
        set_up_warp(block, w, frames + w * frame);
    }
    if (run->launch->aids.check_sync) {
        block->meetings = qn_calloc((size_t)warps * QN_LANES, sizeof *block->meetings);
    }
    if (!map_local(block) || (run->watched && !qn_watch_new(&block->watch, block)) ||
        (run->launch->aids.check_sync && !block->meetings)) {
        qn_block_free(block);
        return false;
    }
    *out = block;
    return true;
}

void qn_block_free(qn_block *block)
{
    if (!block) {
        return;
    }
    qn_watch_free(block->watch, block);
    if (block->local) {
        munmap(block->local, block->local_bytes);
    }
    qn_text_free(&block->output);
    qn_free(block->meetings);
    qn_free(block);
}

void qn_block_begin(qn_block *block, uint64_t number)
{
    qn_run *run = block->run;
    const uint32_t *grid = run->launch->grid;
    block->number = number;
    block->index[0] = (uint32_t)(number % grid[0]);
    block->index[1] = (uint32_t)(number / grid[0] % grid[1]);
    block->index[2] = (uint32_t)(number / grid[0] / grid[1]);
    block->live = run->block_threads;
    block->done = false;
    memset(block->barriers, 0, sizeof block->barriers);
    memset(block->shared, 0, run->shared_bytes);
    if (block->watch) {
        qn_watch_begin(block->watch, block);
    }
    if (block->meetings) {
        qn_check_begin(block);
    }
    for (uint32_t w = 0; w < block->warp_count; w++) {
        qn_warp *warp = &block->warps[w];
        warp->live = warp->lanes;
        warp->cluster_arrived = 0;
        warp->root.lanes = warp->lanes;
        warp->root.local_top = local_top(run->kernel);
        warp->count = 0;
        qn_group_add(warp, run->code->ops, &warp->root, warp->lanes);
        for (unsigned k = 0; k < 3; k++) {
            if (run->code->lines[3 + k]) {
                qn_broadcast(warp->root.registers + run->code->lines[3 + k], 32, block->index[k],
                             0);
            }
        }
    }
}

static bool has_ready(const qn_block *block)
{
    for (uint32_t w = 0; w < block->warp_count; w++) {
        for (uint32_t k = 0; k < block->warps[w].count; k++) {
            if (block->warps[w].groups[k].state == QN_READY) {
                return true;
            }
        }
    }
    return false;
}

bool qn_block_turn(qn_block *block)
{
    if (block->run->deadline && qn_nanoseconds(CLOCK_MONOTONIC) >= block->run->deadline) {
        return qn_report_limit(block);
    }
    for (uint32_t w = 0; w < block->warp_count; w++) {
        if (qn_run_should_end(block->run)) {
            return true;
        }
        if (block->warps[w].count > 0 && qn_warp_run(&block->warps[w]) == QN_TURN_FAULT) {
            return false;
        }
    }
    block->done = block->live == 0;
    return block->done || has_ready(block) || qn_report_deadlock(block);
}
