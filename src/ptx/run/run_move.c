/* SPDX-License-Identifier: MIT
 *
 * Moves that are not lane-wise functions of registers: packing and unpacking of vectors, addresses
 * of variables that each lane or frame has its own copy of, and the window of shared memory.
 */
#include "ptx/watch/watch.h"

#include <string.h>

#define EACH_LANE(mask, lane)                                                                      \
    for (uint32_t rest_ = (mask), lane; rest_ && ((lane = qn_first_lane(rest_)), true);            \
         rest_ &= rest_ - 1)

/* A part of a vector; one of 8 bits is in a register of 16. */
static uint64_t part_of(const void *place, unsigned bits, unsigned lane)
{
    return bits == 8 ? qn_lane_value(place, 16, lane) & 0xff : qn_lane_value(place, bits, lane);
}

static void put(void *place, unsigned bits, unsigned lane, uint64_t value)
{
    if (bits == 8) {
        qn_lane_put(place, 16, lane, value & 0xff);
    } else {
        qn_lane_put(place, bits, lane, value);
    }
}

/* Two parts of 32 or 16 bits, which are most of what compilers write: all lanes at once. */
#define PACK_PAIR(whole, part)                                                                     \
    {                                                                                              \
        const part *low = qn_at(warp, places[0]), *high = qn_at(warp, places[1]);                  \
        whole line[QN_LANES]; /* d may overlap the parts */                                        \
        for (unsigned lane = 0; lane < QN_LANES; lane++) {                                         \
            line[lane] = low[lane] | (whole)high[lane] << 8 * sizeof(part);                        \
        }                                                                                          \
        memcpy(d, line, sizeof line);                                                              \
        return true;                                                                               \
    }

#define UNPACK_PAIR(whole, part)                                                                   \
    {                                                                                              \
        whole line[QN_LANES]; /* the parts may overlap it */                                       \
        memcpy(line, qn_at(warp, op->a), sizeof line);                                             \
        part *low = qn_at(warp, places[0]), *high = qn_at(warp, places[1]);                        \
        for (unsigned lane = 0; lane < QN_LANES; lane++) {                                         \
            low[lane] = (part)line[lane];                                                          \
        }                                                                                          \
        for (unsigned lane = 0; lane < QN_LANES; lane++) {                                         \
            high[lane] = (part)(line[lane] >> 8 * sizeof(part));                                   \
        }                                                                                          \
        return true;                                                                               \
    }

/* The parts lie one after the other in `count * bits` bits, the first lowest. A whole of 128 bits
 * is two lines: which half a part is in follows from its position. */
bool qn_run_pack(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    const qn_place *places = op->extra;
    const unsigned total = op->bits * op->count;
    uint64_t *d = qn_at(warp, op->d);
    if (mask == QN_ALL_LANES && op->count == 2 && op->bits == 32) {
        PACK_PAIR(uint64_t, uint32_t)
    }
    if (mask == QN_ALL_LANES && op->count == 2 && op->bits == 16) {
        PACK_PAIR(uint32_t, uint16_t)
    }
    uint64_t halves[QN_LANES][2] = {0}; /* d may overlap the parts */
    for (unsigned k = 0; k < op->count; k++) {
        const unsigned bit = k * op->bits;
        EACH_LANE(mask, lane)
        {
            halves[lane][bit / 64] |= part_of(qn_at(warp, places[k]), op->bits, lane) << bit % 64;
        }
    }
    EACH_LANE(mask, lane)
    {
        put(d, QN_MIN(total, 64u), lane, halves[lane][0]);
        if (total == 128) {
            d[QN_LANES + lane] = halves[lane][1];
        }
    }
    return true;
}

bool qn_run_unpack(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    const qn_place *places = op->extra;
    const unsigned total = op->bits * op->count;
    const bool pair = mask == QN_ALL_LANES && op->count == 2 && places[0] != QN_NO_PLACE &&
                      places[1] != QN_NO_PLACE;
    if (pair && op->bits == 32) {
        UNPACK_PAIR(uint64_t, uint32_t)
    }
    if (pair && op->bits == 16) {
        UNPACK_PAIR(uint32_t, uint16_t)
    }
    uint64_t a[2 * QN_LANES]; /* the parts may overlap it */
    memcpy(a, qn_at(warp, op->a), total * QN_LANES / 8);
    EACH_LANE(mask, lane)
    {
        uint64_t halves[2] = {part_of(a, QN_MIN(total, 64u), lane),
                              total == 128 ? a[QN_LANES + lane] : 0};
        for (unsigned k = 0; k < op->count; k++) {
            unsigned bit = k * op->bits;
            if (places[k] != QN_NO_PLACE) {
                put(qn_at(warp, places[k]), op->bits, lane, halves[bit / 64] >> bit % 64);
            }
        }
    }
    return true;
}

bool qn_run_address(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    const qn_frame *frame = warp->frame;
    void *d = qn_at(warp, op->d);
    EACH_LANE(mask, lane)
    {
        uint64_t address = (uint64_t)op->offset;
        if (op->space == QN_SPACE_LOCAL) {
            address += (uint64_t)(uintptr_t)warp->local + lane * warp->run->local_stride +
                       frame->local_base;
        } else if (op->space == QN_SPACE_PARAM) {
            address += (uint64_t)(uintptr_t)frame->params + lane * frame->param_stride;
        } else {
            address += warp->run->dynamic_base;
        }
        put(d, op->bits, lane, address);
    }
    return true;
}

/* cvta.shared, and with flags cvta.to.shared. */
bool qn_run_convert_shared(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    const uint64_t base = (uint64_t)(uintptr_t)warp->block->shared;
    uint64_t *d = qn_at(warp, op->d), a[QN_LANES];
    memcpy(a, qn_at(warp, op->a), sizeof a);
    EACH_LANE(mask, lane)
    {
        d[lane] = op->flags ? a[lane] - base : a[lane] + base;
    }
    return true;
}

/* Constants lie among the module's variables, and are in no other space. */
static bool is_constant(const qn_ptx_module *module, uint64_t address)
{
    const uint64_t at = address - (uint64_t)(uintptr_t)module->globals;
    for (uint32_t k = 0; at < module->global_bytes && k < module->symbol_count; k++) {
        const qn_ptx_symbol *symbol = module->symbols[k];
        if (symbol->space == QN_SPACE_CONST && at - symbol->offset < symbol->size) {
            return true;
        }
    }
    return false;
}

static bool is_in(const qn_warp *warp, uint8_t space, unsigned lane, uint64_t address)
{
    const qn_run *run = warp->run;
    const uint64_t local = (uint64_t)(uintptr_t)warp->local + lane * run->local_stride;
    const bool in_shared = address - (uint64_t)(uintptr_t)warp->block->shared < run->shared_bytes;
    const bool in_local = address - local < run->local_stride;
    const bool in_params = address - (uint64_t)(uintptr_t)run->params < run->kernel->param_bytes;
    switch (space) {
    case QN_SPACE_SHARED:
        return in_shared;
    case QN_SPACE_LOCAL:
        return in_local;
    case QN_SPACE_PARAM:
        return in_params;
    case QN_SPACE_GLOBAL:
        return !in_shared && !in_local && !is_constant(run->kernel->module, address);
    case QN_SPACE_CONST:
        return is_constant(run->kernel->module, address);
    default:
        return false;
    }
}

bool qn_run_is_space(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    const uint64_t *a = qn_at(warp, op->a);
    uint32_t *d = qn_at(warp, op->d), bits = 0;
    EACH_LANE(mask, lane)
    {
        bits |= (uint32_t)is_in(warp, op->space, lane, a[lane]) << lane;
    }
    *d = (*d & ~mask) | bits;
    return true;
}

/* Lanes may ask for different sizes; all get the room of the largest. */
bool qn_run_alloca(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    qn_frame *frame = warp->frame;
    const uint64_t *size = qn_at(warp, op->a);
    uint64_t *d = qn_at(warp, op->d), most = 0;
    const uint64_t begin = frame->local_top;
    EACH_LANE(mask, lane)
    {
        most = QN_MAX(most, size[lane]);
        if (begin + most > warp->run->local_stride || most > warp->run->local_stride) {
            return qn_fault(warp, op, lane, QUERN_ERROR_LAUNCH,
                            "alloca of %llu bytes: stack overflow", (unsigned long long)size[lane]);
        }
    }
    /* a multiple of 16, as the stride is */
    frame->local_top = begin + ((most + 15) & ~UINT64_C(15));
    qn_watch_local(warp, mask, begin, frame->local_top);
    EACH_LANE(mask, lane)
    {
        d[lane] = (uint64_t)(uintptr_t)warp->local + lane * warp->run->local_stride + begin;
    }
    return true;
}
