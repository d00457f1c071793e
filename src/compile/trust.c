/* SPDX-License-Identifier: MIT
 *
 * May what lies in a folder be loaded, when nobody who runs the program has named that folder? In:
 * a place that was compiled or linked into the library, or that lies beside it. Out: yes, when only
 * someone who could change the program itself can have put anything there.
 *
 * A path that is compiled in goes with the program to other machines, and a program may be in a
 * folder that all may write to, such as /tmp: what is at that path there may be anyone's.
 */
#include "compile/nvrtc.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Does `file` lie below `folder`? Both are without links. */
static bool is_above(const char *folder, const char *file)
{
    size_t length = strlen(folder);
    return strncmp(folder, file, length) == 0 && (file[length] == '/' || length <= 1);
}

/* Does this folder belong to root, the user or the program's owner, and is it closed to everyone
 * who may not write to the program? `above`: it is only a parent, where a sticky bit is enough, as
 * that keeps others from moving what they do not own. */
static bool is_safe(const char *folder, const struct stat *own, bool above)
{
    struct stat facts;
    if (stat(folder, &facts) != 0 ||
        (facts.st_uid != 0 && facts.st_uid != geteuid() && facts.st_uid != own->st_uid)) {
        return false;
    }
    if (above && (facts.st_mode & S_ISVTX)) {
        return true;
    }
    bool same_group = (own->st_mode & S_IWGRP) && facts.st_gid == own->st_gid;
    bool group = facts.st_gid == 0 || facts.st_gid == getegid() || same_group;
    return (!(facts.st_mode & S_IWOTH) || (own->st_mode & S_IWOTH)) &&
           (!(facts.st_mode & S_IWGRP) || group);
}

static bool is_sticky(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && (facts.st_mode & S_ISVTX);
}

bool qn_folder_is_trusted(const char *folder)
{
    char path[PATH_MAX];
    const char *file = qn_library_own_file();
    struct stat own = {.st_uid = geteuid()};
    if (!realpath(folder, path) || (file[0] && stat(file, &own) != 0)) {
        return false;
    }
    /* Check the parents, up to the first that holds the program as well: whoever can change things
     * there can change the program. When `folder` itself is that one, it is still checked if it is
     * sticky, as /tmp is: anyone may add to it, although not change what others have there. */
    for (bool above = false; !is_above(path, file) || (!above && is_sticky(path)); above = true) {
        if (!is_safe(path, &own, above)) {
            return false;
        }
        char *slash = strrchr(path, '/');
        if (slash == path && path[1] == '\0') {
            return true;
        }
        slash[slash == path] = '\0';
    }
    return true;
}
