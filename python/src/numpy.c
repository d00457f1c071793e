/* SPDX-License-Identifier: MIT
 *
 * NumPy. In: arrays and numbers of it. Out: ours over their memory, values, and new arrays of it.
 * The thing to know: an array's fields are read where NumPy's own headers read them, which is an
 * order of magnitude faster than its buffers; their places, like those in its table of functions,
 * are part of the binary interface whose version NumPy is asked for. Of another version arrays come
 * in through the buffer protocol.
 */
#include "pyquern.h"

/* What numpy/ndarraytypes.h declares, since NumPy 1.7. */
typedef struct descr {
    PyObject_HEAD PyTypeObject *typeobj;
    char kind, type, byteorder, flags;
    int type_num;
} descr;

typedef struct ndarray {
    PyObject_HEAD char *data;
    int ndim;
    Py_ssize_t *shape, *strides;
    PyObject *base;
    descr *descr;
    int flags;
} ndarray;

#define WRITEABLE 0x0400

/* Places in the table of functions. */
enum { GET_VERSION = 0, ARRAY_TYPE = 2, DESCR_FROM_TYPE = 45, NEW_FROM_DESCR = 94 };

typedef PyObject *new_from_descr(PyTypeObject *type, PyObject *descr, int ndim,
                                 const Py_ssize_t *shape, const Py_ssize_t *strides, void *data,
                                 int flags, PyObject *object);

/* Dtypes by type_num. LONG is of 64 bits on all machines that Quern is for. */
static const uint8_t dtypes[] = {
    QUERN_BOOL,
    QUERN_INT8,
    QUERN_UINT8,
    QUERN_INT16,
    QUERN_UINT16,
    QUERN_INT32,
    QUERN_UINT32,
    QUERN_INT64,
    QUERN_UINT64,
    QUERN_INT64,
    QUERN_UINT64,
    QUERN_FLOAT32,
    QUERN_FLOAT64,
    0,
    QUERN_COMPLEX64,
    QUERN_COMPLEX128,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    QUERN_FLOAT16,
};
#define DTYPES ((int)(sizeof dtypes / sizeof *dtypes))

/* ---- whether it can be read ----------------------------------------------------------------- */

static void **table_of(const char *module)
{
    PyObject *capsule = qp_loaded(module, "_ARRAY_API");
    void **table =
        capsule && PyCapsule_CheckExact(capsule) ? PyCapsule_GetPointer(capsule, NULL) : NULL;
    Py_XDECREF(capsule); /* the module has it for good */
    return table;
}

bool qp_numpy_knows_dtypes(qp_state *state)
{
    qp_numpy *n = &state->numpy;
    if (!n->is_known) {
        void **table = table_of("numpy._core._multiarray_umath");
        table = table ? table : table_of("numpy.core._multiarray_umath");
        unsigned (*get_version)(void) = table ? (unsigned (*)(void))table[GET_VERSION] : NULL;
        unsigned version = get_version ? get_version() : 0;
        if (version == 0x02000000 || version == 0x01000009) {
            n->array = table[ARRAY_TYPE];
            n->table = table;
        }
        n->is_known = table != NULL;
    }
    return n->table != NULL;
}

bool qp_numpy_reads(qp_state *state, PyTypeObject *type)
{
    return qp_numpy_knows_dtypes(state) && PyType_IsSubtype(type, state->numpy.array);
}

/* ---- in ------------------------------------------------------------------------------------- */

/* Refuse an array because of what its elements are. */
static int refuse_dtype(const qp_foreign *f, const descr *d)
{
    const char *what = d->kind == 'O'                     ? ", which are Python's objects"
                       : d->kind == 'V'                   ? ", which are records"
                       : d->kind == 'M' || d->kind == 'm' ? ": pass .view(\"int64\")"
                       : strchr("SUT", d->kind)           ? ", which are strings"
                                                          : ": convert it by .astype()";
    PyErr_Clear();
    if (d->byteorder == '>') {
        return qp_foreign_refuse(
            f, PyExc_TypeError,
            "has elements of dtype %S, whose bytes are in the other order than "
            "the machine's: convert it by .astype(x.dtype.newbyteorder('='))",
            d);
    }
    return qp_foreign_refuse(f, PyExc_TypeError, "has elements of dtype %S%s; kernels take %s", d,
                             what, QP_DTYPE_NAMES);
}

quern_dtype qp_numpy_dtype(const qp_foreign *f, qp_state *state, const void *descr_object)
{
    const descr *d = descr_object;
    quern_dtype dtype = QUERN_DTYPE_NONE;
    if (d->type_num >= 0 && d->type_num < DTYPES) {
        dtype = dtypes[d->type_num];
    } else { /* of ml_dtypes */
        dtype = qp_dtype(state, (PyObject *)(uintptr_t)d);
    }
    if (dtype == QUERN_DTYPE_NONE || d->byteorder == '>') {
        refuse_dtype(f, d);
        return QUERN_DTYPE_NONE;
    }
    return dtype;
}

int qp_numpy_take(qp_foreign *out, qp_state *state)
{
    const ndarray *a = (const ndarray *)out->object;
    quern_dtype dtype = qp_numpy_dtype(out, state, a->descr);
    if (dtype == QUERN_DTYPE_NONE) {
        return -1;
    }
    quern_array *array;
    if (qp_check(state, quern_array_wrap(&array, state->devices[out->device].engine, dtype, a->ndim,
                                         (const int64_t *)a->shape, (const int64_t *)a->strides,
                                         a->data, NULL, NULL)) < 0) {
        return -1;
    }
    if (!(a->flags & WRITEABLE) && qp_check(state, qp_array_fix(&array)) < 0) {
        return -1;
    }
    out->array = array;
    return 1;
}

static int number_of(quern_value *out, quern_dtype dtype, PyObject *object)
{
    const char *name = quern_dtype_name(dtype);
    if (dtype == QUERN_UINT64) {
        PyObject *number = PyNumber_Long(object);
        *out = quern_literal_uint(number ? PyLong_AsUnsignedLongLong(number) : 0);
        Py_XDECREF(number);
    } else if (*name == 'c') {
        double real = 0, imag = 0;
        PyObject *args = PyTuple_Pack(1, object);
        PyObject *number = args ? PyObject_Call((PyObject *)&PyComplex_Type, args, NULL) : NULL;
        real = number ? PyComplex_RealAsDouble(number) : 0;
        imag = number ? PyComplex_ImagAsDouble(number) : 0;
        Py_XDECREF(args);
        Py_XDECREF(number);
        *out = quern_scalar_complex(dtype, real, imag);
    } else if (*name == 'f' || dtype == QUERN_BFLOAT16) {
        *out = quern_scalar_real(dtype, PyFloat_AsDouble(object));
    } else {
        PyObject *number = PyNumber_Long(object);
        *out = quern_scalar_int(dtype, number ? PyLong_AsLongLong(number) : 0);
        Py_XDECREF(number);
    }
    return PyErr_Occurred() ? -1 : 0;
}

int qp_numpy_number(qp_foreign *out)
{
    if (out->type->dtype == QUERN_DTYPE_NONE) {
        return qp_foreign_refuse(out, PyExc_TypeError,
                                 "is no number that kernels take: these are %s", QP_DTYPE_NAMES);
    }
    return number_of(&out->value, out->type->dtype, out->object) < 0 ? -1 : 2;
}

/* ---- out ------------------------------------------------------------------------------------ */

/* NumPy's dtype, borrowed; of those that are not its own the module _foreign.py knows. */
static PyObject *descr_of(qp_state *state, quern_dtype dtype)
{
    qp_numpy *n = &state->numpy;
    if ((int)dtype < 0 || (int)dtype >= QP_DTYPES) {
        PyErr_Format(PyExc_TypeError, "%s is no dtype of NumPy", quern_dtype_name(dtype));
        return NULL;
    }
    PyObject *first = n->descr[dtype];
    if (first) {
        return first;
    }
    PyObject *made =
        PyObject_CallMethod(state->foreign, "numpy_dtype", "s", quern_dtype_name(dtype));
    if (made && !atomic_compare_exchange_strong(&n->descr[dtype], &first, made)) {
        Py_DECREF(made); /* another thread was quicker */
        return first;
    }
    return made;
}

PyObject *qp_numpy_new(qp_state *state, quern_dtype dtype, int ndim, const int64_t *shape)
{
    PyObject *d = descr_of(state, dtype);
    if (!d) {
        return NULL;
    }
    new_from_descr *make = (new_from_descr *)state->numpy.table[NEW_FROM_DESCR];
    return make(state->numpy.array, Py_NewRef(d), ndim, (const Py_ssize_t *)shape, NULL, NULL, 0,
                NULL);
}
