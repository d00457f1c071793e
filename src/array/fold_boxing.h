/* SPDX-License-Identifier: MIT
 *
 * fold_boxing: a box of a scan on its way. In: how much of each dimension it has. Out: how each
 * operand comes and goes, what room in shared memory it takes, what it costs. The thing to know:
 * qn_fold_take_boxes() tries boxes of many extents, and takes that which costs least.
 */
#ifndef QN_FOLD_BOXING_H
#define QN_FOLD_BOXING_H

#include "array/fold_scans.h"

/** Scans of so few elements have code of their own, element by element. */
#define QN_BOX_KNOWN 16
/** Values in shared memory, where a scan has several threads: of each thread, and of each scan. */
#define QN_BOX_SUMS (QN_FOLD_BLOCK + QN_FOLD_BLOCK / 2)

typedef struct qn_scan_box {
    int64_t extent[QUERN_MAX_NDIM]; /**< along the kept dimensions; then the elements of a scan that
                                         come at once */
    int64_t scans;
    int64_t threads;                    /**< of a scan */
    bool split;                         /**< each piece has a block of its own */
    uint32_t value_size;                /**< of what is combined */
    qn_fold_image *image;               /**< by operand: how it lies, once it is laid */
    uint8_t runs[QUERN_MAX_PARAMETERS]; /**< by operand: its dimensions that make a run, nearest in
                                             memory first; 0: it goes by elements */
} qn_scan_box;

/** Find out how each operand lies in a box of these extents: `box->image`. */
void qn_box_lay(const qn_fold_making *m, const qn_scan_box *box);
/** The kept dimensions in the order in which scans are counted: that in which the outputs lie
 * nearest to each other last, as threads side by side have scans along it. */
void qn_box_near_last(int *order, const qn_fold_making *m);
/** Choose how operands move, and threads. */
void qn_box_settle(const qn_fold_making *m, qn_scan_box *box);
/** Have operands go by shorter runs, where scans meet in fewer banks then and the box has room for
 * them. */
void qn_box_part_banks(const qn_fold_making *m, qn_scan_box *box);
/** Whose room operand `k` has: the first output that of the first input, if it may take its place.
 */
size_t qn_box_home(const qn_fold_making *m, const qn_scan_box *box, size_t k);
/** Bytes of shared memory for the operands. */
int64_t qn_box_room(const qn_fold_making *m, const qn_scan_box *box);
/** True when a block may have so much. */
bool qn_box_fits(const qn_fold_making *m, const qn_scan_box *box);
/** For an element, as qn_fold.cost counts; and what is added where scans meet in the same banks. */
double qn_box_cost(const qn_fold_making *m, const qn_scan_box *box);
double qn_box_banks_cost(const qn_fold_making *m, const qn_scan_box *box);

/* ---- fold_boxes.c --------------------------------------------------------------------------- */

/** A box and its cost; 0: there is none. */
typedef struct qn_box_choice {
    qn_scan_box box;
    double cost;
} qn_box_choice;

/** True when two operands lie in different orders: along one of two dimensions an operand is denser
 * than along the other, and another is not. */
bool qn_box_lie_otherwise(const qn_fold_making *m);
/** True when all elements lie where their width asks for. */
bool qn_box_may_lie(const qn_fold_making *m);
/** The box that costs least. `image`: room for how each operand lies; `once`: of those that grow
 * from one beginning. */
qn_box_choice qn_box_choose(const qn_fold_making *m, uint32_t value_size, qn_fold_image *image,
                            bool once);
/** Take it over into the plan, once it is laid. */
void qn_box_fill(const qn_fold_making *m, const qn_scan_box *box);

#endif /* QN_FOLD_BOXING_H */
