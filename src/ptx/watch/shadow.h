/* SPDX-License-Identifier: MIT
 *
 * shadow: which bits of registers and memory hold something that was written. A launch that checks
 * for memory that nobody wrote executes one more operation before each, which computes which bits
 * of the result are undefined: moves, shifts and logic carry each bit along, a sum is undefined
 * from the lowest undefined bit on, any other result is undefined if any bit of an operand is. That
 * alone is not reported; only uses that matter are: a branch, an address, an operand of an atomic,
 * an argument of printf, and what arrives in device memory. So a value may be loaded, merged with
 * others, passed about and stored where it came from, as long as nothing depends on it.
 *
 *     decode_shadow.c   which operation goes before which
 *     shadow_rules.c    what is undefined of a result, by the name of the operation
 *     shadow_lanes.c    lane-wise operations and moves of vectors
 *     shadow_memory.c   loads, stores, atomics: between registers and marks of memory
 *     shadow_warp.c     uses, calls, operations among lanes, matrices
 *     shadow_report.c   what is said, and where
 *
 * Memory has a mark for each byte: a bit of it is 1 when that bit of the byte is defined. A
 * register has for each lane the bits that are undefined, and for each byte where it was loaded
 * from. Both count only in lanes that have an undefined bit; one word per register in the frame
 * says which.
 */
#ifndef QN_SHADOW_H
#define QN_SHADOW_H

#include "ptx/watch/watch.h"

/** A register of 1 to 64 bits; one of 128 has two. */
struct qn_shadow {
    uint64_t bits[QN_LANES]; /**< 1: undefined */
    qn_source from[QN_LANES][8];
};

/** A value of one lane. */
typedef struct qn_shade {
    uint64_t value, bits;
    qn_source from[8];
} qn_shade;

/** What the operation before another one needs. Registers are known by the number of their shadow;
 * 0 is for what is always defined. */
typedef struct qn_shaded {
    const qn_lane_form *form; /**< lane-wise: of the operation */
    bool second;              /**< it is the form's second function */
    uint8_t rule;             /**< qn_shade_rule */
    uint32_t instruction;     /**< its number */
    uint32_t guard;
    uint32_t d, a, b, c, e;
    uint32_t uses, results; /**< in the list: those that are used, then those that are written */
    const uint32_t *list;
} qn_shaded;

/* ---- shadow_rules.c ------------------------------------------------------------------------- */

typedef enum qn_shade_rule {
    QN_SHADE_ANY,     /**< all of the result is undefined if any bit of an operand is */
    QN_SHADE_MOVE,    /**< bits of a are moved, as b, c and the fourth say */
    QN_SHADE_MERGE,   /**< bits of a and b are moved */
    QN_SHADE_LOGIC,   /**< bit by bit */
    QN_SHADE_SUM,     /**< from the lowest undefined bit on */
    QN_SHADE_PRODUCT, /**< the same, but a factor of zero makes it defined */
    QN_SHADE_SELECT,
    QN_SHADE_COMPARE,
    QN_SHADE_HALVES, /**< two results in one register, of halves of the operands */
    QN_SHADE_TWO,    /**< two results in one register, of b and of a */
} qn_shade_rule;

/** The rule of a form, by its name. */
qn_shade_rule qn_shade_rule_of(const qn_lane_form *form);
/** The undefined bits of a result; `in` are a, b, c and the fourth. Not for moves and merges. */
uint64_t qn_shade_bits(const qn_shaded *shaded, const qn_shade in[4]);

/* ---- shadow_lanes.c ------------------------------------------------------------------------- */

static inline uint64_t qn_ones(unsigned bits)
{
    return bits < 64 ? (UINT64_C(1) << bits) - 1 : ~UINT64_C(0);
}

/** Lane `lane` of the register with shadow `k`, without its value. */
void qn_shade_get(const qn_frame *frame, uint32_t k, unsigned lane, qn_shade *out);
void qn_shade_put(const qn_frame *frame, uint32_t k, unsigned lane, const qn_shade *shade);
/** Where the first byte that is not defined is from; NULL: all are defined. */
const qn_source *qn_shade_source(const qn_shade *shade);
/** Make all `bits` undefined, because `instruction` computed with the byte that `source`
 * describes. */
void qn_shade_derive(qn_shade *out, unsigned bits, const qn_source *source, uint32_t instruction);
/** The lanes that execute the operation after this one; false after a report that its guard is
 * undefined. */
bool qn_shade_mask(qn_warp *warp, const qn_op *op, uint32_t *mask);

/* Operations before others: */
bool qn_run_shade_lanes(qn_warp *warp, const qn_op *op, uint32_t mask);
/** d, e: the lower and the upper 64 bits of the whole; the list: the parts. */
bool qn_run_shade_pack(qn_warp *warp, const qn_op *op, uint32_t mask);
/** The same the other way. */
bool qn_run_shade_unpack(qn_warp *warp, const qn_op *op, uint32_t mask);

/* ---- shadow_memory.c ------------------------------------------------------------------------ */

/** An access of one lane, where it landed; false after a report. */
bool qn_shadow_touch(const qn_touch *touch);
/** Loads and stores of the parameters of called functions, which are not watched otherwise. */
bool qn_run_shade_param(qn_warp *warp, const qn_op *op, uint32_t mask);

/* ---- shadow_warp.c -------------------------------------------------------------------------- */

/** Bytes after a frame of this code that record what is undefined in it. */
uint64_t qn_shadow_bytes(const qn_code *code, uint32_t param_stride);
/** Give a frame that memory. */
void qn_shadow_set_up(qn_frame *frame, unsigned char *memory);
/** A frame begins: nothing in it is undefined. */
void qn_shadow_begin(qn_frame *frame);

/** Report what is undefined of the list's uses; its results are defined. */
bool qn_run_shade_use(qn_warp *warp, const qn_op *op, uint32_t mask);
/** Report what is undefined of the arguments of a function that the device provides. */
bool qn_run_shade_builtin(qn_warp *warp, const qn_op *op, uint32_t mask);
/** The same for the function of check=bounds: element.h. */
bool qn_run_shade_element(qn_warp *warp, const qn_op *op, uint32_t mask);
/** As qn_run_shade_use; in addition a is what each lane brings to an operation among lanes. */
bool qn_run_shade_bring(qn_warp *warp, const qn_op *op, uint32_t mask);
/** Before a product: d results, then a, b and c registers of matrices are the list. */
bool qn_run_shade_product(qn_warp *warp, const qn_op *op, uint32_t mask);
/** Before a load or store of a matrix, and after a load. */
bool qn_run_shade_tile(qn_warp *warp, const qn_op *op, uint32_t mask);
bool qn_run_shade_tile_loaded(qn_warp *warp, const qn_op *op, uint32_t mask);

/* ---- shadow_report.c ------------------------------------------------------------------------ */

/** The instruction with this number, and its function. */
const qn_ptx_instruction *qn_shadow_instruction(const qn_ptx_module *module, uint32_t number,
                                                const qn_ptx_function **function);
/** Bytes of each element that it loads. */
unsigned qn_shadow_load_bytes(const qn_ptx_instruction *load);
/** Instruction `use` depends on a byte that nobody wrote. Always false. */
bool qn_shadow_report(qn_warp *warp, unsigned lane, const qn_source *source, uint32_t use);
/** The same for an access of `bytes`; 0: as many as the load says. */
bool qn_shadow_report_bytes(qn_warp *warp, unsigned lane, const qn_source *source, uint32_t use,
                            unsigned bytes);

#endif /* QN_SHADOW_H */
