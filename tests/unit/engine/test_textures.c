/* SPDX-License-Identifier: MIT
 *
 * What kernels read through textures and write through surfaces, compared with what the host
 * computes from the same numbers by the rules of CUDA's programming guide: address modes, filters,
 * formats, layers. On a device without textures: that each maker says so. What reaches the driver
 * is in tests/fault/fault_textures.c.
 */
#include "whole.h"

#include "texture_kernels.h"
#include <math.h>

static bool has_textures(void)
{
    quern_cuda_array *c;
    const quern_status status = quern_cuda_array_new(&c, engine, QUERN_FLOAT32, SHAPE(2), NULL);
    quern_cuda_array_release(c);
    return status == QUERN_OK;
}

static quern_module *module;

static void open_textures(void)
{
    whole_open();
    if (has_textures()) {
        module = texture_module();
    }
}

static void close_textures(void)
{
    quern_module_release(module);
    module = NULL;
    whole_close();
}

TestSuite(textures, .init = open_textures, .fini = close_textures);

#define NEEDS_TEXTURES()                                                                           \
    do {                                                                                           \
        if (!module) {                                                                             \
            cr_skip_test("the device of QUERN_DEVICE has no textures: a GPU has");                 \
        }                                                                                          \
    } while (0)

static quern_function *function_of(const char *name)
{
    quern_function *f;
    OK(quern_module_function(&f, module, name));
    return f;
}

static quern_cuda_array *filled(quern_array *from, int ndim, const int64_t *shape,
                                quern_cuda_array_options o)
{
    quern_cuda_array *c;
    o.size = sizeof o;
    OK(quern_cuda_array_new(&c, engine, quern_array_dtype(from), ndim, shape, &o));
    OK(quern_cuda_array_write_on(c, from, NULL));
    return c;
}

/* Numbers that have no pattern, in [0, 1). */
static float number(uint32_t k)
{
    k = (k ^ 61) ^ (k >> 16);
    k *= 9;
    k ^= k >> 4;
    k *= 0x27d4eb2d;
    k ^= k >> 15;
    return (float)(k >> 8) / (float)(1 << 24);
}

/* ---- address modes and filters -------------------------------------------------------------- */

enum { POINTS = 256, BORDER_TENTHS = 7 };

typedef struct sampled {
    const float *data;
    int ndim;
    int extent[3]; /* width, height, depth */
    const quern_texture_options *options;
} sampled;

/* The element that stands at index k of an axis; -1: the border's colour. */
static int addressed(int k, int extent, uint32_t mode)
{
    switch (mode) {
    case QUERN_ADDRESS_WRAP:
        return ((k % extent) + extent) % extent;
    case QUERN_ADDRESS_MIRROR:
        k = ((k % (2 * extent)) + 2 * extent) % (2 * extent);
        return k < extent ? k : 2 * extent - 1 - k;
    case QUERN_ADDRESS_BORDER:
        return k < 0 || k >= extent ? -1 : k;
    default:
        return k < 0 ? 0 : k >= extent ? extent - 1 : k;
    }
}

static double element(const sampled *s, const int *index)
{
    size_t at = 0;
    for (int axis = s->ndim - 1; axis >= 0; axis--) {
        uint32_t mode = s->options->address[axis];
        mode = !s->options->normalized && mode != QUERN_ADDRESS_BORDER ? QUERN_ADDRESS_CLAMP : mode;
        const int k = addressed(index[axis], s->extent[axis], mode);
        if (k < 0) {
            return (double)s->options->border[0];
        }
        at = at * (size_t)s->extent[axis] + (size_t)k;
    }
    return (double)s->data[at];
}

static double expected_at(const sampled *s, const float *at)
{
    int base[3], index[3];
    double weight[3], sum = 0;
    const bool linear = s->options->filter == QUERN_FILTER_LINEAR;
    for (int axis = 0; axis < s->ndim; axis++) {
        double x = (double)at[axis] * (s->options->normalized ? s->extent[axis] : 1);
        x -= linear ? 0.5 : 0;
        base[axis] = (int)floor(x);
        weight[axis] = x - base[axis];
    }
    for (int corner = 0; corner < (linear ? 1 << s->ndim : 1); corner++) {
        double product = 1;
        for (int axis = 0; axis < s->ndim; axis++) {
            const int next = corner >> axis & 1;
            index[axis] = base[axis] + next;
            product *= !linear ? 1 : next ? weight[axis] : 1 - weight[axis];
        }
        sum += product * element(s, index);
    }
    return sum;
}

/* Coordinates from one extent before the array to one behind it. Of points not near the middle
 * between two elements, where a rounding error would choose the other. */
static void choose(float *at, const sampled *s)
{
    for (int k = 0; k < POINTS * s->ndim; k++) {
        const int extent = s->extent[k % s->ndim];
        float x = (3 * number((uint32_t)k + 77) - 1) * (float)extent;
        if (s->options->filter == QUERN_FILTER_POINT) {
            x = floorf(x) + 0.25f + 0.5f * number((uint32_t)k + 1234);
        }
        at[k] = s->options->normalized ? x / (float)extent : x;
    }
}

static void compare(const sampled *s, quern_texture *t)
{
    static const char *const readers[] = {"read_1d", "read_2d", "read_3d"};
    float at[POINTS * 3], got[POINTS];
    choose(at, s);
    quern_array *points = array_of(QUERN_FLOAT32, SHAPE(POINTS * s->ndim), at), *out;
    OK(quern_array_new(&out, engine, QUERN_FLOAT32, SHAPE(POINTS)));
    quern_function *f = function_of(readers[s->ndim - 1]);
    OK(quern_function_call(f, &QUERN_GRID(1, 128), t, points, out, POINTS));
    OK(quern_array_read(out, got, sizeof got));
    /* weights have 8 bits behind the point: half a step off, between numbers that differ by at most
     * 1, for each axis; and as much again for the coordinate's own rounding */
    const bool linear = s->options->filter == QUERN_FILTER_LINEAR;
    const double allowed = linear ? s->ndim / 256.0 : 0;
    for (int k = 0; k < POINTS; k++) {
        const double wanted = expected_at(s, at + k * s->ndim);
        cr_expect(fabs((double)got[k] - wanted) <= allowed,
                  "%d-D, address %u, filter %u, normalized %u, at %g: %g, not %g", s->ndim,
                  s->options->address[0], s->options->filter, s->options->normalized,
                  (double)at[k * s->ndim], (double)got[k], wanted);
    }
    quern_function_release(f);
    quern_array_release(points);
    quern_array_release(out);
}

static void all_modes(int ndim, const int64_t *shape)
{
    float data[8 * 16 * 32];
    sampled s = {.data = data, .ndim = ndim};
    size_t count = 1;
    for (int k = 0; k < ndim; k++) {
        s.extent[k] = (int)shape[ndim - 1 - k];
        count *= (size_t)shape[k];
    }
    for (size_t k = 0; k < count; k++) {
        data[k] = number((uint32_t)k);
    }
    quern_array *x = array_of(QUERN_FLOAT32, ndim, shape, data);
    quern_cuda_array *c = filled(x, ndim, shape, (quern_cuda_array_options){0});
    for (uint32_t mode = 0; mode < 16; mode++) {
        quern_texture_options o = QUERN_TEXTURE_OPTIONS_INIT;
        o.address[0] = o.address[1] = o.address[2] = mode & 3;
        o.filter = mode >> 2 & 1;
        o.normalized = mode >> 3;
        o.border[0] = BORDER_TENTHS / 10.0f;
        quern_texture *t;
        OK(quern_texture_new(&t, c, &o));
        s.options = &o;
        compare(&s, t);
        quern_texture_release(t);
    }
    quern_cuda_array_release(c);
    quern_array_release(x);
}

Test(textures, modes_of_one_dimension)
{
    NEEDS_TEXTURES();
    all_modes(SHAPE(32));
}

Test(textures, modes_of_two_dimensions)
{
    NEEDS_TEXTURES();
    all_modes(SHAPE(16, 32));
}

Test(textures, modes_of_three_dimensions)
{
    NEEDS_TEXTURES();
    all_modes(SHAPE(8, 16, 32));
}

/* Each axis has its own mode. */
Test(textures, modes_of_each_axis)
{
    NEEDS_TEXTURES();
    float data[64];
    for (uint32_t k = 0; k < 64; k++) {
        data[k] = number(k);
    }
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(8, 8), data);
    quern_cuda_array *c = filled(x, SHAPE(8, 8), (quern_cuda_array_options){0});
    quern_texture_options o = QUERN_TEXTURE_OPTIONS_INIT;
    o.address[0] = QUERN_ADDRESS_MIRROR;
    o.address[1] = QUERN_ADDRESS_BORDER;
    o.filter = QUERN_FILTER_LINEAR;
    o.normalized = 1;
    quern_texture *t;
    OK(quern_texture_new(&t, c, &o));
    compare(&(sampled){data, 2, {8, 8}, &o}, t);
    quern_texture_release(t);
    quern_cuda_array_release(c);
    quern_array_release(x);
}

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

Test(textures, rows_of_memory)
{
    NEEDS_TEXTURES();
    float data[16 * 64], wanted[16 * 50];
    for (uint32_t k = 0; k < 16 * 64; k++) {
        data[k] = number(k);
    }
    for (int k = 0; k < 16 * 50; k++) {
        wanted[k] = data[k / 50 * 64 + k % 50];
    }
    quern_array *rows = array_of(QUERN_FLOAT32, SHAPE(16, 64), data), *x;
    OK(quern_array_slice(&x, rows, 2, (const quern_slice[]){QUERN_SLICE_ALL, {0, 50, 1}}));
    for (uint32_t filter = 0; filter < 2; filter++) {
        quern_texture_options o = QUERN_TEXTURE_OPTIONS_INIT;
        o.address[0] = o.address[1] = QUERN_ADDRESS_CLAMP;
        o.filter = filter;
        quern_texture *t;
        OK(quern_texture_new_pitched(&t, x, 1, &o));
        compare(&(sampled){wanted, 2, {50, 16}, &o}, t);
        quern_texture_release(t);
    }
    quern_array_release(rows);
    quern_array_release(x);
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
