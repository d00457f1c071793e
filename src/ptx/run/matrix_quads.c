/* SPDX-License-Identifier: MIT
 *
 * mma.m8n8k4 of f16. A warp computes four products of 8x4 and 4x8 matrices: lanes 4 q to 4 q + 3
 * and 16 + 4 q to 16 + 4 q + 3 hold the q-th. In and out: registers, as the PTX ISA draws them.
 *
 * Only compute capability 7.0 has such an instruction. For later ones ptxas 13.0 writes a chain of
 * f32 operations instead, and that is what is computed here: fma along k, then the accumulator is
 * added; with an f16 accumulator and result, in two halves.
 */
#include "ptx/lanes/lanes_half.h"
#include "ptx/run/matrix.h"

enum { SIZE = 8, DEPTH = 4, QUADS = 4 };

/* What one quad computes with. */
typedef struct quad_data {
    f32 a[SIZE][DEPTH], b[SIZE][DEPTH]; /* rows of A, columns of B */
    f32 c[SIZE][SIZE];
} quad_data;

/* Element k of a lane, of a register of 32 bits or of the half of one. */
static f32 read_element(const qn_warp *warp, const qn_fragment *fragment, int type, unsigned lane,
                        unsigned k)
{
    const unsigned number = type == QN_MATRIX_F16 ? k / 2 : k;
    const u32 word = ((const u32 *)qn_at(warp, fragment->registers[number]))[lane];
    return type == QN_MATRIX_F16 ? from_f16(word >> (k % 2 * 16) & 0xffff) : from32(word);
}

/* Where element k of a lane's part of C or D lies. */
static void place_of(int type, unsigned lane, unsigned k, unsigned *row, unsigned *column)
{
    const unsigned upper = lane / 16 * 4;
    if (type == QN_MATRIX_F16) {
        *row = lane % 4 + upper;
        *column = k;
    } else {
        *row = (lane & 1) + (k & 2) + upper;
        *column = (k & 4) + (lane & 2) + (k & 1);
    }
}

static void read_lane(qn_warp *warp, const qn_matrix *matrix, unsigned lane, quad_data *quad)
{
    const unsigned own = lane % 4, upper = lane / 16 * 4;
    for (unsigned k = 0; k < DEPTH; k++) {
        f32 *a = matrix->columns_a ? &quad->a[k + upper][own] : &quad->a[own + upper][k];
        f32 *b = matrix->columns_b ? &quad->b[own + upper][k] : &quad->b[k + upper][own];
        *a = read_element(warp, &matrix->a, QN_MATRIX_F16, lane, k);
        *b = read_element(warp, &matrix->b, QN_MATRIX_F16, lane, k);
    }
    for (unsigned k = 0; k < SIZE; k++) {
        unsigned row, column;
        place_of(matrix->type_c, lane, k, &row, &column);
        quad->c[row][column] = read_element(warp, &matrix->c, matrix->type_c, lane, k);
    }
}

static f32 multiply(const f32 *a, const f32 *b, f32 c, bool halves)
{
    const f32 first = fma32(a[1], b[1], a[0] * b[0], TO_NEAREST);
    if (halves) {
        return c + first + fma32(a[3], b[3], a[2] * b[2], TO_NEAREST);
    }
    return canonical32(c + fma32(a[3], b[3], fma32(a[2], b[2], first, TO_NEAREST), TO_NEAREST));
}

static void write_lane(qn_warp *warp, const qn_matrix *matrix, unsigned lane, const quad_data *quad)
{
    const bool half = matrix->type_d == QN_MATRIX_F16;
    for (unsigned k = 0; k < SIZE; k++) {
        const qn_place place = matrix->d.registers[half ? k / 2 : k];
        unsigned row, column;
        place_of(matrix->type_d, lane, k, &row, &column);
        const f32 result = multiply(quad->a[row], quad->b[column], quad->c[row][column],
                                    half && matrix->type_c == QN_MATRIX_F16);
        if (place == QN_NO_PLACE) {
            continue;
        }
        if (half) {
            ((u16 *)qn_at(warp, place))[lane * 2 + k % 2] = (u16)to_f16(result, TO_NEAREST);
        } else {
            ((u32 *)qn_at(warp, place))[lane] = bits32(result);
        }
    }
}

bool qn_run_matrix_quads(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    const qn_matrix *matrix = op->extra;
    quad_data quads[QUADS];
    if (!qn_matrix_whole_warp(warp, op, mask)) {
        return false;
    }
    for (unsigned lane = 0; lane < QN_LANES; lane++) {
        read_lane(warp, matrix, lane, &quads[lane / 4 % QUADS]);
    }
    for (unsigned lane = 0; lane < QN_LANES; lane++) {
        write_lane(warp, matrix, lane, &quads[lane / 4 % QUADS]);
    }
    return true;
}
