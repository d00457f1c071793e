/* SPDX-License-Identifier: MIT
 *
 * What kernels say of a call without making it: their parameters, and the dtypes and shapes of the
 * outputs. In: arrays, numbers, and pairs (dtype, shape) in place of arrays. Out: tuples. The thing
 * to know: nothing is compiled, read or allocated, so that it serves where arrays have no memory,
 * as in the compilers of other libraries.
 */
#include "pyquern.h"

int qp_arguments_add_like(qp_arguments *arguments, PyObject *pair)
{
    PyObject *dtype, *shape;
    if (!PyArg_ParseTuple(pair, "OO;an array is told by a pair: its dtype and its shape", &dtype,
                          &shape)) {
        return -1;
    }
    quern_dtype number = qp_dtype(arguments->state, dtype);
    int64_t *extents = arguments->likes[arguments->count];
    int ndim = number == QUERN_DTYPE_NONE ? -1 : qp_shape(extents, shape);
    if (ndim < 0) {
        return -1;
    }
    arguments->values[arguments->count++] = quern_value_like(number, ndim, extents);
    return 0;
}

/* ((dtype, shape), ...) of all outputs */
static PyObject *describe(const quern_array_info *infos, size_t count)
{
    PyObject *tuple = PyTuple_New((Py_ssize_t)count);
    for (size_t k = 0; tuple && k < count; k++) {
        PyObject *shape = qp_tuple(infos[k].shape, infos[k].ndim);
        PyObject *pair =
            shape ? Py_BuildValue("sN", quern_dtype_name((quern_dtype)infos[k].dtype), shape)
                  : NULL;
        if (!pair) {
            Py_CLEAR(tuple);
            break;
        }
        PyTuple_SetItem(tuple, (Py_ssize_t)k, pair);
    }
    return tuple;
}

PyObject *qp_kernel_infer(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    qp_call c;
    quern_array_info infos[QUERN_MAX_PARAMETERS];
    int64_t likes[QUERN_MAX_PARAMETERS][QUERN_MAX_NDIM];
    const qp_dry dry = {.likes = likes};
    PyObject *result = NULL;
    if (qp_call_begin(&c, (qp_kernel *)self, args, (size_t)count, names, &dry) == 0) {
        qp_arguments *a = &c.arguments;
        size_t outputs = c.kernel->out_count;
        size_t values = c.is_given ? a->count : c.kernel->in_count;
        infos[0].size = sizeof *infos; /* the others are as large, and all are filled */
        if (qp_check(a->state, quern_kernel_infer(infos, outputs, c.made, a->values, values,
                                                  &c.options)) == 0) {
            result = describe(infos, outputs);
        }
    }
    qp_call_end(&c);
    return result;
}

PyObject *qp_kernel_parameters(PyObject *self, void *unused)
{
    (void)unused;
    qp_kernel *k = (qp_kernel *)self;
    size_t count = k->in_count + k->out_count;
    quern_kernel *made = NULL;
    for (int n = 0; n < QP_MAX_DEVICES && !made; n++) {
        made = k->made[n]; /* the definition has made it for one device */
    }
    PyObject *tuple = PyTuple_New((Py_ssize_t)count);
    for (size_t n = 0; tuple && n < count; n++) {
        quern_parameter_info info = QUERN_PARAMETER_INFO_INIT;
        PyObject *entry = NULL;
        if (qp_check(k->state, quern_kernel_get_parameter(&info, made, n)) == 0) {
            entry = Py_BuildValue("ssNN", info.name, info.type, PyBool_FromLong(info.is_output),
                                  PyBool_FromLong(info.is_raw));
        }
        if (!entry) {
            Py_CLEAR(tuple);
            break;
        }
        PyTuple_SetItem(tuple, (Py_ssize_t)n, entry);
    }
    return tuple;
}
