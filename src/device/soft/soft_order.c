/* SPDX-License-Identifier: MIT
 *
 * check=streams, as memory sees it. In: copies and fills, with what they touch, and memory that is
 * allocated and goes back. Out: a failure of what is not in order with the work of other streams.
 * Kernels are looked at while they run (src/ptx/watch).
 */
#include "device/soft/soft_device.h"

#include <stdio.h>
#include <string.h>

static quern_status touch(qn_stream_work *work, const soft_touched *t, const void *at, bool writes)
{
    char why[320];
    if (!at || qn_stream_touch(work, (uint64_t)(uintptr_t)at, t->bytes, writes ? QN_WRITE : QN_READ,
                               false, why, sizeof why)) {
        return QUERN_OK;
    }
    return qn_fail(QUERN_ERROR_ACCESS, "%s, which %s the array at %p, %s", t->what,
                   writes ? "writes to" : "reads", at, why);
}

quern_status qn_soft_check_order(quern_device *quern, void *stream, const soft_touched *t)
{
    qn_stream_work work;
    QN_TRY(qn_soft_tell_early(quern));
    quern_status status = QUERN_OK;
    qn_stream_work_begin(&work, soft_of(quern)->history, stream, t->what);
    if (work.history) {
        status = touch(&work, t, t->read, false);
    }
    if (work.history && status == QUERN_OK) {
        status = touch(&work, t, t->written, true);
    }
    qn_stream_work_end(&work);
    return status;
}

/* ---- memory that goes back ------------------------------------------------------------------ */

static void note_early(soft_device *device, const void *pointer, size_t bytes, const char *why)
{
    pthread_mutex_lock(&device->lock);
    if (!device->early[0]) {
        snprintf(device->early, sizeof device->early,
                 "an array of %zu bytes at %p was released too early: its memory goes back %s; let "
                 "that stream wait for an event, or wait yourself, before the release",
                 bytes, pointer, why);
    }
    pthread_mutex_unlock(&device->lock);
}

/* Memory goes back in the order of a stream: the next array may then have it, although other
 * streams still use it. Nobody can be told here, so the next call that queues or waits is. */
void qn_soft_check_release(quern_device *quern, const void *pointer, size_t bytes, void *stream)
{
    soft_device *device = soft_of(quern);
    qn_stream_work work;
    char why[320];
    qn_stream_work_begin(&work, device->history, stream, "the release of the array");
    if (work.history && !qn_stream_touch(&work, (uint64_t)(uintptr_t)pointer, bytes, QN_WRITE,
                                         false, why, sizeof why)) {
        note_early(device, pointer, bytes, why);
    }
    qn_stream_work_end(&work);
}

quern_status qn_soft_tell_early(quern_device *quern)
{
    soft_device *device = soft_of(quern);
    char early[sizeof device->early];
    pthread_mutex_lock(&device->lock);
    memcpy(early, device->early, sizeof early);
    device->early[0] = '\0';
    pthread_mutex_unlock(&device->lock);
    return early[0] ? qn_fail(QUERN_ERROR_ACCESS, "%s", early) : QUERN_OK;
}
