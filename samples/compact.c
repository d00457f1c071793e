/* SPDX-License-Identifier: MIT
 *
 * Stream compaction: a prefix sum numbers the elements that are kept, and the same scan stores each
 * at its place. One pass over memory, the order kept.
 */
#include "sample.h"

#define COUNT 100000

static float host[COUNT], result[COUNT], wanted[COUNT];

static int64_t host_compact(void)
{
    int64_t kept = 0;
    for (int k = 0; k < COUNT; k++) {
        if (host[k] > 0) {
            wanted[kept++] = host[k];
        }
    }
    return kept;
}

int main(void)
{
    int64_t found;
    quern_engine *engine;
    quern_kernel *compact;
    quern_array *x, *kept, *count;
    for (int k = 0; k < COUNT; k++) {
        host[k] = (float)(k * 7919LL % 10007) - 9000;
    }

    must(quern_open(&engine, NULL));
    must(quern_array_from(&x, engine, QUERN_FLOAT32, 1, (int64_t[]){COUNT}, host));
    must(quern_array_new(&kept, engine, QUERN_FLOAT32, 1, (int64_t[]){COUNT}));
    must(quern_array_new(&count, engine, QUERN_INT64, 0, NULL));
    quern_scan_options options = QUERN_SCAN_OPTIONS_INIT;
    options.scan_type = "long long";
    must(quern_scan(&compact, engine, "float32 x, int64 last", "raw float32 kept, raw int64 count",
                    "x > 0", "a + b",
                    "if (x > 0) kept[a - 1] = x;\n"
                    "if (_J == last) count[0] = a;",
                    NULL, &options));
    must(quern_call(compact, x, COUNT - 1, kept, count));
    must(quern_array_read(kept, result, sizeof result));
    must(quern_array_read(count, &found, sizeof found));

    must_be_near((double)found, (double)host_compact(), 0);
    for (int64_t k = 0; k < found; k++) {
        must_be_near(result[k], wanted[k], 0);
    }
    printf("%lld of %d are positive: %g, %g, %g, ... %g\n", (long long)found, COUNT, result[0],
           result[1], result[2], result[found - 1]);

    quern_kernel_release(compact);
    quern_array_release(x);
    quern_array_release(kept);
    quern_array_release(count);
    quern_close(engine);
    return 0;
}
