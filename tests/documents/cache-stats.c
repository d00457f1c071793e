/* SPDX-License-Identifier: MIT
 *
 * docs/cache.md: what an engine finds in a new cache, and what the next one finds.
 */
#include "document.h"

int main(void)
{
    quern_options options = QUERN_OPTIONS_INIT;
    options.cache_dir = "kernels";
    for (int k = 0; k < 2; k++) {
        quern_engine *engine;
        quern_kernel *square;
        must(quern_open(&engine, &options));
        quern_array *x = count_up(engine, 0, 3), *y = NULL;
        must(quern_elementwise(&square, engine, "T x", "T y", "y = x * x", NULL));
        must(quern_call(square, x, &y));
#include "cache-stats.inc"
        quern_array_release(x);
        quern_array_release(y);
        quern_kernel_release(square);
        quern_close(engine);
    }
    return 0;
}
