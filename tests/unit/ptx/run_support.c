/* SPDX-License-Identifier: MIT
 *
 * See run_support.h. QN_TEST_DATA is the folder of the data, given by CMake.
 */
#include "run_support.h"

#include <stdio.h>

bench bench_of(const char *ptx)
{
    bench b = {.map = qn_memory_map_new()};
    quern_status status = qn_ptx_read(&b.module, ptx, strlen(ptx));
    cr_assert(status == QUERN_OK, "%s", quern_last_error()->message);
    cr_assert_not_null(b.map);
    b.launch = (qn_ptx_launch){.memory = b.map, .grid = {1, 1, 1}, .block = {32, 1, 1}};
    return b;
}

bench bench_file(const char *name)
{
    char path[256], *text;
    size_t size;
    snprintf(path, sizeof path, "%s/%s", QN_TEST_DATA, name);
    quern_status status = qn_file_read(path, &text, &size);
    cr_assert(status == QUERN_OK, "%s", quern_last_error()->message);
    bench b = bench_of(text);
    qn_free(text);
    return b;
}

bench bench_open(void)
{
    return bench_file("run.ptx");
}

void bench_close(bench *b)
{
    qn_memory_map_free(b->map);
    qn_ptx_free(b->module);
}

void bench_shape(bench *b, unsigned grid, unsigned block)
{
    b->launch.grid[0] = grid;
    b->launch.block[0] = block;
}

void *bench_buffer(bench *b, size_t bytes)
{
    void *buffer = qn_alloc_aligned(64, bytes);
    cr_assert_not_null(buffer);
    memset(buffer, 0, bytes);
    cr_assert(qn_memory_map_add(b->map, buffer, bytes, "array of"));
    return buffer;
}

quern_status bench_run(bench *b, const char *kernel, void *const *parameters)
{
    b->launch.kernel = qn_ptx_kernel(b->module, kernel);
    cr_assert_not_null(b->launch.kernel, "no kernel '%s'", kernel);
    b->launch.parameters = parameters;
    return qn_ptx_run(&b->launch);
}

void bench_good(bench *b, const char *kernel, void *const *parameters)
{
    quern_status status = bench_run(b, kernel, parameters);
    cr_assert(status == QUERN_OK, "%s: %s", kernel, quern_last_error()->message);
}

void bench_bad(bench *b, const char *kernel, void *const *parameters, quern_status status,
               const char *text)
{
    quern_status got = bench_run(b, kernel, parameters);
    const char *message = quern_last_error()->message;
    cr_assert(got == status, "%s: status %d, '%s'", kernel, got, message);
    cr_assert(strstr(message, text) != NULL, "%s: '%s' does not contain '%s'", kernel, message,
              text);
}
