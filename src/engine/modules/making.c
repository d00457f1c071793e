/* SPDX-License-Identifier: MIT
 *
 * making: from a source to an image. In: what to compile. Out: its key, and an image. The thing to
 * know: a compiler that is older than the GPU can only make PTX for it, which has another key; this
 * is found out only when something has to be compiled.
 */
#include "engine/modules/modules.h"
#include <string.h>

/* ---- the key -------------------------------------------------------------------------------- */

static quern_status make_key(qn_making *m)
{
    const qn_compile_request *c = &m->request->compile;
    qn_key_free(&m->wanted.key);
    return qn_key_make(&m->wanted.key, &(qn_key_fields){
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

static void want_native(qn_making *m, bool native, int arch)
{
    qn_compile_request *c = &m->request->compile;
    m->wanted.arch = c->arch = arch;
    c->line_info = !m->wanted.engine->native; /* the software device reports places in sources */
    c->minimal = !m->request->from_user;
    c->beside = m->request->from_user ? qn_store_path(m->wanted.engine->store) : NULL;
    if (!m->request->piece) {
        c->kind = native ? QN_IMAGE_CUBIN : QN_IMAGE_PTX;
    }
}

/* Headers of the library behind the request's own. */
static quern_status add_headers(qn_making *m, const qn_header *added, size_t added_count)
{
    qn_compile_request *c = &m->request->compile;
    if (added_count == 0) {
        return QUERN_OK;
    }
    size_t count = c->header_count + added_count;
    qn_header *all = qn_arena_alloc(&m->arena, count * sizeof *all);
    if (!all) {
        return qn_fail_memory("looking for headers");
    }
    if (c->header_count > 0) {
        memcpy(all, c->headers, c->header_count * sizeof *all);
    }
    memcpy(all + c->header_count, added, added_count * sizeof *all);
    c->headers = all;
    c->header_count = count;
    return QUERN_OK;
}

/* A header of the user's under that name comes first. */
static bool has_cucomplex(const qn_compile_request *c)
{
    for (size_t k = 0; k < c->header_count; k++) {
        if (strcmp(c->headers[k].name, qn_cucomplex_header.name) == 0) {
            return true;
        }
    }
    return false;
}

quern_status qn_making_begin(qn_making *m, quern_engine *engine, qn_module_request *request)
{
    *m = (qn_making){.wanted = {.engine = engine, .name = request->name}, .request = request};
    (void)qn_compiler_find(&m->wanted.compiler, NULL);
    want_native(m, engine->native == 1, engine->arch);
    m->headers = request->compile.headers;
    m->header_count = request->compile.header_count;
    request->compile.library = qn_device_headers(&request->compile.library_count);
    if (request->translate_cucomplex && !has_cucomplex(&request->compile)) {
        QN_TRY(add_headers(m, &qn_cucomplex_header, 1));
    }
    QN_TRY(qn_includes_find(&m->includes, &request->compile));
    request->compile.includes = &m->includes;
    QN_TRY(add_headers(m, m->includes.library, m->includes.library_count));
    m->wanted.opaque = m->includes.opaque;
    return make_key(m);
}

void qn_making_end(qn_making *m)
{
    m->request->compile.includes = NULL;
    m->request->compile.headers = m->headers;
    m->request->compile.header_count = m->header_count;
    qn_includes_free(&m->includes);
    qn_arena_free(&m->arena);
    qn_key_free(&m->wanted.key);
}

/* ---- making --------------------------------------------------------------------------------- */

quern_status qn_making_aim(qn_making *m, bool native, int arch)
{
    want_native(m, native, arch);
    return make_key(m);
}

quern_status qn_making_settle(qn_making *m, bool *changed)
{
    bool native = true;
    int newest = 0;
    if (m->request->compile.kind == QN_IMAGE_CUBIN) {
        QN_TRY(qn_compiler_supports(m->request->compile.arch, &native, &newest));
    }
    *changed = !native;
    if (native) {
        return QUERN_OK;
    }
    return qn_making_aim(m, false, newest);
}

quern_status qn_making_produce(qn_making *m, qn_image *out)
{
    const qn_module_request *r = m->request;
    quern_engine *engine = m->wanted.engine;
    *out = (qn_image){0};
    qn_wanted_tell(&m->wanted);
    qn_wanted_tell_why(&m->wanted);
    QN_TRY(qn_compile(out, &r->compile, r->user_texts, r->user_text_count));
    qn_store_count(engine->store, QN_TALLY_COMPILED, 1);
    qn_store_count(engine->store, QN_TALLY_COMPILE_US, (uint64_t)(out->compile_ms * 1e3));
    qn_tell_compiled(engine, r->name, out);
    return QUERN_OK;
}

static bool find_image(void *out, const qn_wanted *w)
{
    qn_origin origin;
    const bool found = qn_wanted_find(w, out, &origin);
    if (found && origin == QN_FROM_REMOTE) {
        qn_wanted_keep_found(w, out, origin);
    }
    return found;
}

static quern_status find_or_make(qn_making *m, qn_image *out, bool *made)
{
    *made = false;
    if (find_image(out, &m->wanted)) {
        return QUERN_OK;
    }
    qn_machine *machine;
    if (!qn_wanted_begin(&machine, &m->wanted, find_image, out)) {
        return QUERN_OK;
    }
    quern_status status = qn_making_produce(m, out);
    if (status == QUERN_OK) {
        qn_wanted_keep(&m->wanted, out);
        *made = true;
    }
    qn_machine_done(machine);
    return status;
}

quern_status qn_image_make(qn_image *out, quern_engine *engine, qn_module_request *request)
{
    qn_making m;
    *out = (qn_image){0};
    quern_status status = qn_making_begin(&m, engine, request);
    if (status == QUERN_OK) {
        bool made;
        qn_once *once = qn_wanted_alone(&m.wanted);
        status = find_or_make(&m, out, &made);
        qn_once_done(once);
    }
    qn_making_end(&m);
    return status;
}

quern_status qn_making_rekey(qn_making *m)
{
    return make_key(m);
}

quern_status qn_making_warm(qn_making *m, bool *made)
{
    bool changed;
    qn_image image = {0};
    *made = false;
    QN_TRY(qn_making_settle(m, &changed));
    m->wanted.ours = true;
    qn_once *once = qn_wanted_alone(&m->wanted);
    quern_status status = find_or_make(m, &image, made);
    qn_once_done(once);
    qn_image_free(&image);
    return status;
}
