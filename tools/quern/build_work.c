/* SPDX-License-Identifier: MIT
 *
 * Compiling a list for several targets by several processes. In: a list and targets. Out: images in
 * a cache that all of them share. An interrupt ends the processes and removes the folder.
 */
#include "build.h"
#include "files.h"
#include "processes.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ENGINES = 8 };

/* ---- the folder ----------------------------------------------------------------------------- */

static char folder[4096];

static int remove_one(const char *path, const struct stat *facts, int flag, struct FTW *walk)
{
    (void)facts, (void)flag, (void)walk;
    return remove(path);
}

static void give_up(void)
{
    cli_tasks_kill();
    build_folder_remove();
}

void build_folder_remove(void)
{
    if (*folder) {
        nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
        *folder = '\0';
    }
}

int build_folder_make(const char **out)
{
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/quern-build-XXXXXX", parent && *parent ? parent : "/tmp");
    if (!mkdtemp(folder)) {
        const int status = cli_fail_errno(NULL, "make the folder", folder);
        *folder = '\0';
        return status;
    }
    cli_on_interrupt(give_up);
    *out = folder;
    return CLI_OK;
}

/* ---- one process ---------------------------------------------------------------------------- */

/* The engines of one target: one for each number of processors that its GPUs have. */
typedef struct engines {
    const build_target *target;
    quern_engine *list[MOST_ENGINES];
    size_t count;
} engines;

static void engines_close(engines *e)
{
    for (size_t k = 0; k < e->count; k++) {
        quern_close(e->list[k]);
    }
    e->count = 0;
}

static int engines_open(engines *e, const build_target *target, const char *cache)
{
    const uint32_t *counts = build_processors(target);
    quern_options with = QUERN_OPTIONS_INIT;
    with.cache_dir = cache;
    engines_close(e);
    e->target = target;
    do {
        if (build_engine_open(&e->list[e->count], target, counts[e->count], &with) != QUERN_OK) {
            return cli_fail_library(target->name);
        }
        e->count++;
    } while (target->arch != 0 && e->count < MOST_ENGINES && counts[e->count] != 0);
    return CLI_OK;
}

/* Elementwise kernels and modules do not depend on the number of processors. */
static bool depends(const build_item *item)
{
    const toml_value *kind = toml_find(item->table, "kind");
    return !item->module && kind && strcmp(kind->text, "elementwise") != 0;
}

/* What a process has. */
typedef struct work {
    const build_list *list;
    const build_target *targets;
    const char *cache;
    engines engines;
} work;

static int do_one(void *state, size_t n)
{
    work *w = state;
    size_t part;
    const build_target *target = &w->targets[n / w->list->calls];
    const build_item *item = build_list_find(w->list, n % w->list->calls, &part);
    if (w->engines.target != target) {
        CLI_TRY(engines_open(&w->engines, target, w->cache));
    }
    for (size_t k = 0; k < (depends(item) ? w->engines.count : 1); k++) {
        CLI_TRY(build_replay(w->list, item, part, w->engines.list[k], target));
    }
    return CLI_OK;
}

static void end(void *state)
{
    engines_close(&((work *)state)->engines);
}

int build_work(const build_list *list, const build_target *targets, size_t target_count,
               const char *cache, size_t processes)
{
    work w = {list, targets, cache, {0}};
    const cli_tasks tasks = {
        .count = target_count * list->calls, .run = do_one, .end = end, .state = &w};
    return cli_tasks_run(&tasks, processes);
}
