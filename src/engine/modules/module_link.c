/* SPDX-License-Identifier: MIT
 *
 * module_link: one module of several pieces. In: sources and images. Out: a quern_module. The thing
 * to know: what is linked has a key of its own, made of the keys of the sources and the contents of
 * the images, so that a program that is linked again neither compiles nor links.
 */
#include "engine/modules/modules.h"
#include <string.h>

/* ---- pieces --------------------------------------------------------------------------------- */

static const char *name_of(const quern_link_input *input)
{
    return input->name != NULL ? input->name : input->source != NULL ? "kernel.cu" : "an image";
}

/** What a source among the inputs is compiled to. */
static qn_module_request request_of(const qn_link_job *job, const quern_link_input *input,
                                    const qn_module_request *whole)
{
    const quern_module_options *o = job->options;
    return (qn_module_request){
        .compile = {.source = input->source,
                    .file_name = name_of(input),
                    .options = o->options,
                    .option_count = o->option_count,
                    .headers = (const qn_header *)(const void *)o->headers,
                    .header_count = o->header_count,
                    .expressions = o->expressions,
                    .expression_count = o->expression_count,
                    .kind = job->pieces,
                    .relocatable = job->pieces != QN_IMAGE_LTO_IR},
        .name = qn_base_name(name_of(input)),
        .user_texts = whole->user_texts,
        .user_text_count = whole->user_text_count,
        .from_user = true,
        .piece = true,
    };
}

/** The key's share of one input; what it points to lives in `arena`. */
static quern_status key_piece(qn_key_piece *out, bool *opaque, quern_engine *engine,
                              const qn_module_request *whole, const quern_link_input *input,
                              qn_arena *arena)
{
    if (input->source == NULL) {
        *out = (qn_key_piece){qn_image_kind_of(input->image, input->image_bytes), input->image,
                              input->image_bytes};
        return QUERN_OK;
    }
    qn_module_request request = request_of(whole->link, input, whole);
    qn_making making;
    quern_status status = qn_making_begin(&making, engine, &request);
    if (status == QUERN_OK) {
        *opaque |= making.opaque;
        out->size = making.key.material_size;
        out->data = qn_arena_strndup(arena, making.key.material, out->size);
        status = out->data != NULL ? QUERN_OK : qn_fail_memory("preparing to link");
    }
    qn_making_end(&making);
    return status;
}

quern_status qn_linked_key(qn_key *out, bool *opaque, quern_engine *engine,
                           const qn_module_request *request)
{
    const qn_link_job *job = request->link;
    qn_arena arena = {0};
    qn_compiler_identity linker;
    (void)qn_linker_find(&linker, NULL);
    qn_key_piece *pieces = qn_arena_alloc(&arena, job->count * sizeof *pieces);
    quern_status status = pieces != NULL ? QUERN_OK : qn_fail_memory("preparing to link");
    for (size_t k = 0; status == QUERN_OK && k < job->count; k++) {
        status = key_piece(&pieces[k], opaque, engine, request, &job->inputs[k], &arena);
    }
    if (status == QUERN_OK) {
        status = qn_key_make(out, &(qn_key_fields){.source = "",
                                                   .options = job->options->options,
                                                   .option_count = job->options->option_count,
                                                   .arch = request->compile.arch,
                                                   .kind = request->compile.kind,
                                                   .line_info = request->compile.line_info,
                                                   .pieces = pieces,
                                                   .piece_count = job->count,
                                                   .linker = linker.build_id});
    }
    qn_arena_free(&arena);
    return status;
}

/* ---- linking -------------------------------------------------------------------------------- */

/** Compile the sources; `made[k]` is the image of input k where that is a source. */
static quern_status make_pieces(qn_image *made, qn_link_input *linked, quern_engine *engine,
                                const qn_module_request *whole)
{
    const qn_link_job *job = whole->link;
    for (size_t k = 0; k < job->count; k++) {
        const quern_link_input *input = &job->inputs[k];
        linked[k] = (qn_link_input){.kind = qn_image_kind_of(input->image, input->image_bytes),
                                    .name = name_of(input),
                                    .data = input->image,
                                    .size = input->image_bytes};
        if (input->source != NULL) {
            qn_module_request request = request_of(job, input, whole);
            QN_TRY(qn_image_make(&made[k], engine, &request));
            linked[k].kind = made[k].kind;
            linked[k].data = made[k].data;
            linked[k].size = made[k].size;
        }
    }
    return QUERN_OK;
}

/** The names of expressions, which one source has, are the whole's. */
static void take_lowered(qn_image *whole, qn_image *pieces, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        if (pieces[k].lowered_count > 0) {
            whole->lowered = pieces[k].lowered;
            whole->lowered_count = pieces[k].lowered_count;
            pieces[k].lowered = NULL;
            pieces[k].lowered_count = 0;
            return;
        }
    }
}

quern_status qn_linked_image(qn_image *out, quern_engine *engine, const qn_module_request *request)
{
    const qn_link_job *job = request->link;
    qn_image *made = qn_calloc(job->count, sizeof *made);
    qn_link_input *linked = qn_calloc(job->count, sizeof *linked);
    quern_status status = made != NULL && linked != NULL
                              ? make_pieces(made, linked, engine, request)
                              : qn_fail_memory("linking");
    if (status == QUERN_OK) {
        status = qn_link(out, &(qn_link_request){.inputs = linked,
                                                 .input_count = job->count,
                                                 .options = job->options->options,
                                                 .option_count = job->options->option_count,
                                                 .arch = request->compile.arch,
                                                 .kind = request->compile.kind,
                                                 .line_info = request->compile.line_info});
    }
    if (status == QUERN_OK) {
        take_lowered(out, made, job->count);
    }
    for (size_t k = 0; made != NULL && k < job->count; k++) {
        qn_image_free(&made[k]);
    }
    qn_free(made);
    qn_free(linked);
    return status;
}

/* ---- the public function -------------------------------------------------------------------- */

static quern_status check_inputs(const quern_link_input *inputs, size_t count,
                                 const quern_module_options *o)
{
    size_t sources = 0;
    if (inputs == NULL || count == 0) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "there is nothing to link");
    }
    QN_TRY(qn_check_list("count", count));
    for (size_t k = 0; k < count; k++) {
        const quern_link_input *input = &inputs[k];
        sources += input->source != NULL;
        QN_TRY(qn_check_bytes(input->image_bytes));
        if ((input->source != NULL) == (input->image != NULL)) {
            return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                           "input %zu (%s) has %s; it must be one of them", k, name_of(input),
                           input->source != NULL ? "both a source and an image"
                                                 : "neither a source nor an image");
        }
        if (input->source == NULL && qn_image_kind_of(input->image, input->image_bytes) == 0) {
            return qn_fail(QUERN_ERROR_IMAGE,
                           "input %zu (%s) is no image: a cubin, PTX, a fatbin, LTO-IR, an object "
                           "file or a static library is expected",
                           k, name_of(input));
        }
    }
    if (o->expression_count > 0 && sources != 1) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "name expressions can be given for one source, and there are %zu; write an "
                       "explicit instantiation into the source that has the template",
                       sources);
    }
    return QUERN_OK;
}

/** PTX is linked without a look at what is defined nowhere; that is found when it is loaded. */
static quern_status fail_loading(void)
{
    char *said = qn_strdup(quern_last_error()->message);
    quern_status status = qn_fail(QUERN_ERROR_LINK, "what was linked cannot be loaded: %s",
                                  said != NULL ? said : "it is no valid image");
    qn_error_stage("link");
    qn_free(said);
    return status;
}

static quern_status link_all(quern_module *module, const qn_link_job *job)
{
    qn_arena arena = {0};
    qn_user_text *texts = qn_arena_alloc(&arena, job->count * sizeof *texts);
    if (texts == NULL) {
        return qn_fail_memory("making a module");
    }
    size_t count = 0;
    for (size_t k = 0; k < job->count; k++) {
        if (job->inputs[k].source != NULL) {
            texts[count++] = (qn_user_text){name_of(&job->inputs[k]), job->inputs[k].source};
        }
    }
    quern_status status = qn_user_module_keep(module, texts, count, job->options);
    qn_arena_free(&arena);
    QN_TRY(status);
    qn_module_request request = {.name = qn_base_name(name_of(&job->inputs[0])),
                                 .user_texts = module->texts,
                                 .user_text_count = module->text_count,
                                 .from_user = true,
                                 .link = job};
    status = qn_module_make(&module->loaded, module->engine, &request);
    return status == QUERN_ERROR_IMAGE ? fail_loading() : status;
}

quern_status quern_module_link(quern_module **out, quern_engine *engine,
                               const quern_link_input *inputs, size_t count,
                               const quern_module_options *options)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    quern_module_options o;
    QN_TRY(qn_module_options_take(&o, options));
    QN_TRY(check_inputs(inputs, count, &o));
    bool whole_program = !engine->native || qn_options_say(o.options, o.option_count, "dlto");
    const qn_link_job job = {inputs, count, &o, whole_program ? QN_IMAGE_LTO_IR : QN_IMAGE_CUBIN};
    quern_module *module;
    QN_TRY(qn_user_module_begin(&module, engine));
    return qn_user_module_end(out, module, link_all(module, &job));
}
