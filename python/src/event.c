/* SPDX-License-Identifier: MIT
 *
 * Events, which mark a point of a stream, and graphs, which are work that a stream recorded. In:
 * streams. Out: waits, milliseconds, launches. The thing to know: a graph keeps the functions of
 * Python that its work calls, and an event belongs to the device on which it was made.
 */
#include "pyquern.h"

typedef struct event {
    PyObject_HEAD qp_state *state;
    quern_event *event;
    int device;
} event;

typedef struct graph {
    PyObject_HEAD qp_state *state;
    quern_graph *graph;
    int device;
    PyObject *recorded; /* list of what its work calls */
} graph;

/* ---- Event ---------------------------------------------------------------------------------- */

static PyObject *new_event(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"block", "disable_timing", "interprocess", NULL};
    int block = 0, disable_timing = 0, interprocess = 0; /* the first two change no result */
    qp_state *state = qp_state_of(type);
    if (!state || qp_check_words(state, "Event", keywords, names) < 0 ||
        !PyArg_ParseTupleAndKeywords(args, keywords, "|ppp:Event", names, &block, &disable_timing,
                                     &interprocess)) {
        return NULL;
    }
    if (interprocess) {
        PyErr_SetString(PyExc_NotImplementedError,
                        "interprocess: events cannot be handed to other processes");
        return NULL;
    }
    int device = qp_device_current(state);
    event *self = device < 0 ? NULL : (event *)qp_object_new(type);
    if (!self) {
        return NULL;
    }
    self->state = state;
    self->device = device;
    if (qp_check(state, quern_event_new(&self->event, state->devices[device].engine)) < 0) {
        Py_DECREF((PyObject *)self);
        return NULL;
    }
    return (PyObject *)self;
}

static void dealloc_event(PyObject *self)
{
    quern_event_release(((event *)self)->event);
    qp_object_free(self);
}

static PyObject *record(PyObject *self, PyObject *args)
{
    event *e = (event *)self;
    PyObject *object = Py_None;
    quern_stream *stream;
    if (!PyArg_ParseTuple(args, "|O:record", &object) ||
        qp_stream_take(&stream, e->state, e->device, object) < 0) {
        return NULL;
    }
    const quern_status status = quern_event_record(e->event, stream);
    quern_stream_release(stream);
    return qp_none(e->state, status);
}

static PyObject *synchronize(PyObject *self, PyObject *unused)
{
    (void)unused;
    event *e = (event *)self;
    quern_status status;
    Py_BEGIN_ALLOW_THREADS status = quern_event_wait(e->event);
    Py_END_ALLOW_THREADS return qp_none(e->state, status);
}

static PyObject *get_done(PyObject *self, void *unused)
{
    (void)unused;
    event *e = (event *)self;
    int reached;
    return qp_check(e->state, quern_event_query(&reached, e->event)) < 0 ? NULL
                                                                         : PyBool_FromLong(reached);
}

/* _let_wait(stream): work that is queued on it from now on waits for the mark */
static PyObject *let_wait(PyObject *self, PyObject *object)
{
    event *e = (event *)self;
    quern_stream *stream;
    if (qp_stream_take(&stream, e->state, e->device, object) < 0) {
        return NULL;
    }
    const quern_status status = quern_stream_wait_event(stream, e->event);
    quern_stream_release(stream);
    return qp_none(e->state, status);
}

/* get_elapsed_time(start_event, end_event) */
static PyObject *get_elapsed_time(PyObject *module, PyObject *args)
{
    qp_state *state = PyModule_GetState(module);
    PyObject *begin, *end;
    double milliseconds;
    if (!PyArg_ParseTuple(args, "O!O!:get_elapsed_time", state->event, &begin, state->event,
                          &end)) {
        return NULL;
    }
    return qp_check(state, quern_event_elapsed(&milliseconds, ((event *)begin)->event,
                                               ((event *)end)->event)) < 0
               ? NULL
               : PyFloat_FromDouble(milliseconds);
}

static PyGetSetDef event_facts[] = {
    {"done", get_done, NULL, "whether the mark is reached", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef event_methods[] = {
    {"record", record, METH_VARARGS, "record(stream=None): mark this point of the stream"},
    {"synchronize", synchronize, METH_NOARGS, "Wait until the mark is reached."},
    {"_let_wait", let_wait, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot event_slots[] = {
    {Py_tp_new, new_event},
    {Py_tp_dealloc, dealloc_event},
    {Py_tp_getset, event_facts},
    {Py_tp_methods, event_methods},
    {Py_tp_doc, "Event(block=False, disable_timing=False, interprocess=False)\n--\n\n"
                "A mark in a stream, on the device that the thread works on."},
    {0, NULL},
};

PyType_Spec qp_event_spec = {
    .name = "pyquern.Event",
    .basicsize = sizeof(event),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = event_slots,
};

PyMethodDef qp_event_functions[] = {
    {"get_elapsed_time", get_elapsed_time, METH_VARARGS,
     "get_elapsed_time(start_event, end_event)\n--\n\n"
     "Milliseconds of device time between two marks that were reached."},
    {NULL, NULL, 0, NULL},
};

/* ---- Graph ---------------------------------------------------------------------------------- */

PyObject *qp_graph_object(qp_state *state, quern_graph *made, int device, PyObject *recorded)
{
    graph *self = (graph *)qp_object_new(state->graph);
    if (!self) {
        quern_graph_release(made);
        Py_DECREF(recorded);
        return NULL;
    }
    self->state = state;
    self->graph = made;
    self->device = device;
    self->recorded = recorded;
    return (PyObject *)self;
}

static void dealloc_graph(PyObject *self)
{
    graph *g = (graph *)self;
    /* The last launch is waited for, and may call what is written in Python. */
    Py_BEGIN_ALLOW_THREADS quern_graph_release(g->graph);
    Py_END_ALLOW_THREADS Py_XDECREF(g->recorded);
    qp_object_free(self);
}

static PyObject *launch(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"stream", NULL};
    graph *g = (graph *)self;
    PyObject *object = Py_None;
    quern_stream *stream;
    quern_status status;
    if (qp_check_words(g->state, "launch", keywords, names) < 0 ||
        !PyArg_ParseTupleAndKeywords(args, keywords, "|O:launch", names, &object) ||
        qp_stream_take(&stream, g->state, g->device, object) < 0) {
        return NULL;
    }
    qp_before_launch(g->state, g->device);
    Py_BEGIN_ALLOW_THREADS status = quern_graph_launch(g->graph, stream);
    quern_stream_release(stream);
    Py_END_ALLOW_THREADS return qp_none(g->state, status);
}

static PyMethodDef graph_methods[] = {
    {"launch", (PyCFunction)(void (*)(void))launch, METH_VARARGS | METH_KEYWORDS,
     "launch(stream=None): queue all of it, on the current stream if none is given"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot graph_slots[] = {
    {Py_tp_dealloc, dealloc_graph},
    {Py_tp_methods, graph_methods},
    {Py_tp_doc, "Work that a stream recorded: Stream.end_capture() makes it, launch() does it."},
    {0, NULL},
};

PyType_Spec qp_graph_spec = {
    .name = "pyquern.Graph",
    .basicsize = sizeof(graph),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = graph_slots,
};
