/* SPDX-License-Identifier: MIT
 *
 * making: from a request to an image. In: what to compile or to link. Out: an image, found in
 * memory, in the cache on disk, or made now. The thing to know: the key is made of everything that
 * shapes the image, so what is found under it is what would be made. Where headers cannot all be
 * known (the source is opaque), no image is looked up or kept.
 */
#include "engine/modules/modules.h"
#include <stdio.h>
#include <string.h>

/* ---- the key -------------------------------------------------------------------------------- */

static quern_status make_key(qn_making *m)
{
    const qn_compile_request *c = &m->request->compile;
    qn_key_free(&m->key);
    if (m->request->link != NULL) {
        return qn_linked_key(&m->key, &m->opaque, m->engine, m->request);
    }
    return qn_key_make(&m->key, &(qn_key_fields){
                                    .source = c->source,
                                    .file_name = m->request->from_user ? c->file_name : NULL,
                                    .options = c->options,
                                    .option_count = c->option_count,
                                    .headers = c->headers,
                                    .header_count = c->header_count,
                                    .includes = c->includes,
                                    .expressions = c->expressions,
                                    .expression_count = c->expression_count,
                                    .arch = c->arch,
                                    .kind = c->kind,
                                    .line_info = c->line_info,
                                    .minimal = c->minimal,
                                    .relocatable = c->relocatable,
                                });
}

static void want_native(const qn_making *m, bool native, int arch)
{
    qn_compile_request *c = &m->request->compile;
    c->arch = arch;
    c->line_info = !m->engine->native; /* the software device reports places in sources */
    c->minimal = !m->request->from_user;
    if (!m->request->piece) {
        c->kind = native ? QN_IMAGE_CUBIN : QN_IMAGE_PTX;
    }
}

quern_status qn_making_begin(qn_making *m, quern_engine *engine, qn_module_request *request)
{
    *m = (qn_making){.engine = engine, .request = request};
    (void)qn_compiler_find(&m->compiler, NULL);
    want_native(m, engine->native != 0, engine->arch);
    if (request->link == NULL) {
        QN_TRY(qn_includes_find(&m->includes, &request->compile));
        request->compile.includes = &m->includes;
        m->opaque = m->includes.opaque;
    }
    return make_key(m);
}

void qn_making_end(qn_making *m)
{
    m->request->compile.includes = NULL;
    qn_includes_free(&m->includes);
    qn_key_free(&m->key);
}

/* ---- what was made before ------------------------------------------------------------------- */

bool qn_making_find(const qn_making *m, qn_image *image, qn_origin *origin)
{
    *image = (qn_image){0};
    *origin = QN_FROM_MEMORY;
    if (m->opaque) {
        return false;
    }
    if (qn_images_get(&m->key, m->compiler.build_id, image)) {
        return true;
    }
    *origin = QN_FROM_CACHE;
    return qn_store_get(m->engine->store, &m->key, m->compiler.build_id, image);
}

void qn_making_keep(const qn_making *m, const qn_image *image)
{
    if (m->opaque) {
        return;
    }
    int major, minor;
    char version[32];
    qn_compiler_version(&major, &minor);
    snprintf(version, sizeof version, "NVRTC %d.%d", major, minor);
    qn_store_row row = {m->request->name, m->compiler.build_id, version, m->request->compile.arch};
    qn_images_put(&m->key, m->compiler.build_id, image);
    qn_store_put(m->engine->store, &m->key, image, &row);
}

static void tell_opaque(const qn_making *m)
{
    if (m->opaque && !atomic_flag_test_and_set(&m->engine->opaque_told)) {
        qn_log(&m->engine->home.logger, QN_INFO,
               "%s is compiled each time: which headers it includes cannot be known without the "
               "compiler (#include MACRO, #include_next, __has_include)",
               m->request->name);
    }
}

/* ---- making --------------------------------------------------------------------------------- */

quern_status qn_making_settle(qn_making *m, bool *changed)
{
    bool native = true;
    int newest = 0;
    if (m->request->compile.kind == QN_IMAGE_CUBIN && m->request->link == NULL) {
        QN_TRY(qn_compiler_supports(m->request->compile.arch, &native, &newest));
    }
    *changed = !native;
    if (native) {
        return QUERN_OK;
    }
    want_native(m, false, newest);
    return make_key(m);
}

quern_status qn_making_produce(qn_making *m, qn_image *out)
{
    const qn_module_request *r = m->request;
    *out = (qn_image){0};
    tell_opaque(m);
    if (r->link != NULL) {
        return qn_linked_image(out, m->engine, r);
    }
    QN_TRY(qn_compile(out, &r->compile, r->user_texts, r->user_text_count));
    atomic_fetch_add(&m->engine->compiled, 1);
    atomic_fetch_add(&m->engine->compile_us, (uint64_t)(out->compile_ms * 1e3));
    qn_tell_compiled(m->engine, r->name, out->compile_ms);
    return QUERN_OK;
}

quern_status qn_image_make(qn_image *out, quern_engine *engine, qn_module_request *request)
{
    qn_making m;
    qn_origin origin;
    *out = (qn_image){0};
    quern_status status = qn_making_begin(&m, engine, request);
    if (status == QUERN_OK) {
        qn_once *once;
        while (!qn_once_begin(&once, &m.key, m.compiler.build_id)) {
        }
        if (!qn_making_find(&m, out, &origin)) {
            status = qn_making_produce(&m, out);
            if (status == QUERN_OK) {
                qn_making_keep(&m, out);
            }
        }
        qn_once_done(once);
    }
    qn_making_end(&m);
    return status;
}
