/* SPDX-License-Identifier: MIT
 *
 * What the tests of the executor share: the module of data/run.ptx, a memory map with the buffers
 * of one test, and launches by name.
 */
#ifndef RUN_SUPPORT_H
#define RUN_SUPPORT_H

#include "ptx/ptx.h"

#include <criterion/criterion.h>
#include <string.h>

typedef struct bench {
    qn_ptx_module *module;
    qn_memory_map *map;
    qn_ptx_launch launch; /* of the next run: grid, block and so on */
} bench;

/* The kernels of data/run.ptx. */
bench bench_open(void);
/* Those of another file of data/. */
bench bench_file(const char *name);
/* Those of a text. */
bench bench_of(const char *ptx);
void bench_close(bench *b);
/* A zeroed buffer that kernels may use. */
void *bench_buffer(bench *b, size_t bytes);
/* Launch `kernel` with pointers to its parameters. */
quern_status bench_run(bench *b, const char *kernel, void *const *parameters);
/* The same, which must succeed. */
void bench_good(bench *b, const char *kernel, void *const *parameters);
/* The same, which must fail with `status` and a message that contains `text`. */
void bench_bad(bench *b, const char *kernel, void *const *parameters, quern_status status,
               const char *text);
void bench_shape(bench *b, unsigned grid, unsigned block);

#define PARAMETERS(...) ((void *const[]){__VA_ARGS__})

#endif /* RUN_SUPPORT_H */
