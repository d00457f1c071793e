/* SPDX-License-Identifier: MIT
 *
 * module: from source to a loaded module. In: what to compile. Out: a module, found in memory, in
 * the cache on disk, or compiled. Those of kernels are the engine's, one a key, and live as long as
 * it does; those of users are loaded for each of them, from the same images. The thing to know: one
 * thread in the process makes a key; others that want it wait, then find it.
 */
#include "engine/modules.h"
#include <stdio.h>
#include <string.h>

/* ---- the engine's table --------------------------------------------------------------------- */

static qn_module *find_module(quern_engine *engine, const char *hex)
{
    pthread_mutex_lock(&engine->modules_lock);
    qn_module *m = engine->modules;
    while (m != NULL && strcmp(m->hex, hex) != 0) {
        m = m->next;
    }
    pthread_mutex_unlock(&engine->modules_lock);
    return m;
}

static void add_module(quern_engine *engine, qn_module *m)
{
    pthread_mutex_lock(&engine->modules_lock);
    m->next = engine->modules;
    engine->modules = m;
    pthread_mutex_unlock(&engine->modules_lock);
}

void qn_modules_free(quern_engine *engine)
{
    for (qn_module *m = engine->modules, *next; m != NULL; m = next) {
        next = m->next;
        qn_module_free(engine, m);
    }
    engine->modules = NULL;
}

/* ---- images to modules ---------------------------------------------------------------------- */

void qn_module_free(quern_engine *engine, qn_module *m)
{
    if (m == NULL) {
        return;
    }
    if (m->handle != NULL) {
        engine->methods->module_free(engine->device, m->handle);
    }
    for (size_t k = 0; k < m->lowered_count; k++) {
        qn_free(m->lowered[k]);
    }
    qn_free(m->lowered);
    qn_free(m->ptx);
    qn_free(m);
}

/** What is kept of an image besides what the device makes of it. */
static bool keep(qn_module *m, const qn_image *image)
{
    if (image->kind == QN_IMAGE_PTX) {
        m->ptx = qn_strndup(image->data, image->size);
        if (m->ptx == NULL) {
            return false;
        }
    }
    m->lowered = qn_calloc(image->lowered_count + 1, sizeof *m->lowered);
    for (size_t k = 0; m->lowered != NULL && k < image->lowered_count; k++) {
        m->lowered[k] = qn_strdup(image->lowered[k]);
        if (m->lowered[k] == NULL) {
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
    if (m == NULL) {
        return qn_fail_memory("loading a module");
    }
    quern_status status =
        keep(m, image)
            ? engine->methods->module_load(engine->device, &m->handle,
                                           (quern_image_kind)image->kind, image->data, image->size)
            : qn_fail_memory("loading a module");
    if (status != QUERN_OK) {
        qn_module_free(engine, m);
        return status;
    }
    *out = m;
    return QUERN_OK;
}

/* ---- memory, cache, compiler ---------------------------------------------------------------- */

/** A module on its way. */
typedef struct making {
    quern_engine *engine;
    qn_module_request *request;
    qn_key key;
    qn_compiler_identity compiler;
} making;

static quern_status make_key(making *m)
{
    const qn_compile_request *c = &m->request->compile;
    qn_key_free(&m->key);
    return qn_key_make(&m->key, &(qn_key_fields){
                                    .source = c->source,
                                    .options = c->options,
                                    .option_count = c->option_count,
                                    .headers = c->headers,
                                    .header_count = c->header_count,
                                    .expressions = c->expressions,
                                    .expression_count = c->expression_count,
                                    .arch = c->arch,
                                    .kind = c->kind,
                                    .line_info = c->line_info,
                                    .minimal = c->minimal,
                                });
}

static void want_native(making *m, bool native, int arch)
{
    qn_compile_request *c = &m->request->compile;
    c->arch = arch;
    c->kind = native ? QN_IMAGE_CUBIN : QN_IMAGE_PTX;
    c->line_info = !m->engine->native; /* the software device reports places in sources */
    c->minimal = !m->request->all_of_cuda;
}

static quern_status load(qn_module **out, const making *m, const qn_image *image, qn_origin origin)
{
    QN_TRY(qn_module_load(out, m->engine, image));
    memcpy((*out)->hex, m->key.hex, sizeof(*out)->hex);
    (*out)->origin = origin;
    snprintf((*out)->target, sizeof(*out)->target,
             image->kind == QN_IMAGE_PTX ? "compute_%d" : "sm_%d", m->request->compile.arch);
    return QUERN_OK;
}

/** An image that was made before, in this process or on this machine. An image on disk that the
 * device rejects is deleted there and made anew. */
static bool load_known(qn_module **out, making *m)
{
    qn_image image = {0};
    if (qn_images_get(&m->key, m->compiler.build_id, &image)) {
        quern_status status = load(out, m, &image, QN_FROM_MEMORY);
        qn_image_free(&image);
        return status == QUERN_OK || (qn_error_reset(), false);
    }
    if (!qn_store_get(m->engine->store, &m->key, m->compiler.build_id, &image)) {
        return false;
    }
    quern_status status = load(out, m, &image, QN_FROM_CACHE);
    if (status == QUERN_OK) {
        qn_images_put(&m->key, m->compiler.build_id, &image);
    } else if (status == QUERN_ERROR_IMAGE) {
        qn_log(&m->engine->logger, QN_WARN,
               "the device rejected a cached image (%s); compiling it again", m->key.hex);
        qn_store_reject(m->engine->store, &m->key, m->compiler.build_id);
    }
    qn_image_free(&image);
    return status == QUERN_OK || (qn_error_reset(), false);
}

static quern_status compile(qn_module **out, making *m)
{
    const qn_module_request *r = m->request;
    qn_image image = {0};
    QN_TRY(qn_compile(&image, &r->compile, r->user_texts, r->user_text_count));
    atomic_fetch_add(&m->engine->compiled, 1);
    atomic_fetch_add(&m->engine->compile_us, (uint64_t)(image.compile_ms * 1e3));
    qn_log(&m->engine->logger, QN_DEBUG, "compiled %s in %.1f ms", r->name, image.compile_ms);
    quern_status status = load(out, m, &image, QN_COMPILED);
    if (status == QUERN_OK) {
        int major, minor;
        char version[32];
        qn_compiler_version(&major, &minor);
        snprintf(version, sizeof version, "NVRTC %d.%d", major, minor);
        qn_store_row row = {r->name, m->compiler.build_id, version, r->compile.arch};
        qn_images_put(&m->key, m->compiler.build_id, &image);
        qn_store_put(m->engine->store, &m->key, &image, &row);
    }
    qn_image_free(&image);
    return status;
}

/** This NVRTC may be older than the GPU: then PTX of the newest target that it knows. */
static quern_status compile_or_fall_back(qn_module **out, making *m)
{
    bool native = true;
    int newest = 0;
    if (m->request->compile.kind == QN_IMAGE_CUBIN) {
        QN_TRY(qn_compiler_supports(m->request->compile.arch, &native, &newest));
    }
    if (!native) {
        want_native(m, false, newest);
        QN_TRY(make_key(m));
        if (load_known(out, m)) {
            return QUERN_OK;
        }
    }
    return compile(out, m);
}

static quern_status known_or_compiled(qn_module **out, making *m)
{
    return load_known(out, m) ? QUERN_OK : compile_or_fall_back(out, m);
}

/* ---- modules of the engine, and of users ----------------------------------------------------- */

static quern_status make_shared(qn_module **out, making *m)
{
    QN_TRY(make_key(m));
    for (;;) {
        *out = find_module(m->engine, m->key.hex);
        if (*out != NULL) {
            return QUERN_OK;
        }
        qn_once *once;
        if (!qn_once_begin(&once, &m->key, m->compiler.build_id)) {
            continue;
        }
        *out = find_module(m->engine, m->key.hex);
        quern_status status = QUERN_OK;
        if (*out == NULL) {
            status = known_or_compiled(out, m);
            if (status == QUERN_OK) {
                add_module(m->engine, *out);
            }
        }
        qn_once_done(once);
        return status;
    }
}

static quern_status make_own(qn_module **out, making *m)
{
    QN_TRY(make_key(m));
    qn_once *once;
    while (!qn_once_begin(&once, &m->key, m->compiler.build_id)) {
    }
    quern_status status = known_or_compiled(out, m);
    qn_once_done(once);
    return status;
}

static quern_status make_by(quern_status (*make)(qn_module **, making *), qn_module **out,
                            quern_engine *engine, qn_module_request *request)
{
    making m = {.engine = engine, .request = request};
    (void)qn_compiler_find(&m.compiler, NULL);
    want_native(&m, engine->native != 0, engine->arch);
    *out = NULL;
    quern_status status = make(out, &m);
    qn_key_free(&m.key);
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
