/* SPDX-License-Identifier: MIT
 *
 * locations: the places in the user's source that `.loc` gives to the instructions after it. An
 * inlined place names the place of the call, which in turn may be inlined: the chain is followed
 * through the last location that was given for that same place.
 *
 *     loc     = ".loc" file line column [ "," "function_name" label [ "+" n ] ]
 *               [ "," "inlined_at" file line column ]
 *     file    = ".file" number string [ "," number "," number ]
 *     section = ".section" name "{" ... "}"       of which .debug_str holds functions' names
 */
#include "ptx/read/reader.h"

#include <string.h>

#define MAX_FILE 65536 /* number of a .file */

typedef struct place {
    uint32_t file, line, column;
} place;

static quern_status read_place(qn_reader *reader, place *out)
{
    int64_t numbers[3];
    for (int i = 0; i < 3; i++) {
        QN_TRY(qn_ptx_integer(reader, &numbers[i]));
    }
    *out = (place){(uint32_t)numbers[0], (uint32_t)numbers[1], (uint32_t)numbers[2]};
    return QUERN_OK;
}

/* ---- the table by place --------------------------------------------------------------------- */

static uint32_t *slot_of(qn_reader *reader, const place *at)
{
    uint32_t hash = (at->file * 31 + at->line) * 2654435761u + at->column * 40503u;
    uint32_t mask = reader->location_capacity - 1;
    for (uint32_t i = (hash ^ hash >> 16) & mask;; i = (i + 1) & mask) {
        uint32_t index = reader->location_table[i];
        const qn_located *known = &reader->locations.items[index];
        if (index == 0 || (known->file == at->file && known->location.line == at->line &&
                           known->location.column == at->column)) {
            return &reader->location_table[i];
        }
    }
}

static quern_status grow_table(qn_reader *reader)
{
    if (reader->locations.count * 2 < reader->location_capacity) {
        return QUERN_OK;
    }
    uint32_t capacity = reader->location_capacity ? reader->location_capacity * 2 : 256;
    uint32_t *table = qn_calloc(capacity, sizeof *table);
    if (!table) {
        return qn_ptx_memory();
    }
    qn_free(reader->location_table);
    reader->location_table = table;
    reader->location_capacity = capacity;
    for (uint32_t i = 1; i < reader->locations.count; i++) {
        const qn_located *known = &reader->locations.items[i];
        *slot_of(reader, &(place){known->file, known->location.line, known->location.column}) = i;
    }
    return QUERN_OK;
}

/* The index of the location with this place, function and caller; a known one is reused. */
static quern_status locate(qn_reader *reader, const place *at, qn_name *function,
                           uint32_t inlined_at, uint32_t *index)
{
    if (reader->locations.count == 0) { /* [0] is "unknown" */
        if (!QN_ROOM(reader->locations)) {
            return qn_ptx_memory();
        }
        reader->locations.items[reader->locations.count++] = (qn_located){0};
    }
    QN_TRY(grow_table(reader));
    uint32_t *slot = slot_of(reader, at);
    const qn_located *known = &reader->locations.items[*slot];
    if (*slot == 0 || known->function != function || known->location.inlined_at != inlined_at) {
        if (!QN_ROOM(reader->locations)) {
            return qn_ptx_memory();
        }
        *slot = reader->locations.count++;
        reader->locations.items[*slot] = (qn_located){
            .location = {.line = at->line, .column = at->column, .inlined_at = inlined_at},
            .file = at->file,
            .function = function};
    }
    *index = *slot;
    return QUERN_OK;
}

/* The last location known for a place, or a plain one. */
static quern_status locate_caller(qn_reader *reader, const place *at, uint32_t *index)
{
    *index = reader->location_capacity ? *slot_of(reader, at) : 0;
    return *index ? QUERN_OK : locate(reader, at, NULL, 0, index);
}

quern_status qn_parse_loc(qn_reader *reader)
{
    place at, caller;
    qn_name *function = NULL;
    uint32_t inlined_at = 0;
    bool comma;
    QN_TRY(qn_ptx_next(reader));
    QN_TRY(read_place(reader, &at));
    QN_TRY(qn_ptx_take(reader, ',', &comma));
    while (comma) {
        if (qn_ptx_is_word(reader, QN_WORD_FUNCTION_NAME)) {
            QN_TRY(qn_ptx_next(reader));
            function = reader->token.name;
            QN_TRY(qn_ptx_next(reader));
            bool plus;
            QN_TRY(qn_ptx_take(reader, '+', &plus));
            int64_t ignored;
            if (plus) {
                QN_TRY(qn_ptx_integer(reader, &ignored));
            }
        } else if (qn_ptx_is_word(reader, QN_WORD_INLINED_AT)) {
            QN_TRY(qn_ptx_next(reader));
            QN_TRY(read_place(reader, &caller));
            QN_TRY(locate_caller(reader, &caller, &inlined_at));
        } else {
            return qn_ptx_expected(reader, "function_name or inlined_at");
        }
        QN_TRY(qn_ptx_take(reader, ',', &comma));
    }
    /* Line 0 means code of no line: the location before it says more. */
    return at.line == 0 ? QUERN_OK : locate(reader, &at, function, inlined_at, &reader->location);
}

quern_status qn_parse_file(qn_reader *reader)
{
    int64_t number;
    QN_TRY(qn_ptx_next(reader));
    QN_TRY(qn_ptx_integer(reader, &number));
    if (number < 0 || number > MAX_FILE) {
        return qn_ptx_error(reader, "a .file number must lie between 0 and %d", MAX_FILE);
    }
    if (reader->token.kind != QN_TOKEN_STRING) {
        return qn_ptx_expected(reader, "a path in quotes");
    }
    while (reader->files.count <= number) {
        if (!QN_ROOM(reader->files)) {
            return qn_ptx_memory();
        }
        reader->files.items[reader->files.count++] = NULL;
    }
    char *path =
        qn_arena_strndup(&reader->module->arena, reader->token.begin, reader->token.length);
    if (!path) {
        return qn_ptx_memory();
    }
    reader->files.items[number] = path;
    QN_TRY(qn_ptx_next(reader));
    bool comma;
    QN_TRY(qn_ptx_take(reader, ',', &comma)); /* time and size */
    while (comma) {
        QN_TRY(qn_ptx_integer(reader, &number));
        QN_TRY(qn_ptx_take(reader, ',', &comma));
    }
    return QUERN_OK;
}

/* .b8 n, n, ...: characters up to a zero. */
static quern_status debug_bytes(qn_reader *reader, qn_text *string)
{
    bool comma = true;
    QN_TRY(qn_ptx_next(reader));
    while (comma) {
        int64_t byte;
        QN_TRY(qn_ptx_integer(reader, &byte));
        if (byte != 0) {
            qn_text_add(string, &(char){(char)byte}, 1);
        }
        QN_TRY(qn_ptx_take(reader, ',', &comma));
    }
    return QUERN_OK;
}

static quern_status debug_string(qn_reader *reader, qn_name *label)
{
    qn_text string = {0};
    quern_status status = QUERN_OK;
    while (status == QUERN_OK && reader->token.kind == QN_TOKEN_DIRECTIVE) {
        status = debug_bytes(reader, &string);
    }
    if (status == QUERN_OK && string.length > 0) {
        label->debug_string = qn_arena_strndup(&reader->module->arena, string.data, string.length);
        status = label->debug_string ? QUERN_OK : qn_ptx_memory();
    }
    if (string.failed) {
        status = qn_ptx_memory();
    }
    qn_text_free(&string);
    return status;
}

quern_status qn_parse_section(qn_reader *reader)
{
    QN_TRY(qn_ptx_next(reader));
    bool strings = qn_ptx_is_word(reader, QN_WORD_DEBUG_STR);
    if (reader->token.kind != QN_TOKEN_DIRECTIVE && reader->token.kind != QN_TOKEN_NAME) {
        return qn_ptx_expected(reader, "a section's name");
    }
    QN_TRY(qn_ptx_next(reader));
    if (!qn_ptx_is(reader, '{')) {
        return qn_ptx_expected(reader, "'{'");
    }
    if (!strings) {
        return qn_ptx_skip_braces(reader);
    }
    QN_TRY(qn_ptx_next(reader));
    while (!qn_ptx_is(reader, '}')) {
        if (reader->token.kind == QN_TOKEN_END) {
            return qn_ptx_expected(reader, "'}'");
        }
        qn_name *label = reader->token.kind == QN_TOKEN_NAME ? reader->token.name : NULL;
        QN_TRY(qn_ptx_next(reader));
        if (label && qn_ptx_is(reader, ':')) {
            QN_TRY(qn_ptx_next(reader));
            QN_TRY(debug_string(reader, label));
        }
    }
    return qn_ptx_next(reader);
}

quern_status qn_locations_finish(qn_reader *reader)
{
    uint32_t count = QN_MAX(reader->locations.count, 1);
    qn_ptx_location *locations = qn_arena_alloc(&reader->module->arena, count * sizeof *locations);
    if (!locations) {
        return qn_ptx_memory();
    }
    for (uint32_t i = 1; i < reader->locations.count; i++) {
        const qn_located *from = &reader->locations.items[i];
        locations[i] = from->location;
        locations[i].file =
            from->file < reader->files.count ? reader->files.items[from->file] : NULL;
        locations[i].function = from->function ? from->function->debug_string : NULL;
    }
    reader->module->locations = locations;
    reader->module->location_count = count;
    return QUERN_OK;
}

void qn_locations_free(qn_reader *reader)
{
    qn_free(reader->locations.items);
    qn_free(reader->location_table);
    qn_free(reader->files.items);
}

/* Places in texts with names in angle brackets are in nobody's source, and are left out. So is the
 * working folder, which the compiler puts before every name. */
void qn_ptx_print_location(qn_text *out, const qn_ptx_module *module, uint32_t location)
{
    bool printed = false;
    for (uint32_t at = location, links = 0;
         at != 0 && at < module->location_count && links < QN_PTX_DEPTH; links++) {
        const qn_ptx_location *here = &module->locations[at];
        const char *file = here->file ? qn_base_name(here->file) : "?";
        at = here->inlined_at;
        if (file[0] == '<') {
            continue;
        }
        qn_text_printf(out, "%s%s:%u", printed ? ", inlined at " : "", file, here->line);
        if (here->column > 0) {
            qn_text_printf(out, ":%u", here->column);
        }
        printed = true;
    }
    if (!printed) {
        qn_text_puts(out, "an unknown place");
    }
}
