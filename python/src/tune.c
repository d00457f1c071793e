/* SPDX-License-Identifier: MIT
 *
 * Tuning: a kernel's tune(). In: a call that is not made, whose kernel runs many times all the
 * same, on copies of its outputs. Out: what was measured, with its fields as attributes. The thing
 * to know: nothing in it changes, and it outlives the kernel.
 */
#include "pyquern.h"

#include <quern/tune.h>
#include <stddef.h>

typedef struct tuning {
    PyObject_HEAD quern_tuning *t;
} tuning;

static PyObject *new_object(qp_state *state, quern_tuning *t)
{
    tuning *self = (tuning *)qp_object_new(state->tuning);
    if (!self) {
        quern_tuning_release(t);
        return NULL;
    }
    self->t = t;
    return (PyObject *)self;
}

static void dealloc(PyObject *self)
{
    quern_tuning_release(((tuning *)self)->t);
    qp_object_free(self);
}

/* ---- what was measured ---------------------------------------------------------------------- */

static const void *field(PyObject *self, void *offset)
{
    return (const char *)((tuning *)self)->t + (uintptr_t)offset;
}

static PyObject *get_text(PyObject *self, void *offset)
{
    return PyUnicode_FromString(*(const char *const *)field(self, offset));
}

static PyObject *get_real(PyObject *self, void *offset)
{
    return PyFloat_FromDouble(*(const double *)field(self, offset));
}

static PyObject *get_complete(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((tuning *)self)->t->complete != 0);
}

static PyObject *get_trials(PyObject *self, void *unused)
{
    (void)unused;
    const quern_tuning *t = ((tuning *)self)->t;
    PyObject *trials = PyTuple_New((Py_ssize_t)t->trial_count);
    for (size_t k = 0; trials && k < t->trial_count; k++) {
        PyObject *one = Py_BuildValue("(sd)", t->trials[k].setting, t->trials[k].us);
        if (!one || PyTuple_SetItem(trials, (Py_ssize_t)k, one) < 0) {
            Py_CLEAR(trials);
        }
    }
    return trials;
}

static PyObject *to_str(PyObject *self)
{
    return PyUnicode_FromString(((tuning *)self)->t->text);
}

static PyObject *to_repr(PyObject *self)
{
    const quern_tuning *t = ((tuning *)self)->t;
    return PyUnicode_FromFormat("<Tuning: %s; %s>", t->about, *t->setting ? t->setting : "by rule");
}

#define FIELD(name, get, text)                                                                     \
    {                                                                                              \
#name, get, NULL, text, (void *)offsetof(quern_tuning, name)                               \
    }
static PyGetSetDef facts[] = {
    FIELD(setting, get_text,
          "the one that calls with tune=True use from now on; '' for the rules'"),
    FIELD(about, get_text, "the calls that it is for: '3 operands of 2^20, float32'"),
    FIELD(text, get_text, "all that was tried, as lines for a person"),
    FIELD(us, get_real, "microseconds of a launch with that setting"),
    FIELD(rule_us, get_real, "microseconds of a launch by the rules"),
    {"complete", get_complete, NULL, "False: time was up, or a trial failed, before all were tried",
     NULL},
    {"trials", get_trials, NULL, "((setting, microseconds), ...), the first by the rules: ''",
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, dealloc},
    {Py_tp_getset, facts},
    {Py_tp_str, to_str},
    {Py_tp_repr, to_repr},
    {Py_tp_doc, "What was measured for a call: a kernel's tune() makes it. Print it."},
    {0, NULL},
};

PyType_Spec qp_tuning_spec = {
    .name = "pyquern.Tuning",
    .basicsize = sizeof(tuning),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

/* ---- measuring ------------------------------------------------------------------------------ */

PyObject *qp_kernel_tune(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    qp_call c;
    qp_kernel *k = (qp_kernel *)self;
    quern_tuning *made = NULL;
    const qp_dry dry = {.likes = NULL};
    if (qp_call_begin(&c, k, args, (size_t)count, names, &dry) == 0) {
        quern_status status;
        qp_before_launch(k->state, c.arguments.device);
        Py_BEGIN_ALLOW_THREADS status =
            quern_tune(&made, c.made, c.arguments.values, c.arguments.count, &c.options);
        Py_END_ALLOW_THREADS qp_check(k->state, status);
    }
    qp_call_end(&c);
    return made ? new_object(k->state, made) : NULL;
}
