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
 * stream, so that arrays wrapped from libraries that work there need no events. On the software
 * device each piece of work is done before the call that queues it returns.
 */
#ifndef QN_DEVICE_H
#define QN_DEVICE_H

#include "base/object.h"
#include "base/prefix.h"
#include <quern/device.h>
#include <quern/graph.h>
#include <quern/stream.h>

/** What `place` of a device answers: numbers of DLPack's list. */
enum { QN_PLACE_HOST = 1, QN_PLACE_GPU = 2 };

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
typedef struct qn_capture qn_capture;

/** Something to be done once a capture is over; lies in what it is about. */
typedef struct qn_deferred {
    struct qn_deferred *next;
    void (*finish)(struct qn_deferred *deferred);
} qn_deferred;

/** An allocator that the program has set at some time: see home_memory.c. */
typedef struct qn_source qn_source;

/** What is allocated on a home, in bytes. */
typedef struct qn_account {
    atomic_uint_fast64_t used;          /**< of the device, managed memory included */
    atomic_uint_fast64_t elsewhere;     /**< of `used`, what is not of the device's allocate() */
    atomic_uint_fast64_t host;          /**< of the host: pinned and mapped */
    atomic_uint_fast64_t peak;          /**< the most that `used` was */
    atomic_uint_fast64_t pieces;        /**< of both, that are not freed */
    atomic_uint_fast64_t limit;         /**< of `used`; 0: none */
    _Atomic(const qn_source *) source;  /**< of what is allocated from now on; NULL: the device */
    _Atomic(const qn_source *) sources; /**< all there were */
} qn_account;

/** A device that is open, for as long as anybody uses it. Memory, streams and events keep it alive
 * without knowing whose it is; an engine begins with its home. */
typedef struct qn_home {
    uint32_t object; /**< the owner's: QN_OBJECT_ENGINE */
    atomic_uint references;
    const quern_device_methods *methods;
    quern_device *device;
    void *stream; /**< the device's handle of the stream that is used where none is named */
    _Atomic(void *) spare_event; /**< for the next wait between streams; may be NULL */
    qn_logger logger;
    const struct qn_home_owner *owner;
    struct qn_home *next; /**< in the list of homes.c, as is */
    uint64_t round;       /**< the last in which it was asked for memory */
    char place[32];       /**< the device, as messages call it: "cuda:0", "soft" */
    qn_account account;
    atomic_uint captures;  /**< that go on */
    atomic_uint wrapped;   /**< streams of other libraries, so far: those may capture them */
    qn_capture *capturing; /**< the list of them: capture.c */
} qn_home;

/** What the owner of a home does when something on it ends. */
typedef struct qn_home_owner {
    /** Nobody uses the home any longer: close the device, free what the home lies in. */
    void (*end)(qn_home *home);
    /** Nothing will be queued on this stream again, whose handle the device still has. */
    void (*stream_ended)(qn_home *home, void *handle);
    /** Free memory that nothing uses at the moment: true if there was some. */
    bool (*reclaim)(qn_home *home);
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

/* ---- home_memory.c: what is allocated on a home --------------------------------------------- */

/** Allocate `bytes` (> 0), aligned to 256 bytes, in the order of `stream` (the device's handle).
 * *from says where it came from, which qn_memory_free() must be told.
 * Errors: QUERN_ERROR_DEVICE_MEMORY, QUERN_ERROR_NOT_SUPPORTED (a kind that the device has not),
 * QUERN_ERROR_INVALID_ARGUMENT (the program's allocator gave what it must not). */
quern_status qn_memory_new(void **out, const qn_source **from, qn_home *home, size_t bytes,
                           quern_memory memory, void *stream);
void qn_memory_free(void *pointer, const qn_source *from, qn_home *home, size_t bytes,
                    quern_memory memory, void *stream);
/** Later device memory comes from this allocator, or (NULL) from the device. */
quern_status qn_memory_use(qn_home *home, const quern_allocator *allocator);
/** Drop what is remembered of allocators: the home ends. */
void qn_memory_forget(qn_home *home);
/** Bytes of the device that the home has, in use or kept for later. */
uint64_t qn_memory_held(const qn_home *home);

/* ---- homes.c: all of this process ----------------------------------------------------------- */

void qn_homes_enter(qn_home *home);
void qn_homes_leave(const qn_home *home);
/** Bytes that the other homes on the same device have. */
uint64_t qn_homes_hold(const qn_home *home);
/** Give back what all homes on the same device only keep: true if there was some. Waits, unless a
 * stream is being captured there. */
bool qn_homes_reclaim(const qn_home *home);
/** Is a stream of a home on the same device being captured? To wait for all that a GPU does would
 * end the capture, whoever waits. */
bool qn_homes_capture(const qn_home *home);
/** True: such a capture goes on, and at its end this will be finished. */
bool qn_homes_defer(const qn_home *home, qn_deferred *deferred);
/** Refuse such a wait meanwhile: QUERN_ERROR_INVALID_ARGUMENT. */
quern_status qn_homes_refuse_captured(const char *function, const qn_home *home);
/** Add to an error about a thing on one home, which a `user` on another cannot take, where both
 * are. */
void qn_tell_places(const qn_home *own, const qn_home *users, const char *user);
/** How often this process was forked since qn_forks_watch(), in the line of its parents. */
extern atomic_uint qn_forks;
void qn_forks_watch(void);

/* ---- stream.c: streams and events ----------------------------------------------------------- */

struct quern_stream {
    uint32_t object; /**< QN_OBJECT_STREAM */
    atomic_uint references;
    atomic_uint holds; /**< the program's; together they are one reference */
    qn_home *home;     /**< retained */
    void *handle;
    bool foreign;
    quern_stream *next, **link;     /**< in the list of our own; stream.c */
    quern_stream *wraps;            /**< one of those, retained; or NULL */
    void (*release)(void *context); /**< tells the owner of a foreign one; or NULL */
    void *context;
    atomic_bool watched;           /**< another library may capture it, so the driver is asked */
    _Atomic(qn_capture *) capture; /**< that it takes part in, or NULL: capture.c */
};

struct quern_event {
    uint32_t object; /**< QN_OBJECT_EVENT */
    atomic_uint references;
    qn_home *home; /**< retained */
    void *handle;
    atomic_bool recorded;
    _Atomic(qn_capture *) capture; /**< in which it was recorded last, retained, or NULL */
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
 * take it, which is on `home`. */
quern_status qn_stream_refuse(const char *where, const quern_stream *stream, const char *user,
                              const qn_home *home);
quern_stream *qn_stream_retain(quern_stream *stream);
void qn_stream_release(quern_stream *stream);

/* ---- follow.c: our streams and foreign ones wait for each other ------------------------------ */

/** As quern_stream_follow(); the stream is one of `home`. */
quern_status qn_stream_follow(qn_home *home, const quern_stream *stream, void *handle);
/** Before the device is closed. */
void qn_home_drop_event(qn_home *home);
/* ---- capture.c: what must be known while the work of streams is recorded --------------------- */

/** The same of a stream that another library may capture: the driver is asked. */
bool qn_capture_look(const quern_stream *stream);

/** Is work on the stream recorded, and not done? */
static inline bool qn_stream_captures(const quern_stream *stream)
{
    if (!stream) {
        return false;
    }
    return __builtin_expect(atomic_load_explicit(&stream->watched, memory_order_relaxed), false)
               ? qn_capture_look(stream)
               : atomic_load_explicit(&stream->capture, memory_order_relaxed) != NULL;
}

/** Keep what recorded work of a stream uses as long as the graph, which calls `release`. Where it
 * fails nothing is taken. */
quern_status qn_capture_keep(quern_stream *stream, void *object, void (*release)(void *object));
/** True: what is about a stream (NULL: any of the home) that is being captured will be finished
 * when the capture is over. False: it is not; finish it now. */
bool qn_capture_defer(qn_home *home, void *stream, qn_deferred *deferred);
/** Refuse what cannot be done to a stream that is being captured: `function` explains itself as
 * `why`. */
quern_status qn_capture_refuse(const char *function, const char *why);
/** Refuse to look at an event that was recorded in a capture. */
quern_status qn_capture_refuse_event(const char *function, const quern_event *event);
/** The event was recorded on the stream. */
void qn_capture_mark(quern_event *event, const quern_stream *stream);
/** Let a stream wait for an event where one of them is of a capture. */
quern_status qn_capture_wait(quern_stream *stream, quern_event *event);
/** The program has given the stream back: a capture that began with it cannot be ended. */
void qn_capture_abandon(quern_stream *stream);
void qn_capture_release(qn_capture *capture);

/* ---- capture_other.c: captures that other libraries have begun ------------------------------- */

/** Where another library is capturing the stream, be able to hold what its work uses. Errors:
 * QUERN_ERROR_INVALID_ARGUMENT for one that cannot be used now, QUERN_ERROR_DRIVER. */
quern_status qn_capture_ensure(quern_stream *stream);
/** The same, and its graph launches code that lives as long as the home. */
quern_status qn_capture_use(quern_stream *stream);
/** Has another library begun the capture that it takes part in? */
bool qn_capture_is_other(const quern_stream *stream);
/** What was allocated for work on the stream, in the order of the home's own, is to be there before
 * a graph runs that does not wait for that order: another library's. */
quern_status qn_capture_settle(qn_home *home, const quern_stream *stream);
/** Does a capture go on? One of another library may be found to be over: then finish what it has
 * left behind. */
bool qn_capture_goes_on(qn_home *home);
/** The stream ends. */
void qn_capture_leave(quern_stream *stream);
/** Finish what captures that are over have left behind. Without locks. */
void qn_captures_finish(void);

/** What a graph holds. */
typedef struct qn_kept {
    void *object;
    void (*release)(void *object);
} qn_kept;

typedef QN_LIST(qn_kept) qn_kept_list;
void qn_kept_release(qn_kept_list *kept);
/** End the capture that began with the stream: the device's graph and what it holds. On failure
 * nothing is left of it. */
quern_status qn_capture_end(void **graph, qn_kept_list *kept, quern_stream *stream);

#endif /* QN_DEVICE_H */
