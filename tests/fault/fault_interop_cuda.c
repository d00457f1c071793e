/* SPDX-License-Identifier: MIT
 *
 * Arrays of other libraries on the CUDA device, over the stand-in for the driver: what it is asked
 * of an address, what is refused when an address is not what was said, and that streams wait for
 * streams by one event, on no host.
 */
#include "support/fake_libcuda.h"
#include "unit/cache/scratch.h"
#include "unit/engine/whole.h"

#include <dlfcn.h>
#include <quern/interop.h>

static fake_cuda *fake;
static int deleted;
static int64_t six[] = {6};
static float gpu[6], other_gpu[6], pinned[6], mapped[6], managed[6], plain[6];

static void open_fake(void)
{
    fake_cuda_get_function get;
    scratch_make();
    setenv("QUERN_CUDA", FAKE_FOLDER, 1);
    setenv("QUERN_CACHE_DIR", scratch, 1);
    setenv("QUERN_DEVICE", "cuda:1", 1);
    void *library = dlopen(FAKE_FOLDER "/libcuda.so.1", RTLD_NOW);
    cr_assert_not_null(library, "%s", dlerror());
    void *symbol = dlsym(library, "fake_cuda_get");
    memcpy(&get, &symbol, sizeof get);
    fake = get();
    whole_open();
    fake->declare(gpu, sizeof gpu, CU_MEMORY_DEVICE, 1, 0, 0);
    fake->declare(other_gpu, sizeof other_gpu, CU_MEMORY_DEVICE, 0, 0, 0);
    fake->declare(pinned, sizeof pinned, CU_MEMORY_HOST, 1, 0, 0);
    fake->declare(mapped, sizeof mapped, CU_MEMORY_HOST, 1, 0, CU_HOST_DEVICE_MAP);
    fake->declare(managed, sizeof managed, CU_MEMORY_DEVICE, 1, 1, 0);
}

static void close_fake(void)
{
    whole_close();
    cr_expect_eq(fake->allocations(), 0, "device memory is left");
    cr_expect_eq(fake->retained(1), 0, "the context is left");
    cr_expect_eq(fake->calls("cuEventCreate"), fake->calls("cuEventDestroy_v2"));
    scratch_delete();
}

TestSuite(interop_cuda, .init = open_fake, .fini = close_fake);

static void count_deletion(quern_dl_managed_versioned *self)
{
    (void)self;
    deleted++;
}

static quern_dl_managed_versioned tensor_of(void *data, int type, int number)
{
    return (quern_dl_managed_versioned){.version = {1, 3},
                                        .deleter = count_deletion,
                                        .dl_tensor = {.data = data,
                                                      .device = {type, number},
                                                      .ndim = 1,
                                                      .dtype = {QUERN_DL_FLOAT, 32, 1},
                                                      .shape = six}};
}

/* ---- addresses --------------------------------------------------------------------------------
 */

Test(interop_cuda, what_addresses_are)
{
    const struct {
        void *pointer;
        quern_memory memory;
        int device;
    } rows[] = {
        {gpu + 3, QUERN_MEMORY_DEVICE, 1},  {other_gpu, QUERN_MEMORY_DEVICE, 0},
        {pinned, QUERN_MEMORY_PINNED, 1},   {mapped + 5, QUERN_MEMORY_MAPPED, 1},
        {managed, QUERN_MEMORY_MANAGED, 1}, {plain, QUERN_MEMORY_HOST, -1},
        {NULL, QUERN_MEMORY_HOST, -1},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        quern_pointer_info info = QUERN_POINTER_INFO_INIT;
        OK(quern_pointer_get_info(&info, engine, rows[k].pointer));
        cr_expect_eq(info.memory, (int32_t)rows[k].memory, "row %zu", k);
        cr_expect_eq(info.device, rows[k].device, "row %zu", k);
        cr_expect_eq(info.device_pointer, info.memory ? rows[k].pointer : NULL, "row %zu", k);
    }
    quern_pointer_info info = QUERN_POINTER_INFO_INIT;
    fake->fail("cuPointerGetAttributes", CU_INVALID_CONTEXT, 1);
    FAILS(QUERN_ERROR_DRIVER, quern_pointer_get_info(&info, engine, gpu));
    SAYS("asking what an address is failed");
}

/* Memory is wrapped without a word to the driver, which is asked once what it is. */
Test(interop_cuda, wrapped_memory_tells_its_kind_when_asked)
{
    static const struct {
        void *pointer;
        quern_memory memory;
        int type;
        bool host;
    } rows[] = {
        {gpu, QUERN_MEMORY_DEVICE, QUERN_DL_CUDA, false},
        {pinned, QUERN_MEMORY_PINNED, QUERN_DL_CUDA_HOST, true},
        {mapped, QUERN_MEMORY_MAPPED, QUERN_DL_CUDA_HOST, true},
        {managed, QUERN_MEMORY_MANAGED, QUERN_DL_CUDA_MANAGED, true},
        {plain, QUERN_MEMORY_DEVICE, QUERN_DL_CUDA, false},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        quern_array *array, *view;
        quern_dl_managed_versioned *out;
        const int asked = fake->calls("cuPointerGetAttributes");
        OK(quern_array_wrap(&array, engine, QUERN_FLOAT32, 1, six, NULL, rows[k].pointer, NULL,
                            NULL));
        OK(quern_array_reshape(&view, array, 1, six));
        cr_expect_eq(fake->calls("cuPointerGetAttributes"), asked, "row %zu", k);
        cr_expect_eq(quern_array_memory(view), rows[k].memory, "row %zu", k);
        cr_expect_eq(quern_array_host_pointer(array), rows[k].host ? rows[k].pointer : NULL);
        OK(quern_array_to_dlpack(&out, array, 0));
        cr_expect_eq(out->dl_tensor.device.device_type, rows[k].type, "row %zu", k);
        cr_expect_eq(fake->calls("cuPointerGetAttributes"), asked + 1, "row %zu", k);
        out->deleter(out);
        quern_array_release(view);
        quern_array_release(array);
    }
}

/* Each place against each kind of memory: "" is taken. */
Test(interop_cuda, tensors_are_where_they_say)
{
    static const struct {
        int type, number;
        void *data;
        int type_out;
        const char *says;
    } rows[] = {
        {QUERN_DL_CUDA, 1, gpu, QUERN_DL_CUDA, ""},
        {QUERN_DL_CUDA, 1, managed, QUERN_DL_CUDA_MANAGED, ""},
        {QUERN_DL_CUDA_MANAGED, 0, managed, QUERN_DL_CUDA_MANAGED, ""},
        {QUERN_DL_CUDA_HOST, 0, pinned, QUERN_DL_CUDA_HOST, ""},
        {QUERN_DL_CUDA_HOST, 0, mapped, QUERN_DL_CUDA_HOST, ""},
        {QUERN_DL_CPU, 0, pinned, QUERN_DL_CUDA_HOST, ""},
        {QUERN_DL_CPU, 0, managed, QUERN_DL_CUDA_MANAGED, ""},
        {QUERN_DL_CUDA, 0, gpu, 0,
         "is in memory of GPU 0 (kDLCUDA), and the engine works in memory of GPU 1 (kDLCUDA)"},
        {QUERN_DL_CUDA, 1, other_gpu, 0, "but the driver says that it is memory of GPU 0"},
        {QUERN_DL_CUDA, 1, pinned, 0, "but the driver says that it is pinned host memory"},
        {QUERN_DL_CUDA, 1, plain, 0, "nothing that it knows: memory of the host alone, or freed"},
        {QUERN_DL_CUDA_MANAGED, 0, gpu, 0, "but the driver says that it is memory of GPU 1"},
        {QUERN_DL_CUDA_HOST, 0, gpu, 0, "but the driver says that it is memory of GPU 1"},
        {QUERN_DL_CUDA_HOST, 0, plain, 0, "nothing that it knows"},
        {QUERN_DL_CPU, 0, plain, 0, "host memory (kDLCPU) that is not pinned, which GPU 1"},
        {QUERN_DL_CPU, 0, gpu, 0, "but the driver says that it is memory of GPU 1"},
        {10, 0, gpu, 0, "device of kind 10"},
    };
    int taken = 0;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        quern_dl_managed_versioned t = tensor_of(rows[k].data, rows[k].type, rows[k].number);
        quern_dl_tensor out;
        quern_array *a;
        const quern_status status = quern_array_from_dlpack(&a, engine, &t);
        cr_expect_eq(status == QUERN_OK, !rows[k].says[0], "row %zu: %s", k,
                     quern_last_error_text());
        if (status != QUERN_OK) {
            SAYS(rows[k].says);
            continue;
        }
        OK(quern_array_to_dltensor(&out, a));
        cr_expect_eq(out.device.device_type, rows[k].type_out, "row %zu", k);
        cr_expect_eq(out.device.device_id, out.device.device_type == QUERN_DL_CUDA ? 1 : 0);
        quern_array_release(a);
        taken++;
    }
    cr_expect_eq(deleted, taken);
}

/* Who vouches for the memory spares the question, and no other check. */
Test(interop_cuda, the_driver_is_not_asked_of_trusted_memory)
{
    quern_dl_managed_versioned here = tensor_of(gpu, QUERN_DL_CUDA, 1);
    quern_dl_managed_versioned there = tensor_of(other_gpu, QUERN_DL_CUDA, 0);
    quern_array *a;
    const int asked = fake->calls("cuPointerGetAttributes");
    OK(quern_array_from_dltensor(&a, engine, &here.dl_tensor, QUERN_DL_TRUSTED, NULL, NULL));
    cr_expect_eq(fake->calls("cuPointerGetAttributes"), asked);
    cr_expect_eq(quern_array_pointer(a), gpu);
    quern_array_release(a);
    OK(quern_array_from_dltensor(&a, engine, &here.dl_tensor, 0, NULL, NULL));
    cr_expect_eq(fake->calls("cuPointerGetAttributes"), asked + 1);
    quern_array_release(a);
    FAILS(QUERN_ERROR_NOT_SUPPORTED,
          quern_array_from_dltensor(&a, engine, &there.dl_tensor, QUERN_DL_TRUSTED, NULL, NULL));
    here.flags = QUERN_DL_TRUSTED; /* which no other library may say */
    OK(quern_array_from_dlpack(&a, engine, &here));
    cr_expect_eq(fake->calls("cuPointerGetAttributes"), asked + 2);
    quern_array_release(a);
}

/* ---- the interface, and its stream ------------------------------------------------------------
 */

Test(interop_cuda, the_interface_names_a_stream)
{
    quern_array_interface entries = QUERN_ARRAY_INTERFACE_INIT;
    quern_array *x, *a;
    quern_stream *legacy;
    OK(quern_array_new(&x, engine, QUERN_FLOAT32, 1, six));
    OK(quern_array_get_interface(&entries, x, NULL));
    cr_expect_eq(entries.has_stream, 1);
    cr_expect_gt(entries.stream, 2);
    const int records = fake->calls("cuEventRecord"), waits = fake->calls("cuStreamWaitEvent");
    OK(quern_array_from_interface(&a, engine, &entries, NULL, NULL));
    quern_array_release(a);
    cr_expect_eq(fake->calls("cuEventRecord"), records, "a stream need not wait for itself");
    OK(quern_stream_new(&legacy, engine));
    OK(quern_array_get_interface(&entries, x, legacy));
    OK(quern_array_from_interface(&a, engine, &entries, NULL, NULL));
    quern_stream_release(legacy);
    cr_expect_eq(fake->calls("cuEventRecord"), records + 1);
    cr_expect_eq(fake->calls("cuStreamWaitEvent"), waits + 1);
    quern_array_release(a);
    OK(quern_stream_wrap(&legacy, engine, NULL));
    OK(quern_array_get_interface(&entries, x, legacy));
    cr_expect_eq(entries.stream, 1, "0 would be ambiguous");
    entries.data = plain;
    FAILS(QUERN_ERROR_INVALID_ARGUMENT,
          quern_array_from_interface(&a, engine, &entries, NULL, NULL));
    SAYS("nothing that it knows: memory of the host alone, or freed, and the engine works in");
    entries.data = pinned;
    OK(quern_array_from_interface(&a, engine, &entries, NULL, NULL));
    quern_array_release(a);
    quern_stream_release(legacy);
    quern_array_release(x);
}

static void count_release(void *context)
{
    (void)context;
    deleted++;
}

Test(interop_cuda, a_stream_of_another_device)
{
    quern_array_interface entries = QUERN_ARRAY_INTERFACE_INIT;
    quern_array *a;
    entries.ndim = 1;
    entries.shape = six;
    entries.data = gpu;
    entries.has_stream = 1;
    entries.stream = 0x1234;
    memcpy(entries.typestr, "<f4", 3);
    fake->fail("cuEventRecord", 400, 1);
    FAILS(QUERN_ERROR_DRIVER,
          quern_array_from_interface(&a, engine, &entries, count_release, NULL));
    SAYS("is the handle a stream of the engine's device?");
    cr_expect_eq(deleted, 0);
    OK(quern_array_from_interface(&a, engine, &entries, count_release, NULL));
    quern_array_release(a);
    cr_expect_eq(deleted, 1);
}

/* An array that was made through its handle is freed on it, after the program has let go of it. */
Test(interop_cuda, a_stream_of_our_own_is_held_by_its_handle)
{
    quern_stream *own, *again;
    OK(quern_stream_new(&own, engine));
    OK(quern_stream_wrap(&again, engine, quern_stream_handle(own)));
    const int streams = fake->streams();
    quern_array *x;
    OK(quern_array_new_on(&x, engine, QUERN_FLOAT32, 1, six, again));
    quern_stream_release(own);
    quern_stream_release(again);
    cr_expect_eq(fake->streams(), streams);
    quern_array_release(x);
    cr_expect_eq(fake->streams(), streams - 1);
}

Test(interop_cuda, waits_are_not_on_the_host)
{
    const int events = fake->calls("cuEventCreate");
    quern_stream *stream;
    OK(quern_stream_new(&stream, engine));
    for (int k = 0; k < 10; k++) {
        OK(quern_stream_follow(engine, stream, (void *)1));
        OK(quern_stream_lead(engine, stream, (void *)2));
    }
    cr_expect_eq(fake->calls("cuEventCreate"), events + 1, "one event serves all");
    cr_expect_eq(fake->calls("cuStreamWaitEvent"), 20);
    cr_expect_eq(fake->calls("cuEventSynchronize"), 0);
    cr_expect_eq(fake->calls("cuStreamSynchronize"), 0);
    fake->fail("cuStreamWaitEvent", 400, 1);
    FAILS(QUERN_ERROR_DRIVER, quern_stream_follow(engine, stream, (void *)1));
    fake->fail("cuEventCreate", CU_OUT_OF_MEMORY, 1);
    OK(quern_stream_lead(engine, stream, (void *)2));
    fake->fail("cuEventCreate", CU_SUCCESS, 0);
    quern_stream_release(stream);
}

Test(interop_cuda, exchange)
{
    quern_dl_tensor prototype = tensor_of(NULL, QUERN_DL_CUDA, 1).dl_tensor;
    quern_dl_managed_versioned *t;
    void *stream = NULL;
    OK(quern_dlpack_use(engine));
    cr_assert_eq(quern_dlpack_allocate(&prototype, &t, NULL, NULL), 0);
    cr_expect_eq(t->dl_tensor.device.device_id, 1);
    t->deleter(t);
    cr_expect_eq(quern_dlpack_current_stream(QUERN_DL_CUDA, 1, &stream), 0);
    cr_expect_not_null(stream);
    cr_expect_eq(quern_dlpack_current_stream(QUERN_DL_CUDA, 0, &stream), -1);
    OK(quern_dlpack_use(NULL));
}
