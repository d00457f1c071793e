/* SPDX-License-Identifier: MIT
 *
 * One case on one device, through the same table of functions that an engine uses. In: a case. Out:
 * what every output array holds afterwards, and what the kernel printed, sorted by line.
 */
#include "differential.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool diff_device_open(diff_device *device, const char *name)
{
    const char *colon = strchr(name, ':');
    const qn_str kind = {name, colon ? (size_t)(colon - name) : strlen(name)};
    *device = (diff_device){.methods = qn_device_find(kind)};
    if (!device->methods) {
        fprintf(stderr, "differential: no device is called \"%s\"\n", name);
        return false;
    }
    device->is_soft = device->methods == &qn_soft_device;
    if (device->methods->open(&device->handle, colon ? colon + 1 : NULL, NULL) != QUERN_OK) {
        fprintf(stderr, "differential: %s\n", quern_last_error()->message);
        return false;
    }
    return true;
}

void diff_device_close(diff_device *device)
{
    if (device->methods) {
        device->methods->close(device->handle);
    }
    *device = (diff_device){0};
}

/* ---- standard output of a kernel ------------------------------------------------------------ */

typedef struct capture {
    int saved;
    FILE *file;
} capture;

static bool capture_begin(capture *c)
{
    fflush(stdout);
    c->file = tmpfile();
    c->saved = dup(STDOUT_FILENO);
    return c->file && c->saved >= 0 && dup2(fileno(c->file), STDOUT_FILENO) >= 0;
}

static int by_line(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The captured lines, sorted: blocks and warps print in any order. */
static bool capture_end(capture *c, qn_text *text)
{
    fflush(stdout);
    dup2(c->saved, STDOUT_FILENO);
    close(c->saved);
    char *lines[512], buffer[1024];
    size_t count = 0;
    rewind(c->file);
    while (count < QN_COUNT(lines) && fgets(buffer, sizeof buffer, c->file)) {
        lines[count++] = qn_strdup(buffer);
    }
    fclose(c->file);
    qsort(lines, count, sizeof lines[0], by_line);
    for (size_t k = 0; k < count; k++) {
        qn_text_puts(text, lines[k]);
        qn_free(lines[k]);
    }
    return !text->failed;
}

/* ---- arrays --------------------------------------------------------------------------------- */

static size_t bytes_of(const diff_array *array, uint32_t repeat)
{
    return array->count * repeat * array->width;
}

static quern_status upload(const diff_device *device, diff_arguments *a, uint32_t repeat)
{
    for (size_t k = 0; k < a->array_count; k++) {
        diff_array *array = &a->arrays[k];
        QN_TRY(device->methods->allocate(device->handle, &array->device, bytes_of(array, repeat),
                                         NULL));
    }
    for (size_t k = 0; k < a->array_count; k++) {
        diff_array *array = &a->arrays[k];
        for (size_t i = 0; array->points_at >= 0 && i < array->count * repeat; i++) {
            const uint64_t address =
                (uint64_t)(uintptr_t)a->arrays[array->points_at].device + i * 16;
            memcpy(array->host + i * 8, &address, 8);
        }
        QN_TRY(device->methods->copy(device->handle, array->device, array->host,
                                     bytes_of(array, repeat), QUERN_COPY_TO_DEVICE, NULL, 1));
    }
    return QUERN_OK;
}

static quern_status download(diff_results *out, const diff_device *device, const diff_arguments *a,
                             uint32_t repeat)
{
    for (size_t k = 0; k < a->array_count; k++) {
        const diff_array *array = &a->arrays[k];
        if (!array->is_output) {
            continue;
        }
        diff_result *result = &out->items[out->count++];
        *result = (diff_result){.bytes = bytes_of(array, repeat),
                                .letter = array->letter,
                                .width = array->width,
                                .bounds = array->bounds};
        result->data = qn_calloc(1, result->bytes);
        if (!result->data) {
            return qn_fail_memory("reading a result");
        }
        QN_TRY(device->methods->copy(device->handle, result->data, array->device, result->bytes,
                                     QUERN_COPY_TO_HOST, NULL, 1));
    }
    return QUERN_OK;
}

/* ---- launches ------------------------------------------------------------------------------- */

static quern_status launch_all(const diff_device *device, void *function, const diff_case *test,
                               diff_arguments *a, uint32_t repeat)
{
    quern_launch_config config = {.shared_bytes = test->shared, .cooperative = test->cooperative};
    void *parameters[DIFF_PARAMETERS + 1];
    for (int k = 0; k < 3; k++) {
        config.grid[k] = QN_MAX(test->grid[k], 1u);
        config.block[k] = QN_MAX(test->block[k], 1u);
    }
    for (uint32_t round = 0; round < repeat; round++) {
        for (size_t k = 0; k < a->pointer_count; k++) {
            const diff_array *array = &a->arrays[a->pointers[k].array];
            const uint64_t address =
                (uint64_t)(uintptr_t)array->device + round * array->count * array->width;
            memcpy(a->bytes + a->pointers[k].at, &address, 8);
        }
        for (size_t k = 0; k < a->parameter_count; k++) {
            parameters[k] = a->bytes + a->parameters[k];
        }
        QN_TRY(device->methods->launch(device->handle, function, &config, parameters));
    }
    return device->methods->synchronize(device->handle);
}

static quern_status run_loaded(diff_results *out, const diff_device *device, void *module,
                               const diff_case *test, diff_arguments *a, uint32_t repeat)
{
    void *function;
    QN_TRY(device->methods->function_get(device->handle, &function, module, "k"));
    QN_TRY(upload(device, a, repeat));
    capture printed = {-1, NULL};
    if (test->prints && !capture_begin(&printed)) {
        return qn_fail(QUERN_ERROR_LAUNCH, "standard output cannot be captured");
    }
    quern_status status = launch_all(device, function, test, a, repeat);
    if (test->prints) {
        qn_text text = {0};
        if (!capture_end(&printed, &text)) {
            return qn_fail_memory("reading what was printed");
        }
        out->items[out->count++] =
            (diff_result){(unsigned char *)text.data, text.length, 'u', 1, {.period = 1}};
    }
    QN_TRY(status);
    return download(out, device, a, repeat);
}

/* The text of a case as NVRTC writes it for the architecture. If there is no such file, it is the
 * text for 7.5 with the name of the target replaced. */
static quern_status read_text(char **text, size_t *size, const diff_case *test,
                              const diff_texts *texts)
{
    const char *name = test->ptx ? test->ptx : test->name;
    char path[1024];
    snprintf(path, sizeof path, "%s/%s/%s.ptx", texts->folder, texts->arch, name);
    if (access(path, R_OK) == 0) {
        return qn_file_read(path, text, size);
    }
    snprintf(path, sizeof path, "%s/%s.ptx", texts->folder, name);
    QN_TRY(qn_file_read(path, text, size));
    char *target = strstr(*text, ".target sm_75");
    if (target) {
        memcpy(target + strlen(".target sm_"), texts->arch, 2);
    }
    return QUERN_OK;
}

static quern_status run_text(diff_results *out, const diff_device *device, const diff_case *test,
                             diff_arguments *a, uint32_t repeat, const diff_texts *texts)
{
    char *text;
    size_t size;
    void *module;
    QN_TRY(read_text(&text, &size, test, texts));
    quern_status status =
        device->methods->module_load(device->handle, &module, QUERN_IMAGE_PTX, text, size);
    qn_free(text);
    QN_TRY(status);
    status = run_loaded(out, device, module, test, a, repeat);
    device->methods->module_free(device->handle, module);
    return status;
}

bool diff_run(diff_results *out, char **error, const diff_device *device, const diff_case *test,
              const diff_texts *texts)
{
    diff_arguments a;
    const uint32_t repeat = QN_MAX(test->repeat, 1u);
    *error = NULL;
    *out = (diff_results){.items = qn_calloc(DIFF_ARRAYS + 1, sizeof(diff_result))};
    if (!out->items || !diff_arguments_make(&a, test, repeat)) {
        *error = qn_strdup("the case cannot be set up");
        return false;
    }
    if (run_text(out, device, test, &a, repeat, texts) != QUERN_OK) {
        *error = qn_strdup(quern_last_error_text());
    }
    for (size_t k = 0; k < a.array_count; k++) {
        if (a.arrays[k].device) {
            device->methods->release(device->handle, a.arrays[k].device,
                                     bytes_of(&a.arrays[k], repeat), NULL);
        }
    }
    diff_arguments_free(&a);
    return !*error;
}
