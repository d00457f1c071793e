/* SPDX-License-Identifier: MIT
 *
 * copy_between: an array of one engine to another. In: an array and an engine. Out: a new array
 * there. Two devices of one kind copy between them as they know how; others go through the host.
 */
#include "engine/engine_internal.h"

#define PIECE ((size_t)8 << 20) /* bytes that go through the host at once */

static bool is_ours(const quern_array *array)
{
    return qn_buffer_memory(array->buffer) == QUERN_MEMORY_DEVICE;
}

static quern_status copy_directly(const quern_array *to, const quern_array *from, size_t bytes)
{
    const qn_home *home = to->buffer->home, *source = from->buffer->home;
    return home->methods->copy_from(home->device, to->data, source->device, from->data, bytes,
                                    home->stream, source->stream);
}

/* From memory that the host may touch. */
static quern_status copy_from_host(const quern_array *to, const quern_array *from, const void *host,
                                   size_t bytes)
{
    const qn_home *home = to->buffer->home, *source = from->buffer->home;
    QN_TRY(source->methods->stream_wait(source->device, source->stream));
    return home->methods->copy(home->device, to->data, host, bytes, QUERN_COPY_TO_DEVICE,
                               home->stream, 1);
}

static quern_status copy_pieces(const quern_array *to, const quern_array *from, void *host,
                                size_t bytes)
{
    const qn_home *home = to->buffer->home, *source = from->buffer->home;
    for (size_t done = 0; done < bytes; done += PIECE) {
        const size_t next = QN_MIN(bytes - done, PIECE);
        QN_TRY(source->methods->copy(source->device, host, (char *)from->data + done, next,
                                     QUERN_COPY_TO_HOST, source->stream, 1));
        QN_TRY(home->methods->copy(home->device, (char *)to->data + done, host, next,
                                   QUERN_COPY_TO_DEVICE, home->stream, 1));
    }
    return QUERN_OK;
}

static quern_status copy_through_host(const quern_array *to, const quern_array *from, size_t bytes)
{
    void *host = qn_alloc(QN_MIN(bytes, PIECE));
    if (!host) {
        return qn_fail_memory("copying between devices");
    }
    quern_status status = copy_pieces(to, from, host, bytes);
    qn_free(host);
    return status;
}

/* All bytes of a contiguous array into one of another home. */
static quern_status copy_bytes(const quern_array *to, const quern_array *from)
{
    const size_t bytes = (size_t)from->count * from->item_size;
    const qn_home *home = to->buffer->home, *source = from->buffer->home;
    if (bytes == 0) {
        return QUERN_OK;
    }
    if (is_ours(from) && home->methods->copy_from &&
        home->methods->copy_from == source->methods->copy_from) {
        return copy_directly(to, from, bytes);
    }
    const void *host = quern_array_host_pointer(from);
    return host ? copy_from_host(to, from, host, bytes) : copy_through_host(to, from, bytes);
}

static quern_status copy_contiguous(quern_array **out, const quern_array *array, qn_home *home)
{
    quern_array *copy;
    QN_TRY(qn_array_new_on(&copy, home, array->dtype, array->ndim, array->shape, NULL));
    quern_status status = copy_bytes(copy, array);
    if (status != QUERN_OK) {
        quern_array_release(copy);
        return status;
    }
    *out = copy;
    return QUERN_OK;
}

quern_status quern_array_copy_to(quern_array **out, quern_array *array, quern_engine *engine)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(array, QN_OBJECT_ARRAY);
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    qn_home *home = qn_home_of(engine);
    if (array->buffer->home == home) {
        return qn_array_copy(out, array);
    }
    if (array->contiguous) {
        return copy_contiguous(out, array, home);
    }
    quern_array *gathered;
    QN_TRY(qn_array_copy(&gathered, array));
    quern_status status = copy_contiguous(out, gathered, home);
    quern_array_release(gathered);
    return status;
}
