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

static void remove_folder(void)
{
    if (*folder) {
        nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
        *folder = '\0';
    }
}

/* On the thread that waits for signals. */
static void give_up(void)
{
    cli_tasks_kill();
    remove_folder();
}

void build_folder_remove(void)
{
    cli_interrupt_lock();
    remove_folder();
    cli_interrupt_unlock();
}

int build_folder_make(const char **out)
{
    const char *parent = getenv("TMPDIR");
    char name[sizeof folder];
    snprintf(name, sizeof name, "%s/quern-build-XXXXXX", parent && *parent ? parent : "/tmp");
    cli_on_interrupt(give_up);
    cli_interrupt_lock(); /* an interrupt finds it made and noted, or not made */
    const bool made = mkdtemp(name) != NULL;
    snprintf(folder, sizeof folder, "%s", made ? name : "");
    cli_interrupt_unlock();
    *out = folder;
    return made ? CLI_OK : cli_fail_errno(NULL, "make the folder", name);
}

/* ---- one process ---------------------------------------------------------------------------- */

/* The engines of one target: one for each number of processors that its GPUs have, opened when it
 * is needed. */
typedef struct engines {
    const build_target *target;
    const uint32_t *processors;
    quern_engine *list[MOST_ENGINES];
    size_t count;
} engines;

static void engines_close(engines *e)
{
    for (size_t k = 0; k < e->count; k++) {
        quern_close(e->list[k]);
    }
    *e = (engines){0};
}

static void engines_choose(engines *e, const build_target *target)
{
    engines_close(e);
    e->target = target;
    e->processors = build_processors(target);
    e->count = 1;
    while (target->arch != 0 && e->count < MOST_ENGINES && e->processors[e->count] != 0) {
        e->count++;
    }
}

static int engines_open(engines *e, size_t k, const char *cache)
{
    quern_options with = QUERN_OPTIONS_INIT;
    with.cache_dir = cache;
    if (!e->list[k] &&
        build_engine_open(&e->list[k], e->target, e->processors[k], &with) != QUERN_OK) {
        return cli_fail_library(e->target->name);
    }
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
        engines_choose(&w->engines, target);
    }
    for (size_t k = 0; k < (depends(item) ? w->engines.count : 1); k++) {
        CLI_TRY(engines_open(&w->engines, k, w->cache));
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
