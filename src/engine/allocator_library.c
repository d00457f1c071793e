/* SPDX-License-Identifier: MIT
 *
 * Allocators that a shared library exports by name, as PyTorch's pluggable allocators and RMM do.
 * In: a file and two names. Out: a quern_allocator. The thing to know: the library is never
 * unloaded, and what is remembered of it never freed, because memory of it may be in use anywhere.
 */
#include "engine/engine_internal.h"

#include <string.h>

typedef void *(*pluggable_allocate)(size_t bytes, int device, void *stream);
typedef void (*pluggable_release)(void *pointer, size_t bytes, int device, void *stream);

/* What the allocator's context is. */
typedef struct pluggable {
    struct pluggable *next;
    qn_library *library; /* stays open */
    pluggable_allocate allocate;
    pluggable_release release;
    int device;
} pluggable;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pluggable *known; /* one for each pair of functions and device */

static void *allocate_there(void *context, size_t bytes, size_t alignment, void *stream)
{
    (void)alignment; /* checked of what comes back: this interface has no word for it */
    const pluggable *p = context;
    return p->allocate(bytes, p->device, stream);
}

static void release_there(void *context, void *pointer, size_t bytes, void *stream)
{
    const pluggable *p = context;
    p->release(pointer, bytes, p->device, stream);
}

static quern_status find_function(void *out, qn_library *library, const char *name)
{
    void *symbol = qn_library_symbol(library, name);
    if (!symbol) {
        return qn_fail(QUERN_ERROR_NAME, "%s exports no function '%s'", qn_library_path(library),
                       name);
    }
    memcpy(out, &symbol, sizeof symbol);
    return QUERN_OK;
}

static quern_status find_functions(pluggable *p, qn_library *library, const char *allocate,
                                   const char *release)
{
    QN_TRY(find_function(&p->allocate, library, allocate));
    return find_function(&p->release, library, release);
}

/* The one known of this kind, which may be new; NULL: out of memory. */
static pluggable *remember(const pluggable *wanted, qn_library **library)
{
    pthread_mutex_lock(&lock);
    pluggable *p = known;
    while (p && (p->allocate != wanted->allocate || p->release != wanted->release ||
                 p->device != wanted->device)) {
        p = p->next;
    }
    if (!p) {
        p = qn_alloc(sizeof *p);
        if (p) {
            *p = *wanted;
            p->next = known;
            p->library = *library;
            known = p;
            *library = NULL;
        }
    }
    pthread_mutex_unlock(&lock);
    return p;
}

static quern_status open_library(qn_library **library, const char *path)
{
    char *why;
    if (qn_library_open(library, (const char *const[]){path, NULL}, &why)) {
        return QUERN_OK;
    }
    quern_status status =
        why ? qn_fail(QUERN_ERROR_IO, "the allocator's library cannot be loaded: %s", why)
            : qn_fail_memory("loading a library");
    qn_free(why);
    return status;
}

quern_status quern_allocator_from_library(quern_allocator *out, const char *path,
                                          const char *allocate, const char *release, int device)
{
    qn_error_reset();
    QN_TO_GIVE(quern_allocator, own, out);
    QN_CHECK_NOT_NULL(path);
    QN_CHECK_NOT_NULL(allocate);
    QN_CHECK_NOT_NULL(release);
    qn_library *library;
    QN_TRY(open_library(&library, path));
    pluggable wanted = {.device = device};
    quern_status status = find_functions(&wanted, library, allocate, release);
    pluggable *p = status == QUERN_OK ? remember(&wanted, &library) : NULL;
    if (library) {
        qn_library_close(library);
    }
    QN_TRY(status);
    if (!p) {
        return qn_fail_memory("loading an allocator");
    }
    own.allocate = allocate_there;
    own.release = release_there;
    own.context = p;
    QN_GIVE(quern_allocator, own, out);
    return QUERN_OK;
}
