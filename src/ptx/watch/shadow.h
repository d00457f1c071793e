/* SPDX-License-Identifier: MIT
 *
 * shadow: which bits of registers and memory hold something that was written. A launch that looks
 * for memory that nobody wrote executes, before each operation, one more, which computes the same
 * for these bits: moves, shifts and logic carry each bit along, a sum is undefined from the lowest
 * undefined bit on, everything else is undefined if any bit of it is. Nothing is reported for that.
 * Reported are uses that matter: a branch, an address, an operand of an atomic, an argument of
 * printf, and what arrives in device memory. So a value may be loaded, merged with others, passed
 * about and stored where it came from, as long as nothing depends on it.
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
 * from. Neither is looked at in a lane that has no undefined bit, of which the frame keeps one word
 * a register.
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

/** What stands before an operation. Registers are known by the number of their shadow; 0 is one
 * that is always defined. */
typedef struct qn_shaded {
    const qn_lane_form *form; /**< lane-wise: of the operation */
    bool second;              /**< it is the form's second function */
    uint8_t rule;             /**< qn_shade_rule */
    uint32_t instruction;     /**< its number */
    uint32_t guard;
    uint32_t d, a, b, c, e;
    uint32_t uses, results; /**< of the list: what is looked at, then what is written */
    const uint32_t *list;
} qn_shaded;

/* ---- shadow_rules.c ------------------------------------------------------------------------- */

typedef enum qn_shade_rule {
    QN_SHADE_ANY,     /**< all of the result is undefined if anything is */
    QN_SHADE_MOVE,    /**< bits of a are moved as b, c and the fourth say */
    QN_SHADE_MERGE,   /**< bits of a and b are */
    QN_SHADE_LOGIC,   /**< bit by bit */
    QN_SHADE_SUM,     /**< from the lowest undefined bit on */
    QN_SHADE_PRODUCT, /**< likewise; a zero makes it defined */
    QN_SHADE_SELECT,
    QN_SHADE_COMPARE,
    QN_SHADE_HALVES, /**< two results side by side, of two operands side by side */
    QN_SHADE_TWO,    /**< two results side by side, of b and a */
} qn_shade_rule;

/** The rule of a form, by its name. */
qn_shade_rule qn_shade_rule_of(const qn_lane_form *form);
/** What is undefined of a result; `in` are a, b, c and the fourth. All but moves and merges. */
uint64_t qn_shade_bits(const qn_shaded *shaded, const qn_shade in[4]);

/* ---- shadow_lanes.c ------------------------------------------------------------------------- */

static inline uint64_t qn_ones(unsigned bits)
{
    return bits < 64 ? (UINT64_C(1) << bits) - 1 : ~UINT64_C(0);
}

/** Lane `lane` of register `k`, without its value. */
void qn_shade_get(const qn_frame *frame, uint32_t k, unsigned lane, qn_shade *out);
void qn_shade_put(const qn_frame *frame, uint32_t k, unsigned lane, const qn_shade *shade);
/** Where the first byte that is not defined is from; NULL: all are defined. */
const qn_source *qn_shade_source(const qn_shade *shade);
/** All `bits` are undefined, for what `source` says, since `instruction` computed with it. */
void qn_shade_derive(qn_shade *out, unsigned bits, const qn_source *source, uint32_t instruction);
/** The lanes that execute the operation behind this one; false after a report that its guard is
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

/** Bytes behind a frame of this code for what is undefined in it. */
uint64_t qn_shadow_bytes(const qn_code *code, uint32_t param_stride);
/** Give a frame that memory. */
void qn_shadow_set_up(qn_frame *frame, unsigned char *memory);
/** Nothing is undefined, of the lanes of a frame that begins. */
void qn_shadow_begin(qn_frame *frame);

/** Report what is undefined of the list's uses; its results are defined. */
bool qn_run_shade_use(qn_warp *warp, const qn_op *op, uint32_t mask);
/** Likewise of the arguments of a function that the device provides. */
bool qn_run_shade_builtin(qn_warp *warp, const qn_op *op, uint32_t mask);
/** The one that check=bounds has, element.h. */
bool qn_run_shade_element(qn_warp *warp, const qn_op *op, uint32_t mask);
/** Likewise; and a is what each lane brings to an operation among lanes. */
bool qn_run_shade_bring(qn_warp *warp, const qn_op *op, uint32_t mask);
/** Before a product: d results, then a, b and c registers of matrices are the list. */
bool qn_run_shade_product(qn_warp *warp, const qn_op *op, uint32_t mask);
/** Before and behind a load of a matrix. */
bool qn_run_shade_tile(qn_warp *warp, const qn_op *op, uint32_t mask);
bool qn_run_shade_tile_loaded(qn_warp *warp, const qn_op *op, uint32_t mask);

/* ---- shadow_report.c ------------------------------------------------------------------------ */

/** The instruction of a number, and its function. */
const qn_ptx_instruction *qn_shadow_instruction(const qn_ptx_module *module, uint32_t number,
                                                const qn_ptx_function **function);
/** Bytes of each element that it loads. */
unsigned qn_shadow_load_bytes(const qn_ptx_instruction *load);
/** Instruction `use` depends on a byte that nobody wrote. Always false. */
bool qn_shadow_report(qn_warp *warp, unsigned lane, const qn_source *source, uint32_t use);
/** The same of an access of so many bytes; 0: as many as the load says. */
bool qn_shadow_report_bytes(qn_warp *warp, unsigned lane, const qn_source *source, uint32_t use,
                            unsigned bytes);

#endif /* QN_SHADOW_H */
