/* SPDX-License-Identifier: MIT
 *
 * Loads and stores of scalars and vectors in every space. The check is made once for the whole
 * access of a lane; then each element moves between memory and its register.
 */
#include "ptx/run/run.h"

#include <string.h>

enum { FAR = 2048, CACHE_LINE = 64 };

/* Of a range that all lanes read from, ask for as many bytes behind it: another warp often wants
 * those next, and CPUs that look ahead by themselves do so within a page. */
static inline void look_ahead(const qn_addresses *from, unsigned bytes)
{
    const uint64_t end = from->high + bytes, size = end - from->low;
    for (uint64_t ahead = 0; size <= FAR && ahead < size; ahead += CACHE_LINE) {
        __builtin_prefetch((const void *)(uintptr_t)(end + ahead));
    }
}

bool qn_run_load(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    const qn_transfer *access = op->extra;
    const unsigned bytes = access->element->memory_bits / 8u;
    qn_addresses from;
    if (!qn_access_prepare(warp, op, mask, bytes * op->count, QN_READ, &from)) {
        return false;
    }
    if (op->space == QN_SPACE_GLOBAL) {
        look_ahead(&from, bytes * op->count);
    }
    if (access->vector) {
        void *d[QN_COUNT(access->places)];
        for (unsigned k = 0; k < op->count; k++) {
            d[k] = qn_at(warp, access->places[k]);
        }
        access->vector->load(d, &from, from.base, mask);
        return true;
    }
    for (unsigned k = 0; k < op->count; k++) {
        if (access->places[k] != QN_NO_PLACE) {
            access->element->load(qn_at(warp, access->places[k]), &from, from.base + k * bytes,
                                  mask);
        }
    }
    return true;
}

bool qn_run_store(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    const qn_transfer *access = op->extra;
    const unsigned bytes = access->element->memory_bits / 8u;
    qn_addresses to;
    if (!qn_access_prepare(warp, op, mask, bytes * op->count, QN_WRITE, &to)) {
        return false;
    }
    if (access->vector) {
        const void *s[QN_COUNT(access->places)];
        for (unsigned k = 0; k < op->count; k++) {
            s[k] = qn_at(warp, access->places[k]);
        }
        access->vector->store(s, &to, to.base, mask);
        return true;
    }
    for (unsigned k = 0; k < op->count; k++) {
        access->element->store(qn_at(warp, access->places[k]), &to, to.base + k * bytes, mask);
    }
    return true;
}

/* cp.async: the copy is made when it is issued, so that waiting for it does nothing. If the source
 * has a place b, that is how many of the `count` bytes are read, and the rest become zero; if it
 * has a place c, lanes for which that predicate is true read nothing. */
bool qn_run_async_copy(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    const qn_op *source = op->extra;
    const uint32_t *sizes = source->b == QN_NO_PLACE ? NULL : qn_at(warp, source->b);
    uint32_t reading =
        source->c == QN_NO_PLACE ? mask : mask & ~*(uint32_t *)qn_at(warp, source->c);
    for (uint32_t rest = sizes ? mask : 0; rest; rest &= rest - 1) {
        unsigned lane = qn_first_lane(rest);
        reading &= ~((uint32_t)(sizes[lane] == 0) << lane);
    }
    qn_addresses from, to;
    if ((reading && !qn_access_prepare(warp, source, reading, op->count, QN_READ, &from)) ||
        !qn_access_prepare(warp, op, mask, op->count, QN_WRITE, &to)) {
        return false;
    }
    for (; mask; mask &= mask - 1) {
        unsigned lane = qn_first_lane(mask);
        const uint32_t size = sizes ? QN_MIN(sizes[lane], (uint32_t)op->count) : op->count;
        unsigned char *d = (unsigned char *)(uintptr_t)(to.at[lane] + to.base);
        memset(d, 0, op->count);
        if (reading >> lane & 1) {
            memcpy(d, (const void *)(uintptr_t)(from.at[lane] + from.base), size);
        }
    }
    return true;
}
