/* SPDX-License-Identifier: MIT
 *
 * Loading one of CUDA's libraries, once per process. In: what is known of it. Out: its functions,
 * or a failure that says which places were searched, or why the file found cannot be used, and what
 * to do.
 */
#include "compile/nvrtc.h"

#include <stdlib.h>
#include <string.h>

void qn_tell_looked(const char *looked)
{
    if (!looked || !looked[0]) {
        return;
    }
    qn_text log = {0};
    qn_text_printf(&log, "looked in:\n%s", looked);
    qn_error_log((qn_str){log.data, log.length});
    qn_text_free(&log);
}

static quern_status fail_not_found(const qn_loadable *l)
{
    const char *asked = getenv(l->variable);
    if (asked && asked[0]) {
        return qn_fail(l->not_found,
                       "%s is \"%s\", but there is no %s there; name the file %s.so.13 or .12, or "
                       "the folder that it is in, or unset the variable",
                       l->variable, asked, l->file, l->file);
    }
    qn_fail(l->not_found,
            "%s, the %s of CUDA, was not found: install the CUDA Toolkit 12 or 13, or the Python "
            "package %s, and if it is in an unusual place, set %s to the folder with %s.so",
            l->name, l->purpose, l->package, l->variable, l->file);
    qn_compiler_identity none;
    char *looked = NULL;
    l->find(&none, &looked);
    qn_tell_looked(looked);
    qn_free(looked);
    return l->not_found;
}

static quern_status find_symbols(const qn_loadable *l, qn_library *library)
{
    for (size_t k = 0; k < l->symbol_count; k++) {
        const qn_library_function *s = &l->symbols[k];
        void *symbol = qn_library_symbol(library, s->name);
        if (!symbol && k == 0) {
            return qn_fail(l->unusable, "%s is not %s: it has no function %s",
                           qn_library_path(library), l->name, s->name);
        }
        if (!symbol) {
            return qn_fail(l->unusable,
                           "%s is too old: it has no function %s; %s %s or later is needed",
                           qn_library_path(library), s->name, l->name, l->oldest);
        }
        memcpy((char *)l->functions + s->offset, &symbol, sizeof symbol);
    }
    return QUERN_OK;
}

static quern_status load(qn_loadable *l)
{
    qn_compiler_identity found;
    if (!l->find(&found, NULL)) {
        return fail_not_found(l);
    }
    qn_library *library;
    char *why;
    if (!qn_library_open(&library, (const char *const[]){found.path, NULL}, &why)) {
        quern_status status = why ? qn_fail(l->unusable, "cannot load %s: %s", l->name, why)
                                  : qn_fail_memory("loading a library");
        qn_free(why);
        return status;
    }
    quern_status status = find_symbols(l, library);
    if (status == QUERN_OK) {
        status = l->check(library);
    }
    if (status != QUERN_OK) {
        qn_library_close(library);
        return status;
    }
    l->library = library;
    qn_compiling_wait_at_exit();
    return QUERN_OK;
}

bool qn_is_loaded(const qn_loadable *l)
{
    return atomic_load_explicit(&l->ready, memory_order_acquire);
}

quern_status qn_load(qn_loadable *l)
{
    if (qn_is_loaded(l)) {
        return QUERN_OK;
    }
    quern_status status = QUERN_OK;
    pthread_mutex_lock(&l->lock);
    if (!qn_is_loaded(l)) {
        status = load(l);
        atomic_store_explicit(&l->ready, status == QUERN_OK, memory_order_release);
    }
    pthread_mutex_unlock(&l->lock);
    return status;
}
