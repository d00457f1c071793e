/* SPDX-License-Identifier: MIT
 *
 * Memory. Where arrays come from, how much there is in use, and how much there may be.
 */
#ifndef QUERN_MEMORY_H
#define QUERN_MEMORY_H

#include <quern/engine.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Fill *out with the allocator of a shared library: two functions that it exports by these names,
 *
 *     void *allocate(size_t bytes, int device, void *stream);
 *     void release(void *pointer, size_t bytes, int device, void *stream);
 *
 * as PyTorch's pluggable allocators have them. They must return NULL when there is no memory, and
 * not throw, which ends the process; and give memory that is aligned to 256 bytes. `device` is what
 * they are called with: the GPU's number. The library stays loaded for the rest of the process. Set
 * out->size before (QUERN_ALLOCATOR_INIT); give *out to quern_options.allocator or to
 * quern_engine_set_allocator(). Thread-safe.
 * Errors: QUERN_ERROR_IO for a library that cannot be loaded, QUERN_ERROR_NAME for a function that
 * it does not have, QUERN_ERROR_INVALID_ARGUMENT, QUERN_ERROR_OUT_OF_MEMORY. */
QUERN_API quern_status quern_allocator_from_library(quern_allocator *out, const char *path,
                                                    const char *allocate, const char *release,
                                                    int device);

/** Let the device memory of arrays come from `allocator` (copied) from now on; NULL: from the
 * device's own pool. Arrays that are there go back where they came from, so the allocator before
 * must work until the last of them is released. On a GPU its functions are called with the device's
 * context current. Thread-safe. Errors: QUERN_ERROR_INVALID_ARGUMENT, QUERN_ERROR_OUT_OF_MEMORY. */
QUERN_API quern_status quern_engine_set_allocator(quern_engine *engine,
                                                  const quern_allocator *allocator);

/** What an engine has of its device's memory. Wrapped memory does not count. */
typedef struct quern_memory_stats {
    uint32_t size; /**< sizeof(quern_memory_stats), set by the caller */
    uint32_t reserved;
    uint64_t used;        /**< bytes of arrays, of views, of what kernels work in, managed too */
    uint64_t held;        /**< the same and what the pool keeps for later arrays */
    uint64_t peak;        /**< the most that was used at one time */
    uint64_t allocations; /**< pieces of memory that are in use, of all kinds */
    uint64_t limit;       /**< see quern_memory_set_limit(); 0: none */
    uint64_t host;        /**< bytes of pinned and mapped arrays, which are the host's */
} quern_memory_stats;

#define QUERN_MEMORY_STATS_INIT                                                                    \
    {                                                                                              \
        sizeof(quern_memory_stats), 0, 0, 0, 0, 0, 0, 0                                            \
    }

/** Fill *out. Thread-safe; waits for nothing. Errors: QUERN_ERROR_INVALID_ARGUMENT,
 * QUERN_ERROR_DRIVER. */
QUERN_API quern_status quern_memory_get_stats(quern_memory_stats *out, quern_engine *engine);

/** Give memory that nobody uses back to the device until at most `keep` bytes are held, and all
 * that is kept of the host. What is in use stays. Waits for the device. Thread-safe.
 * Errors: QUERN_ERROR_INVALID_ARGUMENT while a stream of the device is being captured,
 * QUERN_ERROR_DRIVER. */
QUERN_API quern_status quern_memory_trim(quern_engine *engine, size_t keep);

/** How many bytes may be used at one time; more are refused with QUERN_ERROR_DEVICE_MEMORY. 0: as
 * many as there are. What is used already stays, even when it is more. Thread-safe.
 * Errors: QUERN_ERROR_INVALID_ARGUMENT. */
QUERN_API quern_status quern_memory_set_limit(quern_engine *engine, uint64_t bytes);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_MEMORY_H */
