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
    uint32_t block_size, tune_ms;
    bool keepdims, tune;
} words;

/* ---- keywords ------------------------------------------------------------------------------- */

static int unexpected(const qp_kernel *k, PyObject *name)
{
    const char *own = PyUnicode_AsUTF8AndSize(PyDict_GetItemString(k->texts, "name"), NULL);
    const char *takes = k->kind == QUERN_KERNEL_ELEMENTWISE ? "size, block_size, tune, stream"
                        : k->kind == QUERN_KERNEL_REDUCTION ? "out, axis, keepdims, tune, stream"
                                                            : "out, axis, stream";
    const bool is_out =
        k->kind == QUERN_KERNEL_ELEMENTWISE && PyUnicode_CompareWithASCIIString(name, "out") == 0;
    return own ? qp_refuse_word(k->state, own, name, takes,
                                is_out ? ", and outputs after the inputs" : "")
               : -1;
}

/* A keyword that is an int of at least `low`; -1 with an exception. */
static int64_t int_word(PyObject *name, PyObject *value, int64_t low, int64_t high)
{
    if (!PyIndex_Check(value)) {
        PyErr_Format(PyExc_TypeError, "%U is an int, not %R", name, value);
        return -1;
    }
    Py_ssize_t number = PyNumber_AsSsize_t(value, NULL); /* what is beyond is the nearest */
    if ((number < low || number > high) && !PyErr_Occurred()) {
        PyErr_Format(PyExc_ValueError, "%U is %R: it is at least %lld and at most %lld", name,
                     value, (long long)low, (long long)high);
    }
    return number;
}

/* Whether to tune: False, True, or for how many milliseconds. */
static void put_tuning(words *w, PyObject *name, PyObject *value)
{
    w->tune = value != Py_False && value != Py_None;
    if (w->tune && value != Py_True) {
        w->tune_ms = (uint32_t)int_word(name, value, 1, UINT32_MAX);
    }
}

static int put_word(words *w, const qp_kernel *k, PyObject *name, PyObject *value)
{
    bool is_elementwise = k->kind == QUERN_KERNEL_ELEMENTWISE;
    if (PyUnicode_CompareWithASCIIString(name, "stream") == 0) {
        w->stream = value;
    } else if (is_elementwise && PyUnicode_CompareWithASCIIString(name, "size") == 0) {
        w->size = int_word(name, value, -1, INT64_MAX);
    } else if (is_elementwise && PyUnicode_CompareWithASCIIString(name, "block_size") == 0) {
        w->block_size = (uint32_t)int_word(name, value, 0, UINT32_MAX);
    } else if (!is_elementwise && PyUnicode_CompareWithASCIIString(name, "out") == 0) {
        w->out = value;
    } else if (!is_elementwise && PyUnicode_CompareWithASCIIString(name, "axis") == 0) {
        w->axis = value;
    } else if (k->kind == QUERN_KERNEL_REDUCTION &&
               PyUnicode_CompareWithASCIIString(name, "keepdims") == 0) {
        int truth = PyObject_IsTrue(value);
        w->keepdims = truth > 0;
    } else if (k->kind != QUERN_KERNEL_SCAN &&
               PyUnicode_CompareWithASCIIString(name, "tune") == 0) {
        put_tuning(w, name, value);
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
    if (count < 0 && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Format(PyExc_TypeError, "axis is None, an int or a tuple of ints, not %R", axis);
    }
    for (int k = 0; k < count; k++) {
        c->axes[k] = (int)given[k];
    }
    c->options.axes = c->axes;
    c->options.axis_count = (size_t)count;
    return count < 0 ? -1 : 0;
}

static int put_words(qp_call *c, const words *w)
{
    c->options.block_size = w->block_size;
    c->options.keepdims = w->keepdims;
    c->options.tune = w->tune;
    c->options.tune_ms = w->tune_ms;
    if (w->size >= 0) {
        c->size = w->size;
        c->options.loop_size = &c->size;
    }
    return put_axes(c, w->axis);
}

/* ---- outputs -------------------------------------------------------------------------------- */

/* Our own array, the first or on the device of those before it, which needs nothing looked up;
 * false: it is none, or must be refused. */
static inline bool add_own(qp_arguments *a, PyObject *object)
{
    if (Py_TYPE(object) != a->state->array_class || a->count == QUERN_MAX_PARAMETERS) {
        return false;
    }
    const qp_array *array = (const qp_array *)object;
    if (a->device < 0) {
        a->device = array->device;
        a->decided = a->count + 1;
    } else if (array->device != a->device) {
        return false;
    }
    a->has_own = true;
    qp_arguments_put(a, array->array);
    return true;
}

/* Outputs by the keyword: one, or a tuple of all. */
static int add_by_word(qp_call *c, PyObject *out)
{
    const qp_kernel *k = c->kernel;
    bool is_tuple = PyTuple_Check(out);
    size_t given = is_tuple ? (size_t)PyTuple_Size(out) : 1;
    if (given != k->out_count) {
        PyErr_Format(PyExc_TypeError, "out has %zu arrays, and there are %zu outputs", given,
                     k->out_count);
        return -1;
    }
    c->is_given = true; /* first: what is borrowed is not let go, whatever fails */
    for (size_t n = 0; n < given; n++) {
        c->results[n] = is_tuple ? PyTuple_GetItem(out, (Py_ssize_t)n) : out;
        if (qp_arguments_add_output(&c->arguments, c->results[n]) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Outputs that are given: after the inputs, or by the keyword. */
static int add_given(qp_call *c, PyObject *const *args, size_t count, PyObject *out)
{
    if (out && out != Py_None) {
        return add_by_word(c, out);
    }
    const size_t from = c->kernel->in_count;
    c->is_given = count > from;
    for (size_t n = from; n < count; n++) {
        c->results[n - from] = args[n];
        if (!add_own(&c->arguments, args[n]) &&
            qp_arguments_add_output(&c->arguments, args[n]) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Ask the library of the inputs for the outputs. */
static int add_new(qp_call *c)
{
    qp_arguments *a = &c->arguments;
    quern_array_info infos[QUERN_MAX_PARAMETERS];
    size_t count = c->kernel->out_count;
    infos[0].size = sizeof *infos; /* the others are as large, and all are filled */
    if (qp_check(a->state,
                 quern_kernel_infer(infos, count, c->made, a->values, a->count, &c->options)) < 0) {
        return -1;
    }
    for (size_t n = 0; n < count; n++) {
        c->results[n] = qp_arguments_add_new(a, &infos[n]);
        if (!c->results[n]) {
            return -1;
        }
    }
    c->options.loop_size = NULL; /* the outputs say it now */
    return 0;
}

/* Make room for the outputs: of the inputs' library where all are of one, else of our own. */
static int place_outputs(qp_call *c)
{
    qp_arguments *a = &c->arguments;
    bool is_foreign = a->like && !a->has_own && !a->is_mixed && c->kernel->out_count > 0 && !c->dry;
    int makes = is_foreign ? qp_foreign_makes(a->state, a->like->type) : 0;
    if (makes != 0) {
        return makes < 0 ? -1 : add_new(c);
    }
    c->convert = is_foreign ? a->like->type->convert : NULL;
    for (size_t n = 0; n < c->kernel->out_count; n++) {
        quern_value *v = &a->values[a->count++];
        v->kind = QUERN_VALUE_OUTPUT;
        v->dtype = 0;
        v->as.output = &c->allocated[n];
    }
    return 0;
}

/* The object of an output that the call has allocated. */
static PyObject *wrap_up(qp_call *c, size_t n)
{
    PyObject *own = qp_array_object(c->arguments.state, c->allocated[n], c->arguments.device);
    c->allocated[n] = NULL;
    if (!own || !c->convert) {
        return own;
    }
    PyObject *theirs = PyObject_CallFunctionObjArgs(c->convert, own, NULL);
    Py_DECREF(own);
    return theirs;
}

PyObject *qp_call_results(qp_call *c)
{
    const qp_kernel *k = c->kernel;
    for (size_t n = 0; n < k->out_count; n++) {
        if (!c->results[n]) {
            c->results[n] = wrap_up(c, n);
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

/* What the library calls before a call of it may take long: the GIL is let go, and where the
 * software device may run, it can be interrupted. Taking it again needs none of the library. */
typedef struct leaving {
    PyThreadState *thread; /* NULL: the GIL was not let go */
    const qp_state *state;
    int device;
} leaving;

static void leave(void *context)
{
    leaving *l = context;
    qp_before_launch(l->state, l->device);
    l->thread = PyEval_SaveThread();
}

static quern_status call_leaving(quern_kernel *made, const quern_value *values, size_t count,
                                 quern_call_options *options, const qp_state *state, int device)
{
    leaving l = {NULL, state, device};
    options->leave = leave;
    options->leave_context = &l;
    const quern_status status = quern_call_n(made, values, count, options);
    if (l.thread) {
        PyEval_RestoreThread(l.thread);
    }
    return status;
}

static int wrong_count(const qp_kernel *k, size_t count)
{
    PyErr_Format(PyExc_TypeError,
                 "%U() takes %zu inputs, or those and %zu outputs; %zu arguments were given",
                 PyDict_GetItemString(k->texts, "name"), k->in_count, k->out_count, count);
    return -1;
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
        if (!add_own(a, args[n]) && qp_arguments_add(a, args[n]) < 0) {
            return -1;
        }
    }
    if (put_words(c, w) < 0 || add_given(c, args, count, w->out) < 0 ||
        ((a->foreign_count > 0 || a->device < 0) && qp_arguments_settle(a) < 0)) {
        return -1;
    }
    c->made = qp_kernel_on(k, a->device);
    if (!c->made) {
        return -1;
    }
    c->options.stream = qp_stream_current(a->state, a->device);
    if (w->stream && qp_arguments_stream(a, &c->options.stream, w->stream) < 0) {
        return -1;
    }
    if (!c->is_given && place_outputs(c) < 0) {
        return -1;
    }
    return a->foreign_count > 0 ? qp_arguments_before(a, &c->options.stream) : 0;
}

int qp_call_begin(qp_call *c, qp_kernel *k, PyObject *const *args, size_t flagged, PyObject *names,
                  const qp_dry *dry)
{
    size_t count = flagged & ~PY_VECTORCALL_ARGUMENTS_OFFSET;
    Py_ssize_t named = names ? PyTuple_Size(names) : 0;
    words w = {.size = -1};
    c->kernel = k;
    c->dry = dry != NULL;
    c->options = (quern_call_options)QUERN_CALL_OPTIONS_INIT;
    c->is_given = false;
    c->convert = NULL;
    for (size_t n = 0; n < k->out_count; n++) {
        c->results[n] = NULL;
        c->allocated[n] = NULL;
    }
    qp_arguments_begin(&c->arguments, k->state);
    if (dry) {
        c->arguments.likes = dry->likes;
    }
    for (Py_ssize_t n = 0; n < named; n++) {
        if (put_word(&w, k, PyTuple_GetItem(names, n), args[count + (size_t)n]) < 0) {
            return -1;
        }
    }
    return ready(c, args, count, &w);
}

void qp_call_end(qp_call *c)
{
    for (size_t n = 0; n < c->kernel->out_count && !c->is_given; n++) {
        Py_XDECREF(c->results[n]);
        quern_array_release(c->allocated[n]);
    }
    qp_arguments_end(&c->arguments);
}

static PyObject *call(PyObject *self, PyObject *const *args, size_t flagged, PyObject *names)
{
    qp_call c;
    PyObject *result = NULL;
    if (qp_call_begin(&c, (qp_kernel *)self, args, flagged, names, NULL) == 0) {
        qp_arguments *a = &c.arguments;
        quern_status status =
            call_leaving(c.made, a->values, a->count, &c.options, a->state, a->device);
        bool is_done = qp_check(a->state, status) == 0;
        if (is_done && (a->foreign_count == 0 || qp_arguments_after(a, c.options.stream) == 0)) {
            result = qp_call_results(&c);
        }
    }
    qp_call_end(&c);
    return result;
}

enum { FEW = 8 };

/* Whether it may be what programs do most: a few of our own arrays, the one output among them, and
 * no keyword. Such a call needs none of qp_call's room. */
static bool is_plain(const qp_kernel *k, PyObject *const *args, size_t count, PyObject *names)
{
    return !names && count == k->in_count + 1 && Py_TYPE(args[0]) == k->state->array_class &&
           k->out_count == 1 && count <= FEW && !k->returns_tuple && !k->returns_nothing;
}

/* The call of such; false: another of its arrays is not, or the kernel is not made for the device.
 */
static bool call_plain(PyObject **result, const qp_kernel *k, PyObject *const *args, size_t count)
{
    quern_value values[FEW];
    qp_state *state = k->state;
    const int device = ((const qp_array *)args[0])->device;
    for (size_t n = 0; n < count; n++) {
        const qp_array *array = (const qp_array *)args[n];
        if (Py_TYPE(args[n]) != state->array_class || array->device != device) {
            return false;
        }
        qp_value_put(&values[n], array->array);
    }
    quern_kernel *made = k->made[device];
    if (!made) {
        return false;
    }
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    options.stream = qp_stream_current(state, device);
    quern_status status = call_leaving(made, values, count, &options, state, device);
    *result = status == QUERN_OK ? Py_NewRef(args[count - 1]) : qp_raise(state);
    return true;
}

PyObject *qp_kernel_call(PyObject *self, PyObject *const *args, size_t flagged, PyObject *names)
{
    const qp_kernel *k = (const qp_kernel *)self;
    const size_t count = flagged & ~PY_VECTORCALL_ARGUMENTS_OFFSET;
    PyObject *result;
    return is_plain(k, args, count, names) && call_plain(&result, k, args, count)
               ? result
               : call(self, args, flagged, names);
}
