/* SPDX-License-Identifier: MIT
 *
 * What the files of the CUDA device share: the driver's functions, an opened device, its context
 * made current for the length of a call, and results turned into failures.
 */
#ifndef QN_CUDA_DEVICE_H
#define QN_CUDA_DEVICE_H

#include "device/cuda/cuda_api.h"
#include "device/device_internal.h"
#include "device/image/image.h"

/* ---- cuda_load.c: the driver's library ------------------------------------------------------ */

/** The driver's functions: valid once qn_cuda_load() has returned true. */
extern cu_api qn_cuda;

/** Load the driver and initialise it, once per process; later calls give the first answer again. On
 * failure *why is a sentence that lives as long as the process. */
bool qn_cuda_load(const char **why);
/** A library was found, usable or not. After qn_cuda_load(). */
bool qn_cuda_present(void);
/** 13000 for 13.0; 0 when unknown. */
int qn_cuda_version(void);
/** Was the driver loaded by a process that was then forked into this one? It is of no use here. */
bool qn_cuda_is_forked(void);

/* ---- cuda_error.c: results as failures ------------------------------------------------------ */

/** Record the failure `result` of `doing` ("copying to the device") and return its status. */
quern_status qn_cuda_fail(cu_result result, const char *doing);

/** Return the failure of a driver call. */
#define CUDA_CHECK(call, doing)                                                                    \
    do {                                                                                           \
        cu_result cuda_check_result_ = (call);                                                     \
        if (cuda_check_result_ != CU_SUCCESS) {                                                    \
            return qn_cuda_fail(cuda_check_result_, doing);                                        \
        }                                                                                          \
    } while (0)

/* ---- cuda_context.c: an opened device, and its context in a thread -------------------------- */

/** Where arrays come from; found out by the first allocation. */
typedef enum cuda_memory { CUDA_MEMORY_UNKNOWN, CUDA_MEMORY_POOL, CUDA_MEMORY_PLAIN } cuda_memory;

typedef struct cuda_kept cuda_kept;

typedef struct cuda_device {
    int ordinal;
    unsigned forks; /**< of this process, when the device was opened: see qn_forks */
    cu_device handle;
    cu_context context; /**< the primary one, retained */
    pthread_mutex_t pool_lock;
    _Atomic(cuda_memory) memory;
    cu_pool pool;
    pthread_mutex_t kept_lock;
    cuda_kept *kept; /**< memory of the host that serves again: cuda_host_memory.c */
    size_t kept_bytes;
    atomic_uint_fast64_t peers; /**< that may use its memory, a bit for each number */
} cuda_device;

/** 90 for compute capability 9.0; 0 when unknown. */
int qn_cuda_arch(cu_device device);
int qn_cuda_attribute(cu_device device, int attribute);

/** The context that Quern made current in this thread and left current. */
extern _Thread_local cu_context qn_cuda_left;

/** What was current before a call. */
typedef struct cuda_scope {
    cu_context previous;
    bool changed;
} cuda_scope;

static inline cu_result qn_cuda_enter(cuda_scope *scope, const cuda_device *device)
{
    *scope = (cuda_scope){0};
    if (atomic_load_explicit(&qn_forks, memory_order_relaxed) != device->forks) {
        return CU_FORKED;
    }
    cu_result result = qn_cuda.context_get(&scope->previous);
    if (result != CU_SUCCESS || scope->previous == device->context) {
        return result;
    }
    scope->changed = true;
    return qn_cuda.context_set(device->context);
}

/** Give the thread back the context it had. A thread that had none keeps that of device 0, which is
 * the one the CUDA runtime would choose for it too: so a thread that only launches pays for the
 * change of contexts once. */
static inline void qn_cuda_leave(const cuda_scope *scope, const cuda_device *device)
{
    if (!scope->changed) {
        return;
    }
    if (!scope->previous && device->ordinal == 0) {
        qn_cuda_left = device->context;
    } else {
        (void)qn_cuda.context_set(scope->previous);
    }
}

/** Do one driver call (or an expression of them) in the device's context; its result. */
#define CUDA_IN(device, result, call)                                                              \
    do {                                                                                           \
        cuda_scope cuda_scope_;                                                                    \
        (result) = qn_cuda_enter(&cuda_scope_, (device));                                          \
        if ((result) == CU_SUCCESS) {                                                              \
            (result) = (call);                                                                     \
        }                                                                                          \
        qn_cuda_leave(&cuda_scope_, (device));                                                     \
    } while (0)

/** Has this process been seen to use captures that others begin? */
extern atomic_bool qn_cuda_others;

/** The same, with what CUDA calls unsafe during somebody's capture of whatever stream allowed for
 * its length: it does not touch such a stream. `now` false: as CUDA_IN. */
#define CUDA_IN_RELAXED(device, result, now, call)                                                 \
    do {                                                                                           \
        cuda_scope cuda_scope_;                                                                    \
        const bool cuda_now_ = (now);                                                              \
        unsigned cuda_mode_ = CU_CAPTURE_RELAXED;                                                  \
        (result) = qn_cuda_enter(&cuda_scope_, (device));                                          \
        if ((result) == CU_SUCCESS) {                                                              \
            (void)(cuda_now_ ? qn_cuda.capture_mode(&cuda_mode_) : CU_SUCCESS);                    \
            (result) = (call);                                                                     \
            (void)(cuda_now_ ? qn_cuda.capture_mode(&cuda_mode_) : CU_SUCCESS);                    \
        }                                                                                          \
        qn_cuda_leave(&cuda_scope_, (device));                                                     \
    } while (0)

/** Where a call is too short for it to be done always. */
static inline bool qn_cuda_sees_others(void)
{
    return atomic_load_explicit(&qn_cuda_others, memory_order_relaxed);
}

/** What the slots of the table call a module. */
typedef struct cuda_module {
    cu_module handle;
    bool named; /**< `names` could be read from the image */
    qn_image_names names;
} cuda_module;

static inline cuda_device *cuda_of(quern_device *device)
{
    return (cuda_device *)device;
}

static inline cu_pointer cuda_address(const void *pointer)
{
    return (cu_pointer)(uintptr_t)pointer;
}

/* ---- cuda_name.c: which GPU a name means ---------------------------------------------------- */

#define QN_UUID_TEXT 48 /**< bytes that "GPU-", a UUID and its end need, and more */
/** "GPU-8f3a...", as nvidia-smi prints it; "" when the driver does not tell. */
void qn_cuda_uuid_print(char out[QN_UUID_TEXT], cu_device device, const char *name);
/** Which of `count` GPUs "1" or "GPU-8f3a" means; NULL: the first. Errors: QUERN_ERROR_NO_DEVICE,
 * QUERN_ERROR_INVALID_ARGUMENT. */
quern_status qn_cuda_find(int *ordinal, const char *argument, int count);
/* ---- cuda_device.c: opening, closing, the table --------------------------------------------- */

/** Facts of device `ordinal`, without a context. */
quern_status qn_cuda_describe(int ordinal, quern_device_info *info);

/* ---- the slots of the table, by file -------------------------------------------------------- */

/* cuda_host_memory.c */
quern_status qn_cuda_allocate_in(quern_device *device, void **out, size_t bytes,
                                 quern_memory memory, void *stream);
void qn_cuda_release_in(quern_device *device, void *pointer, size_t bytes, quern_memory memory,
                        void *stream);
/** Free what is idle of the host memory that is kept, until at most `bytes` are. In the device's
 * context. */
void qn_cuda_host_trim(cuda_device *device, size_t bytes);
/** Forget what is kept, whose context is gone. */
void qn_cuda_host_forget(cuda_device *device);
/* cuda_peer.c */
quern_status qn_cuda_copy_from(quern_device *device, void *to, quern_device *source,
                               const void *from, size_t bytes, void *stream, void *source_stream);
/* cuda_memory.c */
quern_status qn_cuda_allocate(quern_device *device, void **out, size_t bytes, void *stream);
void qn_cuda_release(quern_device *device, void *pointer, size_t bytes, void *stream);
uint64_t qn_cuda_held(quern_device *device);
quern_status qn_cuda_trim(quern_device *device, size_t keep);
/** Does the device's own memory come from a pool, as far as any has been asked for? */
bool qn_cuda_has_pool(cuda_device *device);
void qn_cuda_within(quern_device *device, void (*function)(void *context), void *context);
quern_status qn_cuda_copy(quern_device *device, void *to, const void *from, size_t bytes,
                          quern_copy_kind kind, void *stream, int wait);
/* cuda_pointer.c */
void qn_cuda_place_of(quern_device *device, int32_t *type, int32_t *number);
quern_status qn_cuda_pointer_info(quern_device *device, const void *pointer,
                                  quern_pointer_info *info);
/* cuda_fill.c */
quern_status qn_cuda_fill(quern_device *device, void *to, const void *pattern, size_t pattern_bytes,
                          size_t count, void *stream);
/* cuda_module.c */
quern_status qn_cuda_module_load(quern_device *device, void **out, quern_image_kind kind,
                                 const void *image, size_t bytes);
void qn_cuda_module_free(quern_device *device, void *module);
/* cuda_function.c */
quern_status qn_cuda_function_get(quern_device *device, void **out, void *module, const char *name);
quern_status qn_cuda_module_functions(quern_device *device, void *module, size_t *count,
                                      const char **names, size_t capacity);
quern_status qn_cuda_module_global(quern_device *device, void **pointer, uint64_t *bytes,
                                   void *module, const char *name);
quern_status qn_cuda_module_globals(quern_device *device, void *module, size_t *count,
                                    const char **names, size_t capacity);
void *qn_cuda_module_handle(quern_device *device, void *module);
void *qn_cuda_function_handle(quern_device *device, void *function);
quern_status qn_cuda_function_info(quern_device *device, void *function, quern_function_info *info);
quern_status qn_cuda_function_parameter(quern_device *device, void *function, size_t index,
                                        uint64_t *offset, uint64_t *bytes);
quern_status qn_cuda_function_set(quern_device *device, void *function,
                                  quern_function_property property, int32_t value);
/* cuda_launch.c */
quern_status qn_cuda_occupancy(quern_device *device, void *function, uint32_t block_threads,
                               uint32_t shared_bytes, uint32_t *blocks);
quern_status qn_cuda_launch(quern_device *device, void *function, const quern_launch_config *config,
                            void **parameters);
/* cuda_stream.c */
quern_status qn_cuda_stream_new(quern_device *device, void **out);
quern_status qn_cuda_stream_new_with(quern_device *device, void **out,
                                     const quern_stream_options *options);
/** From the lowest to the highest, which is the lesser number. */
quern_status qn_cuda_stream_priorities(quern_device *device, int32_t *lowest, int32_t *highest);
quern_status qn_cuda_stream_call(quern_device *device, void *stream, void (*function)(void *),
                                 void *context);
void qn_cuda_stream_free(quern_device *device, void *stream);
quern_status qn_cuda_stream_wait(quern_device *device, void *stream);
quern_status qn_cuda_event_new(quern_device *device, void **out);
void qn_cuda_event_free(quern_device *device, void *event);
quern_status qn_cuda_event_record(quern_device *device, void *event, void *stream);
quern_status qn_cuda_event_wait(quern_device *device, void *event);
quern_status qn_cuda_stream_query(quern_device *device, int *done, void *stream);
quern_status qn_cuda_event_query(quern_device *device, int *reached, void *event);
quern_status qn_cuda_stream_wait_event(quern_device *device, void *stream, void *event);
quern_status qn_cuda_event_elapsed(quern_device *device, double *milliseconds, void *begin,
                                   void *end);
quern_status qn_cuda_synchronize(quern_device *device);
/* cuda_graph.c */
quern_status qn_cuda_capture_begin(quern_device *device, void *stream);
quern_status qn_cuda_capture_end(quern_device *device, void *stream, void **graph);
quern_status qn_cuda_graph_launch(quern_device *device, void *graph, void *stream);
void qn_cuda_graph_free(quern_device *device, void *graph);
quern_status qn_cuda_capture_seen(quern_device *device, void *stream, uint64_t *capture);
quern_status qn_cuda_capture_tell(quern_device *device, void *stream, void (*gone)(void *object),
                                  void *object);
/* cuda_texture.c */
quern_status qn_cuda_array_new(quern_device *device, void **out, const quern_texels *texels);
void qn_cuda_array_free(quern_device *device, void *array);
quern_status qn_cuda_array_copy(quern_device *device, void *array, void *memory,
                                const quern_texels *texels, int to_array, void *stream);
quern_status qn_cuda_texture_new(quern_device *device, uint64_t *out, void *array,
                                 const void *memory, const quern_texels *texels,
                                 const quern_texture_options *options);
void qn_cuda_texture_free(quern_device *device, uint64_t texture);
quern_status qn_cuda_surface_new(quern_device *device, uint64_t *out, void *array);
void qn_cuda_surface_free(quern_device *device, uint64_t surface);

#endif /* QN_CUDA_DEVICE_H */
