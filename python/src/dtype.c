/* SPDX-License-Identifier: MIT
 *
 * Dtypes. In: what people name them by: "float32", "<f4", numpy.float32, numpy.dtype, float,
 * torch.float32, ml_dtypes.bfloat16. Out: Quern's numbers, and the formats of the buffer protocol.
 * The thing to know: each object is worked out once and remembered, so that no call imports NumPy.
 */
#include "pyquern.h"

#include <stdio.h>

/* The buffer protocol's letters, which are those of struct, of the machine's own sizes. */
static const struct {
    char format[4];
    char code[4]; /* NumPy's, with the size */
    quern_dtype dtype;
} formats[] = {
    {"?", "b1", QUERN_BOOL},         {"b", "i1", QUERN_INT8},      {"h", "i2", QUERN_INT16},
    {"i", "i4", QUERN_INT32},        {"l", "i8", QUERN_INT64},     {"q", "i8", QUERN_INT64},
    {"B", "u1", QUERN_UINT8},        {"H", "u2", QUERN_UINT16},    {"I", "u4", QUERN_UINT32},
    {"L", "u8", QUERN_UINT64},       {"Q", "u8", QUERN_UINT64},    {"e", "f2", QUERN_FLOAT16},
    {"f", "f4", QUERN_FLOAT32},      {"d", "f8", QUERN_FLOAT64},   {"Zf", "c8", QUERN_COMPLEX64},
    {"Zd", "c16", QUERN_COMPLEX128}, {"F", "c8", QUERN_COMPLEX64}, {"D", "c16", QUERN_COMPLEX128},
};
#define FORMATS (sizeof formats / sizeof *formats)

static const char *without_order(const char *text)
{
    return *text == '<' || *text == '=' || *text == '@' || *text == '|' ? text + 1 : text;
}

/* Formats of one letter, which nearly all are. */
static const uint8_t by_letter[128] = {
    ['?'] = QUERN_BOOL,    ['b'] = QUERN_INT8,    ['h'] = QUERN_INT16,  ['i'] = QUERN_INT32,
    ['l'] = QUERN_INT64,   ['q'] = QUERN_INT64,   ['B'] = QUERN_UINT8,  ['H'] = QUERN_UINT16,
    ['I'] = QUERN_UINT32,  ['L'] = QUERN_UINT64,  ['Q'] = QUERN_UINT64, ['e'] = QUERN_FLOAT16,
    ['f'] = QUERN_FLOAT32, ['d'] = QUERN_FLOAT64,
};

quern_dtype qp_dtype_of_format(const char *format, Py_ssize_t itemsize)
{
    const char *letters = format ? without_order(format) : "B";
    quern_dtype found =
        letters[0] > 0 && letters[1] == 0 ? by_letter[(int)letters[0]] : QUERN_DTYPE_NONE;
    if (found && (Py_ssize_t)quern_dtype_size(found) == itemsize) {
        return found;
    }
    for (size_t k = 0; k < FORMATS; k++) {
        if (strcmp(letters, formats[k].format) == 0 &&
            (Py_ssize_t)quern_dtype_size(formats[k].dtype) == itemsize) {
            return formats[k].dtype;
        }
    }
    return QUERN_DTYPE_NONE;
}

const char *qp_dtype_format(quern_dtype dtype)
{
    for (size_t k = 0; k < FORMATS; k++) {
        if (formats[k].dtype == dtype) {
            return formats[k].format;
        }
    }
    return NULL;
}

static quern_dtype of_text(const char *text)
{
    quern_dtype dtype = quern_dtype_from_name(text);
    const char *letters = without_order(text);
    for (size_t k = 0; k < FORMATS && dtype == QUERN_DTYPE_NONE; k++) {
        if (strcmp(letters, formats[k].code) == 0 || strcmp(letters, formats[k].format) == 0) {
            dtype = formats[k].dtype;
        }
    }
    return dtype;
}

/* "torch.float32" and "jax.numpy.float32" end in names that Quern knows. */
static quern_dtype of_last_part(PyObject *object)
{
    PyObject *words = PyObject_Str(object);
    const char *text = words ? PyUnicode_AsUTF8AndSize(words, NULL) : NULL;
    const char *dot = text ? strrchr(text, '.') : NULL;
    quern_dtype dtype = text ? of_text(dot ? dot + 1 : text) : QUERN_DTYPE_NONE;
    Py_XDECREF(words);
    return dtype;
}

/* What NumPy makes of the object, by its dtype's name. */
static quern_dtype of_numpy(PyObject *object)
{
    PyObject *numpy = PyImport_ImportModule("numpy");
    PyObject *made = numpy ? PyObject_CallMethod(numpy, "dtype", "O", object) : NULL;
    PyObject *name = made ? PyObject_GetAttrString(made, "name") : NULL;
    const char *text = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    quern_dtype dtype = text ? of_text(text) : QUERN_DTYPE_NONE;
    Py_XDECREF(name);
    Py_XDECREF(made);
    Py_XDECREF(numpy);
    return dtype;
}

static quern_dtype work_out(PyObject *object)
{
    if (PyUnicode_Check(object)) {
        const char *text = PyUnicode_AsUTF8AndSize(object, NULL);
        quern_dtype dtype = text ? of_text(text) : QUERN_DTYPE_NONE;
        return dtype ? dtype : text ? of_numpy(object) : dtype;
    }
    if (object == (PyObject *)&PyFloat_Type) {
        return QUERN_FLOAT64;
    }
    if (object == (PyObject *)&PyLong_Type) {
        return QUERN_INT64;
    }
    if (object == (PyObject *)&PyBool_Type) {
        return QUERN_BOOL;
    }
    if (object == (PyObject *)&PyComplex_Type) {
        return QUERN_COMPLEX128;
    }
    quern_dtype dtype = PyType_Check(object) ? QUERN_DTYPE_NONE : of_last_part(object);
    PyErr_Clear();
    return dtype ? dtype : of_numpy(object);
}

quern_dtype qp_dtype(qp_state *state, PyObject *object)
{
    PyObject *known = PyDict_GetItemWithError(state->dtypes, object);
    if (known) {
        return (quern_dtype)PyLong_AsLong(known);
    }
    PyErr_Clear(); /* of what cannot be a key */
    quern_dtype dtype = work_out(object);
    if (dtype == QUERN_DTYPE_NONE) {
        PyErr_Clear();
        PyObject *said =
            PyObject_CallMethod(state->foreign, "wrong_dtype", "Os", object, QP_DTYPE_NAMES);
        if (said) {
            PyErr_SetObject(PyExc_TypeError, said);
            Py_DECREF(said);
        }
        return dtype;
    }
    PyObject *number = PyLong_FromLong((long)dtype);
    if (!number || PyDict_SetItem(state->dtypes, object, number) < 0) {
        PyErr_Clear();
    }
    Py_XDECREF(number);
    return dtype;
}
