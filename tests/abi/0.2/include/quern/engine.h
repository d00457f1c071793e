/* SPDX-License-Identifier: MIT
 *
 * Engines. One device with a compiler and a cache; everything else belongs to one.
 */
#ifndef QUERN_ENGINE_H
#define QUERN_ENGINE_H

#include <quern/status.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One device with a compiler and a cache. May be used from many threads at once. */
typedef struct quern_engine quern_engine;
typedef struct quern_stream quern_stream;

/** Where device memory comes from instead of the device's own pool. */
typedef struct quern_allocator {
    uint32_t size; /**< sizeof(quern_allocator) */
    uint32_t reserved;
    /** Returns device memory of `bytes` (> 0; on a GPU a multiple of 4), aligned to `alignment` (a
     * power of two, at most 256), usable in the order of `stream` (the device's own handle: on a
     * GPU a CUstream), or NULL when there is none. */
    void *(*allocate)(void *context, size_t bytes, size_t alignment, void *stream);
    void (*release)(void *context, void *pointer, size_t bytes, void *stream);
    void *context;
} quern_allocator;

#define QUERN_ALLOCATOR_INIT                                                                       \
    {                                                                                              \
        sizeof(quern_allocator), 0, NULL, NULL, NULL                                               \
    }

/** `level`: "error", "warn", "info" or "debug". Called from any thread that uses the engine. It
 * gets every level, but launches, which are many, only when the environment variable QUERN_LOG is
 * "debug". */
typedef void (*quern_log_function)(void *context, const char *level, const char *message);

struct quern_remote_methods;

typedef struct quern_options {
    uint32_t size; /**< sizeof(quern_options) */
    uint32_t reserved;
    /** "auto" (the default: the first GPU, else the software device), "cuda", "cuda:1", "cuda:UUID"
     * (as nvidia-smi prints it, or its beginning: "cuda:GPU-8f3a"), "soft",
     * "soft:THREADS,check=all" (docs/software-device.md has all that may follow the colon). NULL:
     * the environment's QUERN_DEVICE, else "auto". */
    const char *device;
    /** The folder of the compiled kernels, "off" for none. NULL: QUERN_CACHE_DIR, else
     * $XDG_CACHE_HOME/quern, else ~/.cache/quern. */
    const char *cache_dir;
    /** Bytes that the cache may take. 0: QUERN_CACHE_LIMIT, else 2 GiB. */
    uint64_t cache_limit;
    /** Copied. NULL: the driver's stream-ordered pool, or host memory on the software device. */
    const quern_allocator *allocator;
    /** NULL: standard error, for messages up to the level in QUERN_LOG (default "warn"). */
    quern_log_function log;
    void *log_context;
    /** Packs of compiled kernels, by path, ended by NULL: looked into before the cache, after those
     * of QUERN_PACKS. They are only read. NULL: none. */
    const char *const *packs;
    /** One more, in memory that stays as long as the engine, such as the program's own. NULL:
     * none. */
    const void *pack_data;
    size_t pack_bytes;
    /** A second level of the cache, shared by machines (quern/remote.h): "https://HOST/PATH",
     * "redis://HOST:PORT", "off" for none. NULL: QUERN_REMOTE, else none. */
    const char *remote;
    /** Copied. A remote store of the program's own, which gets `remote`; NULL: Quern's. */
    const struct quern_remote_methods *remote_methods;
} quern_options;

#define QUERN_OPTIONS_INIT                                                                         \
    {                                                                                              \
        sizeof(quern_options), 0, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL       \
    }

/** Open an engine on one device.
 *
 * On CUDA the device's primary context is retained, so that memory and streams may be shared with
 * the CUDA runtime, PyTorch and others in the process. A thread that has a current context has it
 * again after each call; one that has none keeps GPU 0's primary context after a call on that GPU,
 * as the CUDA runtime would leave it. A cache that cannot be used is logged and never an error.
 *
 * Errors: QUERN_ERROR_NO_DEVICE (with what was looked for), QUERN_ERROR_DRIVER,
 * QUERN_ERROR_INVALID_ARGUMENT, QUERN_ERROR_OUT_OF_MEMORY. */
QUERN_API quern_status quern_open(quern_engine **out, const quern_options *options);

/** Drop the caller's hold on an engine. Kernels, arrays, streams and bound calls keep their engine
 * alive, so the order of freeing does not matter. Waits for the device when it is the last hold. */
QUERN_API void quern_close(quern_engine *engine);

/** Wait until all work queued by this engine is done; on a GPU, until all work of the process in
 * the primary context is. Returns a failure of that work. Refused while a stream of the device is
 * being captured, by whichever engine: to wait would end that capture. */
QUERN_API quern_status quern_synchronize(quern_engine *engine);

/** Ask the launches that run on a software device at this moment to stop: each fails with
 * QUERN_ERROR_INTERRUPTED soon after; a call of a kernel that is compiling does so instead of its
 * launch, on a GPU as well. Those that begin later are not affected, so it does nothing when none
 * runs. What runs on a GPU is not stopped. Safe in a signal handler and from any thread. */
QUERN_API void quern_interrupt(quern_engine *engine);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_ENGINE_H */
