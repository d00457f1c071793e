/* SPDX-License-Identifier: MIT
 *
 * Address modes and filters of textures in one, two and three dimensions, of CUDA arrays and of
 * memory, compared with what the host computes by the rules of CUDA's programming guide.
 */
#include "textured.h"

TestSuite(texture_modes, .init = open_textures, .fini = close_textures);

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

Test(texture_modes, of_one_dimension)
{
    NEEDS_TEXTURES();
    all_modes(SHAPE(32));
}

Test(texture_modes, of_two_dimensions)
{
    NEEDS_TEXTURES();
    all_modes(SHAPE(16, 32));
}

Test(texture_modes, of_three_dimensions)
{
    NEEDS_TEXTURES();
    all_modes(SHAPE(8, 16, 32));
}

/* Each axis has its own mode. */
Test(texture_modes, of_each_axis)
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

Test(texture_modes, rows_of_memory)
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
