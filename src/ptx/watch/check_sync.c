/* SPDX-License-Identifier: MIT
 *
 * check=sync: reports threads that meet in a way that CUDA does not allow, although it works here.
 * In: the collective operations of a warp and the barriers of a block, when they are complete. Out:
 * a report with both places. What is undefined, by the CUDA C++ guide and the PTX ISA:
 *
 *   - lanes that come to one operation with different masks, when one of them names the other;
 *   - a lane that a mask names, but that met other lanes elsewhere instead and then left;
 *   - a value taken from a lane that takes no part, by shfl.idx and shfl.bfly (down and up usually
 *     reach past the ends of what is reduced, and nobody uses what they find there);
 *   - threads of a block that wait at different places for an aligned barrier of them all, and
 *     lanes of a warp that do so for any aligned barrier.
 *
 * A mask may name lanes that have already exited: operations wait for live ones only.
 */
#include "ptx/run/run.h"

#include "ptx/run/run_forms.h"

#include <string.h>

static qn_meeting *meeting_of(const qn_warp *warp, unsigned lane)
{
    return &warp->block->meetings[warp->index * QN_LANES + lane];
}

void qn_check_begin(qn_block *block)
{
    memset(block->meetings, 0, block->warp_count * QN_LANES * sizeof *block->meetings);
}

void qn_check_left(qn_warp *warp, uint32_t mask)
{
    const qn_group *group = &warp->groups[warp->current];
    for (; mask; mask &= mask - 1) {
        qn_meeting *meeting = meeting_of(warp, qn_first_lane(mask));
        meeting->left = group->next - 1;
        meeting->left_code = warp->frame->code;
    }
}

static void print_op(qn_text *out, const qn_code *code, const qn_op *op)
{
    const qn_frame frame = {.code = code};
    qn_print_place(out, &frame, op);
}

/* A fault at an operation of a frame other than the running one. Always false. */
static bool fault_in(qn_warp *warp, const qn_frame *frame, const qn_op *op, unsigned lane,
                     qn_text *what)
{
    qn_frame *running = warp->frame;
    qn_warp_enter(warp, (qn_frame *)frame);
    qn_fault(warp, op, lane, QUERN_ERROR_LAUNCH, "%s",
             what->data ? what->data : "threads meet in a way that is not allowed");
    qn_warp_enter(warp, running);
    qn_text_free(what);
    return false;
}

/* ---- operations of a warp ------------------------------------------------------------------- */

bool qn_check_masks(qn_warp *warp, const qn_op *op, uint32_t mask, const uint32_t *members)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const unsigned lane = qn_first_lane(rest);
        for (uint32_t named = members[lane] & mask; named; named &= named - 1) {
            const unsigned other = qn_first_lane(named);
            if (members[other] != members[lane]) {
                return qn_fault(warp, op, lane, QUERN_ERROR_LAUNCH,
                                "lane %u comes here with the member mask 0x%08x, which names lane "
                                "%u, but that lane gives 0x%08x: all lanes that a mask names must "
                                "give the same mask",
                                lane, members[lane], other, members[other]);
            }
        }
    }
    return true;
}

/* The lane that a lane of a shuffle reads, as PTX defines it; -1: its own, or any may do. */
static int source_of(const qn_frame *frame, const qn_op *op, unsigned lane)
{
    const unsigned char *from = frame->registers;
    const uint32_t *b =
        (const uint32_t *)(op->b & QN_IN_POOL ? frame->pool + (op->b & ~QN_IN_POOL) : from + op->b);
    const uint32_t *c =
        (const uint32_t *)(op->c & QN_IN_POOL ? frame->pool + (op->c & ~QN_IN_POOL) : from + op->c);
    const uint32_t segment = c[lane] >> 8 & 31, clamp = c[lane] & 31, index = b[lane] & 31;
    const uint32_t highest = (lane & segment) | (clamp & ~segment);
    uint32_t source;
    if (op->flags == QN_SYNC_SHFL_IDX) {
        source = (lane & segment) | (index & ~segment);
    } else if (op->flags == QN_SYNC_SHFL_BFLY) {
        source = lane ^ index;
    } else {
        return -1;
    }
    return source <= highest ? (int)source : -1;
}

static bool report_source(qn_warp *warp, const qn_frame *frame, const qn_op *op, unsigned lane,
                          unsigned source, uint32_t named)
{
    qn_text text = {0};
    const qn_meeting *meeting = meeting_of(warp, source);
    qn_text_printf(&text, "this thread takes the value of lane %u of its warp, which ", source);
    if (!(named >> source & 1)) {
        qn_text_printf(&text, "is not in the member mask 0x%08x", named);
    } else if (!(warp->lanes >> source & 1)) {
        qn_text_puts(&text, "the block does not have");
    } else {
        qn_text_puts(&text, "has left");
        if (meeting->left) {
            qn_text_puts(&text, " at ");
            print_op(&text, meeting->left_code, meeting->left);
        }
    }
    qn_text_puts(&text, ": that value is undefined");
    return fault_in(warp, frame, op, lane, &text);
}

static bool check_sources(qn_warp *warp, const qn_frame *frame, const qn_op *op, uint32_t mask,
                          uint32_t named, uint32_t present)
{
    for (; mask; mask &= mask - 1) {
        const unsigned lane = qn_first_lane(mask);
        const int source = source_of(frame, op, lane);
        if (source >= 0 && !(present >> source & 1)) {
            return report_source(warp, frame, op, lane, (unsigned)source, named);
        }
    }
    return true;
}

/* Of the named lanes that have exited, those that met others elsewhere should have come here. */
static bool check_absent(qn_warp *warp, const qn_frame *frame, const qn_op *op, uint32_t mask,
                         uint32_t named, uint32_t present)
{
    uint32_t apart = 0, first = 0;
    for (uint32_t rest = named & warp->lanes & ~present; rest; rest &= rest - 1) {
        const unsigned lane = qn_first_lane(rest);
        const qn_meeting *meeting = meeting_of(warp, lane);
        if (meeting->op && meeting->left && !(meeting->members & present)) {
            first = apart ? first : lane;
            apart |= 1u << lane;
        }
    }
    if (!apart) {
        return true;
    }
    qn_text text = {0};
    const qn_meeting *meeting = meeting_of(warp, first);
    qn_text_printf(&text,
                   "the member mask 0x%08x names lanes 0x%08x, which did not come here: they met "
                   "others, with the mask 0x%08x, at ",
                   named, apart, meeting->members);
    print_op(&text, meeting->code, meeting->op);
    qn_text_puts(&text, ", and left at ");
    print_op(&text, meeting->left_code, meeting->left);
    return fault_in(warp, frame, op, qn_first_lane(mask), &text);
}

bool qn_check_met(qn_warp *warp, const qn_frame *frame, const qn_op *op, uint32_t mask,
                  uint32_t named, uint32_t present)
{
    if (!check_sources(warp, frame, op, mask, named, present) ||
        !check_absent(warp, frame, op, mask, named, present)) {
        return false;
    }
    for (; mask; mask &= mask - 1) {
        qn_meeting *meeting = meeting_of(warp, qn_first_lane(mask));
        meeting->op = op;
        meeting->code = frame->code;
        meeting->members = named;
    }
    return true;
}

/* ---- barriers of a block -------------------------------------------------------------------- */

static bool is_aligned(const qn_group *group)
{
    const qn_ptx_function *function = group->frame->code->function;
    const char *opcode = function->instructions[(group->next - 1)->origin].opcode;
    return qn_begins(opcode, "bar.") || strstr(opcode, ".aligned");
}

/* The same operation, called from the same places. */
static bool same_place(const qn_group *a, const qn_group *b)
{
    const qn_frame *x = a->frame, *y = b->frame;
    if (a->next != b->next) {
        return false;
    }
    while (x && y && x->call == y->call) {
        x = x->caller;
        y = y->caller;
    }
    return !x && !y;
}

static bool report_apart(qn_warp *warp, const qn_group *group, const qn_warp *other_warp,
                         const qn_group *other)
{
    qn_text text = {0};
    const unsigned lane = qn_first_lane(other->mask);
    qn_text_printf(&text,
                   "all threads of a block must reach barrier %u at the same place, but thread "
                   "(%u,%u,%u) is at ",
                   group->barrier, other_warp->thread[0][lane], other_warp->thread[1][lane],
                   other_warp->thread[2][lane]);
    qn_print_place(&text, other->frame, other->next - 1);
    qn_text_puts(&text, " and this one elsewhere");
    return fault_in(warp, group->frame, group->next - 1, qn_first_lane(group->mask), &text);
}

bool qn_check_barrier(qn_block *block, unsigned id)
{
    qn_warp *first_warp = NULL;
    const qn_group *first = NULL;
    for (uint32_t w = 0; w < block->warp_count; w++) {
        qn_warp *warp = &block->warps[w];
        const qn_group *of_warp = NULL;
        for (uint32_t k = 0; k < warp->count; k++) {
            const qn_group *group = &warp->groups[k];
            if (group->state != QN_AT_BARRIER || group->barrier != id) {
                continue;
            }
            const bool of_all = (group->next - 1)->b == QN_NO_PLACE;
            first = first ? first : group;
            first_warp = first_warp ? first_warp : warp;
            of_warp = of_warp ? of_warp : group;
            if (!same_place(of_warp, group) && (is_aligned(of_warp) || is_aligned(group))) {
                return report_apart(warp, of_warp, warp, group);
            }
            if (of_all && !same_place(first, group) && is_aligned(first) && is_aligned(group)) {
                return report_apart(first_warp, first, warp, group);
            }
        }
    }
    return true;
}
