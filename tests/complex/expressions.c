/* SPDX-License-Identifier: MIT
 *
 * expressions: what the other two programs do not reach: powers of and to special numbers,
 * operators and functions of two types, and results of each type. In: the device from QUERN_DEVICE.
 * Out: one line, and one for each wrong expression; status 1 if there is any. One kernel computes
 * them all, once for a GPU that is slow at doubles and once for one that is fast.
 */
#include "complex_test.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct row {
    const char *expression; /* F and D are complex types, N is NaN, I is infinity */
    double re, im;
} row;

static const row rows[] = {
    /* to the power of 0 and 1 */
    {"pow(D(2, 3), 0)", 1, 0},
    {"pow(D(N, 3), 0)", 1, 0},
    {"pow(D(I, N), D(0, -0.0))", 1, 0},
    {"pow(D(0, 0), D(0, 0))", 1, 0},
    {"pow(D(-0.0, 0), 1)", -0.0, 0},
    {"pow(D(-I, 3), 1)", -INFINITY, 3},
    {"pow(F(N, 3), 1.0f)", NAN, 3},
    /* small whole exponents are products */
    {"pow(D(1, 2), 2)", -3, 4},
    {"pow(F(1, 2), D(3, 0))", -11, -2},
    {"pow(F(0, 1), -1)", 0, -1},
    {"pow(F(1, 1), 8)", 16, -0.0},
    {"pow(D(1e200, 1e200), -2)", 0, -0.0},
    {"pow(D(1e154, 0), 2)", 1e308, 0},
    /* of 0 */
    {"pow(D(0, 0), 2)", 0, 0},
    {"pow(D(0, -0.0), D(0.5, 7))", 0, 0},
    {"pow(D(0, 0), -1)", INFINITY, NAN},
    {"pow(D(0, 0), D(-0.5, 2))", INFINITY, NAN},
    {"pow(D(0, 0), D(0, 2))", NAN, NAN},
    {"pow(D(0, 0), D(N, 0))", NAN, NAN},
    /* of and to infinity */
    {"pow(D(I, 0), 2)", INFINITY, 0},
    {"pow(D(I, 0), 0.5)", INFINITY, 0},
    {"pow(D(I, 0), -2.5)", 0, -0.0},
    {"pow(D(I, 1), -1)", 0, -0.0},
    {"pow(D(2, 0), D(I, 0))", INFINITY, 0},
    {"pow(D(2, 0), D(-I, 0))", 0, -0.0},
    {"pow(D(N, 0), 2)", NAN, NAN},
    {"pow(D(2, 0), D(N, 1))", NAN, NAN},
    /* the same of floats, whose logarithm may be computed as a double */
    {"pow(F(0, -0.0f), F(0.5f, 7))", 0, 0},
    {"pow(F(0, 0), F(-0.5f, 2))", INFINITY, NAN},
    {"pow(F(0, 0), F(N, 0))", NAN, NAN},
    {"pow(F(I, 0), 0.5f)", INFINITY, 0},
    {"pow(F(I, 0), -2.5f)", 0, -0.0},
    {"pow(F(-I, I), -2.5f)", 0, 0},
    {"pow(F(1, -I), 0.5f)", INFINITY, -INFINITY},
    {"pow(F(I, N), 0.5f)", INFINITY, NAN},
    {"pow(F(2, 0), F(I, 0))", INFINITY, 0},
    {"pow(F(2, 0), F(-I, 0))", 0, -0.0},
    {"pow(F(2, 1), F(-I, 0))", 0, 0},
    {"pow(F(2, 0), F(N, 1))", NAN, NAN},
    {"pow(F(2, N), F(0.5f, 1))", NAN, NAN},
    {"pow(F(4, -0.0f), 0.5f).imag()", -0.0, 0},
    {"pow(F(4, 0), -0.5f).imag()", -0.0, 0},
    {"pow(F(-4, -0.0f), 0.5f).imag() < 0 && pow(F(-4, 0), 0.5f).imag() > 0", 1, 0},
    {"pow(F(3e38f, 0), 2.5f)", INFINITY, 0},
    {"pow(F(1e-45f, 0), 3.5f)", 0, 0},
    {"pow(D(-I, I), -2.5)", 0, 0},
    {"pow(D(1, -I), 0.5)", INFINITY, -INFINITY},
    /* a part that overflows although it is far below the other one; a zero that is negative */
    {"pow(F(1e30f, 1e5f), 2.5f)", INFINITY, INFINITY},
    {"pow(D(1e300, 1e9), 2.5)", INFINITY, INFINITY},
    {"pow(F(-3.4e38f, -330000), 3)", -INFINITY, -INFINITY},
    {"pow(F(3.4e38f, 1e-45f), 8)", INFINITY, INFINITY},
    {"pow(D(1.7e308, 5e-324), 8)", INFINITY, INFINITY},
    {"pow(F(-1, 0), F(3, -100))", -INFINITY, 0},
    {"pow(D(-1, 0), D(3, -1000))", -INFINITY, 0},
    {"pow(F(2.5f, 1.4e-45f), I)", INFINITY, NAN},
    {"pow(D(2.5, 5e-324), I)", INFINITY, NAN},
    {"pow(F(2.5f, 0), I)", INFINITY, 0},
    {"pow(F(0.5f, 1.4e-45f), I)", 0, 0},
    {"pow(F(1, -0.0f), F(1e9f, -1)).imag()", -0.0, 0},
    {"pow(D(1, -0.0), D(1e9, -1)).imag()", -0.0, 0},
    {"pow(D(0, 1), D(-0.0, -1)).imag()", -0.0, 0},
    /* a turn so far that only its size is known */
    {"abs(abs(pow(F(3, 0), F(0, 1e30f))) - 1) < 1e-6", 1, 0},
    {"abs(abs(pow(D(3, 0), D(0, 1e300))) - 1) < 1e-14", 1, 0},
    /* real numbers raised to complex ones; sides of the cut */
    {"pow(4.0, D(0.5, 0))", 2, 0},
    {"pow(-4.0f, D(2, 0))", 16, -0.0},
    {"pow(2, F(2, 0))", 4, 0},
    {"pow(D(-4, 0.0), 0.5).imag()", 2, 0},
    {"pow(D(-4, -0.0), 0.5).imag()", -2, 0},
    /* operators of two types */
    {"F(1, 2) * 0.5", 0.5, 1},
    {"2 * F(1, 2)", 2, 4},
    {"F(1, 2) * D(0, 1)", -2, 1},
    {"true + D(1, 1)", 2, 1},
    {"D(1, 1) - F(0, 1)", 1, 0},
    {"3ull / D(0, 1)", 0, -3},
    {"F(6, 2) / (short)2", 3, 1},
    {"-F(1, -2)", -1, 2},
    {"D(1, 0) == 1 && F(1, 0) == D(1, 0) && 2 != F(2, 1)", 1, 0},
    {"sizeof(F(1, 2) * 2) == 8 && sizeof(F(1, 2) * 2.0) == 16", 1, 0},
    {"sizeof(pow(F(1, 2), 2)) == 8 && sizeof(pow(F(1, 2), D(1, 0))) == 16", 1, 0},
    /* a missing part is not 0 times infinity */
    {"D(I, 1) * 2", INFINITY, 2},
    {"-1 * D(1, I)", -1, -INFINITY},
    {"D(I, 1) / 2", INFINITY, 0.5},
    {"1 / D(I, I)", 0, -0.0},
    {"1 / D(0, 0)", INFINITY, NAN},
    {"D(1, I) / 0.0", INFINITY, INFINITY},
    /* polar */
    {"polar(2.0f)", 2, 0},
    {"polar(I, 0.0)", INFINITY, 0},
    {"polar(-I, 0.0)", -INFINITY, -0.0},
    {"polar(3, 0)", 3, 0},
    {"sizeof(polar(1.0f, 2.0f)) == 8 && sizeof(polar(1, 2)) == 16", 1, 0},
    /* functions that give real numbers and truths */
    {"abs(F(3, -4)) + arg(D(0, 0)) + norm(D(1, 2))", 10, 0},
    {"isnan(F(N, 0)) && isinf(D(0, -I)) && isfinite(F(1, 2)) && !isfinite(D(I, N))", 1, 0},
    {"min(D(1, 2), D(1, 3)).imag() + max(F(1, 2), F(2, 0)).real()", 4, 0},
    {"rint(D(2.5, -0.4))", 2, -0.0},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

static bool same(double got, double expected)
{
    if (isnan(expected)) {
        return isnan(got);
    }
    if (isinf(expected)) {
        return got == expected;
    }
    return fabs(got - expected) <= 8 * 0x1p-52 * fabs(expected) || got == expected;
}

/* Compute them all with an option, and compare. */
static size_t check(quern_engine *engine, const char *option)
{
    static const char preamble[] = "typedef complex<float> F;\ntypedef complex<double> D;\n"
                                   "#define N NAN\n#define I INFINITY\n";
    static char operation[ROWS * 128];
    double got[2 * ROWS];
    size_t length = 0, wrong = 0;
    for (size_t k = 0; k < ROWS; k++) {
        length += (size_t)snprintf(operation + length, sizeof operation - length, "y[%zu] = %s;\n",
                                   k, rows[k].expression);
    }
    quern_kernel *kernel;
    quern_array *y;
    quern_kernel_options options = QUERN_KERNEL_OPTIONS_INIT;
    options.preamble = preamble;
    options.options = &option;
    options.option_count = 1;
    must(quern_elementwise(&kernel, engine, "int32 once", "raw complex128 y", operation, &options),
         "kernel");
    must(quern_array_new(&y, engine, QUERN_COMPLEX128, 1, (int64_t[]){ROWS}), "array");
    quern_call_options call = QUERN_CALL_OPTIONS_INIT;
    call.loop_size = &(int64_t){1};
    quern_value values[2] = {quern_value_of(0), quern_value_array(y)};
    must(quern_call_n(kernel, values, 2, &call), "call");
    must(quern_array_read(y, got, sizeof got), "results");
    for (size_t k = 0; k < ROWS; k++) {
        const double *g = &got[2 * k];
        bool zeros = (rows[k].re != 0 || signbit(rows[k].re) == signbit(g[0])) &&
                     (rows[k].im != 0 || signbit(rows[k].im) == signbit(g[1]));
        if (!same(g[0], rows[k].re) || !same(g[1], rows[k].im) || !zeros) {
            printf("%s is (%.17g, %.17g), expected (%g, %g), with %s\n", rows[k].expression, g[0],
                   g[1], rows[k].re, rows[k].im, option);
            wrong++;
        }
    }
    quern_array_release(y);
    quern_kernel_release(kernel);
    return wrong;
}

int main(void)
{
    quern_engine *engine;
    must(quern_open(&engine, NULL), "open");
    size_t wrong = check(engine, "-DQUERN_FAST_DOUBLE=0") + check(engine, "-DQUERN_FAST_DOUBLE=1");
    quern_close(engine);
    printf("expressions: %zu of %d wrong\n", wrong, 2 * (int)ROWS);
    return wrong != 0;
}
