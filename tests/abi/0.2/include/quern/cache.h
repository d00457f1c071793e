/* SPDX-License-Identifier: MIT
 *
 * The cache. What is in it, how often it was hit, and how to clear it.
 */
#ifndef QUERN_CACHE_H
#define QUERN_CACHE_H

#include <quern/engine.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct quern_cache_stats {
    uint32_t size;       /**< sizeof(quern_cache_stats), set by the caller */
    uint32_t enabled;    /**< 1 when a database is in use */
    uint64_t entries;    /**< rows in the database */
    uint64_t bytes;      /**< what they take: images, sources, keys; each in whole pages */
    uint64_t file_bytes; /**< bytes of the database file and its journal */
    uint64_t limit;      /**< bytes that the file may have */
    uint64_t hits;       /**< look-ups of this engine that the database answered */
    uint64_t misses;     /**< look-ups of this engine that it did not */
    uint64_t compiled;   /**< compilations by this engine */
    uint64_t faults;     /**< times that the database failed and the engine did without it */
    uint64_t corrupt;    /**< rows or files found damaged and removed or set aside */
    double compile_ms;   /**< time of those compilations, summed */

    uint64_t compiled_new;      /**< why: nothing like it was there */
    uint64_t compiled_changed;  /**< there was an entry of that name, and something differs */
    uint64_t compiled_compiler; /**< another NVRTC had made it */
    uint64_t compiled_damaged;  /**< its entry was damaged, or the device rejected the image */
    uint64_t compiled_unread;   /**< there is no cache, or reading it failed */
    uint64_t compiled_opaque;   /**< what it includes cannot be known, so it is never kept */
    uint64_t rejected;          /**< of `corrupt`: images that the device rejected */
    uint64_t set_aside;         /**< of `corrupt`: whole files */
    uint64_t faults_locked;     /**< of `faults`: others held the database for too long */
    uint64_t faults_full;       /**< of `faults`: the disk was full */
    uint64_t faults_io;         /**< of `faults`: a file could not be read or written */
    uint64_t evicted;           /**< entries removed to make room */
    uint64_t declined;          /**< images that were larger than the limit, and not kept */
    uint64_t waits;             /**< times that another process or thread made what was needed */
    uint64_t unlocked;          /**< compilations without a lock, or before its holder was done */
    double waited_ms;           /**< time of those waits, summed */
    double saved_ms;            /**< what the hits took to compile when they were made */
    int64_t since;              /**< of totals: when counting began, in seconds since 1970 */
    uint64_t packs;             /**< that this engine reads (quern_options.packs) */
    uint64_t pack_entries;      /**< images in them */
    uint64_t pack_hits;         /**< look-ups of this engine that they answered */
    uint64_t pack_faults; /**< packs and images in them found damaged, or rejected by the device */
} quern_cache_stats;

#define QUERN_CACHE_STATS_INIT                                                                     \
    {                                                                                              \
        sizeof(quern_cache_stats), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  \
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0                                                     \
    }

/** The current counts. Thread-safe. Errors: QUERN_ERROR_CACHE when a database should be in use and
 * cannot be read; what this engine counted is given all the same. */
QUERN_API quern_status quern_cache_get_stats(quern_cache_stats *stats, quern_engine *engine);

/** The same with the counts of all processes that used the folder, and this engine's. Each adds its
 * own when it closes an engine; those on a network file system do not, and what a killed process
 * counted is lost. Packs are counted for this engine only. Thread-safe. Errors: as
 * quern_cache_get_stats(). */
QUERN_API quern_status quern_cache_get_totals(quern_cache_stats *stats, quern_engine *engine);

/** Why something was compiled. */
typedef struct quern_cache_miss {
    uint32_t size; /**< sizeof(quern_cache_miss), set by the caller */
    uint32_t reserved;
    char why[504]; /**< "saxpy: it differs from the entry 3f2a... in the source (line 7)"; cut off
                      where it is longer; "" when this engine compiled nothing */
} quern_cache_miss;

#define QUERN_CACHE_MISS_INIT                                                                      \
    {                                                                                              \
        sizeof(quern_cache_miss), 0, ""                                                            \
    }

/** What this engine compiled last, and why the cache did not have it: what differs from the newest
 * entry of that name among the 500 that were kept last. Thread-safe.
 * Errors: QUERN_ERROR_INVALID_ARGUMENT. */
QUERN_API quern_status quern_cache_last_miss(quern_cache_miss *miss, quern_engine *engine);

/** The path of the database file, or "" when there is none; quern_cache_problem() then says why.
 * Borrowed from the engine. Thread-safe. */
QUERN_API const char *quern_cache_path(quern_engine *engine);
/** Why the cache is not used, or "" when it is; a later fault may fill it in. Borrowed from the
 * engine. */
QUERN_API const char *quern_cache_problem(quern_engine *engine);

/** One entry, valid during the visit. No string is NULL. */
typedef struct quern_cache_entry {
    uint32_t size;
    uint32_t hits;        /**< days, after its first, on which it was used */
    const char *key;      /**< 32 hexadecimal digits */
    const char *name;     /**< of the kernel */
    const char *kind;     /**< "cubin" or "ptx" */
    const char *target;   /**< "sm_90" or "compute_75" */
    const char *compiler; /**< "NVRTC 13.0 65be0db3..." */
    const char *source;   /**< generated source */
    const void *image;
    uint64_t image_bytes;
    int64_t created, last_used; /**< seconds since 1970 */
    double compile_ms;
} quern_cache_entry;

/** Return 0 to go on, anything else to stop. */
typedef int (*quern_cache_visitor)(void *context, const quern_cache_entry *entry);

/** Visit entries, the most recently used first. `key_prefix`: NULL for all, else the first digits
 * of the keys wanted. `context` is handed to `visitor`, which may use the engine. Thread-safe.
 * Errors: QUERN_ERROR_INVALID_ARGUMENT, QUERN_ERROR_CACHE, QUERN_ERROR_OUT_OF_MEMORY. */
QUERN_API quern_status quern_cache_visit(quern_engine *engine, const char *key_prefix,
                                         quern_cache_visitor visitor, void *context);
/** Remove every entry; *removed (may be NULL) says how many. What is loaded stays in use.
 * Thread-safe. Errors: QUERN_ERROR_INVALID_ARGUMENT, QUERN_ERROR_CACHE. */
QUERN_API quern_status quern_cache_clear(uint64_t *removed, quern_engine *engine);

/** How far a long task is: `done` of `all`. Return 0 to go on, anything else to stop. */
typedef int (*quern_cache_progress)(void *context, uint64_t done, uint64_t all);

/** Read every entry and check it as a look-up does; remove those that are damaged, and correct the
 * sums. A database whose structure is damaged is set aside as a whole, as a look-up does.
 * `progress` (may be NULL) is handed `context`, and told about every entry. *checked and *removed
 * may be NULL. Others may use the cache meanwhile. Thread-safe. Errors:
 * QUERN_ERROR_INVALID_ARGUMENT, QUERN_ERROR_CACHE, also when it cannot be written. */
QUERN_API quern_status quern_cache_verify(uint64_t *checked, uint64_t *removed,
                                          quern_engine *engine, quern_cache_progress progress,
                                          void *context);
/** Remove the least recently used entries until at most `bytes` are in use, and all that were not
 * used for `days` days (0: of any age), and give the space back. Others wait for some milliseconds
 * at most. *removed may be NULL. Thread-safe. Errors: QUERN_ERROR_INVALID_ARGUMENT,
 * QUERN_ERROR_CACHE, also when it cannot be written. */
QUERN_API quern_status quern_cache_prune(uint64_t *removed, quern_engine *engine, uint64_t bytes,
                                         uint32_t days);
typedef struct quern_export_options {
    uint32_t size; /**< sizeof(quern_export_options) */
    /** 1: without sources: smaller, and nobody reads them, but such a pack cannot be imported. */
    uint32_t without_source;
    const char *key_prefix; /**< first digits of the keys wanted; NULL: all */
    int32_t level;          /**< of zstd: 1 fastest to 19 smallest; 0: 19; -1: not packed */
    uint32_t reserved;
} quern_export_options;

#define QUERN_EXPORT_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(quern_export_options), 0, NULL, 0, 0                                                \
    }

/** Write what is in the database to a pack, a file that programs open (quern_options.packs) or
 * embed. `options` may be NULL; *written (may be NULL) says how many entries there are. The file
 * appears when it is whole. Thread-safe. Errors: QUERN_ERROR_INVALID_ARGUMENT, QUERN_ERROR_CACHE,
 * QUERN_ERROR_IO. */
QUERN_API quern_status quern_cache_export(uint64_t *written, quern_engine *engine, const char *path,
                                          const quern_export_options *options);
/** Put the entries of a pack into the database; *added (may be NULL) says how many were not there.
 * One that is larger than the limit is left out. Import only what you would run: a pack is code.
 * Thread-safe. Errors: QUERN_ERROR_INVALID_ARGUMENT, QUERN_ERROR_CACHE, also when it cannot be
 * written, QUERN_ERROR_IO with what is wrong with the pack. */
QUERN_API quern_status quern_cache_import(uint64_t *added, quern_engine *engine, const char *path);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_CACHE_H */
