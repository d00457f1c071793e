/* SPDX-License-Identifier: MIT
 *
 * Broadcasting and views: a row and a column give a table; slices, reversals and transposes are
 * views that cost nothing and go into kernels as they are, for reading and for writing.
 */
#include "sample.h"

static void show(const char *title, quern_array *table)
{
    int host[64];
    const int64_t *shape = quern_array_shape(table);
    must(quern_array_read(table, host, (size_t)quern_array_count(table) * sizeof host[0]));
    printf("%s\n", title);
    for (int64_t row = 0; row < shape[0]; row++) {
        for (int64_t column = 0; column < shape[1]; column++) {
            printf("%4d", host[row * shape[1] + column]);
        }
        printf("\n");
    }
}

int main(void)
{
    const int digits[] = {1, 2, 3, 4, 5, 6};
    quern_engine *engine;
    quern_array *row, *column, *table = NULL, *sum = NULL;
    quern_kernel *multiply, *add, *negate;

    must(quern_open(&engine, NULL));
    must(quern_array_from(&row, engine, QUERN_INT32, 1, (int64_t[]){6}, digits));
    must(quern_elementwise(&multiply, engine, "T x, T y", "T z", "z = x * y", NULL));
    must(quern_elementwise(&add, engine, "T x, T y", "T z", "z = x + y", NULL));
    must(quern_elementwise(&negate, engine, "", "T z", "z = -z", NULL));

    /* (4, 1) and (6,) broadcast to (4, 6) */
    must(quern_array_from(&column, engine, QUERN_INT32, 2, (int64_t[]){4, 1}, digits));
    must(quern_call(multiply, column, row, &table));
    show("4 x 1 times 6:", table);

    /* table[:, ::-2].T: every second column from the right, transposed */
    quern_array *sliced, *view;
    must(quern_array_slice(
        &sliced, table, 2,
        (quern_slice[]){QUERN_SLICE_ALL, {QUERN_SLICE_NONE, QUERN_SLICE_NONE, -2}}));
    must(quern_array_transpose(&view, sliced, NULL));
    must(quern_call(add, view, 100, &sum));
    show("table[:, ::-2].T plus 100:", sum);

    /* a view as output: only what it covers is written */
    must(quern_call(negate, view));
    show("the table after negating that view:", table);

    quern_array *arrays[] = {row, column, table, sum, sliced, view};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++) {
        quern_array_release(arrays[k]);
    }
    quern_kernel_release(multiply);
    quern_kernel_release(add);
    quern_kernel_release(negate);
    quern_close(engine);
    return 0;
}
