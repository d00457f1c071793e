/* SPDX-License-Identifier: MIT
 *
 * Arrays of other libraries come in, without a copy. In: any object. Out: an array over its memory,
 * lent for as long as the object lives. The thing to know: how a type gives its arrays out is found
 * once and remembered, in the order of what costs least: the table of functions of DLPack 1.3, the
 * buffer protocol, a capsule of DLPack, the interface of CUDA arrays.
 */
#include "pyquern.h"

enum way { NONE, EXCHANGE, BUFFER, CAPSULE, CUDA_INTERFACE };

/* ---- which way ------------------------------------------------------------------------------ */

static const quern_dl_exchange *exchange_of(qp_state *state, PyTypeObject *type)
{
    PyObject *capsule = PyObject_GetAttr((PyObject *)type, state->texts[QP_EXCHANGE]);
    const quern_dl_exchange *table = NULL;
    if (capsule && PyCapsule_IsValid(capsule, "dlpack_exchange_api")) {
        table = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
    }
    Py_XDECREF(capsule); /* the table is static: it lives as long as the process */
    PyErr_Clear();
    while (table && table->header.version.major != 1) {
        table = (const quern_dl_exchange *)table->header.prev_api;
    }
    return table;
}

static bool has(qp_state *state, PyTypeObject *type, int text)
{
    return PyObject_HasAttr((PyObject *)type, state->texts[text]) == 1;
}

static qp_foreign_type find_way(qp_state *state, PyObject *object)
{
    qp_foreign_type found = {.type = Py_TYPE(object)};
    bool is_bytes = PyBytes_Check(object) || PyByteArray_Check(object);
    found.exchange = exchange_of(state, found.type);
    found.way = found.exchange                                              ? EXCHANGE
                : PyObject_CheckBuffer(object) && !is_bytes                 ? BUFFER
                : has(state, found.type, QP_DLPACK)                         ? CAPSULE
                : PyObject_HasAttr(object, state->texts[QP_CUDA_INTERFACE]) ? CUDA_INTERFACE
                                                                            : NONE;
    return found;
}

static const qp_foreign_type *way_of(qp_state *state, PyObject *object)
{
    for (int k = 0; k < QP_TYPES; k++) {
        if (state->types[k].type == Py_TYPE(object)) {
            return &state->types[k];
        }
    }
    qp_foreign_type *entry = &state->types[state->next_type];
    state->next_type = (state->next_type + 1) % QP_TYPES;
    qp_foreign_type found = find_way(state, object);
    PyTypeObject *old = entry->type;
    *entry = found;
    Py_INCREF((PyObject *)found.type);
    Py_XDECREF((PyObject *)old);
    return entry;
}

/* ---- the ways ------------------------------------------------------------------------------- */

/* 1 with an array, or -1 with the exception. */
static int took(qp_state *state, quern_status status)
{
    return qp_check(state, status) < 0 ? -1 : 1;
}

static int by_exchange(qp_foreign *out, qp_state *state, PyObject *object)
{
    quern_dl_tensor tensor;
    if (!out->exchange->dltensor_from_py_object_no_sync) {
        quern_dl_managed_versioned *managed;
        if (out->exchange->managed_tensor_from_py_object_no_sync(object, &managed) < 0) {
            return -1;
        }
        bool on_gpu = managed->dl_tensor.device.device_type == QUERN_DL_CUDA;
        out->device = on_gpu ? qp_device_gpu(state, managed->dl_tensor.device.device_id)
                             : qp_device_current(state);
        if (out->device >= 0 &&
            qp_check(state, quern_array_from_dlpack(&out->array, state->devices[out->device].engine,
                                                    managed)) == 0) {
            return 1;
        }
        managed->deleter(managed);
        return -1;
    }
    if (out->exchange->dltensor_from_py_object_no_sync(object, &tensor) < 0) {
        return -1;
    }
    out->device = tensor.device.device_type == QUERN_DL_CUDA
                      ? qp_device_gpu(state, tensor.device.device_id)
                      : qp_device_current(state);
    if (out->device < 0) {
        return -1;
    }
    return took(state, quern_array_from_dltensor(&out->array, state->devices[out->device].engine,
                                                 &tensor, 0, NULL, NULL));
}

/* Gives a buffer back when the array over it is gone. */
static void release_buffer(void *context)
{
    if (!Py_IsInitialized()) {
        return;
    }
    Py_buffer *view = context;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyBuffer_Release(view);
    PyMem_Free(view);
    PyGILState_Release(gil);
}

static int by_buffer(qp_foreign *out, qp_state *state, PyObject *object)
{
    Py_buffer *view = PyMem_Malloc(sizeof *view);
    if (!view) {
        PyErr_NoMemory();
        return -1;
    }
    if (PyObject_GetBuffer(object, view, PyBUF_FORMAT | PyBUF_STRIDES) < 0) {
        PyMem_Free(view);
        return -1;
    }
    quern_dtype dtype = qp_dtype_of_format(view->format, view->itemsize);
    out->device = dtype ? qp_device_current(state) : -1;
    quern_array *array = NULL, *fixed;
    int status = -1;
    if (!dtype) {
        PyErr_Format(PyExc_TypeError,
                     "elements of format \"%s\" (%zd bytes) are of no dtype that "
                     "kernels take",
                     view->format ? view->format : "B", view->itemsize);
    } else if (out->device >= 0 && state->devices[out->device].is_gpu) {
        PyErr_Format(PyExc_TypeError,
                     "%R is in memory of the host, which %s does not reach: copy it by "
                     "pyquern.asarray()",
                     Py_TYPE(object), state->devices[out->device].id);
    } else if (out->device >= 0) {
        status = qp_check(state, quern_array_wrap(&array, state->devices[out->device].engine, dtype,
                                                  view->ndim, (const int64_t *)view->shape,
                                                  (const int64_t *)view->strides, view->buf,
                                                  release_buffer, view));
    }
    if (status < 0) {
        PyBuffer_Release(view);
        PyMem_Free(view);
        return -1;
    }
    if (view->readonly) {
        status = qp_check(state, quern_array_read_only(&fixed, array));
        quern_array_release(array);
        array = fixed;
    }
    out->array = array;
    return status < 0 ? -1 : 1;
}

/* The object's capsule: of today's DLPack where it knows that, else of the old one. */
static PyObject *capsule_of(qp_state *state, PyObject *object)
{
    PyObject *method = PyObject_GetAttr(object, state->texts[QP_DLPACK]);
    PyObject *none = PyTuple_New(0), *newest = Py_BuildValue("{s:(ii)}", "max_version", 1, 3);
    PyObject *capsule = method && none && newest ? PyObject_Call(method, none, newest) : NULL;
    if (!capsule && method && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        capsule = PyObject_Call(method, none, NULL);
    }
    Py_XDECREF(method);
    Py_XDECREF(none);
    Py_XDECREF(newest);
    return capsule;
}

static int by_capsule(qp_foreign *out, qp_state *state, PyObject *object)
{
    PyObject *capsule = capsule_of(state, object);
    out->array = capsule ? qp_dlpack_take(state, capsule, &out->device) : NULL;
    Py_XDECREF(capsule);
    return out->array ? 1 : -1;
}

/* An entry of the interface's dictionary, borrowed; NULL where it is not there, or None. */
static PyObject *entry(PyObject *interface, const char *name)
{
    PyObject *value = PyDict_GetItemString(interface, name);
    return value == Py_None ? NULL : value;
}

static int fill_interface(quern_array_interface *i, int64_t *shape, int64_t *strides,
                          PyObject *interface)
{
    PyObject *extents = entry(interface, "shape"), *steps = entry(interface, "strides");
    PyObject *data = entry(interface, "data"), *type = entry(interface, "typestr");
    PyObject *stream = entry(interface, "stream"), *version = entry(interface, "version");
    const char *typestr = type ? PyUnicode_AsUTF8AndSize(type, NULL) : NULL;
    PyObject *pointer;
    int read_only;
    if (!extents || !data || !typestr || strlen(typestr) >= sizeof i->typestr) {
        PyErr_SetString(PyExc_TypeError, "__cuda_array_interface__ lacks shape, typestr or data");
        return -1;
    }
    if (!PyArg_ParseTuple(data, "Op;data", &pointer, &read_only)) {
        return -1;
    }
    i->ndim = qp_shape(shape, extents);
    if (i->ndim < 0 || (steps && qp_shape(strides, steps) != i->ndim)) {
        return -1;
    }
    strcpy(i->typestr, typestr);
    i->version = version ? (int32_t)PyLong_AsLong(version) : 2;
    i->shape = shape;
    i->strides = steps ? strides : NULL;
    i->data = PyLong_AsVoidPtr(pointer);
    i->read_only = read_only;
    i->has_stream = stream != NULL;
    i->stream = stream ? PyLong_AsLongLong(stream) : 0;
    i->mask = entry(interface, "mask");
    return PyErr_Occurred() ? -1 : 0;
}

static int by_cuda_interface(qp_foreign *out, qp_state *state, PyObject *object)
{
    quern_array_interface i = QUERN_ARRAY_INTERFACE_INIT;
    int64_t shape[QUERN_MAX_NDIM], strides[QUERN_MAX_NDIM];
    PyObject *interface = PyObject_GetAttr(object, state->texts[QP_CUDA_INTERFACE]);
    int status = interface ? fill_interface(&i, shape, strides, interface) : -1;
    Py_XDECREF(interface);
    out->device = status < 0 ? -1 : qp_device_current(state);
    if (out->device < 0) {
        return -1;
    }
    quern_engine *engine = state->devices[out->device].engine;
    quern_stream *stream = qp_stream_current(state, out->device);
    int taken = took(state, quern_array_from_interface(&out->array, engine, &i, NULL, NULL));
    if (taken > 0 && i.has_stream && /* the engine's own waits already */
        qp_check(state, quern_stream_follow(engine, stream, (void *)(intptr_t)i.stream)) < 0) {
        quern_array_release(out->array);
        return -1;
    }
    return taken;
}

int qp_foreign_take(qp_foreign *out, qp_state *state, PyObject *object)
{
    const qp_foreign_type *way = way_of(state, object);
    out->array = NULL;
    out->type = Py_TYPE(object);
    out->exchange = way->exchange;
    switch (way->way) {
    case EXCHANGE:
        return by_exchange(out, state, object);
    case BUFFER:
        return by_buffer(out, state, object);
    case CAPSULE:
        return by_capsule(out, state, object);
    case CUDA_INTERFACE:
        return by_cuda_interface(out, state, object);
    default:
        return 0;
    }
}
