/* SPDX-License-Identifier: MIT
 *
 * What a source includes. In: a source, headers in memory, options. Out: the files on disk that it
 * may read, by the hash of their contents, the folders of CUDA's headers that it needs, and those
 * of the library's headers that stand in for what is nowhere. The thing to know: conditionals are
 * not evaluated, so more may be named than is read; too many names cost a look at a file, one too
 * few would give a stale image.
 *
 * Texts are scanned one after the other, never one inside the other, so that headers may include
 * one another in circles and to any depth.
 */
#include "compile/nvrtc.h"

#define XXH_INLINE_ALL
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

/* ---- the search ----------------------------------------------------------------------------- */

typedef struct file {
    const char *name, *path; /* path NULL: there is none */
    uint64_t hash[2];
} file;

typedef struct user_folder {
    const char *path;
    bool is_cuda; /* also has CUDA's or CCCL's headers, which are not read */
    bool used;
} user_folder;

typedef struct search {
    const qn_compile_request *request;
    qn_arena *arena;
    QN_LIST(file) files;
    uint64_t *seen; /* hashes of paths, open addressing, 0 is free */
    size_t seen_size;
    user_folder *folders;
    size_t folder_count;
    bool beside;                /* names in quotes are looked for beside the including file */
    bool *wanted;               /* for each of CUDA's folders: needed */
    QN_LIST(qn_header) library; /* what is included of it, in the order in which it is met */
    bool opaque;                /* something that cannot be followed is included */
    bool failed;                /* out of memory */
} search;

static bool grow_seen(search *s)
{
    size_t size = s->seen_size ? s->seen_size * 2 : 64;
    uint64_t *grown = qn_calloc(size, sizeof *grown);
    if (!grown) {
        return false;
    }
    for (size_t k = 0; k < s->seen_size; k++) {
        size_t slot = s->seen[k] & (size - 1);
        while (s->seen[k] && grown[slot]) {
            slot = (slot + 1) & (size - 1);
        }
        grown[slot] = s->seen[k] ? s->seen[k] : grown[slot];
    }
    qn_free(s->seen);
    s->seen = grown;
    s->seen_size = size;
    return true;
}

/* Is the path, or the name without a path, new? */
static bool is_new(search *s, const char *text, bool is_path)
{
    if (s->files.count * 2 >= s->seen_size && !grow_seen(s)) {
        s->failed = true;
        return false;
    }
    uint64_t hash = XXH3_64bits_withSeed(text, strlen(text), is_path) | 1;
    size_t slot = hash & (s->seen_size - 1);
    while (s->seen[slot] && s->seen[slot] != hash) {
        slot = (slot + 1) & (s->seen_size - 1);
    }
    bool known = s->seen[slot] != 0;
    s->seen[slot] = hash;
    return !known;
}

/* Note a file to be read, or (without a path) one that is nowhere. */
static void add_file(search *s, const char *name, const char *path)
{
    if (!is_new(s, path ? path : name, path != NULL)) {
        return;
    }
    if (!QN_ROOM(s->files)) {
        s->failed = true;
        return;
    }
    const char *kept = path ? qn_arena_strndup(s->arena, path, strlen(path)) : NULL;
    s->failed |= path && !kept;
    s->files.items[s->files.count++] = (file){.name = name, .path = kept};
}

/* `folder` has its slash, or is empty. */
static bool join(char path[PATH_MAX], qn_str folder, const char *name)
{
    bool slash = folder.length > 0 && folder.data[folder.length - 1] != '/';
    int length = snprintf(path, PATH_MAX, "%.*s%s%s", (int)folder.length, folder.data,
                          slash ? "/" : "", name);
    struct stat facts;
    return length > 0 && length < PATH_MAX && stat(path, &facts) == 0 && S_ISREG(facts.st_mode);
}

static bool in_memory(const search *s, const char *name)
{
    for (size_t k = 0; k < s->request->header_count; k++) {
        if (strcmp(s->request->headers[k].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* The user's folder that a header lies in, if it is one with CUDA's headers. */
static user_folder *user_cuda_folder(const search *s, qn_str folder)
{
    size_t length = folder.length;
    while (length > 1 && folder.data[length - 1] == '/') {
        length--;
    }
    for (size_t k = 0; k < s->folder_count; k++) {
        size_t own = strlen(s->folders[k].path);
        while (own > 1 && s->folders[k].path[own - 1] == '/') {
            own--;
        }
        if (s->folders[k].is_cuda && own == length &&
            memcmp(s->folders[k].path, folder.data, own) == 0) {
            return &s->folders[k];
        }
    }
    return NULL;
}

/* Note a header found in the user's `folder`, or (NULL) elsewhere. CUDA's own headers are not read,
 * so for them only the folder is noted. */
static void add_found(search *s, user_folder *folder, const char *name, const char *path)
{
    if (folder && folder->is_cuda && qn_cuda_header_is(qn_str_of(name))) {
        folder->used = true;
    } else {
        add_file(s, name, path);
    }
}

static bool in_user_folder(search *s, const char *name, char path[PATH_MAX])
{
    for (size_t k = 0; k < s->folder_count; k++) {
        user_folder *f = &s->folders[k];
        if (join(path, qn_str_of(f->path), name)) {
            add_found(s, f, name, path);
            return true;
        }
    }
    return false;
}

static bool in_cuda_folder(search *s, const char *name)
{
    const qn_cuda_folder *all;
    size_t count = qn_cuda_folders(&all), found = qn_cuda_folder_with(name);
    if (found == SIZE_MAX) {
        return false;
    }
    if (!s->wanted) {
        s->wanted = qn_arena_alloc(s->arena, count * sizeof *s->wanted);
    }
    if (!s->wanted) {
        s->failed = true;
        return true;
    }
    s->wanted[found] = true;
    char path[PATH_MAX];
    if (!qn_cuda_header_is(qn_str_of(name)) && join(path, qn_str_of(all[found].path), name)) {
        add_file(s, name, path);
    }
    return true;
}

/* A header of the library is there once, however often it is included. */
static bool in_library(search *s, const char *name)
{
    for (size_t k = 0; k < s->library.count; k++) {
        if (strcmp(s->library.items[k].name, name) == 0) {
            return true;
        }
    }
    for (size_t k = 0; k < s->request->library_count; k++) {
        if (strcmp(s->request->library[k].name, name) == 0) {
            s->failed |= !QN_ROOM(s->library);
            if (!s->failed) {
                s->library.items[s->library.count++] = s->request->library[k];
            }
            return true;
        }
    }
    return false;
}

static void resolve(search *s, const char *name, bool quoted, qn_str folder)
{
    char path[PATH_MAX];
    if (in_memory(s, name)) {
        return;
    }
    if (name[0] == '/' || (quoted && s->beside)) {
        folder = name[0] == '/' ? (qn_str){"", 0} : folder;
        if (join(path, folder, name)) {
            add_found(s, user_cuda_folder(s, folder), name, path);
            return;
        }
    }
    if (!in_user_folder(s, name, path) && !in_cuda_folder(s, name) && !in_library(s, name)) {
        add_file(s, name, NULL);
    }
}

static void follow(search *s, const qn_directive *d, qn_str folder)
{
    s->opaque |= d->further || d->name.length == 0;
    if (d->name.length > 0) {
        const char *name = qn_arena_strndup(s->arena, d->name.data, d->name.length);
        if (!name) {
            s->failed = true;
            return;
        }
        resolve(s, name, d->quoted, folder);
    }
}

/* Follow everything that a text includes or asks for; names in quotes are relative to `folder`. */
static void scan(search *s, qn_str text, qn_str folder)
{
    qn_directive d;
    char *copy;
    if (!qn_join_lines(&text, &copy)) {
        s->failed = true;
        return;
    }
    for (const char *at = text.data; !s->failed && qn_next_include(text, &at, &d);) {
        follow(s, &d, folder);
    }
    for (const char *at = text.data; !s->failed && qn_next_question(text, &at, &d);) {
        follow(s, &d, folder);
    }
    qn_free(copy);
}

static qn_str folder_of(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return (qn_str){path ? path : "", slash ? (size_t)(slash + 1 - path) : 0};
}

/* A file that cannot be read counts as absent: if it matters, the compiler says so. */
static void read_file(search *s, size_t k)
{
    char *data;
    size_t size;
    quern_status status = qn_file_read(s->files.items[k].path, &data, &size);
    if (status != QUERN_OK) {
        s->failed |= status == QUERN_ERROR_OUT_OF_MEMORY;
        qn_error_reset();
        return;
    }
    XXH128_hash_t hash = XXH3_128bits(data, size);
    s->files.items[k].hash[0] = hash.high64;
    s->files.items[k].hash[1] = hash.low64;
    scan(s, (qn_str){data, size}, folder_of(s->files.items[k].path));
    qn_free(data);
}

/* ---- in and out ----------------------------------------------------------------------------- */

static bool read_options(search *s)
{
    const qn_compile_request *r = s->request;
    s->beside = !qn_options_say(r->options, r->option_count, "no-source-include");
    s->folders = qn_arena_alloc(s->arena, (r->option_count + 1) * sizeof *s->folders);
    for (size_t k = 0; s->folders && k < r->option_count; k++) {
        const char *path;
        if (qn_option_path(r->options, r->option_count, &k, &path) == QN_INCLUDE_FOLDER &&
            path[0]) {
            s->folders[s->folder_count++] = (user_folder){path, qn_cuda_folder_is(path), false};
        }
    }
    return s->folders != NULL;
}

/* Options with which the compiler reads or writes files of its own, which no key covers, or which a
 * hit would not write. */
static bool reach_outside(const qn_compile_request *r)
{
    static const char *const names[] = {"pch",     "create-pch",         "use-pch",
                                        "pch-dir", "fdevice-time-trace", "time"};
    bool any = false;
    for (size_t k = 0; k < QN_COUNT(names); k++) {
        any |= qn_options_say(r->options, r->option_count, names[k]);
    }
    return any;
}

/* Headers that options put in front of the source. */
static void scan_options(search *s)
{
    const qn_compile_request *r = s->request;
    for (size_t k = 0; k < r->option_count; k++) {
        const char *path;
        s->opaque |= strstr(r->options[k], "__has_include") != NULL; /* -DHAVE=__has_include(...) */
        if (qn_option_path(r->options, r->option_count, &k, &path) == QN_INCLUDE_FILE && path[0]) {
            char found[PATH_MAX];
            if (join(found, (qn_str){"", 0}, path)) {
                add_file(s, qn_base_name(path), found);
            } else {
                resolve(s, path, false, (qn_str){"", 0});
            }
        }
    }
}

static bool give_library(const search *s, qn_includes *out)
{
    if (s->library.count == 0) {
        return true;
    }
    qn_header *list = qn_arena_alloc(s->arena, s->library.count * sizeof *list);
    if (list) {
        memcpy(list, s->library.items, s->library.count * sizeof *list);
    }
    out->library = list;
    out->library_count = s->library.count;
    return list != NULL;
}

static bool give_files(const search *s, qn_includes *out)
{
    qn_include *list = qn_arena_alloc(s->arena, (s->files.count + 1) * sizeof *list);
    for (size_t k = 0; list && k < s->files.count; k++) {
        list[k] = (qn_include){s->files.items[k].name,
                               {s->files.items[k].hash[0], s->files.items[k].hash[1]}};
    }
    out->files = list;
    out->file_count = s->files.count;
    return list != NULL;
}

/* Give the folders of CUDA that have an included header, and those that such a header needs in
 * turn: the first with CUDA's own headers and the first with CCCL's. */
static bool give_folders(search *s, qn_includes *out)
{
    const qn_cuda_folder *all;
    size_t count = qn_cuda_folders(&all);
    const char **list = qn_arena_alloc(s->arena, (count + 1) * sizeof *list);
    static const char *const needed[] = {"cuda_runtime_api.h", "nv/target", "cuda/std/version"};
    for (size_t k = 0; k < QN_COUNT(needed); k++) {
        size_t folder = qn_cuda_folder_with(needed[k]);
        if (folder != SIZE_MAX) {
            s->wanted[folder] = true;
        }
    }
    for (size_t k = 0; list && k < count; k++) {
        if (s->wanted[k]) {
            list[out->folder_count++] = all[k].path;
            out->cuda = XXH3_64bits_withSeed(&all[k].version, sizeof all[k].version, out->cuda);
        }
    }
    out->folders = list;
    return list != NULL;
}

static void give_user_folders(const search *s, qn_includes *out)
{
    for (size_t k = 0; k < s->folder_count; k++) {
        if (s->folders[k].used) {
            uint64_t version = qn_cuda_version_of(s->folders[k].path);
            out->cuda = XXH3_64bits_withSeed(&version, sizeof version, out->cuda);
        }
    }
}

/* Is there anything to look for? The word may be split over lines. */
static bool may_include(const char *text)
{
    return strstr(text, "include") || strstr(text, "\\\n") || strstr(text, "\\\r\n");
}

static bool any_include(const qn_compile_request *r)
{
    bool any = may_include(r->source);
    for (size_t k = 0; !any && k < r->header_count; k++) {
        any = may_include(r->headers[k].text);
    }
    for (size_t k = 0; !any && k < r->option_count; k++) {
        any = may_include(r->options[k]);
    }
    return any;
}

static void find(search *s)
{
    const qn_compile_request *r = s->request;
    scan_options(s);
    scan(s, qn_str_of(r->source), folder_of(r->file_name));
    for (size_t k = 0; k < r->header_count; k++) {
        scan(s, qn_str_of(r->headers[k].text), folder_of(r->headers[k].name));
    }
    size_t next = 0, library = 0; /* those that were read */
    while (!s->failed && (next < s->files.count || library < s->library.count)) {
        if (library < s->library.count) {
            scan(s, qn_str_of(s->library.items[library++].text), (qn_str){"", 0});
        } else if (s->files.items[next++].path) {
            read_file(s, next - 1);
        }
    }
}

quern_status qn_includes_find(qn_includes *out, const qn_compile_request *request)
{
    *out = (qn_includes){.opaque = reach_outside(request)};
    if (!any_include(request)) {
        return QUERN_OK;
    }
    search s = {.request = request, .arena = &out->arena};
    s.failed = !read_options(&s);
    if (!s.failed) {
        find(&s);
    }
    s.failed = s.failed || !give_files(&s, out) || !give_library(&s, out) ||
               (s.wanted && !give_folders(&s, out));
    qn_free(s.files.items);
    qn_free(s.library.items);
    qn_free(s.seen);
    if (s.failed) {
        qn_includes_free(out);
        return qn_fail_memory("looking for headers");
    }
    give_user_folders(&s, out);
    out->opaque |= s.opaque;
    return QUERN_OK;
}

void qn_includes_free(qn_includes *includes)
{
    qn_arena_free(&includes->arena);
    *includes = (qn_includes){0};
}
