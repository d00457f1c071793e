/* SPDX-License-Identifier: MIT
 *
 * Streams and events. Order and time on the device.
 */
#ifndef QUERN_STREAM_H
#define QUERN_STREAM_H

#include <quern/engine.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A queue of work, done in order. On the software device each piece is done before the call that
 * queues it returns. May be used from many threads at once. The caller owns *out; give it back with
 * quern_stream_release().
 * Errors: QUERN_ERROR_INVALID_ARGUMENT, _OUT_OF_MEMORY, _DRIVER. */
QUERN_API quern_status quern_stream_new(quern_stream **out, quern_engine *engine);

typedef struct quern_stream_options {
    uint32_t size; /**< sizeof(quern_stream_options) */
    uint32_t reserved;
    /** 1: keeps no order with the legacy default stream, where the CUDA runtime and PyTorch work
     * unless told otherwise; 0: does. The software device makes no difference. */
    int32_t non_blocking;
    /** As CUDA's: the lower, the more urgent. What lies outside of quern_device_info's
     * priority_lowest and priority_highest counts as the nearer of them. */
    int32_t priority;
    /** What messages call the stream. NULL: "stream 1", "stream 2", as they were made. */
    const char *name;
} quern_stream_options;

#define QUERN_STREAM_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(quern_stream_options), 0, 0, 0, NULL                                                \
    }

/** As quern_stream_new(), with options (NULL: none).
 * Errors: those, and QUERN_ERROR_NOT_SUPPORTED of a device that has no such streams. */
QUERN_API quern_status quern_stream_new_with(quern_stream **out, quern_engine *engine,
                                             const quern_stream_options *options);
/** Use a foreign stream; `handle` is a CUstream, and must outlive the result and what holds it:
 * bound calls on it, and the arrays that calls on it allocated; one of Quern's own is held until
 * then. Otherwise as quern_stream_new().
 *
 * NULL and 1 are the legacy default stream. 2 is the default stream of the thread that uses it,
 * another one in each thread: what a thread queues on it is ordered by that thread alone, and
 * arrays that calls on it allocated, and bound calls on it, are released by that thread, or after a
 * wait. Where its owner captures it (a CUDA graph of PyTorch), what is queued on it is recorded,
 * and the graph holds what that uses; docs/arrays-and-streams.md says what is refused meanwhile. */
QUERN_API quern_status quern_stream_wrap(quern_stream **out, quern_engine *engine, void *handle);
/** As quern_stream_wrap(), of a stream that its owner keeps until `release` (not NULL) is called
 * with `context`: once the result and all that holds it are gone, in the thread that drops the last
 * of them, with none of the library's locks held. After a failure it is not called. */
QUERN_API quern_status quern_stream_wrap_owned(quern_stream **out, quern_engine *engine,
                                               void *handle, void (*release)(void *context),
                                               void *context);
/** The device's own handle, a CUstream. On the software device it names the stream and nothing
 * else.
 */
QUERN_API void *quern_stream_handle(const quern_stream *stream);
/** Call `function` on the host with `context`, in the order of the stream: when all work queued
 * before is done, and before any that is queued later. On a GPU a thread of the driver calls it; it
 * may then use nothing of CUDA nor of Quern, and is not called when work before it failed. On the
 * software device this call does so itself. Waits for nothing else. Thread-safe.
 * Errors: QUERN_ERROR_INVALID_ARGUMENT, _DRIVER. */
QUERN_API quern_status quern_stream_call(quern_stream *stream, void (*function)(void *context),
                                         void *context);
/** Wait until all work queued on the stream is done. Thread-safe. Returns a failure of that work.
 */
QUERN_API quern_status quern_stream_wait(quern_stream *stream);
/** *done becomes 1 when all work queued on the stream is done, else 0. Waits for nothing.
 * Thread-safe. Errors: QUERN_ERROR_INVALID_ARGUMENT (a stream that is captured), _NOT_SUPPORTED of
 * a device that cannot tell, and a failure of that work. */
QUERN_API quern_status quern_stream_query(int *done, quern_stream *stream);
/** One more reference; returns `stream`. Thread-safe. */
QUERN_API quern_stream *quern_stream_retain(quern_stream *stream);
/** One reference less; queued work still completes. Bound calls, and arrays that calls on this
 * stream allocated, hold it too: such an array's memory is freed in its order. Accepts NULL.
 * Thread-safe. */
QUERN_API void quern_stream_release(quern_stream *stream);

/** A mark in a stream. May be used from many threads at once. */
typedef struct quern_event quern_event;
/** A new mark, not yet in a stream. The caller owns *out; give it back with quern_event_release().
 * Errors: QUERN_ERROR_INVALID_ARGUMENT, _OUT_OF_MEMORY, _DRIVER. */
QUERN_API quern_status quern_event_new(quern_event **out, quern_engine *engine);
/** Mark this point of `stream` (NULL: the engine's own); an earlier mark of this event is
 * forgotten. Waits for nothing. Errors: QUERN_ERROR_INVALID_ARGUMENT (a stream of another engine),
 * _DRIVER. */
QUERN_API quern_status quern_event_record(quern_event *event, quern_stream *stream);
/** Wait on the host until the mark is reached. Returns a failure of the work before it. */
QUERN_API quern_status quern_event_wait(quern_event *event);
/** *reached becomes 1 when the mark is reached, or the event was never recorded, else 0. Waits for
 * nothing. Errors: QUERN_ERROR_INVALID_ARGUMENT, _NOT_SUPPORTED of a device that cannot tell, and a
 * failure of the work before the mark. */
QUERN_API quern_status quern_event_query(int *reached, quern_event *event);
/** Let `stream` (NULL: the engine's own) wait for the mark, without waiting here.
 * Errors: QUERN_ERROR_INVALID_ARGUMENT (a stream of another engine), _DRIVER. */
QUERN_API quern_status quern_stream_wait_event(quern_stream *stream, quern_event *event);
/** Milliseconds of device time between two marks that were reached (quern_event_wait).
 * Errors: QUERN_ERROR_INVALID_ARGUMENT (events of different engines, or that were not
 * recorded), _DRIVER. */
QUERN_API quern_status quern_event_elapsed(double *milliseconds, quern_event *begin,
                                           quern_event *end);
/** One more reference; returns `event`. Thread-safe. */
QUERN_API quern_event *quern_event_retain(quern_event *event);
/** One reference less; the last one frees, without waiting for the mark. Accepts NULL. Thread-safe.
 */
QUERN_API void quern_event_release(quern_event *event);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_STREAM_H */
