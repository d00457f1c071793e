/* SPDX-License-Identifier: MIT
 *
 * NVRTC, loaded once a process and only when something must be compiled. In: the file that find.c
 * found. Out: its functions, version and targets, or a reason with advice.
 *
 * NVRTC loads its second library, libnvrtc-builtins, by its bare name, which fails when both lie in
 * a folder that the loader does not know. So it is loaded here first, by its full path; the loader
 * then knows it by its name.
 */
#include "compile/nvrtc.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OLDEST_MAJOR 12

static const qn_symbol symbols[] = {
#define SYMBOL(name, result, parameters) {"nvrtc" #name, offsetof(qn_nvrtc, name)},
    QN_NVRTC_FUNCTIONS(SYMBOL)
#undef SYMBOL
};

static const qn_loadable loadable = {
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
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static qn_nvrtc nvrtc; /* guarded by lock until `ready`, constant after */
static atomic_bool ready;

static quern_status read_version(qn_nvrtc *out, qn_library *library)
{
    if (out->Version(&out->major, &out->minor) != NVRTC_OK) {
        return qn_fail(QUERN_ERROR_NVRTC, "%s does not tell its version", qn_library_path(library));
    }
    if (out->major < OLDEST_MAJOR) {
        return qn_fail(QUERN_ERROR_NVRTC,
                       "%s is NVRTC %d.%d, which is too old; 12.0 or later is needed",
                       qn_library_path(library), out->major, out->minor);
    }
    return QUERN_OK;
}

static quern_status read_archs(qn_nvrtc *out, qn_library *library)
{
    int count = 0;
    if (out->GetNumSupportedArchs(&count) != NVRTC_OK || count < 1) {
        return qn_fail(QUERN_ERROR_NVRTC, "%s does not tell its targets", qn_library_path(library));
    }
    out->archs = qn_calloc((size_t)count, sizeof *out->archs);
    if (!out->archs) {
        return qn_fail_memory("loading NVRTC");
    }
    out->arch_count = count;
    out->GetSupportedArchs(out->archs);
    return QUERN_OK;
}

/* A copy of libnvrtc-builtins that is not found is not an error here: NVRTC may know better. */
static void load_builtins(const qn_nvrtc *loaded, const char *path)
{
    const char *slash = strrchr(path, '/');
    qn_text builtins = {0};
    qn_text_printf(&builtins, "%.*s/libnvrtc-builtins.so.%d.%d", slash ? (int)(slash - path) : 1,
                   slash ? path : ".", loaded->major, loaded->minor);
    if (builtins.data && qn_file_exists(builtins.data)) {
        dlopen(builtins.data, RTLD_NOW | RTLD_GLOBAL); /* for the rest of the process, as NVRTC */
    }
    qn_text_free(&builtins);
}

static quern_status load(qn_nvrtc *out)
{
    qn_library *library;
    QN_TRY(qn_load(&loadable, &library, out));
    quern_status status = read_version(out, library);
    if (status == QUERN_OK) {
        status = read_archs(out, library);
    }
    if (status != QUERN_OK) {
        qn_library_close(library);
        return status;
    }
    out->library = library;
    load_builtins(out, qn_library_path(library));
    return QUERN_OK;
}

quern_status qn_nvrtc_get(const qn_nvrtc **out)
{
    *out = NULL;
    quern_status status = QUERN_OK;
    if (!atomic_load_explicit(&ready, memory_order_acquire)) {
        pthread_mutex_lock(&lock);
        if (!atomic_load_explicit(&ready, memory_order_relaxed)) {
            qn_nvrtc loaded = {0};
            status = load(&loaded);
            if (status == QUERN_OK) {
                nvrtc = loaded;
                atomic_store_explicit(&ready, true, memory_order_release);
            }
        }
        pthread_mutex_unlock(&lock);
    }
    if (status == QUERN_OK) {
        *out = &nvrtc;
    }
    return status;
}

quern_status qn_compiler_load(void)
{
    const qn_nvrtc *loaded;
    return qn_nvrtc_get(&loaded);
}

void qn_compiler_version(int *major, int *minor)
{
    bool known = atomic_load_explicit(&ready, memory_order_acquire);
    *major = known ? nvrtc.major : 0;
    *minor = known ? nvrtc.minor : 0;
}

quern_status qn_compiler_supports(int arch, bool *native, int *newest)
{
    *native = false;
    *newest = 0;
    const qn_nvrtc *loaded;
    QN_TRY(qn_nvrtc_get(&loaded));
    for (int k = 0; k < loaded->arch_count; k++) {
        *native |= loaded->archs[k] == arch;
        *newest = QN_MAX(*newest, loaded->archs[k]);
    }
    return QUERN_OK;
}
