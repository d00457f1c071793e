/* SPDX-License-Identifier: MIT
 *
 * quern build: its parts. A list of kernels is replayed on a device that is not there, of each
 * architecture asked for, so that an engine makes the same images under the same keys as it would
 * for the device itself; the images that come together are the pack.
 */
#ifndef QUERN_CLI_BUILD_H
#define QUERN_CLI_BUILD_H

#include "toml.h"

#include <quern/device.h>

/* ---- build_device.c ------------------------------------------------------------------------- */

/* What is compiled for. */
typedef struct build_target {
    const char *name; /* "sm_90", "compute_90", "soft" */
    int arch;         /* 0: the software device */
    int native;
    uint32_t driver; /* 13000 for 13.0, of a device that is known; 0 */
} build_target;

/* A target by its name. */
bool build_target_parse(build_target *out, const char *name);
/* How many multiprocessors the GPUs of an architecture have: each makes its own choice between the
 * ways to reduce and to scan. Ended by 0. */
const uint32_t *build_processors(const build_target *target);
/* The device that is not there. Its argument is "TARGET:PROCESSORS:DRIVER", "sm_90:132:0". */
extern const quern_device_methods build_absent_device;
/* An engine for it, with so many processors, and else as `options` say. */
quern_status build_engine_open(quern_engine **out, const build_target *target, uint32_t processors,
                               const quern_options *options);

/* ---- build_list.c: a list of kernels, checked ----------------------------------------------- */

/* A kernel of the list, or a module, with what belongs to it. */
typedef struct build_item {
    const toml_table *table;
    const toml_table *parts; /* [[kernel.call]], [[module.header]] */
    size_t part_count;
    bool module;
} build_item;

typedef struct build_list {
    const char *path;
    toml_file toml;
    build_item *items;
    size_t count;
    size_t calls; /* kernels' calls, and modules: what there is to compile for each target */
} build_list;

/* Read and check a file. Prints what is wrong; CLI_FAILURE. */
int build_list_read(build_list *out, const char *path);
/* The same of a text, without printing. */
bool build_list_parse(build_list *out, const char *text, size_t length, cli_problem *problem);
/* Print what is wrong at a place of the list; CLI_FAILURE. */
int build_list_fail(const build_list *list, size_t place, const char *format, ...) CLI_PRINTF(3, 4);

/* Item and part of call or module number `n` of the list. */
const build_item *build_list_find(const build_list *list, size_t n, size_t *part);

/* An argument of a call: "float32" or "float32[1000,1000] strides=8000,4 at=4 same=0". */
typedef struct build_argument {
    quern_dtype dtype; /* QUERN_DTYPE_NONE: "-", an output that the call makes */
    bool array, strided;
    int ndim;
    int64_t shape[QUERN_MAX_NDIM], strides[QUERN_MAX_NDIM];
    int64_t at;   /* how far from an aligned address it begins */
    int64_t same; /* the argument whose memory it has; -1: its own */
} build_argument;
bool build_argument_parse(build_argument *out, const char *text, cli_problem *problem);

/* ---- build_replay.c ------------------------------------------------------------------------- */

/* Compile call or module `part` of an item. Prints what fails; CLI_FAILURE. */
int build_replay(const build_list *list, const build_item *item, size_t part, quern_engine *engine,
                 const build_target *wanted);

/* ---- build_work.c --------------------------------------------------------------------------- */

/* Compile all of a list for all targets, by so many processes, into the cache in a folder. Tells
 * how far it is where standard error is a terminal. */
int build_work(const build_list *list, const build_target *targets, size_t target_count,
               const char *cache, size_t processes);
/* A folder for a cache, which build_folder_remove() removes, as an interrupt does. */
int build_folder_make(const char **out);
void build_folder_remove(void);

#endif /* QUERN_CLI_BUILD_H */
