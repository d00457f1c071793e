/* SPDX-License-Identifier: MIT
 *
 * launching: sources whose kernels launch kernels. In: a source and its options. Out: a module,
 * compiled as all others where that does, else compiled as relocatable code and linked with the
 * device's runtime. The thing to know: only the compiler knows whether a source launches kernels,
 * because headers and macros may; so it is asked. What was linked before is looked up first where
 * the text has <<<, so that a program that starts again needs no compiler; where only an included
 * file has it, each start asks the compiler again. Where a source that seems to launch kernels does
 * not compile, it may be because the functions of the device's runtime are only declared for
 * relocatable code, so that is tried as well.
 */
#include "engine/modules/modules.h"
#include <string.h>

/* Do the options ask for relocatable code? */
static bool is_relocatable(const quern_module_options *o)
{
    static const char *const names[] = {"rdc", "relocatable-device-code"};
    for (size_t k = 0; k < QN_COUNT(names); k++) {
        const char *value = qn_options_value(o->options, o->option_count, names[k]);
        if (value) {
            return strcmp(value, "true") == 0;
        }
    }
    return qn_options_say(o->options, o->option_count, "dc") ||
           qn_options_say(o->options, o->option_count, "device-c");
}

static bool may_launch(const char *source, const quern_module_options *o)
{
    bool may = qn_source_may_launch(source);
    for (size_t k = 0; k < o->header_count && !may; k++) {
        may = qn_source_may_launch(o->headers[k].text);
    }
    return may;
}

/* Say what it is about where the compiler says what it lacks. */
static void explain(const quern_engine *engine)
{
    const quern_error *error = quern_last_error();
    const char *said;
    if (!qn_log_wants_relocatable(error->message, &said)) {
        return;
    }
    qn_text words = {0};
    qn_text_printf(&words,
                   "kernels that launch kernels need a GPU: the device \"%s\" has no launches from "
                   "kernels",
                   engine->home.place);
    if (words.data) {
        qn_error_reword((size_t)(said - error->message), strlen(error->message), words.data);
    }
    qn_text_free(&words);
}

quern_status qn_module_make_linked(qn_module **out, quern_engine *engine,
                                   qn_module_request *request, const quern_module_options *o)
{
    const char *source = request->compile.source;
    const quern_link_input input = {.name = request->compile.file_name, .source = source};
    const qn_link_job job = {.inputs = &input,
                             .count = 1,
                             .options = o,
                             .pieces = QN_IMAGE_CUBIN,
                             .name = request->name,
                             .user_texts = request->user_texts,
                             .user_text_count = request->user_text_count};
    if (engine->native && is_relocatable(o)) {
        return qn_module_link(out, engine, &job);
    }
    const bool seems = may_launch(source, o);
    if (engine->native && seems && qn_module_link_known(out, engine, &job)) {
        return QUERN_OK;
    }
    const quern_status status = qn_module_make(out, engine, request);
    if (status != QUERN_ERROR_COMPILE) {
        return status;
    }
    if (!engine->native) {
        explain(engine);
        return status;
    }
    if (!seems && !qn_log_wants_relocatable(quern_last_error()->log, NULL)) {
        return status;
    }
    qn_error_reset();
    return qn_module_link(out, engine, &job);
}
