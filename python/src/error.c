/* SPDX-License-Identifier: MIT
 *
 * Failures as exceptions. In: the calling thread's last failure of Quern. Out: an exception whose
 * class says what was wrong, once as Quern names it and once as Python does, whose text is the
 * library's own with the caret, and whose attributes are the failure's fields.
 */
#include "pyquern.h"

#include <stdarg.h>

/* One class for each status, and one more for names of expressions. It derives from Error and from
 * what Python has for the like. */
static const struct {
    quern_status status;
    const char *name;
    PyObject **like;
} classes[] = {
    {QUERN_ERROR_INVALID_ARGUMENT, "InvalidArgumentError", &PyExc_ValueError},
    {QUERN_ERROR_OUT_OF_MEMORY, "OutOfMemoryError", &PyExc_MemoryError},
    {QUERN_ERROR_NOT_SUPPORTED, "NotSupportedError", &PyExc_NotImplementedError},
    {QUERN_ERROR_IO, "InputOutputError", &PyExc_OSError},
    {QUERN_ERROR_INTERNAL, "InternalError", &PyExc_SystemError},
    {QUERN_ERROR_SIGNATURE, "SignatureError", &PyExc_ValueError},
    {QUERN_ERROR_TYPE, "TypeMismatchError", &PyExc_TypeError},
    {QUERN_ERROR_SHAPE, "ShapeError", &PyExc_ValueError},
    {QUERN_ERROR_ARGUMENT_COUNT, "ArgumentCountError", &PyExc_TypeError},
    {QUERN_ERROR_VALUE, "RangeError", &PyExc_OverflowError},
    {QUERN_ERROR_NAME, "NoSuchNameError", &PyExc_AttributeError},
    {QUERN_ERROR_COMPILE, "CompileError", &PyExc_RuntimeError},
    {QUERN_ERROR_NVRTC_NOT_FOUND, "NVRTCNotFoundError", &PyExc_ImportError},
    {QUERN_ERROR_NVRTC, "NVRTCError", &PyExc_RuntimeError},
    {QUERN_ERROR_IMAGE, "ImageError", &PyExc_ValueError},
    {QUERN_ERROR_LINK, "LinkError", &PyExc_RuntimeError},
    {QUERN_ERROR_NVJITLINK_NOT_FOUND, "NvJitLinkNotFoundError", &PyExc_ImportError},
    {QUERN_ERROR_NO_DEVICE, "NoDeviceError", &PyExc_RuntimeError},
    {QUERN_ERROR_DRIVER, "DriverError", &PyExc_RuntimeError},
    {QUERN_ERROR_DEVICE_MEMORY, "DeviceMemoryError", &PyExc_MemoryError},
    {QUERN_ERROR_LAUNCH, "LaunchError", &PyExc_RuntimeError},
    {QUERN_ERROR_ACCESS, "AccessError", &PyExc_RuntimeError},
    {QUERN_ERROR_INTERRUPTED, "InterruptedError", &PyExc_RuntimeError},
    {QUERN_ERROR_CACHE, "CacheError", &PyExc_RuntimeError},
};
#define CLASSES (sizeof classes / sizeof *classes)
_Static_assert(QP_ERRORS == CLASSES + 2, "room for all classes, the base and one more");

static int add(qp_state *state, PyObject *module, size_t place, const char *name, PyObject *bases)
{
    char path[64];
    PyOS_snprintf(path, sizeof path, "pyquern.%s", name);
    state->errors[place] = PyErr_NewException(path, bases, NULL);
    return state->errors[place] ? PyModule_AddObjectRef(module, name, state->errors[place]) : -1;
}

int qp_errors_init(qp_state *state, PyObject *module)
{
    if (add(state, module, 0, "Error", NULL) < 0) {
        return -1;
    }
    for (size_t k = 0; k < CLASSES; k++) {
        PyObject *bases = PyTuple_Pack(2, state->errors[0], *classes[k].like);
        int added = bases ? add(state, module, k + 1, classes[k].name, bases) : -1;
        Py_XDECREF(bases);
        if (added < 0) {
            return -1;
        }
    }
    PyObject *bases = PyTuple_Pack(2, state->errors[0], PyExc_NameError);
    int added = bases ? add(state, module, CLASSES + 1, "UndefinedNameError", bases) : -1;
    Py_XDECREF(bases);
    return added;
}

/* A name of an expression is one as Python's are; other names are those of attributes. */
static PyObject *class_of(const qp_state *state, const quern_error *error)
{
    const quern_status status = (quern_status)error->status;
    if (status == QUERN_ERROR_NAME && strcmp(error->stage, "expression") == 0) {
        return state->errors[CLASSES + 1];
    }
    for (size_t k = 0; k < CLASSES; k++) {
        if (classes[k].status == status) {
            return state->errors[k + 1];
        }
    }
    return state->errors[0];
}

/* Give the exception an attribute; takes over `value`. */
static void put(PyObject *exception, const char *name, PyObject *value)
{
    if (!value || PyObject_SetAttrString(exception, name, value) < 0) {
        PyErr_Clear(); /* the exception is worth more than one of its attributes */
    }
    Py_XDECREF(value);
}

static PyObject *text(const char *bytes)
{
    return PyUnicode_DecodeUTF8(bytes, (Py_ssize_t)strlen(bytes), "replace");
}

/* The text for a person, without "error: " in front and the newline behind. */
static PyObject *whole_text(void)
{
    static const char lead[] = "error: ";
    const char *from = quern_last_error_text();
    from += strncmp(from, lead, sizeof lead - 1) == 0 ? sizeof lead - 1 : 0;
    size_t length = strlen(from);
    while (length > 0 && from[length - 1] == '\n') {
        length--;
    }
    return PyUnicode_DecodeUTF8(from, (Py_ssize_t)length, "replace");
}

PyObject *qp_raise(qp_state *state)
{
    const quern_error *error = quern_last_error();
    if (error->status == QUERN_ERROR_INTERRUPTED && PyErr_CheckSignals() < 0) {
        return NULL; /* KeyboardInterrupt, or what the program's own handler raised */
    }
    PyObject *class = class_of(state, error), *cause = qp_allocator_failure();
    PyObject *message = whole_text();
    PyObject *exception = message ? PyObject_CallFunctionObjArgs(class, message, NULL) : NULL;
    Py_XDECREF(message);
    if (!exception || error->status != QUERN_ERROR_DEVICE_MEMORY) {
        Py_CLEAR(cause);
    }
    if (!exception) {
        return NULL;
    }
    if (cause) {
        PyException_SetCause(exception, cause);
    }
    put(exception, "status", PyLong_FromLong(error->status));
    put(exception, "message", text(error->message));
    put(exception, "stage", text(error->stage));
    put(exception, "text", text(error->text));
    put(exception, "text_name", text(error->text_name));
    put(exception, "span", Py_BuildValue("(II)", error->begin, error->end));
    put(exception, "log", text(error->log));
    put(exception, "source", text(error->source));
    PyErr_SetObject(class, exception);
    Py_DECREF(exception);
    return NULL;
}

/* ---- arguments ------------------------------------------------------------------------------ */

/* "numpy.ndarray", "list"; new */
static PyObject *name_of(PyTypeObject *type)
{
    PyObject *module = PyObject_GetAttrString((PyObject *)type, "__module__");
    PyObject *name = PyType_GetQualName(type), *full = NULL;
    if (module && name) {
        bool is_plain =
            !PyUnicode_Check(module) || PyUnicode_CompareWithASCIIString(module, "builtins") == 0;
        full = is_plain ? Py_NewRef(name) : PyUnicode_FromFormat("%U.%U", module, name);
    }
    Py_XDECREF(module);
    Py_XDECREF(name);
    return full;
}

int qp_foreign_refuse(const qp_foreign *f, PyObject *class, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    PyObject *rest = PyUnicode_FromFormatV(format, list);
    va_end(list);
    PyObject *name = rest ? name_of(Py_TYPE(f->object)) : NULL;
    if (name && f->argument > 0) {
        PyErr_Format(class, "argument %zu (%U) %U", f->argument, name, rest);
    } else if (name) {
        PyErr_Format(class, "the %U %U", name, rest);
    }
    Py_XDECREF(name);
    Py_XDECREF(rest);
    return -1;
}

/* ---- keywords ------------------------------------------------------------------------------- */

int qp_refuse_word(qp_state *state, const char *function, PyObject *word, const char *words,
                   const char *more)
{
    PyObject *said =
        PyObject_CallMethod(state->foreign, "wrong_word", "sOss", function, word, words, more);
    if (said) {
        PyErr_SetObject(PyExc_TypeError, said);
        Py_DECREF(said);
    }
    return -1;
}

static bool is_among(PyObject *word, char **names)
{
    bool found = !PyUnicode_Check(word);
    for (char **name = names; *name && !found; name++) {
        found = PyUnicode_CompareWithASCIIString(word, *name) == 0;
    }
    return found;
}

int qp_check_words(qp_state *state, const char *function, PyObject *keywords, char **names)
{
    PyObject *word, *value;
    Py_ssize_t place = 0;
    char words[256] = "";
    while (keywords && PyDict_Next(keywords, &place, &word, &value)) {
        if (is_among(word, names)) {
            continue;
        }
        for (char **name = names; *name; name++) {
            size_t length = strlen(words);
            PyOS_snprintf(words + length, sizeof words - length, "%s%s", length ? ", " : "", *name);
        }
        return qp_refuse_word(state, function, word, words, "");
    }
    return 0;
}
