/* SPDX-License-Identifier: MIT
 *
 * One linking. In: images of any kind. Out: one cubin, or PTX from LTO-IR, or an error record with
 * the linker's whole log. The thing to know: only the linker can tell whether code launches kernels
 * and so needs the device's runtime; then it is linked again, with that.
 */
#include "compile/nvjitlink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_OPTIONS 10 /* -arch, -lto, -ptx, and those of add_shaping() */

/* One linking in progress. */
typedef struct job {
    const qn_nvjitlink *linker;
    const qn_link_request *request;
    nvjitlink_handle handle;
    const char *options[MOST_OPTIONS];
    const char *runtime; /* the file of the device's runtime, where that is linked too */
    char *runtime_data;
    size_t runtime_size;
    uint32_t option_count;
    bool lto; /* some of the inputs are LTO-IR */
    char target[24], registers[40];
} job;

/* ---- what can be linked --------------------------------------------------------------------- */

static quern_status check_inputs(job *j)
{
    const qn_link_request *r = j->request;
    if (r->input_count == 0) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "there is nothing to link");
    }
    for (size_t k = 0; k < r->input_count; k++) {
        const qn_link_input *input = &r->inputs[k];
        if (r->kind == QN_IMAGE_PTX && input->kind != QN_IMAGE_LTO_IR) {
            return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                           "\"%s\" is %s, which cannot be linked to PTX: for the software device "
                           "every input must be CUDA source or LTO-IR",
                           input->name, qn_image_kind_name(input->kind));
        }
        j->lto |= input->kind == QN_IMAGE_LTO_IR;
    }
    return QUERN_OK;
}

/* ---- options -------------------------------------------------------------------------------- */

/* The compiler's switches that also shape code at link time, and the linker's switches for them. */
static const struct {
    const char *compilers, *on, *off;
    const char *fast; /* the value that --use_fast_math gives it; NULL: none */
} switches[] = {
    {"ftz", "-ftz=1", "-ftz=0", "true"},
    {"prec-div", "-prec-div=1", "-prec-div=0", "false"},
    {"prec-sqrt", "-prec-sqrt=1", "-prec-sqrt=0", "false"},
    {"fmad", "-fma=1", "-fma=0", NULL},
};

/* The linker takes no option twice, so each is added in one place. */
static void add(job *j, const char *option)
{
    j->options[j->option_count++] = option;
}

static bool user_says(const job *j, const char *name)
{
    return qn_options_say(j->request->options, j->request->option_count, name);
}

/* As the compiler does: the last switch of a kind decides, and overrides --use_fast_math. */
static void add_shaping(job *j)
{
    const qn_link_request *r = j->request;
    bool fast = user_says(j, "use_fast_math");
    for (size_t k = 0; k < QN_COUNT(switches); k++) {
        const char *said = qn_options_value(r->options, r->option_count, switches[k].compilers);
        said = !said && fast ? switches[k].fast : said;
        if (said) {
            add(j, strcmp(said, "false") == 0 ? switches[k].off : switches[k].on);
        }
    }
    const char *registers = qn_options_value(r->options, r->option_count, "maxrregcount");
    if (registers) {
        snprintf(j->registers, sizeof j->registers, "-maxrregcount=%s", registers);
        add(j, j->registers);
    }
    if (r->line_info || user_says(j, "lineinfo") || user_says(j, "generate-line-info")) {
        add(j, "-lineinfo");
    }
    if (user_says(j, "G") || user_says(j, "device-debug")) {
        add(j, "-g");
    }
}

static quern_status make_options(job *j)
{
    const qn_link_request *r = j->request;
    bool ptx = r->kind == QN_IMAGE_PTX;
    qn_target t;
    QN_TRY(qn_target_find(&t, r->options, r->option_count, r->arch));
    if (t.is_virtual && !ptx) {
        t = (qn_target){.arch = r->arch}; /* any virtual target up to `arch` will do */
    }
    snprintf(j->target, sizeof j->target, "-arch=%s_%d%s", ptx ? "compute" : "sm", t.arch,
             t.variant);
    add(j, j->target);
    if (j->lto) {
        add(j, "-lto");
    }
    if (ptx) {
        add(j, "-ptx");
    }
    add_shaping(j);
    return QUERN_OK;
}

/* ---- linking -------------------------------------------------------------------------------- */

static char *read_log(const job *j, int (*get_size)(nvjitlink_handle, size_t *),
                      int (*get)(nvjitlink_handle, char *))
{
    size_t size = 0;
    if (!j->handle || get_size(j->handle, &size) != NVJITLINK_OK) {
        size = 0;
    }
    char *log = qn_calloc(1, size + 1);
    if (log && size > 0) {
        get(j->handle, log);
    }
    return log;
}

/* The first line of the log that says something, without the linker's name before it. */
static qn_str first_line(const char *log)
{
    static const char *const prefixes[] = {"error   : ", "ERROR ", "fatal   : "};
    const char *line = log + strspn(log, " \n");
    for (size_t k = 0; k < QN_COUNT(prefixes); k++) {
        const char *found = strstr(line, prefixes[k]);
        if (found) {
            line = found + strlen(prefixes[k]);
            break;
        }
    }
    return (qn_str){line, strcspn(line, "\n")};
}

/* Report that the linker failed while `doing` something to the input called `name`. */
static quern_status fail_link(job *j, int result, const char *doing, const char *name)
{
    char *log = read_log(j, j->linker->GetErrorLogSize, j->linker->GetErrorLog);
    if (!log) {
        return qn_fail_memory("reading the linker's log");
    }
    qn_str said = first_line(log);
    qn_fail(QUERN_ERROR_LINK, "nvJitLink %u.%u failed while %s%s%s%s (result %d)%s%.*s",
            j->linker->major, j->linker->minor, doing, name ? " \"" : "", name ? name : "",
            name ? "\"" : "", result, said.length ? ": " : "", (int)said.length, said.data);
    qn_error_log(qn_str_of(log));
    qn_free(log);
    return QUERN_ERROR_LINK;
}

/* nvJitLink's numbers for kinds; ours are those of this library. */
static int type_of(qn_image_kind kind)
{
    static const int types[] = {
        [QN_IMAGE_CUBIN] = 1,  [QN_IMAGE_PTX] = 2,    [QN_IMAGE_LTO_IR] = 3,
        [QN_IMAGE_FATBIN] = 4, [QN_IMAGE_OBJECT] = 5, [QN_IMAGE_LIBRARY] = 6};
    return (size_t)kind < QN_COUNT(types) ? types[kind] : 0;
}

static quern_status add_inputs(job *j)
{
    for (size_t k = 0; k < j->request->input_count; k++) {
        const qn_link_input *input = &j->request->inputs[k];
        int result = j->linker->AddData(j->handle, type_of(input->kind), input->data, input->size,
                                        input->name);
        if (result != NVJITLINK_OK) {
            return fail_link(j, result, "reading", input->name);
        }
    }
    if (!j->runtime) {
        return QUERN_OK;
    }
    int result = j->linker->AddData(j->handle, type_of(QN_IMAGE_LIBRARY), j->runtime_data,
                                    j->runtime_size, j->runtime);
    return result == NVJITLINK_OK ? QUERN_OK : fail_link(j, result, "reading", j->runtime);
}

/* ---- the device's runtime ------------------------------------------------------------------- */

/* Does the linker miss what kernels that launch kernels call? */
static bool misses_runtime(void)
{
    static const char *const names[] = {"__cudaCDP2", "cudaGetParameterBuffer", "cudaLaunchDevice"};
    const char *log = quern_last_error()->log;
    for (size_t k = 0; log && k < QN_COUNT(names); k++) {
        if (strstr(log, names[k])) {
            return true;
        }
    }
    return false;
}

static quern_status fail_runtime(const char *looked)
{
    const char *asked = getenv("QUERN_CUDADEVRT");
    if (asked && asked[0]) {
        return qn_fail(QUERN_ERROR_LINK,
                       "kernels that launch kernels are linked with libcudadevrt.a; "
                       "QUERN_CUDADEVRT is \"%s\", but it is not there; name the file, or the "
                       "folder that it is in, or unset the variable",
                       asked);
    }
    qn_fail(QUERN_ERROR_LINK,
            "kernels that launch kernels are linked with libcudadevrt.a, which was not found: "
            "install the CUDA Toolkit 12 or 13, or the Python package nvidia-cuda-runtime, and if "
            "it is in an unusual place, set QUERN_CUDADEVRT to its folder");
    qn_tell_looked(looked);
    return QUERN_ERROR_LINK;
}

static quern_status find_runtime(job *j, qn_compiler_identity *found)
{
    char *looked = NULL;
    quern_status status = QUERN_OK;
    if (!qn_device_runtime_find(found, &looked)) {
        status = fail_runtime(looked);
    }
    qn_free(looked);
    if (status != QUERN_OK) {
        return status;
    }
    QN_TRY(qn_file_read(found->path, &j->runtime_data, &j->runtime_size));
    if (qn_image_kind_of(j->runtime_data, j->runtime_size) != QN_IMAGE_LIBRARY) {
        return qn_fail(QUERN_ERROR_LINK, "%s is not a static library", found->path);
    }
    j->runtime = found->path;
    return QUERN_OK;
}

/* ---- linking, and its result ---------------------------------------------------------------- */

static quern_status read_code(job *j, qn_image *image)
{
    bool ptx = j->request->kind == QN_IMAGE_PTX;
    const qn_nvjitlink *l = j->linker;
    size_t size = 0;
    int result = (ptx ? l->GetLinkedPtxSize : l->GetLinkedCubinSize)(j->handle, &size);
    if (result != NVJITLINK_OK || size == 0) {
        return fail_link(j, result, "telling the size of the code", NULL);
    }
    image->data = qn_alloc(size + 1);
    if (!image->data) {
        return qn_fail_memory("reading the linked code");
    }
    result = (ptx ? l->GetLinkedPtx : l->GetLinkedCubin)(j->handle, image->data);
    if (result != NVJITLINK_OK) {
        return fail_link(j, result, "giving the code", NULL);
    }
    image->data[size] = '\0';
    image->kind = j->request->kind;
    image->size = ptx ? strlen(image->data) : size;
    return QUERN_OK;
}

static void end(job *j)
{
    if (j->handle) {
        j->linker->Destroy(&j->handle);
    }
    j->handle = NULL;
}

static quern_status complete(job *j)
{
    int result = j->linker->Create(&j->handle, j->option_count, j->options);
    if (result != NVJITLINK_OK) {
        return fail_link(j, result, "taking its options", NULL);
    }
    QN_TRY(add_inputs(j));
    result = j->linker->Complete(j->handle);
    return result == NVJITLINK_OK ? QUERN_OK : fail_link(j, result, "linking", NULL);
}

static quern_status run(job *j, qn_image *image)
{
    QN_TRY(check_inputs(j));
    QN_TRY(make_options(j));
    QN_TRY(qn_nvjitlink_get(&j->linker));
    double began = qn_now_ms();
    qn_compiler_identity runtime;
    quern_status status = complete(j);
    if (status == QUERN_ERROR_LINK && misses_runtime()) {
        QN_TRY(find_runtime(j, &runtime));
        end(j);
        qn_error_reset();
        status = complete(j);
    }
    QN_TRY(status);
    QN_TRY(read_code(j, image));
    image->log = read_log(j, j->linker->GetInfoLogSize, j->linker->GetInfoLog);
    image->compile_ms = qn_now_ms() - began;
    return image->log ? QUERN_OK : qn_fail_memory("reading the linker's log");
}

quern_status qn_link(qn_image *out, const qn_link_request *request)
{
    *out = (qn_image){0};
    if (request->kind != QN_IMAGE_CUBIN && request->kind != QN_IMAGE_PTX) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "nvJitLink makes cubin and PTX, not %s",
                       qn_image_kind_name(request->kind));
    }
    QN_TRY(qn_compiling_begin("Quern links"));
    job j = {.request = request};
    qn_image image = {0};
    quern_status status = run(&j, &image);
    end(&j);
    qn_free(j.runtime_data);
    qn_compiling_end();
    if (status != QUERN_OK) {
        qn_image_free(&image);
        qn_error_stage("link");
        return status;
    }
    *out = image;
    return QUERN_OK;
}
