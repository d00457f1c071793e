/* SPDX-License-Identifier: MIT
 *
 * The stand-in's table of memory: each piece with its device and with the function that frees it,
 * which the driver insists on; and memory of the host, managed memory, and peers. Out: the pieces,
 * and a refusal of what the driver would refuse.
 */
#include "fake_libcuda_inside.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { PIECES = 1024 };

static struct piece {
    char *base;
    size_t bytes;
    fake_kind kind;
    int device;
} pieces[PIECES];

cu_result fake_take(cu_pointer *pointer, size_t bytes, fake_kind kind)
{
    void *memory = bytes < (size_t)1 << 30 ? aligned_alloc(256, (bytes + 255) / 256 * 256) : NULL;
    *pointer = (cu_pointer)(uintptr_t)memory;
    if (!memory) {
        return CU_OUT_OF_MEMORY;
    }
    for (int k = 0; k < PIECES; k++) {
        if (!pieces[k].base) {
            pieces[k] = (struct piece){memory, bytes, kind, fake_device(fake_current)};
            return CU_SUCCESS;
        }
    }
    abort();
}

/* What a pointer points into; NULL: nothing of the driver's. */
static struct piece *find(cu_pointer pointer)
{
    const char *at = (const char *)(uintptr_t)pointer;
    for (int k = 0; k < PIECES; k++) {
        if (pieces[k].base && at >= pieces[k].base && at < pieces[k].base + pieces[k].bytes) {
            return &pieces[k];
        }
    }
    return NULL;
}

cu_result fake_give(cu_pointer pointer, unsigned kinds)
{
    struct piece *p = find(pointer);
    if (!p || (cu_pointer)(uintptr_t)p->base != pointer || !(kinds >> p->kind & 1)) {
        return CU_INVALID_VALUE;
    }
    free(p->base);
    p->base = NULL;
    return CU_SUCCESS;
}

int fake_pieces(unsigned kinds)
{
    int count = 0;
    for (int k = 0; k < PIECES; k++) {
        count += pieces[k].base && kinds >> pieces[k].kind & 1;
    }
    return count;
}

/* ---- pools ---------------------------------------------------------------------------------- */

struct CUmemPoolHandle_st {
    int device;    /* + 1; 0: there is no such pool */
    uint64_t kept; /* bytes that were freed and not given back */
};
static struct CUmemPoolHandle_st pools[16];

static uint64_t used_of(int device)
{
    uint64_t used = 0;
    for (int k = 0; k < PIECES; k++) {
        used += pieces[k].base && pieces[k].kind == FAKE_POOL && pieces[k].device == device
                    ? pieces[k].bytes
                    : 0;
    }
    return used;
}

cu_result cuMemPoolCreate(cu_pool *pool, const cu_pool_props *props)
{
    FREE(cuMemPoolCreate);
    int k = 0;
    while (pools[k].device) {
        k++;
    }
    pools[k] = (struct CUmemPoolHandle_st){props->location_id + 1, 0};
    *pool = &pools[k];
    return props->allocation_type == 1 && props->location_type == 1 ? CU_SUCCESS : CU_INVALID_VALUE;
}

cu_result cuMemPoolDestroy(cu_pool pool)
{
    BOUND(cuMemPoolDestroy);
    if (!pool->device) {
        return CU_INVALID_VALUE;
    }
    pool->device = 0;
    return CU_SUCCESS;
}

cu_result cuMemPoolSetAttribute(cu_pool pool, cu_pool_attribute attribute, void *value)
{
    FREE(cuMemPoolSetAttribute);
    bool right =
        pool->device && attribute == CU_POOL_RELEASE_THRESHOLD && *(uint64_t *)value == UINT64_MAX;
    return right ? CU_SUCCESS : CU_INVALID_VALUE;
}

cu_result cuMemPoolGetAttribute(cu_pool pool, cu_pool_attribute attribute, void *value)
{
    FREE(cuMemPoolGetAttribute);
    if (!pool->device || attribute != CU_POOL_RESERVED) {
        return CU_INVALID_VALUE;
    }
    *(uint64_t *)value = pool->kept + used_of(pool->device - 1);
    return CU_SUCCESS;
}

cu_result cuMemPoolTrimTo(cu_pool pool, size_t bytes)
{
    BOUND(cuMemPoolTrimTo);
    const uint64_t used = used_of(pool->device - 1), keep = bytes > used ? bytes - used : 0;
    pool->kept = pool->kept < keep ? pool->kept : keep;
    return CU_SUCCESS;
}

cu_result cuMemAllocFromPoolAsync(cu_pointer *pointer, size_t bytes, cu_pool pool, cu_stream stream)
{
    BOUND(cuMemAllocFromPoolAsync);
    (void)stream;
    if (!pool->device || pool->device - 1 != fake_device(fake_current)) {
        return CU_INVALID_VALUE;
    }
    pool->kept -= pool->kept < bytes ? pool->kept : bytes;
    return fake_take(pointer, bytes, FAKE_POOL);
}

cu_result cuMemFreeAsync(cu_pointer pointer, cu_stream stream)
{
    BOUND(cuMemFreeAsync);
    (void)stream;
    const struct piece *p = find(pointer);
    if (p && p->kind == FAKE_POOL) { /* of several pools of one device, the first */
        int k = 0;
        while (pools[k].device - 1 != p->device) {
            k++;
        }
        pools[k].kept += p->bytes;
    }
    return fake_give(pointer, 1u << FAKE_POOL | 1u << FAKE_PLAIN);
}

/* ---- memory of the host --------------------------------------------------------------------- */

cu_result cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
    BOUND(cuMemHostAlloc);
    if (bytes == 0 || (flags & ~(unsigned)(CU_HOST_PORTABLE | CU_HOST_MAPPED))) {
        return CU_INVALID_VALUE;
    }
    cu_pointer address;
    cu_result result = fake_take(&address, bytes, FAKE_HOST);
    *pointer = (void *)(uintptr_t)address;
    return result;
}

cu_result cuMemFreeHost(void *pointer)
{
    BOUND(cuMemFreeHost);
    return fake_give((cu_pointer)(uintptr_t)pointer, 1u << FAKE_HOST);
}

cu_result cuMemAllocManaged(cu_pointer *pointer, size_t bytes, unsigned flags)
{
    BOUND(cuMemAllocManaged);
    if (bytes == 0 || flags != CU_ATTACH_GLOBAL) {
        return CU_INVALID_VALUE;
    }
    return fake_take(pointer, bytes, FAKE_MANAGED);
}
