/* SPDX-License-Identifier: MIT
 *
 * Arrays of other libraries on the software device: what is refused and in which words, who gives
 * memory back and how often, what read-only arrays refuse, and the functions of the exchange table.
 * tests/table/interop.c has what goes right, over all dtypes and layouts.
 */
#include "whole.h"

#include <quern/interop.h>
#include <stdint.h>

static int deleted;
static int64_t two_three[] = {2, 3};
static float memory[64];

static void open_soft(void)
{
    whole_open();
    quern_close(engine);
    quern_options options = QUERN_OPTIONS_INIT;
    options.device = "soft:1";
    OK(quern_open(&engine, &options));
    deleted = 0;
}

TestSuite(interop, .init = open_soft, .fini = whole_close);

static void count_deletion(quern_dl_managed_versioned *self)
{
    (void)self;
    deleted++;
}

static void count_release(void *context)
{
    (void)context;
    deleted++;
}

static quern_dl_managed_versioned good(void)
{
    return (quern_dl_managed_versioned){.version = {1, 0},
                                        .deleter = count_deletion,
                                        .dl_tensor = {.data = memory,
                                                      .device = {QUERN_DL_CPU, 0},
                                                      .ndim = 2,
                                                      .dtype = {QUERN_DL_FLOAT, 32, 1},
                                                      .shape = two_three}};
}

/* ---- what is refused --------------------------------------------------------------------------
 */

#define NUMBERS(...) ((int64_t[]){__VA_ARGS__})
#define HOST                                                                                       \
    {                                                                                              \
        QUERN_DL_CPU, 0                                                                            \
    }
#define FLOAT32                                                                                    \
    {                                                                                              \
        QUERN_DL_FLOAT, 32, 1                                                                      \
    }
#define BAD     QUERN_ERROR_INVALID_ARGUMENT
#define UNKNOWN QUERN_ERROR_NOT_SUPPORTED

static void expect_refused(quern_status status, const char *says, quern_dl_tensor tensor)
{
    quern_dl_managed_versioned t = good();
    quern_dl_managed old = {.dl_tensor = tensor};
    quern_array *a = (quern_array *)&t;
    t.dl_tensor = tensor;
    cr_assert_eq(quern_array_from_dlpack(&a, engine, &t), status, "%s", says);
    SAYS(says);
    cr_expect_null(a);
    FAILS(status, quern_array_from_dlpack_legacy(&a, engine, &old));
    FAILS(status, quern_array_from_dltensor(&a, engine, &tensor, 0, count_release, NULL));
    cr_expect_eq(deleted, 0);
}

#define ROW(status, says, ...) expect_refused(status, says, (quern_dl_tensor){__VA_ARGS__})

Test(interop, devices_and_dtypes_that_are_refused)
{
    ROW(UNKNOWN, "is in memory of GPU 3 (kDLCUDA), and the engine works in host memory", memory,
        {QUERN_DL_CUDA, 3}, 2, FLOAT32, two_three);
    ROW(UNKNOWN, "device of kind 10 in DLPack's list", memory, {10, 0}, 2, FLOAT32, two_three);
    ROW(UNKNOWN, "device of kind -1 ", memory, {-1, 0}, 2, FLOAT32, two_three);
    ROW(UNKNOWN, "4 lanes (code 2, float, of 32 bits)", memory, HOST, 1, {QUERN_DL_FLOAT, 32, 4},
        two_three);
    ROW(UNKNOWN, "0 lanes", memory, HOST, 1, {QUERN_DL_FLOAT, 32, 0}, two_three);
    ROW(UNKNOWN, "code 8 (float8_e4m3) of 8 bits", memory, HOST, 1, {8, 8, 1}, two_three);
    ROW(UNKNOWN, "code 17 (float4_e2m1fn) of 4 bits", memory, HOST, 1, {17, 4, 1}, two_three);
    ROW(UNKNOWN, "code 5 (complex) of 32 bits", memory, HOST, 1, {QUERN_DL_COMPLEX, 32, 1},
        two_three);
    ROW(UNKNOWN, "code 200 (unknown) of 8 bits", memory, HOST, 1, {200, 8, 1}, two_three);
    ROW(UNKNOWN, "code 0 (int) of 12 bits", memory, HOST, 1, {QUERN_DL_INT, 12, 1}, two_three);
    ROW(UNKNOWN, "code 0 (int) of 0 bits", memory, HOST, 1, {QUERN_DL_INT, 0, 1}, two_three);
}

Test(interop, shapes_and_addresses_that_are_refused)
{
    ROW(BAD, "-1 dimensions", memory, HOST, -1, FLOAT32, two_three);
    ROW(BAD, "33 dimensions", memory, HOST, 33, FLOAT32, two_three);
    ROW(BAD, "its shape is NULL", memory, HOST, 1, FLOAT32, NULL);
    ROW(BAD, "axis 1 of the shape is negative: -4", memory, HOST, 2, FLOAT32, NUMBERS(2, -4));
    ROW(BAD, "larger than any memory", memory, HOST, 2, FLOAT32,
        NUMBERS(INT64_MAX / 2, INT64_MAX / 2));
    ROW(BAD, "data is NULL, but it has elements", NULL, HOST, 2, FLOAT32, two_three);
    ROW(BAD, "data is NULL, but it has elements", NULL, HOST, 0, FLOAT32, NULL);
    ROW(BAD, "byte_offset, 18446744073709551612,", memory, HOST, 2, FLOAT32, two_three, NULL,
        UINT64_MAX - 3);
    ROW(BAD, "outside of the address space", memory, HOST, 2, FLOAT32, two_three,
        NUMBERS(INT64_MAX, 1));
    ROW(BAD, "outside of the address space", memory, HOST, 2, FLOAT32, two_three,
        NUMBERS(INT64_MIN / 4, 1));
    ROW(BAD, "outside of the address space", memory, HOST, 2, FLOAT32, NUMBERS(INT64_MAX / 8, 2),
        NUMBERS(INT64_MAX / 8, 1));
}

Test(interop, another_major_version_is_not_looked_into)
{
    quern_array *a;
    struct {
        quern_dl_version version;
        void *context;
        void (*deleter)(quern_dl_managed_versioned *);
    } newer = {{2, 5}, NULL, count_deletion}; /* the rest is not there */
    FAILS(UNKNOWN, quern_array_from_dlpack(&a, engine, (quern_dl_managed_versioned *)&newer));
    SAYS("of DLPack 2.5");
    quern_dl_managed_versioned t = good();
    t.version = (quern_dl_version){1, 99}; /* more codes, the same structures */
    t.flags = ~QUERN_DL_READ_ONLY;
    OK(quern_array_from_dlpack(&a, engine, &t));
    cr_expect_not(quern_array_is_read_only(a));
    quern_array_release(a);
    cr_expect_eq(deleted, 1);
}

Test(interop, what_tensors_may_leave_out)
{
    quern_array *a;
    quern_dl_managed_versioned t = good();
    t.deleter = NULL;
    t.dl_tensor.ndim = 0;
    t.dl_tensor.shape = NULL;
    memory[0] = 5;
    OK(quern_array_from_dlpack(&a, engine, &t));
    EXPECT(a, float, 5);
    quern_array_release(a);
    t = good();
    t.dl_tensor.data = NULL;
    t.dl_tensor.shape = NUMBERS(3, 0);
    t.dl_tensor.strides = NUMBERS(INT64_MAX, INT64_MIN);
    t.dl_tensor.byte_offset = 7;
    OK(quern_array_from_dlpack(&a, engine, &t));
    cr_expect_eq(quern_array_count(a), 0);
    cr_expect_null(quern_array_pointer(a));
    quern_array_release(a);
    cr_expect_eq(deleted, 1);
    t.dl_tensor.device.device_type = QUERN_DL_CUDA_HOST;
    OK(quern_array_from_dlpack(&a, engine, &t));
    quern_array_release(a);
    t.dl_tensor.device.device_type = QUERN_DL_CUDA_MANAGED;
    OK(quern_array_from_dlpack(&a, engine, &t));
    quern_array_release(a);
    cr_expect_eq(deleted, 3);
}

Test(interop, a_tensor_of_ours_is_taken_once)
{
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(2, 3), memory), *a, *b;
    quern_dl_managed_versioned *t;
    quern_dl_managed *old;
    OK(quern_array_to_dlpack(&t, x, QUERN_DL_IS_COPIED));
    cr_expect_eq(t->flags, QUERN_DL_IS_COPIED);
    t->dl_tensor.device.device_type = QUERN_DL_CUDA;
    FAILS(UNKNOWN, quern_array_from_dlpack(&a, engine, t));
    t->dl_tensor.device.device_type = QUERN_DL_CPU;
    OK(quern_array_from_dlpack(&a, engine, t));
    FAILS(BAD, quern_array_from_dlpack(&b, engine, t));
    SAYS("was taken before");
    OK(quern_array_to_dlpack_legacy(&old, x));
    OK(quern_array_from_dlpack_legacy(&b, engine, old));
    quern_array_release(x);
    EXPECT(a, float, 0, 0, 0, 0, 0, 0);
    quern_array_release(a);
    quern_array_release(b);
}

Test(interop, tensors_outlive_the_engine)
{
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(6), memory);
    quern_dl_managed_versioned *t;
    OK(quern_array_to_dlpack(&t, x, 0));
    quern_array_release(x);
    whole_close();
    ((float *)t->dl_tensor.data)[5] = 1; /* a sanitizer looks */
    t->deleter(t);
    whole_open();
}

/* ---- the array interface ----------------------------------------------------------------------
 */

static quern_array_interface entries_of(const char *typestr)
{
    quern_array_interface from = QUERN_ARRAY_INTERFACE_INIT;
    from.ndim = 2;
    from.shape = two_three;
    from.data = memory;
    memcpy(from.typestr, typestr, strnlen(typestr, sizeof from.typestr));
    return from;
}

static void refuse_entries(const quern_array_interface *from, quern_status status, const char *says)
{
    quern_array *a;
    FAILS(status, quern_array_from_interface(&a, engine, from, count_release, NULL));
    SAYS(says);
    cr_expect_eq(deleted, 0);
}

Test(interop, entries_that_are_refused)
{
    static const struct {
        const char *typestr, *says;
    } typestrs[] = {
        {">f4", "other order than this machine's"},
        {"|f4", "\"|f4\""},
        {"|O8", "Python objects"},
        {"<U12", "texts"},
        {"<M8", "times; view them as int64"},
        {"|V16", "bytes without a type"},
        {"<f16", "\"<f16\""},
        {"<i9", "\"<i9\""},
        {"f4", "\"f4\""},
        {"", "typestr \"\""},
        {"<f4<f4<f", "\"<f4<f4<f\""},
    };
    for (size_t k = 0; k < sizeof typestrs / sizeof *typestrs; k++) {
        const quern_array_interface from = entries_of(typestrs[k].typestr);
        refuse_entries(&from, UNKNOWN, typestrs[k].says);
    }
    quern_array_interface from = entries_of("<f4");
    for (from.version = 0; from.version < 4; from.version++) { /* RMM's buffers say 0 */
        quern_array *a;
        OK(quern_array_from_interface(&a, engine, &from, NULL, NULL));
        quern_array_release(a);
    }
    from.version = 4;
    refuse_entries(&from, UNKNOWN, "of version 4; 0 to 3 are taken");
    from = entries_of("<f4");
    from.mask = &from;
    refuse_entries(&from, UNKNOWN, "has a mask");
    from = entries_of("<f4");
    from.has_stream = 1;
    refuse_entries(&from, BAD, "stream is 0: write 1 for the legacy");
    from.stream = -1;
    refuse_entries(&from, BAD, "stream is -1");
    from = entries_of("<f4");
    from.data = NULL;
    refuse_entries(&from, BAD, "is NULL, but there are 6 elements");
    from = entries_of("<f4");
    from.ndim = 40;
    refuse_entries(&from, BAD, "0 to 32 dimensions, not 40");
    from = entries_of("<f4");
    from.shape = NUMBERS(-1, 2);
    refuse_entries(&from, BAD, "negative: -1");
}

Test(interop, entries_out)
{
    quern_array *x = array_of(QUERN_BFLOAT16, SHAPE(1), memory), *turned, *y;
    quern_array_interface entries = QUERN_ARRAY_INTERFACE_INIT;
    FAILS(UNKNOWN, quern_array_get_interface(&entries, x, NULL));
    SAYS("has no bfloat16; DLPack has");
    y = array_of(QUERN_INT16, SHAPE(2, 3), memory);
    OK(quern_array_get_interface(&entries, y, NULL));
    cr_expect_str_eq(entries.typestr, "<i2");
    cr_expect_null(entries.strides);
    cr_expect_eq(entries.has_stream, 0);
    OK(quern_array_transpose(&turned, y, NULL));
    OK(quern_array_get_interface(&entries, turned, NULL));
    cr_expect_eq(entries.strides[0], 2);
    cr_expect_eq(entries.strides[1], 6);
    quern_array_release(turned);
    quern_array_release(x);
    quern_array_release(y);
}

/* ---- read-only --------------------------------------------------------------------------------
 */

static quern_array *fixed_of(quern_array *array)
{
    quern_array *out;
    OK(quern_array_read_only(&out, array));
    quern_array_release(array);
    return out;
}

Test(interop, a_read_only_array_is_no_output)
{
    const float zeros[6] = {0};
    const quern_slice row = {1, 0, 0};
    quern_array *x = fixed_of(array_of(QUERN_FLOAT32, SHAPE(2, 3), zeros)), *view, *y = NULL;
    quern_kernel *copy = kernel_of("T x", "T y", "y = x");
    quern_kernel *raw = kernel_of("raw T x", "raw T y", "y[i] = x[i]");
    OK(quern_array_slice(&view, x, 1, &row));
    FAILS(BAD, quern_call(copy, x, x));
    SAYS("'y' (argument 2): the array is read-only, and cannot be an output");
    FAILS(BAD, quern_call(copy, view, view));
    quern_call_options three = QUERN_CALL_OPTIONS_INIT;
    three.loop_size = &(const int64_t){3};
    FAILS(BAD, quern_call_with(raw, &three, x, view));
    SAYS("'y' (argument 2)");
    FAILS(BAD, quern_array_fill(view, zeros, sizeof *zeros));
    SAYS("quern_array_fill: the array is read-only");
    FAILS(BAD, quern_array_write(x, zeros, sizeof zeros));
    SAYS("quern_array_write: the array is read-only");
    OK(quern_call(copy, x, &y));
    cr_expect_not(quern_array_is_read_only(y));
    quern_bound *bound;
    OK(quern_bind(&bound, copy, (quern_value[]){QUERN_VALUES(x, y)}, 2, NULL));
    FAILS(BAD, quern_bound_set_array(bound, 1, x));
    OK(quern_launch(bound));
    quern_dl_managed *old;
    FAILS(UNKNOWN, quern_array_to_dlpack_legacy(&old, x));
    SAYS("read-only, which the older structure cannot say");
    quern_bound_release(bound);
    quern_array_release(x);
    quern_array_release(y);
    quern_array_release(view);
    quern_kernel_release(copy);
    quern_kernel_release(raw);
}

Test(interop, a_function_takes_a_read_only_array_where_it_says_const)
{
    static const char source[] =
        "typedef float *p;\n"
        "template <typename T> __global__ void t(const T *__restrict__ x, T *y) { *y = *x; }\n"
        "extern \"C\" __global__ void f(float const *x, float *const y, const float **z, p w,\n"
        "                              const float v[]) { *y = *x + *v; }\n";
    const char *const names[] = {"t<float>"};
    quern_module_options options = QUERN_MODULE_OPTIONS_INIT;
    options.expressions = names;
    options.expression_count = 1;
    quern_module *module;
    quern_function *t, *f;
    const float one = 1;
    quern_array *x = fixed_of(array_of(QUERN_FLOAT32, SHAPE(1), &one)), *y;
    OK(quern_array_copy(&y, x));
    OK(quern_module_new(&module, engine, source, &options));
    OK(quern_module_function(&t, module, "t<float>"));
    OK(quern_module_function(&f, module, "f"));
    OK(quern_function_call(t, &QUERN_GRID(1, 1), x, y));
    FAILS(BAD, quern_function_call(t, &QUERN_GRID(1, 1), y, x));
    SAYS("t<float>, argument 2: the array is read-only, and the function's source does not");
    OK(quern_function_call(f, &QUERN_GRID(1, 1), x, y, NULL, NULL, x));
    EXPECT(y, float, 2);
    FAILS(BAD, quern_function_call(f, &QUERN_GRID(1, 1), x, x, NULL, NULL, x));
    FAILS(BAD, quern_function_call(f, &QUERN_GRID(1, 1), x, y, x, NULL, x));
    FAILS(BAD, quern_function_call(f, &QUERN_GRID(1, 1), x, y, NULL, x, x));
    OK(quern_function_call(f, &QUERN_GRID(1, 1), quern_array_pointer(x), y, NULL, NULL, x));
    quern_function_release(t);
    quern_function_release(f);
    quern_module_release(module);
    quern_array_release(x);
    quern_array_release(y);
}

/* ---- addresses, streams, the exchange table ---------------------------------------------------
 */

Test(interop, what_addresses_are)
{
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(6), memory), *a;
    quern_pointer_info info = QUERN_POINTER_INFO_INIT;
    float *inside = (float *)quern_array_pointer(x) + 5;
    OK(quern_pointer_get_info(&info, engine, inside));
    cr_expect_eq(info.memory, QUERN_MEMORY_DEVICE);
    cr_expect_eq(info.device, 0);
    cr_expect_eq(info.device_pointer, inside);
    OK(quern_pointer_get_info(&info, engine, inside + 1));
    cr_expect_eq(info.memory, QUERN_MEMORY_HOST, "the guard behind it is in no array");
    quern_dl_managed_versioned t = good();
    OK(quern_pointer_get_info(&info, engine, memory));
    cr_expect_eq(info.memory, QUERN_MEMORY_HOST);
    cr_expect_eq(info.device, -1);
    OK(quern_array_from_dlpack(&a, engine, &t));
    OK(quern_pointer_get_info(&info, engine, memory + 5));
    cr_expect_eq(info.memory, QUERN_MEMORY_DEVICE);
    quern_array_release(a);
    quern_array_release(x);
}

/* Foreign memory that begins in an array of ours and does not end there has wrong strides. */
Test(interop, strides_that_leave_an_array)
{
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(6), memory), *a;
    quern_dl_managed_versioned t = good();
    t.dl_tensor.data = quern_array_pointer(x);
    t.dl_tensor.strides = NUMBERS(4, 1);
    FAILS(BAD, quern_array_from_dlpack(&a, engine, &t));
    SAYS("reaches 4 bytes past the end of an array of 24 bytes");
    t.dl_tensor.strides = NUMBERS(-3, 1);
    FAILS(BAD, quern_array_from_dlpack(&a, engine, &t));
    SAYS("begins 12 bytes before an array of 24 bytes");
    t.dl_tensor.strides = NUMBERS(3, 1);
    OK(quern_array_from_dlpack(&a, engine, &t));
    quern_array_release(a);
    quern_array_release(x);
}

Test(interop, kernels_that_leave_a_tensor_are_reported)
{
    quern_array *a;
    quern_dl_managed_versioned t = good();
    quern_kernel *k = kernel_of("raw T x, int32 n", "T y", "y = x[n + i]");
    const int64_t one = 1;
    quern_array *y;
    OK(quern_array_new(&y, engine, QUERN_FLOAT32, 1, &one));
    OK(quern_array_from_dlpack(&a, engine, &t));
    FAILS(QUERN_ERROR_ACCESS, quern_call(k, a, 6, y));
    SAYS("wrapped memory of 24 bytes");
    quern_array_release(a);
    quern_array_release(y);
    quern_kernel_release(k);
}

Test(interop, waits)
{
    quern_stream *stream;
    OK(quern_stream_new(&stream, engine));
    OK(quern_stream_follow(engine, stream, (void *)1));
    OK(quern_stream_follow(engine, NULL, (void *)2));
    OK(quern_stream_lead(engine, stream, (void *)1));
    FAILS(BAD, quern_stream_follow(engine, NULL, NULL));
    SAYS("the handle is NULL, which may mean two streams");
    FAILS(BAD, quern_stream_lead(engine, NULL, NULL));
    quern_stream_release(stream);
}

static char kind[32], message[256];

static void set_error(void *context, const char *error_kind, const char *text)
{
    cr_expect_eq(context, &deleted);
    strncpy(kind, error_kind, sizeof kind - 1);
    strncpy(message, text, sizeof message - 1);
}

Test(interop, exchange)
{
    quern_dl_exchange table = {.header = {{1, 3}, NULL},
                               .managed_tensor_allocator = quern_dlpack_allocate,
                               .current_work_stream = quern_dlpack_current_stream};
    quern_dl_tensor prototype = good().dl_tensor;
    quern_dl_managed_versioned *t;
    void *handle = &t;
    cr_expect_eq(table.managed_tensor_allocator(&prototype, &t, &deleted, set_error), -1);
    cr_expect_str_eq(kind, "BufferError");
    cr_expect_not_null(strstr(message, "no engine is in use for device 0 of DLPack's kind 1"));
    cr_expect_eq(table.current_work_stream(QUERN_DL_CPU, 0, &handle), -1);
    OK(quern_dlpack_use(engine));
    OK(quern_dlpack_use(engine));
    cr_assert_eq(table.managed_tensor_allocator(&prototype, &t, NULL, NULL), 0);
    cr_expect_eq(t->dl_tensor.shape[1], 3);
    cr_expect_eq(t->dl_tensor.strides[0], 3);
    cr_expect_eq((uintptr_t)t->dl_tensor.data % 256, 0);
    cr_expect_eq(table.current_work_stream(QUERN_DL_CPU, 0, &handle), 0);
    t->deleter(t);
    prototype.dtype.lanes = 2;
    cr_expect_eq(table.managed_tensor_allocator(&prototype, &t, &deleted, set_error), -1);
    cr_expect_null(t);
    prototype = good().dl_tensor;
    prototype.shape = NUMBERS(1ll << 30, 1ll << 30);
    cr_expect_eq(table.managed_tensor_allocator(&prototype, &t, &deleted, set_error), -1);
    cr_expect_str_eq(kind, "MemoryError");
    prototype.shape = NUMBERS(-1, 2);
    cr_expect_eq(table.managed_tensor_allocator(&prototype, &t, &deleted, set_error), -1);
    cr_expect_str_eq(kind, "ValueError");
    OK(quern_dlpack_use(NULL));
    cr_expect_eq(table.current_work_stream(QUERN_DL_CPU, 0, &handle), -1);
}
