/* SPDX-License-Identifier: MIT
 *
 * Quern: GPU kernels from C-like snippets, at run time.
 *
 *     "T x, T y" -> "T z" : "z = (x - y) * (x - y)"
 *
 * A snippet with a typed signature becomes CUDA source, NVRTC compiles it, a cache on disk keeps
 * the compiled image, and a launcher runs it over arrays with NumPy's broadcasting. The same
 * program runs on an NVIDIA GPU and, where there is none, on the *software device*, which executes
 * the compiled PTX on the CPU.
 *
 * Five calls are all that most programs need:
 *
 *     quern_engine *engine;
 *     quern_open(&engine, NULL);
 *
 *     quern_array *x, *y, *z = NULL;
 *     quern_array_from(&x, engine, QUERN_FLOAT32, 2, (int64_t[]){2, 5}, host_x);
 *     quern_array_from(&y, engine, QUERN_FLOAT32, 1, (int64_t[]){5}, host_y);
 *
 *     quern_kernel *squared_difference;
 *     quern_elementwise(&squared_difference, engine, "T x, T y", "T z",
 *                       "z = (x - y) * (x - y)", NULL);
 *
 *     quern_call(squared_difference, x, y, &z);          // z is allocated: 2 x 5 float32
 *     quern_array_read(z, host_z, sizeof host_z);        // waits for the result
 *
 * This header is the first page of a manual. The others, in the order in which to read them:
 *
 *     quern/status.h   status and errors    how everything reports failure
 *     quern/engine.h   engines              one device with a compiler and a cache
 *     quern/array.h    arrays               typed, strided views of device memory
 *     quern/record.h   records              structures as elements
 *     quern/value.h    values               one argument of a call
 *     quern/kernel.h   kernels              elementwise, reductions, scans: defining and calling
 *     quern/expression.h                    expressions: kernels without a signature
 *     quern/ask.h      asking kernels       what a kernel is, what a call would give
 *     quern/tune.h     tuning               choices of a launch that are measured
 *     quern/prepare.h  compiling ahead      what calls will need, by several threads
 *     quern/module.h   modules              CUDA source and images: functions, globals, launches
 *     quern/call.h     calls                arguments packed by their C types (lists.h is its own)
 *     quern/stream.h   streams and events   order and time on the device
 *     quern/memory.h   memory               where arrays come from, how much there is
 *     quern/graph.h    graphs               work recorded once, launched again and again
 *     quern/texture.h  textures, surfaces   what the texture units of a GPU read
 *     quern/cache.h    the cache            what it holds
 *     quern/remote.h   the fleet            what other machines have compiled
 *     quern/setup.h    devices and set-up   what was found on this machine
 *     quern/device.h   new devices          for those who write one; not included here
 *
 * Programs include this one. Two chapters are by themselves: quern/interop.h, the arrays of other
 * libraries, and quern/device.h, for those who add a device. Conventions, true for every function:
 *
 * - A function that can fail returns `quern_status`, and takes its outputs first and its options
 *   last. On failure an output pointer is set to NULL and quern_last_error() says why.
 * - A function that cannot fail returns its value; a returned pointer is borrowed from its parent.
 * - Every object is counted: `_retain` adds a reference, `_release` gives one back and accepts
 *   NULL, and the last one frees. An engine is closed by quern_close(), and lives until its last
 *   object is gone, whose release then waits for the device.
 * - An option structure begins with `size`; initialise it with its `_INIT` macro. A field of 0 or
 *   NULL always means the documented default, and a NULL structure means all of them. Structures
 *   grow at their end: one of an older or a newer header is taken as far as both know it, and what
 *   the library does not know must be 0, as must `reserved`.
 * - Strings that are passed in are copied unless the comment says otherwise.
 * - Engines, kernels and bound calls say at their types which threads may use them. Functions that
 *   wait for the device say so; all others return once the work is queued.
 */
#ifndef QUERN_H
#define QUERN_H

#include <quern/array.h>
#include <quern/ask.h>
#include <quern/cache.h>
#include <quern/call.h>
#include <quern/engine.h>
#include <quern/expression.h>
#include <quern/graph.h>
#include <quern/kernel.h>
#include <quern/memory.h>
#include <quern/module.h>
#include <quern/prepare.h>
#include <quern/record.h>
#include <quern/remote.h>
#include <quern/setup.h>
#include <quern/status.h>
#include <quern/stream.h>
#include <quern/texture.h>
#include <quern/tune.h>
#include <quern/value.h>

#ifdef __cplusplus
extern "C" {
#endif

#define QUERN_VERSION_MAJOR  0
#define QUERN_VERSION_MINOR  2
#define QUERN_VERSION_PATCH  0
#define QUERN_VERSION_STRING "0.2.0"
/** The version as one number that compares: 0.2.0 is 200, 1.2.3 is 10203. */
#define QUERN_VERSION_NUMBER                                                                       \
    (QUERN_VERSION_MAJOR * 10000 + QUERN_VERSION_MINOR * 100 + QUERN_VERSION_PATCH)

/** The version of the library that runs, as QUERN_VERSION_NUMBER was when it was built. */
QUERN_API int quern_version(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_H */
