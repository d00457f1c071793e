/* SPDX-License-Identifier: MIT
 *
 * quern doctor: what was found on this machine, what is missing and what to do about it, and
 * whether a kernel can really be compiled and run. Exit status 0 when one ran.
 */
#include "cli.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_DEVICES 64
#define ELEMENTS     1024

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void heading(const char *text)
{
    printf("\n%s\n", text);
}

static void advice(const char *text)
{
    printf("  -> %s\n", text);
}

/* The library's text, each line indented under what was printed. */
static void indented(const char *text)
{
    for (size_t length; *text; text += length + (text[length] == '\n')) {
        length = strcspn(text, "\n");
        if (length > 0) {
            printf("  %.*s\n", (int)length, text);
        }
    }
}

static void show_devices(void)
{
    static quern_device_info infos[MOST_DEVICES];
    for (size_t k = 0; k < MOST_DEVICES; k++) {
        infos[k].size = sizeof infos[k];
    }
    size_t count = 0, gpus = 0;
    heading("devices");
    if (quern_device_list(&count, infos, MOST_DEVICES) != QUERN_OK) {
        indented(quern_last_error_text());
    }
    for (size_t k = 0; k < count && k < MOST_DEVICES; k++) {
        const quern_device_info *info = &infos[k];
        bool gpu = info->driver_version > 0 && !info->note[0];
        gpus += gpu;
        printf("  %-8s %s, %u %s, %s, %s\n", info->id, info->name, info->processors,
               cli_begins_with(info->id, "soft") ? "threads" : "multiprocessors",
               cli_human_bytes(info->memory_bytes), info->target);
        if (info->note[0]) {
            printf("           %s\n", info->note);
        }
    }
    if (gpus == 0) {
        puts("  no GPU can be used: kernels run on the software device, on the CPU");
        advice("on a machine with an NVIDIA GPU, install its driver: nvidia-smi should list it");
    }
}

/* CUDA's headers, and whether their release is NVRTC's. */
static void show_headers(const quern_compiler_info *info)
{
    bool fits = info->headers_major == info->major && info->headers_minor == info->minor;
    if (!info->headers[0]) {
        puts("  no headers of CUDA: sources that include cuda_fp16.h, cooperative_groups.h, cub/ "
             "or");
        puts("  cuda/std/ do not compile");
        advice("install the CUDA Toolkit of NVRTC's release, or set CUDA_HOME to the folder that");
        puts("     has include/ in it; ./dev fetches headers when it fetches NVRTC");
        return;
    }
    printf("  headers of CUDA %d.%d, %s\n", info->headers_major, info->headers_minor,
           info->headers);
    if (info->major > 0 && !fits) {
        printf(
            "  -> NVRTC is of another release, %d.%d, and may not understand them: set CUDA_HOME\n"
            "     to a Toolkit %d.%d, or QUERN_NVRTC to an NVRTC %d.%d\n",
            info->major, info->minor, info->major, info->minor, info->headers_major,
            info->headers_minor);
    }
}

static void show_compiler(void)
{
    heading("compiler");
    quern_compiler_info info = {.size = sizeof info};
    if (quern_compiler_get_info(&info, 1) != QUERN_OK) {
        indented(quern_last_error_text());
    }
    if (info.found && info.major > 0) {
        printf("  NVRTC %d.%d, %s\n", info.major, info.minor, info.path);
    }
    if (info.problem[0] || !info.found) {
        puts("  NVRTC cannot be used");
        indented(info.problem);
        advice("install the CUDA Toolkit, or: pip install nvidia-cuda-nvrtc; or let QUERN_NVRTC");
        puts("     name the library: QUERN_NVRTC=/path/to/libnvrtc.so.13");
        puts("     (kernels that are in the cache run without it)");
    }
    show_headers(&info);
}

static void show_cache(void)
{
    heading("cache");
    quern_options options = QUERN_OPTIONS_INIT;
    options.device = "soft";
    quern_engine *engine;
    if (quern_open(&engine, &options) != QUERN_OK) {
        indented(quern_last_error_text());
        return;
    }
    quern_cache_stats stats = {.size = sizeof stats};
    const char *problem = quern_cache_problem(engine);
    if (!problem[0] && quern_cache_get_stats(&stats, engine) != QUERN_OK) {
        problem = quern_last_error()->message;
    }
    if (problem[0]) {
        printf("  not used: %s\n", problem);
        advice("kernels are compiled in every process until it works; QUERN_CACHE_DIR names a");
        puts("     folder for it, which must belong to you");
    } else {
        printf("  %s\n", quern_cache_path(engine));
        printf("  %" PRIu64 " kernel%s, %s of %s\n", stats.entries, stats.entries == 1 ? "" : "s",
               cli_human_bytes(stats.file_bytes), cli_human_bytes(stats.limit));
    }
    quern_close(engine);
}

/* What doctor prints is sent to others: no secret is in it, and no address with a password. */
static void show_variable(const char *name, const char *value, bool secret)
{
    secret |= strstr(value, "://") && strchr(value, '@');
    if (secret && *value) {
        printf("  %s is set\n", name);
    } else {
        printf("  %s=%s\n", name, value);
    }
}

static void show_environment(void)
{
    static const struct {
        const char *name;
        bool secret;
    } variables[] = {
        {"QUERN_DEVICE", false},
        {"QUERN_CACHE_DIR", false},
        {"QUERN_CACHE_LIMIT", false},
        {"QUERN_CACHE_GROUP", false},
        {"QUERN_PACKS", false},
        {"QUERN_RECORD", false},
        {"QUERN_REMOTE", false},
        {"QUERN_REMOTE_TRUST", false},
        {"QUERN_REMOTE_SIGN", true},
        {"QUERN_REMOTE_MODE", false},
        {"QUERN_REMOTE_AUTH", true},
        {"QUERN_REMOTE_CA", false},
        {"QUERN_REMOTE_TIMEOUT", false},
        {"QUERN_NVRTC", false},
        {"QUERN_NVRTC_CACHE", false},
        {"QUERN_NVJITLINK", false},
        {"QUERN_CUDADEVRT", false},
        {"QUERN_CUDA", false},
        {"QUERN_PCH", false},
        {"QUERN_LOG", false},
    };
    bool any = false;
    heading("environment");
    for (size_t k = 0; k < CLI_COUNT(variables); k++) {
        const char *value = getenv(variables[k].name);
        if (value) {
            show_variable(variables[k].name, value, variables[k].secret);
            any = true;
        }
    }
    if (!any) {
        puts("  none of Quern's variables is set");
    }
}

/* One try of a small kernel on one device, step by step. */
typedef struct trial {
    quern_engine *engine;
    quern_kernel *kernel;
    quern_array *x, *y;
    double started;
    bool software; /* the device that was opened is the software device */
} trial;

/* Say how long a step took, or why it failed. */
static bool step(trial *t, const char *what, quern_status status)
{
    double now = now_ms();
    if (status == QUERN_OK) {
        printf("  %-20s %8.1f ms\n", what, now - t->started);
    } else {
        printf("  %-20s   failed\n", what);
        indented(quern_last_error_text());
    }
    t->started = now_ms();
    return status == QUERN_OK;
}

static quern_status call_and_wait(trial *t)
{
    quern_status status = quern_call(t->kernel, t->x, 2.0, &t->y);
    return status == QUERN_OK ? quern_synchronize(t->engine) : status;
}

static bool result_is_right(const float *x, const float *y)
{
    for (int k = 0; k < ELEMENTS; k++) {
        if (y[k] != 2 * x[k] + 1) {
            printf("  the result is wrong: element %d is %g instead of %g\n", k, (double)y[k],
                   (double)(2 * x[k] + 1));
            return false;
        }
    }
    puts("  the result is right");
    return true;
}

static bool run_trial(trial *t, const char *device)
{
    float x[ELEMENTS], y[ELEMENTS];
    for (int k = 0; k < ELEMENTS; k++) {
        x[k] = (float)k;
    }
    quern_options options = QUERN_OPTIONS_INIT;
    options.device = device;
    options.cache_dir = "off"; /* so that it is really compiled */
    t->started = now_ms();
    if (!step(t, "open the device", quern_open(&t->engine, &options))) {
        return false;
    }
    quern_device_info info = {.size = sizeof info};
    if (quern_device_get_info(&info, t->engine) == QUERN_OK) {
        printf("  %-20s   %s\n", "", info.name);
        t->software = cli_begins_with(info.id, "soft");
    }
    return step(t, "copy an array to it",
                quern_array_from(&t->x, t->engine, QUERN_FLOAT32, 1, (int64_t[]){ELEMENTS}, x)) &&
           step(t, "define a kernel",
                quern_elementwise(&t->kernel, t->engine, "float32 x, float32 a", "float32 y",
                                  "y = a * x + 1", NULL)) &&
           step(t, "compile and run it", call_and_wait(t)) &&
           step(t, "run it again", call_and_wait(t)) &&
           step(t, "copy the result back", quern_array_read(t->y, y, sizeof y)) &&
           result_is_right(x, y);
}

/* `device` is NULL for the default one; *software says whether it is the software device. */
static bool try_device(const char *device, bool *software)
{
    heading(device ? "trial on the software device" : "trial");
    trial t = {0};
    bool good = run_trial(&t, device);
    *software = t.software;
    quern_array_release(t.x);
    quern_array_release(t.y);
    quern_kernel_release(t.kernel);
    quern_close(t.engine);
    return good;
}

static int run(const cli_command *command, int argc, char **argv)
{
    cli_list words;
    CLI_TRY(cli_options_parse(command, NULL, argc, argv, &words));
    CLI_TRY(cli_no_more_words(command, &words));
    int version = quern_version();
    printf("quern %d.%d.%d\n", version / 10000, version / 100 % 100, version % 100);
    show_devices();
    show_compiler();
    show_cache();
    show_environment();
    bool software;
    bool works = try_device(NULL, &software) || (!software && try_device("soft", &software));
    putchar('\n');
    CLI_TRY(cli_flush());
    return works ? CLI_OK : cli_fail("no kernel could be compiled and run; see above");
}

const cli_command cmd_doctor = {
    .name = "doctor",
    .summary = "Say what was found on this machine, what is missing and what to do",
    .usage = "",
    .text =
        "Compiles and runs a small kernel, and says how long each step took. The exit status is 0\n"
        "when it ran.\n",
    .run = run,
};
