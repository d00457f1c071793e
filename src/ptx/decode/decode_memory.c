/* SPDX-License-Identifier: MIT
 *
 * Decodes loads, stores and atomics: which space, which element, which registers. Modifiers that
 * order or cache accesses change nothing here, because host memory is at least as strongly ordered;
 * any other word makes the form unknown.
 */
#include "ptx/decode/decode.h"

#include "ptx/run/run_forms.h"

#include <string.h>

static const struct {
    const char *word;
    uint8_t space;
} spaces[] = {
    {"global", QN_SPACE_GLOBAL},
    {"const", QN_SPACE_GLOBAL},
    {"shared", QN_SPACE_SHARED},
    {"shared::cta", QN_SPACE_SHARED},
    {"shared::cluster", QN_SPACE_SHARED},
    {"local", QN_SPACE_LOCAL},
    {"param", QN_SPACE_PARAM},
    {"param::entry", QN_SPACE_PARAM},
    {"param::func", QN_SPACE_PARAM},
};

static const char *const passed_over[] = {
    "weak",
    "volatile",
    "mmio",
    "cta",
    "cluster",
    "gpu",
    "sys",
    "nc",
    "ca",
    "cg",
    "cs",
    "cv",
    "lu",
    "wb",
    "wt",
    "noftz",
    "unified",
    "L2::64B",
    "L2::128B",
    "L2::256B",
    "L1::no_allocate",
    "L1::evict_first",
    "L1::evict_last",
    "L1::evict_normal",
    "L1::evict_unchanged",
    "L2::evict_first",
    "L2::evict_last",
    "L2::evict_normal",
};

/* What the words of an access say. */
typedef struct access_words {
    uint8_t space;
    unsigned vector;
    char letter;
    uint8_t order; /* qn_order_word */
    unsigned bits;
    int form; /* of an atomic, -1: none */
} access_words;

static const struct {
    const char *word;
    uint8_t form;
} atomic_forms[] = {
    {"add", QN_ATOMIC_ADD}, {"min", QN_ATOMIC_MIN}, {"max", QN_ATOMIC_MAX},
    {"inc", QN_ATOMIC_INC}, {"dec", QN_ATOMIC_DEC}, {"exch", QN_ATOMIC_EXCH},
    {"cas", QN_ATOMIC_CAS}, {"and", QN_ATOMIC_AND}, {"or", QN_ATOMIC_OR},
    {"xor", QN_ATOMIC_XOR},
};

static const struct {
    const char *word;
    uint8_t order;
} orders[] = {
    {"relaxed", QN_ORDER_STRONG},
    {"acquire", QN_ORDER_STRONG | QN_ORDER_ACQUIRE},
    {"release", QN_ORDER_STRONG | QN_ORDER_RELEASE},
    {"acq_rel", QN_ORDER_STRONG | QN_ORDER_ACQUIRE | QN_ORDER_RELEASE},
};

static bool read_word(const char *word, access_words *out)
{
    for (size_t k = 0; k < QN_COUNT(orders); k++) {
        if (strcmp(word, orders[k].word) == 0) {
            out->order = orders[k].order;
            return true;
        }
    }
    for (size_t k = 0; k < QN_COUNT(spaces); k++) {
        if (strcmp(word, spaces[k].word) == 0) {
            out->space = spaces[k].space;
            return true;
        }
    }
    for (size_t k = 0; k < QN_COUNT(passed_over); k++) {
        if (strcmp(word, passed_over[k]) == 0) {
            return true;
        }
    }
    for (size_t k = 0; k < QN_COUNT(atomic_forms); k++) {
        if (strcmp(word, atomic_forms[k].word) == 0) {
            out->form = atomic_forms[k].form;
            return true;
        }
    }
    if (word[0] == 'v' && strchr("248", word[1]) && word[1] && !word[2]) {
        out->vector = (unsigned)(word[1] - '0');
        return true;
    }
    return false;
}

static bool read_words(const qn_opcode_words *words, access_words *out)
{
    *out = (access_words){.space = QN_SPACE_NONE, .vector = 1, .form = -1};
    for (unsigned k = 1; k + 1 < words->count; k++) {
        if (!read_word(words->word[k], out)) {
            return false;
        }
    }
    const char *type = words->word[words->count - 1];
    if (strcmp(type, "f16x2") == 0 || strcmp(type, "bf16x2") == 0) {
        out->letter = type[0] == 'f' ? 'h' : 'H'; /* two halves in 32 bits */
        out->bits = 32;
        return true;
    }
    return words->count > 1 && qn_parse_memory_type(type, &out->letter, &out->bits);
}

bool qn_bind_address(qn_decoder *decoder, const qn_ptx_operand *operand, uint8_t space,
                     uint64_t bytes, qn_op *out)
{
    *out = (qn_op){.space = space, .bits = 64, .offset = operand->offset};
    if (operand->kind != QN_OPERAND_ADDRESS) {
        return false;
    }
    if (operand->reg >= 0) {
        const qn_ptx_register *base = &decoder->function->registers[operand->reg];
        const qn_ptx_operand reg = {.kind = QN_OPERAND_REGISTER, .reg = operand->reg};
        out->bits = (uint8_t)qn_register_bits(base->type);
        out->a = qn_place_source(decoder, &reg, out->bits);
        out->space = space == QN_SPACE_PARAM ? QN_SPACE_NONE : space;
        return out->bits == 64 || out->bits == 32;
    }
    if (!operand->symbol) {
        out->a = qn_place_constant(decoder, 64, 0, 0);
        return true;
    }
    const qn_ptx_symbol *symbol = operand->symbol;
    uint64_t offset;
    if (symbol->space == QN_SPACE_PARAM && !qn_is_kernel_param(decoder, operand, &offset)) {
        out->space = QN_SPACE_PARAM;
        out->offset = operand->offset + (int64_t)symbol->offset;
        return out->offset >= 0 && ((uint64_t)out->offset & (bytes - 1)) == 0 &&
               (uint64_t)out->offset + bytes <= decoder->function->frame_param_bytes;
    }
    const qn_ptx_operand base = {.kind = QN_OPERAND_SYMBOL, .symbol = operand->symbol};
    out->a = qn_place_stable(decoder, &base, 64);
    out->space = symbol->space == QN_SPACE_PARAM ? QN_SPACE_NONE : space;
    if (out->a == QN_NO_PLACE) { /* local, or dynamic shared memory of a called function */
        out->a = qn_place_scratch(decoder, 64);
        qn_op *address = qn_emit_function(decoder, qn_run_address);
        address->d = out->a;
        address->space = (uint8_t)symbol->space;
        address->bits = 64;
        address->offset = symbol->external ? 0 : (int64_t)symbol->offset;
        address->guard = QN_NO_PLACE;
    }
    return true;
}

static void emit_access(qn_decoder *decoder, qn_op_function function, const qn_op *address,
                        unsigned count, const void *extra)
{
    qn_op *op = qn_emit_function(decoder, function);
    op->a = address->a;
    op->bits = address->bits;
    op->space = address->space;
    op->offset = address->offset;
    op->count = (uint8_t)count;
    op->extra = extra;
}

/* How wide the registers of an access are. They may be wider than the memory type. */
static unsigned access_bits(const qn_decoder *decoder, const qn_ptx_operand *operand,
                            unsigned memory_bits)
{
    if (operand->kind == QN_OPERAND_REGISTER && operand->reg >= 0) {
        return qn_register_bits(decoder->function->registers[operand->reg].type);
    }
    return QN_MAX(memory_bits, 16u);
}

/* The registers of a load or store and how each element moves; NULL: unknown. */
static qn_transfer *bind_registers(qn_decoder *decoder, const qn_ptx_operand *data,
                                   const access_words *words, bool stores)
{
    const bool vector = data->kind == QN_OPERAND_VECTOR;
    const unsigned count = vector ? data->element_count : 1;
    const qn_ptx_operand *elements = vector ? data->elements : data;
    qn_transfer *access = qn_decode_alloc(decoder, sizeof *access);
    if (!access || count != words->vector || count > QN_COUNT(access->places)) {
        return NULL;
    }
    unsigned bits = 0;
    bool sinks = false;
    for (unsigned k = 0; k < count; k++) {
        sinks |= elements[k].kind == QN_OPERAND_SINK;
        if (elements[k].kind != QN_OPERAND_SINK) {
            bits = QN_MAX(bits, access_bits(decoder, &elements[k], words->bits));
        }
    }
    bits = bits ? bits : QN_MAX(words->bits, 16u);
    for (unsigned k = 0; k < count; k++) {
        access->places[k] = stores ? qn_place_source(decoder, &elements[k], bits)
                                   : qn_place_target(decoder, &elements[k], bits);
        if (stores && access->places[k] == QN_NO_PLACE) {
            return NULL;
        }
    }
    access->order = words->order;
    access->element = qn_element_find(words->bits, words->letter == 's', bits);
    access->vector = access->element && !sinks ? qn_vector_find(access->element, count) : NULL;
    decoder->mismatch |= !access->element;
    return access->element ? access : NULL;
}

/* A load of a kernel's parameter that could not be folded is still only a constant. */
static bool load_constants(qn_decoder *decoder, const access_words *words, uint64_t offset)
{
    const qn_ptx_operand *target = &decoder->instruction->operands[0];
    const bool vector = target->kind == QN_OPERAND_VECTOR;
    const unsigned count = vector ? target->element_count : 1;
    const qn_ptx_operand *elements = vector ? target->elements : target;
    if (offset + (uint64_t)count * words->bits / 8 > decoder->function->param_bytes) {
        return false;
    }
    for (unsigned k = 0; k < count; k++) {
        const unsigned bits = access_bits(decoder, &elements[k], words->bits);
        const qn_place d = qn_place_target(decoder, &elements[k], bits);
        if (d == QN_NO_PLACE) {
            continue;
        }
        if (!qn_element_find(words->bits, words->letter == 's', bits)) {
            decoder->mismatch = true;
            return false;
        }
        const qn_patch patch = {.kind = QN_PATCH_PARAM,
                                .memory_bits = (uint8_t)words->bits,
                                .register_bits = (uint8_t)bits,
                                .is_signed = words->letter == 's',
                                .offset = (int64_t)(offset + k * words->bits / 8)};
        const qn_place a = qn_place_patch(decoder, &patch);
        static const char *const names[] = {"mov.b16", "mov.b32", "mov.b64"};
        for (unsigned half = 0; half < (bits == 128 ? 2u : 1u); half++) {
            qn_op *op = qn_emit(decoder, QN_OP_LANES);
            op->lanes = qn_lane_find(names[bits == 16 ? 0 : bits == 32 ? 1 : 2])->function;
            op->d = d + half * QN_LINE;
            op->a = a + half * QN_LINE;
        }
    }
    return true;
}

bool qn_bind_load(qn_decoder *decoder)
{
    const qn_ptx_instruction *instruction = decoder->instruction;
    access_words words;
    uint64_t offset;
    qn_op address;
    if (instruction->operand_count < 2 || !read_words(&decoder->words, &words) || words.form >= 0) {
        return false;
    }
    const qn_ptx_operand *from = &instruction->operands[1];
    if (words.space == QN_SPACE_PARAM && from->kind == QN_OPERAND_ADDRESS && from->reg < 0 &&
        qn_is_kernel_param(decoder, from, &offset)) {
        return load_constants(decoder, &words, offset);
    }
    const qn_transfer *access = bind_registers(decoder, &instruction->operands[0], &words, false);
    if (!access ||
        !qn_bind_address(decoder, from, words.space, words.bits / 8 * words.vector, &address)) {
        return false;
    }
    emit_access(decoder, qn_run_load, &address, words.vector, access);
    return true;
}

bool qn_bind_store(qn_decoder *decoder)
{
    const qn_ptx_instruction *instruction = decoder->instruction;
    access_words words;
    qn_op address;
    if (instruction->operand_count < 2 || !read_words(&decoder->words, &words) || words.form >= 0) {
        return false;
    }
    const qn_transfer *access = bind_registers(decoder, &instruction->operands[1], &words, true);
    if (!access || !qn_bind_address(decoder, &instruction->operands[0], words.space,
                                    words.bits / 8 * words.vector, &address)) {
        return false;
    }
    emit_access(decoder, qn_run_store, &address, words.vector, access);
    return true;
}

/* Floating-point sums of less than 32 bits are made by the lane-wise addition. */
static const char *half_addition(char letter, unsigned bits)
{
    switch (letter) {
    case 'h':
        return "add.f16x2";
    case 'H':
        return "add.bf16x2";
    case 'B':
        return "add.bf16";
    default:
        return letter == 'f' && bits == 16 ? "add.f16" : NULL;
    }
}

static bool is_atomic_type(const access_words *words)
{
    switch (words->form) {
    case QN_ATOMIC_ADD:
        return words->bits >= 16 && words->bits <= 64 && words->letter != 'b' &&
               (words->bits > 16 || words->letter == 'f' || words->letter == 'B');
    case QN_ATOMIC_MIN:
    case QN_ATOMIC_MAX:
        return (words->letter == 'u' || words->letter == 's') &&
               (words->bits == 32 || words->bits == 64);
    case QN_ATOMIC_INC:
    case QN_ATOMIC_DEC:
        return words->bits == 32;
    case QN_ATOMIC_CAS:
    case QN_ATOMIC_EXCH:
        return words->bits >= (words->form == QN_ATOMIC_CAS ? 16u : 32u);
    default:
        return words->bits == 32 || words->bits == 64;
    }
}

bool qn_bind_atomic(qn_decoder *decoder)
{
    const qn_ptx_instruction *instruction = decoder->instruction;
    const bool returns = qn_word_is(&decoder->words, 0, "atom");
    access_words words;
    qn_op address;
    if (!read_words(&decoder->words, &words) || words.form < 0 || words.vector != 1 ||
        !is_atomic_type(&words)) {
        return false;
    }
    const unsigned sources = words.form == QN_ATOMIC_CAS ? 2 : 1;
    const unsigned first = returns ? 1 : 0; /* the address */
    qn_atomic *atomic = qn_decode_alloc(decoder, sizeof *atomic);
    if (!atomic || instruction->operand_count < first + 1 + sources ||
        !qn_bind_address(decoder, &instruction->operands[first], words.space, words.bits / 8,
                         &address)) {
        return false;
    }
    const char *addition =
        words.form == QN_ATOMIC_ADD ? half_addition(words.letter, words.bits) : NULL;
    const qn_lane_form *form = addition ? qn_lane_find(addition) : NULL;
    if (addition && !form) {
        return false;
    }
    *atomic = (qn_atomic){.form = (uint8_t)words.form,
                          .order = words.order,
                          .letter = words.letter,
                          .bits = (uint8_t)words.bits,
                          .addition = form ? form->function : NULL};
    const qn_place b = qn_place_source(decoder, &instruction->operands[first + 1], words.bits);
    const qn_place c =
        sources == 2 ? qn_place_source(decoder, &instruction->operands[first + 2], words.bits) : 0;
    if (b == QN_NO_PLACE || c == QN_NO_PLACE) {
        return false;
    }
    emit_access(decoder, qn_run_atomic, &address, words.bits / 8, atomic);
    if (!decoder->failed) {
        qn_op *op = &decoder->code->ops[decoder->code->count - 1];
        op->d =
            returns ? qn_place_target(decoder, &instruction->operands[0], words.bits) : QN_NO_PLACE;
        op->b = b;
        op->c = c;
    }
    return true;
}

static bool is_predicate(const qn_decoder *decoder, const qn_ptx_operand *operand)
{
    return operand->kind == QN_OPERAND_REGISTER && operand->reg >= 0 &&
           decoder->function->registers[operand->reg].type.letter == 'p';
}

/* cp.async, whose copies are made at once, so that waiting for them does nothing. */
bool qn_bind_copy(qn_decoder *decoder)
{
    const qn_ptx_instruction *instruction = decoder->instruction;
    const qn_opcode_words *words = &decoder->words;
    if (!qn_word_is(words, 1, "async")) {
        return false;
    }
    if (qn_word_is(words, 2, "bulk")) {
        return qn_bind_bulk_copy(decoder);
    }
    if (qn_word_is(words, 2, "mbarrier")) {
        return qn_bind_copy_arrive(decoder);
    }
    if (qn_word_is(words, 2, "commit_group") || qn_word_is(words, 2, "wait_group") ||
        qn_word_is(words, 2, "wait_all")) {
        return true;
    }
    /* a cache hint adds one operand, after all others */
    const unsigned count = instruction->operand_count - qn_word_has(words, "L2::cache_hint");
    if (count < 3 || count > 4 || instruction->operands[2].kind != QN_OPERAND_IMMEDIATE) {
        return false;
    }
    const uint64_t bytes = instruction->operands[2].bits;
    qn_op *source = qn_decode_alloc(decoder, sizeof *source);
    qn_op address;
    if (!source || (bytes != 4 && bytes != 8 && bytes != 16) ||
        !qn_bind_address(decoder, &instruction->operands[1], QN_SPACE_GLOBAL, bytes, source) ||
        !qn_bind_address(decoder, &instruction->operands[0], QN_SPACE_SHARED, bytes, &address)) {
        return false;
    }
    source->origin = (uint32_t)(instruction - decoder->function->instructions);
    source->b = source->c = QN_NO_PLACE;
    if (count == 4) { /* a predicate (if true, nothing is read) or how many bytes are */
        const qn_ptx_operand *fourth = &instruction->operands[3];
        const bool ignores = is_predicate(decoder, fourth);
        qn_place *place = ignores ? &source->c : &source->b;
        *place = qn_place_source(decoder, fourth, ignores ? 1 : 32);
        if (*place == QN_NO_PLACE) {
            return false;
        }
    }
    emit_access(decoder, qn_run_async_copy, &address, (unsigned)bytes, source);
    return true;
}
