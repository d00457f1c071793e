/* SPDX-License-Identifier: MIT
 *
 * unwritten_programs FILE.cu: kernels that read memory that nobody wrote, with check=init. In: the
 * source, whose kernels say by their names whether that has an effect, and where. Out: one line
 * with how many were judged right, and one for each that was not; status 1 if there was any. Only
 * on the software device: a GPU does not check.
 */
#include <quern/quern.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 4096, THREADS = 64 };

static quern_engine *engine;
static char *source;

static void check(quern_status status, const char *what)
{
    if (status != QUERN_OK) {
        fprintf(stderr, "%s: %s", what, quern_last_error_text());
        exit(1);
    }
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 1 << 16);
    if (!file || !text || fread(text, 1, (1 << 16) - 1, file) == 0) {
        perror(path);
        exit(1);
    }
    fclose(file);
    return text;
}

static quern_array *ints(int count)
{
    quern_array *array;
    check(quern_array_new(&array, engine, QUERN_INT32, 1, (int64_t[]){count}), "an array");
    return array;
}

static quern_status run(quern_module *module, const char *name)
{
    static int numbers[COUNT];
    quern_function *function;
    quern_array *x = ints(COUNT), *u = ints(COUNT), *out = ints(COUNT);
    for (int k = 0; k < COUNT; k++) {
        numbers[k] = k;
    }
    check(quern_array_write(x, numbers, sizeof numbers), "x");
    check(quern_module_function(&function, module, name), name);
    quern_status status = quern_function_call(function, &QUERN_GRID(1, THREADS), x, u, out, 3);
    quern_function_release(function);
    quern_array_release(x);
    quern_array_release(u);
    quern_array_release(out);
    return status;
}

/* The report points to the kernel's line that says so, and names the memory. */
static int is_found(const char *kernel)
{
    const quern_error *error = quern_last_error();
    const char *here = strstr(kernel, "// here"), *line = here;
    while (line && line > source && line[-1] != '\n') {
        line--;
    }
    const char *memory = strstr(error->message, "element ") ? "of 'u', which has 4096"
                         : strstr(error->message, "shared") ? "in shared memory"
                         : strstr(error->message, "malloc") ? "bytes from malloc"
                                                            : "of the thread's local memory";
    if (strstr(error->message, "element ") && strstr(error->message, "atomic access")) {
        memory = "of 'out', which has 4096";
    }
    return here && error->status == QUERN_ERROR_ACCESS && strstr(error->message, memory) &&
           error->end > error->begin && error->begin >= (size_t)(line - source) &&
           error->begin < (size_t)(here - source);
}

int main(int argc, char **argv)
{
    const quern_options options = {.size = sizeof options, .device = "soft:check=init"};
    const char *device = getenv("QUERN_DEVICE");
    int right = 0, wrong = 0;
    quern_module *module;
    if (argc < 2 || (device && strncmp(device, "soft", 4) != 0)) {
        printf("skipped: only the software device looks for memory that nobody wrote\n");
        return argc < 2 ? 2 : 77;
    }
    source = read_file(argv[1]);
    check(quern_open(&engine, &options), "opening the software device");
    check(quern_module_new(&module, engine, source, NULL), "compiling");
    static const char *const begin = "\nextern \"C\" __global__ void ";
    for (const char *at = strstr(source, begin); at; at = strstr(at + 1, begin)) {
        char name[64] = "";
        sscanf(at + strlen(begin), "%63[^(]", name);
        const int good = strncmp(name, "right_", 6) == 0;
        const quern_status status = run(module, name);
        const int ok = good ? status == QUERN_OK : status != QUERN_OK && is_found(at);
        right += ok;
        wrong += !ok;
        if (!ok || argc > 2) {
            printf("%s %s:\n%s\n", ok ? "fine" : "WRONG", name,
                   status == QUERN_OK ? "  no report" : quern_last_error_text());
        }
    }
    printf("programs: %d right, %d wrong\n", right, wrong);
    quern_module_release(module);
    quern_close(engine);
    free(source);
    return wrong > 0;
}
