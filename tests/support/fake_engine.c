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

static const quern_device_methods methods = {
    .size = sizeof methods,
    .version = QUERN_DEVICE_VERSION,
    .name = "fake",
    .allocate = fake_allocate,
    .release = fake_release,
    .adopt = fake_adopt,
    .disown = fake_disown,
    .copy = fake_copy,
    .fill = fake_fill,
};

static const quern_device_methods methods_without_adopt = {
    .size = sizeof methods,
    .version = QUERN_DEVICE_VERSION,
    .name = "fake",
    .allocate = fake_allocate,
    .release = fake_release,
    .copy = fake_copy,
    .fill = fake_fill,
};

void qn_engine_retain(quern_engine *engine)
{
    engine->references++;
}

void qn_engine_release(quern_engine *engine)
{
    engine->references--;
}

const quern_device_methods *qn_engine_methods(quern_engine *engine)
{
    return engine->no_adopt ? &methods_without_adopt : &methods;
}

quern_device *qn_engine_device(quern_engine *engine)
{
    return (quern_device *)(void *)engine;
}

void *qn_stream_handle(const quern_engine *engine, const quern_stream *stream)
{
    (void)engine, (void)stream;
    return NULL;
}

quern_stream *qn_stream_retain(quern_stream *stream)
{
    return stream;
}

void qn_stream_release(quern_stream *stream)
{
    (void)stream;
}

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

quern_status qn_engine_copy(quern_engine *engine, quern_array *to, quern_array *from)
{
    QN_TRY(fail_if_due(engine));
    engine->strided++;
    copy_axis(to, from, 0, to->data, from->data);
    return QUERN_OK;
}
