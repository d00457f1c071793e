/* SPDX-License-Identifier: MIT
 *
 * A part of fault_structures.c: the structures of remote stores.
 */
#ifndef QN_TESTS_FAULT_STRUCTURES_REMOTE_H
#define QN_TESTS_FAULT_STRUCTURES_REMOTE_H

#include "fault/refuse.h"
#include "unit/cache/scratch.h"

static quern_status use_prewarm(const void *s)
{
    return quern_prewarm(NULL, engine, NULL, 0, s);
}

static quern_status fill_remote(void *s)
{
    return quern_remote_get_stats(s, engine);
}

static quern_status fill_report(void *s)
{
    return quern_prewarm(s, engine, NULL, 0, NULL);
}

static quern_status fill_public_key(void *s)
{
    return quern_signing_key(s, scratch_path("key"), NULL);
}

#define FILLED_REMOTE                                                                              \
    {"quern_remote_stats", sizeof(quern_remote_stats), 8, fill_remote},                            \
        {"quern_fleet_report", sizeof(quern_fleet_report), 8, fill_report},                        \
    {                                                                                              \
        "quern_public_key", sizeof(quern_public_key), 4, fill_public_key                           \
    }

Test(structures, remote_of_another_version)
{
    quern_engine *e;
    quern_remote_methods methods = QUERN_REMOTE_METHODS_INIT;
    quern_options options = QUERN_OPTIONS_INIT;
    options.device = "soft";
    options.remote_methods = &methods;
    REFUSE_OUT(e, quern_open(&e, &options), "quern_remote_methods.name is NULL");
    methods.version = 0;
    REFUSE_OUT(e, quern_open(&e, &options), "version is 0, and this library");
    methods.size = 4;
    REFUSE_OUT(e, quern_open(&e, &options), "quern_remote_methods");
}

#endif /* QN_TESTS_FAULT_STRUCTURES_REMOTE_H */
