/* SPDX-License-Identifier: MIT
 *
 * Decoding: a function as read becomes operations that the warps' loop executes. In: instructions
 * in layout order, registers with their slots; out: qn_code, attached to the function and kept
 * until qn_ptx_undecode. An unknown form becomes an operation that reports it when it is reached.
 */
#include "ptx/decode/decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- words ---------------------------------------------------------------------------------- */

static void split(qn_opcode_words *words, const char *opcode)
{
    words->count = 0;
    strncpy(words->text, opcode, sizeof words->text - 1);
    words->text[sizeof words->text - 1] = '\0';
    char *p = words->text;
    while (words->count < QN_WORDS) {
        words->word[words->count++] = p;
        p = strchr(p, '.');
        if (!p) {
            return;
        }
        *p++ = '\0';
    }
}

bool qn_word_is(const qn_opcode_words *words, unsigned k, const char *text)
{
    return k < words->count && strcmp(words->word[k], text) == 0;
}

bool qn_word_has(const qn_opcode_words *words, const char *text)
{
    for (unsigned k = 1; k < words->count; k++) {
        if (strcmp(words->word[k], text) == 0) {
            return true;
        }
    }
    return false;
}

bool qn_parse_memory_type(const char *word, char *letter, unsigned *bits)
{
    if (strcmp(word, "bf16") == 0) {
        *letter = 'B';
        *bits = 16;
        return true;
    }
    if (!strchr("busf", word[0]) || word[0] == '\0') {
        return false;
    }
    char *end;
    *letter = word[0];
    *bits = (unsigned)strtoul(word + 1, &end, 10);
    return *end == '\0' &&
           (*bits == 8 || *bits == 16 || *bits == 32 || *bits == 64 || *bits == 128);
}

/* ---- emitting ------------------------------------------------------------------------------- */

void *qn_decode_alloc(qn_decoder *decoder, size_t bytes)
{
    void *memory = qn_arena_alloc(&decoder->code->arena, bytes);
    decoder->failed |= !memory;
    return memory;
}

qn_op *qn_emit(qn_decoder *decoder, qn_op_kind kind)
{
    qn_code *code = decoder->code;
    if (!qn_room((void **)&code->ops, code->count, &decoder->op_capacity, sizeof *code->ops)) {
        decoder->failed = true;
        return &decoder->dummy;
    }
    const qn_ptx_instruction *instruction = decoder->instruction;
    qn_op *op = &code->ops[code->count++];
    *op = (qn_op){.kind = (uint8_t)kind,
                  .guard = QN_NO_PLACE,
                  .target = QN_NO_PLACE,
                  .origin = (uint32_t)(instruction - decoder->function->instructions)};
    if (instruction->guard >= 0) {
        const qn_place alias = decoder->alias[instruction->guard];
        op->guard =
            alias != QN_NO_PLACE ? alias : decoder->function->registers[instruction->guard].slot;
        op->guard_flip = instruction->guard_negated ? QN_ALL_LANES : 0;
    }
    return op;
}

qn_op *qn_emit_function(qn_decoder *decoder, qn_op_function function)
{
    qn_op *op = qn_emit(decoder, QN_OP_FUNCTION);
    op->function = function;
    return op;
}

/* What a call that cannot be made calls; NULL for other instructions. */
static const char *callee_of(const qn_ptx_instruction *instruction)
{
    for (unsigned k = 0; k < instruction->operand_count; k++) {
        const qn_ptx_symbol *symbol = instruction->operands[k].symbol;
        if (symbol && symbol->function) {
            return symbol->name;
        }
    }
    return NULL;
}

/* What only a GPU has, by its name; NULL: the instruction itself is not known. */
static const char *what_is_missing(const qn_ptx_instruction *instruction)
{
    static const struct {
        const char *begins, *missing;
    } parts[] = {
        {"tex.", "textures"},  {"tld4.", "textures"},
        {"txq.", "textures"},  {"suld.", "surfaces"},
        {"sust.", "surfaces"}, {"sured.", "surfaces"},
        {"suq.", "surfaces"},  {"istypep.", "textures and surfaces"},
    };
    for (size_t k = 0; k < QN_COUNT(parts); k++) {
        if (qn_begins(instruction->opcode, parts[k].begins)) {
            return parts[k].missing;
        }
    }
    const char *callee = callee_of(instruction);
    bool launches = callee && strstr(callee, "cuda") &&
                    (strstr(callee, "Launch") || strstr(callee, "GetParameterBuffer"));
    return launches ? "launches from kernels" : callee ? "function of that name" : NULL;
}

static bool unsupported(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    const qn_ptx_instruction *i = &warp->frame->code->function->instructions[op->origin];
    const char *missing = what_is_missing(i), *callee = callee_of(i);
    return missing ? qn_fault(warp, op, qn_first_lane(mask), QUERN_ERROR_NOT_SUPPORTED,
                              "the software device has no %s (%s): run the kernel on a GPU",
                              missing, callee ? callee : i->opcode)
                   : qn_fault(warp, op, qn_first_lane(mask), QUERN_ERROR_NOT_SUPPORTED,
                              "the software device does not know the instruction '%s'", i->opcode);
}

static bool mismatched(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    return qn_fault(warp, op, qn_first_lane(mask), QUERN_ERROR_NOT_SUPPORTED,
                    "the instruction '%s' has registers of the wrong width",
                    warp->frame->code->function->instructions[op->origin].opcode);
}

/* ---- binders by the first word -------------------------------------------------------------- */

static const struct {
    const char *name;
    bool (*bind)(qn_decoder *decoder);
} binders[] = {
    {"ld", qn_bind_load},
    {"ldu", qn_bind_load},
    {"st", qn_bind_store},
    {"mov", qn_bind_move},
    {"cvta", qn_bind_convert_address},
    {"isspacep", qn_bind_is_space},
    {"alloca", qn_bind_alloca},
    {"atom", qn_bind_atomic},
    {"red", qn_bind_atomic},
    {"cp", qn_bind_copy},
    {"bra", qn_bind_branch},
    {"brx", qn_bind_branch_index},
    {"call", qn_bind_call},
    {"ret", qn_bind_leave},
    {"exit", qn_bind_leave},
    {"trap", qn_bind_leave},
    {"brkpt", qn_bind_leave},
    {"bar", qn_bind_barrier},
    {"barrier", qn_bind_barrier},
    {"shfl", qn_bind_sync},
    {"vote", qn_bind_sync},
    {"match", qn_bind_sync},
    {"redux", qn_bind_sync},
    {"elect", qn_bind_sync},
    {"activemask", qn_bind_sync},
    {"mma", qn_bind_matrix_multiply},
    {"wmma", qn_bind_wmma},
    {"ldmatrix", qn_bind_tiles},
    {"stmatrix", qn_bind_tiles},
    {"movmatrix", qn_bind_tile_transpose},
    {"mbarrier", qn_bind_mbarrier},
    {"mapa", qn_bind_cluster_address},
    {"getctarank", qn_bind_cluster_address},
    {"membar", qn_bind_fence},
    {"fence", qn_bind_fence},
    {"nanosleep", qn_bind_sleep},
    {"prefetch", qn_bind_nothing},
    {"prefetchu", qn_bind_nothing},
    {"discard", qn_bind_nothing},
    {"applypriority", qn_bind_nothing},
    {"griddepcontrol", qn_bind_nothing},
    {"pmevent", qn_bind_nothing},
    {"setmaxnreg", qn_bind_nothing},
};

static void bind(qn_decoder *decoder)
{
    const uint32_t before = decoder->code->count;
    bool (*binder)(qn_decoder *) = qn_bind_lanes;
    for (size_t k = 0; k < QN_COUNT(binders); k++) {
        if (strcmp(binders[k].name, decoder->words.word[0]) == 0) {
            binder = binders[k].bind;
        }
    }
    decoder->mismatch = false;
    if (!binder(decoder) || decoder->mismatch) {
        decoder->code->count = before;
        qn_emit_function(decoder, decoder->mismatch ? mismatched : unsupported);
    }
    qn_watch_meetings(decoder, before);
    qn_shadow_decode(decoder, before);
}

static void count_definitions(qn_decoder *decoder, const qn_ptx_operand *operand)
{
    if (operand->kind == QN_OPERAND_REGISTER && operand->reg >= 0) {
        uint8_t *count = &decoder->definitions[operand->reg];
        *count = *count < 2 ? *count + 1 : 2;
    } else if (operand->kind == QN_OPERAND_VECTOR || operand->kind == QN_OPERAND_PAIR) {
        for (unsigned k = 0; k < operand->element_count; k++) {
            count_definitions(decoder, &operand->elements[k]);
        }
    }
}

static void select_instruction(qn_decoder *decoder, uint32_t index)
{
    decoder->instruction = &decoder->function->instructions[index];
    split(&decoder->words, decoder->instruction->opcode);
}

/* Labels were instructions; now they are operations. */
static void resolve_targets(qn_decoder *decoder, const uint32_t *op_of)
{
    for (uint32_t k = 0; k < decoder->code->count; k++) {
        qn_op *op = &decoder->code->ops[k];
        if (op->kind == QN_OP_BRANCH || op->kind == QN_OP_JUMP) {
            op->target = op_of[op->target];
        } else if (op->kind == QN_OP_BRANCH_INDEX) {
            uint32_t *targets = (uint32_t *)op->extra;
            for (uint32_t t = 0; targets && t < op->flags; t++) {
                targets[t] = op_of[targets[t]];
            }
        }
    }
}

static void decode_instructions(qn_decoder *decoder, uint32_t *op_of, bool *folded)
{
    const qn_ptx_function *function = decoder->function;
    for (uint32_t k = 0; k < function->instruction_count; k++) {
        const qn_ptx_instruction *instruction = &function->instructions[k];
        for (unsigned d = 0; d < instruction->definitions && d < instruction->operand_count; d++) {
            count_definitions(decoder, &instruction->operands[d]);
        }
    }
    for (uint32_t k = 0; k < function->instruction_count; k++) {
        select_instruction(decoder, k);
        folded[k] = qn_fold_constants(decoder);
    }
    qn_elements_decode_begin(decoder);
    for (uint32_t k = 0; k < function->instruction_count; k++) {
        select_instruction(decoder, k);
        op_of[k] = decoder->code->count;
        const struct qn_traced *traced = qn_trace_decode_before(decoder);
        if (!folded[k]) {
            qn_check_decode(decoder);
            qn_elements_decode(decoder);
            bind(decoder);
        }
        qn_trace_decode_behind(decoder, traced);
    }
    op_of[function->instruction_count] = decoder->code->count;
    /* Whoever runs past the last instruction returns; the operation needs a place for reports. */
    static const qn_ptx_instruction unguarded = {.guard = -1};
    decoder->instruction = &unguarded;
    qn_emit(decoder, QN_OP_RETURN)->origin =
        function->instruction_count ? function->instruction_count - 1 : 0;
    qn_elements_decode_end(decoder);
    resolve_targets(decoder, op_of);
}

/* ---- the whole function --------------------------------------------------------------------- */

static int by_begin(const void *a, const void *b)
{
    const qn_range *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

static bool list_variables(qn_code *code)
{
    const qn_ptx_module *module = code->function->module;
    code->variables = qn_arena_alloc(&code->arena, (module->symbol_count + 1) * sizeof(qn_range));
    if (!code->variables) {
        return false;
    }
    for (uint32_t k = 0; k < module->symbol_count; k++) {
        const qn_ptx_symbol *symbol = module->symbols[k];
        if ((symbol->space == QN_SPACE_GLOBAL || symbol->space == QN_SPACE_CONST) &&
            symbol->size > 0 && symbol->size <= module->global_bytes &&
            symbol->offset <= module->global_bytes - symbol->size) {
            qn_range *range = &code->variables[code->variable_count++];
            range->begin = (uint64_t)(uintptr_t)module->globals + symbol->offset;
            range->end = range->begin + symbol->size;
            char label[48];
            snprintf(label, sizeof label, "variable '%s'", symbol->name);
            range->label = qn_arena_strndup(&code->arena, label, strlen(label));
            if (!range->label) {
                return false;
            }
        }
    }
    qsort(code->variables, code->variable_count, sizeof(qn_range), by_begin);
    return true;
}

static void code_free(qn_code *code)
{
    qn_free(code->ops);
    qn_free(code->pool);
    qn_free(code->patches);
    qn_free(atomic_load(&code->spare_pool));
    qn_arena_free(&code->arena);
    qn_free(code);
}

static bool decode(qn_decoder *decoder, unsigned kind)
{
    const qn_ptx_function *function = decoder->function;
    qn_code *code = decoder->code;
    uint32_t *op_of = qn_calloc(function->instruction_count + 1, sizeof *op_of);
    bool *folded = qn_calloc(function->instruction_count + 1, sizeof *folded);
    code->function = function;
    code->kind = kind;
    code->frame_bytes = (function->frame_bytes + 63u) & ~63u;
    qn_shadow_decode_begin(decoder);
    if (op_of && folded && qn_places_allocate(decoder) &&
        (!function->is_kernel || list_variables(code))) {
        code->stack = function->is_kernel && function->module->needs_stack;
        decode_instructions(decoder, op_of, folded);
        code->frame_bytes += QN_PLACE_MARGIN;
    } else {
        decoder->failed = true;
    }
    qn_free(op_of);
    qn_free(folded);
    qn_places_free(decoder);
    return !decoder->failed;
}

quern_status qn_code_get(const qn_code **out, const qn_ptx_function *function, unsigned kind)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    void **decoded = &((qn_ptx_function *)function)->decoded[kind];
    *out = __atomic_load_n(decoded, __ATOMIC_ACQUIRE);
    if (*out) {
        return QUERN_OK;
    }
    pthread_mutex_lock(&lock);
    *out = *decoded;
    if (!*out) {
        qn_decoder decoder = {.function = function, .code = qn_calloc(1, sizeof(qn_code))};
        if (decoder.code && decode(&decoder, kind)) {
            *out = decoder.code;
            __atomic_store_n(decoded, decoder.code, __ATOMIC_RELEASE);
        } else if (decoder.code) {
            code_free(decoder.code);
        }
    }
    pthread_mutex_unlock(&lock);
    return *out ? QUERN_OK : qn_fail_memory("decoding a kernel");
}

void qn_ptx_undecode(qn_ptx_function *function)
{
    for (unsigned kind = 0; kind < QN_CODE_KINDS; kind++) {
        if (function->decoded[kind]) {
            code_free(function->decoded[kind]);
            function->decoded[kind] = NULL;
        }
    }
}
