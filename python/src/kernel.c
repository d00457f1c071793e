/* SPDX-License-Identifier: MIT
 *
 * ElementwiseKernel, ReductionKernel and ScanKernel: definitions. In: texts, with CuPy's names and
 * defaults. Out: objects that are called (call.c). The thing to know: a definition is parsed for
 * the thread's device at once, so that its errors come where it stands, and for other devices when
 * they first call it.
 */
#include "pyquern.h"

static const char *text_of(const qp_kernel *k, const char *name)
{
    PyObject *value = PyDict_GetItemString(k->texts, name);
    return value && value != Py_None ? PyUnicode_AsUTF8AndSize(value, NULL) : NULL;
}

/* What is empty was not given. */
static const char *given(const qp_kernel *k, const char *name)
{
    const char *text = text_of(k, name);
    return text && *text ? text : NULL;
}

/* ---- made for a device ---------------------------------------------------------------------- */

static quern_status make(quern_kernel **out, const qp_kernel *k, quern_engine *engine,
                         const char *const *options, size_t count)
{
    const char *in = text_of(k, "in_params"), *outs = text_of(k, "out_params");
    if (k->kind == QUERN_KERNEL_ELEMENTWISE) {
        quern_kernel_options o = QUERN_KERNEL_OPTIONS_INIT;
        o.separate_axes = (uint32_t)k->flag;
        o.name = given(k, "name");
        o.preamble = given(k, "preamble");
        o.loop_prep = given(k, "loop_prep");
        o.after_loop = given(k, "after_loop");
        o.options = options;
        o.option_count = count;
        return quern_elementwise(out, engine, in, outs, text_of(k, "operation"), &o);
    }
    const char *map = text_of(k, "map_expr"), *reduce = text_of(k, "reduce_expr"),
               *post = text_of(k, "post_map_expr"), *identity = text_of(k, "identity");
    identity = identity && *identity ? identity : NULL;
    if (k->kind == QUERN_KERNEL_REDUCTION) {
        quern_reduction_options o = QUERN_REDUCTION_OPTIONS_INIT;
        o.ordered = (uint32_t)k->flag;
        o.name = given(k, "name");
        o.preamble = given(k, "preamble");
        o.reduce_type = given(k, "reduce_type");
        o.options = options;
        o.option_count = count;
        return quern_reduction(out, engine, in, outs, map, reduce, post, identity, &o);
    }
    quern_scan_options o = QUERN_SCAN_OPTIONS_INIT;
    o.exclusive = (uint32_t)k->flag;
    o.name = given(k, "name");
    o.preamble = given(k, "preamble");
    o.scan_type = given(k, "reduce_type");
    o.options = options;
    o.option_count = count;
    return quern_scan(out, engine, in, outs, map, reduce, post, identity, &o);
}

quern_kernel *qp_kernel_on(qp_kernel *k, int device)
{
    quern_kernel *first = k->made[device];
    if (first) {
        return first;
    }
    const char *options[64];
    Py_ssize_t count = PyTuple_Size(k->options);
    if (count > 64) {
        PyErr_SetString(PyExc_ValueError, "a kernel has at most 64 options");
        return NULL;
    }
    for (Py_ssize_t n = 0; n < count; n++) {
        options[n] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(k->options, n), NULL);
        if (!options[n]) {
            return NULL;
        }
    }
    quern_kernel *made;
    if (qp_check(k->state,
                 make(&made, k, k->state->devices[device].engine, options, (size_t)count)) < 0) {
        return NULL;
    }
    if (!atomic_compare_exchange_strong(&k->made[device], &first, made)) {
        quern_kernel_release(made); /* another thread was quicker */
        return first;
    }
    return made;
}

/* ---- defining ------------------------------------------------------------------------------- */

/* The rest of a definition once its texts are there: parsed on the thread's device. */
static PyObject *define(PyTypeObject *type, int kind, PyObject *texts, PyObject *options, int flag)
{
    qp_state *state = qp_state_of(type);
    PyObject *list = state ? PySequence_Tuple(options) : NULL;
    qp_kernel *k = list ? (qp_kernel *)qp_object_new(type) : NULL;
    if (!k) {
        Py_XDECREF(list);
        Py_XDECREF(texts);
        return NULL;
    }
    k->vectorcall = qp_kernel_call;
    k->state = state;
    k->kind = kind;
    k->texts = texts;
    k->options = list;
    k->flag = flag;
    int device = qp_device_current(state);
    quern_kernel *made = device < 0 ? NULL : qp_kernel_on(k, device);
    quern_kernel_info info = QUERN_KERNEL_INFO_INIT;
    if (!made || qp_check(state, quern_kernel_get_info(&info, made)) < 0) {
        Py_DECREF((PyObject *)k);
        return NULL;
    }
    k->in_count = info.in_count;
    k->out_count = info.out_count;
    return (PyObject *)k;
}

static PyObject *new_elementwise(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"in_params",   "out_params", "operation",  "name",
                            "reduce_dims", "preamble",   "no_return",  "return_tuple",
                            "options",     "loop_prep",  "after_loop", NULL};
    const char *in, *out, *operation, *name = "kernel", *preamble = "", *prep = "", *after = "";
    int reduce_dims = 1, no_return = 0, return_tuple = 0;
    PyObject *options = NULL;
    qp_state *state = qp_state_of(type);
    if (!state || qp_check_words(state, "ElementwiseKernel", keywords, names) < 0 ||
        !PyArg_ParseTupleAndKeywords(args, keywords, "sss|spsppOss:ElementwiseKernel", names, &in,
                                     &out, &operation, &name, &reduce_dims, &preamble, &no_return,
                                     &return_tuple, &options, &prep, &after)) {
        return NULL;
    }
    PyObject *texts = Py_BuildValue("{s:s,s:s,s:s,s:s,s:s,s:s,s:s}", "in_params", in, "out_params",
                                    out, "operation", operation, "name", name, "preamble", preamble,
                                    "loop_prep", prep, "after_loop", after);
    PyObject *none = PyTuple_New(0);
    PyObject *self = texts && none ? define(type, QUERN_KERNEL_ELEMENTWISE, texts,
                                            options ? options : none, !reduce_dims)
                                   : NULL;
    Py_XDECREF(none);
    if (self) {
        ((qp_kernel *)self)->returns_tuple = return_tuple;
        ((qp_kernel *)self)->returns_nothing = no_return;
    }
    return self;
}

/* An identity as text: CuPy takes a number too. */
static PyObject *identity_text(PyObject *identity)
{
    return !identity || identity == Py_None ? Py_NewRef(Py_None) : PyObject_Str(identity);
}

static PyObject *new_fold(PyTypeObject *type, int kind, const char *const *words,
                          PyObject *identity, PyObject *options, int flag)
{
    static const char *const keys[] = {"in_params",     "out_params", "map_expr",    "reduce_expr",
                                       "post_map_expr", "name",       "reduce_type", "preamble"};
    PyObject *texts = Py_BuildValue("{s:N}", "identity", identity_text(identity));
    for (size_t k = 0; texts && k < sizeof keys / sizeof *keys; k++) {
        PyObject *word = words[k] ? PyUnicode_FromString(words[k]) : Py_NewRef(Py_None);
        if (!word || PyDict_SetItemString(texts, keys[k], word) < 0) {
            Py_CLEAR(texts);
        }
        Py_XDECREF(word);
    }
    PyObject *none = PyTuple_New(0);
    PyObject *self =
        texts && none ? define(type, kind, texts, options ? options : none, flag) : NULL;
    Py_XDECREF(none);
    return self;
}

static PyObject *new_reduction(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {
        "in_params", "out_params", "map_expr",    "reduce_expr", "post_map_expr",
        "identity",  "name",       "reduce_type", "reduce_dims", "preamble",
        "options",   "ordered",    NULL};
    const char *words[8] = {[5] = "reduce_kernel", [7] = ""};
    PyObject *identity = NULL, *options = NULL;
    int reduce_dims = 1, ordered = 0; /* the first never changes a result, and is CuPy's */
    qp_state *state = qp_state_of(type);
    if (!state || qp_check_words(state, "ReductionKernel", keywords, names) < 0 ||
        !PyArg_ParseTupleAndKeywords(args, keywords, "sssssO|szpsO$p:ReductionKernel", names,
                                     &words[0], &words[1], &words[2], &words[3], &words[4],
                                     &identity, &words[5], &words[6], &reduce_dims, &words[7],
                                     &options, &ordered)) {
        return NULL;
    }
    return new_fold(type, QUERN_KERNEL_REDUCTION, words, identity, options, ordered);
}

static PyObject *new_scan(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"in_params",     "out_params", "map_expr",  "scan_expr",
                            "post_map_expr", "identity",   "name",      "scan_type",
                            "preamble",      "options",    "exclusive", NULL};
    const char *words[8] = {[5] = "scan_kernel", [7] = ""};
    PyObject *identity = NULL, *options = NULL;
    int exclusive = 0;
    qp_state *state = qp_state_of(type);
    if (!state || qp_check_words(state, "ScanKernel", keywords, names) < 0 ||
        !PyArg_ParseTupleAndKeywords(args, keywords, "sssss|OszsO$p:ScanKernel", names, &words[0],
                                     &words[1], &words[2], &words[3], &words[4], &identity,
                                     &words[5], &words[6], &words[7], &options, &exclusive)) {
        return NULL;
    }
    return new_fold(type, QUERN_KERNEL_SCAN, words, identity, options, exclusive);
}

static void dealloc(PyObject *self)
{
    qp_kernel *k = (qp_kernel *)self;
    for (int n = 0; n < QP_MAX_DEVICES; n++) {
        quern_kernel_release(k->made[n]);
    }
    Py_XDECREF(k->texts);
    Py_XDECREF(k->options);
    qp_object_free(self);
}

/* ---- facts ---------------------------------------------------------------------------------- */

static PyObject *get_text(PyObject *self, void *name)
{
    PyObject *value = PyDict_GetItemString(((qp_kernel *)self)->texts, name);
    return Py_NewRef(value ? value : Py_None);
}

static PyObject *get_nin(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(((qp_kernel *)self)->in_count);
}

static PyObject *get_nout(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(((qp_kernel *)self)->out_count);
}

static PyObject *get_nargs(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(((qp_kernel *)self)->in_count + ((qp_kernel *)self)->out_count);
}

static PyObject *get_options(PyObject *self, void *unused)
{
    (void)unused;
    return Py_NewRef(((qp_kernel *)self)->options);
}

/* The sources that were compiled for the kernel on all devices, the latest first. */
static PyObject *sources(const qp_kernel *k)
{
    PyObject *list = PyList_New(0);
    for (int n = 0; list && n < QP_MAX_DEVICES; n++) {
        const char *some[256];
        size_t count = 0;
        if (!k->made[n]) {
            continue;
        }
        if (qp_check(k->state, quern_kernel_sources(&count, some, 256, k->made[n])) < 0) {
            Py_CLEAR(list);
        }
        for (size_t m = 0; list && m < count && m < 256; m++) {
            PyObject *text = PyUnicode_FromString(some[m]);
            if (!text || PyList_Append(list, text) < 0) {
                Py_CLEAR(list);
            }
            Py_XDECREF(text);
        }
    }
    return list;
}

/* CuPy's: a dictionary. Its keys are numbers, from the latest on. */
static PyObject *get_cached_codes(PyObject *self, void *unused)
{
    (void)unused;
    PyObject *list = sources((const qp_kernel *)self), *made = list ? PyDict_New() : NULL;
    for (Py_ssize_t n = 0; made && n < PyList_Size(list); n++) {
        PyObject *key = PyLong_FromSsize_t(n);
        if (!key || PyDict_SetItem(made, key, PyList_GetItem(list, n)) < 0) {
            Py_CLEAR(made);
        }
        Py_XDECREF(key);
    }
    Py_XDECREF(list);
    return made;
}

static PyObject *get_cached_code(PyObject *self, void *unused)
{
    (void)unused;
    PyObject *list = sources((const qp_kernel *)self), *first = NULL;
    if (list && PyList_Size(list) > 0) {
        first = Py_NewRef(PyList_GetItem(list, 0));
    } else if (list) {
        PyErr_SetString(PyExc_RuntimeError,
                        "nothing was compiled for this kernel yet: call it, or prepare() a call");
    }
    Py_XDECREF(list);
    return first;
}

#define TEXT(name, key)                                                                            \
    {                                                                                              \
        name, get_text, NULL, NULL, (void *)(uintptr_t)key                                         \
    }
#define COMMON                                                                                     \
    TEXT("name", "name"), TEXT("__name__", "name"), TEXT("_in", "in_params"),                      \
        TEXT("_out", "out_params"), TEXT("preamble", "preamble"),                                  \
        {"parameters", qp_kernel_parameters, NULL, "(name, type, is_output, is_raw) of each",      \
         NULL},                                                                                    \
        {"nin", get_nin, NULL, NULL, NULL}, {"nout", get_nout, NULL, NULL, NULL},                  \
        {"nargs", get_nargs, NULL, NULL, NULL},                                                    \
        {"cached_codes", get_cached_codes, NULL, NULL, NULL},                                      \
        {"cached_code", get_cached_code, NULL, NULL, NULL},                                        \
    {                                                                                              \
        "options", get_options, NULL, NULL, NULL                                                   \
    }
static PyGetSetDef elementwise_facts[] = {
    COMMON,
    TEXT("operation", "operation"),
    TEXT("loop_prep", "loop_prep"),
    TEXT("after_loop", "after_loop"),
    {NULL, NULL, NULL, NULL, NULL},
};
static PyGetSetDef fold_facts[] = {
    COMMON,
    TEXT("map_expr", "map_expr"),
    TEXT("reduce_expr", "reduce_expr"),
    TEXT("post_map_expr", "post_map_expr"),
    TEXT("identity", "identity"),
    TEXT("reduce_type", "reduce_type"),
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(qp_kernel, vectorcall), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

#define SLOTS(make_new, facts, methods)                                                            \
    {                                                                                              \
        {Py_tp_new, make_new}, {Py_tp_dealloc, dealloc}, {Py_tp_call, PyVectorcall_Call},          \
            {Py_tp_members, members}, {Py_tp_getset, facts}, {Py_tp_methods, methods}, {0, NULL},  \
    }
static PyType_Slot elementwise_slots[] =
    SLOTS(new_elementwise, elementwise_facts, qp_kernel_methods);
static PyType_Slot reduction_slots[] = SLOTS(new_reduction, fold_facts, qp_kernel_methods);
static PyType_Slot scan_slots[] = SLOTS(new_scan, fold_facts, qp_kernel_methods + 1);

#define SPEC(type_name, type_slots)                                                                \
    {                                                                                              \
        .name = "pyquern._core." type_name, .basicsize = sizeof(qp_kernel),                        \
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_VECTORCALL,            \
        .slots = type_slots,                                                                       \
    }
PyType_Spec qp_elementwise_spec = SPEC("ElementwiseKernel", elementwise_slots);
PyType_Spec qp_reduction_spec = SPEC("ReductionKernel", reduction_slots);
PyType_Spec qp_scan_spec = SPEC("ScanKernel", scan_slots);
