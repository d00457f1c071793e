/* SPDX-License-Identifier: MIT
 *
 * check=div: integer divisions and remainders that have no result. In: a division, before it is
 * decoded. Out: in a function that is decoded for this check, an operation before the division,
 * which reports a divisor of zero, and the least number divided by -1, whose result does not fit in
 * 32 or 64 bits. The thing to know: the compiler may move a division ahead of the condition that
 * guards it, and throw its result away. So only those divisions are checked whose result, on every
 * path from there, is stored or decides a jump.
 */
#include "ptx/decode/decode.h"

enum { SIGNED = 1, REMAINDER = 2 };

static bool check_division(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    const void *a = qn_at(warp, op->a), *b = qn_at(warp, op->b);
    const uint64_t ones = op->bits == 64 ? UINT64_MAX : (UINT64_C(1) << op->bits) - 1;
    const uint64_t least = UINT64_C(1) << (op->bits - 1);
    const char *what = op->flags & REMAINDER ? "remainder" : "division";
    for (; mask; mask &= mask - 1) {
        const unsigned lane = qn_first_lane(mask);
        const uint64_t divisor = qn_lane_value(b, op->bits, lane);
        if (divisor == 0) {
            return qn_fault(warp, op, lane, QUERN_ERROR_LAUNCH, "integer %s by zero", what);
        }
        if (op->flags & SIGNED && op->bits > 16 && divisor == ones &&
            qn_lane_value(a, op->bits, lane) == least) {
            return qn_fault(warp, op, lane, QUERN_ERROR_LAUNCH,
                            "%s of %s by -1, whose result does not fit into %u bits", what,
                            op->bits == 32 ? "-2147483648" : "-9223372036854775808", op->bits);
        }
    }
    return true;
}

/* ---- is the result used? -------------------------------------------------------------------- */

enum { STEPS = 1000 }; /* instructions that are followed */

static bool reads(const qn_ptx_operand *operand, const uint8_t *from)
{
    if (operand->reg >= 0 &&
        (operand->kind == QN_OPERAND_REGISTER || operand->kind == QN_OPERAND_ADDRESS) &&
        from[operand->reg]) {
        return true;
    }
    for (unsigned k = 0; k < operand->element_count; k++) {
        if (reads(&operand->elements[k], from)) {
            return true;
        }
    }
    return false;
}

static void set(const qn_ptx_operand *operand, uint8_t *from, bool value)
{
    if (operand->kind == QN_OPERAND_REGISTER && operand->reg >= 0) {
        from[operand->reg] = value;
    }
    for (unsigned k = 0; k < operand->element_count; k++) {
        set(&operand->elements[k], from, value);
    }
}

static bool is_sink(const char *opcode)
{
    return qn_begins(opcode, "st.") || qn_begins(opcode, "atom.") || qn_begins(opcode, "red.");
}

/* An instruction that chooses among values, or combines conditions, may ignore an operand. */
static bool may_ignore(const qn_ptx_instruction *instruction)
{
    const char *opcode = instruction->opcode;
    static const char *const choices[] = {"selp", "slct", "call", "and.", "or.", "lop3", "set."};
    for (size_t k = 0; k < QN_COUNT(choices); k++) {
        if (qn_begins(opcode, choices[k])) {
            return true;
        }
    }
    return qn_begins(opcode, "setp") && instruction->operand_count > 3; /* setp.lt.and */
}

/* Is the result of instruction `at`, whose registers are marked in `from`, sure to be used? */
static bool is_used(const qn_ptx_function *function, uint32_t at, uint8_t *from)
{
    for (unsigned step = 0; step < STEPS && ++at < function->instruction_count; step++) {
        const qn_ptx_instruction *instruction = &function->instructions[at];
        const char *opcode = instruction->opcode;
        bool read = false;
        for (unsigned k = instruction->definitions; k < instruction->operand_count; k++) {
            read |= reads(&instruction->operands[k], from);
        }
        if (qn_begins(opcode, "bra")) {
            if (instruction->guard >= 0) {
                return from[instruction->guard];
            }
            if (instruction->operands[0].kind != QN_OPERAND_LABEL) {
                return false;
            }
            at = instruction->operands[0].target - 1;
        } else if (qn_begins(opcode, "brx") || qn_begins(opcode, "ret") ||
                   qn_begins(opcode, "exit") || qn_begins(opcode, "trap")) {
            return false;
        } else if (read && instruction->guard < 0 && is_sink(opcode)) {
            return true;
        } else {
            for (unsigned k = 0; k < instruction->definitions; k++) {
                if (instruction->guard < 0) {
                    set(&instruction->operands[k], from, read && !may_ignore(instruction));
                }
            }
        }
    }
    return false;
}

static bool result_is_used(qn_decoder *decoder)
{
    const qn_ptx_function *function = decoder->function;
    uint8_t *from = qn_calloc(function->register_count + 1u, 1);
    if (!from) {
        decoder->failed = true;
        return false;
    }
    set(&decoder->instruction->operands[0], from, true);
    const bool used =
        is_used(function, (uint32_t)(decoder->instruction - function->instructions), from);
    qn_free(from);
    return used;
}

void qn_check_decode(qn_decoder *decoder)
{
    const qn_ptx_instruction *instruction = decoder->instruction;
    const qn_opcode_words *words = &decoder->words;
    const bool remainder = qn_word_is(words, 0, "rem");
    char letter;
    unsigned bits;
    if (!(decoder->code->kind & QN_CODE_CHECKED) || (!remainder && !qn_word_is(words, 0, "div")) ||
        words->count != 2 || !qn_parse_memory_type(words->word[1], &letter, &bits) ||
        (letter != 's' && letter != 'u') || bits < 16 || bits > 64 ||
        instruction->operand_count != 3 || instruction->guard >= 0 || !result_is_used(decoder)) {
        return;
    }
    const qn_place a = qn_place_source(decoder, &instruction->operands[1], bits);
    const qn_place b = qn_place_source(decoder, &instruction->operands[2], bits);
    if (a == QN_NO_PLACE || b == QN_NO_PLACE) {
        return;
    }
    qn_op *op = qn_emit_function(decoder, check_division);
    op->a = a;
    op->b = b;
    op->bits = (uint8_t)bits;
    op->flags = (letter == 's' ? SIGNED : 0) | (remainder ? REMAINDER : 0);
}
