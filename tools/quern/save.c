/* SPDX-License-Identifier: MIT
 *
 * Outputs to their places. In: paths and the pieces of memory that their files are made of. If
 * possible, a file is written under a temporary name beside its place, and renamed once all files
 * are complete: no half-written file is ever seen under the name that the user gave, and what was
 * there before stays if something fails. The others are written just before the renaming, the last
 * moment at which a failure still leaves everything else as it was.
 */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

typedef struct output {
    cli_target target;
    const cli_piece *pieces;
    size_t count;
    char temporary[64]; /* its name in the folder of the target; "" when there is none */
} output;

/* What is to be written. The thread that waits for signals looks at the temporary names: they come,
 * go and are renamed only under `guard`, which that thread takes and never gives back. */
static output outputs[QUERN_MAX_PARAMETERS];
static size_t output_count;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(const char *) overwriting; /* the file that is being written in place */

/* ---- writing -------------------------------------------------------------------------------- */

bool cli_write_all(int file, const void *from, size_t bytes)
{
    const char *data = from;
    while (bytes > 0) {
        ssize_t written = write(file, data, bytes);
        if (written < 0 && errno == EAGAIN) { /* a pipe that someone has made non-blocking */
            struct pollfd ready = {file, POLLOUT, 0};
            poll(&ready, 1, -1);
            continue;
        }
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return false;
        }
        data += written;
        bytes -= (size_t)written;
    }
    return true;
}

static bool write_pieces(int file, const output *o)
{
    bool good = true;
    for (size_t k = 0; k < o->count && good; k++) {
        good = cli_write_all(file, o->pieces[k].data, o->pieces[k].bytes);
    }
    return good;
}

/* Close a file that was written; errno is that of the first failure. */
static bool close_written(int file, bool good)
{
    int code = errno;
    if (close(file) != 0 && good) {
        return false;
    }
    errno = code;
    return good;
}

/* ---- under a temporary name ----------------------------------------------------------------- */

static int make_temporary(output *o, size_t number)
{
    int file = -1, code = EEXIST;
    pthread_mutex_lock(&guard);
    for (int k = 0; k < 100 && file < 0 && code == EEXIST; k++) { /* a kill -9 may have left one */
        snprintf(o->temporary, sizeof o->temporary, ".quern-%ld-%zu-%d.tmp", (long)getpid(), number,
                 k);
        file = openat(o->target.folder, o->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                      o->target.exists ? 0600 : 0666);
        code = errno;
    }
    if (file < 0) {
        o->temporary[0] = 0;
    }
    pthread_mutex_unlock(&guard);
    errno = code;
    return file;
}

static void remove_temporary(output *o)
{
    if (o->temporary[0]) {
        unlinkat(o->target.folder, o->temporary, 0);
        o->temporary[0] = 0;
    }
}

static int fail_write(const cli_target *target, const char *outcome)
{
    return cli_fail("cannot write \"%s\": %s%s", target->path, strerror(errno), outcome);
}

/* Write the temporary file, or find that the target can only be written in place. */
static int stage_temporary(output *o, size_t number)
{
    cli_target *target = &o->target;
    const char *outcome = target->exists ? "; its old contents remain" : "";
    int file = make_temporary(o, number);
    if (file < 0 && target->exists && (errno == EACCES || errno == EPERM || errno == EROFS)) {
        target->in_place = "no file can be made in its folder";
        return CLI_OK;
    }
    if (file < 0) {
        return fail_write(target, outcome);
    }
    if (target->exists && !cli_target_keep_attributes(target, file)) {
        close(file);
        pthread_mutex_lock(&guard);
        remove_temporary(o);
        pthread_mutex_unlock(&guard);
        target->in_place = "a new file could not have its owner and attributes";
        return CLI_OK;
    }
    bool good = write_pieces(file, o) &&
                (!target->exists || fchmod(file, target->info.st_mode & 07777) == 0);
    return close_written(file, good) ? CLI_OK : fail_write(target, outcome);
}

int cli_save_stage(const char *path, const cli_piece *pieces, size_t count)
{
    size_t number = output_count;
    output *o = &outputs[number];
    *o = (output){.pieces = pieces, .count = count};
    int status = cli_target_find(&o->target, NULL, path);
    pthread_mutex_lock(&guard);
    output_count++;
    pthread_mutex_unlock(&guard);
    if (status != CLI_OK || cli_target_is_stream(&o->target) || o->target.in_place) {
        return status;
    }
    return stage_temporary(o, number);
}

/* ---- in place and as a stream --------------------------------------------------------------- */

static size_t size_of(const output *o)
{
    size_t bytes = 0;
    for (size_t k = 0; k < o->count; k++) {
        bytes += o->pieces[k].bytes;
    }
    return bytes;
}

/* Make sure that there is room before the old contents are touched. */
static bool reserve(int file, size_t bytes, off_t old_size)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && bytes > limit.rlim_cur) {
        errno = EFBIG;
        return false;
    }
    if (bytes == 0 || fallocate(file, FALLOC_FL_KEEP_SIZE, 0, (off_t)bytes) == 0) {
        return true;
    }
    int code = errno;
    if (code != ENOSPC && code != EDQUOT && code != EFBIG) {
        return true; /* the file system cannot say */
    }
    (void)!ftruncate(file, old_size); /* gives back what it got */
    errno = code;
    return false;
}

static int write_in_place(output *o, bool quiet)
{
    const cli_target *target = &o->target;
    if (!quiet) {
        fprintf(stderr, "quern: \"%s\" is written in place, because %s\n", target->path,
                target->in_place);
    }
    int file = open(target->path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    if (file < 0) {
        return fail_write(target, "; its old contents remain");
    }
    size_t bytes = size_of(o);
    if (!reserve(file, bytes, target->info.st_size)) {
        close_written(file, false);
        return fail_write(target, "; its old contents remain");
    }
    overwriting = target->path;
    bool good = write_pieces(file, o) && ftruncate(file, (off_t)bytes) == 0;
    good = close_written(file, good);
    overwriting = NULL;
    return good ? CLI_OK : fail_write(target, "; it was written in place and is incomplete");
}

/* Die like any program whose reader has gone, unless the parent wants that ignored. */
static void die_by_broken_pipe(void)
{
    struct sigaction action;
    if (sigaction(SIGPIPE, NULL, &action) != 0 || action.sa_handler != SIG_IGN) {
        cli_save_abandon();
        cli_die_by(SIGPIPE);
    }
}

static int write_stream(output *o)
{
    const cli_target *target = &o->target;
    CLI_TRY(cli_flush()); /* what was printed comes first */
    int file = target->opens ? open(target->path, O_WRONLY | O_NOCTTY | O_CLOEXEC) : target->stream;
    if (file < 0) {
        return fail_write(target, "");
    }
    sigset_t pipe_only, before;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
    bool good = write_pieces(file, o);
    if (!good && errno == EPIPE) {
        die_by_broken_pipe();
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (target->opens) {
        good = close_written(file, good);
    }
    return good ? CLI_OK : fail_write(target, "");
}

/* ---- all of them ---------------------------------------------------------------------------- */

/* Move the temporary file to its place; *moved is false where that is forbidden. */
static int move(output *o, bool *moved)
{
    cli_target *target = &o->target;
    *moved = renameat(target->folder, o->temporary, target->folder, target->file) == 0;
    if (*moved) {
        o->temporary[0] = 0;
        return CLI_OK;
    }
    /* in a folder where users may remove only their own files, or for a file that is itself a
     * mount */
    if (target->exists && (errno == EPERM || errno == EACCES || errno == EBUSY || errno == EXDEV)) {
        target->in_place = "another file cannot take its place";
        remove_temporary(o);
        return CLI_OK;
    }
    return fail_write(target, target->exists ? "; its old contents remain" : "");
}

static int move_all(void)
{
    int status = CLI_OK;
    pthread_mutex_lock(&guard);
    for (size_t k = 0; k < output_count && status == CLI_OK; k++) {
        bool moved;
        if (outputs[k].temporary[0]) {
            status = move(&outputs[k], &moved);
        }
    }
    pthread_mutex_unlock(&guard);
    return status;
}

int cli_save_publish(bool quiet)
{
    for (size_t k = 0; k < output_count; k++) {
        output *o = &outputs[k];
        if (o->target.in_place) {
            CLI_TRY(write_in_place(o, quiet));
            o->target.in_place = NULL;
        } else if (cli_target_is_stream(&o->target)) {
            CLI_TRY(write_stream(o));
        }
    }
    CLI_TRY(move_all());
    for (size_t k = 0; k < output_count; k++) {
        if (outputs[k].target.in_place) {
            CLI_TRY(write_in_place(&outputs[k], quiet));
        }
    }
    return CLI_OK;
}

static void remove_temporaries(void)
{
    for (size_t k = 0; k < output_count; k++) {
        remove_temporary(&outputs[k]);
    }
}

void cli_save_discard(void)
{
    pthread_mutex_lock(&guard);
    remove_temporaries();
    for (size_t k = 0; k < output_count; k++) {
        cli_target_close(&outputs[k].target);
    }
    output_count = 0;
    pthread_mutex_unlock(&guard);
}

void cli_save_abandon(void)
{
    pthread_mutex_lock(&guard); /* never given back: nothing is renamed from here on */
    remove_temporaries();
    const char *path = overwriting;
    struct pollfd err = {STDERR_FILENO, POLLOUT, 0};
    if (path && poll(&err, 1, 0) == 1 && (err.revents & POLLOUT)) {
        dprintf(STDERR_FILENO, "quern: \"%s\" was written in place and is incomplete\n", path);
    }
}
