/* SPDX-License-Identifier: MIT
 *
 * Expressions. Elementwise kernels without a signature: types come from the values.
 */
#ifndef QUERN_EXPRESSION_H
#define QUERN_EXPRESSION_H

#include <quern/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct quern_expression_options {
    uint32_t size;    /**< sizeof(quern_expression_options) */
    int32_t dtype;    /**< a quern_dtype, of the output; QUERN_DTYPE_NONE: as NumPy's rules say */
    const char *name; /**< of the kernel in profilers and messages; default "quern_expression" */
    const char *const *options; /**< more NVRTC options. Copied. */
    size_t option_count;
} quern_expression_options;

#define QUERN_EXPRESSION_OPTIONS_INIT                                                              \
    {                                                                                              \
        sizeof(quern_expression_options), 0, NULL, NULL, 0                                         \
    }

/** Define an elementwise kernel by an expression and the values that its names have.
 *
 *     const char *names[] = {"x", "y"};
 *     quern_value values[] = {quern_value_array(x), quern_value_array(y)};
 *     quern_expression(&hypotenuse, engine, "sqrt(x*x + y*y)", names, values, 2, NULL);
 *     quern_call(hypotenuse, x, y, &z);
 *
 * The text is C's: + - * / % << >> & | ^ ~, comparisons, && || ! and c ? a : b, and ** and // of
 * Python. The functions are sqrt cbrt exp exp2 expm1 log log2 log10 log1p, sin cos tan sinh cosh
 * tanh and their inverses (asin or arcsin, atan2 or arctan2), hypot pow copysign fmod abs fabs sign
 * floor ceil trunc rint round, min max clip fmin fmax, where, isnan isinf isfinite signbit, real
 * imag conj; float32(x) and other dtypes convert. pi, true and false are known.
 *
 * Every operation has the dtype and the meaning that NumPy 2 gives it: `/` of integers is
 * floating-point, % has the sign of the divisor, comparisons are bool, min keeps NaN. A plain
 * number, in the text or a literal among the values, widens no array (NEP 50); one that does not
 * fit is refused. Where C and Python read a text differently, parentheses are asked for.
 *
 * Only the dtypes of `values` are looked at: an array, a quern_value_like() of any shape, a scalar,
 * or a literal. The kernel's parameters have the order of `names`, all of which the expression must
 * have, and one output follows, "result"; quern_kernel_get_parameter() tells its dtype. A parameter
 * is called "in_NAME" where its name means something in C++, and an integer literal's has the
 * dtype that its number must fit. For values of other dtypes make another kernel.
 *
 * Nothing is compiled here. The caller owns *kernel; give it back with quern_kernel_release().
 * Errors: QUERN_ERROR_SIGNATURE, _NAME, _TYPE, _VALUE and _ARGUMENT_COUNT with a span of the text
 * "expression", QUERN_ERROR_INVALID_ARGUMENT, QUERN_ERROR_OUT_OF_MEMORY. */
QUERN_API quern_status quern_expression(quern_kernel **kernel, quern_engine *engine,
                                        const char *expression, const char *const *names,
                                        const quern_value *values, size_t count,
                                        const quern_expression_options *options);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_EXPRESSION_H */
