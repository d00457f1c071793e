/* SPDX-License-Identifier: MIT
 *
 * Kernels. Elementwise, reductions and scans: defining, calling, binding, explaining.
 */
#ifndef QUERN_KERNEL_H
#define QUERN_KERNEL_H

#include <quern/value.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A parsed definition. What is compiled for particular dtypes and layouts is kept inside it.
 * May be called from many threads at once. */
typedef struct quern_kernel quern_kernel;

typedef struct quern_kernel_options {
    uint32_t size; /**< sizeof(quern_kernel_options) */
    /** 1: keep every dimension apart (CuPy's reduce_dims=False). Never changes results. */
    uint32_t separate_axes;
    /** Of the kernel in profilers and messages: an identifier; default "quern_kernel". Where C++,
     * CUDA or the signature has given it to something else ("log", "double", "T"), the kernel is
     * called "log_kernel" in the source, and so in profilers. */
    const char *name;
    const char *preamble;   /**< device code before the kernel: functions, types, includes */
    const char *loop_prep;  /**< statements before the loop over the elements, once per thread */
    const char *after_loop; /**< statements after the loop over the elements, once per thread */
    /** More NVRTC options, such as "-DN=3" or "--use_fast_math". Copied. */
    const char *const *options;
    size_t option_count;
} quern_kernel_options;

#define QUERN_KERNEL_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(quern_kernel_options), 0, NULL, NULL, NULL, NULL, NULL, 0                           \
    }

/** Define an elementwise kernel: `operation` runs for every element of the broadcast operands.
 *
 *     parameters := [parameter ("," parameter)*]        parameter := qualifier* type name
 *     qualifier  := "raw" | "const"                     type      := dtype | letter
 *
 * A dtype is a NumPy name (float32, complex64, ...) or a C name (float, unsigned char, long long,
 * ...). A single letter stands for any dtype and for the same one everywhere. In `operation` inputs
 * and outputs are read and assigned by name, `i` is the element's position in C order,
 * `_ind.size()` the number of elements, and `_ind.get()[k]` the position along axis k. A `raw`
 * parameter takes no part in broadcasting; it is indexed: `x[i]`. `continue` and `return` end one
 * element. docs/signatures.md has the whole.
 *
 * Nothing is compiled here: the first call with each set of dtypes and layouts compiles.
 * The caller owns *kernel; give it back with quern_kernel_release(). It keeps the engine alive.
 *
 * Errors: QUERN_ERROR_SIGNATURE with the span of the place, QUERN_ERROR_INVALID_ARGUMENT. */
QUERN_API quern_status quern_elementwise(quern_kernel **kernel, quern_engine *engine,
                                         const char *in, const char *out, const char *operation,
                                         const quern_kernel_options *options);

typedef struct quern_reduction_options {
    uint32_t size; /**< sizeof(quern_reduction_options) */
    /** 1: `reduce` is associative but not commutative, so values are combined in the order of the
     * axes (C order of the reduced ones). 0: in any order, but the same one in every such call. */
    uint32_t ordered;
    const char *name;     /**< as that of elementwise kernels; default "quern_reduction" */
    const char *preamble; /**< device code before the kernel: functions, types, includes */
    /** C++ type of the values that are combined: a C type ("double"), a letter of the signature, or
     * a structure of the preamble, trivially copyable and at most 64 bytes. Default: the type of
     * the first output. */
    const char *reduce_type;
    const char *const *options; /**< more NVRTC options. Copied. */
    size_t option_count;
} quern_reduction_options;

#define QUERN_REDUCTION_OPTIONS_INIT                                                               \
    {                                                                                              \
        sizeof(quern_reduction_options), 0, NULL, NULL, NULL, NULL, 0                              \
    }

/** Define a reduction: `map` makes a value of each element, `reduce` combines two values `a` and
 * `b` into one, `post` assigns the outputs from the last value `a`.
 *
 *     quern_reduction(&norm, engine, "T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", NULL);
 *
 * `map` and `reduce` are expressions, or statements that end in `return value;`. `post` is one or
 * more statements. All inputs that are not raw broadcast together. Each call says which axes of
 * that shape are reduced, and whether they are kept with extent 1 (quern_call_options); if it says
 * nothing, all are reduced. `map` sees the inputs by name, `_J`, the position along the reduced
 * axes in C order, and `_in_ind.get()[k]`, the position along axis k of the broadcast inputs;
 * `post` sees `a`, the outputs, scalars and raw arrays; both see `_out_ind.get()[k]`, the position
 * along the k-th axis that is not reduced.
 *
 * `identity` is an expression of the value that an output starts from: it is combined with the
 * elements once for each output. With NULL an output starts from its first element, and there must
 * be one. The same call on the same device gives the same bits.
 *
 * Nothing is compiled here. The caller owns *kernel; give it back with quern_kernel_release().
 * Errors: QUERN_ERROR_SIGNATURE with the span of the place, QUERN_ERROR_INVALID_ARGUMENT. */
QUERN_API quern_status quern_reduction(quern_kernel **kernel, quern_engine *engine, const char *in,
                                       const char *out, const char *map, const char *reduce,
                                       const char *post, const char *identity,
                                       const quern_reduction_options *options);

typedef struct quern_scan_options {
    uint32_t size;              /**< sizeof(quern_scan_options) */
    uint32_t exclusive;         /**< 1: an element's value leaves out the element itself */
    const char *name;           /**< as that of elementwise kernels; default "quern_scan" */
    const char *preamble;       /**< device code before the kernel: functions, types, includes */
    const char *scan_type;      /**< as quern_reduction_options.reduce_type */
    const char *const *options; /**< more NVRTC options. Copied. */
    size_t option_count;
} quern_scan_options;

#define QUERN_SCAN_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(quern_scan_options), 0, NULL, NULL, NULL, NULL, 0                                   \
    }

/** Define a scan, also called prefix sum: as a reduction, but `post` runs for every element, with
 * `a` the combination of all values up to it along the axis (without its own when `exclusive`).
 *
 *     quern_scan(&cumsum, engine, "T x", "T y", "x", "a + b", "y = a", NULL, NULL);
 *
 * `scan` must be associative; values are always combined in the order of the axis. A call scans
 * along one axis (quern_call_options.axes), or, where it names none, over all elements in C order.
 * Outputs have the shape of the broadcast inputs. `post` sees the inputs as well, `_J`, and
 * `_in_ind`, so that it may store where it likes: `if (keep) out[a] = x`. An exclusive scan needs
 * an identity; in an inclusive one an identity is combined with the first element. To scan from the
 * end, pass views with a negative step.
 *
 * Nothing is compiled here. The caller owns *kernel; give it back with quern_kernel_release().
 * Errors: QUERN_ERROR_SIGNATURE with the span of the place, QUERN_ERROR_INVALID_ARGUMENT. */
QUERN_API quern_status quern_scan(quern_kernel **kernel, quern_engine *engine, const char *in,
                                  const char *out, const char *map, const char *scan,
                                  const char *post, const char *identity,
                                  const quern_scan_options *options);

/** One more reference; returns `kernel`. Thread-safe. */
QUERN_API quern_kernel *quern_kernel_retain(quern_kernel *kernel);
/** One reference less; the last one frees. Accepts NULL. Thread-safe. */
QUERN_API void quern_kernel_release(quern_kernel *kernel);

typedef struct quern_call_options {
    uint32_t size;       /**< sizeof(quern_call_options) */
    uint32_t block_size; /**< threads of a block; 0: chosen. Only for elementwise kernels. */
    /** How many elements (>= 0), for a call whose array arguments are all raw; refused in others.
     * NULL: the arrays decide. Read only during the call, like `axes`. */
    const int64_t *loop_size;
    quern_stream *stream; /**< NULL: the engine's own */
    /** Reductions and scans: the axes, in any order, counted from the end when negative. NULL: all
     * of them. Not NULL, with `axis_count` 0: none, so that a reduction only maps. */
    const int *axes;
    size_t axis_count;
    uint32_t keepdims; /**< reductions: 1 keeps the reduced axes, with extent 1 */
    uint32_t reserved;
    /** 1: use what was measured to be the fastest for calls like this one, and measure, once, where
     * nothing was: quern/tune.h. 0: what follows from the rules. */
    uint32_t tune;
    uint32_t tune_ms; /**< milliseconds that measuring may take, about; 0: 2000 */
    /** Of quern_call_n(): called with `leave_context` by the thread that calls, before the call
     * does what may take long: before it checks a call that it does not remember, compiles,
     * allocates on the device, waits, and launches. It is called once at most, and not by a call
     * which is like an earlier one that had no elements: that one does nothing of it, and neither
     * takes a lock nor runs code of the caller's, such as an allocator. So a language with a lock
     * of its own lets it go here, and takes it again after the call where it was let go, however
     * the call ended. It calls nothing of Quern's, and does not leave by longjmp or an exception. A
     * call whose options or kernel are refused at once may return without it. NULL: nothing is
     * called. */
    void (*leave)(void *context);
    void *leave_context;
} quern_call_options;

#define QUERN_CALL_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(quern_call_options), 0, NULL, NULL, NULL, 0, 0, 0, 0, 0, NULL, NULL                 \
    }

/** Call a kernel: inputs in the order of the signature, then outputs.
 *
 * `values`: all inputs, then all outputs. Array dtypes must match the signature exactly; scalars
 * are converted, with a check that the value fits. An output is an array, which must have the shape
 * that the operands broadcast to (for a reduction, what is left of that); or a place for one
 * (QUERN_VALUE_OUTPUT), which is allocated where the place holds NULL, and is left as it was when
 * the call fails; or QUERN_VALUE_NONE, which is allocated and dropped. An output that partly
 * overlaps an input is computed as if the input had been copied first, and so is one that overlaps
 * a raw input at all; outputs must not overlap each other. Returns when the work is queued; errors
 * of the kernel itself (QUERN_ERROR_ACCESS, QUERN_ERROR_LAUNCH) may be reported by a later call
 * that waits.
 *
 * Errors: QUERN_ERROR_ARGUMENT_COUNT, _TYPE, _SHAPE, _VALUE, _INVALID_ARGUMENT; where something
 * must be compiled _COMPILE, _NVRTC_NOT_FOUND, _NVRTC, _IMAGE; _OUT_OF_MEMORY, _DEVICE_MEMORY,
 * _DRIVER, _LAUNCH, _ACCESS, _NOT_SUPPORTED, _INTERRUPTED. */
QUERN_API quern_status quern_call_n(quern_kernel *kernel, const quern_value *values, size_t count,
                                    const quern_call_options *options);

/** A kernel with its arguments checked and packed, to be launched many times for the price of the
 * driver's own launch. It retains its arrays. One thread at a time; retaining and releasing it is
 * thread-safe. */
typedef struct quern_bound quern_bound;

/** Check and pack. Outputs given by QUERN_VALUE_OUTPUT are allocated now. Compiles if needed. An
 * output that overlaps an input which would have to be copied before each launch is refused.
 * It holds the stream in `options`. Errors: those of quern_call_n(). */
QUERN_API quern_status quern_bind(quern_bound **bound, quern_kernel *kernel,
                                  const quern_value *values, size_t count,
                                  const quern_call_options *options);
/** Queue one launch on the stream that it was bound to. Returns when it is queued.
 * Errors: QUERN_ERROR_INVALID_ARGUMENT, _DRIVER, _LAUNCH, _ACCESS, _INTERRUPTED. */
QUERN_API quern_status quern_launch(quern_bound *bound);
/** Replace argument `index`, counted from 0, by an array of the same dtype, shape and strides.
 * Checked as a new call, and compiled if the new address is aligned otherwise. Launches that are
 * queued keep the array they had; on failure the bound call stays as it was. Errors:
 * QUERN_ERROR_INVALID_ARGUMENT, _TYPE, _SHAPE (with both layouts), and those of a call. */
QUERN_API quern_status quern_bound_set_array(quern_bound *bound, size_t index, quern_array *array);
/** Replace scalar argument `index`; converted and checked as in a call. Launches that are queued
 * keep the value they had. Errors: QUERN_ERROR_INVALID_ARGUMENT, _TYPE, _VALUE. */
QUERN_API quern_status quern_bound_set_scalar(quern_bound *bound, size_t index, quern_value value);
/** One more reference; returns `bound`. */
QUERN_API quern_bound *quern_bound_retain(quern_bound *bound);
/** One reference less; the last one lets arrays and stream go. Waits for nothing; queued work still
 * completes. Accepts NULL. */
QUERN_API void quern_bound_release(quern_bound *bound);

/** What a call would run, in words and numbers. Nothing in it changes. No string is NULL. */
typedef struct quern_explanation {
    uint32_t size;         /**< sizeof(quern_explanation) of the library that filled it */
    uint32_t registers;    /**< per thread; 0 where the device does not say */
    const char *types;     /**< "T=float32" */
    const char *plan;      /**< "contiguous, 4 elements a thread, 32-bit index" */
    const char *source;    /**< the generated CUDA source */
    const char *key;       /**< the cache key, 32 hexadecimal digits */
    const char *origin;    /**< "memory", "pack", "cache", "remote cache" or "compiled" */
    const char *target;    /**< "sm_90" or "compute_75" */
    const char *ptx;       /**< the PTX, where the image is PTX; else empty */
    const char *text;      /**< all of the above but source and ptx, as lines for a person */
    int64_t elements;      /**< elements of the loop */
    uint32_t grid[3];      /**< blocks */
    uint32_t block[3];     /**< threads of a block */
    uint32_t shared_bytes; /**< shared memory of a block, static and dynamic */
    uint32_t local_bytes;  /**< local memory of a thread */
    uint32_t blocks_per_processor; /**< occupancy; 0 where the device does not say */
    uint32_t reserved;
    const char *tuned; /**< with quern_call_options.tune: the setting and where it came from */
} quern_explanation;

/** Explain the call that quern_call_n() would make; compiles if needed, launches nothing and
 * allocates no output. The caller owns *out; give it back with quern_explanation_release().
 * Errors: those of quern_call_n(). */
QUERN_API quern_status quern_explain(quern_explanation **out, quern_kernel *kernel,
                                     const quern_value *values, size_t count,
                                     const quern_call_options *options);
/** One more reference; returns `explanation`. Thread-safe. */
QUERN_API quern_explanation *quern_explanation_retain(quern_explanation *explanation);
/** One reference less; the last one frees. Accepts NULL. Thread-safe. */
QUERN_API void quern_explanation_release(quern_explanation *explanation);

/** What the compiler warned of in the kernel's own texts, in all that was compiled for it so far:
 * each warning once, with its place and the line. *out is "" when there is none, and is borrowed
 * for the kernel's life. Images keep their warnings: it makes no difference whether one was
 * compiled or came from memory or from the cache. Thread-safe; waits for nothing. Errors:
 * QUERN_ERROR_INVALID_ARGUMENT, QUERN_ERROR_OUT_OF_MEMORY. */
QUERN_API quern_status quern_kernel_warnings(const char **out, quern_kernel *kernel);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_KERNEL_H */
