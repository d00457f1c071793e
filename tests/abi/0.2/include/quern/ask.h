/* SPDX-License-Identifier: MIT
 *
 * Asking kernels. What a kernel is made of, and what a call of it would give.
 *
 * Nothing here compiles, launches, allocates device memory or waits for a device. All functions may
 * be called from many threads at once, also while the kernel is called.
 */
#ifndef QUERN_ASK_H
#define QUERN_ASK_H

#include <quern/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum quern_kernel_kind {
    QUERN_KERNEL_ELEMENTWISE = 1,
    QUERN_KERNEL_REDUCTION = 2,
    QUERN_KERNEL_SCAN = 3,
} quern_kernel_kind;

/** What a kernel was defined from. All texts are as they were given, and borrowed for the kernel's
 * life; one that was not given, or that kernels of this kind do not have, is NULL. */
typedef struct quern_kernel_info {
    uint32_t size;          /**< sizeof(quern_kernel_info), set by the caller */
    int32_t kind;           /**< a quern_kernel_kind */
    size_t in_count;        /**< inputs */
    size_t out_count;       /**< outputs */
    size_t parameter_count; /**< both together */
    const char *name;       /**< in profilers and messages */
    const char *in, *out;   /**< the signature; never NULL */
    const char *operation;  /**< elementwise */
    const char *map;        /**< this and the next four: reductions and scans */
    const char *reduce;     /**< of a scan: its `scan` */
    const char *post;
    const char *identity;    /**< NULL: values start from the first element */
    const char *reduce_type; /**< of a scan: its `scan_type` */
    const char *preamble;    /**< of any kind */
    const char *loop_prep;   /**< this and the next: elementwise */
    const char *after_loop;
} quern_kernel_info;

#define QUERN_KERNEL_INFO_INIT                                                                     \
    {                                                                                              \
        sizeof(quern_kernel_info), 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,     \
            NULL, NULL, NULL, NULL                                                                 \
    }

/** Fill *info. Errors: QUERN_ERROR_INVALID_ARGUMENT. */
QUERN_API quern_status quern_kernel_get_info(quern_kernel_info *info, quern_kernel *kernel);

/** The CUDA sources of what was compiled for a kernel so far, or found in the cache: *count says
 * how many there are, and up to `capacity` of them are put into `sources` (NULL where `capacity` is
 * 0), the latest first. They are borrowed for the kernel's life. quern_explain() has the source of
 * one call. Errors: QUERN_ERROR_INVALID_ARGUMENT. */
QUERN_API quern_status quern_kernel_sources(size_t *count, const char **sources, size_t capacity,
                                            quern_kernel *kernel);

/** A parameter as the signature has it. The texts are borrowed for the kernel's life. */
typedef struct quern_parameter_info {
    uint32_t size;      /**< sizeof(quern_parameter_info), set by the caller */
    int32_t dtype;      /**< a quern_dtype; QUERN_DTYPE_NONE: the type is a letter */
    const char *name;   /**< "x" */
    const char *type;   /**< as written: "T", "float32", "unsigned char" */
    uint32_t is_output; /**< 1: an output */
    uint32_t is_raw;    /**< 1: written `raw`: indexed, not broadcast */
    uint32_t is_const;  /**< 1: written `const` */
    uint32_t reserved;
} quern_parameter_info;

#define QUERN_PARAMETER_INFO_INIT                                                                  \
    {                                                                                              \
        sizeof(quern_parameter_info), 0, NULL, NULL, 0, 0, 0, 0                                    \
    }

/** Fill *info with what the signature says of parameter `index`, counted from 0: inputs, then
 * outputs. Errors: QUERN_ERROR_INVALID_ARGUMENT, also past the last one. */
QUERN_API quern_status quern_kernel_get_parameter(quern_parameter_info *info, quern_kernel *kernel,
                                                  size_t index);

/** What an array is, without one. */
typedef struct quern_array_info {
    uint32_t size; /**< sizeof(quern_array_info), set by the caller */
    int32_t dtype; /**< a quern_dtype */
    int32_t ndim;  /**< dimensions */
    uint32_t reserved;
    int64_t shape[QUERN_MAX_NDIM]; /**< `ndim` extents, in elements; the others are 0 */
} quern_array_info;

#define QUERN_ARRAY_INFO_INIT                                                                      \
    {                                                                                              \
        sizeof(quern_array_info), 0, 0, 0,                                                         \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }

/** What the outputs of a call would be: fill up to `capacity` entries of `outputs`, in the order of
 * the signature. All entries are as large as `size` of the first one says.
 *
 * `values` are those of quern_call_n(): all inputs, then all outputs or none of them. An input or
 * an output without memory is a quern_value_like(): a dtype and a shape. Arrays that are given as
 * outputs are checked as the call would check them. `options` as for quern_call_n().
 *
 * Errors: those that quern_call_n() finds before it compiles: QUERN_ERROR_ARGUMENT_COUNT, _TYPE,
 * _SHAPE, _INVALID_ARGUMENT, _OUT_OF_MEMORY. Whether numbers fit their parameters is left to the
 * call. */
QUERN_API quern_status quern_kernel_infer(quern_array_info *outputs, size_t capacity,
                                          quern_kernel *kernel, const quern_value *values,
                                          size_t count, const quern_call_options *options);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_ASK_H */
