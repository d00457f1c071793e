/* SPDX-License-Identifier: MIT
 *
 * The stand-in's table of memory: each piece with its device and with the function that frees it,
 * which the driver insists on; and memory of the host, managed memory, and peers. Out: the pieces,
 * and a refusal of what the driver would refuse.
 */
#include "fake_libcuda_inside.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECES = 1024 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct piece {
    char *base;
    size_t bytes;
    fake_memory kind;
    int device;
    cu_pool pool;
} pieces[PIECES];

static cu_result take(cu_pointer *pointer, size_t bytes, fake_memory kind, cu_pool pool)
{
    void *memory = bytes < (size_t)1 << 30 ? aligned_alloc(256, (bytes + 255) / 256 * 256) : NULL;
    *pointer = (cu_pointer)(uintptr_t)memory;
    if (!memory) {
        return CU_OUT_OF_MEMORY;
    }
    pthread_mutex_lock(&lock);
    int k = 0;
    while (pieces[k].base) {
        k++;
    }
    pieces[k] = (struct piece){memory, bytes, kind, fake_device(fake_current), pool};
    pthread_mutex_unlock(&lock);
    return CU_SUCCESS;
}

cu_result fake_take(cu_pointer *pointer, size_t bytes, fake_memory kind)
{
    return take(pointer, bytes, kind, NULL);
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
    pthread_mutex_lock(&lock);
    p->base = NULL;
    pthread_mutex_unlock(&lock);
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
    unsigned open; /* to which devices, a bit for each */
    uint64_t kept; /* bytes that were freed and not given back */
};
static struct CUmemPoolHandle_st pools[16];

static uint64_t used_of(cu_pool pool)
{
    uint64_t used = 0;
    for (int k = 0; k < PIECES; k++) {
        used += pieces[k].base && pieces[k].pool == pool ? pieces[k].bytes : 0;
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
    pools[k] = (struct CUmemPoolHandle_st){.device = props->location_id + 1};
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
    *(uint64_t *)value = pool->kept + used_of(pool);
    return CU_SUCCESS;
}

cu_result cuMemPoolTrimTo(cu_pool pool, size_t bytes)
{
    UNSAFE(cuMemPoolTrimTo);
    const uint64_t used = used_of(pool), keep = bytes > used ? bytes - used : 0;
    pool->kept = pool->kept < keep ? pool->kept : keep;
    return CU_SUCCESS;
}

cu_result cuMemAllocFromPoolAsync(cu_pointer *pointer, size_t bytes, cu_pool pool, cu_stream stream)
{
    UNSAFE(cuMemAllocFromPoolAsync);
    if (fake_captures(stream)) {
        return CU_NOT_PERMITTED; /* it would be memory of the graph, which is none of arrays */
    }
    if (!pool->device || pool->device - 1 != fake_device(fake_current)) {
        return CU_INVALID_VALUE;
    }
    pool->kept -= pool->kept < bytes ? pool->kept : bytes;
    return take(pointer, bytes, FAKE_POOL, pool);
}

cu_result cuMemFreeAsync(cu_pointer pointer, cu_stream stream)
{
    UNSAFE(cuMemFreeAsync);
    if (fake_captures(stream)) {
        fprintf(stderr, "fake_libcuda: memory is freed in the order of a stream being captured\n");
        abort();
    }
    const struct piece *p = find(pointer);
    if (p && p->pool) {
        p->pool->kept += p->bytes;
    }
    return fake_give(pointer, 1u << FAKE_POOL | 1u << FAKE_PLAIN);
}

/* ---- peers ---------------------------------------------------------------------------------- */

static unsigned enabled[32]; /* by device: whose plain memory it may use, a bit for each */

cu_result cuDeviceCanAccessPeer(int *can, cu_device device, cu_device peer)
{
    FREE(cuDeviceCanAccessPeer);
    const char *peers = getenv("FAKE_CUDA_PEERS");
    *can = device != peer && !(peers && peers[0] == '0');
    return CU_SUCCESS;
}

cu_result cuCtxEnablePeerAccess(cu_context peer, unsigned flags)
{
    BOUND(cuCtxEnablePeerAccess);
    int can;
    const int device = fake_device(fake_current), other = fake_device(peer);
    if (flags || cuDeviceCanAccessPeer(&can, device, other) != CU_SUCCESS || !can) {
        return CU_INVALID_VALUE;
    }
    if (enabled[device] >> other & 1) {
        return CU_PEER_ACCESS_ALREADY_ENABLED;
    }
    enabled[device] |= 1u << other;
    return CU_SUCCESS;
}

cu_result cuMemPoolSetAccess(cu_pool pool, const cu_pool_access *access, size_t count)
{
    FREE(cuMemPoolSetAccess);
    int can;
    if (!pool->device || count != 1 || access->location_type != 1 || access->flags != 3 ||
        cuDeviceCanAccessPeer(&can, access->location_id, pool->device - 1) != CU_SUCCESS || !can) {
        return CU_INVALID_VALUE;
    }
    pool->open |= 1u << access->location_id;
    return CU_SUCCESS;
}

cu_result cuMemcpyPeerAsync(cu_pointer to, cu_context to_context, cu_pointer from,
                            cu_context from_context, size_t bytes, cu_stream stream)
{
    BOUND(cuMemcpyPeerAsync);
    (void)stream;
    const struct piece *target = find(to), *source = find(from);
    if (!target || !source || target->device != fake_device(to_context) ||
        source->device != fake_device(from_context) || fake_current != to_context) {
        return CU_INVALID_VALUE;
    }
    const unsigned may = source->pool ? source->pool->open >> target->device
                                      : enabled[target->device] >> source->device;
    fake_control.direct = may & 1;
    memcpy((void *)(uintptr_t)to, (void *)(uintptr_t)from, bytes);
    return CU_SUCCESS;
}

/* ---- memory of the host --------------------------------------------------------------------- */

cu_result cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
    UNSAFE(cuMemHostAlloc);
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
    UNSAFE(cuMemFreeHost);
    return fake_give((cu_pointer)(uintptr_t)pointer, 1u << FAKE_HOST);
}

cu_result cuMemAllocManaged(cu_pointer *pointer, size_t bytes, unsigned flags)
{
    UNSAFE(cuMemAllocManaged);
    if (bytes == 0 || flags != CU_ATTACH_GLOBAL) {
        return CU_INVALID_VALUE;
    }
    return fake_take(pointer, bytes, FAKE_MANAGED);
}

/* ---- what the driver knows of addresses ------------------------------------------------------ */

enum { KNOWN = 64 };

/* As a test has declared it; type 0: an empty place. */
static struct known {
    const char *memory;
    size_t bytes;
    int type, ordinal, managed;
    unsigned flags;
} known[KNOWN];

static struct known *declared_at(const void *memory)
{
    for (int k = 0; k < KNOWN; k++) {
        if (known[k].type != 0 && (const char *)memory >= known[k].memory &&
            (const char *)memory < known[k].memory + known[k].bytes) {
            return &known[k];
        }
    }
    return NULL;
}

void fake_declare(void *memory, size_t bytes, int type, int ordinal, int managed, unsigned flags)
{
    struct known *at = declared_at(memory);
    for (int k = 0; k < KNOWN && !at; k++) {
        at = known[k].type == 0 ? &known[k] : NULL;
    }
    if (at) {
        *at = (struct known){memory, bytes, type, ordinal, managed, flags};
    }
}

/* What is declared, or else of the stand-in's own memory; type 0: neither. */
static struct known known_at(cu_pointer pointer)
{
    const struct known *declared = declared_at((const void *)(uintptr_t)pointer);
    const struct piece *p = declared ? NULL : find(pointer);
    if (declared) {
        return *declared;
    }
    if (!p) {
        return (struct known){.ordinal = -2};
    }
    return (struct known){.type = p->kind == FAKE_HOST ? CU_MEMORY_HOST : CU_MEMORY_DEVICE,
                          .ordinal = p->device,
                          .managed = p->kind == FAKE_MANAGED};
}

cu_result cuPointerGetAttributes(unsigned count, cu_pointer_attribute *attributes, void **values,
                                 cu_pointer pointer)
{
    BOUND(cuPointerGetAttributes);
    const struct known at = known_at(pointer);
    for (unsigned k = 0; k < count; k++) {
        switch (attributes[k]) {
        case CU_POINTER_MEMORY_TYPE:
            *(unsigned *)values[k] = (unsigned)at.type;
            break;
        case CU_POINTER_IS_MANAGED:
            *(unsigned *)values[k] = (unsigned)at.managed;
            break;
        case CU_POINTER_DEVICE_ORDINAL:
            *(int *)values[k] = at.ordinal;
            break;
        case CU_POINTER_DEVICE_POINTER:
            *(cu_pointer *)values[k] = at.type != 0 ? pointer : 0;
            break;
        }
    }
    return CU_SUCCESS;
}

cu_result cuMemHostGetFlags(unsigned *flags, void *pointer)
{
    BOUND(cuMemHostGetFlags);
    const struct known at = known_at((cu_pointer)(uintptr_t)pointer);
    *flags = at.flags;
    return at.type == CU_MEMORY_HOST ? CU_SUCCESS : CU_INVALID_VALUE;
}
