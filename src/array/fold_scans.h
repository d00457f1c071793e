/* SPDX-License-Identifier: MIT
 *
 * fold_scans: the parts of which a scan is planned. In: a fold on its way (fold.h). Out: the same,
 * or one that costs less. The thing to know: qn_fold_make_scan() asks them one after the other, and
 * each knows from the form what those before it have decided.
 */
#ifndef QN_FOLD_SCANS_H
#define QN_FOLD_SCANS_H

#include "array/fold.h"

/** Shared memory that a block may have on most GPUs. With less, as on the software device, there
 * are no parts of rows; boxes go only where operands lie in different orders, and each scan of a
 * box has one thread and one block. */
#define QN_FOLD_ROOM (96 << 10)

/* ---- fold_ahead.c --------------------------------------------------------------------------- */

/** How many tiles further on along its output the one lies whose memory a tile asks for. `bytes`:
 * that a tile reads and writes. Blocks go over all outputs first, then on along them. */
int64_t qn_fold_tiles_ahead(const qn_fold_making *m, int64_t bytes);
/** Whether tiles of rows ask for the memory of later ones at all, and whether for input `k`'s. */
bool qn_fold_row_asks(const qn_fold_form *form, const qn_operand *operands, size_t inputs);
bool qn_fold_asks_for(const qn_fold_form *form, const qn_operand *operands, size_t k);
/** Of scans whose tiles may ask: for that of which, if they do. */
void qn_fold_ask_ahead(const qn_fold_making *m);

/* ---- fold_access.c, fold_staged.c: for scans ------------------------------------------------ */

/** True when all packs of operand `k` are aligned without skipping elements. */
bool qn_fold_is_aligned(const qn_fold_making *m, size_t k);
/** Choose how each operand is reached. Returns the first that is reached by vector, or -1. */
int qn_fold_choose_access(const qn_fold_making *m);
/** What copying an element into another order costs, as qn_fold.cost of a scan counts. `apart`:
 * bytes from one to the next where they lie closest. */
double qn_fold_copy_cost(uint32_t item_size, int64_t apart);
/** What reaching an element takes of a run of memory. */
double qn_fold_run_cost(uint32_t item_size);
/** The rest of a staged scan's plan, which takes the place of no other: whether blocks go along
 * whole rows, and whether they list where the outputs of a tile lie. */
void qn_fold_settle_stage(const qn_fold_making *m, uint32_t value_size);
/** Have blocks of a planned scan along rows hold their tiles, or lanes take runs, where that pays.
 */
void qn_fold_take_rows(const qn_fold_making *m, uint32_t value_size);
/** Blocks of a scan by runs that a processor should hold. */
uint32_t qn_fold_run_blocks(const qn_fold *f, uint32_t value_size);
/** Bytes of shared memory for so many elements of each lane of a warp: quern::lot. */
uint32_t qn_fold_lot_bytes(uint32_t item_size, uint32_t elements);
/** Runs: whose room in shared memory each operand has. */
void qn_fold_lots(uint8_t *lots, const qn_fold_form *f, const qn_operand *operands, size_t count);
void qn_fold_print_runs(qn_text *out, const qn_fold *fold);
/** Bytes of the narrowest element of operands `first` ... that is not repeated. */
uint32_t qn_fold_row_narrowest(const qn_fold_making *m, size_t first);

/** A part of qn_fold_take_rows, whose operands' access is chosen: hold tiles, if there are `waves`
 * full ones for each block that the device holds at once. False: not so, and nothing has changed.
 */
bool qn_fold_hold(const qn_fold_making *m, uint32_t value_size, int waves);
void qn_fold_print_held(qn_text *out, const qn_fold *fold);
/** Blocks of such a scan that a processor should hold; rounds that a warp takes at once; bytes of
 * shared memory that a block has besides, and CUDA's own. */
enum { QN_HELD_BLOCKS = 3, QN_HELD_BATCH = 3, QN_HELD_OTHER_BYTES = 1024 };
/** So many units, or whole batches of fewer. */
static inline uint32_t qn_fold_batches(uint32_t units, uint32_t batch)
{
    return units / batch * batch;
}
/** Have the tiles of a planned scan wait in shared memory, where that costs less. */
void qn_fold_stage(const qn_fold_making *m, uint32_t value_size);

/** What reaching the operands costs for an element of a scan by units. */
double qn_fold_reach_cost(const qn_fold_making *m);

/* ---- fold_descend.c: for scans along columns ------------------------------------------------ */

/** Have a thread go down columns of its own, where that costs less than what is planned. */
void qn_fold_take_descents(const qn_fold_making *m);
/** True where memory waits for the threads of such a plan: columns are few, or long. */
bool qn_fold_descent_starves(const qn_fold_making *m);
/** Blocks of such a scan that a processor should hold. */
static inline int qn_fold_descent_blocks(uint32_t steps)
{
    return steps > 16 ? 2 : 5;
}

/* ---- fold_swath.c: for scans along columns -------------------------------------------------- */

/** Units of a warp's swath that no other has, as quern::swath_units says; it reads as many as it
 * has lanes. */
#define QN_SWATH_UNITS 30
/** True where neighbouring warps or blocks may have columns in common: map is called twice for
 * them, and an output is no input. */
bool qn_fold_may_share_columns(const qn_fold_making *m);
/** How operand `k` is reached by aligned words of its rows, 0: not at all. An input's words lie
 * beside its rows in part: there is memory where other rows are. */
uint8_t qn_fold_words_access(const qn_fold_making *m, size_t k);
/** Choose units for swaths, and their access; false: operands do not lie so, or packs do as well.
 */
bool qn_fold_choose_swaths(const qn_fold_making *m);
/** The warps of its blocks, then. */
void qn_fold_share_swaths(const qn_fold_making *m);
/** Swaths of a row. */
static inline int64_t qn_fold_row_swaths(const qn_fold *f)
{
    return qn_over(f->extent[f->form.kept - 1], (int64_t)QN_SWATH_UNITS * f->form.lanes);
}

/* ---- fold_scan_apart.c ---------------------------------------------------------------------- */

/** Have a thread of that kind take several scans of few elements, where that costs less than
 * `others`. Returns what it costs then. */
double qn_fold_take_scans_apart(const qn_fold_making *m, double others);

/* ---- fold_packed.c: for scans along rows and narrow columns
 * ---------------------------------------------------- */

/** Have blocks take several rows, or narrow columns, as one run of memory, where that costs less
 * than what is planned. */
void qn_fold_take_packed(const qn_fold_making *m, uint32_t value_size);

/* ---- fold_boxes.c: for scans whose operands lie otherwise ------------------------------------ */

/** Dimensions along which a box has several scans, at most, and of which it is cut. */
#define QN_FOLD_BOX_DIMS 5
#define QN_FOLD_BOX_CUTS 3
/** Have blocks go over each operand as it lies, and scan in shared memory, where that costs less
 * than what is planned. */
void qn_fold_take_boxes(const qn_fold_making *m, uint32_t value_size);
/** Elements from one scan to the next in shared memory then, of `piece` elements: an odd number of
 * words, so that threads meet in different banks, as quern::box_pitch says. */
static inline int64_t qn_fold_box_pitch(int64_t piece, uint32_t item_size)
{
    const int64_t word = item_size < 4 ? 4 / item_size : 1;
    return piece <= QN_MAX(word, 2) ? piece : (qn_over(piece, word) | 1) * word;
}
void qn_fold_print_boxes(qn_text *out, const qn_fold *fold);

/* ---- fold_image.c: how an operand of a box waits in shared memory --------------------------- */

/** The dimensions of a box along which an operand moves, nearest in memory first: which of the
 * walk, strides in bytes, without signs. */
typedef struct qn_fold_image {
    int count, dim[QN_FOLD_BOX_DIMS + 1];
    int64_t stride[QN_FOLD_BOX_DIMS + 1], extent[QN_FOLD_BOX_DIMS + 1];
} qn_fold_image;
/** How many of them lie on as one run; 0: not even elements do. */
int qn_fold_image_runs(const qn_fold_image *image, uint32_t item_size, bool output);
/** Bytes of shared memory for all runs, of so many dimensions each. `apart`, unless NULL: how far
 * elements lie apart there along each dimension. */
int64_t qn_fold_image_bytes(const qn_fold_image *image, int dims, uint32_t item_size,
                            int64_t *apart);
/** How often a sector is written for an element of an output that goes by runs of so many
 * dimensions, or (0) by elements. `whole`: runs begin and end with whole sectors. */
double qn_fold_image_writes(const qn_fold_image *image, int dims, uint32_t item_size, bool whole);
/** Instructions of a thread for an element that moves so. */
double qn_fold_image_cost(const qn_fold_image *image, int dims, uint32_t item_size, bool output);
/** What `qn_fold_form.way` has of operand `k`: the dimension that is `at` nearest in memory, of
 * those inside a box and, as the last, the scan's; how many are a run, 0: it goes by elements; and
 * along how many it moves. */
static inline int qn_fold_way_dim(const qn_fold_form *f, size_t k, int at)
{
    return (int)(f->way[k] >> 3 * at & 7);
}
static inline int qn_fold_way_runs(const qn_fold_form *f, size_t k)
{
    return (int)(f->way[k] >> 18 & 7);
}
static inline int qn_fold_way_moves(const qn_fold_form *f, size_t k)
{
    return (int)(f->way[k] >> 21);
}
/** True for a dimension of which the last box, or the last piece, has fewer positions. */
static inline bool qn_fold_box_varies(const qn_fold_form *f, int d)
{
    return (f->cuts >> d & 1) != 0 || (d == f->boxed && f->pieces);
}

/* ---- fold_strips.c: for scans along columns ------------------------------------------------- */

/** Have the tiles of planned columns go in strips, where that can be; `apart`: and those that are
 * not split, if they can go by parts. */
void qn_fold_take_strips(const qn_fold_making *m, uint32_t value_size, bool apart);
/** Have a block hold such tiles in shared memory and registers, where all inputs come in words. */
void qn_fold_hold_columns(const qn_fold_making *m, uint32_t value_size);
/** Choose the tiles of a bunch. */
void qn_fold_choose_bunches(qn_fold *fold);
/** Units of a thread that are taken at once. */
enum { QN_STRIPS_BATCH = 4 };
/** True when all operands are dense lines that follow each other, and a block has a thread for each
 * of the columns. */
bool qn_fold_lies_in_lines(const qn_fold_making *m);
/** The same of whole lines; false: they do not lie so, and nothing that was decided has changed. */
bool qn_fold_take_lines(const qn_fold_making *m, uint32_t value_size);

/* ---- fold_parts.c: for scans along columns in strips --------------------------------------- */

/** The same of parts of rows; false: they do not lie so, and only form and cost have changed. */
bool qn_fold_take_parts(const qn_fold_making *m, uint32_t value_size);
/** True for columns that are planned with a thread or a block down each, and do better by parts, if
 * they can go so. */
bool qn_fold_parts_outdo(const qn_fold_making *m);
/** Blocks of such a scan that a processor should hold. */
int qn_fold_part_blocks(const qn_operand *operands, size_t count);
/** Columns of a part that are its own, and parts of a row. */
int64_t qn_fold_part_columns(const qn_fold_form *form);
int64_t qn_fold_row_parts(const qn_fold *fold);
/** Bytes of shared memory that a warp has for the rows of an operand. */
uint32_t qn_fold_part_room(const qn_fold_form *form, uint32_t item_size);

/** By lines, packed: the operand whose room operand `k` has, its own or that of the first input. */
static inline size_t qn_fold_lines_home(const qn_fold_form *f, size_t inputs, size_t k)
{
    return k == inputs && f->back == QN_LINES_SHARED ? 0 : k;
}
/** Bytes of shared memory for the sums of a block's strips, by lines or not. */
uint32_t qn_fold_sums_bytes(const qn_fold *fold, uint32_t value_size);
/** Bytes that an operand has in shared memory then. */
uint32_t qn_fold_lines_room(const qn_fold_form *form, uint32_t item_size);
double qn_fold_lines_cost(const qn_fold *fold);
/** Instructions for an element then. */
double qn_fold_strips_cost(const qn_fold *fold);
/** Values that tiles leave for each other then. */
int64_t qn_fold_strips_values(const qn_fold *fold);

#endif /* QN_FOLD_SCANS_H */
