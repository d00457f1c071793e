/* SPDX-License-Identifier: MIT
 *
 * docs/packs.md: a program opens a pack, which another engine has written.
 */
#include "document.h"

static void square_of(quern_engine *engine)
{
    quern_kernel *square;
    quern_array *x = count_up(engine, 0, 3), *y = NULL;
    must(quern_elementwise(&square, engine, "T x", "T y", "y = x * x", NULL));
    must(quern_call(square, x, &y));
    must_hold(y, QUERN_FLOAT32, 3, (float[]){1, 4, 9});
    quern_array_release(x);
    quern_array_release(y);
    quern_kernel_release(square);
}

static void write_pack(void)
{
    quern_options options = QUERN_OPTIONS_INIT;
    quern_engine *engine;
    options.cache_dir = "kernels";
    must(quern_open(&engine, &options));
    square_of(engine);
    must(quern_cache_export(NULL, engine, "app.qpack", NULL));
    quern_close(engine);
}

int main(void)
{
    write_pack();
    setenv("QUERN_CACHE_DIR", "off", 1);
#include "packs.inc"
    square_of(engine);
    quern_cache_stats stats = QUERN_CACHE_STATS_INIT;
    must(quern_cache_get_stats(&stats, engine));
    must_be(stats.pack_hits == 1 && stats.compiled == 0, "the pack has the kernel");
    quern_close(engine);
    return 0;
}
