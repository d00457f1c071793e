/* SPDX-License-Identifier: MIT
 *
 * docs/memory.md: memory from the functions of a library.
 */
#include "document.h"

int main(void)
{
    quern_options options = QUERN_OPTIONS_INIT;
    quern_engine *engine;
    const char *path = PLUGGABLE;
    options.device = "soft"; /* the library gives host memory */
    must(quern_open(&engine, &options));
#include "allocator.inc"
    must_be(pool.context != NULL, "the library's functions");
    quern_array *x = count_up(engine, 0, 3);
    quern_memory_stats stats = QUERN_MEMORY_STATS_INIT;
    must(quern_memory_get_stats(&stats, engine));
    must_be(stats.used == 12 && stats.held == 12, "memory of the library");
    MUST_HOLD(x, QUERN_FLOAT32, float, 1, 2, 3);
    quern_array_release(x);
    quern_close(engine);
    return 0;
}
