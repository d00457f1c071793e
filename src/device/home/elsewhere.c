/* SPDX-License-Identifier: MIT
 *
 * elsewhere: streams that somebody else captures, as a program does by cudaStreamBeginCapture() on
 * a stream that Quern has only wrapped. In: a stream. Out: the number of that capture, asked of the
 * driver, because nobody tells us; refusals; releases that are put off until it is over. The thing
 * to know: what is allocated in the order of such a stream is memory of the graph, which is there
 * while the graph is at work, and must be freed in the same capture or not at all; all else must
 * not be freed in that order.
 */
#include "device/device_internal.h"

uint64_t qn_elsewhere_id(const qn_home *home, void *handle)
{
    return home->methods->capture_of ? home->methods->capture_of(home->device, handle) : 0;
}

quern_status qn_elsewhere_refuse(const char *function, const quern_stream *stream, const char *why)
{
    return qn_elsewhere(stream)
               ? qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                         "%s: the stream is being captured, and not by Quern%s", function, why)
               : QUERN_OK;
}

void qn_home_put_off(qn_home *home, qn_deferred *deferred)
{
    deferred->next = atomic_load(&home->put_off);
    while (!atomic_compare_exchange_weak(&home->put_off, &deferred->next, deferred)) {
    }
}

/* What still has to wait puts itself off again. */
void qn_home_settle(qn_home *home)
{
    if (!atomic_load_explicit(&home->put_off, memory_order_relaxed)) {
        return;
    }
    qn_deferred *first = atomic_exchange(&home->put_off, NULL);
    while (first) {
        qn_deferred *next = first->next;
        first->finish(first);
        first = next;
    }
}
