/* SPDX-License-Identifier: MIT
 *
 * fold: the walk of a reduction or a scan. In: operands over one shape, and which of its axes are
 * reduced. Out: a qn_fold: dimensions that are kept and dimensions that are reduced, each group
 * sorted and merged by itself; how threads and blocks share the work; how elements are reached.
 *
 * The thing to know: a *unit* is what a thread takes at once. With rows it is a pack of elements
 * side by side along the reduced dimensions, and the threads of an output lie along them; with
 * columns it is one reduced position of a pack of outputs side by side, and neighbouring threads
 * have neighbouring outputs. The form decides the code; all else are run-time arguments.
 */
#ifndef QN_FOLD_H
#define QN_FOLD_H

#include "array/plan.h"

#define QN_FOLD_BLOCK 256 /**< threads of a block */

/** What decides the generated code. Compare with memcmp: padding is zero. */
typedef struct qn_fold_form {
    uint8_t kept;    /**< dimensions that are kept; 0: a single output */
    uint8_t reduced; /**< dimensions that are reduced; 0: each output has one element */
    uint8_t lanes;   /**< elements of a unit */
    uint8_t columns; /**< 1: the lanes of a unit lie along the kept dimensions */
    uint8_t split;   /**< 1: several blocks work at one output */
    uint8_t wide;    /**< 1: 64-bit index arithmetic */
    uint8_t access[QUERN_MAX_PARAMETERS]; /**< qn_access by operand, along the lanes */
} qn_fold_form;

typedef struct qn_fold {
    qn_fold_form form;
    int64_t outputs;  /**< positions of the kept dimensions */
    int64_t length;   /**< positions of the reduced dimensions */
    int64_t units;    /**< whole units of an output */
    int64_t head;     /**< elements before the first unit; rows of one reduced dimension only */
    int64_t rest;     /**< elements that no unit covers: the head, and a tail */
    uint32_t workers; /**< threads of a block for an output: a power of two */
    int64_t groups;   /**< blocks side by side over the outputs */
    int64_t splits;   /**< blocks for an output */
    int64_t chunk;    /**< units of a block for an output */
    int64_t extent[QUERN_MAX_NDIM]; /**< the kept ones, outermost first, then the reduced ones */
    int64_t stride[QUERN_MAX_PARAMETERS][QUERN_MAX_NDIM]; /**< bytes; [operand][dimension] */
    char *base[QUERN_MAX_PARAMETERS];                     /**< where the walk starts */
} qn_fold;

/** What the kernel's texts, the call and the device ask of the walk. */
typedef struct qn_fold_rules {
    uint32_t axes;       /**< bit k: axis k is reduced */
    bool keepdims;       /**< outputs have the reduced axes, with extent 1 */
    bool ordered;        /**< values are combined in C order of the reduced axes */
    bool positions;      /**< merge nothing: the texts use positions along axes */
    uint32_t pack_bytes; /**< as qn_plan_rules.pack_bytes */
    uint32_t processors; /**< of the device */
} qn_fold_rules;

/** Plan. Operands: inputs, which broadcast to `shape`, then outputs, which have the kept axes. */
void qn_fold_make(qn_fold *fold, const qn_operand *operands, size_t operand_count, int ndim,
                  const int64_t *shape, const qn_fold_rules *rules);

/** Packs of outputs that a block handles at once. */
static inline int64_t qn_fold_block_outputs(const qn_fold *fold)
{
    return QN_FOLD_BLOCK / fold->workers;
}

/** "rows of 1000, 4 elements at once, 64 threads an output, 32-bit index": for people. */
void qn_fold_print(qn_text *out, const qn_fold *fold, size_t input_count);

#endif /* QN_FOLD_H */
