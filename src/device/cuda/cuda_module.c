/* SPDX-License-Identifier: MIT
 *
 * Images loaded into the GPU. In: a cubin, PTX or a fatbin. Out: a module that knows its names; for
 * an image that is refused, the driver's own log and both architectures, where they are known.
 *
 * The driver takes an image without its size and reads as far as the headers say. So the headers
 * are checked against the size (image_kind.c), and PTX is given its final zero byte: a damaged
 * cache entry must be an error and not a crash.
 *
 * Names are read at once, while the image is there. Reading them later would need a copy of the
 * image, and copying a cubin is about as much work.
 */
#include "device/cuda/cuda_device.h"

#include <string.h>

enum { LOG_BYTES = 8192 };

/* ---- loading -------------------------------------------------------------------------------- */

/* Load with the logs of the PTX compiler: machine code has none. */
static cu_result load_logged(cu_module *module, const void *image, char log[LOG_BYTES])
{
    cu_jit_option options[] = {CU_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_BYTES};
    void *values[] = {log, (void *)(uintptr_t)LOG_BYTES};
    log[0] = '\0';
    cu_result result = qn_cuda.module_load(module, image, QN_COUNT(options), options, values);
    log[LOG_BYTES - 1] = '\0';
    return result;
}

/* Whether the image was made for other GPUs than this one, and not merely refused by it. */
static bool is_for_others(cuda_device *device, cu_result result, quern_image_kind kind,
                          const char *image, size_t bytes)
{
    int own = qn_cuda_arch(device->handle), arch = qn_image_arch(kind, image, bytes);
    return kind == QUERN_IMAGE_FATBIN ? result == CU_NO_BINARY_FOR_GPU
           : kind == QUERN_IMAGE_PTX  ? arch > own
                                      : arch != own;
}

static quern_status fail_image(cuda_device *device, cu_result result, quern_image_kind kind,
                               const char *image, size_t bytes, const char *log)
{
    quern_status status = qn_cuda_fail(result, "loading the image");
    qn_text targets = {0};
    qn_image_print_targets(&targets, kind, image, bytes);
    if (status == QUERN_ERROR_IMAGE && targets.data &&
        is_for_others(device, result, kind, image, bytes)) {
        qn_error_prefix("the image is for %.300s and the GPU is sm_%d: ", targets.data,
                        qn_cuda_arch(device->handle));
    }
    qn_text_free(&targets);
    qn_error_stage("load");
    if (log[0]) {
        qn_error_log(qn_str_of(log));
    }
    return status;
}

static quern_status load(cuda_device *device, cu_module *module, quern_image_kind kind,
                         const char *image, size_t bytes)
{
    char log[LOG_BYTES] = "";
    cu_result result;
    if (kind == QUERN_IMAGE_CUBIN) {
        CUDA_IN_RELAXED(device, result, true, qn_cuda.module_load(module, image, 0, NULL, NULL));
    } else {
        CUDA_IN_RELAXED(device, result, true, load_logged(module, image, log));
    }
    return result == CU_SUCCESS ? QUERN_OK : fail_image(device, result, kind, image, bytes, log);
}

static quern_status load_ptx(cuda_device *device, cu_module *module, const char *image,
                             size_t bytes)
{
    char *text = qn_strndup(image, bytes);
    if (!text) {
        return qn_fail_memory("loading PTX");
    }
    quern_status status = load(device, module, QUERN_IMAGE_PTX, text, strlen(text));
    qn_free(text);
    return status;
}

quern_status qn_cuda_module_load(quern_device *quern, void **out, quern_image_kind kind,
                                 const void *image, size_t bytes)
{
    *out = NULL;
    QN_TRY(qn_image_check(kind, image, bytes));
    cuda_module *module = qn_calloc(1, sizeof *module);
    if (!module) {
        return qn_fail_memory("loading a module");
    }
    quern_status status = kind == QUERN_IMAGE_PTX
                              ? load_ptx(cuda_of(quern), &module->handle, image, bytes)
                              : load(cuda_of(quern), &module->handle, kind, image, bytes);
    if (status != QUERN_OK) {
        qn_free(module);
        return status;
    }
    module->named = qn_image_names_read(&module->names, kind, image, bytes);
    *out = module;
    return QUERN_OK;
}

void qn_cuda_module_free(quern_device *quern, void *handle)
{
    cuda_module *module = handle;
    cu_result result;
    if (module) {
        CUDA_IN_RELAXED(cuda_of(quern), result, true, qn_cuda.module_free(module->handle));
        (void)result; /* after a kernel's failure everything fails, and the context frees it all */
        qn_image_names_free(&module->names);
        qn_free(module);
    }
}

void *qn_cuda_module_handle(quern_device *quern, void *handle)
{
    (void)quern;
    return ((cuda_module *)handle)->handle;
}
