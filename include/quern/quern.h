/* SPDX-License-Identifier: MIT
 *
 * Quern: GPU kernels from C-like snippets, at run time.
 *
 *     "T x, T y" -> "T z" : "z = (x - y) * (x - y)"
 *
 * A snippet with a typed signature becomes CUDA source, NVRTC compiles it, a cache on disk keeps the
 * compiled image, and a launcher runs it over arrays with NumPy's broadcasting. The same program runs
 * on an NVIDIA GPU and, where there is none, on the *software device*, which executes the compiled
 * PTX on the CPU.
 *
 * This header is meant to be read from top to bottom:
 *   1. five calls           all that most programs need
 *   2. status and errors    how everything reports failure
 *   3. engines              one device with a compiler and a cache
 *   4. arrays               typed, strided views of device memory
 *   5. kernels and calls    elementwise, reductions, scans: arguments, calling, binding, explaining
 *   6. modules              CUDA source and images: functions, globals, launching with a grid
 *   7. streams and events   order and time on the device
 *   8. cache                what the cache holds
 *   9. devices and set-up   what was found on this machine
 *
 * Conventions, true for every function:
 * - A function that can fail returns `quern_status` and takes its outputs first. On failure an output
 *   pointer is set to NULL and quern_last_error() says why.
 * - A function that cannot fail returns its value; a returned pointer is borrowed from its parent.
 * - Every object is freed by its `_release`, `_free` or `_close`, which accepts NULL. Freeing the last
 *   object of an engine that was closed waits for the device.
 * - An option structure begins with `size`, which is checked; initialise it with its `_INIT` macro.
 *   A field of 0 or NULL always means the documented default, and a NULL structure means all defaults.
 * - Strings that are passed in are copied unless the comment says otherwise.
 * - Engines, kernels and bound calls say at their types which threads may use them. Functions that
 *   wait for the device say so; all others return once the work is queued.
 */
#ifndef QUERN_H
#define QUERN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define QUERN_API __attribute__((visibility("default")))
#else
#define QUERN_API
#endif

#define QUERN_VERSION_MAJOR 0
#define QUERN_VERSION_MINOR 1
#define QUERN_VERSION_PATCH 0
#define QUERN_VERSION_STRING "0.1.0"
/** The version as one number that compares: 0.1.0 is 100, 1.2.3 is 10203. */
#define QUERN_VERSION_NUMBER                                                                       \
    (QUERN_VERSION_MAJOR * 10000 + QUERN_VERSION_MINOR * 100 + QUERN_VERSION_PATCH)

/** The version of the library that runs, as QUERN_VERSION_NUMBER was when it was built. */
QUERN_API int quern_version(void);

/* ============================================================================================
 * 1. Five calls
 *
 *     quern_engine *engine;
 *     quern_open(&engine, NULL);
 *
 *     quern_array *x, *y, *z = NULL;
 *     quern_array_from(&x, engine, QUERN_FLOAT32, 2, (int64_t[]){2, 5}, host_x);
 *     quern_array_from(&y, engine, QUERN_FLOAT32, 1, (int64_t[]){5}, host_y);
 *
 *     quern_kernel *squared_difference;
 *     quern_elementwise(&squared_difference, engine, "T x, T y", "T z", "z = (x - y) * (x - y)", NULL);
 *
 *     quern_call(squared_difference, x, y, &z);          // z is allocated: 2 x 5 float32
 *     quern_array_read(z, host_z, sizeof host_z);        // waits for the result
 * ============================================================================================ */

/* ============================================================================================
 * 2. Status and errors
 * ============================================================================================ */

/* Families by tens. Codes are stable: new ones are added, none changes its number. */
#define QUERN_STATUS_MAP(X)                                                                        \
    X(QUERN_OK, 0, "success")                                                                      \
    /* the call itself */                                                                          \
    X(QUERN_ERROR_INVALID_ARGUMENT, 10, "invalid argument")                                        \
    X(QUERN_ERROR_OUT_OF_MEMORY, 11, "out of host memory")                                         \
    X(QUERN_ERROR_NOT_SUPPORTED, 12, "not supported")                                              \
    X(QUERN_ERROR_IO, 13, "input or output failed")                                                \
    X(QUERN_ERROR_INTERNAL, 14, "internal error")                                                  \
    /* signatures and the arguments bound to them */                                               \
    X(QUERN_ERROR_SIGNATURE, 20, "invalid signature")                                              \
    X(QUERN_ERROR_TYPE, 21, "type mismatch")                                                       \
    X(QUERN_ERROR_SHAPE, 22, "shape mismatch")                                                     \
    X(QUERN_ERROR_ARGUMENT_COUNT, 23, "wrong number of arguments")                                 \
    X(QUERN_ERROR_VALUE, 24, "value out of range")                                                 \
    X(QUERN_ERROR_NAME, 25, "no such name")                                                        \
    /* compiling */                                                                                \
    X(QUERN_ERROR_COMPILE, 30, "the snippet does not compile")                                     \
    X(QUERN_ERROR_NVRTC_NOT_FOUND, 31, "NVRTC not found")                                          \
    X(QUERN_ERROR_NVRTC, 32, "NVRTC failed")                                                       \
    X(QUERN_ERROR_IMAGE, 33, "invalid or unsuitable image")                                        \
    X(QUERN_ERROR_LINK, 34, "linking failed")                                                      \
    X(QUERN_ERROR_NVJITLINK_NOT_FOUND, 35, "nvJitLink not found")                                  \
    /* the device */                                                                               \
    X(QUERN_ERROR_NO_DEVICE, 40, "no such device")                                                 \
    X(QUERN_ERROR_DRIVER, 41, "CUDA driver error")                                                 \
    X(QUERN_ERROR_DEVICE_MEMORY, 42, "out of device memory")                                       \
    X(QUERN_ERROR_LAUNCH, 43, "the kernel failed")                                                 \
    X(QUERN_ERROR_ACCESS, 44, "invalid memory access in a kernel")                                 \
    X(QUERN_ERROR_INTERRUPTED, 45, "interrupted")                                                  \
    /* the cache: only ever returned by the quern_cache_ functions */                              \
    X(QUERN_ERROR_CACHE, 50, "cache not usable")

typedef enum quern_status {
#define QUERN_STATUS_ENUM(name, code, text) name = code,
    QUERN_STATUS_MAP(QUERN_STATUS_ENUM)
#undef QUERN_STATUS_ENUM
} quern_status;

/** The fixed text of a status code, such as "shape mismatch"; never NULL. */
QUERN_API const char *quern_status_text(quern_status status);

/** A failure, explained. All strings are never NULL; an empty one means "does not apply". */
typedef struct quern_error {
    uint32_t size;            /**< sizeof(quern_error) of the library that filled it */
    int32_t status;           /**< a quern_status */
    const char *message;      /**< one sentence: what was wrong and, where it helps, what to do */
    const char *stage;        /**< "signature", "bind", "compile", "load", "launch", ... */
    const char *text;         /**< the caller's own text that `begin` and `end` point into */
    const char *text_name;    /**< what that text is: "in", "out", "operation", "preamble", ... */
    uint32_t begin, end;      /**< bytes of `text` that are wrong; equal when there is no span */
    const char *log;          /**< the compiler's log, whole; lines are those of the snippet */
    const char *source;       /**< the generated source that did not compile */
} quern_error;

/** The last failure of a quern function in the calling thread.
 *
 * Every fallible function resets it on entry, so it is never stale: after QUERN_OK its status is
 * QUERN_OK. Borrowed: valid until this thread's next call of a fallible quern function. */
QUERN_API const quern_error *quern_last_error(void);

/** The last failure as text for a person: message, the place in the caller's text with a caret under
 * it, and the compiler's log. Ends with a newline unless empty. Borrowed as quern_last_error() is. */
QUERN_API const char *quern_last_error_text(void);

/* ============================================================================================
 * 3. Engines
 * ============================================================================================ */

/** One device with a compiler and a cache. May be used from many threads at once. */
typedef struct quern_engine quern_engine;
typedef struct quern_stream quern_stream;

/** Where device memory comes from instead of the device's own pool. */
typedef struct quern_allocator {
    uint32_t size; /**< sizeof(quern_allocator) */
    uint32_t reserved;
    /** Returns device memory of `bytes` (> 0), aligned to `alignment` (a power of two, at most 256),
     * usable in the order of `stream` (the device's own handle, a CUstream; NULL on the software
     * device), or NULL when there is none. */
    void *(*allocate)(void *context, size_t bytes, size_t alignment, void *stream);
    void (*release)(void *context, void *pointer, size_t bytes, void *stream);
    void *context;
} quern_allocator;

/** `level`: "error", "warn", "info" or "debug". Called from any thread that uses the engine. */
typedef void (*quern_log_function)(void *context, const char *level, const char *message);

typedef struct quern_options {
    uint32_t size; /**< sizeof(quern_options) */
    uint32_t reserved;
    /** "auto" (the default: the first GPU, else the software device), "cuda", "cuda:1", "soft",
     * "soft:THREADS". NULL: the environment's QUERN_DEVICE, else "auto". */
    const char *device;
    /** The folder of the compiled kernels, "off" for none. NULL: QUERN_CACHE_DIR, else
     * $XDG_CACHE_HOME/quern, else ~/.cache/quern. */
    const char *cache_dir;
    /** Bytes that the cache may take. 0: QUERN_CACHE_LIMIT, else 2 GiB. */
    uint64_t cache_limit;
    /** Copied. NULL: the driver's stream-ordered pool, or host memory on the software device. */
    const quern_allocator *allocator;
    /** NULL: standard error, for messages up to the level in QUERN_LOG (default "warn"). */
    quern_log_function log;
    void *log_context;
} quern_options;

#define QUERN_OPTIONS_INIT                                                                         \
    { sizeof(quern_options), 0, NULL, NULL, 0, NULL, NULL, NULL }

/** Open an engine on one device.
 *
 * On CUDA the device's primary context is retained, so that memory and streams may be shared with the
 * CUDA runtime, PyTorch and others in the process. A thread that has a current context has it again
 * after each call; one that has none keeps GPU 0's primary context after a call on that GPU, as the
 * CUDA runtime would leave it. A cache that cannot be used is logged and never an error.
 *
 * Errors: QUERN_ERROR_NO_DEVICE (with what was looked for), QUERN_ERROR_DRIVER,
 * QUERN_ERROR_INVALID_ARGUMENT, QUERN_ERROR_OUT_OF_MEMORY. */
QUERN_API quern_status quern_open(quern_engine **out, const quern_options *options);

/** Drop the caller's hold on an engine. Kernels, arrays, streams and bound calls keep their engine
 * alive, so the order of freeing does not matter. Waits for the device when it is the last hold. */
QUERN_API void quern_close(quern_engine *engine);

/** Wait until all work queued by this engine is done; on a GPU, until all work of the process in the
 * primary context is. Returns a failure of that work. */
QUERN_API quern_status quern_synchronize(quern_engine *engine);

/** Ask the launches that run on a software device at this moment to stop: each fails with
 * QUERN_ERROR_INTERRUPTED soon after. Those that begin later are not concerned, so it does nothing
 * when none runs. Does nothing on a GPU. Safe in a signal handler and from any thread. */
QUERN_API void quern_interrupt(quern_engine *engine);

/** Free memory that a function of this header returned to be freed with quern_free(). */
QUERN_API void quern_free(void *pointer);

/* ============================================================================================
 * 4. Arrays
 * ============================================================================================ */

/* Numbers are stable; they appear in no file. */
#define QUERN_DTYPE_MAP(X)                                                                         \
    X(QUERN_BOOL, 1, "bool")                                                                       \
    X(QUERN_INT8, 2, "int8")                                                                       \
    X(QUERN_INT16, 3, "int16")                                                                     \
    X(QUERN_INT32, 4, "int32")                                                                     \
    X(QUERN_INT64, 5, "int64")                                                                     \
    X(QUERN_UINT8, 6, "uint8")                                                                     \
    X(QUERN_UINT16, 7, "uint16")                                                                   \
    X(QUERN_UINT32, 8, "uint32")                                                                   \
    X(QUERN_UINT64, 9, "uint64")                                                                   \
    X(QUERN_FLOAT16, 10, "float16")                                                                \
    X(QUERN_BFLOAT16, 11, "bfloat16")                                                              \
    X(QUERN_FLOAT32, 12, "float32")                                                                \
    X(QUERN_FLOAT64, 13, "float64")                                                                \
    X(QUERN_COMPLEX64, 14, "complex64")                                                            \
    X(QUERN_COMPLEX128, 15, "complex128")

typedef enum quern_dtype {
    QUERN_DTYPE_NONE = 0,
#define QUERN_DTYPE_ENUM(name, code, text) name = code,
    QUERN_DTYPE_MAP(QUERN_DTYPE_ENUM)
#undef QUERN_DTYPE_ENUM
} quern_dtype;

/** NumPy's name of a dtype ("float32"), or "none" for what is not one. */
QUERN_API const char *quern_dtype_name(quern_dtype dtype);
/** Bytes of one element; 0 for what is not a dtype. */
QUERN_API size_t quern_dtype_size(quern_dtype dtype);
/** The dtype of a NumPy name ("float32") or a C name ("unsigned char"); QUERN_DTYPE_NONE if unknown. */
QUERN_API quern_dtype quern_dtype_from_name(const char *name);

#define QUERN_MAX_NDIM 32 /**< dimensions an array may have */
#define QUERN_MAX_PARAMETERS 64 /**< parameters a kernel may have, inputs and outputs together */

/** A typed, strided, n-dimensional view of device memory.
 *
 * Reference-counted; views share the memory of the array they come from and keep it alive. Shape,
 * strides and pointer never change, so one array may be read from many threads at once. */
typedef struct quern_array quern_array;

/** A new C-contiguous array. Its contents are undefined. `shape`: `ndim` extents, each >= 0.
 * Errors: QUERN_ERROR_DEVICE_MEMORY, QUERN_ERROR_INVALID_ARGUMENT (dtype, rank, negative or too large
 * extents). */
QUERN_API quern_status quern_array_new(quern_array **out, quern_engine *engine, quern_dtype dtype,
                                       int ndim, const int64_t *shape);

/** A new C-contiguous array with a copy of `host`, C-contiguous host memory of the same size. The
 * host memory may be reused as soon as the call returns. Waits for the copy. */
QUERN_API quern_status quern_array_from(quern_array **out, quern_engine *engine, quern_dtype dtype,
                                        int ndim, const int64_t *shape, const void *host);

/** A view of foreign device memory: of cudaMalloc, PyTorch, CuPy, an RMM pool, ...
 *
 * `pointer` is the address of element (0, ..., 0); `strides` are in bytes, may be negative or zero,
 * and NULL means C-contiguous. Address and strides must be multiples of the dtype's size: 16 bytes
 * for complex128. On the software device `pointer` is host memory, and kernels may touch exactly the
 * bytes that shape and strides span. `release` (may be NULL) is called with `context` once the array
 * and all views of it are gone; work that uses the memory may then still be queued, in the order of
 * the stream it was queued on. When wrapping fails, `release` is not called.
 *
 * Errors: QUERN_ERROR_INVALID_ARGUMENT, QUERN_ERROR_OUT_OF_MEMORY. */
QUERN_API quern_status quern_array_wrap(quern_array **out, quern_engine *engine, quern_dtype dtype,
                                        int ndim, const int64_t *shape, const int64_t *strides,
                                        void *pointer, void (*release)(void *context),
                                        void *context);

/** One more reference; returns `array`. */
QUERN_API quern_array *quern_array_retain(quern_array *array);
/** One reference less; the last one frees. Accepts NULL. */
QUERN_API void quern_array_release(quern_array *array);

QUERN_API quern_dtype quern_array_dtype(const quern_array *array);
QUERN_API int quern_array_ndim(const quern_array *array);
/** `ndim` extents, in elements. Borrowed. */
QUERN_API const int64_t *quern_array_shape(const quern_array *array);
/** `ndim` strides, in bytes. Borrowed. */
QUERN_API const int64_t *quern_array_strides(const quern_array *array);
/** Number of elements; 1 for an array without dimensions. */
QUERN_API int64_t quern_array_count(const quern_array *array);
/** Device address of element (0, ..., 0); on the software device, host memory. */
QUERN_API void *quern_array_pointer(const quern_array *array);
/** 1 when the elements lie in C order without gaps, else 0. */
QUERN_API int quern_array_is_contiguous(const quern_array *array);
/** The engine; borrowed. */
QUERN_API quern_engine *quern_array_engine(const quern_array *array);

/* Views: new arrays over the same memory. Nothing is copied and the device is not waited for.
 * Errors: QUERN_ERROR_INVALID_ARGUMENT, QUERN_ERROR_SHAPE. */

/** One axis of a slice, with Python's rules: `start:stop:step`, negative positions count from the
 * end, positions past the ends are clipped. */
typedef struct quern_slice {
    int64_t start, stop, step; /**< step 0 means: take the one element `start` and drop the axis */
} quern_slice;
#define QUERN_SLICE_NONE INT64_MIN /**< for start or stop: left out, as in `::2` */
/** All of an axis. */
#define QUERN_SLICE_ALL                                                                            \
    { QUERN_SLICE_NONE, QUERN_SLICE_NONE, 1 }

/** Slice the first `count` axes; the others are taken whole. */
QUERN_API quern_status quern_array_slice(quern_array **out, quern_array *array, int count,
                                         const quern_slice *slices);
/** Reorder the axes: axis k of the result is axis `axes[k]`. NULL reverses them. */
QUERN_API quern_status quern_array_transpose(quern_array **out, quern_array *array,
                                             const int *axes);
/** The same elements in C order under another shape; one extent may be -1. A view where the strides
 * allow it, else QUERN_ERROR_SHAPE: copy first. */
QUERN_API quern_status quern_array_reshape(quern_array **out, quern_array *array, int ndim,
                                           const int64_t *shape);
/** Repeat along new or size-1 axes, by NumPy's broadcasting rules, with strides of 0. */
QUERN_API quern_status quern_array_broadcast(quern_array **out, quern_array *array, int ndim,
                                             const int64_t *shape);

/* Copies between arrays and to and from the host are queued on the engine's own stream. Where an
 * array is not contiguous its elements are moved by a kernel, which, once for each kind of layout,
 * must be compiled or found in the cache like any other, with the same errors. */

/** A new C-contiguous array with the same elements. */
QUERN_API quern_status quern_array_copy(quern_array **out, quern_array *array);
/** Set all elements to one: `value` points to an element in host memory. */
QUERN_API quern_status quern_array_fill(quern_array *array, const void *value);
/** Copy all elements to host memory, in C order. `bytes` must be count x element size. Waits. */
QUERN_API quern_status quern_array_read(quern_array *array, void *host, size_t bytes);
/** Copy all elements from host memory, in C order. `bytes` must be count x element size. The host
 * memory may be reused when the call returns. Waits for the copy. */
QUERN_API quern_status quern_array_write(quern_array *array, const void *host, size_t bytes);

/* ============================================================================================
 * 5. Kernels and calls
 * ============================================================================================ */

/** A parsed definition. What is compiled for particular dtypes and layouts is kept inside it.
 * May be called from many threads at once. */
typedef struct quern_kernel quern_kernel;

typedef struct quern_kernel_options {
    uint32_t size; /**< sizeof(quern_kernel_options) */
    uint32_t reserved;
    const char *name;       /**< of the kernel in profilers and messages; default "quern_kernel" */
    const char *preamble;   /**< device code before the kernel: functions, types, includes */
    const char *loop_prep;  /**< statements before the loop over the elements, once a thread */
    const char *after_loop; /**< statements after the loop over the elements, once a thread */
    /** More NVRTC options, such as "-DN=3" or "--use_fast_math". Copied. */
    const char *const *options;
    uint32_t option_count;
    /** 1: keep every dimension apart (CuPy's reduce_dims=False). Never changes results. */
    uint32_t keep_dims;
} quern_kernel_options;

#define QUERN_KERNEL_OPTIONS_INIT                                                                  \
    { sizeof(quern_kernel_options), 0, NULL, NULL, NULL, NULL, NULL, 0, 0 }

/** Define an elementwise kernel: `operation` runs for every element of the broadcast operands.
 *
 *     parameters := [parameter ("," parameter)*]        parameter := qualifier* type name
 *     qualifier  := "raw" | "const"                     type      := dtype | letter
 *
 * A dtype is a NumPy name (float32, complex64, ...) or a C name (float, unsigned char, long long,
 * ...). A single letter stands for any dtype and for the same one everywhere. In `operation` inputs
 * and outputs are read and assigned by name, `i` is the element's position in C order, `_ind.size()`
 * the number of elements, and `_ind.get()[k]` the position along axis k. A `raw` parameter takes no
 * part in broadcasting; it is indexed: `x[i]`. `continue` and `return` end one element.
 * docs/signatures.md has the whole.
 *
 * Nothing is compiled here: the first call with each set of dtypes and layouts compiles.
 * The caller owns *out; free it with quern_kernel_release(). It keeps the engine alive.
 *
 * Errors: QUERN_ERROR_SIGNATURE with the span of the place, QUERN_ERROR_INVALID_ARGUMENT. */
QUERN_API quern_status quern_elementwise(quern_kernel **out, quern_engine *engine, const char *in,
                                         const char *result, const char *operation,
                                         const quern_kernel_options *options);

typedef struct quern_reduction_options {
    uint32_t size; /**< sizeof(quern_reduction_options) */
    /** 1: `reduce` is associative but not commutative, so values are combined in the order of the
     * axes (C order of the reduced ones). 0: in any order, the same one for each call alike. */
    uint32_t ordered;
    const char *name;     /**< of the kernel in profilers and messages; default "quern_reduction" */
    const char *preamble; /**< device code before the kernel: functions, types, includes */
    /** C++ type of the values that are combined: a C type ("double"), a letter of the signature, or
     * a structure of the preamble, trivially copyable and at most 64 bytes. Default: the type of the
     * first output. */
    const char *reduce_type;
    const char *const *options; /**< more NVRTC options. Copied. */
    uint32_t option_count;
    uint32_t reserved;
} quern_reduction_options;

#define QUERN_REDUCTION_OPTIONS_INIT                                                               \
    { sizeof(quern_reduction_options), 0, NULL, NULL, NULL, NULL, 0, 0 }

/** Define a reduction: `map` makes a value of each element, `reduce` combines two values `a` and `b`
 * into one, `post` assigns the outputs from the last value `a`.
 *
 *     quern_reduction(&norm, engine, "T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", NULL);
 *
 * `map` and `reduce` are expressions, or statements that end in `return value;`. `post` is one or
 * more statements. All inputs that are not raw broadcast together; which axes of that shape are
 * reduced, and whether they are kept with extent 1, each call says (quern_call_options), and all are
 * reduced where it says nothing. `map` sees the inputs by name, `_J`, the position along the reduced
 * axes in C order, and `_in_ind.get()[k]`, the position along axis k of the broadcast inputs;
 * `post` sees `a`, the outputs, scalars and raw arrays; both see `_out_ind.get()[k]`, the position
 * along the k-th axis that is not reduced.
 *
 * `identity` is an expression of the value that an output starts from: it is combined with the
 * elements once for each output. With NULL an output starts from its first element, and there must
 * be one. The same call on the same device gives the same bits.
 *
 * Nothing is compiled here. The caller owns *out; free it with quern_kernel_release().
 * Errors: QUERN_ERROR_SIGNATURE with the span of the place, QUERN_ERROR_INVALID_ARGUMENT. */
QUERN_API quern_status quern_reduction(quern_kernel **out, quern_engine *engine, const char *in,
                                       const char *result, const char *map, const char *reduce,
                                       const char *post, const char *identity,
                                       const quern_reduction_options *options);

typedef struct quern_scan_options {
    uint32_t size;        /**< sizeof(quern_scan_options) */
    uint32_t exclusive;   /**< 1: an element's value leaves out the element itself */
    const char *name;     /**< of the kernel in profilers and messages; default "quern_scan" */
    const char *preamble; /**< device code before the kernel: functions, types, includes */
    const char *scan_type;      /**< as quern_reduction_options.reduce_type */
    const char *const *options; /**< more NVRTC options. Copied. */
    uint32_t option_count;
    uint32_t reserved;
} quern_scan_options;

#define QUERN_SCAN_OPTIONS_INIT                                                                    \
    { sizeof(quern_scan_options), 0, NULL, NULL, NULL, NULL, 0, 0 }

/** Define a scan, also called prefix sum: as a reduction, but `post` runs for every element, with
 * `a` the combination of all values up to it along the axis (without its own when `exclusive`).
 *
 *     quern_scan(&cumsum, engine, "T x", "T y", "x", "a + b", "y = a", NULL, NULL);
 *
 * `scan` must be associative; values are always combined in the order of the axis. A call scans along
 * one axis (quern_call_options.axes), or, where it names none, over all elements in C order. Outputs
 * have the shape of the broadcast inputs. `post` sees the inputs as well, `_J`, and `_in_ind`, so
 * that it may store where it likes: `if (keep) out[a] = x`. An exclusive scan needs an identity; in
 * an inclusive one an identity is combined with the first element. To scan from the end, pass views
 * with a negative step.
 *
 * Nothing is compiled here. The caller owns *out; free it with quern_kernel_release().
 * Errors: QUERN_ERROR_SIGNATURE with the span of the place, QUERN_ERROR_INVALID_ARGUMENT. */
QUERN_API quern_status quern_scan(quern_kernel **out, quern_engine *engine, const char *in,
                                  const char *result, const char *map, const char *scan,
                                  const char *post, const char *identity,
                                  const quern_scan_options *options);

QUERN_API quern_kernel *quern_kernel_retain(quern_kernel *kernel);
QUERN_API void quern_kernel_release(quern_kernel *kernel);

/** What a quern_value holds. */
typedef enum quern_value_kind {
    QUERN_VALUE_NONE = 0,    /**< an output that the call allocates and drops */
    QUERN_VALUE_ARRAY = 1,   /**< an array: input, or output that exists */
    QUERN_VALUE_OUTPUT = 2,  /**< where to put an output; allocated when *output is NULL */
    QUERN_VALUE_LITERAL = 3, /**< a plain number: takes the dtype that its parameter gets */
    QUERN_VALUE_SCALAR = 4,  /**< a number of a stated dtype */
    QUERN_VALUE_STRUCT = 5,  /**< bytes by value, for functions of modules alone */
    QUERN_VALUE_POINTER = 6, /**< a device pointer, for functions of modules alone */
} quern_value_kind;

/** One argument of a call. Borrowed for the call alone. */
typedef struct quern_value {
    int32_t kind;  /**< a quern_value_kind */
    int32_t dtype; /**< a quern_dtype: of a scalar; of a literal: bool, int64, float64, complex128 */
    union {
        quern_array *array;
        quern_array **output;
        int64_t integer;   /**< literals and scalars of signed integer dtypes, and bool (0 or 1) */
        uint64_t natural;  /**< scalars of unsigned dtypes */
        double real;       /**< scalars of float dtypes, float16 and bfloat16 too */
        double parts[2];  /**< complex literals and scalars: real and imaginary part */
        void *pointer;    /**< a device address, or NULL */
        struct {
            const void *data; /**< host memory, copied by the call */
            uint64_t bytes;
        } block; /**< a structure, or a vector such as float4 */
    } as;
} quern_value;

typedef struct quern_call_options {
    uint32_t size; /**< sizeof(quern_call_options) */
    uint32_t block_size; /**< threads of a block; 0: chosen. Elementwise kernels alone. */
    /** How many elements (>= 0), for a call whose array arguments are all raw; refused in others.
     * Looked at when `has_size` is 1. */
    int64_t loop_size;
    uint32_t has_size; /**< 1 when `loop_size` is given */
    uint32_t keepdims; /**< reductions: 1 keeps the reduced axes, with extent 1 */
    quern_stream *stream; /**< NULL: the engine's own */
    /** Reductions and scans: the axes, in any order, counted from the end when negative. NULL: all of
     * them. Not NULL with `axis_count` 0: none, so that a reduction only maps. */
    const int *axes;
    uint32_t axis_count;
    uint32_t reserved;
} quern_call_options;

#define QUERN_CALL_OPTIONS_INIT                                                                    \
    { sizeof(quern_call_options), 0, 0, 0, 0, NULL, NULL, 0, 0 }

/** Call a kernel: inputs in the order of the signature, then outputs.
 *
 * `values`: all inputs, then all outputs. Array dtypes must match the signature exactly; scalars are
 * converted, with a check that the value fits. An output is an array, which must have the shape that
 * the operands broadcast to (of a reduction: what is left of it); or a place for one (QUERN_VALUE_OUTPUT), which is allocated where the
 * place holds NULL, and is left as it was when the call fails; or QUERN_VALUE_NONE, which is allocated
 * and dropped. An output that partly overlaps an input is computed as if the input had been copied
 * first; raw arrays are not copied, and must not overlap others. Returns when the work is queued; errors of the kernel itself (QUERN_ERROR_ACCESS,
 * QUERN_ERROR_LAUNCH) may be reported by a later call that waits.
 *
 * Errors: QUERN_ERROR_ARGUMENT_COUNT, _TYPE, _SHAPE, _VALUE, _INVALID_ARGUMENT; where something must
 * be compiled _COMPILE, _NVRTC_NOT_FOUND, _NVRTC, _IMAGE; _OUT_OF_MEMORY, _DEVICE_MEMORY, _DRIVER,
 * _LAUNCH, _ACCESS, _NOT_SUPPORTED, _INTERRUPTED. */
QUERN_API quern_status quern_call_n(quern_kernel *kernel, const quern_value *values, size_t count,
                                    const quern_call_options *options);

/** A kernel with its arguments checked and packed, to be launched many times for the price of the
 * driver's own launch. It retains its arrays. One thread at a time. */
typedef struct quern_bound quern_bound;

/** Check and pack. Outputs given by QUERN_VALUE_OUTPUT are allocated now. Compiles if needed. An
 * output that partly overlaps an input is refused, because each launch would have to copy first. The
 * stream in `options` must outlive the bound call. Errors: those of quern_call_n(). */
QUERN_API quern_status quern_bind(quern_bound **out, quern_kernel *kernel,
                                  const quern_value *values, size_t count,
                                  const quern_call_options *options);
/** Queue one launch on the stream that it was bound to. */
QUERN_API quern_status quern_launch(quern_bound *bound);
/** Replace argument `index`, counted from 0, by an array of the same dtype, shape and strides.
 * Checked as a new call, and compiled if the new address is aligned otherwise. */
QUERN_API quern_status quern_bound_set_array(quern_bound *bound, size_t index, quern_array *array);
/** Replace scalar argument `index`; converted and checked as in a call. Launches that are queued keep
 * the value they had. */
QUERN_API quern_status quern_bound_set_scalar(quern_bound *bound, size_t index, quern_value value);
QUERN_API void quern_bound_free(quern_bound *bound);

/** What a call would run, in words and numbers. All strings are never NULL. */
typedef struct quern_explanation {
    uint32_t size;           /**< sizeof(quern_explanation) of the library that filled it */
    uint32_t registers;      /**< per thread; 0 where the device does not say */
    const char *types;       /**< "T=float32" */
    const char *plan;        /**< "contiguous, 4 elements a thread, 32-bit index" */
    const char *source;      /**< the generated CUDA source */
    const char *key;         /**< the cache key, 32 hexadecimal digits */
    const char *origin;      /**< "memory", "cache" or "compiled" */
    const char *target;      /**< "sm_90" or "compute_75" */
    const char *ptx;         /**< the PTX, where the image is PTX; else empty */
    const char *text;        /**< all of the above but source and ptx, as lines for a person */
    int64_t elements;        /**< elements of the loop */
    uint32_t grid[3];        /**< blocks */
    uint32_t block[3];       /**< threads of a block */
    uint32_t shared_bytes;   /**< static shared memory of a block */
    uint32_t local_bytes;    /**< local memory of a thread */
    uint32_t blocks_per_processor; /**< occupancy; 0 where the device does not say */
    uint32_t reserved;
} quern_explanation;

/** Explain the call that quern_call_n() would make; compiles if needed, launches nothing and
 * allocates no output. Free *out with quern_explanation_free(). */
QUERN_API quern_status quern_explain(quern_explanation **out, quern_kernel *kernel,
                                     const quern_value *values, size_t count,
                                     const quern_call_options *options);
QUERN_API void quern_explanation_free(quern_explanation *explanation);

/* Values. A plain C number is a literal; quern_scalar_ functions state the dtype. */
static inline quern_value quern_value_array(quern_array *array)
{
    quern_value v = {QUERN_VALUE_ARRAY, 0, {0}};
    v.as.array = array;
    return v;
}
static inline quern_value quern_value_output(quern_array **output)
{
    quern_value v = {QUERN_VALUE_OUTPUT, 0, {0}};
    v.as.output = output;
    return v;
}
static inline quern_value quern_literal_int(long long value)
{
    quern_value v = {QUERN_VALUE_LITERAL, QUERN_INT64, {0}};
    v.as.integer = value;
    return v;
}
static inline quern_value quern_literal_bool(int value)
{
    quern_value v = {QUERN_VALUE_LITERAL, QUERN_BOOL, {0}};
    v.as.integer = value != 0;
    return v;
}
static inline quern_value quern_literal_double(double value)
{
    quern_value v = {QUERN_VALUE_LITERAL, QUERN_FLOAT64, {0}};
    v.as.real = value;
    return v;
}
static inline quern_value quern_literal_complex(double real, double imag)
{
    quern_value v = {QUERN_VALUE_LITERAL, QUERN_COMPLEX128, {0}};
    v.as.parts[0] = real;
    v.as.parts[1] = imag;
    return v;
}
/** A scalar of any integer dtype or bool. */
static inline quern_value quern_scalar_int(quern_dtype dtype, int64_t value)
{
    quern_value v = {QUERN_VALUE_SCALAR, (int32_t)dtype, {0}};
    v.as.integer = value;
    return v;
}
/** A scalar of float16, bfloat16, float32 or float64. */
static inline quern_value quern_scalar_real(quern_dtype dtype, double value)
{
    quern_value v = {QUERN_VALUE_SCALAR, (int32_t)dtype, {0}};
    v.as.real = value;
    return v;
}
/** A scalar of complex64 or complex128. */
static inline quern_value quern_scalar_complex(quern_dtype dtype, double real, double imag)
{
    quern_value v = {QUERN_VALUE_SCALAR, (int32_t)dtype, {0}};
    v.as.parts[0] = real;
    v.as.parts[1] = imag;
    return v;
}
static inline quern_value quern_scalar_float(float value)
{
    return quern_scalar_real(QUERN_FLOAT32, value);
}
static inline quern_value quern_literal_uint(unsigned long long value)
{
    quern_value v = {QUERN_VALUE_SCALAR, QUERN_UINT64, {0}};
    v.as.natural = value;
    if (value <= INT64_MAX) {
        v = quern_literal_int((long long)value);
    }
    return v;
}
static inline quern_value quern_value_same(quern_value value)
{
    return value;
}

/* ============================================================================================
 * 6. Modules
 *
 *     quern_module *module;
 *     quern_module_new(&module, engine, source, NULL);            // CUDA C++; compiled, or cached
 *     quern_function *saxpy;
 *     quern_module_function(&saxpy, module, "saxpy");
 *     quern_function_call(saxpy, &QUERN_GRID(64, 256), x, y, 2.0f, 16384);
 *
 * Functions of a module are what CUDA calls kernels: they are launched with a grid, and their
 * arguments are checked against what the image says of their parameters.
 * ============================================================================================ */

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
    uint32_t option_count;
    /** NVRTC options, such as "-DN=3", "-Idir", "--std=c++20". Copied. */
    const char *const *options;
    /** What the source is called in messages; headers in quotes are looked for beside it. NULL:
     * "kernel.cu". */
    const char *file_name;
    /** Instances of templates that the source must have, such as "scale<double, 3>": they are then
     * functions and globals under just these names. */
    const char *const *expressions;
    const quern_header *headers; /**< in memory; looked at before those on disk. Copied. */
    uint32_t expression_count;
    uint32_t header_count;
} quern_module_options;

#define QUERN_MODULE_OPTIONS_INIT                                                                  \
    { sizeof(quern_module_options), 0, NULL, NULL, NULL, NULL, 0, 0 }

/** Compile CUDA C++ `source`, or find it in the cache, and load it.
 *
 * The key of the cache covers the source, the options, the name expressions, and the contents of the
 * headers in memory and in the user's own folders. A source that includes what only the compiler
 * can name (#include MACRO, #include_next, __has_include(MACRO)) is compiled each time. CUDA's and CCCL's headers (<cooperative_groups.h>,
 * <cub/block/block_scan.cuh>, ...) are found where a CUDA Toolkit is installed. Waits for the
 * compiler, not for the device. The caller owns *out; free it with quern_module_release().
 *
 * Errors: QUERN_ERROR_COMPILE (with the compiler's log; a header that was not found, with where it
 * was looked for), QUERN_ERROR_NAME (a name expression without a match, with the names there are),
 * QUERN_ERROR_NVRTC_NOT_FOUND, _NVRTC, _IMAGE, _INVALID_ARGUMENT, _OUT_OF_MEMORY, _DEVICE_MEMORY. */
QUERN_API quern_status quern_module_new(quern_module **out, quern_engine *engine,
                                        const char *source, const quern_module_options *options);

/** Load an image from memory: a cubin, PTX, or a fatbin, told apart by its first bytes. Copied.
 * The software device takes PTX, and fatbins that hold PTX.
 * Errors: QUERN_ERROR_IMAGE (damaged, or for another GPU: both are named), _DEVICE_MEMORY. */
QUERN_API quern_status quern_module_load(quern_module **out, quern_engine *engine,
                                         const void *image, size_t bytes);

/** Load a file: an image as above, or CUDA source, which is compiled as above under its own path.
 * Errors: also QUERN_ERROR_IO. */
QUERN_API quern_status quern_module_open(quern_module **out, quern_engine *engine,
                                         const char *path, const quern_module_options *options);

/** One piece of a program that is linked. */
typedef struct quern_link_input {
    const char *name;    /**< in messages; of a source also its file name */
    const char *source;  /**< CUDA C++, or NULL for what is compiled already */
    const void *image;   /**< cubin, PTX, fatbin, LTO-IR, object or static library */
    uint64_t image_bytes;
} quern_link_input;

/** Link several pieces into one module, through nvJitLink, which is loaded for it. Sources are
 * compiled with the options, as relocatable code, or as LTO-IR when one of the options is "-dlto".
 * On the software device all inputs must be sources or LTO-IR.
 * Errors: those of quern_module_new(); QUERN_ERROR_LINK with the linker's log,
 * QUERN_ERROR_NVJITLINK_NOT_FOUND. */
QUERN_API quern_status quern_module_link(quern_module **out, quern_engine *engine,
                                         const quern_link_input *inputs, size_t count,
                                         const quern_module_options *options);

QUERN_API quern_module *quern_module_retain(quern_module *module);
/** One reference less; the last one waits for the device and unloads the image. Accepts NULL. */
QUERN_API void quern_module_release(quern_module *module);

/** A kernel of a module: by its name where it is extern "C", by its name expression where it was
 * asked for by one, else by its plain name ("scale") where only one function has it, or by its
 * mangled name. The caller owns *out; free it with quern_function_release().
 * Errors: QUERN_ERROR_NAME, with the names that there are. */
QUERN_API quern_status quern_module_function(quern_function **out, quern_module *module,
                                             const char *name);
QUERN_API quern_function *quern_function_retain(quern_function *function);
QUERN_API void quern_function_release(quern_function *function);

/** A `__device__` or `__constant__` variable of a module as an array, which keeps the module alive.
 * `shape` NULL (with `ndim` 0): one dimension, all of the variable. Its bytes must not be more than
 * the variable's. Names as for functions.
 * Errors: QUERN_ERROR_NAME, QUERN_ERROR_SHAPE with both sizes. */
QUERN_API quern_status quern_module_global(quern_array **out, quern_module *module,
                                           const char *name, quern_dtype dtype, int ndim,
                                           const int64_t *shape);

/** Facts of a function on its device. */
typedef struct quern_function_info {
    uint32_t size;                 /**< sizeof(quern_function_info), set by the caller */
    uint32_t registers;            /**< per thread; 0: not known */
    uint32_t shared_bytes;         /**< static, per block */
    uint32_t local_bytes;          /**< per thread */
    uint32_t constant_bytes;       /**< of user constants */
    uint32_t max_threads;          /**< of a block of this function */
    uint32_t max_dynamic_shared;   /**< bytes that a launch may ask for; raised when one asks */
    uint32_t ptx_version;          /**< 75 for compute_75; 0: not known */
    uint32_t binary_version;       /**< 90 for sm_90; 0: not known, or PTX that is executed */
    int32_t shared_carveout;       /**< preferred percentage of the L1 cache; -1: the default */
    uint32_t parameter_count;      /**< UINT32_MAX: not known */
    uint32_t reserved;
} quern_function_info;
/** Fill *info. */
QUERN_API quern_status quern_function_get_info(quern_function *function, quern_function_info *info);
/** Offset and size of parameter `index` in the parameter block, in bytes.
 * Errors: QUERN_ERROR_INVALID_ARGUMENT past the last one, QUERN_ERROR_NOT_SUPPORTED where the driver
 * does not say (before CUDA 12.4). */
QUERN_API quern_status quern_function_parameter(quern_function *function, uint32_t index,
                                                uint64_t *offset, uint64_t *bytes);

/** What quern_function_set() changes. */
typedef enum quern_function_property {
    QUERN_FUNCTION_SHARED_CARVEOUT = 1,   /**< percentage of the L1 cache; -1: the default */
    QUERN_FUNCTION_NON_PORTABLE_CLUSTER = 2, /**< 1: clusters of more than 8 blocks are allowed */
} quern_function_property;
/** Has no effect on the software device, which has neither. */
QUERN_API quern_status quern_function_set(quern_function *function,
                                          quern_function_property property, int32_t value);

/** Blocks of `block_threads` threads and `shared_bytes` of dynamic shared memory that fit one
 * multiprocessor at once; 0 where the device does not say. */
QUERN_API quern_status quern_function_occupancy(uint32_t *blocks, quern_function *function,
                                                uint32_t block_threads, uint32_t shared_bytes);

/** How a function is launched. */
typedef struct quern_launch_options {
    uint32_t size;          /**< sizeof(quern_launch_options) */
    uint32_t grid[3];       /**< blocks; 0 counts as 1 */
    uint32_t block[3];      /**< threads of a block; 0 counts as 1 */
    uint32_t shared_bytes;  /**< dynamic shared memory of a block; past 48 KiB it is raised */
    uint32_t cluster[3];    /**< blocks of a cluster; 0 counts as 1, all 0: no clusters */
    uint32_t cooperative;   /**< 1: all blocks run at once, so that they may wait for each other */
    uint32_t overlap;       /**< 1: may begin before the launch in front of it in the stream has ended
                                 (programmatic dependent launch); the function then waits itself */
    uint32_t any_strides;   /**< 1: arrays that are not C-contiguous are passed all the same */
    int32_t priority;       /**< of its blocks, as cudaStreamCreateWithPriority's; 0: the stream's */
    uint32_t reserved;
    quern_stream *stream;   /**< NULL: the engine's own */
} quern_launch_options;

#define QUERN_LAUNCH_OPTIONS_INIT                                                                  \
    { sizeof(quern_launch_options), {0}, {0}, 0, {0}, 0, 0, 0, 0, 0, NULL }
#ifndef __cplusplus
/** A launch of so many blocks of so many threads, along x. */
#define QUERN_GRID(blocks, threads)                                                                \
    ((quern_launch_options){sizeof(quern_launch_options), {(blocks)}, {(threads)}, 0, {0}, 0, 0, 0,  \
                            0, 0, NULL})
#endif

/** Launch a function: `values` are its parameters, in order.
 *
 * An array (QUERN_VALUE_ARRAY) is passed as the address of its first element and must be
 * C-contiguous unless `any_strides`; QUERN_VALUE_POINTER as it is; a scalar has the bytes of its dtype
 * (complex64 those of float2), QUERN_VALUE_STRUCT its own. Literals are refused, because they do not
 * say how wide they are. Number and sizes must match the function's parameters exactly; drivers tell
 * them since CUDA 12.4, and an older one cannot be asked: there they are passed as they are. Returns
 * when the launch is queued.
 *
 * Errors: QUERN_ERROR_ARGUMENT_COUNT, QUERN_ERROR_TYPE (kind or size), QUERN_ERROR_SHAPE (strides),
 * QUERN_ERROR_INVALID_ARGUMENT (grid, block, shared memory or cluster beyond the limits, which are
 * named), _DRIVER, _LAUNCH, _ACCESS, _NOT_SUPPORTED, _INTERRUPTED. */
QUERN_API quern_status quern_function_call_n(quern_function *function,
                                             const quern_launch_options *launch,
                                             const quern_value *values, size_t count);

static inline quern_value quern_value_pointer(void *pointer)
{
    quern_value v = {QUERN_VALUE_POINTER, 0, {0}};
    v.as.pointer = pointer;
    return v;
}
/* Plain C values as the bytes that their types have. */
static inline quern_value quern_argument_bool(int value)
{
    return quern_scalar_int(QUERN_BOOL, value != 0);
}
static inline quern_value quern_argument_char(signed char value)
{
    return quern_scalar_int(QUERN_INT8, value);
}
static inline quern_value quern_argument_uchar(unsigned char value)
{
    return quern_scalar_int(QUERN_UINT8, value);
}
static inline quern_value quern_argument_short(short value)
{
    return quern_scalar_int(QUERN_INT16, value);
}
static inline quern_value quern_argument_ushort(unsigned short value)
{
    return quern_scalar_int(QUERN_UINT16, value);
}
static inline quern_value quern_argument_int(int value)
{
    return quern_scalar_int(QUERN_INT32, value);
}
static inline quern_value quern_argument_long(long long value)
{
    return quern_scalar_int(QUERN_INT64, value);
}
static inline quern_value quern_argument_unsigned(unsigned value)
{
    return quern_scalar_int(QUERN_UINT32, (int64_t)value);
}
static inline quern_value quern_argument_ulong(unsigned long long value)
{
    return quern_scalar_int(QUERN_UINT64, (int64_t)value);
}
static inline quern_value quern_argument_double(double value)
{
    return quern_scalar_real(QUERN_FLOAT64, value);
}
/** A structure or vector by value: `bytes` of host memory at `data`, which must live until the call
 * that takes it has returned. */
static inline quern_value quern_value_struct(const void *data, size_t bytes)
{
    quern_value v = {QUERN_VALUE_STRUCT, 0, {0}};
    v.as.block.data = data;
    v.as.block.bytes = bytes;
    return v;
}

/* ============================================================================================
 * 7. Streams and events
 * ============================================================================================ */

/** A queue of work, done in order. On the software device each piece is done before the call that
 * queues it returns. May be used from many threads at once. */
QUERN_API quern_status quern_stream_new(quern_stream **out, quern_engine *engine);
/** Use a foreign stream; `handle` is a CUstream and must outlive the result. */
QUERN_API quern_status quern_stream_wrap(quern_stream **out, quern_engine *engine, void *handle);
/** The device's own handle, a CUstream; NULL on the software device. */
QUERN_API void *quern_stream_handle(const quern_stream *stream);
/** Wait until all work queued on the stream is done. */
QUERN_API quern_status quern_stream_wait(quern_stream *stream);
/** Frees the handle; queued work still completes. Arrays that calls on this stream allocated are
 * freed in its order: release them before it. */
QUERN_API void quern_stream_free(quern_stream *stream);

/** A mark in a stream. */
typedef struct quern_event quern_event;
QUERN_API quern_status quern_event_new(quern_event **out, quern_engine *engine);
/** Mark this point of `stream` (NULL: the engine's own). */
QUERN_API quern_status quern_event_record(quern_event *event, quern_stream *stream);
/** Wait on the host until the mark is reached. */
QUERN_API quern_status quern_event_wait(quern_event *event);
/** Let `stream` (NULL: the engine's own) wait for the mark, without waiting here. */
QUERN_API quern_status quern_stream_wait_event(quern_stream *stream, quern_event *event);
/** Milliseconds of device time between two marks that were reached (quern_event_wait). */
QUERN_API quern_status quern_event_elapsed(double *milliseconds, quern_event *begin,
                                           quern_event *end);
QUERN_API void quern_event_free(quern_event *event);

/* ============================================================================================
 * 8. The cache
 * ============================================================================================ */

typedef struct quern_cache_stats {
    uint32_t size;        /**< sizeof(quern_cache_stats), set by the caller */
    uint32_t enabled;     /**< 1 when a database is in use */
    uint64_t entries;     /**< rows in the database */
    uint64_t bytes;       /**< bytes of their images */
    uint64_t file_bytes;  /**< bytes of the database file */
    uint64_t limit;       /**< bytes allowed */
    uint64_t hits;        /**< look-ups of this engine that the database answered */
    uint64_t misses;      /**< look-ups of this engine that it did not */
    uint64_t compiled;    /**< compilations by this engine */
    uint64_t faults;      /**< times that the database failed and was done without */
    uint64_t corrupt;     /**< rows or files found damaged and removed or set aside */
    double compile_ms;    /**< time of those compilations, summed */
} quern_cache_stats;

/** Errors: QUERN_ERROR_CACHE when a database should be in use and cannot be read. */
QUERN_API quern_status quern_cache_get_stats(quern_engine *engine, quern_cache_stats *stats);

/** The path of the database file, or "" when there is none; and why, in `quern_cache_problem`.
 * Borrowed from the engine. */
QUERN_API const char *quern_cache_path(quern_engine *engine);
/** Why the cache is not used, or "" when it is. Borrowed from the engine. */
QUERN_API const char *quern_cache_problem(quern_engine *engine);

/** One entry, valid during the visit. All strings are never NULL. */
typedef struct quern_cache_entry {
    uint32_t size;
    uint32_t hits;
    const char *key;        /**< 32 hexadecimal digits */
    const char *name;       /**< of the kernel */
    const char *kind;       /**< "cubin" or "ptx" */
    const char *target;     /**< "sm_90" or "compute_75" */
    const char *compiler;   /**< "NVRTC 13.0 65be0db3..." */
    const char *source;     /**< generated source */
    const void *image;
    uint64_t image_bytes;
    int64_t created, last_used; /**< seconds since 1970 */
    double compile_ms;
} quern_cache_entry;

/** Return 0 to go on, anything else to stop. */
typedef int (*quern_cache_visitor)(void *context, const quern_cache_entry *entry);

/** Visit entries, the most recently used first. `key_prefix`: NULL for all, else the first digits of
 * the keys wanted. */
QUERN_API quern_status quern_cache_visit(quern_engine *engine, const char *key_prefix,
                                         quern_cache_visitor visitor, void *context);
/** Remove every entry; *removed (may be NULL) tells how many. */
QUERN_API quern_status quern_cache_clear(quern_engine *engine, uint64_t *removed);

/* ============================================================================================
 * 9. Devices and set-up
 * ============================================================================================ */

typedef struct quern_device_info {
    uint32_t size;              /**< sizeof(quern_device_info), set by the caller */
    uint32_t processors;        /**< multiprocessors; threads of the software device */
    char name[128];             /**< "NVIDIA H200", "software device" */
    char id[32];                /**< what opens it: "cuda:0", "soft" */
    char target[32];            /**< what is compiled for: "sm_90", "compute_75" */
    char note[256];             /**< why it cannot be used, or "" */
    uint64_t memory_bytes;      /**< memory of the device; of the host for the software device */
    uint32_t max_block_threads; /**< threads that a block may have */
    uint32_t max_shared_bytes;  /**< shared memory that a block may have, dynamic included */
    uint32_t warp_size;
    uint32_t driver_version;    /**< 13000 for 13.0; 0 for the software device */
} quern_device_info;

/** The engine's device. */
QUERN_API quern_status quern_get_device_info(quern_engine *engine, quern_device_info *info);

/** Fill up to `capacity` entries of `infos` (each with `size` set) with every device of this
 * machine, GPUs first, the software device last; *count tells how many there are. Never an error
 * when there is no GPU. */
QUERN_API quern_status quern_list_devices(size_t *count, quern_device_info *infos,
                                          size_t capacity);

/** What NVRTC was found; loading it is only attempted when `load` is not 0. */
typedef struct quern_compiler_info {
    uint32_t size;      /**< sizeof(quern_compiler_info), set by the caller */
    uint32_t found;     /**< 1 when a library was found */
    int32_t major;      /**< version; 0 when it was not loaded */
    int32_t minor;
    char path[512];     /**< the library file, or "" */
    char identity[64];  /**< the library's build id, in hexadecimal, or "" */
    char problem[1024]; /**< why it cannot be used and where it was looked for, or "" */
} quern_compiler_info;
QUERN_API quern_status quern_get_compiler_info(quern_compiler_info *info, int load);

#ifdef __cplusplus
} /* extern "C" */
#endif

/* --------------------------------------------------------------------------------------------
 * quern_call(kernel, argument, ...): pack arguments by their C types and call.
 *
 *     quern_array *   an array           int, long, ...   a literal       float    a float32 scalar
 *     quern_array **  an output          double           a literal       quern_value   itself
 *
 * quern_function_call(function, launch, argument, ...): the same for a function of a module, where
 * each argument has the bytes of its C type: int is int32, double is float64, and so on.
 * -------------------------------------------------------------------------------------------- */
#ifdef __cplusplus

static inline quern_value quern_value_of(quern_array *v) { return quern_value_array(v); }
static inline quern_value quern_value_of(quern_array **v) { return quern_value_output(v); }
/** A pointer to const is neither an array nor a truth value. */
template <typename T> quern_value quern_value_of(const T *v) = delete;
static inline quern_value quern_value_of(bool v) { return quern_literal_bool(v); }
static inline quern_value quern_value_of(int v) { return quern_literal_int(v); }
static inline quern_value quern_value_of(long v) { return quern_literal_int(v); }
static inline quern_value quern_value_of(long long v) { return quern_literal_int(v); }
static inline quern_value quern_value_of(unsigned v) { return quern_literal_int(v); }
static inline quern_value quern_value_of(unsigned long v) { return quern_literal_uint(v); }
static inline quern_value quern_value_of(unsigned long long v) { return quern_literal_uint(v); }
static inline quern_value quern_value_of(float v) { return quern_scalar_float(v); }
static inline quern_value quern_value_of(double v) { return quern_literal_double(v); }
static inline quern_value quern_value_of(quern_value v) { return v; }

static inline quern_value quern_argument_of(quern_array *v) { return quern_value_array(v); }
static inline quern_value quern_argument_of(void *v) { return quern_value_pointer(v); }
/** A pointer to const is neither an array nor a truth value. */
template <typename T> quern_value quern_argument_of(const T *v) = delete;
static inline quern_value quern_argument_of(bool v) { return quern_argument_bool(v); }
static inline quern_value quern_argument_of(signed char v) { return quern_argument_char(v); }
static inline quern_value quern_argument_of(unsigned char v) { return quern_argument_uchar(v); }
static inline quern_value quern_argument_of(short v) { return quern_argument_short(v); }
static inline quern_value quern_argument_of(unsigned short v) { return quern_argument_ushort(v); }
static inline quern_value quern_argument_of(int v) { return quern_argument_int(v); }
static inline quern_value quern_argument_of(unsigned v) { return quern_argument_unsigned(v); }
static inline quern_value quern_argument_of(long v) { return quern_argument_long(v); }
static inline quern_value quern_argument_of(long long v) { return quern_argument_long(v); }
static inline quern_value quern_argument_of(unsigned long v) { return quern_argument_ulong(v); }
static inline quern_value quern_argument_of(unsigned long long v) { return quern_argument_ulong(v); }
static inline quern_value quern_argument_of(float v) { return quern_scalar_float(v); }
static inline quern_value quern_argument_of(double v) { return quern_argument_double(v); }
static inline quern_value quern_argument_of(quern_value v) { return v; }

template <typename... Arguments>
static inline quern_status quern_call(quern_kernel *kernel, Arguments... arguments)
{
    const quern_value values[] = {quern_value{}, quern_value_of(arguments)...};
    return quern_call_n(kernel, values + 1, sizeof...(arguments), nullptr);
}

template <typename... Arguments>
static inline quern_status quern_function_call(quern_function *function,
                                               const quern_launch_options *launch,
                                               Arguments... arguments)
{
    const quern_value values[] = {quern_value{}, quern_argument_of(arguments)...};
    return quern_function_call_n(function, launch, values + 1, sizeof...(arguments));
}

#else

#define quern_value_of(v)                                                                          \
    _Generic((v),                                                                                  \
        quern_array *: quern_value_array,                                                          \
        quern_array **: quern_value_output,                                                        \
        _Bool: quern_literal_bool,                                                                 \
        char: quern_literal_int,                                                                   \
        signed char: quern_literal_int,                                                            \
        unsigned char: quern_literal_int,                                                          \
        short: quern_literal_int,                                                                  \
        unsigned short: quern_literal_int,                                                         \
        int: quern_literal_int,                                                                    \
        unsigned: quern_literal_int,                                                               \
        long: quern_literal_int,                                                                   \
        long long: quern_literal_int,                                                              \
        unsigned long: quern_literal_uint,                                                         \
        unsigned long long: quern_literal_uint,                                                    \
        float: quern_scalar_float,                                                                 \
        double: quern_literal_double,                                                              \
        quern_value: quern_value_same)(v)

#define quern_call(...)                                                                            \
    QUERN_CALL_PICK(__VA_ARGS__, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, 0, 0)             \
    (__VA_ARGS__)
#define QUERN_CALL_PICK(k, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16,  \
                        pick, ...)                                                                 \
    QUERN_CALL_##pick
#define QUERN_CALL_0(kernel) quern_call_n((kernel), NULL, 0, NULL)
#define QUERN_CALL_N(kernel, ...)                                                                  \
    quern_call_n((kernel), (const quern_value[]){QUERN_VALUES(__VA_ARGS__)},                       \
                 sizeof((const quern_value[]){QUERN_VALUES(__VA_ARGS__)}) / sizeof(quern_value),   \
                 NULL)

#define quern_argument_of(v)                                                                       \
    _Generic((v),                                                                                  \
        quern_array *: quern_value_array,                                                          \
        void *: quern_value_pointer,                                                               \
        _Bool: quern_argument_bool,                                                                \
        signed char: quern_argument_char,                                                          \
        unsigned char: quern_argument_uchar,                                                       \
        short: quern_argument_short,                                                               \
        unsigned short: quern_argument_ushort,                                                     \
        int: quern_argument_int,                                                                   \
        unsigned: quern_argument_unsigned,                                                         \
        long: quern_argument_long,                                                                 \
        long long: quern_argument_long,                                                            \
        unsigned long: quern_argument_ulong,                                                       \
        unsigned long long: quern_argument_ulong,                                                  \
        float: quern_scalar_float,                                                                 \
        double: quern_argument_double,                                                             \
        quern_value: quern_value_same)(v)

#define quern_function_call(...)                                                                   \
    QUERN_LAUNCH_PICK(__VA_ARGS__, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, 0, 0)           \
    (__VA_ARGS__)
#define QUERN_LAUNCH_PICK(f, l, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15,  \
                          a16, pick, ...)                                                          \
    QUERN_LAUNCH_##pick
#define QUERN_LAUNCH_0(function, launch) quern_function_call_n((function), (launch), NULL, 0)
#define QUERN_LAUNCH_N(function, launch, ...)                                                      \
    quern_function_call_n(                                                                         \
        (function), (launch), (const quern_value[]){QUERN_ARGUMENTS(__VA_ARGS__)},                 \
        sizeof((const quern_value[]){QUERN_ARGUMENTS(__VA_ARGS__)}) / sizeof(quern_value))

/** The arguments (1 to 16) as a list of quern_value for an array initialiser: of a kernel, and of a
 * function of a module. */
#define QUERN_VALUES(...)    QUERN_LIST(quern_value_of, __VA_ARGS__)
#define QUERN_ARGUMENTS(...) QUERN_LIST(quern_argument_of, __VA_ARGS__)
#define QUERN_LIST(...)                                                                            \
    QUERN_LIST_PICK(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)         \
    (__VA_ARGS__)
#define QUERN_LIST_PICK(of, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, \
                        count, ...)                                                                \
    QUERN_LIST_##count
#define QUERN_LIST_1(of, a)       of(a)
#define QUERN_LIST_2(of, a, ...)  of(a), QUERN_LIST_1(of, __VA_ARGS__)
#define QUERN_LIST_3(of, a, ...)  of(a), QUERN_LIST_2(of, __VA_ARGS__)
#define QUERN_LIST_4(of, a, ...)  of(a), QUERN_LIST_3(of, __VA_ARGS__)
#define QUERN_LIST_5(of, a, ...)  of(a), QUERN_LIST_4(of, __VA_ARGS__)
#define QUERN_LIST_6(of, a, ...)  of(a), QUERN_LIST_5(of, __VA_ARGS__)
#define QUERN_LIST_7(of, a, ...)  of(a), QUERN_LIST_6(of, __VA_ARGS__)
#define QUERN_LIST_8(of, a, ...)  of(a), QUERN_LIST_7(of, __VA_ARGS__)
#define QUERN_LIST_9(of, a, ...)  of(a), QUERN_LIST_8(of, __VA_ARGS__)
#define QUERN_LIST_10(of, a, ...) of(a), QUERN_LIST_9(of, __VA_ARGS__)
#define QUERN_LIST_11(of, a, ...) of(a), QUERN_LIST_10(of, __VA_ARGS__)
#define QUERN_LIST_12(of, a, ...) of(a), QUERN_LIST_11(of, __VA_ARGS__)
#define QUERN_LIST_13(of, a, ...) of(a), QUERN_LIST_12(of, __VA_ARGS__)
#define QUERN_LIST_14(of, a, ...) of(a), QUERN_LIST_13(of, __VA_ARGS__)
#define QUERN_LIST_15(of, a, ...) of(a), QUERN_LIST_14(of, __VA_ARGS__)
#define QUERN_LIST_16(of, a, ...) of(a), QUERN_LIST_15(of, __VA_ARGS__)

#endif /* __cplusplus */

#endif /* QUERN_H */
