/* SPDX-License-Identifier: MIT
 *
 * What the files of the CUDA device share: the driver's functions, an opened device, its context
 * made current for the length of a call, and results turned into failures.
 */
#ifndef QN_CUDA_DEVICE_H
#define QN_CUDA_DEVICE_H

#include "device/cuda_api.h"
#include "device/device_internal.h"
#include "device/image.h"

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

typedef struct cuda_device {
    int ordinal;
    cu_device handle;
    cu_context context; /**< the primary one, retained */
    quern_allocator allocator;
    bool foreign_memory; /**< `allocator` is used */
    pthread_mutex_t pool_lock;
    _Atomic(cuda_memory) memory;
    cu_pool pool;
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

/* ---- cuda_device.c: opening, closing, the table --------------------------------------------- */

/** Facts of device `ordinal`, without a context. */
quern_status qn_cuda_describe(int ordinal, quern_device_info *info);

/* ---- the slots of the table, by file -------------------------------------------------------- */

/* cuda_memory.c */
quern_status qn_cuda_allocate(quern_device *device, void **out, size_t bytes, void *stream);
void qn_cuda_release(quern_device *device, void *pointer, size_t bytes, void *stream);
quern_status qn_cuda_copy(quern_device *device, void *to, const void *from, size_t bytes,
                          quern_copy_kind kind, void *stream, int wait);
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
void qn_cuda_stream_free(quern_device *device, void *stream);
quern_status qn_cuda_stream_wait(quern_device *device, void *stream);
quern_status qn_cuda_event_new(quern_device *device, void **out);
void qn_cuda_event_free(quern_device *device, void *event);
quern_status qn_cuda_event_record(quern_device *device, void *event, void *stream);
quern_status qn_cuda_event_wait(quern_device *device, void *event);
quern_status qn_cuda_stream_wait_event(quern_device *device, void *stream, void *event);
quern_status qn_cuda_event_elapsed(quern_device *device, double *milliseconds, void *begin,
                                   void *end);
quern_status qn_cuda_synchronize(quern_device *device);

#endif /* QN_CUDA_DEVICE_H */
