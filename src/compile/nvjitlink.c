/* SPDX-License-Identifier: MIT
 *
 * nvJitLink as a set of functions. In: the file that qn_linker_find() found. Out: its functions,
 * once per process. The thing to know: it must be of the same CUDA as NVRTC, because LTO-IR of one
 * major version means nothing to another.
 */
#include "compile/nvjitlink.h"

static const qn_library_function symbols[] = {
#define SYMBOL(name, parameters) {"nvJitLink" #name, offsetof(qn_nvjitlink, name)},
    QN_NVJITLINK_FUNCTIONS(SYMBOL)
#undef SYMBOL
};

static qn_nvjitlink linker; /* filled by qn_load() */

/* Images may be linked where there is no NVRTC; then any version will do. */
static quern_status check_compiler(const char *path)
{
    qn_compiler_identity compiler;
    if (!qn_compiler_find(&compiler, NULL)) {
        return QUERN_OK;
    }
    int major, minor;
    QN_TRY(qn_compiler_load());
    qn_compiler_version(&major, &minor);
    if ((unsigned)major == linker.major) {
        return QUERN_OK;
    }
    return qn_fail(QUERN_ERROR_LINK,
                   "%s is nvJitLink %u.%u, which does not go with NVRTC %d.%d (%s): both must have "
                   "the same major version; set QUERN_NVJITLINK or QUERN_NVRTC",
                   path, linker.major, linker.minor, major, minor, compiler.path);
}

static quern_status check(qn_library *library)
{
    const char *path = qn_library_path(library);
    return linker.Version(&linker.major, &linker.minor) == NVJITLINK_OK
               ? check_compiler(path)
               : qn_fail(QUERN_ERROR_LINK, "%s does not report its version", path);
}

static qn_loadable loadable = {
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
    .functions = &linker,
    .check = check,
    .lock = PTHREAD_MUTEX_INITIALIZER,
};

quern_status qn_nvjitlink_get(const qn_nvjitlink **out)
{
    *out = NULL;
    QN_TRY(qn_load(&loadable));
    *out = &linker;
    return QUERN_OK;
}

void qn_linker_version(int *major, int *minor)
{
    bool known = qn_is_loaded(&loadable);
    *major = known ? (int)linker.major : 0;
    *minor = known ? (int)linker.minor : 0;
}
