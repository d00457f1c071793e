/* SPDX-License-Identifier: MIT
 *
 * parse_module: reads the outermost level of PTX: header, variables, signatures of functions. A
 * function may be declared many times and defined once.
 *
 *     module   = { ".version" ... | ".file" ... | linkage variable ";" | linkage function | ... }
 *     function = ( ".entry" | ".func" [ "(" params ")" ] ) name [ "(" params ")" ]
 *                { ".maxntid" n, ... | other } ( body | ";" )
 */
#include "ptx/read/reader.h"

#include <stdlib.h>
#include <string.h>

/* ---- functions ------------------------------------------------------------------------------ */

/* The function that a name stands for, declared or new. */
static quern_status find_function(qn_reader *reader, qn_ptx_symbol **out)
{
    if (reader->token.kind != QN_TOKEN_NAME) {
        return qn_ptx_expected(reader, "a function's name");
    }
    qn_name *name = reader->token.name;
    /* The function's own scope is already open, for what came before the name. */
    qn_entity *entity = name->entity;
    if (entity && entity->depth == 0 && entity->kind == QN_ENTITY_SYMBOL &&
        entity->symbol->function) {
        *out = entity->symbol;
        return qn_ptx_next(reader);
    }
    QN_TRY(qn_names_declare(reader, &entity, name, QN_ENTITY_SYMBOL, 0));
    qn_arena *arena = &reader->module->arena;
    qn_ptx_symbol *symbol = qn_arena_alloc(arena, sizeof *symbol);
    qn_ptx_function *function = qn_arena_alloc(arena, sizeof *function);
    if (!symbol || !function || !QN_ROOM(reader->symbols) || !QN_ROOM(reader->functions)) {
        return qn_ptx_memory();
    }
    symbol->name = function->name = name->text;
    symbol->function = function;
    symbol->external = true; /* until it has a body */
    function->module = reader->module;
    entity->symbol = symbol;
    reader->symbols.items[reader->symbols.count++] = symbol;
    reader->functions.items[reader->functions.count++] = function;
    *out = symbol;
    return qn_ptx_next(reader);
}

typedef QN_LIST(qn_ptx_symbol *) symbol_list;

static quern_status parameters_into(qn_reader *reader, symbol_list *list)
{
    bool done, comma = true;
    QN_TRY(qn_ptx_take(reader, ')', &done));
    while (!done) {
        if (!comma) {
            return qn_ptx_expected(reader, "',' or ')'");
        }
        bool in_register = qn_ptx_is_word(reader, QN_WORD_REG);
        if (!in_register && !qn_ptx_is_word(reader, QN_WORD_PARAM)) {
            return qn_ptx_expected(reader, "'.param'");
        }
        if (in_register) {
            return qn_ptx_error(reader, "parameters in registers are not supported; declare them "
                                        "with .param");
        }
        qn_variable *variable;
        QN_TRY(qn_ptx_next(reader));
        QN_TRY(qn_parse_variable(reader, &variable, QN_SPACE_PARAM, false));
        if (!QN_ROOM(*list)) {
            return qn_ptx_memory();
        }
        list->items[list->count++] = &variable->symbol;
        QN_TRY(qn_ptx_take(reader, ',', &comma));
        QN_TRY(qn_ptx_take(reader, ')', &done));
    }
    return QUERN_OK;
}

/* After "(": the parameters, in the order written. */
static quern_status parameters(qn_reader *reader, qn_ptx_symbol ***out, uint32_t *count)
{
    symbol_list list = {0};
    quern_status status = parameters_into(reader, &list);
    if (status == QUERN_OK) {
        *out = qn_arena_alloc(&reader->module->arena, list.count * sizeof(qn_ptx_symbol *));
        *count = list.count;
        status = *out ? QUERN_OK : qn_ptx_memory();
    }
    if (status == QUERN_OK && list.count > 0) {
        memcpy(*out, list.items, list.count * sizeof(qn_ptx_symbol *));
    }
    qn_free(list.items);
    return status;
}

/* Returns are written first but placed after the parameters. */
static quern_status place_returns(qn_reader *reader, qn_ptx_function *function)
{
    function->param_bytes = function->frame_param_bytes;
    for (uint32_t i = 0; i < function->return_count; i++) {
        QN_TRY(qn_place_variable(reader, (qn_variable *)function->returns[i]));
    }
    return QUERN_OK;
}

/* { ".maxntid" x [ "," y [ "," z ] ] | other } before the body. */
static quern_status limits(qn_reader *reader, qn_ptx_function *function)
{
    while (!qn_ptx_is(reader, '{') && !qn_ptx_is(reader, ';')) {
        bool threads =
            qn_ptx_is_word(reader, QN_WORD_MAXNTID) || qn_ptx_is_word(reader, QN_WORD_REQNTID);
        if (reader->token.kind == QN_TOKEN_END) {
            return qn_ptx_expected(reader, "'{' or ';'");
        }
        QN_TRY(qn_ptx_next(reader));
        uint64_t product = 1;
        for (bool comma = threads; comma;) {
            int64_t count;
            QN_TRY(qn_ptx_integer(reader, &count));
            product = count > 0 && count <= 1 << 20 ? product * (uint64_t)count : UINT32_MAX;
            product = QN_MIN(product, UINT32_MAX);
            QN_TRY(qn_ptx_take(reader, ',', &comma));
        }
        if (threads) {
            function->max_threads = (uint32_t)product;
        }
    }
    return QUERN_OK;
}

/* The end of the text returns; the `ret` added there also gives labels at the end a target. */
static quern_status end_body(qn_reader *reader)
{
    const qn_name *ret = qn_names_intern(reader, "ret", 3);
    qn_ptx_operand *none = qn_arena_alloc(&reader->module->arena, 0);
    if (!ret || !none || !QN_ROOM(reader->instructions)) {
        return qn_ptx_memory();
    }
    reader->instructions.items[reader->instructions.count++] =
        (qn_ptx_instruction){.opcode = ret->text,
                             .operands = none,
                             .guard = -1,
                             .line = reader->token.line,
                             .location = reader->location};
    return QUERN_OK;
}

/* A .func with local variables may be called to any depth, and alloca may ask for any size. */
static bool needs_stack(const qn_ptx_function *function)
{
    bool needs = !function->is_kernel && function->local_bytes > 0;
    for (uint32_t i = 0; i < function->instruction_count; i++) {
        needs |= qn_begins(function->instructions[i].opcode, "alloca");
    }
    return needs;
}

/* Moves what was gathered for a body to the arena. */
static quern_status finish_body(qn_reader *reader, qn_ptx_function *function)
{
    qn_arena *arena = &reader->module->arena;
    QN_TRY(end_body(reader));
#define KEEP(field, list)                                                                          \
    do {                                                                                           \
        function->field##s = qn_arena_alloc(arena, (list).count * sizeof *(list).items);           \
        if (!function->field##s) {                                                                 \
            return qn_ptx_memory();                                                                \
        }                                                                                          \
        if ((list).count > 0) {                                                                    \
            memcpy(function->field##s, (list).items, (list).count * sizeof *(list).items);         \
        }                                                                                          \
        function->field##_count = (list).count;                                                    \
    } while (0)
    KEEP(instruction, reader->instructions);
    KEEP(register, reader->registers);
#undef KEEP
    function->targets_count = reader->targets.count;
    function->targets = qn_arena_alloc(arena, reader->targets.count * sizeof(qn_ptx_targets));
    if (!function->targets) {
        return qn_ptx_memory();
    }
    if (reader->targets.count > 0) {
        memcpy(function->targets, reader->targets.items,
               reader->targets.count * sizeof(qn_ptx_targets));
    }
    function->has_body = true;
    reader->module->needs_stack |= needs_stack(function);
    QN_TRY(qn_ptx_layout(function, arena));
    return qn_ptx_allocate_slots(function, arena);
}

static quern_status body(qn_reader *reader, qn_ptx_symbol *symbol)
{
    qn_ptx_function *function = reader->function;
    if (symbol->function->has_body) {
        return qn_ptx_error(reader, "'%s' is defined twice", symbol->name);
    }
    reader->registers.count = reader->instructions.count = reader->targets.count = 0;
    reader->pending.count = 0;
    reader->ranges_shadowed = false;
    reader->location = 0;
    QN_TRY(qn_parse_body(reader));
    *symbol->function = *function;
    symbol->external = false;
    return finish_body(reader, symbol->function);
}

static quern_status function(qn_reader *reader, bool kernel, bool visible)
{
    qn_ptx_function draft = {.module = reader->module, .is_kernel = kernel};
    reader->function = &draft;
    QN_TRY(qn_scope_open(reader));
    bool open;
    QN_TRY(qn_ptx_take(reader, '(', &open));
    if (open) {
        QN_TRY(parameters(reader, &draft.returns, &draft.return_count));
        draft.frame_param_bytes = 0;
        for (uint32_t i = 0; i < draft.return_count; i++) {
            ((qn_variable *)draft.returns[i])->placed = false;
        }
    }
    qn_ptx_symbol *symbol;
    QN_TRY(find_function(reader, &symbol));
    draft.name = symbol->name;
    symbol->visible |= visible;
    QN_TRY(qn_ptx_take(reader, '(', &open));
    if (open) {
        QN_TRY(parameters(reader, &draft.params, &draft.param_count));
    }
    QN_TRY(place_returns(reader, &draft));
    QN_TRY(limits(reader, &draft));
    if (qn_ptx_is(reader, '{')) {
        QN_TRY(body(reader, symbol));
    } else {
        reader->pending.count = 0;
        QN_TRY(qn_scope_close(reader));
        QN_TRY(qn_ptx_next(reader));
        if (!symbol->function->has_body) {
            *symbol->function = draft;
        }
    }
    reader->function = NULL;
    return QUERN_OK;
}

/* ".alias" name "," aliasee ";" */
static quern_status alias(qn_reader *reader)
{
    qn_ptx_symbol *symbol, *target;
    QN_TRY(qn_ptx_next(reader));
    QN_TRY(find_function(reader, &symbol));
    QN_TRY(qn_ptx_expect(reader, ','));
    QN_TRY(find_function(reader, &target));
    symbol->function = target->function;
    symbol->external = target->external;
    return qn_ptx_expect(reader, ';');
}

/* ---- the outermost level -------------------------------------------------------------------- */

/* ".version" 9 "." 0 reads as one number: 9.0 */
static quern_status version(qn_reader *reader)
{
    QN_TRY(qn_ptx_next(reader));
    const qn_token *token = &reader->token;
    bool good = token->kind == QN_TOKEN_FLOAT && token->float_bits == 64 && token->length <= 5;
    const char *dot = good ? memchr(token->begin, '.', token->length) : NULL;
    if (!dot) {
        return qn_ptx_expected(reader, "a version such as 9.0");
    }
    int parts[2] = {0, 0};
    for (const char *at = token->begin; at < token->begin + token->length; at++) {
        int *part = &parts[at > dot];
        *part = at == dot ? *part : *part * 10 + (*at - '0');
    }
    reader->module->version = parts[0] * 10 + parts[1];
    return qn_ptx_next(reader);
}

/* ".target" sm_75 { "," other } */
static quern_status target(qn_reader *reader)
{
    bool comma = true;
    QN_TRY(qn_ptx_next(reader));
    while (comma) {
        if (reader->token.kind != QN_TOKEN_NAME) {
            return qn_ptx_expected(reader, "a target such as sm_75");
        }
        if (qn_begins(reader->token.name->text, "sm_")) {
            reader->module->target = (int)strtol(reader->token.name->text + 3, NULL, 10);
        }
        QN_TRY(qn_ptx_next(reader));
        QN_TRY(qn_ptx_take(reader, ',', &comma));
    }
    return QUERN_OK;
}

static quern_status module_variable(qn_reader *reader, qn_ptx_space space, bool external,
                                    bool visible)
{
    qn_variable *variable;
    QN_TRY(qn_ptx_next(reader));
    QN_TRY(qn_parse_variable(reader, &variable, space, external));
    if (visible) {
        variable->symbol.visible = true;
        QN_TRY(qn_globals_use(reader, &variable->symbol));
    }
    return qn_ptx_expect(reader, ';');
}

static quern_status address_size(qn_reader *reader)
{
    int64_t bits;
    QN_TRY(qn_ptx_next(reader));
    QN_TRY(qn_ptx_integer(reader, &bits));
    return bits == 64 ? QUERN_OK : qn_ptx_error(reader, "only 64-bit addresses are supported");
}

/* One directive, with the linkage before it. */
static quern_status item(qn_reader *reader)
{
    bool visible = false, external = false;
    for (;;) {
        if (reader->token.kind != QN_TOKEN_DIRECTIVE) {
            return qn_ptx_expected(reader, "a directive such as .visible or .global");
        }
        switch (reader->token.name->word) {
        case QN_WORD_VISIBLE:
        case QN_WORD_WEAK:
        case QN_WORD_COMMON:
            visible = true;
            break;
        case QN_WORD_EXTERN:
            external = true;
            break;
        case QN_WORD_VERSION:
            return version(reader);
        case QN_WORD_TARGET:
            return target(reader);
        case QN_WORD_ADDRESS_SIZE:
            return address_size(reader);
        case QN_WORD_FILE:
            return qn_parse_file(reader);
        case QN_WORD_LOC:
            return qn_parse_loc(reader);
        case QN_WORD_SECTION:
            return qn_parse_section(reader);
        case QN_WORD_ALIAS:
            return alias(reader);
        case QN_WORD_ENTRY:
        case QN_WORD_FUNC: {
            bool kernel = reader->token.name->word == QN_WORD_ENTRY;
            QN_TRY(qn_ptx_next(reader));
            while (reader->token.kind == QN_TOKEN_DIRECTIVE) { /* .noreturn and the like */
                QN_TRY(qn_ptx_next(reader));
            }
            return function(reader, kernel, visible);
        }
        case QN_WORD_GLOBAL:
            return module_variable(reader, QN_SPACE_GLOBAL, external, visible);
        case QN_WORD_CONST:
            return module_variable(reader, QN_SPACE_CONST, external, visible);
        case QN_WORD_SHARED:
            return module_variable(reader, QN_SPACE_SHARED, external, visible);
        case QN_WORD_LOCAL:
            return module_variable(reader, QN_SPACE_LOCAL, external, visible);
        default:
            return qn_ptx_skip_directive(reader);
        }
        QN_TRY(qn_ptx_next(reader));
    }
}

quern_status qn_parse_module(qn_reader *reader)
{
    QN_TRY(qn_ptx_next(reader));
    if (!qn_ptx_is_word(reader, QN_WORD_VERSION)) {
        return qn_ptx_error(reader, "this is not PTX, which begins with .version");
    }
    while (reader->token.kind != QN_TOKEN_END) {
        bool empty;
        QN_TRY(qn_ptx_take(reader, ';', &empty));
        if (!empty) {
            QN_TRY(item(reader));
        }
    }
    return QUERN_OK;
}
