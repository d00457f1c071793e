/* SPDX-License-Identifier: MIT
 *
 * run_forms: what decode_*.c write into the `flags` and `space` of an operation for the functions
 * that execute families of instructions.
 */
#ifndef QN_RUN_FORMS_H
#define QN_RUN_FORMS_H

enum qn_barrier_form {
    QN_BARRIER_SYNC,
    QN_BARRIER_ARRIVE,
    QN_BARRIER_POPC, /* from here on: reductions */
    QN_BARRIER_AND,
    QN_BARRIER_OR,
    QN_BARRIER_CLUSTER_ARRIVE,
    QN_BARRIER_CLUSTER_WAIT,
};

enum qn_sync_form {
    QN_SYNC_BARRIER, /* bar.warp.sync */
    QN_SYNC_SHFL_UP,
    QN_SYNC_SHFL_DOWN,
    QN_SYNC_SHFL_BFLY,
    QN_SYNC_SHFL_IDX,
    QN_SYNC_VOTE_ALL,
    QN_SYNC_VOTE_ANY,
    QN_SYNC_VOTE_UNI,
    QN_SYNC_VOTE_BALLOT,
    QN_SYNC_MATCH_ANY,
    QN_SYNC_MATCH_ALL,
    QN_SYNC_REDUX_ADD,
    QN_SYNC_REDUX_MIN,
    QN_SYNC_REDUX_MAX,
    QN_SYNC_REDUX_UMIN,
    QN_SYNC_REDUX_UMAX,
    QN_SYNC_REDUX_AND,
    QN_SYNC_REDUX_OR,
    QN_SYNC_REDUX_XOR,
    QN_SYNC_ELECT,
};

enum qn_atomic_form {
    QN_ATOMIC_ADD,
    QN_ATOMIC_MIN,
    QN_ATOMIC_MAX,
    QN_ATOMIC_INC,
    QN_ATOMIC_DEC,
    QN_ATOMIC_EXCH,
    QN_ATOMIC_CAS,
    QN_ATOMIC_AND,
    QN_ATOMIC_OR,
    QN_ATOMIC_XOR,
};

#endif /* QN_RUN_FORMS_H */
