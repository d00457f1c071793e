/* SPDX-License-Identifier: MIT
 *
 * What is allocated on a home: from the device and from allocators of the program that are changed
 * meanwhile, counted, limited, and each piece returned to where it came from.
 */
#include "device/device_internal.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* A source of memory: the device below, or an allocator. */
typedef struct pool {
    int taken, adopted;
    bool empty, crooked, refuses; /* has none; gives what is not aligned; nothing is adopted */
} pool;

static pool device_pool;

static void *allocate(void *context, size_t bytes, size_t alignment, void *stream)
{
    pool *p = context;
    cr_expect_eq(alignment, 256);
    cr_expect_eq(bytes % 4, 0);
    cr_expect_eq(stream, &device_pool);
    if (p->empty) {
        return NULL;
    }
    p->taken++;
    char *memory = aligned_alloc(256, 512);
    return p->crooked ? memory + 16 : memory;
}

static void release(void *context, void *pointer, size_t bytes, void *stream)
{
    pool *p = context;
    cr_expect_eq(bytes % 4, 0);
    cr_expect_eq(stream, &device_pool);
    p->taken--;
    free(p->crooked ? (char *)pointer - 16 : pointer);
}

static quern_status device_allocate(quern_device *device, void **out, size_t bytes, void *stream)
{
    (void)device, (void)bytes;
    *out = allocate(&device_pool, 4, 256, stream);
    return *out ? QUERN_OK : qn_fail(QUERN_ERROR_DEVICE_MEMORY, "the device has none");
}

static void device_release(quern_device *device, void *pointer, size_t bytes, void *stream)
{
    (void)device, (void)bytes;
    release(&device_pool, pointer, 4, stream);
}

static quern_status device_allocate_in(quern_device *device, void **out, size_t bytes,
                                       quern_memory memory, void *stream)
{
    (void)memory;
    return device_allocate(device, out, bytes, stream);
}

static void device_release_in(quern_device *device, void *pointer, size_t bytes,
                              quern_memory memory, void *stream)
{
    (void)memory;
    device_release(device, pointer, bytes, stream);
}

static quern_status adopt(quern_device *device, void *base, size_t bytes)
{
    (void)device, (void)base;
    cr_expect_eq(bytes, 10, "exactly what kernels may touch");
    if (device_pool.refuses) {
        return qn_fail_memory("adopting");
    }
    device_pool.adopted++;
    return QUERN_OK;
}

static void disown(quern_device *device, void *base, size_t bytes)
{
    (void)device, (void)base, (void)bytes;
    device_pool.adopted--;
}

static const quern_device_methods methods = {.name = "test",
                                             .allocate = device_allocate,
                                             .release = device_release,
                                             .adopt = adopt,
                                             .disown = disown,
                                             .allocate_in = device_allocate_in,
                                             .release_in = device_release_in};

typedef struct piece {
    void *pointer;
    const qn_source *from;
    quern_memory memory;
} piece;

static quern_status get(piece *p, qn_home *home, quern_memory memory)
{
    p->memory = memory;
    return qn_memory_new(&p->pointer, &p->from, home, 10, memory, &device_pool);
}

static void put(const piece *p, qn_home *home)
{
    qn_memory_free(p->pointer, p->from, home, 10, p->memory, &device_pool);
}

static int reclaimed;

static bool reclaim(qn_home *home)
{
    (void)home;
    reclaimed++;
    return false;
}

static const qn_home_owner owner = {.reclaim = reclaim};

#define HOME                                                                                       \
    {                                                                                              \
        .methods = &methods, .owner = &owner, .place = "test:0"                                    \
    }

/* Allocate from sources in an order that changes, and release in another. */
Test(home_memory, goes_back_where_it_came_from)
{
    qn_home home = HOME;
    pool pools[3] = {{0}};
    quern_allocator allocators[3];
    for (int k = 0; k < 3; k++) {
        allocators[k] = (quern_allocator){sizeof allocators[k], 0, allocate, release, &pools[k]};
    }
    piece pieces[64];
    int wanted[4] = {0};
    for (int k = 0; k < 64; k++) {
        const int source = k * 7 % 4; /* 3: the device */
        cr_assert_eq(qn_memory_use(&home, source < 3 ? &allocators[source] : NULL), QUERN_OK);
        cr_assert_eq(get(&pieces[k], &home, QUERN_MEMORY_DEVICE), QUERN_OK);
        wanted[source]++;
    }
    for (int k = 0; k < 3; k++) {
        cr_expect_eq(pools[k].taken, wanted[k]);
    }
    cr_expect_eq(device_pool.taken, wanted[3]);
    cr_expect_eq(device_pool.adopted, 64 - wanted[3]);
    cr_expect_eq(home.account.used, 640);
    cr_expect_eq(home.account.pieces, 64);
    for (int k = 0; k < 64; k++) {
        put(&pieces[(k * 29 + 5) % 64], &home);
    }
    for (int k = 0; k < 3; k++) {
        cr_expect_eq(pools[k].taken, 0);
    }
    cr_expect_eq(device_pool.taken, 0);
    cr_expect_eq(device_pool.adopted, 0);
    cr_expect_eq(home.account.used, 0);
    cr_expect_eq(home.account.pieces, 0);
    cr_expect_eq(home.account.peak, 640);
    qn_memory_forget(&home);
}

Test(home_memory, of_an_allocator_that_fails)
{
    qn_home home = HOME;
    pool p = {0};
    quern_allocator allocator = {sizeof allocator, 0, allocate, release, &p};
    piece one;
    cr_assert_eq(qn_memory_use(&home, &allocator), QUERN_OK);
    p.empty = true;
    cr_expect_eq(get(&one, &home, QUERN_MEMORY_DEVICE), QUERN_ERROR_DEVICE_MEMORY);
    cr_expect_not_null(strstr(quern_last_error()->message, "own allocator has no 12 bytes"));
    p.empty = false;
    p.crooked = true;
    cr_expect_eq(get(&one, &home, QUERN_MEMORY_DEVICE), QUERN_ERROR_INVALID_ARGUMENT);
    cr_expect_not_null(strstr(quern_last_error()->message, "not aligned to 256"));
    p.crooked = false;
    device_pool.refuses = true;
    cr_expect_eq(get(&one, &home, QUERN_MEMORY_DEVICE), QUERN_ERROR_OUT_OF_MEMORY);
    device_pool.refuses = false;
    cr_expect_eq(p.taken, 0, "each was returned");
    cr_expect_eq(home.account.used, 0);
    cr_expect_eq(home.account.pieces, 0);
    qn_memory_fail_after(1, false);
    quern_allocator other = {sizeof other, 0, allocate, release, &home};
    cr_expect_eq(qn_memory_use(&home, &other), QUERN_ERROR_OUT_OF_MEMORY);
    qn_memory_fail_after(0, false);
    cr_assert_eq(get(&one, &home, QUERN_MEMORY_DEVICE), QUERN_OK);
    cr_expect_eq(p.taken, 1, "the one before is still in use");
    put(&one, &home);
    qn_memory_forget(&home);
}

Test(home_memory, of_the_host_is_the_devices)
{
    qn_home home = HOME;
    pool p = {0};
    quern_allocator allocator = {sizeof allocator, 0, allocate, release, &p};
    cr_assert_eq(qn_memory_use(&home, &allocator), QUERN_OK);
    piece pieces[3];
    for (int k = 0; k < 3; k++) {
        cr_assert_eq(get(&pieces[k], &home, (quern_memory)(QUERN_MEMORY_PINNED + k)), QUERN_OK);
    }
    cr_expect_eq(p.taken, 0);
    cr_expect_eq(home.account.host, 20);
    cr_expect_eq(home.account.used, 10, "managed memory counts as the device's");
    for (int k = 0; k < 3; k++) {
        put(&pieces[k], &home);
    }
    cr_expect_eq(home.account.host + home.account.used + home.account.pieces, 0);
    quern_device_methods bare = methods;
    bare.allocate_in = NULL;
    home.methods = &bare;
    cr_expect_eq(get(&pieces[0], &home, QUERN_MEMORY_PINNED), QUERN_ERROR_NOT_SUPPORTED);
    cr_expect_not_null(strstr(quern_last_error()->message, "\"test\" has no memory but its own"));
    qn_memory_forget(&home);
}

Test(home_memory, has_a_limit)
{
    qn_home home = HOME;
    piece pieces[3];
    home.account.limit = 25;
    cr_assert_eq(get(&pieces[0], &home, QUERN_MEMORY_DEVICE), QUERN_OK);
    cr_assert_eq(get(&pieces[1], &home, QUERN_MEMORY_MANAGED), QUERN_OK);
    cr_expect_eq(get(&pieces[2], &home, QUERN_MEMORY_DEVICE), QUERN_ERROR_DEVICE_MEMORY);
    cr_expect_not_null(
        strstr(quern_last_error()->message,
               "10 bytes of test:0 were asked for, and this engine may have 25 in all"));
    cr_assert_eq(get(&pieces[2], &home, QUERN_MEMORY_PINNED), QUERN_OK, "it is of the device");
    put(&pieces[0], &home);
    cr_assert_eq(get(&pieces[0], &home, QUERN_MEMORY_DEVICE), QUERN_OK);
    device_pool.empty = true;
    put(&pieces[0], &home);
    cr_expect_eq(get(&pieces[0], &home, QUERN_MEMORY_DEVICE), QUERN_ERROR_DEVICE_MEMORY);
    cr_expect_eq(home.account.used, 10, "what was not to be had is not counted");
    put(&pieces[1], &home);
    put(&pieces[2], &home);
    cr_expect_eq(home.account.peak, 20);
}
