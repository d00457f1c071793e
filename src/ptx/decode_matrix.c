/* SPDX-License-Identifier: MIT
 *
 * Matrix instructions: wmma.load, wmma.store, wmma.mma, mma, ldmatrix, stmatrix and movmatrix. In:
 * an opcode and its lists of registers; out: a qn_matrix or qn_matrix_move, which says where each
 * register lies in its matrix, and an operation behind a barrier of the warp. What an opcode may
 * say is in tables of shapes; anything else is left unknown.
 */
#include "ptx/decode.h"
#include "ptx/matrix.h"
#include "ptx/run_forms.h"

#include <stdio.h>
#include <string.h>

/* ---- opcodes -------------------------------------------------------------------------------- */

static const struct {
    const char *word;
    uint8_t type, bits;
} types[] = {
    {"f16", QN_MATRIX_F16, 16},  {"bf16", QN_MATRIX_BF16, 16}, {"tf32", QN_MATRIX_TF32, 32},
    {"e4m3", QN_MATRIX_E4M3, 8}, {"e5m2", QN_MATRIX_E5M2, 8},  {"f32", QN_MATRIX_F32, 32},
    {"f64", QN_MATRIX_F64, 64},  {"s8", QN_MATRIX_S8, 8},      {"u8", QN_MATRIX_U8, 8},
    {"s4", QN_MATRIX_S4, 4},     {"u4", QN_MATRIX_U4, 4},      {"b1", QN_MATRIX_B1, 1},
    {"s32", QN_MATRIX_S32, 32},
};

static unsigned bits_of(unsigned type)
{
    return types[type].bits; /* in the order of qn_matrix_type */
}

/* Families of factors that share shapes. */
typedef enum family { HALVES, TF32, EIGHTHS, DOUBLES, BYTES, NIBBLES, BITS } family;

static family family_of(unsigned type)
{
    switch (type) {
    case QN_MATRIX_F16:
    case QN_MATRIX_BF16:
        return HALVES;
    case QN_MATRIX_TF32:
        return TF32;
    case QN_MATRIX_E4M3:
    case QN_MATRIX_E5M2:
        return EIGHTHS;
    case QN_MATRIX_F64:
        return DOUBLES;
    case QN_MATRIX_S8:
    case QN_MATRIX_U8:
        return BYTES;
    case QN_MATRIX_S4:
    case QN_MATRIX_U4:
        return NIBBLES;
    default:
        return BITS;
    }
}

/* What each instruction multiplies; `block`: products that are summed at once, of floats. Shapes of
 * 8 by 32 have become 32 by 8. */
typedef struct matrix_shape {
    bool wmma;
    uint8_t family, m, n;
    uint16_t k;
    uint8_t block;
} matrix_shape;

static const matrix_shape shapes[] = {
    {true, HALVES, 16, 16, 16, 16}, {true, HALVES, 32, 8, 16, 16},   {true, TF32, 16, 16, 8, 4},
    {true, DOUBLES, 8, 8, 4, 0},    {true, BYTES, 16, 16, 16, 0},    {true, BYTES, 32, 8, 16, 0},
    {true, NIBBLES, 8, 8, 32, 0},   {true, BITS, 8, 8, 128, 0},      {false, HALVES, 16, 8, 8, 8},
    {false, HALVES, 16, 8, 16, 16}, {false, TF32, 16, 8, 4, 4},      {false, TF32, 16, 8, 8, 8},
    {false, EIGHTHS, 16, 8, 16, 8}, {false, EIGHTHS, 16, 8, 32, 16}, {false, DOUBLES, 8, 8, 4, 0},
    {false, DOUBLES, 16, 8, 4, 0},  {false, DOUBLES, 16, 8, 8, 0},   {false, DOUBLES, 16, 8, 16, 0},
    {false, BYTES, 8, 8, 16, 0},    {false, BYTES, 16, 8, 16, 0},    {false, BYTES, 16, 8, 32, 0},
    {false, NIBBLES, 8, 8, 32, 0},  {false, NIBBLES, 16, 8, 32, 0},  {false, NIBBLES, 16, 8, 64, 0},
    {false, BITS, 8, 8, 128, 0},    {false, BITS, 16, 8, 128, 0},    {false, BITS, 16, 8, 256, 0},
};

/* The words of an opcode, whatever their order. */
typedef struct matrix_opcode {
    unsigned m, n, k;
    unsigned layout_count, type_count;
    bool columns[2]; /* of each layout: .col */
    uint8_t types[4];
    uint8_t space;
    char matrix; /* of wmma.load and wmma.store: a, b, c, d */
    bool sync, aligned, saturate, exclusive, conjunctive, nearest;
} matrix_opcode;

static bool read_flag(const char *word, matrix_opcode *out)
{
    const struct {
        const char *word;
        bool *flag;
    } flags[] = {
        {"sync", &out->sync},          {"aligned", &out->aligned}, {"xor", &out->exclusive},
        {"satfinite", &out->saturate}, {"and", &out->conjunctive}, {"rn", &out->nearest},
        {"popc", &(bool){false}},      {"load", &(bool){false}},   {"store", &(bool){false}},
        {"mma", &(bool){false}},
    };
    for (size_t k = 0; k < QN_COUNT(flags); k++) {
        if (strcmp(word, flags[k].word) == 0) {
            *flags[k].flag = true;
            return true;
        }
    }
    return false;
}

static bool read_word(const char *word, matrix_opcode *out)
{
    char end;
    if (strcmp(word, "row") == 0 || strcmp(word, "col") == 0) {
        if (out->layout_count == QN_COUNT(out->columns)) {
            return false;
        }
        out->columns[out->layout_count++] = word[0] == 'c';
        return true;
    }
    if (sscanf(word, "m%3un%3uk%3u%c", &out->m, &out->n, &out->k, &end) == 3) {
        return true;
    }
    for (size_t k = 0; k < QN_COUNT(types); k++) {
        if (strcmp(word, types[k].word) == 0 && out->type_count < QN_COUNT(out->types)) {
            out->types[out->type_count++] = types[k].type;
            return true;
        }
    }
    if (strcmp(word, "global") == 0) {
        out->space = QN_SPACE_GLOBAL;
        return true;
    }
    if (strcmp(word, "shared") == 0 || strcmp(word, "shared::cta") == 0) {
        out->space = QN_SPACE_SHARED;
        return true;
    }
    if (word[0] >= 'a' && word[0] <= 'd' && !word[1]) {
        out->matrix = word[0];
        return true;
    }
    return read_flag(word, out);
}

static bool read_opcode(const qn_words *words, matrix_opcode *out)
{
    *out = (matrix_opcode){.space = QN_SPACE_NONE};
    for (unsigned k = 1; k < words->count; k++) {
        if (!read_word(words->word[k], out)) {
            return false;
        }
    }
    return out->sync && out->aligned;
}

static const matrix_shape *find_shape(bool wmma, const matrix_opcode *opcode, unsigned type)
{
    for (size_t k = 0; k < QN_COUNT(shapes); k++) {
        if (shapes[k].wmma == wmma && shapes[k].family == family_of(type) &&
            shapes[k].m == opcode->m && shapes[k].n == opcode->n && shapes[k].k == opcode->k) {
            return &shapes[k];
        }
    }
    return NULL;
}

/* Which of two accumulators' types the factors go with. */
static bool is_accumulator(unsigned factor, unsigned type)
{
    switch (family_of(factor)) {
    case HALVES:
    case EIGHTHS:
        return type == QN_MATRIX_F32 || (type == QN_MATRIX_F16 && factor != QN_MATRIX_BF16);
    case TF32:
        return type == QN_MATRIX_F32;
    case DOUBLES:
        return type == QN_MATRIX_F64;
    default:
        return type == QN_MATRIX_S32;
    }
}

/* m8n32k16 is m32n8k16 of transposed matrices; says whether it was. */
static bool turn(matrix_opcode *opcode)
{
    if (opcode->m != 8 || opcode->n != 32) {
        return false;
    }
    opcode->m = 32;
    opcode->n = 8;
    opcode->matrix = opcode->matrix == 'a' ? 'b' : opcode->matrix == 'b' ? 'a' : opcode->matrix;
    return true;
}

/* ---- fragments ------------------------------------------------------------------------------ */

static void add_tile(qn_fragment *fragment, unsigned row, unsigned word)
{
    fragment->tiles[fragment->tile_count].row = (uint8_t)row;
    fragment->tiles[fragment->tile_count++].word = (uint8_t)word;
}

/* The tiles of A ('a'), B ('b') or an accumulator ('c'), in the order of their registers. */
static qn_fragment lay_out(char matrix, const matrix_shape *shape, unsigned type)
{
    const unsigned bits = bits_of(type), along = matrix == 'c' ? shape->n : shape->k;
    qn_fragment out = {.rows = matrix == 'b' ? shape->n : shape->m,
                       .word_bytes = bits == 64 ? 8 : 4,
                       .pairs = matrix == 'c' && bits > 16};
    out.words = (uint8_t)(along * bits / 8 / out.word_bytes);
    if (matrix == 'c') {
        for (unsigned word = 0; word < out.words; word += out.pairs ? 8 : 4) {
            for (unsigned row = 0; row < out.rows; row += 8) {
                add_tile(&out, row, word);
            }
        }
    } else {
        const unsigned together = matrix == 'a' ? 16 : 8; /* rows before going on along k */
        for (unsigned row = 0; row < out.rows; row += together) {
            for (unsigned word = 0; word < out.words; word += 4) {
                for (unsigned more = row; more < row + together && more < out.rows; more += 8) {
                    add_tile(&out, more, word);
                }
            }
        }
    }
    out.register_count = (uint8_t)(out.tile_count * (out.pairs ? 2 : 1));
    if (shape->wmma && type == QN_MATRIX_F16 && matrix != 'c') {
        out.register_count = 8;
    }
    return out;
}

/* The places of a list of registers; one register may stand without braces. */
static bool bind_registers(qn_decoder *decoder, const qn_ptx_operand *list, qn_place *places,
                           unsigned count, unsigned bits, bool written)
{
    const bool vector = list->kind == QN_OPERAND_VECTOR;
    const qn_ptx_operand *elements = vector ? list->elements : list;
    if ((vector ? list->element_count : 1u) != count) {
        return false;
    }
    for (unsigned k = 0; k < count; k++) {
        if (elements[k].kind == QN_OPERAND_REGISTER && elements[k].reg >= 0 &&
            qn_register_bits(decoder->function->registers[elements[k].reg].type) != bits) {
            return false;
        }
        places[k] = written ? qn_place_target(decoder, &elements[k])
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

/* Lanes that parted have a chance to come together; `function` reports who is missing. */
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
static bool read_types(const matrix_opcode *opcode, bool wmma, qn_matrix *out)
{
    const bool brief = wmma && opcode->type_count == 2;
    if (opcode->type_count != 4 && !brief) {
        return false;
    }
    out->type_d = opcode->types[0];
    out->type_a = brief ? QN_MATRIX_F16 : opcode->types[1];
    out->type_b = brief ? QN_MATRIX_F16 : opcode->types[2];
    out->type_c = opcode->types[brief ? 1 : 3];
    const family factors = family_of(out->type_a);
    return factors == family_of(out->type_b) && (factors != HALVES || out->type_a == out->type_b) &&
           is_accumulator(out->type_a, out->type_c) && is_accumulator(out->type_a, out->type_d);
}

static bool modifiers_fit(const matrix_opcode *opcode, family factors)
{
    return (!opcode->nearest || factors == DOUBLES) &&
           (!opcode->saturate || factors == BYTES || factors == NIBBLES) &&
           (opcode->exclusive != opcode->conjunctive) == (factors == BITS) &&
           opcode->layout_count == 2 && !opcode->matrix && opcode->space == QN_SPACE_NONE;
}

static void choose_math(qn_matrix *matrix)
{
    const qn_matrix_math *math = qn_matrix_math_level(qn_lane_level_count() - 1);
    switch (family_of(matrix->type_a)) {
    case DOUBLES:
        matrix->multiply = math->doubles;
        break;
    case BYTES:
    case NIBBLES:
        matrix->multiply = math->integers;
        break;
    case BITS:
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

/* d, a, b, c */
bool qn_bind_matrix_multiply(qn_decoder *decoder)
{
    const qn_ptx_instruction *instruction = decoder->instruction;
    const bool wmma = qn_word_is(&decoder->words, 0, "wmma");
    matrix_opcode opcode;
    qn_matrix *matrix = qn_decode_alloc(decoder, sizeof *matrix);
    if (!matrix || instruction->operand_count != 4 || !read_opcode(&decoder->words, &opcode) ||
        !read_types(&opcode, wmma, matrix) || !modifiers_fit(&opcode, family_of(matrix->type_a))) {
        return false;
    }
    const bool quads =
        !wmma && matrix->type_a == QN_MATRIX_F16 && opcode.m == 8 && opcode.n == 8 && opcode.k == 4;
    const bool turned = turn(&opcode);
    const qn_ptx_operand *operands = instruction->operands;
    if (turned) {
        const uint8_t type = matrix->type_a;
        matrix->type_a = matrix->type_b;
        matrix->type_b = type;
    }
    matrix->saturate = opcode.saturate;
    matrix->exclusive = opcode.exclusive;
    matrix->columns_a = opcode.columns[0];
    matrix->columns_b = opcode.columns[1];
    if (quads) {
        lay_out_quads(matrix);
    } else {
        const matrix_shape *shape = find_shape(wmma, &opcode, matrix->type_a);
        if (!shape || (!wmma && (opcode.columns[0] || !opcode.columns[1]))) {
            return false;
        }
        matrix->m = shape->m;
        matrix->n = shape->n;
        matrix->k = shape->k;
        matrix->block = shape->block;
        matrix->a = lay_out('a', shape, matrix->type_a);
        matrix->b = lay_out('b', shape, matrix->type_b);
        matrix->c = lay_out('c', shape, matrix->type_c);
        matrix->d = lay_out('c', shape, matrix->type_d);
        choose_math(matrix);
    }
    if (!bind_fragment(decoder, &operands[0], &matrix->d, true) ||
        !bind_fragment(decoder, &operands[turned ? 2 : 1], &matrix->a, false) ||
        !bind_fragment(decoder, &operands[turned ? 1 : 2], &matrix->b, false) ||
        !bind_fragment(decoder, &operands[3], &matrix->c, false)) {
        return false;
    }
    emit(decoder, quads ? qn_run_matrix_quads : qn_run_matrix_multiply)->extra = matrix;
    return true;
}

/* ---- matrices in memory --------------------------------------------------------------------- */

/* The type that tells the shape of the matrix: of an accumulator, every type that it goes with. */
static const matrix_shape *find_move_shape(const matrix_opcode *opcode)
{
    const unsigned type = opcode->types[0];
    if (opcode->matrix == 'a' || opcode->matrix == 'b') {
        return find_shape(true, opcode, type);
    }
    for (unsigned factor = 0; factor < QN_COUNT(types); factor++) {
        const matrix_shape *found = find_shape(true, opcode, factor);
        if (found && is_accumulator(factor, type)) {
            return found;
        }
    }
    return NULL;
}

/* wmma.load.x r, [p], stride?    wmma.store.d [p], r, stride? */
static bool bind_move(qn_decoder *decoder, bool loads)
{
    const qn_ptx_instruction *instruction = decoder->instruction;
    const unsigned count = instruction->operand_count;
    matrix_opcode opcode;
    qn_matrix_move *move = qn_decode_alloc(decoder, sizeof *move);
    if (!move || (count != 2 && count != 3) || !read_opcode(&decoder->words, &opcode) ||
        opcode.type_count != 1 || opcode.layout_count != 1 || (opcode.matrix == 'd') == loads ||
        !opcode.matrix) {
        return false;
    }
    const bool turned = turn(&opcode), columns = opcode.columns[0] != turned;
    const matrix_shape *shape = find_move_shape(&opcode);
    if (!shape) {
        return false;
    }
    const unsigned type = opcode.types[0], bits = bits_of(type);
    const bool factor = opcode.matrix == 'a' || opcode.matrix == 'b';
    move->fragment = lay_out(factor ? opcode.matrix : 'c', shape, type);
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
    const qn_words *words = &decoder->words;
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
