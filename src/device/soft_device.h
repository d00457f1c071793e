/* SPDX-License-Identifier: MIT
 *
 * What the files of the software device share.
 */
#ifndef QN_SOFT_DEVICE_H
#define QN_SOFT_DEVICE_H

#include "device/device_internal.h"
#include "ptx/ptx.h"

enum {
    SOFT_ARCH = 75,
    SOFT_BLOCK_THREADS = 1024,
    SOFT_SHARED_BYTES = 64 * 1024, /**< as compute capability 7.5 has */
    SOFT_MAX_HOST_THREADS = 1024,
};

/** What follows "soft:". */
typedef struct soft_options {
    uint32_t threads; /**< host threads; 0: all cores */
    double limit;     /**< seconds that a launch may take; 0: any */
    qn_ptx_aids aids; /**< for every launch */
} soft_options;

typedef struct soft_device {
    qn_memory_map *memory;
    soft_options options;
    quern_allocator allocator;
    bool foreign_memory;    /**< `allocator` is used */
    atomic_uint interrupts; /**< so far: each ends the launches that run at that moment */
} soft_device;

static inline soft_device *soft_of(quern_device *device)
{
    return (soft_device *)device;
}

/** Facts of the device with `threads` threads (0: all cores). */
void qn_soft_describe(unsigned threads, quern_device_info *info);

/* soft_options.c */
/** `argument`: "4,limit=10", or NULL for none. Errors: QUERN_ERROR_INVALID_ARGUMENT. */
quern_status qn_soft_options_read(soft_options *options, const char *argument);
/* soft_memory.c */
/** Memory of this machine, in bytes. */
void qn_soft_host_memory(uint64_t *available, uint64_t *total);
quern_status qn_soft_allocate(quern_device *device, void **out, size_t bytes, void *stream);
void qn_soft_release(quern_device *device, void *pointer, size_t bytes, void *stream);
quern_status qn_soft_adopt(quern_device *device, void *base, size_t bytes);
void qn_soft_disown(quern_device *device, void *base, size_t bytes);
quern_status qn_soft_copy(quern_device *device, void *to, const void *from, size_t bytes,
                          quern_copy_kind kind, void *stream, int wait);
quern_status qn_soft_fill(quern_device *device, void *to, const void *pattern, size_t pattern_bytes,
                          size_t count, void *stream);
/* soft_module.c */
quern_status qn_soft_module_load(quern_device *device, void **out, quern_image_kind kind,
                                 const void *image, size_t bytes);
void qn_soft_module_free(quern_device *device, void *module);
quern_status qn_soft_function_get(quern_device *device, void **out, void *module, const char *name);
quern_status qn_soft_module_functions(quern_device *device, void *module, size_t *count,
                                      const char **names, size_t capacity);
quern_status qn_soft_module_global(quern_device *device, void **pointer, uint64_t *bytes,
                                   void *module, const char *name);
quern_status qn_soft_module_globals(quern_device *device, void *module, size_t *count,
                                    const char **names, size_t capacity);
quern_status qn_soft_function_info(quern_device *device, void *function, quern_function_info *info);
quern_status qn_soft_function_parameter(quern_device *device, void *function, size_t index,
                                        uint64_t *offset, uint64_t *bytes);
quern_status qn_soft_function_set(quern_device *device, void *function,
                                  quern_function_property property, int32_t value);
quern_status qn_soft_occupancy(quern_device *device, void *function, uint32_t block_threads,
                               uint32_t shared_bytes, uint32_t *blocks);
quern_status qn_soft_launch(quern_device *device, void *function, const quern_launch_config *config,
                            void **parameters);
void qn_soft_interrupt(quern_device *device);
/* soft_stream.c */
quern_status qn_soft_stream_new(quern_device *device, void **out);
void qn_soft_stream_free(quern_device *device, void *stream);
quern_status qn_soft_stream_wait(quern_device *device, void *stream);
quern_status qn_soft_event_new(quern_device *device, void **out);
void qn_soft_event_free(quern_device *device, void *event);
quern_status qn_soft_event_record(quern_device *device, void *event, void *stream);
quern_status qn_soft_event_wait(quern_device *device, void *event);
quern_status qn_soft_stream_wait_event(quern_device *device, void *stream, void *event);
quern_status qn_soft_event_elapsed(quern_device *device, double *milliseconds, void *begin,
                                   void *end);
quern_status qn_soft_synchronize(quern_device *device);

#endif /* QN_SOFT_DEVICE_H */
