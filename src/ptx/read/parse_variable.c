/* SPDX-License-Identifier: MIT
 *
 * parse_variable: reads the declarations of variables of every space, parameters and registers. A
 * declaration gives size and alignment; variables of shared, local and parameter space are placed
 * at once, those of global and constant space only when something mentions them (globals.c).
 *
 *     variable = { ".align" n | ".ptr" ... | ".v4" | type | other } name { "[" [n] "]" }
 *                [ "=" initial ]
 */
#include "ptx/read/reader.h"

#include <string.h>

/* ---- types ---------------------------------------------------------------------------------- */

typedef struct type_row {
    const char *name;
    qn_ptx_type type;
} type_row;

static const type_row types[] = {
    {".b8", {'b', 8}},       {".b16", {'b', 16}},        {".b32", {'b', 32}},
    {".b64", {'b', 64}},     {".b128", {'b', 128}},      {".u8", {'u', 8}},
    {".u16", {'u', 16}},     {".u32", {'u', 32}},        {".u64", {'u', 64}},
    {".s8", {'s', 8}},       {".s16", {'s', 16}},        {".s32", {'s', 32}},
    {".s64", {'s', 64}},     {".f16", {'f', 16}},        {".f16x2", {'f', 32}},
    {".f32", {'f', 32}},     {".f64", {'f', 64}},        {".bf16", {'B', 16}},
    {".bf16x2", {'B', 32}},  {".tf32", {'f', 32}},       {".pred", {'p', 1}},
    {".e4m3x2", {'b', 16}},  {".e5m2x2", {'b', 16}},     {".texref", {'b', 64}},
    {".surfref", {'b', 64}}, {".samplerref", {'b', 64}},
};

bool qn_parse_type(const qn_name *name, qn_ptx_type *type)
{
    for (size_t i = 0; i < QN_COUNT(types); i++) {
        if (strcmp(types[i].name, name->text) == 0) {
            *type = types[i].type;
            return true;
        }
    }
    return false;
}

/* ---- heads ---------------------------------------------------------------------------------- */

typedef struct declaration {
    qn_ptx_type type;
    uint64_t align, vector;
} declaration;

/* All directives before the name. */
static quern_status head(qn_reader *reader, declaration *out)
{
    declaration pointee;
    *out = (declaration){.vector = 1};
    while (reader->token.kind == QN_TOKEN_DIRECTIVE) {
        const qn_name *name = reader->token.name;
        QN_TRY(qn_ptx_next(reader));
        if (name->word == QN_WORD_ALIGN) {
            uint64_t align;
            QN_TRY(qn_parse_constant(reader, &align));
            if (align == 0 || align > 4096 || (align & (align - 1)) != 0) {
                return qn_ptx_error(reader, "an alignment must be a power of two up to 4096");
            }
            out->align = out->type.bits == 0 || out->align == 0 ? align : out->align;
        } else if (name->word == QN_WORD_PTR) { /* the rest says what a pointer points to */
            pointee = *out;
            out = &pointee;
        } else if (name->word == QN_WORD_V2 || name->word == QN_WORD_V4 ||
                   name->word == QN_WORD_V8) {
            out->vector = name->word == QN_WORD_V2 ? 2 : name->word == QN_WORD_V4 ? 4 : 8;
        } else if (name->word == QN_WORD_ATTRIBUTE && qn_ptx_is(reader, '(')) {
            while (!qn_ptx_is(reader, ')') && reader->token.kind != QN_TOKEN_END) {
                QN_TRY(qn_ptx_next(reader));
            }
            QN_TRY(qn_ptx_expect(reader, ')'));
        } else {
            (void)qn_parse_type(name, &out->type); /* anything else does not matter here */
        }
    }
    return QUERN_OK;
}

static quern_status too_large(qn_reader *reader)
{
    return qn_ptx_error(reader, "variables of more than %llu MiB",
                        (unsigned long long)(QN_PTX_MEMORY >> 20));
}

/* { "[" [ n ] "]" }: how many elements; *open when the first dimension is not given. */
static quern_status dimensions(qn_reader *reader, uint64_t *count, bool *open)
{
    *count = 1;
    *open = false;
    bool bracket;
    QN_TRY(qn_ptx_take(reader, '[', &bracket));
    while (bracket) {
        uint64_t n = 1;
        bool empty;
        QN_TRY(qn_ptx_take(reader, ']', &empty));
        if (empty) {
            *open = true;
        } else {
            QN_TRY(qn_parse_constant(reader, &n));
            QN_TRY(qn_ptx_expect(reader, ']'));
        }
        if (n > QN_PTX_MEMORY || *count * n > QN_PTX_MEMORY) {
            return too_large(reader);
        }
        *count *= n;
        QN_TRY(qn_ptx_take(reader, '[', &bracket));
    }
    return QUERN_OK;
}

/* ---- variables ------------------------------------------------------------------------------ */

/* The variable that a name stands for in this scope: a new one, or one declared before. */
static quern_status declare(qn_reader *reader, qn_variable **out, qn_name *name, qn_ptx_space space,
                            bool external)
{
    qn_entity *known = name->entity;
    if (known && known->depth == reader->depth && known->kind == QN_ENTITY_SYMBOL &&
        !known->symbol->function && (external || known->symbol->external)) {
        *out = (qn_variable *)known->symbol; /* declared before */
        return QUERN_OK;
    }
    qn_entity *entity;
    QN_TRY(qn_names_declare(reader, &entity, name, QN_ENTITY_SYMBOL, reader->depth));
    qn_variable *variable = qn_arena_alloc(&reader->module->arena, sizeof *variable);
    if (!variable || !QN_ROOM(reader->symbols)) {
        return qn_ptx_memory();
    }
    variable->symbol.name = name->text;
    variable->symbol.external = true; /* until it is defined */
    variable->symbol.outside = reader->depth == 0;
    entity->symbol = &variable->symbol;
    /* Static variables of functions are the module's too. */
    if (reader->depth == 0 || space == QN_SPACE_GLOBAL || space == QN_SPACE_CONST) {
        reader->symbols.items[reader->symbols.count++] = &variable->symbol;
    }
    *out = variable;
    return QUERN_OK;
}

static quern_status one_variable(qn_reader *reader, qn_variable **out, const declaration *what,
                                 qn_ptx_space space, bool external)
{
    if (reader->token.kind != QN_TOKEN_NAME) {
        return qn_ptx_expected(reader, "a variable's name");
    }
    qn_name *name = reader->token.name;
    qn_variable *variable = NULL;
    QN_TRY(declare(reader, &variable, name, space, external));
    QN_TRY(qn_ptx_next(reader));
    uint64_t count, given = 0;
    bool open, initial;
    QN_TRY(dimensions(reader, &count, &open));
    QN_TRY(qn_ptx_take(reader, '=', &initial));
    qn_ptx_symbol *symbol = &variable->symbol;
    const bool defines = !external || initial;
    if (defines && !symbol->external) {
        return qn_ptx_error(reader, "'%s' is declared twice", name->text);
    }
    if (initial) {
        QN_TRY(qn_globals_skip_initial(reader, variable, &given));
    }
    uint64_t element = QN_MAX(what->type.bits / 8u, 1u) * what->vector;
    count = open ? (initial ? (given + count - 1) / count * count : 0) : count;
    if (count > QN_PTX_MEMORY / element) {
        return too_large(reader);
    }
    if (symbol->external && (symbol->size == 0 || defines)) {
        symbol->space = space;
        symbol->type = what->type;
        symbol->size = count * element;
        symbol->alignment = what->align ? what->align : element;
    }
    symbol->external = symbol->external && !defines;
    *out = variable;
    return QUERN_OK;
}

quern_status qn_parse_variable(qn_reader *reader, qn_variable **out, qn_ptx_space space,
                               bool external)
{
    declaration what;
    QN_TRY(head(reader, &what));
    bool comma = true;
    while (comma) {
        QN_TRY(one_variable(reader, out, &what, space, external));
        QN_TRY(qn_place_variable(reader, *out));
        if (space == QN_SPACE_PARAM) {
            return QUERN_OK; /* a comma begins the next parameter */
        }
        QN_TRY(qn_ptx_take(reader, ',', &comma));
    }
    return QUERN_OK;
}

static quern_status reserve(qn_reader *reader, qn_ptx_symbol *symbol, uint64_t *used)
{
    uint64_t align = symbol->alignment;
    symbol->offset = (*used + align - 1) / align * align;
    *used = symbol->offset + symbol->size;
    return *used > QN_PTX_MEMORY ? too_large(reader) : QUERN_OK;
}

quern_status qn_place_variable(qn_reader *reader, qn_variable *variable)
{
    qn_ptx_symbol *symbol = &variable->symbol;
    qn_ptx_function *function = reader->function;
    if (symbol->external || variable->placed) {
        return QUERN_OK;
    }
    uint64_t used;
    switch (symbol->space) {
    case QN_SPACE_SHARED:
        used = function ? function->shared_bytes : reader->module->module_shared_bytes;
        QN_TRY(reserve(reader, symbol, &used));
        if (function) {
            function->shared_bytes = (uint32_t)used;
        } else {
            reader->module->module_shared_bytes = used;
        }
        break;
    case QN_SPACE_LOCAL:
        used = function ? function->local_bytes : 0;
        QN_TRY(reserve(reader, symbol, &used));
        if (function) {
            function->local_bytes = (uint32_t)used;
        }
        break;
    case QN_SPACE_PARAM:
        used = function ? function->frame_param_bytes : 0;
        QN_TRY(reserve(reader, symbol, &used));
        if (used > QN_PTX_PARAM_BYTES) {
            return qn_ptx_error(reader, "parameters of more than %u bytes", QN_PTX_PARAM_BYTES);
        }
        if (function) {
            function->frame_param_bytes = (uint32_t)used;
        }
        break;
    default: /* when something mentions it */
        return QUERN_OK;
    }
    variable->placed = true;
    return QUERN_OK;
}

/* ---- registers ------------------------------------------------------------------------------ */

static quern_status add_register(qn_reader *reader, qn_name *name, qn_ptx_type type, uint32_t depth)
{
    if (reader->registers.count >= QN_PTX_REGISTERS) {
        return qn_ptx_error(reader, "a function with more than %u registers", QN_PTX_REGISTERS);
    }
    qn_entity *entity;
    QN_TRY(qn_names_declare(reader, &entity, name, QN_ENTITY_REGISTER, depth));
    if (!QN_ROOM(reader->registers)) {
        return qn_ptx_memory();
    }
    entity->index = reader->registers.count;
    reader->registers.items[reader->registers.count++] =
        (qn_ptx_register){.name = name->text, .type = type};
    return QUERN_OK;
}

quern_status qn_parse_registers(qn_reader *reader)
{
    declaration what;
    QN_TRY(head(reader, &what));
    if (what.vector != 1 || what.type.bits == 0) {
        return qn_ptx_error(reader, "registers must have a scalar type such as .b32 or .pred");
    }
    bool comma = true;
    while (comma) {
        if (reader->token.kind != QN_TOKEN_NAME) {
            return qn_ptx_expected(reader, "a register's name");
        }
        qn_name *name = reader->token.name;
        bool range;
        QN_TRY(qn_ptx_next(reader));
        QN_TRY(qn_ptx_take(reader, '<', &range));
        if (range) {
            int64_t count;
            QN_TRY(qn_ptx_integer(reader, &count));
            QN_TRY(qn_ptx_expect(reader, '>'));
            qn_entity *entity;
            QN_TRY(qn_names_declare(reader, &entity, name, QN_ENTITY_RANGE, reader->depth));
            entity->type = what.type;
            entity->count = (uint32_t)QN_MIN((uint64_t)QN_MAX(count, 0), UINT32_MAX);
            reader->ranges_shadowed |= reader->depth > 1;
        } else {
            QN_TRY(add_register(reader, name, what.type, reader->depth));
        }
        QN_TRY(qn_ptx_take(reader, ',', &comma));
    }
    return QUERN_OK;
}

/* The range that a register such as %r12 of %r<...> belongs to, or NULL. */
static const qn_entity *range_of(qn_reader *reader, const qn_name *name)
{
    uint32_t digits = name->length;
    while (digits > 0 && name->text[digits - 1] >= '0' && name->text[digits - 1] <= '9') {
        digits--;
    }
    uint32_t length = name->length - digits;
    if (length == 0 || length > 9 || digits == 0 || (length > 1 && name->text[digits] == '0')) {
        return NULL;
    }
    uint32_t number = 0;
    for (uint32_t i = digits; i < name->length; i++) {
        number = number * 10 + (uint32_t)(name->text[i] - '0');
    }
    const qn_name *prefix = qn_names_intern(reader, name->text, digits);
    const qn_entity *entity = prefix ? prefix->entity : NULL;
    while (entity && !(entity->kind == QN_ENTITY_RANGE && number < entity->count)) {
        entity = entity->shadowed;
    }
    return entity;
}

quern_status qn_find_register(qn_reader *reader, qn_name *name, int32_t *reg)
{
    *reg = -1;
    const qn_entity *entity = name->entity;
    if (!entity || reader->ranges_shadowed) {
        const qn_entity *range = range_of(reader, name);
        if (range && (!entity || entity->depth < range->depth)) {
            QN_TRY(add_register(reader, name, range->type, range->depth));
        }
    }
    entity = name->entity;
    if (entity && entity->kind == QN_ENTITY_REGISTER) {
        *reg = (int32_t)entity->index;
    }
    return QUERN_OK;
}
