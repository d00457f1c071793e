/* SPDX-License-Identifier: MIT
 *
 * The forms of wmma and mma: tables of types and shapes, opcodes by their words, and the order of
 * tiles that matrix.h describes. In: the words of an opcode; out: what they say, or that the
 * software device does not know this form.
 */
#include "ptx/decode/matrix_forms.h"

#include <stdio.h>
#include <string.h>

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

unsigned qn_matrix_bits(unsigned type)
{
    return types[type].bits; /* in the order of qn_matrix_type */
}

qn_matrix_family qn_matrix_family_of(unsigned type)
{
    switch (type) {
    case QN_MATRIX_F16:
    case QN_MATRIX_BF16:
        return QN_FAMILY_HALVES;
    case QN_MATRIX_TF32:
        return QN_FAMILY_TF32;
    case QN_MATRIX_E4M3:
    case QN_MATRIX_E5M2:
        return QN_FAMILY_EIGHTHS;
    case QN_MATRIX_F64:
        return QN_FAMILY_DOUBLES;
    case QN_MATRIX_S8:
    case QN_MATRIX_U8:
        return QN_FAMILY_BYTES;
    case QN_MATRIX_S4:
    case QN_MATRIX_U4:
        return QN_FAMILY_NIBBLES;
    case QN_MATRIX_B1:
        return QN_FAMILY_BITS;
    default:
        return QN_FAMILY_NONE;
    }
}

/* Shapes of 8 by 32 have been turned into 32 by 8 (qn_matrix_opcode_turn). */
static const qn_matrix_shape shapes[] = {
    {true, QN_FAMILY_HALVES, 16, 16, 16, 16}, {true, QN_FAMILY_HALVES, 32, 8, 16, 16},
    {true, QN_FAMILY_TF32, 16, 16, 8, 4},     {true, QN_FAMILY_DOUBLES, 8, 8, 4, 0},
    {true, QN_FAMILY_BYTES, 16, 16, 16, 0},   {true, QN_FAMILY_BYTES, 32, 8, 16, 0},
    {true, QN_FAMILY_NIBBLES, 8, 8, 32, 0},   {true, QN_FAMILY_BITS, 8, 8, 128, 0},
    {false, QN_FAMILY_HALVES, 16, 8, 8, 8},   {false, QN_FAMILY_HALVES, 16, 8, 16, 16},
    {false, QN_FAMILY_TF32, 16, 8, 4, 4},     {false, QN_FAMILY_TF32, 16, 8, 8, 8},
    {false, QN_FAMILY_EIGHTHS, 16, 8, 16, 8}, {false, QN_FAMILY_EIGHTHS, 16, 8, 32, 16},
    {false, QN_FAMILY_DOUBLES, 8, 8, 4, 0},   {false, QN_FAMILY_DOUBLES, 16, 8, 4, 0},
    {false, QN_FAMILY_DOUBLES, 16, 8, 8, 0},  {false, QN_FAMILY_DOUBLES, 16, 8, 16, 0},
    {false, QN_FAMILY_BYTES, 8, 8, 16, 0},    {false, QN_FAMILY_BYTES, 16, 8, 16, 0},
    {false, QN_FAMILY_BYTES, 16, 8, 32, 0},   {false, QN_FAMILY_NIBBLES, 8, 8, 32, 0},
    {false, QN_FAMILY_NIBBLES, 16, 8, 32, 0}, {false, QN_FAMILY_NIBBLES, 16, 8, 64, 0},
    {false, QN_FAMILY_BITS, 8, 8, 128, 0},    {false, QN_FAMILY_BITS, 16, 8, 128, 0},
    {false, QN_FAMILY_BITS, 16, 8, 256, 0},
};

/* Words that say nothing that the rest of the opcode does not. */
static const char *const passed_over[] = {"load", "store", "mma", "popc"};

static bool read_flag(const char *word, qn_matrix_opcode *out)
{
    const struct {
        const char *word;
        bool *flag;
    } flags[] = {
        {"sync", &out->sync},     {"aligned", &out->aligned}, {"satfinite", &out->saturate},
        {"xor", &out->exclusive}, {"and", &out->conjunctive}, {"rn", &out->nearest},
    };
    for (size_t k = 0; k < QN_COUNT(flags); k++) {
        if (strcmp(word, flags[k].word) == 0) {
            *flags[k].flag = true;
            return true;
        }
    }
    for (size_t k = 0; k < QN_COUNT(passed_over); k++) {
        if (strcmp(word, passed_over[k]) == 0) {
            return true;
        }
    }
    return false;
}

static bool read_word(const char *word, qn_matrix_opcode *out)
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

bool qn_matrix_opcode_read(qn_matrix_opcode *out, const qn_opcode_words *words)
{
    *out = (qn_matrix_opcode){.space = QN_SPACE_NONE};
    for (unsigned k = 1; k < words->count; k++) {
        if (!read_word(words->word[k], out)) {
            return false;
        }
    }
    return out->sync && out->aligned;
}

const qn_matrix_shape *qn_matrix_shape_find(bool wmma, const qn_matrix_opcode *opcode,
                                            unsigned type)
{
    for (size_t k = 0; k < QN_COUNT(shapes); k++) {
        if (shapes[k].wmma == wmma && shapes[k].family == qn_matrix_family_of(type) &&
            shapes[k].m == opcode->m && shapes[k].n == opcode->n && shapes[k].k == opcode->k) {
            return &shapes[k];
        }
    }
    return NULL;
}

bool qn_matrix_is_sum(unsigned factor, unsigned type)
{
    switch (qn_matrix_family_of(factor)) {
    case QN_FAMILY_HALVES:
    case QN_FAMILY_EIGHTHS:
        return type == QN_MATRIX_F32 || (type == QN_MATRIX_F16 && factor != QN_MATRIX_BF16);
    case QN_FAMILY_TF32:
        return type == QN_MATRIX_F32;
    case QN_FAMILY_DOUBLES:
        return type == QN_MATRIX_F64;
    case QN_FAMILY_NONE:
        return false;
    default:
        return type == QN_MATRIX_S32;
    }
}

bool qn_matrix_opcode_turn(qn_matrix_opcode *opcode)
{
    if (opcode->m != 8 || opcode->n != 32) {
        return false;
    }
    opcode->m = 32;
    opcode->n = 8;
    opcode->matrix = opcode->matrix == 'a' ? 'b' : opcode->matrix == 'b' ? 'a' : opcode->matrix;
    return true;
}

const qn_matrix_shape *qn_matrix_shape_find_move(const qn_matrix_opcode *opcode)
{
    const unsigned type = opcode->types[0];
    if (opcode->matrix == 'a' || opcode->matrix == 'b') {
        return qn_matrix_shape_find(true, opcode, type);
    }
    /* an accumulator goes with several types of factors, which agree on the shape */
    for (unsigned factor = 0; factor < QN_COUNT(types); factor++) {
        const qn_matrix_shape *found = qn_matrix_shape_find(true, opcode, factor);
        if (found && qn_matrix_is_sum(factor, type)) {
            return found;
        }
    }
    return NULL;
}

/* ---- fragments ------------------------------------------------------------------------------ */

static void add_tile(qn_fragment *fragment, unsigned row, unsigned word)
{
    fragment->tiles[fragment->tile_count].row = (uint8_t)row;
    fragment->tiles[fragment->tile_count++].word = (uint8_t)word;
}

qn_fragment qn_matrix_lay_out(char matrix, const qn_matrix_shape *shape, unsigned type)
{
    const unsigned bits = qn_matrix_bits(type), along = matrix == 'c' ? shape->n : shape->k;
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
