/* SPDX-License-Identifier: MIT
 *
 * Kinds of memory: every kind with everything that is done with an array. Each step of the table
 * is done with arrays of each kind, and with a pair of each two kinds where it takes two.
 */
#include "whole.h"

#include <quern/device.h>
#include <stdint.h>

TestSuite(kinds, .init = whole_open, .fini = whole_close);

enum { ROWS = 3, COLUMNS = 5, COUNT = ROWS * COLUMNS };

static const char *const names[] = {"host", "device", "pinned", "mapped", "managed"};

static quern_array *new_in(quern_memory memory)
{
    quern_array *a;
    int32_t host[COUNT];
    for (int k = 0; k < COUNT; k++) {
        host[k] = k;
    }
    OK(quern_array_new_in(&a, engine, memory, QUERN_INT32, SHAPE(ROWS, COLUMNS)));
    OK(quern_array_write(a, host, sizeof host));
    return a;
}

static void expect_scaled(quern_array *a, int32_t factor, int32_t summand, const char *what)
{
    int32_t host[COUNT];
    OK(quern_array_read(a, host, sizeof host));
    for (int k = 0; k < COUNT; k++) {
        cr_expect_eq(host[k], factor * k + summand, "%s: element %d is %d", what, k, host[k]);
    }
}

static void facts(quern_array *a, quern_memory memory)
{
    cr_expect_eq(quern_array_memory(a), memory);
    cr_expect_eq((uintptr_t)quern_array_pointer(a) % 256, 0);
    quern_device_info info = QUERN_DEVICE_INFO_INIT;
    OK(quern_device_get_info(&info, engine));
    const int readable = memory != QUERN_MEMORY_DEVICE || strcmp(info.id, "soft") == 0;
    cr_expect_eq(quern_array_host_pointer(a) != NULL, readable);
    if (readable) {
        OK(quern_synchronize(engine));
        cr_expect_eq(((const int32_t *)quern_array_host_pointer(a))[7], 7);
    }
}

static void fill(quern_array *a, quern_memory memory)
{
    const int32_t nine = 9;
    OK(quern_array_fill(a, &nine, sizeof nine));
    expect_scaled(a, 0, 9, names[memory]);
}

static void fill_a_view(quern_array *a, quern_memory memory)
{
    quern_array *column;
    const int32_t nine = 9;
    OK(quern_array_slice(&column, a, 2, (quern_slice[]){QUERN_SLICE_ALL, {1, 2, 1}}));
    cr_expect_eq(quern_array_memory(column), memory);
    OK(quern_array_fill(column, &nine, sizeof nine));
    EXPECT(a, int32_t, 0, 9, 2, 3, 4, 5, 9, 7, 8, 9, 10, 9, 12, 13, 14);
    quern_array_release(column);
}

static void write_a_view(quern_array *a, quern_memory memory)
{
    quern_array *turned;
    int32_t host[COUNT];
    for (int k = 0; k < COUNT; k++) {
        host[k] = k % ROWS * COLUMNS + k / ROWS;
    }
    OK(quern_array_transpose(&turned, a, NULL));
    OK(quern_array_write(turned, host, sizeof host));
    expect_scaled(a, 1, 0, names[memory]);
    EXPECT(turned, int32_t, 0, 5, 10, 1, 6, 11, 2, 7, 12, 3, 8, 13, 4, 9, 14);
    quern_array_release(turned);
}

static void copy(quern_array *a, quern_memory memory)
{
    quern_array *b, *turned, *c;
    OK(quern_array_copy(&b, a));
    expect_scaled(b, 1, 0, names[memory]);
    OK(quern_array_transpose(&turned, a, NULL));
    OK(quern_array_copy(&c, turned));
    EXPECT(c, int32_t, 0, 5, 10, 1, 6, 11, 2, 7, 12, 3, 8, 13, 4, 9, 14);
    quern_array_release(turned);
    quern_array_release(b);
    quern_array_release(c);
}

static void into_a_kernel(quern_array *a, quern_memory memory)
{
    quern_kernel *k = kernel_of("T x", "T y", "y = 2 * x + 1");
    quern_array *y = NULL;
    OK(quern_call(k, a, &y));
    expect_scaled(y, 2, 1, names[memory]);
    cr_expect_eq(quern_array_memory(y), QUERN_MEMORY_DEVICE);
    OK(quern_call(k, a, a));
    expect_scaled(a, 2, 1, "in place");
    quern_array_release(y);
    quern_kernel_release(k);
}

static void reduced(quern_array *a, quern_memory memory)
{
    (void)memory;
    quern_kernel *k;
    quern_array *y = NULL;
    OK(quern_reduction(&k, engine, "T x", "T y", "x", "a + b", "y = a", "0", NULL));
    OK(quern_call(k, a, &y));
    EXPECT(y, int32_t, COUNT * (COUNT - 1) / 2);
    quern_array_release(y);
    quern_kernel_release(k);
}

static void bound(quern_array *a, quern_memory memory)
{
    quern_kernel *k = kernel_of("T x", "T y", "y = x + 1");
    quern_bound *b;
    OK(quern_bind_with(&b, k, NULL, a, a));
    for (int n = 0; n < 3; n++) {
        OK(quern_launch(b));
    }
    expect_scaled(a, 1, 3, names[memory]);
    quern_bound_release(b);
    quern_kernel_release(k);
}

static void in_a_module(quern_array *a, quern_memory memory)
{
    quern_module *m;
    quern_function *f;
    OK(quern_module_new(&m, engine,
                        "extern \"C\" __global__ void up(int *x) { x[threadIdx.x] += 5; }", NULL));
    OK(quern_module_function(&f, m, "up"));
    quern_launch_options launch = {.size = sizeof launch, .grid = {1}, .block = {COUNT}};
    OK(quern_function_call(f, &launch, a));
    expect_scaled(a, 1, 5, names[memory]);
    quern_function_release(f);
    quern_module_release(m);
}

/* The array goes before what was made of it. */
static void released_first(quern_array *a, quern_memory memory)
{
    quern_array *b = new_in(memory), *view;
    (void)a;
    OK(quern_array_reshape(&view, b, 1, (int64_t[]){COUNT}));
    quern_array_release(b);
    expect_scaled(view, 1, 0, names[memory]);
    quern_array_release(view);
}

static const struct {
    const char *name;
    void (*step)(quern_array *a, quern_memory memory);
} steps[] = {
    {"facts", facts},
    {"fill", fill},
    {"fill a view", fill_a_view},
    {"write a view", write_a_view},
    {"copy", copy},
    {"into a kernel", into_a_kernel},
    {"reduced", reduced},
    {"bound", bound},
    {"in a module", in_a_module},
    {"released first", released_first},
};

Test(kinds, each_with_everything)
{
    for (int m = QUERN_MEMORY_DEVICE; m <= QUERN_MEMORY_MANAGED; m++) {
        for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
            quern_array *a = new_in((quern_memory)m);
            cr_log_info("%s: %s", names[m], steps[k].name);
            steps[k].step(a, (quern_memory)m);
            quern_array_release(a);
        }
    }
}

Test(kinds, each_beside_each)
{
    quern_kernel *k = kernel_of("T x, T y", "T z", "z = 3 * x + y");
    for (int x = QUERN_MEMORY_DEVICE; x <= QUERN_MEMORY_MANAGED; x++) {
        for (int z = QUERN_MEMORY_DEVICE; z <= QUERN_MEMORY_MANAGED; z++) {
            quern_array *a = new_in((quern_memory)x), *b = new_in((quern_memory)z);
            OK(quern_call(k, a, b, b));
            expect_scaled(b, 4, 0, names[z]);
            quern_array_release(z % 2 ? a : b);
            quern_array_release(z % 2 ? b : a);
        }
    }
    quern_kernel_release(k);
}

/* The engine is closed before the arrays go. */
Test(kinds, outlive_their_engine)
{
    quern_array *arrays[QUERN_MEMORY_MANAGED + 1] = {NULL};
    for (int m = QUERN_MEMORY_DEVICE; m <= QUERN_MEMORY_MANAGED; m++) {
        arrays[m] = new_in((quern_memory)m);
    }
    whole_close();
    for (int m = QUERN_MEMORY_DEVICE; m <= QUERN_MEMORY_MANAGED; m++) {
        expect_scaled(arrays[m], 1, 0, names[m]);
        quern_array_release(arrays[m]);
    }
}

Test(kinds, of_nothing_and_of_no_kind)
{
    quern_array *a;
    for (int m = QUERN_MEMORY_DEVICE; m <= QUERN_MEMORY_MANAGED; m++) {
        OK(quern_array_new_in(&a, engine, (quern_memory)m, QUERN_FLOAT64, SHAPE(0, 3)));
        cr_expect_eq((int)quern_array_memory(a), m);
        cr_expect_null(quern_array_host_pointer(a));
        quern_array_release(a);
    }
    static const int none[] = {QUERN_MEMORY_HOST, QUERN_MEMORY_MANAGED + 1, -1};
    for (size_t k = 0; k < sizeof none / sizeof *none; k++) {
        FAILS(QUERN_ERROR_INVALID_ARGUMENT,
              quern_array_new_in(&a, engine, (quern_memory)none[k], QUERN_INT8, SHAPE(1)));
        cr_expect_null(a);
        SAYS("is no kind of memory for a new array");
    }
    cr_expect_eq(quern_array_memory(NULL), QUERN_MEMORY_HOST);
    cr_expect_null(quern_array_host_pointer(NULL));
}
