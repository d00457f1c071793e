/* SPDX-License-Identifier: MIT
 *
 * CuPy. In: arrays of it. Out: ours over their memory, and the stream that its work goes to. The
 * thing to know: an array's attributes are read one by one, which takes a third of the time of its
 * interface, a dictionary made anew each time.
 */
#include "pyquern.h"

bool qp_cupy_reads(qp_state *state, PyTypeObject *type)
{
    PyObject *class = qp_loaded("cupy", "ndarray");
    bool is = class && PyType_Check(class) && PyType_IsSubtype(type, (PyTypeObject *)class) &&
              qp_numpy_knows_dtypes(state);
    Py_XDECREF(class);
    return is;
}

/* An attribute that is an integer; 0, or -1 with an exception. */
static int number_of(size_t *out, PyObject *object, PyObject *name)
{
    PyObject *number = PyObject_GetAttr(object, name);
    *out = number ? PyLong_AsSize_t(number) : 0;
    Py_XDECREF(number);
    return PyErr_Occurred() ? -1 : 0;
}

/* An array's address, and the number of its GPU; 0, or -1 with an exception. */
static int memory_of(void **pointer, int *gpu, PyObject *array, PyObject *const *texts)
{
    size_t address = 0, number = 0;
    PyObject *memory = PyObject_GetAttr(array, texts[QP_DATA]);
    const bool is_told = memory && number_of(&address, memory, texts[QP_PTR]) == 0 &&
                         number_of(&number, memory, texts[QP_DEVICE_ID]) == 0;
    Py_XDECREF(memory);
    *pointer = (void *)(uintptr_t)address;
    *gpu = (int)number;
    return is_told ? 0 : -1;
}

/* An attribute that is a tuple of integers: how many. -1 with an exception. */
static int tuple_of(int64_t out[QUERN_MAX_NDIM], PyObject *object, PyObject *name)
{
    PyObject *tuple = PyObject_GetAttr(object, name);
    int count = tuple ? qp_shape(out, tuple) : -1;
    Py_XDECREF(tuple);
    return count;
}

/* 1 where the elements lie one after the other, in C's order; -1 with an exception. */
static int is_contiguous(PyObject *array, PyObject *name)
{
    PyObject *truth = PyObject_GetAttr(array, name);
    int is = truth ? PyObject_IsTrue(truth) : -1;
    Py_XDECREF(truth);
    return is;
}

static quern_dtype dtype_of(const qp_foreign *f, qp_state *state)
{
    PyObject *descr = PyObject_GetAttr(f->object, state->texts[QP_DTYPE]);
    quern_dtype dtype = descr ? qp_numpy_dtype(f, state, descr) : QUERN_DTYPE_NONE;
    Py_XDECREF(descr);
    return dtype;
}

int qp_cupy_take(qp_foreign *out, qp_state *state)
{
    PyObject *array = out->object, **texts = state->texts;
    int64_t shape[QUERN_MAX_NDIM], strides[QUERN_MAX_NDIM];
    void *pointer;
    int gpu;
    int ndim =
        memory_of(&pointer, &gpu, array, texts) < 0 ? -1 : tuple_of(shape, array, texts[QP_SHAPE]);
    int is_plain = ndim < 0 ? -1 : is_contiguous(array, texts[QP_C_CONTIGUOUS]);
    if (is_plain < 0 || (!is_plain && tuple_of(strides, array, texts[QP_STRIDES]) < 0)) {
        return -1;
    }
    quern_dtype dtype = dtype_of(out, state);
    out->device = dtype == QUERN_DTYPE_NONE ? -1 : qp_device_gpu(state, gpu);
    if (out->device < 0 ||
        qp_check(state,
                 quern_array_wrap(&out->array, state->devices[out->device].engine, dtype, ndim,
                                  shape, is_plain ? NULL : strides, pointer, NULL, NULL)) < 0) {
        return -1;
    }
    out->is_host = false;
    return 1;
}

/* The function that says which stream is current, found once; borrowed. NULL with an exception. */
static PyObject *current_stream(qp_state *state)
{
    PyObject *first = state->cupy_stream;
    if (first) {
        return first;
    }
    PyObject *found = qp_loaded("cupy.cuda", "get_current_stream");
    if (!found) {
        PyErr_SetString(PyExc_AttributeError,
                        "cupy.cuda has no get_current_stream(), which says where CuPy's work goes: "
                        "another version of CuPy is needed");
        return NULL;
    }
    if (!atomic_compare_exchange_strong(&state->cupy_stream, &first, found)) {
        Py_DECREF(found); /* another thread was quicker */
        return first;
    }
    return found;
}

int qp_cupy_stream(qp_foreign *f, qp_state *state)
{
    size_t handle = 0;
    PyObject *function = current_stream(state);
    PyObject *gpu = function ? PyLong_FromLong(state->devices[f->device].number) : NULL;
    PyObject *stream = gpu ? PyObject_Vectorcall(function, &gpu, 1, NULL) : NULL;
    const int status = stream ? number_of(&handle, stream, state->texts[QP_PTR]) : -1;
    f->stream = (void *)(uintptr_t)handle;
    Py_XDECREF(gpu);
    Py_XDECREF(stream);
    return status;
}
