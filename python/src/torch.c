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
    t->get = (descrgetfunc)PyType_GetSlot(Py_TYPE(attribute), Py_tp_descr_get);
    t->requires_grad = Py_NewRef(attribute); /* as long as the module, like torch itself */
    t->keys = keys;
    t->meta = meta;
    t->odd = odd;
    t->impl = t->get ? impl : 0;
    t->is_known = true;
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

/* torch_look(args, tensor types): 0: there is a tensor, all are numbers or ordinary tensors of these
 * very types, and none requires grad; 1: one of them does; 2: something else. */
static PyObject *torch_look(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    qp_state *state = PyModule_GetState(module);
    qp_torch *t = &state->torch;
    if (count != 2 || !PyTuple_Check(args[0]) || !PyTuple_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, "torch_look() takes a tuple and a tuple of types");
        return NULL;
    }
    if (!t->is_known && learn(state) < 0) {
        return NULL;
    }
    const Py_ssize_t given = PyTuple_Size(args[0]), types = PyTuple_Size(args[1]);
    int result = 0;
    bool has_tensor = false;
    for (Py_ssize_t k = 0; k < given && result < 2; k++) {
        PyObject *item = PyTuple_GetItem(args[0], k);
        bool is_tensor = false;
        for (Py_ssize_t n = 0; n < types && !is_tensor; n++) {
            is_tensor = (PyObject *)Py_TYPE(item) == PyTuple_GetItem(args[1], n);
        }
        has_tensor |= is_tensor;
        int seen = is_tensor ? look(t, item) : PLAIN;
        int requires = seen == DIFFERENTIATED ? requires_grad(t, item) : 0;
        if (requires < 0) {
            return NULL;
        }
        bool is_number = PyFloat_CheckExact(item) || PyLong_CheckExact(item) ||
                         PyBool_Check(item) || PyComplex_CheckExact(item);
        result = seen == ODD || !(is_tensor || is_number) ? 2 : result | requires;
    }
    return PyLong_FromLong(has_tensor ? result : 2);
}

PyMethodDef qp_torch_functions[] = {
    {"torch_look", (PyCFunction)(void (*)(void))torch_look, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};
