/* SPDX-License-Identifier: MIT
 *
 * Tensors of torch that its table of functions gives out and should not: conjugated and negative
 * ones, whose memory holds other values, and those that require grad, which a call would miss. In:
 * a tensor. Out: an exception with what to do, or nothing. The thing to know: asking torch costs
 * more than the call itself. So an ordinary tensor is told at a glance, by its dispatch keys and
 * by having no data of autograd, at places that _foreign.py finds out once by tensors of each kind;
 * where it cannot, or where a tensor is not ordinary, torch is asked.
 */
#include "pyquern.h"

static int learn(qp_state *state)
{
    qp_torch *t = &state->torch;
    unsigned long long odd;
    int impl, keys, meta;
    PyObject *attribute;
    PyObject *found = PyObject_CallMethod(state->foreign, "torch_layout", NULL);
    if (!found || !PyArg_ParseTuple(found, "iiiKO", &impl, &keys, &meta, &odd, &attribute)) {
        Py_XDECREF(found);
        return -1;
    }
    descrgetfunc get = (descrgetfunc)PyType_GetSlot(Py_TYPE(attribute), Py_tp_descr_get);
    qp_lock();
    if (!t->is_known) {
        t->get = get;
        t->requires_grad = Py_NewRef(attribute); /* as long as the module, like torch itself */
        t->keys = keys;
        t->meta = meta;
        t->odd = odd;
        t->impl = get ? impl : 0;
        t->is_known = true;
    }
    qp_unlock();
    Py_DECREF(found);
    return 0;
}

/* Ask torch. */
static int ask(const qp_foreign *f, qp_state *state)
{
    PyObject *wrong = PyObject_CallMethod(state->foreign, "torch_refusal", "O", f->object);
    if (!wrong) {
        return -1;
    }
    int status = wrong == Py_None ? 0 : qp_foreign_refuse(f, PyExc_ValueError, "%U", wrong);
    Py_DECREF(wrong);
    return status;
}

/* What a tensor is at a glance. */
enum glance { PLAIN, DIFFERENTIATED, ODD };

static int look(const qp_torch *t, PyObject *tensor)
{
    const char *impl;
    uint64_t keys;
    void *meta;
    if (t->impl == 0) {
        return ODD;
    }
    memcpy(&impl, (const char *)tensor + t->impl, sizeof impl);
    if (!impl) {
        return ODD;
    }
    memcpy(&keys, impl + t->keys, sizeof keys);
    memcpy(&meta, impl + t->meta, sizeof meta);
    return keys & t->odd ? ODD : meta ? DIFFERENTIATED : PLAIN;
}

/* Whether it requires grad; -1 with an exception. */
static int requires_grad(const qp_torch *t, PyObject *tensor)
{
    PyObject *requires = t->get(t->requires_grad, tensor, (PyObject *)Py_TYPE(tensor));
    Py_XDECREF(requires); /* False lives on */
    return requires ? requires != Py_False : -1;
}

int qp_torch_check(const qp_foreign *f, qp_state *state)
{
    const qp_torch *t = &state->torch;
    if (!t->is_known && learn(state) < 0) {
        return -1;
    }
    int seen = look(t, f->object);
    if (seen == PLAIN) {
        return 0;
    }
    int requires = seen == ODD ? 1 : requires_grad(t, f->object);
    return requires > 0 ? ask(f, state) : requires;
}

/* Whether one of the functions, of no arguments, returns something true; -1 with an exception. */
static int any_true(PyObject *functions)
{
    int found = 0;
    for (Py_ssize_t k = 0; k < PyTuple_Size(functions) && found == 0; k++) {
        PyObject *said = PyObject_CallNoArgs(PyTuple_GetItem(functions, k));
        found = said ? PyObject_IsTrue(said) : -1;
        Py_XDECREF(said);
    }
    return found;
}

static bool is_number(PyObject *object)
{
    return PyFloat_CheckExact(object) || PyLong_CheckExact(object) || PyBool_Check(object) ||
           PyComplex_CheckExact(object);
}

/* 0: there is a tensor, all are numbers or ordinary tensors of these very types, and none requires
 * grad; 1: one of them does; 2: something else; -1: an exception. */
static int look_at_all(const qp_torch *t, PyObject *args, PyObject *types)
{
    int result = 0;
    bool has_tensor = false;
    for (Py_ssize_t k = 0; k < PyTuple_Size(args); k++) {
        PyObject *item = PyTuple_GetItem(args, k);
        bool is_tensor = false;
        for (Py_ssize_t n = 0; n < PyTuple_Size(types) && !is_tensor; n++) {
            is_tensor = (PyObject *)Py_TYPE(item) == PyTuple_GetItem(types, n);
        }
        has_tensor |= is_tensor;
        int seen = is_tensor ? look(t, item) : is_number(item) ? PLAIN : ODD;
        int requires = seen == DIFFERENTIATED ? requires_grad(t, item) : 0;
        if (seen == ODD || requires < 0) {
            return seen == ODD ? 2 : -1;
        }
        result |= requires;
    }
    return has_tensor ? result : 2;
}

/* torch_look(args, types of tensors, functions): what look_at_all() says; 2 also where one of the
 * functions, which say whether a mode is on, returns something true. */
static PyObject *torch_look(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    qp_state *state = PyModule_GetState(module);
    qp_torch *t = &state->torch;
    if (count != 3 || !PyTuple_Check(args[0]) || !PyTuple_Check(args[1]) ||
        !PyTuple_Check(args[2])) {
        PyErr_SetString(PyExc_TypeError, "torch_look() takes three tuples");
        return NULL;
    }
    if (!t->is_known && learn(state) < 0) {
        return NULL;
    }
    int seen = any_true(args[2]);
    seen = seen == 0 ? look_at_all(t, args[0], args[1]) : seen > 0 ? 2 : -1;
    return seen < 0 ? NULL : PyLong_FromLong(seen);
}

PyMethodDef qp_torch_functions[] = {
    {"torch_look", (PyCFunction)(void (*)(void))torch_look, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};
