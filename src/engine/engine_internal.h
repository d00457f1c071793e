/* SPDX-License-Identifier: MIT
 *
 * engine: the one place that sees all stages in order.
 *
 *     kernel --bind--> types --plan--> walk --specialize--> source, key, image, function
 *            --marshal--> parameter block --launch--> done
 *
 * A kernel keeps its specializations in a list that only grows, so a call that finds its own takes
 * no lock. Each file below is one stage.
 */
#ifndef QN_ENGINE_H
#define QN_ENGINE_H

#include "array/array_internal.h"
#include "array/fold.h"
#include "array/plan.h"
#include "base/base.h"
#include "base/object.h"
#include "base/prefix.h"
#include "cache/cache_internal.h"
#include "compile/compile.h"
#include "device/device_internal.h"
#include "engine/failure.h"
#include "lang/lang.h"
#include "templates/layout.h"

/* ---- engine.c: one device with a compiler and a cache --------------------------------------- */

/** How elements are copied: as they are, or to another dtype. */
typedef enum qn_copy {
    QN_COPY_SAME,
    QN_COPY_CONVERT,
    QN_COPY_REAL_PART, /**< of a complex number */
    QN_COPY_TRUTH,     /**< whether a complex number is not zero */
    QN_COPIES
} qn_copy;

struct quern_engine {
    qn_home home;               /**< first: see qn_home_of() */
    atomic_flag closed;         /**< quern_close() was called */
    quern_device_methods table; /**< the home's methods: the device's, which may be shorter */
    qn_store *store;
    qn_packs *packs;
    qn_remote *remote;  /**< NULL: none */
    int arch;           /**< compute capability of the device: 90 */
    int native;         /**< the device loads native code; 2: it wants PTX for its compiler */
    char *listing;      /**< the list to note kernels in; NULL: none */
    bool checks_bounds; /**< of raw arrays, by raw_checked.cuh */
    uint32_t processors, shared_bytes; /* the latter: that a block may have */
    pthread_mutex_t workspaces_lock;
    struct qn_workspace *workspaces; /**< free: no launch being queued holds them */
    pthread_mutex_t modules_lock;
    struct qn_module *modules; /**< loaded images, by key; live as long as the engine */
    pthread_mutex_t copy_lock;
    quern_kernel *copies[QN_COPIES]; /**< between layouts and dtypes; made when first needed */
    struct qn_tunings *tunings;      /**< tuning.h */
    atomic_flag opaque_told;         /**< the log says that sources are compiled each time */
    bool tells_launches;             /**< QUERN_LOG is "debug" */
    atomic_uint_fast64_t interrupts; /**< so far */
};

_Static_assert(offsetof(struct quern_engine, home) == 0, "an engine begins with its home");

/* ---- device_headers.c: our device headers --------------------------------------------------- */

/** All of them: what a source includes that is nowhere else is looked for here. */
const qn_header *qn_device_headers(size_t *count);
/** <cuComplex.h> by Quern's complex numbers. */
extern const qn_header qn_cucomplex_header;

/* ---- engine_memory.c: what programs ask about memory ---------------------------------------- */

/** The caller's allocator as ours; NULL: none. */
quern_status qn_allocator_take(quern_allocator *out, const quern_allocator *given);

/* ---- images.c: compiled images of this process, shared by its engines ----------------------- */

/** Called by each engine: the last one to leave frees the images. */
void qn_images_enter(void);
void qn_images_leave(void);
/** A copy of the image of a key made in this process, if there is one. */
bool qn_images_get(const qn_key *key, const char *compiler, qn_image *out);
/** Remember a copy; failure to do so is silent. */
void qn_images_put(const qn_key *key, const char *compiler, const qn_image *image);

/* ---- module_make.c: from source to a loaded module: memory, cache, compiler ----------------- */

typedef enum qn_origin {
    QN_FROM_MEMORY,
    QN_FROM_PACK,
    QN_FROM_CACHE,
    QN_FROM_REMOTE,
    QN_COMPILED
} qn_origin;

/** One loaded image of an engine. */
typedef struct qn_module {
    struct qn_module *next;
    char hex[33];   /**< its key */
    char asked[33]; /**< the key that it was asked for by: another, where it is for an older GPU */
    void *handle;   /**< the device's */
    qn_origin origin;
    char target[16]; /**< "sm_90", "compute_75" */
    char *ptx;       /**< when the image is PTX, else NULL */
    char *warnings;  /**< the compiler's, about the user's texts; "" for none */
    char **lowered;  /**< the mangled name of each name expression */
    size_t lowered_count;
} qn_module;

/** What to compile. */
typedef struct qn_module_request {
    qn_compile_request compile; /**< arch, kind, line_info, minimal and includes are filled in */
    const char *name;           /**< of the kernel: for the cache's list */
    const qn_user_text *user_texts;
    size_t user_text_count;
    bool from_user; /**< the whole source is the user's: its file has a name, and it may use all of
                         CUDA, which takes a little longer */
    bool translate_cucomplex; /**< <cuComplex.h> is the library's */
    bool piece;               /**< to be linked: the caller has set kind and relocatable */
} qn_module_request;

/** Find or make the module of a request. Thread-safe; one thread compiles, others wait. Borrowed:
 * it lives as long as the engine. */
quern_status qn_module_get(qn_module **out, quern_engine *engine, qn_module_request *request);
void qn_modules_free(quern_engine *engine);

/* ---- kernel.c: definitions ------------------------------------------------------------------ */

typedef struct qn_specialization qn_specialization;
typedef struct qn_kind qn_kind;

/** The texts that a definition may have. */
typedef enum qn_text_id {
    QN_OPERATION,
    QN_PREAMBLE,
    QN_LOOP_PREP,
    QN_AFTER_LOOP,
    QN_MAP,
    QN_REDUCE,
    QN_POST,
    QN_IDENTITY,
    QN_REDUCE_TYPE,
    QN_TEXTS
} qn_text_id;

/** What a kernel is made of. */
typedef struct qn_definition {
    const qn_kind *kind;
    const char *in, *out, *name;
    qn_user_text texts[QN_TEXTS]; /**< by qn_text_id; a text may be NULL for none */
    const char *const *options;
    size_t option_count;
    bool separate_axes, ordered, exclusive;
} qn_definition;

/** Names of CuPy's that the texts use, and that no text or header defines itself. */
typedef enum qn_cupy_names {
    QN_NAMES_CARRAY = 1,     /**< CArray, or what only it has: raw parameters are CArrays */
    QN_NAMES_INDEXER = 2,    /**< of `_ind` and its like more than .size() and .get() */
    QN_NAMES_SET = 4,        /**< `_ind` is also moved */
    QN_NAMES_CUPY = 8,       /**< CIndexer, CUPY_FOR, cupy:: */
    QN_NAMES_THRUST = 16,    /**< thrust:: */
    QN_NAMES_CONSTANTS = 32, /**< CUDART_PI and its like */
    QN_NAMES_J = 64,         /**< `_j`, the position in the input of a reduction */
    QN_NAMES_ARRAYS = 128,   /**< `_raw_x`, the whole array of which x is an element */
    QN_NAMES_DIVIDE = 256,   /**< _floor_divide, iszero */
} qn_cupy_names;

struct quern_kernel {
    uint32_t object; /**< QN_OBJECT_KERNEL */
    atomic_uint references;
    const qn_kind *kind;
    quern_engine *engine; /**< retained */
    qn_arena arena;       /**< all text below and the signature */
    qn_signature signature;
    const char *name, *other_name; /**< as given; for the source where that cannot be used there */
    _Atomic(const char *) entry;   /**< which of them the source has */
    const char *parameter_names[QUERN_MAX_PARAMETERS]; /**< those of the signature, terminated */
    const char *parameter_types[QUERN_MAX_PARAMETERS]; /**< as written, terminated */
    qn_user_text texts[QN_TEXTS];                      /**< by qn_text_id; "" for none */
    const char **options;
    size_t option_count;
    quern_dtype value_dtype; /**< that reduce_type or scan_type names; NONE: it names none */
    bool has_identity, separate_axes;
    bool ordered;             /**< values are combined in the order of the axes */
    bool exclusive, blind;    /**< a scan that leaves out the element itself; post sees no input */
    bool uses_position;       /**< the texts use the position, or those along axes */
    bool uses_axes, counts;   /**< the texts use `_ind`, `_in_ind` or `_out_ind`; their size() */
    unsigned names;           /**< qn_cupy_names */
    bool loops, loops_apart;  /**< the texts have loops; and raw arrays, each element its own way */
    qn_loop_facts loop_facts; /**< of the operation; not even: there are loops elsewhere, too */
    const char *unassigned;   /**< the first output that nothing assigns; NULL: none */
    bool assigns_some;        /**< another output may be assigned, or is raw */
    bool uses_atomics, divides, adds; /**< atomics are called; reduce may divide; is `a + b` */
    qn_choice choice; /**< a reduction that only chooses; no field: it may do more */
    uint32_t heavy;   /**< calls of functions that cost much code */
    bool uses_by_address[QUERN_MAX_PARAMETERS]; /**< outputs whose address the operation takes */
    bool uses_reference[QUERN_MAX_PARAMETERS];  /**< raw ones whose elements are referred to */
    bool uses_array[QUERN_MAX_PARAMETERS];      /**< others whose array is named: `_raw_x` */
    _Atomic(uint64_t) fractions_told; /**< a bit per parameter: its scalar's loss was logged */
    const char *warnings;             /**< as reported last; "" for none */
    pthread_mutex_t lock;             /**< to add a specialization, and for `warnings` */
    _Atomic(qn_specialization *) specializations;
    _Atomic(struct qn_recalls *) recalls; /**< calls that are remembered; or NULL: recall.h */
};

/** Refuse a list of more entries than any program has: a count that was never set. */
quern_status qn_check_list(const char *what, size_t count);
/** Check the two lists of parameters of a definition. */
quern_status qn_check_signature(const char *function, const char *in, const char *out);
/** Make a kernel without resetting the error record. */
quern_status qn_kernel_new(quern_kernel **out, quern_engine *engine,
                           const qn_definition *definition);
/** Free a kernel without releasing its engine. Accepts NULL. */
void qn_kernel_destroy(quern_kernel *kernel);

/* ---- study.c, outputs.c, source_names.c: what a kernel's texts do --------------------------- */

/** True when any of the kernel's texts uses an identifier. */
bool qn_kernel_uses(const quern_kernel *kernel, const char *name);
/** True when a text or an option may include a header. */
bool qn_kernel_includes(const quern_kernel *kernel);
/** Find kernel->names and uses_array, before the rest. */
void qn_names_study(quern_kernel *kernel);
/** Find what is asked of the texts in every call. */
void qn_kernel_study(quern_kernel *kernel);
/** Find an output that the kernel surely never assigns, and whether post surely sees no input. */
void qn_outputs_study(quern_kernel *kernel);
/** Refuse the kernel for it, or warn. Called after the compiler, whose findings come first. */
quern_status qn_outputs_judge(const quern_kernel *kernel);

/* ---- resolve.c: the arguments of one call, checked ------------------------------------------ */

/** One call on its way. Large, and on the stack: arrays are valid only up to their counts. */
typedef struct qn_call {
    quern_kernel *kernel;
    const char *entry;    /**< the kernel's, while its source is written */
    quern_stream *stream; /**< NULL: the engine's own */
    uint32_t block_size;  /**< asked for, or 0 */
    qn_types types;
    quern_array *arrays[QUERN_MAX_PARAMETERS]; /**< by parameter; NULL for scalars */
    const quern_value *values;                 /**< by parameter */
    qn_operand operands[QUERN_MAX_PARAMETERS]; /**< arrays that are not raw: inputs, then outputs */
    uint8_t operand_parameter[QUERN_MAX_PARAMETERS];
    uint32_t operand_count;
    uint32_t input_operands;
    int ndim;
    int64_t shape[QUERN_MAX_NDIM], count;
    uint32_t axes;                                /**< bit k: axis k is reduced, or scanned */
    quern_array *owned[2 * QUERN_MAX_PARAMETERS]; /**< allocated here: outputs, copies of inputs */
    uint32_t owned_count;
    bool keepdims;     /**< asked for */
    bool dry;          /**< allocate nothing: arrays without memory */
    bool infers;       /**< dry, and values may be like arrays */
    bool empty;        /**< nothing to do */
    bool structures;   /**< values are structures */
    uint8_t reaches;   /**< not 0: an array that was passed has a reach */
    bool overlaps;     /**< an input was copied because an output overlaps it */
    bool aliased;      /**< an output is exactly an input, and needs no copy */
    bool mapped;       /**< elementwise: `fold` has the walk, by boxes as scans have them */
    uint64_t arranged; /**< bit p: array p lies in another order: it is copied before or after */
    quern_array *from[QUERN_MAX_PARAMETERS]; /**< what it is copied from, or to */
    qn_setting setting;                      /**< of the plan; all 0: as the planner chooses */
    const char *set_by;                      /**< where it came from; NULL: nowhere */
    unsigned tuned_at;                  /**< the engine's qn_tunings.changes when it was found */
    size_t zeroed_bytes, scratch_bytes; /**< of the workspace that the launch needs */
    union {
        qn_plan plan; /**< elementwise, unless it is mapped */
        qn_fold fold; /**< the rest */
    };
} qn_call;

/** What a call is begun for. */
typedef enum qn_call_use {
    QN_TO_LAUNCH,
    QN_TO_EXPLAIN, /**< without memory for what is missing */
    QN_TO_INFER,   /**< the same, and arguments may have none either */
} qn_call_use;

/** Check the arguments, bind types, let the kernel's kind plan the walk, and (to launch it)
 * allocate the missing outputs and copy inputs that an output overlaps. qn_call_end must follow,
 * also after a failure. */
quern_status qn_call_begin(qn_call *call, quern_kernel *kernel, const quern_value *values,
                           size_t count, const quern_call_options *options, qn_call_use use);
/** The same with a setting that the caller knows, or (NULL) as the options say. */
quern_status qn_call_begin_set(qn_call *call, quern_kernel *kernel, const quern_value *values,
                               size_t count, const quern_call_options *options, qn_call_use use,
                               const qn_setting *setting);
/** Publish allocated outputs to their `quern_array **`. */
void qn_call_publish(qn_call *call);
void qn_call_end(qn_call *call);

/* ---- arrange.c: operands that lie in another order than the walk ----------------------------- */

/** Have a planned call copy such inputs first, and such outputs afterwards, where that costs less.
 */
quern_status qn_call_arrange(qn_call *call);
/** The array of parameter `p` as it came. */
static inline quern_array *qn_call_array(const qn_call *call, uint32_t p)
{
    return (call->arranged >> p & 1) != 0 ? call->from[p] : call->arrays[p];
}
/** Before the launch: give the copies memory, and queue the copying. */
quern_status qn_call_lay(qn_call *call);
/** After the launch: queue the copying of outputs. */
quern_status qn_call_carry(const qn_call *call);

/** Fail with `what` is wrong with the argument of parameter `p`. */
quern_status qn_call_fail_argument(quern_status status, const qn_call *call, uint32_t p,
                                   const char *what);

/* ---- call_records.c: records, and elements off their alignment ------------------------------- */

/** Take a record by value. One that states its dtype counts as a scalar. */
quern_status qn_call_take_record(qn_call *call, uint32_t p, qn_argument_type *type);
/** Check structures against the parameters they are for, once those have types. */
quern_status qn_call_check_records(const qn_call *call);
/** Refuse texts that refer to elements which lie off their alignment. */
quern_status qn_call_check_reach(const qn_call *call);

/* ---- pack_bytes.c: for the plans of the kinds ----------------------------------------------- */

/** Bytes that a pack may take: fewer for costly texts, none for loops of each element's own. */
uint32_t qn_call_pack_bytes(const qn_call *call, uint32_t operand_count);

/* ---- kinds: what differs between elementwise kernels, reductions and scans ------------------ */

#define QN_MAX_HEADERS 64
#define QN_FORM_BYTES  (136 + 5 * QUERN_MAX_PARAMETERS)
struct qn_parameter_block;

struct qn_kind {
    quern_kernel_kind number;
    const char *position;   /**< what the texts call it: "i" */
    bool outputs_broadcast; /**< those that are given take part in the loop's shape */
    bool has_axes;          /**< axes may be chosen */
    bool in_place;          /**< an output may be exactly an input */
    bool arranges;          /**< inputs in another order may be copied first */
    /** Optional: refuse a definition whose signature has been read. */
    quern_status (*check)(const quern_kernel *kernel);
    /** Optional: refuse options that are for other kinds. */
    quern_status (*check_options)(const quern_kernel *kernel, const quern_call_options *options);
    /** Optional: shape and number of elements of the outputs, if they differ from the loop's. The
     * call's loop and axes are known. Errors: no such outputs can exist. */
    quern_status (*output_shape)(int *ndim, int64_t *shape, int64_t *count, const qn_call *call);
    /** Plan the walk of a call whose operands are all there and have elements. */
    void (*plan)(qn_call *call);
    /** Optional: mend what the code does not know: a processor has so many blocks at once. */
    void (*fit)(qn_call *call, uint32_t blocks);
    /** What part of the plan shapes the source, as at most QN_FORM_BYTES bytes; returns how
     * many. */
    size_t (*form)(uint8_t *bytes, const qn_call *call);
    /** Write the source; `headers` (room for QN_MAX_HEADERS) receives what it includes. */
    quern_status (*source)(qn_text *out, const qn_call *call, qn_header *headers,
                           size_t *header_count);
    /** Grid and block; all else is zero. Errors: a block size that the function or the device
     * cannot have. */
    quern_status (*geometry)(quern_launch_config *config, const qn_call *call,
                             const qn_specialization *specialization);
    /** Where the walk over each operand starts. */
    char *const *(*bases)(const qn_call *call);
    /** Pack the parameters that follow those of the signature. */
    quern_status (*walk)(struct qn_parameter_block *block, const qn_call *call);
    /** The plan, for people. */
    void (*print)(qn_text *out, const qn_call *call);
};

extern const qn_kind qn_elementwise_kind; /**< kind_elementwise.c */
extern const qn_kind qn_reduction_kind;   /**< kind_reduction.c */
extern const qn_kind qn_scan_kind;        /**< kind_scan.c */

/* ---- specialize.c: a kernel for particular dtypes and a plan's form ------------------------- */

/** Of an operand as a CArray in the shape of the call: its elements lie in C order without gaps;
 * its offsets fit 32 bits. */
bool qn_call_array_is_contiguous(const qn_call *call, uint32_t parameter);
bool qn_call_array_is_narrow(const qn_call *call, uint32_t parameter);

struct qn_specialization {
    qn_specialization *next;
    void *function;       /**< the device's */
    uint32_t max_threads; /**< of a block of it */
    uint32_t held;        /**< blocks that a processor has at once, if its kind fits; 0: unknown */
    qn_module *module;    /**< borrowed from the engine */
    char *source;
    size_t signature_size;
    uint8_t signature[]; /**< what it is for: see specialize.c */
};

quern_status qn_specialize(qn_specialization **out, qn_call *call);
void qn_specializations_free(quern_kernel *kernel);

/* ---- listing.c: what a program asks for, as a list that `quern build` compiles --------------- */

/** The file that QUERN_RECORD names; NULL: none. */
const char *qn_listing_path(void);
/** Note a call, or a module, in engine->listing. A failure is logged. */
void qn_listing_call(const qn_call *call);
void qn_listing_module(quern_engine *engine, const char *source, const char *file_name,
                       const quern_module_options *options);

/* ---- device_layout.c: the parameter block, and the structures in it ------------------------- */

#define QN_PARAMETER_BYTES 4096 /**< of all parameters of a kernel: the limit of every driver */

typedef struct qn_parameter_block {
    void *pointers[QUERN_MAX_PARAMETERS + 2];
    uint32_t offsets[QUERN_MAX_PARAMETERS + 2];
    uint32_t count, used;
    uint32_t extra; /**< bytes of `used` that only raw_checked.cuh needs: they do not count */
    _Alignas(16) unsigned char bytes[QN_PARAMETER_BYTES + 8 * QUERN_MAX_PARAMETERS];
} qn_parameter_block;

/** Room for the next parameter. Errors: QUERN_ERROR_NOT_SUPPORTED when the block is full. */
quern_status qn_block_reserve(unsigned char **out, qn_parameter_block *block, const qn_call *call,
                              uint32_t bytes, uint32_t alignment);

/* The fields of templates/layout.h on the host: numbers, whatever their width on the device. */
#define QN_NUMBER(name)      int64_t name;
#define QN_NUMBERS(name, n)  const int64_t *name;
#define QN_POINTER(name)     const void *name;
#define QN_DIVIDERS(name, n) int64_t name[QUERN_MAX_NDIM];
#define QN_TABLE(name, n, m) const int64_t(*name)[QUERN_MAX_NDIM];

typedef struct qn_space {
    QUERN_SPACE(QN_NUMBER, QN_NUMBER, QN_DIVIDERS, QN_TABLE, , )
} qn_space;

typedef struct qn_fold_fields {
    QUERN_FOLD(QN_NUMBER, QN_DIVIDERS, QN_TABLE, , )
} qn_fold_fields;

typedef struct qn_raw_array {
    QUERN_RAW_CHECKED(QN_NUMBER, QN_NUMBERS, QN_POINTER, )
} qn_raw_array;

/** Add quern::space to the parameters: numbers of 8 bytes where `wide`, else of 4; `dims` outer
 * dimensions. */
quern_status qn_put_space(qn_parameter_block *block, const qn_call *call, const qn_space *fields,
                          bool wide, int dims);
/** Add quern::fold. `operands`: rows of strides. */
quern_status qn_put_fold(qn_parameter_block *block, const qn_call *call,
                         const qn_fold_fields *fields, bool wide, int dims, int operands);
/** Add quern::raw_array, or where `checked` that of raw_checked.cuh, whose extra fields do not
 * count towards QN_PARAMETER_BYTES. */
quern_status qn_put_raw_array(qn_parameter_block *block, const qn_call *call,
                              const qn_raw_array *fields, bool checked, int dims);

/* ---- marshal.c: the parameters of a call ---------------------------------------------------- */

/** Pack arguments and the walk in the order of the generated kernel's parameters: those of the
 * signature, the walk, and the address of the workspace where there is one. */
quern_status qn_marshal(qn_parameter_block *block, const qn_call *call, void *workspace);
/** Pack one scalar again. */
quern_status qn_marshal_scalar(void *bytes, quern_kernel *kernel, uint32_t parameter,
                               quern_dtype dtype, const quern_value *value);

typedef struct qn_workspace qn_workspace; /**< workspace.h */

/* ---- call.c, ask.c, bound.c, explain_call.c, values_keep.c ---------------------------------- */

/** Prepare a launch: grid, parameters and, if one is needed (else NULL), a workspace, which the
 * caller gives back or frees. */
quern_status qn_call_pack(qn_parameter_block *block, quern_launch_config *config,
                          qn_workspace **workspace, const qn_call *call,
                          const qn_specialization *specialization);
/** Arrays, textures and surfaces among these are used by work on `stream`, which is being captured:
 * the graph keeps them. */
quern_status qn_values_keep(const quern_value *values, size_t count, quern_stream *stream);
/** Compile what a call needs, whose values are as for quern_kernel_infer(). */
quern_status qn_kernel_prepare(quern_kernel *kernel, const quern_value *values, size_t count,
                               const quern_call_options *options);
/** What quern_call_n() does, without resetting the error record. */
quern_status qn_call_run(quern_kernel *kernel, const quern_value *values, size_t count,
                         const quern_call_options *options);

/* ---- copy.c, transfer.c, assign.c: elements between arrays, and from and to the host --------- */

/** What quern_array_copy() does, without resetting the error record. */
quern_status qn_array_copy(quern_array **out, quern_array *array);
/** Copy elements between two arrays of one engine, dtype and shape, any strides, in the order of
 * `stream` (NULL: the engine's own). */
quern_status qn_array_copy_to(quern_array *to, quern_array *from, quern_stream *stream);
/** The same by a kernel, to the dtype of `to`. The two may overlap. */
quern_status qn_array_convert_to(quern_array *to, quern_array *from, qn_copy how,
                                 quern_stream *stream);
/** Refuse a view whose elements share memory: which of them would count? */
quern_status qn_array_check_distinct(const quern_array *array);

/* ---- tell.c: what an engine does, as messages ----------------------------------------------- */

void qn_tell_opened(quern_engine *engine, const quern_device_info *info);
/** Where the image of `module` came from. */
void qn_tell_image(quern_engine *engine, const char *name, const qn_module *module,
                   const qn_image *image);
void qn_tell_compiled(quern_engine *engine, const char *name, const qn_image *image);
/** Only where engine->tells_launches. */
void qn_tell_launch(quern_engine *engine, const char *name, const quern_launch_config *config);

#endif /* QN_ENGINE_H */
