/* SPDX-License-Identifier: MIT
 *
 * One compilation. In: a request (compile.h). Out: an image, or an error record with the compiler's
 * whole log, the source, and the place in the user's text.
 *
 * Everything lies in the caller's frame and NVRTC is thread-parallel, so nothing is locked: as many
 * threads compile at once as call.
 */
#include "compile/nvrtc.h"

#include <string.h>

/* One compilation in progress. */
typedef struct job {
    const qn_nvrtc *nvrtc;
    const qn_compile_request *request;
    nvrtc_program program;
    qn_image_kind kind; /* what it makes, which a target among the options may change */
    qn_arena arena;
    char *log, *said;
} job;

static quern_status fail_result(const job *j, int result, const char *doing)
{
    if (result == NVRTC_OUT_OF_MEMORY) {
        return qn_fail_memory(doing);
    }
    if (result == NVRTC_BUILTINS) {
        return qn_fail(
            QUERN_ERROR_NVRTC,
            "NVRTC %d.%d cannot use its library libnvrtc-builtins.so.%d.%d, which must lie "
            "in the same folder and be of the same version",
            j->nvrtc->major, j->nvrtc->minor, j->nvrtc->major, j->nvrtc->minor);
    }
    return qn_fail(QUERN_ERROR_NVRTC, "NVRTC %d.%d failed while %s: %s", j->nvrtc->major,
                   j->nvrtc->minor, doing, j->nvrtc->GetErrorString(result));
}

/* NVRTC calls an unknown target an invalid option, which helps nobody. */
static quern_status check_arch(const job *j)
{
    const qn_nvrtc *n = j->nvrtc;
    for (int k = 0; k < n->arch_count; k++) {
        if (n->archs[k] == j->request->arch) {
            return QUERN_OK;
        }
    }
    int arch = j->request->arch, first = n->archs[0], last = n->archs[n->arch_count - 1];
    return qn_fail(
        QUERN_ERROR_NVRTC,
        "NVRTC %d.%d does not compile for compute capability %d.%d, only for some of %d.%d "
        "to %d.%d; %s NVRTC does (see QUERN_NVRTC)",
        n->major, n->minor, arch / 10, arch % 10, first / 10, first % 10, last / 10, last % 10,
        arch < first ? "an older" : "a newer");
}

/* NVRTC calls a source invalid when two headers have one name, and does not say which. */
static quern_status check_header_names(const qn_compile_request *r)
{
    for (size_t k = 0; k < r->header_count; k++) {
        for (size_t other = 0; other < k; other++) {
            if (strcmp(r->headers[other].name, r->headers[k].name) == 0) {
                return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                               "the headers %zu and %zu in memory have the same name, \"%s\"",
                               other, k, r->headers[k].name);
            }
        }
    }
    return QUERN_OK;
}

static quern_status create(job *j)
{
    const qn_compile_request *r = j->request;
    const char **texts = qn_arena_alloc(&j->arena, (r->header_count + 1) * sizeof *texts);
    const char **names = qn_arena_alloc(&j->arena, (r->header_count + 1) * sizeof *names);
    if (!texts || !names) {
        return qn_fail_memory("preparing a compilation");
    }
    for (size_t k = 0; k < r->header_count; k++) {
        texts[k] = qn_behind_mark(r->headers[k].text); /* NVRTC takes it for a token */
        names[k] = r->headers[k].name;
    }
    const char *file_name = r->file_name ? r->file_name : "quern_kernel.cu";
    int result = j->nvrtc->CreateProgram(&j->program, qn_behind_mark(r->source), file_name,
                                         (int)r->header_count, texts, names);
    if (result != NVRTC_OK) {
        QN_TRY(check_header_names(r));
        return fail_result(j, result, "taking the source");
    }
    for (size_t k = 0; k < r->expression_count; k++) {
        result = j->nvrtc->AddNameExpression(j->program, r->expressions[k]);
        if (result != NVRTC_OK) {
            return fail_result(j, result, "taking a name expression");
        }
    }
    return QUERN_OK;
}

static quern_status read_log(job *j)
{
    size_t size = 0;
    int result = j->nvrtc->GetProgramLogSize(j->program, &size);
    if (result != NVRTC_OK) {
        return fail_result(j, result, "telling the size of its log");
    }
    j->log = qn_calloc(1, size + 1);
    if (!j->log) {
        return qn_fail_memory("reading the compiler's log");
    }
    result = size > 1 ? j->nvrtc->GetProgramLog(j->program, j->log) : NVRTC_OK;
    return result == NVRTC_OK ? QUERN_OK : fail_result(j, result, "giving its log");
}

/* Keep the part of a successful compilation's log that concerns the user. */
static quern_status keep_warnings(job *j, qn_user_texts texts)
{
    qn_text warnings = {0};
    qn_log_warnings(&warnings, qn_str_of(j->log), texts);
    j->said = j->log;
    j->log = qn_text_take(&warnings);
    return j->log ? QUERN_OK : qn_fail_memory("reading the compiler's log");
}

/* One attempt: NVRTC's result, and its log. */
static quern_status attempt(int *result, job *j, const char *pch_folder)
{
    qn_options options;
    QN_TRY(qn_options_make(&options, &j->arena, j->request, j->nvrtc, pch_folder));
    j->kind = options.kind;
    qn_signal_guard guard;
    qn_signals_guard(&guard, j->nvrtc);
    *result = j->nvrtc->CompileProgram(j->program, options.count, options.list);
    qn_signals_unguard(&guard);
    return read_log(j);
}

/* With precompiled headers where they serve, else without: they are never an error. */
static quern_status attempt_both(int *result, job *j)
{
    const char *folder = qn_pch_folder(j->request, j->nvrtc);
    QN_TRY(attempt(result, j, folder));
    if (!folder || !qn_pch_failed(j->nvrtc, j->program, *result, j->log)) {
        return QUERN_OK;
    }
    j->nvrtc->DestroyProgram(&j->program);
    qn_free(j->log);
    j->log = NULL;
    QN_TRY(create(j));
    QN_TRY(attempt(result, j, NULL));
    if (*result == NVRTC_OK) {
        qn_pch_give_up();
    }
    return QUERN_OK;
}

static quern_status compile(job *j, const qn_user_text *user_texts, size_t user_text_count)
{
    int result;
    QN_TRY(attempt_both(&result, j));
    if (result == NVRTC_OK) {
        return keep_warnings(j, (qn_user_texts){user_texts, user_text_count});
    }
    quern_status status;
    qn_text rest = {0};
    if (result == NVRTC_COMPILATION) {
        status = qn_diagnose(qn_str_of(j->log), j->request, user_texts, user_text_count);
        bool told = quern_last_error()->begin < quern_last_error()->end;
        qn_log_rest(&rest, qn_str_of(j->log), told, (qn_user_texts){user_texts, user_text_count},
                    j->request);
        qn_explain_releases(j->request, (qn_release){j->nvrtc->major, j->nvrtc->minor}, j->log);
    } else if (result == NVRTC_INVALID_OPTION) {
        status = qn_diagnose_option(qn_str_of(j->log), j->request, j->nvrtc);
    } else {
        status = fail_result(j, result, "compiling");
    }
    qn_error_log(qn_str_of(j->log));
    if (status == QUERN_ERROR_COMPILE && result == NVRTC_COMPILATION && !rest.failed) {
        qn_error_rest((qn_str){rest.data, rest.length});
    }
    qn_text_free(&rest);
    qn_error_source(qn_str_of(j->request->source));
    return status;
}

/* The functions that give one kind of code. */
typedef struct getter {
    int (*size)(nvrtc_program program, size_t *size);
    int (*code)(nvrtc_program program, char *code);
} getter;

static getter getter_of(const job *j)
{
    const qn_nvrtc *n = j->nvrtc;
    switch (j->kind) {
    case QN_IMAGE_CUBIN:
        return (getter){n->GetCUBINSize, n->GetCUBIN};
    case QN_IMAGE_PTX:
        return (getter){n->GetPTXSize, n->GetPTX};
    default:
        return (getter){n->GetLTOIRSize, n->GetLTOIR};
    }
}

static quern_status read_code(const job *j, qn_image *image)
{
    getter get = getter_of(j);
    size_t size = 0;
    int result = get.size(j->program, &size);
    if (result != NVRTC_OK || size == 0) {
        return fail_result(j, result, "telling the size of the code");
    }
    image->data = qn_alloc(size + 1);
    if (!image->data) {
        return qn_fail_memory("reading the compiled code");
    }
    result = get.code(j->program, image->data);
    if (result != NVRTC_OK) {
        return fail_result(j, result, "giving the code");
    }
    image->kind = j->kind;
    image->data[size] = '\0';
    image->size = j->kind == QN_IMAGE_PTX ? strlen(image->data) : size;
    return QUERN_OK;
}

static quern_status read_lowered(const job *j, qn_image *image)
{
    size_t count = j->request->expression_count;
    image->lowered = count > 0 ? qn_calloc(count, sizeof *image->lowered) : NULL;
    if (count > 0 && !image->lowered) {
        return qn_fail_memory("reading the compiled names");
    }
    image->lowered_count = count;
    for (size_t k = 0; k < count; k++) {
        const char *name = NULL;
        const char *expression = j->request->expressions[k];
        int result = j->nvrtc->GetLoweredName(j->program, expression, &name);
        if (result != NVRTC_OK) {
            return qn_fail(QUERN_ERROR_NAME,
                           "the name expression \"%s\" does not name a kernel or global variable "
                           "of the source",
                           expression);
        }
        image->lowered[k] = qn_strdup(name);
        if (!image->lowered[k]) {
            return qn_fail_memory("reading the compiled names");
        }
    }
    return QUERN_OK;
}

static quern_status run(job *j, qn_image *image, const qn_user_text *user_texts, size_t count)
{
    QN_TRY(qn_nvrtc_get(&j->nvrtc));
    QN_TRY(check_arch(j));
    double began = qn_now_ms();
    QN_TRY(create(j));
    QN_TRY(compile(j, user_texts, count));
    QN_TRY(read_code(j, image));
    QN_TRY(read_lowered(j, image));
    image->compile_ms = qn_now_ms() - began;
    image->log = j->log;
    image->said = j->said;
    j->log = j->said = NULL;
    return QUERN_OK;
}

quern_status qn_compile_once(qn_image *out, const qn_compile_request *request,
                             const qn_user_text *user_texts, size_t user_text_count)
{
    *out = (qn_image){0};
    if (request->kind != QN_IMAGE_CUBIN && request->kind != QN_IMAGE_PTX &&
        request->kind != QN_IMAGE_LTO_IR) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "NVRTC makes cubin, PTX and LTO-IR, not %s",
                       qn_image_kind_name(request->kind));
    }
    QN_TRY(qn_compiling_begin("Quern compiles"));
    job j = {.request = request};
    qn_image image = {0};
    quern_status status = run(&j, &image, user_texts, user_text_count);
    if (j.program) {
        j.nvrtc->DestroyProgram(&j.program);
    }
    qn_compiling_end();
    qn_arena_free(&j.arena);
    qn_free(j.log);
    qn_free(j.said);
    if (status != QUERN_OK) {
        qn_image_free(&image);
        qn_error_stage("compile");
        return status;
    }
    *out = image;
    return QUERN_OK;
}
