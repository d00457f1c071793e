/* SPDX-License-Identifier: MIT
 *
 * Matrix instructions of a warp. In: registers in the tiles that matrix.h describes, or a matrix in
 * memory; out: the other of the two, or a product in registers. Every access goes through
 * qn_access_prepare, as if lane l accessed line l of the matrix.
 *
 * These instructions need all 32 lanes at one place. Decoding puts a barrier of the warp before
 * each, so that diverged lanes have a chance to come; lanes that are still missing are reported.
 */
#include "ptx/lanes/levels.h"
#include "ptx/run/matrix.h"

#include <string.h>

QN_LEVELS(qn_matrix_math, qn_matrix_math);

const qn_matrix_math *qn_matrix_math_level(int level)
{
    return levels[level];
}

/* Say where the lanes of `missing` are. */
static void print_missing(qn_text *out, const qn_warp *warp, uint32_t missing)
{
    const uint32_t exited = missing & warp->lanes & ~warp->live, lacking = missing & ~warp->lanes;
    for (uint32_t k = 0; k < warp->count; k++) {
        const qn_group *group = &warp->groups[k];
        if (group->mask & missing) {
            qn_text_printf(out, "; lanes 0x%08x are at ", group->mask & missing);
            qn_print_place(out, group->frame, group->next - (group->state != QN_READY));
        }
    }
    if (exited) {
        qn_text_printf(out, "; lanes 0x%08x have exited", exited);
    }
    if (lacking) {
        qn_text_printf(out, "; lanes 0x%08x do not exist in this block", lacking);
    }
}

bool qn_matrix_whole_warp(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    if (mask == QN_ALL_LANES) {
        return true;
    }
    qn_text who = {0};
    print_missing(&who, warp, ~mask);
    qn_fault(warp, op, qn_first_lane(mask), QUERN_ERROR_LAUNCH,
             "a matrix instruction needs all 32 lanes of the warp, but only lanes 0x%08x are "
             "here%s",
             mask, who.data ? who.data : "");
    qn_text_free(&who);
    return false;
}

/* ---- tiles ---------------------------------------------------------------------------------- */

/* Copy the register of a tile, or one register of a pair, to or from the rows of a matrix. Callers
 * pass a constant `word`, so that the loops become vector code. */
static inline __attribute__((always_inline)) void copy_tile(unsigned char *restrict rows,
                                                            unsigned char *restrict reg,
                                                            unsigned pitch, unsigned word,
                                                            bool into_rows)
{
    for (unsigned row = 0; row < 8; row++, rows += pitch, reg += 4 * word) {
        memcpy(into_rows ? rows : reg, into_rows ? reg : rows, 4 * (size_t)word);
    }
}

static inline __attribute__((always_inline)) void copy_half(unsigned char *restrict rows,
                                                            unsigned char *restrict reg,
                                                            unsigned pitch, unsigned word,
                                                            bool into_rows)
{
    for (unsigned row = 0; row < 8; row++, rows += pitch) {
        for (unsigned k = 0; k < 4; k++, reg += word) {
            unsigned char *element = rows + (size_t)k * 2 * word;
            memcpy(into_rows ? element : reg, into_rows ? reg : element, word);
        }
    }
}

/* Copy register k of a fragment to or from a matrix without gaps. */
static inline __attribute__((always_inline)) void copy_register(qn_warp *warp,
                                                                const qn_fragment *fragment,
                                                                unsigned k, unsigned char *matrix,
                                                                unsigned word, bool into_rows)
{
    const unsigned pitch = fragment->words * word;
    const unsigned tile = (fragment->pairs ? k / 2 : k) % fragment->tile_count;
    unsigned char *reg = qn_at(warp, fragment->registers[k]);
    unsigned char *rows =
        matrix + fragment->tiles[tile].row * pitch + fragment->tiles[tile].word * word;
    if (fragment->pairs) {
        copy_half(rows + k % 2 * word, reg, pitch, word, into_rows);
    } else {
        copy_tile(rows, reg, pitch, word, into_rows);
    }
}

/* Copy registers into a matrix; those past the tiles only repeat them. */
static void gather(qn_warp *warp, const qn_fragment *fragment, unsigned char *matrix)
{
    const unsigned count = fragment->tile_count * (fragment->pairs ? 2u : 1u);
    for (unsigned k = 0; k < count; k++) {
        if (fragment->word_bytes == 4) {
            copy_register(warp, fragment, k, matrix, 4, true);
        } else {
            copy_register(warp, fragment, k, matrix, 8, true);
        }
    }
}

static void scatter(qn_warp *warp, const qn_fragment *fragment, unsigned char *matrix)
{
    for (unsigned k = 0; k < fragment->register_count; k++) {
        if (fragment->registers[k] == QN_NO_PLACE) {
            continue;
        }
        if (fragment->word_bytes == 4) {
            copy_register(warp, fragment, k, matrix, 4, false);
        } else {
            copy_register(warp, fragment, k, matrix, 8, false);
        }
    }
}

bool qn_run_matrix_multiply(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    const qn_matrix *matrix = op->extra;
    _Alignas(64) unsigned char a[QN_MATRIX_BYTES], b[QN_MATRIX_BYTES], c[QN_MATRIX_BYTES],
        d[QN_MATRIX_BYTES];
    if (!qn_matrix_whole_warp(warp, op, mask)) {
        return false;
    }
    gather(warp, &matrix->a, a);
    gather(warp, &matrix->b, b);
    gather(warp, &matrix->c, c);
    matrix->multiply(matrix, a, b, c, d);
    scatter(warp, &matrix->d, d);
    return true;
}

/* ---- wmma.load, wmma.store ------------------------------------------------------------------ */

/* Put where each line of the matrix begins into place a; false after a report. Place b holds the
 * address, place c the stride. */
static bool find_lines(qn_warp *warp, const qn_op *op, const qn_matrix_move *move)
{
    const uint32_t *stride = qn_at(warp, op->c);
    const void *base = qn_at(warp, op->b);
    uint64_t *lines = qn_at(warp, op->a), at[QN_LANES];
    for (unsigned lane = 0; lane < QN_LANES; lane++) {
        at[lane] = move->address_bits == 64 ? ((const uint64_t *)base)[lane]
                                            : ((const uint32_t *)base)[lane];
        if (at[lane] != at[0] || stride[lane] != stride[0]) {
            return qn_fault(warp, op, lane, QUERN_ERROR_LAUNCH,
                            "all threads of a warp must give the same address and stride of a "
                            "matrix: 0x%llx and %u here, 0x%llx and %u in lane 0",
                            (unsigned long long)at[lane], stride[lane], (unsigned long long)at[0],
                            stride[0]);
        }
    }
    const uint64_t step_bits = (uint64_t)stride[0] * move->element_bits;
    if (step_bits % (8u * move->alignment) != 0) {
        return qn_fault(warp, op, 0, QUERN_ERROR_ACCESS,
                        "the stride of a matrix is %u elements of %u bits: it must be a multiple "
                        "of %u bytes",
                        stride[0], move->element_bits, move->alignment);
    }
    for (unsigned line = 0; line < move->lines; line++) {
        lines[line] = at[0] + line * (step_bits / 8);
    }
    return true;
}

/* Copy between the lines in memory and `lines`, in the pieces that are sure to be aligned. */
static bool copy_lines(qn_warp *warp, const qn_op *op, const qn_matrix_move *move,
                       unsigned char *lines, qn_access_kind kind)
{
    const uint32_t mask = QN_ALL_LANES >> (QN_LANES - move->lines);
    const unsigned piece = move->alignment;
    uint64_t *starts = qn_at(warp, op->a);
    for (unsigned at = 0; at < move->line_bytes; at += piece) {
        qn_addresses addresses;
        if (!qn_access_prepare(warp, op, mask, piece, kind, &addresses)) {
            return false;
        }
        for (unsigned line = 0; line < move->lines; line++) {
            void *memory = (void *)(uintptr_t)(addresses.at[line] + addresses.base);
            unsigned char *own = lines + line * move->line_bytes + at;
            if (kind == QN_READ) {
                memcpy(own, memory, piece);
            } else {
                memcpy(memory, own, piece);
            }
            starts[line] += piece;
        }
    }
    return true;
}

/* to[column][row] = from[row][column] */
static void transpose(unsigned char *restrict to, const unsigned char *restrict from, unsigned rows,
                      unsigned columns, unsigned bytes)
{
    for (unsigned row = 0; row < rows; row++) {
        for (unsigned column = 0; column < columns; column++) {
            memcpy(to + (column * rows + row) * bytes, from + (row * columns + column) * bytes,
                   bytes);
        }
    }
}

bool qn_run_matrix_load(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    const qn_matrix_move *move = op->extra;
    unsigned char lines[QN_MATRIX_BYTES], matrix[QN_MATRIX_BYTES];
    if (!qn_matrix_whole_warp(warp, op, mask) || !find_lines(warp, op, move) ||
        !copy_lines(warp, op, move, lines, QN_READ)) {
        return false;
    }
    if (move->transposed) {
        transpose(matrix, lines, move->lines, move->fragment.rows, move->element_bits / 8u);
    }
    scatter(warp, &move->fragment, move->transposed ? matrix : lines);
    return true;
}

bool qn_run_matrix_store(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    const qn_matrix_move *move = op->extra;
    unsigned char lines[QN_MATRIX_BYTES], matrix[QN_MATRIX_BYTES];
    if (!qn_matrix_whole_warp(warp, op, mask) || !find_lines(warp, op, move)) {
        return false;
    }
    gather(warp, &move->fragment, move->transposed ? matrix : lines);
    if (move->transposed) {
        transpose(lines, matrix, move->fragment.rows, move->lines, move->element_bits / 8u);
    }
    return copy_lines(warp, op, move, lines, QN_WRITE);
}

/* ---- ldmatrix, stmatrix, movmatrix ---------------------------------------------------------- */

enum { TILE = 8, TILE_BYTES = TILE * TILE * 2 }; /* 8 rows of 8 elements of 16 bits */

/* The rows, of 16 bytes each, whose addresses the first 8 * count lanes give. */
static bool find_rows(qn_warp *warp, const qn_op *op, uint32_t mask, qn_access_kind kind,
                      qn_addresses *out)
{
    const uint32_t givers = QN_ALL_LANES >> (QN_LANES - TILE * op->count);
    return qn_matrix_whole_warp(warp, op, mask) &&
           qn_access_prepare(warp, op, givers, 2 * TILE, kind, out);
}

bool qn_run_tiles_load(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    const qn_place *registers = op->extra;
    unsigned char tiles[4 * TILE_BYTES];
    qn_addresses from;
    if (!find_rows(warp, op, mask, QN_READ, &from)) {
        return false;
    }
    for (unsigned row = 0; row < TILE * op->count; row++) {
        memcpy(tiles + row * 2 * TILE, (const void *)(uintptr_t)(from.at[row] + from.base),
               2 * TILE);
    }
    for (unsigned k = 0; k < op->count; k++) {
        if (registers[k] == QN_NO_PLACE) {
            continue;
        }
        if (op->flags) {
            transpose(qn_at(warp, registers[k]), tiles + k * TILE_BYTES, TILE, TILE, 2);
        } else {
            memcpy(qn_at(warp, registers[k]), tiles + k * TILE_BYTES, TILE_BYTES);
        }
    }
    return true;
}

bool qn_run_tiles_store(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    const qn_place *registers = op->extra;
    unsigned char tiles[4 * TILE_BYTES];
    qn_addresses to;
    if (!find_rows(warp, op, mask, QN_WRITE, &to)) {
        return false;
    }
    for (unsigned k = 0; k < op->count; k++) {
        if (op->flags) {
            transpose(tiles + k * TILE_BYTES, qn_at(warp, registers[k]), TILE, TILE, 2);
        } else {
            memcpy(tiles + k * TILE_BYTES, qn_at(warp, registers[k]), TILE_BYTES);
        }
    }
    for (unsigned row = 0; row < TILE * op->count; row++) {
        memcpy((void *)(uintptr_t)(to.at[row] + to.base), tiles + row * 2 * TILE, 2 * TILE);
    }
    return true;
}

bool qn_run_tile_transpose(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    unsigned char tile[TILE_BYTES];
    if (!qn_matrix_whole_warp(warp, op, mask)) {
        return false;
    }
    transpose(tile, qn_at(warp, op->a), TILE, TILE, 2);
    memcpy(qn_at(warp, op->d), tile, TILE_BYTES);
    return true;
}
