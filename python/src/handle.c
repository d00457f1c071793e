/* SPDX-License-Identifier: MIT
 *
 * Streams of other libraries, wrapped. In: a handle, and what keeps it. Out: Quern's stream, made
 * once and remembered. The thing to know: what uses a wrapped stream (an array's memory, a bound
 * call) holds it, and with it the object that keeps the handle, so that no work goes to a stream
 * that is gone.
 */
#include "pyquern.h"

quern_status qp_stream_wrap(quern_stream **out, quern_engine *engine, void *handle, PyObject *owner)
{
    if (!owner) {
        return quern_stream_wrap(out, engine, handle);
    }
    quern_status status = quern_stream_wrap_owned(out, engine, handle, qp_let_go, Py_NewRef(owner));
    if (status != QUERN_OK) {
        Py_DECREF(owner);
    }
    return status;
}

static quern_stream *find(const qp_state *state, int device, const void *handle)
{
    for (int k = 0; k < QP_HANDLES; k++) {
        const qp_handle *h = &state->handles[k];
        if (h->stream && h->handle == handle && h->device == device) {
            return h->stream;
        }
    }
    return NULL;
}

int qp_stream_of_handle(quern_stream **out, qp_state *state, int device, void *handle,
                        PyObject *owner)
{
    qp_lock();
    *out = quern_stream_retain(find(state, device, handle));
    qp_unlock();
    if (*out) {
        return 0;
    }
    quern_engine *engine = state->devices[device].engine;
    if (qp_check(state, qp_stream_wrap(out, engine, handle, owner)) < 0) {
        return -1;
    }
    quern_stream_retain(*out); /* once for the caller, once for the list */
    qp_lock();
    qp_handle *h = &state->handles[state->next_handle];
    state->next_handle = (state->next_handle + 1) % QP_HANDLES;
    quern_stream *before = h->stream;
    *h = (qp_handle){handle, *out, device};
    qp_unlock();
    quern_stream_release(before); /* what is queued on it holds it, and so does who works on it */
    return 0;
}
