/* SPDX-License-Identifier: MIT
 *
 * What kernels read through textures and write through surfaces, compared with what the host
 * computes from the same numbers: formats, layers, memory of arrays. On a device without textures:
 * that each maker says so. Address modes and filters are in test_texture_modes.c, what reaches the
 * driver is in tests/fault/fault_textures.c.
 */
#include "textured.h"

TestSuite(textures, .init = open_textures, .fini = close_textures);

/* ---- formats -------------------------------------------------------------------------------- */

enum { WIDTH = 12, HEIGHT = 5 };

/* Every byte of every element comes back, through a texture. */
Test(textures, formats)
{
    NEEDS_TEXTURES();
    for (int k = 0; k < TEXEL_KINDS; k++) {
        const struct texel_kind *kind = &texel_kinds[k];
        const size_t bytes = quern_dtype_size(kind->dtype) * kind->channels * WIDTH * HEIGHT;
        unsigned char data[16 * WIDTH * HEIGHT];
        for (size_t b = 0; b < bytes; b++) {
            data[b] = (unsigned char)(b * 37 + 11);
        }
        if (kind->dtype == QUERN_FLOAT32) {
            for (size_t b = 0; b < bytes; b += 4) {
                memcpy(data + b, &(float){number((uint32_t)b)}, 4);
            }
        }
        quern_array *x = array_of(kind->dtype, SHAPE(HEIGHT, WIDTH, kind->channels), data), *out;
        quern_cuda_array *c =
            filled(x, SHAPE(HEIGHT, WIDTH), (quern_cuda_array_options){.channels = kind->channels});
        quern_texture *t;
        OK(quern_texture_new(&t, c, NULL));
        OK(quern_array_new(&out, engine, kind->dtype, SHAPE(HEIGHT, WIDTH * kind->channels)));
        quern_function *f = function_of(kind->expression);
        OK(quern_function_call(f, &QUERN_GRID(1, 32), t, out, WIDTH, WIDTH * HEIGHT));
        expect_bytes(out, data, bytes, kind->expression);
        OK(quern_cuda_array_read_on(c, out, NULL));
        expect_bytes(out, data, bytes, "copied back");
        quern_function_release(f);
        quern_texture_release(t);
        quern_cuda_array_release(c);
        quern_array_release(x);
        quern_array_release(out);
    }
}

/* What 8 numbers of a dtype are as floats. */
static void expect_floats(quern_dtype dtype, const void *numbers, quern_texture_options o,
                          const float *wanted, float allowed)
{
    quern_array *x = array_of(dtype, SHAPE(1, 8), numbers), *out;
    quern_cuda_array *c = filled(x, SHAPE(1, 8), (quern_cuda_array_options){0});
    quern_texture *t;
    float got[8];
    o.size = sizeof o;
    OK(quern_texture_new(&t, c, &o));
    OK(quern_array_new(&out, engine, QUERN_FLOAT32, SHAPE(8)));
    quern_function *f = function_of("texels<float>");
    OK(quern_function_call(f, &QUERN_GRID(1, 32), t, out, 8, 8));
    OK(quern_array_read(out, got, sizeof got));
    for (int k = 0; k < 8; k++) {
        cr_expect_float_eq(got[k], wanted[k], allowed, "%s, number %d: %g, not %g",
                           quern_dtype_name(dtype), k, (double)got[k], (double)wanted[k]);
    }
    quern_function_release(f);
    quern_texture_release(t);
    quern_cuda_array_release(c);
    quern_array_release(x);
    quern_array_release(out);
}

Test(textures, as_floats)
{
    NEEDS_TEXTURES();
    const quern_texture_options normalized = {.read = QUERN_READ_NORMALIZED};
    const quern_texture_options srgb = {.read = QUERN_READ_NORMALIZED, .srgb = 1};
    const uint8_t bytes[8] = {0, 1, 51, 100, 128, 200, 254, 255};
    const int8_t signs[8] = {0, 1, 64, 127, -1, -64, -127, -128};
    const uint16_t words[8] = {0, 1, 13107, 30000, 32768, 50000, 65534, 65535};
    const int16_t shorts[8] = {0, 1, 16384, 32767, -1, -16384, -32767, -32768};
    const uint16_t halves[8] = {0, 0x3c00, 0xc000, 0x3555, 0x7bff, 0x0001, 0x3800, 0xb800};
    const float of_halves[8] = {0, 1, -2, 0.33325195f, 65504, 5.9604645e-8f, 0.5f, -0.5f};
    float wanted[8];
    for (int k = 0; k < 8; k++) {
        wanted[k] = (float)bytes[k] / 255;
    }
    expect_floats(QUERN_UINT8, bytes, normalized, wanted, 1e-6f);
    for (int k = 0; k < 8; k++) {
        wanted[k] = fmaxf((float)signs[k] / 127, -1);
    }
    expect_floats(QUERN_INT8, signs, normalized, wanted, 1e-6f);
    for (int k = 0; k < 8; k++) {
        wanted[k] = (float)words[k] / 65535;
    }
    expect_floats(QUERN_UINT16, words, normalized, wanted, 1e-6f);
    for (int k = 0; k < 8; k++) {
        wanted[k] = fmaxf((float)shorts[k] / 32767, -1);
    }
    expect_floats(QUERN_INT16, shorts, normalized, wanted, 1e-6f);
    expect_floats(QUERN_FLOAT16, halves, (quern_texture_options){0}, of_halves, 0);
    for (int k = 0; k < 8; k++) {
        const double x = bytes[k] / 255.0;
        wanted[k] = (float)(x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4));
    }
    expect_floats(QUERN_UINT8, bytes, srgb, wanted, 1.0f / 256);
}

/* ---- layers, gather ------------------------------------------------------------------------- */

Test(textures, layers)
{
    NEEDS_TEXTURES();
    float data[3 * 4 * 8];
    for (uint32_t k = 0; k < 96; k++) {
        data[k] = number(k);
    }
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(3, 4, 8), data);
    quern_array *flat = array_of(QUERN_FLOAT32, SHAPE(12, 8), data), *out;
    quern_cuda_array *two = filled(x, SHAPE(3, 4, 8), (quern_cuda_array_options){.layered = 1});
    quern_cuda_array *one = filled(flat, SHAPE(12, 8), (quern_cuda_array_options){.layered = 1});
    quern_texture *t;
    OK(quern_array_new(&out, engine, QUERN_FLOAT32, SHAPE(3, 4, 8)));
    OK(quern_texture_new(&t, two, NULL));
    quern_function *f = function_of("layers_2d");
    OK(quern_function_call(f, &QUERN_GRID(1, 32), t, out, 8, 4, 3));
    expect_bytes(out, data, sizeof data, "layers of two dimensions");
    quern_texture_release(t);
    quern_function_release(f);
    OK(quern_array_fill(out, (float[]){0}, 4));
    OK(quern_texture_new(&t, one, NULL));
    f = function_of("layers_1d");
    OK(quern_function_call(f, &QUERN_GRID(1, 32), t, out, 8, 12));
    expect_bytes(out, data, sizeof data, "layers of one dimension");
    OK(quern_array_fill(out, (float[]){0}, 4));
    OK(quern_cuda_array_read_on(two, out, NULL));
    expect_bytes(out, data, sizeof data, "copied back");
    quern_texture_release(t);
    quern_function_release(f);
    quern_cuda_array_release(one);
    quern_cuda_array_release(two);
    quern_array_release(x);
    quern_array_release(flat);
    quern_array_release(out);
}

Test(textures, gather)
{
    NEEDS_TEXTURES();
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(2, 2), (float[]){1, 2, 3, 4}), *out;
    quern_cuda_array *c = filled(x, SHAPE(2, 2), (quern_cuda_array_options){.gather = 1});
    quern_texture *t;
    OK(quern_texture_new(&t, c, NULL));
    OK(quern_array_new(&out, engine, QUERN_FLOAT32, SHAPE(4)));
    quern_function *f = function_of("gather");
    OK(quern_function_call(f, &QUERN_GRID(1, 1), t, out));
    EXPECT(out, float, 3, 4, 2, 1);
    quern_function_release(f);
    quern_texture_release(t);
    quern_cuda_array_release(c);
    quern_array_release(x);
    quern_array_release(out);
}

/* ---- memory of arrays ----------------------------------------------------------------------- */

Test(textures, linear_memory)
{
    NEEDS_TEXTURES();
    float data[1000];
    for (uint32_t k = 0; k < 1000; k++) {
        data[k] = number(k);
    }
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(1000), data), *out;
    quern_texture *t;
    OK(quern_array_new(&out, engine, QUERN_FLOAT32, SHAPE(1000)));
    OK(quern_texture_new_linear(&t, x, 1, NULL));
    quern_function *f = function_of("fetch");
    OK(quern_function_call(f, &QUERN_GRID(1, 128), t, out, 1000));
    expect_bytes(out, data, sizeof data, "linear memory");
    data[7] = -1;
    OK(quern_array_write(x, data, sizeof data));
    quern_array_release(x);
    OK(quern_function_call(f, &QUERN_GRID(1, 128), t, out, 1000));
    expect_bytes(out, data, sizeof data, "what was written later, and released");
    quern_function_release(f);
    quern_texture_release(t);
    quern_array_release(out);
}

/* ---- surfaces, strides, streams, graphs ----------------------------------------------------- */

Test(textures, surfaces)
{
    NEEDS_TEXTURES();
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(2, 3), (float[]){1, 2, 3, 4, 5, 6}), *y, *turned;
    const quern_cuda_array_options surface = {.surface = 1};
    quern_cuda_array *from = filled(x, SHAPE(2, 3), surface), *to = filled(x, SHAPE(2, 3), surface);
    quern_surface *s, *d;
    OK(quern_surface_new(&s, from));
    OK(quern_surface_new(&d, to));
    quern_function *f = function_of("twice");
    OK(quern_function_call(f, &QUERN_GRID(1, 6), s, d, 3));
    OK(quern_array_new(&y, engine, QUERN_FLOAT32, SHAPE(3, 2)));
    OK(quern_array_transpose(&turned, y, NULL));
    OK(quern_cuda_array_read_on(to, turned, NULL));
    EXPECT(y, float, 2, 8, 4, 10, 6, 12);
    OK(quern_cuda_array_write_on(from, turned, NULL));
    OK(quern_cuda_array_read_on(from, x, NULL));
    EXPECT(x, float, 2, 4, 6, 8, 10, 12);
    quern_function_release(f);
    quern_surface_release(s);
    quern_surface_release(d);
    quern_cuda_array_release(from);
    quern_cuda_array_release(to);
    quern_array_release(x);
    quern_array_release(y);
    quern_array_release(turned);
}

Test(textures, in_a_graph)
{
    NEEDS_TEXTURES();
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(1, 4), (float[]){1, 2, 3, 4}), *out;
    quern_cuda_array *c = filled(x, SHAPE(1, 4), (quern_cuda_array_options){0});
    quern_texture *t;
    quern_stream *stream;
    quern_graph *graph;
    OK(quern_array_new(&out, engine, QUERN_FLOAT32, SHAPE(4)));
    OK(quern_texture_new(&t, c, NULL));
    OK(quern_stream_new(&stream, engine));
    quern_function *f = function_of("texels<float>");
    quern_launch_options launch = QUERN_LAUNCH_OPTIONS_INIT;
    launch.block[0] = 4;
    launch.stream = stream;
    OK(quern_synchronize(engine));
    OK(quern_stream_capture(stream));
    OK(quern_cuda_array_write_on(c, x, stream));
    OK(quern_function_call(f, &launch, t, out, 4, 4));
    quern_texture_release(t);
    quern_cuda_array_release(c);
    OK(quern_stream_end_capture(&graph, stream));
    OK(quern_array_write(x, (float[]){5, 6, 7, 8}, 16));
    OK(quern_graph_launch(graph, stream));
    OK(quern_stream_wait(stream));
    EXPECT(out, float, 5, 6, 7, 8);
    quern_graph_release(graph);
    quern_stream_release(stream);
    quern_function_release(f);
    quern_array_release(x);
    quern_array_release(out);
}

/* ---- without textures ----------------------------------------------------------------------- */

Test(textures, a_device_that_has_none)
{
    if (module) {
        cr_skip_test("this device has textures");
    }
    quern_cuda_array *c;
    quern_texture *t;
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(2, 8), (float[16]){0});
    FAILS(QUERN_ERROR_NOT_SUPPORTED,
          quern_cuda_array_new(&c, engine, QUERN_FLOAT32, SHAPE(2), NULL));
    SAYS("texture objects need a GPU: the device \"soft\" has no textures and surfaces");
    FAILS(QUERN_ERROR_NOT_SUPPORTED, quern_texture_new_linear(&t, x, 1, NULL));
    FAILS(QUERN_ERROR_NOT_SUPPORTED, quern_texture_new_pitched(&t, x, 1, NULL));
    SAYS("texture objects need a GPU");
    quern_module *m;
    quern_function *f;
    OK(quern_module_new(&m, engine, texture_source, NULL));
    OK(quern_module_function(&f, m, "fetch"));
    FAILS(QUERN_ERROR_NOT_SUPPORTED,
          quern_function_call(f, &QUERN_GRID(1, 8), quern_argument_ulong(0), x, 8));
    SAYS("fetch: parameter 'tex' is a cudaTextureObject_t, and texture objects need a GPU: the "
         "device \"soft\" has none");
    quern_function_release(f);
    quern_module_release(m);
    OK(quern_module_new(&m, engine,
                        "__global__ void k(unsigned long long tex, float *out)\n"
                        "{ *out = tex1Dfetch<float>(tex, 0); }\n",
                        NULL));
    OK(quern_module_function(&f, m, "k"));
    FAILS(QUERN_ERROR_NOT_SUPPORTED,
          quern_function_call(f, &QUERN_GRID(1, 1), quern_argument_ulong(0), x));
    SAYS("the software device has no textures");
    SAYS("line 2, column");
    quern_function_release(f);
    quern_module_release(m);
    quern_array_release(x);
}
