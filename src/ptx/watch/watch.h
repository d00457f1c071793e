/* SPDX-License-Identifier: MIT
 *
 * watch: what a launch is asked to look for while it runs. A block that is watched has a qn_watch,
 * which remembers which bytes were written and who touched shared memory when. Accesses come here
 * only because the fast ways of memory_check.c are closed to a launch that is watched; a launch
 * that is not watched does nothing for it.
 *
 *     watch.c         a block's watch; accesses, as bytes of shared, local or device memory
 *     shadow.h        which bits were written, and what becomes of others: reports their uses
 *     watch_races.c   who touched a byte of shared memory last: reports races
 *     watch_order.c   what happened before what: barriers, warps, fences
 *     watch_report.c  addresses and variables in words
 */
#ifndef QN_WATCH_H
#define QN_WATCH_H

#include "ptx/run/run.h"

/** One lane's access, where it landed. */
typedef struct qn_touch {
    qn_warp *warp;
    const qn_op *op;
    unsigned lane, bytes;
    unsigned first; /**< byte of the access that is touched: an atomic may leave others alone */
    qn_access_kind kind;
    bool strong;            /**< an atomic, or a load or store that is one access for all threads */
    uint8_t space;          /**< shared, local or global, whatever the instruction said */
    uint64_t address;       /**< in it: as run.h says */
    unsigned char *written; /**< the marks of its bytes: bits that are defined; NULL: all of that
                               memory counts as written */
} qn_touch;

/** What is remembered of the accesses of one byte or of one operation. */
typedef struct qn_stamp {
    const qn_op *op; /**< NULL: nobody's */
    uint32_t warp, lanes;
    uint32_t time;  /**< of the warp's lanes */
    uint32_t epoch; /**< of the warp */
    bool strong;    /**< as of a touch */
} qn_stamp;

/** Where an undefined byte was loaded from. Instructions are numbered from 1 through all functions
 * of a module. */
struct qn_source {
    uint64_t address; /**< of the byte, as the host sees it */
    uint32_t load;    /**< the instruction that read it */
    uint32_t via;     /**< the first that computed with it; 0: it was only moved */
};

typedef struct qn_order qn_order;
typedef struct qn_history qn_history;

struct qn_watch {
    /** A byte for each of shared memory, with a bit set for each bit that is defined. NULL:
     * initialisation is not watched. */
    unsigned char *shared_written;
    unsigned char *local_written; /**< the same for the local memory of all lanes; mapped */
    /** For each byte of shared memory, where undefined bits stored there are from; mapped. */
    qn_source *shared_from;
    qn_source *local_from;                 /**< the same for local memory */
    bool local_sources;                    /**< some of `local_from` is in use */
    unsigned char *shadows;                /**< of all warps' kernel frames; mapped */
    uint64_t shadow_bytes;                 /**< size of `shadows` */
    struct qn_shade *brought;              /**< by each lane, to an operation among lanes */
    const unsigned char *copied[QN_LANES]; /**< marks of what a copy is reading */
    uint32_t copying;                      /**< the lanes that are reading */
    bool tile_defined;                     /**< part of the matrix being loaded is defined */
    qn_source tile_source;                 /**< a part that is not */
    qn_order *order;
    qn_history *history; /**< NULL: races are not watched */
};

/** False: out of memory. */
bool qn_watch_new(qn_watch **out, const qn_block *block);
void qn_watch_free(qn_watch *watch, const qn_block *block);
/** A new block begins in this memory. */
void qn_watch_begin(qn_watch *watch, const qn_block *block);
/** The lanes of `mask` access memory, at addresses that have been checked; false after a report. */
bool qn_watch_access(qn_warp *warp, const qn_op *op, uint32_t mask, unsigned bytes,
                     qn_access_kind kind, const qn_addresses *addresses);
/** The same for one address of the generic space. */
bool qn_watch_address(qn_warp *warp, const qn_op *op, unsigned lane, uint64_t address,
                      uint64_t bytes, qn_access_kind kind);
/** run_report.c: report an access that is not in order with other streams' work; `why` says with
 * which. Always false. */
bool qn_fault_order(qn_warp *warp, const qn_op *op, unsigned lane, uint64_t address, uint64_t bytes,
                    qn_access_kind kind, const char *why);
/** Find where an address of the generic space is, and put that into the touch. */
void qn_watch_locate(qn_touch *touch, uint64_t address);
/** Where the watch keeps, for a byte of shared or local memory, the source of undefined bits that
 * were stored there; NULL: it is other memory. */
qn_source *qn_watch_source(const qn_touch *touch, uint64_t address);
/** How the elements of a load or store move; NULL: this is neither. */
const qn_transfer *qn_watch_elements(const qn_op *op);
/** A call or alloca gave the lanes these bytes of local memory, from `begin` to `end`. */
void qn_watch_local(qn_warp *warp, uint32_t mask, uint64_t begin, uint64_t end);

/* ---- watch_races.c -------------------------------------------------------------------------- */

/** NULL: out of memory. */
qn_history *qn_history_new(uint32_t shared_bytes);
void qn_history_free(qn_history *history);
/** Forget everything. */
void qn_history_begin(qn_history *history);
/** Check an access of shared memory, and remember it; false after a report. */
bool qn_watch_races(const qn_touch *touch);

/* ---- watch_order.c -------------------------------------------------------------------------- */

/** NULL: out of memory. */
qn_order *qn_order_new(uint32_t warps);
void qn_order_free(qn_order *order);
void qn_order_begin(qn_order *order);
/** The present of a lane. */
qn_stamp qn_order_stamp(const qn_order *order, const qn_warp *warp, const qn_op *op, unsigned lane);
/** The lanes of an earlier stamp that, as far as `lane` knows, may not have gone past it. */
uint32_t qn_order_unknown(const qn_order *order, const qn_stamp *stamp, const qn_warp *warp,
                          unsigned lane);
/** An atomic of a warp: publishes and takes what fences order. */
void qn_order_atomic(qn_order *order, const qn_warp *warp);

/* What the operations of a block or a warp report: a barrier is complete; a fence. */
void qn_order_release(qn_order *order, const qn_block *block, unsigned barrier);
void qn_order_fence(qn_order *order, const qn_warp *warp);

/* Operations that only the watched form of a function has: lanes arrive at a barrier of their
 * block; lanes arrive at an operation of their warp; lanes have gone past that operation. */
bool qn_run_watch_arrive(qn_warp *warp, const qn_op *op, uint32_t mask);
bool qn_run_watch_meet(qn_warp *warp, const qn_op *op, uint32_t mask);
bool qn_run_watch_met(qn_warp *warp, const qn_op *op, uint32_t mask);

/** A barrier is complete; the groups that wait at it still do. */
static inline void qn_watch_release(const qn_block *block, unsigned barrier)
{
    if (block->watch) {
        qn_order_release(block->watch->order, block, barrier);
    }
}

static inline void qn_watch_fence(const qn_warp *warp)
{
    if (warp->block->watch) {
        qn_order_fence(warp->block->watch->order, warp);
    }
}

/* ---- shadow_warp.c: what an operation among lanes hands out --------------------------------- */

/** Lane l gets what from[l] brought. */
void qn_shadow_shuffled(const qn_warp *warp, const qn_frame *frame, const qn_op *op, uint32_t mask,
                        const uint8_t *from);
/** The lanes get a result that depends on all members. */
void qn_shadow_met(const qn_warp *warp, const qn_frame *frame, const qn_op *op, uint32_t mask,
                   uint32_t members);
/** Parameters or results of a call are copied from frame to frame. */
void qn_shadow_params(uint32_t mask, const qn_frame *to, uint32_t to_offset, const qn_frame *from,
                      uint32_t from_offset, uint32_t bytes);

/* ---- run_report.c: reports of checks -------------------------------------------------------- */

/** Record a bad access, in words, at the first of some locations that is in a user's own text. */
bool qn_fault_at(qn_warp *warp, unsigned lane, const uint32_t *locations, size_t count,
                 const char *what);

/* ---- watch_report.c ------------------------------------------------------------------------- */

/** "read of 4 bytes at offset 12 of shared memory, in 'tile'": what, where. */
void qn_print_touch(qn_text *out, const qn_touch *touch);
/** "thread (1,0,0) at k.cu:3:5 ('st.shared.f32', PTX line 30)" of an earlier access. */
void qn_print_stamp(qn_text *out, const qn_block *block, const qn_stamp *stamp, uint32_t lanes);

#endif /* QN_WATCH_H */
