/* SPDX-License-Identifier: MIT
 *
 * Which release of CUDA a library or a folder of headers is of, and whether the two fit. In: paths;
 * nothing is loaded. Out: 13.0, or that it is not known.
 *
 * A compiler does not understand the headers of every other release, and then fails deep inside
 * them. So those of its own release are searched first, and an error says when releases differ.
 */
#include "compile/nvrtc.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "libnvrtc.so.12.8.93": 12.8; "libnvrtc.so.13": 13 alone. */
static qn_release read_suffix(const char *path)
{
    qn_release release = {0, -1};
    const char *suffix = strstr(qn_base_name(path), ".so.");
    if (suffix) {
        sscanf(suffix, ".so.%d.%d", &release.major, &release.minor);
    }
    return release;
}

/* NVRTC's second library lies beside it and has both numbers in its name. */
static qn_release read_builtins(const char *path, int major)
{
    qn_release best = {major, -1};
    char pattern[PATH_MAX];
    glob_t matches;
    int folder = (int)(qn_base_name(path) - path);
    int length = snprintf(pattern, sizeof pattern, "%.*slibnvrtc-builtins.so.*.*", folder, path);
    if (length < 0 || (size_t)length >= sizeof pattern ||
        glob(pattern, GLOB_NOSORT, NULL, &matches) != 0) {
        return best;
    }
    for (size_t k = 0; k < matches.gl_pathc; k++) {
        qn_release r = read_suffix(matches.gl_pathv[k]);
        bool newer = r.major > best.major || (r.major == best.major && r.minor > best.minor);
        if ((major == 0 || r.major == major) && newer) {
            best = r;
        }
    }
    globfree(&matches);
    return best;
}

qn_release qn_release_of_compiler(const char *path)
{
    char file[PATH_MAX];
    qn_release release = read_suffix(realpath(path, file) ? file : path);
    if (release.minor < 0) {
        int major = release.major > 0 ? release.major : read_suffix(path).major;
        release = read_builtins(path, major);
    }
    return release;
}

int qn_release_misfit(qn_release compiler, qn_release headers)
{
    if (compiler.major == 0) {
        return 0;
    }
    if (headers.major == 0) {
        return 3;
    }
    if (headers.major != compiler.major) {
        return QN_WORST_MISFIT;
    }
    bool same = headers.minor == compiler.minor || compiler.minor < 0;
    return same ? 0 : headers.minor < compiler.minor ? 1 : 2;
}

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
