/* SPDX-License-Identifier: MIT
 *
 * function: the functions of a module, found by name, and their facts. In: a module and a name.
 * Out: a quern_function that knows the size of each of its parameters. It keeps its module alive.
 */
#include "engine/modules/modules.h"
#include <string.h>

/* ---- making --------------------------------------------------------------------------------- */

/* Ask the device once for what every call needs. */
static quern_status read_parameters(quern_function *function)
{
    quern_engine *engine = function->module->engine;
    for (size_t k = 0; k < function->parameter_count; k++) {
        QN_TRY(engine->home.methods->function_parameter(engine->home.device, function->handle, k,
                                                        &function->parameters[k].offset,
                                                        &function->parameters[k].bytes));
    }
    return QUERN_OK;
}

static quern_status function_new(quern_function **out, quern_module *module, void *handle,
                                 const char *name)
{
    quern_engine *engine = module->engine;
    quern_function_info info;
    QN_TRY(qn_home_function_info(&info, &engine->home, handle));
    size_t known = info.parameter_count != SIZE_MAX ? info.parameter_count : 0;
    quern_function *function =
        qn_calloc(1, sizeof *function + known * sizeof function->parameters[0]);
    char *copy = qn_strdup(name);
    if (!function || !copy) {
        qn_free(function);
        qn_free(copy);
        return qn_fail_memory("looking up a function");
    }
    atomic_init(&function->references, 1);
    function->name = copy;
    function->handle = handle;
    function->parameter_count = info.parameter_count;
    function->module = quern_module_retain(module);
    function->object = QN_OBJECT_FUNCTION;
    quern_status status = known > 0 ? read_parameters(function) : QUERN_OK;
    if (status != QUERN_OK) {
        quern_function_release(function);
        return status;
    }
    qn_function_find_handles(function);
    *out = function;
    return QUERN_OK;
}

static quern_status get(void *context, quern_module *module, const char *own)
{
    quern_engine *engine = module->engine;
    return engine->home.methods->function_get(engine->home.device, context, module->loaded->handle,
                                              own);
}

quern_status quern_module_function(quern_function **out, quern_module *module, const char *name)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(module, QN_OBJECT_MODULE);
    QN_CHECK_NOT_NULL(name);
    void *handle;
    QN_TRY(qn_module_find(module, "function", name, get, &handle,
                          module->engine->home.methods->module_functions));
    return function_new(out, module, handle, name);
}

/* ---- references ----------------------------------------------------------------------------- */

quern_function *quern_function_retain(quern_function *function)
{
    if (qn_object_is(function, QN_OBJECT_FUNCTION)) {
        atomic_fetch_add_explicit(&function->references, 1, memory_order_relaxed);
    }
    return function;
}

void quern_function_release(quern_function *function)
{
    if (qn_object_can_free(__func__, function, QN_OBJECT_FUNCTION) &&
        atomic_fetch_sub_explicit(&function->references, 1, memory_order_acq_rel) == 1) {
        quern_module *module = function->module;
        qn_object_end(&function->object);
        qn_free(function->name);
        qn_free(function);
        quern_module_release(module);
    }
}

/* ---- the driver's own ----------------------------------------------------------------------- */

const char *quern_function_name(const quern_function *function)
{
    return qn_object_is(function, QN_OBJECT_FUNCTION) ? function->name : "";
}

void *quern_module_handle(const quern_module *module)
{
    if (!qn_object_is(module, QN_OBJECT_MODULE)) {
        return NULL;
    }
    const quern_device_methods *methods = module->engine->home.methods;
    return methods->module_handle
               ? methods->module_handle(module->engine->home.device, module->loaded->handle)
               : NULL;
}

void *quern_function_handle(const quern_function *function)
{
    if (!qn_object_is(function, QN_OBJECT_FUNCTION)) {
        return NULL;
    }
    const quern_engine *engine = function->module->engine;
    return engine->home.methods->function_handle
               ? engine->home.methods->function_handle(engine->home.device, function->handle)
               : NULL;
}

/* ---- facts ---------------------------------------------------------------------------------- */

quern_status quern_function_get_info(quern_function_info *info, quern_function *function)
{
    qn_error_reset();
    QN_CHECK_OBJECT(function, QN_OBJECT_FUNCTION);
    QN_TO_GIVE(quern_function_info, own, info);
    QN_TRY(qn_home_function_info(&own, &function->module->engine->home, function->handle));
    QN_GIVE(quern_function_info, own, info);
    return QUERN_OK;
}

quern_status quern_function_get_parameter(uint64_t *offset, uint64_t *bytes,
                                          quern_function *function, size_t index)
{
    qn_error_reset();
    QN_CHECK_OBJECT(function, QN_OBJECT_FUNCTION);
    QN_CHECK_NOT_NULL(offset);
    QN_CHECK_NOT_NULL(bytes);
    *offset = *bytes = 0;
    if (function->parameter_count == SIZE_MAX) {
        return qn_fail(
            QUERN_ERROR_NOT_SUPPORTED,
            "this driver does not report the parameters of a function; one for CUDA 12.4 "
            "or newer does");
    }
    if (index >= function->parameter_count) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "%s has no parameter %zu: it has %zu, counted from 0", function->name, index,
                       function->parameter_count);
    }
    *offset = function->parameters[index].offset;
    *bytes = function->parameters[index].bytes;
    return QUERN_OK;
}

quern_status quern_function_set(quern_function *function, quern_function_property property,
                                int32_t value)
{
    qn_error_reset();
    QN_CHECK_OBJECT(function, QN_OBJECT_FUNCTION);
    static const struct {
        quern_function_property property;
        int32_t least, most;
        const char *name;
    } properties[] = {
        {QUERN_FUNCTION_SHARED_CARVEOUT, -1, 100, "the carveout of shared memory"},
        {QUERN_FUNCTION_NON_PORTABLE_CLUSTER, 0, 1,
         "the property of clusters that are not portable"},
    };
    for (size_t k = 0; k < QN_COUNT(properties); k++) {
        if (properties[k].property != property) {
            continue;
        }
        if (value < properties[k].least || value > properties[k].most) {
            return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "%s is %d, allowed are %d to %d",
                           properties[k].name, value, properties[k].least, properties[k].most);
        }
        quern_engine *engine = function->module->engine;
        return engine->home.methods->function_set(engine->home.device, function->handle, property,
                                                  value);
    }
    return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "%d is not a quern_function_property",
                   (int)property);
}

quern_status quern_function_occupancy(uint32_t *blocks, quern_function *function,
                                      uint32_t block_threads, uint32_t shared_bytes)
{
    qn_error_reset();
    QN_CHECK_NOT_NULL(blocks);
    *blocks = 0;
    QN_CHECK_OBJECT(function, QN_OBJECT_FUNCTION);
    quern_engine *engine = function->module->engine;
    return engine->home.methods->occupancy(engine->home.device, function->handle, block_threads,
                                           shared_bytes, blocks);
}
