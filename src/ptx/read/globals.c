/* SPDX-License-Identifier: MIT
 *
 * globals: the variables of a module in global and constant space. A text that includes a library
 * declares a thousand that nothing mentions; so an initial value is skipped at first, and read only
 * when its variable turns out to be used.
 *
 *     initial = "{" [ initial { "," initial } ] "}" | value
 *     value   = constant | float | address | mask "(" address ")"
 *     address = name [ "+" n ] | "generic" "(" name ")" [ "+" n ]
 */
#include "ptx/read/reader.h"

#include <string.h>

#define GLOBALS_ALIGNMENT 4096 /* the largest that a declaration may ask for */

quern_status qn_globals_skip_initial(qn_reader *reader, qn_variable *variable, uint64_t *count)
{
    variable->initial = reader->token.begin;
    variable->initial_line = reader->token.line;
    uint32_t braces = 0;
    uint64_t values = 0;
    bool fresh = true; /* the next token begins a value */
    for (;;) {
        const qn_token *token = &reader->token;
        char mark = token->kind == QN_TOKEN_MARK ? token->mark : '\0';
        if (token->kind == QN_TOKEN_END || mark == ';' || (mark == ',' && braces == 0)) {
            break;
        }
        if (token->kind == QN_TOKEN_STRING) { /* reading it again would find names inside */
            return qn_ptx_expected(reader, "a value");
        }
        if (mark == '{' || mark == '}') {
            braces += mark == '{' ? 1 : -1;
            if (braces > QN_PTX_DEPTH) { /* also below 0, which wraps */
                return qn_ptx_error(reader, "the braces of this initial value do not match");
            }
        } else if (mark == ',') {
            fresh = true;
        } else {
            values += fresh;
            fresh = false;
            variable->names_others |= token->kind == QN_TOKEN_NAME;
        }
        QN_TRY(qn_ptx_next(reader));
    }
    *count = values;
    return braces == 0 ? QUERN_OK : qn_ptx_expected(reader, "'}'");
}

quern_status qn_globals_use(qn_reader *reader, qn_ptx_symbol *symbol)
{
    if (symbol->function || (symbol->space != QN_SPACE_GLOBAL && symbol->space != QN_SPACE_CONST)) {
        return QUERN_OK;
    }
    qn_variable *variable = (qn_variable *)symbol;
    if (variable->used) {
        return QUERN_OK;
    }
    if (!QN_ROOM(reader->used)) {
        return qn_ptx_memory();
    }
    variable->used = true;
    reader->used.items[reader->used.count++] = variable;
    return QUERN_OK;
}

/* ---- reading initial values ----------------------------------------------------------------- */

/* Where the values of one variable go; data NULL: only look at the names. */
typedef struct filling {
    const qn_variable *variable;
    unsigned char *data;
    uint64_t at;
} filling;

static quern_status put(qn_reader *reader, filling *fill, uint64_t bits)
{
    const qn_ptx_symbol *symbol = &fill->variable->symbol;
    uint64_t bytes = QN_MAX(symbol->type.bits / 8u, 1u);
    if (!fill->data) {
        return QUERN_OK;
    }
    if (fill->at + bytes > symbol->size) {
        return qn_ptx_error(reader, "'%s' has more initial values than room", symbol->name);
    }
    memcpy(fill->data + fill->at, &bits, QN_MIN(bytes, sizeof bits));
    fill->at += bytes;
    return QUERN_OK;
}

static quern_status address(qn_reader *reader, uint64_t *bits)
{
    bool generic = qn_ptx_is_word(reader, QN_WORD_GENERIC);
    if (generic) {
        QN_TRY(qn_ptx_next(reader));
        QN_TRY(qn_ptx_expect(reader, '('));
    }
    const qn_entity *entity =
        reader->token.kind == QN_TOKEN_NAME ? reader->token.name->entity : NULL;
    if (!entity || entity->kind != QN_ENTITY_SYMBOL) {
        return qn_ptx_expected(reader, "a constant, a variable or a function");
    }
    qn_ptx_symbol *symbol = entity->symbol;
    QN_TRY(qn_globals_use(reader, symbol));
    QN_TRY(qn_ptx_next(reader));
    if (generic) {
        QN_TRY(qn_ptx_expect(reader, ')'));
    }
    bool in_module = symbol->space == QN_SPACE_GLOBAL || symbol->space == QN_SPACE_CONST;
    *bits = symbol->function ? (uint64_t)(uintptr_t)symbol->function
            : in_module      ? (uint64_t)(uintptr_t)reader->module->globals + symbol->offset
                             : symbol->offset;
    if (qn_ptx_is(reader, '+') || qn_ptx_is(reader, '-')) {
        uint64_t amount;
        QN_TRY(qn_parse_constant(reader, &amount)); /* signed */
        *bits += amount;
    }
    return QUERN_OK;
}

static quern_status value(qn_reader *reader, filling *fill)
{
    uint64_t bits;
    bool minus = qn_ptx_is(reader, '-');
    if (reader->token.kind == QN_TOKEN_NAME && !qn_ptx_is_word(reader, QN_WORD_WARP_SZ)) {
        QN_TRY(address(reader, &bits));
        return put(reader, fill, bits);
    }
    if (minus && reader->at < reader->end && *reader->at == '0') {
        qn_token sign = reader->token;
        const char *behind = reader->at;
        QN_TRY(qn_ptx_next(reader));
        if (reader->token.kind != QN_TOKEN_FLOAT) {
            reader->token = sign;
            reader->at = behind;
        }
    }
    if (reader->token.kind == QN_TOKEN_FLOAT) {
        double real;
        bits = reader->token.bits;
        memcpy(&real, &bits, sizeof real);
        uint8_t wanted = fill->variable->symbol.type.bits;
        if (wanted == 32 && reader->token.float_bits == 64) { /* 1.5 for a .f32 */
            float narrow = (float)real;
            uint32_t narrow_bits;
            memcpy(&narrow_bits, &narrow, sizeof narrow);
            bits = narrow_bits;
        }
        bits ^= (uint64_t)minus << (wanted == 32 ? 31 : 63);
        QN_TRY(qn_ptx_next(reader));
        return put(reader, fill, bits);
    }
    QN_TRY(qn_parse_constant(reader, &bits));
    bool masked;
    QN_TRY(qn_ptx_take(reader, '(', &masked));
    if (masked) { /* 0xff00(name): that byte of the address, moved down */
        uint64_t whole, mask = bits;
        QN_TRY(address(reader, &whole));
        QN_TRY(qn_ptx_expect(reader, ')'));
        bits = mask ? (whole & mask) >> __builtin_ctzll(mask) : 0;
    }
    return put(reader, fill, bits);
}

/* Values inside braces; an inner pair of braces fills one row of its dimension. NVRTC and nvcc
 * always write all values, so rows simply follow each other. */
static quern_status initial(qn_reader *reader, filling *fill)
{
    uint32_t braces = 0;
    do {
        bool taken;
        QN_TRY(qn_ptx_take(reader, '{', &taken));
        if (taken) {
            braces++;
            continue;
        }
        QN_TRY(qn_ptx_take(reader, '}', &taken));
        if (taken) {
            braces -= braces > 0;
            continue;
        }
        QN_TRY(qn_ptx_take(reader, ',', &taken));
        if (!taken) {
            QN_TRY(value(reader, fill));
        }
    } while (braces > 0);
    return QUERN_OK;
}

static quern_status read_initial(qn_reader *reader, const qn_variable *variable,
                                 unsigned char *data)
{
    if (!variable->initial || variable->symbol.external || (!data && !variable->names_others)) {
        return QUERN_OK;
    }
    reader->at = variable->initial;
    reader->line = variable->initial_line;
    QN_TRY(qn_ptx_next(reader));
    return initial(reader, &(filling){variable, data, 0});
}

/* ---- placement ------------------------------------------------------------------------------ */

/* Symbols that take no memory are forgotten; those in use get their place. */
static quern_status place(qn_reader *reader)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < reader->used.count; i++) {
        qn_ptx_symbol *symbol = &reader->used.items[i]->symbol;
        if (symbol->external) { /* qn_ptx_check_defined() reports it */
            continue;
        }
        total = (total + symbol->alignment - 1) & ~(symbol->alignment - 1);
        symbol->offset = total;
        total += symbol->size;
        if (total > QN_PTX_MEMORY) {
            return qn_fail(QUERN_ERROR_IMAGE,
                           "the PTX declares more than %llu MiB of global variables",
                           (unsigned long long)(QN_PTX_MEMORY >> 20));
        }
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < reader->symbols.count; i++) {
        qn_ptx_symbol *symbol = reader->symbols.items[i];
        bool in_module = !symbol->function &&
                         (symbol->space == QN_SPACE_GLOBAL || symbol->space == QN_SPACE_CONST);
        if (!in_module || ((qn_variable *)symbol)->used) {
            reader->symbols.items[kept++] = symbol;
        }
    }
    reader->symbols.count = kept;
    reader->module->global_bytes = total;
    return QUERN_OK;
}

quern_status qn_globals_write(qn_reader *reader)
{
    for (uint32_t i = 0; i < reader->used.count; i++) { /* the list grows while it is walked */
        QN_TRY(read_initial(reader, reader->used.items[i], NULL));
    }
    QN_TRY(place(reader));
    qn_ptx_module *module = reader->module;
    if (module->global_bytes == 0) {
        return QUERN_OK;
    }
    /* calloc gives large zeroed blocks without touching them. */
    module->globals_block = qn_calloc(1, module->global_bytes + GLOBALS_ALIGNMENT);
    if (!module->globals_block) {
        return qn_ptx_memory();
    }
    uintptr_t begin = (uintptr_t)module->globals_block + GLOBALS_ALIGNMENT - 1;
    module->globals = (unsigned char *)(begin & ~(uintptr_t)(GLOBALS_ALIGNMENT - 1));
    for (uint32_t i = 0; i < reader->used.count; i++) {
        const qn_variable *variable = reader->used.items[i];
        QN_TRY(read_initial(reader, variable, module->globals + variable->symbol.offset));
    }
    return QUERN_OK;
}
