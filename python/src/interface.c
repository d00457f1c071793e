/* SPDX-License-Identifier: MIT
 *
 * Arrays of a GPU come in by the interface of CUDA arrays. In: an object that has it. Out: an array
 * over its memory, and the stream that its library works on. The thing to know: the dictionary is
 * anybody's, so each entry is looked at before it is used, and a wrong one named.
 */
#include "pyquern.h"

/* An entry of the interface's dictionary, borrowed; NULL where it is not there, or None. */
static PyObject *entry(PyObject *interface, const char *name)
{
    PyObject *value = PyDict_GetItemString(interface, name);
    return value == Py_None ? NULL : value;
}

/* An entry that is not what the interface has there. */
static int refuse_entry(const qp_foreign *f, const char *name, PyObject *value)
{
    PyErr_Clear();
    return qp_foreign_refuse(f, PyExc_TypeError, "has a __cuda_array_interface__ whose %s is %R",
                             name, value);
}

/* An entry that is a number, where it is there. */
static int number_entry(long long *number, const qp_foreign *f, PyObject *interface,
                        const char *name)
{
    PyObject *value = entry(interface, name);
    *number = value ? PyLong_AsLongLong(value) : *number;
    return *number == -1 && PyErr_Occurred() ? refuse_entry(f, name, value) : 0;
}

static int fill_interface(quern_array_interface *i, int64_t *shape, int64_t *strides,
                          const qp_foreign *f, PyObject *interface)
{
    PyObject *extents = entry(interface, "shape"), *steps = entry(interface, "strides");
    PyObject *data = entry(interface, "data"), *type = entry(interface, "typestr"), *pointer;
    long long version = 2, stream = 0;
    if (!extents || !data || !type) {
        return qp_foreign_refuse(
            f, PyExc_TypeError, "has a __cuda_array_interface__ that lacks shape, typestr or data");
    }
    const char *typestr = PyUnicode_Check(type) ? PyUnicode_AsUTF8AndSize(type, NULL) : NULL;
    if (!typestr || strlen(typestr) >= sizeof i->typestr) {
        return refuse_entry(f, "typestr", type);
    }
    i->ndim = qp_shape(shape, extents);
    if (i->ndim < 0) {
        return refuse_entry(f, "shape", extents);
    }
    if (steps && qp_shape(strides, steps) != i->ndim) {
        return refuse_entry(f, "strides", steps);
    }
    if (!PyTuple_Check(data) || !PyArg_ParseTuple(data, "Op", &pointer, &i->read_only)) {
        return refuse_entry(f, "data", data);
    }
    i->data = PyLong_AsVoidPtr(pointer);
    if (!i->data && PyErr_Occurred()) {
        return refuse_entry(f, "data", data);
    }
    if (number_entry(&version, f, interface, "version") < 0 ||
        number_entry(&stream, f, interface, "stream") < 0) {
        return -1;
    }
    strcpy(i->typestr, typestr);
    i->version = (int32_t)version;
    i->shape = shape;
    i->strides = steps ? strides : NULL;
    i->has_stream = entry(interface, "stream") != NULL;
    i->stream = stream;
    i->mask = entry(interface, "mask");
    return 0;
}

/* The GPU that has the memory; -1 with an exception. */
static int place_of_pointer(qp_state *state, const void *pointer)
{
    int place = qp_device_current(state);
    if (place >= 0 && !state->devices[place].is_gpu) {
        place = qp_device_gpu(state, 0);
    }
    quern_pointer_info info = QUERN_POINTER_INFO_INIT;
    if (place < 0 || !pointer) {
        return place;
    }
    if (qp_check(state, quern_pointer_get_info(&info, state->devices[place].engine, pointer)) < 0) {
        return -1;
    }
    return info.device >= 0 && info.device != state->devices[place].number
               ? qp_device_gpu(state, info.device)
               : place;
}

int qp_interface_take(qp_foreign *out, qp_state *state)
{
    quern_array_interface i = QUERN_ARRAY_INTERFACE_INIT;
    int64_t shape[QUERN_MAX_NDIM], strides[QUERN_MAX_NDIM];
    PyObject *interface = PyObject_GetAttr(out->object, state->texts[QP_CUDA_INTERFACE]);
    int status = interface ? fill_interface(&i, shape, strides, out, interface) : -1;
    Py_XDECREF(interface);
    out->device = status < 0 ? -1 : place_of_pointer(state, i.data);
    if (out->device < 0 ||
        qp_check(state, quern_array_from_interface(&out->array, state->devices[out->device].engine,
                                                   &i, NULL, NULL)) < 0) {
        return -1;
    }
    out->is_host = false;
    out->has_stream = true; /* what names none keeps order with the legacy default stream */
    out->stream = (void *)(intptr_t)(i.has_stream ? i.stream : 1);
    return 1;
}
