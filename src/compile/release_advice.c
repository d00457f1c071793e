/* SPDX-License-Identifier: MIT
 *
 * Headers of another release of CUDA than the compiler's, which may be why a compilation failed.
 * In: the compilation and its log. Out: a sentence after the recorded error, with both releases and
 * what to set.
 */
#include "compile/nvrtc.h"

#include <string.h>

/* The release of a folder that a compilation searched: the one noted for it, else the one that its
 * headers state. */
static qn_release release_searched(const char *folder)
{
    const qn_cuda_folder *list;
    size_t count = qn_cuda_folders(&list);
    for (size_t k = 0; k < count; k++) {
        if (strcmp(list[k].path, folder) == 0) {
            return list[k].release;
        }
    }
    return qn_cuda_release_of(folder);
}

/* Do the headers of this folder explain a failure with this log? Those of another major release may
 * always, those of another minor one when the compiler stumbled in them. */
static bool is_suspect(qn_release compiler, qn_release headers, const char *folder, const char *log)
{
    int misfit = qn_release_misfit(compiler, headers);
    return misfit == QN_WORST_MISFIT || ((misfit == 1 || misfit == 2) && strstr(log, folder));
}

static bool explain(const char *folder, qn_release compiler, const char *log)
{
    qn_release headers = release_searched(folder);
    if (!is_suspect(compiler, headers, folder, log)) {
        return false;
    }
    qn_error_suffix(
        "; NVRTC %d.%d read headers of CUDA %d.%d in %s, which may be why: use those of "
        "CUDA %d.%d (CUDA_HOME, or -I, names their folder)",
        compiler.major, compiler.minor, headers.major, headers.minor, folder, compiler.major,
        compiler.minor);
    if (headers.major >= QN_OLDEST_MAJOR) {
        qn_error_suffix(" or NVRTC %d.%d (QUERN_NVRTC names it)", headers.major, headers.minor);
    }
    return true;
}

void qn_explain_releases(const qn_compile_request *request, qn_release compiler, const char *log)
{
    bool told = false;
    for (size_t k = 0; !told && k < request->option_count; k++) {
        const char *path;
        told = qn_option_path(request->options, request->option_count, &k, &path) ==
                   QN_INCLUDE_FOLDER &&
               path[0] && explain(path, compiler, log);
    }
    size_t folders = request->includes ? request->includes->folder_count : 0;
    for (size_t k = 0; !told && k < folders; k++) {
        told = explain(request->includes->folders[k], compiler, log);
    }
}
