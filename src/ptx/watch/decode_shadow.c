/* SPDX-License-Identifier: MIT
 *
 * Puts operations that compute which bits are undefined before the operations of an instruction.
 * In: the operations just bound, with the places of their registers. Out: the same, with more among
 * them; each place that may be undefined gets a shadow, known by its number. shadow.h says what the
 * operations do.
 */
#include "ptx/watch/element.h"

#include "ptx/run/async.h"
#include "ptx/run/matrix.h"
#include "ptx/run/run_forms.h"
#include "ptx/watch/shadow.h"

#include <string.h>

/* ---- forms by their functions --------------------------------------------------------------- */

typedef struct known_form {
    qn_lane_function function;
    const qn_lane_form *form;
    bool second;
} known_form;

#define KNOWN 16384 /* a power of two, well over the number of functions */
static known_form known[KNOWN];

static known_form *find_known(qn_lane_function function)
{
    const uint64_t hash = (uint64_t)(uintptr_t)function * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t)(hash >> 40) & (KNOWN - 1);
    while (known[at].function && known[at].function != function) {
        at = (at + 1) & (KNOWN - 1);
    }
    return &known[at];
}

static void list_known(void)
{
    size_t count;
    const qn_lane_form *forms = qn_lane_forms(&count);
    for (size_t k = 0; k < count; k++) {
        if (forms[k].function) {
            *find_known(forms[k].function) = (known_form){forms[k].function, &forms[k], false};
        }
        if (forms[k].second) {
            *find_known(forms[k].second) = (known_form){forms[k].second, &forms[k], true};
        }
    }
}

/* ---- shadows of places ---------------------------------------------------------------------- */

/* The number of a place's shadow; 0: what lies there is always defined. */
static uint32_t shadow_of(qn_decoder *decoder, qn_place place)
{
    if (place & QN_IN_POOL) { /* constants are always defined */
        return 0;
    }
    const uint32_t index = place / 4;
    if (index >= decoder->shadow_capacity) {
        const uint32_t capacity = QN_MAX(decoder->shadow_capacity * 2, index + 256);
        uint32_t *shadows = qn_realloc(decoder->shadows, capacity * sizeof *shadows);
        if (!shadows) {
            decoder->failed = true;
            return 0;
        }
        memset(shadows + decoder->shadow_capacity, 0,
               (capacity - decoder->shadow_capacity) * sizeof *shadows);
        decoder->shadows = shadows;
        decoder->shadow_capacity = capacity;
    }
    if (!decoder->shadows[index]) {
        decoder->shadows[index] = decoder->code->shadow_count++;
    }
    return decoder->shadows[index];
}

static uint32_t shadow_of_register(qn_decoder *decoder, int32_t reg)
{
    if (reg < 0) {
        return 0;
    }
    const qn_place alias = decoder->alias[reg];
    return shadow_of(decoder,
                     alias != QN_NO_PLACE ? alias : decoder->function->registers[reg].slot);
}

/* ---- lists of registers --------------------------------------------------------------------- */

static uint32_t most_registers(const qn_ptx_operand *operand)
{
    uint32_t count = 2; /* one of 128 bits has two */
    for (unsigned k = 0; k < operand->element_count; k++) {
        count += most_registers(&operand->elements[k]);
    }
    return count;
}

static void add(qn_decoder *decoder, const qn_ptx_operand *operand, uint32_t *list, uint32_t *count)
{
    if ((operand->kind == QN_OPERAND_REGISTER || operand->kind == QN_OPERAND_ADDRESS) &&
        operand->reg >= 0) {
        const uint32_t shadow = shadow_of_register(decoder, operand->reg);
        list[(*count)++] = shadow;
        if (qn_register_bits(decoder->function->registers[operand->reg].type) == 128 &&
            decoder->alias[operand->reg] == QN_NO_PLACE) {
            list[(*count)++] =
                shadow_of(decoder, decoder->function->registers[operand->reg].slot + QN_LINE);
        }
    }
    for (unsigned k = 0; k < operand->element_count; k++) {
        add(decoder, &operand->elements[k], list, count);
    }
}

static uint32_t *new_list(qn_decoder *decoder)
{
    const qn_ptx_instruction *instruction = decoder->instruction;
    uint32_t most = 1;
    for (unsigned k = 0; k < instruction->operand_count; k++) {
        most += most_registers(&instruction->operands[k]);
    }
    return qn_decode_alloc(decoder, most * sizeof(uint32_t));
}

/* List what the instruction reads, except for the operands in `except`, then what it writes. */
static void list_uses(qn_decoder *decoder, uint32_t except, qn_shaded *shaded)
{
    const qn_ptx_instruction *instruction = decoder->instruction;
    uint32_t *list = new_list(decoder), count = 0;
    shaded->list = list;
    for (unsigned k = instruction->definitions; list && k < instruction->operand_count; k++) {
        if (!(except >> k & 1)) {
            add(decoder, &instruction->operands[k], list, &count);
        }
    }
    shaded->uses = count;
    for (unsigned k = 0; list && k < instruction->definitions && k < instruction->operand_count;
         k++) {
        add(decoder, &instruction->operands[k], list, &count);
    }
    shaded->results = count - shaded->uses;
}

/* ---- operations before others --------------------------------------------------------------- */

static qn_shaded *new_shaded(qn_decoder *decoder)
{
    qn_shaded *shaded = qn_decode_alloc(decoder, sizeof *shaded);
    const qn_ptx_instruction *instruction = decoder->instruction;
    if (shaded) {
        shaded->instruction =
            decoder->code->first_number + (uint32_t)(instruction - decoder->function->instructions);
        shaded->guard = shadow_of_register(decoder, instruction->guard);
    }
    return shaded;
}

/* Returns how many operations were put in. */
static uint32_t insert(qn_decoder *decoder, uint32_t at, qn_op_function function,
                       const qn_shaded *shaded)
{
    qn_emit_function(decoder, function);
    if (decoder->failed) {
        return 0;
    }
    qn_op *ops = decoder->code->ops;
    qn_op op = ops[decoder->code->count - 1];
    op.guard = QN_NO_PLACE;
    op.extra = shaded;
    memmove(ops + at + 1, ops + at, (decoder->code->count - 1 - at) * sizeof *ops);
    ops[at] = op;
    return 1;
}

static uint32_t before_lanes(qn_decoder *decoder, uint32_t at)
{
    const qn_op *op = &decoder->code->ops[at];
    const known_form *found = find_known(op->lanes);
    qn_shaded *shaded = new_shaded(decoder);
    if (!shaded || !found->form) {
        return 0;
    }
    const qn_lane_form *form = found->form;
    shaded->form = form;
    shaded->second = found->second;
    shaded->rule = (uint8_t)qn_shade_rule_of(form);
    shaded->d = shadow_of(decoder, op->d);
    shaded->a = form->a_bits ? shadow_of(decoder, op->a) : 0;
    shaded->b = form->b_bits ? shadow_of(decoder, op->b) : 0;
    shaded->c = form->c_bits ? shadow_of(decoder, op->c) : 0;
    shaded->e = form->fourth ? shadow_of(decoder, op->target) : 0;
    return insert(decoder, at, qn_run_shade_lanes, shaded);
}

/* mov between a whole and its parts. */
static uint32_t before_vector(qn_decoder *decoder, uint32_t at, bool packs)
{
    const qn_op op = decoder->code->ops[at];
    const qn_place whole = packs ? op.d : op.a, *places = op.extra;
    qn_shaded *shaded = new_shaded(decoder);
    uint32_t *parts = qn_decode_alloc(decoder, op.count * sizeof *parts);
    if (!shaded || !parts) {
        return 0;
    }
    for (unsigned k = 0; k < op.count; k++) {
        parts[k] = shadow_of(decoder, places[k]);
    }
    shaded->d = shadow_of(decoder, whole);
    shaded->e = op.bits * op.count == 128 && !(whole & QN_IN_POOL)
                    ? shadow_of(decoder, whole + QN_LINE)
                    : 0;
    shaded->uses = op.count;
    shaded->list = parts;
    return insert(decoder, at, packs ? qn_run_shade_pack : qn_run_shade_unpack, shaded);
}

static uint32_t before_use(qn_decoder *decoder, uint32_t at, qn_op_function function,
                           uint32_t except)
{
    qn_shaded *shaded = new_shaded(decoder);
    if (!shaded) {
        return 0;
    }
    list_uses(decoder, except, shaded);
    return insert(decoder, at, function, shaded);
}

/* Note which registers a load or store moves; moving them is not a use. */
static uint32_t before_access(qn_decoder *decoder, uint32_t at)
{
    const qn_op *op = &decoder->code->ops[at];
    const bool loads = op->function == qn_run_load;
    qn_transfer *access = (qn_transfer *)op->extra; /* made for this operation */
    for (unsigned k = 0; k < op->count; k++) {
        const qn_place place = access->places[k];
        access->shadows[k] = shadow_of(decoder, place);
        access->upper[k] = access->element->memory_bits == 128 && !(place & QN_IN_POOL)
                               ? shadow_of(decoder, place + QN_LINE)
                               : 0;
    }
    if (op->space == QN_SPACE_PARAM) {
        qn_shaded *shaded = new_shaded(decoder);
        return shaded ? insert(decoder, at, qn_run_shade_param, shaded) : 0;
    }
    return before_use(decoder, at, qn_run_shade_use, loads ? 0 : 1u << 1);
}

static uint32_t before_atomic(qn_decoder *decoder, uint32_t at)
{
    const qn_op *op = &decoder->code->ops[at];
    qn_atomic *atomic = (qn_atomic *)op->extra; /* made for this operation */
    const bool compares = atomic->form == QN_ATOMIC_CAS && atomic->bits <= 64;
    const unsigned first = op->d == QN_NO_PLACE && decoder->instruction->definitions == 0 ? 1 : 2;
    atomic->shadows[0] = shadow_of(decoder, op->d);
    atomic->shadows[1] = shadow_of(decoder, op->b);
    atomic->shadows[2] = shadow_of(decoder, op->c);
    return before_use(decoder, at, qn_run_shade_use, compares ? 3u << first : 0);
}

static uint32_t before_sync(qn_decoder *decoder, uint32_t at)
{
    qn_op *op = &decoder->code->ops[at];
    const bool of_matrix = op->flags == QN_SYNC_BARRIER && decoder->words.word[0][0] != 'b';
    qn_shaded *shaded = of_matrix ? NULL : new_shaded(decoder);
    if (!shaded) {
        return 0;
    }
    list_uses(decoder, op->a == QN_NO_PLACE ? 0 : 1u << 1, shaded);
    shaded->a = op->a == QN_NO_PLACE ? 0 : shadow_of(decoder, op->a);
    shaded->d = shadow_of(decoder, op->d);
    shaded->e = shadow_of(decoder, op->target);
    op->extra = shaded;
    return insert(decoder, at, qn_run_shade_bring, shaded);
}

/* ---- matrices ------------------------------------------------------------------------------- */

/* List d, then a, b and c; a transposition has only a. */
static uint32_t before_product(qn_decoder *decoder, uint32_t at)
{
    const qn_ptx_instruction *instruction = decoder->instruction;
    qn_shaded *shaded = new_shaded(decoder);
    uint32_t *list = new_list(decoder), total = 0;
    if (!shaded || !list) {
        return 0;
    }
    uint32_t *const counts[] = {&shaded->d, &shaded->a, &shaded->b, &shaded->c};
    for (unsigned k = 0; k < QN_COUNT(counts) && k < instruction->operand_count; k++) {
        const uint32_t before = total;
        add(decoder, &instruction->operands[k], list, &total);
        *counts[k] = total - before;
    }
    shaded->list = list;
    return insert(decoder, at, qn_run_shade_product, shaded);
}

/* What is stored is not a use; it comes after the uses in the list. */
static uint32_t before_tile(qn_decoder *decoder, uint32_t at, bool loads)
{
    const qn_ptx_instruction *instruction = decoder->instruction;
    qn_shaded *shaded = new_shaded(decoder);
    if (!shaded) {
        return 0;
    }
    list_uses(decoder, loads ? 0 : 1u << 1, shaded);
    if (loads) {
        return insert(decoder, at + 1, qn_run_shade_tile_loaded, shaded) +
               insert(decoder, at, qn_run_shade_tile, shaded);
    }
    uint32_t total = shaded->uses + shaded->results;
    if (shaded->list && instruction->operand_count > 1) {
        add(decoder, &instruction->operands[1], (uint32_t *)shaded->list, &total);
        shaded->d = total - shaded->uses - shaded->results;
    }
    return insert(decoder, at, qn_run_shade_tile, shaded);
}

/* ---- all ------------------------------------------------------------------------------------ */

static uint32_t before_function(qn_decoder *decoder, uint32_t at)
{
    const qn_op_function function = decoder->code->ops[at].function;
    if (function == qn_run_watch_arrive || function == qn_run_watch_meet ||
        function == qn_run_watch_met) {
        return 0;
    }
    if (function == qn_run_load || function == qn_run_store) {
        return before_access(decoder, at);
    }
    if (function == qn_run_pack || function == qn_run_unpack) {
        return before_vector(decoder, at, function == qn_run_pack);
    }
    if (function == qn_run_atomic) {
        return before_atomic(decoder, at);
    }
    if (function == qn_run_matrix_multiply || function == qn_run_matrix_quads ||
        function == qn_run_tile_transpose) {
        return before_product(decoder, at);
    }
    if (function == qn_run_matrix_load || function == qn_run_tiles_load) {
        return before_tile(decoder, at, true);
    }
    if (function == qn_run_matrix_store || function == qn_run_tiles_store) {
        return before_tile(decoder, at, false);
    }
    if ((function == qn_run_special || function == qn_run_address) &&
        decoder->code->ops[at].d >= decoder->function->frame_bytes) {
        return 0; /* it writes scratch: an operand of the next operation */
    }
    if (function == qn_run_element) {
        return before_use(decoder, at, qn_run_shade_element, 0);
    }
    return before_use(decoder, at,
                      qn_builtin_runs(function) ? qn_run_shade_builtin : qn_run_shade_use, 0);
}

static uint32_t before(qn_decoder *decoder, uint32_t at)
{
    switch ((qn_op_kind)decoder->code->ops[at].kind) {
    case QN_OP_LANES:
    case QN_OP_LANES_MORE:
        return before_lanes(decoder, at);
    case QN_OP_FUNCTION:
        return before_function(decoder, at);
    case QN_OP_SYNC:
        return before_sync(decoder, at);
    case QN_OP_JUMP:
        return 0;
    default:
        return before_use(decoder, at, qn_run_shade_use, 0);
    }
}

void qn_shadow_decode(qn_decoder *decoder, uint32_t first)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const qn_code *code = decoder->code;
    if (!(code->kind & QN_CODE_SHADOWED)) {
        return;
    }
    pthread_once(&once, list_known);
    for (uint32_t k = first; k < code->count && !decoder->failed; k++) {
        k += before(decoder, k);
    }
}

void qn_shadow_decode_begin(qn_decoder *decoder)
{
    const qn_ptx_module *module = decoder->function->module;
    decoder->code->shadow_count = 1;
    decoder->code->first_number = 1;
    for (uint32_t k = 0; k < module->function_count && module->functions[k] != decoder->function;
         k++) {
        decoder->code->first_number += module->functions[k]->instruction_count;
    }
}
