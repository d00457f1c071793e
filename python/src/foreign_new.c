/* SPDX-License-Identifier: MIT
 *
 * Outputs of the inputs' own type. In: an input, a dtype and a shape. Out: a new array of its
 * library, and ours over that. The thing to know: the table of functions of DLPack 1.3 and NumPy's
 * own make arrays without a line of Python; for other libraries _foreign.py has a function, which
 * either makes an array before the call, or one of ours into the library's own after it.
 */
#include "pyquern.h"

/* What a table's allocator calls: its error as an exception. */
static void set_error(void *context, const char *kind, const char *message)
{
    (void)context;
    static const struct {
        const char *kind;
        PyObject **class;
    } classes[] = {
        {"MemoryError", &PyExc_MemoryError},
        {"TypeError", &PyExc_TypeError},
        {"ValueError", &PyExc_ValueError},
        {"BufferError", &PyExc_BufferError},
    };
    PyObject *class = PyExc_RuntimeError;
    for (size_t k = 0; k < sizeof classes / sizeof *classes; k++) {
        class = strcmp(kind, classes[k].kind) == 0 ? *classes[k].class : class;
    }
    PyErr_SetString(class, message);
}

static PyObject *by_table(qp_foreign *out, qp_state *state, const qp_foreign *like,
                          const quern_array_info *info)
{
    const quern_dl_exchange *table = like->type->exchange;
    const qp_device *device = &state->devices[like->device];
    quern_dl_managed_versioned *tensor = NULL;
    quern_dl_tensor wanted = {
        .device = {like->is_host ? QUERN_DL_CPU : QUERN_DL_CUDA, device->number},
        .ndim = info->ndim,
        .shape = (int64_t *)(uintptr_t)info->shape,
    };
    void *made = NULL;
    if (qp_check(state, quern_dtype_to_dl(&wanted.dtype, (quern_dtype)info->dtype)) < 0) {
        return NULL;
    }
    if (table->managed_tensor_allocator(&wanted, &tensor, NULL, set_error) < 0) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_RuntimeError, "the inputs' library allocates no output");
        }
        return NULL;
    }
    if (qp_check(state, quern_array_from_dltensor(&out->array, device->engine, &tensor->dl_tensor,
                                                  QUERN_DL_TRUSTED, NULL, NULL)) < 0) {
        tensor->deleter(tensor);
        return NULL;
    }
    if (table->managed_tensor_to_py_object_no_sync(tensor, &made) < 0) {
        tensor->deleter(tensor);
        quern_array_release(out->array);
        return NULL;
    }
    out->object = made;
    out->type = like->type;
    out->made = NULL;
    out->device = like->device;
    out->is_host = like->is_host;
    out->is_lent = true;
    out->has_view = out->has_stream = false;
    out->staged = NULL;
    return made;
}

int qp_foreign_makes(qp_state *state, qp_foreign_type *type)
{
    if (type->way == QP_TABLE || type->way == QP_NUMPY) {
        return 1;
    }
    if (!type->allocate) {
        PyObject *allocate, *convert;
        PyObject *pair = PyObject_CallMethod(state->foreign, "outputs_of", "O", type->type);
        if (!pair || !PyArg_ParseTuple(pair, "OO;outputs_of", &allocate, &convert)) {
            Py_XDECREF(pair);
            return -1;
        }
        qp_lock();
        if (!type->allocate) {
            type->convert = convert == Py_None ? NULL : Py_NewRef(convert);
            type->allocate = Py_NewRef(allocate); /* last: it says that both are there */
        }
        qp_unlock();
        Py_DECREF(pair);
    }
    return type->allocate != Py_None;
}

PyObject *qp_foreign_new(qp_foreign *out, qp_state *state, const qp_foreign *like, size_t argument,
                         const quern_array_info *info, int host)
{
    PyObject *made = NULL;
    if (like->type->way == QP_TABLE) {
        return by_table(out, state, like, info);
    }
    if (like->type->way == QP_NUMPY) {
        made = qp_numpy_new(state, (quern_dtype)info->dtype, info->ndim, info->shape);
    } else {
        PyObject *shape = qp_tuple(info->shape, info->ndim);
        made = shape ? PyObject_CallFunction(like->type->allocate, "OOs", like->object, shape,
                                             quern_dtype_name((quern_dtype)info->dtype))
                     : NULL;
        Py_XDECREF(shape);
    }
    if (made && qp_foreign_take(out, state, made, argument, host) != 1) {
        if (!PyErr_Occurred()) {
            PyErr_Format(PyExc_TypeError, "%R, which was made for an output, is no array", made);
        }
        Py_CLEAR(made);
    }
    return made;
}
