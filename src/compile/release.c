/* SPDX-License-Identifier: MIT
 *
 * Which release of CUDA a library or a folder of headers is of, and whether the two fit. In: paths;
 * nothing is loaded. Out: 13.0, or that it is not known.
 *
 * A compiler does not understand the headers of every other release, and then fails deep inside
 * them. So those of its own release are searched first (cuda_headers.c), and an error says when
 * releases differ (release_advice.c).
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
