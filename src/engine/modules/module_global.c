/* SPDX-License-Identifier: MIT
 *
 * module_global: variables of a module as arrays. In: a name, a dtype and a shape. Out: an array
 * over the variable's memory, which keeps the module alive.
 */
#include "engine/modules/modules.h"
#include <string.h>

typedef struct variable {
    void *pointer;
    uint64_t bytes;
} variable;

static quern_status get(void *context, quern_module *module, const char *own)
{
    quern_engine *engine = module->engine;
    variable *v = context;
    return engine->home.methods->module_global(engine->home.device, &v->pointer, &v->bytes,
                                               module->loaded->handle, own);
}

/* "all of it": one dimension of as many elements as the variable holds. */
static quern_status shape_of_all(int64_t *extent, const char *name, quern_dtype dtype,
                                 uint64_t bytes)
{
    uint64_t item = quern_dtype_size(dtype);
    if (bytes % item != 0) {
        return qn_fail(QUERN_ERROR_SHAPE,
                       "%s has %llu bytes, which is not a multiple of the %llu of %s: pass a shape",
                       name, (unsigned long long)bytes, (unsigned long long)item,
                       quern_dtype_name(dtype));
    }
    *extent = (int64_t)(bytes / item);
    return QUERN_OK;
}

static quern_status check_fit(const char *name, quern_dtype dtype, int ndim, const int64_t *shape,
                              uint64_t bytes)
{
    int64_t count;
    uint32_t item = (uint32_t)quern_dtype_size(dtype);
    QN_TRY(qn_shape_check(&count, ndim, shape, item));
    if ((uint64_t)count * item <= bytes) {
        return QUERN_OK;
    }
    qn_text text = {0};
    qn_shape_print(&text, ndim, shape);
    quern_status status =
        qn_fail(QUERN_ERROR_SHAPE, "%s has %llu bytes, and an array of %s %s takes %llu", name,
                (unsigned long long)bytes, quern_dtype_name(dtype),
                text.data ? text.data : "of that shape", (unsigned long long)count * item);
    qn_text_free(&text);
    return status;
}

static void release_module(void *module)
{
    quern_module_release(module);
}

quern_status quern_module_global(quern_array **out, quern_module *module, const char *name,
                                 quern_dtype dtype, int ndim, const int64_t *shape)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(module, QN_OBJECT_MODULE);
    QN_CHECK_NOT_NULL(name);
    if (!qn_dtype_find(dtype)) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "%d is not a dtype", (int)dtype);
    }
    variable v = {0};
    QN_TRY(qn_module_find(module, "global", name, get, &v,
                          module->engine->home.methods->module_globals));
    int64_t all;
    if (!shape && ndim == 0) {
        QN_TRY(shape_of_all(&all, name, dtype, v.bytes));
        shape = &all;
        ndim = 1;
    }
    QN_TRY(check_fit(name, dtype, ndim, shape, v.bytes));
    QN_TRY(quern_array_wrap(out, module->engine, dtype, ndim, shape, NULL, v.pointer,
                            release_module, module));
    (void)quern_module_retain(module);
    return QUERN_OK;
}
