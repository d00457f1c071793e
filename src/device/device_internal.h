/* SPDX-License-Identifier: MIT
 *
 * device: the two devices that Quern brings, and what everything on a device holds on to: its home
 * and its streams. The interface is include/quern/device.h.
 *
 *     cuda   an NVIDIA GPU. The driver's library is loaded when the device is first asked for:
 *            the file that QUERN_CUDA names (or libcuda.so.1 in the folder that it names), else
 *            libcuda.so.1 where the system's linker finds it. Nothing else is tried when QUERN_CUDA
 *            is set.
 *     soft   PTX executed on the CPU (src/ptx). "soft:THREADS" spreads blocks over THREADS threads;
 *            soft_options.c reads that and what else may follow the colon.
 *
 * The CUDA device holds a reference to the GPU's primary context, which the CUDA runtime uses too,
 * and makes it current for the length of each call; a thread that had no context keeps that of
 * device 0 (cuda_device.h says why). When the last engine of a GPU is closed and nobody else holds
 * its context, the driver destroys it, and with it all memory in it. A cudaDeviceReset() by anyone
 * in the process does so at once: every later call then fails with QUERN_ERROR_DRIVER.
 *
 * A stream of the CUDA device is an ordinary one: it keeps the order with the legacy default
 * stream, so that arrays wrapped from libraries that work there need no events. The software device
 * has no stream handles (NULL): each piece of work is done before the call that queues it returns.
 */
#ifndef QN_DEVICE_H
#define QN_DEVICE_H

#include "base/object.h"
#include "base/prefix.h"
#include <quern/device.h>
#include <quern/stream.h>

/* ---- cuda_*.c: an NVIDIA GPU through the Driver API, loaded at run time --------------------- */
extern const quern_device_methods qn_cuda_device;

/* ---- soft_*.c: the software device: PTX executed on the CPU (src/ptx) ----------------------- */
extern const quern_device_methods qn_soft_device;

/** Does check=bounds look at the indexes of raw arrays? For the table and a device of any kind. */
bool qn_device_checks_bounds(const quern_device_methods *methods, quern_device *device);

/* ---- devices.c: all devices, and quern_device_list() --------------------------------------- */

/** The table of "cuda" or "soft"; NULL for another name. */
const quern_device_methods *qn_device_find(qn_str name);

/** Facts of every device of this machine, GPUs first, without opening one. A driver that is there
 * and cannot be used is one entry "cuda" whose note says why. Up to `capacity` entries of `infos`,
 * each as large as the first one says, are filled; *count tells how many there are. */
quern_status qn_devices_list(size_t *count, quern_device_info *infos, size_t capacity);

/* ---- launch_check.c: a launch that no device could run -------------------------------------- */

typedef struct qn_launch_limits {
    uint32_t grid[3], block[3];
    uint32_t block_threads;   /**< of this function */
    uint32_t shared_bytes;    /**< static and dynamic together */
    uint32_t static_shared;   /**< of this function */
    uint32_t cluster_blocks;  /**< the most blocks of a cluster of this function */
    uint32_t processors;      /**< with those below: how many blocks run at once */
    uint32_t resident_blocks; /**< of this function, block and shared memory that fit one
                                   processor; UINT32_MAX: any number */
    const char *device;       /**< whose limits they are; NULL: of this device */
} qn_launch_limits;

/** Errors: QUERN_ERROR_INVALID_ARGUMENT with the size that is wrong and what is allowed. */
quern_status qn_launch_check(const quern_launch_config *config, const qn_launch_limits *limits);

/* ---- home.c: what everything on a device holds on to ---------------------------------------- */

struct qn_home_owner;

/** A device that is open, for as long as anybody uses it. Memory, streams and events keep it alive
 * without knowing whose it is; an engine begins with its home. */
typedef struct qn_home {
    uint32_t object; /**< the owner's: QN_OBJECT_ENGINE */
    atomic_uint references;
    const quern_device_methods *methods;
    quern_device *device;
    void *stream; /**< the device's handle of the stream that is used where none is named */
    qn_logger logger;
    const struct qn_home_owner *owner;
} qn_home;

/** What the owner of a home does when something on it ends. */
typedef struct qn_home_owner {
    /** Nobody uses the home any longer: close the device, free what the home lies in. */
    void (*end)(qn_home *home);
    /** Nothing will be queued on this stream again, whose handle the device still has. */
    void (*stream_ended)(qn_home *home, void *handle);
} qn_home_owner;

/** An engine is its home and more, so that one's address is the other's. */
static inline qn_home *qn_home_of(quern_engine *engine)
{
    return (qn_home *)(void *)engine;
}

static inline quern_engine *qn_home_engine(qn_home *home)
{
    return (quern_engine *)(void *)home;
}

static inline void qn_home_retain(qn_home *home)
{
    atomic_fetch_add_explicit(&home->references, 1, memory_order_relaxed);
}

void qn_home_release(qn_home *home);
/** The facts of a function of the device. */
quern_status qn_home_function_info(quern_function_info *out, const qn_home *home, void *function);

/* ---- stream.c: streams and events ----------------------------------------------------------- */

struct quern_stream {
    uint32_t object; /**< QN_OBJECT_STREAM */
    atomic_uint references;
    atomic_uint holds; /**< the program's; together they are one reference */
    qn_home *home;     /**< retained */
    void *handle;
    bool foreign;
};

/** The device's handle of a stream; NULL is the home's own, here and below. */
static inline void *qn_stream_handle(const qn_home *home, const quern_stream *stream)
{
    return stream ? stream->handle : home->stream;
}

/** Is it a stream of `home`, or none? */
static inline bool qn_stream_fits(const quern_stream *stream, const qn_home *home)
{
    return !stream || (qn_object_is(stream, QN_OBJECT_STREAM) && stream->home == home);
}

/** Say why not. `where` says how it was passed, such as "quern_call_options", and `user` what would
 * take it. */
quern_status qn_stream_refuse(const char *where, const quern_stream *stream, const char *user);
quern_stream *qn_stream_retain(quern_stream *stream);
void qn_stream_release(quern_stream *stream);

#endif /* QN_DEVICE_H */
