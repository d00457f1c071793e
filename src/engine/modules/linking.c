/* SPDX-License-Identifier: MIT
 *
 * linking: from several pieces to an image. In: sources and images. Out: the key of what they are
 * together, and the image. The thing to know: that key is made of the keys of the sources and the
 * contents of the images, so that a program that is linked again neither compiles nor links.
 */
#include "engine/modules/modules.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- pieces --------------------------------------------------------------------------------- */

const char *qn_link_input_name(const quern_link_input *input)
{
    return input->name ? input->name : input->source ? "kernel.cu" : "an image";
}

/* What a source among the inputs is compiled to. */
static qn_module_request request_of(const qn_link_job *job, const quern_link_input *input)
{
    const quern_module_options *o = job->options;
    return (qn_module_request){
        .compile = {.source = input->source,
                    .file_name = qn_link_input_name(input),
                    .options = o->options,
                    .option_count = o->option_count,
                    .headers = (const qn_header *)(const void *)o->headers,
                    .header_count = o->header_count,
                    .expressions = o->expressions,
                    .expression_count = o->expression_count,
                    .kind = job->pieces,
                    .relocatable = job->pieces != QN_IMAGE_LTO_IR},
        .name = qn_base_name(qn_link_input_name(input)),
        .user_texts = job->user_texts,
        .user_text_count = job->user_text_count,
        .from_user = true,
        .piece = true,
        .translate_cucomplex = o->translate_cucomplex != 0,
    };
}

/* The key's share of one input; what it points to lives in `arena`. */
static quern_status key_piece(qn_key_piece *out, bool *opaque, quern_engine *engine,
                              const qn_link_job *job, const quern_link_input *input,
                              qn_arena *arena)
{
    if (!input->source) {
        *out = (qn_key_piece){qn_image_kind_of(input->image, input->image_bytes), input->image,
                              input->image_bytes};
        return QUERN_OK;
    }
    qn_module_request request = request_of(job, input);
    qn_making making;
    quern_status status = qn_making_begin(&making, engine, &request);
    if (status == QUERN_OK) {
        *opaque |= making.wanted.opaque;
        out->size = making.wanted.key.material_size;
        out->data = qn_arena_strndup(arena, making.wanted.key.material, out->size);
        status = out->data ? QUERN_OK : qn_fail_memory("preparing to link");
    }
    qn_making_end(&making);
    return status;
}

/* The linker, and the device's runtime where there is one: it may be of any release. */
static void identify_linker(char *out, size_t size)
{
    qn_compiler_identity linker, runtime;
    (void)qn_linker_find(&linker, NULL);
    const bool found = qn_device_runtime_find(&runtime, NULL);
    snprintf(out, size, "%s%s%s", linker.build_id, found ? "+" : "", found ? runtime.build_id : "");
}

static quern_status make_key(qn_linking *l)
{
    const qn_link_job *job = l->job;
    qn_arena arena = {0};
    char linker[160];
    identify_linker(linker, sizeof linker);
    qn_key_piece *pieces = qn_arena_alloc(&arena, job->count * sizeof *pieces);
    quern_status status = pieces ? QUERN_OK : qn_fail_memory("preparing to link");
    for (size_t k = 0; status == QUERN_OK && k < job->count; k++) {
        status = key_piece(&pieces[k], &l->wanted.opaque, l->wanted.engine, job, &job->inputs[k],
                           &arena);
    }
    if (status == QUERN_OK) {
        status =
            qn_key_make(&l->wanted.key, &(qn_key_fields){.source = "",
                                                         .options = job->options->options,
                                                         .option_count = job->options->option_count,
                                                         .arch = l->wanted.arch,
                                                         .kind = l->kind,
                                                         .line_info = l->line_info,
                                                         .pieces = pieces,
                                                         .piece_count = job->count,
                                                         .linker = linker});
    }
    qn_arena_free(&arena);
    return status;
}

quern_status qn_linking_begin(qn_linking *l, quern_engine *engine, const qn_link_job *job)
{
    *l = (qn_linking){
        .wanted = {.engine = engine, .name = job->name, .arch = engine->arch},
        .job = job,
        .kind = engine->native == 1 ? QN_IMAGE_CUBIN : QN_IMAGE_PTX,
        .line_info = !engine->native, /* the software device reports places in sources */
    };
    (void)qn_compiler_find(&l->wanted.compiler, NULL);
    return make_key(l);
}

void qn_linking_end(qn_linking *l)
{
    qn_key_free(&l->wanted.key);
}

/* ---- linking -------------------------------------------------------------------------------- */

/* Compile the sources; `made[k]` is the image of input k where that is a source. */
static quern_status make_pieces(qn_image *made, qn_link_input *linked, quern_engine *engine,
                                const qn_link_job *job)
{
    for (size_t k = 0; k < job->count; k++) {
        const quern_link_input *input = &job->inputs[k];
        linked[k] = (qn_link_input){.kind = qn_image_kind_of(input->image, input->image_bytes),
                                    .name = qn_link_input_name(input),
                                    .data = input->image,
                                    .size = input->image_bytes};
        if (input->source) {
            qn_module_request request = request_of(job, input);
            QN_TRY(qn_image_make(&made[k], engine, &request));
            linked[k].kind = made[k].kind;
            linked[k].data = made[k].data;
            linked[k].size = made[k].size;
        }
    }
    return QUERN_OK;
}

/* Only one source has name expressions; their names become those of the whole. */
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

quern_status qn_linking_produce(const qn_linking *l, qn_image *out)
{
    const qn_link_job *job = l->job;
    *out = (qn_image){0};
    qn_wanted_tell(&l->wanted);
    qn_image *made = qn_calloc(job->count, sizeof *made);
    qn_link_input *linked = qn_calloc(job->count, sizeof *linked);
    quern_status status = made && linked ? make_pieces(made, linked, l->wanted.engine, job)
                                         : qn_fail_memory("linking");
    if (status == QUERN_OK) {
        status = qn_link(out, &(qn_link_request){.inputs = linked,
                                                 .input_count = job->count,
                                                 .options = job->options->options,
                                                 .option_count = job->options->option_count,
                                                 .arch = l->wanted.arch,
                                                 .kind = l->kind,
                                                 .line_info = l->line_info});
    }
    if (status == QUERN_OK) {
        take_lowered(out, made, job->count);
    }
    for (size_t k = 0; made && k < job->count; k++) {
        qn_image_free(&made[k]);
    }
    qn_free(made);
    qn_free(linked);
    return status;
}
