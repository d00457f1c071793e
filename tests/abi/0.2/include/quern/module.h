/* SPDX-License-Identifier: MIT
 *
 * Modules. CUDA source and images: functions, globals, launching with a grid.
 *
 *     quern_module *module;
 *     quern_module_new(&module, engine, source, NULL);            // CUDA C++; compiled, or cached
 *     quern_function *saxpy;
 *     quern_module_function(&saxpy, module, "saxpy");
 *     quern_function_call(saxpy, &QUERN_GRID(64, 256), 2.0f, x, y, 16384);
 *
 * Functions of a module are what CUDA calls kernels: they are launched with a grid, and their
 * arguments are checked against what the image says of their parameters.
 */
#ifndef QUERN_MODULE_H
#define QUERN_MODULE_H

#include <quern/value.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A loaded image. May be used from many threads at once. */
typedef struct quern_module quern_module;
/** A kernel in a module. It keeps its module alive. May be called from many threads at once. */
typedef struct quern_function quern_function;

/** A header in memory: what `#include "name"` or `#include <name>` gives. */
typedef struct quern_header {
    const char *name;
    const char *text;
} quern_header;

typedef struct quern_module_options {
    uint32_t size; /**< sizeof(quern_module_options) */
    uint32_t reserved;
    /** NVRTC options, such as "-DN=3", "-Idir", "--std=c++20". Copied. */
    const char *const *options;
    size_t option_count;
    /** What the source is called in messages; headers in quotes are looked for beside it. NULL:
     * "kernel.cu". */
    const char *file_name;
    /** Instances of templates that the source must have, such as "scale<double, 3>": they are then
     * functions and globals under exactly these names. */
    const char *const *expressions;
    size_t expression_count;
    const quern_header *headers; /**< in memory; looked at before those on disk. Copied. */
    size_t header_count;
    /** 1: <cuComplex.h> gives Quern's complex numbers under its names, with operators and all
     * functions, as CuPy's option of that name does. */
    uint32_t translate_cucomplex;
    uint32_t reserved_2;
} quern_module_options;

#define QUERN_MODULE_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(quern_module_options), 0, NULL, 0, NULL, NULL, 0, NULL, 0, 0, 0                     \
    }

/** Compile CUDA C++ `source`, or find it in the cache, and load it.
 *
 * The key of the cache covers the source, the options, the name expressions, and the contents of
 * the headers in memory and in the user's own folders. A source that includes what only the
 * compiler can name (#include MACRO, #include_next, __has_include(MACRO)) is compiled each time.
 * CUDA's and CCCL's headers (<cooperative_groups.h>, <cub/block/block_scan.cuh>, ...) are found
 * where a CUDA Toolkit is installed. Waits for the compiler, not for the device. The caller owns
 * *out; give it back with quern_module_release().
 *
 * Errors: QUERN_ERROR_COMPILE (with the compiler's log; a header that was not found, with where it
 * was looked for), QUERN_ERROR_NAME (a name expression without a match, with the names there are),
 * QUERN_ERROR_LINK (the software device: what is used and defined nowhere, with the place),
 * QUERN_ERROR_NVRTC_NOT_FOUND, _NVRTC, _IMAGE, _INVALID_ARGUMENT, _OUT_OF_MEMORY, _DEVICE_MEMORY.
 */
QUERN_API quern_status quern_module_new(quern_module **out, quern_engine *engine,
                                        const char *source, const quern_module_options *options);

/** What the compiler warned of in the source of a module and in its headers in memory, as
 * quern_kernel_warnings() does; "" for images and for what was linked. *out is borrowed for the
 * module's life. Thread-safe; waits for nothing. Errors: QUERN_ERROR_INVALID_ARGUMENT. */
QUERN_API quern_status quern_module_warnings(const char **out, quern_module *module);

/** Load an image from memory: a cubin, PTX, or a fatbin, told apart by its first bytes. Copied.
 * The software device takes PTX, and fatbins that hold PTX.
 * Errors: QUERN_ERROR_IMAGE (damaged, or for another GPU: both are named), _DEVICE_MEMORY. */
QUERN_API quern_status quern_module_load(quern_module **out, quern_engine *engine,
                                         const void *image, size_t bytes);

/** Load a file: an image as above, or CUDA source, which is compiled as above under its own path.
 * Errors: also QUERN_ERROR_IO. */
QUERN_API quern_status quern_module_open(quern_module **out, quern_engine *engine, const char *path,
                                         const quern_module_options *options);

/** One piece of a program that is linked. */
typedef struct quern_link_input {
    const char *name;   /**< in messages; of a source also its file name */
    const char *source; /**< CUDA C++, or NULL for what is compiled already */
    const void *image;  /**< cubin, PTX, fatbin, LTO-IR, object or static library */
    uint64_t image_bytes;
} quern_link_input;

/** Link several pieces into one module, through nvJitLink, which is loaded for it. Sources are
 * compiled with the options, as relocatable code, or as LTO-IR when one of the options is "-dlto".
 * On the software device all inputs must be sources or LTO-IR.
 * Errors: those of quern_module_new(); QUERN_ERROR_LINK with the linker's log, or with the name and
 * the place of what is used and defined nowhere; QUERN_ERROR_NVJITLINK_NOT_FOUND. */
QUERN_API quern_status quern_module_link(quern_module **out, quern_engine *engine,
                                         const quern_link_input *inputs, size_t count,
                                         const quern_module_options *options);

/** One more reference; returns `module`. Thread-safe. */
QUERN_API quern_module *quern_module_retain(quern_module *module);
/** One reference less; the last one waits for the device and unloads the image. Accepts NULL. */
QUERN_API void quern_module_release(quern_module *module);

/** A kernel of a module: by its name if it is extern "C", by its name expression if it was asked
 * for by one, else by its plain name ("scale") if only one function has it, or by its mangled name.
 * The caller owns *out; give it back with quern_function_release().
 * Errors: QUERN_ERROR_NAME, with the names that there are. */
QUERN_API quern_status quern_module_function(quern_function **out, quern_module *module,
                                             const char *name);
/** One more reference; returns `function`. Thread-safe. */
QUERN_API quern_function *quern_function_retain(quern_function *function);
/** One reference less; the last one lets the module go. Accepts NULL. Thread-safe. */
QUERN_API void quern_function_release(quern_function *function);

/** The names of a module's functions: *count says how many there are, and up to `capacity` of them
 * are put into `names` (NULL where `capacity` is 0). Each is one that quern_module_function()
 * takes: the name expression that asked for it, else the image's own, mangled where it is not
 * extern "C". The names are borrowed for the module's life, their order is the image's.
 * Thread-safe. Errors: QUERN_ERROR_INVALID_ARGUMENT; QUERN_ERROR_NOT_SUPPORTED where the driver
 * does not say. */
QUERN_API quern_status quern_module_function_names(size_t *count, const char **names,
                                                   size_t capacity, quern_module *module);
/** The name that a function was asked for by; "" for what is not a function. Borrowed. */
QUERN_API const char *quern_function_name(const quern_function *function);

/** The driver's own handles, for its other functions: a CUmodule, and a CUfunction. NULL on the
 * software device, which has none. They live as long as the module. */
QUERN_API void *quern_module_handle(const quern_module *module);
QUERN_API void *quern_function_handle(const quern_function *function);

/** A `__device__` or `__constant__` variable of a module as an array, which keeps the module alive.
 * `shape` NULL (with `ndim` 0): one dimension, all of the variable. Its bytes must not be more than
 * the variable's. Names as for functions.
 * Errors: QUERN_ERROR_NAME, QUERN_ERROR_SHAPE with both sizes. */
QUERN_API quern_status quern_module_global(quern_array **out, quern_module *module,
                                           const char *name, quern_dtype dtype, int ndim,
                                           const int64_t *shape);

/** Facts of a function on its device. */
typedef struct quern_function_info {
    uint32_t size;               /**< sizeof(quern_function_info), set by the caller */
    uint32_t registers;          /**< per thread; 0: not known */
    uint32_t shared_bytes;       /**< static, per block */
    uint32_t local_bytes;        /**< per thread */
    uint32_t constant_bytes;     /**< of user constants */
    uint32_t max_threads;        /**< of a block of this function */
    uint32_t max_dynamic_shared; /**< bytes that a launch may ask for; raised when one asks */
    uint32_t ptx_version;        /**< 75 for compute_75; 0: not known */
    uint32_t binary_version;     /**< 90 for sm_90; 0: not known, or PTX that is executed */
    int32_t shared_carveout;     /**< preferred percentage of the L1 cache; -1: the default */
    size_t parameter_count;      /**< SIZE_MAX: not known */
} quern_function_info;
#define QUERN_FUNCTION_INFO_INIT                                                                   \
    {                                                                                              \
        sizeof(quern_function_info), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0                                  \
    }
/** What the device says of a function. Errors: QUERN_ERROR_INVALID_ARGUMENT, _DRIVER. */
QUERN_API quern_status quern_function_get_info(quern_function_info *info, quern_function *function);
/** Offset and size of parameter `index` in the parameter block, in bytes.
 * Errors: QUERN_ERROR_INVALID_ARGUMENT past the last one, QUERN_ERROR_NOT_SUPPORTED where the
 * driver does not say (before CUDA 12.4). */
QUERN_API quern_status quern_function_get_parameter(uint64_t *offset, uint64_t *bytes,
                                                    quern_function *function, size_t index);

/** What quern_function_set() changes. */
typedef enum quern_function_property {
    QUERN_FUNCTION_SHARED_CARVEOUT = 1,      /**< percentage of the L1 cache; -1: the default */
    QUERN_FUNCTION_NON_PORTABLE_CLUSTER = 2, /**< 1: clusters of more than 8 blocks are allowed */
} quern_function_property;
/** Change a property for all later launches of the function. Has no effect on the software device,
 * which has neither. Errors: QUERN_ERROR_INVALID_ARGUMENT with the range of `value`, _DRIVER. */
QUERN_API quern_status quern_function_set(quern_function *function,
                                          quern_function_property property, int32_t value);

/** Blocks of `block_threads` threads and `shared_bytes` of dynamic shared memory that fit one
 * multiprocessor at once; 0 where the device does not say. Thread-safe; waits for nothing.
 * Errors: QUERN_ERROR_INVALID_ARGUMENT, _DRIVER. */
QUERN_API quern_status quern_function_occupancy(uint32_t *blocks, quern_function *function,
                                                uint32_t block_threads, uint32_t shared_bytes);

/** How a function is launched. */
typedef struct quern_launch_options {
    uint32_t size;         /**< sizeof(quern_launch_options) */
    uint32_t grid[3];      /**< blocks; 0 counts as 1 */
    uint32_t block[3];     /**< threads of a block; 0 counts as 1 */
    uint32_t shared_bytes; /**< dynamic shared memory of a block; past 48 KiB it is raised */
    uint32_t cluster[3];   /**< blocks of a cluster; 0 counts as 1, all 0: no clusters */
    uint32_t cooperative;  /**< 1: all blocks run at once, so that they may wait for each other */
    uint32_t overlap;      /**< 1: may begin before the previous launch in the stream has ended
                              (programmatic dependent launch); the function then waits itself */
    uint32_t any_strides;  /**< 1: arrays that are not C-contiguous are passed all the same */
    int32_t priority;      /**< of its blocks, as cudaStreamCreateWithPriority's; 0: the stream's */
    uint32_t reserved;
    quern_stream *stream; /**< NULL: the engine's own */
} quern_launch_options;

#define QUERN_LAUNCH_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(quern_launch_options), {0}, {0}, 0, {0}, 0, 0, 0, 0, 0, NULL                        \
    }
#define QUERN_GRID_FIELDS(blocks, threads)                                                         \
    sizeof(quern_launch_options), {(uint32_t)(blocks)}, {(uint32_t)(threads)}, 0, {0}, 0, 0, 0, 0, \
        0, NULL
/** A launch of `blocks` blocks of `threads` threads each, along x: pass `&QUERN_GRID(64, 256)`. It
 * lives until the end of the statement, in C until the end of the block. */
#ifdef __cplusplus
#define QUERN_GRID(blocks, threads)                                                                \
    (quern_launch_here(quern_launch_options{QUERN_GRID_FIELDS(blocks, threads)}))
static inline const quern_launch_options &quern_launch_here(const quern_launch_options &launch)
{
    return launch;
}
#else
#define QUERN_GRID(blocks, threads) ((quern_launch_options){QUERN_GRID_FIELDS(blocks, threads)})
#endif

/** Launch a function: `values` are its parameters, in order.
 *
 * An array (QUERN_VALUE_ARRAY) is passed as the address of its first element and must be
 * C-contiguous unless `any_strides`; QUERN_VALUE_POINTER as it is; a scalar has the bytes of its
 * dtype (complex64 those of float2), QUERN_VALUE_STRUCT its own. Literals are refused, because they
 * do not say how wide they are. Their number and sizes must match the function's parameters
 * exactly. Drivers report those since CUDA 12.4; with an older one the values are passed unchecked.
 * Returns when the launch is queued.
 *
 * Errors: QUERN_ERROR_ARGUMENT_COUNT, QUERN_ERROR_TYPE (kind or size), QUERN_ERROR_SHAPE (strides),
 * QUERN_ERROR_INVALID_ARGUMENT (grid, block, shared memory or cluster beyond the limits, which are
 * named), _DRIVER, _LAUNCH, _ACCESS, _NOT_SUPPORTED, _INTERRUPTED. */
QUERN_API quern_status quern_function_call_n(quern_function *function, const quern_value *values,
                                             size_t count, const quern_launch_options *launch);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_MODULE_H */
