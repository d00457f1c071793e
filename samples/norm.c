/* SPDX-License-Identifier: MIT
 *
 * L2 norms: a reduction is defined once, and each call says along which axes. The squares are
 * summed in double, whatever the type of the elements.
 */
#include "sample.h"

#define ROWS    3
#define COLUMNS 1000

static float host[ROWS][COLUMNS];

/* The norm of rows first to last - 1, as the host computes it. */
static double host_norm(int first, int last)
{
    double sum = 0;
    for (int r = first; r < last; r++) {
        for (int c = 0; c < COLUMNS; c++) {
            sum += (double)host[r][c] * host[r][c];
        }
    }
    return sqrt(sum);
}

int main(void)
{
    float rows[ROWS], all;
    quern_engine *engine;
    quern_kernel *norm;
    quern_array *x, *y = NULL, *total = NULL;
    for (int k = 0; k < ROWS * COLUMNS; k++) {
        host[k / COLUMNS][k % COLUMNS] = (float)(k * 37 % 101) / 50 - 1;
    }

    must(quern_open(&engine, NULL));
    must(quern_array_from(&x, engine, QUERN_FLOAT32, 2, (int64_t[]){ROWS, COLUMNS}, host));
    quern_reduction_options options = QUERN_REDUCTION_OPTIONS_INIT;
    options.reduce_type = "double";
    must(quern_reduction(&norm, engine, "T x", "T y", "(double)x * x", "a + b", "y = sqrt(a)", "0",
                         &options));

    quern_call_options along_rows = QUERN_CALL_OPTIONS_INIT;
    along_rows.axes = (int[]){-1};
    along_rows.axis_count = 1;
    must(quern_call_with(norm, &along_rows, x, &y));
    must(quern_call(norm, x, &total)); /* along all axes */
    must(quern_array_read(y, rows, sizeof rows));
    must(quern_array_read(total, &all, sizeof all));

    for (int r = 0; r < ROWS; r++) {
        must_be_near(rows[r], host_norm(r, r + 1), 1e-5);
        printf("row %d: %.3f\n", r, rows[r]);
    }
    must_be_near(all, host_norm(0, ROWS), 1e-5);
    printf("all:   %.3f\n", all);

    quern_kernel_release(norm);
    quern_array_release(x);
    quern_array_release(y);
    quern_array_release(total);
    quern_close(engine);
    return 0;
}
