/* SPDX-License-Identifier: MIT
 *
 * divisions: integer divisions and remainders that have no result, and such that the program guards
 * against, with one kernel for each and each type. In: nothing. Out: one line with how many
 * launches were reported rightly under check=div, and one for each that was not; status 1 if there
 * was any. Only on the software device.
 */
#include <quern/quern.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `T`: the type, `@`: the operator; t: the thread, a: 100, b: 0 for thread 7, m: the least number
 * and w: -1 for thread 9. */
typedef struct situation {
    const char *name, *body;
    bool is_wrong;
} situation;

static const situation zeros[] = {
    {"plain", "o[t] = a @ b;", true},
    {"with a sum", "o[t] = (a @ b) * 3 + t;", true},
    {"of a constant", "o[t] = 100 @ b;", true},
    {"what decides", "if (a @ b > 20) o[t] = 1;", true},
    {"behind a condition that lets it through", "if (t > 3) o[t] = a @ b;", true},
    {"chosen", "o[t] = b ? a @ b : -1;", false},
    {"chosen, with a sum", "o[t] = b != 0 ? (a @ b) * 3 + t : -1;", false},
    {"behind a condition", "if (b != 0) o[t] = a @ b;", false},
    {"two conditions", "if (b != 0 && a @ b > 20) o[t] = 1;", false},
    {"two conditions, else", "if (b == 0 || a @ b > 20) o[t] = 1; else o[t] = 2;", false},
    {"in a loop", "T s = 0; for (int k = 0; k < t % 8; k++) { if (b) s += a @ b; } o[t] = s;",
     false},
    {"nobody wants it", "T q = a @ b; o[t] = a; if (t > 5000) o[t] = q;", false},
    {"never zero", "o[t] = a @ (b * b + 1);", false},
};

static const situation least[] = {
    {"the least by -1", "o[t] = m @ w;", true},
    {"chosen", "o[t] = w != -1 ? m @ w : m;", false},
    {"another by -1", "o[t] = (m + 1) @ w;", false},
};

static const struct type {
    const char *name, *least; /* NULL: every division has a result */
} types[] = {
    {"short", NULL},
    {"unsigned short", NULL},
    {"int", "(-2147483647 - 1)"},
    {"unsigned", NULL},
    {"long long", "(-9223372036854775807LL - 1)"},
    {"unsigned long long", NULL},
};

enum { SOURCE = 1 << 17, MOST = 400 };
static char source[SOURCE];
static const situation *cases[MOST];
static const char *named[MOST];
static size_t count;

static void put_kernel(const situation *s, const struct type *type, char operation)
{
    char *to = source + strlen(source);
    to += sprintf(to,
                  "extern \"C\" __global__ void k%zu(long long *o, const long long *in) {\n"
                  "typedef %s T; const int t = threadIdx.x;\n"
                  "const T a = (T)(in[31] + 76), b = (T)in[t], m = t == 9 ? %s : 5, w = t == 9 ? "
                  "(T)-1 : (T)3;\n",
                  count, type->name, type->least ? type->least : "5");
    for (const char *at = s->body; *at != '\0'; at++) {
        *to++ = *at == '@' ? operation : *at;
    }
    strcpy(to, "\n}\n");
    named[count] = type->name;
    cases[count++] = s;
}

static void put_all(const situation *situations, size_t n, const struct type *type)
{
    for (size_t k = 0; k < n; k++) {
        put_kernel(&situations[k], type, '/');
        put_kernel(&situations[k], type, '%');
    }
}

static void check(quern_status status, const char *what)
{
    if (status != QUERN_OK) {
        fprintf(stderr, "%s: %s", what, quern_last_error_text());
        exit(1);
    }
}

static bool try(quern_module *module, quern_array *o, quern_array *in, size_t k)
{
    char name[24];
    quern_function *function;
    snprintf(name, sizeof name, "k%zu", k);
    check(quern_module_function(&function, module, name), name);
    quern_launch_options launch = QUERN_LAUNCH_OPTIONS_INIT;
    launch.block[0] = 32;
    const quern_value values[] = {quern_value_array(o), quern_value_array(in)};
    const quern_status status = quern_function_call_n(function, values, 2, &launch);
    const char *said = status == QUERN_OK ? "" : quern_last_error()->message;
    const bool right = !cases[k]->is_wrong
                           ? status == QUERN_OK
                           : status == QUERN_ERROR_LAUNCH &&
                                 (strstr(said, "thread (7,0,0): ") || strstr(said, "by -1")) &&
                                 strstr(said, "div.cu:");
    if (!right || getenv("TABLE_LOUD")) {
        printf("%s: %s, %s: %s\n  %s\n", right ? "right" : "WRONG", name, named[k], cases[k]->name,
               status == QUERN_OK ? "nothing is said" : said);
    }
    quern_function_release(function);
    return right;
}

#define LENGTH(list) (sizeof(list) / sizeof((list)[0]))

int main(void)
{
    const char *device = getenv("QUERN_DEVICE");
    quern_engine *engine;
    quern_module *module;
    quern_array *o, *in;
    int64_t divisors[32];
    size_t right = 0;
    if (device && strncmp(device, "soft", 4) != 0) {
        printf("skipped: only the software device checks divisions\n");
        return 77;
    }
    for (size_t k = 0; k < LENGTH(types); k++) {
        put_all(zeros, LENGTH(zeros), &types[k]);
        if (types[k].least) {
            put_all(least, LENGTH(least), &types[k]);
        }
    }
    for (int k = 0; k < 32; k++) {
        divisors[k] = k - 7;
    }
    const quern_options options = {.size = sizeof options, .device = "soft:check=div"};
    check(quern_open(&engine, &options), "opening the software device");
    quern_module_options making = QUERN_MODULE_OPTIONS_INIT;
    making.file_name = "div.cu";
    check(quern_module_new(&module, engine, source, &making), "the module");
    check(quern_array_new(&o, engine, QUERN_INT64, 1, (const int64_t[]){32}), "o");
    check(quern_array_from(&in, engine, QUERN_INT64, 1, (const int64_t[]){32}, divisors), "in");
    for (size_t k = 0; k < count; k++) {
        check(quern_array_fill(o, &(const int64_t){0}, sizeof(int64_t)), "filling o");
        right += try(module, o, in, k);
    }
    printf("divisions: %zu right, %zu wrong\n", right, count - right);
    quern_array_release(o);
    quern_array_release(in);
    quern_module_release(module);
    quern_close(engine);
    return right != count;
}
