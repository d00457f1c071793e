/* SPDX-License-Identifier: MIT
 *
 * array: typed, strided views of device memory, and the planner that looks at their layouts.
 * Uses base, lang's dtype table, and homes and streams of src/device. Copies between layouts need a
 * kernel, and so reading and writing elements is the engine's: src/engine/calls/transfer.c.
 *
 * Address and strides of an array are any numbers of bytes. Where they keep elements off the
 * alignment that their dtype wants, `reach` says how wide the accesses to one may be, and kernels
 * are made with such accesses.
 */
#ifndef QN_ARRAY_H
#define QN_ARRAY_H

#include "base/base.h"
#include "base/object.h"
#include "device/device_internal.h"
#include "lang/lang.h"

/* ---- buffer.c: a piece of device memory with one owner -------------------------------------- */

/** Reference-counted. */
typedef struct qn_buffer {
    qn_deferred deferred; /**< first: its end, while its stream is being captured */
    atomic_uint references;
    void *block;   /**< what its end frees: itself, or the array that it lies within */
    qn_home *home; /**< retained */
    void *pointer;
    size_t bytes;
    quern_stream *stream;           /**< retained: its order allocation and release follow */
    void (*release)(void *context); /**< foreign memory: NULL for the device's own */
    void *context;
    bool foreign;
    atomic_int memory;       /**< a quern_memory; QUERN_MEMORY_HOST: nobody has said or asked yet */
    const qn_source *source; /**< where it came from and goes back: see qn_memory_new() */
} qn_buffer;
quern_status qn_buffer_new(qn_buffer **out, qn_home *home, size_t bytes, quern_memory memory,
                           quern_stream *stream);
/** Foreign memory [base, base + bytes), by a buffer that is filled here and lies within `block`.
 * When this fails, `release` is not called and the block not freed. */
quern_status qn_buffer_adopt(qn_buffer *buffer, void *block, qn_home *home, void *base,
                             size_t bytes, void (*release)(void *context), void *context);
/** The kind of memory; of foreign memory the device is asked, the first time. */
quern_memory qn_buffer_memory(qn_buffer *buffer);
void qn_buffer_retain(qn_buffer *buffer);
void qn_buffer_release(qn_buffer *buffer);
/** Work on `stream`, which is being captured, uses it: the graph keeps it. */
quern_status qn_buffer_keep(qn_buffer *buffer, quern_stream *stream);

/* ---- array.c, view.c ------------------------------------------------------------------------ */

struct quern_array {
    uint32_t object; /**< QN_OBJECT_ARRAY */
    atomic_uint references;
    qn_buffer *buffer; /**< retained */
    quern_dtype dtype;
    uint32_t item_size;
    int ndim;
    bool contiguous; /**< C order without gaps */
    bool read_only;
    uint8_t reach;      /**< 0: elements are aligned as their dtype is; else the alignment that all
                             have, 1 to 16: less than the dtype's, or of a record's also more. Never 0
                             of a packed record: compilers copy one as if its fields were aligned */
    bool packed;        /**< the dtype is */
    bool loose;         /**< as qn_operand.loose */
    bool is_block;      /**< the buffer lies behind the steps, and its end frees both */
    uint16_t alignment; /**< of the dtype */
    int64_t count;
    void *data;       /**< element (0, ..., 0) */
    int64_t *strides; /**< bytes; points behind shape */
    int64_t *steps;   /**< the strides in elements, rounded down; points behind them */
    int64_t shape[];  /**< ndim extents, then ndim strides, then ndim steps; see is_block */
};

/** True when elements can only be moved by words, which forbids references to them. */
static inline bool qn_array_is_packed(const quern_array *array)
{
    return array->reach != 0 && (array->packed || array->reach < array->alignment);
}

/** Is it an array of `home`? */
static inline bool qn_array_fits(const quern_array *array, const qn_home *home)
{
    return qn_object_is(array, QN_OBJECT_ARRAY) && array->buffer->home == home;
}

/** Say why not; `user` is what would take it, such as "kernel", and is on `home`. */
quern_status qn_array_refuse(const quern_array *array, const char *user, const qn_home *home);
/** Check a shape and count its elements; their bytes fit a ptrdiff_t. Errors:
 * QUERN_ERROR_INVALID_ARGUMENT. */
quern_status qn_shape_check(int64_t *count, int ndim, const int64_t *shape, uint32_t item_size);
/** An array over `buffer` (retained; NULL: to be set by the caller) whose data, shape and strides
 * are still to be set; then qn_array_finish() computes what follows from them. NULL: out of memory.
 */
quern_array *qn_array_header(qn_buffer *buffer, quern_dtype dtype, int ndim);
/** The same without a buffer, and with `room` bytes behind the steps. */
quern_array *qn_array_header_with(quern_dtype dtype, int ndim, size_t room);
void qn_array_finish(quern_array *array);
/** Set the strides of C order without gaps. */
void qn_array_set_c_strides(quern_array *array);
/** The offsets of its elements, in bytes, fit 32 bits. */
bool qn_array_is_narrow(const quern_array *array);
/** A new C-contiguous array whose memory follows the order of `stream`. */
quern_status qn_array_new_on(quern_array **out, qn_home *home, quern_dtype dtype, int ndim,
                             const int64_t *shape, quern_stream *stream);
/** The same without memory, for explaining a call: its address is NULL. */
quern_status qn_array_without_memory(quern_array **out, qn_home *home, quern_dtype dtype, int ndim,
                                     const int64_t *shape);
/** Refuse a read-only array, because of what `user` ("quern_array_fill") would write. */
quern_status qn_array_check_writable(const quern_array *array, const char *user);
/** "(2, 5)", "(3,)", "()": for messages. */
void qn_shape_print(qn_text *out, int ndim, const int64_t *shape);

/* ---- foreign.c: memory of somebody else ----------------------------------------------------- */

/** What a protocol says of it. */
typedef struct qn_foreign {
    quern_dtype dtype;
    int ndim;
    const int64_t *shape;
    const int64_t *strides; /**< NULL: C order without gaps */
    bool in_elements;       /**< so the strides are counted, else in bytes */
    bool read_only;
    quern_memory memory; /**< QUERN_MEMORY_HOST: not said */
    void *pointer;       /**< element (0, ..., 0), as kernels reach it */
    void (*release)(void *context);
    void *context;
} qn_foreign;
/** An array over it. `release` is not called when this fails. Errors: QUERN_ERROR_INVALID_ARGUMENT,
 * QUERN_ERROR_OUT_OF_MEMORY. */
quern_status qn_array_adopt(quern_array **out, qn_home *home, const qn_foreign *f);

/* ---- place.c: is memory where it is said to be? --------------------------------------------- */

/** Where somebody says that memory is. */
typedef struct qn_place_said {
    bool anywhere;  /**< wherever kernels reach it: nothing is said */
    int32_t type;   /**< QUERN_DL_CPU, ... */
    int32_t number; /**< of the GPU */
} qn_place_said;
/** Compare with the home's device and with what its driver knows. Out: the address as kernels reach
 * it, and the kind of memory. `asks` false: there is nothing at the address, or it is known to be
 * there. Errors: QUERN_ERROR_NOT_SUPPORTED for a device that the home's kernels do not reach,
 * QUERN_ERROR_INVALID_ARGUMENT for memory that is not what was said. */
quern_status qn_memory_find(void **pointer, quern_memory *memory, const qn_home *home,
                            const qn_place_said *said, bool asks);
/** Where the array's memory is, for others. Errors: QUERN_ERROR_NOT_SUPPORTED. */
quern_status qn_memory_place(int32_t *type, int32_t *number, const qn_home *home,
                             quern_memory memory);

#endif /* QN_ARRAY_H */
