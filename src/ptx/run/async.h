/* SPDX-License-Identifier: MIT
 *
 * async: what decode_async.c binds and memory_async.c executes: mbarrier objects and bulk copies.
 */
#ifndef QN_ASYNC_H
#define QN_ASYNC_H

#include "ptx/run/run.h"

/** In the flags of an operation: what it does to an mbarrier. */
enum qn_mbarrier_form {
    QN_MBARRIER_INIT,
    QN_MBARRIER_INVAL,
    QN_MBARRIER_EXPECT,
    QN_MBARRIER_COMPLETE,
    QN_MBARRIER_ARRIVE,
    QN_MBARRIER_ARRIVE_DROP,
    QN_MBARRIER_STATE, /* tests */
    QN_MBARRIER_PARITY,
    QN_MBARRIER_PENDING,
};

/** For bulk copies: their addresses, and the mbarrier that counts their end. */
typedef struct qn_bulk_copy {
    qn_op to, from, barrier;
    bool tells;
} qn_bulk_copy;

bool qn_run_mbarrier(qn_warp *warp, const qn_op *op, uint32_t mask);
bool qn_run_mbarrier_end(qn_warp *warp, const qn_op *op, uint32_t mask);
bool qn_run_mbarrier_test(qn_warp *warp, const qn_op *op, uint32_t mask);
bool qn_run_mbarrier_pending(qn_warp *warp, const qn_op *op, uint32_t mask);
bool qn_run_bulk_copy(qn_warp *warp, const qn_op *op, uint32_t mask);

#endif /* QN_ASYNC_H */
