/* SPDX-License-Identifier: MIT
 *
 * Launching functions of modules. In: a grid, a block, arguments as CuPy takes them. Out: a queued
 * launch. The thing to know: the image says only how many bytes a parameter has, so a plain number
 * gets those bytes: an int as an integer, a float as a floating-point number. Numbers of NumPy and
 * ctypes, and structures, are passed as the bytes that they have.
 */
#include "texture.h"

/* One launch on its way. */
typedef struct launch {
    qp_function *function;
    qp_arguments arguments;
    quern_launch_options options;
    PyObject *later[QUERN_MAX_PARAMETERS]; /* plain numbers, which wait for the device; borrowed */
    Py_buffer views[QUERN_MAX_PARAMETERS]; /* what is passed by value */
    size_t view_count;
    size_t count;
} launch;

/* ---- words ---------------------------------------------------------------------------------- */

typedef struct words {
    PyObject *grid, *block, *args, *shared, *stream;
} words;

static int put_word(words *w, qp_state *state, PyObject *name, PyObject *value)
{
    const struct {
        const char *name;
        PyObject **to;
    } known[] = {{"grid", &w->grid},
                 {"block", &w->block},
                 {"args", &w->args},
                 {"shared_mem", &w->shared},
                 {"stream", &w->stream}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (PyUnicode_CompareWithASCIIString(name, known[k].name) != 0) {
            continue;
        }
        if (*known[k].to) {
            PyErr_Format(PyExc_TypeError, "%U is given twice", name);
            return -1;
        }
        *known[k].to = value;
        return 0;
    }
    return qp_refuse_word(state, "kernel", name, "grid, block, args, shared_mem, stream", "");
}

/* One extent of a grid or a block: at least 1, as CuPy has it. */
static int put_extent(uint32_t *out, PyObject *object, const char *what, int axis)
{
    if (!PyIndex_Check(object)) {
        PyErr_Format(PyExc_TypeError, "%s is an int or a tuple of 1 to 3 ints, and has %R", what,
                     Py_TYPE(object));
        return -1;
    }
    Py_ssize_t extent = PyNumber_AsSsize_t(object, PyExc_OverflowError);
    if (extent == -1 && PyErr_Occurred()) {
        return -1;
    }
    if (extent < 0 || extent > UINT32_MAX) {
        PyErr_Format(PyExc_ValueError, "%s is %zd along axis %d: it must be 1 to 4294967295", what,
                     extent, axis);
        return -1;
    }
    *out = extent == 0 ? 1 : (uint32_t)extent;
    return 0;
}

static int put_extents(uint32_t out[3], PyObject *object, const char *what)
{
    if (PyIndex_Check(object)) {
        return put_extent(&out[0], object, what, 0);
    }
    bool is_sequence = PyTuple_Check(object) || PyList_Check(object);
    Py_ssize_t count = is_sequence ? PySequence_Size(object) : 0;
    if (count < 1 || count > 3) {
        PyErr_Format(PyExc_TypeError, "%s is an int or a tuple of 1 to 3 ints, not %R", what,
                     object);
        return -1;
    }
    for (int k = 0; k < (int)count; k++) {
        PyObject *item = PySequence_GetItem(object, k);
        int status = item ? put_extent(&out[k], item, what, k) : -1;
        Py_XDECREF(item);
        if (status < 0) {
            return -1;
        }
    }
    return 0;
}

static int put_words(launch *l, const words *w)
{
    if (!w->grid || !w->block || !w->args) {
        PyErr_Format(PyExc_TypeError,
                     "a raw kernel is called with grid, block and args: %U lacks %s",
                     l->function->name,
                     !w->grid    ? "grid"
                     : !w->block ? "block"
                                 : "args");
        return -1;
    }
    if (put_extents(l->options.grid, w->grid, "grid") < 0 ||
        put_extents(l->options.block, w->block, "block") < 0) {
        return -1;
    }
    if (w->shared && w->shared != Py_None) {
        Py_ssize_t bytes = PyNumber_AsSsize_t(w->shared, PyExc_OverflowError);
        if (bytes == -1 && PyErr_Occurred()) {
            return -1;
        }
        if (bytes < 0 || bytes > UINT32_MAX) {
            PyErr_Format(PyExc_ValueError, "shared_mem is %zd: it is a number of bytes", bytes);
            return -1;
        }
        l->options.shared_bytes = (uint32_t)bytes;
    }
    l->options.cooperative = l->function->cooperative;
    return 0;
}

/* ---- plain numbers -------------------------------------------------------------------------- */

static int unfit(const launch *l, size_t index, PyObject *object, uint64_t bytes)
{
    PyErr_Format(PyExc_TypeError,
                 "argument %zu of %U is %R, and its parameter has %llu bytes: pass a NumPy number "
                 "or structure of that size",
                 index + 1, l->function->name, Py_TYPE(object), (unsigned long long)bytes);
    return -1;
}

static int put_integer(launch *l, size_t index, PyObject *object, uint64_t bytes)
{
    static const quern_dtype dtypes[9] = {
        [1] = QUERN_INT8, [2] = QUERN_INT16, [4] = QUERN_INT32, [8] = QUERN_INT64};
    if (bytes > 8 || dtypes[bytes] == QUERN_DTYPE_NONE) {
        return unfit(l, index, object, bytes);
    }
    int overflow;
    long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
    bool fits = overflow == 0;
    if (overflow > 0 && bytes == 8) {
        number = (long long)PyLong_AsUnsignedLongLong(object);
        fits = !PyErr_Occurred();
        PyErr_Clear();
    }
    if (fits && bytes < 8) { /* as a signed or as an unsigned number: the bytes are the same */
        const long long half = 1LL << (8 * bytes - 1);
        fits = number >= -half && number < 2 * half;
        number = number >= half ? number - 2 * half : number;
    }
    if (!fits) {
        PyErr_Format(PyExc_OverflowError,
                     "argument %zu of %U is %R, which does not fit the %llu bytes of its parameter",
                     index + 1, l->function->name, object, (unsigned long long)bytes);
        return -1;
    }
    l->arguments.values[index] = quern_scalar_int(dtypes[bytes], number);
    return 0;
}

static int put_number(launch *l, size_t index, PyObject *object)
{
    const qp_function *f = l->function;
    /* A driver that does not say gets what CuPy passes. */
    bool is_complex = PyComplex_Check(object), is_float = PyFloat_Check(object);
    uint64_t bytes = index < f->parameter_count ? f->sizes[index]
                     : f->parameter_count > 0   ? 0 /* too many: the library says so */
                     : is_complex               ? 16
                     : PyBool_Check(object)     ? 1
                                                : 8;
    quern_value *value = &l->arguments.values[index];
    if (bytes == 0) {
        *value = quern_scalar_int(QUERN_INT64, 0);
    } else if (is_complex && (bytes == 16 || bytes == 8)) {
        *value =
            quern_scalar_complex(bytes == 16 ? QUERN_COMPLEX128 : QUERN_COMPLEX64,
                                 PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object));
    } else if (is_float && (bytes == 8 || bytes == 4 || bytes == 2)) {
        *value = quern_scalar_real(bytes == 8   ? QUERN_FLOAT64
                                   : bytes == 4 ? QUERN_FLOAT32
                                                : QUERN_FLOAT16,
                                   PyFloat_AsDouble(object));
    } else if (is_complex || is_float) {
        return unfit(l, index, object, bytes);
    } else {
        return put_integer(l, index, object, bytes);
    }
    return 0;
}

/* ---- arguments ------------------------------------------------------------------------------ */

/* Python's own numbers; those of NumPy that derive from them are what their bytes are. */
static bool is_number(PyObject *object)
{
    return PyLong_Check(object) || Py_IS_TYPE(object, &PyFloat_Type) ||
           Py_IS_TYPE(object, &PyComplex_Type);
}

/* Objects of Python and strings of NumPy, by the end of their format: their bytes mean nothing to a
 * kernel. */
static bool is_meaningless(const Py_buffer *view)
{
    const size_t length = view->format ? strlen(view->format) : 0;
    return length > 0 && strchr("Osw", view->format[length - 1]) != NULL;
}

/* Something with a buffer that is one element: its bytes. 1, 0: it is not, -1: an exception. */
static int put_bytes(launch *l, size_t index, PyObject *object)
{
    if (!PyObject_CheckBuffer(object)) {
        return 0;
    }
    Py_buffer *view = &l->views[l->view_count];
    if (PyObject_GetBuffer(object, view, PyBUF_ND | PyBUF_FORMAT) < 0) {
        PyErr_Clear(); /* an array with strides; or of memory that the host cannot touch */
        return 0;
    }
    const qp_state *state = l->arguments.state;
    const int device =
        l->arguments.device >= 0 ? l->arguments.device : qp_device_current(l->arguments.state);
    bool one_on_gpu = view->len == view->itemsize && device >= 0 && state->devices[device].is_gpu;
    if ((view->ndim != 0 && !PyBytes_Check(object) && !one_on_gpu) || is_meaningless(view)) {
        PyBuffer_Release(view);
        return 0;
    }
    l->view_count++;
    l->arguments.values[index] = quern_value_struct(view->buf, (size_t)view->len);
    l->arguments.count++;
    return 1;
}

/* Something that is on one device, and is no array. */
static int put_placed(launch *l, const char *what, int device, quern_value value)
{
    qp_arguments *a = &l->arguments;
    if (a->device >= 0 && a->device != device) {
        PyErr_Format(PyExc_ValueError, "argument %zu is %s of %s, and those before it are on %s",
                     a->count + 1, what, a->state->devices[device].id,
                     a->state->devices[a->device].id);
        return -1;
    }
    a->device = device;
    a->values[a->count++] = value;
    return 0;
}

static int put_pointer(launch *l, PyObject *object)
{
    const qp_memory_pointer *p = (const qp_memory_pointer *)object;
    return put_placed(l, "memory", p->device, quern_value_pointer(p->pointer));
}

static int put_handle(launch *l, PyObject *object)
{
    const qp_handle_object *h = (const qp_handle_object *)object;
    return h->texture ? put_placed(l, "a texture", h->device, quern_value_texture(h->texture))
                      : put_placed(l, "a surface", h->device, quern_value_surface(h->surface));
}

/* All but plain numbers, which are left for later. */
static int put_argument(launch *l, size_t index, PyObject *object)
{
    qp_arguments *a = &l->arguments;
    l->later[index] = NULL;
    if (qp_array_is(a->state, object)) {
        return qp_arguments_add(a, object);
    }
    if (object == Py_None) {
        a->values[a->count++] = quern_value_pointer(NULL);
        return 0;
    }
    if (is_number(object)) {
        l->later[index] = object;
        a->count++;
        return 0;
    }
    if (PyObject_TypeCheck(object, a->state->memory_pointer)) {
        return put_pointer(l, object);
    }
    if (PyObject_TypeCheck(object, a->state->texture) ||
        PyObject_TypeCheck(object, a->state->surface)) {
        return put_handle(l, object);
    }
    int put = put_bytes(l, index, object);
    return put < 0 ? -1 : put > 0 ? 0 : qp_arguments_add(a, object);
}

static int put_arguments(launch *l, PyObject *args)
{
    bool is_tuple = PyTuple_Check(args);
    if (!is_tuple && !PyList_Check(args)) {
        PyErr_Format(PyExc_TypeError,
                     "args is a tuple of the kernel's arguments, not %R: write (x,) for one",
                     Py_TYPE(args));
        return -1;
    }
    l->count = (size_t)PySequence_Size(args);
    if (l->count > QUERN_MAX_PARAMETERS) {
        PyErr_Format(PyExc_TypeError, "a call has at most %d arguments", QUERN_MAX_PARAMETERS);
        return -1;
    }
    for (size_t k = 0; k < l->count; k++) {
        PyObject *item =
            is_tuple ? PyTuple_GetItem(args, (Py_ssize_t)k) : PyList_GetItem(args, (Py_ssize_t)k);
        if (!item || put_argument(l, k, item) < 0) {
            return -1;
        }
    }
    return 0;
}

/* ---- the launch ----------------------------------------------------------------------------- */

static int run(launch *l, const words *w)
{
    qp_arguments *a = &l->arguments;
    if (put_words(l, w) < 0 || put_arguments(l, w->args) < 0) {
        return -1;
    }
    for (size_t k = 0; k < a->foreign_count; k++) { /* it may write to any of them */
        a->foreign[k].is_output = !quern_array_is_read_only(a->foreign[k].array);
    }
    quern_function *made =
        qp_arguments_settle(a) < 0 ? NULL : qp_function_on(l->function, a->device);
    if (!made || qp_arguments_stream(a, &l->options.stream, w->stream) < 0 ||
        qp_arguments_before(a, &l->options.stream) < 0) {
        return -1;
    }
    for (size_t k = 0; k < l->count; k++) {
        if (l->later[k] && put_number(l, k, l->later[k]) < 0) {
            return -1;
        }
    }
    quern_status status;
    qp_before_launch(a->state, a->device);
    Py_BEGIN_ALLOW_THREADS status = quern_function_call_n(made, a->values, a->count, &l->options);
    Py_END_ALLOW_THREADS;
    return qp_check(a->state, status) < 0 ? -1 : qp_arguments_after(a, l->options.stream);
}

PyObject *qp_function_call(PyObject *self, PyObject *const *args, size_t flagged, PyObject *names)
{
    size_t count = (size_t)PyVectorcall_NARGS(flagged);
    Py_ssize_t named = names ? PyTuple_Size(names) : 0;
    words w = {.grid = NULL};
    PyObject **const places[] = {&w.grid, &w.block, &w.args};
    if (count > 3) {
        return PyErr_Format(PyExc_TypeError,
                            "a raw kernel is called with grid, block and args, a tuple of its "
                            "arguments: %zu arguments were given",
                            count);
    }
    for (size_t k = 0; k < count; k++) {
        *places[k] = args[k];
    }
    for (Py_ssize_t k = 0; k < named; k++) {
        if (put_word(&w, ((qp_function *)self)->state, PyTuple_GetItem(names, k),
                     args[count + (size_t)k]) < 0) {
            return NULL;
        }
    }
    launch l;
    l.function = (qp_function *)self;
    l.options = (quern_launch_options)QUERN_LAUNCH_OPTIONS_INIT;
    l.view_count = l.count = 0;
    qp_arguments_begin(&l.arguments, l.function->state);
    int status = run(&l, &w);
    for (size_t k = 0; k < l.view_count; k++) {
        PyBuffer_Release(&l.views[k]);
    }
    qp_arguments_end(&l.arguments);
    return status < 0 ? NULL : Py_NewRef(Py_None);
}
