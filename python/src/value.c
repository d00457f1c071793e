/* SPDX-License-Identifier: MIT
 *
 * The arguments of a call. In: Python's objects. Out: Quern's values, the device that all arrays
 * are on, and the one library that all of them are of. The thing to know: a plain number takes the
 * dtype that its parameter gets; one of NumPy's has its own. Memory of the host decides on no
 * device, since it can be copied to any (order.c).
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
                     "argument %zu is on %s, and argument %zu is on %s: bring them to one device, "
                     "as by .to()",
                     arguments->count + 1, devices[device].id, arguments->decided,
                     devices[arguments->device].id);
        return -1;
    }
    if (arguments->device < 0) {
        arguments->device = device;
        arguments->decided = arguments->count + 1;
    }
    return 0;
}

static int refuse(const qp_foreign *f)
{
    PyObject *object = f->object;
    bool is_list = PyList_Check(object) || PyTuple_Check(object);
    return qp_foreign_refuse(f, PyExc_TypeError, "is neither an array nor one number%s",
                             is_list ? ": make an array of it by pyquern.asarray()" : "");
}

/* `type`: what is known of the object's; or NULL. */
static int add_foreign(qp_arguments *arguments, PyObject *object, qp_foreign_type *type,
                       bool is_output)
{
    qp_foreign *f = &arguments->foreign[arguments->foreign_count];
    if (arguments->host < 0) {
        arguments->host = qp_device_host(arguments->state);
    }
    const size_t argument = arguments->count + 1;
    int taken =
        type ? qp_foreign_take_as(f, arguments->state, object, argument, arguments->host, type)
             : qp_foreign_take(f, arguments->state, object, argument, arguments->host);
    if (taken == 2 && !is_output) {
        arguments->values[arguments->count++] = f->value;
        return 0;
    }
    if (taken != 1) {
        return taken < 0 ? -1 : refuse(f);
    }
    arguments->foreign_count++;
    f->place = arguments->count;
    f->is_output = is_output;
    if (f->is_host) {
        arguments->has_host = true;
    } else if (meet(arguments, f->device) < 0) {
        return -1;
    }
    if (!arguments->like) {
        arguments->like = f;
    } else if (arguments->like->type->library != f->type->library) {
        arguments->is_mixed = true;
    }
    qp_arguments_put(arguments, f->array);
    return 0;
}

static int add(qp_arguments *arguments, PyObject *object, bool is_output)
{
    if (arguments->count == QUERN_MAX_PARAMETERS) {
        PyErr_Format(PyExc_TypeError, "a call has at most %d arguments", QUERN_MAX_PARAMETERS);
        return -1;
    }
    /* A type of arrays that was met before is neither ours nor one of Python's numbers. */
    qp_foreign_type *known =
        arguments->likes ? NULL : qp_foreign_known(arguments->state, Py_TYPE(object));
    if (known && known->way > QP_NUMBER) {
        return add_foreign(arguments, object, known, is_output);
    }
    if (qp_array_is(arguments->state, object)) {
        qp_array *a = (qp_array *)object;
        arguments->has_own = true;
        if (arguments->device != a->device && meet(arguments, a->device) < 0) {
            return -1;
        }
        qp_arguments_put(arguments, a->array);
        return 0;
    }
    if (arguments->likes && PyTuple_Check(object)) {
        return qp_arguments_add_like(arguments, object);
    }
    int number = is_output ? 0 : add_number(&arguments->values[arguments->count], object);
    if (number == 0) {
        return add_foreign(arguments, object, NULL, is_output);
    }
    arguments->count += number > 0;
    return number < 0 ? -1 : 0;
}

int qp_arguments_add(qp_arguments *arguments, PyObject *object)
{
    return add(arguments, object, false);
}

int qp_arguments_add_output(qp_arguments *arguments, PyObject *object)
{
    return add(arguments, object, true);
}

PyObject *qp_arguments_add_new(qp_arguments *arguments, const quern_array_info *info)
{
    qp_foreign *f = &arguments->foreign[arguments->foreign_count];
    PyObject *made = qp_foreign_new(f, arguments->state, arguments->like, arguments->count + 1,
                                    info, arguments->host);
    if (!made) {
        return NULL;
    }
    arguments->foreign_count++;
    f->place = arguments->count;
    f->is_output = true;
    if (f->is_host && f->device != arguments->device && qp_order_stage(f, arguments, false) < 0) {
        Py_DECREF(made);
        return NULL;
    }
    qp_arguments_put(arguments, f->array);
    return made;
}

void qp_arguments_end(qp_arguments *arguments)
{
    for (size_t k = 0; k < arguments->foreign_count; k++) {
        qp_foreign_end(&arguments->foreign[k]);
    }
    if (arguments->held) {
        quern_stream_release(arguments->held);
    }
}
