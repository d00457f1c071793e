/* SPDX-License-Identifier: MIT
 *
 * Memory by its address: MemoryPointer, arrays over it, and what a device says of its memory. In:
 * objects that have .ptr and .size. Out: addresses, arrays, numbers. The thing to know: an array
 * over a pointer keeps the pointer, which keeps the memory; where its size is known, no array
 * reaches beyond it.
 */
#include "pyquern.h"

/* ---- MemoryPointer -------------------------------------------------------------------------- */

static PyObject *pointer_object(PyTypeObject *type, const qp_memory_pointer *like, int64_t offset)
{
    qp_memory_pointer *self = (qp_memory_pointer *)qp_object_new(type);
    if (!self) {
        return NULL;
    }
    self->state = like->state;
    self->memory = Py_NewRef(like->memory);
    self->pointer = like->pointer + offset;
    self->size = like->size;
    self->offset = like->offset + offset;
    self->device = like->device;
    return (PyObject *)self;
}

/* An attribute that is a number, or `absent` where the object has none; -1 with an exception. */
static int64_t number_of(PyObject *object, const char *name, int64_t absent)
{
    PyObject *value = PyObject_GetAttrString(object, name);
    if (!value && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
        return absent;
    }
    int64_t number = value ? PyLong_AsLongLong(value) : -1;
    Py_XDECREF(value);
    return number;
}

static int fill(qp_memory_pointer *p, qp_state *state, PyObject *memory, long long offset)
{
    PyObject *address = PyObject_GetAttrString(memory, "ptr");
    if (!address) {
        PyErr_Format(PyExc_TypeError, "%R is no memory: it has no .ptr", Py_TYPE(memory));
        return -1;
    }
    uint8_t *base = PyLong_AsVoidPtr(address);
    Py_DECREF(address);
    int64_t size = PyErr_Occurred() ? -1 : number_of(memory, "size", INT64_MAX);
    int64_t place = PyErr_Occurred() ? -1 : number_of(memory, "_place", -1);
    if (PyErr_Occurred()) {
        return -1;
    }
    p->state = state;
    p->device = place >= 0 && place < state->device_count ? (int)place : qp_device_current(state);
    p->memory = Py_NewRef(memory);
    p->pointer = base + offset;
    p->size = size;
    p->offset = offset;
    return p->device < 0 ? -1 : 0;
}

/* MemoryPointer(mem, offset) */
static PyObject *new_pointer(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"mem", "offset", NULL};
    PyObject *memory;
    long long offset;
    qp_state *state = qp_state_of(type);
    if (!state || qp_check_words(state, "MemoryPointer", keywords, names) < 0 ||
        !PyArg_ParseTupleAndKeywords(args, keywords, "OL:MemoryPointer", names, &memory, &offset)) {
        return NULL;
    }
    qp_memory_pointer p = {.memory = NULL};
    PyObject *self = fill(&p, state, memory, offset) < 0 ? NULL : pointer_object(type, &p, 0);
    Py_XDECREF(p.memory);
    return self;
}

static void dealloc(PyObject *self)
{
    Py_XDECREF(((qp_memory_pointer *)self)->memory);
    qp_object_free(self);
}

static PyObject *get_ptr(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(((qp_memory_pointer *)self)->pointer);
}

static PyObject *get_memory(PyObject *self, void *unused)
{
    (void)unused;
    return Py_NewRef(((qp_memory_pointer *)self)->memory);
}

static PyObject *get_place(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong(((qp_memory_pointer *)self)->device);
}

static PyObject *to_int(PyObject *self)
{
    return get_ptr(self, NULL);
}

static PyObject *moved(PyObject *self, PyObject *by, int sign)
{
    qp_memory_pointer *p = (qp_memory_pointer *)self;
    if (!PyObject_TypeCheck(self, qp_state_of(Py_TYPE(self))->memory_pointer) ||
        !PyIndex_Check(by)) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    int64_t offset = PyNumber_AsSsize_t(by, PyExc_OverflowError);
    return offset == -1 && PyErr_Occurred() ? NULL
                                            : pointer_object(Py_TYPE(self), p, sign * offset);
}

static bool is_pointer(PyObject *object)
{
    qp_state *state = PyIndex_Check(object) ? NULL : qp_state_of(Py_TYPE(object));
    PyErr_Clear();
    return state && PyObject_TypeCheck(object, state->memory_pointer);
}

static PyObject *add(PyObject *left, PyObject *right)
{
    return is_pointer(left) ? moved(left, right, 1) : moved(right, left, 1);
}

static PyObject *subtract(PyObject *left, PyObject *right)
{
    if (!is_pointer(left)) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    return moved(left, right, -1);
}

static PyGetSetDef facts[] = {
    {"ptr", get_ptr, NULL, "the address", NULL},
    {"mem", get_memory, NULL, "what keeps the memory", NULL},
    {"_place", get_place, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, new_pointer},
    {Py_tp_dealloc, dealloc},
    {Py_tp_getset, facts},
    {Py_nb_add, add},
    {Py_nb_subtract, subtract},
    {Py_nb_int, to_int},
    {0, NULL},
};

PyType_Spec qp_memory_pointer_spec = {
    .name = "pyquern._core.MemoryPointer",
    .basicsize = sizeof(qp_memory_pointer),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

/* ---- arrays over it ------------------------------------------------------------------------- */

/* All that shape and strides (NULL: C order) reach must be in the memory. */
static int check_reach(const qp_memory_pointer *p, int ndim, const int64_t *shape,
                       const int64_t *strides, size_t item)
{
    __extension__ typedef __int128 wide;
    wide low = 0, high = (wide)item, dense = (wide)item;
    bool is_empty = false;
    for (int k = ndim - 1; k >= 0; k--) {
        wide step = strides ? (wide)strides[k] : dense;
        wide far = ((wide)shape[k] - 1) * step;
        low += far < 0 ? far : 0;
        high += far > 0 ? far : 0;
        dense = dense * (shape[k] > 0 ? shape[k] : 1);
        dense = dense > INT64_MAX ? INT64_MAX : dense; /* far beyond any memory */
        is_empty = is_empty || shape[k] == 0;
    }
    if (is_empty || (p->offset + low >= 0 && p->offset + high <= p->size)) {
        return 0;
    }
    PyErr_Format(PyExc_ValueError,
                 "the array reaches from byte %lld to byte %lld of memory that has %lld",
                 (long long)(p->offset + low),
                 (long long)(p->offset + high > INT64_MAX ? INT64_MAX : p->offset + high),
                 (long long)p->size);
    return -1;
}

/* wrap_memory(pointer, shape, strides or None, dtype) */
static PyObject *wrap_memory(PyObject *module, PyObject *args)
{
    qp_state *state = PyModule_GetState(module);
    PyObject *object, *shape_object, *strides_object, *dtype_object;
    if (!PyArg_ParseTuple(args, "O!OOO:wrap_memory", state->memory_pointer, &object, &shape_object,
                          &strides_object, &dtype_object)) {
        return NULL;
    }
    const qp_memory_pointer *p = (const qp_memory_pointer *)object;
    int64_t shape[QUERN_MAX_NDIM], strides[QUERN_MAX_NDIM];
    int ndim = qp_shape(shape, shape_object);
    bool has_strides = strides_object != Py_None;
    if (ndim >= 0 && has_strides && qp_shape(strides, strides_object) != ndim) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_ValueError, "there must be a stride for each dimension");
        }
        return NULL;
    }
    quern_dtype dtype = ndim < 0 ? QUERN_DTYPE_NONE : qp_dtype(state, dtype_object);
    if (!dtype ||
        check_reach(p, ndim, shape, has_strides ? strides : NULL, quern_dtype_size(dtype)) < 0) {
        return NULL;
    }
    quern_array *array;
    Py_INCREF(object);
    if (qp_check(state, quern_array_wrap(&array, state->devices[p->device].engine, dtype, ndim,
                                         shape, has_strides ? strides : NULL, p->pointer, qp_let_go,
                                         object)) < 0) {
        Py_DECREF(object);
        return NULL;
    }
    return qp_array_over(state, array, p->device, p->memory);
}

/* pointer_info(address) -> (kind of memory, number of the GPU or -1, address for kernels) */
static PyObject *pointer_info(PyObject *module, PyObject *address)
{
    qp_state *state = PyModule_GetState(module);
    void *pointer = PyLong_AsVoidPtr(address);
    int device = PyErr_Occurred() ? -1 : qp_device_current(state);
    quern_pointer_info info = QUERN_POINTER_INFO_INIT;
    if (device < 0 || qp_check(state, quern_pointer_get_info(&info, state->devices[device].engine,
                                                             pointer)) < 0) {
        return NULL;
    }
    static const char *const names[] = {"host", "device", "pinned", "mapped", "managed"};
    return Py_BuildValue("(siN)", names[info.memory], (int)info.device,
                         PyLong_FromVoidPtr(info.device_pointer));
}

/* ---- how much ------------------------------------------------------------------------------- */

/* memory_stats(place) -> (used, held, peak, allocations, limit, host) */
static PyObject *memory_stats(PyObject *module, PyObject *args)
{
    qp_state *state = PyModule_GetState(module);
    int place;
    quern_memory_stats s = QUERN_MEMORY_STATS_INIT;
    quern_engine *engine =
        PyArg_ParseTuple(args, "i:memory_stats", &place) ? qp_device_engine(state, place) : NULL;
    if (!engine || qp_check(state, quern_memory_get_stats(&s, engine)) < 0) {
        return NULL;
    }
    return Py_BuildValue("(KKKKKK)", (unsigned long long)s.used, (unsigned long long)s.held,
                         (unsigned long long)s.peak, (unsigned long long)s.allocations,
                         (unsigned long long)s.limit, (unsigned long long)s.host);
}

/* memory_trim(place, keep) */
static PyObject *memory_trim(PyObject *module, PyObject *args)
{
    qp_state *state = PyModule_GetState(module);
    int place;
    Py_ssize_t keep;
    quern_engine *engine = PyArg_ParseTuple(args, "in:memory_trim", &place, &keep)
                               ? qp_device_engine(state, place)
                               : NULL;
    if (engine && keep < 0) {
        return PyErr_Format(PyExc_ValueError, "keep is %zd: it is a number of bytes", keep);
    }
    quern_status status;
    if (!engine) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS status = quern_memory_trim(engine, (size_t)keep);
    Py_END_ALLOW_THREADS if (qp_check(state, status) < 0)
    {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* memory_limit(place, bytes) */
static PyObject *memory_limit(PyObject *module, PyObject *args)
{
    qp_state *state = PyModule_GetState(module);
    int place;
    long long bytes;
    quern_engine *engine = PyArg_ParseTuple(args, "iL:memory_limit", &place, &bytes)
                               ? qp_device_engine(state, place)
                               : NULL;
    if (engine && bytes < 0) {
        return PyErr_Format(PyExc_ValueError, "the limit is %lld: it is a number of bytes", bytes);
    }
    if (!engine || qp_check(state, quern_memory_set_limit(engine, (uint64_t)bytes)) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyMethodDef qp_memory_functions[] = {
    {"wrap_memory", wrap_memory, METH_VARARGS, NULL},
    {"pointer_info", pointer_info, METH_O, NULL},
    {"memory_stats", memory_stats, METH_VARARGS, NULL},
    {"memory_trim", memory_trim, METH_VARARGS, NULL},
    {"memory_limit", memory_limit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
