/* SPDX-License-Identifier: MIT
 *
 * Kernels in programs that JAX compiles. In: calls of XLA, in its own threads, without the
 * interpreter. Out: launches, on XLA's stream on a GPU, and done when the call returns on the CPU.
 * The thing to know: a compiled program has the name of a call and nothing of this process, because
 * JAX may keep it on disk; pyquern/jax/ adds the calls, for good, before it has a program made. How
 * a kernel of CUDA source is launched stands in the program, as text: its grid depends on shapes.
 */
#include "pyquern.h"
#include "xla.h"

#include <stdatomic.h>
#include <stdlib.h>

/* A kernel with the options of its call. Never changed, once it is in the list, but for `made`. */
typedef struct named_call {
    struct named_call *next;
    char *name;
    qp_state *state;
    qp_kernel *kernel;     /* owned, for good; NULL: of CUDA source */
    qp_function *function; /* the other one, likewise */
    bool has_axes, keepdims;
    int axes[QUERN_MAX_NDIM];
    size_t axis_count;
    _Atomic(void *) made[QP_MAX_DEVICES]; /* quern_kernel or quern_function; borrowed from those */
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
    void *made = device < 0    ? NULL
                 : c->function ? (void *)qp_function_on(c->function, device)
                               : (void *)qp_kernel_on(c->kernel, device);
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
    return make_on(c, qp_device_host(c->state));
}

/* jax_add(name, kernel, axes, keepdims): programs may call the kernel, or the function of a module,
 * by that name from now on */
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
    const bool is_raw = PyType_IsSubtype(type, state->function);
    if (!is_raw && type != state->elementwise && type != state->reduction && type != state->scan) {
        PyErr_SetString(PyExc_TypeError, "a kernel was expected");
        return NULL;
    }
    if (find(name, strlen(name))) {
        Py_RETURN_NONE;
    }
    named_call *c = PyMem_Calloc(1, sizeof *c);
    if (!c) {
        return PyErr_NoMemory();
    }
    *(is_raw ? (PyObject **)&c->function : (PyObject **)&c->kernel) = Py_NewRef(kernel);
    c->state = state;
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

/* A text that the program gives the call by this name; NULL where there is none. */
static const xla_span *text_of(const xla_call *call, const char *name)
{
    const xla_attributes *a = &call->attributes;
    for (int64_t k = 0; k < a->count; k++) {
        const xla_span *n = a->names[k];
        if (a->types[k] == XLA_ATTRIBUTE_STRING && n->length == strlen(name) &&
            memcmp(n->data, name, n->length) == 0) {
            return a->items[k];
        }
    }
    return NULL;
}

/* The buffers of a call as arrays, and what a kernel of CUDA source gets of them; on the stack. */
typedef struct launch {
    quern_value arrays[QUERN_MAX_PARAMETERS];
    size_t count, results; /* of all; where those of the results begin */
    quern_launch_options options;
    quern_value values[QUERN_MAX_PARAMETERS];
    size_t value_count;
    uint8_t numbers[QUERN_MAX_PARAMETERS][8];
} launch;

/* The bytes of a number, as digits of base 16; how many, or 0. */
static size_t read_bytes(uint8_t out[8], const char *digits)
{
    size_t count = strlen(digits) / 2;
    count = count <= 8 && strspn(digits, "0123456789abcdef") == 2 * count ? count : 0;
    for (size_t k = 0; k < count; k++) {
        const char pair[3] = {digits[2 * k], digits[2 * k + 1]};
        out[k] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return count;
}

/* Add a parameter: "a" and "r" are the next argument and the next result, anything else a number.
 */
static bool add_parameter(launch *l, const char *word, size_t *argument, size_t *result)
{
    const size_t place = l->value_count++;
    if (place == QUERN_MAX_PARAMETERS) {
        return false;
    }
    if (strcmp(word, "a") == 0 || strcmp(word, "r") == 0) {
        const size_t from = *word == 'a' ? (*argument)++ : (*result)++;
        if (from >= (*word == 'a' ? l->results : l->count)) {
            return false;
        }
        l->values[place] = l->arrays[from];
        return true;
    }
    const size_t bytes = read_bytes(l->numbers[place], word);
    l->values[place] = quern_value_struct(l->numbers[place], bytes);
    return bytes > 0;
}

/* How the program launches it: the grid, the block, the bytes of shared memory, and a word for each
 * parameter. False: it is no such text. */
static bool read_launch(launch *l, const xla_span *text)
{
    char copy[QUERN_MAX_PARAMETERS * 20 + 160], *rest;
    if (!text || text->length >= sizeof copy) {
        return false;
    }
    memcpy(copy, text->data, text->length);
    copy[text->length] = 0;
    uint32_t *const numbers[7] = {
        &l->options.grid[0],  &l->options.grid[1],  &l->options.grid[2],     &l->options.block[0],
        &l->options.block[1], &l->options.block[2], &l->options.shared_bytes};
    size_t seen = 0, argument = 0, result = l->results;
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        if (seen < 7) {
            *numbers[seen++] = (uint32_t)strtoul(word, NULL, 10);
        } else if (!add_parameter(l, word, &argument, &result)) {
            return false;
        }
    }
    return seen == 7 && argument == l->results && result == l->count;
}

/* A kernel of snippets. */
static quern_status call_kernel(named_call *c, int device, quern_stream *stream, launch *l)
{
    quern_kernel *kernel = atomic_load_explicit(&c->made[device], memory_order_acquire);
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    options.stream = stream;
    options.axes = c->has_axes ? c->axes : NULL;
    options.axis_count = c->axis_count;
    options.keepdims = c->keepdims;
    return quern_call_n(kernel, l->arrays, l->count, &options);
}

/* A kernel of CUDA source. */
static quern_status call_function(named_call *c, int device, quern_stream *stream, launch *l)
{
    quern_function *function = atomic_load_explicit(&c->made[device], memory_order_acquire);
    l->options.stream = stream;
    return quern_function_call_n(function, l->values, l->value_count, &l->options);
}

static xla_error *launch_on(named_call *c, int device, quern_stream *stream, const xla_call *call)
{
    quern_engine *engine = c->state->devices[device].engine;
    xla_error *failed = NULL;
    launch l; /* its arrays are filled as far as they are used */
    l.options = (quern_launch_options)QUERN_LAUNCH_OPTIONS_INIT;
    l.count = l.value_count = 0;
    if (call->args.count + call->results.count > QUERN_MAX_PARAMETERS) {
        return fail(call, "the program calls a kernel with too many arrays");
    }
    quern_status status = add_buffers(l.arrays, &l.count, engine, &call->args);
    l.results = l.count;
    if (status == QUERN_OK) {
        status = add_buffers(l.arrays, &l.count, engine, &call->results);
    }
    if (status == QUERN_OK && c->function && !read_launch(&l, text_of(call, "launch"))) {
        failed = fail(call, "the program does not say how the kernel is launched: it was made by "
                            "another version of pyquern");
    } else if (status == QUERN_OK) {
        status = (c->function ? call_function : call_kernel)(c, device, stream, &l);
    }
    if (status == QUERN_OK && !failed && !stream) {
        status = quern_synchronize(engine);
    }
    while (l.count > 0) { /* what releases resets no error */
        quern_array_release(l.arrays[--l.count].as.array);
    }
    return status == QUERN_OK ? failed : fail_quern(call);
}

/* The call that a program names; NULL with *failed. */
static named_call *named(const xla_call *call, xla_error **failed)
{
    const xla_span *text = text_of(call, "call");
    if (!text) {
        *failed = fail(call, "the program names no kernel");
        return NULL;
    }
    named_call *c = find(text->data, text->length);
    *failed = c ? NULL
                : fail(call, "the program calls a kernel that this process has not defined: define "
                             "it by pyquern.jax before");
    return c;
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
        if (!c->state->devices[k].is_gpu && atomic_load(&c->made[k])) {
            return launch_on(c, k, NULL, call);
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
    qp_state *state = c->state;
    for (int k = 0; k < QP_MAX_DEVICES; k++) {
        if (atomic_load_explicit(&c->made[k], memory_order_acquire) && state->devices[k].is_gpu &&
            state->devices[k].number == args.ordinal) {
            return k;
        }
    }
    const PyGILState_STATE held = PyGILState_Ensure(); /* once for each kernel and device */
    const int device = qp_device_gpu(state, args.ordinal);
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
    quern_status status = quern_stream_wrap(&stream, c->state->devices[device].engine, args.stream);
    failed = status == QUERN_OK ? launch_on(c, device, stream, call) : fail_quern(call);
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
