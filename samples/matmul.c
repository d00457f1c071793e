/* SPDX-License-Identifier: MIT
 *
 * matmul [FILE.cu]: a tiled matrix product. CUDA source from a file, compiled with an option, and
 * launched over a two-dimensional grid; the number and sizes of its arguments are checked.
 */
#include "sample.h"

#define N    100 /* not a multiple of the tile */
#define TILE 8

static float a[N][N], b[N][N], c[N][N];

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "samples/matmul.cu";
    quern_engine *engine;
    quern_module *module;
    quern_function *matmul;
    quern_array *x, *y, *z;
    for (int k = 0; k < N * N; k++) {
        a[k / N][k % N] = (float)(k % 7) - 3;
        b[k / N][k % N] = (float)(k % 11) / 4;
    }

    must(quern_open(&engine, NULL));
    must(quern_array_from(&x, engine, QUERN_FLOAT32, 2, (int64_t[]){N, N}, a));
    must(quern_array_from(&y, engine, QUERN_FLOAT32, 2, (int64_t[]){N, N}, b));
    must(quern_array_new(&z, engine, QUERN_FLOAT32, 2, (int64_t[]){N, N}));

    quern_module_options options = QUERN_MODULE_OPTIONS_INIT;
    options.options = (const char *[]){"-DTILE=8"};
    options.option_count = 1;
    must(quern_module_open(&module, engine, path, &options));
    must(quern_module_function(&matmul, module, "matmul"));

    const uint32_t tiles = (N + TILE - 1) / TILE;
    quern_launch_options launch = QUERN_LAUNCH_OPTIONS_INIT;
    launch.grid[0] = launch.grid[1] = tiles;
    launch.block[0] = launch.block[1] = TILE;
    must(quern_function_call(matmul, &launch, x, y, z, N));
    must(quern_array_read(z, c, sizeof c));

    for (int row = 0; row < N; row++) {
        for (int column = 0; column < N; column++) {
            double want = 0;
            for (int k = 0; k < N; k++) {
                want += (double)a[row][k] * b[k][column];
            }
            must_be_near(c[row][column], want, 1e-3);
        }
    }
    printf("%d x %d elements in %u x %u tiles; the first is %g, the last %g\n", N, N, tiles, tiles,
           c[0][0], c[N - 1][N - 1]);

    quern_array_release(x);
    quern_array_release(y);
    quern_array_release(z);
    quern_function_release(matmul);
    quern_module_release(module);
    quern_close(engine);
    return 0;
}
