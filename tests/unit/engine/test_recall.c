/* SPDX-License-Identifier: MIT
 *
 * Calls that are remembered. Random calls of a few kernels, over views of one piece of memory, so
 * that shapes, strides, dtypes, alignments, options and overlaps alternate: what is launched with
 * what the kernel remembers must be, byte for byte, what it launches when it remembers nothing. The
 * launches are recorded, and not done. Then come what must not be taken for the same call, and that
 * the same call is found at all.
 */
#include "engine/recall.h"
#include "whole.h"
#include <stdio.h>

/* ---- launches, recorded --------------------------------------------------------------------- */

enum { LAUNCHES = 8, BYTES = 1024 };

typedef struct launched {
    void *function;
    quern_launch_config config;
    size_t parameters, offset[QUERN_MAX_PARAMETERS + 2], used;
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
        memcpy(l->bytes + l->used, parameters[k], bytes);
        l->used += bytes;
    }
    return QUERN_OK;
}

/* ---- calls ---------------------------------------------------------------------------------- */

enum { POOL = 1 << 15, MIDDLE = POOL / 2, VALUES = 4 };

static _Alignas(4096) unsigned char pool[POOL];
static uint64_t state = 1;

static uint32_t draw(uint32_t below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % below;
}

static bool in_pool(uint64_t address)
{
    const uint64_t begin = (uint64_t)(uintptr_t)pool;
    return address >= begin && address < begin + POOL;
}

/* How an array of the pool lies; its address is drawn by itself. */
typedef struct layout {
    quern_dtype dtype;
    int ndim;
    int64_t shape[3], strides[3];
} layout;

static layout draw_layout(quern_dtype dtype, int ndim, const int64_t *shape)
{
    layout l = {.dtype = dtype, .ndim = ndim};
    const int64_t size = (int64_t)quern_dtype_size(dtype);
    const bool turned = ndim == 2 && draw(4) == 0;
    int64_t stride = size * (draw(6) == 0 ? 2 : 1);
    for (int k = 0; k < ndim; k++) {
        const int d = turned ? k : ndim - 1 - k;
        l.shape[d] = shape[d];
        l.strides[d] = draw(12) == 0 ? -stride : stride;
        stride *= shape[d] > 0 ? shape[d] : 1;
        stride += draw(6) == 0 ? size : 0;
    }
    return l;
}

static quern_array *array_at(const layout *l, int64_t offset)
{
    quern_array *a;
    OK(quern_array_wrap(&a, engine, l->dtype, l->ndim, l->shape, l->strides, pool + MIDDLE + offset,
                        NULL, NULL));
    return a;
}

/* The same class of addresses, another, or one off the alignment of the dtype. */
static int64_t draw_offset(quern_dtype dtype)
{
    static const int64_t units[] = {32, 32, 32, 32, 32, 16};
    const int64_t far = (int64_t)draw(512) * 32 - 8192;
    switch (draw(16)) {
    case 0:
        return (int64_t)draw(8) * (int64_t)quern_dtype_size(dtype);
    case 1:
        return far + (draw(4) == 0 ? 1 : 0);
    default:
        return far / 32 * units[draw(6)];
    }
}

typedef struct subject {
    quern_kernel *kernel;
    bool reduces, scans, raw;
    uint32_t inputs; /* arrays */
    bool scalar;     /* behind them */
} subject;

/* A call, without its addresses. */
typedef struct form {
    uint32_t subject;
    layout arrays[3]; /* inputs, then the output */
    bool place, empty_place, has_axis, keepdims;
    int axis;
    uint32_t scalar, block_size;
    int64_t loop_size;
    int same; /* the output is this input; -1: none */
} form;

static form draw_form(const subject *subjects, uint32_t count)
{
    static const int64_t shapes[][2] = {{64}, {63}, {8, 8}, {7, 9}, {1}, {128}, {33}};
    static const int ndims[] = {1, 1, 2, 2, 1, 1, 1};
    form f = {.subject = draw(count), .same = -1};
    const subject *s = &subjects[f.subject];
    static const quern_dtype dtypes[] = {QUERN_FLOAT32, QUERN_FLOAT32, QUERN_INT32, QUERN_INT8};
    const quern_dtype dtype = dtypes[draw(4)];
    const uint32_t k = draw(7);
    int64_t out[2] = {shapes[k][0], shapes[k][1]};
    int ndim = ndims[k];
    for (uint32_t a = 0; a < s->inputs; a++) {
        int64_t shape[2] = {shapes[k][0], ndims[k] > 1 ? shapes[k][1] : 0};
        if (!s->reduces && !s->scans && a > 0 && draw(5) == 0) {
            shape[draw((uint32_t)ndim)] = 1;
        }
        f.arrays[a] = draw_layout(dtype, ndim, shape);
    }
    f.has_axis = (s->reduces || s->scans) && draw(2) == 0;
    f.axis = f.has_axis ? (int)draw((uint32_t)ndim) - (draw(3) == 0 ? ndim : 0) : 0;
    f.keepdims = s->reduces && draw(4) == 0;
    if (s->reduces) {
        const int axis = f.axis < 0 ? f.axis + ndim : f.axis;
        int kept = 0;
        for (int d = 0; d < ndim; d++) {
            const bool reduced = !f.has_axis || d == axis;
            if (!reduced || f.keepdims) {
                out[kept++] = reduced ? 1 : out[d];
            }
        }
        ndim = kept;
    }
    f.arrays[2] = draw_layout(dtype, ndim, out);
    f.place = draw(3) == 0;
    f.empty_place = f.place && draw(2) == 0;
    f.scalar = draw(3);
    f.block_size = !s->reduces && !s->scans && draw(8) == 0 ? 64 : 0;
    f.loop_size = draw(40) == 0 ? 5 : 0; /* refused, as an array decides */
    f.same = draw(5) == 0 ? (int)draw(s->inputs) : -1;
    return f;
}

/* Make a form another one that differs in dtypes of one size alone, or in the scalar. */
static void vary(form *f, const form *other)
{
    *f = *other;
    f->scalar = draw(3);
    for (int a = 0; a < 3; a++) {
        quern_dtype *dtype = &f->arrays[a].dtype;
        *dtype = *dtype == QUERN_FLOAT32 ? QUERN_INT32
                 : *dtype == QUERN_INT32 ? QUERN_FLOAT32
                                         : *dtype;
    }
}

/* What a call made: its status, and what was launched, with the addresses that differ from one time
 * to the next as distances, or 0. */
typedef struct outcome {
    quern_status status;
    size_t count;
    launched launches[LAUNCHES];
} outcome;

static void settle_addresses(outcome *o, const quern_array *made)
{
    for (size_t l = 0; l < o->count; l++) {
        launched *at = &o->launches[l];
        for (size_t k = 0; k < at->parameters; k++) {
            uint64_t address;
            memcpy(&address, at->bytes + at->offset[k], sizeof address);
            const uint64_t data = made ? (uint64_t)(uintptr_t)made->data : 0;
            const bool is_address = address >> 40 != 0;
            if (is_address && !in_pool(address)) {
                address = made && address - data < 4096 ? address - data : 0;
                memcpy(at->bytes + at->offset[k], &address, sizeof address);
            }
        }
    }
}

static outcome call_once(const subject *s, const form *f, quern_array *const *arrays)
{
    quern_array *made = NULL, *place = f->empty_place ? NULL : arrays[2];
    quern_value values[VALUES];
    size_t count = 0;
    for (uint32_t a = 0; a < s->inputs; a++) {
        values[count++] = quern_value_array(arrays[a]);
    }
    if (s->scalar) {
        values[count++] = f->scalar == 0   ? quern_literal_double(2.5)
                          : f->scalar == 1 ? quern_scalar_int(QUERN_INT8, 3)
                                           : quern_scalar_real(QUERN_FLOAT32, 0.5);
    }
    values[count++] = f->place ? quern_value_output(&place) : quern_value_array(arrays[2]);
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    options.axes = f->has_axis ? &f->axis : NULL;
    options.axis_count = f->has_axis;
    options.keepdims = f->keepdims;
    options.block_size = f->block_size;
    options.loop_size = f->loop_size ? &f->loop_size : NULL;
    launch_count = 0;
    outcome o = {.status = quern_call_n(s->kernel, values, count, &options)};
    o.count = launch_count;
    memcpy(o.launches, launches, sizeof launches);
    made = f->empty_place ? place : NULL;
    settle_addresses(&o, made);
    quern_array_release(made);
    return o;
}

/* The same call without what is remembered, and with it. */
static void compare(const subject *s, const form *f, quern_array *const *arrays, int number)
{
    qn_recalls *kept = atomic_exchange(&s->kernel->recalls, NULL);
    static outcome whole, recalled;
    whole = call_once(s, f, arrays);
    qn_recalls_free(s->kernel);
    atomic_store(&s->kernel->recalls, kept);
    recalled = call_once(s, f, arrays);
    cr_assert_eq(whole.status, recalled.status, "call %d: %d and %d", number, (int)whole.status,
                 (int)recalled.status);
    cr_assert_eq(whole.count, recalled.count, "call %d launches", number);
    for (size_t l = 0; l < whole.count; l++) {
        const launched *a = &whole.launches[l], *b = &recalled.launches[l];
        cr_assert_eq(a->function, b->function, "call %d, launch %zu: function", number, l);
        cr_assert_eq(memcmp(&a->config, &b->config, offsetof(quern_launch_config, stream)), 0,
                     "call %d, launch %zu: grid", number, l);
        cr_assert_eq(a->config.stream, b->config.stream);
        cr_assert_eq(a->used, b->used);
        cr_assert_eq(memcmp(a->bytes, b->bytes, a->used), 0, "call %d, launch %zu: parameters",
                     number, l);
    }
}

static unsigned misses_of(const subject *s)
{
    const qn_recalls *all = atomic_load(&s->kernel->recalls);
    return all ? atomic_load(&all->misses) : 0;
}

/* As if the kernel were new; returns how many of its calls went the whole way. */
static unsigned forget(const subject *s)
{
    const unsigned missed = misses_of(s);
    qn_recalls_free(s->kernel);
    atomic_store(&s->kernel->recalls, NULL);
    return missed;
}

enum { SUBJECTS = 4, FORMS = 6, CALLS = 8000, EACH = 500 };

static void make_subjects(subject *s)
{
    s[0] = (subject){.inputs = 2};
    OK(quern_elementwise(&s[0].kernel, engine, "T x, T y", "T z", "z = x * y + x", NULL));
    s[1] = (subject){.inputs = 2, .raw = true, .scalar = true};
    OK(quern_elementwise(&s[1].kernel, engine, "T x, raw T y, U a", "T z",
                         "z = x + y[0] + y.size() * a", NULL));
    s[2] = (subject){.inputs = 1, .reduces = true};
    OK(quern_reduction(&s[2].kernel, engine, "T x", "T y", "x", "a + b", "y = a", "0", NULL));
    s[3] = (subject){.inputs = 1, .scans = true};
    OK(quern_scan(&s[3].kernel, engine, "T x", "T y", "x", "a + b", "y = a", NULL, NULL));
}

Test(recall, launches_what_the_whole_way_launches, .timeout = 240)
{
    whole_open();
    subject subjects[SUBJECTS];
    form forms[FORMS];
    make_subjects(subjects);
    engine->table.launch = record;
    for (uint32_t k = 0; k < FORMS; k++) {
        forms[k] = draw_form(subjects, SUBJECTS);
    }
    unsigned missed = 0;
    for (int number = 0; number < CALLS; number++) {
        missed += number % EACH == 0 ? forget(&subjects[number / EACH % SUBJECTS]) : 0;
        const uint32_t k = draw(FORMS);
        if (draw(48) == 0) {
            forms[k] = draw_form(subjects, SUBJECTS);
        }
        if (draw(24) == 0) {
            vary(&forms[k], &forms[draw(FORMS)]);
        }
        const form *f = &forms[k];
        const subject *s = &subjects[f->subject];
        quern_array *arrays[3];
        int64_t offsets[3];
        for (int a = 0; a < 3; a++) {
            offsets[a] = draw_offset(f->arrays[a].dtype ? f->arrays[a].dtype : QUERN_FLOAT32);
        }
        for (int a = 0; a < 3; a++) {
            const bool same = a == 2 && f->same >= 0;
            const layout *l = a == 1 && s->inputs == 1 ? &f->arrays[0] : &f->arrays[a];
            arrays[a] = array_at(l, same ? offsets[f->same] : offsets[a]);
        }
        compare(s, f, arrays, number);
        for (int a = 0; a < 3; a++) {
            quern_array_release(arrays[a]);
        }
    }
    for (uint32_t k = 0; k < SUBJECTS; k++) {
        missed += forget(&subjects[k]);
        quern_kernel_release(subjects[k].kernel);
    }
    printf("%u of %d calls went the whole way\n", missed, CALLS);
    cr_assert_lt(missed, CALLS * 3 / 4, "%u of %d calls were not found", missed, CALLS);
    whole_close();
}

/* ---- the same call is found, and others are not --------------------------------------------- */

/* How many of a kernel's calls went the whole way. */
static unsigned missed_by(quern_kernel *kernel)
{
    return misses_of(&(subject){.kernel = kernel});
}

Test(recall, finds_the_same_call)
{
    whole_open();
    const float host[4] = {1, 2, 3, 4};
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(4), host), *y = NULL, *z = NULL;
    quern_kernel *k = kernel_of("T x, T a", "T y", "y = x * a");
    OK(quern_call(k, x, 2.0f, &y));
    OK(quern_call(k, x, 3.0f, &z));
    OK(quern_call(k, x, 2.0f, y));
    cr_assert_eq(missed_by(k), 2, "a place and an array are two calls");
    for (int n = 0; n < 5; n++) {
        quern_array *made = NULL;
        OK(quern_call(k, x, (float)n, y));
        OK(quern_call(k, y, (float)n, &made));
        const float f = (float)n;
        EXPECT(y, float, f, 2 * f, 3 * f, 4 * f);
        EXPECT(made, float, f *f, 2 * f * f, 3 * f * f, 4 * f * f);
        quern_array_release(made);
    }
    cr_assert_eq(missed_by(k), 2);
    quern_kernel_release(k);
    quern_array_release(x);
    quern_array_release(y);
    quern_array_release(z);
    whole_close();
}

/* In place, then beside, then overlapping: three calls, of which the last has a copy made. */
Test(recall, tells_overlaps_apart)
{
    whole_open();
    const float host[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    quern_kernel *k = kernel_of("T x", "T y", "y = x + 1");
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(9), host), *front, *back, *other = NULL;
    OK(quern_array_slice(&front, x, 1, &(quern_slice){0, 8, 1}));
    OK(quern_array_slice(&back, x, 1, &(quern_slice){1, 9, 1}));
    OK(quern_call(k, front, &other));
    for (int n = 0; n < 3; n++) {
        OK(quern_array_write(x, host, sizeof host));
        OK(quern_call(k, front, other));
        OK(quern_call(k, front, front));
        OK(quern_call(k, front, back));
        EXPECT(other, float, 2, 3, 4, 5, 6, 7, 8, 9);
        EXPECT(x, float, 2, 3, 4, 5, 6, 7, 8, 9, 10);
    }
    quern_kernel_release(k);
    quern_array_release(front);
    quern_array_release(back);
    quern_array_release(other);
    quern_array_release(x);
    whole_close();
}

Test(recall, refuses_what_is_wrong)
{
    whole_open();
    const float host[4] = {1, 2, 3, 4};
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(4), host), *y = NULL, *fixed, *none = NULL;
    quern_kernel *k = kernel_of("T x, T a", "T y", "y = x * a");
    OK(quern_call(k, x, 2, &y));
    OK(quern_array_read_only(&fixed, y));
    OK(quern_call(k, x, 2, y));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_call(k, x, 2, fixed));
    FAILS(QUERN_ERROR_ARGUMENT_COUNT, quern_call(k, x, y));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_call(k, none, 2, y));
    FAILS(QUERN_ERROR_VALUE, quern_call(k, x, 1e300, y));
    FAILS(QUERN_ERROR_TYPE, quern_call(k, x, y, 2));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_call_n(k, NULL, 3, NULL));
    EXPECT(y, float, 2, 4, 6, 8);
    quern_kernel_release(k);
    quern_array_release(fixed);
    quern_array_release(x);
    quern_array_release(y);
    whole_close();
}
