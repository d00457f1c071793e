/* SPDX-License-Identifier: MIT
 *
 * nvJitLink as a set of functions. In: the file that qn_linker_find() found. Out: its functions,
 * once a process. The thing to know: it must be of the same CUDA as NVRTC, because LTO-IR of one
 * major version means nothing to another.
 */
#include "compile/nvjitlink.h"

static const qn_symbol symbols[] = {
#define SYMBOL(name, parameters) {"nvJitLink" #name, offsetof(qn_nvjitlink, name)},
    QN_NVJITLINK_FUNCTIONS(SYMBOL)
#undef SYMBOL
};

static const qn_loadable loadable = {
    .name = "nvJitLink",
    .purpose = "linker",
    .file = "libnvJitLink",
    .variable = "QUERN_NVJITLINK",
    .package = "nvidia-nvjitlink",
    .oldest = "12.3",
    .not_found = QUERN_ERROR_NVJITLINK_NOT_FOUND,
    .unusable = QUERN_ERROR_LINK,
    .find = qn_linker_find,
    .symbols = symbols,
    .symbol_count = QN_COUNT(symbols),
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static qn_nvjitlink linker; /* guarded by lock until `ready`, constant after */
static atomic_bool ready;

/* Images may be linked where there is no NVRTC; then any version will do. */
static quern_status check_version(const qn_nvjitlink *l, const char *path)
{
    qn_compiler_identity compiler;
    if (!qn_compiler_find(&compiler, NULL)) {
        return QUERN_OK;
    }
    int major, minor;
    QN_TRY(qn_compiler_load());
    qn_compiler_version(&major, &minor);
    if ((unsigned)major == l->major) {
        return QUERN_OK;
    }
    return qn_fail(QUERN_ERROR_LINK,
                   "%s is nvJitLink %u.%u, which does not go with NVRTC %d.%d (%s): both must have "
                   "the same major version; set QUERN_NVJITLINK or QUERN_NVRTC",
                   path, l->major, l->minor, major, minor, compiler.path);
}

static quern_status load(qn_nvjitlink *out)
{
    qn_library *library;
    QN_TRY(qn_load(&loadable, &library, out));
    quern_status status = QUERN_OK;
    if (out->Version(&out->major, &out->minor) != NVJITLINK_OK) {
        status =
            qn_fail(QUERN_ERROR_LINK, "%s does not tell its version", qn_library_path(library));
    }
    if (status == QUERN_OK) {
        status = check_version(out, qn_library_path(library));
    }
    if (status != QUERN_OK) {
        qn_library_close(library);
        return status;
    }
    out->library = library;
    return QUERN_OK;
}

quern_status qn_nvjitlink_get(const qn_nvjitlink **out)
{
    *out = NULL;
    quern_status status = QUERN_OK;
    if (!atomic_load_explicit(&ready, memory_order_acquire)) {
        pthread_mutex_lock(&lock);
        if (!atomic_load_explicit(&ready, memory_order_relaxed)) {
            qn_nvjitlink loaded = {0};
            status = load(&loaded);
            if (status == QUERN_OK) {
                linker = loaded;
                atomic_store_explicit(&ready, true, memory_order_release);
            }
        }
        pthread_mutex_unlock(&lock);
    }
    if (status == QUERN_OK) {
        *out = &linker;
    }
    return status;
}

void qn_linker_version(int *major, int *minor)
{
    bool known = atomic_load_explicit(&ready, memory_order_acquire);
    *major = known ? (int)linker.major : 0;
    *minor = known ? (int)linker.minor : 0;
}
