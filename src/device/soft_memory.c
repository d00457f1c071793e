/* SPDX-License-Identifier: MIT
 *
 * Memory of the software device: host memory that kernels may touch. In: sizes. Out: addresses that
 * are multiples of 256, with a guard zone on both sides that is in no array, so that an access a
 * little outside of one never falls into its neighbour unseen. Large arrays come from the kernel as
 * pages that take memory when they are first touched.
 */
#include "device/soft_device.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>

enum { GUARD = 256, LARGE = 1 << 20, LARGE_GUARD = 4096 };

/* ---- where it comes from -------------------------------------------------------------------- */

static unsigned char *take(size_t bytes)
{
    size_t guard = bytes < LARGE ? GUARD : LARGE_GUARD;
    size_t whole = bytes + 2 * guard;
    if (whole < bytes || whole > SIZE_MAX / 2) {
        return NULL;
    }
    if (bytes < LARGE) {
        unsigned char *base = qn_alloc_aligned(GUARD, (whole + GUARD - 1) / GUARD * GUARD);
        return base ? base + guard : NULL;
    }
    void *base = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return base != MAP_FAILED ? (unsigned char *)base + guard : NULL;
}

static void give_back(unsigned char *pointer, size_t bytes)
{
    if (bytes < LARGE) {
        qn_free(pointer - GUARD);
    } else {
        (void)munmap(pointer - LARGE_GUARD, bytes + 2 * LARGE_GUARD);
    }
}

static void *take_any(soft_device *device, size_t bytes)
{
    return device->foreign_memory
               ? device->allocator.allocate(device->allocator.context, bytes, 256, NULL)
               : take(bytes);
}

static void give_back_any(soft_device *device, void *pointer, size_t bytes)
{
    if (device->foreign_memory) {
        device->allocator.release(device->allocator.context, pointer, bytes, NULL);
    } else {
        give_back(pointer, bytes);
    }
}

void qn_soft_host_memory(uint64_t *available, uint64_t *total)
{
    struct sysinfo facts = {0};
    (void)sysinfo(&facts);
    *available = (uint64_t)facts.freeram * facts.mem_unit;
    *total = (uint64_t)facts.totalram * facts.mem_unit;
}

static quern_status fail_allocation(const soft_device *device, size_t bytes)
{
    if (device->foreign_memory) {
        return qn_fail(QUERN_ERROR_DEVICE_MEMORY, "the program's own allocator has no %zu bytes",
                       bytes);
    }
    uint64_t available, total;
    qn_soft_host_memory(&available, &total);
    struct rlimit space;
    char limit[80] = "";
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) {
        snprintf(limit, sizeof limit, ", and this process may have %llu in all (ulimit -v)",
                 (unsigned long long)space.rlim_cur);
    }
    return qn_fail(QUERN_ERROR_DEVICE_MEMORY,
                   "%zu bytes were asked of the software device; %llu of this machine's %llu are "
                   "free%s",
                   bytes, (unsigned long long)available, (unsigned long long)total, limit);
}

/* ---- arrays, and foreign memory that kernels may touch -------------------------------------- */

/* Foreign memory counts as written: its owner may have done so. */
static bool map_add(soft_device *device, void *base, size_t bytes, const char *what, bool unwritten)
{
    char label[64];
    snprintf(label, sizeof label, "%s of %zu byte%s", what, bytes, bytes == 1 ? "" : "s");
    return unwritten ? qn_memory_map_add_unwritten(device->memory, base, bytes, label)
                     : qn_memory_map_add(device->memory, base, bytes, label);
}

/* The host wrote `bytes` at `to`, or copied them from another place of the device. */
static void note_written(quern_device *quern, const void *to, size_t bytes, const void *from)
{
    const soft_device *device = soft_of(quern);
    if (device->options.aids.check_init) {
        qn_memory_map_written(device->memory, to, bytes, from);
    }
}

quern_status qn_soft_allocate(quern_device *quern, void **out, size_t bytes, void *stream)
{
    (void)stream;
    soft_device *device = soft_of(quern);
    *out = NULL;
    if (bytes == 0) {
        return QUERN_OK;
    }
    void *pointer = take_any(device, bytes);
    if (!pointer) {
        return fail_allocation(device, bytes);
    }
    if (!map_add(device, pointer, bytes, "array",
                 device->options.aids.check_init && !device->foreign_memory)) {
        give_back_any(device, pointer, bytes);
        return qn_fail_memory("allocating an array");
    }
    *out = pointer;
    return QUERN_OK;
}

void qn_soft_release(quern_device *quern, void *pointer, size_t bytes, void *stream)
{
    (void)stream;
    if (pointer) {
        qn_memory_map_remove(soft_of(quern)->memory, pointer, bytes);
        give_back_any(soft_of(quern), pointer, bytes);
    }
}

quern_status qn_soft_adopt(quern_device *quern, void *base, size_t bytes)
{
    return map_add(soft_of(quern), base, bytes, "wrapped memory", false)
               ? QUERN_OK
               : qn_fail_memory("wrapping foreign memory");
}

void qn_soft_disown(quern_device *quern, void *base, size_t bytes)
{
    qn_memory_map_remove(soft_of(quern)->memory, base, bytes);
}

/* ---- copies and fills: done when the call returns ------------------------------------------- */

quern_status qn_soft_copy(quern_device *device, void *to, const void *from, size_t bytes,
                          quern_copy_kind kind, void *stream, int wait)
{
    (void)stream;
    (void)wait;
    if (bytes > 0) {
        memmove(to, from, bytes);
        note_written(device, to, bytes, kind == QUERN_COPY_ON_DEVICE ? from : NULL);
    }
    return QUERN_OK;
}

quern_status qn_soft_fill(quern_device *device, void *to, const void *pattern, size_t pattern_bytes,
                          size_t count, void *stream)
{
    (void)stream;
    size_t total = pattern_bytes * count;
    if (total == 0) {
        return QUERN_OK;
    }
    note_written(device, to, total, NULL);
    unsigned char *bytes = to;
    memcpy(bytes, pattern, pattern_bytes);
    /* append what is there to itself, in pieces that stay in the first-level cache */
    for (size_t done = pattern_bytes; done < total;) {
        size_t next = QN_MIN(QN_MIN(done, (size_t)16384), total - done);
        memcpy(bytes + done, bytes, next);
        done += next;
    }
    return QUERN_OK;
}
