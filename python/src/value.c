/* SPDX-License-Identifier: MIT
 *
 * The arguments of a call. In: Python's objects. Out: Quern's values, the device that all arrays
 * are on, and the one foreign type that all of them have. The thing to know: a plain number takes
 * the dtype that its parameter gets; one of NumPy's has its own, and comes in as an array without
 * dimensions.
 */
#include "pyquern.h"

static int add_integer(quern_value *value, PyObject *object)
{
    int overflow;
    long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow > 0) {
        unsigned long long natural = PyLong_AsUnsignedLongLong(object);
        *value = quern_literal_uint(natural);
        return PyErr_Occurred() ? -1 : 0;
    }
    if (overflow < 0) {
        PyErr_Format(PyExc_OverflowError, "%R fits no integer dtype", object);
        return -1;
    }
    *value = quern_literal_int(number);
    return number == -1 && PyErr_Occurred() ? -1 : 0;
}

/* 1: it is one of Python's numbers; 0: it is not; -1: an exception. */
static int add_number(quern_value *value, PyObject *object)
{
    if (Py_IS_TYPE(object, &PyFloat_Type)) {
        *value = quern_literal_double(PyFloat_AsDouble(object));
        return 1;
    }
    if (Py_IS_TYPE(object, &PyLong_Type)) {
        return add_integer(value, object) < 0 ? -1 : 1;
    }
    if (object == Py_True || object == Py_False) {
        *value = quern_literal_bool(object == Py_True);
        return 1;
    }
    if (Py_IS_TYPE(object, &PyComplex_Type)) {
        *value =
            quern_literal_complex(PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object));
        return 1;
    }
    return 0;
}

/* All arrays of a call are on one device. */
static int meet(qp_arguments *arguments, int device)
{
    qp_device *devices = arguments->state->devices;
    if (arguments->device >= 0 && arguments->device != device) {
        PyErr_Format(PyExc_ValueError,
                     "argument %zu is on %s, and those before it are on %s: bring them to one "
                     "device by .to()",
                     arguments->count + 1, devices[device].id, devices[arguments->device].id);
        return -1;
    }
    arguments->device = device;
    return 0;
}

static int add_foreign(qp_arguments *arguments, PyObject *object)
{
    qp_foreign foreign;
    int taken = qp_foreign_take(&foreign, arguments->state, object);
    if (taken == 0) {
        PyErr_Format(PyExc_TypeError, "argument %zu is %R: an array, or one number, was expected",
                     arguments->count + 1, Py_TYPE(object));
    }
    if (taken <= 0) {
        return -1;
    }
    arguments->wrapped[arguments->wrapped_count++] = foreign.array;
    if (meet(arguments, foreign.device) < 0) {
        return -1;
    }
    bool is_first = !arguments->foreign && !arguments->has_own && arguments->wrapped_count == 1;
    bool is_scalar = quern_array_ndim(foreign.array) == 0 && !foreign.exchange;
    if (is_scalar) { /* NumPy's numbers are arrays of another type, and are welcome anywhere */
        arguments->wrapped_scalars++;
    } else if (is_first || arguments->wrapped_count == arguments->wrapped_scalars + 1) {
        arguments->foreign = arguments->has_own ? NULL : foreign.type;
        arguments->exchange = foreign.exchange;
    } else if (arguments->foreign != foreign.type) {
        arguments->foreign = NULL;
    }
    arguments->values[arguments->count++] = quern_value_array(foreign.array);
    return 0;
}

int qp_arguments_add(qp_arguments *arguments, PyObject *object)
{
    qp_state *state = arguments->state;
    if (arguments->count == QUERN_MAX_PARAMETERS) {
        PyErr_Format(PyExc_TypeError, "a call has at most %d arguments", QUERN_MAX_PARAMETERS);
        return -1;
    }
    if (qp_array_is(state, object)) {
        qp_array *a = (qp_array *)object;
        arguments->has_own = true;
        arguments->foreign = NULL;
        if (meet(arguments, a->device) < 0) {
            return -1;
        }
        arguments->values[arguments->count++] = quern_value_array(a->array);
        return 0;
    }
    int number = add_number(&arguments->values[arguments->count], object);
    if (number == 0) {
        return add_foreign(arguments, object);
    }
    arguments->count += number > 0;
    return number < 0 ? -1 : 0;
}

void qp_arguments_end(qp_arguments *arguments)
{
    for (size_t k = 0; k < arguments->wrapped_count; k++) {
        quern_array_release(arguments->wrapped[k]);
    }
}
