/* SPDX-License-Identifier: MIT
 *
 * Views of arrays. In: slices, shapes, axes, as NumPy has them. Out: arrays over the same memory.
 * The thing to know: only basic slicing is there, of which nothing is ever copied; an array or a
 * list as an index is refused by name.
 */
#include "pyquern.h"

static quern_array *of(PyObject *self)
{
    return ((qp_array *)self)->array;
}

/* Another view of what `self` is a view of; takes `array` over. As in NumPy its base is the array
 * that has the memory, or that was made over an object's memory, and no view of that. */
static PyObject *beside(PyObject *self, quern_status status, quern_array *array)
{
    qp_array *a = (qp_array *)self;
    PyObject *base = a->base && qp_array_is(a->state, a->base) ? a->base : self;
    return qp_check(a->state, status) < 0 ? NULL : qp_array_over(a->state, array, a->device, base);
}

/* ---- slices --------------------------------------------------------------------------------- */

typedef struct key {
    quern_slice slices[QUERN_MAX_NDIM];
    size_t count;
    int new_axes[QUERN_MAX_NDIM]; /* where None stands, as places in the sliced shape */
    int new_count, kept;          /* `kept`: axes of the result so far, new ones left out */
} key;

static int bound(int64_t *out, PyObject *object)
{
    *out = QUERN_SLICE_NONE;
    if (object == Py_None) {
        return 0;
    }
    *out = PyNumber_AsSsize_t(object, NULL); /* clipped, as slices are */
    return *out == -1 && PyErr_Occurred() ? -1 : 0;
}

static int add_slice(key *k, PyObject *object)
{
    quern_slice *s = &k->slices[k->count++];
    PyObject *start = PyObject_GetAttrString(object, "start");
    PyObject *stop = PyObject_GetAttrString(object, "stop");
    PyObject *step = PyObject_GetAttrString(object, "step");
    int status = start && stop && step && bound(&s->start, start) == 0 && bound(&s->stop, stop) == 0
                     ? 0
                     : -1;
    s->step = 1;
    if (status == 0 && step != Py_None) {
        s->step = PyNumber_AsSsize_t(step, PyExc_OverflowError);
        status = s->step == -1 && PyErr_Occurred() ? -1 : 0;
        if (s->step == 0) {
            PyErr_SetString(PyExc_ValueError, "slice step cannot be zero");
            status = -1;
        }
    }
    Py_XDECREF(start);
    Py_XDECREF(stop);
    Py_XDECREF(step);
    k->kept++;
    return status;
}

static int add_index(key *k, PyObject *object, const int64_t *shape)
{
    quern_slice *s = &k->slices[k->count];
    Py_ssize_t index = PyNumber_AsSsize_t(object, PyExc_IndexError);
    if (index == -1 && PyErr_Occurred()) {
        return -1;
    }
    int64_t extent = shape[k->count];
    if (index < -extent || index >= extent) {
        PyErr_Format(PyExc_IndexError, "index %zd is out of bounds for axis %zu with size %lld",
                     index, k->count, (long long)extent);
        return -1;
    }
    *s = (quern_slice){index, 0, 0};
    k->count++;
    return 0;
}

static int add(key *k, PyObject *item, const quern_array *array, Py_ssize_t left)
{
    int ndim = quern_array_ndim(array);
    if (item == Py_None) {
        if (k->new_count == QUERN_MAX_NDIM) {
            PyErr_SetString(PyExc_IndexError, "too many new axes");
            return -1;
        }
        k->new_axes[k->new_count++] = k->kept++;
        return 0;
    }
    if (item == Py_Ellipsis) {
        while ((Py_ssize_t)k->count + left < ndim) {
            k->slices[k->count++] = (quern_slice)QUERN_SLICE_ALL;
            k->kept++;
        }
        return 0;
    }
    if (k->count == (size_t)ndim) {
        PyErr_Format(PyExc_IndexError, "too many indices: the array has %d dimensions", ndim);
        return -1;
    }
    if (PySlice_Check(item)) {
        return add_slice(k, item);
    }
    if (PyIndex_Check(item) && !PyBool_Check(item)) {
        return add_index(k, item, quern_array_shape(array));
    }
    PyErr_Format(
        PyExc_IndexError,
        "an index is an integer, a slice, None or ..., not %R: gather elements by a kernel "
        "with a raw parameter",
        Py_TYPE(item));
    return -1;
}

/* Whether an item of a key stands for an axis that the array has. */
static bool takes_axis(PyObject *item)
{
    return item != Py_None && item != Py_Ellipsis;
}

static int parse(key *k, PyObject *object, const quern_array *array)
{
    memset(k, 0, sizeof *k);
    PyObject *items = PyTuple_Check(object) ? Py_NewRef(object) : PyTuple_Pack(1, object);
    if (!items) {
        return -1;
    }
    Py_ssize_t count = PyTuple_Size(items), left = 0, dots = 0;
    for (Py_ssize_t n = 0; n < count; n++) {
        left += takes_axis(PyTuple_GetItem(items, n));
        dots += PyTuple_GetItem(items, n) == Py_Ellipsis;
    }
    int status = dots > 1 ? -1 : 0;
    if (dots > 1) {
        PyErr_SetString(PyExc_IndexError, "an index has at most one ...");
    }
    for (Py_ssize_t n = 0; n < count && status == 0; n++) {
        PyObject *item = PyTuple_GetItem(items, n);
        left -= takes_axis(item);
        status = add(k, item, array, left);
    }
    Py_DECREF(items);
    return status;
}

/* Put axes of extent 1 where the key has None. */
static quern_status put_new_axes(quern_array **array, const key *k)
{
    quern_array *sliced = *array, *out;
    int64_t shape[2 * QUERN_MAX_NDIM];
    int ndim = 0, from = 0, given = 0, old = quern_array_ndim(sliced);
    while (given < k->new_count || from < old) {
        bool is_new = given < k->new_count && k->new_axes[given] == ndim;
        shape[ndim++] = is_new ? 1 : quern_array_shape(sliced)[from];
        given += is_new;
        from += !is_new;
    }
    quern_status status = quern_array_reshape(&out, sliced, ndim, shape);
    quern_array_release(sliced);
    *array = out;
    return status;
}

PyObject *qp_array_subscript(PyObject *self, PyObject *object)
{
    key k;
    quern_array *out;
    if (parse(&k, object, of(self)) < 0) {
        return NULL;
    }
    quern_status status = quern_array_slice(&out, of(self), k.count, k.slices);
    if (status == QUERN_OK && k.new_count > 0) {
        status = put_new_axes(&out, &k);
    }
    return beside(self, status, out);
}

int qp_array_set_subscript(PyObject *self, PyObject *object, PyObject *value)
{
    if (!value) {
        PyErr_SetString(PyExc_TypeError, "elements of an array cannot be deleted");
        return -1;
    }
    PyObject *target = qp_array_subscript(self, object);
    if (!target) {
        return -1;
    }
    PyObject *done = PyObject_CallMethod(target, "_set", "O", value);
    Py_DECREF(target);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

/* ---- other views ---------------------------------------------------------------------------- */

/* A method's arguments: one sequence, or its items. */
static PyObject *one_or_many(PyObject *args)
{
    bool is_one = PyTuple_Size(args) == 1 && !PyIndex_Check(PyTuple_GetItem(args, 0));
    return is_one ? PyTuple_GetItem(args, 0) : args;
}

PyObject *qp_array_reshape(PyObject *self, PyObject *args)
{
    int64_t shape[QUERN_MAX_NDIM];
    int ndim = qp_shape(shape, one_or_many(args));
    if (ndim < 0) {
        return NULL;
    }
    qp_array *a = (qp_array *)self;
    quern_array *out, *copy;
    quern_status status = quern_array_reshape(&out, a->array, ndim, shape);
    if (status != QUERN_ERROR_SHAPE || quern_array_is_contiguous(a->array)) {
        return beside(self, status, out);
    }
    Py_BEGIN_ALLOW_THREADS status =
        quern_array_copy(&copy, a->array); /* no view can have that shape */
    Py_END_ALLOW_THREADS if (status == QUERN_OK)
    {
        status = quern_array_reshape(&out, copy, ndim, shape);
        quern_array_release(copy);
    }
    return qp_check(a->state, status) < 0 ? NULL : qp_array_object(a->state, out, a->device);
}

PyObject *qp_array_transpose(PyObject *self, PyObject *args)
{
    int64_t given[QUERN_MAX_NDIM];
    int axes[QUERN_MAX_NDIM];
    PyObject *list = one_or_many(args);
    int count = list == Py_None ? 0 : qp_shape(given, list), ndim = quern_array_ndim(of(self));
    if (count < 0) {
        return NULL;
    }
    if (count != 0 && count != ndim) {
        return PyErr_Format(PyExc_ValueError, "%d axes for an array of %d dimensions", count, ndim);
    }
    for (int k = 0; k < count; k++) {
        axes[k] = (int)(given[k] < 0 ? given[k] + ndim : given[k]);
    }
    quern_array *out;
    quern_status status = quern_array_transpose(&out, of(self), count > 0 ? axes : NULL);
    return beside(self, status, out);
}

PyObject *qp_array_broadcast(PyObject *self, PyObject *object)
{
    int64_t shape[QUERN_MAX_NDIM];
    quern_array *out;
    int ndim = qp_shape(shape, object);
    if (ndim < 0) {
        return NULL;
    }
    quern_status status = quern_array_broadcast(&out, of(self), ndim, shape);
    return beside(self, status, out);
}

quern_status qp_array_fix(quern_array **array)
{
    quern_array *fixed;
    quern_status status = quern_array_read_only(&fixed, *array);
    quern_array_release(*array);
    *array = fixed;
    return status;
}

PyObject *qp_array_read_only(PyObject *self, PyObject *unused)
{
    (void)unused;
    quern_array *out;
    quern_status status = quern_array_read_only(&out, of(self));
    return beside(self, status, out);
}

PyObject *qp_array_view(PyObject *self, PyObject *dtype_object)
{
    quern_array *out;
    quern_dtype dtype = qp_dtype(((qp_array *)self)->state, dtype_object);
    if (!dtype) {
        return NULL;
    }
    quern_status status = quern_array_view(&out, of(self), dtype);
    return beside(self, status, out);
}

/* _in_place_of(array): `self`, a view of that array, which nobody else has: its base from now on */
PyObject *qp_array_in_place_of(PyObject *self, PyObject *other)
{
    qp_array *a = (qp_array *)self;
    if (!qp_array_is(a->state, other)) {
        return PyErr_Format(PyExc_TypeError, "%R is no array", Py_TYPE(other));
    }
    PyObject *before = a->base;
    a->base = Py_XNewRef(((qp_array *)other)->base);
    Py_XDECREF(before);
    return Py_NewRef(self);
}
