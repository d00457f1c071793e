/* SPDX-License-Identifier: MIT
 *
 * The cache when one call fails: the N-th of SQLite, and the N-th of the system, for every N of a
 * run that does all that a store can do. The promise: no crash, no wrong image, nothing lost that
 * is not counted, and the next process finds a cache that works.
 *
 * Calls of SQLite, and those of the system that the cache makes itself, are wrapped by the linker
 * (CMakeLists.txt); those that SQLite makes by its own table of them. Every
 * eleventh call, and some of the error codes; all with QUERN_WHOLE.
 */
#include "fault/whole.h"
#include "unit/cache/scratch.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

TestSuite(calls, .init = scratch_make, .fini = scratch_delete, .timeout = 600);

#define SIZE 9000

static int until_failure, failure; /* 0: none; errno or SQLite's code */

/* Is this the call that fails? */
static bool fails(void)
{
    return until_failure > 0 && --until_failure == 0;
}

/* ---- SQLite --------------------------------------------------------------------------------- */

static bool of_sqlite; /* what is counted: calls of SQLite, or of the system */

int __real_sqlite3_step(sqlite3_stmt *statement);
int __wrap_sqlite3_step(sqlite3_stmt *statement);
int __wrap_sqlite3_step(sqlite3_stmt *statement)
{
    return of_sqlite && fails() ? failure : __real_sqlite3_step(statement);
}

int __real_sqlite3_prepare_v3(sqlite3 *db, const char *sql, int length, unsigned flags,
                              sqlite3_stmt **out, const char **tail);
int __wrap_sqlite3_prepare_v3(sqlite3 *db, const char *sql, int length, unsigned flags,
                              sqlite3_stmt **out, const char **tail);
int __wrap_sqlite3_prepare_v3(sqlite3 *db, const char *sql, int length, unsigned flags,
                              sqlite3_stmt **out, const char **tail)
{
    *out = NULL;
    return of_sqlite && fails() ? failure
                                : __real_sqlite3_prepare_v3(db, sql, length, flags, out, tail);
}

int __real_sqlite3_exec(sqlite3 *db, const char *sql, sqlite3_callback each, void *context,
                        char **error);
int __wrap_sqlite3_exec(sqlite3 *db, const char *sql, sqlite3_callback each, void *context,
                        char **error);
int __wrap_sqlite3_exec(sqlite3 *db, const char *sql, sqlite3_callback each, void *context,
                        char **error)
{
    return of_sqlite && fails() ? failure : __real_sqlite3_exec(db, sql, each, context, error);
}

int __real_sqlite3_open_v2(const char *path, sqlite3 **out, int flags, const char *vfs);
int __wrap_sqlite3_open_v2(const char *path, sqlite3 **out, int flags, const char *vfs);
int __wrap_sqlite3_open_v2(const char *path, sqlite3 **out, int flags, const char *vfs)
{
    *out = NULL;
    return of_sqlite && fails() ? failure : __real_sqlite3_open_v2(path, out, flags, vfs);
}

/* ---- the system ----------------------------------------------------------------------------- */

/* WRAP(result, name, parameters, arguments): a call that answers -1 when it is its turn to fail. */
#define WRAP(result, name, parameters, arguments)                                                  \
    result __real_##name parameters;                                                               \
    result __wrap_##name parameters;                                                               \
    result __wrap_##name parameters                                                                \
    {                                                                                              \
        if (!of_sqlite && fails()) {                                                               \
            errno = failure;                                                                       \
            return (result)-1;                                                                     \
        }                                                                                          \
        return __real_##name arguments;                                                            \
    }

WRAP(int, open, (const char *path, int flags, int mode), (path, flags, mode))
int __real_fcntl(int file, int command, void *what);
int __wrap_fcntl(int file, int command, void *what);
int __wrap_fcntl(int file, int command, void *what)
{
    /* Not when a lock is given back, which systems do not refuse: SQLite would wait for 10 s. */
    bool locks = command == F_SETLK || command == F_OFD_SETLK;
    bool gives_back = locks && ((struct flock *)what)->l_type == F_UNLCK;
    if (!of_sqlite && !gives_back && fails()) {
        errno = failure;
        return -1;
    }
    return __real_fcntl(file, command, what);
}
WRAP(int, flock, (int file, int operation), (file, operation))
WRAP(int, mkdir, (const char *path, mode_t mode), (path, mode))
WRAP(int, access, (const char *path, int mode), (path, mode))
WRAP(int, stat, (const char *path, struct stat *facts), (path, facts))
WRAP(int, lstat, (const char *path, struct stat *facts), (path, facts))
WRAP(int, fstat, (int file, struct stat *facts), (file, facts))
WRAP(int, statfs, (const char *path, struct statfs *facts), (path, facts))
WRAP(int, rename, (const char *from, const char *to), (from, to))
WRAP(int, unlink, (const char *path), (path))
WRAP(int, ftruncate, (int file, off_t size), (file, size))
WRAP(ssize_t, pread, (int file, void *data, size_t size, off_t at), (file, data, size, at))
WRAP(ssize_t, pwrite, (int file, const void *data, size_t size, off_t at), (file, data, size, at))
WRAP(void *, mmap, (void *at, size_t size, int allow, int flags, int file, off_t from),
     (at, size, allow, flags, file, from))

/* The same for SQLite, which looks its calls up in a table. */
static void wrap_those_of_sqlite(void)
{
    static const struct {
        const char *name;
        sqlite3_syscall_ptr call;
    } calls[] = {
        {"open", (sqlite3_syscall_ptr)__wrap_open},
        {"fcntl", (sqlite3_syscall_ptr)__wrap_fcntl},
        {"access", (sqlite3_syscall_ptr)__wrap_access},
        {"stat", (sqlite3_syscall_ptr)__wrap_stat},
        {"lstat", (sqlite3_syscall_ptr)__wrap_lstat},
        {"fstat", (sqlite3_syscall_ptr)__wrap_fstat},
        {"unlink", (sqlite3_syscall_ptr)__wrap_unlink},
        {"ftruncate", (sqlite3_syscall_ptr)__wrap_ftruncate},
        {"pread", (sqlite3_syscall_ptr)__wrap_pread},
        {"pread64", (sqlite3_syscall_ptr)__wrap_pread},
        {"pwrite", (sqlite3_syscall_ptr)__wrap_pwrite},
        {"pwrite64", (sqlite3_syscall_ptr)__wrap_pwrite},
        {"mmap", (sqlite3_syscall_ptr)__wrap_mmap},
    };
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    for (size_t k = 0; k < QN_COUNT(calls); k++) {
        (void)vfs->xSetSystemCall(vfs, calls[k].name, calls[k].call);
    }
}

/* ---- a run ---------------------------------------------------------------------------------- */

static int count_entry(void *context, const quern_cache_entry *entry)
{
    *(size_t *)context += strlen(entry->source);
    return 0;
}

/* Do all that a store can do. Entry 1 is there if the folder is not new. Returns how many images
 * were lost without a word. */
static int do_everything(bool is_new)
{
    uint64_t a, b;
    size_t size = 0;
    qn_key key = scratch_key(1), rejected = scratch_key(3);
    qn_machine *machine;
    qn_store *store = scratch_store(scratch, 200000);
    int lost = !is_new && !scratch_get(store, 1, SIZE, "abc");
    for (int k = 2; k < 5; k++) {
        for (int round = 0; !qn_machine_begin(&machine, store, &key, round); round++) {
        } /* a lock refused with EACCES is held by another */
        scratch_put(store, k, SIZE, "abc");
        qn_machine_done(machine);
        lost += !scratch_get(store, k, SIZE, "abc");
    }
    qn_store_reject(store, &rejected, "abc");
    for (int k = 10; k < 30; k++) { /* over the limit */
        scratch_put(store, k, SIZE, "abc");
    }
    lost += !scratch_get(store, 29, SIZE, "abc");
    quern_cache_stats stats = {.size = sizeof stats};
    (void)qn_store_totals(store, &stats);
    (void)qn_store_visit(store, "", count_entry, &size);
    (void)qn_store_verify(store, &a, &b, NULL, NULL);
    (void)qn_store_prune(store, &a, 100000, 0);
    bool told = store->tally[QN_TALLY_FAULTS] + store->tally[QN_TALLY_SET_ASIDE] +
                    store->tally[QN_TALLY_ROWS_REMOVED] >
                0;
    told |= qn_store_problem(store)[0] != '\0' || store->read_only;
    qn_store_close(store);
    qn_key_free(&key);
    qn_key_free(&rejected);
    return told ? 0 : lost;
}

static void empty_folder(void)
{
    scratch_delete();
    cr_assert_eq(__real_mkdir(scratch, 0700), 0);
}

/* A folder with entry 1 in it, or a new one. */
static void prepare(bool is_new)
{
    empty_folder();
    if (!is_new) {
        qn_store *store = scratch_store(scratch, 0);
        scratch_put(store, 1, SIZE, "abc");
        qn_store_close(store);
    }
}

/* Let call 1, 2, ... fail until the run has no such call. */
static int fail_each(int code, bool is_new)
{
    const int step = whole_or(1, 11);
    for (int n = 1;; n += step) {
        prepare(is_new);
        failure = code;
        until_failure = n;
        int lost = do_everything(is_new);
        bool reached = until_failure == 0;
        until_failure = 0;
        cr_expect_eq(lost, 0, "call %d, code %d, %s: %d lost", n, code, is_new ? "new" : "old",
                     lost);
        warnings = 0;
        qn_store *store = scratch_store(scratch, 0);
        scratch_put(store, 50, SIZE, "abc");
        cr_expect(scratch_get(store, 50, SIZE, "abc"), "call %d, code %d: %s; %s", n, code,
                  qn_store_problem(store), last_warning);
        qn_store_close(store);
        if (!reached) {
            return n - 1;
        }
    }
}

static void fail_with(const int *codes, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        int old = fail_each(codes[k], false), new = fail_each(codes[k], true);
        cr_expect_gt(old, 50);
        cr_expect_gt(new, 50);
        fprintf(stderr, "code %d: %d and %d calls failed\n", codes[k], old, new);
    }
}

Test(calls, each_call_of_sqlite_fails_once)
{
    static const int codes[] = {
        SQLITE_IOERR,    SQLITE_CORRUPT,  SQLITE_BUSY,  SQLITE_NOMEM,
        SQLITE_FULL,     SQLITE_LOCKED,   SQLITE_ERROR, SQLITE_READONLY_DBMOVED,
        SQLITE_CANTOPEN, SQLITE_PROTOCOL, SQLITE_NOTADB};
    of_sqlite = true;
    fail_with(codes, (size_t)whole_or((int)QN_COUNT(codes), 3));
}

Test(calls, each_call_of_the_system_fails_once)
{
    static const int codes[] = {EIO, ENOSPC, EACCES, ENOMEM, ENOENT, ENOLCK, EDQUOT, EROFS, ESTALE};
    of_sqlite = false;
    wrap_those_of_sqlite();
    fail_with(codes, (size_t)whole_or((int)QN_COUNT(codes), 2));
}
