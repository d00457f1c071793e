/* SPDX-License-Identifier: MIT
 *
 * The device and the engine of fake_engine.h. The engine is its own device.
 */
#include "tests/support/fake_engine.h"

#include <string.h>

static quern_engine *engine_of(quern_device *device)
{
    return (quern_engine *)(void *)device;
}

static quern_status fail_if_due(quern_engine *engine)
{
    if (engine->fail_after > 0 && --engine->fail_after == 0) {
        return qn_fail(QUERN_ERROR_DEVICE_MEMORY, "the fake device was told to fail");
    }
    return QUERN_OK;
}

static quern_status fake_allocate(quern_device *device, void **out, size_t bytes, void *stream)
{
    (void)stream;
    quern_engine *engine = engine_of(device);
    *out = NULL;
    QN_TRY(fail_if_due(engine));
    *out = bytes > 0 && bytes < (SIZE_MAX >> 8) ? qn_alloc_aligned(256, bytes) : NULL;
    if (!*out) {
        return qn_fail(QUERN_ERROR_DEVICE_MEMORY, "no %zu bytes", bytes);
    }
    engine->live++;
    engine->live_bytes += bytes;
    return QUERN_OK;
}

static void fake_release(quern_device *device, void *pointer, size_t bytes, void *stream)
{
    (void)stream;
    engine_of(device)->live--;
    engine_of(device)->live_bytes -= bytes;
    qn_free(pointer);
}

static quern_status fake_adopt(quern_device *device, void *base, size_t bytes)
{
    quern_engine *engine = engine_of(device);
    QN_TRY(fail_if_due(engine));
    engine->adopted++;
    engine->last_adopted = base;
    engine->last_adopted_bytes = bytes;
    return QUERN_OK;
}

static void fake_disown(quern_device *device, void *base, size_t bytes)
{
    quern_engine *engine = engine_of(device);
    engine->adopted -= base == engine->last_adopted && bytes == engine->last_adopted_bytes;
}

static quern_status fake_copy(quern_device *device, void *to, const void *from, size_t bytes,
                              quern_copy_kind kind, void *stream, int wait)
{
    (void)kind, (void)stream, (void)wait;
    QN_TRY(fail_if_due(engine_of(device)));
    engine_of(device)->copies++;
    memcpy(to, from, bytes);
    return QUERN_OK;
}

static quern_status fake_fill(quern_device *device, void *to, const void *pattern,
                              size_t pattern_bytes, size_t count, void *stream)
{
    (void)stream;
    QN_TRY(fail_if_due(engine_of(device)));
    for (size_t k = 0; k < count; k++) {
        memcpy((char *)to + k * pattern_bytes, pattern, pattern_bytes);
    }
    return QUERN_OK;
}

const quern_device_methods fake_methods = {
    .size = sizeof(quern_device_methods),
    .version = QUERN_DEVICE_VERSION,
    .name = "fake",
    .allocate = fake_allocate,
    .release = fake_release,
    .adopt = fake_adopt,
    .disown = fake_disown,
    .copy = fake_copy,
    .fill = fake_fill,
};

const quern_device_methods fake_methods_without_adopt = {
    .size = sizeof(quern_device_methods),
    .version = QUERN_DEVICE_VERSION,
    .name = "fake",
    .allocate = fake_allocate,
    .release = fake_release,
    .copy = fake_copy,
    .fill = fake_fill,
};

static void copy_axis(const quern_array *to, const quern_array *from, int axis, char *t,
                      const char *f)
{
    if (axis == to->ndim) {
        memcpy(t, f, to->item_size);
        return;
    }
    for (int64_t k = 0; k < to->shape[axis]; k++) {
        copy_axis(to, from, axis + 1, t + k * to->strides[axis], f + k * from->strides[axis]);
    }
}

/* Instead of the engine's (src/engine/calls/copy.c). */
quern_status qn_array_copy_to(quern_array *to, quern_array *from, quern_stream *stream);

quern_status qn_array_copy_to(quern_array *to, quern_array *from, quern_stream *stream)
{
    (void)stream;
    quern_engine *engine = qn_home_engine(to->buffer->home);
    QN_TRY(fail_if_due(engine));
    engine->strided++;
    copy_axis(to, from, 0, to->data, from->data);
    return QUERN_OK;
}
