/* SPDX-License-Identifier: MIT
 *
 * Kernels in programs that JAX compiles. In: calls of XLA, in its own threads, without the
 * interpreter. Out: launches, on XLA's stream on a GPU, and done when the call returns on the CPU.
 * The thing to know: a compiled program has the name of a call and nothing of this process, because
 * JAX may keep it on disk; pyquern/jax.py adds the calls, for good, before it has a program made.
 */
#include "pyquern.h"
#include "xla.h"

#include <stdatomic.h>

/* A kernel with the options of its call. Never changed, once it is in the list, but for `made`. */
typedef struct named_call {
    struct named_call *next;
    char *name;
    qp_kernel *kernel; /* owned, for good */
    bool has_axes, keepdims;
    int axes[QUERN_MAX_NDIM];
    size_t axis_count;
    _Atomic(quern_kernel *) made[QP_MAX_DEVICES]; /* borrowed from the kernel */
} named_call;

static _Atomic(named_call *) calls;

static named_call *find(const char *name, size_t length)
{
    named_call *c = atomic_load_explicit(&calls, memory_order_acquire);
    while (c && (strlen(c->name) != length || memcmp(c->name, name, length) != 0)) {
        c = c->next;
    }
    return c;
}

/* ---- adding calls --------------------------------------------------------------------------- */

static int make_on(named_call *c, int device)
{
    quern_kernel *made = device < 0 ? NULL : qp_kernel_on(c->kernel, device);
    if (!made) {
        return -1;
    }
    atomic_store_explicit(&c->made[device], made, memory_order_release);
    return 0;
}

static int fill(named_call *c, const char *name, PyObject *axes)
{
    int64_t given[QUERN_MAX_NDIM];
    const int count = axes == Py_None ? 0 : qp_shape(given, axes);
    const size_t bytes = strlen(name) + 1;
    c->name = PyMem_Malloc(bytes);
    if (count < 0 || !c->name) {
        return PyErr_Occurred() ? -1 : (PyErr_NoMemory(), -1);
    }
    memcpy(c->name, name, bytes);
    c->has_axes = axes != Py_None;
    c->axis_count = (size_t)count;
    for (int k = 0; k < count; k++) {
        c->axes[k] = (int)given[k];
    }
    return make_on(c, qp_device_host(c->kernel->state));
}

/* jax_add(name, kernel, axes, keepdims): programs may call the kernel by that name from now on */
static PyObject *jax_add(PyObject *module, PyObject *args)
{
    qp_state *state = PyModule_GetState(module);
    const char *name;
    PyObject *kernel, *axes;
    int keepdims;
    if (!PyArg_ParseTuple(args, "sOOp:jax_add", &name, &kernel, &axes, &keepdims)) {
        return NULL;
    }
    PyTypeObject *type = Py_TYPE(kernel);
    if (type != state->elementwise && type != state->reduction && type != state->scan) {
        PyErr_SetString(PyExc_TypeError, "a kernel of snippets was expected");
        return NULL;
    }
    if (find(name, strlen(name))) {
        Py_RETURN_NONE;
    }
    named_call *c = PyMem_Calloc(1, sizeof *c);
    if (!c) {
        return PyErr_NoMemory();
    }
    c->kernel = (qp_kernel *)Py_NewRef(kernel);
    c->keepdims = keepdims;
    if (fill(c, name, axes) < 0) {
        Py_DECREF(kernel);
        PyMem_Free(c->name);
        PyMem_Free(c);
        return NULL;
    }
    named_call *first = atomic_load_explicit(&calls, memory_order_relaxed);
    do {
        c->next = first;
    } while (!atomic_compare_exchange_weak_explicit(&calls, &first, c, memory_order_release,
                                                    memory_order_relaxed));
    Py_RETURN_NONE;
}

/* ---- failures ------------------------------------------------------------------------------- */

static xla_error *fail(const xla_call *call, const char *message)
{
    xla_error_args args = {sizeof args, NULL, message, XLA_ERROR_INTERNAL};
    return call->api->error_create(&args);
}

static xla_error *fail_quern(const xla_call *call)
{
    return fail(call, quern_last_error_text());
}

/* ---- arguments ------------------------------------------------------------------------------ */

/* XLA's numbers of dtypes. */
static quern_dtype dtype_of(int32_t number)
{
    static const quern_dtype dtypes[] = {
        [1] = QUERN_BOOL,         [2] = QUERN_INT8,         [3] = QUERN_INT16,
        [4] = QUERN_INT32,        [5] = QUERN_INT64,        [6] = QUERN_UINT8,
        [7] = QUERN_UINT16,       [8] = QUERN_UINT32,       [9] = QUERN_UINT64,
        [10] = QUERN_FLOAT16,     [11] = QUERN_FLOAT32,     [12] = QUERN_FLOAT64,
        [15] = QUERN_COMPLEX64,   [16] = QUERN_BFLOAT16,    [18] = QUERN_COMPLEX128,
        [19] = QUERN_FLOAT8_E5M2, [20] = QUERN_FLOAT8_E4M3,
    };
    return number > 0 && (size_t)number < sizeof dtypes / sizeof *dtypes ? dtypes[number]
                                                                         : QUERN_DTYPE_NONE;
}

/* Arrays over all buffers of a list, in C order. */
static quern_status add_buffers(quern_value *values, size_t *count, quern_engine *engine,
                                const xla_list *list)
{
    for (int64_t k = 0; k < list->count; k++) {
        const xla_buffer *b = list->items[k];
        quern_array *array;
        quern_status status =
            quern_array_wrap(&array, engine, dtype_of(b->dtype), (int)b->rank,
                             b->rank > 0 ? b->dims : NULL, NULL, b->data, NULL, NULL);
        if (status != QUERN_OK) {
            return status;
        }
        values[(*count)++] = quern_value_array(array);
    }
    return QUERN_OK;
}

/* ---- launching ------------------------------------------------------------------------------ */

static quern_status launch(named_call *c, int device, quern_stream *stream, const xla_call *call)
{
    quern_kernel *kernel = atomic_load_explicit(&c->made[device], memory_order_acquire);
    quern_engine *engine = c->kernel->state->devices[device].engine;
    quern_value values[QUERN_MAX_PARAMETERS];
    size_t count = 0;
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    options.stream = stream;
    options.axes = c->has_axes ? c->axes : NULL;
    options.axis_count = c->axis_count;
    options.keepdims = c->keepdims;
    quern_status status = add_buffers(values, &count, engine, &call->args);
    if (status == QUERN_OK) {
        status = add_buffers(values, &count, engine, &call->results);
    }
    if (status == QUERN_OK) {
        status = quern_call_n(kernel, values, count, &options);
    }
    if (status == QUERN_OK && !stream) {
        status = quern_synchronize(engine);
    }
    while (count > 0) { /* what releases resets no error */
        quern_array_release(values[--count].as.array);
    }
    return status;
}

/* The call that a program names; NULL with *failed. */
static named_call *named(const xla_call *call, xla_error **failed)
{
    const xla_attributes *a = &call->attributes;
    for (int64_t k = 0; k < a->count; k++) {
        const xla_span *text = a->items[k];
        if (a->types[k] == XLA_ATTRIBUTE_STRING) {
            named_call *c = find(text->data, text->length);
            *failed = c ? NULL
                        : fail(call, "the program calls a kernel that this process has not "
                                     "defined: define it by pyquern.jax before");
            return c;
        }
    }
    *failed = fail(call, "the program names no kernel");
    return NULL;
}

/* What XLA asks when a function is registered. */
static bool is_question(const xla_call *call)
{
    for (xla_extension *e = call->extensions; e; e = e->next) {
        if (e->type == 1) {
            xla_metadata *m = ((xla_metadata_extension *)(void *)e)->metadata;
            m->version.major = 0;
            m->version.minor = call->api ? call->api->version.minor : 2;
            m->traits = XLA_TRAIT_COMMAND_BUFFER;
            return true;
        }
    }
    return false;
}

static xla_error *on_cpu(xla_call *call)
{
    xla_error *failed;
    if (is_question(call) || call->stage != XLA_STAGE_EXECUTE) {
        return NULL;
    }
    named_call *c = named(call, &failed);
    for (int k = 0; c && k < QP_MAX_DEVICES; k++) { /* the software device that jax_add() chose */
        if (!c->kernel->state->devices[k].is_gpu && atomic_load(&c->made[k])) {
            return launch(c, k, NULL, call) == QUERN_OK ? NULL : fail_quern(call);
        }
    }
    return failed;
}

/* Why Python could not, which holds the GIL: the exception that is set, and is not after it. */
static xla_error *fail_python(const xla_call *call)
{
    PyObject *raised = PyErr_GetRaisedException();
    PyObject *words = raised ? PyObject_Str(raised) : NULL;
    const char *reason = words ? PyUnicode_AsUTF8AndSize(words, NULL) : NULL;
    xla_error *failed =
        fail(call, reason && *reason ? reason : "the kernel could not be made for a GPU");
    Py_XDECREF(words);
    Py_XDECREF(raised);
    PyErr_Clear();
    return failed;
}

/* The place of the GPU that a program runs on, where the kernel is made; -1 with *failed. */
static int gpu_of(named_call *c, const xla_call *call, xla_error **failed)
{
    const xla_api *api = call->api;
    xla_ordinal_args args = {sizeof args, NULL, call->context, 0};
    if (api->struct_size >= offsetof(xla_api, ordinal_get) + sizeof api->ordinal_get) {
        *failed = api->ordinal_get(&args);
        if (*failed) {
            return -1;
        }
    }
    const qp_state *state = c->kernel->state;
    for (int k = 0; k < QP_MAX_DEVICES; k++) {
        if (atomic_load_explicit(&c->made[k], memory_order_acquire) && state->devices[k].is_gpu &&
            state->devices[k].number == args.ordinal) {
            return k;
        }
    }
    const PyGILState_STATE held = PyGILState_Ensure(); /* once for each kernel and device */
    const int device = qp_device_gpu(c->kernel->state, args.ordinal);
    const int made = make_on(c, device);
    *failed = made < 0 ? fail_python(call) : NULL;
    PyGILState_Release(held);
    return made < 0 ? -1 : device;
}

static xla_error *on_gpu(xla_call *call)
{
    xla_error *failed;
    if (is_question(call) || call->stage != XLA_STAGE_EXECUTE) {
        return NULL;
    }
    named_call *c = named(call, &failed);
    const int device = c ? gpu_of(c, call, &failed) : -1;
    if (device < 0) {
        return failed;
    }
    xla_stream_args args = {sizeof args, NULL, call->context, NULL};
    failed = call->api->stream_get(&args);
    if (failed) {
        return failed;
    }
    quern_stream *stream;
    quern_status status =
        quern_stream_wrap(&stream, c->kernel->state->devices[device].engine, args.stream);
    if (status == QUERN_OK) {
        status = launch(c, device, stream, call);
    }
    failed = status == QUERN_OK ? NULL : fail_quern(call);
    quern_stream_release(stream);
    return failed;
}

/* jax_targets(): what jax.ffi.register_ffi_target() takes, for the CPU and for CUDA */
static PyObject *jax_targets(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return Py_BuildValue("(NN)",
                         PyCapsule_New((void *)(uintptr_t)on_cpu, "xla._CUSTOM_CALL_TARGET", NULL),
                         PyCapsule_New((void *)(uintptr_t)on_gpu, "xla._CUSTOM_CALL_TARGET", NULL));
}

PyMethodDef qp_jax_functions[] = {
    {"jax_add", jax_add, METH_VARARGS, NULL},
    {"jax_targets", jax_targets, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
