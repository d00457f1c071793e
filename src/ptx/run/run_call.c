/* SPDX-License-Identifier: MIT
 *
 * Calls, returns and exits. A call makes a frame for the lanes that made it and copies their
 * arguments, one copy per lane; its lanes may return at different times, and the frame is kept
 * until the last one has left. In: the warp, whose current group has been saved; out: changed
 * groups.
 */
#include "ptx/watch/shadow.h"

#include <string.h>

static uint64_t aligned(uint64_t bytes, uint64_t alignment)
{
    return (bytes + alignment - 1) / alignment * alignment;
}

/* Bytes of all frames of a host thread. A limit is needed because calls QN_CALL_DEPTH deep may have
 * large frames, and each lane may be at a depth of its own. */
#define FRAMES_LIMIT (UINT64_C(512) << 20)

/* A frame of `bytes`, followed by `more` that do not count towards the limit, as few of them are
 * ever touched. NULL: there is no room for it. */
static qn_frame *frame_new(qn_worker *worker, uint64_t bytes, uint64_t more)
{
    for (qn_frame **link = &worker->free_frames; *link; link = &(*link)->next_free) {
        qn_frame *frame = *link;
        if (frame->capacity >= bytes + more) {
            *link = frame->next_free;
            return frame;
        }
    }
    const bool fits = bytes <= FRAMES_LIMIT - worker->frame_bytes;
    qn_frame *frame = fits ? qn_alloc_aligned(64, aligned(sizeof *frame, 64) + bytes + more) : NULL;
    if (frame) {
        worker->frame_bytes += bytes;
        memset(frame, 0, aligned(sizeof *frame, 64) + bytes);
        frame->capacity = bytes + more;
        frame->next = worker->frames;
        worker->frames = frame;
    }
    return frame;
}

static void frame_leave(qn_worker *worker, qn_frame *frame, uint32_t mask)
{
    frame->lanes &= ~mask;
    if (frame->lanes == 0 && frame->caller) {
        frame->next_free = worker->free_frames;
        worker->free_frames = frame;
    }
}

/* A parameter or a result, from frame to frame. */
static void copy_param(uint32_t mask, const qn_frame *to, uint32_t to_offset, const qn_frame *from,
                       uint32_t from_offset, uint32_t bytes)
{
    if (to->undefined) {
        qn_shadow_params(mask, to, to_offset, from, from_offset, bytes);
    }
    for (; mask; mask &= mask - 1) {
        const size_t lane = qn_first_lane(mask);
        memcpy(to->params + lane * to->param_stride + to_offset,
               from->params + lane * from->param_stride + from_offset, bytes);
    }
}

static bool stack_overflow(qn_warp *warp, const qn_op *op, unsigned lane,
                           const qn_ptx_function *callee)
{
    return qn_fault(warp, op, lane, QUERN_ERROR_LAUNCH, "stack overflow: calls %u deep, in '%s'",
                    warp->frame->depth + 1, callee->name);
}

/* The lanes of the current group go into `callee`. */
static bool enter(qn_warp *warp, const qn_op *op, const qn_ptx_function *callee, qn_group *group)
{
    const qn_call_info *info = op->extra;
    const unsigned lane = qn_first_lane(group->mask);
    qn_frame *caller = group->frame;
    const qn_code *code;
    if (callee->is_kernel) {
        return qn_fault(warp, op, lane, QUERN_ERROR_NOT_SUPPORTED,
                        "call of '%s', which is a kernel: only a .func can be called",
                        callee->name);
    }
    if (qn_code_get(&code, callee, caller->code->kind) != QUERN_OK) {
        return qn_fault(warp, op, lane, QUERN_ERROR_OUT_OF_MEMORY, "out of memory for '%s'",
                        callee->name);
    }
    if (info->parameter_count != callee->param_count || info->return_count > callee->return_count) {
        return qn_fault(warp, op, lane, QUERN_ERROR_LAUNCH,
                        "call of '%s' with %u arguments; it takes %u", callee->name,
                        info->parameter_count, callee->param_count);
    }
    const uint32_t stride = (uint32_t)aligned(callee->frame_param_bytes, 16);
    const uint64_t bytes = aligned(code->frame_bytes + (uint64_t)stride * QN_LANES, 64);
    qn_worker *worker = warp->block->worker;
    if (caller->depth + 1 >= QN_CALL_DEPTH ||
        caller->local_top + callee->local_bytes > warp->run->local_stride) {
        return stack_overflow(warp, op, lane, callee);
    }
    qn_frame *frame = frame_new(worker, bytes, qn_shadow_bytes(code, stride));
    if (!frame) {
        return bytes > FRAMES_LIMIT - worker->frame_bytes
                   ? stack_overflow(warp, op, lane, callee)
                   : qn_fault(warp, op, lane, QUERN_ERROR_OUT_OF_MEMORY,
                              "out of memory for a call");
    }
    frame->caller = caller;
    frame->code = code;
    frame->call = op;
    frame->registers = (unsigned char *)frame + aligned(sizeof *frame, 64);
    frame->pool = code->pool;
    frame->params = frame->registers + code->frame_bytes;
    frame->param_stride = stride;
    frame->lanes = group->mask;
    frame->depth = caller->depth + 1;
    frame->local_base = caller->local_top;
    frame->local_top = caller->local_top + aligned(callee->local_bytes, 16);
    if (code->kind & QN_CODE_SHADOWED) {
        qn_shadow_set_up(frame, frame->registers + bytes);
        qn_shadow_begin(frame);
    }
    qn_watch_local(warp, group->mask, frame->local_base, frame->local_top);
    for (uint32_t k = 0; k < info->parameter_count; k++) {
        copy_param(group->mask, frame, (uint32_t)callee->params[k]->offset, caller,
                   info->parameters[k].caller_offset,
                   QN_MIN(info->parameters[k].bytes, (uint32_t)callee->params[k]->size));
    }
    group->frame = frame;
    group->depth = (uint16_t)frame->depth;
    group->next = code->ops;
    return true;
}

/* The function at an address that lanes computed; NULL: there is none. */
static const qn_ptx_function *function_at(const qn_ptx_module *module, uint64_t address)
{
    for (uint32_t k = 0; k < module->function_count; k++) {
        if ((uint64_t)(uintptr_t)module->functions[k] == address &&
            module->functions[k]->has_body) {
            return module->functions[k];
        }
    }
    return NULL;
}

/* One group for each distinct callee. */
static bool enter_indirect(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    const uint64_t *address = qn_at(warp, op->a);
    while (mask) {
        unsigned first = qn_first_lane(mask);
        uint32_t same = 0;
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            unsigned lane = qn_first_lane(rest);
            same |= (uint32_t)(address[lane] == address[first]) << lane;
        }
        mask &= ~same;
        const qn_ptx_function *callee =
            function_at(warp->frame->code->function->module, address[first]);
        if (!callee) {
            return qn_fault(warp, op, first, QUERN_ERROR_LAUNCH,
                            "call of 0x%llx, which is not the address of a function",
                            (unsigned long long)address[first]);
        }
        qn_group *group = &warp->groups[warp->current];
        if (group->mask != same) {
            group->mask &= ~same;
            group = qn_group_add(warp, group->next, group->frame, same);
        }
        if (!enter(warp, op, callee, group)) {
            return false;
        }
    }
    return true;
}

bool qn_run_call(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    const qn_call_info *info = op->extra;
    if (!info->callee) {
        return enter_indirect(warp, op, mask);
    }
    return enter(warp, op, info->callee, &warp->groups[warp->current]);
}

void qn_run_return(qn_warp *warp, uint32_t mask)
{
    qn_group *group = &warp->groups[warp->current];
    qn_frame *frame = group->frame, *caller = frame->caller;
    if (!caller) {
        qn_run_exit(warp, mask);
        return;
    }
    const qn_call_info *info = frame->call->extra;
    const qn_ptx_function *callee = frame->code->function;
    for (uint32_t k = 0; k < info->return_count; k++) {
        copy_param(mask, caller, info->returns[k].caller_offset, frame,
                   (uint32_t)callee->returns[k]->offset,
                   QN_MIN(info->returns[k].bytes, (uint32_t)callee->returns[k]->size));
    }
    group->next = frame->call + 1;
    group->frame = caller;
    group->depth = (uint16_t)caller->depth;
    frame_leave(warp->block->worker, frame, mask);
}

void qn_run_exit(qn_warp *warp, uint32_t mask)
{
    qn_block *block = warp->block;
    qn_frame *frame = warp->groups[warp->current].frame;
    if (block->meetings) {
        qn_check_left(warp, mask);
    }
    while (frame) {
        qn_frame *caller = frame->caller;
        frame_leave(block->worker, frame, mask);
        frame = caller;
    }
    qn_group_remove(warp, warp->current);
    warp->live &= ~mask;
    block->live -= (uint32_t)__builtin_popcount(mask);
    qn_sync_recheck(warp);
    qn_barrier_recheck(block);
}
