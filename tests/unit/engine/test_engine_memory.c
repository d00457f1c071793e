/* SPDX-License-Identifier: MIT
 *
 * An engine's memory: allocators that are changed and that come from a library, what is counted,
 * limited and given back, and what is said when there is no more.
 */
#include "whole.h"

#include <dlfcn.h>
#include <quern/device.h>
#include <stdint.h>
#include <stdio.h>

TestSuite(engine_memory, .init = whole_open, .fini = whole_close);

static quern_memory_stats stats(void)
{
    quern_memory_stats s = QUERN_MEMORY_STATS_INIT;
    OK(quern_memory_get_stats(&s, engine));
    return s;
}

static quern_array *bytes_of(size_t bytes)
{
    quern_array *a;
    OK(quern_array_new(&a, engine, QUERN_UINT8, SHAPE((int64_t)bytes)));
    return a;
}

/* ---- allocators from a library -------------------------------------------------------------- */

static int ask(const char *name)
{
    void *library = dlopen(PLUGGABLE, RTLD_NOW), *symbol = dlsym(library, name);
    int (*function)(void);
    cr_assert_not_null(symbol);
    memcpy(&function, &symbol, sizeof function);
    return function();
}

static quern_allocator from_library(const char *allocate, int device)
{
    quern_allocator a = QUERN_ALLOCATOR_INIT;
    OK(quern_allocator_from_library(&a, PLUGGABLE, allocate, "deallocate", device));
    return a;
}

/* Everything an engine allocates for: arrays, copies, outputs, workspaces. */
static void work(void)
{
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(3, 4), (float[12]){1, 2, 3, 4}), *turned, *copy;
    quern_array *y = NULL, *z = NULL;
    OK(quern_array_transpose(&turned, x, NULL));
    OK(quern_array_copy(&copy, turned));
    quern_kernel *k = kernel_of("T x", "T y", "y = 2 * x"), *sum;
    OK(quern_reduction(&sum, engine, "T x", "T y", "x", "a + b", "y = a", "0", NULL));
    OK(quern_call(k, copy, &y));
    OK(quern_call(sum, y, &z));
    EXPECT(z, float, 20);
    quern_array_release(x);
    quern_array_release(turned);
    quern_array_release(copy);
    quern_array_release(y);
    quern_array_release(z);
    quern_kernel_release(k);
    quern_kernel_release(sum);
}

Test(engine_memory, from_a_library)
{
    quern_device_info info = QUERN_DEVICE_INFO_INIT;
    OK(quern_device_get_info(&info, engine));
    if (strcmp(info.id, "soft") != 0) {
        cr_skip_test("the test's library gives host memory");
    }
    quern_allocator a = from_library("allocate", 3);
    quern_array *before = bytes_of(10);
    OK(quern_engine_set_allocator(engine, &a));
    cr_expect_eq(ask("pluggable_live"), 0);
    quern_array *one = bytes_of(10);
    cr_expect_eq(ask("pluggable_live"), 1);
    cr_expect_eq(ask("pluggable_device"), 3);
    work();
    OK(quern_engine_set_allocator(engine, NULL));
    const int live = ask("pluggable_live"); /* a workspace may wait for the next reduction */
    quern_array *after = bytes_of(10);
    cr_expect_eq(ask("pluggable_live"), live);
    quern_array_release(before);
    quern_array_release(after);
    cr_expect_eq(ask("pluggable_live"), live);
    quern_array_release(one);
    OK(quern_memory_trim(engine, 0));
    cr_expect_eq(ask("pluggable_live"), 0);
    cr_expect_eq(ask("pluggable_wrong"), 0);
    cr_expect_eq(stats().used, 0);
}

Test(engine_memory, from_a_library_at_opening)
{
    quern_options o = QUERN_OPTIONS_INIT;
    quern_allocator a = from_library("allocate", -7);
    o.allocator = &a;
    o.device = "soft";
    whole_close();
    OK(quern_open(&engine, &o));
    memset(&a, 0xee, sizeof a); /* it was copied */
    work();
    cr_expect_eq(ask("pluggable_device"), -7);
    whole_close();
    cr_expect_eq(ask("pluggable_live"), 0);
    cr_expect_eq(ask("pluggable_wrong"), 0);
}

Test(engine_memory, the_same_of_a_library_is_the_same)
{
    quern_allocator a = from_library("allocate", 1), b = from_library("allocate", 1),
                    c = from_library("allocate", 2);
    cr_expect_eq(a.context, b.context);
    cr_expect_neq(a.context, c.context);
}

Test(engine_memory, of_a_library_that_has_none)
{
    quern_allocator a = QUERN_ALLOCATOR_INIT;
    FAILS(QUERN_ERROR_IO, quern_allocator_from_library(&a, "/no/such.so", "a", "b", 0));
    SAYS("the allocator's library cannot be loaded: /no/such.so");
    FAILS(QUERN_ERROR_NAME, quern_allocator_from_library(&a, PLUGGABLE, "alloc", "deallocate", 0));
    SAYS("exports no function 'alloc'");
    FAILS(QUERN_ERROR_NAME, quern_allocator_from_library(&a, PLUGGABLE, "allocate", "free_it", 0));
    SAYS("exports no function 'free_it'");
    cr_expect_null(a.allocate);
}

Test(engine_memory, of_a_library_that_gives_what_it_must_not)
{
    quern_options o = QUERN_OPTIONS_INIT;
    o.device = "soft";
    whole_close();
    OK(quern_open(&engine, &o));
    quern_array *x;
    quern_allocator a = from_library("crooked", 0);
    OK(quern_engine_set_allocator(engine, &a));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_array_new(&x, engine, QUERN_INT8, SHAPE(5)));
    SAYS("which is not aligned to 256 bytes");
    cr_expect_eq(ask("pluggable_live"), 0);
    a = from_library("empty", 0);
    OK(quern_engine_set_allocator(engine, &a));
    FAILS(QUERN_ERROR_DEVICE_MEMORY, quern_array_new(&x, engine, QUERN_INT8, SHAPE(5)));
    SAYS("the program's own allocator has no 8 bytes; this engine uses 0 bytes in 0 pieces");
}

/* ---- what is counted ------------------------------------------------------------------------ */

Test(engine_memory, is_counted)
{
    quern_memory_stats s = stats();
    cr_expect_eq(s.used + s.host + s.allocations + s.limit + s.peak, 0);
    quern_array *a = bytes_of(1000), *b = bytes_of(24), *view, *pinned, *empty = bytes_of(0);
    OK(quern_array_reshape(&view, a, 2, (int64_t[]){10, 100}));
    OK(quern_array_new_in(&pinned, engine, QUERN_MEMORY_PINNED, QUERN_UINT8, SHAPE(77)));
    static unsigned char foreign[8];
    quern_array *wrapped;
    OK(quern_array_wrap(&wrapped, engine, QUERN_UINT8, SHAPE(8), NULL, foreign, NULL, NULL));
    s = stats();
    cr_expect_eq(s.used, 1024);
    cr_expect_eq(s.host, 77);
    cr_expect_eq(s.allocations, 3);
    cr_expect_geq(s.held, s.used);
    quern_array_release(a);
    cr_expect_eq(stats().used, 1024, "the view has it");
    quern_array_release(view);
    quern_array_release(pinned);
    quern_array_release(wrapped);
    quern_array_release(empty);
    s = stats();
    cr_expect_eq(s.used, 24);
    cr_expect_eq(s.host, 0);
    cr_expect_eq(s.peak, 1024);
    cr_expect_eq(s.allocations, 1);
    quern_array_release(b);
    OK(quern_memory_trim(engine, 0));
    cr_expect_eq(stats().held, 0);
}

/* What a call leaves behind is what it was asked for. */
Test(engine_memory, of_calls_is_counted)
{
    work();
    OK(quern_memory_trim(engine, 0));
    cr_expect_eq(stats().used, 0);
    cr_expect_eq(stats().allocations, 0);
    cr_expect_gt(stats().peak, 0);
}

Test(engine_memory, is_limited)
{
    quern_array *a = bytes_of(600), *b, *c;
    OK(quern_memory_set_limit(engine, 1000));
    cr_expect_eq(stats().limit, 1000);
    FAILS(QUERN_ERROR_DEVICE_MEMORY, quern_array_new(&b, engine, QUERN_INT8, SHAPE(401)));
    SAYS("401 bytes of ");
    SAYS("were asked for, and this engine may have 1000 in all (quern_memory_set_limit); this "
         "engine uses 600 bytes in 1 piece");
    b = bytes_of(400);
    FAILS(QUERN_ERROR_DEVICE_MEMORY,
          quern_array_new_in(&c, engine, QUERN_MEMORY_MANAGED, QUERN_INT8, SHAPE(1)));
    OK(quern_array_new_in(&c, engine, QUERN_MEMORY_PINNED, QUERN_INT8, SHAPE(5000)));
    quern_array_release(c);
    quern_array_release(b);
    OK(quern_memory_set_limit(engine, 100));
    FAILS(QUERN_ERROR_DEVICE_MEMORY, quern_array_new(&b, engine, QUERN_INT8, SHAPE(1)));
    OK(quern_memory_set_limit(engine, 0));
    b = bytes_of(10000);
    quern_array_release(a);
    quern_array_release(b);
    cr_expect_eq(stats().used, 0);
}

/* What reductions keep for the next one does not stand in the way of an array. */
Test(engine_memory, that_waits_for_launches_is_given_back)
{
    quern_kernel *sum;
    quern_array *x, *y = NULL;
    OK(quern_array_new(&x, engine, QUERN_FLOAT32, SHAPE(1 << 18)));
    OK(quern_array_fill(x, &(float){1}, sizeof(float)));
    OK(quern_reduction(&sum, engine, "T x", "T y", "x", "a + b", "y = a", "0", NULL));
    OK(quern_call(sum, x, &y));
    const uint64_t used = stats().used, arrays = (sizeof(float) << 18) + sizeof(float);
    cr_assert_gt(used, arrays, "a workspace waits: else this test looks at nothing");
    OK(quern_memory_set_limit(engine, used));
    quern_array *more = bytes_of(used - arrays);
    quern_array_release(more);
    quern_array_release(x);
    quern_array_release(y);
    quern_kernel_release(sum);
}

Test(engine_memory, that_is_not_there_tells_who_has_it)
{
    quern_engine *other;
    OK(quern_open(&other, NULL));
    quern_array *a = bytes_of(4096), *b, *huge;
    OK(quern_array_new(&b, other, QUERN_INT8, SHAPE(12345)));
    FAILS(QUERN_ERROR_DEVICE_MEMORY,
          quern_array_new(&huge, engine, QUERN_INT8, SHAPE((int64_t)1 << 46)));
    SAYS("70368744177664 bytes");
    SAYS("; this engine uses 4096 bytes in 1 piece");
    SAYS("; other engines of this process have ");
    quern_array_release(b);
    quern_array_release(a);
    quern_close(other);
    cr_expect_eq(stats().used, 0);
}
