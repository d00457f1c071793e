/* SPDX-License-Identifier: MIT
 *
 * What else a call with foreign arrays needs: one device for all, memory of the host copied to a
 * GPU and back, and the order of work on a GPU's streams. In: the arguments. Out: arrays that the
 * kernel reaches, and a stream to run on. The thing to know: where all arrays are of libraries that
 * tell their stream (by DLPack's table, or in the interface of CUDA arrays), that is one stream,
 * and none was chosen, the call runs there, and nothing waits; else it runs on the thread's current
 * stream, which waits for theirs, and theirs for it.
 */
#include "pyquern.h"

/* ---- one device ----------------------------------------------------------------------------- */

/* Tell once that host arrays are copied. */
static int tell(const qp_foreign *f, qp_arguments *a)
{
    qp_state *state = a->state;
    if (atomic_exchange(&state->has_told, true)) {
        return 0;
    }
    PyObject *name = PyType_GetName(Py_TYPE(f->object));
    const char *text = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    int status = text ? PyErr_WarnFormat(state->transfer_warning, 1,
                                         "argument %zu (%s) is in memory of the host: such arrays "
                                         "are copied to %s and outputs back, in each call; "
                                         "pyquern.asarray() copies once (this is told once)",
                                         f->argument, text, state->devices[a->device].id)
                      : -1;
    Py_XDECREF(name);
    return status;
}

/* The same memory as an array of another engine; pinned memory a GPU reaches as it is. */
static quern_status reach(quern_array **out, const qp_foreign *f, quern_engine *engine, bool is_gpu)
{
    quern_dl_tensor tensor;
    uint64_t flags = quern_array_is_read_only(f->array) ? QUERN_DL_READ_ONLY : 0;
    if (is_gpu) {
        quern_status status = quern_array_to_dltensor(&tensor, f->array);
        return status ? status : quern_array_from_dltensor(out, engine, &tensor, flags, NULL, NULL);
    }
    quern_status status =
        quern_array_wrap(out, engine, quern_array_dtype(f->array), quern_array_ndim(f->array),
                         quern_array_shape(f->array), quern_array_strides(f->array),
                         quern_array_pointer(f->array), NULL, NULL);
    return status == QUERN_OK && flags ? qp_array_fix(out) : status;
}

static quern_status copy_in(quern_array **out, const qp_foreign *f, quern_engine *engine,
                            bool copies)
{
    quern_array *host = f->array;
    quern_status status = copies ? quern_array_copy_to(out, host, engine)
                                 : quern_array_new(out, engine, quern_array_dtype(host),
                                                   quern_array_ndim(host), quern_array_shape(host));
    return status == QUERN_OK && quern_array_is_read_only(host) ? qp_array_fix(out) : status;
}

int qp_order_stage(qp_foreign *f, qp_arguments *a, bool copies)
{
    const qp_device *device = &a->state->devices[a->device];
    quern_array *array = NULL;
    quern_status status = reach(&array, f, device->engine, device->is_gpu);
    bool reaches = status == QUERN_OK;
    if (device->is_gpu) {
        a->has_staged = true;
    }
    /* what the driver says is elsewhere is not read as the host's */
    if (!reaches && device->is_gpu && status != QUERN_ERROR_INVALID_ARGUMENT) {
        if (tell(f, a) < 0) {
            return -1;
        }
        Py_BEGIN_ALLOW_THREADS status = copy_in(&array, f, device->engine, copies);
        Py_END_ALLOW_THREADS
    }
    if (qp_check(a->state, status) < 0) {
        return -1;
    }
    if (reaches) {
        quern_array_release(f->array);
    } else {
        f->staged = f->array;
    }
    f->array = array;
    return 0;
}

int qp_arguments_settle(qp_arguments *a)
{
    if (a->device < 0) {
        a->device = qp_device_current(a->state);
    }
    if (!a->has_host || a->device < 0) {
        return a->device < 0 ? -1 : 0;
    }
    for (size_t k = 0; k < a->foreign_count; k++) {
        qp_foreign *f = &a->foreign[k];
        if (f->is_host && f->device != a->device) {
            if (qp_order_stage(f, a, true) < 0) {
                return -1;
            }
            a->values[f->place] = quern_value_array(f->array);
        }
    }
    return 0;
}

/* ---- the order of work ---------------------------------------------------------------------- */

/* The stream that the array's library works on now: it says so, or the array did. `before`: an
 * array of the same call, whose stream is known; or NULL. */
static int find_stream(qp_foreign *f, const qp_foreign *before, qp_state *state)
{
    if ((f->type->way != QP_TABLE && f->type->way != QP_CUPY) || f->is_host) {
        return 0;
    }
    f->has_stream = true;
    if (before && before->type == f->type && before->device == f->device && before->has_stream) {
        f->stream = before->stream;
        return 0;
    }
    if (f->type->way == QP_CUPY) {
        return qp_cupy_stream(f, state);
    }
    return f->type->exchange->current_work_stream(QUERN_DL_CUDA, state->devices[f->device].number,
                                                  &f->stream);
}

int qp_arguments_stream(qp_arguments *a, quern_stream **stream, PyObject *object)
{
    if (!object || object == Py_None) {
        *stream = qp_stream_current(a->state, a->device);
        return 0;
    }
    const int taken = qp_stream_take(&a->held, a->state, a->device, object);
    *stream = a->held;
    return taken;
}

/* As quern_stream_follow() and _lead() want it: NULL is the legacy default stream. */
static void *handle_of(const qp_foreign *f)
{
    return f->stream ? f->stream : (void *)1;
}

int qp_arguments_before(qp_arguments *a, quern_stream **stream)
{
    qp_state *state = a->state;
    const qp_device *device = &state->devices[a->device];
    if (a->foreign_count == 0 || !device->is_gpu) {
        return 0; /* work of the software device is done when a call returns */
    }
    bool is_one = !a->has_own && !a->has_staged && *stream == device->usual;
    for (size_t k = 0; k < a->foreign_count; k++) {
        qp_foreign *f = &a->foreign[k];
        if (find_stream(f, k > 0 ? f - 1 : NULL, state) < 0) {
            return -1;
        }
        is_one &= f->has_stream && f->stream == a->foreign[0].stream;
    }
    a->is_theirs = is_one;
    if (is_one) {
        quern_stream_release(a->held);
        const int found =
            qp_stream_of_handle(&a->held, state, a->device, a->foreign[0].stream, NULL);
        *stream = a->held;
        return found;
    }
    for (size_t k = 0; k < a->foreign_count; k++) {
        const qp_foreign *f = &a->foreign[k];
        if (f->has_stream &&
            qp_check(state, quern_stream_follow(device->engine, *stream, handle_of(f))) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Wait here until the stream has done what is queued by now. */
static quern_status wait(quern_engine *engine, quern_stream *stream)
{
    quern_event *event;
    quern_status status = quern_event_new(&event, engine);
    if (status != QUERN_OK) {
        return status;
    }
    status = quern_event_record(event, stream);
    if (status == QUERN_OK) {
        status = quern_event_wait(event);
    }
    quern_event_release(event);
    return status;
}

static quern_status copy_back(const qp_foreign *f, const qp_state *state)
{
    quern_array *back;
    quern_status status = quern_array_copy_to(&back, f->array, state->devices[f->device].engine);
    if (status == QUERN_OK) {
        status = quern_array_assign(f->staged, back);
        quern_array_release(back);
    }
    return status;
}

int qp_arguments_after(qp_arguments *a, quern_stream *stream)
{
    const qp_state *state = a->state;
    const qp_device *device = &state->devices[a->device];
    if (a->foreign_count == 0 || !device->is_gpu) {
        return 0;
    }
    bool waits = a->has_staged;
    quern_status status = QUERN_OK;
    for (size_t k = 0; k < a->foreign_count && status == QUERN_OK; k++) {
        const qp_foreign *f = &a->foreign[k];
        /* Of a capsule nobody says which stream its library goes on with. */
        waits |= f->type->way == QP_CAPSULE && !f->is_host;
        if (f->has_stream && !a->is_theirs) {
            status = quern_stream_lead(device->engine, stream, handle_of(f));
        }
    }
    Py_BEGIN_ALLOW_THREADS if (waits && status == QUERN_OK)
    {
        status = wait(device->engine, stream);
    }
    for (size_t k = 0; k < a->foreign_count && status == QUERN_OK; k++) {
        const qp_foreign *f = &a->foreign[k];
        if (f->staged && f->is_output) {
            status = copy_back(f, state);
        }
    }
    Py_END_ALLOW_THREADS return qp_check(a->state, status);
}
