/* SPDX-License-Identifier: MIT
 *
 * The options of one compilation. In: a request. Out: NVRTC's argument list, Quern's options first
 * and the user's after them, in their order.
 *
 * Nothing that changes results is forced: only the target, the language unless the user names one,
 * and what the request asks for. QUERN_NVRTC_CACHE=0 in the environment switches off the cache that
 * NVRTC has of its own since 12.9, so that measured compilations are real ones; it changes no
 * image.
 */
#include "compile/nvrtc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OWN_OPTIONS 5 /* the most that are added to the user's */

/* The user's options that are Quern's to say, with what to say instead. */
static const struct {
    const char *prefix, *advice;
} refused[] = {
    {"-arch", "the target is that of the device"},
    {"--gpu-architecture", "the target is that of the device"},
    {"-gpu-architecture", "the target is that of the device"},
    {"-dlto", "code for the linker cannot be loaded"},
    {"--dlink-time-opt", "code for the linker cannot be loaded"},
    {"--optix-ir", "OptiX code cannot be loaded"},
    {"-optix-ir", "OptiX code cannot be loaded"},
};

static bool begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static quern_status check_user_option(const char *option)
{
    for (size_t k = 0; k < QN_COUNT(refused); k++) {
        if (begins(option, refused[k].prefix)) {
            return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "the option \"%s\" cannot be given: %s",
                           option, refused[k].advice);
        }
    }
    return QUERN_OK;
}

/* Does the user give the option, with one dash or two? Some versions refuse it a second time. */
static bool user_says(const qn_compile_request *request, const char *name)
{
    for (size_t k = 0; k < request->option_count; k++) {
        const char *option = request->options[k];
        if (option[0] == '-' && begins(option + (option[1] == '-' ? 2 : 1), name)) {
            return true;
        }
    }
    return false;
}

static bool at_least(const qn_nvrtc *nvrtc, int major, int minor)
{
    return nvrtc->major > major || (nvrtc->major == major && nvrtc->minor >= minor);
}

static bool own_cache_off(void)
{
    const char *setting = getenv("QUERN_NVRTC_CACHE");
    return setting && strcmp(setting, "0") == 0;
}

quern_status qn_options_make(qn_arena *arena, const qn_compile_request *request,
                             const qn_nvrtc *nvrtc, const char *const **options, int *count)
{
    size_t capacity = request->option_count + OWN_OPTIONS;
    const char **list =
        capacity < INT32_MAX / sizeof *list ? qn_arena_alloc(arena, capacity * sizeof *list) : NULL;
    char *target = qn_arena_alloc(arena, 32);
    if (!list || !target) {
        return qn_fail_memory("preparing a compilation");
    }
    for (size_t k = 0; k < request->option_count; k++) {
        QN_TRY(check_user_option(request->options[k]));
    }
    int n = 0;
    snprintf(target, 32, "-arch=%s_%d", request->kind == QN_IMAGE_CUBIN ? "sm" : "compute",
             request->arch);
    list[n++] = target;
    if (!user_says(request, "std")) {
        list[n++] = "--std=c++17";
    }
    if (request->line_info && !user_says(request, "generate-line-info") &&
        !user_says(request, "lineinfo")) {
        list[n++] = "--generate-line-info";
    }
    if (request->minimal && at_least(nvrtc, 12, 4) && !user_says(request, "minimal")) {
        list[n++] = "--minimal";
    }
    if (own_cache_off() && at_least(nvrtc, 12, 9) && !user_says(request, "no-cache")) {
        list[n++] = "--no-cache";
    }
    for (size_t k = 0; k < request->option_count; k++) {
        list[n++] = request->options[k];
    }
    *options = list;
    *count = n;
    return QUERN_OK;
}
