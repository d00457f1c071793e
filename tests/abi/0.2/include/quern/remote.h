/* SPDX-License-Identifier: MIT
 *
 * The fleet. A second level of the cache, over the network: what one machine has compiled, the
 * others take.
 *
 * It is looked at when neither this process nor this machine has an image, and it is never needed:
 * one that is slow, lies or is gone costs 0.1 s once, is left alone for a while, and the kernel is
 * compiled here. docs/fleet.md says who may write there and who is believed.
 */
#ifndef QUERN_REMOTE_H
#define QUERN_REMOTE_H

#include <quern/engine.h>

#ifdef __cplusplus
extern "C" {
#endif

#define QUERN_REMOTE_VERSION 1

/** A store on the network, for who brings one of his own. Quern's are "http" (https) and "redis"
 * (rediss, valkey). An engine opens two, one to read and one to write, and uses each from one
 * thread at a time, which need not be the one that opened it, but from both at once: what the two
 * share needs a lock of its own. A failure, or a call that takes longer than it may, closes it; it
 * is opened again after a pause. No function may call Quern.
 *
 * A status other than QUERN_OK is a failure: the store is left alone for a while, and the log has
 * its text. */
typedef struct quern_remote_methods {
    uint32_t size;    /**< sizeof(quern_remote_methods) */
    uint32_t version; /**< QUERN_REMOTE_VERSION */
    const char *name; /**< in messages */
    /** `url` as in quern_options.remote. No call may take longer than `timeout_ms`, and 1 ms more
     * for each 100 KB. */
    quern_status (*open)(void **context, const char *url, uint32_t timeout_ms);
    /** The values of `count` names; 0 bytes: there is none. They stay as they are until the next
     * call with this context. */
    quern_status (*get)(void *context, size_t count, const char *const *names, const void **data,
                        size_t *bytes);
    /** QUERN_ERROR_NOT_SUPPORTED: the store is well, and does not take this value, or this writer;
     * then the value is dropped, and the store is not left alone. */
    quern_status (*put)(void *context, const char *name, const void *data, size_t bytes);
    /** Optional: 1: nobody else has claimed the name in the last `ms` milliseconds; 0: somebody
     * has; -1: failed. */
    int (*claim)(void *context, const char *name, uint32_t ms);
    /** Also called before a fork, by the thread that forks, so that no connection is in both
     * processes: it may not fork, and may not wait for long. */
    void (*close)(void *context);
} quern_remote_methods;

#define QUERN_REMOTE_METHODS_INIT                                                                  \
    {                                                                                              \
        sizeof(quern_remote_methods), QUERN_REMOTE_VERSION, NULL, NULL, NULL, NULL, NULL, NULL     \
    }

typedef struct quern_remote_stats {
    uint32_t size;     /**< sizeof(quern_remote_stats), set by the caller */
    uint32_t enabled;  /**< 1: there is a remote store, and it may be used */
    uint64_t hits;     /**< images that it had */
    uint64_t misses;   /**< look-ups that it had nothing for, or nothing that can be used */
    uint64_t refused;  /**< entries that are not what was asked for, damaged, or not trusted */
    uint64_t faults;   /**< calls that failed or took too long; each switches it off for a while */
    uint64_t skipped;  /**< look-ups while it was off */
    uint64_t puts;     /**< images and recipes written */
    uint64_t dropped;  /**< not written: too many waited, it was off, or did not take them */
    uint64_t waits;    /**< times that another machine's compilation was waited for */
    double waited_ms;  /**< time of that */
    double looking_ms; /**< time of the look-ups */
} quern_remote_stats;

#define QUERN_REMOTE_STATS_INIT                                                                    \
    {                                                                                              \
        sizeof(quern_remote_stats), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0                                \
    }

/** The current counts of an engine. Thread-safe. Errors: QUERN_ERROR_INVALID_ARGUMENT. */
QUERN_API quern_status quern_remote_get_stats(quern_remote_stats *stats, quern_engine *engine);
/** Why there is no remote store, or "". Borrowed from the engine. Thread-safe. */
QUERN_API const char *quern_remote_problem(quern_engine *engine);

/** What came of the kernels of a list so far. */
typedef struct quern_fleet_report {
    uint32_t size;
    uint32_t reserved;
    uint64_t wanted;   /**< in the list */
    uint64_t had;      /**< were here, or there, already */
    uint64_t received; /**< from the remote store */
    uint64_t compiled; /**< here */
    uint64_t sent;     /**< to the remote store */
    uint64_t left;     /**< not had: there is no recipe, or it does not compile here; not sent:
                          damaged, too large, or not taken */
} quern_fleet_report;

#define QUERN_FLEET_REPORT_INIT                                                                    \
    {                                                                                              \
        sizeof(quern_fleet_report), 0, 0, 0, 0, 0, 0, 0                                            \
    }

/** Called for each kernel that is done, on the thread that waits for the list, which may use the
 * engine meanwhile; `key` and `name` are its own, for the time of the call. Return 0 to go on. */
typedef int (*quern_fleet_progress)(void *context, const quern_fleet_report *report,
                                    const char *key, const char *name);

typedef struct quern_prewarm_options {
    uint32_t size;         /**< sizeof(quern_prewarm_options) */
    uint32_t only_receive; /**< 1: compile nothing */
    quern_fleet_progress progress;
    void *context; /**< for `progress` */
} quern_prewarm_options;

#define QUERN_PREWARM_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(quern_prewarm_options), 0, NULL, NULL                                               \
    }

/** Fill this machine's cache with the kernels of a list: whole keys of 32 digits, as
 * quern_cache_visit() and quern_cache_push() give them. What the remote store has is taken from
 * there; the rest is compiled from its recipe, which lies there or in this machine's cache. Call it
 * on all machines of a fleet at once: each begins elsewhere in the list, so that together they
 * compile each kernel once. What is made for another GPU is made for this one.
 *
 * A kernel that cannot be had is counted and no error. `report` may be NULL. Thread-safe.
 * Errors: QUERN_ERROR_INVALID_ARGUMENT, QUERN_ERROR_CACHE when this machine has no cache,
 * QUERN_ERROR_OUT_OF_MEMORY. */
QUERN_API quern_status quern_prewarm(quern_fleet_report *report, quern_engine *engine,
                                     const char *const *keys, size_t count,
                                     const quern_prewarm_options *options);

/** Write the entries of this machine's cache, and their recipes, to the remote store. `key_prefix`:
 * NULL for all, else the first digits of the keys wanted. Waits until they are there. What is there
 * already is not written again. A kernel that the store does not take is counted and no error.
 * `report` may be NULL. Thread-safe. Errors: QUERN_ERROR_INVALID_ARGUMENT, QUERN_ERROR_CACHE when
 * there is no remote store, it may not be written, or it fails; QUERN_ERROR_OUT_OF_MEMORY. */
QUERN_API quern_status quern_cache_push(quern_fleet_report *report, quern_engine *engine,
                                        const char *key_prefix, quern_fleet_progress progress,
                                        void *context);

typedef enum quern_recompiled {
    QUERN_RECOMPILED_SAME = 1,      /**< the compiler gives the same bytes */
    QUERN_RECOMPILED_DIFFERENT = 2, /**< it does not: somebody else made this entry */
    QUERN_RECOMPILED_NOT = 3        /**< it cannot be compiled again here */
} quern_recompiled;

/** Compile an entry of this machine's cache again and compare. `key` has all 32 digits. Linked
 * images, those with headers or a compiler that are not on this machine, and native code with line
 * information, which has the folder in which it was made, cannot be compared. Thread-safe.
 * Errors: QUERN_ERROR_INVALID_ARGUMENT, QUERN_ERROR_CACHE when there is no such entry, or it
 * cannot be read. */
QUERN_API quern_status quern_cache_recompile(quern_recompiled *out, quern_engine *engine,
                                             const char *key);

/** The public half of a key. */
typedef struct quern_public_key {
    uint32_t size; /**< sizeof(quern_public_key), set by the caller */
    uint32_t reserved;
    char line[152]; /**< as QUERN_REMOTE_TRUST names files of: "quern-public 3f2a... NAME" */
} quern_public_key;

#define QUERN_PUBLIC_KEY_INIT                                                                      \
    {                                                                                              \
        sizeof(quern_public_key), 0, ""                                                            \
    }

/** The key that entries are signed with: read from the file `path`, or, where there is none, made
 * there with mode 0600 and called `name` (NULL: the file's name). Errors: QUERN_ERROR_IO,
 * QUERN_ERROR_NOT_SUPPORTED without libsodium, QUERN_ERROR_INVALID_ARGUMENT when others may read
 * the file or it holds something else. */
QUERN_API quern_status quern_signing_key(quern_public_key *key, const char *path, const char *name);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_REMOTE_H */
