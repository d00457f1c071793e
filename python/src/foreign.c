/* SPDX-License-Identifier: MIT
 *
 * Arrays of other libraries come in, without a copy. In: any object. Out: an array over its memory,
 * lent for as long as the object lives, or one number. The thing to know: how a type gives its
 * arrays out is found once and remembered, in the order of what costs least: the table of functions
 * of DLPack 1.3, NumPy's fields, the interface of CUDA arrays where it names a stream, the buffer
 * protocol, a capsule of DLPack. Memory of the host belongs to the software device here; order.c
 * copies it where the call runs on a GPU.
 */
#include "pyquern.h"

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

PyObject *qp_loaded(const char *module, const char *name)
{
    PyObject *text = PyUnicode_FromString(module);
    PyObject *from = text ? PyImport_GetModule(text) : NULL;
    PyObject *value = from ? PyObject_GetAttrString(from, name) : NULL;
    Py_XDECREF(text);
    Py_XDECREF(from);
    PyErr_Clear();
    return value;
}

static bool is_of(PyTypeObject *type, const char *module, const char *name)
{
    PyObject *class = qp_loaded(module, name);
    bool is = class && PyType_Check(class) && PyType_IsSubtype(type, (PyTypeObject *)class);
    Py_XDECREF(class);
    return is;
}

/* Whether the object has the interface of CUDA arrays, and says in it where its work goes. */
static bool names_stream(qp_state *state, PyObject *object)
{
    PyObject *interface = PyObject_GetAttr(object, state->texts[QP_CUDA_INTERFACE]);
    PyObject *stream =
        interface && PyDict_Check(interface) ? PyDict_GetItemString(interface, "stream") : NULL;
    bool names = stream && stream != Py_None;
    Py_XDECREF(interface);
    PyErr_Clear();
    return names;
}

static int way_of(qp_state *state, PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    bool is_text = PyBytes_Check(object) || PyByteArray_Check(object);
    return is_of(type, "numpy.ma", "MaskedArray")                      ? QP_MASKED
           : qp_numpy_reads(state, type)                               ? QP_NUMPY
           : is_of(type, "numpy", "generic")                           ? QP_NUMBER
           : qp_cupy_reads(state, type)                                ? QP_CUPY
           : names_stream(state, object)                               ? QP_CUDA_ATTRIBUTE
           : has(state, type, QP_DLPACK)                               ? QP_CAPSULE
           : PyObject_CheckBuffer(object) && !is_text                  ? QP_BUFFER
           : PyObject_HasAttr(object, state->texts[QP_CUDA_INTERFACE]) ? QP_CUDA_ATTRIBUTE
                                                                       : QP_NO_WAY;
}

static qp_foreign_type *learn(qp_state *state, PyObject *object)
{
    qp_foreign_type *made = PyMem_Calloc(1, sizeof *made);
    if (!made) {
        PyErr_NoMemory();
        return NULL;
    }
    made->type = (PyTypeObject *)Py_NewRef((PyObject *)Py_TYPE(object));
    made->exchange = exchange_of(state, made->type);
    made->way = made->exchange ? QP_TABLE : way_of(state, object);
    made->is_torch = made->exchange && is_of(made->type, "torch", "Tensor");
    made->is_fixed = is_of(made->type, "jax", "Array");
    made->library = made->exchange          ? (const void *)made->exchange
                    : made->way == QP_NUMPY ? (const void *)state->numpy.array
                                            : (const void *)made->type;
    if (made->way == QP_NUMBER) {
        made->dtype = qp_dtype(state, (PyObject *)made->type);
        PyErr_Clear(); /* it is refused when it is used */
    }
    return made;
}

static void forget(qp_foreign_type *type)
{
    if (type) {
        Py_XDECREF((PyObject *)type->type);
        Py_XDECREF(type->allocate);
        Py_XDECREF(type->convert);
        PyMem_Free(type);
    }
}

void qp_foreign_forget(qp_state *state)
{
    for (int k = 0; k < state->type_count; k++) {
        forget(state->types[k]);
    }
    state->type_count = 0;
}

/* What is known of the object's type. An entry, once there, stays: others may be using it. */
static qp_foreign_type *type_of(qp_foreign *f, qp_state *state)
{
    qp_foreign_type *found = qp_foreign_known(state, Py_TYPE(f->object)), *made;
    if (found || !(made = learn(state, f->object))) {
        return found;
    }
    qp_lock();
    found = qp_foreign_known(state, made->type); /* another thread may have been quicker */
    if (!found && state->type_count < QP_TYPES) {
        state->types[state->type_count] = found = made;
        state->type_count++; /* last: it says that the entry is there */
    }
    qp_unlock();
    f->made = found == made ? NULL : made;
    return made;
}

/* ---- the ways ------------------------------------------------------------------------------- */

static bool has_memory(const quern_dl_tensor *t)
{
    bool is_fine = t->data || (t->ndim > 0 && !t->shape); /* which is refused for that */
    for (int k = 0; k < t->ndim && k < QUERN_MAX_NDIM && !is_fine; k++) {
        is_fine = t->shape[k] == 0;
    }
    return is_fine;
}

/* Take what the table gave out; `managed` is NULL, or owns it. */
static int take_tensor(qp_foreign *out, qp_state *state, const quern_dl_tensor *tensor,
                       quern_dl_managed_versioned *managed)
{
    out->is_host = tensor->device.device_type != QUERN_DL_CUDA;
    out->is_lent = !managed;
    if (!out->is_host) {
        out->device = qp_device_gpu(state, tensor->device.device_id);
        if (out->device < 0) {
            return -1;
        }
    }
    if (!has_memory(tensor)) {
        return qp_foreign_refuse(out, PyExc_ValueError,
                                 "has no memory, as inside of a compilation or a trace%s",
                                 out->type->is_torch ? ": in torch.compile use pyquern.torch" : "");
    }
    quern_engine *engine = state->devices[out->device].engine;
    quern_status status = managed ? quern_array_from_dlpack(&out->array, engine, managed)
                                  : quern_array_from_dltensor(&out->array, engine, tensor,
                                                              QUERN_DL_TRUSTED, NULL, NULL);
    return qp_check(state, status) < 0 ? -1 : 1;
}

/* A tensor that its library gives not out: what it says of that, without its stack. */
static int refuse_tensor(const qp_foreign *f)
{
    PyObject *cause = PyErr_GetRaisedException();
    PyObject *words = cause ? PyObject_Str(cause) : NULL;
    PyObject *lines = words ? PyUnicode_Splitlines(words, 0) : NULL;
    PyObject *first = lines && PyList_Size(lines) > 0 ? PyList_GetItem(lines, 0) : words;
    if (first) {
        qp_foreign_refuse(f, PyExc_TypeError, "gives no memory out: %U", first);
        PyObject *raised = PyErr_GetRaisedException();
        PyException_SetCause(raised, Py_NewRef(cause));
        PyErr_SetRaisedException(raised);
    }
    Py_XDECREF(lines);
    Py_XDECREF(words);
    Py_XDECREF(cause);
    return -1;
}

static int by_table(qp_foreign *out, qp_state *state)
{
    const quern_dl_exchange *table = out->type->exchange;
    quern_dl_managed_versioned *managed;
    quern_dl_tensor lent;
    if (out->type->is_torch && qp_torch_check(out, state) < 0) {
        return -1;
    }
    if (out->argument > 0 && table->dltensor_from_py_object_no_sync) { /* enough for a call */
        return table->dltensor_from_py_object_no_sync(out->object, &lent) < 0
                   ? refuse_tensor(out)
                   : take_tensor(out, state, &lent, NULL);
    }
    if (table->managed_tensor_from_py_object_no_sync(out->object, &managed) < 0) {
        return refuse_tensor(out);
    }
    int taken = take_tensor(out, state, &managed->dl_tensor, managed);
    if (taken < 0 && managed->deleter) {
        PyObject *raised = PyErr_GetRaisedException();
        managed->deleter(managed);
        PyErr_SetRaisedException(raised);
    }
    return taken;
}

static int refuse_format(const qp_foreign *f)
{
    const char *format = f->view.format ? f->view.format : "B";
    if (*format == '>' || *format == '!') {
        return qp_foreign_refuse(f, PyExc_TypeError,
                                 "has elements whose bytes are in the other order than the "
                                 "machine's (format \"%s\"): convert it",
                                 format);
    }
    return qp_foreign_refuse(f, PyExc_TypeError,
                             "has elements of format \"%s\", %zd bytes each; kernels take %s",
                             format, f->view.itemsize, QP_DTYPE_NAMES);
}

static int by_buffer(qp_foreign *out, qp_state *state)
{
    Py_buffer *view = &out->view;
    if (PyObject_GetBuffer(out->object, view, PyBUF_FORMAT | PyBUF_STRIDES) < 0) {
        return -1;
    }
    out->has_view = true; /* released when the call is done, as work of the software device is */
    quern_dtype dtype = qp_dtype_of_format(view->format, view->itemsize);
    if (dtype == QUERN_DTYPE_NONE) {
        return refuse_format(out);
    }
    quern_array *array;
    if (qp_check(state, quern_array_wrap(&array, state->devices[out->device].engine, dtype,
                                         view->ndim, (const int64_t *)view->shape,
                                         (const int64_t *)view->strides, view->buf, NULL, NULL)) <
        0) {
        return -1;
    }
    if (view->readonly && qp_check(state, qp_array_fix(&array)) < 0) {
        return -1;
    }
    out->array = array;
    return 1;
}

/* Where the object's memory is: the place of a GPU; -2 for another kind, or where it does not tell;
 * -1 with an exception. */
static int gpu_of(qp_state *state, PyObject *object)
{
    int type, number;
    if (!has(state, Py_TYPE(object), QP_DLPACK_DEVICE)) {
        return -2; /* its capsule tells */
    }
    PyObject *device = PyObject_CallMethodObjArgs(object, state->texts[QP_DLPACK_DEVICE], NULL);
    bool is_told = device && qp_two_ints(device, "__dlpack_device__()", &type, &number) == 0;
    Py_XDECREF(device);
    return !is_told ? -1 : type == QUERN_DL_CUDA ? qp_device_gpu(state, number) : -2;
}

/* The object's capsule: of today's DLPack where it knows that, else of the old one. `gpu`: the
 * place of the one whose stream is to wait for the object's work, or negative. */
static PyObject *capsule_of(qp_state *state, PyObject *object, int gpu)
{
    void *handle = NULL;
    PyObject *words = Py_BuildValue("{s:(ii)}", "max_version", 1, 3), *stream = NULL;
    PyObject *method = words ? PyObject_GetAttr(object, state->texts[QP_DLPACK]) : NULL;
    PyObject *none = method ? PyTuple_New(0) : NULL, *capsule = NULL;
    if (none && gpu >= 0) {
        handle = quern_stream_handle(qp_stream_current(state, gpu));
        stream = PyLong_FromVoidPtr(handle ? handle : (void *)1);
        if (!stream || PyDict_SetItem(words, state->texts[QP_STREAM], stream) < 0) {
            Py_CLEAR(none);
        }
    }
    capsule = none ? PyObject_Call(method, none, words) : NULL;
    if (!capsule && none && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        PyDict_DelItem(words, state->texts[QP_MAX_VERSION]);
        capsule = PyObject_Call(method, none, words);
    }
    Py_XDECREF(words);
    Py_XDECREF(stream);
    Py_XDECREF(method);
    Py_XDECREF(none);
    return capsule;
}

static int take_capsule(qp_foreign *out, qp_state *state, int gpu)
{
    PyObject *capsule = capsule_of(state, out->object, gpu);
    out->array = capsule ? qp_dlpack_take(state, capsule, &out->device) : NULL;
    Py_XDECREF(capsule);
    if (!out->array) {
        return -1;
    }
    out->is_lent = false;
    out->is_host = !state->devices[out->device].is_gpu;
    return 1;
}

static int by_capsule(qp_foreign *out, qp_state *state)
{
    int gpu = state->gpu_count > 0 ? gpu_of(state, out->object) : -2;
    int taken = gpu == -1 ? -1 : take_capsule(out, state, gpu);
    if (taken == 1 && gpu < 0 &&
        !out->is_host) { /* it was not known to be a GPU's: with a stream */
        quern_array_release(out->array);
        taken = take_capsule(out, state, out->device);
    }
    return taken;
}

/* ---- all of them ---------------------------------------------------------------------------- */

/* Python's own numbers that are of classes derived from its types. */
static int by_number(qp_foreign *out)
{
    PyObject *object = out->object;
    if (PyFloat_Check(object)) {
        out->value = quern_literal_double(PyFloat_AsDouble(object));
    } else if (PyLong_Check(object)) {
        out->value = quern_literal_int(PyLong_AsLongLong(object));
    } else if (PyComplex_Check(object)) {
        out->value =
            quern_literal_complex(PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object));
    } else {
        return 0;
    }
    return PyErr_Occurred() ? -1 : 2;
}

static int take(qp_foreign *out, qp_state *state)
{
    switch (out->type->way) {
    case QP_NUMPY:
        return qp_numpy_take(out, state);
    case QP_TABLE:
        return by_table(out, state);
    case QP_NUMBER:
        return qp_numpy_number(out);
    case QP_BUFFER:
        return by_buffer(out, state);
    case QP_CAPSULE:
        return by_capsule(out, state);
    case QP_CUPY:
        return qp_cupy_take(out, state);
    case QP_CUDA_ATTRIBUTE:
        return qp_interface_take(out, state);
    case QP_MASKED:
        return qp_foreign_refuse(out, PyExc_TypeError,
                                 "has a mask, which kernels do not see: pass its .data, or its "
                                 ".filled()");
    default:
        return by_number(out);
    }
}

static void begin(qp_foreign *out, PyObject *object, size_t argument, int host)
{
    out->object = object;
    out->made = NULL;
    out->argument = argument;
    out->array = out->staged = NULL;
    out->is_host = out->is_lent = true;
    out->has_view = out->has_stream = false;
    out->device = host;
}

/* By the type that is set; NULL: an exception is. */
static int finish(qp_foreign *out, qp_state *state)
{
    int taken = out->device >= 0 && out->type ? take(out, state) : -1;
    if (taken == 1 && out->type->is_fixed && qp_check(state, qp_array_fix(&out->array)) < 0) {
        taken = -1;
    }
    if (taken != 1) {
        qp_foreign_end(out);
    }
    return taken;
}

int qp_foreign_take(qp_foreign *out, qp_state *state, PyObject *object, size_t argument, int host)
{
    begin(out, object, argument, host);
    out->type = type_of(out, state);
    return finish(out, state);
}

int qp_foreign_take_as(qp_foreign *out, qp_state *state, PyObject *object, size_t argument,
                       int host, qp_foreign_type *type)
{
    begin(out, object, argument, host);
    out->type = type;
    return finish(out, state);
}

void qp_foreign_end(qp_foreign *f)
{
    if (f->is_lent && !f->staged) {
        quern_array_release(f->array); /* nothing of Python's hangs on it */
    } else {
        qp_release(f->array);
        quern_array_release(f->staged);
    }
    if (f->has_view) {
        PyBuffer_Release(&f->view);
    }
    if (f->made) {
        forget(f->made);
    }
}
