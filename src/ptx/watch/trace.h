/* SPDX-License-Identifier: MIT
 *
 * trace: every instruction that one thread of a launch executes, printed to standard error. The
 * decoder puts an operation before each instruction, which prints it with what it reads, and one
 * after it, which adds what it wrote; only functions decoded for a trace have them. Blocks and
 * warps other than the thread's skip them.
 *
 *     decode_trace.c   the operations before and after an instruction
 *     trace.c          whose turn it is, and how much is printed
 *     trace_text.c     instructions, operands and values as text
 */
#ifndef QN_TRACE_H
#define QN_TRACE_H

#include "ptx/run/run.h"

/** A register of an instruction, and how to print it. */
typedef struct qn_traced_value {
    const char *name;
    qn_place place;
    uint8_t register_bits;
    qn_ptx_type type; /**< as the instruction sees it */
} qn_traced_value;

/** What the operations of one instruction need; in the code's arena. */
typedef struct qn_traced {
    const qn_ptx_function *function;
    const qn_ptx_instruction *instruction;
    qn_place guard, address; /**< QN_NO_PLACE: there is none, or it is not known */
    uint8_t address_bits;
    int64_t address_offset;
    uint32_t read_count, written_count;
    qn_traced_value *values; /**< read, then written */
} qn_traced;

/** What is kept of a launch: the thread, and what it has printed of it. */
typedef struct qn_trace {
    uint64_t block; /**< its number */
    uint32_t warp, lane;
    uint32_t lines; /**< printed so far */
    bool pending;   /**< `line` is begun */
    qn_text line, place;
} qn_trace;

/** Find the thread that the launch names; prints a note when there is no such thread. */
void qn_trace_begin(qn_run *run);
/** Print what is pending. */
void qn_trace_end(qn_run *run);

bool qn_run_trace_before(qn_warp *warp, const qn_op *op, uint32_t mask);
bool qn_run_trace_behind(qn_warp *warp, const qn_op *op, uint32_t mask);

/* trace_text.c */
/** "@!%p1 ld.global.f32 %f1, [%rd1+4]" */
void qn_print_instruction(qn_text *out, const qn_ptx_function *function,
                          const qn_ptx_instruction *instruction);
/** "%r1 = 5" of a lane. */
void qn_print_value(qn_text *out, const qn_warp *warp, const qn_traced_value *value, unsigned lane);

#endif /* QN_TRACE_H */
