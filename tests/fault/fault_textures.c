/* SPDX-License-Identifier: MIT
 *
 * Textures and surfaces over the stand-in for the driver: what reaches it, what holds what, what is
 * refused, and what a driver that fails in the middle leaves behind. What GPUs read through them is
 * in tests/unit/engine/test_textures.c.
 */
#include "support/fake_libcuda.h"
#include "unit/cache/scratch.h"
#include "unit/engine/whole.h"

#include "unit/engine/texture_kernels.h"
#include <dlfcn.h>

static fake_cuda *fake;

static void open_fake(void)
{
    scratch_make();
    setenv("QUERN_CUDA", FAKE_FOLDER, 1);
    setenv("QUERN_CACHE_DIR", scratch, 1);
    setenv("QUERN_DEVICE", "cuda", 1);
    setenv("QUERN_NVRTC_CACHE", "0", 1); /* it asks the driver for things that the stand-in lacks */
    void *library = dlopen(FAKE_FOLDER "/libcuda.so.1", RTLD_NOW);
    cr_assert_not_null(library, "%s", dlerror());
    fake_cuda_get_function get;
    void *symbol = dlsym(library, "fake_cuda_get");
    memcpy(&get, &symbol, sizeof symbol);
    fake = get();
    fake->also = "k";
    fake->recorded = 2;
    whole_open();
}

static void close_fake(void)
{
    whole_close();
    cr_expect_eq(fake->allocations(), 0, "device memory is left");
    cr_expect_eq(fake->texels(), 0, "textures are left");
    cr_expect_eq(fake->retained(0), 0, "the context is left");
    scratch_delete();
}

TestSuite(textures, .init = open_fake, .fini = close_fake);

static quern_cuda_array *cuda_array_of(quern_dtype dtype, int ndim, const int64_t *shape,
                                       uint32_t channels, uint32_t surface)
{
    quern_cuda_array_options o = QUERN_CUDA_ARRAY_OPTIONS_INIT;
    o.channels = channels;
    o.surface = surface;
    quern_cuda_array *c;
    OK(quern_cuda_array_new(&c, engine, dtype, ndim, shape, &o));
    return c;
}

/* ---- what reaches the driver ---------------------------------------------------------------- */

Test(textures, extents_and_flags)
{
    static const struct {
        int ndim;
        int64_t shape[3];
        uint32_t layered, surface, gather;
        size_t width, height, depth;
        unsigned flags;
    } cases[] = {
        {1, {7}, 0, 0, 0, 7, 0, 0, 0},       {2, {5, 7}, 0, 1, 0, 7, 5, 0, 2},
        {3, {3, 5, 7}, 0, 0, 0, 7, 5, 3, 0}, {2, {5, 7}, 1, 0, 0, 7, 0, 5, 1},
        {3, {3, 5, 7}, 1, 1, 0, 7, 5, 3, 3}, {2, {5, 7}, 0, 0, 1, 7, 5, 0, 8},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        quern_cuda_array_options o = QUERN_CUDA_ARRAY_OPTIONS_INIT;
        o.layered = cases[k].layered;
        o.surface = cases[k].surface;
        o.gather = cases[k].gather;
        quern_cuda_array *c;
        OK(quern_cuda_array_new(&c, engine, QUERN_UINT16, cases[k].ndim, cases[k].shape, &o));
        cr_expect_eq(fake->last_array.width, cases[k].width, "%zu", k);
        cr_expect_eq(fake->last_array.height, cases[k].height, "%zu", k);
        cr_expect_eq(fake->last_array.depth, cases[k].depth, "%zu", k);
        cr_expect_eq(fake->last_array.flags, cases[k].flags, "%zu", k);
        cr_expect_eq(fake->last_array.format, CU_UINT16);
        cr_expect_eq(fake->last_array.channels, 1);
        cr_expect_not_null(quern_cuda_array_handle(c));
        quern_cuda_array_release(c);
    }
}

Test(textures, copies_there_and_back)
{
    float numbers[24], back[24];
    for (int k = 0; k < 24; k++) {
        numbers[k] = (float)k;
    }
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(3, 4, 2), numbers), *flat, *strided, *y;
    quern_cuda_array *c = cuda_array_of(QUERN_FLOAT32, SHAPE(3, 4), 2, 0);
    OK(quern_cuda_array_write_on(c, x, NULL));
    OK(quern_array_new(&y, engine, QUERN_FLOAT32, SHAPE(3, 4, 2)));
    OK(quern_cuda_array_read_on(c, y, NULL));
    OK(quern_array_read(y, back, sizeof back));
    cr_expect_arr_eq(back, numbers, sizeof back);
    OK(quern_array_reshape(&flat, y, SHAPE(3, 8)));
    OK(quern_cuda_array_write_on(c, flat, NULL));
    OK(quern_array_transpose(&strided, flat, NULL));
    FAILS(QUERN_ERROR_SHAPE, quern_cuda_array_write_on(c, strided, NULL));
    SAYS("the array's shape is (8, 3), and the CUDA array is of shape (3, 4) with 2 channels");
    quern_array_release(x);
    quern_array_release(y);
    quern_array_release(flat);
    quern_array_release(strided);
    quern_cuda_array_release(c);
}

Test(textures, every_mode_reaches_the_driver)
{
    quern_cuda_array *c = cuda_array_of(QUERN_UINT8, SHAPE(4, 4), 4, 0);
    quern_texture_options o = QUERN_TEXTURE_OPTIONS_INIT;
    o.address[0] = QUERN_ADDRESS_CLAMP;
    o.address[1] = QUERN_ADDRESS_MIRROR;
    o.address[2] = QUERN_ADDRESS_BORDER;
    o.filter = QUERN_FILTER_LINEAR;
    o.read = QUERN_READ_NORMALIZED;
    o.normalized = 1;
    o.srgb = 1;
    o.max_anisotropy = 8;
    o.border[3] = 0.5f;
    quern_texture *t;
    OK(quern_texture_new(&t, c, &o));
    const cu_texture_descriptor *d = &fake->last_texture;
    cr_expect_eq(fake->last_resource.type, CU_RESOURCE_ARRAY);
    cr_expect_eq((void *)fake->last_resource.of.array, quern_cuda_array_handle(c));
    cr_expect(d->address[0] == 1 && d->address[1] == 2 && d->filter == 1);
    cr_expect_eq(d->address[2], QUERN_ADDRESS_CLAMP, "there is no such axis");
    cr_expect_eq(d->flags, (unsigned)(CU_NORMALIZED_COORDINATES | CU_SRGB));
    cr_expect_eq(d->max_anisotropy, 8u);
    cr_expect_float_eq(d->border[3], 0.5f, 0);
    cr_expect_neq(quern_texture_handle(t), 0);
    quern_texture_release(t);
    OK(quern_texture_new(&t, c, NULL));
    cr_expect_eq(d->flags, (unsigned)CU_READ_AS_INTEGER, "elements are read as they are");
    quern_texture_release(t);
    quern_cuda_array_release(c);
}

Test(textures, of_memory)
{
    quern_array *rows, *x;
    OK(quern_array_new(&rows, engine, QUERN_FLOAT32, SHAPE(3, 16)));
    OK(quern_array_slice(&x, rows, 2, (const quern_slice[]){QUERN_SLICE_ALL, {0, 10, 1}}));
    quern_texture *t;
    OK(quern_texture_new_linear(&t, rows, 4, NULL));
    cr_expect_eq(fake->last_resource.type, CU_RESOURCE_LINEAR);
    cr_expect_eq(fake->last_resource.of.linear.bytes, 192u);
    cr_expect_eq(fake->last_resource.of.linear.channels, 4u);
    cr_expect_eq(fake->last_resource.of.linear.device, (uintptr_t)quern_array_pointer(rows));
    quern_texture_release(t);
    OK(quern_texture_new_pitched(&t, x, 2, NULL));
    cr_expect_eq(fake->last_resource.type, CU_RESOURCE_PITCHED);
    cr_expect_eq(fake->last_resource.of.pitched.width, 5u);
    cr_expect_eq(fake->last_resource.of.pitched.height, 3u);
    cr_expect_eq(fake->last_resource.of.pitched.pitch, 64u);
    quern_array_release(rows);
    quern_array_release(x);
    cr_expect_gt(fake->allocations(), 0, "the texture holds what it reads");
    quern_texture_release(t);
    cr_expect_eq(fake->allocations(), 0);
}

Test(textures, hold_what_they_read)
{
    quern_cuda_array *c = cuda_array_of(QUERN_FLOAT32, SHAPE(8), 1, 1);
    quern_texture *t;
    quern_surface *s;
    OK(quern_texture_new(&t, c, NULL));
    OK(quern_surface_new(&s, c));
    cr_expect_eq(fake->texels(), 3);
    quern_cuda_array_release(c);
    cr_expect_eq(fake->texels(), 3);
    cr_expect_eq(quern_texture_retain(t), t);
    quern_texture_release(t);
    quern_texture_release(t);
    cr_expect_eq(fake->texels(), 2);
    int waits = fake->calls("cuCtxSynchronize");
    quern_surface_release(s);
    cr_expect_eq(fake->texels(), 0);
    cr_expect_gt(fake->calls("cuCtxSynchronize"), waits, "queued work may still use it");
}

/* ---- arguments ------------------------------------------------------------------------------ */

static quern_function *function_of(quern_module **module, const char *source)
{
    quern_function *f;
    OK(quern_module_new(module, engine, source, NULL));
    OK(quern_module_function(&f, *module, "k"));
    return f;
}

Test(textures, as_arguments)
{
    quern_module *module;
    quern_function *f = function_of(
        &module, "extern \"C\" __global__ void k(const cudaTextureObject_t tex,\n"
                 "    cudaSurfaceObject_t out) { surf1Dwrite(tex1D<float>(tex, 0), out, 0); }\n");
    quern_cuda_array *c = cuda_array_of(QUERN_FLOAT32, SHAPE(8), 1, 1);
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(2), (float[]){1, 2});
    quern_texture *t;
    quern_surface *s;
    OK(quern_texture_new(&t, c, NULL));
    OK(quern_surface_new(&s, c));
    OK(quern_function_call(f, &QUERN_GRID(1, 1), t, s));
    cr_expect_eq(fake->parameters[0], quern_texture_handle(t));
    cr_expect_eq(fake->parameters[1], quern_surface_handle(s));
    OK(quern_function_call(f, &QUERN_GRID(1, 1), quern_texture_handle(t), s));
    FAILS(QUERN_ERROR_TYPE, quern_function_call(f, &QUERN_GRID(1, 1), t, t));
    SAYS("argument 2 is a texture, but parameter 'out' is a cudaSurfaceObject_t");
    FAILS(QUERN_ERROR_TYPE, quern_function_call(f, &QUERN_GRID(1, 1), s, s));
    SAYS("argument 1 is a surface, but parameter 'tex' is a cudaTextureObject_t");
    FAILS(QUERN_ERROR_TYPE, quern_function_call(f, &QUERN_GRID(1, 1), x, s));
    SAYS("argument 1 is an array");
    FAILS(QUERN_ERROR_INVALID_ARGUMENT,
          quern_function_call(f, &QUERN_GRID(1, 1), quern_value_texture(NULL), s));
    SAYS("k, argument 1: the texture is NULL");
    cr_expect_eq(fake->calls("cuLaunchKernel"), 2, "what does not fit is never launched");
    quern_kernel *kernel;
    quern_array *z = NULL;
    OK(quern_elementwise(&kernel, engine, "T x", "T z", "z = x", NULL));
    const quern_value values[2] = {quern_value_texture(t), quern_value_output(&z)};
    FAILS(QUERN_ERROR_TYPE, quern_call_n(kernel, values, 2, NULL));
    SAYS("textures and surfaces are for functions of modules");
    quern_engine *other;
    OK(quern_open(&other, NULL));
    quern_cuda_array *others;
    OK(quern_cuda_array_new(&others, other, QUERN_FLOAT32, SHAPE(8), NULL));
    quern_texture *theirs;
    OK(quern_texture_new(&theirs, others, NULL));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_function_call(f, &QUERN_GRID(1, 1), theirs, s));
    SAYS("the texture belongs to another engine");
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_cuda_array_write_on(others, x, NULL));
    SAYS("the array belongs to another engine");
    quern_texture_release(theirs);
    quern_cuda_array_release(others);
    quern_close(other);
    quern_kernel_release(kernel);
    quern_texture_release(t);
    quern_surface_release(s);
    quern_cuda_array_release(c);
    quern_array_release(x);
    quern_function_release(f);
    quern_module_release(module);
}

Test(textures, overloads_are_not_told_apart)
{
    quern_module *module;
    quern_function *f =
        function_of(&module, "__global__ void k(cudaTextureObject_t t, float *x) { }\n"
                             "__global__ void k(float *t, float *x) { }\n");
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(2), (float[]){1, 2});
    OK(quern_function_call(f, &QUERN_GRID(1, 1), x, x));
    quern_array_release(x);
    quern_function_release(f);
    quern_module_release(module);
}

Test(textures, graphs_keep_them)
{
    quern_module *module;
    quern_function *f =
        function_of(&module, "extern \"C\" __global__ void k(cudaTextureObject_t tex, float *out)\n"
                             "{ *out = tex1D<float>(tex, 0); }\n");
    quern_cuda_array *c = cuda_array_of(QUERN_FLOAT32, SHAPE(2), 1, 0);
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(2), (float[]){1, 2});
    quern_stream *stream;
    quern_texture *t;
    quern_graph *graph;
    OK(quern_stream_new(&stream, engine));
    OK(quern_texture_new(&t, c, NULL));
    OK(quern_stream_capture(stream));
    quern_launch_options launch = QUERN_LAUNCH_OPTIONS_INIT;
    launch.stream = stream;
    OK(quern_cuda_array_write_on(c, x, stream));
    OK(quern_function_call(f, &launch, t, x));
    const uint64_t handle = quern_texture_handle(t);
    quern_texture_release(t);
    quern_cuda_array_release(c);
    quern_array_release(x);
    OK(quern_stream_end_capture(&graph, stream));
    cr_expect_eq(fake->texels(), 2, "the graph holds them");
    OK(quern_graph_launch(graph, stream));
    OK(quern_stream_wait(stream));
    cr_expect_eq(fake->parameters[0], handle);
    quern_graph_release(graph);
    cr_expect_eq(fake->texels(), 0);
    quern_stream_release(stream);
    quern_function_release(f);
    quern_module_release(module);
}

/* What is released while a stream is captured is freed later: to wait would end the capture. */
Test(textures, end_after_a_capture)
{
    quern_cuda_array *c = cuda_array_of(QUERN_FLOAT32, SHAPE(2), 1, 1);
    quern_stream *stream;
    quern_surface *s;
    quern_graph *graph;
    OK(quern_surface_new(&s, c));
    OK(quern_stream_new(&stream, engine));
    OK(quern_stream_capture(stream));
    quern_surface_release(s);
    quern_cuda_array_release(c);
    OK(quern_stream_end_capture(&graph, stream));
    cr_expect_eq(fake->texels(), 0);
    quern_graph_release(graph);
    quern_stream_release(stream);
}

/* ---- what is refused ------------------------------------------------------------------------ */

static void refused_array(quern_dtype dtype, int ndim, const int64_t *shape,
                          quern_cuda_array_options o, quern_status status, const char *says)
{
    quern_cuda_array *c;
    o.size = sizeof o;
    FAILS(status, quern_cuda_array_new(&c, engine, dtype, ndim, shape, &o));
    cr_expect_null(c);
    SAYS(says);
}

Test(textures, arrays_that_cannot_be)
{
#define WITH(...) ((quern_cuda_array_options){__VA_ARGS__})
    refused_array(QUERN_FLOAT64, SHAPE(2), WITH(0), QUERN_ERROR_TYPE, "cannot be float64");
    refused_array(QUERN_BOOL, SHAPE(2), WITH(0), QUERN_ERROR_TYPE, "cannot be bool");
    refused_array(QUERN_FLOAT32, SHAPE(2), WITH(.channels = 3), QUERN_ERROR_INVALID_ARGUMENT,
                  "1, 2 or 4 channels, not 3");
    refused_array(QUERN_FLOAT32, SHAPE(2, 0), WITH(0), QUERN_ERROR_SHAPE,
                  "extent 1 of the CUDA array is 0");
    refused_array(QUERN_FLOAT32, SHAPE(2, -1), WITH(0), QUERN_ERROR_SHAPE, "is -1");
    refused_array(QUERN_FLOAT32, SHAPE(1, 1, 1, 1), WITH(0), QUERN_ERROR_SHAPE, "not 4");
    refused_array(QUERN_FLOAT32, 0, NULL, WITH(0), QUERN_ERROR_SHAPE, "not 0");
    refused_array(QUERN_FLOAT32, SHAPE(8), WITH(.layered = 1), QUERN_ERROR_SHAPE,
                  "a layered CUDA array has 2 to 3 dimensions, not 1");
    refused_array(QUERN_FLOAT32, SHAPE(8), WITH(.gather = 1), QUERN_ERROR_SHAPE, "tex2Dgather");
    refused_array(QUERN_FLOAT32, SHAPE(8), WITH(.surface = 2), QUERN_ERROR_INVALID_ARGUMENT,
                  "quern_cuda_array_options.surface is 2");
    refused_array(QUERN_FLOAT32, SHAPE(200000), WITH(0), QUERN_ERROR_SHAPE,
                  "the width is 200000, and this GPU takes at most 131072");
    refused_array(QUERN_FLOAT32, SHAPE(5000, 4, 4), WITH(.layered = 1), QUERN_ERROR_SHAPE,
                  "the number of layers is 5000");
#undef WITH
}

static void refused_texture(quern_cuda_array *c, quern_texture_options o, quern_status status,
                            const char *says)
{
    quern_texture *t;
    o.size = sizeof o;
    FAILS(status, quern_texture_new(&t, c, &o));
    cr_expect_null(t);
    SAYS(says);
}

Test(textures, modes_that_cannot_be)
{
    quern_cuda_array *i32 = cuda_array_of(QUERN_INT32, SHAPE(4), 1, 0);
    quern_cuda_array *u8 = cuda_array_of(QUERN_UINT8, SHAPE(4), 4, 0);
    quern_cuda_array *f32 = cuda_array_of(QUERN_FLOAT32, SHAPE(4), 1, 0);
#define WITH(...) ((quern_texture_options){__VA_ARGS__})
    refused_texture(i32, WITH(.filter = 1), QUERN_ERROR_TYPE, "int32 is not filtered linearly");
    refused_texture(u8, WITH(.filter = 1), QUERN_ERROR_TYPE, "QUERN_READ_NORMALIZED");
    refused_texture(i32, WITH(.read = 1), QUERN_ERROR_TYPE, "not read as normalized floats");
    refused_texture(f32, WITH(.read = 1), QUERN_ERROR_TYPE, "float32 is not read as normalized");
    refused_texture(u8, WITH(.srgb = 1), QUERN_ERROR_TYPE, "sRGB is for uint8");
    refused_texture(f32, WITH(.address = {0, 4, 0}), QUERN_ERROR_INVALID_ARGUMENT, "address is 4");
    refused_texture(f32, WITH(.filter = 2), QUERN_ERROR_INVALID_ARGUMENT, "filter is 2");
    refused_texture(f32, WITH(.max_anisotropy = 17), QUERN_ERROR_INVALID_ARGUMENT, "0 to 16");
#undef WITH
    quern_surface *s;
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_surface_new(&s, f32));
    SAYS("set quern_cuda_array_options.surface");
    quern_cuda_array_release(i32);
    quern_cuda_array_release(u8);
    quern_cuda_array_release(f32);
}

Test(textures, memory_that_cannot_be_read)
{
    quern_array *x, *part, *bytes, *odd, *none, *tall;
    quern_texture *t;
    OK(quern_array_new(&x, engine, QUERN_FLOAT32, SHAPE(4, 9)));
    OK(quern_array_new(&bytes, engine, QUERN_FLOAT64, SHAPE(4)));
    OK(quern_array_new(&none, engine, QUERN_FLOAT32, SHAPE(0)));
    OK(quern_array_slice(&part, x, 1, (const quern_slice[]){{0, 4, 2}}));
    OK(quern_array_slice(&odd, x, 1, (const quern_slice[]){{1, 4, 1}}));
    OK(quern_array_transpose(&tall, x, NULL));
    FAILS(QUERN_ERROR_TYPE, quern_texture_new_linear(&t, bytes, 1, NULL));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_texture_new_linear(&t, x, 3, NULL));
    FAILS(QUERN_ERROR_SHAPE, quern_texture_new_linear(&t, none, 1, NULL));
    FAILS(QUERN_ERROR_SHAPE, quern_texture_new_linear(&t, part, 1, NULL));
    SAYS("not C-contiguous");
    FAILS(QUERN_ERROR_SHAPE, quern_texture_new_linear(&t, odd, 1, NULL));
    SAYS("the array's address % 256 is 36");
    FAILS(QUERN_ERROR_SHAPE, quern_texture_new_pitched(&t, x, 1, NULL));
    SAYS("the distance of rows in bytes % 32 is 4");
    FAILS(QUERN_ERROR_SHAPE, quern_texture_new_pitched(&t, x, 2, NULL));
    SAYS("which 2 channels do not divide");
    FAILS(QUERN_ERROR_SHAPE, quern_texture_new_pitched(&t, tall, 1, NULL));
    SAYS("rows without gaps");
    cr_expect_eq(fake->texels(), 0);
    quern_array *all[] = {x, part, bytes, odd, none, tall};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        quern_array_release(all[k]);
    }
}

Test(textures, a_driver_that_fails)
{
    quern_cuda_array *c;
    quern_texture *t;
    quern_surface *s;
    fake->fail("cuArray3DCreate_v2", CU_OUT_OF_MEMORY, 1);
    FAILS(QUERN_ERROR_DEVICE_MEMORY, quern_cuda_array_new(&c, engine, QUERN_INT8, SHAPE(2), NULL));
    SAYS("making a CUDA array failed");
    c = cuda_array_of(QUERN_FLOAT32, SHAPE(2), 1, 1);
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(2), (float[]){1, 2});
    fake->fail("cuTexObjectCreate", CU_INVALID_VALUE, 1);
    FAILS(QUERN_ERROR_DRIVER, quern_texture_new(&t, c, NULL));
    fake->fail("cuSurfObjectCreate", CU_INVALID_VALUE, 1);
    FAILS(QUERN_ERROR_DRIVER, quern_surface_new(&s, c));
    fake->fail("cuMemcpy3DAsync_v2", CU_LAUNCH_FAILED, 1);
    FAILS(QUERN_ERROR_LAUNCH, quern_cuda_array_write_on(c, x, NULL));
    SAYS("copying to a CUDA array failed");
    quern_array_release(x);
    quern_cuda_array_release(c);
}

/* The kernels that test_textures.c runs on a GPU compile for one. */
Test(textures, kernels_compile)
{
    quern_module *module = texture_module();
    cr_expect(fake->cubin);
    quern_module_release(module);
}
