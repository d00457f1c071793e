/* SPDX-License-Identifier: MIT
 *
 * handle_argument: parameters that are texture or surface objects. In: a function's source, and
 * values. Out: an error that names the parameter where another kind of value is passed: all of them
 * have 8 bytes, so that nothing else would tell, and the GPU would read anywhere. The thing to
 * know: images without a source do not say what their parameters are.
 */
#include "engine/modules/modules.h"
#include <string.h>

/* What a parameter is declared as. */
static qn_parameter_handle declared_as(const quern_module *module, const char *function,
                                       uint32_t index)
{
    qn_parameter_handle handle = QN_NO_HANDLE;
    for (size_t t = 0; t < module->text_count && handle == QN_NO_HANDLE; t++) {
        handle = qn_source_parameter_handle(module->texts[t].text, function, index);
    }
    return handle;
}

static bool may_have_handles(const quern_module *module)
{
    for (size_t t = 0; t < module->text_count; t++) {
        if (strstr(module->texts[t].text, "Object")) { /* cudaTextureObject_t, CUsurfObject */
            return true;
        }
    }
    return false;
}

void qn_function_find_handles(quern_function *f)
{
    const size_t count = QN_MIN(f->parameter_count, (size_t)64); /* 64 where it is not known */
    if (!may_have_handles(f->module)) {
        return;
    }
    for (uint32_t k = 0; k < count; k++) {
        const qn_parameter_handle handle = declared_as(f->module, f->name, k);
        f->textures |= (uint64_t)(handle == QN_TEXTURE_HANDLE) << k;
        f->surfaces |= (uint64_t)(handle == QN_SURFACE_HANDLE) << k;
    }
}

qn_str qn_function_parameter_name(const quern_function *f, uint32_t index)
{
    qn_str name = {"", 0};
    for (size_t t = 0; t < f->module->text_count && name.length == 0; t++) {
        name = qn_source_parameter(f->module->texts[t].text, f->name, index);
    }
    return name;
}

static const char *what_is(const quern_value *value)
{
    switch (value->kind) {
    case QUERN_VALUE_ARRAY:
        return "an array";
    case QUERN_VALUE_TEXTURE:
        return "a texture";
    case QUERN_VALUE_SURFACE:
        return "a surface";
    default:
        return "a pointer";
    }
}

/* A number may be a handle that another library has made. */
static bool may_be(const quern_value *value, int32_t wanted)
{
    const bool is_handle = value->kind == QUERN_VALUE_TEXTURE || value->kind == QUERN_VALUE_SURFACE;
    const bool is_address = value->kind == QUERN_VALUE_ARRAY || value->kind == QUERN_VALUE_POINTER;
    return value->kind == wanted || (!is_handle && !is_address);
}

quern_status qn_function_check_handle(const quern_function *f, size_t index,
                                      const quern_value *value)
{
    const uint64_t bit = index < 64 ? UINT64_C(1) << index : 0;
    const bool texture = (f->textures & bit) != 0;
    if (!texture && !(f->surfaces & bit)) {
        return QUERN_OK;
    }
    const bool has_handles = f->module->engine->home.methods->cuda_array_new != NULL;
    if (has_handles && may_be(value, texture ? QUERN_VALUE_TEXTURE : QUERN_VALUE_SURFACE)) {
        return QUERN_OK;
    }
    const qn_str name = qn_function_parameter_name(f, (uint32_t)index);
    const char *type = texture ? "cudaTextureObject_t" : "cudaSurfaceObject_t";
    const char *kind = texture ? "texture" : "surface";
    if (!has_handles) {
        return qn_fail(QUERN_ERROR_NOT_SUPPORTED,
                       "%s: parameter '%.*s' is a %s, and %s objects need a GPU: the device \"%s\" "
                       "has none",
                       f->name, (int)name.length, name.data, type, kind,
                       f->module->engine->home.place);
    }
    return qn_fail(QUERN_ERROR_TYPE,
                   "%s: argument %zu is %s, but parameter '%.*s' is a %s: pass a %s "
                   "(quern_%s_new)",
                   f->name, index + 1, what_is(value), (int)name.length, name.data, type, kind,
                   kind);
}
