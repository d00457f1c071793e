/* SPDX-License-Identifier: MIT
 *
 * Elements to and from the host, between arrays, between devices. In: buffers of the host, arrays,
 * numbers. Out: copies. The thing to know: memory that the host can touch is given out as a buffer,
 * or by the array interface, without a copy, so that NumPy sees it as it is; work that is queued is
 * waited for first.
 */
#include "pyquern.h"

static quern_array *of(PyObject *self)
{
    return ((qp_array *)self)->array;
}

/* The stream that this thread works on with the array. */
static quern_stream *current(PyObject *self)
{
    const qp_array *a = (const qp_array *)self;
    return qp_stream_current(a->state, a->device);
}

/* _copy(order): 0 C, 1 Fortran, 2 kept */
PyObject *qp_array_copy(PyObject *self, PyObject *args)
{
    int order = QUERN_ORDER_C;
    if (!PyArg_ParseTuple(args, "|i:_copy", &order)) {
        return NULL;
    }
    qp_array *a = (qp_array *)self;
    quern_array *out;
    quern_status status;
    Py_BEGIN_ALLOW_THREADS status =
        quern_array_copy_order_on(&out, a->array, (quern_order)order, current(self));
    Py_END_ALLOW_THREADS return qp_check(a->state, status) < 0
        ? NULL
        : qp_array_object(a->state, out, a->device);
}

/* _assign(source, stream=None): broadcast, and converted */
PyObject *qp_array_assign(PyObject *self, PyObject *args)
{
    qp_array *a = (qp_array *)self;
    PyObject *source, *stream_object = Py_None;
    quern_stream *stream;
    if (!PyArg_ParseTuple(args, "O|O:_assign", &source, &stream_object)) {
        return NULL;
    }
    if (!qp_array_is(a->state, source)) {
        return PyErr_Format(PyExc_TypeError, "%R is no array", Py_TYPE(source));
    }
    if (qp_stream_take(&stream, a->state, a->device, stream_object) < 0) {
        return NULL;
    }
    quern_status status;
    Py_BEGIN_ALLOW_THREADS status = quern_array_assign_on(a->array, of(source), stream);
    quern_stream_release(stream);
    Py_END_ALLOW_THREADS return qp_none(a->state, status);
}

/* _fill(bytes, stream=None): all elements become this one */
PyObject *qp_array_fill(PyObject *self, PyObject *args)
{
    qp_array *a = (qp_array *)self;
    const char *bytes;
    Py_ssize_t length;
    PyObject *stream_object = Py_None;
    quern_stream *stream;
    if (!PyArg_ParseTuple(args, "y#|O:_fill", &bytes, &length, &stream_object) ||
        qp_stream_take(&stream, a->state, a->device, stream_object) < 0) {
        return NULL;
    }
    quern_status status;
    Py_BEGIN_ALLOW_THREADS status = quern_array_fill_on(a->array, bytes, (size_t)length, stream);
    quern_stream_release(stream);
    Py_END_ALLOW_THREADS return qp_none(a->state, status);
}

/* Queue a copy of the host, and wait for it where that is asked for. */
static quern_status move(PyObject *self, Py_buffer *view, bool reads, quern_stream *stream,
                         bool waits)
{
    quern_array *a = of(self);
    const size_t bytes = (size_t)view->len;
    quern_status status = reads ? quern_array_read_on(a, view->buf, bytes, stream)
                                : quern_array_write_on(a, view->buf, bytes, stream);
    return status == QUERN_OK && waits ? quern_stream_wait(stream) : status;
}

static PyObject *transfer(PyObject *self, PyObject *args, bool reads)
{
    qp_array *a = (qp_array *)self;
    PyObject *host, *stream_object = Py_None;
    int waits = 1;
    quern_stream *stream = NULL;
    Py_buffer view;
    if (!PyArg_ParseTuple(args, "O|Op:transfer", &host, &stream_object, &waits) ||
        qp_stream_take(&stream, a->state, a->device, stream_object) < 0 ||
        PyObject_GetBuffer(host, &view, PyBUF_C_CONTIGUOUS | (reads ? PyBUF_WRITABLE : 0)) < 0) {
        quern_stream_release(stream);
        return NULL;
    }
    quern_status status;
    Py_BEGIN_ALLOW_THREADS status = move(self, &view, reads, stream, waits);
    quern_stream_release(stream);
    Py_END_ALLOW_THREADS PyObject *done = qp_none(a->state, status);
    PyBuffer_Release(&view);
    return done;
}

/* _read(buffer, stream=None, blocking=True): elements in C order into writable memory of as many
 * bytes, which must stay until the stream has passed the copy */
PyObject *qp_array_read(PyObject *self, PyObject *args)
{
    return transfer(self, args, true);
}

/* _write(buffer, stream=None, blocking=True): the same the other way */
PyObject *qp_array_write(PyObject *self, PyObject *args)
{
    return transfer(self, args, false);
}

/* _to_device(id): a copy on another device */
PyObject *qp_array_to_device(PyObject *self, PyObject *id)
{
    qp_array *a = (qp_array *)self;
    const char *name = PyUnicode_AsUTF8AndSize(id, NULL);
    int device = name ? qp_device_open(a->state, name) : -1;
    if (device < 0) {
        return NULL;
    }
    quern_array *out;
    quern_status status;
    if (qp_stream_order(a->state, a->device, true) < 0) { /* the copy is on the engines' own */
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS status =
        quern_array_copy_to(&out, a->array, a->state->devices[device].engine);
    Py_END_ALLOW_THREADS if (qp_check(a->state, status) < 0)
    {
        return NULL;
    }
    if (qp_stream_order(a->state, a->device, false) < 0 ||
        qp_stream_order(a->state, device, false) < 0) {
        quern_array_release(out);
        return NULL;
    }
    return qp_array_object(a->state, out, device);
}

/* ---- given out ------------------------------------------------------------------------------ */

/* What is queued may still use the elements. */
static int wait(const qp_array *a)
{
    quern_status status;
    Py_BEGIN_ALLOW_THREADS status = quern_synchronize(a->state->devices[a->device].engine);
    Py_END_ALLOW_THREADS return qp_check(a->state, status);
}

/* Whether NumPy may read the array by its interface; false with an AttributeError, as of an object
 * that has none, so that what asks goes on to __array__(). */
static bool has_interface(const qp_array *a)
{
    const quern_dtype dtype = quern_array_dtype(a->array);
    if (!qp_dtype_format(dtype)) {
        PyErr_Format(PyExc_AttributeError, "__array_interface__: NumPy has no typestr for %s",
                     quern_dtype_name(dtype));
        return false;
    }
    if (a->state->devices[a->device].is_gpu && !quern_array_host_pointer(a->array) &&
        quern_array_memory(a->array) <= QUERN_MEMORY_DEVICE) {
        PyErr_SetString(PyExc_AttributeError,
                        "__array_interface__: the array is in memory of a GPU, which the host "
                        "cannot touch: copy it by .get()");
        return false;
    }
    return true;
}

PyObject *qp_array_interface(PyObject *self, void *unused)
{
    (void)unused;
    const qp_array *a = (const qp_array *)self;
    quern_array_interface i = QUERN_ARRAY_INTERFACE_INIT;
    if (!has_interface(a) || wait(a) < 0 ||
        qp_check(a->state, quern_array_get_interface(&i, a->array, NULL)) < 0) {
        return NULL;
    }
    PyObject *shape = qp_tuple(i.shape, i.ndim);
    PyObject *strides = i.strides ? qp_tuple(i.strides, i.ndim) : Py_NewRef(Py_None);
    PyObject *pointer = PyLong_FromVoidPtr(quern_array_host_pointer(a->array));
    PyObject *made = shape && strides && pointer
                         ? Py_BuildValue("{s:i,s:O,s:O,s:s,s:(OO)}", "version", 3, "shape", shape,
                                         "strides", strides, "typestr", i.typestr, "data", pointer,
                                         i.read_only ? Py_True : Py_False)
                         : NULL;
    Py_XDECREF(shape);
    Py_XDECREF(strides);
    Py_XDECREF(pointer);
    return made;
}

/* ---- the buffer protocol -------------------------------------------------------------------- */

/* Shape and strides as a buffer wants them, kept until the buffer is released. */
typedef struct extents {
    Py_ssize_t shape[QUERN_MAX_NDIM], strides[QUERN_MAX_NDIM];
} extents;

/* Py_ssize_t has the size of int64_t on all machines that Quern is for. */
_Static_assert(sizeof(Py_ssize_t) == sizeof(int64_t), "a 64-bit machine");

static int refuse(PyObject *self, const char *why)
{
    PyErr_Format(PyExc_BufferError, "an array of %s %s",
                 quern_dtype_name(quern_array_dtype(of(self))), why);
    return -1;
}

static bool lies_in_fortran_order(const quern_array *array)
{
    int64_t stride = (int64_t)quern_dtype_size(quern_array_dtype(array));
    for (int k = 0; k < quern_array_ndim(array); k++) {
        int64_t extent = quern_array_shape(array)[k];
        if (extent > 1 && quern_array_strides(array)[k] != stride) {
            return false;
        }
        stride *= extent;
    }
    return true;
}

int qp_array_get_buffer(PyObject *self, Py_buffer *view, int flags)
{
    qp_array *a = (qp_array *)self;
    quern_array *array = a->array;
    const char *format = qp_dtype_format(quern_array_dtype(array));
    bool is_contiguous = quern_array_is_contiguous(array);
    view->obj = NULL;
    if (!format) {
        return refuse(self, "has no format in the buffer protocol");
    }
    if (quern_array_count(array) > 0 && !quern_array_host_pointer(array)) {
        return refuse(self,
                      "is in memory of a GPU, which the host cannot touch: copy it by .get()");
    }
    if ((flags & PyBUF_WRITABLE) && quern_array_is_read_only(array)) {
        return refuse(self, "is read-only");
    }
    bool needs_c = (flags & PyBUF_STRIDES) != PyBUF_STRIDES ||
                   (flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS;
    bool needs_f = (flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS;
    if ((needs_c && !is_contiguous) || (needs_f && !lies_in_fortran_order(array))) {
        return refuse(self, "is not contiguous in the order that is asked for");
    }
    if (wait(a) < 0) {
        return -1;
    }
    extents *e = PyMem_Malloc(sizeof *e);
    if (!e) {
        PyErr_NoMemory();
        return -1;
    }
    int ndim = quern_array_ndim(array);
    memcpy(e->shape, quern_array_shape(array), (size_t)ndim * sizeof *e->shape);
    memcpy(e->strides, quern_array_strides(array), (size_t)ndim * sizeof *e->strides);
    view->obj = Py_NewRef(self);
    view->buf = quern_array_host_pointer(array);
    view->itemsize = (Py_ssize_t)quern_dtype_size(quern_array_dtype(array));
    view->len = quern_array_count(array) * view->itemsize;
    view->readonly = quern_array_is_read_only(array);
    view->ndim = (flags & PyBUF_ND) ? ndim : 1;
    view->format = (flags & PyBUF_FORMAT) ? (char *)(uintptr_t)format : NULL;
    view->shape = (flags & PyBUF_ND) ? e->shape : NULL;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? e->strides : NULL;
    view->suboffsets = NULL;
    view->internal = e;
    return 0;
}

void qp_array_release_buffer(PyObject *self, Py_buffer *view)
{
    (void)self;
    PyMem_Free(view->internal);
}
