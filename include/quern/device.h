/* SPDX-License-Identifier: MIT
 *
 * For those who add a device: the functions that an engine asks of one. Programs that run kernels
 * do not need this header.
 *
 * A device allocates memory, loads images, launches functions, and keeps streams and events. The
 * engine does everything else. CUDA (src/device/cuda/) and the software device
 * (src/device/soft/) are the two models to follow.
 */
#ifndef QUERN_DEVICE_H
#define QUERN_DEVICE_H

#include <quern/quern.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum quern_image_kind {
    QUERN_IMAGE_CUBIN = 1,
    QUERN_IMAGE_PTX = 2,
    QUERN_IMAGE_FATBIN = 3,
} quern_image_kind;

typedef enum quern_copy_kind {
    QUERN_COPY_TO_DEVICE = 1,
    QUERN_COPY_TO_HOST = 2,
    QUERN_COPY_ON_DEVICE = 3,
} quern_copy_kind;

/** A launch, made by the engine: a device reads what its own version knows of it. */
typedef struct quern_launch_config {
    uint32_t size; /**< sizeof(quern_launch_config) of the engine */
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t shared_bytes; /**< dynamic */
    uint32_t cooperative;  /**< 1: all blocks resident at once */
    uint32_t cluster[3];   /**< blocks of a cluster; cluster[0] 0: no clusters */
    uint32_t overlap;      /**< 1: may begin before the previous launch has ended */
    int32_t priority;      /**< of its blocks; 0: the stream's */
    void *stream;          /**< the device's handle; NULL: the device's default stream */
} quern_launch_config;

/** Elements as texture units see them, made by the engine: a device reads what its own version
 * knows of it. */
typedef struct quern_texels {
    uint32_t size;      /**< sizeof(quern_texels) of the engine */
    int32_t dtype;      /**< of a channel: a quern_dtype that texture units know */
    uint32_t channels;  /**< of an element: 1, 2 or 4 */
    uint32_t layered;   /**< 1: the last extent that is not 0 counts layers */
    uint32_t surface;   /**< 1: surfaces of it may be made */
    uint32_t gather;    /**< 1: tex2Dgather() may read it */
    uint64_t extent[3]; /**< width, height, depth; 0: there is no such dimension */
    uint64_t pitch;     /**< bytes from row to row, of memory; 0: elements of one dimension */
} quern_texels;

/** One opened device; each device declares its own structure and casts. */
typedef struct quern_device quern_device;

/** The version of what the slots of the table below mean: it grows when one of them changes its
 * meaning, but not when slots are added. */
#define QUERN_DEVICE_VERSION 1

/** The functions of a device. All may be called from several threads at once. Each returns QUERN_OK
 * or a status whose explanation it has recorded. Unless said otherwise a slot is required. Slots
 * that later versions add are optional. */
typedef struct quern_device_methods {
    uint32_t size;    /**< sizeof(quern_device_methods) */
    uint32_t version; /**< QUERN_DEVICE_VERSION; those from 1 on are known */
    const char *name; /**< "cuda", "soft": what comes before the colon in quern_options.device */

    /** Optional. How many can be opened as NAME:0, NAME:1, ...; 0 with *why (may be NULL; a static
     * or thread-local sentence) set when none can. Never loads a compiler. */
    int (*count)(const char **why);
    /** `argument`: what comes after the colon, or NULL. `allocator` is NULL: the engine itself
     * asks the program's allocator, and adopts what comes. */
    quern_status (*open)(quern_device **out, const char *argument,
                         const quern_allocator *allocator);
    /** Waits for all work. Accepts NULL. */
    void (*close)(quern_device *device);
    /** Fill as much of *info as its `size` allows, and leave `size`. */
    quern_status (*info)(quern_device *device, quern_device_info *info);
    /** What to compile for: compute capability x 10 + minor (90), and whether native code can be
     * loaded: 1; 0: PTX, which is executed as it is and tells the places in sources; 2: PTX for the
     * compiler of a driver, without them. */
    void (*target)(quern_device *device, int *arch, int *native);

    /* memory: `stream` is the device's handle or NULL for its default stream */
    quern_status (*allocate)(quern_device *device, void **out, size_t bytes, void *stream);
    void (*release)(quern_device *device, void *pointer, size_t bytes, void *stream);
    /** Optional: kernels may from now on touch [base, base + bytes) of foreign memory. */
    quern_status (*adopt)(quern_device *device, void *base, size_t bytes);
    void (*disown)(quern_device *device, void *base, size_t bytes);
    /** With `wait` 0 the host memory must stay valid until the stream has passed the copy. */
    quern_status (*copy)(quern_device *device, void *to, const void *from, size_t bytes,
                         quern_copy_kind kind, void *stream, int wait);
    /** Write `count` copies of a pattern of `pattern_bytes` (1, 2, 4, 8 or 16). */
    quern_status (*fill)(quern_device *device, void *to, const void *pattern, size_t pattern_bytes,
                         size_t count, void *stream);

    /* code */
    quern_status (*module_load)(quern_device *device, void **out, quern_image_kind kind,
                                const void *image, size_t bytes);
    void (*module_free)(quern_device *device, void *module);
    /** By the name that the image has. Errors: QUERN_ERROR_NAME. */
    quern_status (*function_get)(quern_device *device, void **out, void *module, const char *name);
    /** The names of functions that can be launched, borrowed from the module: up to `capacity` are
     * put into `names`; *count says how many there are; SIZE_MAX: the device does not know. */
    quern_status (*module_functions)(quern_device *device, void *module, size_t *count,
                                     const char **names, size_t capacity);
    /** Address and size of a variable. Errors: QUERN_ERROR_NAME. */
    quern_status (*module_global)(quern_device *device, void **pointer, uint64_t *bytes,
                                  void *module, const char *name);
    /** Optional: the names of variables, as module_functions. */
    quern_status (*module_globals)(quern_device *device, void *module, size_t *count,
                                   const char **names, size_t capacity);
    /** Fill as much of *info as its `size` allows, and leave `size`. */
    quern_status (*function_info)(quern_device *device, void *function, quern_function_info *info);
    /** Offset and size of a parameter; `index` is below function_info's parameter_count. */
    quern_status (*function_parameter)(quern_device *device, void *function, size_t index,
                                       uint64_t *offset, uint64_t *bytes);
    /** Change a property; the value is in its range. */
    quern_status (*function_set)(quern_device *device, void *function,
                                 quern_function_property property, int32_t value);
    /** Blocks of this size that fit one processor at once; 0 where it is not known. */
    quern_status (*occupancy)(quern_device *device, void *function, uint32_t block_threads,
                              uint32_t shared_bytes, uint32_t *blocks);
    /** Queue a launch. `parameters[k]` points to the bytes of parameter k; all are copied. */
    quern_status (*launch)(quern_device *device, void *function, const quern_launch_config *config,
                           void **parameters);

    /* streams and events */
    quern_status (*stream_new)(quern_device *device, void **out);
    void (*stream_free)(quern_device *device, void *stream);
    quern_status (*stream_wait)(quern_device *device, void *stream);
    quern_status (*event_new)(quern_device *device, void **out);
    void (*event_free)(quern_device *device, void *event);
    quern_status (*event_record)(quern_device *device, void *event, void *stream);
    quern_status (*event_wait)(quern_device *device, void *event);
    quern_status (*stream_wait_event)(quern_device *device, void *stream, void *event);
    quern_status (*event_elapsed)(quern_device *device, double *milliseconds, void *begin,
                                  void *end);
    /** Wait for everything queued on the device by this engine. */
    quern_status (*synchronize)(quern_device *device);
    /** Optional: stop the launches that run at this moment soon. Safe in a signal handler. */
    void (*interrupt)(quern_device *device);
    /** Optional: the driver's own handles of what module_load and function_get gave. */
    void *(*module_handle)(quern_device *device, void *module);
    void *(*function_handle)(quern_device *device, void *function);

    /* kinds of memory besides the device's own; without them there are none */
    /** Optional: memory that the host may touch at the same address. Errors:
     * QUERN_ERROR_NOT_SUPPORTED, QUERN_ERROR_DEVICE_MEMORY. */
    quern_status (*allocate_in)(quern_device *device, void **out, size_t bytes, quern_memory memory,
                                void *stream);
    void (*release_in)(quern_device *device, void *pointer, size_t bytes, quern_memory memory,
                       void *stream);
    /** Optional: where the host may touch `pointer`, memory of allocate() or adopted; NULL: it may
     * not. */
    void *(*host_pointer)(quern_device *device, void *pointer);
    /** Optional: bytes that the device's own allocate() has taken, in use or kept for later; 0 when
     * they are not known. Records no failure. */
    uint64_t (*held)(quern_device *device);
    /** Optional: give back what it keeps for later until it holds at most `keep` bytes. Waits. */
    quern_status (*trim)(quern_device *device, size_t keep);
    /** Optional: call `function`, which is another library's, as it wants the thread: on a GPU with
     * the device's context current. */
    void (*within)(quern_device *device, void (*function)(void *context), void *context);
    /** Optional: queue a copy on `stream` from another device with the same function here. It
     * begins when the work is done that `source_stream` has, and later work of that waits for it.
     */
    quern_status (*copy_from)(quern_device *device, void *to, quern_device *source,
                              const void *from, size_t bytes, void *stream, void *source_stream);
    /** Optional: where its memory is, in DLPack's numbers for kinds of devices (1: the host's, 2:
     * of a GPU) and for devices of a kind. Without it no tensor comes in or goes out. */
    void (*place)(quern_device *device, int32_t *type, int32_t *number);
    /** Optional: fill as much of *info as its `size` allows, and leave `size`. */
    quern_status (*pointer_info)(quern_device *device, const void *pointer,
                                 quern_pointer_info *info);
    /** Optional: as stream_new, with options, whose size is this library's. */
    quern_status (*stream_new_with)(quern_device *device, void **out,
                                    const quern_stream_options *options);
    /** Optional: has the stream passed the mark? */
    quern_status (*event_query)(quern_device *device, int *reached, void *event);
    /** Optional: call a function on the host in the order of a stream. Where it is missing the
     * engine waits for the stream and calls. */
    quern_status (*stream_call)(quern_device *device, void *stream, void (*function)(void *),
                                void *context);
    /** Optional, these four together: record what is queued on a stream from now on. What else may
     * not happen meanwhile is refused by the engine. */
    quern_status (*capture_begin)(quern_device *device, void *stream);
    /** *graph is what can be launched; `graph` NULL: forget what was recorded. */
    quern_status (*capture_end)(quern_device *device, void *stream, void **graph);
    quern_status (*graph_launch)(quern_device *device, void *graph, void *stream);
    void (*graph_free)(quern_device *device, void *graph);
    /** Optional, these two together: has anybody begun to capture a stream? *capture is a number of
     * that capture alone; UINT64_MAX: one that this stream can take no part in; 0: none. Asking
     * changes nothing. */
    quern_status (*capture_seen)(quern_device *device, void *stream, uint64_t *capture);
    /** Call `gone` with `object`, on any thread, once nothing that the stream's capture records can
     * run again. `gone` does not call the device. */
    quern_status (*capture_tell)(quern_device *device, void *stream, void (*gone)(void *object),
                                 void *object);
    /** Optional: is all that was queued on the stream done? */
    quern_status (*stream_query)(quern_device *device, int *done, void *stream);

    /** Optional, these seven together: textures and surfaces, which are numbers that kernels take.
     * A CUDA array is the device's own. */
    quern_status (*cuda_array_new)(quern_device *device, void **out, const quern_texels *texels);
    void (*cuda_array_free)(quern_device *device, void *cuda_array);
    /** Queue a copy of all of it from (`to_array` 1) or to memory without gaps. */
    quern_status (*cuda_array_copy)(quern_device *device, void *cuda_array, void *memory,
                                    const quern_texels *texels, int to_array, void *stream);
    /** Of a CUDA array, or where that is NULL, of memory. The options' size is this library's. */
    quern_status (*texture_new)(quern_device *device, uint64_t *out, void *cuda_array,
                                const void *memory, const quern_texels *texels,
                                const quern_texture_options *options);
    void (*texture_free)(quern_device *device, uint64_t texture);
    quern_status (*surface_new)(quern_device *device, uint64_t *out, void *cuda_array);
    void (*surface_free)(quern_device *device, uint64_t surface);
} quern_device_methods;

/** Nothing but size and version: every slot still to be set. */
#define QUERN_DEVICE_METHODS_INIT                                                                  \
    {                                                                                              \
        sizeof(quern_device_methods), QUERN_DEVICE_VERSION, NULL, NULL, NULL, NULL, NULL, NULL,    \
            NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,    \
            NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,    \
            NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,    \
            NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL     \
    }

/** Open an engine on a device of your own. `options->device` is given to `open` as its argument.
 * The table is copied; the functions and `name` must stay while the engine lives.
 * Errors: as quern_open(); QUERN_ERROR_INVALID_ARGUMENT for a version that this library does not
 * know and for a slot that is missing, by its name. */
QUERN_API quern_status quern_open_device(quern_engine **out, const quern_device_methods *methods,
                                         const quern_options *options);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_DEVICE_H */
