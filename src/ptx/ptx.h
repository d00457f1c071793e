/* SPDX-License-Identifier: MIT
 *
 * ptx: the processor of the software device. It reads the PTX that NVRTC emits and executes it with
 * warps of 32 lanes. Uses base only.
 *
 *     text --read--> qn_ptx_module --layout, slots--> functions ready to decode
 *          --decode--> flat instructions with handlers --run--> blocks over threads
 *
 * Reading accepts every instruction; a form that the executor does not know is bound to a handler
 * that reports it, by name and place, when it is reached.
 */
#ifndef QN_PTX_H
#define QN_PTX_H

#include "base/base.h"

#define QN_LANES      32
#define QN_CODE_KINDS 32 /* decoded forms of a function: each set of the flags QN_CODE_* */

/* ==== reader: lex.c, parse*.c, read_module.c ================================================= */

typedef enum qn_ptx_space {
    QN_SPACE_NONE,
    QN_SPACE_REG,
    QN_SPACE_GLOBAL,
    QN_SPACE_CONST,
    QN_SPACE_SHARED,
    QN_SPACE_LOCAL,
    QN_SPACE_PARAM,
} qn_ptx_space;

/** A PTX type: its letter (b, u, s, f, p for pred, B for bf16) and its bits. */
typedef struct qn_ptx_type {
    char letter;
    uint8_t bits; /**< 1 (pred), 8, 16, 32, 64, 128 */
} qn_ptx_type;

/** A register of a function. After qn_ptx_allocate_slots it has a place in the frame. */
typedef struct qn_ptx_register {
    const char *name;
    qn_ptx_type type;
    uint32_t slot; /**< byte offset in the frame; see "The frame" below */
} qn_ptx_register;

/** A variable or a function by name. */
typedef struct qn_ptx_symbol {
    const char *name;
    qn_ptx_space space; /**< QN_SPACE_NONE for a function */
    qn_ptx_type type;
    uint64_t size, alignment;
    uint64_t offset; /**< in its space: of the function's parameters, shared or local memory; of
                          the module's constant and global data blocks */
    struct qn_ptx_function *function; /**< for a function symbol; this pointer is the function's
                              address in registers and initial values */
    bool external; /**< declared only: `.extern .shared` arrays, `.extern .func vprintf` */
    bool visible;
    bool outside; /**< declared outside of all functions */
} qn_ptx_symbol;

typedef enum qn_ptx_operand_kind {
    QN_OPERAND_REGISTER,  /**< reg */
    QN_OPERAND_IMMEDIATE, /**< bits: as raw bits of `immediate_type` (f32 0f..., f64 0d...,
                             integers) */
    QN_OPERAND_SPECIAL,   /**< name: "%tid.x", "%laneid", "%clock64", "%envreg1", ... */
    QN_OPERAND_SYMBOL,    /**< symbol, plus offset: its address in its space (or a function) */
    QN_OPERAND_ADDRESS,   /**< [reg + offset], [symbol + offset] or [offset] */
    QN_OPERAND_VECTOR,    /**< {a, b, ...}: `element_count` operands from `elements` */
    QN_OPERAND_PAIR,      /**< p|q: two elements, as VECTOR */
    QN_OPERAND_LABEL,     /**< target: index of an instruction */
    QN_OPERAND_SINK,      /**< _ */
    QN_OPERAND_LIST, /**< (a, b, ...): of a call; also a .branchtargets or .callprototype name */
} qn_ptx_operand_kind;

typedef struct qn_ptx_operand {
    qn_ptx_operand_kind kind;
    bool negated;       /**< !p */
    bool is_float;      /**< immediate written 0f or 0d */
    uint8_t float_bits; /**< 32 or 64 for those */
    uint8_t element_count;
    int32_t reg; /**< register index of the function; -1: none */
    qn_ptx_symbol *symbol;
    int64_t offset;
    uint64_t bits;
    uint32_t target;  /**< LABEL: instruction index after layout; LIST with a name: index in the
                           function's targets, UINT32_MAX for a prototype */
    const char *name; /**< SPECIAL, and names of targets lists and prototypes */
    struct qn_ptx_operand *elements;
} qn_ptx_operand;

typedef struct qn_ptx_instruction {
    const char *opcode; /**< whole, interned: "fma.rn.f32", "ld.global.nc.v4.f32", "bra.uni" */
    qn_ptx_operand *operands; /**< in the order written */
    uint8_t operand_count;
    uint8_t definitions; /**< leading operands that are written (0 for st, bra, red, bar, ...) */
    bool guard_negated;
    int32_t guard;     /**< register index of the guard predicate, -1: none */
    uint32_t line;     /**< of the PTX text */
    uint32_t location; /**< index into the module's locations; 0: unknown */
} qn_ptx_instruction;

/** Whether an opcode is `family` or one of it: "bar.red.popc.u32" is of "bar.red" and of "bar". */
static inline bool qn_opcode_of(const char *opcode, const char *family)
{
    const size_t length = strlen(family);
    return strncmp(opcode, family, length) == 0 &&
           (opcode[length] == '.' || opcode[length] == '\0');
}

/** A place in the user's source, from .loc; `inlined_at` chains to the call's own place. */
typedef struct qn_ptx_location {
    const char *file;
    uint32_t line, column;
    const char *function; /**< name of the inlined function, or NULL */
    uint32_t inlined_at;  /**< index of a location, 0: none */
} qn_ptx_location;

/** A list of labels (.branchtargets) or of possible callees. */
typedef struct qn_ptx_targets {
    uint32_t count;
    uint32_t *instructions;
} qn_ptx_targets;

typedef struct qn_ptx_function {
    const char *name;
    struct qn_ptx_module *module;
    bool is_kernel, has_body;
    bool calls;             /**< a kernel: may call other functions of the module */
    qn_ptx_symbol **params; /**< of the signature; offsets lie in the parameter block */
    uint32_t param_count, param_bytes;
    qn_ptx_symbol **returns; /**< of a .func; in the same block, after the params */
    /** frame_param_bytes: of the block of params, returns and all .param variables declared
     * inside, through which calls pass arguments. */
    uint32_t return_count, frame_param_bytes;
    qn_ptx_register *registers;
    uint32_t register_count;
    uint32_t frame_bytes;               /**< of the frame, a multiple of 64 */
    uint32_t local_bytes, shared_bytes; /**< .local depot; static .shared of this function */
    uint64_t shared_base; /**< where its static .shared begins in a block's shared memory */
    uint32_t max_threads; /**< .maxntid product; 0: none */
    qn_ptx_instruction *instructions; /**< in layout order: loop-aware reverse post-order */
    uint32_t instruction_count;
    qn_ptx_targets *targets;
    uint32_t targets_count;
    void *decoded[QN_CODE_KINDS]; /**< the executor's own; freed by qn_ptx_free through
                                       qn_ptx_undecode */
} qn_ptx_function;

typedef struct qn_ptx_module {
    qn_arena arena;
    int version, target; /**< .version 9.0 -> 90; .target sm_75 -> 75 */
    qn_ptx_function **functions;
    uint32_t function_count;
    qn_ptx_symbol **symbols; /**< module scope */
    uint32_t symbol_count;
    qn_ptx_location *locations; /**< [0] is "unknown" */
    uint32_t location_count;
    unsigned char *globals; /**< initial .global and .const data, with resolved addresses */
    uint64_t global_bytes;
    void *globals_block;          /**< the allocation that `globals` lies in */
    uint64_t module_shared_bytes; /**< of .shared at module scope, which every kernel has */
    bool needs_stack; /**< a call or alloca may need local memory beyond a kernel's own */
} qn_ptx_module;

/** Read a module. `text` is copied where needed. Also lays out blocks, runs liveness and allocates
 * slots for every function. Globals that no function refers to take no memory unless `.visible`.
 * Errors: QUERN_ERROR_IMAGE with line and text of the place; never crashes on any input. */
quern_status qn_ptx_read(qn_ptx_module **out, const char *text, size_t length);
void qn_ptx_free(qn_ptx_module *module);
qn_ptx_function *qn_ptx_kernel(qn_ptx_module *module, const char *name);
/** Check that everything the module uses is defined in it. Errors: QUERN_ERROR_LINK with the name
 * and the place of its use; QUERN_ERROR_NOT_SUPPORTED for kernels that launch kernels. */
quern_status qn_ptx_check_defined(const qn_ptx_module *module);
/** The address of a .global or .const variable. */
bool qn_ptx_global(qn_ptx_module *module, const char *name, void **pointer, uint64_t *bytes);
/** Bytes of shared memory that a block of `kernel` has whatever the launch asks for: the module's,
 * those of the functions that it may call, and its own. */
uint64_t qn_ptx_static_shared(const qn_ptx_function *kernel);
/** "operation:1:5, inlined at ..." for messages. */
void qn_ptx_print_location(qn_text *out, const qn_ptx_module *module, uint32_t location);

/* layout.c: control flow graph, dominators, natural loops; instructions re-ordered so that running
 * the lowest position first reconverges at the immediate post-dominator.
 * slots.c: liveness and linear scan, so that a warp's frame stays in the L1 cache. */
quern_status qn_ptx_layout(qn_ptx_function *function, qn_arena *arena);
quern_status qn_ptx_allocate_slots(qn_ptx_function *function, qn_arena *arena);
/* shared.c: sets `shared_base` of all functions. */
void qn_ptx_place_shared(qn_ptx_module *module);

/* The frame. Each call of a warp has one frame, which holds the registers as structures of arrays:
 *
 *     pred          uint32_t, one bit per lane             4 bytes (16 of them share 64)
 *     8, 16 bits    uint16_t[32]                          64 bytes
 *     32 bits       uint32_t[32]                         128 bytes
 *     64 bits       uint64_t[32]                         256 bytes
 *     128 bits      two uint64_t[32], low then high      512 bytes
 *
 * Slots are aligned to 64 bytes, those of predicates to 4. Registers that are not needed at the
 * same time share a slot; a register that no instruction names has none (slot 0 means nothing
 * then). The operands of one instruction never share, unless they are the same register. 8-bit
 * registers (.b8) are kept in the 16-bit form. */

/* ==== lanes: lanes*.c, built for x86-64-v2, v3 and v4, or once elsewhere ===================== */

/** A lane-wise operation: for each lane in `mask`, d = op(a, b, c). Operands point into frames or
 * to constants broadcast to 32 lanes, in the register formats above (predicates: a uint32_t of
 * bits). `carry` is the warp's condition code: one bit per lane. Lanes outside `mask` keep their
 * d. */
typedef void (*qn_lane_function)(void *d, const void *a, const void *b, const void *c,
                                 uint32_t mask, uint32_t *carry);

/** What the executor must know to call one. */
typedef struct qn_lane_form {
    const char *name; /**< "fma.rn.f32", "setp.lt.and.f32", "cvt.rzi.s32.f32" */
    qn_lane_function function;
    /** Register widths in bits: 1 (pred), 16, 32, 64, 128; 0: no such operand. */
    uint8_t d_bits, a_bits, b_bits, c_bits;
    /** setp with two destinations (p|q): called with the same operands to write q, which is
     * combine(not compare). NULL: none. */
    qn_lane_function second;
    bool fourth; /**< has a fourth source (e.g. bfi, mad with pred): see lanes.h */
} qn_lane_form;

/** Find the form of a whole opcode text, NULL if unknown. Chooses the best build for this CPU once.
 * Modifiers that do not change lane-wise results may appear in any legal PTX order. */
const qn_lane_form *qn_lane_find(const char *opcode);
/** All forms, for tests and documentation. */
const qn_lane_form *qn_lane_forms(size_t *count);

/* ==== executor: decode.c, run*.c ============================================================= */

/** The live allocations of a device: every access of a kernel is checked against them. Thread-safe:
 * changed under a lock, read by launches through a snapshot. */
typedef struct qn_memory_map qn_memory_map;
qn_memory_map *qn_memory_map_new(void);
void qn_memory_map_free(qn_memory_map *map);
/** Ranges may overlap. `label` is for reports and borrowed until the map is freed; where it ends in
 * " of", as "array of" does, the range's size is told behind it. False: out of memory. */
bool qn_memory_map_add(qn_memory_map *map, void *base, uint64_t bytes, const char *label);
/** The same, and remember which of its bytes are written, for launches that check that. */
bool qn_memory_map_add_unwritten(qn_memory_map *map, void *base, uint64_t bytes, const char *label);
/** The host wrote there. `from`: device memory that it copied, whose marks are copied too; or
 * NULL. */
void qn_memory_map_written(qn_memory_map *map, const void *to, uint64_t bytes, const void *from);
/** Removed ranges are remembered for a while, so that reports can say "freed". */
void qn_memory_map_remove(qn_memory_map *map, void *base, uint64_t bytes);

/** The same for memory of somebody else. With `crossed`, memory that crosses an end of what was
 * added by the two functions above is not taken: begin and end of that are then put there. */
typedef enum qn_adoption { QN_ADOPTED, QN_ADOPTION_NO_MEMORY, QN_ADOPTION_CROSSES } qn_adoption;
qn_adoption qn_memory_map_adopt(qn_memory_map *map, void *base, uint64_t bytes, const char *label,
                                uint64_t crossed[2]);
/** The label of a range that holds `address`: of an allocation rather than of what was adopted.
 * NULL: there is none. */
const char *qn_memory_map_label(qn_memory_map *map, const void *address);
typedef enum qn_access_kind { QN_READ, QN_WRITE, QN_ATOMIC } qn_access_kind;

/* ---- watch/stream_*.c: check=streams, work on streams that do not wait for one another ------- */

/** Of a device. Thread-safe. */
typedef struct qn_stream_history qn_stream_history;
/** What a stream knew at a moment: an event, a graph. Set under its history's lock. */
typedef struct qn_stream_mark qn_stream_mark;

/** NULL: out of memory. */
qn_stream_history *qn_stream_history_new(void);
void qn_stream_history_free(qn_stream_history *history);
/** A stream is known by its handle. One that was not added is foreign; NULL and 1 are the legacy
 * default stream, whose order all but non-blocking streams keep. */
void qn_stream_history_add(qn_stream_history *history, const void *stream, const char *name,
                           bool non_blocking);
void qn_stream_history_remove(qn_stream_history *history, const void *stream);
/** The mark, made where it is NULL, becomes what the stream knows now. */
void qn_stream_mark_set(qn_stream_history *history, qn_stream_mark **mark, const void *stream);
void qn_stream_mark_free(qn_stream_mark *mark);
/** A stream waits for a mark; NULL is none. */
void qn_stream_waits(qn_stream_history *history, const void *stream, qn_stream_mark *const *mark);
/** The host has waited: for a stream, a mark, everything. */
void qn_stream_host_waits(qn_stream_history *history, const void *stream);
void qn_stream_host_waits_mark(qn_stream_history *history, qn_stream_mark *const *mark);
void qn_stream_host_waits_all(qn_stream_history *history);
/** Memory of arrays; `allocated` in the order of a stream, else foreign. */
void qn_stream_memory_add(qn_stream_history *history, const void *base, uint64_t bytes,
                          const void *stream, bool allocated);
void qn_stream_memory_remove(qn_stream_history *history, const void *base, uint64_t bytes);

/** One piece of work: a launch, a copy, a fill. */
typedef struct qn_stream_work {
    qn_stream_history *history; /**< NULL: nothing is looked at */
    uint64_t serial;
    uint32_t number, stream, written;
    qn_stream_mark *clocks;
    char stream_name[64];
} qn_stream_work;

/** Always succeeds. `history` may be NULL; `what` is "kernel 'k'", "a copy to the host". */
void qn_stream_work_begin(qn_stream_work *work, qn_stream_history *history, const void *stream,
                          const char *what);
void qn_stream_work_end(qn_stream_work *work);
/** The work touches bytes. False: it is not in order, and `why` says with what. `lenient`: it may
 * be by this access that it is. */
bool qn_stream_touch(qn_stream_work *work, uint64_t address, uint64_t bytes, qn_access_kind kind,
                     bool lenient, char *why, size_t room);

/** What a launch watches for its user; all zero: nothing, at no cost. */
typedef struct qn_ptx_aids {
    bool check_init;    /**< report reads of memory that nobody wrote */
    bool check_races;   /**< report races in shared memory */
    bool check_sync;    /**< report threads that meet in a way CUDA does not allow */
    bool check_div;     /**< report integer divisions that have no result */
    bool check_bounds;  /**< report elements that a raw array does not have */
    bool check_limits;  /**< report launches that a GPU refuses; not used here */
    bool check_streams; /**< report work that does not wait for what another stream does */
    bool trace;         /**< print what one thread executes, to standard error */
    uint32_t trace_block[3], trace_thread[3];
} qn_ptx_aids;

typedef struct qn_ptx_launch {
    qn_ptx_function *kernel;
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared;
    bool cooperative;
    void *const *parameters; /**< parameters[k] points to the bytes of parameter k */
    qn_memory_map *memory;
    unsigned threads;              /**< host threads to spread blocks over; 0: all cores */
    double limit;                  /**< seconds that it may take; 0: any */
    const atomic_uint *interrupts; /**< counts requests to stop; when it changes, the running launch
                                      ends with QUERN_ERROR_INTERRUPTED. NULL: never */
    qn_ptx_aids aids;
    qn_stream_work *work; /**< for check_streams, else NULL */
} qn_ptx_launch;

/** Execute a launch and wait for it. Errors: QUERN_ERROR_ACCESS, QUERN_ERROR_LAUNCH,
 * QUERN_ERROR_NOT_SUPPORTED (unknown form), QUERN_ERROR_INTERRUPTED; the message names kernel,
 * block, thread, PTX line, address, nearest allocation; the place is given by qn_error_place(). */
quern_status qn_ptx_run(const qn_ptx_launch *launch);
/** Frees what decoding attached to a function. */
void qn_ptx_undecode(qn_ptx_function *function);

#endif /* QN_PTX_H */
