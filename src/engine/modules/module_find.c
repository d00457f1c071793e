/* SPDX-License-Identifier: MIT
 *
 * module_find: a function or a variable of a module, by any name that a user may give it. In: the
 * name, and the slots of the device that find and list. Out: what `get` found, or the names that
 * there are. The thing to know: all names are listed only when the name itself is not there,
 * because a driver may have to load every function for it.
 */
#include "engine/modules/modules.h"
#include <string.h>

/* Fill `names->own` with all that the device lists; it stays NULL where the device does not say.
 */
static quern_status read_names(qn_user_names *names, quern_module *module, qn_name_lister list,
                               qn_arena *arena)
{
    quern_device *device = module->engine->home.device;
    size_t count = SIZE_MAX;
    if (list) {
        QN_TRY(list(device, module->loaded->handle, &count, NULL, 0));
    }
    if (count == SIZE_MAX) {
        return QUERN_OK;
    }
    const char **own = qn_arena_alloc(arena, (count + 1) * sizeof *own);
    if (!own) {
        return qn_fail_memory("looking up a name");
    }
    if (count > 0) {
        QN_TRY(list(device, module->loaded->handle, &count, own, count));
    }
    names->own = own;
    names->count = count;
    return QUERN_OK;
}

/* Explain the name of a template in the module's source: only its instances have code. */
static bool refuse_template(const quern_module *module, const char *name)
{
    qn_text example = {0};
    bool is = false;
    for (size_t t = 0; t < module->text_count && !is; t++) {
        is = qn_source_instance(&example, module->texts[t].text, name);
    }
    if (is && !example.failed) {
        qn_fail(QUERN_ERROR_NAME,
                "'%s' is a template, and a module has code only for the instances that were asked "
                "for: give the whole name expression, such as '%s'",
                name, example.data);
    }
    qn_text_free(&example);
    return is;
}

/* The name was not found as it is: look among all. */
static quern_status find_among_all(qn_user_names *names, quern_module *module, const char *name,
                                   qn_name_getter get, void *context, qn_name_lister list)
{
    qn_arena arena = {0};
    quern_status status = read_names(names, module, list, &arena);
    if (status == QUERN_OK && !names->own) {
        status = QUERN_ERROR_NAME; /* as the device has explained */
    } else if (status == QUERN_OK) {
        const char *own = qn_name_find(names, name);
        status = own != NULL                     ? get(context, module, own)
                 : refuse_template(module, name) ? QUERN_ERROR_NAME
                                                 : qn_name_refuse(names, name);
    }
    qn_arena_free(&arena);
    return status;
}

quern_status qn_module_find(quern_module *module, const char *what, const char *name,
                            qn_name_getter get, void *context, qn_name_lister list)
{
    qn_user_names names = {
        .what = what,
        .expressions = module->expressions,
        .lowered = (const char *const *)module->loaded->lowered,
        .expression_count = QN_MIN(module->expression_count, module->loaded->lowered_count),
    };
    const char *lowered = qn_name_find(&names, name);
    quern_status status = get(context, module, lowered ? lowered : name);
    return status == QUERN_ERROR_NAME ? find_among_all(&names, module, name, get, context, list)
                                      : status;
}

/* The name expression that asked for `own`, else `own`. */
static const char *public_name(const quern_module *module, const char *own)
{
    size_t count = QN_MIN(module->expression_count, module->loaded->lowered_count);
    for (size_t k = 0; k < count; k++) {
        if (strcmp(module->loaded->lowered[k], own) == 0) {
            return module->expressions[k];
        }
    }
    return own;
}

quern_status quern_module_function_names(size_t *count, const char **names, size_t capacity,
                                         quern_module *module)
{
    qn_error_reset();
    QN_CHECK_NOT_NULL(count);
    *count = 0;
    QN_CHECK_OBJECT(module, QN_OBJECT_MODULE);
    if (capacity > 0) {
        QN_CHECK_NOT_NULL(names);
    }
    quern_engine *engine = module->engine;
    size_t there = SIZE_MAX;
    QN_TRY(engine->home.methods->module_functions(engine->home.device, module->loaded->handle,
                                                  &there, names, capacity));
    if (there == SIZE_MAX) {
        return qn_fail(QUERN_ERROR_NOT_SUPPORTED,
                       "this driver does not report the names of a module's functions");
    }
    for (size_t k = 0; k < there && k < capacity; k++) {
        names[k] = public_name(module, names[k]);
    }
    *count = there;
    return QUERN_OK;
}
