/* SPDX-License-Identifier: MIT
 *
 * Where NVRTC and nvJitLink are. In: the environment and the usual places. Out: one file and its
 * build id for each; nothing is loaded.
 *
 * The places are tried in the order of compile.h, and the first folder that has a usable version
 * wins.
 */
#include "compile/nvrtc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    {NULL, "/usr/local/cuda/lib64"},
    {NULL, "/usr/local/cuda-*/lib64"},
    {NULL, "/usr/lib/x86_64-linux-gnu"},
    {NULL, "/usr/lib/aarch64-linux-gnu"},
    {NULL, "/usr/lib64"},
};

/* One library. */
typedef struct search {
    const char *name;     /* "libnvrtc" */
    const char *variable; /* the environment variable that says where it is */
    qn_compiler_identity found;
    qn_text looked;
} search;

/* `folder`/libNAME.so`suffix`, if it is there. */
static bool try_file(search *s, const char *folder, const char *suffix)
{
    char path[sizeof s->found.path];
    int length = snprintf(path, sizeof path, "%s/%s.so%s", folder, s->name, suffix);
    if (length < 0 || (size_t)length >= sizeof path || !qn_file_exists(path)) {
        return false;
    }
    memcpy(s->found.path, path, (size_t)length + 1);
    return true;
}

/* Any version in the folder: the newest that the library knows, else the development link, whose
 * version may be an old one with another naming. */
static bool try_versions(search *s, const char *folder)
{
    for (int major = NEWEST_MAJOR; major >= QN_OLDEST_MAJOR; major--) {
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

/* Try what the variable names: a file, or a folder that has it; nothing else is tried. */
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
    return try_folder(s, compiler.path, true);
}

static void find(search *s, bool beside_compiler)
{
    const char *asked = getenv(s->variable);
    bool found;
    if (asked && asked[0]) {
        found = try_asked(s, asked);
    } else {
        found = (beside_compiler && try_beside_compiler(s)) ||
                qn_places_visit(places, QN_COUNT(places), try_folder, s);
    }
    if (found) {
        qn_build_id_read(s->found.build_id, sizeof s->found.build_id, s->found.path);
        qn_text_free(&s->looked);
    }
}

/* ---- once per process ----------------------------------------------------------------------- */

static search compiler = {.name = "libnvrtc", .variable = "QUERN_NVRTC"};
static search linker = {.name = "libnvJitLink", .variable = "QUERN_NVJITLINK"};
static pthread_once_t compiler_once = PTHREAD_ONCE_INIT, linker_once = PTHREAD_ONCE_INIT;

static void find_compiler(void)
{
    find(&compiler, false);
}

static void find_linker(void)
{
    find(&linker, true);
}

__attribute__((destructor)) static void forget(void)
{
    qn_text_free(&compiler.looked);
    qn_text_free(&linker.looked);
}

static bool give(const search *s, qn_compiler_identity *out, char **looked)
{
    *out = s->found;
    if (looked) {
        *looked = qn_strdup(s->looked.data ? s->looked.data : "");
    }
    return out->path[0] != '\0';
}

bool qn_compiler_find(qn_compiler_identity *out, char **looked)
{
    pthread_once(&compiler_once, find_compiler);
    return give(&compiler, out, looked);
}

bool qn_linker_find(qn_compiler_identity *out, char **looked)
{
    pthread_once(&linker_once, find_linker);
    return give(&linker, out, looked);
}
