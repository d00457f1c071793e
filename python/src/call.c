/* SPDX-License-Identifier: MIT
 *
 * Calling kernels. In: arguments and keywords, as CuPy has them. Out: the outputs, of our own type,
 * or of the inputs' own where these are all of one foreign type. The thing to know: outputs of a
 * foreign type are allocated by its library, so their dtypes and shapes are asked for first.
 */
#include "pyquern.h"

/* Keywords of a call. Which of them a kernel takes depends on its kind. */
typedef struct words {
    PyObject *out, *axis, *stream;
    int64_t size;
    uint32_t block_size;
    bool keepdims;
} words;

/* ---- keywords ------------------------------------------------------------------------------- */

static int unexpected(const qp_kernel *k, PyObject *name)
{
    PyErr_Format(PyExc_TypeError, "%U() got an unexpected keyword argument '%U'; it takes %s",
                 PyDict_GetItemString(k->texts, "name"), name,
                 k->kind == QUERN_KERNEL_ELEMENTWISE ? "size, block_size, stream"
                 : k->kind == QUERN_KERNEL_REDUCTION ? "out, axis, keepdims, stream"
                                                     : "out, axis, stream");
    return -1;
}

static int put_word(words *w, const qp_kernel *k, PyObject *name, PyObject *value)
{
    bool is_elementwise = k->kind == QUERN_KERNEL_ELEMENTWISE;
    if (PyUnicode_CompareWithASCIIString(name, "stream") == 0) {
        w->stream = value;
    } else if (is_elementwise && PyUnicode_CompareWithASCIIString(name, "size") == 0) {
        w->size = PyLong_AsLongLong(value);
    } else if (is_elementwise && PyUnicode_CompareWithASCIIString(name, "block_size") == 0) {
        w->block_size = (uint32_t)PyLong_AsUnsignedLong(value);
    } else if (!is_elementwise && PyUnicode_CompareWithASCIIString(name, "out") == 0) {
        w->out = value;
    } else if (!is_elementwise && PyUnicode_CompareWithASCIIString(name, "axis") == 0) {
        w->axis = value;
    } else if (k->kind == QUERN_KERNEL_REDUCTION &&
               PyUnicode_CompareWithASCIIString(name, "keepdims") == 0) {
        int truth = PyObject_IsTrue(value);
        w->keepdims = truth > 0;
    } else {
        return unexpected(k, name);
    }
    return PyErr_Occurred() ? -1 : 0;
}

/* Axes from None, an int or a tuple of them. */
static int put_axes(qp_call *c, PyObject *axis)
{
    if (!axis || axis == Py_None) {
        return 0;
    }
    int64_t given[QUERN_MAX_NDIM];
    int count = qp_shape(given, axis);
    for (int k = 0; k < count; k++) {
        c->axes[k] = (int)given[k];
    }
    c->options.axes = c->axes;
    c->options.axis_count = (size_t)count;
    return count < 0 ? -1 : 0;
}

/* All but the stream, which waits for the device. */
static int put_words(qp_call *c, const words *w)
{
    c->options.block_size = w->block_size;
    c->options.keepdims = w->keepdims;
    if (w->size >= 0) {
        c->size = w->size;
        c->options.loop_size = &c->size;
    }
    return put_axes(c, w->axis);
}

/* ---- outputs -------------------------------------------------------------------------------- */

/* Outputs that are given: after the inputs, or by the keyword. */
static int add_given(qp_call *c, PyObject *const *args, size_t count, PyObject *out)
{
    const qp_kernel *k = c->kernel;
    if (out && out != Py_None) {
        PyObject *list = PyTuple_Check(out) ? Py_NewRef(out) : PyTuple_Pack(1, out);
        size_t given = list ? (size_t)PyTuple_Size(list) : 0;
        int status = list ? 0 : -1;
        if (list && given != k->out_count) {
            PyErr_Format(PyExc_TypeError, "out has %zu arrays, and there are %zu outputs", given,
                         k->out_count);
            status = -1;
        }
        for (size_t n = 0; n < given && status == 0; n++) {
            PyObject *item = PyTuple_GetItem(list, (Py_ssize_t)n);
            c->results[n] = Py_NewRef(item);
            status = qp_arguments_add(&c->arguments, item);
        }
        Py_XDECREF(list);
        return status;
    }
    for (size_t n = k->in_count; n < count; n++) {
        c->results[n - k->in_count] = Py_NewRef(args[n]);
        if (qp_arguments_add(&c->arguments, args[n]) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Ask the library of the inputs for the outputs, through the function that is written in Python. */
static int allocate_foreign(qp_call *c, quern_kernel *kernel, PyObject *like)
{
    qp_arguments *a = &c->arguments;
    quern_array_info infos[QUERN_MAX_PARAMETERS] = {QUERN_ARRAY_INFO_INIT};
    size_t count = c->kernel->out_count;
    if (qp_check(a->state,
                 quern_kernel_infer(infos, count, kernel, a->values, a->count, &c->options)) < 0) {
        return -1;
    }
    for (size_t n = 0; n < count; n++) {
        PyObject *shape = qp_tuple(infos[n].shape, infos[n].ndim);
        PyObject *made = shape
                             ? PyObject_CallFunction(a->state->allocate, "OOs", like, shape,
                                                     quern_dtype_name((quern_dtype)infos[n].dtype))
                             : NULL;
        Py_XDECREF(shape);
        c->results[n] = made;
        if (!made || qp_arguments_add(a, made) < 0) {
            return -1;
        }
    }
    return 0;
}

static void place_outputs(qp_call *c)
{
    for (size_t n = 0; n < c->kernel->out_count; n++) {
        c->arguments.values[c->arguments.count++] = quern_value_output(&c->allocated[n]);
    }
}

PyObject *qp_call_results(qp_call *c)
{
    const qp_kernel *k = c->kernel;
    qp_arguments *a = &c->arguments;
    for (size_t n = 0; n < k->out_count; n++) {
        if (!c->results[n]) {
            c->results[n] = qp_array_object(a->state, c->allocated[n], a->device);
            c->allocated[n] = NULL;
            if (!c->results[n]) {
                return NULL;
            }
        }
    }
    if (k->returns_nothing) {
        Py_RETURN_NONE;
    }
    if (k->out_count == 1 && !k->returns_tuple) {
        return Py_NewRef(c->results[0]);
    }
    PyObject *tuple = PyTuple_New((Py_ssize_t)k->out_count);
    for (size_t n = 0; tuple && n < k->out_count; n++) {
        PyTuple_SetItem(tuple, (Py_ssize_t)n, Py_NewRef(c->results[n]));
    }
    return tuple;
}

/* ---- the call ------------------------------------------------------------------------------- */

static int wrong_count(const qp_kernel *k, size_t count)
{
    PyErr_Format(PyExc_TypeError,
                 "%U() takes %zu inputs, or those and %zu outputs; %zu arguments were given",
                 PyDict_GetItemString(k->texts, "name"), k->in_count, k->out_count, count);
    return -1;
}

/* An input that has the foreign type, to show its library what outputs should be like. */
static PyObject *example(const qp_call *c, PyObject *const *args)
{
    for (size_t n = 0; n < c->kernel->in_count; n++) {
        if (Py_TYPE(args[n]) == c->arguments.foreign) {
            return args[n];
        }
    }
    return NULL;
}

/* Everything but the launch. */
static int ready(qp_call *c, PyObject *const *args, size_t count, const words *w)
{
    qp_kernel *k = c->kernel;
    qp_arguments *a = &c->arguments;
    bool outputs_follow = count == k->in_count + k->out_count;
    if (count != k->in_count && !(outputs_follow && !w->out)) {
        return wrong_count(k, count);
    }
    for (size_t n = 0; n < k->in_count; n++) {
        if (qp_arguments_add(a, args[n]) < 0) {
            return -1;
        }
    }
    PyTypeObject *foreign = a->has_own ? NULL : a->foreign;
    if (put_words(c, w) < 0 || add_given(c, args, count, w->out) < 0) {
        return -1;
    }
    int device = a->device >= 0 ? a->device : qp_device_current(a->state);
    c->made = device < 0 ? NULL : qp_kernel_on(k, device);
    if (!c->made) {
        return -1;
    }
    a->device = device;
    c->options.stream = qp_stream_current(a->state, device);
    if (w->stream && qp_stream_take(&c->options.stream, a->state, device, w->stream) < 0) {
        return -1;
    }
    if (a->count == k->in_count) {
        a->foreign = foreign;
        PyObject *like = foreign && !c->dry ? example(c, args) : NULL;
        if (!like) {
            place_outputs(c);
        } else if (allocate_foreign(c, c->made, like) < 0) {
            return -1;
        }
    }
    return 0;
}

int qp_call_begin(qp_call *c, qp_kernel *k, PyObject *const *args, size_t flagged, PyObject *names,
                  bool dry)
{
    size_t count = (size_t)PyVectorcall_NARGS(flagged);
    Py_ssize_t named = names ? PyTuple_Size(names) : 0;
    words w = {.size = -1};
    c->kernel = k;
    c->dry = dry;
    c->options = (quern_call_options)QUERN_CALL_OPTIONS_INIT;
    memset(c->results, 0, k->out_count * sizeof *c->results);
    memset(c->allocated, 0, k->out_count * sizeof *c->allocated);
    c->arguments.state = k->state;
    c->arguments.count = c->arguments.wrapped_count = c->arguments.wrapped_scalars = 0;
    c->arguments.device = -1;
    c->arguments.has_own = false;
    c->arguments.foreign = NULL;
    c->arguments.exchange = NULL;
    for (Py_ssize_t n = 0; n < named; n++) {
        if (put_word(&w, k, PyTuple_GetItem(names, n), args[count + (size_t)n]) < 0) {
            return -1;
        }
    }
    return ready(c, args, count, &w);
}

void qp_call_end(qp_call *c)
{
    for (size_t n = 0; n < c->kernel->out_count; n++) {
        Py_XDECREF(c->results[n]);
        quern_array_release(c->allocated[n]);
    }
    qp_arguments_end(&c->arguments);
}

PyObject *qp_kernel_call(PyObject *self, PyObject *const *args, size_t flagged, PyObject *names)
{
    qp_call c;
    PyObject *result = NULL;
    if (qp_call_begin(&c, (qp_kernel *)self, args, flagged, names, false) == 0) {
        quern_status status;
        qp_arguments *a = &c.arguments;
        Py_BEGIN_ALLOW_THREADS status = quern_call_n(c.made, a->values, a->count, &c.options);
        Py_END_ALLOW_THREADS result = qp_check(a->state, status) < 0 ? NULL : qp_call_results(&c);
    }
    qp_call_end(&c);
    return result;
}
