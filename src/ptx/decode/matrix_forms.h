/* SPDX-License-Identifier: MIT
 *
 * matrix_forms: what the opcodes of matrix instructions say, which shapes and types there are, and
 * in which tiles a matrix of each shape lies in registers. Used by decode_matrix.c.
 */
#ifndef QN_MATRIX_FORMS_H
#define QN_MATRIX_FORMS_H

#include "ptx/decode/decode.h"
#include "ptx/run/matrix.h"

/** Families of factors that share shapes. */
typedef enum qn_matrix_family {
    QN_FAMILY_NONE, /**< no factor */
    QN_FAMILY_HALVES,
    QN_FAMILY_TF32,
    QN_FAMILY_EIGHTHS, /**< floats of 8 bits */
    QN_FAMILY_DOUBLES,
    QN_FAMILY_BYTES,
    QN_FAMILY_NIBBLES,
    QN_FAMILY_BITS,
} qn_matrix_family;

qn_matrix_family qn_matrix_family_of(unsigned type);
unsigned qn_matrix_bits(unsigned type);
/** Can a sum of products of `factor` be of `type`? */
bool qn_matrix_is_sum(unsigned factor, unsigned type);

/** The words of wmma and mma, whatever their order. */
typedef struct qn_matrix_opcode {
    unsigned m, n, k;
    unsigned layout_count, type_count;
    bool columns[2]; /**< of each layout: .col */
    uint8_t types[4];
    uint8_t space;
    char matrix; /**< of wmma.load and wmma.store: a, b, c, d */
    bool sync, aligned, saturate, exclusive, conjunctive, nearest;
} qn_matrix_opcode;

/** False: some word is not known. */
bool qn_matrix_opcode_read(qn_matrix_opcode *out, const qn_opcode_words *words);
/** m8n32k16 becomes m32n8k16 of the transposed matrices; says whether it did. */
bool qn_matrix_opcode_turn(qn_matrix_opcode *opcode);

/** What an instruction multiplies; `block`: how many products of floats are summed at once. */
typedef struct qn_matrix_shape {
    bool wmma;
    uint8_t family, m, n;
    uint16_t k;
    uint8_t block;
} qn_matrix_shape;

/** The shape of an opcode that was turned, with factors of `type`; NULL: there is none. */
const qn_matrix_shape *qn_matrix_shape_find(bool wmma, const qn_matrix_opcode *opcode,
                                            unsigned type);
/** The same for wmma.load and wmma.store, which name one type only. */
const qn_matrix_shape *qn_matrix_shape_find_move(const qn_matrix_opcode *opcode);

/** The tiles of A ('a'), B ('b') or an accumulator ('c'), in the order of their registers. */
qn_fragment qn_matrix_lay_out(char matrix, const qn_matrix_shape *shape, unsigned type);

#endif /* QN_MATRIX_FORMS_H */
