/* SPDX-License-Identifier: MIT
 *
 * Undefined bits beyond the registers and memory of one lane: frames, uses that matter, arguments
 * of functions that the device provides, what lanes bring to one another, matrices. In: the
 * operations that were put before those, and results that are about to be handed out. Out: shadows
 * of the results, or a report.
 */
#include "ptx/run/run_forms.h"
#include "ptx/watch/shadow.h"

#include <string.h>

/* ---- frames --------------------------------------------------------------------------------- */

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + 63) & ~UINT64_C(63);
}

/* What is cleared when a frame begins: a word for each register, the bits of the parameters. */
static uint64_t cleared_bytes(const qn_code *code, uint32_t param_stride)
{
    return aligned((uint64_t)code->shadow_count * sizeof(uint32_t) +
                   (uint64_t)param_stride * QN_LANES);
}

uint64_t qn_shadow_bytes(const qn_code *code, uint32_t param_stride)
{
    return code->kind & QN_CODE_SHADOWED
               ? cleared_bytes(code, param_stride) +
                     aligned((uint64_t)param_stride * QN_LANES * sizeof(qn_source)) +
                     aligned((uint64_t)code->shadow_count * sizeof(qn_shadow))
               : 0;
}

void qn_shadow_set_up(qn_frame *frame, unsigned char *memory)
{
    const uint64_t params = (uint64_t)frame->param_stride * QN_LANES;
    frame->undefined = (uint32_t *)memory;
    frame->param_bits = memory + frame->code->shadow_count * sizeof(uint32_t);
    memory += cleared_bytes(frame->code, frame->param_stride);
    frame->param_from = (qn_source *)memory;
    frame->shadows = (qn_shadow *)(memory + aligned(params * sizeof(qn_source)));
}

void qn_shadow_begin(qn_frame *frame)
{
    memset(frame->undefined, 0, cleared_bytes(frame->code, frame->param_stride));
}

void qn_shadow_params(uint32_t mask, const qn_frame *to, uint32_t to_offset, const qn_frame *from,
                      uint32_t from_offset, uint32_t bytes)
{
    for (; mask; mask &= mask - 1) {
        const size_t lane = qn_first_lane(mask);
        const size_t d = lane * to->param_stride + to_offset;
        const size_t s = lane * from->param_stride + from_offset;
        memcpy(to->param_bits + d, from->param_bits + s, bytes);
        for (uint32_t k = 0; k < bytes; k++) {
            if (from->param_bits[s + k]) {
                to->param_from[d + k] = from->param_from[s + k];
            }
        }
    }
}

/* ---- uses ----------------------------------------------------------------------------------- */

static bool report(qn_warp *warp, uint32_t shadow, unsigned lane, uint32_t instruction)
{
    qn_shade shade;
    qn_shade_get(warp->frame, shadow, lane, &shade);
    return qn_shadow_report(warp, lane, qn_shade_source(&shade), instruction);
}

bool qn_run_shade_use(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    const qn_shaded *shaded = op->extra;
    uint32_t *undefined = warp->frame->undefined;
    if (!qn_shade_mask(warp, op, &mask)) {
        return false;
    }
    for (uint32_t k = 0; k < shaded->uses; k++) {
        const uint32_t unknown = undefined[shaded->list[k]] & mask;
        if (unknown) {
            return report(warp, shaded->list[k], qn_first_lane(unknown), shaded->instruction);
        }
    }
    for (uint32_t k = 0; k < shaded->results; k++) {
        undefined[shaded->list[shaded->uses + k]] &= ~mask;
    }
    return true;
}

bool qn_run_shade_builtin(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    const qn_shaded *shaded = op->extra;
    const qn_call_info *info = op[1].extra;
    const qn_frame *frame = warp->frame;
    if (!qn_run_shade_use(warp, op, mask) || !qn_shade_mask(warp, op, &mask)) {
        return false;
    }
    for (; mask; mask &= mask - 1) {
        const unsigned lane = qn_first_lane(mask);
        const size_t at = (size_t)lane * frame->param_stride;
        for (uint32_t p = 0; p < info->parameter_count; p++) {
            const qn_call_copy *copy = &info->parameters[p];
            for (size_t k = at + copy->caller_offset; k < at + copy->caller_offset + copy->bytes;
                 k++) {
                if (frame->param_bits[k]) {
                    return qn_shadow_report(warp, lane, &frame->param_from[k], shaded->instruction);
                }
            }
        }
        for (uint32_t r = 0; r < info->return_count; r++) {
            memset(frame->param_bits + at + info->returns[r].caller_offset, 0,
                   info->returns[r].bytes);
        }
    }
    return true;
}

/* The address is returned as it was passed, with its undefined bits. */
bool qn_run_shade_element(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    const qn_call_info *info = op[1].extra;
    const qn_frame *frame = warp->frame;
    if (!qn_run_shade_use(warp, op, mask) || !qn_shade_mask(warp, op, &mask)) {
        return false;
    }
    for (; mask && info->return_count > 0; mask &= mask - 1) {
        const size_t at = (size_t)qn_first_lane(mask) * frame->param_stride;
        const size_t to = at + info->returns[0].caller_offset;
        const size_t from = at + info->parameters[0].caller_offset;
        const size_t bytes = QN_MIN(info->returns[0].bytes, info->parameters[0].bytes);
        memmove(frame->param_bits + to, frame->param_bits + from, bytes);
        memmove(frame->param_from + to, frame->param_from + from,
                bytes * sizeof *frame->param_from);
    }
    return true;
}

/* ---- among lanes ---------------------------------------------------------------------------- */

static qn_shade *brought_by(const qn_warp *warp, unsigned lane)
{
    return &warp->block->watch->brought[warp->index * QN_LANES + lane];
}

bool qn_run_shade_bring(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    const qn_shaded *shaded = op->extra;
    if (!qn_run_shade_use(warp, op, mask) || !qn_shade_mask(warp, op, &mask)) {
        return false;
    }
    for (; mask; mask &= mask - 1) {
        const unsigned lane = qn_first_lane(mask);
        qn_shade_get(warp->frame, shaded->a, lane, brought_by(warp, lane));
    }
    return true;
}

void qn_shadow_shuffled(const qn_warp *warp, const qn_frame *frame, const qn_op *op, uint32_t mask,
                        const uint8_t *from)
{
    const qn_shaded *shaded = op->extra;
    for (; mask; mask &= mask - 1) {
        const unsigned lane = qn_first_lane(mask);
        qn_shade_put(frame, shaded->d, lane, brought_by(warp, from[lane]));
    }
}

/* Is the outcome known from the members whose predicate is known: `trues` and `falses`? */
static bool vote_is_known(uint32_t form, uint32_t trues, uint32_t falses)
{
    switch (form) {
    case QN_SYNC_VOTE_ANY:
        return trues != 0;
    case QN_SYNC_VOTE_ALL:
        return falses != 0;
    case QN_SYNC_VOTE_UNI:
        return trues && falses;
    default:
        return false;
    }
}

void qn_shadow_met(const qn_warp *warp, const qn_frame *frame, const qn_op *op, uint32_t mask,
                   uint32_t members)
{
    const qn_shaded *shaded = op->extra;
    qn_shade result = {0};
    uint32_t unknown = 0, trues = 0;
    if (op->a == QN_NO_PLACE || op->flags <= QN_SYNC_SHFL_IDX) {
        return; /* nothing is brought, or each lane has its own result (qn_shadow_shuffled) */
    }
    for (uint32_t rest = members; rest; rest &= rest - 1) {
        const unsigned lane = qn_first_lane(rest);
        unknown |= (uint32_t)(brought_by(warp, lane)->bits != 0) << lane;
        trues |= (uint32_t)(warp->exchange[lane] & 1) << lane;
    }
    if (unknown && !vote_is_known(op->flags, trues & ~unknown, members & ~trues & ~unknown)) {
        const qn_source *source = qn_shade_source(brought_by(warp, qn_first_lane(unknown)));
        qn_shade_derive(&result, 32, source, shaded->instruction);
        result.bits = op->flags == QN_SYNC_VOTE_BALLOT ? unknown : result.bits;
    }
    for (; mask; mask &= mask - 1) {
        qn_shade_put(frame, shaded->d, qn_first_lane(mask), &result);
        qn_shade_put(frame, shaded->e, qn_first_lane(mask), &result);
    }
}

/* ---- matrices: undefined only when all of an operand is ------------------------------------- */

/* The first register of the list, if every register has undefined bits in every lane; else 0. */
static uint32_t all_undefined(const qn_frame *frame, const uint32_t *list, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) {
        if (frame->undefined[list[k]] != QN_ALL_LANES) {
            return 0;
        }
    }
    return count ? list[0] : 0;
}

static void set_results(const qn_frame *frame, const uint32_t *list, uint32_t count,
                        const qn_shade *shade)
{
    for (uint32_t k = 0; k < count; k++) {
        for (unsigned lane = 0; lane < QN_LANES; lane++) {
            qn_shade_put(frame, list[k], lane, shade);
        }
    }
}

bool qn_run_shade_product(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    const qn_shaded *shaded = op->extra;
    const qn_frame *frame = warp->frame;
    const uint32_t *list = shaded->list + shaded->d;
    const uint32_t counts[] = {shaded->a, shaded->b, shaded->c};
    qn_shade result = {0};
    if (!qn_shade_mask(warp, op, &mask)) {
        return false;
    }
    for (unsigned k = 0; k < QN_COUNT(counts); k++) {
        const uint32_t none = all_undefined(frame, list, counts[k]);
        if (none) {
            qn_shade operand;
            qn_shade_get(frame, none, 0, &operand);
            qn_shade_derive(&result, 64, qn_shade_source(&operand), shaded->instruction);
        }
        list += counts[k];
    }
    set_results(frame, shaded->list, shaded->d, &result);
    return true;
}

bool qn_run_shade_tile(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    const qn_shaded *shaded = op->extra;
    qn_watch *watch = warp->block->watch;
    watch->tile_defined = false;
    watch->tile_source = (qn_source){0};
    if (!qn_run_shade_use(warp, op, mask)) {
        return false;
    }
    /* a store: `d` registers after the uses and results */
    const uint32_t none =
        all_undefined(warp->frame, shaded->list + shaded->uses + shaded->results, shaded->d);
    return !none || report(warp, none, 0, shaded->instruction);
}

bool qn_run_shade_tile_loaded(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    const qn_shaded *shaded = op->extra;
    const qn_watch *watch = warp->block->watch;
    (void)mask;
    if (!watch->tile_defined && watch->tile_source.load) {
        qn_shade nothing = {.bits = ~UINT64_C(0)};
        for (unsigned k = 0; k < 8; k++) {
            nothing.from[k] = watch->tile_source;
        }
        set_results(warp->frame, shaded->list + shaded->uses, shaded->results, &nothing);
    }
    return true;
}
