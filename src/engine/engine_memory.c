/* SPDX-License-Identifier: MIT
 *
 * engine_memory: what a program asks about an engine's memory: another allocator, what is used,
 * what is given back, how much there may be. The counting itself is src/device/home/home_memory.c.
 */
#include "engine/workspace.h"

quern_status qn_allocator_take(quern_allocator *out, const quern_allocator *given)
{
    QN_TRY(qn_prefix_take(out, QN_PREFIX_RESERVED(quern_allocator), given));
    if (given && (!out->allocate || !out->release)) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "an allocator needs allocate and release");
    }
    return QUERN_OK;
}

quern_status quern_engine_set_allocator(quern_engine *engine, const quern_allocator *allocator)
{
    qn_error_reset();
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    quern_allocator own;
    QN_TRY(qn_allocator_take(&own, allocator));
    QN_TRY(qn_memory_use(qn_home_of(engine), allocator ? &own : NULL));
    (void)qn_workspaces_forget(engine, NULL, true); /* nobody but the engine sees that memory */
    return QUERN_OK;
}

quern_status quern_memory_get_stats(quern_memory_stats *out, quern_engine *engine)
{
    qn_error_reset();
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    QN_TO_GIVE(quern_memory_stats, own, out);
    const qn_home *home = qn_home_of(engine);
    own.used = atomic_load(&home->account.used);
    own.held = qn_memory_held(home);
    own.peak = atomic_load(&home->account.peak);
    own.allocations = atomic_load(&home->account.pieces);
    own.limit = atomic_load(&home->account.limit);
    own.host = atomic_load(&home->account.host);
    QN_GIVE(quern_memory_stats, own, out);
    return QUERN_OK;
}

quern_status quern_memory_trim(quern_engine *engine, size_t keep)
{
    qn_error_reset();
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    const qn_home *home = qn_home_of(engine);
    QN_TRY(qn_homes_refuse_captured(__func__, home));
    (void)qn_workspaces_forget(engine, NULL, true);
    return home->methods->trim ? home->methods->trim(home->device, keep) : QUERN_OK;
}

quern_status quern_memory_set_limit(quern_engine *engine, uint64_t bytes)
{
    qn_error_reset();
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    atomic_store(&qn_home_of(engine)->account.limit, bytes);
    return QUERN_OK;
}
