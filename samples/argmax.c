/* SPDX-License-Identifier: MIT
 *
 * The greatest element of each row and its position: the values that are combined are structures
 * from a preamble, and the reduction has two outputs. Without an identity it starts from the first
 * element.
 */
#include "sample.h"

#define ROWS    4
#define COLUMNS 5000

static const char preamble[] =
    "struct best { float value; long long at; };\n"
    "__device__ best better(best a, best b)\n"
    "{\n"
    "    bool first = a.value > b.value || (a.value == b.value && a.at < b.at);\n"
    "    return first ? a : b;\n"
    "}\n";

static float host[ROWS][COLUMNS];

static int64_t host_argmax(const float *row)
{
    int64_t at = 0;
    for (int64_t c = 1; c < COLUMNS; c++) {
        at = row[c] > row[at] ? c : at;
    }
    return at;
}

int main(void)
{
    float greatest[ROWS];
    int64_t position[ROWS];
    quern_engine *engine;
    quern_kernel *argmax;
    quern_array *x, *value = NULL, *at = NULL;
    for (int k = 0; k < ROWS * COLUMNS; k++) {
        host[k / COLUMNS][k % COLUMNS] = -(float)((k + 77) * 7919LL % 20011); /* none is positive */
    }

    must(quern_open(&engine, NULL));
    must(quern_array_from(&x, engine, QUERN_FLOAT32, 2, (int64_t[]){ROWS, COLUMNS}, host));
    quern_reduction_options options = QUERN_REDUCTION_OPTIONS_INIT;
    options.preamble = preamble;
    options.reduce_type = "best";
    must(quern_reduction(&argmax, engine, "float32 x", "float32 value, int64 at", "best{x, _J}",
                         "better(a, b)", "value = a.value; at = a.at", NULL, &options));

    quern_call_options along_rows = QUERN_CALL_OPTIONS_INIT;
    along_rows.axes = (int[]){1};
    along_rows.axis_count = 1;
    must(quern_call_with(argmax, &along_rows, x, &value, &at));
    must(quern_array_read(value, greatest, sizeof greatest));
    must(quern_array_read(at, position, sizeof position));

    for (int r = 0; r < ROWS; r++) {
        int64_t want = host_argmax(host[r]);
        must_be_near((double)position[r], (double)want, 0);
        must_be_near(greatest[r], host[r][want], 0);
        printf("row %d: %g at %lld\n", r, greatest[r], (long long)position[r]);
    }

    quern_kernel_release(argmax);
    quern_array_release(x);
    quern_array_release(value);
    quern_array_release(at);
    quern_close(engine);
    return 0;
}
