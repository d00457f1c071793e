/* SPDX-License-Identifier: MIT
 *
 * mbarrier objects and bulk copies. An mbarrier is 64 bits of shared memory that count threads and
 * bytes still to come; when both are 0 its phase is over and the next begins. A copy is made when
 * it is issued and tells its mbarrier so at once. A block runs on one host thread, so that nothing
 * here needs the host's atomics. In: an operation with the address of an mbarrier or of a copy.
 */
#include "ptx/run/async.h"
#include "ptx/watch/watch.h"

#include <string.h>

enum { COUNT_BITS = 20, COUNT_MASK = (1 << COUNT_BITS) - 1, BYTES_SHIFT = 2 * COUNT_BITS };
enum { BYTES_LIMIT = 1 << 20, BULK_ALIGNMENT = 16 };
#define VALID_BIT (UINT64_C(1) << 62)
#define PHASE_BIT (UINT64_C(1) << 63)

/* The 64 bits: pending arrivals, expected arrivals, 22 bits of the bytes still to come (a copy may
 * end before its bytes were announced: then they are negative), one bit that says that it is
 * initialised, the parity of the phase. */
typedef struct mbarrier {
    uint32_t pending, expected;
    int32_t bytes;
    bool odd, valid;
} mbarrier;

static mbarrier unpack(uint64_t bits)
{
    return (mbarrier){.pending = (uint32_t)bits & COUNT_MASK,
                      .expected = (uint32_t)(bits >> COUNT_BITS) & COUNT_MASK,
                      .bytes = (int32_t)((uint32_t)(bits >> BYTES_SHIFT) << 10) >> 10,
                      .odd = (bits & PHASE_BIT) != 0,
                      .valid = (bits & VALID_BIT) != 0};
}

static uint64_t pack(const mbarrier *from)
{
    const uint64_t bytes = (uint32_t)from->bytes & ((1u << 22) - 1);
    return from->pending | (uint64_t)from->expected << COUNT_BITS | bytes << BYTES_SHIFT |
           (from->odd ? PHASE_BIT : 0) | (from->valid ? VALID_BIT : 0);
}

static void end_phase_if_done(mbarrier *at)
{
    if (at->pending == 0 && at->bytes == 0) {
        at->odd = !at->odd;
        at->pending = at->expected;
    }
}

static uint32_t word_at(const qn_warp *warp, qn_place place, unsigned lane)
{
    return ((const uint32_t *)qn_at(warp, place))[lane];
}

/* Apply an operation to one mbarrier. NULL: done; else what is wrong. */
static const char *change(const qn_warp *warp, const qn_op *op, unsigned lane, mbarrier *at)
{
    const uint32_t number = op->b == QN_NO_PLACE ? 1 : word_at(warp, op->b, lane);
    const uint32_t bytes = op->c == QN_NO_PLACE ? 0 : word_at(warp, op->c, lane);
    if (op->flags == QN_MBARRIER_INIT) {
        *at = (mbarrier){.pending = number, .expected = number, .valid = true};
        return number >= 1 && number <= COUNT_MASK ? NULL : "its count must be 1 to 1048575";
    }
    if (!at->valid) {
        return "it was not initialised";
    }
    if (bytes > BYTES_LIMIT - 1 || at->bytes + (int32_t)bytes >= BYTES_LIMIT) {
        return "it counts at most 1048575 bytes";
    }
    at->bytes += op->flags == QN_MBARRIER_COMPLETE ? -(int32_t)bytes : (int32_t)bytes;
    if (op->flags == QN_MBARRIER_EXPECT) {
        return NULL;
    }
    if (op->flags == QN_MBARRIER_ARRIVE || op->flags == QN_MBARRIER_ARRIVE_DROP) {
        if (number > at->pending) {
            return "more threads arrive than it waits for";
        }
        at->pending -= number;
        at->expected -= op->flags == QN_MBARRIER_ARRIVE_DROP ? number : 0;
    }
    end_phase_if_done(at);
    return NULL;
}

static bool fail(qn_warp *warp, const qn_op *op, unsigned lane, const char *what)
{
    return qn_fault(warp, op, lane, QUERN_ERROR_LAUNCH, "mbarrier: %s", what);
}

static uint64_t *object_at(const qn_addresses *at, unsigned lane)
{
    return (uint64_t *)(uintptr_t)(at->at[lane] + at->base);
}

bool qn_run_mbarrier(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    const bool is_new = op->flags == QN_MBARRIER_INIT;
    qn_addresses at;
    qn_watch_fence(warp);
    if (!qn_access_prepare(warp, op, mask, 8, is_new ? QN_WRITE : QN_ATOMIC, &at)) {
        return false;
    }
    for (; mask; mask &= mask - 1) {
        const unsigned lane = qn_first_lane(mask);
        uint64_t *object = object_at(&at, lane);
        const uint64_t before = *object;
        mbarrier value = unpack(before);
        const char *wrong = change(warp, op, lane, &value);
        if (wrong) {
            return fail(warp, op, lane, wrong);
        }
        *object = pack(&value);
        if (op->d != QN_NO_PLACE) {
            ((uint64_t *)qn_at(warp, op->d))[lane] = before;
        }
    }
    return true;
}

/* mbarrier.inval: the memory may be used for something else. */
bool qn_run_mbarrier_end(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    qn_addresses at;
    if (!qn_access_prepare(warp, op, mask, 8, QN_WRITE, &at)) {
        return false;
    }
    for (; mask; mask &= mask - 1) {
        *object_at(&at, qn_first_lane(mask)) = 0;
    }
    return true;
}

/* test_wait and try_wait: is the phase of a state, or of a parity, over? */
bool qn_run_mbarrier_test(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    const void *phases = qn_at(warp, op->b);
    uint32_t *d = qn_at(warp, op->d), over = 0;
    qn_addresses at;
    if (!qn_access_prepare(warp, op, mask, 8, QN_ATOMIC, &at)) {
        return false;
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const unsigned lane = qn_first_lane(rest);
        const mbarrier now = unpack(*object_at(&at, lane));
        const bool odd = op->flags == QN_MBARRIER_PARITY
                             ? ((const uint32_t *)phases)[lane] & 1
                             : unpack(((const uint64_t *)phases)[lane]).odd;
        if (!now.valid) {
            return fail(warp, op, lane, "it was not initialised");
        }
        over |= (uint32_t)(now.odd != odd) << lane;
    }
    *d = (*d & ~mask) | over;
    qn_watch_fence(warp);
    if (over != mask) {
        warp->fuel = 1; /* a warp that waits lets others go first */
    }
    return true;
}

bool qn_run_mbarrier_pending(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    const uint64_t *states = qn_at(warp, op->a);
    uint32_t *d = qn_at(warp, op->d);
    for (; mask; mask &= mask - 1) {
        const unsigned lane = qn_first_lane(mask);
        d[lane] = unpack(states[lane]).pending;
    }
    return true;
}

/* ---- bulk copies ---------------------------------------------------------------------------- */

/* The generic address of an operand that qn_bind_address bound. */
static uint64_t generic_address(const qn_warp *warp, const qn_op *operand, unsigned lane)
{
    const void *a = qn_at(warp, operand->a);
    const uint64_t base =
        operand->space == QN_SPACE_SHARED ? (uint64_t)(uintptr_t)warp->block->shared : 0;
    return base + (uint64_t)operand->offset +
           (operand->bits == 64 ? ((const uint64_t *)a)[lane] : ((const uint32_t *)a)[lane]);
}

bool qn_run_bulk_copy(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    const qn_bulk_copy *copy = op->extra;
    for (; mask; mask &= mask - 1) {
        const unsigned lane = qn_first_lane(mask);
        const uint64_t to = generic_address(warp, &copy->to, lane);
        const uint64_t from = generic_address(warp, &copy->from, lane);
        const uint32_t bytes = word_at(warp, op->c, lane);
        if ((to | from | bytes) % BULK_ALIGNMENT != 0) {
            return qn_fault(warp, op, lane, QUERN_ERROR_ACCESS,
                            "bulk copy of %u bytes from 0x%llx to 0x%llx: all three must be "
                            "multiples of %d",
                            bytes, (unsigned long long)from, (unsigned long long)to,
                            BULK_ALIGNMENT);
        }
        if (bytes != 0) { /* with no bytes, any address will do */
            if (!qn_access_check(warp, op, lane, from, bytes, QN_READ) ||
                !qn_access_check(warp, op, lane, to, bytes, QN_WRITE)) {
                return false;
            }
            memmove((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
        }
        if (copy->tells && !qn_run_mbarrier(warp, &copy->barrier, 1u << lane)) {
            return false;
        }
    }
    return true;
}
