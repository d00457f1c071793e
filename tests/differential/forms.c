/* SPDX-License-Identifier: MIT
 *
 * Every lane-wise instruction through the whole device, on 256 operands each. In: forms.txt, which
 * names the architecture whose assembler takes a form. Out: forms.bin, one record per form, or a
 * comparison with it. A record holds a hash of all answers and the first 32 of them; all of them
 * for approximate forms. Given another device, all answers are compared with its own.
 */
#include "differential.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 64, MOST_TOLD = 3, FORM_KEPT = 32, FORM_KEPT_OF_SET = 8 };

/* A record of forms.bin: this, `kept` results of the result's width, and as many flag bytes if
 * the form has flags. */
typedef struct form_record {
    uint64_t name, hash; /* of the name, of all answers */
    uint32_t kept;
    uint16_t bytes, flags; /* of one answer: result and flags */
} form_record;

typedef struct form_run {
    const diff_forms_options *options;
    const qn_lane_form *forms[CHUNK];
    size_t count;
    int target;
    FILE *record;
    char *golden;
    size_t golden_bytes;
    size_t compared, failed, unrecorded;
} form_run;

/* ---- running -------------------------------------------------------------------------------- */

static quern_status run_one(diff_answers *out, const diff_device *device, void *module,
                            size_t number, const diff_operands *operands, void *memory[2])
{
    char name[32];
    void *function;
    void *parameters[] = {&memory[0], &memory[1]};
    const quern_launch_config config = {.grid = {1, 1, 1}, .block = {FORM_VECTORS, 1, 1}};
    snprintf(name, sizeof name, "k%zu", number);
    memset(out, 0, sizeof *out);
    QN_TRY(device->methods->function_get(device->handle, &function, module, name));
    QN_TRY(device->methods->copy(device->handle, memory[0], operands, sizeof *operands,
                                 QUERN_COPY_TO_DEVICE, NULL, 1));
    QN_TRY(device->methods->copy(device->handle, memory[1], out, sizeof *out, QUERN_COPY_TO_DEVICE,
                                 NULL, 1));
    QN_TRY(device->methods->launch(device->handle, function, &config, parameters));
    QN_TRY(device->methods->synchronize(device->handle));
    return device->methods->copy(device->handle, out, memory[1], sizeof *out, QUERN_COPY_TO_HOST,
                                 NULL, 1);
}

static quern_status run_module(diff_answers *answers, const form_run *run,
                               const diff_device *device, void *module)
{
    void *memory[2] = {NULL, NULL};
    quern_status status =
        device->methods->allocate(device->handle, &memory[0], sizeof(diff_operands), NULL);
    if (status == QUERN_OK) {
        status = device->methods->allocate(device->handle, &memory[1], sizeof(diff_answers), NULL);
    }
    for (size_t k = 0; status == QUERN_OK && k < run->count; k++) {
        diff_operands operands;
        diff_form_operands(&operands, run->forms[k]);
        status = run_one(&answers[k], device, module, k, &operands, memory);
        if (status != QUERN_OK) {
            fprintf(stderr, "%s: ", run->forms[k]->name);
        }
    }
    device->methods->release(device->handle, memory[0], sizeof(diff_operands), NULL);
    device->methods->release(device->handle, memory[1], sizeof(diff_answers), NULL);
    return status;
}

/* The answers of a chunk of forms, which become one module. */
static bool run_chunk(diff_answers *answers, const form_run *run, const diff_device *device)
{
    qn_text ptx = {0};
    void *module = NULL;
    for (size_t k = 0; k < run->count; k++) {
        diff_form_text(&ptx, run->forms[k], k, run->target);
    }
    quern_status status = ptx.failed
                              ? qn_fail_memory("writing PTX")
                              : device->methods->module_load(device->handle, &module,
                                                             QUERN_IMAGE_PTX, ptx.data, ptx.length);
    qn_text_free(&ptx);
    if (status == QUERN_OK) {
        status = run_module(answers, run, device, module);
        device->methods->module_free(device->handle, module);
    }
    if (status != QUERN_OK) {
        fprintf(stderr, "forms from %s on: %s\n", run->forms[0]->name, quern_last_error_text());
    }
    return status == QUERN_OK;
}

/* ---- recording ------------------------------------------------------------------------------ */

static uint64_t hash_of(const diff_answers *answers)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < FORM_VECTORS; i++) {
        h = (h ^ answers->d[i]) * 0x100000001b3u;
        h = (h ^ answers->flag[i] ^ h >> 29) * 0x100000001b3u;
    }
    return h;
}

static form_record describe(const qn_lane_form *form, const diff_answers *answers)
{
    double ulps, absolute;
    const bool is_set = strncmp(form->name, "set.", 4) == 0; /* many, and all true or false */
    form_record record = {
        .name = diff_seed(form->name, 0), .hash = hash_of(answers), .flags = diff_form_flags(form)};
    record.bytes = (uint16_t)QN_MAX(form->d_bits / 8, 1);
    record.kept = diff_form_bound(form, &ulps, &absolute) ? FORM_VECTORS
                  : is_set                                ? FORM_KEPT_OF_SET
                                                          : FORM_KEPT;
    return record;
}

static bool save(FILE *file, const qn_lane_form *form, const diff_answers *answers)
{
    const form_record record = describe(form, answers);
    bool good = fwrite(&record, sizeof record, 1, file) == 1;
    for (uint32_t i = 0; i < record.kept; i++) {
        good = good && fwrite(&answers->d[i], record.bytes, 1, file) == 1;
        good = good && (!record.flags || fwrite(&answers->flag[i], 1, 1, file) == 1);
    }
    return good;
}

/* What was recorded for a form: the kept answers, their number and the hash. */
static bool find(form_record *record, diff_answers *answers, const form_run *run,
                 const qn_lane_form *form)
{
    memset(answers, 0, sizeof *answers);
    for (size_t at = 0; at + sizeof *record <= run->golden_bytes;) {
        memcpy(record, run->golden + at, sizeof *record);
        at += sizeof *record;
        const size_t each = (size_t)record->bytes + record->flags;
        if (record->kept > FORM_VECTORS || record->bytes > 8 ||
            record->kept * each > run->golden_bytes - at) {
            return false;
        }
        if (record->name != diff_seed(form->name, 0)) {
            at += record->kept * each;
            continue;
        }
        for (uint32_t i = 0; i < record->kept; i++, at += each) {
            memcpy(&answers->d[i], run->golden + at, record->bytes);
            memcpy(&answers->flag[i], run->golden + at + record->bytes, record->flags);
        }
        return true;
    }
    return false;
}

/* ---- comparing ------------------------------------------------------------------------------ */

static bool same_answer(const qn_lane_form *form, const diff_answers *got,
                        const diff_answers *wanted, size_t i)
{
    double ulps, absolute;
    if (got->d[i] == wanted->d[i] && got->flag[i] == wanted->flag[i]) {
        return true;
    }
    if (!diff_form_bound(form, &ulps, &absolute)) {
        return false;
    }
    const char letter = diff_form_letter(form->name, true);
    uint32_t width = form->d_bits / 8u;
    bool same = true;
    const uint32_t part = strstr(form->name, "16x2") ? 2 : width;
    for (uint32_t done = 0; done < width; done += part) {
        const uint64_t mask = part == 8 ? ~(uint64_t)0 : ((uint64_t)1 << part * 8) - 1;
        const uint64_t a = got->d[i] >> done * 8 & mask, b = wanted->d[i] >> done * 8 & mask;
        const double off = fabs(diff_value(letter, part, a) - diff_value(letter, part, b));
        same = same && (off <= absolute || diff_ulps(letter, part, a, b) <= ulps);
    }
    return same;
}

static void tell(const qn_lane_form *form, const diff_answers *got, const diff_answers *wanted,
                 size_t i)
{
    diff_operands in;
    diff_form_operands(&in, form);
    fprintf(stderr, "%s a=%llx b=%llx c=%llx e=%llx: %llx,%llx here, %llx,%llx recorded\n",
            form->name, (unsigned long long)in.a[i], (unsigned long long)in.b[i],
            (unsigned long long)in.c[i], (unsigned long long)in.e[i], (unsigned long long)got->d[i],
            (unsigned long long)got->flag[i], (unsigned long long)wanted->d[i],
            (unsigned long long)wanted->flag[i]);
}

static bool compare(const qn_lane_form *form, const diff_answers *got, const diff_answers *wanted,
                    const form_record *record)
{
    size_t different = 0;
    for (size_t i = 0; i < record->kept; i++) {
        if (!same_answer(form, got, wanted, i) && different++ < MOST_TOLD) {
            tell(form, got, wanted, i);
        }
    }
    if (different == 0 && record->kept < FORM_VECTORS && record->hash != hash_of(got)) {
        fprintf(stderr, "%s: differs behind the first %u answers; see it on a GPU with --against\n",
                form->name, record->kept);
        return false;
    }
    return different == 0;
}

static bool judge(form_run *run, const qn_lane_form *form, const diff_answers *got,
                  const diff_answers *other)
{
    diff_answers wanted;
    form_record record;
    if (run->record) {
        return save(run->record, form, got);
    }
    if (other) {
        wanted = *other;
        record = describe(form, other);
        record.kept = FORM_VECTORS;
    } else if (!find(&record, &wanted, run, form)) {
        run->unrecorded++;
        fprintf(stderr, "%s: there is no recorded answer\n", form->name);
        return false;
    }
    run->compared++;
    return compare(form, got, &wanted, &record);
}

static bool flush(form_run *run)
{
    static diff_answers answers[CHUNK], others[CHUNK];
    const diff_device *other = run->options->against;
    if (run->count == 0) {
        return true;
    }
    if (!run_chunk(answers, run, run->options->device) ||
        (other && !run_chunk(others, run, other))) {
        return false;
    }
    for (size_t k = 0; k < run->count; k++) {
        run->failed += !judge(run, run->forms[k], &answers[k], other ? &others[k] : NULL);
    }
    run->count = 0;
    return true;
}

/* ---- the list ------------------------------------------------------------------------------- */

static bool walk(form_run *run, FILE *list)
{
    char line[256], name[200];
    bool good = true;
    while (good && fgets(line, sizeof line, list)) {
        int target;
        if (sscanf(line, "%d %199s", &target, name) != 2 ||
            (run->options->only && strcmp(run->options->only, name) != 0)) {
            continue;
        }
        const qn_lane_form *form = qn_lane_find(name);
        if (!form) {
            fprintf(stderr, "%s: the software device has lost this form\n", name);
            run->failed++;
            continue;
        }
        if (run->count == CHUNK || (run->count > 0 && run->target != target)) {
            good = flush(run);
        }
        run->target = target;
        run->forms[run->count++] = form;
    }
    return good && flush(run);
}

int diff_forms(const diff_forms_options *options)
{
    form_run run = {.options = options};
    char path[1024];
    FILE *list = fopen(options->list, "r");
    bool good = list != NULL;
    if (good && options->record) {
        snprintf(path, sizeof path, "%s/forms.bin", options->record);
        run.record = fopen(path, "wb");
        good = run.record != NULL;
    } else if (good && options->compare) {
        snprintf(path, sizeof path, "%s/forms.bin", options->compare);
        good = qn_file_read(path, &run.golden, &run.golden_bytes) == QUERN_OK;
    }
    good = good && walk(&run, list);
    if (run.record) {
        good = fclose(run.record) == 0 && good;
    }
    if (list) {
        fclose(list);
    }
    qn_free(run.golden);
    if (!good) {
        fprintf(stderr, "forms: not all could be run\n");
        return -1;
    }
    printf("%zu forms compared, %zu failed, of them %zu without a recorded answer\n", run.compared,
           run.failed, run.unrecorded);
    return (int)run.failed;
}

bool diff_forms_write(int target)
{
    char name[256];
    qn_text ptx = {0};
    size_t number = 0;
    while (scanf("%255s", name) == 1) {
        const qn_lane_form *form = qn_lane_find(name);
        if (form) {
            diff_form_text(&ptx, form, number++, target);
        }
    }
    const bool good = !ptx.failed && fwrite(ptx.data, 1, ptx.length, stdout) == ptx.length;
    qn_text_free(&ptx);
    return good;
}
