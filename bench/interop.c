/* SPDX-License-Identifier: MIT
 *
 * The cost of other libraries' arrays on the host: a tensor of DLPack becomes an array and is given
 * back, an array becomes a tensor and is given back, and a call on three wrapped tensors beside one
 * on three arrays of the engine, in turn. On a GPU the driver is asked what each address is.
 *
 * usage: bench_interop
 */
#include "bench.h"

#include <quern/interop.h>
#include <string.h>

#define BATCHES 41
#define ROUNDS  2000
#define SIDE    32

static quern_engine *engine;
static quern_kernel *kernel;
static quern_array *own[3], *wrapped[3];
static quern_dl_managed_versioned tensor; /* lent again and again */
static quern_dl_tensor bare;
static int64_t shape[] = {SIDE, SIDE}, strides[] = {SIDE, 1};

static void delete_nothing(quern_dl_managed_versioned *self)
{
    (void)self;
}

static void from_dlpack(void)
{
    quern_array *array;
    bench_check(quern_array_from_dlpack(&array, engine, &tensor));
    quern_array_release(array);
}

static void from_dltensor(void)
{
    quern_array *array;
    bench_check(quern_array_from_dltensor(&array, engine, &bare, 0, NULL, NULL));
    quern_array_release(array);
}

static void to_dlpack(void)
{
    quern_dl_managed_versioned *out;
    bench_check(quern_array_to_dlpack(&out, own[0], 0));
    out->deleter(out);
}

static void to_dltensor(void)
{
    quern_dl_tensor out;
    bench_check(quern_array_to_dltensor(&out, own[0]));
}

static void interface(void)
{
    quern_array_interface entries = QUERN_ARRAY_INTERFACE_INIT;
    quern_array *array;
    bench_check(quern_array_get_interface(&entries, own[0], NULL));
    entries.has_stream = 0;
    bench_check(quern_array_from_interface(&array, engine, &entries, NULL, NULL));
    quern_array_release(array);
}

static void wait_there_and_back(void)
{
    bench_check(quern_stream_follow(engine, NULL, (void *)1));
    bench_check(quern_stream_lead(engine, NULL, (void *)1));
}

static void call_own(void)
{
    bench_check(quern_call(kernel, own[0], own[1], own[2]));
}

static void call_wrapped(void)
{
    bench_check(quern_call(kernel, wrapped[0], wrapped[1], wrapped[2]));
}

static void wrap_and_call(void)
{
    quern_array *a[3];
    for (int k = 0; k < 3; k++) {
        bare.data = quern_array_pointer(own[k]);
        bench_check(quern_array_from_dltensor(&a[k], engine, &bare, 0, NULL, NULL));
    }
    bench_check(quern_call(kernel, a[0], a[1], a[2]));
    for (int k = 0; k < 3; k++) {
        quern_array_release(a[k]);
    }
    bare.data = tensor.dl_tensor.data;
}

/* ---- measuring ------------------------------------------------------------------------------ */

static struct peer {
    const char *name, *what;
    void (*once)(void);
    int rounds;
    double ns[BATCHES];
} peers[] = {
    {"from_dlpack and release", "32x32 float32", from_dlpack, ROUNDS, {0}},
    {"from_dltensor and release", "32x32 float32", from_dltensor, ROUNDS, {0}},
    {"to_dlpack and deleter", "32x32 float32", to_dlpack, ROUNDS, {0}},
    {"to_dltensor", "32x32 float32", to_dltensor, ROUNDS, {0}},
    {"get_interface, from_interface and release", "32x32 float32", interface, ROUNDS, {0}},
    {"stream_follow and stream_lead", "handle 1", wait_there_and_back, ROUNDS, {0}},
    {"call on three arrays of the engine", "32x32 float32", call_own, ROUNDS / 10, {0}},
    {"call on three wrapped tensors", "32x32 float32", call_wrapped, ROUNDS / 10, {0}},
    {"wrapping three tensors, and the call", "32x32 float32", wrap_and_call, ROUNDS / 10, {0}},
};
enum { PEERS = sizeof peers / sizeof *peers };

static void measure(int batch, struct peer *p)
{
    const double begin = bench_now_us();
    for (int k = 0; k < p->rounds; k++) {
        p->once();
    }
    p->ns[batch] = (bench_now_us() - begin) * 1e3 / p->rounds;
    bench_check(quern_synchronize(engine));
}

int main(void)
{
    float zeros[SIDE * SIDE] = {0};
    bench_check(quern_open(&engine, NULL));
    bench_check(
        quern_elementwise(&kernel, engine, "T x, T y", "T z", "z = (x - y) * (x - y)", NULL));
    for (int k = 0; k < 3; k++) {
        bench_check(quern_array_from(&own[k], engine, QUERN_FLOAT32, 2, shape, zeros));
        bench_check(quern_array_to_dltensor(&bare, own[k]));
        bench_check(quern_array_from_dltensor(&wrapped[k], engine, &bare, 0, NULL, NULL));
    }
    bare.shape = shape;
    bare.strides = strides;
    tensor = (quern_dl_managed_versioned){
        .version = {1, 3}, .deleter = delete_nothing, .dl_tensor = bare};
    for (int b = 0; b < BATCHES; b++) {
        for (int p = 0; p < PEERS; p++) {
            measure(b, &peers[(p + b) % PEERS]);
        }
    }
    for (int p = 0; p < PEERS; p++) {
        (void)bench_median(peers[p].ns,
                           BATCHES); /* sorts: the least is what a quiet machine takes */
        bench_print("interop", peers[p].name, peers[p].what, "ns", peers[p].ns[0]);
    }
    for (int k = 0; k < 3; k++) {
        quern_array_release(own[k]);
        quern_array_release(wrapped[k]);
    }
    quern_kernel_release(kernel);
    quern_close(engine);
    return 0;
}
