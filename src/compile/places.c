/* SPDX-License-Identifier: MIT
 *
 * Where things of CUDA may be installed. In: lines of a table, each a variable of the environment
 * and a pattern below it. Out: the folders that they mean on this machine, in order, until one will
 * do, each with a flag that says whether it may be used without being named (trust.c).
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
    bool unasked; /* nobody who runs the program named this place */
} visit;

bool qn_is_folder(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

/* Visit one folder. A relative path is refused: it would mean another folder in another working
 * folder. */
static bool visit_folder(const visit *v, const char *folder)
{
    return folder[0] == '/' && qn_is_folder(folder) &&
           v->visitor(v->context, folder, !v->unasked || qn_folder_is_trusted(folder));
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

/* Visit each folder of a list such as LD_LIBRARY_PATH. */
static bool visit_list(const visit *v, const char *list)
{
    static const char origin[] = "$ORIGIN";
    const size_t origin_length = sizeof origin - 1;
    while (*list) {
        size_t length = strcspn(list, ":;");
        bool own = v->unasked && length >= origin_length && !memcmp(list, origin, origin_length);
        size_t skipped = own ? origin_length : 0;
        char folder[PATH_MAX];
        int made = snprintf(folder, sizeof folder, "%s%.*s", own ? qn_library_own_folder() : "",
                            (int)QN_MIN(length - skipped, (size_t)PATH_MAX), list + skipped);
        if (made > 0 && (size_t)made < sizeof folder && visit_folder(v, folder)) {
            return true;
        }
        list += length + (list[length] != '\0');
    }
    return false;
}

/* What a place begins with; NULL: it is not on this machine. */
static const char *base_of(const char *variable, bool *unasked)
{
    *unasked = true;
    if (!variable) {
        *unasked = false; /* the system's */
        return "";
    }
    if (strcmp(variable, QN_BESIDE) == 0) {
        return qn_library_own_folder();
    }
    if (strcmp(variable, QN_FETCHED) == 0) {
        return QN_FETCHED_FOLDER;
    }
    if (strcmp(variable, QN_RUNPATH) == 0) {
        return qn_library_own_runpath();
    }
    *unasked = false;
    return getenv(variable);
}

static bool visit_place(visit *v, const qn_cuda_place *place)
{
    const char *base = base_of(place->variable, &v->unasked);
    if (!base || (place->variable && !base[0])) {
        return false;
    }
    if (!place->below) {
        return visit_list(v, base);
    }
    char pattern[PATH_MAX];
    int length = snprintf(pattern, sizeof pattern, "%s%s", base, place->below);
    return length > 0 && (size_t)length < sizeof pattern && visit_pattern(v, pattern);
}

bool qn_places_visit(const qn_cuda_place *places, size_t count, qn_folder_visitor visitor,
                     void *context)
{
    visit v = {visitor, context, false};
    for (size_t k = 0; k < count; k++) {
        if (visit_place(&v, &places[k])) {
            return true;
        }
    }
    return false;
}
