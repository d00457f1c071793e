/* SPDX-License-Identifier: MIT
 *
 * Where NVRTC is. In: the environment and the usual places. Out: one file and its build id; nothing
 * is loaded.
 *
 * The places are tried in the order of compile.h, and the first folder that has a usable version
 * wins. A place is a line of a table: a variable of the environment, and a pattern below it.
 */
#include "compile/nvrtc.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NEWEST_MAJOR 30 /* of the names looked for: far ahead of the present 13 */
#define OLDEST_MAJOR 12

/* `variable` NULL: `below` is a whole path. Patterns that match several folders are tried from the
 * highest version down. */
static const struct place {
    const char *variable, *below;
} places[] = {
    {"", "/../cuda/lib"}, /* beside libquern: what ./dev fetches */
    {"CUDA_HOME", "/lib64"},
    {"CUDA_HOME", "/lib"},
    {"CUDA_PATH", "/lib64"},
    {"CUDA_PATH", "/lib"},
    {"LD_LIBRARY_PATH", NULL}, /* a list */
    {"VIRTUAL_ENV", "/lib/python3*/site-packages/nvidia/cu[0-9]*/lib"},
    {"VIRTUAL_ENV", "/lib/python3*/site-packages/nvidia/cuda_nvrtc/lib"},
    {"CONDA_PREFIX", "/lib"},
    {"CONDA_PREFIX", "/lib/python3*/site-packages/nvidia/cu[0-9]*/lib"},
    {"CONDA_PREFIX", "/lib/python3*/site-packages/nvidia/cuda_nvrtc/lib"},
    {NULL, "/usr/local/cuda/lib64"},
    {NULL, "/usr/local/cuda-*/lib64"},
    {NULL, "/usr/lib/x86_64-linux-gnu"},
    {NULL, "/usr/lib/aarch64-linux-gnu"},
    {NULL, "/usr/lib64"},
};

typedef struct search {
    qn_compiler_identity found;
    qn_text looked;
} search;

static bool is_folder(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

/* `folder`/libnvrtc.so`suffix`, if it is there. */
static bool try_file(search *s, const char *folder, const char *suffix)
{
    char path[sizeof s->found.path];
    int length = snprintf(path, sizeof path, "%s/libnvrtc.so%s", folder, suffix);
    if (length < 0 || (size_t)length >= sizeof path || !qn_file_exists(path)) {
        return false;
    }
    memcpy(s->found.path, path, (size_t)length + 1);
    return true;
}

static bool try_folder(search *s, const char *folder)
{
    if (folder[0] != '/' || !is_folder(folder)) {
        return false; /* a relative place would give another compiler in another folder */
    }
    for (int major = NEWEST_MAJOR; major >= OLDEST_MAJOR; major--) {
        char suffix[16];
        snprintf(suffix, sizeof suffix, ".%d", major);
        if (try_file(s, folder, suffix)) {
            return true;
        }
    }
    /* only the development link: of a version that has another name, perhaps an old one */
    if (try_file(s, folder, "")) {
        return true;
    }
    qn_text_printf(&s->looked, "%s\n", folder);
    return false;
}

static int by_version_descending(const void *a, const void *b)
{
    return strverscmp(*(char *const *)b, *(char *const *)a);
}

static bool try_pattern(search *s, const char *pattern)
{
    if (!strchr(pattern, '*')) {
        return try_folder(s, pattern);
    }
    glob_t matches;
    if (glob(pattern, GLOB_NOSORT, NULL, &matches) != 0) {
        return false;
    }
    qsort(matches.gl_pathv, matches.gl_pathc, sizeof *matches.gl_pathv, by_version_descending);
    bool found = false;
    for (size_t k = 0; k < matches.gl_pathc && !found; k++) {
        found = try_folder(s, matches.gl_pathv[k]);
    }
    globfree(&matches);
    return found;
}

/* Each folder of a list such as LD_LIBRARY_PATH. */
static bool try_list(search *s, const char *list)
{
    while (*list) {
        size_t length = strcspn(list, ":;");
        char folder[PATH_MAX];
        if (length < sizeof folder) {
            memcpy(folder, list, length);
            folder[length] = '\0';
            if (try_folder(s, folder)) {
                return true;
            }
        }
        list += length + (list[length] != '\0');
    }
    return false;
}

static bool try_place(search *s, const struct place *place)
{
    const char *base = "";
    if (place->variable) {
        base = place->variable[0] ? getenv(place->variable) : qn_library_own_folder();
        if (!base || !base[0]) {
            return false;
        }
    }
    if (!place->below) {
        return try_list(s, base);
    }
    char pattern[PATH_MAX];
    int length = snprintf(pattern, sizeof pattern, "%s%s", base, place->below);
    return length > 0 && (size_t)length < sizeof pattern && try_pattern(s, pattern);
}

/* QUERN_NVRTC: a file, or a folder with it; nothing else is tried. */
static bool try_asked(search *s, const char *asked)
{
    if (is_folder(asked)) {
        return try_folder(s, asked);
    }
    if (!qn_file_exists(asked) || strlen(asked) >= sizeof s->found.path) {
        qn_text_printf(&s->looked, "%s\n", asked);
        return false;
    }
    strcpy(s->found.path, asked);
    return true;
}

static bool try_everything(search *s)
{
    for (size_t k = 0; k < QN_COUNT(places); k++) {
        if (try_place(s, &places[k])) {
            return true;
        }
    }
    return false;
}

/* ---- once a process ------------------------------------------------------------------------ */

static search result;
static pthread_once_t result_once = PTHREAD_ONCE_INIT;

static void find(void)
{
    const char *asked = getenv("QUERN_NVRTC");
    bool found = asked && asked[0] ? try_asked(&result, asked) : try_everything(&result);
    if (found) {
        qn_build_id_read(result.found.build_id, sizeof result.found.build_id, result.found.path);
        qn_text_free(&result.looked);
    }
}

__attribute__((destructor)) static void forget(void)
{
    qn_text_free(&result.looked);
}

bool qn_compiler_find(qn_compiler_identity *out, char **looked)
{
    pthread_once(&result_once, find);
    *out = result.found;
    if (looked) {
        *looked = qn_strdup(result.looked.data ? result.looked.data : "");
    }
    return out->path[0] != '\0';
}
