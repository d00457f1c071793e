/* SPDX-License-Identifier: MIT
 *
 * matrix: the matrix instructions of a warp, wmma, mma, ldmatrix, stmatrix and movmatrix.
 *
 *     decode_matrix.c   opcodes become a qn_matrix or a qn_matrix_move; their forms: matrix_forms.c
 *     run_matrix.c      registers <-> matrices in memory; the whole warp must be there
 *     matrix_math.c     D = A B + C, built once for each CPU level
 *     matrix_quads.c    mma.m8n8k4 of f16, whose four products are laid out in a way of their own
 *
 * How elements lie in registers. Cut a matrix into tiles of 8 rows by 4 words of 32 bits (f64: of
 * 64), where a word holds neighbours along k, or along a row of the result. Lane 4 r + w holds the
 * word w of row r of a tile, and each register is one tile. Wider elements of results come in tiles
 * of 8 by 8 elements and two registers: lane 4 r + w holds the elements 2 w and 2 w + 1 of row r. B
 * is seen as its transpose, N rows along k. This covers everything that the PTX ISA draws for
 * mma.sync, except m8n8k4 of f16; what remains is the order of the tiles:
 *
 *     A        two tiles down, then along k; of 32 rows, the upper 16 first
 *     B        along k, then to the next 8 columns
 *     C, D     down, then to the next 8 columns
 *
 * For wmma the ISA leaves the order open. The one here is what ptxas 13.0 makes of wmma for
 * compute capability 9.0, as its code shows, and so the frag.x[] of a program holds the same
 * elements. There m8n32k16 is m32n8k16 of the transposed matrices, and so it is here: decoding
 * exchanges A with B and rows with columns. Registers beyond the last tile hold the tiles again.
 */
#ifndef QN_MATRIX_H
#define QN_MATRIX_H

#include "ptx/run/run.h"

typedef enum qn_matrix_type {
    QN_MATRIX_F16,
    QN_MATRIX_BF16,
    QN_MATRIX_TF32,
    QN_MATRIX_E4M3,
    QN_MATRIX_E5M2,
    QN_MATRIX_F32,
    QN_MATRIX_F64,
    QN_MATRIX_S8,
    QN_MATRIX_U8,
    QN_MATRIX_S4,
    QN_MATRIX_U4,
    QN_MATRIX_B1,
    QN_MATRIX_S32,
} qn_matrix_type;

enum { QN_MATRIX_BYTES = 2048, QN_TILES = 8 }; /* the most that one matrix takes */

/** A matrix in registers: rows of words, and the tile of each register or pair of registers. */
typedef struct qn_fragment {
    uint8_t rows, words; /**< words in a row */
    uint8_t word_bytes;  /**< 4 or 8 */
    bool pairs;          /**< a tile takes two registers */
    uint8_t register_count, tile_count;
    struct {
        uint8_t row, word;
    } tiles[QN_TILES];
    qn_place registers[QN_TILES]; /**< QN_NO_PLACE: a result that nobody wants */
} qn_fragment;

/** D = A B + C: m rows, n columns, k products per element. */
typedef struct qn_matrix {
    uint16_t m, n, k;
    uint8_t type_a, type_b, type_c, type_d; /**< qn_matrix_type */
    uint8_t block;                          /**< products that are summed at once */
    bool saturate;                          /**< integers */
    bool exclusive;                         /**< b1: xor, not and */
    bool columns_a, columns_b;              /**< m8n8k4 of f16: .col */
    qn_fragment a, b, c, d;
    void (*multiply)(const struct qn_matrix *matrix, const void *a, const void *b, const void *c,
                     void *d);
} qn_matrix;

/** A matrix between registers and memory, by wmma.load and wmma.store. Its lines, rows or columns,
 * lie `stride` elements apart. */
typedef struct qn_matrix_move {
    qn_fragment fragment;
    bool transposed;      /**< the lines are the columns of the fragment's matrix */
    uint8_t element_bits; /**< of the matrix */
    uint8_t address_bits;
    uint8_t lines, line_bytes;
    uint8_t alignment; /**< of a line, in bytes: a lane's registers, as the PTX ISA asks, but no
                          more than the 16 that CUDA asks of a stride */
} qn_matrix_move;

/** The arithmetic of one CPU level. A is m rows along k, B is n rows along k, C and D are m rows,
 * all without gaps. */
typedef struct qn_matrix_math {
    void (*floats)(const qn_matrix *matrix, const void *a, const void *b, const void *c, void *d);
    void (*integers)(const qn_matrix *matrix, const void *a, const void *b, const void *c, void *d);
    void (*bits)(const qn_matrix *matrix, const void *a, const void *b, const void *c, void *d);
    void (*doubles)(const qn_matrix *matrix, const void *a, const void *b, const void *c, void *d);
} qn_matrix_math;
/** The build that suits this CPU; `level`: less than qn_lane_level_count(). */
const qn_matrix_math *qn_matrix_math_level(int level);

/** Is the whole warp here? Else false after a report. */
bool qn_matrix_whole_warp(qn_warp *warp, const qn_op *op, uint32_t mask);

bool qn_run_matrix_load(qn_warp *warp, const qn_op *op, uint32_t mask);
bool qn_run_matrix_store(qn_warp *warp, const qn_op *op, uint32_t mask);
bool qn_run_matrix_multiply(qn_warp *warp, const qn_op *op, uint32_t mask);
bool qn_run_matrix_quads(qn_warp *warp, const qn_op *op, uint32_t mask);
/** ldmatrix, stmatrix: op->count tiles, op->flags set: .trans; extra: the places. */
bool qn_run_tiles_load(qn_warp *warp, const qn_op *op, uint32_t mask);
bool qn_run_tiles_store(qn_warp *warp, const qn_op *op, uint32_t mask);
bool qn_run_tile_transpose(qn_warp *warp, const qn_op *op, uint32_t mask);

#endif /* QN_MATRIX_H */
