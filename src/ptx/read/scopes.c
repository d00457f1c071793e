/* SPDX-License-Identifier: MIT
 *
 * scopes: keeps every name of the text once, with what it means in the scopes that are open. A
 * declaration hangs an entity on its name and remembers the one it shadows; closing the scope puts
 * that back. So looking a name up is following one pointer.
 */
#include "ptx/read/reader.h"

#include <string.h>

static uint32_t hash_of(const char *text, size_t length)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    }
    return hash ^ hash >> 15;
}

static bool grow(qn_names *names)
{
    uint32_t capacity = names->capacity ? names->capacity * 2 : 1024;
    qn_name **table = qn_calloc(capacity, sizeof(qn_name *));
    if (!table) {
        return false;
    }
    for (uint32_t i = 0; i < names->capacity; i++) {
        qn_name *name = names->table[i];
        if (name) {
            uint32_t at = name->hash & (capacity - 1);
            while (table[at]) {
                at = (at + 1) & (capacity - 1);
            }
            table[at] = name;
        }
    }
    qn_free(names->table);
    names->table = table;
    names->capacity = capacity;
    return true;
}

qn_name *qn_names_intern(qn_reader *reader, const char *text, size_t length)
{
    qn_names *names = &reader->names;
    if (names->count * 2 >= names->capacity && !grow(names)) {
        return NULL;
    }
    uint32_t hash = hash_of(text, length);
    uint32_t at = hash & (names->capacity - 1);
    for (; names->table[at]; at = (at + 1) & (names->capacity - 1)) {
        qn_name *name = names->table[at];
        if (name->hash == hash && name->length == length && memcmp(name->text, text, length) == 0) {
            return name;
        }
    }
    qn_name *name = qn_arena_alloc(&reader->arena, sizeof *name);
    char *copy = name ? qn_arena_strndup(&reader->module->arena, text, length) : NULL;
    if (!copy) {
        return NULL;
    }
    *name = (qn_name){.text = copy, .length = (uint32_t)length, .hash = hash, .definitions = -1};
    names->table[at] = name;
    names->count++;
    return name;
}

quern_status qn_names_start(qn_reader *reader)
{
    static const char *const words[] = {"",
#define WORD_TEXT(name, text) text,
                                        QN_PTX_WORDS(WORD_TEXT)
#undef WORD_TEXT
    };
    for (size_t i = 1; i < QN_COUNT(words); i++) {
        qn_name *name = qn_names_intern(reader, words[i], strlen(words[i]));
        if (!name) {
            return qn_ptx_memory();
        }
        name->word = (uint8_t)i;
    }
    return QUERN_OK;
}

void qn_names_free(qn_reader *reader)
{
    qn_free(reader->names.table);
}

/* ---- scopes --------------------------------------------------------------------------------- */

quern_status qn_names_declare(qn_reader *reader, qn_entity **out, qn_name *name,
                              qn_entity_kind kind, uint32_t depth)
{
    *out = NULL;
    /* The entity goes below those of deeper scopes, which shadow it. */
    qn_entity **place = &name->entity;
    while (*place && (*place)->depth > depth) {
        place = &(*place)->shadowed;
    }
    if (*place && (*place)->depth == depth) {
        return qn_ptx_error(reader, "'%s' is declared twice", name->text);
    }
    qn_entity *entity = reader->spare;
    if (entity) {
        reader->spare = entity->next;
    } else {
        entity = qn_arena_alloc(&reader->arena, sizeof *entity);
    }
    if (!entity) {
        return qn_ptx_memory();
    }
    *entity = (qn_entity){.kind = kind,
                          .depth = depth,
                          .name = name,
                          .shadowed = *place,
                          .next = reader->scopes[depth]};
    reader->scopes[depth] = entity;
    *place = entity;
    *out = entity;
    return QUERN_OK;
}

quern_status qn_scope_open(qn_reader *reader)
{
    if (reader->depth + 1 >= QN_PTX_DEPTH) {
        return qn_ptx_error(reader, "braces are nested more than %d deep", QN_PTX_DEPTH);
    }
    reader->scopes[++reader->depth] = NULL;
    return QUERN_OK;
}

/* Bind one mention of a name; false when it may still be declared in an outer scope. */
static bool bind(qn_reader *reader, const qn_pending *pending)
{
    const qn_entity *entity = pending->name->entity;
    if (!entity || entity->depth != reader->depth) {
        return false;
    }
    bool to_label = !pending->operand || pending->flow == QN_FLOW_BRANCH;
    if (entity->kind == QN_ENTITY_LABEL && to_label) {
        if (pending->operand) {
            pending->operand->kind = QN_OPERAND_LABEL;
            pending->operand->target = entity->index;
        } else {
            *pending->target = entity->index;
        }
        return true;
    }
    bool listed = pending->flow == QN_FLOW_INDEX ? entity->index != UINT32_MAX : !to_label;
    if (entity->kind == QN_ENTITY_TARGETS && listed) {
        pending->operand->kind = QN_OPERAND_LIST;
        pending->operand->target = entity->index;
        return true;
    }
    return false;
}

quern_status qn_scope_close(qn_reader *reader)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < reader->pending.count; i++) {
        qn_pending *pending = &reader->pending.items[i];
        if (bind(reader, pending)) {
            continue;
        }
        if (reader->depth == 1) {
            return qn_ptx_error_line(reader, pending->line,
                                     "nothing is called '%s' here: no register, variable, function "
                                     "or label",
                                     pending->name->text);
        }
        reader->pending.items[kept++] = *pending;
    }
    reader->pending.count = kept;
    qn_entity *next;
    for (qn_entity *entity = reader->scopes[reader->depth]; entity; entity = next) {
        next = entity->next;
        entity->name->entity = entity->shadowed;
        entity->next = reader->spare;
        reader->spare = entity;
    }
    reader->scopes[reader->depth--] = NULL;
    return QUERN_OK;
}

/* ---- opcodes -------------------------------------------------------------------------------- */

/* Mnemonics, or beginnings of opcodes up to a dot, that write nothing. */
static const char *const writes_nothing[] = {"st",
                                             "red",
                                             "bra",
                                             "brx",
                                             "bar",
                                             "barrier",
                                             "membar",
                                             "fence",
                                             "ret",
                                             "exit",
                                             "trap",
                                             "brkpt",
                                             "prefetch",
                                             "prefetchu",
                                             "cp",
                                             "nanosleep",
                                             "pmevent",
                                             "call",
                                             "wmma.store",
                                             "sust",
                                             "sured",
                                             "applypriority",
                                             "discard",
                                             "multimem.st",
                                             "multimem.red",
                                             "mbarrier.init",
                                             "mbarrier.inval",
                                             "mbarrier.expect_tx",
                                             "mbarrier.complete_tx",
                                             "griddepcontrol",
                                             "setmaxnreg",
                                             "stackrestore",
                                             "stmatrix",
                                             "wgmma.fence",
                                             "wgmma.commit_group",
                                             "wgmma.wait_group",
                                             "tcgen05"};

static uint8_t definitions(const char *opcode)
{
    if (qn_opcode_of(opcode, "bar.red") || qn_opcode_of(opcode, "barrier.red") ||
        qn_opcode_of(opcode, "bar.cta.red") || qn_opcode_of(opcode, "barrier.cta.red") ||
        qn_opcode_of(opcode, "tcgen05.ld")) {
        return 1;
    }
    for (size_t i = 0; i < QN_COUNT(writes_nothing); i++) {
        if (qn_opcode_of(opcode, writes_nothing[i])) {
            return 0;
        }
    }
    return 1;
}

uint8_t qn_ptx_definitions(qn_name *opcode)
{
    if (opcode->definitions < 0) {
        opcode->definitions = (int8_t)definitions(opcode->text);
    }
    return (uint8_t)opcode->definitions;
}
