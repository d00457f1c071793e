/* SPDX-License-Identifier: MIT
 *
 * The options of one compilation. In: a request. Out: NVRTC's argument list, Quern's options first
 * and the user's after them, in their order; then the target and the folders of CUDA's headers.
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

#define OWN_OPTIONS 12 /* the most that are added to the user's, without folders */

/* ---- the user's options --------------------------------------------------------------------- */

/* Is this option -NAME or --NAME? *value is what follows "=", or NULL. */
static bool is_option(const char *option, const char *name, const char **value)
{
    if (option[0] != '-') {
        return false;
    }
    const char *own = option + (option[1] == '-' ? 2 : 1);
    size_t length = strlen(name);
    if (strncmp(own, name, length) != 0 || (own[length] != '\0' && own[length] != '=')) {
        return false;
    }
    *value = own[length] == '=' ? own + length + 1 : NULL;
    return true;
}

bool qn_options_say(const char *const *options, size_t count, const char *name)
{
    const char *value;
    for (size_t k = 0; k < count; k++) {
        if (is_option(options[k], name, &value)) {
            return true;
        }
    }
    return false;
}

/* The value of an option, which may be the next word. */
static const char *value_of(const char *const *options, size_t count, size_t *k, const char *value)
{
    if (!value && *k + 1 < count) {
        value = options[++*k];
    }
    return value ? value : "";
}

const char *qn_options_value(const char *const *options, size_t count, const char *name)
{
    const char *last = NULL, *value;
    for (size_t k = 0; k < count; k++) {
        if (is_option(options[k], name, &value)) {
            last = value_of(options, count, &k, value);
        }
    }
    return last;
}

qn_path_option qn_option_path(const char *const *options, size_t count, size_t *k,
                              const char **path)
{
    static const struct {
        const char *name;
        qn_path_option kind;
    } named[] = {{"include-path", QN_INCLUDE_FOLDER},
                 {"pre-include", QN_INCLUDE_FILE},
                 {"include", QN_INCLUDE_FILE}};
    const char *option = options[*k], *value;
    if (qn_begins(option, "-I")) {
        const char *joined = option + 2 + strspn(option + 2, " =");
        *path = value_of(options, count, k, *joined ? joined : NULL);
        return QN_INCLUDE_FOLDER;
    }
    for (size_t n = 0; n < QN_COUNT(named); n++) {
        if (is_option(option, named[n].name, &value)) {
            *path = value_of(options, count, k, value);
            return named[n].kind;
        }
    }
    return QN_NO_PATH;
}

static quern_status refuse(const char *option, const char *why)
{
    return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "the option \"%s\" cannot be given: %s", option,
                   why);
}

static quern_status check_user_option(const char *option, qn_image_kind kind)
{
    const char *value;
    if (kind != QN_IMAGE_LTO_IR &&
        (is_option(option, "dlto", &value) || is_option(option, "dlink-time-opt", &value))) {
        return refuse(option, "it makes code that must be linked before it can be loaded");
    }
    return is_option(option, "optix-ir", &value) ? refuse(option, "OptiX code cannot be loaded")
                                                 : QUERN_OK;
}

/* ---- the target ----------------------------------------------------------------------------- */

static bool read_target(const char *text, qn_target *out)
{
    out->is_virtual = qn_begins(text, "compute_");
    if (!out->is_virtual && !qn_begins(text, "sm_")) {
        return false;
    }
    char *end;
    const char *digits = strchr(text, '_') + 1;
    out->arch = digits[0] >= '0' && digits[0] <= '9' ? (int)strtol(digits, &end, 10) : 0;
    if (out->arch <= 0 || out->arch > 9999 ||
        (*end && strcmp(end, "a") != 0 && strcmp(end, "f") != 0)) {
        return false;
    }
    strcpy(out->variant, end);
    return true;
}

/* The code must run on the device that it is for. */
static quern_status check_target(const char *asked, const qn_target *t, int arch)
{
    bool lower = t->is_virtual && t->arch < arch && !t->variant[0];
    if (t->arch == arch || lower) {
        return QUERN_OK;
    }
    return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                   "the target \"%s\" does not run on this device, whose compute capability is "
                   "%d.%d: leave it out, or ask for sm_%d or a compute_ up to %d",
                   asked, arch / 10, arch % 10, arch, arch);
}

static bool is_target(const char *option, const char **value)
{
    return is_option(option, "arch", value) || is_option(option, "gpu-architecture", value);
}

quern_status qn_target_find(qn_target *out, const char *const *options, size_t count, int arch)
{
    *out = (qn_target){.arch = arch};
    for (size_t k = 0; k < count; k++) {
        const char *value;
        if (!is_target(options[k], &value)) {
            continue;
        }
        value = value_of(options, count, &k, value);
        if (!read_target(value, out)) {
            return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                           "\"%s\" is not a target: sm_%d and compute_%d are", value, arch, arch);
        }
        QN_TRY(check_target(value, out, arch));
    }
    return QUERN_OK;
}

/* ---- the list ------------------------------------------------------------------------------- */

/* A list being made. */
typedef struct making {
    qn_options *out;
    qn_arena *arena;
    const qn_compile_request *request;
    const qn_nvrtc *nvrtc;
} making;

static void add(making *m, const char *option)
{
    m->out->list[m->out->count++] = option;
}

static bool user_says(const making *m, const char *name)
{
    return qn_options_say(m->request->options, m->request->option_count, name);
}

static bool at_least(const making *m, int major, int minor)
{
    return m->nvrtc->major > major || (m->nvrtc->major == major && m->nvrtc->minor >= minor);
}

static bool own_cache_off(void)
{
    const char *setting = getenv("QUERN_NVRTC_CACHE");
    return setting && strcmp(setting, "0") == 0;
}

/* The user's, without a target. */
static quern_status add_users(making *m)
{
    const qn_compile_request *r = m->request;
    for (size_t k = 0; k < r->option_count; k++) {
        const char *option = r->options[k], *value;
        QN_TRY(check_user_option(option, r->kind));
        if (is_target(option, &value)) {
            (void)value_of(r->options, r->option_count, &k, value);
        } else {
            add(m, option);
        }
    }
    return QUERN_OK;
}

static void add_own(making *m)
{
    const qn_compile_request *r = m->request;
    bool lto = r->kind == QN_IMAGE_LTO_IR;
    if (!user_says(m, "std")) {
        add(m, "--std=c++17");
    }
    if (r->line_info && !user_says(m, "generate-line-info") && !user_says(m, "lineinfo")) {
        add(m, "--generate-line-info");
    }
    if (r->minimal && at_least(m, 12, 4) && !user_says(m, "minimal")) {
        add(m, "--minimal");
    }
    if (own_cache_off() && at_least(m, 12, 9) && !user_says(m, "no-cache")) {
        add(m, "--no-cache");
    }
    if (lto && !user_says(m, "dlto") && !user_says(m, "dlink-time-opt")) {
        add(m, "-dlto");
    }
    if (r->relocatable && !lto && !user_says(m, "rdc") && !user_says(m, "dc") &&
        !user_says(m, "relocatable-device-code") && !user_says(m, "device-c")) {
        add(m, "--relocatable-device-code=true");
    }
}

static quern_status add_formatted(making *m, const char *prefix, const char *text)
{
    size_t size = strlen(prefix) + strlen(text) + 1;
    char *option = qn_arena_alloc(m->arena, size);
    if (!option) {
        return qn_fail_memory("preparing a compilation");
    }
    snprintf(option, size, "%s%s", prefix, text);
    add(m, option);
    return QUERN_OK;
}

/* They come first, as NVRTC wants it. */
static quern_status add_precompiled(making *m, const char *folder)
{
    if (!folder) {
        return QUERN_OK;
    }
    add(m, "--pch");
    add(m, "--pch-messages=false"); /* the log is for what concerns the user */
    return add_formatted(m, "--pch-dir=", folder);
}

static quern_status add_target(making *m, const qn_target *t)
{
    char name[40];
    snprintf(name, sizeof name, "%s_%d%s", m->out->kind == QN_IMAGE_PTX ? "compute" : "sm", t->arch,
             t->variant);
    return add_formatted(m, "-arch=", name);
}

quern_status qn_options_make(qn_options *out, qn_arena *arena, const qn_compile_request *request,
                             const qn_nvrtc *nvrtc, const char *pch_folder)
{
    size_t folders = request->includes ? request->includes->folder_count : 0;
    size_t capacity = request->option_count + folders + OWN_OPTIONS;
    *out = (qn_options){.kind = request->kind};
    out->list = capacity < INT32_MAX / sizeof *out->list
                    ? qn_arena_alloc(arena, capacity * sizeof *out->list)
                    : NULL;
    if (!out->list) {
        return qn_fail_memory("preparing a compilation");
    }
    making m = {out, arena, request, nvrtc};
    qn_target t;
    QN_TRY(qn_target_find(&t, request->options, request->option_count, request->arch));
    QN_TRY(add_precompiled(&m, pch_folder));
    add_own(&m);
    QN_TRY(add_users(&m));
    if (t.is_virtual && request->kind == QN_IMAGE_CUBIN) {
        out->kind = QN_IMAGE_PTX;
    }
    QN_TRY(add_target(&m, &t));
    if (request->fewer_blocks != 0) {
        char number[16];
        snprintf(number, sizeof number, "%d", request->fewer_blocks);
        QN_TRY(add_formatted(&m, "-DQUERN_FEWER_BLOCKS=", number));
    }
    for (size_t k = 0; k < folders; k++) {
        QN_TRY(add_formatted(&m, "-I", request->includes->folders[k]));
    }
    return QUERN_OK;
}
