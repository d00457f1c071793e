/* SPDX-License-Identifier: MIT
 *
 * A header that the compiler did not find. In: its name, and the request. Out: a sentence that says
 * where it was looked for, and what to do, which depends on whose header it is.
 */
#include "compile/nvrtc.h"

#include <stdio.h>
#include <string.h>

/* Is it one of the host's C or C++ library, with or without ".h"? */
static bool is_host(qn_str name)
{
    static const char *const names[] = {
        "algorithm", "array",    "assert",      "atomic",  "bit",      "cassert",
        "cfloat",    "climits",  "cmath",       "complex", "concepts", "cstddef",
        "cstdint",   "cstdio",   "cstdlib",     "cstring", "float",    "functional",
        "inttypes",  "iostream", "limits",      "math",    "memory",   "numeric",
        "optional",  "span",     "stddef",      "stdint",  "stdio",    "stdlib",
        "string",    "tuple",    "type_traits", "utility", "variant",  "vector"};
    bool c = name.length > 2 && memcmp(name.data + name.length - 2, ".h", 2) == 0;
    name.length -= c ? 2 : 0;
    bool found = false;
    for (size_t k = 0; k < QN_COUNT(names); k++) {
        found |= qn_str_is(name, names[k]);
    }
    return found;
}

/* A list of folders being written. */
typedef struct listing {
    qn_text *out;
    size_t count;
} listing;

static void list_folder(listing *l, qn_str folder)
{
    qn_text_puts(l->out, l->count++ == 0 ? "; looked in: " : ", ");
    qn_text_add(l->out, folder.data, folder.length);
}

static qn_str folder_of(qn_str file)
{
    const char *slash = file.length > 0 ? memrchr(file.data, '/', file.length) : NULL;
    return slash ? (qn_str){file.data, (size_t)(slash - file.data)} : QN_STR("the working folder");
}

static void list_folders(qn_text *out, const qn_str *beside, const qn_compile_request *request)
{
    listing l = {.out = out};
    const char *path;
    if (beside && !qn_options_say(request->options, request->option_count, "no-source-include")) {
        list_folder(&l, folder_of(*beside));
    }
    for (size_t k = 0; k < request->option_count; k++) {
        if (qn_option_path(request->options, request->option_count, &k, &path) ==
            QN_INCLUDE_FOLDER) {
            list_folder(&l, qn_str_of(path));
        }
    }
    const qn_cuda_folder *all;
    size_t count = request->includes ? qn_cuda_folders(&all) : 0;
    for (size_t k = 0; k < count; k++) {
        list_folder(&l, qn_str_of(all[k].path));
    }
}

void qn_explain_missing(qn_text *out, qn_str name, const qn_str *beside,
                        const qn_compile_request *request)
{
    qn_text_printf(out, "the header \"%.*s\" was not found: ", (int)name.length, name.data);
    if (is_host(name)) {
        qn_text_puts(out, "the compiler for the GPU has none of the host's headers; "
                          "<cuda/std/...> has most of what C++ has");
    } else if (qn_cuda_header_is(name)) {
        int major, minor;
        qn_compiler_version(&major, &minor);
        char version[32] = "";
        if (major > 0) {
            snprintf(version, sizeof version, " %d.%d", major, minor);
        }
        qn_text_printf(out,
                       "it is one of CUDA's; install the CUDA Toolkit%s, or the Python packages "
                       "nvidia-cuda-runtime, nvidia-cuda-crt and nvidia-cuda-cccl%s, and set "
                       "CUDA_HOME to the folder that has include/ in it",
                       version, major > 0 ? " of that version" : "");
    } else {
        qn_text_puts(out, "add its folder with -I, or give it as a header in memory");
    }
    list_folders(out, beside, request);
}
