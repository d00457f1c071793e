/* SPDX-License-Identifier: MIT
 *
 * Memory of the CUDA device over the stand-in for the driver: pool, fallback, memory of
 * the host, copies, and fills against a plain loop.
 */
#include "fake_device.h"

static void *allocate(quern_device *device, size_t bytes)
{
    void *pointer;
    cr_assert_eq(cuda->allocate(device, &pointer, bytes, NULL), QUERN_OK, "%s",
                 quern_last_error()->message);
    return pointer;
}

Test(cuda_memory, comes_from_a_pool_of_its_own)
{
    fake_cuda *fake = use_fake();
    quern_device *device = open_fake("1");
    cr_assert_eq(fake->calls("cuMemPoolCreate"), 0, "made when first needed");
    void *a = allocate(device, 100), *b = allocate(device, 100);
    cr_assert_eq(fake->calls("cuMemPoolCreate"), 1);
    cr_assert_eq(fake->calls("cuMemPoolSetAttribute"), 1);
    cr_assert_eq(fake->calls("cuMemAlloc_v2"), 0);
    cuda->release(device, a, 100, NULL);
    cuda->release(device, b, 100, NULL);
    cuda->release(device, NULL, 0, NULL);
    cr_assert_eq(fake->allocations(), 0);
    cr_assert_null(allocate(device, 0));
    cuda->close(device);
    cr_assert_eq(fake->calls("cuMemPoolDestroy"), 1);
}

Test(cuda_memory, is_plain_where_there_are_no_pools)
{
    fake_cuda *fake = use_fake();
    setenv("FAKE_CUDA_POOLS", "0", 1);
    quern_device *device = open_fake(NULL);
    cuda->release(device, allocate(device, 100), 100, NULL);
    cr_assert_eq(fake->calls("cuMemAlloc_v2"), 1);
    cr_assert_eq(fake->calls("cuMemFree_v2"), 1);
    cuda->close(device);
    cr_assert_eq(fake->calls("cuMemPoolDestroy"), 0);
}

Test(cuda_memory, is_plain_when_a_pool_cannot_be_made)
{
    fake_cuda *fake = use_fake();
    quern_device *device = open_fake(NULL);
    fake->fail("cuMemPoolCreate", CU_NOT_SUPPORTED, 1);
    cuda->release(device, allocate(device, 100), 100, NULL);
    cr_assert_eq(fake->calls("cuMemAlloc_v2"), 1);
    cuda->close(device);
}

Test(cuda_memory, running_out_tells_the_sizes)
{
    fake_cuda *fake = use_fake();
    quern_device *device = open_fake(NULL);
    void *pointer = device;
    cr_assert_eq(cuda->allocate(device, &pointer, (size_t)1 << 40, NULL),
                 QUERN_ERROR_DEVICE_MEMORY);
    cr_assert_null(pointer);
    assert_says("1099511627776 bytes");
    assert_says("1000 of the GPU's 2000 are free");
    cr_assert_eq(fake->calls("cuMemPoolTrimTo"), 0, "its home gives back what is kept");
    cuda->close(device);
}

/* ---- memory of the host --------------------------------------------------------------------- */

static const struct {
    quern_memory memory;
    const char *symbol;
} host_kinds[] = {{QUERN_MEMORY_PINNED, "cuMemHostAlloc"},
                  {QUERN_MEMORY_MAPPED, "cuMemHostAlloc"},
                  {QUERN_MEMORY_MANAGED, "cuMemAllocManaged"}};

static void *allocate_in(quern_device *device, size_t bytes, quern_memory memory)
{
    void *pointer;
    cr_assert_eq(cuda->allocate_in(device, &pointer, bytes, memory, NULL), QUERN_OK, "%s",
                 quern_last_error()->message);
    cr_assert_eq((uintptr_t)pointer % 256, 0);
    return pointer;
}

Test(cuda_memory, of_the_host_serves_again)
{
    fake_cuda *fake = use_fake();
    for (size_t k = 0; k < QN_COUNT(host_kinds); k++) {
        quern_device *device = open_fake("1");
        const char *symbol = host_kinds[k].symbol;
        const quern_memory memory = host_kinds[k].memory;
        int before = fake->calls(symbol), waits = fake->calls("cuStreamSynchronize");
        void *a = allocate_in(device, 1000, memory), *b = allocate_in(device, 1000, memory);
        cuda->release_in(device, a, 1000, memory, NULL);
        cr_expect_eq(allocate_in(device, 900, memory), a, "the stream has passed the release");
        cuda->release_in(device, b, 1000, memory, NULL);
        fake->fail("cuEventQuery", CU_NOT_READY, -1);
        void *c = allocate_in(device, 1000, memory);
        cr_expect_neq(c, b, "queued work may still use it");
        fake->fail("cuEventQuery", CU_SUCCESS, 0);
        cr_expect_eq(fake->calls(symbol), before + 3);
        cr_expect_eq(fake->calls("cuStreamSynchronize"), waits, "releasing waits for nothing");
        cuda->release_in(device, a, 900, memory, NULL);
        cuda->release_in(device, c, 1000, memory, NULL);
        cuda->close(device);
        cr_expect_eq(fake->allocations(), 0);
    }
}

Test(cuda_memory, of_the_host_is_kept_by_kind_and_within_bounds)
{
    fake_cuda *fake = use_fake();
    quern_device *device = open_fake(NULL);
    void *pinned = allocate_in(device, 512, QUERN_MEMORY_PINNED);
    cuda->release_in(device, pinned, 512, QUERN_MEMORY_PINNED, NULL);
    void *mapped = allocate_in(device, 512, QUERN_MEMORY_MAPPED);
    cr_expect_neq(mapped, pinned);
    cuda->release_in(device, mapped, 512, QUERN_MEMORY_MAPPED, NULL);
    const size_t large = (size_t)100 << 20;
    void *pieces[4];
    for (int k = 0; k < 4; k++) {
        pieces[k] = allocate_in(device, large, QUERN_MEMORY_PINNED);
    }
    for (int k = 0; k < 4; k++) {
        cuda->release_in(device, pieces[k], large, QUERN_MEMORY_PINNED, NULL);
    }
    cr_expect_eq(fake->allocations(), 2, "at most 256 MiB: the oldest went");
    cuda->close(device);
    cr_expect_eq(fake->allocations(), 0);
}

Test(cuda_memory, of_the_host_runs_out)
{
    fake_cuda *fake = use_fake();
    quern_device *device = open_fake(NULL);
    for (size_t k = 0; k < QN_COUNT(host_kinds); k++) {
        const quern_memory memory = host_kinds[k].memory;
        void *pointer = device;
        cr_expect_eq(cuda->allocate_in(device, &pointer, (size_t)1 << 40, memory, NULL),
                     QUERN_ERROR_DEVICE_MEMORY);
        cr_expect_null(pointer);
        assert_says("1099511627776 bytes of ");
        fake->fail(host_kinds[k].symbol, CU_NOT_SUPPORTED, 1);
        cr_expect_eq(cuda->allocate_in(device, &pointer, 8, memory, NULL),
                     QUERN_ERROR_NOT_SUPPORTED);
        assert_says("this GPU has no ");
        cuda->release_in(device, allocate_in(device, 8, memory), 8, memory, NULL);
        int freed = fake->calls("cuMemFreeHost") + fake->calls("cuMemFree_v2");
        cr_expect_eq(cuda->trim(device, 0), QUERN_OK);
        cr_expect_gt(fake->calls("cuMemFreeHost") + fake->calls("cuMemFree_v2"), freed,
                     "what was kept is given back");
    }
    cuda->close(device);
    cr_expect_eq(fake->allocations(), 0);
}

Test(cuda_memory, of_the_host_is_freed_where_no_event_can_be_had)
{
    fake_cuda *fake = use_fake();
    quern_device *device = open_fake(NULL);
    void *pointer = allocate_in(device, 8, QUERN_MEMORY_PINNED);
    fake->fail("cuEventCreate", CU_OUT_OF_MEMORY, 1);
    int waits = fake->calls("cuStreamSynchronize");
    cuda->release_in(device, pointer, 8, QUERN_MEMORY_PINNED, NULL);
    cr_expect_eq(fake->calls("cuStreamSynchronize"), waits + 1);
    pointer = allocate_in(device, 8, QUERN_MEMORY_PINNED);
    qn_memory_fail_after(1, false);
    cuda->release_in(device, pointer, 8, QUERN_MEMORY_PINNED, NULL);
    qn_memory_fail_after(0, false);
    cr_expect_eq(fake->allocations(), 0);
    cuda->close(device);
}

/* ---- copies and fills ----------------------------------------------------------------------- */

Test(cuda_memory, copies_all_ways)
{
    fake_cuda *fake = use_fake();
    quern_device *device = open_fake("1");
    char host[8] = "quern", result[8] = "";
    void *a = allocate(device, 8), *b = allocate(device, 8);
    cr_assert_eq(cuda->copy(device, a, host, 8, QUERN_COPY_TO_DEVICE, NULL, 0), QUERN_OK);
    cr_assert_eq(cuda->copy(device, b, a, 8, QUERN_COPY_ON_DEVICE, NULL, 0), QUERN_OK);
    cr_assert_eq(fake->calls("cuStreamSynchronize"), 0);
    cr_assert_eq(cuda->copy(device, result, b, 8, QUERN_COPY_TO_HOST, NULL, 1), QUERN_OK);
    cr_assert_eq(fake->calls("cuStreamSynchronize"), 1);
    cr_assert_str_eq(result, "quern");
    cr_assert_eq(cuda->copy(device, result, b, 0, QUERN_COPY_TO_HOST, NULL, 1), QUERN_OK);
    cr_assert_eq(fake->calls("cuStreamSynchronize"), 2, "waits, even for no bytes");
    fake->fail("cuMemcpyDtoHAsync_v2", CU_ILLEGAL_ADDRESS, 1);
    cr_assert_eq(cuda->copy(device, result, b, 8, QUERN_COPY_TO_HOST, NULL, 1), QUERN_ERROR_ACCESS);
    assert_says("copying from the device");
    cuda->release(device, a, 8, NULL);
    cuda->release(device, b, 8, NULL);
    cuda->close(device);
}

/* Fill `count` patterns at `offset` and compare with a loop, borders included. */
static void check_fill(quern_device *device, unsigned char *memory, size_t bytes,
                       const unsigned char *pattern, size_t pattern_bytes, size_t count,
                       size_t offset)
{
    memset(memory, 0xee, bytes);
    cr_assert_eq(cuda->fill(device, memory + offset, pattern, pattern_bytes, count, NULL), QUERN_OK,
                 "%s", quern_last_error()->message);
    size_t end = offset + count * pattern_bytes;
    for (size_t k = 0; k < bytes; k++) {
        unsigned char wanted =
            k >= offset && k < end ? pattern[(k - offset) % pattern_bytes] : 0xee;
        cr_assert_eq(memory[k], wanted, "pattern of %zu, count %zu, offset %zu, byte %zu",
                     pattern_bytes, count, offset, k);
    }
}

Test(cuda_memory, fills_every_pattern_at_every_alignment)
{
    (void)use_fake();
    quern_device *device = open_fake("1");
    static const unsigned char patterns[][16] = {
        {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
        {0},
        {1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4},
        {7, 8, 7, 8, 7, 8, 7, 8, 7, 8, 7, 8, 7, 8, 7, 8},
    };
    static const size_t counts[] = {0, 1, 5, 4096, 4097, 20000};
    static const size_t offsets[] = {0, 1, 2, 4, 8};
    size_t bytes = 20000 * 16 + 64;
    unsigned char *memory = allocate(device, bytes);
    for (size_t p = 0; p < QN_COUNT(patterns); p++) {
        for (size_t size = 1; size <= 16; size *= 2) {
            for (size_t c = 0; c < QN_COUNT(counts); c++) {
                size_t offset = offsets[(p + size + c) % QN_COUNT(offsets)];
                check_fill(device, memory, counts[c] * size + 32, patterns[p], size, counts[c],
                           offset);
            }
        }
    }
    for (size_t k = 0; k < QN_COUNT(offsets); k++) {
        check_fill(device, memory, 4200 * 16 + 32, patterns[0], 16, 4200, offsets[k]);
    }
    cr_assert_eq(cuda->fill(device, memory, patterns[0], 3, 1, NULL), QUERN_ERROR_INTERNAL);
    cuda->release(device, memory, bytes, NULL);
    cuda->close(device);
}
