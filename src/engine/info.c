/* SPDX-License-Identifier: MIT
 *
 * info: what an engine reports about its device, its cache and the compiler.
 */
#include "engine/engine_internal.h"
#include <stdio.h>

quern_status quern_device_get_info(quern_device_info *info, quern_engine *engine)
{
    qn_error_reset();
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    QN_TO_GIVE(quern_device_info, own, info);
    QN_TRY(engine->home.methods->info(engine->home.device, &own));
    QN_GIVE(quern_device_info, own, info);
    return QUERN_OK;
}

/* ---- the cache ------------------------------------------------------------------------------ */

/* What was counted is given also when the database cannot be read. */
quern_status quern_cache_get_stats(quern_cache_stats *stats, quern_engine *engine)
{
    qn_error_reset();
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    QN_TO_GIVE(quern_cache_stats, own, stats);
    const quern_status status = qn_store_stats(engine->store, &own);
    qn_packs_stats(engine->packs, &own);
    QN_GIVE(quern_cache_stats, own, stats);
    return status; /* without a database, the rest counts all the same */
}

quern_status quern_cache_get_totals(quern_cache_stats *stats, quern_engine *engine)
{
    qn_error_reset();
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    QN_TO_GIVE(quern_cache_stats, own, stats);
    const quern_status status = qn_store_totals(engine->store, &own);
    qn_packs_stats(engine->packs, &own); /* this engine's: they are not counted for others */
    QN_GIVE(quern_cache_stats, own, stats);
    return status;
}

quern_status quern_cache_last_miss(quern_cache_miss *miss, quern_engine *engine)
{
    qn_error_reset();
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    QN_TO_GIVE(quern_cache_miss, own, miss);
    qn_store_last_why(engine->store, own.why, sizeof own.why);
    QN_GIVE(quern_cache_miss, own, miss);
    return QUERN_OK;
}

const char *quern_cache_path(quern_engine *engine)
{
    return qn_object_is(engine, QN_OBJECT_ENGINE) ? qn_store_path(engine->store) : "";
}

const char *quern_cache_problem(quern_engine *engine)
{
    return qn_object_is(engine, QN_OBJECT_ENGINE) ? qn_store_problem(engine->store)
                                                  : "there is no engine";
}

quern_status quern_cache_visit(quern_engine *engine, const char *key_prefix,
                               quern_cache_visitor visitor, void *context)
{
    qn_error_reset();
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    QN_CHECK_NOT_NULL(visitor);
    return qn_store_visit(engine->store, key_prefix, visitor, context);
}

quern_status quern_cache_clear(uint64_t *removed, quern_engine *engine)
{
    qn_error_reset();
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    uint64_t ignored;
    return qn_store_clear(engine->store, removed ? removed : &ignored);
}

quern_status quern_cache_verify(uint64_t *checked, uint64_t *removed, quern_engine *engine,
                                quern_cache_progress progress, void *context)
{
    qn_error_reset();
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    uint64_t ignored[2];
    return qn_store_verify(engine->store, checked ? checked : &ignored[0],
                           removed ? removed : &ignored[1], progress, context);
}

quern_status quern_cache_prune(uint64_t *removed, quern_engine *engine, uint64_t bytes,
                               uint32_t days)
{
    qn_error_reset();
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    uint64_t ignored;
    return qn_store_prune(engine->store, removed ? removed : &ignored, bytes, days);
}

quern_status quern_cache_export(uint64_t *written, quern_engine *engine, const char *path,
                                const quern_export_options *options)
{
    qn_error_reset();
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    QN_CHECK_NOT_NULL(path);
    const quern_export_options usual = QUERN_EXPORT_OPTIONS_INIT;
    QN_TAKE_RESERVED(quern_export_options, o, options ? options : &usual);
    uint64_t ignored;
    return qn_store_export(engine->store, path, &o, written ? written : &ignored);
}

quern_status quern_cache_import(uint64_t *added, quern_engine *engine, const char *path)
{
    qn_error_reset();
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    QN_CHECK_NOT_NULL(path);
    uint64_t ignored;
    return qn_store_import(engine->store, path, added ? added : &ignored);
}

/* ---- the compiler --------------------------------------------------------------------------- */

static void tell_headers(quern_compiler_info *info)
{
    qn_release release = {0, -1};
    const char *folder = qn_cuda_headers(&release);
    snprintf(info->headers, sizeof info->headers, "%s", folder);
    info->headers_major = release.major;
    info->headers_minor = QN_MAX(release.minor, 0);
}

quern_status quern_compiler_get_info(quern_compiler_info *info, int load)
{
    qn_error_reset();
    QN_TO_GIVE(quern_compiler_info, own, info);
    qn_compiler_identity identity;
    char *looked = NULL;
    own.found = qn_compiler_find(&identity, &looked);
    snprintf(own.path, sizeof own.path, "%s", own.found ? identity.path : "");
    snprintf(own.identity, sizeof own.identity, "%s", own.found ? identity.build_id : "");
    tell_headers(&own);
    if (!own.found) {
        snprintf(own.problem, sizeof own.problem, "no NVRTC was found; looked in\n%s",
                 looked ? looked : "");
    } else if (load) {
        if (qn_compiler_load() == QUERN_OK) {
            qn_compiler_version(&own.major, &own.minor);
        } else {
            snprintf(own.problem, sizeof own.problem, "%s", quern_last_error()->message);
            qn_error_reset();
        }
    }
    qn_free(looked);
    QN_GIVE(quern_compiler_info, own, info);
    return QUERN_OK;
}

quern_status quern_compiler_use(const char *path)
{
    qn_error_reset();
    return qn_compiler_use(path);
}

void quern_compiler_wait(void)
{
    qn_compiling_wait();
}
