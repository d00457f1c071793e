/* SPDX-License-Identifier: MIT
 *
 * user_module: modules that programs bring. In: CUDA source, an image, or a file with either. Out:
 * a quern_module, which is unloaded when its last reference goes. The thing to know: functions and
 * arrays over globals hold references, so what is loaded lives as long as anything of it is in use.
 */
#include "engine/modules/modules.h"
#include <string.h>

#define DEFAULT_NAME "kernel.cu"

/* ---- options -------------------------------------------------------------------------------- */

static quern_status check_strings(const char *what, const char *const *strings, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        if (!strings || !strings[k]) {
            return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "%s %zu is NULL", what, k);
        }
    }
    return QUERN_OK;
}

quern_status qn_module_options_take(quern_module_options *o, const quern_module_options *options)
{
    QN_TRY(qn_prefix_take(o, QN_PREFIX_RESERVED(quern_module_options), options));
    if (o->reserved_2 != 0) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "quern_module_options.reserved_2 is %u, but must be 0", o->reserved_2);
    }
    QN_TRY(qn_check_list("option_count", o->option_count));
    QN_TRY(qn_check_list("expression_count", o->expression_count));
    QN_TRY(qn_check_list("header_count", o->header_count));
    QN_TRY(check_strings("compiler option", o->options, o->option_count));
    QN_TRY(check_strings("name expression", o->expressions, o->expression_count));
    for (size_t k = 0; k < o->header_count; k++) {
        if (!o->headers || !o->headers[k].name) {
            return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "header %zu has no name", k);
        }
        if (!o->headers[k].text) {
            return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "header %zu (%s) has no text", k,
                           o->headers[k].name);
        }
    }
    return QUERN_OK;
}

/* ---- making --------------------------------------------------------------------------------- */

quern_status qn_user_module_begin(quern_module **out, quern_engine *engine)
{
    *out = NULL;
    quern_module *module = qn_calloc(1, sizeof *module);
    if (!module) {
        return qn_fail_memory("making a module");
    }
    atomic_init(&module->references, 1);
    qn_home_retain(&engine->home);
    module->engine = engine;
    module->object = QN_OBJECT_MODULE;
    *out = module;
    return QUERN_OK;
}

/* What the compiler warned of, for as long as the module lives. */
static quern_status keep_warnings(quern_module *module)
{
    module->warnings = "";
    if (!module->loaded->warnings || module->loaded->warnings[0] == '\0') {
        return QUERN_OK;
    }
    qn_text text = {0};
    qn_warnings_print(&text, qn_str_of(module->loaded->warnings), module->texts,
                      module->text_count);
    if (text.length > 0) {
        module->warnings = qn_arena_strndup(&module->arena, text.data, text.length);
    }
    bool kept = !text.failed && module->warnings;
    qn_text_free(&text);
    return kept ? QUERN_OK : qn_fail_memory("reading warnings");
}

quern_status qn_user_module_end(quern_module **out, quern_module *module, quern_status status)
{
    if (status == QUERN_OK) {
        status = keep_warnings(module);
    }
    if (status != QUERN_OK) {
        quern_module_release(module);
        return status;
    }
    *out = module;
    return QUERN_OK;
}

static const char *keep(quern_module *module, const char *text)
{
    return qn_arena_strndup(&module->arena, text, strlen(text));
}

static bool keep_text(quern_module *module, const char *file_name, const char *text)
{
    qn_user_text *kept = &module->texts[module->text_count++];
    *kept = (qn_user_text){keep(module, file_name), keep(module, qn_behind_mark(text))};
    return kept->file_name && kept->text;
}

quern_status qn_user_module_keep(quern_module *module, const qn_user_text *texts, size_t count,
                                 const quern_module_options *o)
{
    qn_arena *arena = &module->arena;
    module->expressions = qn_arena_alloc(arena, (o->expression_count + 1) * sizeof(char *));
    module->texts = qn_arena_alloc(arena, (count + o->header_count + 1) * sizeof *module->texts);
    bool kept = module->expressions && module->texts;
    for (size_t k = 0; kept && k < o->expression_count; k++) {
        module->expressions[k] = keep(module, o->expressions[k]);
        kept = module->expressions[k] != NULL;
    }
    for (size_t k = 0; kept && k < count; k++) {
        kept = keep_text(module, texts[k].file_name, texts[k].text);
    }
    for (size_t k = 0; kept && k < o->header_count; k++) {
        kept = keep_text(module, o->headers[k].name, o->headers[k].text);
    }
    module->expression_count = o->expression_count;
    return kept ? QUERN_OK : qn_fail_memory("making a module");
}

static quern_status compile(quern_module *module, const char *source, const char *file_name,
                            const quern_module_options *o)
{
    QN_TRY(qn_user_module_keep(module, &(qn_user_text){file_name, source}, 1, o));
    qn_module_request request = {
        .compile = {.source = source,
                    .file_name = file_name,
                    .options = o->options,
                    .option_count = o->option_count,
                    .headers = (const qn_header *)(const void *)o->headers,
                    .header_count = o->header_count,
                    .expressions = o->expressions,
                    .expression_count = o->expression_count},
        .name = qn_base_name(file_name),
        .user_texts = module->texts,
        .user_text_count = module->text_count,
        .from_user = true,
        .translate_cucomplex = o->translate_cucomplex != 0,
    };
    QN_TRY(qn_module_make_linked(&module->loaded, module->engine, &request, o));
    if (module->engine->listing) {
        qn_listing_module(module->engine, source, file_name, o);
    }
    return QUERN_OK;
}

static quern_status new_from_source(quern_module **out, quern_engine *engine, const char *source,
                                    const char *file_name, const quern_module_options *options)
{
    quern_module *module;
    QN_TRY(qn_user_module_begin(&module, engine));
    return qn_user_module_end(out, module, compile(module, source, file_name, options));
}

quern_status quern_module_new(quern_module **out, quern_engine *engine, const char *source,
                              const quern_module_options *options)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    QN_CHECK_NOT_NULL(source);
    quern_module_options o;
    QN_TRY(qn_module_options_take(&o, options));
    return new_from_source(out, engine, source, o.file_name ? o.file_name : DEFAULT_NAME, &o);
}

/* ---- images and files ----------------------------------------------------------------------- */

static quern_status new_from_image(quern_module **out, quern_engine *engine, const qn_image *image)
{
    quern_module *module;
    QN_TRY(qn_user_module_begin(&module, engine));
    return qn_user_module_end(out, module, qn_module_load(&module->loaded, engine, image));
}

quern_status qn_check_bytes(uint64_t bytes)
{
    if (bytes > PTRDIFF_MAX) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "an image cannot have %llu bytes",
                       (unsigned long long)bytes);
    }
    return QUERN_OK;
}

quern_status quern_module_load(quern_module **out, quern_engine *engine, const void *image,
                               size_t bytes)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    QN_CHECK_NOT_NULL(image);
    QN_TRY(qn_check_bytes(bytes));
    qn_image given = {.data = (char *)image, .size = bytes};
    if (!qn_image_sniff(&given.kind, image, bytes)) {
        return qn_fail(
            QUERN_ERROR_IMAGE,
            "these %zu bytes are not an image: a cubin, PTX or a fatbin is expected%s", bytes,
            !memchr(image, '\0', bytes) && bytes > 0 ? "; CUDA source is for quern_module_new()"
                                                     : "");
    }
    return new_from_image(out, engine, &given);
}

static bool any_options(const quern_module_options *o)
{
    return o->option_count + o->expression_count + o->header_count + o->translate_cucomplex != 0;
}

/* Source or an image: the contents of the file decide. */
static quern_status new_from_file(quern_module **out, quern_engine *engine, const char *path,
                                  char *data, size_t size, const quern_module_options *o)
{
    qn_image image = {.data = data, .size = size};
    if (size == 0) {
        return qn_fail(QUERN_ERROR_IO, "%s is empty", path);
    }
    if (!qn_image_sniff(&image.kind, data, size)) {
        if (memchr(data, '\0', size)) {
            return qn_fail(QUERN_ERROR_IMAGE,
                           "%s is neither CUDA source nor an image (cubin, PTX or fatbin)", path);
        }
        return new_from_source(out, engine, data, path, o);
    }
    if (any_options(o)) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "%s is compiled already: compiler options, headers and name expressions are "
                       "for source",
                       path);
    }
    quern_status status = new_from_image(out, engine, &image);
    if (status == QUERN_ERROR_IMAGE) {
        qn_error_prefix("%s: ", path);
    }
    return status;
}

quern_status quern_module_open(quern_module **out, quern_engine *engine, const char *path,
                               const quern_module_options *options)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    QN_CHECK_NOT_NULL(path);
    quern_module_options o;
    QN_TRY(qn_module_options_take(&o, options));
    char *data;
    size_t size;
    QN_TRY(qn_file_read(path, &data, &size));
    quern_status status = new_from_file(out, engine, path, data, size, &o);
    qn_free(data);
    return status;
}

/* ---- references ----------------------------------------------------------------------------- */

quern_module *quern_module_retain(quern_module *module)
{
    if (qn_object_is(module, QN_OBJECT_MODULE)) {
        atomic_fetch_add_explicit(&module->references, 1, memory_order_relaxed);
    }
    return module;
}

static void end(qn_deferred *deferred)
{
    quern_module *module =
        (quern_module *)(void *)((char *)deferred - offsetof(quern_module, deferred));
    quern_engine *engine = module->engine;
    if (module->loaded) {
        /* its functions may be queued on any stream, even a foreign one; if one has failed, the
         * next call that waits reports it */
        (void)engine->home.methods->synchronize(engine->home.device);
        qn_module_free(engine, module->loaded);
    }
    qn_arena_free(&module->arena);
    qn_free(module);
    qn_home_release(&engine->home);
}

void quern_module_release(quern_module *module)
{
    if (!qn_object_can_free(__func__, module, QN_OBJECT_MODULE) ||
        atomic_fetch_sub_explicit(&module->references, 1, memory_order_acq_rel) != 1) {
        return;
    }
    qn_object_end(&module->object);
    module->deferred.finish = end;
    if (!qn_homes_defer(&module->engine->home, &module->deferred)) {
        end(&module->deferred); /* else later: what it waits for would end the capture */
    }
}
