/* SPDX-License-Identifier: MIT
 *
 * plan_thin: the walk over thin rows, of up to 8 elements that some operands have side by side
 * while others have a plane for each place in the row: pixels and color planes, points and
 * coordinates. In: a plan whose dimensions are settled. Out: the same with the dimension of rows
 * last, and that of places in them before it, if a thread can take some whole rows in registers.
 * The thing to know: nothing is shared or divided but a pack's number; a thread's rows lie on, and
 * come or go in words, and of a plane it has as many neighbours.
 *
 * Measured on an H200 with kernels by hand, of a copy's speed: uint8 rows of 3 into planes 0.97
 * with 8 rows a thread, 0.80 with 2; float32 0.98 with 2. Rows of more than 24 bytes in all are
 * slower: of a warp, the writes of one word are too far apart (0.97 to 0.51).
 */
#include "array/plan.h"

#define MOST_PLACES  8
#define NARROW       2 /* bytes of an element of which few rows are little */
#define FEW_ROWS     4
#define PLANE_BYTES  8   /* of a plane that a thread has, at most */
#define ROW_BYTES    24  /* of its rows, at most */
#define FEWEST_BYTES 6   /* of the narrowest plane: with fewer, other walks are as good */
#define ALL_BYTES    256 /* of all operands: registers */
#define LEAST_ROWS   1024
#define GAPS         2 /* times as far as they are long may rows lie from each other */
#define WORD         4

/* Where an operand lies: from place to place, and from row to row. */
static int64_t by_place(const qn_plan *p, size_t k)
{
    return p->stride[k][p->form.ndim - 2];
}

static int64_t by_row(const qn_plan *p, size_t k)
{
    return p->stride[k][p->form.ndim - 1];
}

/* How rows lie in operand `k`; 0: in no way that is of use. */
static uint8_t access_of(const qn_plan *p, const qn_operand *operands, size_t k, int64_t places)
{
    const int64_t item = operands[k].item_size, place = by_place(p, k), row = by_row(p, k);
    const bool output = operands[k].output;
    if (place == item && row == places * item) {
        return QN_ACCESS_WHOLE;
    }
    if (row == item) {
        return place != 0 ? QN_ACCESS_VECTOR : output ? 0 : QN_ACCESS_HELD;
    }
    if (output || row == 0) {
        return output ? 0 : QN_ACCESS_BROADCAST;
    }
    /* Rows with a gap behind them, or whose elements lie backwards. */
    const int64_t taken = qn_magnitude(place) * (places - 1) + item;
    const bool near = taken <= qn_magnitude(row) && qn_magnitude(row) <= GAPS * places * item;
    return near ? QN_ACCESS_STRIDED : 0;
}

/* All packs of operand `k` begin at multiples of `bytes`. */
static bool is_aligned(const qn_plan *p, size_t k, int64_t bytes, int dims)
{
    bool aligned = (uintptr_t)p->base[k] % (uintptr_t)bytes == 0;
    for (int d = 0; d < dims; d++) {
        aligned &= qn_magnitude(p->stride[k][d]) % bytes == 0;
    }
    return aligned;
}

/* The widest words of which `bytes` are a whole number. */
static int64_t word_of(int64_t bytes)
{
    return QN_MIN(bytes & -bytes, QN_ACCESS_BYTES);
}

/* What a thread has of this operand in `lanes` rows comes and goes in words. */
static bool has_words(const qn_plan *p, const qn_operand *operands, size_t k, int64_t places,
                      int64_t lanes)
{
    const int outer = p->form.ndim - 2;
    const int64_t item = operands[k].item_size, rows = lanes * places * item;
    switch (p->form.access[k]) {
    case QN_ACCESS_WHOLE:
        return is_aligned(p, k, word_of(rows), outer);
    case QN_ACCESS_VECTOR:
        return is_aligned(p, k, lanes * item, outer + 1);
    case QN_ACCESS_HELD:
        return is_aligned(p, k, lanes * item, outer);
    default:
        return true;
    }
}

/* A thread can have `lanes` rows of this operand; element by element, if they are few bytes. */
static bool may_have(const qn_plan *p, const qn_operand *operands, size_t k, int64_t places,
                     int64_t lanes)
{
    const int64_t item = operands[k].item_size, rows = lanes * places * item;
    const bool words = has_words(p, operands, k, places, lanes);
    switch (p->form.access[k]) {
    case QN_ACCESS_WHOLE: {
        const int64_t word = word_of(rows);
        const bool given =
            rows >= 2 * WORD && rows <= ROW_BYTES && (lanes > 1 || word == QN_ACCESS_BYTES);
        return (lanes == 1 || rows <= ROW_BYTES) && words && (given || !operands[k].output);
    }
    case QN_ACCESS_VECTOR:
    case QN_ACCESS_HELD:
        return lanes * item <= (words ? QN_MAX((int64_t)PLANE_BYTES, item) : WORD);
    default:
        return true;
    }
}

/* How many rows a thread takes; 0: none. */
static int64_t choose_lanes(const qn_plan *p, const qn_operand *operands, size_t operand_count,
                            int64_t places)
{
    int64_t narrowest = PLANE_BYTES, bytes = 0;
    for (size_t k = 0; k < operand_count; k++) {
        const int64_t item = operands[k].item_size;
        narrowest = p->form.access[k] == QN_ACCESS_VECTOR ? QN_MIN(narrowest, item) : narrowest;
        bytes += item * places;
    }
    for (int64_t lanes = PLANE_BYTES / narrowest; lanes > 0; lanes /= 2) {
        bool all = lanes * places * narrowest >= FEWEST_BYTES && lanes * bytes <= ALL_BYTES;
        for (size_t k = 0; k < operand_count && all; k++) {
            all = may_have(p, operands, k, places, lanes);
        }
        if (all) {
            return lanes;
        }
    }
    return 0;
}

/* Let the two innermost dimensions change places. */
static void swap_inner(qn_plan *p, size_t operand_count)
{
    const int a = p->form.ndim - 2, b = p->form.ndim - 1;
    const int64_t extent = p->extent[a];
    p->extent[a] = p->extent[b];
    p->extent[b] = extent;
    for (size_t k = 0; k < operand_count; k++) {
        const int64_t stride = p->stride[k][a];
        p->stride[k][a] = p->stride[k][b];
        p->stride[k][b] = stride;
    }
}

/* Rows are thin, some operand has them whole, and some has planes. */
static bool may_take(qn_plan *p, const qn_operand *operands, size_t operand_count)
{
    const int64_t places = p->extent[p->form.ndim - 2], rows = p->extent[p->form.ndim - 1];
    bool whole = false, planes = false, all = true;
    for (size_t k = 0; k < operand_count; k++) {
        const int64_t item = operands[k].item_size;
        const uint8_t access = access_of(p, operands, k, places);
        p->form.access[k] = access;
        whole |= access == QN_ACCESS_WHOLE || access == QN_ACCESS_STRIDED;
        planes |= access == QN_ACCESS_VECTOR;
        all &= access != 0 && !operands[k].loose && item <= PLANE_BYTES && (item & (item - 1)) == 0;
    }
    return all && whole && planes && places >= 2 && places <= MOST_PLACES && rows >= LEAST_ROWS;
}

/* Boxes in runs do better for narrow elements, where planes are read or written one by one, or a
 * thread gives few rows: planes into rows of 7 bytes, two a thread, go at 0.26 of a copy's speed on
 * an H200, in boxes at 0.84; rows of 5 bytes into odd planes at 0.61 and 0.89. */
static bool outdone(const qn_plan *p, const qn_operand *operands, size_t operand_count,
                    int64_t places, int64_t lanes)
{
    bool words = true, given = false, narrow = false;
    for (size_t k = 0; k < operand_count; k++) {
        words &= p->form.access[k] != QN_ACCESS_CONTIGUOUS;
        given |= operands[k].output && p->form.access[k] == QN_ACCESS_WHOLE;
        narrow |= operands[k].item_size <= NARROW;
    }
    return narrow && p->form.ndim == 2 && places > FEW_ROWS &&
           (!words || (given && lanes < FEW_ROWS)) && qn_plan_box_runs(operands, operand_count);
}

/* Bytes that go in crumbs, of which a thread takes two rows: each for itself where planes are off
 * alignment, or rows two by two. Planes of bytes beside rows of 7 bytes went at 0.38 of a copy's
 * speed on an H200, flat in phases at 0.77; odd planes of bytes beside rows of 3 float32 at 0.77
 * and 1.03. */
static bool has_crumbs(const qn_plan *p, const qn_operand *operands, size_t operand_count,
                       int64_t places, int64_t lanes)
{
    bool crumbs = false;
    for (size_t k = 0; k < operand_count; k++) {
        const uint8_t access = p->form.access[k];
        crumbs |= operands[k].item_size == 1 &&
                  (access == QN_ACCESS_CONTIGUOUS ||
                   (access == QN_ACCESS_WHOLE && word_of(lanes * places) < WORD));
    }
    return crumbs && lanes > 1 && lanes < FEW_ROWS;
}

static bool take(qn_plan *p, const qn_operand *operands, size_t operand_count, bool torn, bool runs)
{
    if (!may_take(p, operands, operand_count)) {
        return false;
    }
    const int64_t places = p->extent[p->form.ndim - 2], rows = p->extent[p->form.ndim - 1];
    const int64_t lanes = choose_lanes(p, operands, operand_count, places);
    if (lanes == 0) {
        return false;
    }
    for (size_t k = 0; k < operand_count; k++) {
        if (!has_words(p, operands, k, places, lanes)) {
            p->form.access[k] = QN_ACCESS_CONTIGUOUS;
        }
    }
    if (torn && (has_crumbs(p, operands, operand_count, places, lanes) ||
                 (runs && outdone(p, operands, operand_count, places, lanes)))) {
        return false;
    }
    p->form.thin = (uint8_t)places;
    p->form.lanes = (uint8_t)lanes;
    p->head = p->rest = 0;
    p->packs = p->count / (rows * places) * qn_over(rows, lanes);
    return true;
}

bool qn_plan_thin(qn_plan *p, const qn_operand *operands, size_t operand_count, int ndim, bool torn,
                  bool runs)
{
    if (ndim < 2) {
        return false;
    }
    const qn_plan_decided before = qn_plan_decided_of(p);
    p->form.ndim = (uint8_t)ndim;
    const bool swaps = p->extent[ndim - 1] <= MOST_PLACES;
    if (swaps) {
        swap_inner(p, operand_count);
    }
    if (take(p, operands, operand_count, torn, runs)) {
        return true;
    }
    if (swaps) {
        swap_inner(p, operand_count);
    }
    qn_plan_decide(p, &before);
    return false;
}
