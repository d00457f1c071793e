/* SPDX-License-Identifier: MIT
 *
 * Errors explain themselves: one of each stage, printed as quern_last_error_text() gives them. On
 * the software device even an access out of bounds is an error that names its place, and the
 * program goes on.
 */
#include "sample.h"

/* Say what was tried, and how it failed. */
static void tell(const char *tried, quern_status status)
{
    printf("--- %s: %s\n%s", tried, quern_status_text(status), quern_last_error_text());
}

/* Define a kernel over arrays of 4 float32 and call it: what fails, and where, is in the record. */
static quern_status try_kernel(quern_engine *engine, const char *in, const char *operation,
                               quern_array *x, quern_array *y)
{
    quern_array *z = NULL;
    quern_kernel *kernel;
    quern_status status = quern_elementwise(&kernel, engine, in, "T z", operation, NULL);
    if (status == QUERN_OK) {
        status = quern_call(kernel, x, y, &z);
    }
    if (status == QUERN_OK) {
        status = quern_synchronize(engine);
    }
    quern_kernel_release(kernel);
    quern_array_release(z);
    return status;
}

int main(void)
{
    quern_engine *engine;
    quern_array *four, *three, *integers;
    quern_options options = QUERN_OPTIONS_INIT;
    options.device = "soft";
    must(quern_open(&engine, &options));
    must(quern_array_from(&four, engine, QUERN_FLOAT32, 1, (int64_t[]){4}, (float[]){1, 2, 3, 4}));
    must(quern_array_from(&three, engine, QUERN_FLOAT32, 1, (int64_t[]){3}, (float[]){1, 2, 3}));
    must(quern_array_from(&integers, engine, QUERN_INT32, 1, (int64_t[]){4}, (int[]){1, 2, 3, 4}));

    tell("a type that does not exist", try_kernel(engine, "T x, flaot y", "z = x + y", four, four));
    tell("one letter, two dtypes", try_kernel(engine, "T x, T y", "z = x + y", four, integers));
    tell("shapes that do not broadcast", try_kernel(engine, "T x, T y", "z = x + y", four, three));
    tell("a slip in the operation", try_kernel(engine, "T x, T y", "z = x + w", four, four));
    tell("an access out of bounds",
         try_kernel(engine, "raw T x, T y", "z = x[i + 1] + y", four, four));

    quern_array_release(four);
    quern_array_release(three);
    quern_array_release(integers);
    quern_close(engine);
    return 0;
}
