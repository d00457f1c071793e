/* SPDX-License-Identifier: MIT
 *
 * NVRTC, loaded once per process and only when something must be compiled. In: the file that find.c
 * found. Out: its functions, version and targets, or a reason with advice.
 *
 * NVRTC loads its second library, libnvrtc-builtins, by its bare name, which fails when both lie in
 * a folder that the loader does not know. So it is loaded here first, by its full path; the loader
 * then knows it by its name.
 */
#include "compile/nvrtc.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const qn_library_function symbols[] = {
#define SYMBOL(name, result, parameters) {"nvrtc" #name, offsetof(qn_nvrtc, name)},
    QN_NVRTC_FUNCTIONS(SYMBOL)
#undef SYMBOL
};

static qn_nvrtc nvrtc; /* filled by qn_load() */

static quern_status read_version(const char *path)
{
    if (nvrtc.Version(&nvrtc.major, &nvrtc.minor) != NVRTC_OK) {
        return qn_fail(QUERN_ERROR_NVRTC, "%s does not report its version", path);
    }
    if (nvrtc.major < QN_OLDEST_MAJOR) {
        return qn_fail(QUERN_ERROR_NVRTC,
                       "%s is NVRTC %d.%d, which is too old; 12.0 or later is needed", path,
                       nvrtc.major, nvrtc.minor);
    }
    return QUERN_OK;
}

static quern_status read_archs(const char *path)
{
    int count = 0;
    if (nvrtc.GetNumSupportedArchs(&count) != NVRTC_OK || count < 1) {
        return qn_fail(QUERN_ERROR_NVRTC, "%s does not report its targets", path);
    }
    nvrtc.archs = qn_calloc((size_t)count, sizeof *nvrtc.archs);
    if (!nvrtc.archs) {
        return qn_fail_memory("loading NVRTC");
    }
    nvrtc.arch_count = count;
    nvrtc.GetSupportedArchs(nvrtc.archs);
    return QUERN_OK;
}

/* A copy of libnvrtc-builtins that is not found is not an error here: NVRTC may know better. */
static void load_builtins(const char *path)
{
    const char *slash = strrchr(path, '/');
    qn_text builtins = {0};
    qn_text_printf(&builtins, "%.*s/libnvrtc-builtins.so.%d.%d", slash ? (int)(slash - path) : 1,
                   slash ? path : ".", nvrtc.major, nvrtc.minor);
    if (builtins.data && qn_file_exists(builtins.data)) {
        dlopen(builtins.data, RTLD_NOW | RTLD_GLOBAL); /* for the rest of the process, as NVRTC */
    }
    qn_text_free(&builtins);
}

/* Functions that not every version has. */
static void find_newer(qn_library *library)
{
    void *found = qn_library_symbol(library, "nvrtcGetPCHCreateStatus");
    memcpy(&nvrtc.GetPCHCreateStatus, &found, sizeof found);
}

static quern_status check(qn_library *library)
{
    const char *path = qn_library_path(library);
    find_newer(library);
    QN_TRY(read_version(path));
    QN_TRY(read_archs(path));
    load_builtins(path);
    return QUERN_OK;
}

static qn_loadable loadable = {
    .name = "NVRTC",
    .purpose = "compiler",
    .file = "libnvrtc",
    .variable = "QUERN_NVRTC",
    .package = "nvidia-cuda-nvrtc",
    .oldest = "12.0",
    .not_found = QUERN_ERROR_NVRTC_NOT_FOUND,
    .unusable = QUERN_ERROR_NVRTC,
    .find = qn_compiler_find,
    .symbols = symbols,
    .symbol_count = QN_COUNT(symbols),
    .functions = &nvrtc,
    .check = check,
    .lock = PTHREAD_MUTEX_INITIALIZER,
};

quern_status qn_nvrtc_get(const qn_nvrtc **out)
{
    *out = NULL;
    QN_TRY(qn_load(&loadable));
    *out = &nvrtc;
    return QUERN_OK;
}

/* Is the one that is loaded what `path` means? */
static quern_status stay_with_loaded(const char *path)
{
    const char *loaded = qn_library_path(loadable.library);
    char file[PATH_MAX], asked[PATH_MAX];
    if (!path || (realpath(loaded, file) && realpath(path, asked) &&
                  (strcmp(file, asked) == 0 || strncmp(file, asked, strlen(asked)) == 0))) {
        return QUERN_OK;
    }
    return qn_fail(QUERN_ERROR_NVRTC,
                   "NVRTC was loaded already, from %s: choose another before the first "
                   "compilation",
                   loaded);
}

quern_status qn_compiler_use(const char *path)
{
    pthread_mutex_lock(&loadable.lock);
    quern_status status =
        qn_is_loaded(&loadable) ? stay_with_loaded(path) : qn_compiler_choose(path);
    pthread_mutex_unlock(&loadable.lock);
    return status;
}

void qn_compiler_suit_driver(int version)
{
    pthread_mutex_lock(&loadable.lock);
    if (version > 0 && !qn_is_loaded(&loadable)) {
        qn_compiler_suit(version);
    }
    pthread_mutex_unlock(&loadable.lock);
}

quern_status qn_compiler_load(void)
{
    return qn_load(&loadable);
}

void qn_compiler_version(int *major, int *minor)
{
    bool known = qn_is_loaded(&loadable);
    *major = known ? nvrtc.major : 0;
    *minor = known ? nvrtc.minor : 0;
}

quern_status qn_compiler_supports(int arch, bool *native, int *newest)
{
    *native = false;
    *newest = 0;
    QN_TRY(qn_load(&loadable));
    for (int k = 0; k < nvrtc.arch_count; k++) {
        *native |= nvrtc.archs[k] == arch;
        *newest = QN_MAX(*newest, nvrtc.archs[k]);
    }
    return QUERN_OK;
}
