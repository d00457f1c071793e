/* SPDX-License-Identifier: MIT
 *
 * Arrays. Typed, strided views of device memory: making, slicing, copying.
 */
#ifndef QUERN_ARRAY_H
#define QUERN_ARRAY_H

#include <quern/engine.h>

#ifdef __cplusplus
extern "C" {
#endif

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
    X(QUERN_COMPLEX128, 15, "complex128")                                                          \
    X(QUERN_FLOAT8_E4M3, 16, "float8_e4m3fn")                                                      \
    X(QUERN_FLOAT8_E5M2, 17, "float8_e5m2")

typedef enum quern_dtype {
    QUERN_DTYPE_NONE = 0,
#define QUERN_DTYPE_ENUM(name, code, text) name = code,
    QUERN_DTYPE_MAP(QUERN_DTYPE_ENUM)
#undef QUERN_DTYPE_ENUM
        QUERN_DTYPE_RECORD = 1024, /**< dtypes from here on are records: quern/record.h */
    QUERN_DTYPE_LAST = 0x7fffffff /**< none: any number in between may be stored in a quern_dtype */
} quern_dtype;

/** NumPy's name of a dtype ("float32"), or "none" for what is not one. */
QUERN_API const char *quern_dtype_name(quern_dtype dtype);
/** Bytes of one element; 0 for what is not a dtype. */
QUERN_API size_t quern_dtype_size(quern_dtype dtype);
/** The dtype of a NumPy name ("float32") or a C name ("unsigned char"); QUERN_DTYPE_NONE if
 * unknown. */
QUERN_API quern_dtype quern_dtype_from_name(const char *name);

/** Where memory lies, and so who may touch it. docs/memory.md has a table. */
typedef enum quern_memory {
    QUERN_MEMORY_HOST = 0,    /**< ordinary memory of the host, or not known; of no new array */
    QUERN_MEMORY_DEVICE = 1,  /**< the device's own: what arrays have unless they are asked for */
    QUERN_MEMORY_PINNED = 2,  /**< of the host, page-locked: the fastest to copy from and to */
    QUERN_MEMORY_MAPPED = 3,  /**< page-locked likewise, asked for so that kernels work in it */
    QUERN_MEMORY_MANAGED = 4, /**< of both: the driver moves it to where it is used */
} quern_memory;

#define QUERN_MAX_NDIM       32 /**< dimensions an array may have */
#define QUERN_MAX_PARAMETERS 64 /**< parameters a kernel may have, inputs and outputs together */

/** A typed, strided, n-dimensional view of device memory.
 *
 * Reference-counted; views share the memory of the array they come from and keep it alive. Shape,
 * strides and pointer never change, so one array may be read from many threads at once. */
typedef struct quern_array quern_array;

/** A new C-contiguous array. Its contents are undefined. `shape`: `ndim` extents, each >= 0.
 * Errors: QUERN_ERROR_DEVICE_MEMORY, QUERN_ERROR_INVALID_ARGUMENT (dtype, rank, negative or too
 * large extents). */
QUERN_API quern_status quern_array_new(quern_array **out, quern_engine *engine, quern_dtype dtype,
                                       int ndim, const int64_t *shape);

/** A new C-contiguous array in a kind of memory. Kernels may use each, and all functions of arrays
 * take each; what is not QUERN_MEMORY_DEVICE the host may touch too, at quern_array_host_pointer(),
 * once the work that uses it is done (quern_stream_wait(), quern_synchronize()). On the software
 * device all kinds are host memory.
 * Errors: as quern_array_new(); QUERN_ERROR_INVALID_ARGUMENT for QUERN_MEMORY_HOST;
 * QUERN_ERROR_NOT_SUPPORTED where the device has no such memory. */
QUERN_API quern_status quern_array_new_in(quern_array **out, quern_engine *engine,
                                          quern_memory memory, quern_dtype dtype, int ndim,
                                          const int64_t *shape);

/** A new C-contiguous array with a copy of `host`, C-contiguous host memory of the same size. The
 * host memory may be reused as soon as the call returns. Waits for the copy. */
QUERN_API quern_status quern_array_from(quern_array **out, quern_engine *engine, quern_dtype dtype,
                                        int ndim, const int64_t *shape, const void *host);

/** A view of foreign device memory: of cudaMalloc, PyTorch, CuPy, an RMM pool, ...
 *
 * `pointer` is the address of element (0, ..., 0); `strides` are in bytes, may be negative or zero,
 * and NULL means C-contiguous. Where they are no multiples of the dtype's size, kernels reach the
 * elements by narrower accesses. On the software device `pointer` is host memory, and kernels may
 * touch exactly the bytes that shape and strides span. `release` (may be NULL) is called with
 * `context` once the array and all views of it are gone; work that uses the memory may then still
 * be queued, in the order of the stream it was queued on. When wrapping fails, `release` is not
 * called.
 *
 * Errors: QUERN_ERROR_INVALID_ARGUMENT, QUERN_ERROR_OUT_OF_MEMORY. */
QUERN_API quern_status quern_array_wrap(quern_array **out, quern_engine *engine, quern_dtype dtype,
                                        int ndim, const int64_t *shape, const int64_t *strides,
                                        void *pointer, void (*release)(void *context),
                                        void *context);

/** What an address is. */
typedef struct quern_pointer_info {
    uint32_t size; /**< sizeof(quern_pointer_info), set by the caller */
    uint32_t reserved;
    int32_t memory;       /**< a quern_memory */
    int32_t device;       /**< the number of the device that the memory belongs to; -1: none */
    void *device_pointer; /**< the same place as kernels of the engine reach it; NULL: not at all */
} quern_pointer_info;

#define QUERN_POINTER_INFO_INIT                                                                    \
    {                                                                                              \
        sizeof(quern_pointer_info), 0, 0, 0, NULL                                                  \
    }

/** Tell what memory `pointer` is in, before it is wrapped. A GPU's driver knows all memory of CUDA,
 * whoever allocated it; a software device knows its own arrays and what is wrapped in it, and
 * calls all else host memory, which its kernels reach once it is wrapped. Thread-safe; waits for
 * nothing. Errors: QUERN_ERROR_INVALID_ARGUMENT, QUERN_ERROR_DRIVER, QUERN_ERROR_NOT_SUPPORTED. */
QUERN_API quern_status quern_pointer_get_info(quern_pointer_info *out, quern_engine *engine,
                                              const void *pointer);

/** One more reference; returns `array`. Thread-safe. */
QUERN_API quern_array *quern_array_retain(quern_array *array);
/** One reference less; the last one frees, in the order of the stream that the memory was allocated
 * on. Accepts NULL. Thread-safe; waits only for the device of an engine that was closed. */
QUERN_API void quern_array_release(quern_array *array);

/* Facts, which never change. Thread-safe; nothing is waited for. What is not an array has none: 0
 * or NULL is returned. */

/** The elements' dtype. */
QUERN_API quern_dtype quern_array_dtype(const quern_array *array);
/** Dimensions, 0 to QUERN_MAX_NDIM. */
QUERN_API int quern_array_ndim(const quern_array *array);
/** `ndim` extents, in elements. Borrowed. */
QUERN_API const int64_t *quern_array_shape(const quern_array *array);
/** `ndim` strides, in bytes. Borrowed. */
QUERN_API const int64_t *quern_array_strides(const quern_array *array);
/** Number of elements; 1 for an array without dimensions. */
QUERN_API int64_t quern_array_count(const quern_array *array);
/** Device address of element (0, ..., 0); on the software device, host memory. */
QUERN_API void *quern_array_pointer(const quern_array *array);
/** The address of element (0, ..., 0) for the host, NULL where the host cannot touch the memory, as
 * that of a GPU. Queued work may still use the elements: wait for it first. */
QUERN_API void *quern_array_host_pointer(const quern_array *array);
/** The kind of memory. Of wrapped memory the driver is asked, at the first call; what it does not
 * know counts as QUERN_MEMORY_DEVICE, as it was given. */
QUERN_API quern_memory quern_array_memory(const quern_array *array);
/** 1 when the elements lie in C order without gaps, else 0. */
QUERN_API int quern_array_is_contiguous(const quern_array *array);
/** 1 when the array is read-only, else 0. */
QUERN_API int quern_array_is_read_only(const quern_array *array);
/** The engine; borrowed. */
QUERN_API quern_engine *quern_array_engine(const quern_array *array);

/* Views: new arrays over the same memory. Nothing is copied and the device is not waited for. The
 * caller owns *out; it keeps the memory alive, so that `array` may be released before it.
 * Thread-safe. Errors: QUERN_ERROR_INVALID_ARGUMENT, QUERN_ERROR_SHAPE, QUERN_ERROR_OUT_OF_MEMORY.
 */

/** One axis of a slice, with Python's rules: `start:stop:step`, negative positions count from the
 * end, positions past the ends are clipped. */
typedef struct quern_slice {
    int64_t start, stop, step; /**< step 0 means: take the one element `start` and drop the axis */
} quern_slice;
#define QUERN_SLICE_NONE INT64_MIN /**< for start or stop: left out, as in `::2` */
/** All of an axis. */
#define QUERN_SLICE_ALL                                                                            \
    {                                                                                              \
        QUERN_SLICE_NONE, QUERN_SLICE_NONE, 1                                                      \
    }

/** Slice the first `count` axes; the others are taken whole. */
QUERN_API quern_status quern_array_slice(quern_array **out, quern_array *array, size_t count,
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

/** A read-only view of all of it. Nothing is written through such an array or a view of it: as an
 * output, by a fill or a write it is refused with QUERN_ERROR_INVALID_ARGUMENT and its parameter's
 * name. Other arrays over the same memory are not concerned. */
QUERN_API quern_status quern_array_read_only(quern_array **out, quern_array *array);
/** The same bytes as elements of another dtype, by NumPy's rules. Of the same size, any strides
 * will do. Of another size, the elements of the last axis must lie side by side; it is cut finer,
 * or its elements are put together where its bytes are a multiple of the new size. The view's
 * elements may lie off the alignment of their dtype: kernels then reach them by narrower accesses.
 * Errors: QUERN_ERROR_SHAPE with both dtypes and sizes. */
QUERN_API quern_status quern_array_view(quern_array **out, quern_array *array, quern_dtype dtype);

/* Copies between arrays and to and from the host are queued on the engine's own stream. Where an
 * array is not contiguous its elements are moved by a kernel, which, once for each kind of layout,
 * must be compiled or found in the cache like any other, with the same errors. */

/** A new C-contiguous array with the same elements. The caller owns *out. Returns when the copy is
 * queued. Errors: QUERN_ERROR_DEVICE_MEMORY, and those of a copy (above). */
QUERN_API quern_status quern_array_copy(quern_array **out, quern_array *array);
/** A new C-contiguous array on another engine with the same elements; on the engine of `array`
 * itself as quern_array_copy(). From GPU to GPU it returns when the copy is queued, each engine's
 * own stream waiting for the other's, and goes directly where the two are connected; between
 * devices of different kinds it waits. The caller owns *out.
 * Errors: QUERN_ERROR_DEVICE_MEMORY, QUERN_ERROR_OUT_OF_MEMORY, and those of a copy (above). */
QUERN_API quern_status quern_array_copy_to(quern_array **out, quern_array *array,
                                           quern_engine *engine);
/** How the elements of a copy lie in memory. */
typedef enum quern_order {
    QUERN_ORDER_C = 0,    /**< the last axis dense, as quern_array_copy() */
    QUERN_ORDER_F = 1,    /**< the first axis dense, as Fortran has it */
    QUERN_ORDER_KEEP = 2, /**< the axes in the order that they have in the array, without gaps */
} quern_order;
/** quern_array_copy() with an order. A KEEP of axes that are walked backwards walks them forwards;
 * of axes whose strides are equal, the last is the denser. Errors: as quern_array_copy(). */
QUERN_API quern_status quern_array_copy_order(quern_array **out, quern_array *array,
                                              quern_order order);
/** Assign: every element of `target`, an array or a view of one, becomes that of `source`, as
 * NumPy's `target[...] = source`. The source broadcasts to the target's shape (leading extents of 1
 * that it has too many are dropped), and its elements are converted as in a kernel's `y = x`; of a
 * complex number for a real dtype the real part is taken, and a bool says whether it is not zero.
 * Records are assigned to their own dtype alone. The two may overlap: the source counts as if it
 * had been copied first. Returns when the work is queued. Errors: QUERN_ERROR_SHAPE with both
 * shapes, or for a target whose elements share memory; QUERN_ERROR_TYPE for records; those of a
 * copy. */
QUERN_API quern_status quern_array_assign(quern_array *target, quern_array *source);
/** Set all elements to one: `value` points to an element in host memory, and `bytes` is its size,
 * that of the dtype. Returns when the filling is queued; the host memory may be reused then.
 * Errors: QUERN_ERROR_INVALID_ARGUMENT with both sizes; QUERN_ERROR_SHAPE for a view whose elements
 * share memory. */
QUERN_API quern_status quern_array_fill(quern_array *array, const void *value, size_t bytes);
/** Copy all elements to host memory, in C order. `bytes` must be count x element size. Waits. */
QUERN_API quern_status quern_array_read(quern_array *array, void *host, size_t bytes);
/** Copy all elements from host memory, in C order. `bytes` must be count x element size. The host
 * memory may be reused when the call returns. Waits for the copy. */
QUERN_API quern_status quern_array_write(quern_array *array, const void *host, size_t bytes);

/* The same in the order of `stream` (NULL: the engine's own), without a wait. Errors: those of the
 * functions above, and QUERN_ERROR_INVALID_ARGUMENT for a stream of another engine.
 *
 * Host memory must stay as it is until the stream has passed the copy: wait for the stream, or for
 * an event behind the copy. Only a copy of pinned memory (cuMemHostAlloc, cuMemHostRegister) runs
 * beside the host and other copies; one of pageable memory goes through buffers of the driver, and
 * the call may return late, even as late as when the copy is done. */

/** As quern_array_new(): the memory is there, and goes back, in the order of `stream`. */
QUERN_API quern_status quern_array_new_on(quern_array **out, quern_engine *engine,
                                          quern_dtype dtype, int ndim, const int64_t *shape,
                                          quern_stream *stream);
/** As quern_array_copy(); the new array's memory follows the order of `stream`. */
QUERN_API quern_status quern_array_copy_on(quern_array **out, quern_array *array,
                                           quern_stream *stream);
/** As quern_array_copy_order(); the new array's memory follows the order of `stream`. */
QUERN_API quern_status quern_array_copy_order_on(quern_array **out, quern_array *array,
                                                 quern_order order, quern_stream *stream);
/** As quern_array_assign(). */
QUERN_API quern_status quern_array_assign_on(quern_array *target, quern_array *source,
                                             quern_stream *stream);
/** As quern_array_fill(): `value` may be reused when the call returns. */
QUERN_API quern_status quern_array_fill_on(quern_array *array, const void *value, size_t bytes,
                                           quern_stream *stream);
/** As quern_array_read(): `host` has the elements once the stream has passed the copy. */
QUERN_API quern_status quern_array_read_on(quern_array *array, void *host, size_t bytes,
                                           quern_stream *stream);
/** As quern_array_write(): `host` may be reused once the stream has passed the copy. */
QUERN_API quern_status quern_array_write_on(quern_array *array, const void *host, size_t bytes,
                                            quern_stream *stream);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_ARRAY_H */
