/* SPDX-License-Identifier: MIT
 *
 * check=bounds at run time. In: what the calls that named elements were passed, and an access whose
 * address follows from them. Out: true, or a report of an element that the array does not have. The
 * thing to know: if the address may come from several calls, and one of them named the touched
 * element validly, nothing is reported.
 */
#include "ptx/watch/element.h"

#include <string.h>

enum { ADDRESS, WHAT, INDEX };

static uint64_t *kept(const qn_warp *warp, const qn_element_call *call, unsigned k)
{
    return qn_at(warp, call->kept[k]);
}

bool qn_run_elements_begin(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    const qn_element_calls *all = op->extra;
    for (uint32_t c = 0; c < all->count; c++) {
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            kept(warp, all->calls[c], WHAT)[qn_first_lane(rest)] = 0;
        }
    }
    return true;
}

/* Is what was passed defined? An index that nobody wrote is left to check=init. */
static bool is_defined(const qn_frame *frame, const qn_element_call *call, size_t at)
{
    uint8_t bits = 0;
    for (unsigned k = 0; frame->undefined && k < 3; k++) {
        for (unsigned byte = 0; byte < 8; byte++) {
            bits |= frame->param_bits[at + call->passed[k] + byte];
        }
    }
    return bits == 0;
}

bool qn_run_element_keep(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    const qn_element_call *call = op->extra;
    const qn_frame *frame = warp->frame;
    for (; mask; mask &= mask - 1) {
        const unsigned lane = qn_first_lane(mask);
        const size_t at = (size_t)lane * frame->param_stride;
        for (unsigned k = 0; k < 3; k++) {
            memcpy(&kept(warp, call, k)[lane], frame->params + at + call->passed[k], 8);
        }
        if (!is_defined(frame, call, at)) {
            kept(warp, call, WHAT)[lane] = 0;
        }
    }
    return true;
}

/* ---- the check ------------------------------------------------------------------------------ */

/* The access that follows, after operations that other checks have put there. */
static const qn_op *access_behind(const qn_op *op, qn_access_kind *kind)
{
    const uint32_t origin = op->origin;
    for (op++; op->origin == origin && op->kind != QN_OP_RETURN; op++) {
        if (op->kind == QN_OP_FUNCTION &&
            (op->function == qn_run_load || op->function == qn_run_store ||
             op->function == qn_run_atomic)) {
            *kind = op->function == qn_run_load    ? QN_READ
                    : op->function == qn_run_store ? QN_WRITE
                                                   : QN_ATOMIC;
            return op;
        }
    }
    return NULL;
}

typedef struct touched {
    uint64_t address;
    unsigned bytes;
} touched;

static touched touched_by(qn_warp *warp, const qn_op *access, qn_access_kind kind, unsigned lane)
{
    unsigned bytes = access->count, first = 0;
    uint64_t address = access->bits == 64 ? ((const uint64_t *)qn_at(warp, access->a))[lane]
                                          : ((const uint32_t *)qn_at(warp, access->a))[lane];
    if (kind == QN_ATOMIC) {
        bytes = qn_atomic_bytes(warp, access, lane, bytes, &first);
    } else {
        bytes *= ((const qn_transfer *)access->extra)->element->memory_bits / 8;
    }
    return (touched){address + (uint64_t)access->offset + first, bytes};
}

/* The call that named a touched element that is not there; NULL: none, or one named it validly. */
static const qn_element_call *wrong_call(const qn_warp *warp, const qn_element_calls *from,
                                         touched at, unsigned lane)
{
    const qn_element_call *wrong = NULL;
    for (uint32_t c = 0; c < from->count; c++) {
        const qn_element_call *call = from->calls[c];
        const uint64_t begin = kept(warp, call, ADDRESS)[lane], what = kept(warp, call, WHAT)[lane];
        if (at.address < begin + qn_element_bytes(what) && begin < at.address + at.bytes) {
            if (qn_element_named(what) == 0) {
                return NULL;
            }
            wrong = call;
        }
    }
    return wrong;
}

bool qn_run_element_look(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    qn_access_kind kind;
    const qn_op *access = access_behind(op, &kind);
    for (; access && mask; mask &= mask - 1) {
        const unsigned lane = qn_first_lane(mask);
        const touched at = touched_by(warp, access, kind, lane);
        const qn_element_call *call = wrong_call(warp, op->extra, at, lane);
        if (call) {
            return qn_fault_element(warp, access, lane, at.address, at.bytes, kind,
                                    kept(warp, call, WHAT)[lane],
                                    (int64_t)kept(warp, call, INDEX)[lane]);
        }
    }
    return true;
}
