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

#include "array/array.h"
#include "array/plan.h"
#include "base/base.h"
#include "base/object.h"
#include "cache/cache.h"
#include "compile/compile.h"
#include "device/device.h"
#include "lang/lang.h"

/* ---- engine.c: one device with a compiler and a cache --------------------------------------- */

struct quern_engine {
    uint32_t object; /**< QN_OBJECT_ENGINE */
    atomic_uint references;
    atomic_flag closed; /**< quern_close() was called */
    const quern_device_methods *methods;
    quern_device *device;
    void *stream; /**< the device's handle */
    qn_store *store;
    qn_logger logger;
    int arch;   /**< compute capability of the device: 90 */
    int native; /**< the device loads native code */
    pthread_mutex_t modules_lock;
    struct qn_module *modules; /**< loaded images, by key; live as long as the engine */
    pthread_mutex_t copy_lock;
    quern_kernel *copy; /**< copies between layouts; made when first needed */
    atomic_uint_fast64_t compiled;
    atomic_uint_fast64_t compile_us;
};

struct quern_stream {
    uint32_t object;      /**< QN_OBJECT_STREAM */
    quern_engine *engine; /**< retained */
    void *handle;
    bool foreign;
};

/** qn_engine_copy() in the order of `stream`. */
quern_status qn_engine_copy_on(quern_engine *engine, quern_array *to, quern_array *from,
                               quern_stream *stream);

/** The device's handle of a stream, or of the engine's own. */
static inline void *qn_stream_handle(const quern_engine *engine, const quern_stream *stream)
{
    return stream != NULL ? stream->handle : engine->stream;
}

/* ---- images.c: compiled images of this process, shared by its engines ----------------------- */

/** Called by each engine: the last one to leave frees the images. */
void qn_images_enter(void);
void qn_images_leave(void);
/** A copy of the image of a key made in this process, if there is one. */
bool qn_images_get(const qn_key *key, const char *compiler, qn_image *out);
/** Remember a copy; failure to do so is silent. */
void qn_images_put(const qn_key *key, const char *compiler, const qn_image *image);

/* ---- module.c: from source to a loaded module: memory, cache, compiler ---------------------- */

typedef enum qn_origin { QN_FROM_MEMORY, QN_FROM_CACHE, QN_COMPILED } qn_origin;

/** One loaded image of an engine. */
typedef struct qn_module {
    struct qn_module *next;
    char hex[33];
    void *handle; /**< the device's */
    qn_origin origin;
    char target[16]; /**< "sm_90", "compute_75" */
    char *ptx;       /**< when the image is PTX, else NULL */
    char **lowered;  /**< the mangled name of each name expression */
    size_t lowered_count;
} qn_module;

typedef struct qn_module_request {
    qn_compile_request compile; /**< arch, kind, line_info and minimal are filled in here */
    const char *name;           /**< of the kernel: for the cache's list */
    const qn_user_text *user_texts;
    size_t user_text_count;
    bool all_of_cuda; /**< compile with everything that NVRTC has, which takes a little longer */
} qn_module_request;

/** Find or make the module of a request. Thread-safe; one thread compiles, others wait. Borrowed:
 * it lives as long as the engine. */
quern_status qn_module_get(qn_module **out, quern_engine *engine, qn_module_request *request);
void qn_modules_free(quern_engine *engine);

/* ---- kernel.c: definitions ------------------------------------------------------------------ */

typedef struct qn_specialization qn_specialization;

struct quern_kernel {
    uint32_t object; /**< QN_OBJECT_KERNEL */
    atomic_uint references;
    quern_engine *engine; /**< retained */
    qn_arena arena;       /**< all text below and the signature */
    qn_signature signature;
    char *name, *preamble, *operation, *loop_prep, *after_loop;
    char **options;
    uint32_t option_count;
    bool uses_position; /**< the texts use `i` or `_ind` */
    bool uses_axes;     /**< the texts use `_ind` */
    bool keep_dims;
    bool loops;                                 /**< the texts have loops */
    bool uses_atomics;                          /**< the texts call atomic functions */
    uint32_t heavy;                             /**< calls of functions that cost much code */
    bool uses_by_address[QUERN_MAX_PARAMETERS]; /**< outputs whose address the operation takes */
    pthread_mutex_t lock;                       /**< to add a specialization */
    _Atomic(qn_specialization *) specializations;
};

/** What quern_elementwise() does, without resetting the error record. */
quern_status qn_kernel_new(quern_kernel **out, quern_engine *engine, const char *in,
                           const char *result, const char *operation,
                           const quern_kernel_options *options);
/** Free a kernel without releasing its engine. Accepts NULL. */
void qn_kernel_destroy(quern_kernel *kernel);
/** The texts a message may point into, at most four. */
size_t qn_kernel_user_texts(const quern_kernel *kernel, qn_user_text texts[4]);
/** True when any of the kernel's texts uses an identifier. */
bool qn_kernel_uses(const quern_kernel *kernel, const char *name);

/* ---- resolve.c: the arguments of one call, checked ------------------------------------------ */

/** One call on its way. Large: lives on the stack, and only what is counted is initialised. */
typedef struct qn_call {
    quern_kernel *kernel;
    void *stream;        /**< the device's handle */
    uint32_t block_size; /**< asked for, or 0 */
    qn_types types;
    quern_array *arrays[QUERN_MAX_PARAMETERS]; /**< by parameter; NULL for scalars */
    const quern_value *values;                 /**< by parameter */
    qn_operand operands[QUERN_MAX_PARAMETERS]; /**< arrays that are not raw, in order */
    uint8_t operand_parameter[QUERN_MAX_PARAMETERS];
    uint32_t operand_count;
    int ndim;
    int64_t shape[QUERN_MAX_NDIM], count;
    quern_array *owned[2 * QUERN_MAX_PARAMETERS]; /**< allocated here: outputs, copies of inputs */
    uint32_t owned_count;
    bool dry;      /**< allocate nothing: arrays without memory */
    bool overlaps; /**< an input was copied because an output overlaps it */
    bool aliased;
    qn_plan plan;
} qn_call;

/** Check the arguments, bind types, broadcast, and (unless `dry`) allocate the missing outputs and
 * copy inputs that an output overlaps. qn_call_end must follow, also after a failure. */
quern_status qn_call_begin(qn_call *call, quern_kernel *kernel, const quern_value *values,
                           size_t count, const quern_call_options *options, bool dry);
/** Publish allocated outputs to their `quern_array **`. */
void qn_call_publish(qn_call *call);
void qn_call_end(qn_call *call);

/* ---- source.c: the CUDA source of an elementwise specialization ----------------------------- */

#define QN_MAX_HEADERS 16

/** Write the source; `headers` (room for QN_MAX_HEADERS) receives what it includes. */
quern_status qn_elementwise_source(qn_text *out, const qn_call *call, qn_header *headers,
                                   size_t *header_count);

/* ---- specialize.c: a kernel for particular dtypes and a plan's form ------------------------- */

struct qn_specialization {
    qn_specialization *next;
    void *function;    /**< the device's */
    qn_module *module; /**< borrowed from the engine */
    char *source;
    size_t signature_size;
    uint8_t signature[]; /**< what it is for: see specialize.c */
};

quern_status qn_specialize(qn_specialization **out, const qn_call *call);
void qn_specializations_free(quern_kernel *kernel);

/* ---- marshal.c: the parameter block --------------------------------------------------------- */

#define QN_PARAMETER_BYTES 4096 /**< of all parameters of a kernel: the limit of every driver */

typedef struct qn_block {
    void *pointers[QUERN_MAX_PARAMETERS + 1];
    uint32_t offsets[QUERN_MAX_PARAMETERS + 1];
    uint32_t count, used;
    _Alignas(16) unsigned char bytes[QN_PARAMETER_BYTES];
} qn_block;

/** Pack arguments and the walk in the order of the generated kernel's parameters: those of the
 * signature, then the walk. */
quern_status qn_marshal(qn_block *block, const qn_call *call);
/** Pack one scalar again. */
quern_status qn_marshal_scalar(void *bytes, const quern_kernel *kernel, uint32_t parameter,
                               quern_dtype dtype, const quern_value *value);

/* ---- call.c, bound.c, explain.c -------------------------------------------------------------- */

/** What quern_call_n() does, without resetting the error record. */
quern_status qn_call_run(quern_kernel *kernel, const quern_value *values, size_t count,
                         const quern_call_options *options);
/** Grid and block of a call. Errors: a block size that the function or the device cannot have. */
quern_status qn_call_geometry(quern_launch_config *config, const qn_call *call,
                              const qn_specialization *specialization);
/** After a failed launch or wait: turn a place in a snippet, if the device recorded one, into a
 * span. */
void qn_explain_place(const quern_kernel *kernel);

#endif /* QN_ENGINE_H */
