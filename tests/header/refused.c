/* SPDX-License-Identifier: MIT
 *
 * Calls that must not compile: too many arguments, and pointers to what is not in device memory. A
 * macro enables each of them; without any, this file compiles.
 */
#include <quern/quern.h>

#define EIGHT(x) x, x, x, x, x, x, x, x
#define MOST(x)  EIGHT(x), EIGHT(x), EIGHT(x), EIGHT(x), EIGHT(x), EIGHT(x), EIGHT(x), EIGHT(x)

quern_status refused(quern_function *function, quern_kernel *kernel, quern_array *x);

quern_status refused(quern_function *function, quern_kernel *kernel, quern_array *x)
{
#ifdef A_KERNEL
    return quern_function_call(function, NULL, kernel);
#elif defined(AN_OUTPUT)
    return quern_function_call(function, NULL, &x);
#elif defined(A_CONST_ARRAY)
    const quern_array *fixed = x;
    return quern_function_call(function, NULL, fixed);
#elif defined(A_CONST_TEXTURE)
    return quern_function_call(function, NULL, (const quern_texture *)0);
#elif defined(A_CONST_SURFACE)
    return quern_function_call(function, NULL, (const quern_surface *)0);
#elif defined(A_CONST_CUDA_ARRAY)
    return quern_function_call(function, NULL, (const quern_cuda_array *)0);
#elif defined(CALL_WITH_65) && !defined(__cplusplus)
    return quern_call_with(kernel, NULL, MOST(1), x);
#elif defined(BIND_WITH_65) && !defined(__cplusplus)
    quern_bound *bound;
    return quern_bind_with(&bound, kernel, NULL, MOST(1), x);
#elif defined(FUNCTION_CALL_OF_65) && !defined(__cplusplus)
    return quern_function_call(function, NULL, MOST(1), x);
#elif defined(CALL_OF_65) && !defined(__cplusplus)
    return quern_call(kernel, MOST(1), x);
#else
#if defined(VALUES_OF_65) || defined(CALL_OF_65) || defined(CALL_WITH_65) || defined(BIND_WITH_65)
    const quern_value values[] = {QUERN_VALUES(MOST(1), x)};
#elif defined(ARGUMENTS_OF_65) || defined(FUNCTION_CALL_OF_65)
    const quern_value values[] = {QUERN_ARGUMENTS(MOST(1), x)};
#else
    const quern_value values[] = {QUERN_VALUES(MOST(1))};
#endif
    quern_status status = quern_call_n(kernel, values, 65, NULL);
    return status == QUERN_OK ? quern_function_call(function, NULL) : status;
#endif
}
