/* SPDX-License-Identifier: MIT
 *
 * Decodes lane-wise operations: the operands of an instruction are brought to the widths that its
 * form wants, and the form's function is bound. Also decodes moves, which are more than lane-wise
 * when they pack vectors or take addresses, and conversions between address spaces.
 */
#include "ptx/decode/decode.h"

#include "ptx/run/run_forms.h"

#include <string.h>

static unsigned operand_bits(const qn_decoder *decoder, const qn_ptx_operand *operand)
{
    return operand->kind == QN_OPERAND_REGISTER && operand->reg >= 0
               ? qn_register_bits(decoder->function->registers[operand->reg].type)
               : 0;
}

static qn_op *emit_resize(qn_decoder *decoder, qn_place d, unsigned d_bits, qn_place a,
                          unsigned a_bits, bool is_signed)
{
    qn_op *op = qn_emit(decoder, QN_OP_LANES);
    op->lanes = qn_lane_resize(a_bits, d_bits, is_signed);
    op->d = d;
    op->a = a;
    return op;
}

static bool can_resize(unsigned bits)
{
    return bits == 16 || bits == 32 || bits == 64;
}

/* A source as a register of `bits`; one in a wider register is cut. */
static qn_place source(qn_decoder *decoder, const qn_ptx_operand *operand, unsigned bits)
{
    const unsigned given = operand_bits(decoder, operand);
    if (given == bits || !can_resize(given) || !can_resize(bits)) {
        return qn_place_source(decoder, operand, bits);
    }
    const qn_place place = qn_place_source(decoder, operand, given);
    qn_place cut = qn_place_scratch(decoder, bits);
    emit_resize(decoder, cut, bits, place, given, false)->guard = QN_NO_PLACE;
    return cut;
}

/* The sources of the form, in order; false when one is missing or is not possible there. */
static bool sources(qn_decoder *decoder, const qn_lane_form *form, qn_place out[4])
{
    const qn_ptx_instruction *instruction = decoder->instruction;
    const unsigned bits[4] = {form->a_bits, form->b_bits, form->c_bits, form->fourth ? 32 : 0};
    for (unsigned k = 0; k < 4; k++) {
        out[k] = 0;
        if (bits[k] == 0) {
            continue;
        }
        if (k + 1 >= instruction->operand_count) {
            return false;
        }
        out[k] = source(decoder, &instruction->operands[k + 1], bits[k]);
        if (out[k] == QN_NO_PLACE) {
            return false;
        }
    }
    return true;
}

static void emit_form(qn_decoder *decoder, const qn_lane_form *form, qn_lane_function function,
                      qn_place d, const qn_place from[4])
{
    qn_op *op = qn_emit(decoder, form->fourth ? QN_OP_LANES_MORE : QN_OP_LANES);
    op->lanes = function;
    op->d = d;
    op->a = from[0];
    op->b = from[1];
    op->c = from[2];
    if (form->fourth) {
        op->target = from[3];
    }
}

bool qn_bind_lanes(qn_decoder *decoder)
{
    const qn_ptx_instruction *instruction = decoder->instruction;
    const qn_lane_form *form = qn_lane_find(instruction->opcode);
    qn_place from[4];
    if (!form || instruction->operand_count == 0 || !sources(decoder, form, from)) {
        return false;
    }
    const qn_ptx_operand *target = &instruction->operands[0];
    if (target->kind == QN_OPERAND_PAIR && target->element_count == 2) {
        qn_place second = qn_place_target(decoder, &target->elements[1], 1);
        if (!form->second) {
            return false;
        }
        if (second != QN_NO_PLACE) { /* through scratch: the result may be one of the sources */
            qn_place scratch = qn_place_scratch(decoder, 1);
            emit_form(decoder, form, form->second, scratch, from);
            const qn_place first = qn_place_target(decoder, &target->elements[0], form->d_bits);
            emit_form(decoder, form, form->function,
                      first == QN_NO_PLACE ? qn_place_scratch(decoder, form->d_bits) : first, from);
            qn_op *op = qn_emit(decoder, QN_OP_LANES);
            op->lanes = qn_lane_find("mov.pred")->function;
            op->d = second;
            op->a = scratch;
            return true;
        }
        target = &target->elements[0];
    }
    const unsigned bits = operand_bits(decoder, target);
    const bool resizes = bits != form->d_bits && can_resize(bits) && can_resize(form->d_bits);
    qn_place d = qn_place_target(decoder, target, resizes ? bits : form->d_bits);
    if (d == QN_NO_PLACE) {
        d = qn_place_scratch(decoder, form->d_bits);
    } else if (resizes) {
        qn_place narrow = qn_place_scratch(decoder, form->d_bits);
        emit_form(decoder, form, form->function, narrow, from);
        const char *type =
            decoder->words.count > 1 ? decoder->words.word[decoder->words.count - 2] : "";
        emit_resize(decoder, d, bits, narrow, form->d_bits, type[0] == 's');
        return true;
    }
    emit_form(decoder, form, form->function, d, from);
    return true;
}

/* ---- moves ---------------------------------------------------------------------------------- */

/* mov d, {a, b, ...} and mov {a, b, ...}, d. */
static bool bind_pack(qn_decoder *decoder, const qn_ptx_operand *whole, const qn_ptx_operand *parts,
                      bool packs)
{
    const unsigned bits = operand_bits(decoder, whole);
    const unsigned count = parts->element_count;
    if (bits == 0 || count == 0 || bits % count != 0 || (count != 2 && count != 4)) {
        return false;
    }
    qn_place *places = qn_decode_alloc(decoder, count * sizeof *places);
    if (!places) {
        return true;
    }
    for (unsigned k = 0; k < count; k++) {
        const qn_ptx_operand *part = &parts->elements[k];
        const unsigned part_bits = QN_MAX(bits / count, 16u);
        places[k] = packs ? qn_place_source(decoder, part, part_bits)
                          : qn_place_target(decoder, part, part_bits);
        if (packs && places[k] == QN_NO_PLACE) {
            return false;
        }
    }
    qn_op *op = qn_emit_function(decoder, packs ? qn_run_pack : qn_run_unpack);
    if (packs) {
        op->d = qn_place_target(decoder, whole, bits);
    } else {
        op->a = qn_place_source(decoder, whole, bits);
    }
    op->bits = (uint8_t)(bits / count);
    op->count = (uint8_t)count;
    op->extra = places;
    return true;
}

/* Addresses that differ from lane to lane or from frame to frame. */
static bool bind_address(qn_decoder *decoder, qn_place d, const qn_ptx_operand *operand,
                         unsigned bits)
{
    const qn_ptx_symbol *symbol = operand->symbol;
    if (!symbol || (symbol->space != QN_SPACE_LOCAL && symbol->space != QN_SPACE_PARAM &&
                    symbol->space != QN_SPACE_SHARED)) {
        return false;
    }
    qn_op *op = qn_emit_function(decoder, qn_run_address);
    op->d = d;
    op->space = (uint8_t)symbol->space;
    op->bits = (uint8_t)bits;
    op->offset = operand->offset + (symbol->external ? 0 : (int64_t)symbol->offset);
    return true;
}

bool qn_bind_move(qn_decoder *decoder)
{
    const qn_ptx_instruction *instruction = decoder->instruction;
    if (instruction->operand_count != 2) {
        return false;
    }
    const qn_ptx_operand *to = &instruction->operands[0], *from = &instruction->operands[1];
    if (to->kind == QN_OPERAND_VECTOR) {
        return bind_pack(decoder, from, to, false);
    }
    if (from->kind == QN_OPERAND_VECTOR) {
        return bind_pack(decoder, to, from, true);
    }
    const unsigned bits = operand_bits(decoder, to);
    const qn_place d = qn_place_target(decoder, to, bits);
    if (d == QN_NO_PLACE) {
        return to->kind == QN_OPERAND_SINK;
    }
    const qn_place a = source(decoder, from, bits);
    if (a == QN_NO_PLACE) {
        return from->kind == QN_OPERAND_SYMBOL && bind_address(decoder, d, from, bits);
    }
    static const char *const names[] = {"mov.pred", "mov.b16", "mov.b32", "mov.b64"};
    const char *name = names[bits == 1 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : 3];
    for (unsigned half = 0; half < (bits == 128 ? 2u : 1u); half++) {
        qn_op *op = qn_emit(decoder, QN_OP_LANES);
        op->lanes = qn_lane_find(name)->function;
        op->d = d + half * QN_LINE;
        op->a = a + half * QN_LINE;
    }
    return true;
}

/* ---- address spaces ------------------------------------------------------------------------- */

/* Addresses are host pointers everywhere but in shared memory. */
bool qn_bind_convert_address(qn_decoder *decoder)
{
    const qn_opcode_words *words = &decoder->words;
    if (!qn_word_has(words, "shared") && !qn_word_has(words, "shared::cta") &&
        !qn_word_has(words, "shared::cluster")) {
        return qn_bind_move(decoder);
    }
    const qn_ptx_instruction *instruction = decoder->instruction;
    if (instruction->operand_count != 2 || operand_bits(decoder, &instruction->operands[0]) != 64) {
        return false;
    }
    const qn_place a = qn_place_source(decoder, &instruction->operands[1], 64);
    if (a == QN_NO_PLACE) {
        return false;
    }
    qn_op *op = qn_emit_function(decoder, qn_run_convert_shared);
    op->d = qn_place_target(decoder, &instruction->operands[0], 64);
    op->a = a;
    op->flags = qn_word_is(words, 1, "to");
    return true;
}

bool qn_bind_is_space(qn_decoder *decoder)
{
    static const struct {
        const char *name;
        uint8_t space;
    } spaces[] = {{"global", QN_SPACE_GLOBAL},      {"const", QN_SPACE_CONST},
                  {"shared", QN_SPACE_SHARED},      {"shared::cta", QN_SPACE_SHARED},
                  {"local", QN_SPACE_LOCAL},        {"param", QN_SPACE_PARAM},
                  {"param::entry", QN_SPACE_PARAM}, {"shared::cluster", QN_SPACE_SHARED}};
    const qn_ptx_instruction *instruction = decoder->instruction;
    for (size_t k = 0; k < QN_COUNT(spaces); k++) {
        if (qn_word_is(&decoder->words, 1, spaces[k].name) && instruction->operand_count == 2 &&
            operand_bits(decoder, &instruction->operands[1]) == 64) {
            const qn_place a = qn_place_source(decoder, &instruction->operands[1], 64);
            qn_op *op = qn_emit_function(decoder, qn_run_is_space);
            op->d = qn_place_target(decoder, &instruction->operands[0], 1);
            op->a = a;
            op->space = spaces[k].space;
            return op->d != QN_NO_PLACE;
        }
    }
    return false;
}

bool qn_bind_alloca(qn_decoder *decoder)
{
    const qn_ptx_instruction *instruction = decoder->instruction;
    if (instruction->operand_count < 2) {
        return false;
    }
    const qn_place size = qn_place_source(decoder, &instruction->operands[1], 64);
    qn_op *op = qn_emit_function(decoder, qn_run_alloca);
    op->d = qn_place_target(decoder, &instruction->operands[0], 64);
    op->a = size;
    return size != QN_NO_PLACE && op->d != QN_NO_PLACE;
}
