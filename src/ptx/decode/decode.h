/* SPDX-License-Identifier: MIT
 *
 * decode: what the decode_*.c files share. One qn_decoder lives while one function is decoded. Each
 * family of instructions has a binder, which emits operations for the current instruction or says
 * that it does not know the form.
 *
 *     decode.c          the walk over a function, branches to their operations
 *     decode_place.c    constants, registers, special registers: where operands lie
 *     decode_fold.c     instructions that need no work at run time
 *     decode_lanes.c    lane-wise operations, moves, address conversions
 *     decode_memory.c   loads, stores, atomics
 *     decode_trace.c    what a trace prints before and after an instruction
 *     decode_async.c    mbarrier, bulk copies, clusters
 *     decode_watch.c    operations that inform a watch where threads meet
 *     decode_shadow.c   operations that compute which bits are undefined
 *     decode_check.c    checks of divisions
 *     decode_element.c  checks of accesses to elements of raw arrays
 *     decode_control.c  branches, calls, barriers, warp operations
 *     decode_matrix.c   matrix instructions of a warp
 */
#ifndef QN_DECODE_H
#define QN_DECODE_H

#include "ptx/run/run.h"

#define QN_WORDS 16

/** An opcode cut at its dots: "ld.global.nc.v4.f32" has five words. */
typedef struct qn_opcode_words {
    char text[128];
    const char *word[QN_WORDS];
    unsigned count;
} qn_opcode_words;

typedef struct qn_constant {
    uint64_t low, high;
    uint8_t bits; /* 0: free entry */
    qn_place place;
} qn_constant;

typedef struct qn_decoder {
    const qn_ptx_function *function;
    const qn_ptx_instruction *instruction; /**< current */
    qn_opcode_words words;                 /**< of its opcode */
    qn_code *code;
    uint32_t op_capacity, patch_capacity;
    size_t pool_capacity;
    qn_constant *constants; /**< hash table */
    uint32_t constant_capacity, constant_count;
    uint8_t *definitions; /**< of each register: 0, 1, 2 (more) */
    qn_place *alias;      /**< of a register that stands for a constant; QN_NO_PLACE: it does not */
    uint32_t *shadows;    /**< for each place / 4: the number of its shadow; 0: none yet */
    uint32_t shadow_capacity;
    struct qn_elements *elements; /**< decode_element.c; NULL: the function names no elements */
    qn_op dummy;                  /**< what is emitted into when out of memory */
    bool mismatch;                /**< the current instruction has a register of a wrong width */
    bool failed;                  /**< out of memory */
} qn_decoder;

/* decode.c */
bool qn_word_is(const qn_opcode_words *words, unsigned k, const char *text);
/** Is `text` among the words after the first? */
bool qn_word_has(const qn_opcode_words *words, const char *text);
/** A new operation of the current instruction, with its guard. */
qn_op *qn_emit(qn_decoder *decoder, qn_op_kind kind);
qn_op *qn_emit_function(qn_decoder *decoder, qn_op_function function);
/** Zeroed memory that lives with the code; never NULL unless `failed` is set. */
void *qn_decode_alloc(qn_decoder *decoder, size_t bytes);
bool qn_parse_memory_type(const char *word, char *letter, unsigned *bits);

/* decode_place.c */
/** A constant of registers of `bits` (1: predicate). */
qn_place qn_place_constant(qn_decoder *decoder, unsigned bits, uint64_t low, uint64_t high);
/* The next two want registers of exactly `bits`; another width makes the instruction a mismatch. */
/** A source operand as a register of `bits`; emits what is needed to have it there. */
qn_place qn_place_source(qn_decoder *decoder, const qn_ptx_operand *operand, unsigned bits);
/** A register of `bits` to be written; QN_NO_PLACE for `_`. */
qn_place qn_place_target(qn_decoder *decoder, const qn_ptx_operand *operand, unsigned bits);
/** A place in the frame that nothing else uses. */
qn_place qn_place_scratch(qn_decoder *decoder, unsigned bits);
/** Width in which a register of this type is kept: 1, 16, 32, 64, 128. */
unsigned qn_register_bits(qn_ptx_type type);
/** The operand's place, if its value never changes in a frame; else QN_NO_PLACE. */
qn_place qn_place_stable(qn_decoder *decoder, const qn_ptx_operand *operand, unsigned bits);
/** A place that each launch fills. Kernels only. */
qn_place qn_place_patch(qn_decoder *decoder, const qn_patch *patch);
/** Is the operand one of the kernel's own parameters? Then also its offset in their block. */
bool qn_is_kernel_param(const qn_decoder *decoder, const qn_ptx_operand *operand, uint64_t *offset);
bool qn_places_allocate(qn_decoder *decoder);
void qn_places_free(qn_decoder *decoder);

/* decode_memory.c */
/** An address operand, of which `bytes` are accessed: `out` gets its place and bits, its offset,
 * and the space that it turns out to be in. False: it is not an address. */
bool qn_bind_address(qn_decoder *decoder, const qn_ptx_operand *operand, uint8_t space,
                     uint64_t bytes, qn_op *out);

/* decode_fold.c */
/** True when the current instruction needs no operation: its register stands for a constant. */
bool qn_fold_constants(qn_decoder *decoder);

/* For checks and traces: each does nothing unless the function is decoded for that (QN_CODE_*). */

/* decode_trace.c */
struct qn_traced;
/** Emit what prints before and after the operations of the current instruction. */
const struct qn_traced *qn_trace_decode_before(qn_decoder *decoder);
void qn_trace_decode_behind(qn_decoder *decoder, const struct qn_traced *traced);

/* decode_watch.c */
/** Put operations that inform the watch around the barriers and warp operations from `first` on. */
void qn_watch_meetings(qn_decoder *decoder, uint32_t first);

/* decode_shadow.c */
/** Called before anything is bound. */
void qn_shadow_decode_begin(qn_decoder *decoder);
/** Put operations that compute the undefined bits of results before those from `first` on. */
void qn_shadow_decode(qn_decoder *decoder, uint32_t first);

/* decode_check.c */
/** Emit what checks the operands of a division, before it. */
void qn_check_decode(qn_decoder *decoder);

/* decode_element.c */
/** Called before anything is decoded, and after everything is. */
void qn_elements_decode_begin(qn_decoder *decoder);
void qn_elements_decode_end(qn_decoder *decoder);
/** Emit what goes before an access, or before a call that names an element. */
void qn_elements_decode(qn_decoder *decoder);

/* Binders: false when the form is not known. */
bool qn_bind_lanes(qn_decoder *decoder);
bool qn_bind_move(qn_decoder *decoder);
bool qn_bind_convert_address(qn_decoder *decoder);
bool qn_bind_is_space(qn_decoder *decoder);
bool qn_bind_alloca(qn_decoder *decoder);
bool qn_bind_load(qn_decoder *decoder);
bool qn_bind_store(qn_decoder *decoder);
bool qn_bind_atomic(qn_decoder *decoder);
bool qn_bind_copy(qn_decoder *decoder);
bool qn_bind_branch(qn_decoder *decoder);
bool qn_bind_branch_index(qn_decoder *decoder);
bool qn_bind_call(qn_decoder *decoder);
bool qn_bind_leave(qn_decoder *decoder);
bool qn_bind_barrier(qn_decoder *decoder);
bool qn_bind_sync(qn_decoder *decoder);
bool qn_bind_fence(qn_decoder *decoder);
bool qn_bind_matrix_multiply(qn_decoder *decoder);
bool qn_bind_wmma(qn_decoder *decoder);
bool qn_bind_tiles(qn_decoder *decoder);
bool qn_bind_tile_transpose(qn_decoder *decoder);
bool qn_bind_mbarrier(qn_decoder *decoder);
bool qn_bind_copy_arrive(qn_decoder *decoder);
bool qn_bind_bulk_copy(qn_decoder *decoder);
bool qn_bind_cluster_address(qn_decoder *decoder);
bool qn_bind_sleep(qn_decoder *decoder);
bool qn_bind_nothing(qn_decoder *decoder);

#endif /* QN_DECODE_H */
