/* SPDX-License-Identifier: MIT
 *
 * Streams, our own and those of other libraries, and the one that each thread works on. In:
 * handles, objects with __cuda_stream__. Out: what calls are queued on. The thing to know: a thread
 * that never chose a stream has no table of them, so a call asks one pointer; the table holds its
 * streams, and goes with its thread.
 */
#include "pyquern.h"

#include <pthread.h>
#include <stdlib.h>

/* ---- the current stream --------------------------------------------------------------------- */

_Thread_local quern_stream **qp_streams;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_key;

static void end_thread(void *table)
{
    quern_stream **streams = table;
    qp_streams = NULL;
    for (int k = 0; k < QP_MAX_DEVICES; k++) {
        quern_stream_release(streams[k]);
    }
    free(streams);
}

static void make_key(void)
{
    has_key = pthread_key_create(&key, end_thread) == 0;
}

/* Make `stream` (NULL: the usual one) the thread's on a device. */
static int use(int device, quern_stream *stream)
{
    if (!qp_streams && !stream) {
        return 0;
    }
    if (!qp_streams) {
        pthread_once(&once, make_key);
        quern_stream **table = has_key ? calloc(QP_MAX_DEVICES, sizeof *table) : NULL;
        if (!table || pthread_setspecific(key, table) != 0) {
            free(table);
            PyErr_NoMemory();
            return -1;
        }
        qp_streams = table;
    }
    quern_stream *before = qp_streams[device];
    qp_streams[device] = quern_stream_retain(stream);
    quern_stream_release(before);
    return 0;
}

void qp_streams_end(qp_state *state)
{
    if (qp_streams) {
        pthread_setspecific(key, NULL);
        end_thread(qp_streams);
    }
    for (int k = 0; k < QP_HANDLES; k++) {
        quern_stream_release(state->handles[k].stream);
        state->handles[k].stream = NULL;
    }
}

/* ---- streams of others ---------------------------------------------------------------------- */

/* The handle that an object names: 1, and *handle is filled; 0: it names none; -1: an exception. */
static int handle_of(void **handle, qp_state *state, PyObject *object)
{
    PyObject *value = NULL;
    if (PyLong_Check(object)) {
        value = Py_NewRef(object);
    } else if (PyObject_HasAttr(object, state->texts[QP_CUDA_STREAM_METHOD])) {
        PyObject *method = PyObject_GetAttr(object, state->texts[QP_CUDA_STREAM_METHOD]);
        PyObject *pair = method ? PyObject_CallNoArgs(method) : NULL;
        value = pair ? PySequence_GetItem(pair, 1) : NULL;
        Py_XDECREF(method);
        Py_XDECREF(pair);
    } else if (PyObject_HasAttr(object, state->texts[QP_CUDA_STREAM])) { /* older PyTorch */
        value = PyObject_GetAttr(object, state->texts[QP_CUDA_STREAM]);
    } else if (PyObject_HasAttr(object, state->texts[QP_PTR])) { /* older CuPy */
        value = PyObject_GetAttr(object, state->texts[QP_PTR]);
    } else {
        return 0;
    }
    *handle = value ? PyLong_AsVoidPtr(value) : NULL;
    Py_XDECREF(value);
    return PyErr_Occurred() ? -1 : 1;
}

static int wrong_stream(PyObject *object)
{
    PyErr_Format(PyExc_TypeError,
                 "stream is %R: a Stream, a handle, or an object with __cuda_stream__ was expected",
                 Py_TYPE(object));
    return -1;
}

int qp_stream_take(quern_stream **out, qp_state *state, int device, PyObject *object)
{
    if (!object || object == Py_None) {
        *out = quern_stream_retain(qp_stream_current(state, device));
        return 0;
    }
    *out = NULL;
    if (PyObject_TypeCheck(object, state->stream)) {
        const qp_stream *s = (const qp_stream *)object;
        if (s->device != device) {
            PyErr_Format(PyExc_ValueError, "the stream is of %s, and the work is for %s",
                         state->devices[s->device].id, state->devices[device].id);
            return -1;
        }
        *out = quern_stream_retain(s->stream);
        return 0;
    }
    void *handle;
    int found = handle_of(&handle, state, object);
    return found == 0  ? wrong_stream(object)
           : found < 0 ? -1
                       : qp_stream_of_handle(out, state, device, handle, object);
}

int qp_stream_order(qp_state *state, int device, bool own_waits)
{
    quern_stream *current = qp_stream_current(state, device);
    quern_event *mark;
    quern_status status = quern_event_new(&mark, state->devices[device].engine);
    if (status == QUERN_OK) {
        status = quern_event_record(mark, own_waits ? current : NULL);
    }
    if (status == QUERN_OK) {
        status = quern_stream_wait_event(own_waits ? NULL : current, mark);
    }
    int ordered = qp_check(state, status);
    quern_event_release(mark);
    return ordered;
}

/* ---- Stream --------------------------------------------------------------------------------- */

static quern_status make(quern_stream **out, const qp_device *device, const char *how, void *handle,
                         PyObject *owner, int non_blocking, int priority)
{
    if (strcmp(how, "usual") == 0) {
        *out = quern_stream_retain(device->usual);
        return QUERN_OK;
    }
    if (strcmp(how, "wrap") == 0) {
        return qp_stream_wrap(out, device->engine, handle, owner);
    }
    quern_stream_options options = QUERN_STREAM_OPTIONS_INIT;
    options.non_blocking = non_blocking;
    options.priority = priority;
    return quern_stream_new_with(out, device->engine, &options);
}

/* Stream(how, foreign, non_blocking, priority): "new"; "usual"; "wrap", of `foreign`, a
 * handle or an object that has one */
static PyObject *new_stream(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    (void)keywords;
    const char *how;
    PyObject *foreign = Py_None;
    int non_blocking = 0, priority = 0, device;
    qp_state *state = qp_state_of(type);
    if (!state ||
        !PyArg_ParseTuple(args, "s|Opi:Stream", &how, &foreign, &non_blocking, &priority)) {
        return NULL;
    }
    void *handle = NULL;
    int found = foreign == Py_None ? 1 : handle_of(&handle, state, foreign);
    if (found <= 0) {
        return found == 0 ? (wrong_stream(foreign), NULL) : NULL;
    }
    device = qp_device_current(state);
    qp_stream *self = device < 0 ? NULL : (qp_stream *)qp_object_new(type);
    if (!self) {
        return NULL;
    }
    self->state = state;
    self->device = device;
    if (qp_check(state, make(&self->stream, &state->devices[device], how, handle, foreign,
                             non_blocking, priority)) < 0) {
        Py_DECREF((PyObject *)self);
        return NULL;
    }
    return (PyObject *)self;
}

static quern_status end_capture(qp_stream *s, quern_graph **graph)
{
    quern_status status = quern_stream_end_capture(graph, s->stream);
    if (status != QUERN_ERROR_INVALID_ARGUMENT) {
        PyObject *recorded = NULL;
        s->captures = false;
        qp_lock();
        if (--s->state->captures == 0) {
            recorded = s->state->recorded;
            s->state->recorded = NULL;
        }
        qp_unlock();
        Py_XDECREF(recorded);
    }
    return status;
}

static void dealloc(PyObject *self)
{
    qp_stream *s = (qp_stream *)self;
    quern_graph *graph = NULL;
    if (s->captures) { /* nobody will end it */
        end_capture(s, &graph);
        quern_graph_release(graph);
    }
    quern_stream_release(s->stream);
    Py_XDECREF(s->recorded);
    qp_object_free(self);
}

static PyObject *synchronize(PyObject *self, PyObject *unused)
{
    (void)unused;
    qp_stream *s = (qp_stream *)self;
    quern_status status;
    Py_BEGIN_ALLOW_THREADS status = quern_stream_wait(s->stream);
    Py_END_ALLOW_THREADS return qp_none(s->state, status);
}

static PyObject *get_done(PyObject *self, void *unused)
{
    (void)unused;
    const qp_stream *s = (const qp_stream *)self;
    int done;
    return qp_check(s->state, quern_stream_query(&done, s->stream)) < 0 ? NULL
                                                                        : PyBool_FromLong(done);
}

static PyObject *get_ptr(PyObject *self, void *unused)
{
    (void)unused;
    const qp_stream *s = (const qp_stream *)self;
    return PyLong_FromVoidPtr(quern_stream_handle(s->stream));
}

static PyObject *get_place(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong(((qp_stream *)self)->device);
}

static PyObject *get_captures(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((qp_stream *)self)->captures);
}

/* _use(): from now on this thread works on it */
static PyObject *use_stream(PyObject *self, PyObject *unused)
{
    (void)unused;
    const qp_stream *s = (const qp_stream *)self;
    if (use(s->device, s->stream) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* ---- functions of the host ------------------------------------------------------------------ */

/* `context`: a tuple of a function and its argument. */
static void call_recorded(void *context)
{
    if (!Py_IsInitialized()) {
        return;
    }
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *function = PyTuple_GetItem(context, 0);
    PyObject *result = PyObject_CallFunctionObjArgs(function, PyTuple_GetItem(context, 1), NULL);
    if (!result) {
        PyErr_WriteUnraisable(function);
    }
    Py_XDECREF(result);
    PyGILState_Release(gil);
}

static void call_once(void *context)
{
    if (!Py_IsInitialized()) {
        return;
    }
    PyGILState_STATE gil = PyGILState_Ensure();
    call_recorded(context);
    Py_DECREF((PyObject *)context);
    PyGILState_Release(gil);
}

/* Whether the pair must stay for a graph: 1, and the graph's list has it; 0; -1: an exception. A
 * stream that joined a capture is not known here: while one goes on, what other streams call stays
 * for good. */
static int record_call(qp_stream *s, PyObject *pair)
{
    if (s->state->captures == 0) {
        return 0;
    }
    if (!s->captures) {
        Py_INCREF(pair);
        return 1;
    }
    return PyList_Append(s->recorded, pair) < 0 ? -1 : 1;
}

/* launch_host_func(callback, arg) */
static PyObject *launch_host_func(PyObject *self, PyObject *args)
{
    qp_stream *s = (qp_stream *)self;
    PyObject *function, *argument;
    if (!PyArg_ParseTuple(args, "OO:launch_host_func", &function, &argument)) {
        return NULL;
    }
    if (!PyCallable_Check(function)) {
        return PyErr_Format(PyExc_TypeError, "%R cannot be called", Py_TYPE(function));
    }
    PyObject *pair = PyTuple_Pack(2, function, argument);
    int stays = pair ? record_call(s, pair) : -1;
    if (stays < 0) {
        Py_XDECREF(pair);
        return NULL;
    }
    quern_status status;
    Py_BEGIN_ALLOW_THREADS status =
        quern_stream_call(s->stream, stays ? call_recorded : call_once, pair);
    Py_END_ALLOW_THREADS if (stays || status != QUERN_OK)
    {
        Py_DECREF(pair);
    }
    return qp_none(s->state, status);
}

/* ---- captures ------------------------------------------------------------------------------- */

static PyObject *begin_capture(PyObject *self, PyObject *args)
{
    qp_stream *s = (qp_stream *)self;
    PyObject *mode = Py_None; /* CuPy's: the library captures in the one way that it can */
    if (!PyArg_ParseTuple(args, "|O:begin_capture", &mode)) {
        return NULL;
    }
    if (qp_check(s->state, quern_stream_capture(s->stream)) < 0) {
        return NULL;
    }
    PyObject *list = PyList_New(0), *before = s->recorded;
    s->captures = true;
    qp_lock();
    s->state->captures++;
    if (!s->state->recorded) {
        s->state->recorded = Py_XNewRef(list);
    }
    s->recorded = Py_XNewRef(s->state->recorded);
    qp_unlock();
    Py_XDECREF(before);
    Py_XDECREF(list);
    if (!s->recorded) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *finish_capture(PyObject *self, PyObject *unused)
{
    (void)unused;
    qp_stream *s = (qp_stream *)self;
    if (!s->captures) {
        PyErr_SetString(PyExc_RuntimeError, "the stream is not being captured: begin_capture()");
        return NULL;
    }
    quern_graph *graph;
    PyObject *recorded = Py_NewRef(s->recorded);
    if (qp_check(s->state, end_capture(s, &graph)) < 0) {
        Py_DECREF(recorded);
        return NULL;
    }
    Py_CLEAR(s->recorded);
    return qp_graph_object(s->state, graph, s->device, recorded);
}

/* ---- the type ------------------------------------------------------------------------------- */

static PyGetSetDef facts[] = {
    {"ptr", get_ptr, NULL, "the handle, a CUstream", NULL},
    {"done", get_done, NULL, "whether all that is queued is done", NULL},
    {"_place", get_place, NULL, NULL, NULL},
    {"_captures", get_captures, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef methods[] = {
    {"synchronize", synchronize, METH_NOARGS, "Wait until all that is queued is done."},
    {"launch_host_func", launch_host_func, METH_VARARGS,
     "launch_host_func(callback, arg): call it when all that is queued is done"},
    {"begin_capture", begin_capture, METH_VARARGS,
     "begin_capture(mode=None): record what is queued instead of doing it"},
    {"end_capture", finish_capture, METH_NOARGS, "end_capture(): the Graph of what was recorded"},
    {"_use", use_stream, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, new_stream},
    {Py_tp_dealloc, dealloc},
    {Py_tp_getset, facts},
    {Py_tp_methods, methods},
    {0, NULL},
};

PyType_Spec qp_stream_spec = {
    .name = "pyquern._core.Stream",
    .basicsize = sizeof(qp_stream),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

/* stream_default(place): from now on this thread works on the usual one */
static PyObject *use_default(PyObject *module, PyObject *args)
{
    int place;
    if (!PyArg_ParseTuple(args, "i:stream_default", &place)) {
        return NULL;
    }
    if (!qp_device_engine(PyModule_GetState(module), place) || use(place, NULL) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyMethodDef qp_stream_functions[] = {
    {"stream_default", use_default, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
