/* SPDX-License-Identifier: MIT
 *
 * Several engines in one process: arrays copied from each to each, whatever their layout, kind of
 * memory and dtype; arrays that are passed to another's kernels; engines of many threads.
 */
#include "whole.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

static quern_engine *open_one(const char *device)
{
    quern_options o = QUERN_OPTIONS_INIT;
    quern_engine *e;
    o.device = device;
    OK(quern_open(&e, &o));
    return e;
}

/* The engine of whole.h, which may be on a GPU, and software devices; with checks, too. */
static quern_engine *engines[4];

static void open_all(void)
{
    whole_open();
    engines[0] = engine;
    engines[1] = open_one("soft");
    engines[2] = open_one("soft:2");
    engines[3] = open_one("soft:check=all");
}

static void close_all(void)
{
    for (int k = 1; k < 4; k++) {
        quern_close(engines[k]);
    }
    whole_close();
}

TestSuite(devices, .init = open_all, .fini = close_all);

/* ---- copies --------------------------------------------------------------------------------- */

static quern_array *whole(quern_array *a)
{
    return quern_array_retain(a);
}

static quern_array *sliced(quern_array *a)
{
    quern_array *view;
    OK(quern_array_slice(&view, a, 2, (quern_slice[]){{3, QUERN_SLICE_NONE, -2}, {1, 5, 3}}));
    return view;
}

static quern_array *turned(quern_array *a)
{
    quern_array *view;
    OK(quern_array_transpose(&view, a, NULL));
    return view;
}

static quern_array *row(quern_array *a)
{
    quern_array *view;
    OK(quern_array_slice(&view, a, 1, (quern_slice[]){{2, 0, 0}}));
    return view;
}

static quern_array *spread(quern_array *a)
{
    quern_array *one = row(a), *view;
    OK(quern_array_broadcast(&view, one, 2, (int64_t[]){3, 6}));
    quern_array_release(one);
    return view;
}

static quern_array *element(quern_array *a)
{
    quern_array *view;
    OK(quern_array_slice(&view, a, 2, (quern_slice[]){{1, 0, 0}, {1, 0, 0}}));
    return view;
}

static quern_array *empty(quern_array *a)
{
    quern_array *view;
    OK(quern_array_slice(&view, a, 1, (quern_slice[]){{2, 2, 1}}));
    return view;
}

static quern_array *(*const layouts[])(quern_array *) = {whole,  sliced,  turned, row,
                                                         spread, element, empty};

static const quern_dtype dtypes[] = {QUERN_INT8, QUERN_FLOAT16, QUERN_FLOAT32, QUERN_COMPLEX64,
                                     QUERN_COMPLEX128};

static void check_copy(quern_array *view, quern_engine *to)
{
    unsigned char expected[24 * 16], got[24 * 16];
    const size_t bytes =
        (size_t)quern_array_count(view) * quern_dtype_size(quern_array_dtype(view));
    quern_array *copy;
    OK(quern_array_read(view, expected, bytes));
    OK(quern_array_copy_to(&copy, view, to));
    cr_expect_eq(quern_array_engine(copy), to);
    cr_expect_eq(quern_array_dtype(copy), quern_array_dtype(view));
    cr_expect_eq(quern_array_ndim(copy), quern_array_ndim(view));
    for (int k = 0; k < quern_array_ndim(view); k++) {
        cr_expect_eq(quern_array_shape(copy)[k], quern_array_shape(view)[k]);
    }
    cr_expect(quern_array_is_contiguous(copy));
    cr_expect_eq(quern_array_memory(copy), QUERN_MEMORY_DEVICE);
    OK(quern_array_read(copy, got, bytes));
    cr_expect_arr_eq(got, expected, bytes);
    quern_array_release(copy);
}

static void check_from(quern_engine *from, quern_memory memory, quern_dtype dtype)
{
    unsigned char host[24 * 16];
    quern_array *a;
    for (size_t k = 0; k < sizeof host; k++) {
        host[k] = (unsigned char)(k * 37 + 11);
    }
    OK(quern_array_new_in(&a, from, memory, dtype, SHAPE(4, 6)));
    OK(quern_array_write(a, host, 24 * quern_dtype_size(dtype)));
    for (size_t k = 0; k < sizeof layouts / sizeof *layouts; k++) {
        quern_array *view = layouts[k](a);
        for (int to = 0; to < 4; to++) {
            check_copy(view, engines[to]);
        }
        quern_array_release(view);
    }
    quern_array_release(a);
}

Test(devices, copies_from_each_to_each)
{
    for (int from = 0; from < 4; from++) {
        for (int memory = QUERN_MEMORY_DEVICE; memory <= QUERN_MEMORY_MANAGED; memory++) {
            for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++) {
                check_from(engines[from], (quern_memory)memory, dtypes[k]);
            }
        }
    }
}

Test(devices, a_copy_is_an_array_like_others)
{
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(3), (float[]){1, 2, 3});
    for (int to = 1; to < 4; to++) {
        quern_array *y, *z = NULL;
        quern_kernel *k;
        OK(quern_array_copy_to(&y, x, engines[to]));
        OK(quern_elementwise(&k, engines[to], "T x", "T z", "z = x * x", NULL));
        OK(quern_call(k, y, &z));
        EXPECT(z, float, 1, 4, 9);
        quern_array_release(y);
        quern_array_release(z);
        quern_kernel_release(k);
    }
    quern_array_release(x);
}

Test(devices, a_copy_outlives_what_it_is_of)
{
    quern_engine *e = open_one("soft");
    quern_array *x, *y;
    OK(quern_array_from(&x, e, QUERN_INT32, SHAPE(3), (int32_t[]){1, 2, 3}));
    OK(quern_array_copy_to(&y, x, engines[1]));
    quern_array_release(x);
    quern_close(e);
    EXPECT(y, int32_t, 1, 2, 3);
    quern_array_release(y);
}

Test(devices, more_than_one_piece_through_the_host)
{
    const int64_t count = 3 << 20; /* 24 MiB: pieces of 8 MiB, when a GPU is the first engine */
    quern_array *x, *y;
    int64_t last, *host = calloc((size_t)count, sizeof *host);
    for (int64_t k = 0; k < count; k++) {
        host[k] = k * k;
    }
    OK(quern_array_from(&x, engine, QUERN_INT64, SHAPE(count), host));
    OK(quern_array_copy_to(&y, x, engines[1]));
    memset(host, 0, (size_t)count * sizeof *host);
    OK(quern_array_read(y, host, (size_t)count * sizeof *host));
    for (int64_t k = 0; k < count; k++) {
        last = host[k];
        cr_assert_eq(last, k * k, "element %lld", (long long)k);
    }
    free(host);
    quern_array_release(x);
    quern_array_release(y);
}

/* ---- what belongs to another engine --------------------------------------------------------- */

Test(devices, arrays_of_others_are_refused_with_both_devices)
{
    quern_device_info info = QUERN_DEVICE_INFO_INIT;
    OK(quern_device_get_info(&info, engine));
    char both[128];
    snprintf(both, sizeof both,
             strcmp(info.id, "soft") == 0 ? "both are on soft" : "it is on soft, the kernel on %s",
             info.id);
    quern_array *mine = array_of(QUERN_INT32, SHAPE(3), (int32_t[]){1, 2, 3}), *others, *z = NULL;
    OK(quern_array_copy_to(&others, mine, engines[1]));
    quern_kernel *k = kernel_of("T x, T y", "T z", "z = x + y");
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_call(k, mine, others, &z));
    SAYS("'y' (argument 2): the array belongs to another engine than the kernel");
    SAYS(both);
    SAYS("quern_array_copy_to() copies it");
    cr_expect_null(z);
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_call(k, mine, mine, others));
    SAYS(both);
    quern_stream *stream;
    OK(quern_stream_new(&stream, engines[1]));
    quern_call_options o = QUERN_CALL_OPTIONS_INIT;
    o.stream = stream;
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_call_with(k, &o, mine, mine, &z));
    SAYS("the stream belongs to another engine than the kernel");
    SAYS(both);
    quern_stream_release(stream);
    quern_kernel_release(k);
    quern_array_release(mine);
    quern_array_release(others);
}

/* ---- threads -------------------------------------------------------------------------------- */

enum { THREADS = 8, ROUNDS = 6 };

static void *open_copy_close(void *context)
{
    quern_array *shared = context;
    for (int k = 0; k < ROUNDS; k++) {
        quern_engine *e = open_one("soft:1");
        quern_array *here, *back;
        int32_t host[3];
        OK(quern_array_copy_to(&here, shared, e));
        OK(quern_array_copy_to(&back, here, engine));
        quern_close(e);
        quern_array_release(here);
        OK(quern_array_read(back, host, sizeof host));
        cr_expect_eq(host[2], 3);
        quern_array_release(back);
    }
    return NULL;
}

Test(devices, engines_of_many_threads)
{
    pthread_t threads[THREADS];
    quern_array *shared = array_of(QUERN_INT32, SHAPE(3), (int32_t[]){1, 2, 3});
    for (int k = 0; k < THREADS; k++) {
        pthread_create(&threads[k], NULL, open_copy_close, shared);
    }
    for (int k = 0; k < THREADS; k++) {
        pthread_join(threads[k], NULL);
    }
    quern_array_release(shared);
}
