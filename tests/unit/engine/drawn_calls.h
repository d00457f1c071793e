/* SPDX-License-Identifier: MIT
 *
 * For test_recall_drawn.c: kernels of every kind, calls of them as they are drawn, and a launch
 * that is recorded and not done.
 */
#ifndef QUERN_TEST_DRAWN_CALLS_H
#define QUERN_TEST_DRAWN_CALLS_H

#include "draw.h"
#include "engine/engine_internal.h"
#include "whole.h"

/* ---- launches, recorded --------------------------------------------------------------------- */

enum { LAUNCHES = 8, PARAMETERS = 8, BYTES = 2048 };

typedef struct launched {
    void *function;
    quern_launch_config config;
    size_t parameters, used, offset[PARAMETERS], size[PARAMETERS];
    unsigned char bytes[BYTES];
} launched;

static launched launches[LAUNCHES];
static size_t launch_count;

static quern_status record(quern_device *device, void *function, const quern_launch_config *config,
                           void **parameters)
{
    quern_function_info info = QUERN_FUNCTION_INFO_INIT;
    OK(engine->table.function_info(device, function, &info));
    cr_assert_lt(launch_count, LAUNCHES);
    cr_assert_leq(info.parameter_count, PARAMETERS);
    launched *l = &launches[launch_count++];
    memset(l, 0, sizeof *l);
    l->function = function;
    l->config = *config;
    l->parameters = info.parameter_count;
    for (size_t k = 0; k < info.parameter_count; k++) {
        uint64_t offset, bytes;
        OK(engine->table.function_parameter(device, function, k, &offset, &bytes));
        cr_assert_leq(l->used + bytes, BYTES);
        l->offset[k] = l->used;
        l->size[k] = bytes;
        memcpy(l->bytes + l->used, parameters[k], bytes);
        l->used += bytes;
    }
    return QUERN_OK;
}

/* ---- what is called ------------------------------------------------------------------------- */

enum { POOL = 1 << 19, MIDDLE = POOL / 2, ARGUMENTS = 5, SUBJECTS = 13, RAW_ONLY = 3, STREAMS = 2 };

static _Alignas(4096) unsigned char pool[POOL];
static quern_stream *streams[STREAMS];
static quern_dtype triple, packed_dtype;

typedef struct subject {
    quern_kernel *kernel;
    quern_kernel_kind kind;
    const char *numbers; /* names of parameters that are numbers, or may be */
} subject;

static quern_dtype record_of(const char *definition, const char *name, size_t bytes,
                             size_t alignment)
{
    quern_dtype dtype;
    quern_record r = QUERN_RECORD_INIT;
    r.name = name;
    r.definition = definition;
    r.bytes = bytes;
    r.alignment = alignment;
    OK(quern_record_new(&dtype, &r));
    return dtype;
}

static subject elementwise(const char *in, const char *out, const char *text, const char *numbers)
{
    return (subject){kernel_of(in, out, text), QUERN_KERNEL_ELEMENTWISE, numbers};
}

static subject reduction(const char *in, const char *map, const char *with, const char *identity,
                         uint32_t ordered)
{
    subject s = {.kind = QUERN_KERNEL_REDUCTION, .numbers = "w"};
    quern_reduction_options options = QUERN_REDUCTION_OPTIONS_INIT;
    options.ordered = ordered;
    OK(quern_reduction(&s.kernel, engine, in, "T y", map, with, "y = a", identity, &options));
    return s;
}

static subject scan(const char *out, const char *post)
{
    subject s = {.kind = QUERN_KERNEL_SCAN, .numbers = ""};
    OK(quern_scan(&s.kernel, engine, "T x", out, "x", "a + b", post, NULL, NULL));
    return s;
}

static void make_subjects(subject *s)
{
    triple = record_of("struct Triple { float a, b, c; };", "Triple", 12, 4);
    packed_dtype =
        record_of("struct __attribute__((packed)) Odd { char a; float b; };", "Odd", 5, 1);
    s[0] = elementwise("T x, T y", "T z", "z = x * y + x", "");
    s[1] = elementwise("T x, raw T y, U a", "T z", "z = x + y[0] + y.size() * a", "a");
    s[2] = elementwise("T x", "T z, U w", "z = x; w = x", "");
    s[RAW_ONLY] = elementwise("raw T x, U a", "raw T z", "z[i] = x[i] + a", "a");
    s[4] = elementwise("T x, U y", "T z", "z = _raw_x[0] + y", "y");
    s[5] = elementwise("T x, float64 a", "T z", "z = x + (int)a + (int)_ind.get()[0]", "a");
    s[6] = elementwise("T x, int8 y", "T z", "z = x + y * (int)i", "y");
    s[7] = elementwise("Triple x", "Triple z", "z = x", "");
    s[8] = elementwise("Odd x, int32 a", "int32 z", "z = (int)x.b + a", "a");
    s[9] = reduction("T x", "x", "a + b", "0", 0);
    s[10] = reduction("T x, U w", "x + (T)w", "a < b ? b : a", NULL, 1);
    s[11] = scan("T y", "y = a");
    s[12] = scan("T y, raw int32 total", "y = a; total[0] = 1");
}

/* ---- drawing -------------------------------------------------------------------------------- */

static uint32_t below(uint32_t end)
{
    return (uint32_t)draw(0, (int64_t)end - 1);
}

/* How an array of the pool lies. */
typedef struct layout {
    quern_dtype dtype;
    int ndim;
    int64_t shape[4], strides[4], offset;
    bool read_only;
} layout;

typedef enum how { ARRAY, NUMBER, PLACE, EMPTY_PLACE, DROPPED } how;

/* A call, all of it. */
typedef struct form {
    uint32_t subject;
    how how[ARGUMENTS];
    layout arrays[ARGUMENTS];
    uint32_t numbers[ARGUMENTS];
    int ndim, axis_count, axes[2];
    int64_t shape[4], loop_size;
    bool has_axes, has_loop_size, has_options;
    uint32_t keepdims, block_size, stream;
} form;

static void draw_shape(form *f)
{
    static const int64_t extents[] = {1, 2, 3, 7, 8, 31, 32, 33, 64, 65, 100, 256, 1000, 4096};
    int64_t count = 1;
    f->ndim = (int)below(8) == 0 ? 4 : (int)below(4);
    for (int d = 0; d < f->ndim; d++) {
        f->shape[d] = below(24) == 0 ? 0 : extents[below(QN_COUNT(extents))];
        while (f->shape[d] * count > 8192) {
            f->shape[d] = f->shape[d] / 2;
        }
        count *= QN_MAX(f->shape[d], 1);
    }
}

/* Strides in a drawn order of the axes, with gaps and backwards now and then. */
static void draw_strides(layout *l)
{
    const int64_t size = (int64_t)quern_dtype_size(l->dtype);
    int order[4] = {0, 1, 2, 3};
    const bool turned = below(4) == 0;
    for (int d = l->ndim - 1; d > 0; d--) {
        const int other = turned ? (int)below((uint32_t)d + 1) : d;
        const int kept = order[d];
        order[d] = order[other];
        order[other] = kept;
    }
    int64_t stride = size * (below(8) == 0 ? 2 : 1);
    for (int k = l->ndim - 1; k >= 0; k--) {
        const int d = order[k];
        l->strides[d] = below(16) == 0 ? -stride : stride;
        stride *= QN_MAX(l->shape[d], 1);
        stride += below(8) == 0 ? size : 0;
        stride += below(64) == 0 ? 1 : 0;
    }
}

/* Most at one of few places, so that arrays meet; whole packs apart, or some elements, or bytes. */
static int64_t draw_offset(quern_dtype dtype)
{
    const int64_t size = (int64_t)quern_dtype_size(dtype), near = (int64_t)below(4) * 32;
    const int64_t far = ((int64_t)below(8) - 4) * (POOL / 16);
    switch (below(16)) {
    case 0:
        return far + near + (int64_t)below(16);
    case 1:
    case 2:
        return far + near + (int64_t)below(8) * size;
    default:
        return far + near;
    }
}

static void draw_array(form *f, uint32_t p, const qn_parameter *q, quern_dtype dtype)
{
    layout *l = &f->arrays[p];
    const bool folds = f->ndim > 0 && q->output && f->has_axes;
    *l = (layout){.dtype = dtype, .ndim = f->ndim};
    memcpy(l->shape, f->shape, sizeof l->shape);
    if (folds || (q->output && f->keepdims)) { /* a reduction's; those of scans are set after it */
        l->ndim = 0;
        for (int d = 0; d < f->ndim; d++) {
            bool reduced = !f->has_axes;
            for (int k = 0; k < f->axis_count; k++) {
                reduced |= (f->axes[k] + f->ndim) % f->ndim == d;
            }
            if (!reduced || f->keepdims) {
                l->shape[l->ndim++] = reduced ? 1 : f->shape[d];
            }
        }
    }
    if (!q->output && below(6) == 0 && f->ndim > 0) { /* repeated */
        const int drop = (int)below(2);
        l->ndim -= drop;
        memmove(l->shape, l->shape + drop, (size_t)l->ndim * sizeof *l->shape);
        if (l->ndim > 0) {
            l->shape[below((uint32_t)l->ndim)] = 1;
        }
    }
    draw_strides(l);
    if (!q->output && below(24) == 0 && l->ndim > 0) {
        l->strides[below((uint32_t)l->ndim)] = 0;
    }
    l->offset = draw_offset(dtype);
    l->read_only = below(q->output ? 200 : 8) == 0;
}

static void draw_options(form *f, const subject *s)
{
    f->has_axes = f->has_loop_size = f->has_options = false;
    f->axis_count = 0;
    f->keepdims = f->block_size = f->stream = 0;
    if (s->kind != QUERN_KERNEL_ELEMENTWISE && f->ndim > 0 && below(2) == 0) {
        f->has_axes = true;
        f->axis_count =
            s->kind == QUERN_KERNEL_SCAN ? 1 : (int)below((uint32_t)QN_MIN(f->ndim, 2) + 1);
        const int first = (int)below((uint32_t)f->ndim);
        f->axes[0] = first - (below(3) == 0 ? f->ndim : 0);
        f->axes[1] = (first + 1) % f->ndim;
    }
    f->keepdims = s->kind == QUERN_KERNEL_REDUCTION && below(4) == 0;
    f->block_size = s->kind == QUERN_KERNEL_ELEMENTWISE && below(6) == 0 ? 64 : 0;
    f->has_loop_size = f->subject == RAW_ONLY ? below(12) != 0 : below(50) == 0;
    f->loop_size = 1 + below(3);
    f->stream = below(STREAMS + 1);
    f->has_options = f->has_axes || f->keepdims || f->block_size || f->has_loop_size || f->stream ||
                     below(2) == 0;
}

static quern_dtype draw_dtype(const qn_parameter *q, quern_dtype common)
{
    static const quern_dtype others[] = {QUERN_FLOAT32, QUERN_FLOAT64, QUERN_INT8, QUERN_INT64};
    return q->dtype != QUERN_DTYPE_NONE ? q->dtype
           : q->type.length > 1         ? (qn_str_is(q->type, "Odd") ? packed_dtype : triple)
           : q->type.data[0] == 'T'     ? common
                                        : others[below(4)];
}

static form draw_form(const subject *subjects)
{
    static const quern_dtype commons[] = {QUERN_FLOAT32, QUERN_FLOAT32, QUERN_INT32,     QUERN_INT8,
                                          QUERN_FLOAT16, QUERN_FLOAT64, QUERN_COMPLEX128};
    form f = {.subject = below(SUBJECTS)};
    const subject *s = &subjects[f.subject];
    const quern_dtype common =
        commons[below(f.subject == 0 || f.subject == 2 ? QN_COUNT(commons) : 4)];
    draw_shape(&f);
    draw_options(&f, s);
    for (uint32_t p = 0; p < s->kernel->signature.count; p++) {
        const qn_parameter *q = &s->kernel->signature.parameters[p];
        const bool number = q->name.length == 1 && strchr(s->numbers, q->name.data[0]);
        draw_array(&f, p, q, draw_dtype(q, common));
        f.numbers[p] = below(6);
        f.how[p] = !q->output ? (number && below(4) != 0 ? NUMBER : ARRAY)
                              : (how[]){ARRAY,
                                        ARRAY,
                                        ARRAY,
                                        PLACE,
                                        EMPTY_PLACE,
                                        EMPTY_PLACE,
                                        below(8) == 0 ? DROPPED : ARRAY}[below(7)];
        if (q->output && below(5) == 0) { /* in place */
            f.arrays[p] = f.arrays[below(s->kernel->signature.input_count)];
            f.arrays[p].read_only = false;
        }
    }
    return f;
}

static void vary_options(form *f, const subject *s)
{
    f->has_options = true;
    f->loop_size = 1 + below(3);
    if (s->kind == QUERN_KERNEL_ELEMENTWISE) {
        f->block_size = 32 * below(4);
    } else if (s->kind == QUERN_KERNEL_REDUCTION && below(2) == 0) {
        f->keepdims ^= 1;
    } else if (f->ndim > 0) {
        f->has_axes = true;
        f->axis_count = 1;
        f->axes[0] = (int)below((uint32_t)f->ndim);
    }
}

/* Another call that differs in one thing. */
static void vary(form *f, const subject *subjects)
{
    static const quern_dtype same_size[][2] = {{QUERN_FLOAT32, QUERN_INT32},
                                               {QUERN_FLOAT64, QUERN_INT64}};
    const subject *s = &subjects[f->subject];
    const uint32_t p = below(s->kernel->signature.count);
    layout *l = &f->arrays[p];
    switch (below(12)) {
    case 5:
        l->read_only ^= true;
        break;
    case 6:
    case 7:
    case 8:
        vary_options(f, s);
        break;
    case 0:
        draw_strides(l);
        break;
    case 1:
    case 9:
        for (uint32_t n = 0; n < s->kernel->signature.count; n++) {
            f->numbers[n] = below(6);
        }
        break;
    case 2:
        f->stream = below(STREAMS + 1);
        f->has_options |= f->stream != 0;
        break;
    case 3:
        for (size_t k = 0; k < QN_COUNT(same_size); k++) {
            for (uint32_t n = 0; n < s->kernel->signature.count; n++) {
                quern_dtype *d = &f->arrays[n].dtype;
                *d = *d == same_size[k][0]   ? same_size[k][1]
                     : *d == same_size[k][1] ? same_size[k][0]
                                             : *d;
            }
        }
        break;
    case 4:
        l->offset = f->arrays[below(s->kernel->signature.count)].offset;
        break;
    default:
        l->offset = draw_offset(l->dtype);
    }
}

#endif /* QUERN_TEST_DRAWN_CALLS_H */
