/* SPDX-License-Identifier: MIT
 *
 * module_link: one module of several pieces. In: sources and images of a program. Out: a
 * quern_module. The thing to know: all that can be wrong with the pieces is said here, before
 * anything is compiled.
 */
#include "engine/modules/modules.h"

static quern_status check_inputs(const quern_link_input *inputs, size_t count,
                                 const quern_module_options *o)
{
    size_t sources = 0;
    if (!inputs || count == 0) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "there is nothing to link");
    }
    QN_TRY(qn_check_list("count", count));
    for (size_t k = 0; k < count; k++) {
        const quern_link_input *input = &inputs[k];
        sources += input->source != NULL;
        QN_TRY(qn_check_bytes(input->image_bytes));
        if (!input->source == !input->image) {
            return qn_fail(
                QUERN_ERROR_INVALID_ARGUMENT, "input %zu (%s) has %s; it must be one of them", k,
                qn_link_input_name(input),
                input->source ? "both a source and an image" : "neither a source nor an image");
        }
        if (!input->source && qn_image_kind_of(input->image, input->image_bytes) == 0) {
            return qn_fail(
                QUERN_ERROR_IMAGE,
                "input %zu (%s) is not an image: a cubin, PTX, a fatbin, LTO-IR, an object "
                "file or a static library is expected",
                k, qn_link_input_name(input));
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

/* Linking PTX does not look for undefined names, so loading is what finds them. */
static quern_status fail_loading(void)
{
    char *said = qn_strdup(quern_last_error()->message);
    quern_status status = qn_fail(QUERN_ERROR_LINK, "what was linked cannot be loaded: %s",
                                  said ? said : "it is not a valid image");
    qn_error_stage("link");
    qn_free(said);
    return status;
}

/* Keep the texts of the sources, which messages may point into. */
static quern_status keep_texts(quern_module *module, const qn_link_job *job)
{
    qn_arena arena = {0};
    qn_user_text *texts = qn_arena_alloc(&arena, job->count * sizeof *texts);
    if (!texts) {
        return qn_fail_memory("making a module");
    }
    size_t count = 0;
    for (size_t k = 0; k < job->count; k++) {
        const quern_link_input *input = &job->inputs[k];
        if (input->source) {
            texts[count++] = (qn_user_text){qn_link_input_name(input), input->source};
        }
    }
    quern_status status = qn_user_module_keep(module, texts, count, job->options);
    qn_arena_free(&arena);
    return status;
}

static quern_status link_all(quern_module *module, qn_link_job *job)
{
    QN_TRY(keep_texts(module, job));
    job->name = qn_base_name(qn_link_input_name(&job->inputs[0]));
    job->user_texts = module->texts;
    job->user_text_count = module->text_count;
    quern_status status = qn_module_link(&module->loaded, module->engine, job);
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
    qn_link_job job = {.inputs = inputs,
                       .count = count,
                       .options = &o,
                       .pieces = whole_program ? QN_IMAGE_LTO_IR : QN_IMAGE_CUBIN};
    quern_module *module;
    QN_TRY(qn_user_module_begin(&module, engine));
    return qn_user_module_end(out, module, link_all(module, &job));
}
