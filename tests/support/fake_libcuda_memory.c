/* SPDX-License-Identifier: MIT
 *
 * The stand-in's table of memory: each piece with its device and with the function that frees it,
 * which the driver insists on; and memory of the host, managed memory, and peers. Out: the pieces,
 * and a refusal of what the driver would refuse.
 */
#include "fake_libcuda_inside.h"

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
