/* SPDX-License-Identifier: MIT
 *
 * What a launch that is watched must know of registers: what becomes of a value that is loaded. It
 * may be used; it may be carried from memory to memory, as a copied structure's members are; or its
 * bits are only put together with others and stored, as when a byte is set in a word of which the
 * rest may be anything. In: all instructions of a function. Out: for the registers of a load or
 * store, the places where it is kept what is known of values that are carried.
 *
 * Also the operations that tell the watch where threads meet; no other form has them.
 */
#include "ptx/decode.h"

#include "ptx/watch.h"

#include <string.h>

/* How a register is defined, and what becomes of it. */
enum { LOADED = 1, DEFINED = 2, STORED = 4, MOVED = 8, USED = 16 };

typedef enum family { LOAD, STORE, MOVE, BITS, OTHER } family;

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* An integer of one width becomes one of another. */
static bool is_resize(const char *opcode)
{
    return begins_with(opcode, "cvt.") && !strpbrk(opcode + 4, "fr");
}

/* Parameters are not memory that is watched: what comes from there is always written. */
static family family_of(const qn_ptx_instruction *instruction)
{
    static const char *const bits[] = {"and.", "or.", "shl.", "shr.", "bfi.", "bfe.", "prmt."};
    const char *opcode = instruction->opcode;
    if (begins_with(opcode, "ld.")) {
        return strstr(opcode, ".param") ? OTHER : LOAD;
    }
    if (begins_with(opcode, "st.")) {
        return strstr(opcode, ".param") ? OTHER : STORE;
    }
    if (begins_with(opcode, "mov.")) {
        return instruction->operand_count == 2 &&
                       instruction->operands[0].kind == QN_OPERAND_REGISTER &&
                       instruction->operands[1].kind == QN_OPERAND_REGISTER
                   ? MOVE
                   : BITS;
    }
    for (size_t k = 0; k < QN_COUNT(bits); k++) {
        if (begins_with(opcode, bits[k])) {
            return BITS;
        }
    }
    return is_resize(opcode) ? BITS : OTHER;
}

/* Add to what is known of the registers of an operand; true if that was new. */
static bool note(const qn_decoder *decoder, const qn_ptx_operand *operand, uint8_t how)
{
    bool is_new = false;
    if (operand->kind == QN_OPERAND_REGISTER || operand->kind == QN_OPERAND_ADDRESS) {
        uint8_t *uses = operand->reg >= 0 ? &decoder->uses[operand->reg] : NULL;
        how = operand->kind == QN_OPERAND_ADDRESS ? USED : how;
        is_new = uses && (*uses & how) != how;
        if (uses) {
            *uses |= how;
        }
    }
    for (unsigned k = 0; k < operand->element_count; k++) {
        is_new |= note(decoder, &operand->elements[k], how);
    }
    return is_new;
}

/* What has become of any register of an operand. */
static uint8_t uses_of(const qn_decoder *decoder, const qn_ptx_operand *operand)
{
    uint8_t uses =
        operand->kind == QN_OPERAND_REGISTER && operand->reg >= 0 ? decoder->uses[operand->reg] : 0;
    for (unsigned k = 0; k < operand->element_count; k++) {
        uses |= uses_of(decoder, &operand->elements[k]);
    }
    return uses;
}

/* What an instruction reads is used where its result is; a plain move carries it on. */
static bool note_instruction(const qn_decoder *decoder, const qn_ptx_instruction *instruction)
{
    const family kind = family_of(instruction);
    uint8_t read = kind == STORE ? STORED : kind == MOVE || kind == BITS ? MOVED : USED;
    uint8_t result = 0;
    bool is_new = false;
    for (unsigned k = 0; k < instruction->operand_count; k++) {
        const qn_ptx_operand *operand = &instruction->operands[k];
        if (k < instruction->definitions) {
            result |= uses_of(decoder, operand);
            is_new |= note(decoder, operand, kind == LOAD ? LOADED : DEFINED);
        } else {
            if ((read == MOVED && result & USED) || (kind == MOVE && result & STORED)) {
                read = USED;
            }
            is_new |= note(decoder, operand, read);
        }
    }
    if (instruction->guard >= 0) {
        decoder->uses[instruction->guard] |= USED;
    }
    return is_new;
}

bool qn_watch_decode(qn_decoder *decoder)
{
    const qn_ptx_function *function = decoder->function;
    const uint32_t count = function->register_count;
    if (!(decoder->code->kind & QN_CODE_WATCHED)) {
        return true;
    }
    decoder->uses = qn_decode_alloc(decoder, count + 1);
    decoder->copies = qn_decode_alloc(decoder, (count + 1) * sizeof *decoder->copies);
    if (decoder->failed) {
        return false;
    }
    for (bool is_new = true; is_new;) {
        is_new = false;
        for (uint32_t k = function->instruction_count; k-- > 0;) { /* results mostly come later */
            is_new |= note_instruction(decoder, &function->instructions[k]);
        }
    }
    return true;
}

/* Where it is kept what is known of a register's value. Place 0 of a frame is a register's: it
 * means none here yet. */
static qn_place copy_of(qn_decoder *decoder, const qn_ptx_operand *operand)
{
    if (operand->kind == QN_OPERAND_SINK) {
        return QN_UNUSED;
    }
    if (operand->kind != QN_OPERAND_REGISTER || operand->reg < 0) {
        return QN_NO_PLACE;
    }
    const uint8_t uses = decoder->uses[operand->reg];
    if (!(uses & LOADED) || uses & USED || (uses & DEFINED && uses & STORED)) {
        return QN_NO_PLACE;
    }
    if (!(uses & STORED)) {
        return QN_UNUSED;
    }
    qn_place *copy = &decoder->copies[operand->reg];
    if (!*copy) {
        *copy = qn_place_scratch(decoder, 128);
    }
    return *copy;
}

void qn_watch_bind(qn_decoder *decoder, const qn_ptx_operand *elements, unsigned count,
                   qn_access *access)
{
    for (unsigned k = 0; k < count && decoder->uses; k++) {
        access->copies[k] = copy_of(decoder, &elements[k]);
    }
}

/* ---- where threads meet -----------------------------------------------------------------------
 */

/* A copy of operation `like` that calls `function`, put in at `at`. */
static void insert(qn_decoder *decoder, uint32_t at, uint32_t like, qn_op_function function,
                   qn_place guard)
{
    qn_emit_function(decoder, function);
    if (decoder->failed) {
        return;
    }
    qn_op *ops = decoder->code->ops;
    qn_op op = ops[like];
    op.kind = QN_OP_FUNCTION;
    op.function = function;
    op.guard = guard;
    memmove(ops + at + 1, ops + at, (decoder->code->count - 1 - at) * sizeof *ops);
    ops[at] = op;
}

void qn_watch_meetings(qn_decoder *decoder, uint32_t first)
{
    const qn_code *code = decoder->code;
    if (!(code->kind & QN_CODE_WATCHED)) {
        return;
    }
    for (uint32_t k = first; k < code->count && !decoder->failed; k++) {
        const bool is_sync = code->ops[k].kind == QN_OP_SYNC;
        const qn_place guard = code->ops[k].guard;
        if (is_sync) {
            /* its guard may be what the operation writes, and it asks who met anyway */
            insert(decoder, k + 1, k, qn_run_watch_met, QN_NO_PLACE);
        }
        if (is_sync || code->ops[k].kind == QN_OP_BARRIER) {
            insert(decoder, k, k, is_sync ? qn_run_watch_meet : qn_run_watch_arrive, guard);
            k += is_sync ? 2 : 1;
        }
    }
}
