/* SPDX-License-Identifier: MIT
 *
 * Graphs. Work that was queued once, to be done again and again at the price of one call.
 */
#ifndef QUERN_GRAPH_H
#define QUERN_GRAPH_H

#include <quern/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Work in its order, with the arrays and modules that it uses. May be launched from many threads;
 * one launch is done after the other. */
typedef struct quern_graph quern_graph;

/** From now on work that is queued on the stream is not done, but recorded, until
 * quern_stream_end_capture(). The stream was made by quern_stream_new(), or is a foreign one that
 * is none of the default streams.
 *
 * Recorded are calls and launches on the stream, quern_array_read_on(), _write_on(), _copy_on(),
 * _copy_order_on(), _fill_on(), _assign_on(), and quern_stream_call(). Another stream takes part in
 * the capture once it waits for an event that was recorded in it, and until the end, before which
 * the first stream must have waited for all that the other does. What is not queued on one of these
 * streams is done as always: reads, writes and fills without a stream, compilation, the allocation
 * of outputs. An array that a recorded call allocates is there at once, and has elements once the
 * graph was launched.
 *
 * Refused meanwhile, and nothing is changed by it: waiting for one of these streams, or for the
 * engine; asking or waiting for an event that was recorded in the capture; letting one of these
 * streams wait for an event from outside, or the engine's own stream for one from inside; binding
 * calls on these streams (bind before; launches of bound calls are recorded); launching a graph.
 *
 * Errors: QUERN_ERROR_INVALID_ARGUMENT (it is being captured already, or cannot be),
 * _NOT_SUPPORTED of a device without graphs, _OUT_OF_MEMORY, _DRIVER. */
QUERN_API quern_status quern_stream_capture(quern_stream *stream);
/** End the capture that began with this stream, and make a graph of what it recorded. The capture
 * is over even when this fails, but for QUERN_ERROR_INVALID_ARGUMENT: the stream is not the one.
 *
 * Arrays and modules that recorded work uses stay until the graph is released, which does not keep
 * the stream; host memory of recorded reads and writes, and the context of quern_stream_call(),
 * must stay that long. A launch uses arrays as they are then, and scalars as they were recorded.
 * The caller owns *out; give it back with quern_graph_release().
 * Errors: QUERN_ERROR_OUT_OF_MEMORY; QUERN_ERROR_DRIVER when another stream of the capture was not
 * waited for, or something in the process did what ends captures. */
QUERN_API quern_status quern_stream_end_capture(quern_graph **out, quern_stream *stream);
/** Queue all of it on `stream` (NULL: the engine's own), after what is queued there and after
 * earlier launches of the same graph. Waits for nothing.
 * Errors: QUERN_ERROR_INVALID_ARGUMENT (a stream of another engine, or one that is being captured),
 * _DRIVER; on the software device those of the work. */
QUERN_API quern_status quern_graph_launch(quern_graph *graph, quern_stream *stream);
/** One more reference; returns `graph`. Thread-safe. */
QUERN_API quern_graph *quern_graph_retain(quern_graph *graph);
/** One reference less; the last one waits for the last launch, and frees. Accepts NULL.
 * Thread-safe. */
QUERN_API void quern_graph_release(quern_graph *graph);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_GRAPH_H */
