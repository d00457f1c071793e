/* SPDX-License-Identifier: MIT
 *
 * bind(), explain() and prepare() of kernels: calls that are checked and packed once, and calls
 * that are only spoken of. In: what the call itself takes. Out: objects to launch, or to read. The
 * thing to know: a bound call keeps the objects that its arguments came from, and one thread at a
 * time launches it.
 */
#include "pyquern.h"

#include <pthread.h>

typedef struct bound {
    PyObject_HEAD vectorcallfunc vectorcall;
    qp_state *state;
    quern_bound *bound;
    qp_kernel *kernel;
    int device;
    PyObject *arguments; /* list, by parameter */
    PyObject *views;     /* list of memoryviews of those that are others' */
    PyObject *result;    /* what calling it returns */
    pthread_mutex_t lock;
} bound;

/* ---- making --------------------------------------------------------------------------------- */

/* The objects of all arguments: inputs as given, then outputs. */
static PyObject *list_arguments(const qp_call *c, PyObject *const *args)
{
    const size_t in = c->kernel->in_count, out = c->kernel->out_count;
    PyObject *list = PyList_New((Py_ssize_t)(in + out));
    for (size_t k = 0; list && k < in + out; k++) {
        PyList_SetItem(list, (Py_ssize_t)k, Py_NewRef(k < in ? args[k] : c->results[k - in]));
    }
    return list;
}

/* Buffers of others stay as they are while the bound call lives. */
static PyObject *list_views(const qp_call *c)
{
    PyObject *list = PyList_New(0);
    for (size_t k = 0; list && k < c->arguments.foreign_count; k++) {
        PyObject *object = c->arguments.foreign[k].object;
        PyObject *view = PyObject_CheckBuffer(object) ? PyMemoryView_FromObject(object) : NULL;
        if (view && PyList_Append(list, view) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(view);
        PyErr_Clear(); /* what gives no view is held by itself */
    }
    return list;
}

static PyObject *make(qp_call *c, PyObject *const *args)
{
    qp_state *state = c->arguments.state;
    quern_bound *made;
    quern_status status;
    if (c->arguments.has_staged) {
        PyErr_SetString(PyExc_TypeError,
                        "a bound call takes arrays that the device reaches: copy those of the host "
                        "by pyquern.asarray()");
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS status =
        quern_bind(&made, c->made, c->arguments.values, c->arguments.count, &c->options);
    Py_END_ALLOW_THREADS if (qp_check(state, status) < 0)
    {
        return NULL;
    }
    bound *self = (bound *)qp_object_new(state->bound);
    if (!self) {
        quern_bound_release(made);
        return NULL;
    }
    pthread_mutex_init(&self->lock, NULL);
    self->state = state;
    self->bound = made;
    self->kernel = (qp_kernel *)Py_NewRef((PyObject *)c->kernel);
    self->device = c->arguments.device;
    self->result = qp_call_results(c);
    self->arguments = self->result ? list_arguments(c, args) : NULL;
    self->views = self->arguments ? list_views(c) : NULL;
    if (!self->views) {
        Py_DECREF((PyObject *)self);
        return NULL;
    }
    return (PyObject *)self;
}

static PyObject *launch_and_return(PyObject *self, PyObject *const *args, size_t flagged,
                                   PyObject *names);

/* bind(*args, **words): as the call */
static PyObject *bind(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    qp_call c;
    PyObject *made = NULL;
    if (qp_call_begin(&c, (qp_kernel *)self, args, (size_t)count, names, NULL) == 0) {
        made = make(&c, args);
    }
    qp_call_end(&c);
    if (made) {
        ((bound *)made)->vectorcall = launch_and_return;
    }
    return made;
}

static void dealloc(PyObject *self)
{
    bound *b = (bound *)self;
    quern_bound_release(b->bound);
    Py_XDECREF((PyObject *)b->kernel);
    Py_XDECREF(b->arguments);
    Py_XDECREF(b->views);
    Py_XDECREF(b->result);
    pthread_mutex_destroy(&b->lock);
    qp_object_free(self);
}

/* ---- launching ------------------------------------------------------------------------------ */

static int launch_it(bound *b)
{
    quern_status status;
    qp_before_launch(b->state, b->device);
    Py_BEGIN_ALLOW_THREADS pthread_mutex_lock(&b->lock);
    status = quern_launch(b->bound);
    pthread_mutex_unlock(&b->lock);
    Py_END_ALLOW_THREADS return qp_check(b->state, status);
}

static PyObject *launch(PyObject *self, PyObject *unused)
{
    (void)unused;
    if (launch_it((bound *)self) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *launch_and_return(PyObject *self, PyObject *const *args, size_t flagged,
                                   PyObject *names)
{
    (void)args;
    bound *b = (bound *)self;
    if (PyVectorcall_NARGS(flagged) != 0 || (names && PyTuple_Size(names) != 0)) {
        PyErr_SetString(PyExc_TypeError, "a bound call takes no arguments: change one by "
                                         "bound[index] = value, or bind() again");
        return NULL;
    }
    return launch_it(b) < 0 ? NULL : Py_NewRef(b->result);
}

/* ---- other arguments ------------------------------------------------------------------------ */

/* The parameter's index, of an int (from the end where it is negative) or a name; -1. */
static Py_ssize_t index_of(bound *b, PyObject *key)
{
    const Py_ssize_t count = PyList_Size(b->arguments);
    if (PyIndex_Check(key)) {
        Py_ssize_t index = PyNumber_AsSsize_t(key, PyExc_IndexError);
        if (index == -1 && PyErr_Occurred()) {
            return -1;
        }
        if (index < -count || index >= count) {
            PyErr_Format(PyExc_IndexError, "there is no argument %zd: the call has %zd", index,
                         count);
            return -1;
        }
        return index < 0 ? index + count : index;
    }
    for (Py_ssize_t k = 0; PyUnicode_Check(key) && k < count; k++) {
        quern_parameter_info info = QUERN_PARAMETER_INFO_INIT;
        if (qp_check(b->state, quern_kernel_get_parameter(&info, b->kernel->made[b->device],
                                                          (size_t)k)) < 0) {
            return -1;
        }
        if (PyUnicode_CompareWithASCIIString(key, info.name) == 0) {
            return k;
        }
    }
    PyErr_Format(PyExc_KeyError, "the kernel has no parameter %R", key);
    return -1;
}

static quern_status replace(bound *b, size_t index, const quern_value *value)
{
    return value->kind == QUERN_VALUE_ARRAY
               ? quern_bound_set_array(b->bound, index, value->as.array)
               : quern_bound_set_scalar(b->bound, index, *value);
}

/* The result of calling, once an output is another one. */
static int renew_result(bound *b)
{
    const qp_kernel *k = b->kernel;
    if (k->returns_nothing) {
        return 0;
    }
    const Py_ssize_t in = (Py_ssize_t)k->in_count, count = PyList_Size(b->arguments);
    bool is_one = k->out_count == 1 && !k->returns_tuple;
    PyObject *outputs = PyList_GetSlice(b->arguments, in, count), *old = b->result;
    PyObject *result = !outputs ? NULL
                       : is_one ? Py_NewRef(PyList_GetItem(outputs, 0))
                                : PyList_AsTuple(outputs);
    Py_XDECREF(outputs);
    if (!result) {
        return -1;
    }
    b->result = result;
    Py_DECREF(old);
    return 0;
}

static int set_item(PyObject *self, PyObject *key, PyObject *value)
{
    bound *b = (bound *)self;
    if (!value) {
        PyErr_SetString(PyExc_TypeError, "an argument can be replaced, and not deleted");
        return -1;
    }
    Py_ssize_t index = index_of(b, key);
    qp_arguments a;
    qp_arguments_begin(&a, b->state);
    a.device = b->device;
    if (index < 0 || qp_arguments_add(&a, value) < 0) {
        qp_arguments_end(&a);
        return -1;
    }
    quern_status status;
    Py_BEGIN_ALLOW_THREADS pthread_mutex_lock(&b->lock);
    status = replace(b, (size_t)index, &a.values[0]);
    pthread_mutex_unlock(&b->lock);
    Py_END_ALLOW_THREADS int checked = qp_check(b->state, status);
    qp_arguments_end(&a);
    if (checked < 0) {
        return -1;
    }
    PyList_SetItem(b->arguments, index, Py_NewRef(value));
    return (size_t)index >= b->kernel->in_count ? renew_result(b) : 0;
}

static PyObject *set(PyObject *self, PyObject *args)
{
    PyObject *key, *value;
    if (!PyArg_ParseTuple(args, "OO:set", &key, &value) || set_item(self, key, value) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *get_item(PyObject *self, PyObject *key)
{
    bound *b = (bound *)self;
    Py_ssize_t index = index_of(b, key);
    return index < 0 ? NULL : Py_NewRef(PyList_GetItem(b->arguments, index));
}

static PyObject *get_outputs(PyObject *self, void *unused)
{
    (void)unused;
    const bound *b = (const bound *)self;
    PyObject *list =
        PyList_GetSlice(b->arguments, (Py_ssize_t)b->kernel->in_count, PyList_Size(b->arguments));
    PyObject *outputs = list ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(list);
    return outputs;
}

static PyObject *get_kernel(PyObject *self, void *unused)
{
    (void)unused;
    return Py_NewRef((PyObject *)((bound *)self)->kernel);
}

/* ---- the type ------------------------------------------------------------------------------- */

static PyGetSetDef facts[] = {
    {"outputs", get_outputs, NULL, "tuple of the arrays that a launch writes", NULL},
    {"kernel", get_kernel, NULL, "what was bound", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef methods[] = {
    {"launch", launch, METH_NOARGS, "Queue one launch, on the stream that it was bound to."},
    {"set", set, METH_VARARGS,
     "set(argument, value): replace an argument, by its place or its parameter's name"},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(bound, vectorcall), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, dealloc},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_members, members},
    {Py_tp_getset, facts},
    {Py_tp_methods, methods},
    {Py_mp_subscript, get_item},
    {Py_mp_ass_subscript, set_item},
    {Py_tp_doc, "A call that was checked and packed once: a kernel's bind() makes it. launch() "
                "queues it; calling it does so and returns the outputs."},
    {0, NULL},
};

PyType_Spec qp_bound_spec = {
    .name = "pyquern.Bound",
    .basicsize = sizeof(bound),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

/* ---- explaining ----------------------------------------------------------------------------- */

static quern_explanation *explain_call(PyObject *self, PyObject *const *args, Py_ssize_t count,
                                       PyObject *names)
{
    qp_call c;
    quern_explanation *made = NULL;
    const qp_dry dry = {.likes = NULL};
    if (qp_call_begin(&c, (qp_kernel *)self, args, (size_t)count, names, &dry) == 0) {
        quern_status status;
        Py_BEGIN_ALLOW_THREADS status =
            quern_explain(&made, c.made, c.arguments.values, c.arguments.count, &c.options);
        Py_END_ALLOW_THREADS qp_check(c.arguments.state, status);
    }
    qp_call_end(&c);
    return made;
}

static PyObject *explain(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    quern_explanation *made = explain_call(self, args, count, names);
    return made ? qp_explanation_object(((qp_kernel *)self)->state, made) : NULL;
}

/* ---- preparing ------------------------------------------------------------------------------ */

typedef struct preparing {
    qp_state *state;
    PyThreadState *thread; /* NULL while the GIL is held */
} preparing;

/* The exception is made of the error as it is told, which has the place and the log. */
static void take_error(void *context, size_t index, size_t done, const quern_error *error)
{
    preparing *p = context;
    (void)index, (void)done;
    if (error) {
        PyEval_RestoreThread(p->thread);
        (void)qp_check(p->state, error->status);
        p->thread = PyEval_SaveThread();
    }
}

static PyObject *prepare(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    qp_call c;
    int64_t likes[QUERN_MAX_PARAMETERS][QUERN_MAX_NDIM];
    const qp_dry dry = {.likes = likes};
    quern_status status = QUERN_ERROR_INVALID_ARGUMENT;
    if (qp_call_begin(&c, (qp_kernel *)self, args, (size_t)count, names, &dry) == 0) {
        const qp_arguments *a = &c.arguments;
        preparing p = {.state = a->state, .thread = PyEval_SaveThread()};
        quern_preparation one = {
            .kernel = c.made, .values = a->values, .count = a->count, .options = &c.options};
        const quern_prepare_options options = {
            .size = sizeof options, .threads = 1, .progress = take_error, .context = &p};
        status = quern_prepare(&one, 1, &options);
        PyEval_RestoreThread(p.thread);
        if (status != QUERN_OK && !PyErr_Occurred()) {
            (void)qp_check(a->state, status); /* it did not come to the call */
        }
    }
    qp_call_end(&c);
    return status == QUERN_OK ? Py_NewRef(self) : NULL;
}

#define METHOD(name, text)                                                                         \
    {                                                                                              \
#name, (PyCFunction)(void (*)(void))name, METH_FASTCALL | METH_KEYWORDS, text              \
    }
/* Scans take all but the first. */
PyMethodDef qp_kernel_methods[] = {
    {"tune", (PyCFunction)(void (*)(void))qp_kernel_tune, METH_FASTCALL | METH_KEYWORDS,
     "tune(*args, **words): measure how the call is launched best and keep that, for calls with "
     "tune=True; returns what was measured"},
    {"infer", (PyCFunction)(void (*)(void))qp_kernel_infer, METH_FASTCALL | METH_KEYWORDS,
     "infer(*args, **words): ((dtype, shape), ...) of the outputs of a call; an argument may be "
     "such a pair itself"},
    METHOD(bind, "bind(*args, **words): check and pack a call once, to launch it many times"),
    METHOD(explain, "explain(*args, **words): what the call would run; nothing is launched"),
    METHOD(prepare, "prepare(*args, **words): compile what the call needs, launch nothing; an "
                    "array may be told by a pair (dtype, shape); returns the kernel"),
    {NULL, NULL, 0, NULL},
};
