/* SPDX-License-Identifier: MIT
 *
 * histogram [FILE.cu]: bytes counted in shared memory, whose size the launch gives. The grid has as
 * many blocks as run at once on the device, which the function's occupancy says.
 */
#include "sample.h"

#include <string.h>

#define COUNT   1000000
#define BINS    256
#define THREADS 256

static unsigned char host[COUNT];

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "samples/histogram.cu";
    const uint32_t shared = BINS * sizeof(uint32_t);
    uint32_t result[BINS], wanted[BINS] = {0}, blocks;
    quern_engine *engine;
    quern_module *module;
    quern_function *histogram;
    quern_array *x, *counts;
    for (uint32_t k = 0; k < COUNT; k++) {
        host[k] = (unsigned char)((k * 2654435761u >> 24) &
                                  (k * 40503u >> 8)); /* small values are more frequent */
        wanted[host[k]]++;
    }

    must(quern_open(&engine, NULL));
    must(quern_array_from(&x, engine, QUERN_UINT8, 1, (int64_t[]){COUNT}, host));
    must(quern_array_new(&counts, engine, QUERN_UINT32, 1, (int64_t[]){BINS}));
    must(quern_array_fill(counts, &(uint32_t){0}, sizeof(uint32_t)));
    must(quern_module_open(&module, engine, path, NULL));
    must(quern_module_function(&histogram, module, "histogram"));

    quern_device_info device = {.size = sizeof device};
    must(quern_device_get_info(&device, engine));
    must(quern_function_occupancy(&blocks, histogram, THREADS, shared));
    quern_launch_options launch =
        QUERN_GRID((blocks > 0 ? blocks : 1) * device.processors, THREADS);
    launch.shared_bytes = shared;
    must(quern_function_call(histogram, &launch, x, counts, COUNT));
    must(quern_array_read(counts, result, sizeof result));

    for (int k = 0; k < BINS; k++) {
        must_be_near(result[k], wanted[k], 0);
    }
    for (int k = 0; k < BINS; k += 85) {
        printf("%3d: %u times\n", k, result[k]);
    }

    quern_array_release(x);
    quern_array_release(counts);
    quern_function_release(histogram);
    quern_module_release(module);
    quern_close(engine);
    return 0;
}
