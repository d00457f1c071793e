/* SPDX-License-Identifier: MIT
 *
 * Memory of the software device: alignment, sizes, exhaustion, kinds, copies, fills, wrapped
 * memory, and each N-th allocation failing.
 */
#include "device/device_internal.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static const quern_device_methods *const soft = &qn_soft_device;

static quern_device *open_one(void)
{
    quern_device *device;
    cr_assert_eq(soft->open(&device, NULL, NULL), QUERN_OK);
    return device;
}

static quern_status allocate(quern_device *device, void **out, size_t bytes, quern_memory memory)
{
    return memory == QUERN_MEMORY_DEVICE ? soft->allocate(device, out, bytes, NULL)
                                         : soft->allocate_in(device, out, bytes, memory, NULL);
}

static void release(quern_device *device, void *pointer, size_t bytes, quern_memory memory)
{
    if (memory == QUERN_MEMORY_DEVICE) {
        soft->release(device, pointer, bytes, NULL);
    } else {
        soft->release_in(device, pointer, bytes, memory, NULL);
    }
}

static void check_whole_and_apart(quern_device *device, quern_memory memory)
{
    static const size_t sizes[] = {1, 255, 256, 1000, (1 << 20) - 1, 1 << 20, (1 << 24) + 3};
    unsigned char *pieces[QN_COUNT(sizes)];
    for (size_t k = 0; k < QN_COUNT(sizes); k++) {
        void *pointer;
        cr_assert_eq(allocate(device, &pointer, sizes[k], memory), QUERN_OK);
        cr_assert_eq((uintptr_t)pointer % 256, 0);
        cr_assert_eq(soft->host_pointer(device, pointer), pointer);
        pieces[k] = memset(pointer, (int)k + 1, sizes[k]);
    }
    for (size_t k = 0; k < QN_COUNT(sizes); k++) {
        cr_assert_eq(pieces[k][0], k + 1);
        cr_assert_eq(pieces[k][sizes[k] - 1], k + 1);
        release(device, pieces[k], sizes[k], memory);
    }
    void *none = device;
    cr_assert_eq(allocate(device, &none, 0, memory), QUERN_OK);
    cr_assert_null(none);
    release(device, NULL, 0, memory);
}

Test(soft_memory, is_aligned_whole_and_apart)
{
    quern_device *device = open_one();
    for (int memory = QUERN_MEMORY_DEVICE; memory <= QUERN_MEMORY_MANAGED; memory++) {
        check_whole_and_apart(device, (quern_memory)memory);
    }
    soft->close(device);
}

Test(soft_memory, tells_what_an_address_is)
{
    quern_device *device = open_one();
    for (int memory = QUERN_MEMORY_DEVICE; memory <= QUERN_MEMORY_MANAGED; memory++) {
        void *pointer;
        cr_assert_eq(allocate(device, &pointer, 100, (quern_memory)memory), QUERN_OK);
        quern_pointer_info info = QUERN_POINTER_INFO_INIT;
        /* a view of it that is wrapped is what it lies in */
        cr_assert_eq(soft->adopt(device, (char *)pointer + 8, 64), QUERN_OK);
        for (size_t k = 0; k < 100; k += 33) {
            cr_assert_eq(soft->pointer_info(device, (char *)pointer + k, &info), QUERN_OK);
            cr_expect_eq(info.memory, memory, "byte %zu of kind %d: %d", k, memory, info.memory);
            cr_expect_eq(info.device, 0);
        }
        soft->disown(device, (char *)pointer + 8, 64);
        release(device, pointer, 100, (quern_memory)memory);
        cr_assert_eq(soft->pointer_info(device, pointer, &info), QUERN_OK);
        cr_expect_eq(info.memory, QUERN_MEMORY_HOST);
        cr_expect_eq(info.device, -1);
    }
    soft->close(device);
}

Test(soft_memory, exhaustion_tells_the_sizes)
{
    quern_device *device = open_one();
    static const size_t sizes[] = {(size_t)1 << 47, SIZE_MAX - 100, SIZE_MAX};
    for (size_t k = 0; k < QN_COUNT(sizes); k++) {
        void *pointer = device;
        cr_assert_eq(soft->allocate(device, &pointer, sizes[k], NULL), QUERN_ERROR_DEVICE_MEMORY);
        cr_assert_null(pointer);
        char wanted[64];
        snprintf(wanted, sizeof wanted, "%zu bytes were asked", sizes[k]);
        cr_assert(strstr(quern_last_error()->message, wanted), "%s", quern_last_error()->message);
    }
    soft->close(device);
}

static _Alignas(256) unsigned char own[512];

Test(soft_memory, copies_also_where_they_overlap)
{
    quern_device *device = open_one();
    char bytes[] = "abcdef";
    cr_assert_eq(soft->copy(device, bytes + 1, bytes, 4, QUERN_COPY_ON_DEVICE, NULL, 0), QUERN_OK);
    cr_assert_str_eq(bytes, "aabcdf");
    cr_assert_eq(soft->copy(device, NULL, NULL, 0, QUERN_COPY_TO_HOST, NULL, 1), QUERN_OK);
    soft->close(device);
}

Test(soft_memory, fills_as_a_loop_would)
{
    quern_device *device = open_one();
    static const unsigned char pattern[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    static const size_t counts[] = {0, 1, 3, 1024, 1025, 40000};
    static unsigned char bytes[40000 * 16 + 2];
    for (size_t size = 1; size <= 16; size *= 2) {
        for (size_t c = 0; c < QN_COUNT(counts); c++) {
            size_t end = 1 + counts[c] * size;
            memset(bytes, 0xee, sizeof bytes);
            cr_assert_eq(soft->fill(device, bytes + 1, pattern, size, counts[c], NULL), QUERN_OK);
            cr_assert_eq(bytes[0], 0xee);
            cr_assert_eq(bytes[end], 0xee);
            for (size_t k = 1; k < end; k++) {
                cr_assert_eq(bytes[k], pattern[(k - 1) % size], "size %zu, count %zu, byte %zu",
                             size, counts[c], k);
            }
        }
    }
    soft->close(device);
}

/* Everything that allocates, once; the failure's status, or QUERN_OK. */
static quern_status work(void)
{
    quern_device *device;
    QN_TRY(soft->open(&device, "1", NULL));
    void *array = NULL, *event = NULL;
    quern_status status = soft->allocate(device, &array, 100, NULL);
    if (status == QUERN_OK) {
        status = soft->adopt(device, own, sizeof own);
    }
    if (status == QUERN_OK) {
        soft->disown(device, own, sizeof own);
        status = soft->event_new(device, &event);
    }
    soft->event_free(device, event);
    soft->release(device, array, 100, NULL);
    soft->close(device);
    return status;
}

Test(soft_memory, every_failing_allocation_is_reported)
{
    qn_memory_fail_after(0, false);
    cr_assert_eq(work(), QUERN_OK);
    uint64_t allocations = qn_memory_fail_after(0, false);
    cr_assert_geq(allocations, 4);
    for (uint64_t n = 1; n <= allocations; n++) {
        qn_memory_fail_after(n, true);
        quern_status status = work();
        qn_memory_fail_after(0, false);
        cr_assert(status == QUERN_ERROR_OUT_OF_MEMORY || status == QUERN_ERROR_DEVICE_MEMORY,
                  "allocation %llu: status %d", (unsigned long long)n, status);
    }
}
