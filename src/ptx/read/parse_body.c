/* SPDX-License-Identifier: MIT
 *
 * parse_body: the statements between the braces of a function. Instructions are gathered in the
 * order of the text; labels are kept as the number of the instruction that follows them.
 *
 *     body      = "{" { statement } "}"
 *     statement = body | label ":" [ ".branchtargets" ... | ".callprototype" ... ] | directive
 *               | [ "@" [ "!" ] register ] opcode operands ";"
 */
#include "ptx/read/reader.h"

/* After .branchtargets: name { "," name } ";" */
static quern_status branch_targets(qn_reader *reader, uint32_t index)
{
    uint32_t first = reader->pending.count, line = reader->token.line;
    bool comma = true;
    while (comma) {
        if (reader->token.kind != QN_TOKEN_NAME) {
            return qn_ptx_expected(reader, "a label");
        }
        if (!QN_ROOM(reader->pending)) {
            return qn_ptx_memory();
        }
        reader->pending.items[reader->pending.count++] =
            (qn_pending){.name = reader->token.name, .line = line};
        QN_TRY(qn_ptx_next(reader));
        QN_TRY(qn_ptx_take(reader, ',', &comma));
    }
    qn_ptx_targets *targets = &reader->targets.items[index];
    targets->count = reader->pending.count - first;
    targets->instructions =
        qn_arena_alloc(&reader->module->arena, targets->count * sizeof(uint32_t));
    if (!targets->instructions) {
        return qn_ptx_memory();
    }
    for (uint32_t i = 0; i < targets->count; i++) {
        reader->pending.items[first + i].target = &targets->instructions[i];
    }
    return qn_ptx_expect(reader, ';');
}

/* After `name:`, when the directive that follows names something other than a place. */
static quern_status labelled_directive(qn_reader *reader, qn_name *name)
{
    qn_entity *entity;
    QN_TRY(qn_names_declare(reader, &entity, name, QN_ENTITY_TARGETS, reader->depth));
    entity->index = UINT32_MAX;
    if (!qn_ptx_is_word(reader, QN_WORD_BRANCHTARGETS)) {
        return qn_ptx_skip_statement(reader);
    }
    if (!QN_ROOM(reader->targets)) {
        return qn_ptx_memory();
    }
    entity->index = reader->targets.count++;
    reader->targets.items[entity->index] = (qn_ptx_targets){0};
    QN_TRY(qn_ptx_next(reader));
    return branch_targets(reader, entity->index);
}

static quern_status label(qn_reader *reader)
{
    qn_name *name = reader->token.name;
    QN_TRY(qn_ptx_next(reader));
    QN_TRY(qn_ptx_expect(reader, ':'));
    if (qn_ptx_is_word(reader, QN_WORD_BRANCHTARGETS) ||
        qn_ptx_is_word(reader, QN_WORD_CALLTARGETS) ||
        qn_ptx_is_word(reader, QN_WORD_CALLPROTOTYPE)) {
        return labelled_directive(reader, name);
    }
    qn_entity *entity;
    QN_TRY(qn_names_declare(reader, &entity, name, QN_ENTITY_LABEL, reader->depth));
    entity->index = reader->instructions.count;
    return QUERN_OK;
}

static quern_status directive(qn_reader *reader)
{
    qn_variable *variable;
    qn_ptx_space space = QN_SPACE_NONE;
    bool external = qn_ptx_is_word(reader, QN_WORD_EXTERN);
    if (external) {
        QN_TRY(qn_ptx_next(reader));
    }
    switch (reader->token.kind == QN_TOKEN_DIRECTIVE ? reader->token.name->word : 0) {
    case QN_WORD_REG:
        QN_TRY(qn_ptx_next(reader));
        QN_TRY(qn_parse_registers(reader));
        return qn_ptx_expect(reader, ';');
    case QN_WORD_LOC:
        return qn_parse_loc(reader);
    case QN_WORD_FILE:
        return qn_parse_file(reader);
    case QN_WORD_SECTION:
        return qn_parse_section(reader);
    case QN_WORD_GLOBAL:
        space = QN_SPACE_GLOBAL;
        break;
    case QN_WORD_CONST:
        space = QN_SPACE_CONST;
        break;
    case QN_WORD_SHARED:
        space = QN_SPACE_SHARED;
        break;
    case QN_WORD_LOCAL:
        space = QN_SPACE_LOCAL;
        break;
    case QN_WORD_PARAM:
        space = QN_SPACE_PARAM;
        break;
    default:
        return qn_ptx_skip_directive(reader);
    }
    QN_TRY(qn_ptx_next(reader));
    QN_TRY(qn_parse_variable(reader, &variable, space, external));
    return qn_ptx_expect(reader, ';');
}

/* "@" [ "!" ] register */
static quern_status guard(qn_reader *reader, qn_ptx_instruction *instruction)
{
    QN_TRY(qn_ptx_take(reader, '!', &instruction->guard_negated));
    if (reader->token.kind == QN_TOKEN_NAME) {
        QN_TRY(qn_find_register(reader, reader->token.name, &instruction->guard));
    }
    if (instruction->guard < 0) {
        return qn_ptx_expected(reader, "a predicate");
    }
    if (reader->registers.items[instruction->guard].type.letter != 'p') {
        return qn_ptx_error(reader, "'%s' guards an instruction but is not a .pred register",
                            reader->token.name->text);
    }
    return qn_ptx_next(reader);
}

/* Check what the layout relies on. */
static quern_status check(qn_reader *reader, const qn_ptx_instruction *instruction)
{
    uint8_t count = instruction->operand_count;
    const qn_ptx_operand *last = count ? &instruction->operands[count - 1] : NULL;
    bool branch = reader->instruction_flow == QN_FLOW_BRANCH;
    uint8_t wanted = branch ? 1 : reader->instruction_flow == QN_FLOW_INDEX ? 2 : 0;
    if (wanted > 0 && (count != wanted || last->kind != QN_OPERAND_LABEL)) {
        return qn_ptx_error_line(reader, instruction->line, "%s needs %s", instruction->opcode,
                                 branch ? "a label" : "an index and a list of labels");
    }
    return QUERN_OK;
}

static quern_status instruction(qn_reader *reader)
{
    qn_ptx_instruction value = {
        .guard = -1, .line = reader->token.line, .location = reader->location};
    reader->instruction_line = value.line;
    bool guarded;
    QN_TRY(qn_ptx_take(reader, '@', &guarded));
    if (guarded) {
        QN_TRY(guard(reader, &value));
    }
    if (reader->token.kind != QN_TOKEN_NAME) {
        return qn_ptx_expected(reader, "an instruction, a label or a directive");
    }
    qn_name *opcode;
    QN_TRY(qn_ptx_opcode(reader, &opcode));
    value.opcode = opcode->text;
    reader->instruction_flow = (uint8_t)qn_flow_kind_of(&value);
    reader->instruction_calls = qn_begins(value.opcode, "call");
    QN_TRY(qn_parse_operands(reader, &value));
    QN_TRY(check(reader, &value));
    value.definitions = QN_MIN(qn_ptx_definitions(opcode), value.operand_count);
    if (reader->instruction_calls && value.operand_count > 0 &&
        value.operands[0].kind == QN_OPERAND_LIST) {
        value.definitions = 1; /* what it returns */
    }
    if (!QN_ROOM(reader->instructions)) {
        return qn_ptx_memory();
    }
    reader->instructions.items[reader->instructions.count++] = value;
    return QUERN_OK;
}

/* `name:` but not the `::` of an opcode. */
static bool at_label(const qn_reader *reader)
{
    const char *at = reader->at;
    while (at < reader->end && (*at == ' ' || *at == '\t')) {
        at++;
    }
    return at < reader->end && *at == ':' && !(reader->end - at > 1 && at[1] == ':');
}

quern_status qn_parse_body(qn_reader *reader)
{
    uint32_t outside =
        reader->depth - 1; /* the function's scope is already open, for its parameters */
    QN_TRY(qn_ptx_expect(reader, '{'));
    while (reader->depth > outside) {
        bool taken;
        QN_TRY(qn_ptx_take(reader, '{', &taken));
        if (taken) {
            QN_TRY(qn_scope_open(reader));
            continue;
        }
        QN_TRY(qn_ptx_take(reader, '}', &taken));
        if (taken) {
            QN_TRY(qn_scope_close(reader));
            continue;
        }
        QN_TRY(qn_ptx_take(reader, ';', &taken));
        if (taken) {
            continue;
        }
        if (reader->token.kind == QN_TOKEN_DIRECTIVE) {
            QN_TRY(directive(reader));
        } else if (reader->token.kind == QN_TOKEN_NAME && at_label(reader)) {
            QN_TRY(label(reader));
        } else {
            QN_TRY(instruction(reader));
        }
    }
    return QUERN_OK;
}
