/* SPDX-License-Identifier: MIT
 *
 * Loads, stores and whatever else touches memory: they move definedness between registers and the
 * marks of memory. In: touches, one per lane. Out: shadows of registers, marks of memory, or a
 * report of something that nobody wrote and that matters, because it goes into device memory or is
 * used by an operation.
 *
 * Not everything undefined that is stored in device memory matters. Bytes that return to where they
 * were loaded from, such as the elements of a pack that nobody assigned, change nothing. Bytes with
 * defined ones beside them may be the padding of a structure. Quern's own packs have no padding.
 */
#include "ptx/run/async.h"
#include "ptx/run/matrix.h"
#include "ptx/run/run_forms.h"
#include "ptx/watch/shadow.h"

#include <string.h>

enum { AROUND = 16 }; /* bytes: usually the widest alignment that a member of a structure has */

static unsigned char load_mark(const unsigned char *mark)
{
    return __atomic_load_n(mark, __ATOMIC_RELAXED);
}

/* Atomic, because several host threads may write the same marks at once. */
static void set_marks(unsigned char *marks, uint64_t bytes, unsigned char value)
{
    for (uint64_t k = 0; marks && k < bytes; k++) {
        __atomic_store_n(marks + k, value, __ATOMIC_RELAXED);
    }
}

/* The bits of up to 8 bytes that are undefined. */
static uint64_t undefined_bits(const unsigned char *marks, unsigned bytes)
{
    uint64_t bits = 0;
    for (unsigned k = 0; marks && k < bytes; k++) {
        bits |= (uint64_t)(unsigned char)~load_mark(marks + k) << 8 * k;
    }
    return bits;
}

static bool all_undefined(const unsigned char *marks, uint64_t bytes)
{
    for (uint64_t k = 0; marks && k < bytes; k++) {
        if (load_mark(marks + k) != 0) {
            return false;
        }
    }
    return marks != NULL;
}

/* The address of a touch as the host sees it. */
static uint64_t host_address(const qn_touch *touch)
{
    return touch->address +
           (touch->space == QN_SPACE_SHARED ? (uint64_t)(uintptr_t)touch->warp->block->shared : 0);
}

static uint32_t number_of(const qn_touch *touch)
{
    return touch->warp->frame->code->first_number + touch->op->origin;
}

/* Report an operation that uses undefined memory directly. */
static bool report(const qn_touch *touch)
{
    unsigned byte = 0;
    while (byte + 1 < touch->bytes && load_mark(touch->written + byte) == 0xff) {
        byte++;
    }
    const qn_source source = {host_address(touch) + byte, number_of(touch), 0};
    return qn_shadow_report_bytes(touch->warp, touch->lane, &source, number_of(touch),
                                  (touch->bytes & (touch->bytes - 1)) == 0 ? touch->bytes : 1);
}

/* ---- loads ---------------------------------------------------------------------------------- */

/* 64 bits or less of an element, from `marks` on, into a register. */
static void load_part(const qn_touch *touch, const unsigned char *marks, uint64_t address,
                      unsigned bytes, bool is_signed, uint32_t shadow)
{
    qn_shade shade = {.bits = undefined_bits(marks, bytes)};
    if (shade.bits) {
        const unsigned bits = 8 * bytes;
        for (unsigned k = 0; k < 8; k++) {
            const uint64_t at = address + QN_MIN(k, bytes - 1);
            const qn_source *stored = qn_watch_source(touch, at);
            shade.from[k] = stored && stored->load ? *stored : (qn_source){at, number_of(touch), 0};
        }
        if (is_signed && shade.bits >> (bits - 1) & 1) {
            shade.bits |= ~qn_ones(bits);
        }
    }
    qn_shade_put(touch->warp->frame, shadow, touch->lane, &shade);
}

static void load(const qn_touch *touch)
{
    const qn_transfer *access = touch->op->extra;
    const unsigned bytes = access->element->memory_bits / 8u;
    uint64_t address = host_address(touch);
    const unsigned char *marks = touch->written;
    for (unsigned k = 0; k < touch->op->count; k++, address += bytes) {
        load_part(touch, marks, address, QN_MIN(bytes, 8u), access->element->is_signed,
                  access->shadows[k]);
        if (bytes == 16) {
            load_part(touch, marks ? marks + 8 : NULL, address + 8, 8, false, access->upper[k]);
        }
        marks = marks ? marks + bytes : NULL;
    }
}

/* ---- stores --------------------------------------------------------------------------------- */

/* Is it code of Quern's own, a pack or what follows the user's texts? That moves elements, which
 * have no padding. */
static bool is_of_quern(const qn_ptx_module *module, const qn_ptx_instruction *instruction)
{
    const char *file = instruction->location < module->location_count
                           ? module->locations[instruction->location].file
                           : NULL;
    const char *name = file ? qn_base_name(file) : "";
    return strcmp(name, "pack.cuh") == 0 || name[0] == '<';
}

/* Is the other a load from the same base address, at the same place in the source, but with another
 * offset? */
static bool is_beside(const qn_ptx_instruction *load, const qn_ptx_instruction *other)
{
    const qn_ptx_operand *a = &load->operands[1], *b = &other->operands[1];
    return qn_begins(other->opcode, "ld.") && other->location == load->location &&
           load->operand_count > 1 && other->operand_count > 1 && a->kind == QN_OPERAND_ADDRESS &&
           b->kind == QN_OPERAND_ADDRESS && a->reg == b->reg && a->symbol == b->symbol &&
           a->offset != b->offset;
}

/* May the load be part of copying a structure? That is done by vectors, byte by byte, or by several
 * loads. */
static bool is_of_structure(const qn_ptx_function *function, const qn_ptx_instruction *load,
                            unsigned bytes)
{
    bool found = bytes == 1 || strstr(load->opcode, ".v2.") || strstr(load->opcode, ".v4.");
    for (uint32_t k = 0; k < function->instruction_count && !found; k++) {
        found = is_beside(load, &function->instructions[k]);
    }
    return found;
}

/* Does the stored byte come from one that has defined bytes beside it, as padding has? */
static bool may_be_padding(const qn_touch *touch, const qn_source *source)
{
    const qn_ptx_function *function = touch->warp->frame->code->function;
    const qn_ptx_module *module = function->module;
    const qn_ptx_instruction *own = &function->instructions[touch->op->origin];
    const qn_ptx_instruction *load = qn_shadow_instruction(module, source->load, &function);
    const unsigned bytes = qn_shadow_load_bytes(load);
    qn_touch chunk = {.warp = touch->warp, .lane = touch->lane};
    if (is_of_quern(module, load) || is_of_quern(module, own)) {
        return false;
    }
    const unsigned around = is_of_structure(function, load, bytes) ? QN_MAX(AROUND, bytes) : bytes;
    const uint64_t begin = source->address - source->address % around;
    for (uint64_t at = begin; at < begin + around; at++) {
        qn_watch_locate(&chunk, at);
        if (chunk.written && load_mark(chunk.written) != 0) {
            return true;
        }
    }
    return false;
}

/* Is a byte stored where it was loaded from? It may be a bool that became 0 or 1 on the way, so
 * that only its lowest bit is undefined. */
static bool comes_back(const qn_source *from, uint64_t address, uint64_t bits)
{
    return from->address == address && (!from->via || bits == 1);
}

/* A value is stored in device memory; false after a report that its undefined bits matter. */
static bool may_store(const qn_touch *touch, uint64_t address, const qn_shade *shade)
{
    for (unsigned k = 0; k < 8; k++) {
        const qn_source *from = &shade->from[k];
        const uint64_t bits = shade->bits >> 8 * k & 0xff;
        if (bits != 0 && !comes_back(from, address + k, bits) &&
            (from->via || !may_be_padding(touch, from))) {
            return qn_shadow_report(touch->warp, touch->lane, from, number_of(touch));
        }
    }
    return true;
}

static bool store_part(const qn_touch *touch, unsigned char *marks, uint64_t address,
                       unsigned bytes, uint32_t shadow)
{
    qn_shade shade;
    if (!(touch->warp->frame->undefined[shadow] >> touch->lane & 1)) {
        set_marks(marks, bytes, 0xff);
        return true;
    }
    qn_shade_get(touch->warp->frame, shadow, touch->lane, &shade);
    shade.bits &= qn_ones(8 * bytes);
    if (touch->space == QN_SPACE_GLOBAL && !may_store(touch, address, &shade)) {
        return false;
    }
    for (unsigned k = 0; marks && k < bytes; k++) {
        qn_source *stored = qn_watch_source(touch, address + k);
        const unsigned char bits = (unsigned char)(shade.bits >> 8 * k);
        set_marks(marks + k, 1, (unsigned char)~bits);
        if (stored && bits && !comes_back(&shade.from[k], address + k, bits)) {
            *stored = shade.from[k];
            touch->warp->block->watch->local_sources |= touch->space == QN_SPACE_LOCAL;
        }
    }
    return true;
}

static bool store(const qn_touch *touch)
{
    const qn_transfer *access = touch->op->extra;
    const unsigned bytes = access->element->memory_bits / 8u;
    uint64_t address = host_address(touch);
    unsigned char *marks = touch->written;
    for (unsigned k = 0; k < touch->op->count; k++, address += bytes) {
        if (!store_part(touch, marks, address, QN_MIN(bytes, 8u), access->shadows[k]) ||
            (bytes == 16 &&
             !store_part(touch, marks ? marks + 8 : NULL, address + 8, 8, access->upper[k]))) {
            return false;
        }
        marks = marks ? marks + bytes : NULL;
    }
    return true;
}

/* ---- the rest ------------------------------------------------------------------------------- */

/* An exchange passes on what it finds. Other atomics use it; but a part of it may be undefined,
 * such as the neighbours of an element that is narrower than the word. The new value of a
 * compare-and-swap may have such a part, too, whose marks then stay as they were. */
static bool atomic(const qn_touch *touch)
{
    const qn_op *op = touch->op;
    const qn_atomic *atomic = op->extra;
    qn_warp *warp = touch->warp;
    const uint64_t address = host_address(touch);
    qn_shade brought = {0};
    if (atomic->form == QN_ATOMIC_EXCH) {
        load_part(touch, touch->written, address, QN_MIN(touch->bytes, 8u), false,
                  atomic->shadows[0]);
        set_marks(touch->written, touch->bytes, 0xff);
        return true;
    }
    if (touch->bytes != 0 && all_undefined(touch->written, touch->bytes)) {
        return report(touch);
    }
    if (atomic->form == QN_ATOMIC_CAS && touch->first + touch->bytes <= 8) {
        qn_shade_get(warp->frame, atomic->shadows[2], touch->lane, &brought);
        if (brought.bits && !may_store(touch, address - touch->first, &brought)) {
            return false;
        }
        warp->frame->undefined[atomic->shadows[1]] &= ~(1u << touch->lane); /* it was compared */
    }
    warp->frame->undefined[atomic->shadows[0]] &= ~(1u << touch->lane);
    for (unsigned k = 0; touch->written && k < touch->bytes; k++) {
        const unsigned byte = touch->first + k;
        const uint64_t unknown = byte < 8 ? brought.bits >> 8 * byte & 0xff : 0;
        set_marks(touch->written + k, 1,
                  (unsigned char)(load_mark(touch->written + k) | (~unknown & 0xff)));
    }
    return true;
}

/* A copy from memory to memory: what it reads is remembered until it writes. */
static void copy(const qn_touch *touch, uint64_t bytes)
{
    qn_watch *watch = touch->warp->block->watch;
    const uint32_t lane = 1u << touch->lane;
    if (touch->kind == QN_READ) {
        watch->copying |= lane;
        watch->copied[touch->lane] = touch->written;
        return;
    }
    const unsigned char *from = watch->copying & lane ? watch->copied[touch->lane] : NULL;
    for (uint64_t k = 0; touch->written && k < touch->bytes; k++) {
        set_marks(touch->written + k, 1, from && k < bytes ? load_mark(from + k) : 0xff);
    }
    watch->copying &= ~lane;
}

/* How many of the bytes that cp.async writes are copies. */
static uint64_t copied_bytes(const qn_touch *touch)
{
    const qn_op *source = touch->op->extra;
    return touch->kind == QN_WRITE && source->b != QN_NO_PLACE
               ? ((const uint32_t *)qn_at(touch->warp, source->b))[touch->lane]
               : touch->bytes;
}

/* A matrix is undefined when nothing of it was written. */
static void load_tile(const qn_touch *touch)
{
    qn_watch *watch = touch->warp->block->watch;
    if (!all_undefined(touch->written, touch->bytes)) {
        watch->tile_defined = true;
    } else if (!watch->tile_source.load) {
        watch->tile_source = (qn_source){host_address(touch), number_of(touch), 0};
    }
}

bool qn_shadow_touch(const qn_touch *touch)
{
    const qn_op *op = touch->op;
    const qn_op_function function = op->function;
    if (function == qn_run_load) {
        load(touch);
    } else if (function == qn_run_store) {
        return store(touch);
    } else if (function == qn_run_atomic) {
        return atomic(touch);
    } else if (function == qn_run_async_copy || !function) { /* NULL: the source of a cp.async */
        copy(touch, function ? copied_bytes(touch) : touch->bytes);
    } else if (function == qn_run_bulk_copy) {
        copy(touch, touch->bytes);
    } else if (touch->kind == QN_READ &&
               (function == qn_run_matrix_load || function == qn_run_tiles_load)) {
        load_tile(touch);
    } else if (touch->kind == QN_READ
                   ? undefined_bits(touch->written, QN_MIN(touch->bytes, 8u))
                   : touch->kind == QN_ATOMIC && all_undefined(touch->written, touch->bytes)) {
        return report(touch);
    } else if (touch->kind != QN_READ) {
        set_marks(touch->written, touch->bytes, 0xff);
    }
    return true;
}

/* ---- parameters of called functions --------------------------------------------------------- */

/* The frame has one copy per lane, and beside it the undefined bits of each byte. */
static void param_part(qn_warp *warp, bool loads, size_t at, unsigned bytes, uint32_t shadow,
                       unsigned lane)
{
    unsigned char *bits = warp->frame->param_bits + at;
    qn_source *from = warp->frame->param_from + at;
    qn_shade shade = {0};
    if (!loads) {
        qn_shade_get(warp->frame, shadow, lane, &shade);
    }
    for (unsigned k = 0; k < bytes; k++) {
        if (loads) {
            shade.bits |= (uint64_t)bits[k] << 8 * k;
            shade.from[k] = from[k];
        } else if ((bits[k] = (unsigned char)(shade.bits >> 8 * k)) != 0) {
            from[k] = shade.from[k];
        }
    }
    if (loads) {
        qn_shade_put(warp->frame, shadow, lane, &shade);
    }
}

bool qn_run_shade_param(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    const qn_op *own = op + 1;
    const qn_transfer *access = own->extra;
    const bool loads = own->function == qn_run_load;
    const unsigned bytes = access->element->memory_bits / 8u;
    if (!qn_shade_mask(warp, op, &mask)) {
        return false;
    }
    for (; mask; mask &= mask - 1) {
        const unsigned lane = qn_first_lane(mask);
        size_t at = (size_t)lane * warp->frame->param_stride + (size_t)own->offset;
        for (unsigned k = 0; k < own->count; k++, at += bytes) {
            param_part(warp, loads, at, QN_MIN(bytes, 8u), access->shadows[k], lane);
            if (bytes == 16) {
                param_part(warp, loads, at + 8, 8, access->upper[k], lane);
            }
        }
    }
    return true;
}
