/* SPDX-License-Identifier: MIT
 *
 * run: the executor's own declarations. A function is decoded once into flat operations (qn_op) and
 * a pool of constants; a launch (qn_run) spreads blocks over host threads; a block holds warps; a
 * warp executes 32 lanes at once, split into groups of lanes that are at the same place.
 *
 * An address is a host pointer in every space but shared, where it is an offset in the block's
 * shared memory. Local memory is one contiguous arena per lane. The parameters of a kernel are in
 * one block per launch; those of called functions are in their frame, one copy per lane.
 */
#ifndef QN_RUN_H
#define QN_RUN_H

#include "ptx/lanes/lanes.h"
#include "ptx/lanes/memory_lanes.h"
#include "ptx/ptx.h"
#include "ptx/run/snapshot.h"

#include <time.h>

#define QN_ALL_LANES  0xffffffffu
#define QN_LINE       256 /* bytes of one 64-bit operand for all lanes */
#define QN_CALL_DEPTH 1024
#define QN_HITS       8
#define QN_BARRIERS   16
#define QN_CLUSTER    QN_BARRIERS /* of groups that wait at the cluster's barrier */

typedef struct qn_op qn_op;
typedef struct qn_code qn_code;
typedef struct qn_warp qn_warp;
typedef struct qn_block qn_block;
typedef struct qn_run qn_run;
typedef struct qn_watch qn_watch;   /* watch.h */
typedef struct qn_shadow qn_shadow; /* shadow.h */
typedef struct qn_source qn_source;

/* ---- decode.c, decode_*.c: functions become operations -------------------------------------- */

/** Where an operand lies: an offset in the frame, or with QN_IN_POOL in the pool of constants. */
typedef uint32_t qn_place;
#define QN_IN_POOL  0x80000000u
#define QN_NO_PLACE 0xffffffffu
/** Bytes after the last place of frames and pools: an instruction may name a register that is
 * narrower than what it works on, and then reaches no further than the widest register would. */
#define QN_PLACE_MARGIN 512u

/** Executes `op` for the lanes of `mask`; false after qn_fault. */
typedef bool (*qn_op_function)(qn_warp *warp, const qn_op *op, uint32_t mask);

/** Everything but the first three moves lanes about and is done by the warp's loop itself. */
typedef enum qn_op_kind {
    QN_OP_LANES,      /**< d = lanes(a, b, c) */
    QN_OP_FUNCTION,   /**< function(warp, op, mask) */
    QN_OP_LANES_MORE, /**< d = lanes(a, b, {c, extra place}) */
    QN_OP_BRANCH,     /**< lanes whose predicate a (xor flip) holds go to `target` */
    QN_OP_JUMP,       /**< all lanes go to `target` */
    QN_OP_BRANCH_INDEX,
    QN_OP_CALL,
    QN_OP_RETURN,
    QN_OP_EXIT,
    QN_OP_BARRIER, /**< function arrives; lanes may have to wait */
    QN_OP_SYNC,    /**< operations of a warp with a member mask */
} qn_op_kind;

struct qn_op {
    union {
        qn_lane_function lanes;
        qn_op_function function;
    };
    qn_place d, a, b, c;
    qn_place guard;      /**< predicate, or QN_NO_PLACE */
    uint32_t guard_flip; /**< all ones: negated */
    uint32_t origin;     /**< index of the PTX instruction, for reports */
    uint32_t target;     /**< operation to go to; or one more place */
    uint8_t kind, space, bits, count;
    uint32_t flags; /**< run_forms.h */
    union {
        int64_t offset;   /**< of an address; or a number that the function understands */
        qn_place members; /**< of a sync: the member mask */
    };
    const void *extra; /**< what else the function needs, in the code's arena */
};

/** What must be put into the pool of a kernel for each launch. */
typedef enum qn_patch_kind {
    QN_PATCH_PARAM,         /**< value of parameter bytes at `offset` */
    QN_PATCH_PARAM_ADDRESS, /**< address of them */
    QN_PATCH_DIMENSION,     /**< `offset` 0..2: %ntid, 3..5: %nctaid */
    QN_PATCH_DYNAMIC,       /**< address in dynamic shared memory, plus `offset` */
} qn_patch_kind;

typedef struct qn_patch {
    uint8_t kind;
    uint8_t memory_bits, register_bits;
    bool is_signed;
    uint32_t place; /**< in the pool */
    int64_t offset;
} qn_patch;

/** What the decoded form of a function is for besides executing it. */
enum {
    QN_CODE_WATCHED = 1,  /**< operations around barriers inform the watch */
    QN_CODE_TRACED = 2,   /**< operations before and after each instruction print it */
    QN_CODE_SHADOWED = 4, /**< operations before others compute undefined bits; shadow.h */
    QN_CODE_CHECKED = 8,  /**< operations before divisions check them */
    QN_CODE_INDEXED = 16, /**< operations before accesses to raw arrays check them; element.h */
};

struct qn_code {
    const qn_ptx_function *function;
    unsigned kind; /**< flags of the enum above */
    qn_arena arena;
    qn_op *ops;
    uint32_t count;
    unsigned char *pool; /**< constants, each broadcast to 32 lanes */
    uint32_t pool_bytes;
    qn_patch *patches;
    uint32_t patch_count;
    uint32_t frame_bytes;  /**< registers, then lines of special registers and scratch */
    uint32_t first_number; /**< of its instructions, counted through all functions from 1 */
    uint32_t shadow_count; /**< shadows of registers; number 0 stands for what is always defined */
    uint32_t lines[6];     /**< of the kernel's frame: %tid.xyz, %ctaid.xyz; 0: unused */
    qn_range *variables;   /**< kernels: .global and .const variables of the module, sorted */
    size_t variable_count;
    bool stack; /**< kernels: calls, or alloca, may need local memory beyond their own */
    _Atomic(unsigned char *) spare_pool; /**< a kernel's patched pool that no launch uses now */
};

/** A decoded form of a function, decoded at the first use. Thread-safe. */
quern_status qn_code_get(const qn_code **out, const qn_ptx_function *function, unsigned kind);
/** Broadcast `bits` to all lanes of a place that holds registers of `register_bits`. */
void qn_broadcast(void *place, unsigned register_bits, uint64_t low, uint64_t high);

/* ---- memory_map.c: which host memory a kernel may touch ------------------------------------- */

/** NULL when out of memory. */
qn_snapshot *qn_memory_map_snapshot(qn_memory_map *map);
void qn_snapshot_release(qn_snapshot *snapshot);
/** Changes whenever the map does. */
uint64_t qn_memory_map_version(const qn_memory_map *map);
/** The range with the greatest begin that is not after `address`; NULL: none. The other: the first
 * that begins after it. */
const qn_range *qn_range_before(const qn_range *ranges, size_t count, uint64_t address);
const qn_range *qn_snapshot_before(const qn_snapshot *snapshot, uint64_t address);
const qn_range *qn_snapshot_after(const qn_snapshot *snapshot, uint64_t address);
/** A recently removed range that contained `address`. */
bool qn_memory_map_freed(qn_memory_map *map, uint64_t address, qn_range *out);

/* ---- memory_check.c, memory_access.c, memory_atomic.c --------------------------------------- */

/** Addresses of an access of `bytes` per lane, checked; false after a report. */
bool qn_access_prepare(qn_warp *warp, const qn_op *op, uint32_t mask, unsigned bytes,
                       qn_access_kind kind, qn_addresses *out);
/** One address of the generic space that builtins were given; false after a report. */
bool qn_access_check(qn_warp *warp, const qn_op *op, unsigned lane, uint64_t address,
                     uint64_t bytes, qn_access_kind kind);
/** The range of global memory that holds `address`, NULL: none. A piece of the heap, which may be
 * freed at any time, is put into `piece`. */
const qn_range *qn_access_range(const qn_warp *warp, uint64_t address, qn_range *piece);
/** How many bytes from `address` a lane may read; 0: none. */
uint64_t qn_access_extent(qn_warp *warp, unsigned lane, uint64_t address);

bool qn_run_load(qn_warp *warp, const qn_op *op, uint32_t mask);
bool qn_run_store(qn_warp *warp, const qn_op *op, uint32_t mask);
bool qn_run_atomic(qn_warp *warp, const qn_op *op, uint32_t mask);
bool qn_run_async_copy(qn_warp *warp, const qn_op *op, uint32_t mask);
/** May this lane's compare-and-swap of two bytes go on, when only those in `live` (bit 0, bit 1)
 * are memory? Yes, if one of them is and the other would not be changed. */
bool qn_atomic_at_edge(qn_warp *warp, const qn_op *op, unsigned lane, unsigned live);
/** The bytes that an atomic is about. For a compare-and-swap of two bytes, only those that it
 * changes, so that swapping a byte together with its neighbour is no access to the neighbour. In:
 * the bytes of the access. Returns how many; the first is `*first` bytes past the address. */
unsigned qn_atomic_bytes(qn_warp *warp, const qn_op *op, unsigned lane, unsigned bytes,
                         unsigned *first);

/** For atomics: operation and type; `addition` for floating point of 16 bits. */
typedef struct qn_atomic {
    uint8_t form;  /**< run_forms.h */
    uint8_t order; /**< qn_order_word; for launches that are watched */
    char letter;   /**< u, s, b, f; B bf16; h, H: two of f16, bf16 */
    uint8_t bits;
    qn_lane_function addition;
    uint32_t shadows[3]; /**< of a shadowed form: of d, b and c; shadow.h */
} qn_atomic;

/** For loads and stores: how, and the places of their registers. */
typedef struct qn_transfer {
    const qn_element *element;
    const qn_vector *vector; /**< NULL: element by element */
    qn_place places[8];      /**< QN_NO_PLACE: `_` */
    uint8_t order;           /**< qn_order_word; for launches that are watched */
    uint32_t shadows[8];     /**< of a shadowed form: of the registers; shadow.h */
    uint32_t upper[8];       /**< for registers of 128 bits, that of the upper half */
} qn_transfer;

/** What an access says about its order among threads. With any of these it is one access for all
 * threads, like an atomic. */
enum qn_order_word { QN_ORDER_STRONG = 1, QN_ORDER_ACQUIRE = 2, QN_ORDER_RELEASE = 4 };

/* ---- run_warp.c, run_group.c: 32 lanes ------------------------------------------------------ */

/** The registers of one call. */
typedef struct qn_frame {
    struct qn_frame *caller; /**< NULL: the kernel itself */
    const qn_code *code;
    const qn_op *call; /**< the caller's operation; lanes return to the one after it */
    unsigned char *registers, *pool;
    unsigned char *params; /**< lane l's copy at l * param_stride */
    uint32_t param_stride;
    uint32_t lanes; /**< that have not returned */
    uint32_t depth;
    uint64_t local_base, local_top; /**< in the lanes' local memory */
    uint32_t *undefined; /**< for each shadow: lanes with undefined bits; NULL: there are none */
    qn_shadow *shadows;
    unsigned char *param_bits; /**< for each byte of `params`: the bits that are undefined */
    qn_source *param_from;     /**< and where the byte is from */
    struct qn_frame *next_free, *next; /**< in the list of free ones; of all of a host thread */
    uint64_t capacity;
} qn_frame;

typedef enum qn_group_state { QN_READY, QN_AT_BARRIER, QN_AT_SYNC } qn_group_state;

/** Lanes at the same place of the same frame. */
typedef struct qn_group {
    const qn_op *next;
    qn_frame *frame;
    uint32_t mask;
    uint32_t stamp;   /**< when it last used up its turn */
    uint32_t members; /**< at a sync: the lanes waited for */
    uint16_t depth;
    uint8_t state, barrier;
} qn_group;

struct qn_warp {
    unsigned char *base[2]; /**< registers of the current frame; its pool */
    qn_frame *frame;
    qn_block *block;
    qn_run *run;
    uint32_t carry;           /**< condition code, one bit per lane */
    uint32_t live;            /**< lanes that have not exited */
    uint32_t lanes;           /**< that exist */
    uint32_t cluster_arrived; /**< lanes that have arrived at the cluster's barrier */
    uint32_t index, first_thread;
    struct {
        uint64_t begin, bytes;
    } hits[QN_HITS];      /**< ranges hit last, by the operation that hit them */
    unsigned char *local; /**< lane l's at l * run->local_stride */
    uint32_t fuel, stamp;
    bool fair; /**< the group that has waited longest is next, not the lowest */
    uint32_t current, count;
    qn_group groups[QN_LANES];
    qn_frame root;
    uint64_t exchange[QN_LANES]; /**< values that lanes bring to a warp operation */
    uint32_t thread[3][QN_LANES];
};

typedef enum qn_turn { QN_TURN_DONE, QN_TURN_WAITING, QN_TURN_OVER, QN_TURN_FAULT } qn_turn;

/** Run until all lanes exited, all wait, or the turn is used up. */
qn_turn qn_warp_run(qn_warp *warp);

static inline void *qn_at(const qn_warp *warp, qn_place place)
{
    return warp->base[place >> 31] + (place & ~QN_IN_POOL);
}

/** Choose the group to run and merge it with those at its place; false: none is ready. */
bool qn_group_pick(qn_warp *warp);
/** The least operation of another ready group that the current one must not run past. */
const qn_op *qn_group_limit(const qn_warp *warp);
/** Add a ready group. */
qn_group *qn_group_add(qn_warp *warp, const qn_op *next, qn_frame *frame, uint32_t mask);
void qn_group_remove(qn_warp *warp, uint32_t index);
/** Make `frame` the one that places refer to. */
void qn_warp_enter(qn_warp *warp, qn_frame *frame);

/* run_call.c: control operations on the current group; false after a report. */
bool qn_run_call(qn_warp *warp, const qn_op *op, uint32_t mask);
void qn_run_return(qn_warp *warp, uint32_t mask);
void qn_run_exit(qn_warp *warp, uint32_t mask);

typedef struct qn_call_copy {
    uint32_t caller_offset, bytes;
} qn_call_copy;
/** What a call marshals. */
typedef struct qn_call_info {
    const qn_ptx_function *callee; /**< NULL: the address is in place a */
    uint32_t parameter_count, return_count;
    const qn_call_copy *parameters, *returns;
} qn_call_info;

/* run_builtin.c: functions that the device itself provides. */
typedef bool (*qn_builtin)(qn_warp *warp, const qn_op *op, uint32_t mask);
qn_builtin qn_builtin_find(const char *name, uint32_t parameter_count);
/** Is there a builtin of this name? Is this function one? */
bool qn_builtin_is(const char *name);
bool qn_builtin_runs(qn_builtin function);

/* run_sync.c, run_barrier.c */
/** All sync operations: returns false after a report; lanes may have to wait (see the group). */
bool qn_run_sync(qn_warp *warp, const qn_op *op, uint32_t mask);
/** The common case: all lanes have come to a shuffle, a vote or a barrier of all. False: nothing
 * was done, and qn_run_sync must be called. */
bool qn_sync_at_once(const qn_warp *warp, const qn_op *op, uint32_t mask);
bool qn_run_barrier(qn_warp *warp, const qn_op *op, uint32_t mask);
/** Lanes exited: barriers and syncs may now be complete. */
void qn_barrier_recheck(qn_block *block);
void qn_sync_recheck(qn_warp *warp);

/* run_move.c */
bool qn_run_pack(qn_warp *warp, const qn_op *op, uint32_t mask);
bool qn_run_unpack(qn_warp *warp, const qn_op *op, uint32_t mask);
bool qn_run_address(qn_warp *warp, const qn_op *op, uint32_t mask);
bool qn_run_convert_shared(qn_warp *warp, const qn_op *op, uint32_t mask);
bool qn_run_is_space(qn_warp *warp, const qn_op *op, uint32_t mask);
bool qn_run_alloca(qn_warp *warp, const qn_op *op, uint32_t mask);

/* run_special.c */
bool qn_run_special(qn_warp *warp, const qn_op *op, uint32_t mask);
/** The time of a clock of the host. */
uint64_t qn_nanoseconds(clockid_t clock);
/** Index of a special register for qn_run_special, -1: unknown. */
int qn_special_find(const char *name, unsigned *bits);

/* ---- run_block.c: a block ------------------------------------------------------------------- */

typedef struct qn_barrier {
    uint32_t arrived;  /**< lanes */
    uint32_t expected; /**< 0: all lanes of the block */
    uint32_t trues;    /**< lanes whose predicate held, of a reduction */
} qn_barrier;

typedef struct qn_worker qn_worker;

struct qn_block {
    qn_run *run;
    qn_worker *worker;
    uint64_t number;
    uint32_t index[3];
    uint32_t live; /**< lanes of all warps that have not exited */
    uint32_t warp_count;
    bool done;
    qn_warp *warps;
    unsigned char *shared; /**< run->shared_bytes */
    unsigned char *local;  /**< of all lanes; NULL: none is needed */
    uint64_t local_bytes;
    qn_barrier barriers[QN_BARRIERS];
    qn_text output;              /**< of printf */
    qn_watch *watch;             /**< NULL: nothing is watched */
    struct qn_meeting *meetings; /**< of each lane; NULL: they are not checked */
};

/** False: out of memory. */
bool qn_block_new(qn_block **out, qn_worker *worker, qn_run *run);
void qn_block_free(qn_block *block);
/** Begin block `number` in this memory. */
void qn_block_begin(qn_block *block, uint64_t number);
/** Give each warp a turn; false after a fault. Sets block->done. */
bool qn_block_turn(qn_block *block);

/* ---- check_sync.c: threads that meet as CUDA does not allow; needs block->meetings ---------- */

/** Where a lane last met others, and where it exited. */
typedef struct qn_meeting {
    const qn_op *op, *left; /**< NULL: nowhere; it has not exited */
    const qn_code *code, *left_code;
    uint32_t members; /**< that it named */
} qn_meeting;

/** A new block begins. */
void qn_check_begin(qn_block *block);
/** Lanes of the current group exit. */
void qn_check_left(qn_warp *warp, uint32_t mask);
/** Lanes arrive at an operation of their warp with these masks; false after a report. */
bool qn_check_masks(qn_warp *warp, const qn_op *op, uint32_t mask, const uint32_t *members);
/** The operation is complete for `mask`, which named `named`, of whom `present` came; false after a
 * report. */
bool qn_check_met(qn_warp *warp, const qn_frame *frame, const qn_op *op, uint32_t mask,
                  uint32_t named, uint32_t present);
/** A barrier is complete, and those that wait still do; false after a report. */
bool qn_check_barrier(qn_block *block, unsigned id);

/* ---- run.c: a launch ------------------------------------------------------------------------ */

typedef struct qn_fault_record {
    bool happened;
    quern_status status;
    char *message;
    const char *file;
    uint32_t line, column;
} qn_fault_record;

typedef struct qn_output {
    uint64_t block;
    size_t order; /**< in which it was handed over */
    char *text;
    size_t length;
} qn_output;

struct qn_run {
    const qn_ptx_launch *launch;
    const qn_ptx_function *kernel;
    const qn_code *code;
    unsigned char *pool;   /**< the kernel's, patched */
    unsigned char *params; /**< the parameters' block */
    uint64_t workspace[8]; /**< of the grid, for cooperative launches */
    qn_range workspace_range;
    uint32_t block_threads;
    uint32_t shared_bytes, dynamic_base;
    bool watched;              /**< each block has a watch */
    struct qn_trace *trace;    /**< trace.h; NULL: none */
    uint32_t shared_unwatched; /**< bytes of which only bounds are checked: all, or none */
    uint64_t local_stride;
    uint64_t block_count;
    atomic_uint_fast64_t next_block, finished_blocks;
    atomic_bool ended;          /**< a fault or a stop: everyone leaves */
    uint64_t deadline;          /**< of the host's monotonic clock, in nanoseconds; 0: none */
    unsigned interrupts_before; /**< what the launch's count of interrupts was when it began */
    pthread_mutex_t lock;       /**< of what follows */
    qn_fault_record fault;
    QN_LIST(qn_output) outputs;
    size_t output_held; /**< bytes of all */
};

/** One host thread of a launch. */
struct qn_worker {
    qn_run *run;
    qn_snapshot *snapshot; /**< renewed when an address is not found in it */
    qn_frame *free_frames, *frames;
    uint64_t frame_bytes; /**< of all frames */
};

/** True when this launch must end; looks at the caller's interrupts as well. */
bool qn_run_should_end(qn_run *run);
void qn_run_out_of_memory(qn_run *run);

/* ---- run_output.c --------------------------------------------------------------------------- */

/** Take over what a block has printed. */
void qn_run_output(qn_run *run, qn_block *block);
/** Print what is held when the launch is over. */
void qn_run_print(qn_run *run);

/* ---- run_blocks.c --------------------------------------------------------------------------- */

/** Take blocks of the launch and run them until none is left. */
void qn_run_blocks(qn_worker *worker);

/* ---- run_threads.c: host threads ------------------------------------------------------------ */

/** Call work(context) on this thread and on up to `extra` others, and wait for all. */
void qn_threads_run(unsigned extra, void (*work)(void *context), void *context);
unsigned qn_threads_available(void);

/* ---- run_report.c --------------------------------------------------------------------------- */

/** Record a failure of lane `lane` at `op`. Always false, so that functions can return it. */
bool qn_fault(qn_warp *warp, const qn_op *op, unsigned lane, quern_status status,
              const char *format, ...) QN_PRINTF(5, 6);
/** The same for a sentence that itself says where. */
bool qn_fault_placed(qn_warp *warp, const qn_op *op, unsigned lane, quern_status status,
                     const char *what);
/** Add what a range is called: its label, or "40 bytes from malloc". */
void qn_print_range(qn_text *out, const qn_range *range);
/** Add "operation:1:5 (PTX line 30)" for an operation of a frame. */
void qn_print_place(qn_text *out, const qn_frame *frame, const qn_op *op);
/** The innermost place of a location that is in no header: most likely the user's own text. 0:
 * there is none. */
uint32_t qn_user_location(const qn_ptx_module *module, uint32_t location);
/** "read", "write", "atomic access" */
const char *qn_access_name(qn_access_kind kind);
/** Report an access; says what lies near the address. */
bool qn_fault_access(qn_warp *warp, const qn_op *op, unsigned lane, uint64_t address,
                     uint64_t bytes, qn_access_kind kind);

/* ---- run_stuck.c ---------------------------------------------------------------------------- */

/** Report a block of which every thread waits. Always false. */
bool qn_report_deadlock(qn_block *block);
/** Report a block that is not done when the launch's time is up. Always false. */
bool qn_report_limit(qn_block *block);

static inline unsigned qn_first_lane(uint32_t mask)
{
    return (unsigned)__builtin_ctz(mask);
}

#endif /* QN_RUN_H */
