/* SPDX-License-Identifier: MIT
 *
 * A module of templates: name expressions ask for instances, and then serve as their names. The
 * coefficients are a __constant__ variable, which the host sees as an array.
 */
#include "sample.h"

#define COUNT 5

static const char source[] = "__constant__ double coefficients[8];\n"
                             "\n"
                             "template <typename T, int DEGREE>\n"
                             "__global__ void polynomial(const T *x, T *y, int n)\n"
                             "{\n"
                             "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "    if (i < n) {\n"
                             "        T sum = T(coefficients[DEGREE]);\n"
                             "        for (int k = DEGREE - 1; k >= 0; k--) {\n"
                             "            sum = sum * x[i] + T(coefficients[k]);\n"
                             "        }\n"
                             "        y[i] = sum;\n"
                             "    }\n"
                             "}\n";

static const double coefficients[] = {1, -2, 0.5, 3}; /* 1 - 2 x + x^2 / 2 + 3 x^3 */

/* One instance over 0, 1, 2, ... of its own type. */
static void try_instance(quern_module *module, quern_engine *engine, const char *name,
                         quern_dtype dtype, int degree)
{
    const float singles[COUNT] = {0, 1, 2, 3, 4};
    const double doubles[COUNT] = {0, 1, 2, 3, 4};
    union {
        float single[COUNT];
        double wide[COUNT];
    } result;
    const int is_double = dtype == QUERN_FLOAT64;
    const void *host = is_double ? (const void *)doubles : singles;
    quern_function *function;
    quern_array *x, *y;

    must(quern_module_function(&function, module, name));
    must(quern_array_from(&x, engine, dtype, 1, (int64_t[]){COUNT}, host));
    must(quern_array_new(&y, engine, dtype, 1, (int64_t[]){COUNT}));
    must(quern_function_call(function, &QUERN_GRID(1, 32), x, y, COUNT));
    must(quern_array_read(y, &result, COUNT * quern_dtype_size(dtype)));

    printf("%s:", name);
    for (int k = 0; k < COUNT; k++) {
        double got = is_double ? result.wide[k] : result.single[k], want = 0;
        for (int power = degree; power >= 0; power--) {
            want = want * k + coefficients[power];
        }
        must_be_near(got, want, 1e-4);
        printf(" %g", got);
    }
    printf("\n");
    quern_array_release(x);
    quern_array_release(y);
    quern_function_release(function);
}

int main(void)
{
    const char *const expressions[] = {"polynomial<float, 1>", "polynomial<float, 3>",
                                       "polynomial<double, 3>"};
    quern_engine *engine;
    quern_module *module;
    quern_array *constants;
    quern_module_options options = QUERN_MODULE_OPTIONS_INIT;
    options.expressions = expressions;
    options.expression_count = 3;

    must(quern_open(&engine, NULL));
    must(quern_module_new(&module, engine, source, &options));
    must(quern_module_global(&constants, module, "coefficients", QUERN_FLOAT64, 1, (int64_t[]){4}));
    must(quern_array_write(constants, coefficients, sizeof coefficients));
    try_instance(module, engine, expressions[0], QUERN_FLOAT32, 1);
    try_instance(module, engine, expressions[1], QUERN_FLOAT32, 3);
    try_instance(module, engine, expressions[2], QUERN_FLOAT64, 3);

    quern_array_release(constants);
    quern_module_release(module);
    quern_close(engine);
    return 0;
}
