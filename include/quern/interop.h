/* SPDX-License-Identifier: MIT
 *
 * Interop. Arrays of other libraries in, and arrays of this one out, without a copy and without a
 * wait on the host: DLPack, the array interfaces of NumPy and CUDA, and streams that wait for
 * streams.
 *
 * quern/quern.h does not include this header. The structures of DLPack 1.3 are declared here, field
 * for field as in its own dlpack.h; where a program includes that one first (a version 1), the
 * names here are names of its types, and nothing has to be cast.
 *
 * Memory stays its owner's. What Quern takes over it gives back once: when the array and all its
 * views are gone, in the thread that drops the last reference, and with none of the library's locks
 * held. A program in C++ must not let an exception out of a callback.
 */
#ifndef QUERN_INTEROP_H
#define QUERN_INTEROP_H

#include <quern/array.h>
#include <quern/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- DLPack's structures -------------------------------------------------------------------- */

/* Where memory is: quern_dl_device.device_type. Others exist, and are refused by their number. */
#define QUERN_DL_CPU          1  /**< host memory; what a software device has */
#define QUERN_DL_CUDA         2  /**< memory of a GPU */
#define QUERN_DL_CUDA_HOST    3  /**< pinned host memory */
#define QUERN_DL_CUDA_MANAGED 13 /**< memory that moves between host and GPU */

/* What elements are: quern_dl_dtype.code. */
#define QUERN_DL_INT           0
#define QUERN_DL_UINT          1
#define QUERN_DL_FLOAT         2
#define QUERN_DL_BFLOAT        4
#define QUERN_DL_COMPLEX       5
#define QUERN_DL_BOOL          6 /**< of 8 bits */
#define QUERN_DL_FLOAT8_E4M3FN 10
#define QUERN_DL_FLOAT8_E5M2   12

/* Bits of quern_dl_managed_versioned.flags. */
#define QUERN_DL_READ_ONLY UINT64_C(1) /**< nobody may write through this tensor */
#define QUERN_DL_IS_COPIED UINT64_C(2) /**< a copy, made for who gets it and shared with nobody */
/** Not of DLPack, and of quern_array_from_dltensor() alone: the memory is where the tensor says, so
 * the driver is not asked what it is. That question costs more than the rest of the call. */
#define QUERN_DL_TRUSTED (UINT64_C(1) << 63)

#if defined(DLPACK_DLPACK_H_) && defined(DLPACK_MAJOR_VERSION) && DLPACK_MAJOR_VERSION == 1

typedef DLDeviceType quern_dl_device_type;
typedef DLDevice quern_dl_device;
typedef DLDataType quern_dl_dtype;
typedef DLTensor quern_dl_tensor;
typedef struct DLManagedTensor quern_dl_managed;
typedef DLPackVersion quern_dl_version;
typedef struct DLManagedTensorVersioned quern_dl_managed_versioned;

#else

typedef int32_t quern_dl_device_type;

typedef struct quern_dl_device {
    quern_dl_device_type device_type; /**< QUERN_DL_CPU, ... */
    int32_t device_id;                /**< the GPU's number; 0 for all else */
} quern_dl_device;

typedef struct quern_dl_dtype {
    uint8_t code; /**< QUERN_DL_INT, ... */
    uint8_t bits;
    uint16_t lanes; /**< 1: vectors are refused */
} quern_dl_dtype;

/** A strided array that owns nothing. */
typedef struct quern_dl_tensor {
    void *data;
    quern_dl_device device;
    int32_t ndim;
    quern_dl_dtype dtype;
    int64_t *shape;
    int64_t *strides; /**< in elements; NULL: C order without gaps */
    uint64_t byte_offset;
} quern_dl_tensor;

/** A tensor with an owner, as DLPack had it before 1.0. */
typedef struct quern_dl_managed {
    quern_dl_tensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct quern_dl_managed *self);
} quern_dl_managed;

typedef struct quern_dl_version {
    uint32_t major, minor;
} quern_dl_version;

/** A tensor with an owner. Of another major version only `version` and `deleter` may be touched. */
typedef struct quern_dl_managed_versioned {
    quern_dl_version version;
    void *manager_ctx;
    void (*deleter)(struct quern_dl_managed_versioned *self); /**< NULL: nothing to give back */
    uint64_t flags;
    quern_dl_tensor dl_tensor;
} quern_dl_managed_versioned;

#endif

/* Since 1.3 a library gives out a table of functions besides; a binding to a language fills it. */
#if defined(DLPACK_DLPACK_H_) && DLPACK_MAJOR_VERSION == 1 && DLPACK_MINOR_VERSION >= 3

typedef DLPackExchangeAPIHeader quern_dl_exchange_header;
typedef DLPackExchangeAPI quern_dl_exchange;

#else

typedef struct quern_dl_exchange_header {
    quern_dl_version version;
    struct quern_dl_exchange_header *prev_api; /**< an older table, or NULL */
} quern_dl_exchange_header;

/** Each function returns 0, or -1 with an error set; none waits for a device. */
typedef struct quern_dl_exchange {
    quern_dl_exchange_header header;
    int (*managed_tensor_allocator)(quern_dl_tensor *prototype, quern_dl_managed_versioned **out,
                                    void *error_ctx,
                                    void (*SetError)(void *error_ctx, const char *kind,
                                                     const char *message));
    int (*managed_tensor_from_py_object_no_sync)(void *py_object, quern_dl_managed_versioned **out);
    int (*managed_tensor_to_py_object_no_sync)(quern_dl_managed_versioned *tensor,
                                               void **out_py_object);
    int (*dltensor_from_py_object_no_sync)(void *py_object, quern_dl_tensor *out); /**< or NULL */
    int (*current_work_stream)(quern_dl_device_type device_type, int32_t device_id,
                               void **out_current_stream);
} quern_dl_exchange;

#endif

/* ---- DLPack: in ----------------------------------------------------------------------------- */

/* A tensor must be where the engine's kernels reach it: on a software device QUERN_DL_CPU,
 * QUERN_DL_CUDA_HOST or QUERN_DL_CUDA_MANAGED; on a GPU QUERN_DL_CUDA with its own number,
 * QUERN_DL_CUDA_MANAGED, QUERN_DL_CUDA_HOST, and QUERN_DL_CPU where that memory is pinned. The
 * driver is asked whether the memory is what the tensor says.
 *
 * Errors: QUERN_ERROR_INVALID_ARGUMENT for what no tensor can be (shape, strides, alignment, data
 * that is NULL or elsewhere than said), QUERN_ERROR_NOT_SUPPORTED for what it may be and is not
 * taken (another device, dtype or major version), QUERN_ERROR_OUT_OF_MEMORY. After an error the
 * tensor is still the caller's, and nothing of it was called. */

/** An array over the tensor's memory. On success Quern owns `tensor`, and calls its deleter once.
 * The array is read-only where QUERN_DL_READ_ONLY is set. The caller owns *out. Thread-safe; waits
 * for nothing: order the work by quern_stream_follow(). */
QUERN_API quern_status quern_array_from_dlpack(quern_array **out, quern_engine *engine,
                                               quern_dl_managed_versioned *tensor);
/** The same of the older structure, which has no flags. */
QUERN_API quern_status quern_array_from_dlpack_legacy(quern_array **out, quern_engine *engine,
                                                      quern_dl_managed *tensor);
/** The same of a tensor that is only lent: `tensor` itself is copied, and its memory must stay
 * until `release` (may be NULL) is called with `context`. `flags`: QUERN_DL_READ_ONLY and
 * QUERN_DL_TRUSTED, or 0. */
QUERN_API quern_status quern_array_from_dltensor(quern_array **out, quern_engine *engine,
                                                 const quern_dl_tensor *tensor, uint64_t flags,
                                                 void (*release)(void *context), void *context);

/* ---- DLPack: out ---------------------------------------------------------------------------- */

/* What goes out has strides, byte_offset 0, and data NULL when it has no elements. Each tensor
 * holds a reference to its array until its deleter is called, which may be in any thread, once.
 * Thread-safe; waits for nothing: order the work by quern_stream_lead(). Errors:
 * QUERN_ERROR_INVALID_ARGUMENT, QUERN_ERROR_NOT_SUPPORTED, QUERN_ERROR_OUT_OF_MEMORY. */

/** A tensor over the array's memory, of version 1.3; the caller owns *out and calls its deleter, or
 * hands both on. `flags`: QUERN_DL_READ_ONLY, which a read-only array has anyway, and
 * QUERN_DL_IS_COPIED where the caller made the array for this and drops it. */
QUERN_API quern_status quern_array_to_dlpack(quern_dl_managed_versioned **out, quern_array *array,
                                             uint64_t flags);
/** The same as the older structure, which cannot say that an array is read-only: such an array is
 * refused. */
QUERN_API quern_status quern_array_to_dlpack_legacy(quern_dl_managed **out, quern_array *array);
/** A tensor that is only lent: all of it is the array's, and valid as long as that is. It cannot
 * say whether the array is read-only. On failure *out is zero. */
QUERN_API quern_status quern_array_to_dltensor(quern_dl_tensor *out, quern_array *array);

/** The dtype of `from`. Errors: QUERN_ERROR_NOT_SUPPORTED with code, bits and lanes of one that
 * Quern does not have; *out is then QUERN_DTYPE_NONE. */
QUERN_API quern_status quern_dtype_from_dl(quern_dtype *out, quern_dl_dtype from);
/** The other way. Errors: QUERN_ERROR_INVALID_ARGUMENT for what is not a dtype. */
QUERN_API quern_status quern_dtype_to_dl(quern_dl_dtype *out, quern_dtype dtype);

/* ---- the table of functions ----------------------------------------------------------------- */

/** From now on `engine` is the one that the two functions below use for its device. It is held
 * until another engine of that device takes its place. NULL: none is used any more, and those held
 * are let go. Thread-safe. Errors: QUERN_ERROR_NOT_SUPPORTED for a device of one's own that says
 * not where its memory is. */
QUERN_API quern_status quern_dlpack_use(quern_engine *engine);
/** For quern_dl_exchange.managed_tensor_allocator: a new tensor with the shape, dtype and device of
 * `prototype`, allocated in the order of the engine's own stream. Returns 0; or -1, and `SetError`
 * (may be NULL) is called with the name of a Python exception and what was wrong. Thread-safe. */
QUERN_API int
quern_dlpack_allocate(quern_dl_tensor *prototype, quern_dl_managed_versioned **out, void *error_ctx,
                      void (*SetError)(void *error_ctx, const char *kind, const char *message));
/** For quern_dl_exchange.current_work_stream: the engine's own stream, a CUstream; NULL on the
 * software device. Returns 0; or -1 where no engine is used for the device. Thread-safe. */
QUERN_API int quern_dlpack_current_stream(quern_dl_device_type device_type, int32_t device_id,
                                          void **out_current_stream);

/* ---- the array interfaces ------------------------------------------------------------------- */

/** The entries of `__cuda_array_interface__` (version 3) on a GPU, and of `__array_interface__` on
 * a software device. */
typedef struct quern_array_interface {
    uint32_t size; /**< sizeof(quern_array_interface) */
    uint32_t reserved;
    int32_t version; /**< 0 to 3; 3 in what Quern fills */
    int32_t ndim;
    const int64_t *shape;   /**< `ndim` extents; may be NULL when `ndim` is 0 */
    const int64_t *strides; /**< in bytes; NULL: C order without gaps */
    char typestr[8];        /**< "<f4": order of bytes, kind, size */
    void *data;             /**< may be NULL when there are no elements */
    int32_t read_only;      /**< 1: nobody may write through it */
    int32_t has_stream;     /**< 0: nothing has to be waited for */
    int64_t stream;         /**< with has_stream: 1 legacy, 2 per thread, else a CUstream; 0 is
                                 ambiguous and refused */
    const char *descr;      /**< of a record, as NumPy writes it; NULL: none */
    const void *mask;       /**< refused unless NULL */
} quern_array_interface;

#define QUERN_ARRAY_INTERFACE_INIT                                                                 \
    {                                                                                              \
        sizeof(quern_array_interface), 0, 3, 0, NULL, NULL, "", NULL, 0, 0, 0, NULL, NULL          \
    }

/** An array over the memory that `from` describes, which must stay until `release` (may be NULL) is
 * called with `context`. The engine's own stream waits for the one that `from` names. Elements of
 * the typestr "|V..." are what `descr` says: a record called "record"; of any other typestr `descr`
 * is not looked at. The caller owns *out; when this fails, `release` is not called. Thread-safe;
 * waits for nothing on the host. Errors: as those of quern_array_from_dlpack(); QUERN_ERROR_TYPE
 * for a descr that is no record, as quern_dtype_from_descr() gives it; QUERN_ERROR_DRIVER. */
QUERN_API quern_status quern_array_from_interface(quern_array **out, quern_engine *engine,
                                                  const quern_array_interface *from,
                                                  void (*release)(void *context), void *context);
/** Describe the array: shape and strides are borrowed from it, the descr of a record is valid for
 * good. On a GPU the stream is `stream`
 * (NULL: the engine's own), on which what the reader must wait for is queued. Thread-safe. Errors:
 * QUERN_ERROR_INVALID_ARGUMENT; QUERN_ERROR_NOT_SUPPORTED for bfloat16 and float8_e4m3fn, which the
 * interface does not know. */
QUERN_API quern_status quern_array_get_interface(quern_array_interface *out, quern_array *array,
                                                 quern_stream *stream);

/* ---- streams that wait for streams ---------------------------------------------------------- */

/* `handle` is a CUstream of the engine's device, 1 for the legacy default stream, or 2 for that of
 * the calling thread. NULL is refused: it may mean either. On a software device, whose work is done
 * when a call returns, there is nothing to wait for. Thread-safe; nothing is waited for on the
 * host. Errors: QUERN_ERROR_INVALID_ARGUMENT, also where one of the two is being captured and the
 * other is not, QUERN_ERROR_DRIVER. */

/** `stream` (NULL: the engine's own) waits for what is queued on the foreign `handle` by now:
 * before Quern uses what another library has made. */
QUERN_API quern_status quern_stream_follow(quern_engine *engine, quern_stream *stream,
                                           void *handle);
/** The foreign `handle` waits for what is queued on `stream` by now: before another library uses
 * what Quern has made, or gives memory back that Quern has used. */
QUERN_API quern_status quern_stream_lead(quern_engine *engine, quern_stream *stream, void *handle);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_INTEROP_H */
