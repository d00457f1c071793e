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

static const struct {
    const char *name;
    size_t offset;
} symbols[] = {
#define SYMBOL(name, result, parameters) {"nvrtc" #name, offsetof(qn_nvrtc, name)},
    QN_NVRTC_FUNCTIONS(SYMBOL)
#undef SYMBOL
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static qn_nvrtc nvrtc; /* guarded by lock until `ready`, constant after */
static atomic_bool ready;

static quern_status fail_not_found(void)
{
    qn_compiler_identity none;
    char *looked = NULL;
    qn_compiler_find(&none, &looked);
    const char *asked = getenv("QUERN_NVRTC");
    quern_status status;
    if (asked && asked[0]) {
        status =
            qn_fail(QUERN_ERROR_NVRTC_NOT_FOUND,
                    "QUERN_NVRTC is \"%s\", but there is no libnvrtc there; name the file "
                    "libnvrtc.so.13 or .12, or the folder that it is in, or unset the variable",
                    asked);
    } else {
        status =
            qn_fail(QUERN_ERROR_NVRTC_NOT_FOUND,
                    "NVRTC, the compiler of CUDA, was not found: install the CUDA Toolkit 12 or "
                    "13, or the Python package nvidia-cuda-nvrtc, and if it is in an unusual "
                    "place, set QUERN_NVRTC to the folder with libnvrtc.so");
        if (looked && looked[0]) {
            qn_text log = {0};
            qn_text_printf(&log, "looked in:\n%s", looked);
            qn_error_log((qn_str){log.data, log.length});
            qn_text_free(&log);
        }
    }
    qn_free(looked);
    return status;
}

static quern_status find_symbols(qn_nvrtc *out, qn_library *library)
{
    for (size_t k = 0; k < QN_COUNT(symbols); k++) {
        void *symbol = qn_library_symbol(library, symbols[k].name);
        if (!symbol && k == 0) {
            return qn_fail(QUERN_ERROR_NVRTC, "%s is not NVRTC: it has no function %s",
                           qn_library_path(library), symbols[k].name);
        }
        if (!symbol) {
            int major = 0, minor = 0;
            out->Version(&major, &minor);
            return qn_fail(QUERN_ERROR_NVRTC,
                           "%s is NVRTC %d.%d, which has no function %s; 12.0 or later is needed",
                           qn_library_path(library), major, minor, symbols[k].name);
        }
        memcpy((char *)out + symbols[k].offset, &symbol, sizeof symbol);
    }
    return QUERN_OK;
}

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
    qn_compiler_identity found;
    if (!qn_compiler_find(&found, NULL)) {
        return fail_not_found();
    }
    qn_library *library;
    char *why;
    if (!qn_library_open(&library, (const char *const[]){found.path, NULL}, &why)) {
        quern_status status = why ? qn_fail(QUERN_ERROR_NVRTC, "cannot load NVRTC: %s", why)
                                  : qn_fail_memory("loading NVRTC");
        qn_free(why);
        return status;
    }
    quern_status status = find_symbols(out, library);
    if (status == QUERN_OK) {
        status = read_version(out, library);
    }
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
