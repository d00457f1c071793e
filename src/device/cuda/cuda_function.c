/* SPDX-License-Identifier: MIT
 *
 * What is in a module on the GPU: its functions and variables, by name, and their facts. In: names
 * that the image has. Out: handles, addresses, numbers. Names come from the image. If it cannot be
 * read (say, a fatbin packed with zstd on a machine without libzstd), they come from the driver,
 * which lists them since CUDA 12.4; an older driver does not know the parameters of a function
 * either.
 */
#include "device/cuda/cuda_device.h"

/* ---- by name -------------------------------------------------------------------------------- */

/* For an empty name, and for a variable's name that is a kernel's, the driver reports an invalid
 * value. */
static bool is_unknown_name(cu_result result)
{
    return result == CU_NOT_FOUND || result == CU_INVALID_VALUE;
}

quern_status qn_cuda_function_get(quern_device *quern, void **out, void *handle, const char *name)
{
    const cuda_module *module = handle;
    *out = NULL;
    cu_function function = NULL;
    cu_result result;
    CUDA_IN_RELAXED(cuda_of(quern), result, true,
                    qn_cuda.module_function(&function, module->handle, name));
    if (is_unknown_name(result)) {
        return qn_fail(QUERN_ERROR_NAME,
                       "the module has no kernel '%s'; a kernel that is not extern \"C\" is known "
                       "by its mangled name",
                       name);
    }
    if (result != CU_SUCCESS) {
        return qn_cuda_fail(result, "looking up a kernel");
    }
    *out = function;
    return QUERN_OK;
}

quern_status qn_cuda_module_global(quern_device *quern, void **pointer, uint64_t *bytes,
                                   void *handle, const char *name)
{
    const cuda_module *module = handle;
    *pointer = NULL;
    *bytes = 0;
    cu_pointer address = 0;
    size_t size = 0;
    cu_result result;
    CUDA_IN_RELAXED(cuda_of(quern), result, true,
                    qn_cuda.module_global(&address, &size, module->handle, name));
    if (is_unknown_name(result)) {
        return qn_fail(QUERN_ERROR_NAME, "the module has no variable '%s'", name);
    }
    if (result != CU_SUCCESS) {
        return qn_cuda_fail(result, "looking up a variable");
    }
    *pointer = (void *)(uintptr_t)address;
    *bytes = size;
    return QUERN_OK;
}

/* ---- all names ------------------------------------------------------------------------------ */

/* Put the names of up to `capacity` functions into `names`. */
static cu_result ask_names(cu_module module, const char **names, unsigned capacity)
{
    cu_function *functions = qn_calloc(capacity + 1, sizeof *functions);
    if (!functions) {
        return CU_OUT_OF_MEMORY;
    }
    cu_result result = qn_cuda.module_functions(functions, capacity, module);
    for (unsigned k = 0; k < capacity && result == CU_SUCCESS; k++) {
        result = qn_cuda.function_name(&names[k], functions[k]);
    }
    qn_free(functions);
    return result;
}

static quern_status ask_driver(cuda_device *device, cu_module module, size_t *count,
                               const char **names, size_t capacity)
{
    *count = SIZE_MAX;
    if (!qn_cuda.module_function_count || !qn_cuda.module_functions || !qn_cuda.function_name) {
        return QUERN_OK;
    }
    unsigned known = 0;
    cu_result result;
    CUDA_IN(device, result, qn_cuda.module_function_count(&known, module));
    unsigned wanted = (unsigned)QN_MIN((size_t)known, capacity);
    if (result == CU_SUCCESS && wanted > 0) {
        CUDA_IN(device, result, ask_names(module, names, wanted));
    }
    if (result != CU_SUCCESS) {
        return qn_cuda_fail(result, "listing the functions of a module");
    }
    *count = known;
    return QUERN_OK;
}

static void give_names(size_t *count, const char **names, size_t capacity, const char **known,
                       size_t known_count)
{
    for (size_t k = 0; k < QN_MIN(known_count, capacity); k++) {
        names[k] = known[k];
    }
    *count = known_count;
}

quern_status qn_cuda_module_functions(quern_device *quern, void *handle, size_t *count,
                                      const char **names, size_t capacity)
{
    const cuda_module *module = handle;
    if (!module->named) {
        return ask_driver(cuda_of(quern), module->handle, count, names, capacity);
    }
    give_names(count, names, capacity, module->names.functions, module->names.function_count);
    return QUERN_OK;
}

quern_status qn_cuda_module_globals(quern_device *quern, void *handle, size_t *count,
                                    const char **names, size_t capacity)
{
    (void)quern;
    const cuda_module *module = handle;
    give_names(count, names, capacity, module->names.globals, module->names.global_count);
    *count = module->named ? *count : SIZE_MAX;
    return QUERN_OK;
}

/* ---- facts ---------------------------------------------------------------------------------- */

/* The number of parameters: the first index that the driver refuses. */
static cu_result count_parameters(cu_function function, size_t *count)
{
    size_t offset, bytes;
    cu_result result;
    *count = 0;
    while ((result = qn_cuda.function_parameter(function, *count, &offset, &bytes)) == CU_SUCCESS) {
        ++*count;
    }
    return result == CU_INVALID_VALUE ? CU_SUCCESS : result;
}

static cu_result read_info(cu_function function, quern_function_info *info)
{
    uint32_t carveout = 0;
    const struct {
        cu_function_attribute attribute;
        uint32_t *to;
    } facts[] = {
        {CU_FUNC_REGISTERS, &info->registers},
        {CU_FUNC_SHARED_BYTES, &info->shared_bytes},
        {CU_FUNC_LOCAL_BYTES, &info->local_bytes},
        {CU_FUNC_CONSTANT_BYTES, &info->constant_bytes},
        {CU_FUNC_MAX_THREADS, &info->max_threads},
        {CU_FUNC_PTX_VERSION, &info->ptx_version},
        {CU_FUNC_BINARY_VERSION, &info->binary_version},
        {CU_FUNC_SHARED_CARVEOUT, &carveout},
    };
    for (size_t k = 0; k < QN_COUNT(facts); k++) {
        int value = 0;
        cu_result result = qn_cuda.function_get(&value, facts[k].attribute, function);
        if (result != CU_SUCCESS) {
            return result;
        }
        *facts[k].to = (uint32_t)value;
    }
    info->shared_carveout = (int32_t)carveout;
    info->parameter_count = SIZE_MAX;
    return qn_cuda.function_parameter ? count_parameters(function, &info->parameter_count)
                                      : CU_SUCCESS;
}

quern_status qn_cuda_function_info(quern_device *quern, void *function, quern_function_info *info)
{
    QN_TO_GIVE(quern_function_info, facts, info);
    cuda_device *device = cuda_of(quern);
    cu_result result;
    CUDA_IN(device, result, read_info(function, &facts));
    if (result != CU_SUCCESS) {
        return qn_cuda_fail(result, "asking for facts of a kernel");
    }
    uint32_t most = (uint32_t)qn_cuda_attribute(device->handle, CU_MAX_SHARED_PER_BLOCK_OPTIN);
    facts.max_dynamic_shared = most - QN_MIN(most, facts.shared_bytes);
    QN_GIVE(quern_function_info, facts, info);
    return QUERN_OK;
}

quern_status qn_cuda_function_parameter(quern_device *quern, void *function, size_t index,
                                        uint64_t *offset, uint64_t *bytes)
{
    size_t at = 0, size = 0;
    cu_result result;
    CUDA_IN(cuda_of(quern), result, qn_cuda.function_parameter(function, index, &at, &size));
    *offset = at;
    *bytes = size;
    return result == CU_SUCCESS ? QUERN_OK
                                : qn_cuda_fail(result, "asking for a parameter of a kernel");
}

quern_status qn_cuda_function_set(quern_device *quern, void *function,
                                  quern_function_property property, int32_t value)
{
    cu_function_attribute attribute = property == QUERN_FUNCTION_SHARED_CARVEOUT
                                          ? CU_FUNC_SHARED_CARVEOUT
                                          : CU_FUNC_NON_PORTABLE_CLUSTER;
    cu_result result;
    CUDA_IN(cuda_of(quern), result, qn_cuda.function_set(function, attribute, value));
    return result == CU_SUCCESS ? QUERN_OK
                                : qn_cuda_fail(result, "changing a property of a kernel");
}

/* The device's handle of a function is the driver's own. */
void *qn_cuda_function_handle(quern_device *quern, void *function)
{
    (void)quern;
    return function;
}
