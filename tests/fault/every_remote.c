/* SPDX-License-Identifier: MIT
 *
 * What the functions of remote stores are called with: a store, a key of an entry, a file of a
 * signing key.
 */
#include "fault/every.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* A remote store that has nothing and takes everything. */
static quern_status remote_open(void **context, const char *url, uint32_t timeout_ms)
{
    (void)url, (void)timeout_ms;
    *context = &dead;
    return QUERN_OK;
}

static quern_status remote_get(void *context, size_t count, const char *const *names,
                               const void **data, size_t *bytes)
{
    (void)context, (void)names, (void)data;
    memset(bytes, 0, count * sizeof *bytes);
    return QUERN_OK;
}

static quern_status remote_put(void *context, const char *name, const void *data, size_t bytes)
{
    (void)context, (void)name, (void)data, (void)bytes;
    return QUERN_OK;
}

static void remote_close(void *context)
{
    (void)context;
}

const quern_remote_methods no_remote = {
    sizeof no_remote, QUERN_REMOTE_VERSION, "nothing", remote_open,
    remote_get,       remote_put,           NULL,      remote_close};

static int copy_key(void *context, const quern_cache_entry *entry)
{
    snprintf(context, 33, "%s", entry->key);
    return 1;
}

const char *cached_key(void)
{
    static char key[33];
    if (!key[0]) {
        cr_assert_eq(quern_cache_visit(engine, NULL, copy_key, key), QUERN_OK);
    }
    return key;
}

const char *key_path(void)
{
    static char name[64];
    snprintf(name, sizeof name, "%s.key", path);
    return name;
}
