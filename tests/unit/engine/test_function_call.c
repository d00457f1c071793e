/* SPDX-License-Identifier: MIT
 *
 * Arguments and launches of functions: what is passed arrives, and what does not fit is refused
 * with the argument's position and both sizes.
 */
#include "whole.h"
#include <stdio.h>

static quern_module *module;

static const char source[] =
    "struct three { float x, y, z; };\n"
    "struct mixed { char tag; double value; };\n"
    "extern \"C\" __global__ void nothing() {}\n"
    "extern \"C\" __global__ void saxpy(float a, const float *x, float *y, int n)\n"
    "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = a * x[i] + y[i]; }\n"
    "extern \"C\" __global__ void scalars(double *out, bool b, signed char c, unsigned char u,\n"
    "    short s, unsigned short v, int i, unsigned j, long long l, unsigned long long m, float "
    "f,\n"
    "    double d)\n"
    "{ out[0] = b; out[1] = c; out[2] = u; out[3] = s; out[4] = v; out[5] = i; out[6] = j;\n"
    "  out[7] = l; out[8] = m; out[9] = f; out[10] = d; }\n"
    "extern \"C\" __global__ void structs(double *out, three t, mixed m, float4 v, float2 c,\n"
    "    double2 z)\n"
    "{ out[0] = t.x; out[1] = t.y; out[2] = t.z; out[3] = m.tag; out[4] = m.value;\n"
    "  out[5] = v.x; out[6] = v.w; out[7] = c.x; out[8] = c.y; out[9] = z.x; out[10] = z.y; }\n"
    "extern \"C\" __global__ void halves(unsigned short *out, ushort1 h, ushort1 b)\n"
    "{ out[0] = h.x; out[1] = b.x; }\n"
    "extern \"C\" __global__ void pointers(int *out, const int *p, const int *q)\n"
    "{ out[0] = p ? *p : -1; out[1] = q ? *q : -1; }\n"
    "extern \"C\" __global__ void extents(int *out)\n"
    "{ if (threadIdx.x + threadIdx.y + threadIdx.z + blockIdx.x + blockIdx.y + blockIdx.z == 0) {\n"
    "    out[0] = gridDim.x; out[1] = gridDim.y; out[2] = gridDim.z;\n"
    "    out[3] = blockDim.x; out[4] = blockDim.y; out[5] = blockDim.z; } }\n"
    "extern \"C\" __global__ void reverse(int *x, int n)\n"
    "{ extern __shared__ int s[]; int t = threadIdx.x; s[t] = x[t]; __syncthreads();\n"
    "  x[t] = s[n - 1 - t]; }\n"
    "extern \"C\" __global__ void last_shared(int *out, int n)\n"
    "{ extern __shared__ int s[]; s[n - 1] = n; out[0] = s[n - 1]; }\n";

static void open_module(void)
{
    whole_open();
    OK(quern_module_new(&module, engine, source, NULL));
}

static void close_module(void)
{
    quern_module_release(module);
    whole_close();
}

TestSuite(function_call, .init = open_module, .fini = close_module);

static quern_function *function_of(const char *name)
{
    quern_function *f;
    OK(quern_module_function(&f, module, name));
    return f;
}

static quern_array *zeros(quern_dtype dtype, int64_t count)
{
    static const char nothing[4096];
    return array_of(dtype, SHAPE(count), nothing);
}

/* ---- what is passed arrives ----------------------------------------------------------------- */

Test(function_call, saxpy)
{
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(5), (float[]){1, 2, 3, 4, 5});
    quern_array *y = array_of(QUERN_FLOAT32, SHAPE(5), (float[]){10, 20, 30, 40, 50});
    quern_function *f = function_of("saxpy");
    OK(quern_function_call(f, &QUERN_GRID(2, 4), 2.0f, x, y, 5));
    EXPECT(y, float, 12, 24, 36, 48, 60);
    OK(quern_function_call(f, &QUERN_GRID(1, 32), 1.0f, x, y, 3));
    EXPECT(y, float, 13, 26, 39, 48, 60);
    quern_function_release(f);
    quern_array_release(x);
    quern_array_release(y);
}

Test(function_call, no_arguments)
{
    quern_function *f = function_of("nothing");
    OK(quern_function_call(f, &QUERN_GRID(1, 1)));
    OK(quern_function_call_n(f, NULL, 0, NULL));
    quern_function_release(f);
}

Test(function_call, scalars)
{
    quern_array *out = zeros(QUERN_FLOAT64, 11);
    quern_function *f = function_of("scalars");
    OK(quern_function_call(f, &QUERN_GRID(1, 1), out, (_Bool)1, quern_scalar_int(QUERN_INT8, -128),
                           quern_scalar_int(QUERN_UINT8, 255), quern_scalar_int(QUERN_INT16, -2),
                           quern_scalar_int(QUERN_UINT16, 65535), -3, 4294967295u, -4L, 1ull << 63,
                           0.1f, 0.2));
    EXPECT(out, double, 1, -128, 255, -2, 65535, -3, 4294967295., -4, 9223372036854775808., 0.1f,
           0.2);
    quern_function_release(f);
    quern_array_release(out);
}

Test(function_call, structures_and_vectors)
{
    struct {
        float x, y, z;
    } three = {1, 2, 3};
    struct {
        char tag;
        double value;
    } mixed = {4, 5};
    float vector[4] = {6, 0, 0, 7};
    quern_array *out = zeros(QUERN_FLOAT64, 11);
    quern_function *f = function_of("structs");
    OK(quern_function_call(f, &QUERN_GRID(1, 1), out, quern_value_struct(&three, sizeof three),
                           quern_value_struct(&mixed, sizeof mixed),
                           quern_value_struct(vector, sizeof vector),
                           quern_scalar_complex(QUERN_COMPLEX64, 8, 9),
                           quern_scalar_complex(QUERN_COMPLEX128, 10, 11)));
    EXPECT(out, double, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
    quern_function_release(f);
    quern_array_release(out);
}

Test(function_call, narrow_floats)
{
    quern_array *out = zeros(QUERN_UINT16, 2);
    quern_function *f = function_of("halves");
    OK(quern_function_call(f, &QUERN_GRID(1, 1), out, quern_scalar_real(QUERN_FLOAT16, 1.5),
                           quern_scalar_real(QUERN_BFLOAT16, 1.5)));
    EXPECT(out, uint16_t, 0x3e00, 0x3fc0);
    quern_function_release(f);
    quern_array_release(out);
}

Test(function_call, pointers)
{
    quern_array *out = zeros(QUERN_INT32, 2), *x = array_of(QUERN_INT32, SHAPE(1), (int32_t[]){7});
    quern_function *f = function_of("pointers");
    OK(quern_function_call(f, &QUERN_GRID(1, 1), out, (void *)quern_array_pointer(x),
                           quern_value_pointer(NULL)));
    EXPECT(out, int32_t, 7, -1);
    quern_function_release(f);
    quern_array_release(out);
    quern_array_release(x);
}

/* ---- how it is launched --------------------------------------------------------------------- */

Test(function_call, extents)
{
    quern_array *out = zeros(QUERN_INT32, 6);
    quern_function *f = function_of("extents");
    quern_launch_options launch = QUERN_LAUNCH_OPTIONS_INIT;
    OK(quern_function_call(f, &launch, out));
    EXPECT(out, int32_t, 1, 1, 1, 1, 1, 1);
    launch = (quern_launch_options){
        .size = sizeof launch, .grid = {3, 0, 2}, .block = {0, 4, 5}, .cooperative = 1};
    OK(quern_function_call(f, &launch, out));
    EXPECT(out, int32_t, 3, 1, 2, 1, 4, 5);
    quern_function_release(f);
    quern_array_release(out);
}

Test(function_call, streams)
{
    quern_array *out = zeros(QUERN_INT32, 6);
    quern_function *f = function_of("extents");
    quern_stream *stream;
    OK(quern_stream_new(&stream, engine));
    quern_launch_options launch = QUERN_GRID(2, 3);
    launch.stream = stream;
    OK(quern_function_call(f, &launch, out));
    OK(quern_stream_wait(stream));
    EXPECT(out, int32_t, 2, 1, 1, 3, 1, 1);
    quern_engine *other;
    quern_stream *foreign;
    OK(quern_open(&other, NULL));
    OK(quern_stream_new(&foreign, other));
    launch.stream = foreign;
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_function_call(f, &launch, out));
    SAYS("the stream belongs to another engine");
    quern_stream_release(foreign);
    quern_close(other);
    quern_stream_release(stream);
    quern_function_release(f);
    quern_array_release(out);
}

Test(function_call, dynamic_shared_memory)
{
    quern_array *x = array_of(QUERN_INT32, SHAPE(4), (int32_t[]){1, 2, 3, 4});
    quern_function *f = function_of("reverse"), *last = function_of("last_shared");
    quern_launch_options launch = QUERN_GRID(1, 4);
    launch.shared_bytes = 16;
    OK(quern_function_call(f, &launch, x, 4));
    EXPECT(x, int32_t, 4, 3, 2, 1);
    launch.shared_bytes = 60 * 1024; /* past what every GPU gives unasked */
    OK(quern_function_call(last, &launch, x, 15 * 1024));
    EXPECT(x, int32_t, 15 * 1024, 3, 2, 1);
    launch.shared_bytes = 1 << 30;
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_function_call(f, &launch, x, 4));
    SAYS("1073741824 bytes of shared memory");
    quern_function_release(f);
    quern_function_release(last);
    quern_array_release(x);
}

static const struct {
    uint32_t grid[3], block[3];
    const char *says;
} beyond[] = {
    {{1, 65536, 1},
     {1, 1, 1},
     "the grid is 1 x 65536 x 1; along y this device allows at most 65535"},
    {{1, 1, 70000}, {1, 1, 1}, "along z this device allows at most 65535"},
    {{1, 1, 1}, {1025, 1, 1}, "along x this device allows at most 1024"},
    {{1, 1, 1}, {1, 1, 65}, "along z this device allows at most 64"},
    {{1, 1, 1}, {64, 32, 1}, "2048 threads"},
    {{UINT32_MAX, 1, 1}, {1, 1, 1}, "along x this device allows at most 2147483647"},
};

Test(function_call, beyond_the_limits)
{
    quern_array *out = zeros(QUERN_INT32, 6);
    quern_function *f = function_of("extents");
    for (size_t k = 0; k < sizeof beyond / sizeof *beyond; k++) {
        quern_launch_options launch = QUERN_LAUNCH_OPTIONS_INIT;
        memcpy(launch.grid, beyond[k].grid, sizeof launch.grid);
        memcpy(launch.block, beyond[k].block, sizeof launch.block);
        FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_function_call(f, &launch, out));
        SAYS(beyond[k].says);
    }
    EXPECT(out, int32_t, 0, 0, 0, 0, 0, 0);
    quern_function_release(f);
    quern_array_release(out);
}

/* ---- what does not fit ---------------------------------------------------------------------- */

Test(function_call, wrong_counts)
{
    quern_array *x = zeros(QUERN_FLOAT32, 4);
    quern_function *f = function_of("saxpy"), *none = function_of("nothing");
    FAILS(QUERN_ERROR_ARGUMENT_COUNT, quern_function_call(f, &QUERN_GRID(1, 4), 2.0f, x, x));
    SAYS("saxpy takes 4 arguments (of 4, 8, 8, 4 bytes), but 3 were given");
    FAILS(QUERN_ERROR_ARGUMENT_COUNT, quern_function_call(f, &QUERN_GRID(1, 4)));
    FAILS(QUERN_ERROR_ARGUMENT_COUNT, quern_function_call(f, &QUERN_GRID(1, 4), 2.0f, x, x, 4, 5));
    FAILS(QUERN_ERROR_ARGUMENT_COUNT, quern_function_call(none, &QUERN_GRID(1, 4), 1));
    SAYS("nothing takes 0 arguments, but 1 was given");
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_function_call_n(f, NULL, 4, NULL));
    quern_function_release(f);
    quern_function_release(none);
    quern_array_release(x);
}

Test(function_call, wrong_arguments)
{
    quern_array *x = zeros(QUERN_FLOAT32, 8), *strided, *foreign;
    quern_engine *other;
    OK(quern_array_slice(&strided, x, 1, &(quern_slice){0, 8, 2}));
    OK(quern_open(&other, NULL));
    OK(quern_array_new(&foreign, other, QUERN_FLOAT32, SHAPE(8)));
    const struct {
        int position;
        quern_value value;
        quern_status status;
        const char *says;
    } cases[] = {
        {1, quern_scalar_real(QUERN_FLOAT64, 2), QUERN_ERROR_TYPE,
         "saxpy: argument 1 is a float64 (8 bytes), but the function's parameter has 4 bytes: an "
         "int32, uint32 or float32 fits"},
        {1, quern_scalar_int(QUERN_INT8, 2), QUERN_ERROR_TYPE, "argument 1 is an int8 (1 byte)"},
        {1, quern_value_array(x), QUERN_ERROR_TYPE, "argument 1 is an array (an address, 8 bytes)"},
        {1, quern_value_struct("1234567", 7), QUERN_ERROR_TYPE, "a structure of 7 bytes"},
        {1, quern_value_struct(NULL, 4), QUERN_ERROR_INVALID_ARGUMENT, "address is NULL"},
        {1, quern_literal_double(2), QUERN_ERROR_TYPE, "quern_scalar_float() for float"},
        {4, quern_literal_int(2), QUERN_ERROR_TYPE, "quern_argument_int() for int"},
        {4, quern_literal_bool(1), QUERN_ERROR_TYPE, "quern_argument_bool()"},
        {1, quern_literal_complex(1, 2), QUERN_ERROR_TYPE, "quern_scalar_complex()"},
        {4, quern_scalar_int(QUERN_INT32, INT64_C(1) << 40), QUERN_ERROR_VALUE,
         "saxpy, argument 4: 1099511627776 does not fit parameter \"4\": int32 holds -2147483648 "
         "to"},
        {4, quern_scalar_int((quern_dtype)99, 1), QUERN_ERROR_INVALID_ARGUMENT, "dtype"},
        {4, quern_value_pointer(NULL), QUERN_ERROR_TYPE, "argument 4 is a pointer (8 bytes)"},
        {2, quern_value_array(NULL), QUERN_ERROR_INVALID_ARGUMENT, "quern_value_pointer(NULL)"},
        {2, quern_value_array(strided), QUERN_ERROR_SHAPE, "argument 2: the array is not C-cont"},
        {2, quern_value_array(foreign), QUERN_ERROR_INVALID_ARGUMENT, "another engine"},
        {2, quern_value_array((quern_array *)(void *)module), QUERN_ERROR_INVALID_ARGUMENT,
         "not an array"},
        {3, quern_value_output(&x), QUERN_ERROR_TYPE, "argument 3: a function of a module"},
        {3, {QUERN_VALUE_NONE, 0, {0}}, QUERN_ERROR_TYPE, "allocates no outputs"},
        {3, {77, 0, {0}}, QUERN_ERROR_INVALID_ARGUMENT, "not a quern_value"},
    };
    quern_function *f = function_of("saxpy");
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        quern_value values[4] = {QUERN_ARGUMENTS(1.0f, x, x, 8)};
        values[cases[k].position - 1] = cases[k].value;
        quern_status status = quern_function_call_n(f, values, 4, &QUERN_GRID(1, 8));
        cr_expect_eq(status, cases[k].status, "case %zu: %s", k, quern_last_error_text());
        cr_expect_not_null(strstr(quern_last_error()->message, cases[k].says), "case %zu: %s", k,
                           quern_last_error()->message);
    }
    quern_launch_options launch = QUERN_GRID(1, 4);
    launch.any_strides = 1;
    OK(quern_function_call(f, &launch, 1.0f, strided, strided, 4));
    launch.size = 7;
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_function_call(f, &launch, 1.0f, x, x, 4));
    SAYS("QUERN_LAUNCH_OPTIONS_INIT");
    launch = (quern_launch_options)QUERN_GRID(1, 4);
    launch.stream = (quern_stream *)(void *)engine;
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_function_call(f, &launch, 1.0f, x, x, 4));
    quern_function_release(f);
    quern_array_release(x);
    quern_array_release(strided);
    quern_array_release(foreign);
    quern_close(other);
}

/* More arguments than the stack has room for. */
Test(function_call, many_arguments)
{
    enum { COUNT = 300 };
    static char text[20000];
    size_t used = (size_t)snprintf(text, sizeof text, "extern \"C\" __global__ void many(int *out");
    for (int k = 1; k < COUNT; k++) {
        used += (size_t)snprintf(text + used, sizeof text - used, ", int a%d", k);
    }
    snprintf(text + used, sizeof text - used, ") { *out = a1 + a%d; }", COUNT - 1);
    quern_module *own;
    quern_function *f;
    quern_value values[COUNT];
    quern_array *out = zeros(QUERN_INT32, 1);
    OK(quern_module_new(&own, engine, text, NULL));
    OK(quern_module_function(&f, own, "many"));
    values[0] = quern_value_array(out);
    for (int k = 1; k < COUNT; k++) {
        values[k] = quern_argument_int(k);
    }
    OK(quern_function_call_n(f, values, COUNT, NULL));
    EXPECT(out, int32_t, COUNT);
    FAILS(QUERN_ERROR_ARGUMENT_COUNT, quern_function_call_n(f, values, COUNT - 1, NULL));
    values[COUNT - 1] = quern_argument_double(1);
    FAILS(QUERN_ERROR_TYPE, quern_function_call_n(f, values, COUNT, NULL));
    SAYS("argument 300 is a float64");
    quern_function_release(f);
    quern_module_release(own);
    quern_array_release(out);
}
