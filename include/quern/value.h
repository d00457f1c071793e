/* SPDX-License-Identifier: MIT
 *
 * Values. One argument of a call, to a kernel or to a function of a module. quern_call() and
 * quern_function_call() make them from plain C arguments; programs that put a call together at run
 * time, and bindings to other languages, make them with the functions below.
 */
#ifndef QUERN_VALUE_H
#define QUERN_VALUE_H

#include <quern/array.h>

#ifdef __cplusplus
extern "C" {
#endif

struct quern_texture;
struct quern_surface;

/** What a quern_value holds. */
typedef enum quern_value_kind {
    QUERN_VALUE_NONE = 0,    /**< an output that the call allocates and drops */
    QUERN_VALUE_ARRAY = 1,   /**< an array: input, or output that exists */
    QUERN_VALUE_OUTPUT = 2,  /**< where to put an output; allocated when *output is NULL */
    QUERN_VALUE_LITERAL = 3, /**< a plain number: takes the dtype that its parameter gets */
    QUERN_VALUE_SCALAR = 4,  /**< a number of a stated dtype */
    QUERN_VALUE_STRUCT = 5,  /**< bytes by value: a record, or what a function of a module takes */
    QUERN_VALUE_POINTER = 6, /**< a device pointer, only for functions of modules */
    QUERN_VALUE_LIKE = 7,    /**< a dtype and a shape, only for quern_kernel_infer() */
    QUERN_VALUE_TEXTURE = 8, /**< a texture, only for functions of modules */
    QUERN_VALUE_SURFACE = 9, /**< a surface, only for functions of modules */
} quern_value_kind;

/** One argument of a call. Borrowed only for the call. */
typedef struct quern_value {
    int32_t kind; /**< a quern_value_kind */
    /** A quern_dtype: of a scalar and of QUERN_VALUE_LIKE its own; of a literal bool, int64,
     * float64 or complex128; of a structure its record, or 0 where that is not stated. */
    int32_t dtype;
    union {
        quern_array *array;
        quern_array **output;
        int64_t integer;  /**< literals and scalars of signed integer dtypes, and bool (0 or 1) */
        uint64_t natural; /**< scalars of unsigned dtypes */
        double real;      /**< scalars of float dtypes, float16 and bfloat16 too */
        double parts[2];  /**< complex literals and scalars: real and imaginary part */
        void *pointer;    /**< a device address, or NULL */
        struct {
            const void *data; /**< host memory, copied by the call */
            uint64_t bytes;
        } block; /**< a structure, or a vector such as float4 */
        struct {
            const int64_t *shape; /**< host memory, read by the call */
            int64_t ndim;
        } like; /**< an array without memory */
        struct quern_texture *texture;
        struct quern_surface *surface;
    } as;
} quern_value;

/* For kernels. A plain C number is a literal; quern_scalar_ functions state the dtype. */

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
/** An array without memory, for quern_kernel_infer() only: `ndim` extents at `shape` (NULL if
 * `ndim` is 0), which must live until the call that takes the value has returned. */
static inline quern_value quern_value_like(quern_dtype dtype, int ndim, const int64_t *shape)
{
    quern_value v = {QUERN_VALUE_LIKE, (int32_t)dtype, {0}};
    v.as.like.shape = shape;
    v.as.like.ndim = ndim;
    return v;
}
/** One element of a record, at `data`, which must live until the call that takes it has returned.
 */
static inline quern_value quern_scalar_record(quern_dtype dtype, const void *data)
{
    quern_value v = {QUERN_VALUE_STRUCT, (int32_t)dtype, {0}};
    v.as.block.data = data;
    v.as.block.bytes = quern_dtype_size(dtype);
    return v;
}
static inline quern_value quern_value_same(quern_value value)
{
    return value;
}

/* For functions of modules. Plain C values as the bytes that their types have. */

static inline quern_value quern_value_pointer(void *pointer)
{
    quern_value v = {QUERN_VALUE_POINTER, 0, {0}};
    v.as.pointer = pointer;
    return v;
}
/** As quern_value_pointer(), from a pointer to anything, const or not. */
static inline quern_value quern_argument_pointer(const void *pointer)
{
    return quern_value_pointer((void *)(uintptr_t)pointer);
}
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

/** For a parameter that is a cudaTextureObject_t; see quern/texture.h. */
static inline quern_value quern_value_texture(struct quern_texture *texture)
{
    quern_value v = {QUERN_VALUE_TEXTURE, 0, {0}};
    v.as.texture = texture;
    return v;
}
/** For a parameter that is a cudaSurfaceObject_t. */
static inline quern_value quern_value_surface(struct quern_surface *surface)
{
    quern_value v = {QUERN_VALUE_SURFACE, 0, {0}};
    v.as.surface = surface;
    return v;
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_VALUE_H */
