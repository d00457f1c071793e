/* SPDX-License-Identifier: MIT
 *
 * Where things of CUDA may be installed. In: lines of a table, each a variable of the environment
 * and a pattern below it. Out: the folders that they mean on this machine, in order, until one will
 * do.
 */
#include "compile/nvrtc.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct visit {
    qn_folder_visitor visitor;
    void *context;
} visit;

bool qn_is_folder(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

/* A relative place would give other things in another working folder. */
static bool visit_folder(const visit *v, const char *folder)
{
    return folder[0] == '/' && qn_is_folder(folder) && v->visitor(v->context, folder);
}

static int by_version_descending(const void *a, const void *b)
{
    return strverscmp(*(char *const *)b, *(char *const *)a);
}

static bool visit_pattern(const visit *v, const char *pattern)
{
    if (!strchr(pattern, '*')) {
        return visit_folder(v, pattern);
    }
    glob_t matches;
    if (glob(pattern, GLOB_NOSORT, NULL, &matches) != 0) {
        return false;
    }
    qsort(matches.gl_pathv, matches.gl_pathc, sizeof *matches.gl_pathv, by_version_descending);
    bool done = false;
    for (size_t k = 0; k < matches.gl_pathc && !done; k++) {
        done = visit_folder(v, matches.gl_pathv[k]);
    }
    globfree(&matches);
    return done;
}

/* Each folder of a list such as LD_LIBRARY_PATH. */
static bool visit_list(const visit *v, const char *list)
{
    while (*list) {
        size_t length = strcspn(list, ":;");
        char folder[PATH_MAX];
        if (length < sizeof folder) {
            memcpy(folder, list, length);
            folder[length] = '\0';
            if (visit_folder(v, folder)) {
                return true;
            }
        }
        list += length + (list[length] != '\0');
    }
    return false;
}

static bool visit_place(const visit *v, const qn_place *place)
{
    const char *base = "";
    if (place->variable) {
        base = place->variable[0] ? getenv(place->variable) : qn_library_own_folder();
        if (!base || !base[0]) {
            return false;
        }
    }
    if (!place->below) {
        return visit_list(v, base);
    }
    char pattern[PATH_MAX];
    int length = snprintf(pattern, sizeof pattern, "%s%s", base, place->below);
    return length > 0 && (size_t)length < sizeof pattern && visit_pattern(v, pattern);
}

bool qn_places_visit(const qn_place *places, size_t count, qn_folder_visitor visitor, void *context)
{
    const visit v = {visitor, context};
    for (size_t k = 0; k < count; k++) {
        if (visit_place(&v, &places[k])) {
            return true;
        }
    }
    return false;
}
