/* SPDX-License-Identifier: MIT
 *
 * A piece of device memory with one owner: allocated from the device, or foreign and only looked
 * at. In: a home and a size, or an address. Out: something to count references of.
 *
 * Zero bytes are never asked of a device: such a buffer has no address.
 */
#include "array/array_internal.h"

/* Fill a buffer that lies within `block`. */
static void begin(qn_buffer *buffer, void *block, qn_home *home, size_t bytes)
{
    *buffer = (qn_buffer){.block = block, .home = home, .bytes = bytes};
    atomic_init(&buffer->references, 1);
    atomic_init(&buffer->memory, QUERN_MEMORY_DEVICE);
}

/* Of work that is recorded: memory that is there at once, in the order of the home's own stream,
 * for as long as the graph. */
static quern_status new_kept(qn_buffer **out, qn_home *home, size_t bytes, quern_memory memory,
                             quern_stream *stream)
{
    qn_buffer *buffer;
    *out = NULL;
    QN_TRY(qn_buffer_new(&buffer, home, bytes, memory, NULL));
    quern_status status = qn_buffer_keep(buffer, stream);
    if (status == QUERN_OK) {
        status = qn_capture_settle(home, stream);
    }
    if (status != QUERN_OK) {
        qn_buffer_release(buffer);
        return status;
    }
    *out = buffer;
    return QUERN_OK;
}

quern_status qn_buffer_new(qn_buffer **out, qn_home *home, size_t bytes, quern_memory memory,
                           quern_stream *stream)
{
    *out = NULL;
    if (qn_stream_captures(stream)) {
        return new_kept(out, home, bytes, memory, stream);
    }
    qn_buffer *buffer = qn_alloc(sizeof *buffer); /* see qn_array_header() */
    if (!buffer) {
        return qn_fail_memory("making an array");
    }
    begin(buffer, buffer, home, bytes);
    buffer->stream = stream;
    atomic_init(&buffer->memory, (int)memory);
    quern_status status = QUERN_OK;
    if (bytes > 0) {
        status = qn_memory_new(&buffer->pointer, &buffer->source, home, bytes, memory,
                               qn_stream_handle(home, stream));
    }
    if (status != QUERN_OK) {
        qn_free(buffer);
        return status;
    }
    qn_home_retain(home);
    (void)qn_stream_retain(stream);
    *out = buffer;
    return QUERN_OK;
}

quern_status qn_buffer_adopt(qn_buffer *buffer, void *block, qn_home *home, void *base,
                             size_t bytes, void (*release)(void *context), void *context)
{
    begin(buffer, block, home, bytes);
    buffer->foreign = true;
    buffer->pointer = base;
    buffer->release = release;
    buffer->context = context;
    if (bytes > 0 && home->methods->adopt) {
        QN_TRY(home->methods->adopt(home->device, base, bytes));
    }
    qn_home_retain(home);
    return QUERN_OK;
}

/* What the device knows of the address; where it cannot tell, its own: wrapped memory is given as
 * such. */
static quern_memory ask(const qn_buffer *buffer)
{
    const qn_home *home = buffer->home;
    quern_pointer_info info = QUERN_POINTER_INFO_INIT;
    const bool known =
        buffer->bytes > 0 && home->methods->pointer_info &&
        home->methods->pointer_info(home->device, buffer->pointer, &info) == QUERN_OK &&
        info.memory != QUERN_MEMORY_HOST;
    return known ? (quern_memory)info.memory : QUERN_MEMORY_DEVICE;
}

quern_memory qn_buffer_memory(qn_buffer *buffer)
{
    int memory = atomic_load_explicit(&buffer->memory, memory_order_relaxed);
    if (memory == QUERN_MEMORY_HOST) {
        memory = (int)ask(buffer);
        atomic_store_explicit(&buffer->memory, memory, memory_order_relaxed);
    }
    return (quern_memory)memory;
}

void qn_buffer_retain(qn_buffer *buffer)
{
    atomic_fetch_add_explicit(&buffer->references, 1, memory_order_relaxed);
}

/* Let the device go of the memory; foreign memory goes back to its owner after that. */
static void let_go(const qn_buffer *buffer)
{
    qn_home *home = buffer->home;
    if (buffer->bytes == 0) {
        return;
    }
    if (!buffer->foreign) {
        qn_memory_free(buffer->pointer, buffer->source, home, buffer->bytes,
                       (quern_memory)atomic_load(&buffer->memory),
                       qn_stream_handle(home, buffer->stream));
    } else if (home->methods->disown) {
        home->methods->disown(home->device, buffer->pointer, buffer->bytes);
    }
}

static void drop_kept(void *buffer)
{
    qn_buffer_release(buffer);
}

quern_status qn_buffer_keep(qn_buffer *buffer, quern_stream *stream)
{
    qn_buffer_retain(buffer);
    const quern_status status = qn_capture_keep(stream, buffer, drop_kept);
    if (status != QUERN_OK) {
        qn_buffer_release(buffer);
    }
    return status;
}

/* Nobody uses it any longer. */
static void end(qn_deferred *deferred)
{
    qn_buffer *buffer = (qn_buffer *)(void *)deferred;
    qn_home *home = buffer->home;
    void (*const release)(void *context) = buffer->release;
    void *const context = buffer->context;
    let_go(buffer);
    qn_stream_release(buffer->stream);
    qn_free(buffer->block);
    if (release) {
        release(context); /* while the device is open: it may be what the memory is freed with */
    }
    qn_home_release(home); /* last: it may close the device */
}

void qn_buffer_release(qn_buffer *buffer)
{
    if (!buffer || atomic_fetch_sub_explicit(&buffer->references, 1, memory_order_acq_rel) != 1) {
        return;
    }
    buffer->deferred.finish = end;
    if (!qn_stream_captures(buffer->stream) || buffer->foreign ||
        !qn_capture_defer(buffer->home, buffer->stream->handle, &buffer->deferred)) {
        end(&buffer->deferred);
    }
}
