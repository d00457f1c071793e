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

int qp_torch_check(const qp_foreign *f, qp_state *state)
{
    const qp_torch *t = &state->torch;
    if (!t->is_known && learn(state) < 0) {
        return -1;
    }
    if (t->impl == 0) {
        return ask(f, state);
    }
    const char *impl;
    uint64_t keys;
    void *meta;
    memcpy(&impl, (const char *)f->object + t->impl, sizeof impl);
    if (!impl) {
        return ask(f, state);
    }
    memcpy(&keys, impl + t->keys, sizeof keys);
    memcpy(&meta, impl + t->meta, sizeof meta);
    if (keys & t->odd) {
        return ask(f, state);
    }
    if (!meta) {
        return 0;
    }
    PyObject *requires = t->get(t->requires_grad, f->object, (PyObject *)f->type->type);
    Py_XDECREF(requires); /* False lives on */
    return requires == Py_False ? 0 : requires ? ask(f, state) : -1;
}
