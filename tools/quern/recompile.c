/* SPDX-License-Identifier: MIT
 *
 * quern cache verify --recompile: a part of the entries, drawn by chance, is compiled again and
 * compared. In: how many percent. Out: what was found; entries that differ are named.
 */
#include "cache_commands.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct keys {
    cli_list list;
    size_t room;
} keys;

static int add_key(void *context, const quern_cache_entry *entry)
{
    keys *k = context;
    if (k->list.count == k->room) {
        const char **items = cli_alloc((k->room = 2 * k->room + 64) * sizeof *items);
        for (size_t at = 0; at < k->list.count; at++) {
            items[at] = k->list.items[at];
        }
        k->list.items = items;
    }
    k->list.items[k->list.count++] = cli_strdup(entry->key);
    return 0;
}

/* Bring `wanted` of them, drawn by chance, to the front. */
static void draw(cli_list *list, size_t wanted)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    srandom((unsigned)now.tv_nsec ^ (unsigned)now.tv_sec);
    for (size_t k = 0; k < wanted; k++) {
        size_t other = k + (size_t)random() % (list->count - k);
        const char *key = list->items[k];
        list->items[k] = list->items[other];
        list->items[other] = key;
    }
}

int cli_percent(double *out, const char *command, const char *text)
{
    char *end;
    *out = strtod(text, &end);
    end += *end == '%';
    return end != text && !*end && *out > 0 && *out <= 100
               ? CLI_OK
               : cli_usage(command,
                           "--recompile is \"%s\"; write a part of the entries, such as 1%%", text);
}

int cli_recompile(quern_engine *engine, double percent)
{
    keys k = {0};
    size_t counts[4] = {0};
    if (quern_cache_visit(engine, NULL, add_key, &k) != QUERN_OK) {
        return cli_fail_library(NULL);
    }
    size_t wanted = (size_t)ceil((double)k.list.count * percent / 100);
    wanted = wanted < k.list.count ? wanted : k.list.count;
    draw(&k.list, wanted);
    for (size_t at = 0; at < wanted; at++) {
        quern_recompiled result;
        if (quern_cache_recompile(&result, engine, k.list.items[at]) != QUERN_OK) {
            return cli_fail_library(NULL);
        }
        counts[result]++;
        if (result == QUERN_RECOMPILED_DIFFERENT) {
            printf("%s is not what this compiler makes\n", k.list.items[at]);
        }
    }
    printf("%zu compiled again: %zu the same, %zu different; %zu cannot be compiled here\n",
           counts[QUERN_RECOMPILED_SAME] + counts[QUERN_RECOMPILED_DIFFERENT],
           counts[QUERN_RECOMPILED_SAME], counts[QUERN_RECOMPILED_DIFFERENT],
           counts[QUERN_RECOMPILED_NOT]);
    return counts[QUERN_RECOMPILED_DIFFERENT] == 0
               ? CLI_OK
               : cli_fail("somebody has altered the cache: 'quern cache clear' empties it");
}
