/* SPDX-License-Identifier: MIT
 *
 * A list of kernels into the cache, by several processes. In: keys, or kernels and their calls.
 * Out: all that can be had is in the cache, and what came of them is printed. The thing to know:
 * the device is opened for a moment only, by a process of its own; those that compile have one that
 * is not there, of the same kind, so that they need no context on the GPU.
 */
#include "build.h"
#include "cache_commands.h"
#include "files.h"
#include "processes.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_KEYS = 32, MOST_TOLD = 64 };

/* What the processes share. */
typedef struct shared {
    char target[32]; /* of the device: "sm_90"; "soft" */
    uint32_t processors, driver;
    atomic_uint_fast64_t told[MOST_TOLD]; /* hashes of messages */
    atomic_uint_fast64_t done, had, received, compiled, left;
} shared;

/* What each of them has. */
typedef struct warmer {
    shared *shared;
    const char *device;
    build_target target;
    const cli_list *keys;
    const build_list *list;
    size_t keys_each; /* of a task */
    quern_engine *engine;
} warmer;

/* ---- messages ------------------------------------------------------------------------------- */

/* Each process meets the same trouble; it is told once. */
static void tell_once(void *context, const char *level, const char *message)
{
    shared *s = context;
    uint64_t hash = 0xcbf29ce484222325u;
    if (strcmp(level, "warn") != 0 && strcmp(level, "error") != 0) {
        return;
    }
    for (const char *c = message; *c; c++) {
        hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    }
    for (size_t k = 0; k < MOST_TOLD; k++) {
        uint_fast64_t known = 0;
        if (atomic_compare_exchange_strong(&s->told[k], &known, hash)) {
            break;
        }
        if (known == hash) {
            return;
        }
    }
    fprintf(stderr, "quern: %s: %s\n", level[0] == 'w' ? "warning" : level, message);
}

/* Who has asked for more of the log gets all of it. */
static void tell_through(quern_options *with, shared *s)
{
    if (!getenv("QUERN_LOG")) {
        with->log = tell_once;
        with->log_context = s;
    }
}

/* ---- the device ----------------------------------------------------------------------------- */

static int look_at_device(void *state, size_t task)
{
    const warmer *w = state;
    (void)task;
    quern_options with = QUERN_OPTIONS_INIT;
    quern_device_info info = QUERN_DEVICE_INFO_INIT;
    quern_engine *engine;
    with.device = w->device;
    with.remote = "off";
    tell_through(&with, w->shared);
    if (quern_open(&engine, &with) != QUERN_OK) {
        return cli_fail_library(w->device ? "--device" : NULL);
    }
    const int status = quern_device_get_info(&info, engine) != QUERN_OK ? cli_fail_library(NULL)
                       : quern_cache_problem(engine)[0]
                           ? cli_fail("there is no cache to fill: %s", quern_cache_problem(engine))
                           : CLI_OK;
    quern_close(engine);
    CLI_TRY(status);
    const bool soft = strcmp(info.id, "soft") == 0;
    snprintf(w->shared->target, sizeof w->shared->target, "%s", soft ? "soft" : info.target);
    w->shared->processors = info.processors;
    w->shared->driver = info.driver_version;
    return CLI_OK;
}

static int open_engine(warmer *w)
{
    quern_options with = QUERN_OPTIONS_INIT;
    if (w->engine) {
        return CLI_OK;
    }
    with.device = w->device;
    tell_through(&with, w->shared);
    const quern_status status =
        w->target.arch == 0
            ? quern_open(&w->engine, &with)
            : build_engine_open(&w->engine, &w->target, w->shared->processors, &with);
    return status == QUERN_OK ? CLI_OK : cli_fail_library(NULL);
}

static void end(void *state)
{
    warmer *w = state;
    if (w->engine) {
        quern_close(w->engine);
        w->engine = NULL;
    }
}

/* ---- keys ----------------------------------------------------------------------------------- */

static int warm_keys(void *state, size_t task)
{
    warmer *w = state;
    quern_fleet_report r = QUERN_FLEET_REPORT_INIT;
    const size_t first = task * w->keys_each, rest = w->keys->count - first;
    CLI_TRY(open_engine(w));
    if (quern_prewarm(&r, w->engine, w->keys->items + first,
                      rest < w->keys_each ? rest : w->keys_each, NULL) != QUERN_OK) {
        return cli_fail_library(NULL);
    }
    atomic_fetch_add(&w->shared->had, r.had);
    atomic_fetch_add(&w->shared->received, r.received);
    atomic_fetch_add(&w->shared->compiled, r.compiled);
    atomic_fetch_add(&w->shared->left, r.left);
    return CLI_OK;
}

static int warm_all_keys(warmer *w, size_t processes)
{
    const size_t count = w->keys->count, some = count / (8 * processes);
    w->keys_each = some < 1 ? 1 : some < MOST_KEYS ? some : MOST_KEYS;
    const size_t tasks = (count + w->keys_each - 1) / w->keys_each;
    CLI_TRY(cli_tasks_run(&(cli_tasks){.count = tasks,
                                       .order = cli_shuffled(tasks),
                                       .run = warm_keys,
                                       .end = end,
                                       .state = w,
                                       .weight = w->keys_each,
                                       .total = count},
                          processes));
    return cli_keys_report(&(quern_fleet_report){.size = sizeof(quern_fleet_report),
                                                 .wanted = count,
                                                 .had = w->shared->had,
                                                 .received = w->shared->received,
                                                 .compiled = w->shared->compiled,
                                                 .left = w->shared->left},
                           "");
}

/* ---- calls ---------------------------------------------------------------------------------- */

/* What an engine has compiled and received so far. */
static int count_made(warmer *w, uint64_t *compiled, uint64_t *received)
{
    quern_cache_stats cache = QUERN_CACHE_STATS_INIT;
    quern_remote_stats remote = QUERN_REMOTE_STATS_INIT;
    if (quern_cache_get_stats(&cache, w->engine) != QUERN_OK ||
        quern_remote_get_stats(&remote, w->engine) != QUERN_OK) {
        return cli_fail_library(NULL);
    }
    *compiled = cache.compiled;
    *received = remote.hits;
    return CLI_OK;
}

/* What a list has that does not compile is told, and the others are made. */
static int warm_call(void *state, size_t task)
{
    warmer *w = state;
    size_t part;
    uint64_t compiled[2], received[2];
    const build_item *item = build_list_find(w->list, task, &part);
    CLI_TRY(open_engine(w));
    CLI_TRY(count_made(w, &compiled[0], &received[0]));
    const int status = build_replay(w->list, item, part, w->engine, &(build_target){.arch = 0});
    CLI_TRY(count_made(w, &compiled[1], &received[1]));
    const uint64_t made = compiled[1] - compiled[0], came = received[1] - received[0];
    atomic_fetch_add(&w->shared->had, status == CLI_OK && made + came == 0);
    atomic_fetch_add(&w->shared->received, came);
    atomic_fetch_add(&w->shared->compiled, made);
    atomic_fetch_add(&w->shared->left, status != CLI_OK);
    atomic_fetch_add(&w->shared->done, 1);
    return status;
}

static int warm_all_calls(warmer *w, size_t processes)
{
    const size_t count = w->list->calls;
    const int status = cli_tasks_run(&(cli_tasks){.count = count,
                                                  .order = cli_shuffled(count),
                                                  .run = warm_call,
                                                  .end = end,
                                                  .state = w,
                                                  .goes_on = true},
                                     processes);
    const shared *s = w->shared;
    if (s->done < count) {
        return CLI_FAILURE; /* which has been told */
    }
    printf("%zu %s: %" PRIu64 " had what they need; %s received, %" PRIu64 " compiled\n", count,
           count == 1 ? "call" : "calls", (uint64_t)s->had, cli_kernels(s->received),
           (uint64_t)s->compiled);
    return s->left == 0
               ? status
               : cli_fail("%" PRIu64 " of %zu could not be compiled", (uint64_t)s->left, count);
}

int cli_prewarm(const char *device, const cli_list *keys, const struct build_list *list,
                size_t processes)
{
    warmer w = {
        .shared = cli_shared(sizeof *w.shared), .device = device, .keys = keys, .list = list};
    if (!w.shared) {
        return cli_fail("out of memory");
    }
    unsetenv("QUERN_RECORD");
    cli_on_interrupt(cli_tasks_kill);
    CLI_TRY(
        cli_tasks_run(&(cli_tasks){.count = 1, .run = look_at_device, .end = end, .state = &w}, 1));
    if (!build_target_parse(&w.target, w.shared->target)) {
        return cli_fail("this device takes code for \"%s\", which is not known", w.shared->target);
    }
    w.target.driver = w.shared->driver;
    return keys ? warm_all_keys(&w, processes) : warm_all_calls(&w, processes);
}
