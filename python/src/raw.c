/* SPDX-License-Identifier: MIT
 *
 * Modules of CUDA source or images, and their functions. In: source or a path, options, names. Out:
 * what raw_call.c launches, facts, globals. The thing to know: a module is compiled for a device
 * when something of it is first asked for there, and its functions keep it.
 */
#include "pyquern.h"

/* ---- compiling ------------------------------------------------------------------------------ */

enum { MAX_TEXTS = 256 };

/* A tuple of str as C has it; the number, or -1 with an exception. */
static Py_ssize_t texts_of(const char *out[MAX_TEXTS], PyObject *tuple, const char *what)
{
    Py_ssize_t count = PyTuple_Size(tuple);
    if (count > MAX_TEXTS) {
        PyErr_Format(PyExc_ValueError, "a module has at most %d %s", MAX_TEXTS, what);
        return -1;
    }
    for (Py_ssize_t k = 0; k < count; k++) {
        out[k] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(tuple, k), NULL);
        if (!out[k]) {
            return -1;
        }
    }
    return count;
}

static int compile(qp_module *m, int device)
{
    quern_module *made, *before = m->made[device];
    const char *options[MAX_TEXTS], *expressions[MAX_TEXTS];
    Py_ssize_t count = texts_of(options, m->options, "options");
    Py_ssize_t expression_count =
        count < 0 ? -1 : texts_of(expressions, m->expressions, "name expressions");
    const char *text =
        expression_count < 0 ? NULL : PyUnicode_AsUTF8AndSize(m->code ? m->code : m->path, NULL);
    if (!text) {
        return -1;
    }
    quern_module_options o = QUERN_MODULE_OPTIONS_INIT;
    o.options = options;
    o.option_count = (size_t)count;
    o.expressions = expressions;
    o.expression_count = (size_t)expression_count;
    o.translate_cucomplex = m->translates;
    quern_engine *engine = m->state->devices[device].engine;
    quern_status status;
    Py_BEGIN_ALLOW_THREADS status = m->code ? quern_module_new(&made, engine, text, &o)
                                            : quern_module_open(&made, engine, text, &o);
    Py_END_ALLOW_THREADS if (qp_check(m->state, status) < 0)
    {
        return -1;
    }
    const bool is_first = atomic_compare_exchange_strong(&m->made[device], &before, made);
    quern_module_release(is_first ? before : made); /* another thread may have been quicker */
    return PyErr_CheckSignals();                    /* Ctrl-C meanwhile: nothing is launched */
}

static quern_module *module_on(qp_module *m, int device)
{
    return m->made[device] || compile(m, device) == 0 ? m->made[device] : NULL;
}

/* On the thread's device. */
static quern_module *module_here(qp_module *m, int *device)
{
    *device = qp_device_current(m->state);
    return *device < 0 ? NULL : module_on(m, *device);
}

/* ---- Module --------------------------------------------------------------------------------- */

/* Module(code or None, path or None, options, expressions, translate_cucomplex) */
static PyObject *new_module(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    (void)keywords;
    PyObject *code, *path, *options, *expressions;
    int translates;
    qp_state *state = qp_state_of(type);
    if (!state || !PyArg_ParseTuple(args, "OOO!O!p:Module", &code, &path, &PyTuple_Type, &options,
                                    &PyTuple_Type, &expressions, &translates)) {
        return NULL;
    }
    qp_module *self = (qp_module *)qp_object_new(type);
    if (self) {
        self->state = state;
        self->code = code == Py_None ? NULL : Py_NewRef(code);
        self->path = path == Py_None ? NULL : Py_NewRef(path);
        self->options = Py_NewRef(options);
        self->expressions = Py_NewRef(expressions);
        self->translates = translates;
    }
    return (PyObject *)self;
}

static void dealloc_module(PyObject *self)
{
    qp_module *m = (qp_module *)self;
    for (int k = 0; k < QP_MAX_DEVICES; k++) {
        if (m->made[k]) { /* the last reference waits for the device */
            Py_BEGIN_ALLOW_THREADS quern_module_release(m->made[k]);
            Py_END_ALLOW_THREADS
        }
    }
    Py_XDECREF(m->code);
    Py_XDECREF(m->path);
    Py_XDECREF(m->options);
    Py_XDECREF(m->expressions);
    qp_object_free(self);
}

/* compile(): now, on the thread's device; what the compiler warned of */
static PyObject *compile_now(PyObject *self, PyObject *unused)
{
    (void)unused;
    qp_module *m = (qp_module *)self;
    const char *warnings;
    int device = qp_device_current(m->state);
    if (device < 0 || compile(m, device) < 0 ||
        qp_check(m->state, quern_module_warnings(&warnings, m->made[device])) < 0) {
        return NULL;
    }
    return PyUnicode_DecodeUTF8(warnings, (Py_ssize_t)strlen(warnings), "replace");
}

static PyObject *get_module_handle(PyObject *self, void *unused)
{
    (void)unused;
    int device;
    quern_module *made = module_here((qp_module *)self, &device);
    return made ? PyLong_FromVoidPtr(quern_module_handle(made)) : NULL;
}

/* names(): of its functions */
static PyObject *names(PyObject *self, PyObject *unused)
{
    (void)unused;
    qp_module *m = (qp_module *)self;
    const char *some[1024];
    size_t count;
    int device;
    quern_module *made = module_here(m, &device);
    if (!made || qp_check(m->state, quern_module_function_names(&count, some, 1024, made)) < 0) {
        return NULL;
    }
    PyObject *list = PyList_New(0);
    for (size_t k = 0; list && k < count && k < 1024; k++) {
        PyObject *name = PyUnicode_FromString(some[k]);
        if (!name || PyList_Append(list, name) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(name);
    }
    return list;
}

/* find_global(name): all its bytes as an array */
static PyObject *find_global(PyObject *self, PyObject *name)
{
    qp_module *m = (qp_module *)self;
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    int device;
    quern_module *made = text ? module_here(m, &device) : NULL;
    quern_array *array;
    if (!made ||
        qp_check(m->state, quern_module_global(&array, made, text, QUERN_UINT8, 0, NULL)) < 0) {
        return NULL;
    }
    return qp_array_over(m->state, array, device, self);
}

static PyGetSetDef module_facts[] = {
    {"handle", get_module_handle, NULL, "the driver's own: a CUmodule", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef module_methods[] = {
    {"compile", compile_now, METH_NOARGS, NULL},
    {"names", names, METH_NOARGS, NULL},
    {"find_global", find_global, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot module_slots[] = {
    {Py_tp_new, new_module},
    {Py_tp_dealloc, dealloc_module},
    {Py_tp_getset, module_facts},
    {Py_tp_methods, module_methods},
    {0, NULL},
};

PyType_Spec qp_module_spec = {
    .name = "pyquern._core.Module",
    .basicsize = sizeof(qp_module),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = module_slots,
};

/* ---- Function ------------------------------------------------------------------------------- */

/* Function(module, name, cooperative) */
static PyObject *new_function(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    (void)keywords;
    PyObject *module, *name;
    int cooperative;
    qp_state *state = qp_state_of(type);
    if (!state ||
        !PyArg_ParseTuple(args, "O!Up:Function", state->module, &module, &name, &cooperative)) {
        return NULL;
    }
    qp_function *self = (qp_function *)qp_object_new(type);
    if (self) {
        self->vectorcall = qp_function_call;
        self->state = state;
        self->module = (qp_module *)Py_NewRef(module);
        self->name = Py_NewRef(name);
        self->cooperative = cooperative;
    }
    return (PyObject *)self;
}

static void forget(qp_function *f)
{
    for (int k = 0; k < QP_MAX_DEVICES; k++) {
        if (f->made[k]) {
            Py_BEGIN_ALLOW_THREADS quern_function_release(f->made[k]);
            Py_END_ALLOW_THREADS f->made[k] = NULL;
        }
    }
}

static void dealloc_function(PyObject *self)
{
    qp_function *f = (qp_function *)self;
    forget(f);
    Py_XDECREF((PyObject *)f->module);
    Py_XDECREF(f->name);
    qp_object_free(self);
}

/* The sizes of the parameters, where the driver says them. */
static void read_sizes(qp_function *f, quern_function *made)
{
    uint64_t offset, bytes;
    size_t count = 0;
    while (count < QUERN_MAX_PARAMETERS &&
           quern_function_get_parameter(&offset, &bytes, made, count) == QUERN_OK) {
        f->sizes[count++] = bytes;
    }
    f->parameter_count = count;
}

quern_function *qp_function_on(qp_function *f, int device)
{
    quern_function *made, *first = f->made[device];
    if (first) {
        return first;
    }
    const char *name = PyUnicode_AsUTF8AndSize(f->name, NULL);
    quern_module *module = name ? module_on(f->module, device) : NULL;
    if (!module || qp_check(f->state, quern_module_function(&made, module, name)) < 0) {
        return NULL;
    }
    read_sizes(f, made);
    if (!atomic_compare_exchange_strong(&f->made[device], &first, made)) {
        quern_function_release(made); /* another thread was quicker */
        return first;
    }
    return made;
}

static quern_function *function_here(PyObject *self)
{
    qp_function *f = (qp_function *)self;
    int device = qp_device_current(f->state);
    return device < 0 ? NULL : qp_function_on(f, device);
}

/* _compile(): anew, on the thread's device; what the compiler warned of */
static PyObject *compile_function(PyObject *self, PyObject *unused)
{
    qp_function *f = (qp_function *)self;
    PyObject *warnings = compile_now((PyObject *)f->module, unused);
    if (warnings) {
        forget(f);
    }
    if (warnings && !function_here(self)) {
        Py_CLEAR(warnings);
    }
    return warnings;
}

static PyObject *get_handle(PyObject *self, void *unused)
{
    (void)unused;
    quern_function *made = function_here(self);
    return made ? PyLong_FromVoidPtr(quern_function_handle(made)) : NULL;
}

/* _info(): what the device says of it */
static PyObject *info(PyObject *self, PyObject *unused)
{
    (void)unused;
    quern_function_info i = QUERN_FUNCTION_INFO_INIT;
    quern_function *made = function_here(self);
    if (!made || qp_check(((qp_function *)self)->state, quern_function_get_info(&i, made)) < 0) {
        return NULL;
    }
    return Py_BuildValue("{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:i}", "max_threads_per_block",
                         i.max_threads, "shared_size_bytes", i.shared_bytes, "const_size_bytes",
                         i.constant_bytes, "local_size_bytes", i.local_bytes, "num_regs",
                         i.registers, "ptx_version", i.ptx_version, "binary_version",
                         i.binary_version, "max_dynamic_shared_size_bytes", i.max_dynamic_shared,
                         "preferred_shared_memory_carveout", i.shared_carveout);
}

/* _set_carveout(percentage) */
static PyObject *set_carveout(PyObject *self, PyObject *value)
{
    long percentage = PyLong_AsLong(value);
    quern_function *made = percentage == -1 && PyErr_Occurred() ? NULL : function_here(self);
    percentage = percentage < INT32_MIN   ? INT32_MIN
                 : percentage > INT32_MAX ? INT32_MAX
                                          : percentage; /* neither is a percentage */
    if (!made || qp_check(((qp_function *)self)->state,
                          quern_function_set(made, QUERN_FUNCTION_SHARED_CARVEOUT,
                                             (int32_t)percentage)) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* occupancy(block, shared_mem=0): blocks that fit one multiprocessor */
static PyObject *occupancy(PyObject *self, PyObject *args)
{
    unsigned block, shared = 0;
    uint32_t blocks;
    if (!PyArg_ParseTuple(args, "I|I:occupancy", &block, &shared)) {
        return NULL;
    }
    quern_function *made = function_here(self);
    if (!made || qp_check(((qp_function *)self)->state,
                          quern_function_occupancy(&blocks, made, block, shared)) < 0) {
        return NULL;
    }
    return PyLong_FromUnsignedLong(blocks);
}

static PyObject *get_name(PyObject *self, void *unused)
{
    (void)unused;
    return Py_NewRef(((qp_function *)self)->name);
}

static PyObject *get_module(PyObject *self, void *unused)
{
    (void)unused;
    return Py_NewRef((PyObject *)((qp_function *)self)->module);
}

static PyObject *get_cooperative(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((qp_function *)self)->cooperative);
}

static PyGetSetDef function_facts[] = {
    {"name", get_name, NULL, "the kernel's name", NULL},
    {"__name__", get_name, NULL, NULL, NULL},
    {"enable_cooperative_groups", get_cooperative, NULL,
     "whether all blocks are launched at once, so that they may wait for each other", NULL},
    {"_module", get_module, NULL, NULL, NULL},
    {"_handle", get_handle, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef function_methods[] = {
    {"_compile", compile_function, METH_NOARGS, NULL},
    {"_info", info, METH_NOARGS, NULL},
    {"_set_carveout", set_carveout, METH_O, NULL},
    {"occupancy", occupancy, METH_VARARGS,
     "occupancy(block_threads, shared_mem=0): blocks that fit one multiprocessor at once; 0: not "
     "known"},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef function_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(qp_function, vectorcall), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot function_slots[] = {
    {Py_tp_new, new_function},
    {Py_tp_dealloc, dealloc_function},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_members, function_members},
    {Py_tp_getset, function_facts},
    {Py_tp_methods, function_methods},
    {0, NULL},
};

PyType_Spec qp_function_spec = {
    .name = "pyquern._core.Function",
    .basicsize = sizeof(qp_function),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_VECTORCALL,
    .slots = function_slots,
};
