/* SPDX-License-Identifier: MIT
 *
 * Shared libraries that are loaded at run time, and where this one is. In: names to try. Out: the
 * first that loads, with the file it came from. When none loads, that is an answer and not an
 * error: the caller knows what it means and what to advise.
 */
#include "base/base.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct qn_library {
    void *handle;
    char path[PATH_MAX];
    qn_library *older; /* of those that stay loaded */
};

/* The file that was loaded: what the loader calls it, else the name that was given. */
static void note_path(qn_library *library, const char *name)
{
    struct link_map *map = NULL;
    bool told = dlinfo(library->handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name;
    snprintf(library->path, sizeof library->path, "%s",
             told && map->l_name[0] ? map->l_name : name);
}

/* Was the program linked with -static? Then it names no library that it needs, and a library that
 * it loads brings a second C library along, in which the first call crashes. The file that this
 * code is in is asked, by its program headers: tools that change a file's needs (patchelf) move its
 * dynamic section away from where the linker's symbol _DYNAMIC says. */
static bool names_a_library(const struct dl_phdr_info *file)
{
    for (int k = 0; k < file->dlpi_phnum; k++) {
        if (file->dlpi_phdr[k].p_type != PT_DYNAMIC) {
            continue;
        }
        const ElfW(Dyn) *entry = (const ElfW(Dyn) *)(file->dlpi_addr + file->dlpi_phdr[k].p_vaddr);
        for (; entry->d_tag != DT_NULL; entry++) {
            if (entry->d_tag == DT_NEEDED) {
                return true;
            }
        }
    }
    return false;
}

static int look_at_own_file(struct dl_phdr_info *file, size_t size, void *is_static)
{
    (void)size;
    const uintptr_t here = (uintptr_t)names_a_library;
    for (int k = 0; k < file->dlpi_phnum; k++) {
        const ElfW(Phdr) *segment = &file->dlpi_phdr[k];
        uintptr_t begin = file->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && here - begin < segment->p_memsz) {
            *(bool *)is_static = !names_a_library(file);
            return 1;
        }
    }
    return 0;
}

static bool is_wholly_static(void)
{
    bool is_static = false;
    dl_iterate_phdr(look_at_own_file, &is_static);
    return is_static;
}

bool qn_library_open(qn_library **out, const char *const *names, char **why)
{
    *out = NULL;
    *why = NULL;
    if (is_wholly_static()) {
        *why = qn_strdup("this program is linked with -static, so it cannot load libraries: link "
                         "libquern.a into it, but the C library as a shared library");
        return false;
    }
    /* Allocated first, so that no library has to be unloaded again for want of memory. */
    qn_library *library = qn_calloc(1, sizeof *library);
    if (!library) {
        return false;
    }
    qn_text said = {0};
    for (; *names; names++) {
        library->handle = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
        if (library->handle) {
            note_path(library, *names);
            qn_text_free(&said);
            *out = library;
            return true;
        }
        const char *reason = dlerror();
        qn_text_printf(&said, "%s%s", said.length ? "; " : "", reason ? reason : *names);
    }
    qn_free(library);
    *why = qn_text_take(&said);
    return false;
}

void *qn_library_symbol(qn_library *library, const char *name)
{
    return dlsym(library->handle, name);
}

const char *qn_library_path(const qn_library *library)
{
    return library->path;
}

void qn_library_close(qn_library *library)
{
    if (library) {
        dlclose(library->handle);
        qn_free(library);
    }
}

/* So that what stays loaded is not taken for lost, whatever a caller does with it. */
static void keep(qn_library *library)
{
    static _Atomic(qn_library *) newest;
    library->older = atomic_load(&newest);
    while (!atomic_compare_exchange_weak(&newest, &library->older, library)) {
    }
}

qn_library *qn_library_functions(void *table, const char *const *names,
                                 const qn_library_function *functions, size_t count, char *why,
                                 size_t room)
{
    qn_library *library;
    char *said;
    if (!qn_library_open(&library, names, &said)) {
        snprintf(why, room, "%s", said ? said : "out of memory");
        qn_free(said);
        return NULL;
    }
    for (size_t k = 0; k < count; k++) {
        void *symbol = qn_library_symbol(library, functions[k].name);
        if (!symbol) {
            snprintf(why, room, "%s has no %s", library->path, functions[k].name);
            qn_library_close(library);
            return NULL;
        }
        memcpy((char *)table + functions[k].offset, &symbol, sizeof symbol);
    }
    keep(library);
    return library;
}

/* ---- where libquern is ---------------------------------------------------------------------- */

static char own_file[PATH_MAX], own_folder[PATH_MAX];
static const char *own_runpath = "";
static pthread_once_t own_once = PTHREAD_ONCE_INIT;

/* The list of folders that was linked into the file. */
static const char *runpath_of(const struct link_map *map)
{
    const char *strings = NULL;
    const ElfW(Dyn) *path = NULL;
    for (const ElfW(Dyn) *d = map->l_ld; d && d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_STRTAB) { /* some loaders have added the load address */
            bool offset = d->d_un.d_ptr < map->l_addr;
            strings = (const char *)(d->d_un.d_ptr + (offset ? map->l_addr : 0));
        } else if (d->d_tag == DT_RUNPATH || (d->d_tag == DT_RPATH && !path)) {
            path = d;
        }
    }
    return strings && path ? strings + path->d_un.d_val : "";
}

static void find_own(void)
{
    Dl_info info;
    struct link_map *map = NULL;
    if (!dladdr1(own_file, &info, (void **)&map, RTLD_DL_LINKMAP) || !map) {
        return;
    }
    own_runpath = runpath_of(map);
    /* the program itself has no name in the link map, and argv[0] need not be a path */
    const char *file = map->l_name[0] ? info.dli_fname : "/proc/self/exe";
    char path[PATH_MAX];
    if (!realpath(file, path)) {
        return;
    }
    size_t length = (size_t)(strrchr(path, '/') - path);
    memcpy(own_file, path, strlen(path) + 1);
    memcpy(own_folder, path, length);
}

const char *qn_library_own_file(void)
{
    pthread_once(&own_once, find_own);
    return own_file;
}

const char *qn_library_own_folder(void)
{
    pthread_once(&own_once, find_own);
    return own_folder;
}

const char *qn_library_own_runpath(void)
{
    pthread_once(&own_once, find_own);
    return own_runpath;
}
