/* SPDX-License-Identifier: MIT
 *
 * pch: precompiled headers. In: a compilation. Out: the folder in which NVRTC may keep what it made
 * of the headers, or none. The thing to know: NVRTC reads CUB for a second and the kernel for some
 * milliseconds; from 12.8 on it keeps what it read in a file, which is good for the process that
 * made it alone. So the folder is the process's own, beside the cache's database, and it goes when
 * the process does; what a process left that was killed, the next one removes.
 *
 * NVRTC itself compares the text up to the last header, the options, and the files of the headers.
 * It does not know headers in memory, so sources with headers of the user's have none of this.
 */
#include "compile/nvrtc.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define PREFIX "pch-"
/* Starts that are kept: each takes some 100 MB and makes its first kernel slower. */
#define MOST_STARTS 4
#define YOUNG       60                  /* seconds in which a folder may not be locked yet */
#define FREE_BYTES  (UINT64_C(1) << 30) /* so much must be left on the disk for a new one */

static struct {
    pthread_mutex_t lock;
    char path[PATH_MAX]; /* "": none yet */
    int folder;          /* open and locked as long as the process lives */
    pid_t owner;
    bool off;                  /* it cannot be made, or NVRTC refused */
    char *starts[MOST_STARTS]; /* of sources, with their options */
    uint32_t start_count;
} pch = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the folder ----------------------------------------------------------------------------- */

/* A folder of files, and the files. */
static void remove_folder(int parent, const char *name, int folder)
{
    DIR *list = fdopendir(dup(folder));
    for (struct dirent *e; list && (e = readdir(list)) != NULL;) {
        (void)unlinkat(folder, e->d_name, 0); /* "." and ".." are refused */
    }
    if (list) {
        closedir(list);
    }
    (void)unlinkat(parent, name, AT_REMOVEDIR);
}

static bool is_left_behind(int folder)
{
    struct stat s;
    return fstat(folder, &s) == 0 && s.st_uid == geteuid() && time(NULL) - s.st_mtime > YOUNG &&
           flock(folder, LOCK_EX | LOCK_NB) == 0;
}

/* What processes that were killed have left. */
static void sweep(const char *parent_path)
{
    DIR *list = opendir(parent_path);
    for (struct dirent *e; list && (e = readdir(list)) != NULL;) {
        if (strncmp(e->d_name, PREFIX, strlen(PREFIX)) != 0) {
            continue;
        }
        int folder =
            openat(dirfd(list), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (folder >= 0 && is_left_behind(folder)) {
            remove_folder(dirfd(list), e->d_name, folder);
        }
        if (folder >= 0) {
            close(folder);
        }
    }
    if (list) {
        closedir(list);
    }
}

/* Nobody else may put another folder in the place of one in there: NVRTC trusts what it reads. */
static bool is_private(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && s.st_uid == geteuid() && (s.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* Make the process's own beside the file, or find that there can be none. */
static bool make_folder(const char *beside)
{
    const char *slash = strrchr(beside, '/');
    char parent[PATH_MAX];
    if (!slash || (size_t)(slash - beside) + sizeof PREFIX "XXXXXX" > sizeof parent) {
        return false;
    }
    snprintf(parent, sizeof parent, "%.*s", (int)(slash - beside), beside);
    if (!is_private(parent)) {
        return false;
    }
    sweep(parent);
    snprintf(pch.path, sizeof pch.path, "%.*s/" PREFIX "XXXXXX", (int)(slash - beside), beside);
    if (!mkdtemp(pch.path)) {
        pch.path[0] = '\0';
        return false;
    }
    pch.owner = getpid();
    pch.folder = open(pch.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return pch.folder >= 0 && flock(pch.folder, LOCK_EX | LOCK_NB) == 0;
}

/* Have no more of it, and leave nothing behind: on a full disk not even a part of a file. The path
 * stays, since other threads may be compiling with it; NVRTC then tells them that it is gone. */
static void give_up(void)
{
    pch.off = true;
    if (pch.path[0] != '\0' && pch.owner == getpid() && pch.folder >= 0) {
        remove_folder(AT_FDCWD, pch.path, pch.folder);
        close(pch.folder);
        pch.folder = -1;
    }
}

__attribute__((destructor)) static void process_ends(void)
{
    for (uint32_t k = 0; k < pch.start_count; k++) {
        qn_free(pch.starts[k]);
    }
    pch.start_count = 0;
    give_up();
}

/* ---- is it worth it? ------------------------------------------------------------------------ */

/* Headers that are long, or include such. */
static bool is_large(qn_str name)
{
    static const char *const folders[] = {"cub/", "cuda/", "thrust/", "cooperative_groups"};
    for (size_t k = 0; k < QN_COUNT(folders); k++) {
        const size_t length = strlen(folders[k]);
        if (name.length >= length && memcmp(name.data, folders[k], length) == 0) {
            return true;
        }
    }
    return false;
}

/* The text up to the last header that the source includes; empty: none of them is large. */
static qn_str start_of(const char *source)
{
    const char *at = source;
    bool large = false;
    qn_directive d;
    while (qn_next_include(qn_str_of(source), &at, &d)) {
        large |= is_large(d.name);
    }
    return (qn_str){source, large ? (size_t)(at - source) : 0};
}

static bool may_have(const qn_compile_request *r, const qn_nvrtc *nvrtc)
{
    static const char *const own[] = {"pch", "create-pch", "use-pch", "pch-dir"};
    const char *setting = getenv("QUERN_PCH");
    bool says = setting && strcmp(setting, "0") == 0;
    for (size_t k = 0; k < QN_COUNT(own); k++) {
        says |= qn_options_say(r->options, r->option_count, own[k]);
    }
    return !says && nvrtc->GetPCHCreateStatus && r->beside && r->beside[0] != '\0' &&
           r->header_count == 0 && r->includes && !r->includes->opaque &&
           r->includes->file_count == 0 && r->includes->cuda != 0;
}

/* On the disk, and in a file: past the limit of those a signal would end the process. */
static bool has_room(void)
{
    struct statvfs s;
    struct rlimit most;
    return statvfs(pch.path, &s) == 0 && (uint64_t)s.f_bavail * s.f_frsize >= FREE_BYTES &&
           getrlimit(RLIMIT_FSIZE, &most) == 0 &&
           (most.rlim_cur == RLIM_INFINITY || most.rlim_cur >= FREE_BYTES);
}

/* Remember a start of a source with its options. False: there is no room for one more, here or on
 * the disk. */
static bool remember(const qn_compile_request *r, qn_str start)
{
    qn_text key = {0};
    qn_text_printf(&key, "%d %d %d %d", r->arch, (int)r->kind, r->line_info, r->relocatable);
    for (size_t k = 0; k < r->option_count; k++) {
        qn_text_printf(&key, "\n%s", r->options[k]);
    }
    qn_text_puts(&key, "\n");
    qn_text_add(&key, start.data, start.length);
    char *taken = qn_text_take(&key);
    for (uint32_t k = 0; taken && k < pch.start_count; k++) {
        if (strcmp(pch.starts[k], taken) == 0) {
            qn_free(taken);
            return true;
        }
    }
    if (!taken || pch.start_count == MOST_STARTS || !has_room()) {
        qn_free(taken);
        return false;
    }
    pch.starts[pch.start_count++] = taken;
    return true;
}

/* ---- for a compilation ---------------------------------------------------------------------- */

const char *qn_pch_folder(const qn_compile_request *request, const qn_nvrtc *nvrtc)
{
    if (!may_have(request, nvrtc)) {
        return NULL;
    }
    const qn_str start = start_of(request->source);
    if (start.length == 0) {
        return NULL;
    }
    pthread_mutex_lock(&pch.lock);
    bool use = !pch.off && (pch.path[0] == '\0' || pch.owner == getpid());
    if (use && pch.path[0] == '\0') {
        use = make_folder(request->beside);
        if (!use) {
            give_up();
        }
    }
    use = use && remember(request, start);
    pthread_mutex_unlock(&pch.lock);
    return use ? pch.path : NULL;
}

void qn_pch_give_up(void)
{
    pthread_mutex_lock(&pch.lock);
    give_up();
    pthread_mutex_unlock(&pch.lock);
}

bool qn_pch_failed(const qn_nvrtc *nvrtc, nvrtc_program program, int result, const char *log)
{
    if (result != NVRTC_OK) { /* for want of memory NVRTC names no header */
        return result != NVRTC_COMPILATION || strstr(log, "PCH") ||
               strstr(log, "precompiled header") || strstr(log, "atastrophic error");
    }
    const int made = nvrtc->GetPCHCreateStatus(program);
    if (made != NVRTC_OK && made != NVRTC_NO_PCH) {
        qn_pch_give_up();
    }
    return false;
}
