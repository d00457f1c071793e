/* SPDX-License-Identifier: MIT
 *
 * A header that the compiler did not find. In: its name, and the request. Out: a sentence: where it
 * was looked for, and what to do. What to do depends on whose header it is.
 */
#include "compile/nvrtc.h"

#include <string.h>

static bool begins(qn_str text, const char *prefix)
{
    return text.length >= strlen(prefix) && memcmp(text.data, prefix, strlen(prefix)) == 0;
}

/* Of CUDA or CCCL: in a folder of theirs, or one of the headers that kernels include. */
static bool is_cuda(qn_str name)
{
    static const char *const folders[] = {"cub/", "thrust/", "cuda/",
                                          "nv/",  "crt/",    "cooperative_groups/"};
    static const char *const names[] = {"cooperative_groups.h",
                                        "cuComplex.h",
                                        "cuda.h",
                                        "cuda_awbarrier.h",
                                        "cuda_bf16.h",
                                        "cuda_fp16.h",
                                        "cuda_fp4.h",
                                        "cuda_fp6.h",
                                        "cuda_fp8.h",
                                        "cuda_pipeline.h",
                                        "cuda_runtime.h",
                                        "cuda_runtime_api.h",
                                        "curand.h",
                                        "curand_kernel.h",
                                        "device_launch_parameters.h",
                                        "math_constants.h",
                                        "mma.h",
                                        "vector_types.h"};
    bool found = false;
    for (size_t k = 0; k < QN_COUNT(folders); k++) {
        found |= begins(name, folders[k]);
    }
    for (size_t k = 0; k < QN_COUNT(names); k++) {
        found |= qn_str_is(name, names[k]);
    }
    return found;
}

/* Of the host's C or C++ library; *name is then without ".h", as C++ has it. */
static bool is_host(qn_str *name)
{
    static const char *const names[] = {
        "algorithm", "array",    "assert",      "atomic",  "bit",      "cassert",
        "cfloat",    "climits",  "cmath",       "complex", "concepts", "cstddef",
        "cstdint",   "cstdio",   "cstdlib",     "cstring", "float",    "functional",
        "inttypes",  "iostream", "limits",      "math",    "memory",   "numeric",
        "optional",  "span",     "stddef",      "stdint",  "stdio",    "stdlib",
        "string",    "tuple",    "type_traits", "utility", "variant",  "vector"};
    qn_str stem = *name;
    bool c = stem.length > 2 && memcmp(stem.data + stem.length - 2, ".h", 2) == 0;
    stem.length -= c ? 2 : 0;
    for (size_t k = 0; k < QN_COUNT(names); k++) {
        if (qn_str_is(stem, names[k])) {
            *name = stem;
            return true;
        }
    }
    return false;
}

static void list_folder(qn_text *out, const char *folder, bool *first)
{
    qn_text_printf(out, "%s%s", *first ? "; looked in: " : ", ", folder);
    *first = false;
}

static void list_folders(qn_text *out, const qn_compile_request *request)
{
    bool first = true;
    const char *file = request->file_name, *slash = file ? strrchr(file, '/') : NULL, *path;
    if (slash) {
        qn_text_printf(out, "; looked in: %.*s", (int)(slash - file), file);
        first = false;
    }
    for (size_t k = 0; k < request->option_count; k++) {
        if (qn_option_path(request->options, request->option_count, &k, &path) ==
            QN_INCLUDE_FOLDER) {
            list_folder(out, path, &first);
        }
    }
    const qn_cuda_folder *all;
    size_t count = request->includes ? qn_cuda_folders(&all) : 0;
    for (size_t k = 0; k < count; k++) {
        list_folder(out, all[k].path, &first);
    }
}

void qn_explain_missing(qn_text *out, qn_str name, const qn_compile_request *request)
{
    qn_str stem = name;
    qn_text_printf(out, "the header \"%.*s\" was not found: ", (int)name.length, name.data);
    if (is_host(&stem)) {
        qn_text_puts(out, "the compiler for the GPU has none of the host's headers; "
                          "<cuda/std/...> has most of what C++ has");
    } else if (is_cuda(name)) {
        qn_text_puts(out, "it is one of CUDA's; install the CUDA Toolkit, or the Python packages "
                          "nvidia-cuda-runtime and nvidia-cuda-cccl, and set CUDA_HOME to the "
                          "folder that has include/ in it");
    } else {
        qn_text_puts(out, "add its folder with -I, or give it as a header in memory");
    }
    list_folders(out, request);
}
