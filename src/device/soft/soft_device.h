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
    SOFT_SHARED_KIB = 64,       /**< as compute capability 7.5 has */
    SOFT_MOST_SHARED_KIB = 227, /**< what may be asked for, as compute capability 9.0 has */
    SOFT_MAX_HOST_THREADS = 1024,
};

/** What follows "soft:". */
typedef struct soft_options {
    uint32_t threads; /**< host threads; 0: all cores */
    uint32_t shared;  /**< KiB of shared memory that a block may have; 0: SOFT_SHARED_KIB */
    double limit;     /**< seconds that a launch may take; 0: any */
    qn_ptx_aids aids; /**< for every launch */
} soft_options;

typedef struct soft_device {
    qn_memory_map *memory;
    soft_options options;
    atomic_uint interrupts; /**< so far: each ends the launches that run at that moment */
    atomic_uint streams;    /**< made so far */
    atomic_uint capturing;  /**< captures that go on */
    pthread_mutex_t lock;   /**< of `captures` */
    struct soft_graph *captures;
    qn_stream_history *history; /**< of check=streams, else NULL */
    char early[640]; /**< what it has found of a release, with `lock`: nobody is told yet; or "" */
} soft_device;

typedef struct soft_graph soft_graph;

/** What the handle of a stream points to. */
typedef struct soft_stream {
    char name[64];
} soft_stream;

typedef struct soft_event {
    _Atomic(double) at_ms;
    qn_stream_mark *mark; /**< of check=streams */
    uint64_t graph; /**< in whose capture it was recorded; of others 0, or of no capture that goes
                         on; with the device's lock, as is */
    struct graph_mark *mark_in_graph;
} soft_event;

static inline soft_device *soft_of(quern_device *device)
{
    return (soft_device *)device;
}

/** Is the work of any stream recorded? Then that of each must be looked up. */
static inline bool qn_soft_captures(quern_device *device)
{
    return atomic_load_explicit(&soft_of(device)->capturing, memory_order_relaxed) != 0;
}

/** Facts of the device with these options. */
void qn_soft_describe(const soft_options *options, quern_device_info *info);
/** Bytes of shared memory that a block may have. */
static inline uint32_t qn_soft_shared(const soft_options *options)
{
    return 1024 * (options->shared != 0 ? options->shared : (uint32_t)SOFT_SHARED_KIB);
}

/* soft_options.c */
/** `argument`: "4,limit=10", or NULL for none. Errors: QUERN_ERROR_INVALID_ARGUMENT. */
quern_status qn_soft_options_read(soft_options *options, const char *argument);
/* soft_memory.c */
/** Memory of this machine, in bytes. */
void qn_soft_host_memory(uint64_t *available, uint64_t *total);
quern_status qn_soft_allocate(quern_device *device, void **out, size_t bytes, void *stream);
void qn_soft_release(quern_device *device, void *pointer, size_t bytes, void *stream);
quern_status qn_soft_allocate_in(quern_device *device, void **out, size_t bytes,
                                 quern_memory memory, void *stream);
void qn_soft_release_in(quern_device *device, void *pointer, size_t bytes, quern_memory memory,
                        void *stream);
void *qn_soft_host_pointer(quern_device *device, void *pointer);
quern_status qn_soft_adopt(quern_device *device, void *base, size_t bytes);
void qn_soft_disown(quern_device *device, void *base, size_t bytes);
void qn_soft_place(quern_device *device, int32_t *type, int32_t *number);
quern_status qn_soft_pointer_info(quern_device *device, const void *pointer,
                                  quern_pointer_info *info);
quern_status qn_soft_copy(quern_device *device, void *to, const void *from, size_t bytes,
                          quern_copy_kind kind, void *stream, int wait);
quern_status qn_soft_copy_from(quern_device *device, void *to, quern_device *source,
                               const void *from, size_t bytes, void *stream, void *source_stream);
quern_status qn_soft_fill(quern_device *device, void *to, const void *pattern, size_t pattern_bytes,
                          size_t count, void *stream);
/* soft_order.c: with check=streams, where there is a history */
/** What a copy or a fill touches of the device's memory; NULL: nothing. */
typedef struct soft_touched {
    const char *what;
    const void *read, *written;
    size_t bytes;
} soft_touched;
/** Is it in order with what other streams do? */
quern_status qn_soft_check_order(quern_device *device, void *stream, const soft_touched *touched);
/** The same of memory that goes back: qn_soft_tell_early() will say. */
void qn_soft_check_release(quern_device *device, const void *pointer, size_t bytes, void *stream);
/** Fail for an array that was released too early since the last time. */
quern_status qn_soft_tell_early(quern_device *device);
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
quern_status qn_soft_stream_new_with(quern_device *device, void **out,
                                     const quern_stream_options *options);
quern_status qn_soft_stream_call(quern_device *device, void *stream, void (*function)(void *),
                                 void *context);
void qn_soft_stream_free(quern_device *device, void *stream);
quern_status qn_soft_stream_wait(quern_device *device, void *stream);
quern_status qn_soft_event_new(quern_device *device, void **out);
void qn_soft_event_free(quern_device *device, void *event);
quern_status qn_soft_event_record(quern_device *device, void *event, void *stream);
quern_status qn_soft_event_wait(quern_device *device, void *event);
quern_status qn_soft_stream_query(quern_device *device, int *done, void *stream);
quern_status qn_soft_event_query(quern_device *device, int *reached, void *event);
quern_status qn_soft_stream_wait_event(quern_device *device, void *stream, void *event);
quern_status qn_soft_event_elapsed(quern_device *device, double *milliseconds, void *begin,
                                   void *end);
quern_status qn_soft_synchronize(quern_device *device);
/* soft_graph.c */
/** Each: true when the stream is being captured; then the work is recorded, unless *status says
 * what failed. */
bool qn_soft_record_copy(quern_device *device, void *to, const void *from, size_t bytes,
                         quern_copy_kind kind, void *stream, quern_status *status);
bool qn_soft_record_fill(quern_device *device, void *to, const void *pattern, size_t pattern_bytes,
                         size_t count, void *stream, quern_status *status);
bool qn_soft_record_launch(quern_device *device, void *function, const quern_launch_config *config,
                           void **parameters, quern_status *status);
bool qn_soft_record_call(quern_device *device, void (*function)(void *), void *context,
                         void *stream, quern_status *status);
bool qn_soft_record_event(quern_device *device, soft_event *event, void *stream,
                          quern_status *status);
bool qn_soft_record_wait(quern_device *device, soft_event *event, void *stream,
                         quern_status *status);
quern_status qn_soft_capture_begin(quern_device *device, void *stream);
quern_status qn_soft_capture_end(quern_device *device, void *stream, void **graph);
quern_status qn_soft_graph_launch(quern_device *device, void *graph, void *stream);
void qn_soft_graph_free(quern_device *device, void *graph);

#endif /* QN_SOFT_DEVICE_H */
