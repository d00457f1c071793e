/* SPDX-License-Identifier: MIT
 *
 * Images loaded into the GPU. In: a cubin, PTX or a fatbin. Out: a module and its functions; for an
 * image that is refused, the driver's own log and both architectures, where they are known.
 *
 * The driver takes an image without its size and reads as far as the headers say. So the headers
 * are held against the size here, and PTX is given its final zero byte: a damaged cache entry must
 * be an error and not a crash.
 */
#include "device/cuda_device.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOG_BYTES = 8192, FATBIN_MAGIC = (int)0xba55ed50u };

/* ---- what an image says of itself ----------------------------------------------------------- */

static quern_status fail_damaged(const char *kind, size_t bytes)
{
    return qn_fail(QUERN_ERROR_IMAGE,
                   "the image of %zu bytes is not a whole %s: it is damaged, cut "
                   "short, or something else",
                   bytes, kind);
}

static bool inside(uint64_t offset, uint64_t length, size_t bytes)
{
    return offset <= bytes && length <= bytes - offset;
}

static quern_status check_cubin(const unsigned char *image, size_t bytes)
{
    Elf64_Ehdr header;
    if (bytes < sizeof header) {
        return fail_damaged("cubin", bytes);
    }
    memcpy(&header, image, sizeof header);
    bool whole = memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
                 header.e_ident[EI_CLASS] == ELFCLASS64 &&
                 inside(header.e_phoff, (uint64_t)header.e_phnum * sizeof(Elf64_Phdr), bytes) &&
                 inside(header.e_shoff, (uint64_t)header.e_shnum * sizeof(Elf64_Shdr), bytes);
    for (size_t k = 0; whole && k < header.e_shnum; k++) {
        Elf64_Shdr section;
        memcpy(&section, image + header.e_shoff + k * sizeof section, sizeof section);
        whole = section.sh_type == SHT_NOBITS || inside(section.sh_offset, section.sh_size, bytes);
    }
    return whole ? QUERN_OK : fail_damaged("cubin", bytes);
}

static quern_status check_fatbin(const unsigned char *image, size_t bytes)
{
    struct {
        uint32_t magic;
        uint16_t version, header_bytes;
        uint64_t bytes;
    } header;
    if (bytes < sizeof header) {
        return fail_damaged("fatbin", bytes);
    }
    memcpy(&header, image, sizeof header);
    return header.magic == (uint32_t)FATBIN_MAGIC &&
                   inside(header.header_bytes, header.bytes, bytes)
               ? QUERN_OK
               : fail_damaged("fatbin", bytes);
}

/** 90 for code of sm_90; 0 when it cannot be told. */
static int image_arch(quern_image_kind kind, const char *image, size_t bytes)
{
    if (kind == QUERN_IMAGE_CUBIN) {
        Elf64_Ehdr header;
        memcpy(&header, image, sizeof header);
        /* since CUDA 13 the architecture stands one byte higher */
        return header.e_ident[EI_ABIVERSION] >= 8 ? header.e_flags >> 8 & 0xff
                                                  : header.e_flags & 0xff;
    }
    if (kind == QUERN_IMAGE_PTX) {
        const char *target = memmem(image, bytes, ".target", 7);
        const char *name = target ? strstr(target, "sm_") : NULL;
        return name ? atoi(name + 3) : 0;
    }
    return 0;
}

/* ---- loading -------------------------------------------------------------------------------- */

/** Load with the logs of the PTX compiler: code that is ready has none. */
static cu_result load_logged(cu_module *module, const void *image, char log[LOG_BYTES])
{
    cu_jit_option options[] = {CU_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_BYTES};
    void *values[] = {log, (void *)(uintptr_t)LOG_BYTES};
    log[0] = '\0';
    cu_result result = qn_cuda.module_load(module, image, QN_COUNT(options), options, values);
    log[LOG_BYTES - 1] = '\0';
    return result;
}

static quern_status fail_image(cuda_device *device, cu_result result, int arch, const char *log)
{
    quern_status status = qn_cuda_fail(result, "loading the image");
    int own = qn_cuda_arch(device->handle);
    if (status == QUERN_ERROR_IMAGE && arch && arch != own) {
        qn_error_prefix("the image is for sm_%d and the GPU is sm_%d: ", arch, own);
    }
    qn_error_stage("load");
    if (log[0]) {
        qn_error_log(qn_str_of(log));
    }
    return status;
}

static quern_status load(cuda_device *device, void **out, quern_image_kind kind, const char *image,
                         size_t bytes)
{
    cu_module module = NULL;
    cu_result result;
    if (kind == QUERN_IMAGE_CUBIN) {
        CUDA_IN(device, result, qn_cuda.module_load(&module, image, 0, NULL, NULL));
        if (result != CU_SUCCESS) {
            return fail_image(device, result, image_arch(kind, image, bytes), "");
        }
    } else {
        char log[LOG_BYTES];
        CUDA_IN(device, result, load_logged(&module, image, log));
        if (result != CU_SUCCESS) {
            return fail_image(device, result, image_arch(kind, image, bytes), log);
        }
    }
    *out = module;
    return QUERN_OK;
}

static quern_status load_ptx(cuda_device *device, void **out, const char *image, size_t bytes)
{
    char *text = qn_strndup(image, bytes);
    if (!text) {
        return qn_fail_memory("loading PTX");
    }
    quern_status status = load(device, out, QUERN_IMAGE_PTX, text, strlen(text));
    qn_free(text);
    return status;
}

quern_status qn_cuda_module_load(quern_device *quern, void **out, quern_image_kind kind,
                                 const void *image, size_t bytes)
{
    *out = NULL;
    switch (kind) {
    case QUERN_IMAGE_PTX:
        return load_ptx(cuda_of(quern), out, image, bytes);
    case QUERN_IMAGE_CUBIN:
        QN_TRY(check_cubin(image, bytes));
        break;
    case QUERN_IMAGE_FATBIN:
        QN_TRY(check_fatbin(image, bytes));
        break;
    default:
        return qn_fail(QUERN_ERROR_IMAGE, "unknown kind of image: %d", (int)kind);
    }
    return load(cuda_of(quern), out, kind, image, bytes);
}

void qn_cuda_module_free(quern_device *quern, void *module)
{
    cu_result result;
    if (module) {
        CUDA_IN(cuda_of(quern), result, qn_cuda.module_free(module));
        (void)result; /* after a kernel's failure everything fails, and the context frees it all */
    }
}

/* ---- functions ------------------------------------------------------------------------------ */

quern_status qn_cuda_function_get(quern_device *quern, void **out, void *module, const char *name)
{
    *out = NULL;
    cu_function function = NULL;
    cu_result result;
    CUDA_IN(cuda_of(quern), result, qn_cuda.module_function(&function, module, name));
    if (result == CU_NOT_FOUND) {
        return qn_fail(
            QUERN_ERROR_INVALID_ARGUMENT,
            "the module has no kernel '%s'; a kernel that is not extern \"C\" is known by "
            "its mangled name",
            name);
    }
    if (result != CU_SUCCESS) {
        return qn_cuda_fail(result, "looking up a kernel");
    }
    *out = function;
    return QUERN_OK;
}

static cu_result read_info(cu_function function, quern_function_info *info)
{
    const struct {
        cu_function_attribute attribute;
        uint32_t *to;
    } facts[] = {
        {CU_FUNC_REGISTERS, &info->registers},
        {CU_FUNC_SHARED_BYTES, &info->shared_bytes},
        {CU_FUNC_LOCAL_BYTES, &info->local_bytes},
        {CU_FUNC_MAX_THREADS, &info->max_threads},
    };
    for (size_t k = 0; k < QN_COUNT(facts); k++) {
        int value = 0;
        cu_result result = qn_cuda.function_get(&value, facts[k].attribute, function);
        if (result != CU_SUCCESS) {
            return result;
        }
        *facts[k].to = (uint32_t)value;
    }
    return CU_SUCCESS;
}

quern_status qn_cuda_function_info(quern_device *quern, void *function, quern_function_info *info)
{
    *info = (quern_function_info){0};
    cu_result result;
    CUDA_IN(cuda_of(quern), result, read_info(function, info));
    return result == CU_SUCCESS ? QUERN_OK : qn_cuda_fail(result, "asking for facts of a kernel");
}
