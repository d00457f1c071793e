/* SPDX-License-Identifier: MIT
 *
 * Type letters: one kernel for every dtype. T is decided by the arrays of each call, and each new
 * set of types is compiled once. A letter is also a type inside the operation.
 */
#include "sample.h"

/* The same kernel over 0, 1, 2, 3 as `dtype`: what T was, and what came out. */
static void try_dtype(quern_engine *engine, quern_kernel *kernel, quern_dtype dtype)
{
    quern_array *x, *y = NULL;
    quern_kernel *count, *show;
    double result[4];

    must(quern_array_new(&x, engine, dtype, 1, (int64_t[]){4}));
    must(quern_elementwise(&count, engine, "", "T x", "x = T(i)", NULL));
    must(quern_call(count, x));
    must(quern_call(kernel, x, 3, &y));

    quern_array *as_double = NULL;
    must(quern_elementwise(&show, engine, "T x", "float64 y", "y = (double)x", NULL));
    must(quern_call(show, y, &as_double));
    must(quern_array_read(as_double, result, sizeof result));
    printf("%-8s %g %g %g %g\n", quern_dtype_name(quern_array_dtype(y)), result[0], result[1],
           result[2], result[3]);

    quern_kernel_release(count);
    quern_kernel_release(show);
    quern_array_release(x);
    quern_array_release(y);
    quern_array_release(as_double);
}

int main(void)
{
    quern_engine *engine;
    quern_kernel *kernel;
    must(quern_open(&engine, NULL));
    must(quern_elementwise(&kernel, engine, "T x, T divisor", "T y", "y = x * x / divisor", NULL));

    const quern_dtype dtypes[] = {QUERN_INT8, QUERN_UINT64, QUERN_FLOAT16, QUERN_FLOAT32,
                                  QUERN_FLOAT64};
    for (size_t k = 0; k < sizeof dtypes / sizeof dtypes[0]; k++) {
        try_dtype(engine, kernel, dtypes[k]);
    }

    quern_kernel_release(kernel);
    quern_close(engine);
    return 0;
}
