/* SPDX-License-Identifier: MIT
 *
 * cache: compiled images on disk, in one SQLite database, found by the hash of everything that
 * shapes them. schema.sql is the document of the format. Uses base and the image type of compile.
 *
 * The one thing to know: a cache is never needed to run, and never trusted blindly. Nothing here
 * makes the call of a kernel fail: every fault is a miss that is counted and logged.
 */
#ifndef QN_CACHE_H
#define QN_CACHE_H

#include "base/base.h"
#include "compile/compile.h"
#include <quern/cache.h>
#include <quern/remote.h>

/* ---- key.c: XXH3-128 over tagged, length-prefixed fields ------------------------------------ */

/** A piece of a linked image. */
typedef struct qn_key_piece {
    qn_image_kind kind; /**< 0: CUDA source, and `data` is the material of its own key */
    const void *data;
    size_t size;
} qn_key_piece;

/** Everything that shapes an image. A list or a string that is absent (NULL or 0) adds nothing to
 * the key. */
typedef struct qn_key_fields {
    const char *source; /**< expanded CUDA source; "" for a linked image */
    /** Its last part is in the key, because messages and line information have it. NULL for sources
     * that Quern writes. */
    const char *file_name;
    /** The user's options, in order. The key leaves out the paths of include folders: the contents
     * of what is included from them are in `includes`, so that a program may move. */
    const char *const *options;
    size_t option_count;
    const qn_header *headers; /**< all headers in memory */
    size_t header_count;
    const qn_includes *includes; /**< all headers on disk */
    const char *const *expressions;
    size_t expression_count;
    int arch;
    qn_image_kind kind;
    bool line_info, minimal, relocatable;
    const qn_key_piece *pieces; /**< of a linked image, in the order in which they are linked */
    size_t piece_count;
    const char *linker; /**< build id of the linker of a linked image */
} qn_key_fields;

/** `hash` is over `material`, the fields serialised as tagged, length-prefixed pieces (files and
 * images by their own hash) and a format version; the material is stored in the row and compared on
 * a hit. The compiler's identity is not in it: it is a column of its own, so that a machine without
 * NVRTC can still find its images. */
typedef struct qn_key {
    uint64_t hash[2];
    char hex[33];
    char *material;
    size_t material_size;
} qn_key;
quern_status qn_key_make(qn_key *out, const qn_key_fields *fields);
void qn_key_free(qn_key *key);
/** The source in a key's material. */
qn_str qn_key_source(qn_str material);

/* ---- store*.c: the database ----------------------------------------------------------------- */

typedef struct qn_store qn_store;

/** Open the store of a folder. `folder`: NULL for QUERN_CACHE_DIR, else $XDG_CACHE_HOME/quern, else
 * ~/.cache/quern; "off" for none. `limit` 0: QUERN_CACHE_LIMIT ("2G"), else 2 GiB. Creates the
 * folder with mode 0700; refuses one that belongs to another user or that others may write to, and
 * any folder in a set-uid process. The database is only opened at the first look-up. *out is NULL
 * only when out of memory; otherwise a store that may be switched off, with its reason in
 * qn_store_problem(). */
quern_status qn_store_open(qn_store **out, const char *folder, uint64_t limit,
                           const qn_logger *logger);
void qn_store_close(qn_store *store);
const char *qn_store_path(qn_store *store);    /**< of the database file, or "" */
const char *qn_store_problem(qn_store *store); /**< why it is not used, or "" */

/** The same look-up again, once others had time to make it: a miss is not counted. */
bool qn_store_again(qn_store *store, const qn_key *key, const char *compiler, qn_image *out);

/** Look up. True on a hit: `out` is filled (integrity checked by XXH3-128, key material compared).
 * `compiler`: the build id that must match, or NULL or "" for any (the newest row). Thread-safe. */
bool qn_store_get(qn_store *store, const qn_key *key, const char *compiler, qn_image *out);

typedef struct qn_store_row {
    const char *name;          /**< of the kernel */
    const char *compiler;      /**< build id */
    const char *compiler_text; /**< "NVRTC 13.0" */
    int arch;
} qn_store_row;
/** Keep an image. True: it is there now. A fault, or that it is too large, is counted and logged;
 * the caller need not know. Thread-safe. */
bool qn_store_put(qn_store *store, const qn_key *key, const qn_image *image,
                  const qn_store_row *row);
/** The device rejected the image: delete its row and count it as corrupt. */
void qn_store_reject(qn_store *store, const qn_key *key, const char *compiler);

/** Before something is compiled: append why it was not in the store, and count that. `opaque`: it
 * is never looked for. The nearest entry is the newest of that name and, where it is the
 * very one that was wanted, the index is damaged. `row`: name and compiler. Thread-safe. */
void qn_store_why(qn_store *store, const qn_key *key, const qn_store_row *row, bool opaque,
                  qn_text *out);
/** What qn_store_why() said last, with the name before it; "" for nothing. */
void qn_store_last_why(qn_store *store, char *out, size_t size);

/** What the database holds, and the counts of this store. */
quern_status qn_store_stats(qn_store *store, quern_cache_stats *stats);
/** The same with the counts of all processes that used the folder. */
quern_status qn_store_totals(qn_store *store, quern_cache_stats *stats);
quern_status qn_store_visit(qn_store *store, const char *key_prefix, quern_cache_visitor visitor,
                            void *context);
quern_status qn_store_clear(qn_store *store, uint64_t *removed);
/** quern_cache_verify() and quern_cache_prune(). */
quern_status qn_store_verify(qn_store *store, uint64_t *checked, uint64_t *removed,
                             quern_cache_progress progress, void *context);
quern_status qn_store_prune(qn_store *store, uint64_t *removed, uint64_t bytes, uint32_t days);

/* ---- tally.c: counts ------------------------------------------------------------------------ */

#define QN_TALLY_MAP(X)                                                                            \
    X(HITS)                                                                                        \
    X(SAVED_US) /* what the hits would have taken to compile */                                    \
    X(MISSES)                                                                                      \
    X(COMPILED)                                                                                    \
    X(COMPILE_US)                                                                                  \
    X(NEW) /* why something was compiled: qn_store_why() */                                        \
    X(CHANGED)                                                                                     \
    X(COMPILER)                                                                                    \
    X(DAMAGED)                                                                                     \
    X(UNREAD)                                                                                      \
    X(OPAQUE)                                                                                      \
    X(ROWS_REMOVED) /* damaged */                                                                  \
    X(REJECTED)                                                                                    \
    X(SET_ASIDE)                                                                                   \
    X(FAULTS)                                                                                      \
    X(LOCKED) /* kinds of faults */                                                                \
    X(FULL)                                                                                        \
    X(IO)                                                                                          \
    X(EVICTED)                                                                                     \
    X(DECLINED)                                                                                    \
    X(WAITS) /* for another process or thread */                                                   \
    X(WAITED_US)                                                                                   \
    X(ALONE) /* compiled without a lock, or before its holder was done */

/** The order is that of the file quern-1.counts: new ones go to the end. */
typedef enum qn_tally {
#define QN_TALLY_ENUM(name) QN_TALLY_##name,
    QN_TALLY_MAP(QN_TALLY_ENUM)
#undef QN_TALLY_ENUM
        QN_TALLIES
} qn_tally;
/** Count. Thread-safe. */
void qn_store_count(qn_store *store, qn_tally what, uint64_t amount);

/* ---- machine.c: compile once among the processes of a machine -------------------------------- */

/** One image being compiled by this process. */
typedef struct qn_machine qn_machine;
/** Become the maker of `key` (true), or wait until another process has made it, or failed (false).
 * Look into the store again after either: the other may have been done before this was called.
 * Also true, with *out NULL, when no lock can be had, when the other takes too long (both counted),
 * and when nothing can be handed on through this store. `round`: how often this was called for the
 * same key before. Thread-safe; end with qn_machine_done(), which accepts NULL. */
bool qn_machine_begin(qn_machine **out, qn_store *store, const qn_key *key, int round);
void qn_machine_done(qn_machine *machine);

/* ---- store_tuning.c: settings that were measured -------------------------------------------- */

typedef struct qn_tuning_key {
    unsigned char bytes[16];
} qn_tuning_key;
/** XXH3-128 over everything that a class of calls is made of. */
void qn_tuning_key_of(qn_tuning_key *out, const void *material, size_t size);

typedef struct qn_tuning_row {
    const char *setting, *about;
    double us, rule_us;
} qn_tuning_row;
/** Look up: true where a setting of less than `room` bytes is kept. Thread-safe. */
bool qn_store_get_tuning(qn_store *store, const qn_tuning_key *key, char *setting, size_t room);
/** Keep one, in the place of an earlier one. A fault is counted and logged. Thread-safe. */
void qn_store_put_tuning(qn_store *store, const qn_tuning_key *key, const qn_tuning_row *row);

/** The keys that begin with some digits. */
typedef struct qn_key_range {
    bool all;
    unsigned char low[16], high[16]; /**< the first and the last of them */
} qn_key_range;
/** `prefix`: NULL or "" for all. Errors: QUERN_ERROR_INVALID_ARGUMENT when no key begins so. */
quern_status qn_store_prefix(qn_key_range *out, const char *prefix);
typedef QN_LIST(int64_t) qn_row_ids;
/** The rows of these keys as they are now, in the order in which they were put. Free ids->items. */
quern_status qn_store_ids(qn_store *store, const qn_key_range *range, qn_row_ids *ids);
/** Add the entry of a row; nothing when the row is gone by now, or damaged. `level` of zstd, 0: not
 * packed. */
quern_status qn_store_entry(qn_text *out, qn_store *store, int64_t id, int level,
                            bool has_material);
/** Write a pack of the entries whose key begins with `key_prefix` (NULL: all), and read one.
 * Errors: QUERN_ERROR_IO, QUERN_ERROR_CACHE, QUERN_ERROR_INVALID_ARGUMENT. */
quern_status qn_store_export(qn_store *store, const char *path, const quern_export_options *options,
                             uint64_t *written);
quern_status qn_store_import(qn_store *store, const char *path, uint64_t *added);

/* ---- packs.c: files of compiled kernels that come with the program -------------------------- */

typedef struct qn_packs qn_packs;

/** Open those of QUERN_PACKS, of `paths` (NULL or ended by NULL), and the one at `data` (NULL:
 * none), which must stay. One that cannot be used is counted and logged; fails only when out of
 * memory. */
quern_status qn_packs_open(qn_packs **out, const char *const *paths, const void *data, size_t bytes,
                           const qn_logger *logger);
void qn_packs_close(qn_packs *packs); /**< accepts NULL */
/** Look up, as qn_store_get(). An image by another compiler than `compiler` is taken as well.
 * Thread-safe. */
bool qn_packs_get(qn_packs *packs, const qn_key *key, const char *compiler, qn_image *out);
/** The device rejected that image: do not give it again, and count it. */
void qn_packs_reject(qn_packs *packs, const qn_key *key);
/** The highest architecture in [least, below) that they have images of this kind for; 0: none. */
int qn_packs_arch(const qn_packs *packs, qn_image_kind kind, int least, int below);
/** Fill the packs' part of `stats`. */
void qn_packs_stats(const qn_packs *packs, quern_cache_stats *stats);

/* ---- once.c: compile once among the threads of a process ------------------------------------ */

/** One image being compiled; other threads that ask for it wait. The list is per process. */
typedef struct qn_once qn_once;
/** Become the maker of `key` (returns true), or wait until its maker is done (returns false, with
 * *out NULL: look again, in memory, then in the store). When out of memory, or when the maker takes
 * too long: true, with *out NULL, which qn_once_done accepts. *waited_ms (may be NULL) says how
 * long it waited: 0 when it did not. */
bool qn_once_begin(qn_once **out, const qn_key *key, const char *compiler, double *waited_ms);
void qn_once_done(qn_once *once);

/* ---- remote*.c: the second level, over the network (fleet.h) --------------------------------- */

typedef struct qn_remote qn_remote;
/** The caller's table as ours, all zero for NULL. Errors: QUERN_ERROR_INVALID_ARGUMENT. */
quern_status qn_remote_methods_take(quern_remote_methods *out, const quern_remote_methods *given);
/** Open the remote store at `url` (NULL: QUERN_REMOTE). There is none where it is "off", or where
 * it is "" and no `methods` are given. Nothing is connected yet. `methods`: NULL for those of the
 * address's scheme; already checked. *out is NULL when there
 * is none, which all functions below accept; one that cannot be used is logged, with its reason in
 * qn_remote_problem(). Errors: QUERN_ERROR_OUT_OF_MEMORY. */
quern_status qn_remote_open(qn_remote **out, const char *url, const quern_remote_methods *methods,
                            const qn_logger *logger);
/** Write what waits, within two seconds, and close. */
void qn_remote_close(qn_remote *remote);
const char *qn_remote_problem(const qn_remote *remote);

/** Look up an image of exactly this compiler. Where it is not there, somebody may be making it:
 * then that is waited for, for two seconds at most. False: make it. Thread-safe. */
bool qn_remote_find(qn_remote *remote, const qn_key *key, const char *compiler, qn_image *out);
/** Write an image, and its recipe, some time later. Thread-safe; never waits. */
void qn_remote_put(qn_remote *remote, const qn_key *key, const qn_image *image,
                   const qn_store_row *row);
/** The counts, all 0 when there is none. */
void qn_remote_get_stats(qn_remote *remote, quern_remote_stats *stats);
/** The device rejected an image that came from there. */
void qn_remote_reject(qn_remote *remote);

#endif /* QN_CACHE_H */
