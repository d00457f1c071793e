/* SPDX-License-Identifier: MIT
 *
 * Kernels of evaluate(). In: an expression, and for each name what its value is: the name of a
 * dtype, or int, float or complex for a plain number. Out: an ElementwiseKernel. The thing to know:
 * the library finds the types and writes the kernel's texts; the object is made of these, so that
 * it is like any other.
 */
#include "pyquern.h"
#include <quern/expression.h>

/* The value that stands for what a name is; 0, or -1 with an exception. */
static int value_of(quern_value *out, PyObject *kind)
{
    static const int64_t no_shape[1] = {0};
    if (kind == (PyObject *)&PyLong_Type) {
        *out = quern_literal_int(0);
    } else if (kind == (PyObject *)&PyFloat_Type) {
        *out = quern_literal_double(0);
    } else if (kind == (PyObject *)&PyComplex_Type) {
        *out = quern_literal_complex(0, 0);
    } else {
        const char *name = PyUnicode_AsUTF8AndSize(kind, NULL);
        if (!name) {
            return -1;
        }
        *out = quern_value_like(quern_dtype_from_name(name), 0, no_shape);
    }
    return 0;
}

/* Take names and what they are from a dict; how many there are, or -1 with an exception. */
static Py_ssize_t take_names(const char **names, quern_value *values, PyObject *kinds)
{
    PyObject *name, *kind;
    Py_ssize_t count = 0, at = 0;
    if (PyDict_Size(kinds) >= QUERN_MAX_PARAMETERS) { /* the output is a parameter, too */
        PyErr_Format(PyExc_TypeError, "%zd values are given, and an expression has at most %d",
                     PyDict_Size(kinds), QUERN_MAX_PARAMETERS - 1);
        return -1;
    }
    for (; PyDict_Next(kinds, &at, &name, &kind); count++) {
        names[count] = PyUnicode_AsUTF8AndSize(name, NULL);
        if (!names[count] || value_of(&values[count], kind) < 0) {
            return -1;
        }
    }
    return count;
}

/* An object of the texts that the library has made. */
static PyObject *object_of(qp_state *state, quern_kernel *kernel)
{
    quern_kernel_info info = QUERN_KERNEL_INFO_INIT;
    if (qp_check(state, quern_kernel_get_info(&info, kernel)) < 0) {
        return NULL;
    }
    PyObject *args = Py_BuildValue("(ssss)", info.in, info.out, info.operation, info.name);
    PyObject *keywords = Py_BuildValue("{s:s}", "preamble", info.preamble ? info.preamble : "");
    PyObject *object =
        args && keywords ? PyObject_Call((PyObject *)state->elementwise, args, keywords) : NULL;
    Py_XDECREF(args);
    Py_XDECREF(keywords);
    return object;
}

/* expression(text, kinds, out): the kernel; `out`, the name of its output's dtype, may be None. */
static PyObject *expression(PyObject *module, PyObject *args)
{
    qp_state *state = PyModule_GetState(module);
    const char *text, *out;
    const char *names[QUERN_MAX_PARAMETERS];
    quern_value values[QUERN_MAX_PARAMETERS];
    PyObject *kinds;
    if (!PyArg_ParseTuple(args, "sO!z:expression", &text, &PyDict_Type, &kinds, &out)) {
        return NULL;
    }
    Py_ssize_t count = take_names(names, values, kinds);
    int device = count < 0 ? -1 : qp_device_current(state);
    if (device < 0) {
        return NULL;
    }
    quern_expression_options options = QUERN_EXPRESSION_OPTIONS_INIT;
    options.dtype = out ? (int32_t)quern_dtype_from_name(out) : QUERN_DTYPE_NONE;
    options.name = "evaluate";
    quern_kernel *kernel;
    if (qp_check(state, quern_expression(&kernel, state->devices[device].engine, text, names,
                                         values, (size_t)count, &options)) < 0) {
        return NULL;
    }
    PyObject *object = object_of(state, kernel);
    quern_kernel_release(kernel);
    return object;
}

PyMethodDef qp_expression_functions[] = {
    {"expression", expression, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
