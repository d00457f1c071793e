/* SPDX-License-Identifier: MIT
 *
 * Softmax of each row from two kernels: one reduction finds the maximum and the sum of exponentials
 * in a single pass, and an elementwise kernel broadcasts both back over the row.
 */
#include "sample.h"

#define ROWS    3
#define COLUMNS 700

/* A sum of exp(x - top), kept with the top that it is relative to. */
static const char preamble[] =
    "struct total { float top, sum; };\n"
    "__device__ total join(total a, total b)\n"
    "{\n"
    "    float top = max(a.top, b.top);\n"
    "    return total{top, a.sum * exp(a.top - top) + b.sum * exp(b.top - top)};\n"
    "}\n";

static float host[ROWS][COLUMNS], result[ROWS][COLUMNS];

/* A double holds what overflows a float. */
static double host_sum(const float *row)
{
    double sum = 0;
    for (int c = 0; c < COLUMNS; c++) {
        sum += exp(row[c]);
    }
    return sum;
}

int main(void)
{
    quern_engine *engine;
    quern_kernel *total, *share;
    quern_array *x, *top = NULL, *sum = NULL, *y = NULL;
    for (int k = 0; k < ROWS * COLUMNS; k++) { /* their exponentials overflow a float */
        host[k / COLUMNS][k % COLUMNS] = (float)(k * 31 % 997) / 10 + 100;
    }

    must(quern_open(&engine, NULL));
    must(quern_array_from(&x, engine, QUERN_FLOAT32, 2, (int64_t[]){ROWS, COLUMNS}, host));
    quern_reduction_options options = QUERN_REDUCTION_OPTIONS_INIT;
    options.preamble = preamble;
    options.reduce_type = "total";
    must(quern_reduction(&total, engine, "float32 x", "float32 top, float32 sum", "total{x, 1}",
                         "join(a, b)", "top = a.top; sum = a.sum", NULL, &options));
    must(quern_elementwise(&share, engine, "T x, T top, T sum", "T y", "y = exp(x - top) / sum",
                           NULL));

    quern_call_options along_rows = QUERN_CALL_OPTIONS_INIT;
    along_rows.axes = (int[]){1};
    along_rows.axis_count = 1;
    along_rows.keepdims = 1; /* columns of shape (ROWS, 1), which broadcast over the rows */
    must(quern_call_with(total, &along_rows, x, &top, &sum));
    must(quern_call(share, x, top, sum, &y));
    must(quern_array_read(y, result, sizeof result));

    for (int r = 0; r < ROWS; r++) {
        double whole = 0, largest = 0, denominator = host_sum(host[r]);
        for (int c = 0; c < COLUMNS; c++) {
            must_be_near(result[r][c], exp(host[r][c]) / denominator, 1e-5);
            whole += result[r][c];
            largest = fmax(largest, result[r][c]);
        }
        printf("row %d: the largest is %.4f, all together %.4f\n", r, largest, whole);
    }

    quern_kernel_release(total);
    quern_kernel_release(share);
    quern_array_release(x);
    quern_array_release(top);
    quern_array_release(sum);
    quern_array_release(y);
    quern_close(engine);
    return 0;
}
