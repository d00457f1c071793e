/* SPDX-License-Identifier: MIT
 *
 * Arguments as C expressions: quern_call() and quern_function_call() with a few and with the most
 * that are allowed, each in its place; and the types that C programs have at hand: char, pointers
 * to anything, complex numbers.
 */
#include "whole.h"
#include <complex.h>
#include <stdio.h>

TestSuite(arguments, .init = whole_open, .fini = whole_close);

/* 1 to 9; k0 to k9; and how many a list has. */
#define DIGITS   1, 2, 3, 4, 5, 6, 7, 8, 9
#define TENS(k)  k##0, k##1, k##2, k##3, k##4, k##5, k##6, k##7, k##8, k##9
#define UP_TO_15 DIGITS, 10, 11, 12, 13, 14, 15
#define UP_TO_59 DIGITS, TENS(1), TENS(2), TENS(3), TENS(4), TENS(5)
#define UP_TO_62 UP_TO_59, 60, 61, 62
#define UP_TO_63 UP_TO_62, 63

/* `count` parameters "int a1, int a2, ...", and the sum of each times its position. */
static void write_texts(char *parameters, char *sum, int count)
{
    parameters[0] = sum[0] = '\0';
    for (int k = 1; k <= count; k++) {
        sprintf(parameters + strlen(parameters), "%sint a%d", k > 1 ? ", " : "", k);
        sprintf(sum + strlen(sum), "%sa%d * %d", k > 1 ? " + " : "", k, k);
    }
}

static int sum_to(int count)
{
    return count * (count + 1) * (2 * count + 1) / 6;
}

/* A kernel of `count` scalars and one output. */
static quern_kernel *kernel_with(int count)
{
    char parameters[1024], sum[1024], operation[1100];
    write_texts(parameters, sum, count);
    snprintf(operation, sizeof operation, "y = %s", sum);
    return kernel_of(parameters, "int y", operation);
}

#define CALL(count, ...)                                                                           \
    do {                                                                                           \
        quern_kernel *kernel = kernel_with(count);                                                 \
        OK(quern_call(kernel, __VA_ARGS__, y));                                                    \
        EXPECT(y, int, sum_to(count));                                                             \
        quern_kernel_release(kernel);                                                              \
    } while (0)

Test(arguments, of_a_kernel)
{
    quern_array *y = array_of(QUERN_INT32, SHAPE(1), &(int){0});
    CALL(1, 1);
    CALL(9, DIGITS);
    CALL(15, UP_TO_15);
    CALL(16, UP_TO_15, 16);
    CALL(17, UP_TO_15, 16, 17);
    CALL(59, UP_TO_59);
    CALL(62, UP_TO_62);
    CALL(63, UP_TO_63);
    quern_array_release(y);
}

#define LAUNCH(count, ...)                                                                         \
    do {                                                                                           \
        quern_module *module = module_with(count);                                                 \
        quern_function *function;                                                                  \
        OK(quern_module_function(&function, module, "f"));                                         \
        OK(quern_function_call(function, &QUERN_GRID(1, 1), y, __VA_ARGS__));                      \
        EXPECT(y, int, sum_to(count));                                                             \
        quern_function_release(function);                                                          \
        quern_module_release(module);                                                              \
    } while (0)

static quern_module *module_with(int count)
{
    char parameters[1024], sum[1024], source[2200];
    write_texts(parameters, sum, count);
    snprintf(source, sizeof source,
             "extern \"C\" __global__ void f(int *out, %s)\n{ out[0] = %s; }\n", parameters, sum);
    quern_module *module;
    OK(quern_module_new(&module, engine, source, NULL));
    return module;
}

Test(arguments, of_a_function)
{
    quern_array *y = array_of(QUERN_INT32, SHAPE(1), &(int){0});
    LAUNCH(1, 1);
    LAUNCH(15, UP_TO_15);
    LAUNCH(16, UP_TO_15, 16);
    LAUNCH(63, UP_TO_63);
    quern_array_release(y);
}

Test(arguments, lists_count_and_keep_order)
{
    const quern_value values[] = {QUERN_VALUES(UP_TO_63, 64)};
    const quern_value arguments[] = {QUERN_ARGUMENTS(UP_TO_63, 64)};
    cr_assert_eq(sizeof values / sizeof values[0], 64);
    cr_assert_eq(sizeof arguments / sizeof arguments[0], 64);
    for (int k = 0; k < 64; k++) {
        cr_assert_eq(values[k].as.integer, k + 1);
        cr_assert_eq(arguments[k].as.integer, k + 1);
    }
}

Test(arguments, pointers_and_char)
{
    quern_module *module;
    quern_function *f;
    OK(quern_module_new(&module, engine,
                        "extern \"C\" __global__ void f(float *out, const float *x, char c)\n"
                        "{ out[threadIdx.x] = x[threadIdx.x] + c; }\n",
                        NULL));
    OK(quern_module_function(&f, module, "f"));
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(2), (float[]){1, 2});
    quern_array *y = array_of(QUERN_FLOAT32, SHAPE(2), (float[]){0, 0});
    float *out = quern_array_pointer(y);
    const float *in = quern_array_pointer(x);
    char minus_one = -1;
    OK(quern_function_call(f, &QUERN_GRID(1, 2), out, in, minus_one));
    EXPECT(y, float, 0, 1);
    quern_array_release(x);
    quern_array_release(y);
    quern_function_release(f);
    quern_module_release(module);
}

Test(arguments, complex_numbers)
{
    quern_kernel *kernel = kernel_of("S s, T t", "S a, T b", "a = s; b = t");
    quern_array *a = array_of(QUERN_COMPLEX64, SHAPE(1), (float[]){0, 0});
    quern_array *b = array_of(QUERN_COMPLEX128, SHAPE(1), (double[]){0, 0});
    float complex s = 1 + 2 * I;
    double complex t = 3 + 4 * I;
    OK(quern_call(kernel, s, t, a, b));
    EXPECT(a, float, 1, 2);
    EXPECT(b, double, 3, 4);
    quern_array_release(a);
    quern_array_release(b);
    quern_kernel_release(kernel);
}
