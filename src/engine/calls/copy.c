/* SPDX-License-Identifier: MIT
 *
 * copy: elements from one array to another of the same shape, whatever their strides and, where
 * they are converted, dtypes. In: two arrays and a stream. Out: queued work: the device's own copy
 * if both are contiguous, otherwise a kernel of the engine.
 */
#include "engine/engine_internal.h"

static const struct {
    const char *in, *name, *operation;
} copies[QN_COPIES] = {
    [QN_COPY_SAME] = {"T x", "quern_copy", "y = x"},
    [QN_COPY_CONVERT] = {"S x", "quern_convert", "y = T(x)"},
    [QN_COPY_REAL_PART] = {"S x", "quern_real_part", "y = x.real()"},
    [QN_COPY_TRUTH] = {"S x", "quern_truth", "y = x.real() != 0 || x.imag() != 0"},
};

/* A kernel that copies any dtype and layout. Made once. It belongs to the engine, so it gives
 * back the reference to the engine that every kernel holds; otherwise the engine would never be
 * freed. */
static quern_status copy_kernel(quern_kernel **out, quern_engine *engine, qn_copy how)
{
    pthread_mutex_lock(&engine->copy_lock);
    quern_status status = QUERN_OK;
    if (!engine->copies[how]) {
        status = qn_kernel_new(
            &engine->copies[how], engine,
            &(qn_definition){.kind = &qn_elementwise_kind,
                             .in = copies[how].in,
                             .out = "T y",
                             .name = copies[how].name,
                             .texts[QN_OPERATION] = {"operation", copies[how].operation}});
        if (status == QUERN_OK) {
            qn_home_release(&engine->home);
        }
    }
    *out = engine->copies[how];
    pthread_mutex_unlock(&engine->copy_lock);
    return status;
}

quern_status qn_array_convert_to(quern_array *to, quern_array *from, qn_copy how,
                                 quern_stream *stream)
{
    quern_kernel *kernel;
    QN_TRY(copy_kernel(&kernel, qn_home_engine(to->buffer->home), how));
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    options.stream = stream;
    return qn_call_run(kernel, (quern_value[]){quern_value_array(from), quern_value_array(to)}, 2,
                       &options);
}

quern_status qn_array_copy_to(quern_array *to, quern_array *from, quern_stream *stream)
{
    const qn_home *home = to->buffer->home;
    if (to->contiguous && from->contiguous) {
        return home->methods->copy(home->device, to->data, from->data,
                                   (size_t)to->count * to->item_size, QUERN_COPY_ON_DEVICE,
                                   qn_stream_handle(home, stream), 0);
    }
    return qn_array_convert_to(to, from, QN_COPY_SAME, stream);
}
