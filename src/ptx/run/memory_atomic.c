/* SPDX-License-Identifier: MIT
 *
 * Atomics, made with the host's own, because blocks run on several host threads. Lanes take their
 * turn in rising order. Integer operations that the host has are used as they are; the others, and
 * all of floating point, retry until no other thread came between.
 */
#include "ptx/run/run.h"

#include "ptx/run/run_forms.h"

#include <string.h>

#define ORDER __ATOMIC_ACQ_REL

/* New value from old value and operand, for what the host cannot do itself. */
static uint32_t step32(const qn_atomic *atomic, uint32_t old, uint32_t b)
{
    switch (atomic->form) {
    case QN_ATOMIC_INC:
        return old >= b ? 0 : old + 1;
    case QN_ATOMIC_DEC:
        return old == 0 || old > b ? b : old - 1;
    case QN_ATOMIC_MIN:
        return atomic->letter == 's' ? (uint32_t)QN_MIN((int32_t)old, (int32_t)b) : QN_MIN(old, b);
    case QN_ATOMIC_MAX:
        return atomic->letter == 's' ? (uint32_t)QN_MAX((int32_t)old, (int32_t)b) : QN_MAX(old, b);
    default: {
        float x, y;
        memcpy(&x, &old, sizeof x);
        memcpy(&y, &b, sizeof y);
        x += y;
        uint32_t sum;
        memcpy(&sum, &x, sizeof sum);
        return x != x ? 0x7fffffff : sum;
    }
    }
}

static uint64_t step64(const qn_atomic *atomic, uint64_t old, uint64_t b)
{
    switch (atomic->form) {
    case QN_ATOMIC_MIN:
        return atomic->letter == 's' ? (uint64_t)QN_MIN((int64_t)old, (int64_t)b) : QN_MIN(old, b);
    case QN_ATOMIC_MAX:
        return atomic->letter == 's' ? (uint64_t)QN_MAX((int64_t)old, (int64_t)b) : QN_MAX(old, b);
    default: {
        double x, y;
        memcpy(&x, &old, sizeof x);
        memcpy(&y, &b, sizeof y);
        x += y;
        uint64_t sum;
        memcpy(&sum, &x, sizeof sum);
        return x != x ? UINT64_C(0x7fffffffffffffff) : sum;
    }
    }
}

/* The sum of halves in 16 or 32 bits, by the lane-wise addition with one lane. */
static uint32_t add_halves(const qn_atomic *atomic, uint32_t old, uint32_t b)
{
    uint32_t x[QN_LANES] = {old}, y[QN_LANES] = {b}, sum[QN_LANES] = {0}, carry = 0;
    atomic->addition(sum, x, y, y, 1, &carry);
    return sum[0];
}

#define DEFINE(type, bits)                                                                         \
    static type update##bits(const qn_atomic *atomic, type *at, type b, type c)                    \
    {                                                                                              \
        type old, next;                                                                            \
        switch (atomic->form) {                                                                    \
        case QN_ATOMIC_EXCH:                                                                       \
            return __atomic_exchange_n(at, b, ORDER);                                              \
        case QN_ATOMIC_CAS:                                                                        \
            old = b;                                                                               \
            __atomic_compare_exchange_n(at, &old, c, false, ORDER, __ATOMIC_ACQUIRE);              \
            return old;                                                                            \
        case QN_ATOMIC_AND:                                                                        \
            return __atomic_fetch_and(at, b, ORDER);                                               \
        case QN_ATOMIC_OR:                                                                         \
            return __atomic_fetch_or(at, b, ORDER);                                                \
        case QN_ATOMIC_XOR:                                                                        \
            return __atomic_fetch_xor(at, b, ORDER);                                               \
        default:                                                                                   \
            break;                                                                                 \
        }                                                                                          \
        if (atomic->form == QN_ATOMIC_ADD && (atomic->letter == 'u' || atomic->letter == 's')) {   \
            return __atomic_fetch_add(at, b, ORDER);                                               \
        }                                                                                          \
        old = __atomic_load_n(at, __ATOMIC_RELAXED);                                               \
        do {                                                                                       \
            next = NEXT##bits(atomic, old, b);                                                     \
        } while (!__atomic_compare_exchange_n(at, &old, next, true, ORDER, __ATOMIC_RELAXED));     \
        return old;                                                                                \
    }
#define NEXT16(atomic, old, b) (uint16_t) add_halves(atomic, old, b)
#define NEXT32(atomic, old, b)                                                                     \
    ((atomic)->addition ? add_halves(atomic, old, b) : step32(atomic, old, b))
#define NEXT64(atomic, old, b) step64(atomic, old, b)
DEFINE(uint16_t, 16)
DEFINE(uint32_t, 32)
DEFINE(uint64_t, 64)

/* 128 bits: exch and cas. Few hosts have them without a library, so one lock guards them all; they
 * are atomic among themselves, which is what a kernel can expect of a location used with them. */
static void update128(const qn_atomic *atomic, uint64_t *at, const uint64_t b[2],
                      const uint64_t c[2], uint64_t old[2])
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    memcpy(old, at, 16);
    if (atomic->form == QN_ATOMIC_EXCH) {
        memcpy(at, b, 16);
    } else if (old[0] == b[0] && old[1] == b[1]) {
        memcpy(at, c, 16);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- compare-and-swap of two bytes for the sake of one -------------------------------------- */

/* GPUs swap no less than two bytes, so code that wants to swap one byte swaps it together with its
 * neighbour, which keeps its value. If the neighbour is outside every array, only the one byte is
 * touched, and the other reads as 0. */

static uint16_t source16(qn_warp *warp, qn_place place, unsigned lane)
{
    return ((const uint16_t *)qn_at(warp, place))[lane];
}

static bool swaps_two_bytes(const qn_op *op)
{
    const qn_atomic *atomic = op->extra;
    return op->function == qn_run_atomic && atomic->form == QN_ATOMIC_CAS && atomic->bits == 16;
}

static unsigned changed_bits(qn_warp *warp, const qn_op *op, unsigned lane)
{
    return source16(warp, op->b, lane) ^ source16(warp, op->c, lane);
}

bool qn_atomic_at_edge(qn_warp *warp, const qn_op *op, unsigned lane, unsigned live)
{
    return swaps_two_bytes(op) && live != 0 &&
           (changed_bits(warp, op, lane) & (live == 1 ? 0xff00u : 0x00ffu)) == 0;
}

unsigned qn_atomic_bytes(qn_warp *warp, const qn_op *op, unsigned lane, unsigned bytes,
                         unsigned *first)
{
    if (!swaps_two_bytes(op)) {
        return bytes;
    }
    const unsigned changed = changed_bits(warp, op, lane);
    *first = (changed & 0xff) == 0;
    return (unsigned)((changed & 0xff) != 0) + (unsigned)(changed >> 8 != 0);
}

/* `address` is that of the two bytes. */
static uint16_t swap_at_edge(qn_warp *warp, uint64_t address, unsigned lane, uint16_t b, uint16_t c)
{
    const unsigned shift = qn_access_extent(warp, lane, address) != 0 ? 0 : 8;
    uint8_t *at = (uint8_t *)(uintptr_t)address + shift / 8;
    uint8_t old = (uint8_t)(b >> shift);
    if ((b & ~(0xffu << shift)) != 0) {
        old = __atomic_load_n(at, __ATOMIC_ACQUIRE);
    } else {
        __atomic_compare_exchange_n(at, &old, (uint8_t)(c >> shift), false, ORDER,
                                    __ATOMIC_ACQUIRE);
    }
    return (uint16_t)(old << shift);
}

/* All lanes, for one width. The old values go to a buffer first, since d may overlap b and c. */
#define EACH(type, bits)                                                                           \
    for (uint32_t rest = mask & ~at.edge; rest; rest &= rest - 1) {                                \
        unsigned lane = qn_first_lane(rest);                                                       \
        old[lane] = update##bits(atomic, (type *)(uintptr_t)(at.at[lane] + at.base),               \
                                 ((const type *)b)[lane], ((const type *)c)[lane]);                \
    }                                                                                              \
    for (uint32_t rest = d ? mask : 0; rest; rest &= rest - 1) {                                   \
        ((type *)d)[qn_first_lane(rest)] = (type)old[qn_first_lane(rest)];                         \
    }

bool qn_run_atomic(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    const qn_atomic *atomic = op->extra;
    void *d = op->d == QN_NO_PLACE ? NULL : qn_at(warp, op->d);
    const void *b = qn_at(warp, op->b), *c = qn_at(warp, op->c);
    qn_addresses at;
    uint64_t old[2 * QN_LANES];
    at.edge = 0;
    if (!qn_access_prepare(warp, op, mask, op->count, QN_ATOMIC, &at)) {
        return false;
    }
    for (uint32_t rest = at.edge; rest; rest &= rest - 1) {
        unsigned lane = qn_first_lane(rest);
        old[lane] = swap_at_edge(warp, at.at[lane] + at.base, lane, source16(warp, op->b, lane),
                                 source16(warp, op->c, lane));
    }
    if (atomic->bits == 16) {
        EACH(uint16_t, 16)
    } else if (atomic->bits == 32) {
        EACH(uint32_t, 32)
    } else if (atomic->bits == 64) {
        EACH(uint64_t, 64)
    } else {
        const uint64_t *b2 = b, *c2 = c;
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            unsigned lane = qn_first_lane(rest);
            uint64_t before[2];
            update128(atomic, (uint64_t *)(uintptr_t)(at.at[lane] + at.base),
                      (const uint64_t[]){b2[lane], b2[QN_LANES + lane]},
                      (const uint64_t[]){c2[lane], c2[QN_LANES + lane]}, before);
            old[lane] = before[0];
            old[QN_LANES + lane] = before[1];
        }
        for (uint32_t rest = d ? mask : 0; rest; rest &= rest - 1) {
            unsigned lane = qn_first_lane(rest);
            ((uint64_t *)d)[lane] = old[lane];
            ((uint64_t *)d)[QN_LANES + lane] = old[QN_LANES + lane];
        }
    }
    return true;
}
