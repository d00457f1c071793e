/* SPDX-License-Identifier: MIT
 *
 * Explanation: what a call would run. In: one of Quern's. Out: its fields as attributes, and all of
 * it as lines for a person when it is printed. The thing to know: nothing in it changes, and it
 * outlives the kernel.
 */
#include "pyquern.h"

#include <stddef.h>

typedef struct explanation {
    PyObject_HEAD quern_explanation *x;
} explanation;

PyObject *qp_explanation_object(qp_state *state, quern_explanation *x)
{
    explanation *self = (explanation *)qp_object_new(state->explanation);
    if (!self) {
        quern_explanation_release(x);
        return NULL;
    }
    self->x = x;
    return (PyObject *)self;
}

static void dealloc(PyObject *self)
{
    quern_explanation_release(((explanation *)self)->x);
    qp_object_free(self);
}

/* The field at an offset in the explanation, by what it is. */
static const void *field(PyObject *self, void *offset)
{
    return (const char *)((explanation *)self)->x + (uintptr_t)offset;
}

static PyObject *get_text(PyObject *self, void *offset)
{
    const char *text = *(const char *const *)field(self, offset);
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

static PyObject *get_number(PyObject *self, void *offset)
{
    return PyLong_FromUnsignedLong(*(const uint32_t *)field(self, offset));
}

static PyObject *get_long(PyObject *self, void *offset)
{
    return PyLong_FromLongLong(*(const int64_t *)field(self, offset));
}

static PyObject *get_three(PyObject *self, void *offset)
{
    const uint32_t *n = field(self, offset);
    return Py_BuildValue("(III)", n[0], n[1], n[2]);
}

static PyObject *to_str(PyObject *self)
{
    return get_text(self, (void *)offsetof(quern_explanation, text));
}

static PyObject *to_repr(PyObject *self)
{
    const quern_explanation *x = ((explanation *)self)->x;
    return PyUnicode_FromFormat("<Explanation: %s; %s>", x->types, x->plan);
}

#define FIELD(name, get, text)                                                                     \
    {                                                                                              \
#name, get, NULL, text, (void *)offsetof(quern_explanation, name)                          \
    }
static PyGetSetDef facts[] = {
    FIELD(types, get_text, "\"T=float32\""),
    FIELD(plan, get_text, "how the elements are walked"),
    FIELD(source, get_text, "the generated CUDA source"),
    FIELD(key, get_text, "of the cache, 32 hexadecimal digits"),
    FIELD(origin, get_text, "\"memory\", \"cache\" or \"compiled\""),
    FIELD(target, get_text, "\"sm_90\" or \"compute_75\""),
    FIELD(ptx, get_text, "the PTX, where the image is PTX"),
    FIELD(text, get_text, "all of it but source and ptx, as lines for a person"),
    FIELD(tuned, get_text, "with tune=True: the setting and where it came from"),
    FIELD(elements, get_long, "elements of the loop"),
    FIELD(registers, get_number, "per thread; 0 where the device does not say"),
    FIELD(grid, get_three, "blocks"),
    FIELD(block, get_three, "threads of a block"),
    FIELD(shared_bytes, get_number, "static shared memory of a block"),
    FIELD(local_bytes, get_number, "local memory of a thread"),
    FIELD(blocks_per_processor, get_number, "occupancy; 0 where the device does not say"),
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, dealloc},
    {Py_tp_getset, facts},
    {Py_tp_str, to_str},
    {Py_tp_repr, to_repr},
    {Py_tp_doc, "What a call would run: a kernel's explain() makes it. Print it."},
    {0, NULL},
};

PyType_Spec qp_explanation_spec = {
    .name = "pyquern.Explanation",
    .basicsize = sizeof(explanation),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};
