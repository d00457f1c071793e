/* SPDX-License-Identifier: MIT
 *
 * meetings: threads that meet in ways that CUDA allows, and in ways that it does not: each
 * collective operation of a warp and each barrier of a block in each situation, as one kernel. In:
 * nothing. Out: one line with how many launches were reported rightly under check=sync, and one for
 * each that was not; status 1 if there was any. Only on the software device.
 */
#include <quern/quern.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A situation: `#(mask)` is the operation, t the thread, o where results go. */
typedef struct situation {
    const char *name, *body;
    int threads;
    const char *says; /* NULL: nothing is wrong */
    int places;       /* how many the report has at least */
} situation;

/* ---- operations of a warp ------------------------------------------------------------------- */

static const char *const collectives[] = {
    "o[t] += (int)__ballot_sync(@, t & 1)", "o[t] += __any_sync(@, t & 1)",
    "o[t] += __all_sync(@, t & 1)",         "o[t] += (int)__match_any_sync(@, t & 3)",
    "o[t] += __shfl_sync(@, t, t % 32)",    "o[t] += __shfl_down_sync(@, t, 1)",
    "o[t] += __shfl_up_sync(@, t, 2)",      "__syncwarp(@)",
};

static const situation warps[] = {
    {"all", "#(~0u);", 64, NULL, 0},
    {"halves apart", "if (t % 32 < 16) { #(0xffffu); } else { #(0xffff0000u); }", 64, NULL, 0},
    {"some have left", "if (t >= 20) return; #(~0u);", 64, NULL, 0},
    {"a short warp", "#(~0u);", 40, NULL, 0},
    {"some twice", "if (t % 32 >= 16) { #(0xffff0000u); } #(~0u);", 64, NULL, 0},
    {"who is there", "if (t % 3) { #(__activemask()); }", 64, NULL, 0},
    {"by match", "unsigned m = __match_any_sync(~0u, t % 3); #(m);", 64, NULL, 0},
    {"in a loop that some leave", "for (int k = 0; k < t % 5 + 1; k++) { #(__activemask()); }", 32,
     NULL, 0},
    {"two places, one mask", "if (t % 2) { #(~0u); o[t]++; } else { o[t]--; #(~0u); }", 32, NULL,
     0},
    {"after others left", "#(~0u); if (t % 32 >= 16) return; #(~0u);", 64, NULL, 0},
    {"one half names all", "if (t % 32 < 16) { #(~0u); } else { #(0xffff0000u); }", 32,
     "which did not come here", 3},
    {"the other half names all", "if (t % 32 < 16) { #(0xffffu); } else { #(~0u); }", 32,
     "which did not come here", 3},
    {"masks differ", "unsigned m = t % 32 < 16 ? ~0u : 0xffff0000u; #(m);", 32,
     "must give the same mask", 1},
    {"not in its mask", "if (t == 5) { #(1u << 6); }", 32, "is not in the member mask", 1},
    {"waits for ever",
     "if (t % 2) { #(~0u); } else { while (*(volatile int *)o == 0) { __syncwarp(0x55555555u); } }",
     32, "limit", 1},
};

/* Whole bodies: values that are taken from lanes which take no part. */
static const situation shuffles[] = {
    {"of one that left", "if (t >= 16) return; o[t] = __shfl_sync(~0u, t, 20);", 32,
     "lane 20 of its warp, which has left", 2},
    {"of one that is not there", "o[t] = __shfl_sync(~0u, t, 20);", 16, "does not have", 1},
    {"of one that is not named", "if (t < 16) o[t] = __shfl_sync(0xffffu, t, 20);", 32,
     "not in the member mask 0x0000ffff", 1},
    {"of a partner that left", "if (t >= 16) return; o[t] = __shfl_xor_sync(~0u, t, 16);", 32,
     "which has left", 2},
    {"within a width", "if (t >= 16) return; o[t] = __shfl_sync(0xffffu, t, 20, 8);", 32, NULL, 0},
    {"a sum of some",
     "if (t >= 16) return; int v = t;\n"
     "for (int k = 8; k > 0; k /= 2) v += __shfl_down_sync(0xffffu, v, k);\nif (t == 0) o[0] = v;",
     32, NULL, 0},
    {"a sum by partners",
     "int v = t; for (int k = 16; k > 0; k /= 2) v += __shfl_xor_sync(~0u, v, k); o[t] = v;", 64,
     NULL, 0},
};

/* ---- barriers of a block -------------------------------------------------------------------- */

static const char *const barriers[] = {
    "__syncthreads()",
    "o[t] += __syncthreads_count(t & 1)",
    "o[t] += __syncthreads_or(t & 1)",
    "o[t] += __syncthreads_and(t & 1)",
};

static const situation blocks[] = {
    {"all", "#; o[t]++; #;", 96, NULL, 0},
    {"some have left", "if (t >= 70) return; #; o[t]++; #;", 96, NULL, 0},
    {"a warp has left", "if (t < 32) return; #; o[t]++; #;", 96, NULL, 0},
    {"one way for all", "if (n > 0) { #; o[t]++; } else { o[t]--; #; }", 96, NULL, 0},
    {"in a loop", "for (int k = 0; k < n; k++) { o[t]++; #; }", 96, NULL, 0},
    {"lanes apart", "if (t % 2) { #; o[t]++; } else { o[t] = 3; #; }", 32, "at the same place", 2},
    {"warps apart", "if (t < 32) { #; o[t]++; } else { o[t] = 3; #; }", 64, "at the same place", 2},
    {"one more for some", "if (t < 32) { o[t] = 3; #; } o[t + 64]++; #; o[t]++;", 64,
     "at the same place", 2},
};

static const situation named[] = {
    {"two warps", "if (t < 64) asm volatile(\"bar.sync 1, 64;\"); o[t]++;", 96, NULL, 0},
    {"one brings, one takes",
     "if (t < 32) { o[t] = 1; asm volatile(\"bar.arrive 1, 64;\"); }\n"
     "else asm volatile(\"bar.sync 1, 64;\");",
     64, NULL, 0},
    {"unaligned, lanes apart",
     "if (t % 2) { asm volatile(\"barrier.sync 0;\"); o[t]++; }\n"
     "else { o[t] = 2; asm volatile(\"barrier.sync 0;\"); }",
     64, NULL, 0},
    {"a function from two places",
     "if (t % 2) { meet(o); o[t]++; } else { o[t] = 3; meet(o + 64); }", 64, "at the same place",
     2},
    {"a function from one place", "for (int k = 0; k < n; k++) meet(o);", 64, NULL, 0},
};

/* ---- the source ----------------------------------------------------------------------------- */

enum { SOURCE = 1 << 18, MOST = 400 };

static char source[SOURCE];
static const situation *cases[MOST];
static const char *operations[MOST];
static size_t count;

static void put(const char *piece, size_t length)
{
    const size_t used = strlen(source);
    if (used + length < SOURCE) {
        memcpy(source + used, piece, length);
        source[used + length] = '\0';
    }
}

/* An operation with its mask, which for those of a warp is in brackets at *at. */
static void put_operation(const char *operation, const char **at)
{
    const char *hole = strchr(operation, '@'), *begin = *at;
    if (!hole) {
        put(operation, strlen(operation));
        return;
    }
    int depth = 0;
    do {
        depth += (**at == '(') - (**at == ')');
        ++*at;
    } while (depth > 0);
    put(operation, (size_t)(hole - operation));
    put(begin, (size_t)(*at - begin));
    put(hole + 1, strlen(hole + 1));
}

static void put_kernel(const situation *s, const char *operation)
{
    char head[200];
    snprintf(head, sizeof head,
             "extern \"C\" __global__ void k%zu(int *o, int n) {\nint t = threadIdx.x;\n", count);
    put(head, strlen(head));
    for (const char *at = s->body; *at != '\0';) {
        if (*at == '#') {
            at++;
            put("\n", 1); /* each on a line of its own */
            put_operation(operation, &at);
        } else {
            put(at++, 1);
        }
    }
    put("\n}\n", 3);
    cases[count] = s;
    operations[count++] = operation;
}

static void put_all(const situation *situations, size_t situation_count, const char *const *each,
                    size_t each_count)
{
    for (size_t s = 0; s < situation_count; s++) {
        for (size_t k = 0; k < each_count; k++) {
            put_kernel(&situations[s], each[k]);
        }
    }
}

/* ---- launches ------------------------------------------------------------------------------- */

static void check(quern_status status, const char *what)
{
    if (status != QUERN_OK) {
        fprintf(stderr, "%s: %s", what, quern_last_error_text());
        exit(1);
    }
}

static int places_in(const char *message)
{
    int places = 0;
    for (const char *at = message; (at = strstr(at, "meet.cu:")) != NULL; at++) {
        places++;
    }
    return places;
}

static bool try(quern_module *module, quern_array *o, size_t k)
{
    char name[24];
    quern_function *function;
    snprintf(name, sizeof name, "k%zu", k);
    check(quern_module_function(&function, module, name), name);
    quern_launch_options launch = QUERN_LAUNCH_OPTIONS_INIT;
    launch.grid[0] = 2;
    launch.block[0] = (uint32_t)cases[k]->threads;
    const quern_value values[] = {quern_value_array(o), quern_argument_int(2)};
    const quern_status status = quern_function_call_n(function, values, 2, &launch);
    const char *said = status == QUERN_OK ? "" : quern_last_error()->message;
    const bool right = !cases[k]->says
                           ? status == QUERN_OK
                           : status == QUERN_ERROR_LAUNCH && strstr(said, cases[k]->says) &&
                                 places_in(said) >= cases[k]->places;
    if (!right || getenv("TABLE_LOUD")) {
        printf("%s: %s: %s\n  %s\n", right ? "right" : "WRONG", cases[k]->name, operations[k],
               status == QUERN_OK ? "nothing is said" : said);
    }
    quern_function_release(function);
    return right;
}

#define LENGTH(list) (sizeof(list) / sizeof((list)[0]))

int main(void)
{
    static const char *const whole[] = {""};
    const char *device = getenv("QUERN_DEVICE");
    quern_engine *engine;
    quern_module *module;
    quern_array *o;
    size_t right = 0;
    if (device && strncmp(device, "soft", 4) != 0) {
        printf("skipped: only the software device checks how threads meet\n");
        return 77;
    }
    strcpy(source, "__device__ __noinline__ void meet(int *o) { o[threadIdx.x]++; "
                   "__syncthreads(); o[threadIdx.x]++; }\n");
    put_all(warps, LENGTH(warps), collectives, LENGTH(collectives));
    put_all(blocks, LENGTH(blocks), barriers, LENGTH(barriers));
    put_all(shuffles, LENGTH(shuffles), whole, 1);
    put_all(named, LENGTH(named), whole, 1);
    const quern_options options = {.size = sizeof options, .device = "soft:check=sync,limit=0.2"};
    check(quern_open(&engine, &options), "opening the software device");
    quern_module_options making = QUERN_MODULE_OPTIONS_INIT;
    making.file_name = "meet.cu";
    check(quern_module_new(&module, engine, source, &making), "the module");
    check(quern_array_new(&o, engine, QUERN_INT32, 1, (const int64_t[]){256}), "o");
    for (size_t k = 0; k < count; k++) {
        check(quern_array_fill(o, &(const int32_t){0}, sizeof(int32_t)), "filling o");
        right += try(module, o, k);
    }
    printf("meetings: %zu right, %zu wrong\n", right, count - right);
    quern_array_release(o);
    quern_module_release(module);
    quern_close(engine);
    return right != count;
}
