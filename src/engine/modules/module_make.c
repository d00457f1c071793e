/* SPDX-License-Identifier: MIT
 *
 * module: from a request to a loaded module. In: what to compile or to link. Out: a module, from an
 * image that is known or new. Those of kernels are the engine's, one per key, and live as long as
 * it does; a user's module is always loaded separately, from the same images. The thing to know:
 * one thread in the process makes a key; others that want it wait, then find it.
 */
#include "engine/modules/modules.h"
#include <stdio.h>
#include <string.h>

/* ---- the engine's table --------------------------------------------------------------------- */

static qn_module *find_module(quern_engine *engine, const char *asked)
{
    pthread_mutex_lock(&engine->modules_lock);
    qn_module *m = engine->modules;
    while (m && strcmp(m->asked, asked) != 0) {
        m = m->next;
    }
    pthread_mutex_unlock(&engine->modules_lock);
    return m;
}

static void add_module(quern_engine *engine, qn_module *m, const char *asked)
{
    memcpy(m->asked, asked, sizeof m->asked);
    pthread_mutex_lock(&engine->modules_lock);
    m->next = engine->modules;
    engine->modules = m;
    pthread_mutex_unlock(&engine->modules_lock);
}

void qn_modules_free(quern_engine *engine)
{
    for (qn_module *m = engine->modules, *next; m; m = next) {
        next = m->next;
        qn_module_free(engine, m);
    }
    engine->modules = NULL;
}

/* ---- images to modules ---------------------------------------------------------------------- */

void qn_module_free(quern_engine *engine, qn_module *m)
{
    if (!m) {
        return;
    }
    if (m->handle) {
        engine->home.methods->module_free(engine->home.device, m->handle);
    }
    for (size_t k = 0; k < m->lowered_count; k++) {
        qn_free(m->lowered[k]);
    }
    qn_free(m->lowered);
    qn_free(m->ptx);
    qn_free(m->warnings);
    qn_free(m);
}

/* What is kept of an image besides what the device makes of it. */
static bool keep(qn_module *m, const qn_image *image)
{
    if (image->kind == QN_IMAGE_PTX) {
        m->ptx = qn_strndup(image->data, image->size);
        if (!m->ptx) {
            return false;
        }
    }
    m->warnings = qn_strdup(image->log ? image->log : "");
    if (!m->warnings) {
        return false;
    }
    m->lowered = qn_calloc(image->lowered_count + 1, sizeof *m->lowered);
    for (size_t k = 0; m->lowered && k < image->lowered_count; k++) {
        m->lowered[k] = qn_strdup(image->lowered[k]);
        if (!m->lowered[k]) {
            return false;
        }
        m->lowered_count++;
    }
    return m->lowered != NULL;
}

quern_status qn_module_load(qn_module **out, quern_engine *engine, const qn_image *image)
{
    *out = NULL;
    qn_module *m = qn_calloc(1, sizeof *m);
    if (!m) {
        return qn_fail_memory("loading a module");
    }
    quern_status status = keep(m, image)
                              ? engine->home.methods->module_load(engine->home.device, &m->handle,
                                                                  (quern_image_kind)image->kind,
                                                                  image->data, image->size)
                              : qn_fail_memory("loading a module");
    if (status != QUERN_OK) {
        qn_module_free(engine, m);
        return status;
    }
    *out = m;
    return QUERN_OK;
}

/* ---- loading what was made ------------------------------------------------------------------ */

static quern_status load(qn_module **out, const qn_wanted *w, const qn_image *image,
                         qn_origin origin)
{
    QN_TRY(qn_module_load(out, w->engine, image));
    memcpy((*out)->hex, w->key.hex, sizeof(*out)->hex);
    (*out)->origin = origin;
    snprintf((*out)->target, sizeof(*out)->target,
             image->kind == QN_IMAGE_PTX ? "compute_%d" : "sm_%d", w->arch);
    qn_tell_image(w->engine, w->name, *out, image);
    return QUERN_OK;
}

/* An image that was made before. */
static bool load_known(void *to, const qn_wanted *w)
{
    qn_module **out = to;
    qn_image image;
    qn_origin origin;
    if (!qn_wanted_find(w, &image, &origin)) {
        return false;
    }
    quern_status status = load(out, w, &image, origin);
    const bool rejected = status == QUERN_ERROR_IMAGE;
    if (status == QUERN_OK) {
        qn_wanted_keep_found(w, &image, origin);
    } else if (rejected) {
        qn_wanted_reject(w, origin);
    }
    qn_image_free(&image);
    if (status != QUERN_OK) {
        qn_error_reset();
    }
    return status == QUERN_OK || (rejected && origin == QN_FROM_PACK && load_known(out, w));
}

/* A new image, which is kept once the device has taken it. */
static quern_status load_new(qn_module **out, const qn_wanted *w, qn_image *image)
{
    quern_status status = load(out, w, image, QN_COMPILED);
    if (status == QUERN_OK) {
        qn_wanted_keep(w, image);
    }
    qn_image_free(image);
    return status;
}

/* ---- what is compiled: modules of the engine, and of users ---------------------------------- */

static quern_status compile_new(qn_module **out, qn_making *m)
{
    bool changed;
    QN_TRY(qn_making_settle(m, &changed));
    if (changed && load_known(out, &m->wanted)) {
        return QUERN_OK;
    }
    qn_machine *machine;
    if (!qn_wanted_begin(&machine, &m->wanted, load_known, out)) {
        return QUERN_OK;
    }
    qn_image image;
    quern_status status = qn_making_produce(m, &image);
    if (status == QUERN_OK) {
        status = load_new(out, &m->wanted, &image);
    }
    qn_machine_done(machine);
    return status;
}

/* What packs have for older GPUs, which this one runs as well: native code for its own generation,
 * else PTX, the newest first. */
static quern_status load_older(qn_module **out, qn_making *m)
{
    static const qn_image_kind kinds[] = {QN_IMAGE_CUBIN, QN_IMAGE_PTX};
    const quern_engine *engine = m->wanted.engine;
    m->wanted.shipped = true;
    for (size_t k = 0; k < QN_COUNT(kinds) && !*out; k++) {
        const bool native = kinds[k] == QN_IMAGE_CUBIN;
        const int least = native ? engine->arch / 10 * 10 : 1;
        int arch = engine->arch + !native;
        while (!*out && (arch = qn_packs_arch(engine->packs, kinds[k], least, arch)) != 0) {
            QN_TRY(qn_making_aim(m, native, arch));
            (void)load_known(out, &m->wanted);
        }
    }
    m->wanted.shipped = false;
    const bool as_before =
        m->wanted.arch == engine->arch && m->request->compile.kind == QN_IMAGE_CUBIN;
    return *out || as_before ? QUERN_OK : qn_making_aim(m, true, engine->arch);
}

static quern_status known_or_compiled(qn_module **out, qn_making *m)
{
    if (load_known(out, &m->wanted)) {
        return QUERN_OK;
    }
    *out = NULL;
    if (m->request->compile.kind == QN_IMAGE_CUBIN && !m->request->piece && !m->wanted.opaque) {
        QN_TRY(load_older(out, m));
    }
    return *out ? QUERN_OK : compile_new(out, m);
}

static qn_module *find_shared(const qn_wanted *w)
{
    return w->opaque ? NULL : find_module(w->engine, w->key.hex);
}

static quern_status make_shared(qn_module **out, qn_making *m)
{
    char asked[sizeof m->wanted.key.hex]; /* what is found or made may have another key */
    memcpy(asked, m->wanted.key.hex, sizeof asked);
    for (;;) {
        *out = find_shared(&m->wanted);
        if (*out) {
            return QUERN_OK;
        }
        qn_once *once;
        if (!qn_wanted_once(&once, &m->wanted)) {
            continue;
        }
        *out = find_shared(&m->wanted);
        quern_status status = QUERN_OK;
        if (!*out) {
            status = known_or_compiled(out, m);
            if (status == QUERN_OK) {
                add_module(m->wanted.engine, *out, asked);
            }
        }
        qn_once_done(once);
        return status;
    }
}

static quern_status make_own(qn_module **out, qn_making *m)
{
    qn_once *once = qn_wanted_alone(&m->wanted);
    quern_status status = known_or_compiled(out, m);
    qn_once_done(once);
    return status;
}

static quern_status make_by(quern_status (*make)(qn_module **, qn_making *), qn_module **out,
                            quern_engine *engine, qn_module_request *request)
{
    qn_making m;
    *out = NULL;
    quern_status status = qn_making_begin(&m, engine, request);
    if (status == QUERN_OK) {
        status = make(out, &m);
    }
    if (status == QUERN_ERROR_LINK || status == QUERN_ERROR_NOT_SUPPORTED) {
        qn_explain_undefined(request->user_texts, request->user_text_count);
    }
    qn_making_end(&m);
    return status;
}

quern_status qn_module_get(qn_module **out, quern_engine *engine, qn_module_request *request)
{
    return make_by(make_shared, out, engine, request);
}

quern_status qn_module_make(qn_module **out, quern_engine *engine, qn_module_request *request)
{
    return make_by(make_own, out, engine, request);
}

/* ---- what is linked ------------------------------------------------------------------------- */

static quern_status known_or_linked(qn_module **out, qn_linking *l)
{
    qn_machine *machine;
    if (load_known(out, &l->wanted) || !qn_wanted_begin(&machine, &l->wanted, load_known, out)) {
        return QUERN_OK;
    }
    qn_image image;
    quern_status status = qn_linking_produce(l, &image);
    if (status == QUERN_OK) {
        status = load_new(out, &l->wanted, &image);
    }
    qn_machine_done(machine);
    return status;
}

bool qn_module_link_known(qn_module **out, quern_engine *engine, const qn_link_job *job)
{
    qn_linking l;
    *out = NULL;
    const bool known = qn_linking_begin(&l, engine, job) == QUERN_OK && load_known(out, &l.wanted);
    qn_linking_end(&l);
    if (!known) {
        qn_error_reset();
    }
    return known;
}

quern_status qn_module_link(qn_module **out, quern_engine *engine, const qn_link_job *job)
{
    qn_linking l;
    *out = NULL;
    quern_status status = qn_linking_begin(&l, engine, job);
    if (status == QUERN_OK) {
        qn_once *once = qn_wanted_alone(&l.wanted);
        status = known_or_linked(out, &l);
        qn_once_done(once);
    }
    if (status == QUERN_ERROR_LINK || status == QUERN_ERROR_NOT_SUPPORTED) {
        qn_explain_undefined(job->user_texts, job->user_text_count);
    }
    qn_linking_end(&l);
    return status;
}
