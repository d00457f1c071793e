/* SPDX-License-Identifier: MIT
 *
 * A program with the CUDA runtime: its copies, kernels, streams and memory beside Quern's. In each
 * part the work that must come first is a long kernel's, so that a missing wait gives the wrong
 * numbers: the runtime's stream keeps no order with Quern's. For comparison two parts also say
 * what is seen without the wait, which nothing depends on.
 */
#include "client.h"

enum { COUNT = 1 << 14, BLOCK = 256, BYTES = COUNT * sizeof(float) };

static quern_engine *engine;
static int ordinal;
static cudaStream_t theirs;   /* the runtime's */
static quern_stream *wrapped; /* the same one, as Quern's */
static client_delay delay;
static quern_kernel *twice; /* y = 2 x */
static float *pinned;       /* what copies of the runtime go through */
static float first[COUNT], want[COUNT];
static const float unwritten = -1;

// The runtime's kernels.
static __global__ void wait_long(long long cycles)
{
    const long long begin = clock64();
    while (clock64() - begin < cycles) {
    }
}

static __global__ void add(float *x, float number, int count)
{
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < count) {
        x[k] += number;
    }
}

/* Behind a long kernel: x += number, on a stream of the runtime's. */
static void add_late(float *x, float number, cudaStream_t stream)
{
    wait_long<<<1, 1, 0, stream>>>(client_cycles());
    add<<<COUNT / BLOCK, BLOCK, 0, stream>>>(x, number, COUNT);
    cuda(cudaGetLastError());
}

static const float *all(float (*of)(float))
{
    for (int k = 0; k < COUNT; k++) {
        want[k] = of(first[k]);
    }
    return want;
}

static float doubled(float x)
{
    return 2 * x;
}
static float three_more(float x)
{
    return x + 3;
}
static float three_more_doubled(float x)
{
    return 2 * (x + 3);
}
static float there_and_back(float x)
{
    return 2 * (2 * (x + 1) + 1) + 1;
}

/* ---- our array, their copy --------------------------------------------------------------------
 */

static void their_copy(quern_array *from)
{
    cuda(cudaMemcpyAsync(pinned, quern_array_pointer(from), BYTES, cudaMemcpyDefault, theirs));
    cuda(cudaStreamSynchronize(theirs));
}

static void copies_wait_for_kernels(void)
{
    const int64_t count = COUNT;
    quern_array *x, *y = client_array(engine, QUERN_FLOAT32, COUNT);
    must(quern_array_from(&x, engine, QUERN_FLOAT32, 1, &count, first));
    for (int waits = 0; waits < 2; waits++) {
        must(quern_array_fill(y, &unwritten, sizeof(float)));
        must(quern_synchronize(engine));
        client_delay_on(&delay, NULL);
        must(quern_call(twice, x, y));
        if (waits) {
            must(quern_stream_lead(engine, NULL, theirs));
        }
        their_copy(y);
        if (!waits) {
            tell("without quern_stream_lead() the copy comes too early", pinned[1] != 2 * first[1]);
        }
    }
    check_floats(pinned, all(doubled), COUNT, "cudaMemcpyAsync behind quern_stream_lead()");

    /* and the other direction: their copy into our array, our kernel behind it */
    for (int k = 0; k < COUNT; k++) {
        pinned[k] = first[k];
    }
    must(quern_array_fill(x, &unwritten, sizeof(float)));
    must(quern_stream_lead(engine, NULL, theirs));
    wait_long<<<1, 1, 0, theirs>>>(client_cycles());
    cuda(cudaMemcpyAsync(quern_array_pointer(x), pinned, BYTES, cudaMemcpyHostToDevice, theirs));
    must(quern_stream_follow(engine, NULL, theirs));
    must(quern_call(twice, x, y));
    float host[COUNT];
    must(quern_array_read(y, host, sizeof host));
    check_floats(host, all(doubled), COUNT,
                 "a kernel behind cudaMemcpyAsync, by quern_stream_follow()");
    quern_array_release(x);
    quern_array_release(y);
}

/* What the runtime says of our arrays' memory. */
static void pointers_are_known(void)
{
    static const struct {
        quern_memory memory;
        cudaMemoryType type;
        const char *what;
    } kinds[] = {
        {QUERN_MEMORY_DEVICE, cudaMemoryTypeDevice, "a device array to cudaPointerGetAttributes"},
        {QUERN_MEMORY_PINNED, cudaMemoryTypeHost, "a pinned array to it"},
        {QUERN_MEMORY_MAPPED, cudaMemoryTypeHost, "a mapped array to it"},
        {QUERN_MEMORY_MANAGED, cudaMemoryTypeManaged, "a managed array to it"},
    };
    const int64_t count = COUNT;
    for (const auto &kind : kinds) {
        quern_array *array;
        cudaPointerAttributes seen;
        must(quern_array_new_in(&array, engine, kind.memory, QUERN_FLOAT32, 1, &count));
        must(quern_array_write(array, first, sizeof first));
        must(quern_stream_lead(engine, NULL, theirs));
        cuda(cudaPointerGetAttributes(&seen, quern_array_pointer(array)));
        check(seen.type == kind.type, kind.what);
        add<<<COUNT / BLOCK, BLOCK, 0, theirs>>>((float *)quern_array_pointer(array), 3, COUNT);
        their_copy(array);
        check_floats(pinned, all(three_more), COUNT, "a kernel of the program works in it");
        quern_array_release(array);
    }
}

/* ---- their memory, our kernels ----------------------------------------------------------------
 */

static int given_back;

static void count_release(void *)
{
    given_back++;
}

static cudaError_t of_device(void **out)
{
    return cudaMalloc(out, BYTES);
}
static cudaError_t of_pool(void **out)
{
    return cudaMallocAsync(out, BYTES, theirs);
}
static cudaError_t of_host(void **out)
{
    return cudaMallocHost(out, BYTES);
}
static cudaError_t of_mapped(void **out)
{
    return cudaHostAlloc(out, BYTES, cudaHostAllocMapped);
}
static cudaError_t of_managed(void **out)
{
    return cudaMallocManaged(out, BYTES);
}
static cudaError_t free_in_order(void *pointer)
{
    return cudaFreeAsync(pointer, theirs);
}

struct source {
    const char *name;
    cudaError_t (*allocate)(void **out);
    cudaError_t (*release)(void *pointer);
    quern_memory least, most; /* what Quern may call it */
    int device_type;          /* of a tensor */
};

static const source sources[] = {
    {"cudaMalloc", of_device, cudaFree, QUERN_MEMORY_DEVICE, QUERN_MEMORY_DEVICE, QUERN_DL_CUDA},
    {"cudaMallocAsync", of_pool, free_in_order, QUERN_MEMORY_DEVICE, QUERN_MEMORY_DEVICE,
     QUERN_DL_CUDA},
    {"cudaMallocHost", of_host, cudaFreeHost, QUERN_MEMORY_PINNED, QUERN_MEMORY_MAPPED,
     QUERN_DL_CUDA_HOST},
    {"cudaHostAlloc, mapped", of_mapped, cudaFreeHost, QUERN_MEMORY_PINNED, QUERN_MEMORY_MAPPED,
     QUERN_DL_CUDA_HOST},
    {"cudaMallocManaged", of_managed, cudaFree, QUERN_MEMORY_MANAGED, QUERN_MEMORY_MANAGED,
     QUERN_DL_CUDA_MANAGED},
};

/* The ways in. Each orders Quern's work behind the program's. */
static quern_array *by_wrapping(const source *, void *pointer)
{
    const int64_t count = COUNT;
    quern_array *array;
    must(quern_array_wrap(&array, engine, QUERN_FLOAT32, 1, &count, NULL, pointer, count_release,
                          NULL));
    must(quern_stream_follow(engine, NULL, theirs));
    return array;
}

static quern_array *by_tensor(const source *from, void *pointer)
{
    int64_t count = COUNT;
    quern_array *array;
    quern_dl_tensor tensor = {};
    tensor.data = pointer;
    tensor.device = {from->device_type, from->device_type == QUERN_DL_CUDA ? ordinal : 0};
    tensor.ndim = 1;
    tensor.dtype = {QUERN_DL_FLOAT, 32, 1};
    tensor.shape = &count;
    must(quern_array_from_dltensor(&array, engine, &tensor, 0, count_release, NULL));
    must(quern_stream_follow(engine, NULL, theirs));
    return array;
}

/* The interface names the stream: the array comes in behind what is queued there. */
static quern_array *by_interface(const source *, void *pointer)
{
    const int64_t count = COUNT;
    quern_array *array;
    quern_array_interface entries = QUERN_ARRAY_INTERFACE_INIT;
    entries.ndim = 1;
    entries.shape = &count;
    strcpy(entries.typestr, "<f4");
    entries.data = pointer;
    entries.has_stream = 1;
    entries.stream = (int64_t)(intptr_t)theirs;
    must(quern_array_from_interface(&array, engine, &entries, count_release, NULL));
    return array;
}

/* x is theirs; late they add 3 to it, and our kernel doubles it in place; they copy it. */
static void memory_comes_in(const source *from, quern_array *(*in)(const source *, void *),
                            const char *way)
{
    void *memory;
    char what[160];
    quern_pointer_info info = QUERN_POINTER_INFO_INIT;
    cuda(from->allocate(&memory));
    cuda(cudaStreamSynchronize(theirs));
    cuda(cudaMemcpy(memory, first, BYTES, cudaMemcpyDefault));
    must(quern_pointer_get_info(&info, engine, memory));
    snprintf(what, sizeof what, "%s is told as what it is", from->name);
    check(info.memory >= (int)from->least && info.memory <= (int)from->most && info.device_pointer,
          what);

    add_late((float *)memory, 3, theirs);
    quern_array *x = in(from, memory);
    must(quern_call(twice, x, x));
    must(quern_stream_lead(engine, NULL, theirs));
    their_copy(x);
    snprintf(what, sizeof what, "%s, %s", from->name, way);
    check_floats(pinned, all(three_more_doubled), COUNT, what);
    given_back = 0;
    quern_array_release(x);
    check(given_back == 1, "and is given back once");
    cuda(from->release(memory));
}

/* ---- one stream -------------------------------------------------------------------------------
 */

static void kernels_take_turns(void)
{
    const int64_t count = COUNT;
    quern_array *x;
    quern_call_options on_wrapped = QUERN_CALL_OPTIONS_INIT;
    on_wrapped.stream = wrapped;
    must(quern_array_from(&x, engine, QUERN_FLOAT32, 1, &count, first));
    float *memory = (float *)quern_array_pointer(x);
    check(quern_stream_handle(wrapped) == (void *)theirs,
          "a wrapped stream has the program's handle");

    add_late(memory, 1, theirs);
    must(quern_call_with(twice, &on_wrapped, x, x));
    client_delay_on(&delay, wrapped);
    add<<<COUNT / BLOCK, BLOCK, 0, theirs>>>(memory, 1, COUNT);
    must(quern_call_with(twice, &on_wrapped, x, x));
    add<<<COUNT / BLOCK, BLOCK, 0, theirs>>>(memory, 1, COUNT);
    their_copy(x);
    check_floats(pinned, all(there_and_back), COUNT, "kernels of both take turns on one stream");

    must(quern_array_write_on(x, first, sizeof first, wrapped));
    add_late(memory, 3, theirs);
    float host[COUNT];
    must(quern_array_read_on(x, host, sizeof host, wrapped));
    must(quern_stream_wait(wrapped));
    check_floats(host, all(three_more), COUNT, "Quern's copies around a kernel of the program");
    quern_array_release(x);
}

/* The default streams: the legacy one without a word, that of the thread by its handle. */
static void default_streams(void)
{
    const int64_t count = COUNT;
    quern_array *x, *y = client_array(engine, QUERN_FLOAT32, COUNT);
    float host[COUNT];
    must(quern_array_from(&x, engine, QUERN_FLOAT32, 1, &count, first));
    add_late((float *)quern_array_pointer(x), 3, 0);
    must(quern_call(twice, x, y));
    must(quern_array_read(y, host, sizeof host));
    check_floats(host, all(three_more_doubled), COUNT,
                 "Quern keeps order with the legacy default stream");

    quern_stream *of_thread;
    must(quern_stream_wrap(&of_thread, engine, (void *)2));
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    options.stream = of_thread;
    must(quern_array_write(x, first, sizeof first));
    add_late((float *)quern_array_pointer(x), 3, cudaStreamPerThread);
    must(quern_call_with(twice, &options, x, y));
    cuda(cudaMemcpyAsync(pinned, quern_array_pointer(y), BYTES, cudaMemcpyDeviceToHost,
                         cudaStreamPerThread));
    cuda(cudaStreamSynchronize(cudaStreamPerThread));
    check_floats(pinned, all(three_more_doubled), COUNT,
                 "one stream is that of the thread, handle 2");

    must(quern_array_write(x, first, sizeof first));
    add_late((float *)quern_array_pointer(x), 3, cudaStreamPerThread);
    must(quern_stream_follow(engine, NULL, (void *)2));
    must(quern_call(twice, x, y));
    must(quern_array_read(y, host, sizeof host));
    check_floats(host, all(three_more_doubled), COUNT,
                 "a stream of Quern's follows that of the thread");
    quern_stream_release(of_thread);
    quern_array_release(x);
    quern_array_release(y);
}

/* ---- giving back ------------------------------------------------------------------------------
 */

static void free_on_theirs(void *memory)
{
    cuda(cudaFreeAsync(memory, theirs));
    given_back++;
}

/* The array is released while the kernel that reads it has not begun. Its memory goes back in the
 * order of the stream, and what the program allocates next, maybe the same, is overwritten. */
static void release_frees_in_order(void)
{
    const int64_t count = COUNT;
    quern_call_options on_wrapped = QUERN_CALL_OPTIONS_INIT;
    quern_array *x, *y = client_array(engine, QUERN_FLOAT32, COUNT);
    void *memory, *next;
    on_wrapped.stream = wrapped;
    given_back = 0;
    must(quern_array_fill(y, &unwritten, sizeof(float)));
    must(quern_synchronize(engine));
    cuda(cudaMallocAsync(&memory, BYTES, theirs));
    cuda(cudaMemcpyAsync(memory, first, BYTES, cudaMemcpyHostToDevice, theirs));
    must(quern_array_wrap(&x, engine, QUERN_FLOAT32, 1, &count, NULL, memory, free_on_theirs,
                          memory));
    client_delay_on(&delay, wrapped);
    must(quern_call_with(twice, &on_wrapped, x, y));
    quern_array_release(x);
    check(given_back == 1,
          "the last reference calls the release callback, which calls cudaFreeAsync");
    cuda(cudaMallocAsync(&next, BYTES, theirs));
    tell("the program's pool gives the same memory again", next == memory);
    cuda(cudaMemsetAsync(next, 0xff, BYTES, theirs));
    their_copy(y);
    check_floats(pinned, all(doubled), COUNT, "a kernel reads memory before it is freed in order");
    cuda(cudaFreeAsync(next, theirs));
    quern_array_release(y);
}

/* A tensor that goes out: the program's kernel reads it by its strides, and deletes it. */
static __global__ void copy_strided(float *out, const float *from, int rows, int columns,
                                    long long row, long long column)
{
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < rows * columns) {
        out[k] = from[k / columns * row + k % columns * column];
    }
}

static void tensor_goes_out(void)
{
    enum { ROWS = 64, COLUMNS = COUNT / ROWS };
    const int64_t shape[] = {ROWS, COLUMNS};
    quern_array *x, *turned, *y = client_array(engine, QUERN_FLOAT32, COUNT);
    quern_dl_managed_versioned *tensor;
    must(quern_array_from(&x, engine, QUERN_FLOAT32, 2, shape, first));
    must(quern_array_transpose(&turned, x, NULL));
    client_delay_on(&delay, NULL);
    must(quern_call(twice, x, x));
    must(quern_array_to_dlpack(&tensor, turned, 0));
    must(quern_stream_lead(engine, NULL, theirs));
    quern_array_release(x);
    quern_array_release(turned);

    const quern_dl_tensor *t = &tensor->dl_tensor;
    check(t->device.device_type == QUERN_DL_CUDA && t->device.device_id == ordinal &&
              t->ndim == 2 && t->shape[0] == COLUMNS && t->shape[1] == ROWS && t->byte_offset == 0,
          "a transposed array goes out as a tensor");
    copy_strided<<<COUNT / BLOCK, BLOCK, 0, theirs>>>((float *)quern_array_pointer(y),
                                                      (const float *)t->data, COLUMNS, ROWS,
                                                      t->strides[0], t->strides[1]);
    their_copy(y);
    for (int k = 0; k < COUNT; k++) {
        want[k] = 2 * first[k % ROWS * COLUMNS + k / ROWS];
    }
    check_floats(pinned, want, COUNT, "a kernel of the program reads it by its strides");
    tensor->deleter(tensor);
    quern_array_release(y);
}

int main(void)
{
    engine = client_open(&ordinal);
    theirs = client_stream();
    must(quern_stream_wrap(&wrapped, engine, theirs));
    delay = client_delay_new(engine);
    must(quern_elementwise(&twice, engine, "T x", "T y", "y = 2 * x", NULL));
    cuda(cudaMallocHost((void **)&pinned, BYTES));
    for (int k = 0; k < COUNT; k++) {
        first[k] = (float)(k % 1000);
        pinned[k] = 0;
    }

    copies_wait_for_kernels();
    pointers_are_known();
    for (const source &from : sources) {
        memory_comes_in(&from, by_wrapping, "wrapped");
        memory_comes_in(&from, by_tensor, "as a tensor of DLPack");
        memory_comes_in(&from, by_interface, "as an array interface with its stream");
    }
    kernels_take_turns();
    default_streams();
    release_frees_in_order();
    tensor_goes_out();

    int current = -1;
    cuda(cudaGetDevice(&current));
    check(current == ordinal, "the runtime's device is the one it was");
    check(cudaGetLastError() == cudaSuccess, "Quern leaves no error in the runtime");
    quern_stream_release(wrapped);
    client_delay_free(&delay);
    quern_kernel_release(twice);
    quern_close(engine);
    cuda(cudaStreamSynchronize(theirs));
    check(1, "the program's stream works after the engine was closed");
    cuda(cudaFreeHost(pinned));
    cuda(cudaStreamDestroy(theirs));
    return 0;
}
