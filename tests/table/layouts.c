/* SPDX-License-Identifier: MIT
 *
 * layouts: inputs of many shapes, seen in many ways. In: a shape, the number of a view, a dtype.
 * Out: an array on the device and its contents on the host. The thing to know: a view is made by
 * the library from a base array, and the host finds its elements from the view's address and
 * strides.
 */
#include "table.h"
#include <stdlib.h>
#include <string.h>

const shape table_shapes[] = {
    {0, {0}},
    {1, {0}},
    {1, {1}},
    {1, {2}},
    {1, {3}},
    {1, {7}},
    {1, {31}},
    {1, {32}},
    {1, {33}},
    {1, {100}},
    {1, {255}},
    {1, {256}},
    {1, {257}},
    {1, {1023}},
    {1, {4096}},
    {1, {10007}},
    {1, {65537}},
    {1, {1000003}},
    {2, {0, 5}},
    {2, {5, 0}},
    {2, {1, 1}},
    {2, {1, 37}},
    {2, {37, 1}},
    {2, {3, 5}},
    {2, {8, 8}},
    {2, {17, 33}},
    {2, {64, 64}},
    {2, {100, 7}},
    {2, {7, 100}},
    {2, {2, 3000}},
    {2, {3000, 2}},
    {2, {129, 257}},
    {2, {1000, 48}},
    {2, {31, 1025}},
    {2, {20000, 3}},
    {2, {3, 20000}},
    {2, {3, 20003}},
    {2, {1001, 1003}},
    {3, {2, 3, 4}},
    {3, {5, 1, 7}},
    {3, {16, 9, 25}},
    {3, {3, 40, 33}},
    {3, {33, 40, 3}},
    {3, {0, 3, 2}},
    {3, {4, 0, 3}},
    {3, {2, 300, 65}},
    {4, {2, 3, 4, 5}},
    {4, {4, 1, 6, 3}},
    {4, {7, 5, 3, 2}},
    {4, {3, 8, 16, 11}},
    {5, {2, 3, 2, 3, 4}},
    {5, {3, 1, 2, 5, 2}},
    {5, {2, 2, 3, 4, 7}},
};
const size_t table_shape_count = sizeof table_shapes / sizeof *table_shapes;

int64_t shape_count(const shape *s, unsigned axes)
{
    int64_t count = 1;
    for (int d = 0; d < s->ndim; d++) {
        count *= axes >> d & 1 ? s->extent[d] : 1;
    }
    return count;
}

void shape_position(const shape *s, unsigned axes, int64_t n, int64_t *at)
{
    for (int d = s->ndim - 1; d >= 0; d--) {
        if (axes >> d & 1) {
            at[d] = n % s->extent[d];
            n /= s->extent[d];
        }
    }
}

/* ---- bases ---------------------------------------------------------------------------------- */

/* Whole numbers from -4 to 4, from 0 on for unsigned dtypes. */
static number draw(unsigned *seed, quern_dtype dtype)
{
    *seed = *seed * 1664525u + 1013904223u;
    bool is_unsigned = dtype == QUERN_BOOL || (dtype >= QUERN_UINT8 && dtype <= QUERN_UINT64);
    int value = is_unsigned ? (int)(*seed >> 28) % 3 : (int)((*seed >> 26) % 9) - 4;
    return (number){value, (int)((*seed >> 20) % 5) - 2, value};
}

static void make_base(layout_input *in, quern_engine *engine, quern_dtype dtype, int ndim,
                      const int64_t *extent, unsigned seed)
{
    size_t count = 1, size = quern_dtype_size(dtype);
    for (int d = 0; d < ndim; d++) {
        count *= (size_t)extent[d];
    }
    in->host = malloc(count * size + 1);
    for (size_t k = 0; k < count; k++) {
        number_store(in->host + k * size, dtype, draw(&seed, dtype));
    }
    check(quern_array_from(&in->base, engine, dtype, ndim, extent, in->host), "array");
}

/* ---- views ---------------------------------------------------------------------------------- */

static void whole_view(layout_input *in)
{
    in->view = quern_array_retain(in->base);
}

/* Axes in another order: the base has them so that the view has the shape's. */
static void permuted_view(layout_input *in, quern_engine *engine, quern_dtype dtype, const shape *s,
                          const int *axes, unsigned seed)
{
    int64_t extent[TABLE_NDIM];
    int back[TABLE_NDIM];
    for (int d = 0; d < s->ndim; d++) {
        extent[axes[d]] = s->extent[d];
        back[d] = axes[d];
    }
    make_base(in, engine, dtype, s->ndim, extent, seed);
    check(quern_array_transpose(&in->view, in->base, back), "transpose");
}

/* Every `step`-th element of each axis of a larger base, from the second one on. */
static void stepped_view(layout_input *in, quern_engine *engine, quern_dtype dtype, const shape *s,
                         int step, unsigned seed)
{
    int64_t extent[TABLE_NDIM];
    quern_slice slices[TABLE_NDIM];
    for (int d = 0; d < s->ndim; d++) {
        int along = abs(step);
        extent[d] = s->extent[d] * along + 1;
        int64_t last = 1 + (s->extent[d] - 1) * along;
        slices[d] = step > 0 ? (quern_slice){1, 1 + s->extent[d] * along, step}
                             : (quern_slice){last, s->extent[d] == 0 ? last : 0, step};
    }
    make_base(in, engine, dtype, s->ndim, extent, seed);
    check(quern_array_slice(&in->view, in->base, s->ndim, slices), "slice");
}

/* One axis repeats its only element. */
static void repeated_view(layout_input *in, quern_engine *engine, quern_dtype dtype, const shape *s,
                          unsigned seed)
{
    int64_t extent[TABLE_NDIM];
    memcpy(extent, s->extent, sizeof extent);
    extent[seed % (unsigned)s->ndim] = 1;
    make_base(in, engine, dtype, s->ndim, extent, seed);
    check(quern_array_broadcast(&in->view, in->base, s->ndim, s->extent), "broadcast");
}

bool layout_make(layout_input *in, quern_engine *engine, quern_dtype dtype, const shape *s,
                 int view, unsigned seed)
{
    static const char *const names[TABLE_VIEWS] = {"whole",   "reversed axes", "rotated axes",
                                                   "offset",  "every second",  "backwards",
                                                   "repeated"};
    int axes[TABLE_NDIM];
    if ((view > 0 && s->ndim == 0) || ((view == 1 || view == 2) && s->ndim < view + 1)) {
        return false;
    }
    *in = (layout_input){.name = names[view]};
    for (int d = 0; d < s->ndim; d++) {
        axes[d] = view == 1 ? s->ndim - 1 - d : (d + 1) % s->ndim;
    }
    switch (view) {
    case 0:
        make_base(in, engine, dtype, s->ndim, s->extent, seed);
        whole_view(in);
        break;
    case 1:
    case 2:
        permuted_view(in, engine, dtype, s, axes, seed);
        break;
    case 3:
    case 4:
        stepped_view(in, engine, dtype, s, view - 2, seed);
        break;
    case 5:
        stepped_view(in, engine, dtype, s, -1, seed);
        break;
    default:
        repeated_view(in, engine, dtype, s, seed);
    }
    return true;
}

void layout_free(layout_input *in)
{
    quern_array_release(in->view);
    quern_array_release(in->base);
    free(in->host);
}

number layout_at(const layout_input *in, const int64_t *at)
{
    const int64_t *strides = quern_array_strides(in->view);
    int64_t offset = (char *)quern_array_pointer(in->view) - (char *)quern_array_pointer(in->base);
    for (int d = 0; d < quern_array_ndim(in->view); d++) {
        offset += at[d] * strides[d];
    }
    return number_load(in->host + offset, quern_array_dtype(in->view));
}
