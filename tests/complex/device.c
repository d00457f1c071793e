/* SPDX-License-Identifier: MIT
 *
 * device: the results of a function for arrays of arguments, on the device that QUERN_DEVICE names.
 */
#include "complex_test.h"
#include <stdio.h>
#include <stdlib.h>

void must(quern_status status, const char *what)
{
    if (status != QUERN_OK) {
        fprintf(stderr, "%s: %s\n", what, quern_last_error_text());
        exit(1);
    }
}

/* An array of the type from `count` doubles. */
static quern_array *array_of(quern_engine *engine, precision p, size_t count, const double *from)
{
    float *narrow = malloc(count * sizeof *narrow);
    for (size_t k = 0; k < count; k++) {
        narrow[k] = (float)from[k];
    }
    quern_array *a;
    must(quern_array_from(&a, engine, formats[p].dtype, 1, (int64_t[]){(int64_t)count / 2},
                          p == SINGLE ? (const void *)narrow : from),
         "arguments");
    free(narrow);
    return a;
}

/* Read `count` reals as doubles, `step` apart. */
static void read_into(quern_array *a, precision p, size_t count, size_t step, double *to)
{
    size_t size = p == SINGLE ? sizeof(float) : sizeof(double);
    void *bytes = malloc(count * size);
    must(quern_array_read(a, bytes, count * size), "results");
    for (size_t k = 0; k < count; k++) {
        to[k * step] = p == SINGLE ? (double)((float *)bytes)[k] : ((double *)bytes)[k];
    }
    free(bytes);
}

void evaluate(quern_engine *engine, const function *f, precision p, size_t count, const double *x,
              const double *z, double *y)
{
    const char *out = !f->real ? "T y" : p == SINGLE ? "float32 y" : "float64 y";
    quern_kernel *kernel;
    quern_kernel_options options = QUERN_KERNEL_OPTIONS_INIT;
    options.options = &f->define;
    options.option_count = f->define != NULL;
    must(quern_elementwise(&kernel, engine, f->arity == 2 ? "T x, T z" : "T x", out, f->operation,
                           &options),
         f->name);
    quern_array *in[2] = {array_of(engine, p, 2 * count, x), NULL}, *result = NULL;
    quern_value values[3] = {quern_value_array(in[0])};
    if (f->arity == 2) {
        in[1] = array_of(engine, p, 2 * count, z);
        values[1] = quern_value_array(in[1]);
    }
    values[f->arity] = quern_value_output(&result);
    must(quern_call_n(kernel, values, (size_t)f->arity + 1, NULL), f->name);
    for (size_t k = 0; k < 2 * count; k++) {
        y[k] = 0;
    }
    read_into(result, p, f->real ? count : 2 * count, f->real ? 2 : 1, y);
    quern_array_release(in[0]);
    quern_array_release(in[1]);
    quern_array_release(result);
    quern_kernel_release(kernel);
}
