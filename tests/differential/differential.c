/* SPDX-License-Identifier: MIT
 *
 * differential: run every case and every single instruction on a device, and record the answers or
 * compare them. In: --data FOLDER (with ptx/ and forms.txt), --record FOLDER or --compare FOLDER;
 * the device from QUERN_DEVICE; --arch 90 for the texts that NVRTC writes for 9.0. Out: a line for
 * each case; exit status 1 if something differs, 77 if the device is absent.
 */
#include "differential.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct options {
    const char *data, *record, *compare, *only, *against, *device, *forms_text, *arch;
    bool cases, forms;
} options;

static int usage(void)
{
    fputs(
        "usage: differential --data FOLDER (--record FOLDER | --compare FOLDER | --against DEVICE)"
        "\n                    [--cases] [--forms] [--only NAME] [--arch ARCHITECTURE]\n"
        "       differential --forms-text ARCHITECTURE < NAMES   (their PTX on standard output)\n",
        stderr);
    return 2;
}

static bool parse(options *o, int argc, char **argv)
{
    const struct {
        const char *name;
        const char **value;
    } known[] = {
        {"--data", &o->data}, {"--record", &o->record},   {"--compare", &o->compare},
        {"--only", &o->only}, {"--against", &o->against}, {"--forms-text", &o->forms_text},
        {"--arch", &o->arch},
    };
    for (int k = 1; k < argc; k++) {
        bool found = false;
        o->cases |= strcmp(argv[k], "--cases") == 0;
        o->forms |= strcmp(argv[k], "--forms") == 0;
        found = strcmp(argv[k], "--cases") == 0 || strcmp(argv[k], "--forms") == 0;
        for (size_t i = 0; !found && i < QN_COUNT(known); i++) {
            if (strcmp(argv[k], known[i].name) == 0 && k + 1 < argc) {
                *known[i].value = argv[++k];
                found = true;
            }
        }
        if (!found) {
            return false;
        }
    }
    if (!o->cases && !o->forms) {
        o->cases = o->forms = true;
    }
    if (strspn(o->arch, "0123456789") != 2 || o->arch[2]) {
        return false;
    }
    return o->forms_text || (o->data && (o->record || o->compare || o->against));
}

/* ---- one case ------------------------------------------------------------------------------- */

/* Whether a launch that ended with an error was expected to. */
static bool judge_error(const diff_device *device, const diff_case *test, const char *error)
{
    if (!test->fails) {
        printf("FAIL  %s: %s\n", test->name, error);
        return false;
    }
    if (device->is_soft && !strstr(error, test->fails)) {
        printf("FAIL  %s: \"%s\" was to be named: %s\n", test->name, test->fails, error);
        return false;
    }
    printf("ok     %s: %s\n", test->name, test->fails);
    return true;
}

/* What was recorded for the architecture if its text computes something else than that for 7.5;
 * otherwise the answer that both share. */
static bool load_answer(const options *o, diff_results *wanted, const char *name)
{
    char folder[1024], path[1280];
    snprintf(folder, sizeof folder, "%s/%s", o->compare, o->arch);
    snprintf(path, sizeof path, "%s/%s.bin", folder, name);
    return diff_results_load(wanted, access(path, R_OK) == 0 ? folder : o->compare, name);
}

static bool judge_success(const options *o, const diff_case *test, const diff_results *got,
                          diff_results *wanted)
{
    double worst;
    if (test->fails) {
        printf("FAIL  %s: it ran, and \"%s\" was to end it\n", test->name, test->fails);
        return false;
    }
    if (o->record) {
        printf("recorded  %s\n", test->name);
        return diff_results_save(got, o->record, test->name);
    }
    if (o->compare && !load_answer(o, wanted, test->name)) {
        printf("FAIL  %s: there is no recorded answer\n", test->name);
        return false;
    }
    if (!diff_results_compare(got, wanted, test->name, &worst)) {
        printf("FAIL  %s\n", test->name);
        return false;
    }
    if (worst > 0) {
        printf("ok     %s: within %g ulp\n", test->name, worst);
    } else {
        printf("ok     %s\n", test->name);
    }
    return true;
}

static bool one_case(const options *o, const diff_device *device, const diff_device *other,
                     const diff_case *test)
{
    diff_results got, wanted = {0};
    char *error, *other_error = NULL;
    char folder[1024];
    bool good;
    snprintf(folder, sizeof folder, "%s/ptx", o->data);
    const diff_texts texts = {folder, o->arch};
    if (other && !test->fails) {
        (void)diff_run(&wanted, &other_error, other, test, &texts);
    }
    if (diff_run(&got, &error, device, test, &texts)) {
        good = judge_success(o, test, &got, &wanted);
    } else {
        good = judge_error(device, test, error);
    }
    fflush(stdout);
    qn_free(error);
    qn_free(other_error);
    diff_results_free(&got);
    diff_results_free(&wanted);
    return good;
}

/* Skips where the device that was asked for is absent, because without its results there is nothing
 * to compare with the answers. The software device is always there: ./dev test never skips, and
 * ./dev gpu only on a machine without a GPU. */
static int look_for_device(const options *o)
{
    const char *why;
    const char *colon = strchr(o->device, ':');
    const size_t length = colon ? (size_t)(colon - o->device) : strlen(o->device);
    const quern_device_methods *methods = qn_device_find((qn_str){o->device, length});
    if (methods && methods->count(&why) == 0) {
        fprintf(stderr, "differential: skipped: %s\n", why);
        return 77;
    }
    return 0;
}

static int run_failing_case(const options *o, const diff_case *test)
{
    diff_device device;
    return diff_device_open(&device, o->device) && one_case(o, &device, NULL, test) ? 0 : 1;
}

/* Look for the device or, given a case, run it and expect it to fail. This is done in a process of
 * its own, because the driver serves no process after a failure, nor the children of one that has
 * called it. */
static int in_child(const options *o, const diff_case *test)
{
    int status = 1;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        status = test ? run_failing_case(o, test) : look_for_device(o);
        fflush(NULL);
        _exit(status);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)
               ? WEXITSTATUS(status)
               : 1;
}

static bool is_asked(const options *o, const diff_case *test)
{
    return o->cases && (!o->only || strcmp(o->only, test->name) == 0);
}

static int failing_cases(const options *o)
{
    int failed = 0;
    for (size_t k = 0; k < diff_case_count; k++) {
        if (diff_cases[k].fails && is_asked(o, &diff_cases[k])) {
            failed += in_child(o, &diff_cases[k]) != 0;
        }
    }
    return failed;
}

static int all_cases(const options *o, const diff_device *device, const diff_device *other)
{
    int failed = 0;
    size_t count = 0;
    for (size_t k = 0; k < diff_case_count; k++) {
        if (!diff_cases[k].fails && is_asked(o, &diff_cases[k])) {
            failed += !one_case(o, device, other, &diff_cases[k]);
            count++;
        }
    }
    printf("%zu cases, %d failed\n", count, failed);
    return failed;
}

static int run(const options *o, const diff_device *device, const diff_device *other)
{
    int failed = all_cases(o, device, other);
    if (o->forms) {
        char list[1024];
        snprintf(list, sizeof list, "%s/forms.txt", o->data);
        const diff_forms_options forms = {
            .list = list,
            .record = o->record,
            .compare = o->compare,
            .device = device,
            .against = other,
            .only = o->only,
        };
        failed += diff_forms(&forms) != 0;
    }
    return failed != 0;
}

int main(int argc, char **argv)
{
    options o = {.arch = "75"};
    diff_device device, other = {0};
    if (!parse(&o, argc, argv)) {
        return usage();
    }
    if (o.forms_text) {
        return diff_forms_write(atoi(o.forms_text)) ? 0 : 1;
    }
    const char *asked = getenv("QUERN_DEVICE");
    o.device = asked && *asked && strcmp(asked, "auto") != 0 ? asked : "soft";
    const int absent = in_child(&o, NULL);
    if (absent) {
        return absent;
    }
    const int failing = failing_cases(&o);
    if (!diff_device_open(&device, o.device)) {
        return 1;
    }
    if (o.against && !diff_device_open(&other, o.against)) {
        return 1;
    }
    const int status = run(&o, &device, o.against ? &other : NULL) || failing;
    diff_device_close(&device);
    diff_device_close(&other);
    return status;
}
