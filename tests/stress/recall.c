/* SPDX-License-Identifier: MIT
 *
 * Many threads call the same few kernels, which remember calls: each thread with arrays of its own,
 * whose shapes, alignments and overlaps alternate, so that threads find, replace and miss what
 * others have left. Every result is compared with the host's. Uses only the public interface.
 */
#include <pthread.h>
#include <quern/quern.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 8, CALLS = 400, MOST = 96, ROOM = 3 * MOST };

static quern_engine *engine;
static quern_kernel *scale, *sum;
static pthread_barrier_t start;

static void must(quern_status status, const char *doing)
{
    if (status != QUERN_OK) {
        fprintf(stderr, "%s: %s\n", doing, quern_last_error_text());
        exit(1);
    }
}

static uint32_t draw(uint64_t *state, uint32_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % below;
}

/* A thread's memory: an array of ints, and what the host thinks is in it. */
typedef struct room {
    quern_array *array;
    int32_t host[ROOM];
} room;

static quern_array *view(quern_array *array, int64_t begin, int64_t count)
{
    quern_array *part;
    must(quern_array_slice(&part, array, 1, &(quern_slice){begin, begin + count, 1}), "a view");
    return part;
}

/* y = x * a + 1, where the two may be apart, the same, or overlap. */
static void call_scale(room *r, uint64_t *state)
{
    const int64_t count = 1 + draw(state, MOST), x = draw(state, MOST);
    const int64_t y = draw(state, 3) == 0 ? x : (int64_t)draw(state, 2 * MOST);
    const int32_t a = (int32_t)draw(state, 5);
    quern_array *from = view(r->array, x, count), *to = view(r->array, y, count), *made = NULL;
    int32_t before[MOST];
    memcpy(before, r->host + x, (size_t)count * sizeof *before);
    must(quern_call(scale, from, (long long)a, &made), "a call with its output allocated");
    must(quern_call(scale, from, (long long)a, to), "a call");
    int32_t got[MOST];
    must(quern_array_read(made, got, (size_t)count * sizeof *got), "reading");
    for (int64_t k = 0; k < count; k++) {
        r->host[y + k] = before[k] * a % 1000 + 1;
        if (got[k] != r->host[y + k]) {
            fprintf(stderr, "scale: element %lld is %d instead of %d\n", (long long)k, (int)got[k],
                    (int)r->host[y + k]);
            exit(1);
        }
    }
    quern_array_release(from);
    quern_array_release(to);
    quern_array_release(made);
}

static void call_sum(room *r, uint64_t *state)
{
    const int64_t count = 1 + draw(state, MOST), x = draw(state, 2 * MOST);
    quern_array *from = view(r->array, x, count), *total = NULL;
    must(quern_call(sum, from, &total), "a sum");
    int32_t got, expected = 0;
    must(quern_array_read(total, &got, sizeof got), "reading a sum");
    for (int64_t k = 0; k < count; k++) {
        expected += r->host[x + k];
    }
    if (got != expected) {
        fprintf(stderr, "sum is %d instead of %d\n", (int)got, (int)expected);
        exit(1);
    }
    quern_array_release(from);
    quern_array_release(total);
}

static void *work(void *argument)
{
    uint64_t state = (uint64_t)(uintptr_t)argument + 1;
    room r;
    for (int32_t k = 0; k < ROOM; k++) {
        r.host[k] = k;
    }
    must(quern_array_from(&r.array, engine, QUERN_INT32, 1, (int64_t[]){ROOM}, r.host), "an array");
    pthread_barrier_wait(&start);
    for (int n = 0; n < CALLS; n++) {
        (draw(&state, 3) == 0 ? call_sum : call_scale)(&r, &state);
    }
    int32_t got[ROOM];
    must(quern_array_read(r.array, got, sizeof got), "reading");
    if (memcmp(got, r.host, sizeof got) != 0) {
        fputs("the whole array differs\n", stderr);
        exit(1);
    }
    quern_array_release(r.array);
    return NULL;
}

int main(void)
{
    quern_compiler_info compiler = QUERN_COMPILER_INFO_INIT;
    must(quern_compiler_get_info(&compiler, 0), "asking for the compiler");
    if (!compiler.found) {
        fprintf(stderr, "no NVRTC on this machine: %s\n", compiler.problem);
        return 77;
    }
    must(quern_open(&engine, NULL), "opening");
    must(quern_elementwise(&scale, engine, "T x, T a", "T y", "y = x * a % 1000 + 1", NULL),
         "defining");
    must(quern_reduction(&sum, engine, "T x", "T y", "x", "a + b", "y = a", "0", NULL), "defining");
    pthread_barrier_init(&start, NULL, THREADS);
    pthread_t threads[THREADS];
    for (int t = 0; t < THREADS; t++) {
        pthread_create(&threads[t], NULL, work, (void *)(intptr_t)t);
    }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
    }
    quern_kernel_release(scale);
    quern_kernel_release(sum);
    quern_close(engine);
    return 0;
}
