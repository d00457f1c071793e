/* SPDX-License-Identifier: MIT
 *
 * Memory of the software device: host memory that kernels may touch. In: sizes. Out: addresses that
 * are multiples of 256, with a guard zone on both sides that is in no array, so that an access a
 * little outside of one never falls into its neighbour unseen. Large arrays come from the kernel as
 * pages that take memory when they are first touched.
 */
#include "device/soft/soft_device.h"

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

void qn_soft_host_memory(uint64_t *available, uint64_t *total)
{
    struct sysinfo facts = {0};
    (void)sysinfo(&facts);
    *available = (uint64_t)facts.freeram * facts.mem_unit;
    *total = (uint64_t)facts.totalram * facts.mem_unit;
}

static quern_status fail_allocation(size_t bytes)
{
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

/* What reports call each kind of memory, which is known by it. */
static const char *const labels[] = {
    [QUERN_MEMORY_DEVICE] = "array of",
    [QUERN_MEMORY_PINNED] = "pinned array of",
    [QUERN_MEMORY_MAPPED] = "mapped array of",
    [QUERN_MEMORY_MANAGED] = "managed array of",
};

/* `what` of so many bytes is there: "array of". */
static bool map_add(soft_device *device, void *base, size_t bytes, const char *what)
{
    return device->options.aids.check_init
               ? qn_memory_map_add_unwritten(device->memory, base, bytes, what)
               : qn_memory_map_add(device->memory, base, bytes, what);
}

/* The host wrote `bytes` at `to`, or copied them from another place of the device. */
static void note_written(quern_device *quern, const void *to, size_t bytes, const void *from)
{
    const soft_device *device = soft_of(quern);
    if (device->options.aids.check_init) {
        qn_memory_map_written(device->memory, to, bytes, from);
    }
}

static quern_status allocate(quern_device *quern, void **out, size_t bytes, const char *what,
                             void *stream)
{
    soft_device *device = soft_of(quern);
    *out = NULL;
    if (bytes == 0) {
        return QUERN_OK;
    }
    void *pointer = take(bytes);
    if (!pointer) {
        return fail_allocation(bytes);
    }
    if (!map_add(device, pointer, bytes, what)) {
        give_back(pointer, bytes);
        return qn_fail_memory("allocating an array");
    }
    if (device->history) {
        qn_stream_memory_add(device->history, pointer, bytes, stream, true);
    }
    *out = pointer;
    return QUERN_OK;
}

quern_status qn_soft_allocate(quern_device *device, void **out, size_t bytes, void *stream)
{
    return allocate(device, out, bytes, labels[QUERN_MEMORY_DEVICE], stream);
}

quern_status qn_soft_allocate_in(quern_device *device, void **out, size_t bytes,
                                 quern_memory memory, void *stream)
{
    return allocate(device, out, bytes, labels[memory], stream);
}

static void forget_order(quern_device *quern, const void *pointer, size_t bytes)
{
    if (soft_of(quern)->history) {
        qn_stream_memory_remove(soft_of(quern)->history, pointer, bytes);
    }
}

void qn_soft_release(quern_device *quern, void *pointer, size_t bytes, void *stream)
{
    if (pointer && soft_of(quern)->history) {
        qn_soft_check_release(quern, pointer, bytes, stream);
    }
    if (pointer) {
        qn_memory_map_remove(soft_of(quern)->memory, pointer, bytes);
        forget_order(quern, pointer, bytes);
        give_back(pointer, bytes);
    }
}

void qn_soft_release_in(quern_device *device, void *pointer, size_t bytes, quern_memory memory,
                        void *stream)
{
    (void)memory;
    qn_soft_release(device, pointer, bytes, stream);
}

void *qn_soft_host_pointer(quern_device *device, void *pointer)
{
    (void)device;
    return pointer;
}

static quern_status fail_crossing(uint64_t begin, size_t bytes, const uint64_t crossed[2])
{
    const unsigned long long size = crossed[1] - crossed[0];
    if (begin < crossed[0]) {
        return qn_fail(
            QUERN_ERROR_INVALID_ARGUMENT,
            "the memory to wrap begins %llu bytes before an array of %llu bytes: address, "
            "shape or strides are wrong",
            (unsigned long long)(crossed[0] - begin), size);
    }
    return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                   "the memory to wrap reaches %llu bytes past the end of an array of %llu bytes: "
                   "address, shape or strides are wrong",
                   (unsigned long long)(begin + bytes - crossed[1]), size);
}

quern_status qn_soft_adopt(quern_device *quern, void *base, size_t bytes)
{
    uint64_t crossed[2];
    switch (
        qn_memory_map_adopt(soft_of(quern)->memory, base, bytes, "wrapped memory of", crossed)) {
    case QN_ADOPTED:
        if (soft_of(quern)->history) {
            qn_stream_memory_add(soft_of(quern)->history, base, bytes, NULL, false);
        }
        return QUERN_OK;
    case QN_ADOPTION_CROSSES:
        return fail_crossing((uint64_t)(uintptr_t)base, bytes, crossed);
    default:
        return qn_fail_memory("wrapping foreign memory");
    }
}

void qn_soft_disown(quern_device *quern, void *base, size_t bytes)
{
    qn_memory_map_remove(soft_of(quern)->memory, base, bytes);
    forget_order(quern, base, bytes);
}

/* Its memory is the host's, whatever it is called. */
void qn_soft_place(quern_device *device, int32_t *type, int32_t *number)
{
    (void)device;
    *type = QN_PLACE_HOST;
    *number = 0;
}

/* The kind of memory that a label is of; variables and what is wrapped are the device's. */
static quern_memory kind_of(const char *label)
{
    quern_memory memory = label ? QUERN_MEMORY_DEVICE : QUERN_MEMORY_HOST;
    for (size_t k = QUERN_MEMORY_PINNED; k < QN_COUNT(labels); k++) {
        memory = label == labels[k] ? (quern_memory)k : memory;
    }
    return memory;
}

quern_status qn_soft_pointer_info(quern_device *quern, const void *pointer,
                                  quern_pointer_info *info)
{
    QN_TO_GIVE(quern_pointer_info, facts, info);
    facts.memory = kind_of(qn_memory_map_label(soft_of(quern)->memory, pointer));
    facts.device = facts.memory != QUERN_MEMORY_HOST ? 0 : -1;
    facts.device_pointer = (void *)pointer;
    QN_GIVE(quern_pointer_info, facts, info);
    return QUERN_OK;
}

/* ---- copies and fills: done when the call returns ------------------------------------------- */

static quern_status check_copy(quern_device *quern, const void *to, const void *from, size_t bytes,
                               quern_copy_kind kind, void *stream)
{
    const soft_touched t = {
        .what = kind == QUERN_COPY_TO_HOST     ? "a copy to the host"
                : kind == QUERN_COPY_TO_DEVICE ? "a copy from the host"
                                               : "a copy",
        .read = kind == QUERN_COPY_TO_DEVICE ? NULL : from,
        .written = kind == QUERN_COPY_TO_HOST ? NULL : to,
        .bytes = bytes,
    };
    return qn_soft_check_order(quern, stream, &t);
}

static void move(quern_device *device, void *to, const void *from, size_t bytes,
                 quern_copy_kind kind)
{
    if (bytes > 0) {
        memmove(to, from, bytes);
        note_written(device, to, bytes, kind == QUERN_COPY_ON_DEVICE ? from : NULL);
    }
}

/* A copy while something is recorded, or streams are checked. */
static quern_status copy_watched(quern_device *device, void *to, const void *from, size_t bytes,
                                 quern_copy_kind kind, void *stream, int wait)
{
    quern_status status = QUERN_OK;
    if (qn_soft_captures(device) &&
        qn_soft_record_copy(device, to, from, bytes, kind, stream, &status)) {
        return status;
    }
    if (soft_of(device)->history && bytes > 0) {
        QN_TRY(check_copy(device, to, from, bytes, kind, stream));
    }
    move(device, to, from, bytes, kind);
    return wait ? qn_soft_stream_wait(device, stream) : QUERN_OK;
}

quern_status qn_soft_copy(quern_device *device, void *to, const void *from, size_t bytes,
                          quern_copy_kind kind, void *stream, int wait)
{
    if (__builtin_expect(qn_soft_captures(device) || soft_of(device)->history, false)) {
        return copy_watched(device, to, from, bytes, kind, stream, wait);
    }
    move(device, to, from, bytes, kind);
    return QUERN_OK;
}

quern_status qn_soft_copy_from(quern_device *device, void *to, quern_device *source,
                               const void *from, size_t bytes, void *stream, void *source_stream)
{
    static const char what[] = "a copy between devices";
    if (soft_of(source)->history) {
        QN_TRY(
            qn_soft_check_order(source, source_stream, &(soft_touched){what, from, NULL, bytes}));
    }
    if (soft_of(device)->history) {
        QN_TRY(qn_soft_check_order(device, stream, &(soft_touched){what, NULL, to, bytes}));
    }
    memcpy(to, from, bytes);
    note_written(device, to, bytes, NULL);
    return QUERN_OK;
}

quern_status qn_soft_fill(quern_device *device, void *to, const void *pattern, size_t pattern_bytes,
                          size_t count, void *stream)
{
    quern_status status;
    if (qn_soft_captures(device) &&
        qn_soft_record_fill(device, to, pattern, pattern_bytes, count, stream, &status)) {
        return status;
    }
    size_t total = pattern_bytes * count;
    if (total == 0) {
        return QUERN_OK;
    }
    if (soft_of(device)->history) {
        const soft_touched t = {.what = "a fill", .written = to, .bytes = total};
        QN_TRY(qn_soft_check_order(device, stream, &t));
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
