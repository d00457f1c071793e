/* SPDX-License-Identifier: MIT
 *
 * Where NVRTC, nvJitLink and the archive of the device's runtime are. In: the program's choice, the
 * environment, the usual places and the driver's version. Out: one file and its build id for each;
 * nothing is loaded.
 *
 * The places are tried in the order of compile.h, and the first folder that has a usable version
 * wins; of the system's own folders, the newest version. A newer major release than the driver's is
 * passed over where there is another.
 */
#include "compile/nvrtc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NEWEST_MAJOR 30 /* to look for: far ahead of the present 13 */

static const qn_cuda_place places[] = {
    {QN_BESIDE, "/quern/cuda/lib"}, /* installed with the library */
    {QN_BESIDE, "/../cuda/lib"},    /* in the build tree: what ./dev fetches */
    {"CUDA_HOME", "/lib64"},
    {"CUDA_HOME", "/lib"},
    {"CUDA_PATH", "/lib64"},
    {"CUDA_PATH", "/lib"},
    {"LD_LIBRARY_PATH", NULL}, /* a list */
    {"VIRTUAL_ENV", "/lib/python3*/site-packages/nvidia/cu[0-9]*/lib"},
    {"VIRTUAL_ENV", "/lib/python3*/site-packages/nvidia/cuda_nvrtc/lib"},
    {"VIRTUAL_ENV", "/lib/python3*/site-packages/nvidia/nvjitlink/lib"},
    {"CONDA_PREFIX", "/lib"},
    {"CONDA_PREFIX", "/lib/python3*/site-packages/nvidia/cu[0-9]*/lib"},
    {"CONDA_PREFIX", "/lib/python3*/site-packages/nvidia/cuda_nvrtc/lib"},
    {"CONDA_PREFIX", "/lib/python3*/site-packages/nvidia/nvjitlink/lib"},
    {QN_RUNPATH, NULL}, /* a list */
    {QN_FETCHED, "/lib"},
};

/* Of the archive alone, which is in the package of CUDA's runtime. */
static const qn_cuda_place archive_places[] = {
    {"CUDA_HOME", "/targets/*-linux/lib"},
    {"CUDA_PATH", "/targets/*-linux/lib"},
    {"VIRTUAL_ENV", "/lib/python3*/site-packages/nvidia/cuda_runtime/lib"},
    {"CONDA_PREFIX", "/targets/*-linux/lib"},
    {"CONDA_PREFIX", "/lib/python3*/site-packages/nvidia/cuda_runtime/lib"},
    {NULL, "/usr/local/cuda/targets/*-linux/lib"},
};

/* Where systems have it: not the order counts, but the version. */
static const qn_cuda_place system_places[] = {
    {NULL, "/usr/local/cuda/lib64"},
    {NULL, "/usr/local/cuda-*/lib64"},
    {NULL, "/usr/lib/x86_64-linux-gnu"},
    {NULL, "/usr/lib/aarch64-linux-gnu"},
    {NULL, "/usr/lib64"},
};

/* One library. */
typedef struct search {
    const char *name;     /* "libnvrtc" */
    const char *variable; /* of the environment, that says where it is */
    char *asked;          /* by the program: before the environment's, and before all places */
    bool beside_compiler; /* look there first */
    bool archive;         /* a static library: it has no versions */
    bool done;
    int newest; /* major version that the driver runs; 0: any */
    qn_compiler_identity found;
    qn_compiler_identity too_new; /* the first that the driver does not run */
    qn_text looked;
} search;

/* `folder`/libNAME.so`suffix`, if it is there. */
static bool name_file(const search *s, qn_compiler_identity *out, const char *folder,
                      const char *suffix)
{
    int length = s->archive
                     ? snprintf(out->path, sizeof out->path, "%s/%s.a", folder, s->name)
                     : snprintf(out->path, sizeof out->path, "%s/%s.so%s", folder, s->name, suffix);
    return length > 0 && (size_t)length < sizeof out->path && qn_file_exists(out->path);
}

/* The driver runs what this release compiles: native code of an older one or its own, whatever the
 * minor versions. A file that does not tell its release is taken at its word. */
static bool runs(const search *s, const char *path)
{
    return s->newest == 0 || qn_release_of_compiler(path).major <= s->newest;
}

static bool try_file(search *s, const char *folder, const char *suffix)
{
    qn_compiler_identity file = {0};
    if (!name_file(s, &file, folder, suffix)) {
        return false;
    }
    if (runs(s, file.path)) {
        s->found = file;
        return true;
    }
    if (!s->too_new.path[0]) {
        s->too_new = file;
    }
    return false;
}

/* Any version in the folder: the newest that the library knows and the driver runs, else the
 * development link, whose version may be an old one with another naming. */
static bool try_versions(search *s, const char *folder)
{
    for (int major = NEWEST_MAJOR; major >= QN_OLDEST_MAJOR && !s->archive; major--) {
        char suffix[16];
        snprintf(suffix, sizeof suffix, ".%d", major);
        if (try_file(s, folder, suffix)) {
            return true;
        }
    }
    return try_file(s, folder, "");
}

static bool try_folder(void *context, const char *folder, bool trusted)
{
    search *s = context;
    if (trusted && try_versions(s, folder)) {
        return true;
    }
    qn_text_printf(&s->looked, "%s%s\n", folder,
                   trusted ? "" : " (not used: it is another user's, or others may write there)");
    return false;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_ino == second.st_ino &&
           first.st_dev == second.st_dev;
}

static bool is_newer(const char *a, const char *b)
{
    if (is_same_file(a, b)) {
        return false;
    }
    const qn_release first = qn_release_of_compiler(a), second = qn_release_of_compiler(b);
    return first.major > second.major ||
           (first.major == second.major && first.minor > second.minor);
}

/* The same where the newest of all folders is wanted. */
static bool try_for_newest(void *context, const char *folder, bool trusted)
{
    search *s = context;
    const qn_compiler_identity before = s->found;
    if (try_folder(s, folder, trusted) && before.path[0] && !is_newer(s->found.path, before.path)) {
        s->found = before;
    }
    return false;
}

static bool try_all(search *s, const qn_cuda_place *all, size_t count)
{
    (void)qn_places_visit(all, count, try_for_newest, s);
    return s->found.path[0] != '\0';
}

bool qn_compiler_newest(qn_compiler_identity *out, const qn_cuda_place *all, size_t count,
                        int driver)
{
    search s = {.name = "libnvrtc", .newest = driver / 1000};
    const bool found = try_all(&s, all, count);
    *out = s.found;
    qn_text_free(&s.looked);
    return found;
}

/* Try what the program or the variable names: a file, or a folder that has it; nothing else is
 * tried. */
static bool try_asked(search *s, const char *asked)
{
    if (qn_is_folder(asked)) {
        return qn_places_visit(&(qn_cuda_place){NULL, asked}, 1, try_folder, s);
    }
    if (!qn_file_exists(asked) || strlen(asked) >= sizeof s->found.path) {
        qn_text_printf(&s->looked, "%s\n", asked);
        return false;
    }
    strcpy(s->found.path, asked);
    return true;
}

static bool try_beside_compiler(search *s)
{
    qn_compiler_identity compiler;
    char *slash = qn_compiler_find(&compiler, NULL) ? strrchr(compiler.path, '/') : NULL;
    if (!slash) {
        return false;
    }
    *slash = '\0';
    if (try_folder(s, compiler.path, true)) {
        return true;
    }
    char package[sizeof compiler.path + 32]; /* of one release with the compiler's */
    snprintf(package, sizeof package, "%s/../../cuda_runtime/lib", compiler.path);
    return s->archive && qn_is_folder(package) && try_folder(s, package, true);
}

static void find(search *s)
{
    const char *asked = s->asked ? s->asked : getenv(s->variable);
    bool found;
    if (asked && asked[0]) {
        found = try_asked(s, asked);
    } else {
        found = (s->beside_compiler && try_beside_compiler(s)) ||
                qn_places_visit(places, QN_COUNT(places), try_folder, s) ||
                (s->archive &&
                 qn_places_visit(archive_places, QN_COUNT(archive_places), try_folder, s)) ||
                try_all(s, system_places, QN_COUNT(system_places));
    }
    if (!found && s->too_new.path[0]) { /* it says itself what the driver does not take */
        s->found = s->too_new;
        found = true;
    }
    if (found) {
        qn_build_id_read(s->found.build_id, sizeof s->found.build_id, s->found.path);
        qn_text_free(&s->looked);
    }
    s->done = true;
}

/* ---- once per process, or until another is chosen ---------------------------------------------
 */

static search compiler = {.name = "libnvrtc", .variable = "QUERN_NVRTC"};
static search linker = {
    .name = "libnvJitLink", .variable = "QUERN_NVJITLINK", .beside_compiler = true};
static search runtime = {.name = "libcudadevrt",
                         .variable = "QUERN_CUDADEVRT",
                         .beside_compiler = true,
                         .archive = true};
/* the compiler's is taken last */
static pthread_mutex_t compiler_lock = PTHREAD_MUTEX_INITIALIZER,
                       linker_lock = PTHREAD_MUTEX_INITIALIZER,
                       runtime_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint choice;

__attribute__((destructor)) static void forget(void)
{
    qn_text_free(&compiler.looked);
    qn_text_free(&linker.looked);
    qn_text_free(&runtime.looked);
    qn_free(compiler.asked);
    compiler.asked = NULL;
}

static bool give(search *s, pthread_mutex_t *lock, qn_compiler_identity *out, char **looked)
{
    pthread_mutex_lock(lock);
    if (!s->done) {
        find(s);
    }
    *out = s->found;
    if (looked) {
        *looked = qn_strdup(s->looked.data ? s->looked.data : "");
    }
    pthread_mutex_unlock(lock);
    return out->path[0] != '\0';
}

bool qn_compiler_find(qn_compiler_identity *out, char **looked)
{
    return give(&compiler, &compiler_lock, out, looked);
}

bool qn_linker_find(qn_compiler_identity *out, char **looked)
{
    return give(&linker, &linker_lock, out, looked);
}

bool qn_device_runtime_find(qn_compiler_identity *out, char **looked)
{
    return give(&runtime, &runtime_lock, out, looked);
}

/* Look anew when next asked. */
static void begin_anew(search *s)
{
    qn_text_free(&s->looked);
    *s = (search){.name = s->name,
                  .variable = s->variable,
                  .asked = s->asked,
                  .beside_compiler = s->beside_compiler,
                  .archive = s->archive,
                  .newest = s->newest};
}

static void begin_all_anew(void)
{
    begin_anew(&compiler);
    begin_anew(&linker);
    begin_anew(&runtime);
    atomic_fetch_add(&choice, 1);
}

static void lock_all(void)
{
    pthread_mutex_lock(&runtime_lock);
    pthread_mutex_lock(&linker_lock);
    pthread_mutex_lock(&compiler_lock);
}

static void unlock_all(void)
{
    pthread_mutex_unlock(&compiler_lock);
    pthread_mutex_unlock(&linker_lock);
    pthread_mutex_unlock(&runtime_lock);
}

unsigned qn_compiler_choice(void)
{
    return atomic_load(&choice);
}

/* Is there one at the path that a program names? */
static bool is_there(const char *path)
{
    search trial = {.name = compiler.name};
    const bool there = try_asked(&trial, path);
    qn_text_free(&trial.looked);
    return there;
}

quern_status qn_compiler_choose(const char *path)
{
    if (path && !is_there(path)) {
        return qn_fail(QUERN_ERROR_NVRTC_NOT_FOUND,
                       "there is no %s at \"%s\": name the file %s.so.13 or .12, or the folder "
                       "that it is in",
                       compiler.name, path, compiler.name);
    }
    char *copy = path ? qn_strdup(path) : NULL;
    if (path && !copy) {
        return qn_fail_memory("choosing a compiler");
    }
    lock_all();
    qn_free(compiler.asked);
    compiler.asked = copy;
    begin_all_anew();
    unlock_all();
    return QUERN_OK;
}

void qn_compiler_suit(int driver)
{
    lock_all();
    if (compiler.newest != driver / 1000) {
        compiler.newest = linker.newest = driver / 1000;
        begin_all_anew();
    }
    unlock_all();
}
