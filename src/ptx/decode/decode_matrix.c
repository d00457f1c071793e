/* SPDX-License-Identifier: MIT
 *
 * Decodes matrix instructions: wmma.load, wmma.store, wmma.mma, mma, ldmatrix, stmatrix and
 * movmatrix. In: an opcode and its lists of registers; out: a qn_matrix or qn_matrix_move, which
 * says where each register lies in its matrix, and an operation after a barrier of the warp.
 */
#include "ptx/decode/matrix_forms.h"
#include "ptx/run/run_forms.h"

#include <string.h>

/* The places of a list of registers; one register may be written without braces. */
static bool bind_registers(qn_decoder *decoder, const qn_ptx_operand *list, qn_place *places,
                           unsigned count, unsigned bits, bool written)
{
    const bool vector = list->kind == QN_OPERAND_VECTOR;
    const qn_ptx_operand *elements = vector ? list->elements : list;
    if ((vector ? list->element_count : 1u) != count) {
        return false;
    }
    for (unsigned k = 0; k < count; k++) {
        places[k] = written ? qn_place_target(decoder, &elements[k], bits)
                            : qn_place_source(decoder, &elements[k], bits);
        if (places[k] == QN_NO_PLACE && !(written && elements[k].kind == QN_OPERAND_SINK)) {
            return false;
        }
    }
    return true;
}

static bool bind_fragment(qn_decoder *decoder, const qn_ptx_operand *list, qn_fragment *fragment,
                          bool written)
{
    return bind_registers(decoder, list, fragment->registers, fragment->register_count,
                          fragment->word_bytes * 8u, written);
}

/* Emit a barrier first, so that diverged lanes can come together; `function` reports who is
 * missing. */
static qn_op *emit(qn_decoder *decoder, qn_op_function function)
{
    const qn_place members = qn_place_constant(decoder, 32, QN_ALL_LANES, 0);
    qn_op *barrier = qn_emit(decoder, QN_OP_SYNC);
    barrier->a = QN_NO_PLACE;
    barrier->d = QN_NO_PLACE;
    barrier->members = members;
    barrier->flags = QN_SYNC_BARRIER;
    return qn_emit_function(decoder, function);
}

/* ---- products ------------------------------------------------------------------------------- */

/* The types of D, A, B and C. wmma of f16 names only those of D and C. */
static bool read_types(const qn_matrix_opcode *opcode, bool wmma, qn_matrix *out)
{
    const bool brief = wmma && opcode->type_count == 2;
    if (opcode->type_count != 4 && !brief) {
        return false;
    }
    out->type_d = opcode->types[0];
    out->type_a = brief ? QN_MATRIX_F16 : opcode->types[1];
    out->type_b = brief ? QN_MATRIX_F16 : opcode->types[2];
    out->type_c = opcode->types[brief ? 1 : 3];
    const qn_matrix_family factors = qn_matrix_family_of(out->type_a);
    return factors == qn_matrix_family_of(out->type_b) &&
           (factors != QN_FAMILY_HALVES || out->type_a == out->type_b) &&
           qn_matrix_is_sum(out->type_a, out->type_c) && qn_matrix_is_sum(out->type_a, out->type_d);
}

static bool modifiers_fit(const qn_matrix_opcode *opcode, qn_matrix_family factors)
{
    return (!opcode->nearest || factors == QN_FAMILY_DOUBLES) &&
           (!opcode->saturate || factors == QN_FAMILY_BYTES || factors == QN_FAMILY_NIBBLES) &&
           (opcode->exclusive != opcode->conjunctive) == (factors == QN_FAMILY_BITS) &&
           opcode->layout_count == 2 && !opcode->matrix && opcode->space == QN_SPACE_NONE;
}

static void choose_math(qn_matrix *matrix)
{
    const qn_matrix_math *math = qn_matrix_math_level(qn_lane_level_count() - 1);
    switch (qn_matrix_family_of(matrix->type_a)) {
    case QN_FAMILY_DOUBLES:
        matrix->multiply = math->doubles;
        break;
    case QN_FAMILY_BYTES:
    case QN_FAMILY_NIBBLES:
        matrix->multiply = math->integers;
        break;
    case QN_FAMILY_BITS:
        matrix->multiply = math->bits;
        break;
    default:
        matrix->multiply = math->floats;
        break;
    }
}

/* m8n8k4 of f16: two registers of factors, four or eight of accumulators. */
static void lay_out_quads(qn_matrix *matrix)
{
    matrix->a = matrix->b = (qn_fragment){.word_bytes = 4, .register_count = 2};
    matrix->c = matrix->d = (qn_fragment){.word_bytes = 4, .register_count = 8};
    matrix->c.register_count = matrix->type_c == QN_MATRIX_F16 ? 4 : 8;
    matrix->d.register_count = matrix->type_d == QN_MATRIX_F16 ? 4 : 8;
}

static void lay_out(qn_matrix *matrix, const qn_matrix_shape *shape)
{
    matrix->m = shape->m;
    matrix->n = shape->n;
    matrix->k = shape->k;
    matrix->block = shape->block;
    matrix->a = qn_matrix_lay_out('a', shape, matrix->type_a);
    matrix->b = qn_matrix_lay_out('b', shape, matrix->type_b);
    matrix->c = qn_matrix_lay_out('c', shape, matrix->type_c);
    matrix->d = qn_matrix_lay_out('c', shape, matrix->type_d);
    choose_math(matrix);
}

/* The operands are d, a, b, c; a product that was turned has a and b exchanged. */
static bool bind_product(qn_decoder *decoder, qn_matrix *matrix, bool turned,
                         qn_op_function function)
{
    const qn_ptx_operand *operands = decoder->instruction->operands;
    if (!bind_fragment(decoder, &operands[0], &matrix->d, true) ||
        !bind_fragment(decoder, &operands[turned ? 2 : 1], &matrix->a, false) ||
        !bind_fragment(decoder, &operands[turned ? 1 : 2], &matrix->b, false) ||
        !bind_fragment(decoder, &operands[3], &matrix->c, false)) {
        return false;
    }
    emit(decoder, function)->extra = matrix;
    return true;
}

bool qn_bind_matrix_multiply(qn_decoder *decoder)
{
    const bool wmma = qn_word_is(&decoder->words, 0, "wmma");
    qn_matrix_opcode opcode;
    qn_matrix *matrix = qn_decode_alloc(decoder, sizeof *matrix);
    if (!matrix || decoder->instruction->operand_count != 4 ||
        !qn_matrix_opcode_read(&opcode, &decoder->words) || !read_types(&opcode, wmma, matrix) ||
        !modifiers_fit(&opcode, qn_matrix_family_of(matrix->type_a))) {
        return false;
    }
    matrix->saturate = opcode.saturate;
    matrix->exclusive = opcode.exclusive;
    matrix->columns_a = opcode.columns[0];
    matrix->columns_b = opcode.columns[1];
    if (!wmma && matrix->type_a == QN_MATRIX_F16 && opcode.m == 8 && opcode.n == 8 &&
        opcode.k == 4) {
        lay_out_quads(matrix);
        return bind_product(decoder, matrix, false, qn_run_matrix_quads);
    }
    const bool turned = qn_matrix_opcode_turn(&opcode);
    const qn_matrix_shape *shape = qn_matrix_shape_find(wmma, &opcode, matrix->type_a);
    if (!shape || (!wmma && (matrix->columns_a || !matrix->columns_b))) {
        return false;
    }
    if (turned) {
        const uint8_t type = matrix->type_a;
        matrix->type_a = matrix->type_b;
        matrix->type_b = type;
    }
    lay_out(matrix, shape);
    return bind_product(decoder, matrix, turned, qn_run_matrix_multiply);
}

/* ---- matrices in memory --------------------------------------------------------------------- */

/* wmma.load.x r, [p], stride?    wmma.store.d [p], r, stride? */
static bool bind_move(qn_decoder *decoder, bool loads)
{
    const qn_ptx_instruction *instruction = decoder->instruction;
    const unsigned count = instruction->operand_count;
    qn_matrix_opcode opcode;
    qn_matrix_move *move = qn_decode_alloc(decoder, sizeof *move);
    if (!move || (count != 2 && count != 3) || !qn_matrix_opcode_read(&opcode, &decoder->words) ||
        opcode.type_count != 1 || opcode.layout_count != 1 || (opcode.matrix == 'd') == loads ||
        !opcode.matrix) {
        return false;
    }
    const bool turned = qn_matrix_opcode_turn(&opcode), columns = opcode.columns[0] != turned;
    const qn_matrix_shape *shape = qn_matrix_shape_find_move(&opcode);
    if (!shape) {
        return false;
    }
    const unsigned type = opcode.types[0], bits = qn_matrix_bits(type);
    const bool factor = opcode.matrix == 'a' || opcode.matrix == 'b';
    move->fragment = qn_matrix_lay_out(factor ? opcode.matrix : 'c', shape, type);
    move->transposed = columns != (opcode.matrix == 'b');
    const unsigned length = move->fragment.words * move->fragment.word_bytes * 8 / bits;
    if (move->transposed && bits < 8) {
        return false; /* .row of A and .col of B only */
    }
    const unsigned line_length = move->transposed ? move->fragment.rows : length;
    move->element_bits = (uint8_t)bits;
    move->lines = (uint8_t)(move->transposed ? length : move->fragment.rows);
    move->line_bytes = (uint8_t)(line_length * bits / 8);
    move->alignment =
        (uint8_t)QN_MIN(16, move->fragment.register_count * move->fragment.word_bytes);
    qn_op address;
    if (!bind_fragment(decoder, &instruction->operands[loads ? 0 : 1], &move->fragment, loads) ||
        !qn_bind_address(decoder, &instruction->operands[loads ? 1 : 0], opcode.space, 0,
                         &address) ||
        address.space == QN_SPACE_PARAM) {
        return false;
    }
    const qn_place stride = count == 3 ? qn_place_source(decoder, &instruction->operands[2], 32)
                                       : qn_place_constant(decoder, 32, line_length, 0);
    if (stride == QN_NO_PLACE) {
        return false;
    }
    move->address_bits = address.bits;
    const qn_place lines = qn_place_scratch(decoder, 64);
    qn_op *op = emit(decoder, loads ? qn_run_matrix_load : qn_run_matrix_store);
    op->a = lines;
    op->b = address.a;
    op->c = stride;
    op->bits = 64;
    op->space = address.space;
    op->offset = address.offset;
    op->extra = move;
    return true;
}

bool qn_bind_wmma(qn_decoder *decoder)
{
    if (qn_word_is(&decoder->words, 1, "mma")) {
        return qn_bind_matrix_multiply(decoder);
    }
    return (qn_word_is(&decoder->words, 1, "load") || qn_word_is(&decoder->words, 1, "store")) &&
           bind_move(decoder, qn_word_is(&decoder->words, 1, "load"));
}

/* ---- tiles ---------------------------------------------------------------------------------- */

static const struct {
    const char *word;
    uint8_t count;
} tile_counts[] = {{"x1", 1}, {"x2", 2}, {"x4", 4}};

/* ldmatrix r, [p]    stmatrix [p], r    of .sync.aligned.m8n8.xN.trans?.shared?.b16 */
bool qn_bind_tiles(qn_decoder *decoder)
{
    const qn_ptx_instruction *instruction = decoder->instruction;
    const qn_opcode_words *words = &decoder->words;
    const bool loads = qn_word_is(words, 0, "ldmatrix");
    const bool transposes = qn_word_has(words, "trans");
    const bool shared = qn_word_has(words, "shared") || qn_word_has(words, "shared::cta");
    unsigned count = 0;
    for (size_t k = 0; k < QN_COUNT(tile_counts); k++) {
        count = qn_word_is(words, 4, tile_counts[k].word) ? tile_counts[k].count : count;
    }
    if (count == 0 || instruction->operand_count != 2 || !qn_word_is(words, 1, "sync") ||
        !qn_word_is(words, 2, "aligned") || !qn_word_is(words, 3, "m8n8") ||
        !qn_word_is(words, 5u + transposes + shared, "b16") ||
        words->count != 6u + transposes + shared) {
        return false;
    }
    qn_place *registers = qn_decode_alloc(decoder, count * sizeof *registers);
    qn_op address;
    if (!registers ||
        !bind_registers(decoder, &instruction->operands[loads ? 0 : 1], registers, count, 32,
                        loads) ||
        !qn_bind_address(decoder, &instruction->operands[loads ? 1 : 0],
                         shared ? QN_SPACE_SHARED : QN_SPACE_NONE, 16, &address) ||
        address.space == QN_SPACE_PARAM) {
        return false;
    }
    qn_op *op = emit(decoder, loads ? qn_run_tiles_load : qn_run_tiles_store);
    op->a = address.a;
    op->bits = address.bits;
    op->space = address.space;
    op->offset = address.offset;
    op->count = (uint8_t)count;
    op->flags = transposes;
    op->extra = registers;
    return true;
}

bool qn_bind_tile_transpose(qn_decoder *decoder)
{
    const qn_ptx_instruction *instruction = decoder->instruction;
    qn_place d, a;
    if (strcmp(instruction->opcode, "movmatrix.sync.aligned.m8n8.trans.b16") != 0 ||
        instruction->operand_count != 2 ||
        !bind_registers(decoder, &instruction->operands[0], &d, 1, 32, true) || d == QN_NO_PLACE ||
        !bind_registers(decoder, &instruction->operands[1], &a, 1, 32, false)) {
        return false;
    }
    qn_op *op = emit(decoder, qn_run_tile_transpose);
    op->d = d;
    op->a = a;
    return true;
}
