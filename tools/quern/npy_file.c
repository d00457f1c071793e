/* SPDX-License-Identifier: MIT
 *
 * NPY files on disk: mapped for reading; written to a temporary file beside the target and renamed
 * once everything is there, so that no half-written file is ever seen under the name that the user
 * gave, and what was there before stays when something fails.
 */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail_errno(const char *name, const char *doing, const char *path)
{
    int code = errno;
    return cli_fail("%s%scannot %s \"%s\": %s", name ? name : "", name ? ": " : "", doing, path,
                    strerror(code));
}

/* Map an open file; an empty one is left unmapped. */
static int map_file(cli_npy_map *out, const char *name, const char *path, int file)
{
    struct stat info;
    if (fstat(file, &info) != 0) {
        return fail_errno(name, "read", path);
    }
    if (!S_ISREG(info.st_mode)) {
        return cli_fail("%s: \"%s\" is %s, not a file", name, path,
                        S_ISDIR(info.st_mode) ? "a folder" : "a device or pipe");
    }
    out->mapped = (size_t)info.st_size;
    if (out->mapped > 0) {
        void *mapping = mmap(NULL, out->mapped, PROT_READ, MAP_PRIVATE, file, 0);
        if (mapping == MAP_FAILED) {
            return fail_errno(name, "read", path);
        }
        out->mapping = mapping;
    }
    return CLI_OK;
}

int cli_npy_open(cli_npy_map *out, const char *name, const char *path, quern_dtype wanted)
{
    *out = (cli_npy_map){0};
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        return fail_errno(name, "read", path);
    }
    int status = map_file(out, name, path, file);
    close(file);
    CLI_TRY(status);
    cli_problem problem;
    if (!cli_npy_parse(&out->npy, out->mapping, out->mapped, wanted, &problem)) {
        cli_npy_close(out);
        return cli_fail("%s: \"%s\": %s", name, path, problem.text);
    }
    out->data = (const char *)out->mapping + out->npy.data_offset;
    return CLI_OK;
}

void cli_npy_close(cli_npy_map *map)
{
    if (map->mapping) {
        munmap(map->mapping, map->mapped);
    }
    *map = (cli_npy_map){0};
}

/* The folder of a path, with its last slash; "" for the current one. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return cli_strndup(path, slash ? (size_t)(slash - path) + 1 : 0);
}

int cli_npy_check_target(const char *name, const char *path)
{
    struct stat info;
    const char *folder = folder_of(path);
    if (access(folder[0] ? folder : ".", W_OK | X_OK) != 0) {
        return fail_errno(name, "write", path);
    }
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        return cli_fail("%s: cannot write \"%s\": it is a folder", name, path);
    }
    return CLI_OK;
}

/* What is staged. The thread that waits for signals reads it too, so an entry is complete before it
 * is counted, and is counted before its file is there. */
static struct {
    const char *temporary, *path;
} staged[QUERN_MAX_PARAMETERS];
static atomic_int staged_count;

void cli_npy_discard(void)
{
    for (int k = 0; k < staged_count; k++) {
        unlink(staged[k].temporary);
    }
    staged_count = 0;
}

static bool write_all(int file, const char *data, size_t bytes)
{
    while (bytes > 0) {
        ssize_t written = write(file, data, bytes);
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

int cli_npy_stage(const char *path, quern_dtype dtype, int ndim, const int64_t *shape,
                  const void *data, size_t bytes)
{
    int at = staged_count;
    staged[at].path = cli_strdup(path);
    staged[at].temporary = cli_sprintf("%s.quern-%ld-%d.tmp", folder_of(path), (long)getpid(), at);
    staged_count = at + 1;
    int file = open(staged[at].temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0) {
        staged_count = at;
        return fail_errno(NULL, "write", path);
    }
    char header[CLI_NPY_HEADER];
    size_t length = cli_npy_header(header, dtype, ndim, shape);
    bool good = write_all(file, header, length) && write_all(file, data, bytes);
    int code = errno;
    if (close(file) != 0 && good) {
        code = errno;
        good = false;
    }
    errno = code;
    return good ? CLI_OK : fail_errno(NULL, "write", path);
}

int cli_npy_publish(void)
{
    for (int k = 0; k < staged_count; k++) {
        if (rename(staged[k].temporary, staged[k].path) != 0) {
            return fail_errno(NULL, "write", staged[k].path);
        }
    }
    staged_count = 0;
    return CLI_OK;
}
