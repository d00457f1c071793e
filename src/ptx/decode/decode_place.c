/* SPDX-License-Identifier: MIT
 *
 * Decides where operands are. Registers have slots in the frame; immediates, addresses of variables
 * and the kernel's parameters are constants, broadcast to 32 lanes in the pool, each value once;
 * %tid and %ctaid have lines at the end of the kernel's frame, which each warp or block fills.
 */
#include "ptx/decode/decode.h"

#include <string.h>

unsigned qn_register_bits(qn_ptx_type type)
{
    return type.bits == 8 ? 16 : type.bits;
}

static unsigned line_bytes(unsigned bits)
{
    unsigned bytes = bits == 1 ? 4 : bits / 8 * QN_LANES;
    return (bytes + 63) & ~63u;
}

void qn_broadcast(void *place, unsigned register_bits, uint64_t low, uint64_t high)
{
    for (int lane = 0; lane < QN_LANES; lane++) {
        switch (register_bits) {
        case 1:
            *(uint32_t *)place = low ? QN_ALL_LANES : 0;
            return;
        case 16:
            ((uint16_t *)place)[lane] = (uint16_t)low;
            break;
        case 32:
            ((uint32_t *)place)[lane] = (uint32_t)low;
            break;
        default:
            ((uint64_t *)place)[lane] = low;
            if (register_bits == 128) {
                ((uint64_t *)place)[QN_LANES + lane] = high;
            }
            break;
        }
    }
}

bool qn_places_allocate(qn_decoder *decoder)
{
    const uint32_t count = decoder->function->register_count;
    decoder->definitions = qn_calloc(count + 1, sizeof *decoder->definitions);
    decoder->alias = qn_alloc((count + 1) * sizeof *decoder->alias);
    decoder->constant_capacity = 64;
    decoder->constants = qn_calloc(decoder->constant_capacity, sizeof *decoder->constants);
    if (!decoder->definitions || !decoder->alias || !decoder->constants) {
        return false;
    }
    for (uint32_t k = 0; k <= count; k++) {
        decoder->alias[k] = QN_NO_PLACE;
    }
    return true;
}

void qn_places_free(qn_decoder *decoder)
{
    qn_free(decoder->definitions);
    qn_free(decoder->alias);
    qn_free(decoder->constants);
    qn_free(decoder->shadows);
}

/* A place has 31 bits. A function that needs more counts as out of memory. */
#define PLACES_LIMIT (1u << 30)

/* Room for one more line of constants. */
static qn_place pool_line(qn_decoder *decoder, unsigned bits)
{
    qn_code *code = decoder->code;
    const unsigned bytes = line_bytes(bits);
    if (code->pool_bytes > PLACES_LIMIT) {
        decoder->failed = true;
        return QN_IN_POOL;
    }
    if (code->pool_bytes + bytes + QN_PLACE_MARGIN > decoder->pool_capacity) {
        size_t capacity = QN_MAX(decoder->pool_capacity * 2, (size_t)4096);
        unsigned char *pool = qn_alloc_aligned(64, capacity);
        if (!pool) {
            decoder->failed = true;
            return QN_IN_POOL;
        }
        if (code->pool_bytes > 0) {
            memcpy(pool, code->pool, code->pool_bytes);
        }
        qn_free(code->pool);
        code->pool = pool;
        decoder->pool_capacity = capacity;
    }
    qn_place place = code->pool_bytes | QN_IN_POOL;
    memset(code->pool + code->pool_bytes, 0, bytes);
    code->pool_bytes += bytes;
    return place;
}

static unsigned char *pool_at(const qn_decoder *decoder, qn_place place)
{
    return decoder->code->pool + (place & ~QN_IN_POOL);
}

static qn_constant *find_constant(qn_constant *table, uint32_t capacity, unsigned bits,
                                  uint64_t low, uint64_t high)
{
    uint64_t hash = (low ^ high * 31 ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t at = (uint32_t)(hash >> 40) & (capacity - 1);
    while (table[at].bits &&
           !(table[at].bits == bits && table[at].low == low && table[at].high == high)) {
        at = (at + 1) & (capacity - 1);
    }
    return &table[at];
}

static bool grow_constants(qn_decoder *decoder)
{
    uint32_t capacity = decoder->constant_capacity * 2;
    qn_constant *table = qn_calloc(capacity, sizeof *table);
    if (!table) {
        decoder->failed = true;
        return false;
    }
    for (uint32_t k = 0; k < decoder->constant_capacity; k++) {
        const qn_constant *old = &decoder->constants[k];
        if (old->bits) {
            *find_constant(table, capacity, old->bits, old->low, old->high) = *old;
        }
    }
    qn_free(decoder->constants);
    decoder->constants = table;
    decoder->constant_capacity = capacity;
    return true;
}

qn_place qn_place_constant(qn_decoder *decoder, unsigned bits, uint64_t low, uint64_t high)
{
    if (bits < 64) {
        low &= (UINT64_C(1) << bits) - 1;
    }
    if (decoder->constant_count * 2 >= decoder->constant_capacity && !grow_constants(decoder)) {
        return QN_IN_POOL;
    }
    qn_constant *constant =
        find_constant(decoder->constants, decoder->constant_capacity, bits, low, high);
    if (!constant->bits) {
        *constant = (qn_constant){low, high, (uint8_t)bits, pool_line(decoder, bits)};
        decoder->constant_count++;
        if (!decoder->failed) {
            qn_broadcast(pool_at(decoder, constant->place), bits, low, high);
        }
    }
    return constant->place;
}

qn_place qn_place_patch(qn_decoder *decoder, const qn_patch *patch)
{
    qn_code *code = decoder->code;
    for (uint32_t k = 0; k < code->patch_count; k++) {
        const qn_patch *other = &code->patches[k];
        if (other->kind == patch->kind && other->offset == patch->offset &&
            other->memory_bits == patch->memory_bits &&
            other->register_bits == patch->register_bits && other->is_signed == patch->is_signed) {
            return other->place | QN_IN_POOL;
        }
    }
    if (!qn_room((void **)&code->patches, code->patch_count, &decoder->patch_capacity,
                 sizeof *code->patches)) {
        decoder->failed = true;
        return QN_IN_POOL;
    }
    qn_patch *mine = &code->patches[code->patch_count++];
    *mine = *patch;
    mine->place = pool_line(decoder, patch->register_bits) & ~QN_IN_POOL;
    return mine->place | QN_IN_POOL;
}

qn_place qn_place_scratch(qn_decoder *decoder, unsigned bits)
{
    qn_place place = decoder->code->frame_bytes;
    if (place > PLACES_LIMIT) {
        decoder->failed = true;
        return 0;
    }
    decoder->code->frame_bytes += line_bytes(bits);
    return place;
}

bool qn_is_kernel_param(const qn_decoder *decoder, const qn_ptx_operand *operand, uint64_t *offset)
{
    const qn_ptx_symbol *symbol = operand->symbol;
    if (!symbol || symbol->space != QN_SPACE_PARAM || !decoder->function->is_kernel ||
        symbol->offset >= decoder->function->param_bytes) {
        return false;
    }
    *offset = symbol->offset + (uint64_t)operand->offset;
    return *offset <= decoder->function->param_bytes;
}

/* The special registers that every kernel reads. */
static qn_place special(qn_decoder *decoder, const char *name, unsigned bits)
{
    static const char *const lines[] = {"%tid.x",   "%tid.y",   "%tid.z",
                                        "%ctaid.x", "%ctaid.y", "%ctaid.z"};
    static const char *const dimensions[] = {"%ntid.x",   "%ntid.y",   "%ntid.z",
                                             "%nctaid.x", "%nctaid.y", "%nctaid.z"};
    if (!decoder->function->is_kernel || bits != 32) {
        return QN_NO_PLACE;
    }
    for (unsigned k = 0; k < 6; k++) {
        if (strcmp(name, lines[k]) == 0) {
            if (!decoder->code->lines[k]) {
                decoder->code->lines[k] = qn_place_scratch(decoder, 32);
            }
            return decoder->code->lines[k];
        }
        if (strcmp(name, dimensions[k]) == 0) {
            return qn_place_patch(
                decoder, &(qn_patch){.kind = QN_PATCH_DIMENSION, .register_bits = 32, .offset = k});
        }
    }
    return QN_NO_PLACE;
}

/* The address of a variable, if it is the same for all lanes of all frames. */
static qn_place address(qn_decoder *decoder, const qn_ptx_operand *operand, unsigned bits)
{
    const qn_ptx_symbol *symbol = operand->symbol;
    const qn_ptx_module *module = decoder->function->module;
    uint64_t offset = symbol->offset + (uint64_t)operand->offset;
    switch (symbol->space) {
    case QN_SPACE_NONE:
        return qn_place_constant(decoder, bits, (uint64_t)(uintptr_t)symbol->function, 0);
    case QN_SPACE_GLOBAL:
    case QN_SPACE_CONST:
        return qn_place_constant(decoder, bits, (uint64_t)(uintptr_t)module->globals + offset, 0);
    case QN_SPACE_SHARED:
        if (!symbol->external) {
            offset += symbol->outside ? 0 : decoder->function->shared_base;
            return qn_place_constant(decoder, bits, offset, 0);
        }
        if (!decoder->function->is_kernel) {
            return QN_NO_PLACE;
        }
        return qn_place_patch(decoder, &(qn_patch){.kind = QN_PATCH_DYNAMIC,
                                                   .register_bits = (uint8_t)bits,
                                                   .offset = operand->offset});
    case QN_SPACE_PARAM:
        if (qn_is_kernel_param(decoder, operand, &offset)) {
            return qn_place_patch(decoder, &(qn_patch){.kind = QN_PATCH_PARAM_ADDRESS,
                                                       .register_bits = (uint8_t)bits,
                                                       .offset = (int64_t)offset});
        }
        return QN_NO_PLACE;
    default:
        return QN_NO_PLACE;
    }
}

/* Immediates keep the bits of the type they were written in. */
static qn_place immediate(qn_decoder *decoder, const qn_ptx_operand *operand, unsigned bits)
{
    uint64_t value = operand->bits;
    if (bits == 1) {
        value = value != 0;
    } else if (operand->is_float && operand->float_bits == 64 && bits == 32) {
        double wide;
        memcpy(&wide, &value, sizeof wide);
        float narrow = (float)wide;
        value = 0;
        memcpy(&value, &narrow, sizeof narrow);
    } else if (operand->is_float && operand->float_bits == 32 && bits == 64) {
        float narrow;
        memcpy(&narrow, &value, sizeof narrow);
        double wide = (double)narrow;
        memcpy(&value, &wide, sizeof wide);
    }
    bool negative = !operand->is_float && (int64_t)value < 0;
    return qn_place_constant(decoder, bits, value, bits == 128 && negative ? UINT64_MAX : 0);
}

qn_place qn_place_stable(qn_decoder *decoder, const qn_ptx_operand *operand, unsigned bits)
{
    switch (operand->kind) {
    case QN_OPERAND_IMMEDIATE:
        return immediate(decoder, operand, bits);
    case QN_OPERAND_SPECIAL:
        return special(decoder, operand->name, bits);
    case QN_OPERAND_SYMBOL:
        return operand->symbol ? address(decoder, operand, bits) : QN_NO_PLACE;
    case QN_OPERAND_REGISTER:
        return operand->negated || operand->reg < 0 ? QN_NO_PLACE : decoder->alias[operand->reg];
    default:
        return QN_NO_PLACE;
    }
}

static bool has_width(qn_decoder *decoder, const qn_ptx_operand *operand, unsigned bits)
{
    const unsigned given = qn_register_bits(decoder->function->registers[operand->reg].type);
    decoder->mismatch |= given != bits || (operand->negated && bits != 1);
    return !decoder->mismatch;
}

static qn_place register_source(qn_decoder *decoder, const qn_ptx_operand *operand)
{
    qn_place alias = decoder->alias[operand->reg];
    qn_place place = alias != QN_NO_PLACE ? alias : decoder->function->registers[operand->reg].slot;
    if (!operand->negated) {
        return place;
    }
    qn_place inverted = qn_place_scratch(decoder, 1);
    const qn_lane_form *form = qn_lane_find("not.pred");
    qn_op *op = qn_emit(decoder, QN_OP_LANES);
    op->lanes = form->function;
    op->d = inverted;
    op->a = place;
    op->guard = QN_NO_PLACE;
    return inverted;
}

qn_place qn_place_source(qn_decoder *decoder, const qn_ptx_operand *operand, unsigned bits)
{
    if (operand->kind == QN_OPERAND_REGISTER) {
        return has_width(decoder, operand, bits) ? register_source(decoder, operand) : QN_NO_PLACE;
    }
    qn_place place = qn_place_stable(decoder, operand, bits);
    if (place != QN_NO_PLACE) {
        return place;
    }
    unsigned special_bits;
    int special_index =
        operand->kind == QN_OPERAND_SPECIAL ? qn_special_find(operand->name, &special_bits) : -1;
    if (special_index < 0) {
        return QN_NO_PLACE;
    }
    place = qn_place_scratch(decoder, bits);
    qn_op *op = qn_emit_function(decoder, qn_run_special);
    op->d = place;
    op->flags = (uint32_t)special_index;
    op->bits = (uint8_t)bits;
    op->guard = QN_NO_PLACE;
    return place;
}

qn_place qn_place_target(qn_decoder *decoder, const qn_ptx_operand *operand, unsigned bits)
{
    if (operand->kind != QN_OPERAND_REGISTER || !has_width(decoder, operand, bits)) {
        return QN_NO_PLACE;
    }
    return decoder->function->registers[operand->reg].slot;
}
