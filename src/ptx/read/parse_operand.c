/* SPDX-License-Identifier: MIT
 *
 * parse_operand: reads the operands of an instruction. Each rule pushes what it reads on a stack; a
 * list or the instruction then moves its operands to the arena, which fixes their place, so that
 * names that are not declared yet (labels) can be bound later.
 *
 *     operands = [ operand { [","] operand } ] ";"
 *     operand  = "!" operand | simple [ "|" simple ]
 *     simple   = "_" | constant | float | name [ "+" constant ]
 *              | "{" list "}" | "(" list ")" (of a call) | "[" inside { "," simple } "]"
 */
#include "ptx/read/reader.h"

#include <string.h>

static quern_status operand(qn_reader *reader);

static quern_status push(qn_reader *reader, const qn_ptx_operand *value, qn_name *unbound)
{
    if (!QN_ROOM(reader->operands)) {
        return qn_ptx_memory();
    }
    reader->operands.items[reader->operands.count++] = (qn_reading){*value, unbound};
    return QUERN_OK;
}

static qn_ptx_operand *top(qn_reader *reader)
{
    return &reader->operands.items[reader->operands.count - 1].operand;
}

/* Moves all operands from `first` on to the arena. */
static quern_status seal(qn_reader *reader, uint32_t first, qn_ptx_operand **out, uint8_t *count)
{
    uint32_t total = reader->operands.count - first;
    if (total > UINT8_MAX) {
        return qn_ptx_error(reader, "more than %d operands in a row", UINT8_MAX);
    }
    qn_ptx_operand *operands =
        qn_arena_alloc(&reader->module->arena, total * sizeof(qn_ptx_operand));
    if (!operands) {
        return qn_ptx_memory();
    }
    for (uint32_t i = 0; i < total; i++) {
        const qn_reading *reading = &reader->operands.items[first + i];
        operands[i] = reading->operand;
        if (reading->unbound) {
            if (!QN_ROOM(reader->pending)) {
                return qn_ptx_memory();
            }
            reader->pending.items[reader->pending.count++] =
                (qn_pending){.name = reading->unbound,
                             .operand = &operands[i],
                             .line = reader->instruction_line,
                             .flow = reader->instruction_flow};
        }
    }
    reader->operands.count = first;
    *out = operands;
    *count = (uint8_t)total;
    return QUERN_OK;
}

/* After a name: [ ("+" | "-") constant ]; "+-8" is the same as "-8". */
static quern_status offset(qn_reader *reader, int64_t *value)
{
    *value = 0;
    bool plus, minus;
    QN_TRY(qn_ptx_take(reader, '+', &plus));
    QN_TRY(qn_ptx_take(reader, '-', &minus));
    if (!plus && !minus) {
        return QUERN_OK;
    }
    uint64_t amount;
    QN_TRY(qn_parse_constant(reader, &amount));
    *value = (int64_t)(minus ? 0 - amount : amount);
    return QUERN_OK;
}

/* A name: register, variable, function, special register, or something declared later. */
static quern_status named(qn_reader *reader)
{
    qn_name *name = reader->token.name;
    qn_ptx_operand value = {.reg = -1, .name = name->text};
    QN_TRY(qn_ptx_next(reader));
    QN_TRY(qn_find_register(reader, name, &value.reg));
    if (value.reg >= 0) {
        value.kind = QN_OPERAND_REGISTER;
        value.name = NULL;
        return push(reader, &value, NULL);
    }
    if (name->entity && name->entity->kind == QN_ENTITY_SYMBOL) {
        value.kind = QN_OPERAND_SYMBOL;
        value.symbol = name->entity->symbol;
        QN_TRY(qn_globals_use(reader, value.symbol));
        QN_TRY(offset(reader, &value.offset));
        return push(reader, &value, NULL);
    }
    if (name->text[0] == '%' && !name->entity) {
        value.kind = QN_OPERAND_SPECIAL;
        return push(reader, &value, NULL);
    }
    value.kind = QN_OPERAND_LABEL;
    return push(reader, &value, name);
}

/* "{" or "(" operand { "," operand } close */
static quern_status list(qn_reader *reader, char close, qn_ptx_operand_kind kind)
{
    qn_ptx_operand value = {.kind = kind, .reg = -1};
    uint32_t first = reader->operands.count;
    bool comma = true, done;
    QN_TRY(qn_ptx_next(reader));
    QN_TRY(qn_ptx_take(reader, close, &done));
    while (!done) {
        if (!comma) {
            return qn_ptx_expected(reader, close == '}' ? "',' or '}'" : "',' or ')'");
        }
        QN_TRY(operand(reader));
        QN_TRY(qn_ptx_take(reader, ',', &comma));
        QN_TRY(qn_ptx_take(reader, close, &done));
    }
    QN_TRY(seal(reader, first, &value.elements, &value.element_count));
    return push(reader, &value, NULL);
}

/* "[" ( name [ offset ] | constant ) { "," operand } "]": what follows a comma, as coordinates of
 * textures and tensors do, becomes elements. */
static quern_status address(qn_reader *reader)
{
    QN_TRY(qn_ptx_next(reader));
    qn_ptx_operand value = {.kind = QN_OPERAND_ADDRESS, .reg = -1};
    qn_name *unbound = NULL;
    if (reader->token.kind == QN_TOKEN_NAME && !qn_ptx_is_word(reader, QN_WORD_WARP_SZ)) {
        QN_TRY(named(reader));
        const qn_ptx_operand *base = top(reader);
        unbound = reader->operands.items[--reader->operands.count].unbound;
        if (unbound || base->kind == QN_OPERAND_SPECIAL) {
            return qn_ptx_error(reader, "'%s' is neither a register nor a variable", base->name);
        }
        value.reg = base->reg;
        value.symbol = base->symbol;
        value.offset = base->offset;
        if (value.reg >= 0) {
            QN_TRY(offset(reader, &value.offset));
        }
    } else {
        uint64_t place;
        QN_TRY(qn_parse_constant(reader, &place));
        value.offset = (int64_t)place;
    }
    uint32_t first = reader->operands.count;
    bool comma;
    QN_TRY(qn_ptx_take(reader, ',', &comma));
    while (comma) {
        QN_TRY(operand(reader));
        QN_TRY(qn_ptx_take(reader, ',', &comma));
    }
    QN_TRY(qn_ptx_expect(reader, ']'));
    QN_TRY(seal(reader, first, &value.elements, &value.element_count));
    return push(reader, &value, NULL);
}

static quern_status constant(qn_reader *reader)
{
    qn_ptx_operand value = {.kind = QN_OPERAND_IMMEDIATE, .reg = -1};
    bool minus = false;
    if (qn_ptx_is(reader, '-')) {
        const char *behind = reader->at;
        uint32_t line = reader->line;
        qn_token sign = reader->token;
        QN_TRY(qn_ptx_next(reader));
        minus = reader->token.kind == QN_TOKEN_FLOAT;
        if (!minus) { /* of an integer: the expression's own */
            reader->at = behind;
            reader->line = line;
            reader->token = sign;
        }
    }
    if (reader->token.kind == QN_TOKEN_FLOAT) {
        value.is_float = true;
        value.float_bits = reader->token.float_bits;
        value.bits = reader->token.bits ^ ((uint64_t)minus << (value.float_bits - 1));
        QN_TRY(qn_ptx_next(reader));
    } else {
        QN_TRY(qn_parse_constant(reader, &value.bits));
    }
    return push(reader, &value, NULL);
}

static quern_status simple(qn_reader *reader)
{
    if (reader->token.kind == QN_TOKEN_NAME && !qn_ptx_is_word(reader, QN_WORD_WARP_SZ)) {
        if (qn_ptx_is_word(reader, QN_WORD_SINK)) {
            QN_TRY(qn_ptx_next(reader));
            return push(reader, &(qn_ptx_operand){.kind = QN_OPERAND_SINK, .reg = -1}, NULL);
        }
        return named(reader);
    }
    switch (reader->token.kind == QN_TOKEN_MARK ? reader->token.mark : '\0') {
    case '{':
        return list(reader, '}', QN_OPERAND_VECTOR);
    case '(':
        return reader->instruction_calls ? list(reader, ')', QN_OPERAND_LIST) : constant(reader);
    case '[':
        return address(reader);
    default:
        return constant(reader);
    }
}

static quern_status pair(qn_reader *reader)
{
    uint32_t first = reader->operands.count;
    QN_TRY(simple(reader));
    bool bar;
    QN_TRY(qn_ptx_take(reader, '|', &bar));
    if (!bar) {
        return QUERN_OK;
    }
    QN_TRY(simple(reader));
    qn_ptx_operand value = {.kind = QN_OPERAND_PAIR, .reg = -1};
    QN_TRY(seal(reader, first, &value.elements, &value.element_count));
    return push(reader, &value, NULL);
}

static quern_status operand(qn_reader *reader)
{
    if (++reader->nesting > QN_PTX_DEPTH) {
        return qn_ptx_error(reader, "operands are nested more than %d deep", QN_PTX_DEPTH);
    }
    bool negated;
    QN_TRY(qn_ptx_take(reader, '!', &negated));
    QN_TRY(pair(reader));
    if (negated) {
        top(reader)->negated = true;
    }
    reader->nesting--;
    return QUERN_OK;
}

quern_status qn_parse_operands(qn_reader *reader, qn_ptx_instruction *instruction)
{
    reader->operands.count = 0;
    reader->nesting = 0;
    bool done, comma;
    QN_TRY(qn_ptx_take(reader, ';', &done));
    while (!done) {
        QN_TRY(operand(reader));
        QN_TRY(qn_ptx_take(reader, ',', &comma));
        QN_TRY(qn_ptx_take(reader, ';', &done));
        if (!done && !comma) {
            return qn_ptx_expected(reader, "',' or ';'");
        }
    }
    return seal(reader, 0, &instruction->operands, &instruction->operand_count);
}
