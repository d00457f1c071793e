/* SPDX-License-Identifier: MIT
 *
 * Array: one of Quern's arrays as an object. In: shapes and dtypes. Out: facts. The thing to know:
 * an object holds one reference, which keeps the memory, so views are objects of their own; whose
 * memory it is (.base) is only remembered to be told. What is written in Python (operators, astype,
 * printing) is in a class that derives from this one.
 */
#include "pyquern.h"

PyObject *qp_array_object(qp_state *state, quern_array *array, int device)
{
    PyTypeObject *type = state->array_class;
    if (!state->array_alloc) {
        state->array_alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    }
    qp_array *self = (qp_array *)state->array_alloc(type, 0);
    if (!self) {
        quern_array_release(array);
        return NULL;
    }
    self->state = state;
    self->array = array;
    self->device = device;
    return (PyObject *)self;
}

PyObject *qp_array_over(qp_state *state, quern_array *array, int device, PyObject *base)
{
    PyObject *self = qp_array_object(state, array, device);
    if (self) {
        ((qp_array *)self)->base = Py_NewRef(base);
    }
    return self;
}

void qp_release(quern_array *array)
{
    PyObject *raised = PyErr_Occurred() ? PyErr_GetRaisedException() : NULL;
    quern_array_release(array);
    if (raised) {
        PyErr_SetRaisedException(raised);
    }
}

static void dealloc(PyObject *self)
{
    qp_array *a = (qp_array *)self;
    qp_release(a->array);
    Py_XDECREF(a->base);
    qp_object_free(self);
}

int qp_shape(int64_t shape[QUERN_MAX_NDIM], PyObject *object)
{
    if (PyIndex_Check(object)) {
        shape[0] = PyNumber_AsSsize_t(object, PyExc_OverflowError);
        return shape[0] == -1 && PyErr_Occurred() ? -1 : 1;
    }
    PyObject *items = PySequence_Tuple(object);
    if (!items) {
        return -1;
    }
    Py_ssize_t count = PyTuple_Size(items);
    if (count > QUERN_MAX_NDIM) {
        PyErr_Format(PyExc_ValueError, "%zd dimensions: an array has at most %d", count,
                     QUERN_MAX_NDIM);
        count = -1;
    }
    for (Py_ssize_t k = 0; k < count; k++) {
        shape[k] = PyNumber_AsSsize_t(PyTuple_GetItem(items, k), PyExc_OverflowError);
        if (shape[k] == -1 && PyErr_Occurred()) {
            count = -1;
        }
    }
    Py_DECREF(items);
    return (int)count;
}

PyObject *qp_tuple(const int64_t *values, int count)
{
    PyObject *tuple = PyTuple_New(count);
    for (int k = 0; tuple && k < count; k++) {
        PyObject *value = PyLong_FromLongLong(values[k]);
        if (!value || PyTuple_SetItem(tuple, k, value) < 0) {
            Py_CLEAR(tuple);
        }
    }
    return tuple;
}

/* ---- making --------------------------------------------------------------------------------- */

/* empty(shape, dtype, memory): on the thread's device */
static PyObject *empty(PyObject *module, PyObject *args)
{
    qp_state *state = PyModule_GetState(module);
    PyObject *shape_object, *dtype_object;
    const char *memory_name = "device";
    if (!PyArg_ParseTuple(args, "OO|s:empty", &shape_object, &dtype_object, &memory_name)) {
        return NULL;
    }
    static const char *const names[] = {"host", "device", "pinned", "mapped", "managed"};
    int memory = -1;
    for (int k = QUERN_MEMORY_DEVICE; k <= QUERN_MEMORY_MANAGED; k++) {
        memory = strcmp(memory_name, names[k]) == 0 ? k : memory;
    }
    if (memory < 0) {
        return PyErr_Format(PyExc_ValueError,
                            "memory is \"device\", \"pinned\", \"mapped\" or \"managed\", not %R",
                            PyTuple_GetItem(args, 2));
    }
    int64_t shape[QUERN_MAX_NDIM];
    int ndim = qp_shape(shape, shape_object);
    quern_dtype dtype = ndim < 0 ? QUERN_DTYPE_NONE : qp_dtype(state, dtype_object);
    int device = dtype ? qp_device_current(state) : -1;
    if (device < 0) {
        return NULL;
    }
    quern_array *array;
    quern_engine *engine = state->devices[device].engine;
    quern_status status =
        memory == QUERN_MEMORY_DEVICE
            ? quern_array_new_on(&array, engine, dtype, ndim, shape,
                                 qp_stream_current(state, device))
            : quern_array_new_in(&array, engine, (quern_memory)memory, dtype, ndim, shape);
    return qp_check(state, status) < 0 ? NULL : qp_array_object(state, array, device);
}

/* wrap(pointer, shape, strides or None, dtype, owner): memory of the thread's device */
static PyObject *wrap(PyObject *module, PyObject *args)
{
    qp_state *state = PyModule_GetState(module);
    PyObject *pointer_object, *shape_object, *strides_object, *dtype_object, *owner;
    if (!PyArg_ParseTuple(args, "OOOOO:wrap", &pointer_object, &shape_object, &strides_object,
                          &dtype_object, &owner)) {
        return NULL;
    }
    int64_t shape[QUERN_MAX_NDIM], strides[QUERN_MAX_NDIM];
    void *pointer = PyLong_AsVoidPtr(pointer_object);
    int ndim = PyErr_Occurred() ? -1 : qp_shape(shape, shape_object);
    bool has_strides = strides_object != Py_None;
    if (ndim >= 0 && has_strides && qp_shape(strides, strides_object) != ndim) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_ValueError, "there must be a stride for each dimension");
        }
        return NULL;
    }
    quern_dtype dtype = ndim < 0 ? QUERN_DTYPE_NONE : qp_dtype(state, dtype_object);
    int device = dtype ? qp_device_current(state) : -1;
    if (device < 0) {
        return NULL;
    }
    quern_array *array;
    Py_INCREF(owner);
    if (qp_check(state, quern_array_wrap(&array, state->devices[device].engine, dtype, ndim, shape,
                                         has_strides ? strides : NULL, pointer, qp_let_go, owner)) <
        0) {
        Py_DECREF(owner);
        return NULL;
    }
    return qp_array_over(state, array, device, owner);
}

/* What a buffer needs while there is an array over it. */
static void release_view(void *context)
{
    if (!Py_IsInitialized()) {
        return;
    }
    PyGILState_STATE gil = PyGILState_Ensure();
    PyBuffer_Release(context);
    PyMem_Free(context);
    PyGILState_Release(gil);
}

/* The same array, with a hold on what it is lent from; NULL with an exception. */
static quern_array *hold(qp_state *state, qp_foreign *f)
{
    void (*release)(void *) = qp_let_go;
    void *context = f->object;
    if (f->has_view) {
        context = PyMem_Malloc(sizeof f->view);
        if (!context) {
            PyErr_NoMemory();
            return NULL;
        }
        memcpy(context, &f->view, sizeof f->view);
        f->has_view = false;
        release = release_view;
    } else {
        Py_INCREF(f->object);
    }
    quern_array *lent = f->array, *array;
    if (qp_check(state, quern_array_wrap(&array, state->devices[f->device].engine,
                                         quern_array_dtype(lent), quern_array_ndim(lent),
                                         quern_array_shape(lent), quern_array_strides(lent),
                                         quern_array_pointer(lent), release, context)) < 0) {
        release(context);
        return NULL;
    }
    if (quern_array_is_read_only(lent) && qp_check(state, qp_array_fix(&array)) < 0) {
        return NULL;
    }
    return array;
}

/* take(object): an array over that of another library, which is kept; TypeError where it is none,
 * or in memory of the host, which the thread's GPU does not reach */
static PyObject *take(PyObject *module, PyObject *object)
{
    qp_state *state = PyModule_GetState(module);
    if (qp_array_is(state, object)) {
        return Py_NewRef(object);
    }
    qp_foreign foreign;
    int taken = qp_foreign_take(&foreign, state, object, 0, qp_device_host(state));
    int current = qp_device_current(state);
    if (taken != 1) {
        if (taken >= 0) {
            PyErr_Format(PyExc_TypeError, "%R is no array, and gives none out", Py_TYPE(object));
        }
        return NULL;
    }
    quern_array *array = NULL;
    if (foreign.is_host && foreign.device != current) {
        qp_foreign_refuse(&foreign, PyExc_TypeError,
                          "is in memory of the host, which %s does not reach: copy it by "
                          "pyquern.asarray()",
                          state->devices[current].id);
    } else {
        array = foreign.is_lent ? hold(state, &foreign) : quern_array_retain(foreign.array);
    }
    int device = foreign.device;
    qp_foreign_end(&foreign);
    return array ? qp_array_over(state, array, device, object) : NULL;
}

/* from_capsule(capsule): an array over the tensor of a DLPack capsule, which is used up */
static PyObject *from_capsule(PyObject *module, PyObject *capsule)
{
    qp_state *state = PyModule_GetState(module);
    int device;
    quern_array *array = qp_dlpack_take(state, capsule, &device);
    return array ? qp_array_over(state, array, device, capsule) : NULL;
}

/* dtype_name(object): the name of the dtype that it stands for */
static PyObject *dtype_name(PyObject *module, PyObject *object)
{
    quern_dtype dtype = qp_dtype(PyModule_GetState(module), object);
    return dtype ? PyUnicode_FromString(quern_dtype_name(dtype)) : NULL;
}

PyMethodDef qp_array_functions[] = {
    {"empty", empty, METH_VARARGS, NULL},
    {"wrap", wrap, METH_VARARGS, NULL},
    {"take", take, METH_O, NULL},
    {"from_capsule", from_capsule, METH_O, NULL},
    {"dtype_name", dtype_name, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

/* ---- facts ---------------------------------------------------------------------------------- */

static quern_array *of(PyObject *self)
{
    return ((qp_array *)self)->array;
}

static PyObject *get_shape(PyObject *self, void *unused)
{
    (void)unused;
    return qp_tuple(quern_array_shape(of(self)), quern_array_ndim(of(self)));
}

static PyObject *get_strides(PyObject *self, void *unused)
{
    (void)unused;
    return qp_tuple(quern_array_strides(of(self)), quern_array_ndim(of(self)));
}

static PyObject *get_ndim(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong(quern_array_ndim(of(self)));
}

static PyObject *get_size(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLongLong(quern_array_count(of(self)));
}

static PyObject *get_itemsize(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(quern_dtype_size(quern_array_dtype(of(self))));
}

static PyObject *get_dtype_name(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(quern_dtype_name(quern_array_dtype(of(self))));
}

static PyObject *get_pointer(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(quern_array_pointer(of(self)));
}

static PyObject *get_device(PyObject *self, void *unused)
{
    (void)unused;
    const qp_array *a = (const qp_array *)self;
    return PyUnicode_FromString(a->state->devices[a->device].id);
}

static PyObject *get_place(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong(((const qp_array *)self)->device);
}

static PyObject *get_memory(PyObject *self, void *unused)
{
    (void)unused;
    static const char *const names[] = {"host", "device", "pinned", "mapped", "managed"};
    return PyUnicode_FromString(names[quern_array_memory(of(self))]);
}

static PyObject *get_read_only(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(quern_array_is_read_only(of(self)));
}

static PyObject *get_contiguous(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(quern_array_is_contiguous(of(self)));
}

static PyObject *get_base(PyObject *self, void *unused)
{
    (void)unused;
    PyObject *base = ((const qp_array *)self)->base;
    return Py_NewRef(base ? base : Py_None);
}

static PyObject *get_owns(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(!((const qp_array *)self)->base);
}

static PyGetSetDef facts[] = {
    {"shape", get_shape, NULL, "extents, in elements", NULL},
    {"strides", get_strides, NULL, "distances of neighbours along each axis, in bytes", NULL},
    {"ndim", get_ndim, NULL, "number of dimensions", NULL},
    {"size", get_size, NULL, "number of elements", NULL},
    {"itemsize", get_itemsize, NULL, "bytes of one element", NULL},
    {"dtype_name", get_dtype_name, NULL, "NumPy's name of the dtype", NULL},
    {"_place", get_place, NULL, NULL, NULL},
    {"pointer", get_pointer, NULL, "device address of the first element", NULL},
    {"device_id", get_device, NULL, "\"cuda:0\", \"soft\"", NULL},
    {"memory", get_memory, NULL, "\"device\", \"pinned\", \"mapped\" or \"managed\"", NULL},
    {"is_read_only", get_read_only, NULL, "whether nothing may be written through it", NULL},
    {"is_contiguous", get_contiguous, NULL, "whether it lies in C order without gaps", NULL},
    {"base", get_base, NULL, "whose memory it is, an array or another object; None: its own", NULL},
    {"_owns", get_owns, NULL, NULL, NULL},
    {"__array_interface__", qp_array_interface, NULL, NULL, NULL},
    {"__cuda_array_interface__", qp_array_cuda_interface, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static Py_ssize_t length(PyObject *self)
{
    if (quern_array_ndim(of(self)) == 0) {
        PyErr_SetString(PyExc_TypeError, "len() of an array without dimensions");
        return -1;
    }
    return (Py_ssize_t)quern_array_shape(of(self))[0];
}

static PyMethodDef methods[] = {
    {"reshape", qp_array_reshape, METH_VARARGS, "reshape(*shape): a view under another shape"},
    {"transpose", qp_array_transpose, METH_VARARGS, "transpose(*axes): a view, axes reordered"},
    {"broadcast_to", qp_array_broadcast, METH_O, "broadcast_to(shape): a view that repeats"},
    {"as_read_only", qp_array_read_only, METH_NOARGS, "a view that nothing is written through"},
    {"_view", qp_array_view, METH_O, NULL},
    {"_in_place_of", qp_array_in_place_of, METH_O, NULL},
    {"_copy", qp_array_copy, METH_VARARGS, NULL},
    {"_assign", qp_array_assign, METH_VARARGS, NULL},
    {"_fill", qp_array_fill, METH_VARARGS, NULL},
    {"_read", qp_array_read, METH_VARARGS, NULL},
    {"_write", qp_array_write, METH_VARARGS, NULL},
    {"_to_device", qp_array_to_device, METH_O, NULL},
    {"__dlpack__", (PyCFunction)(void (*)(void))qp_array_dlpack, METH_VARARGS | METH_KEYWORDS,
     "__dlpack__(*, stream=None, max_version=None, dl_device=None, copy=None)"},
    {"__dlpack_device__", qp_array_dlpack_device, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, dealloc},
    {Py_tp_getset, facts},
    {Py_tp_methods, methods},
    {Py_mp_length, length},
    {Py_mp_subscript, qp_array_subscript},
    {Py_mp_ass_subscript, qp_array_set_subscript},
    {Py_bf_getbuffer, qp_array_get_buffer},
    {Py_bf_releasebuffer, qp_array_release_buffer},
    {0, NULL},
};

PyType_Spec qp_array_spec = {
    .name = "pyquern._core.Array",
    .basicsize = sizeof(qp_array),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};
