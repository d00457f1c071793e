/* SPDX-License-Identifier: MIT
 *
 * The module pyquern._core: its state, its types and its functions put together. In: nothing. Out:
 * the module. The thing to know: objects and types hold the module, and so its state, which goes
 * with the last of them; engines are then closed.
 */
#include "texture.h"

static struct PyModuleDef definition;

#ifdef Py_GIL_DISABLED
PyMutex qp_mutex;
#endif

static const char *const texts[QP_TEXTS] = {
    [QP_DLPACK] = "__dlpack__",
    [QP_DLPACK_DEVICE] = "__dlpack_device__",
    [QP_EXCHANGE] = "__dlpack_c_exchange_api__",
    [QP_CUDA_INTERFACE] = "__cuda_array_interface__",
    [QP_MAX_VERSION] = "max_version",
    [QP_STREAM] = "stream",
    [QP_NAME] = "name",
    [QP_CUDA_STREAM_METHOD] = "__cuda_stream__",
    [QP_CUDA_STREAM] = "cuda_stream",
    [QP_PTR] = "ptr",
    [QP_DATA] = "data",
    [QP_DEVICE_ID] = "device_id",
    [QP_SHAPE] = "shape",
    [QP_STRIDES] = "strides",
    [QP_DTYPE] = "dtype",
    [QP_C_CONTIGUOUS] = "_c_contiguous",
};

qp_state *qp_state_of(PyTypeObject *type)
{
    for (PyTypeObject *t = type; t; t = PyType_GetSlot(t, Py_tp_base)) {
        PyObject *module = PyType_GetModule(t);
        if (module && PyModule_GetDef(module) == &definition) {
            return PyModule_GetState(module);
        }
        PyErr_Clear();
    }
    PyErr_SetString(PyExc_SystemError, "not a type of pyquern");
    return NULL;
}

void qp_let_go(void *context)
{
    if (!Py_IsInitialized()) {
        return; /* the interpreter is gone, and the object with it */
    }
    PyGILState_STATE gil = PyGILState_Ensure();
    Py_DECREF((PyObject *)context);
    PyGILState_Release(gil);
}

PyObject *qp_object_new(PyTypeObject *type)
{
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    return allocate(type, 0);
}

void qp_object_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc free_memory = (freefunc)PyType_GetSlot(type, Py_tp_free);
    free_memory(self);
    Py_DECREF(type);
}

PyTypeObject *qp_type_add(PyObject *module, PyType_Spec *spec)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
    if (type && PyModule_AddType(module, (PyTypeObject *)type) < 0) {
        Py_CLEAR(type);
    }
    return (PyTypeObject *)type;
}

/* ---- functions ------------------------------------------------------------------------------ */

/* _hooks(array_class, foreign, choose_compiler): what is written in Python, and is called from
 * here: the class of arrays, the module _foreign.py, and what finds NVRTC. */
static PyObject *set_hooks(PyObject *module, PyObject *args)
{
    qp_state *state = PyModule_GetState(module);
    PyObject *array_class, *foreign, *choose;
    if (!PyArg_ParseTuple(args, "O!OO:_hooks", &PyType_Type, &array_class, &foreign, &choose)) {
        return NULL;
    }
    if (!PyType_IsSubtype((PyTypeObject *)array_class, state->array)) {
        PyErr_SetString(PyExc_TypeError, "arrays must be made as a class of Array");
        return NULL;
    }
    PyObject *old_class = (PyObject *)state->array_class, *old_module = state->foreign,
             *old_choose = state->choose_compiler;
    state->array_class = (PyTypeObject *)Py_NewRef(array_class);
    state->array_alloc = NULL;
    state->foreign = Py_NewRef(foreign);
    state->choose_compiler = Py_NewRef(choose);
    Py_XDECREF(old_class);
    Py_XDECREF(old_module);
    Py_XDECREF(old_choose);
    Py_RETURN_NONE;
}

static PyMethodDef module_methods[] = {
    {"_hooks", set_hooks, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

/* ---- the module ----------------------------------------------------------------------------- */

/* The types of the module, and where the state has them. */
#define TYPES(X)                                                                                   \
    X(array, qp_array_spec)                                                                        \
    X(elementwise, qp_elementwise_spec)                                                            \
    X(reduction, qp_reduction_spec)                                                                \
    X(scan, qp_scan_spec)                                                                          \
    X(stream, qp_stream_spec)                                                                      \
    X(event, qp_event_spec)                                                                        \
    X(graph, qp_graph_spec)                                                                        \
    X(bound, qp_bound_spec)                                                                        \
    X(explanation, qp_explanation_spec)                                                            \
    X(tuning, qp_tuning_spec)                                                                      \
    X(module, qp_module_spec)                                                                      \
    X(function, qp_function_spec)                                                                  \
    X(memory_pointer, qp_memory_pointer_spec)                                                      \
    X(cuda_array, qp_cuda_array_spec)                                                              \
    X(texture, qp_texture_spec)                                                                    \
    X(surface, qp_surface_spec)

static int add_functions(PyObject *module)
{
    PyMethodDef *const tables[] = {
        module_methods,          qp_device_methods,   qp_array_functions,     qp_stream_functions,
        qp_event_functions,      qp_memory_functions, qp_allocator_functions, qp_torch_functions,
        qp_expression_functions, qp_jax_functions,    qp_cache_functions,     qp_fleet_functions};
    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++) {
        if (PyModule_AddFunctions(module, tables[k]) < 0) {
            return -1;
        }
    }
    return 0;
}

static int execute(PyObject *module)
{
    qp_state *state = PyModule_GetState(module);
    for (int k = 0; k < QP_TEXTS; k++) {
        state->texts[k] = PyUnicode_InternFromString(texts[k]);
        if (!state->texts[k]) {
            return -1;
        }
    }
    state->dtypes = PyDict_New();
    state->transfer_warning = PyErr_NewExceptionWithDoc(
        "pyquern.TransferWarning", "Arrays of the host are copied to the device for each call.",
        PyExc_UserWarning, NULL);
    if (!state->dtypes || !state->transfer_warning ||
        PyModule_AddObjectRef(module, "TransferWarning", state->transfer_warning) < 0 ||
        qp_errors_init(state, module) < 0 || add_functions(module) < 0) {
        return -1;
    }
#define TYPE_ENTRY(member, spec) {&state->member, &spec},
    const struct {
        PyTypeObject **type;
        PyType_Spec *spec;
    } types[] = {TYPES(TYPE_ENTRY)};
#undef TYPE_ENTRY
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        *types[k].type = qp_type_add(module, types[k].spec);
        if (!*types[k].type) {
            return -1;
        }
    }
    state->array_class = (PyTypeObject *)Py_NewRef((PyObject *)state->array);
    Py_AtExit(quern_compiler_wait); /* daemon threads may be compiling; full: exit() waits, too */
    PyObject *exchange = qp_dlpack_exchange(state);
    int status = PyModule_AddObjectRef(module, "exchange_api", exchange);
    Py_XDECREF(exchange);
    return status;
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
    qp_state *state = PyModule_GetState(module);
#define VISIT_TYPE(member, spec) Py_VISIT(state->member);
    TYPES(VISIT_TYPE)
#undef VISIT_TYPE
    Py_VISIT(state->array_class);
    Py_VISIT(state->choose_compiler);
    Py_VISIT(state->packs);
    Py_VISIT(state->foreign);
    Py_VISIT(state->cupy_stream);
    for (int k = 0; k < state->type_count; k++) {
        Py_VISIT(state->types[k]->type);
        Py_VISIT(state->types[k]->allocate);
        Py_VISIT(state->types[k]->convert);
    }
    return 0;
}

static int clear(PyObject *module)
{
    qp_state *state = PyModule_GetState(module);
#define CLEAR_TYPE(member, spec) Py_CLEAR(state->member);
    TYPES(CLEAR_TYPE)
#undef CLEAR_TYPE
    Py_CLEAR(state->array_class);
    Py_CLEAR(state->recorded);
    Py_CLEAR(state->choose_compiler);
    Py_CLEAR(state->packs);
    Py_CLEAR(state->foreign);
    Py_CLEAR(state->cupy_stream);
    Py_CLEAR(state->dtypes);
    Py_CLEAR(state->transfer_warning);
    Py_CLEAR(state->torch.requires_grad);
    qp_foreign_forget(state);
    for (int k = 0; k < QP_DTYPES; k++) {
        Py_CLEAR(state->numpy.descr[k]);
    }
    for (int k = 0; k < QP_TEXTS; k++) {
        Py_CLEAR(state->texts[k]);
    }
    for (size_t k = 0; k < sizeof state->errors / sizeof *state->errors; k++) {
        Py_CLEAR(state->errors[k]);
    }
    return 0;
}

static void release(void *module)
{
    qp_state *state = PyModule_GetState(module);
    clear(module);
    qp_streams_end(state);
    quern_dlpack_use(NULL);
    for (int k = 0; k < state->device_count; k++) {
        quern_stream_release(state->devices[k].usual);
        quern_close(state->devices[k].engine);
    }
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, execute},
#ifdef Py_mod_multiple_interpreters
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
#ifdef Py_mod_gil
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "pyquern._core",
    .m_doc = "Quern's C library as Python types.",
    .m_size = sizeof(qp_state),
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = clear,
    .m_free = release,
};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void)
{
    return PyModuleDef_Init(&definition);
}
