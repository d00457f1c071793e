/* SPDX-License-Identifier: MIT
 *
 * Tensors that many threads take, view, hand on and drop at once: each deleter runs exactly once,
 * in whichever thread drops the last reference, and may use the library itself. The functions of
 * the exchange table run while the engine they use is changed. Uses the public interface alone.
 */
#include <pthread.h>
#include <quern/interop.h>
#include <quern/quern.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 8
#define ROUNDS  400
#define COUNT   64

static quern_engine *engine;
static atomic_int made, deleted;
static _Atomic(quern_array *) shelf[THREADS]; /* arrays that anybody may take and drop */

static void must(quern_status status, const char *doing)
{
    if (status != QUERN_OK) {
        fprintf(stderr, "%s: %s\n", doing, quern_last_error_text());
        exit(1);
    }
}

static void expect(int good, const char *what)
{
    if (!good) {
        fprintf(stderr, "%s\n", what);
        exit(1);
    }
}

/* A tensor of another library, in one piece with its memory. */
typedef struct theirs {
    quern_dl_managed_versioned tensor;
    atomic_int deletions;
    int64_t shape;
    float memory[COUNT];
} theirs;

/* Uses the library, as a producer that is written over it would: no lock of ours may be held. */
static void delete_theirs(quern_dl_managed_versioned *self)
{
    theirs *t = self->manager_ctx;
    quern_array *array;
    quern_pointer_info info = QUERN_POINTER_INFO_INIT;
    expect(atomic_fetch_add(&t->deletions, 1) == 0, "a deleter was called twice");
    must(quern_pointer_get_info(&info, engine, t->memory), "asking in a deleter");
    must(quern_array_new(&array, engine, QUERN_INT8, 1, &t->shape), "an array in a deleter");
    quern_array_release(array);
    atomic_fetch_add(&deleted, 1);
    free(t);
}

static quern_array *take_theirs(float value)
{
    theirs *t = calloc(1, sizeof *t);
    expect(t != NULL, "no memory");
    t->shape = COUNT;
    for (int k = 0; k < COUNT; k++) {
        t->memory[k] = value;
    }
    t->tensor = (quern_dl_managed_versioned){.version = {1, 0},
                                             .manager_ctx = t,
                                             .deleter = delete_theirs,
                                             .dl_tensor = {.data = t->memory,
                                                           .device = {QUERN_DL_CPU, 0},
                                                           .ndim = 1,
                                                           .dtype = {QUERN_DL_FLOAT, 32, 1},
                                                           .shape = &t->shape}};
    quern_array *array;
    must(quern_array_from_dlpack(&array, engine, &t->tensor), "from_dlpack");
    atomic_fetch_add(&made, 1);
    return array;
}

/* Out and in again: the tensor holds the array, the array of it holds the tensor. */
static quern_array *around(quern_array *array)
{
    quern_dl_managed_versioned *tensor;
    quern_array *again;
    must(quern_array_to_dlpack(&tensor, array, QUERN_DL_READ_ONLY), "to_dlpack");
    quern_array_release(array);
    must(quern_array_from_dlpack(&again, engine, tensor), "from_dlpack again");
    expect(quern_array_is_read_only(again), "it was read-only");
    return again;
}

static void look(quern_array *array)
{
    float host[COUNT];
    must(quern_array_read(array, host, sizeof host), "reading");
    expect(host[0] >= 0 && host[0] == host[COUNT - 1], "elements of two tensors");
}

static void exchange(void)
{
    quern_dl_managed_versioned *tensor;
    int64_t shape = COUNT;
    quern_dl_tensor prototype = {
        .device = {QUERN_DL_CPU, 0}, .ndim = 1, .dtype = {QUERN_DL_FLOAT, 32, 1}, .shape = &shape};
    void *stream;
    if (quern_dlpack_allocate(&prototype, &tensor, NULL, NULL) == 0) {
        ((float *)tensor->dl_tensor.data)[COUNT - 1] = 1;
        tensor->deleter(tensor);
    }
    (void)quern_dlpack_current_stream(QUERN_DL_CPU, 0, &stream);
}

static void *work(void *argument)
{
    const int thread = *(const int *)argument;
    for (int round = 0; round < ROUNDS; round++) {
        quern_array *array = take_theirs((float)round);
        if (round % 3 == 0) {
            array = around(array);
        }
        look(array);
        array = atomic_exchange(&shelf[(thread + round) % THREADS], array);
        if (array) {
            look(array);
            quern_array_release(array);
        }
        exchange();
        if (round % 16 == thread) {
            must(quern_dlpack_use(round % 2 ? engine : NULL), "choosing the engine");
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    quern_options options = QUERN_OPTIONS_INIT;
    options.device = "soft:1";
    must(quern_open(&engine, &options), "opening");
    for (int k = 0; k < THREADS; k++) {
        numbers[k] = k;
        expect(pthread_create(&threads[k], NULL, work, &numbers[k]) == 0, "no thread");
    }
    for (int k = 0; k < THREADS; k++) {
        pthread_join(threads[k], NULL);
    }
    for (int k = 0; k < THREADS; k++) {
        quern_array_release(atomic_load(&shelf[k]));
    }
    must(quern_dlpack_use(NULL), "choosing no engine");
    printf("%d tensors, %d deleted\n", atomic_load(&made), atomic_load(&deleted));
    expect(atomic_load(&made) == THREADS * ROUNDS, "not all tensors were taken");
    expect(atomic_load(&made) == atomic_load(&deleted), "a deleter was not called");
    quern_close(engine);
    return 0;
}
