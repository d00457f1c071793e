/* SPDX-License-Identifier: MIT
 *
 * What exists where an output should go. In: a path. Out: the folder and the name in it, symbolic
 * links followed, and the way to write:
 *
 *     under a temporary name that is then renamed   a new file, and most that exist
 *     in place      a file with several names, or whose folder or attributes forbid the other way
 *     as a stream   devices, pipes, and descriptors such as /dev/stdout
 *
 * Only the system knows whether a file may be written: it is asked by opening the file, as `echo
 * >>` would.
 */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define MOST_LINKS 40 /* as many as the kernel follows */

int cli_fail_errno(const char *name, const char *doing, const char *path)
{
    int code = errno;
    return cli_fail("%s%scannot %s \"%s\": %s", name ? name : "", name ? ": " : "", doing, path,
                    strerror(code));
}

/* Where a symbolic link leads; NULL if `path` is not one. */
static char *link_target(const char *path)
{
    char text[4096];
    ssize_t length = readlink(path, text, sizeof text);
    if (length <= 0 || (size_t)length == sizeof text) {
        return NULL;
    }
    const char *slash = strrchr(path, '/');
    int folder = text[0] != '/' && slash ? (int)(slash + 1 - path) : 0;
    return cli_sprintf("%.*s%.*s", folder, path, (int)length, text);
}

/* Find folder and name, links followed; the file itself need not exist. */
static int resolve(cli_target *target, const char *name)
{
    const char *path = target->path;
    for (int links = 0;; links++) {
        const char *next = links < MOST_LINKS ? link_target(path) : NULL;
        if (!next) {
            break;
        }
        path = next;
    }
    const char *slash = strrchr(path, '/');
    const char *folder = slash ? cli_strndup(path, (size_t)(slash + 1 - path)) : ".";
    target->file = slash ? slash + 1 : path;
    target->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (target->folder < 0 || fstat(target->folder, &target->folder_info) != 0) {
        return cli_fail_errno(name, "write", target->path);
    }
    if (!*target->file) {
        return cli_fail("%s: cannot write \"%s\": a path that ends in \"/\" names a folder", name,
                        target->path);
    }
    return CLI_OK;
}

static bool folder_is_writable(const cli_target *target)
{
    return faccessat(target->folder, ".", W_OK | X_OK, AT_EACCESS) == 0;
}

/* A file that exists. */
static int find_file(cli_target *target, const char *name)
{
    int file = open(target->path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) {
        return cli_fail_errno(name, "write", target->path);
    }
    close(file);
    CLI_TRY(resolve(target, name));
    struct stat found;
    bool same = fstatat(target->folder, target->file, &found, AT_SYMLINK_NOFOLLOW) == 0 &&
                found.st_dev == target->info.st_dev && found.st_ino == target->info.st_ino;
    if (!same) {
        target->in_place = "its name leads to it in a way that cannot be followed";
    } else if (target->info.st_nlink > 1) {
        target->in_place = "it has more than one name (hard links)";
    } else if (!folder_is_writable(target)) {
        target->in_place = "no file can be made in its folder";
    }
    return CLI_OK;
}

static int find_descriptor(cli_target *target, const char *name)
{
    int flags = fcntl(target->stream, F_GETFL);
    if (flags < 0) {
        return cli_fail_errno(name, "write", target->path);
    }
    if ((flags & O_ACCMODE) == O_RDONLY) {
        return cli_fail("%s: cannot write \"%s\": it is open for reading only", name, target->path);
    }
    return CLI_OK;
}

static int find_stream(cli_target *target, const char *name)
{
    target->opens = true;
    return faccessat(AT_FDCWD, target->path, W_OK, AT_EACCESS) == 0
               ? CLI_OK
               : cli_fail_errno(name, "write", target->path);
}

int cli_target_find(cli_target *target, const char *name, const char *path)
{
    *target = (cli_target){.path = path, .folder = -1};
    target->stream = cli_descriptor_of(path, true);
    if (target->stream >= 0) {
        return find_descriptor(target, name);
    }
    target->exists = stat(path, &target->info) == 0;
    if (!target->exists && errno != ENOENT) {
        return cli_fail_errno(name, "write", path);
    }
    if (target->exists && S_ISDIR(target->info.st_mode)) {
        return cli_fail("%s: cannot write \"%s\": it is a folder", name, path);
    }
    if (target->exists) {
        return S_ISREG(target->info.st_mode) ? find_file(target, name) : find_stream(target, name);
    }
    CLI_TRY(resolve(target, name));
    return folder_is_writable(target) ? CLI_OK : cli_fail_errno(name, "write", path);
}

void cli_target_close(cli_target *target)
{
    if (target->folder >= 0) {
        close(target->folder);
    }
    target->folder = -1;
}

bool cli_target_is_stream(const cli_target *target)
{
    return target->stream >= 0 || target->opens;
}

bool cli_target_same(const cli_target *a, const cli_target *b)
{
    if (cli_target_is_stream(a) || cli_target_is_stream(b) || a->exists != b->exists) {
        return false; /* a stream takes one array after another */
    }
    if (a->exists) {
        return a->info.st_dev == b->info.st_dev && a->info.st_ino == b->info.st_ino;
    }
    return a->folder_info.st_dev == b->folder_info.st_dev &&
           a->folder_info.st_ino == b->folder_info.st_ino && strcmp(a->file, b->file) == 0;
}

/* ---- what a file keeps ---------------------------------------------------------------------- */

/* The kernel sets these itself, from the contents or the place of the file. */
static bool is_own_attribute(const char *attribute)
{
    static const char *const own[] = {"security.capability", "security.ima", "security.evm"};
    for (size_t k = 0; k < CLI_COUNT(own); k++) {
        if (strcmp(attribute, own[k]) == 0) {
            return true;
        }
    }
    return false;
}

/* The names of a file's extended attributes, one after the other; *length 0 when there are none. */
static const char *attributes_of(int file, size_t *length)
{
    ssize_t room = flistxattr(file, NULL, 0);
    char *names = cli_alloc(room > 0 ? (size_t)room + 1 : 1);
    ssize_t got = room > 0 ? flistxattr(file, names, (size_t)room) : 0;
    *length = got > 0 ? (size_t)got : 0;
    return names;
}

static bool has_attribute(int file, const char *attribute)
{
    return fgetxattr(file, attribute, NULL, 0) >= 0;
}

static bool copy_attribute(int to, int from, const char *attribute)
{
    ssize_t room = fgetxattr(from, attribute, NULL, 0);
    void *value = cli_alloc(room > 0 ? (size_t)room : 1);
    ssize_t size = room >= 0 ? fgetxattr(from, attribute, value, (size_t)room) : -1;
    return size >= 0 && fsetxattr(to, attribute, value, (size_t)size, 0) == 0;
}

/* Access lists, labels and what users attach. What the folder has given to the new file, and the
 * old one lacks, is removed again. */
static bool copy_attributes(int to, int from)
{
    size_t length;
    const char *names = attributes_of(to, &length);
    for (const char *n = names; n < names + length; n += strlen(n) + 1) {
        if (!is_own_attribute(n) && !has_attribute(from, n) && fremovexattr(to, n) != 0) {
            return false;
        }
    }
    names = attributes_of(from, &length);
    for (const char *n = names; n < names + length; n += strlen(n) + 1) {
        if (!is_own_attribute(n) && !copy_attribute(to, from, n)) {
            return false;
        }
    }
    return true;
}

bool cli_target_keep_attributes(const cli_target *target, int temporary)
{
    const struct stat *info = &target->info;
    struct stat made;
    if (fstat(temporary, &made) != 0) {
        return false;
    }
    bool owned = made.st_uid == info->st_uid && made.st_gid == info->st_gid;
    if (!owned && fchown(temporary, info->st_uid, info->st_gid) != 0) {
        return false;
    }
    int from = openat(target->folder, target->file, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    bool kept = from >= 0 && copy_attributes(temporary, from);
    if (from >= 0) {
        close(from);
    }
    return kept;
}
