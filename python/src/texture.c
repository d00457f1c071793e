/* SPDX-License-Identifier: MIT
 *
 * CUDA arrays, textures and surfaces of a GPU. In: shapes, our own arrays, numbers for modes. Out:
 * objects that functions of modules take. The thing to know: CuPy's names and their checks are in
 * _texture.py, whose classes derive from these; the last reference waits for the device, so the GIL
 * is let go then.
 */
#include "texture.h"

/* ---- CUDA arrays ---------------------------------------------------------------------------- */

typedef struct cuda_array {
    PyObject_HEAD qp_state *state;
    quern_cuda_array *cuda_array;
    int device;
} cuda_array;

/* CudaArray(shape, dtype, channels, layered, surface, gather) */
static PyObject *new_cuda_array(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    (void)keywords;
    PyObject *shape_object, *dtype_object;
    quern_cuda_array_options o = QUERN_CUDA_ARRAY_OPTIONS_INIT;
    int64_t shape[QUERN_MAX_NDIM];
    qp_state *state = qp_state_of(type);
    if (!state || !PyArg_ParseTuple(args, "OOIIII:CudaArray", &shape_object, &dtype_object,
                                    &o.channels, &o.layered, &o.surface, &o.gather)) {
        return NULL;
    }
    const int ndim = qp_shape(shape, shape_object);
    const quern_dtype dtype = ndim < 0 ? QUERN_DTYPE_NONE : qp_dtype(state, dtype_object);
    const int device = dtype == QUERN_DTYPE_NONE ? -1 : qp_device_current(state);
    cuda_array *self = device < 0 ? NULL : (cuda_array *)qp_object_new(type);
    if (!self) {
        return NULL;
    }
    self->state = state;
    self->device = device;
    if (qp_check(state, quern_cuda_array_new(&self->cuda_array, state->devices[device].engine,
                                             dtype, ndim, shape, &o)) < 0) {
        Py_DECREF((PyObject *)self);
        return NULL;
    }
    return (PyObject *)self;
}

static void dealloc_cuda_array(PyObject *self)
{
    Py_BEGIN_ALLOW_THREADS quern_cuda_array_release(((cuda_array *)self)->cuda_array);
    Py_END_ALLOW_THREADS qp_object_free(self);
}

static PyObject *copy(PyObject *self, PyObject *args, bool write)
{
    cuda_array *c = (cuda_array *)self;
    PyObject *array, *stream_object = Py_None;
    quern_stream *stream;
    quern_status status;
    if (!PyArg_ParseTuple(args, "O!|O", c->state->array, &array, &stream_object) ||
        qp_stream_take(&stream, c->state, c->device, stream_object) < 0) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS status =
        write ? quern_cuda_array_write_on(c->cuda_array, ((qp_array *)array)->array, stream)
              : quern_cuda_array_read_on(c->cuda_array, ((qp_array *)array)->array, stream);
    quern_stream_release(stream);
    Py_END_ALLOW_THREADS return qp_none(c->state, status);
}

/* _write(array, stream=None) */
static PyObject *write_array(PyObject *self, PyObject *args)
{
    return copy(self, args, true);
}

/* _read(array, stream=None) */
static PyObject *read_array(PyObject *self, PyObject *args)
{
    return copy(self, args, false);
}

static PyObject *get_cuda_array(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(quern_cuda_array_handle(((cuda_array *)self)->cuda_array));
}

static PyGetSetDef cuda_array_facts[] = {
    {"ptr", get_cuda_array, NULL, "the driver's handle, a CUarray", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef cuda_array_methods[] = {
    {"_write", write_array, METH_VARARGS, NULL},
    {"_read", read_array, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot cuda_array_slots[] = {
    {Py_tp_new, new_cuda_array},
    {Py_tp_dealloc, dealloc_cuda_array},
    {Py_tp_getset, cuda_array_facts},
    {Py_tp_methods, cuda_array_methods},
    {Py_tp_doc, "Memory of a GPU that textures and surfaces reach."},
    {0, NULL},
};

PyType_Spec qp_cuda_array_spec = {
    .name = "pyquern.CudaArray",
    .basicsize = sizeof(cuda_array),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = cuda_array_slots,
};

/* ---- textures and surfaces ------------------------------------------------------------------ */

static qp_handle_object *new_handle(PyTypeObject *type, qp_state *state)
{
    qp_handle_object *self = (qp_handle_object *)qp_object_new(type);
    if (self) {
        self->state = state;
    }
    return self;
}

static PyObject *handle_or_raise(qp_handle_object *self, quern_status status)
{
    if (qp_check(self->state, status) < 0) {
        Py_DECREF((PyObject *)self);
        return NULL;
    }
    return (PyObject *)self;
}

/* Texture(source, is_rows, channels, address, filter, read, normalized, srgb, anisotropy, border):
 * of a CudaArray, or of an array: its elements in a line, or in rows */
static PyObject *new_texture(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    (void)keywords;
    PyObject *source;
    int is_rows;
    unsigned channels;
    quern_texture_options o = QUERN_TEXTURE_OPTIONS_INIT;
    qp_state *state = qp_state_of(type);
    if (!state || !PyArg_ParseTuple(args, "OpI(III)IIIII(ffff):Texture", &source, &is_rows,
                                    &channels, &o.address[0], &o.address[1], &o.address[2],
                                    &o.filter, &o.read, &o.normalized, &o.srgb, &o.max_anisotropy,
                                    &o.border[0], &o.border[1], &o.border[2], &o.border[3])) {
        return NULL;
    }
    const bool of_cuda_array = PyObject_TypeCheck(source, state->cuda_array);
    if (!of_cuda_array && !PyObject_TypeCheck(source, state->array)) {
        return PyErr_Format(PyExc_TypeError, "a texture reads a CUDA array or an array, not %R",
                            Py_TYPE(source));
    }
    qp_handle_object *self = new_handle(type, state);
    if (!self) {
        return NULL;
    }
    if (of_cuda_array) {
        cuda_array *c = (cuda_array *)source;
        self->device = c->device;
        return handle_or_raise(self, quern_texture_new(&self->texture, c->cuda_array, &o));
    }
    const qp_array *a = (const qp_array *)source;
    self->device = a->device;
    return handle_or_raise(
        self, is_rows ? quern_texture_new_pitched(&self->texture, a->array, channels, &o)
                      : quern_texture_new_linear(&self->texture, a->array, channels, &o));
}

/* Surface(cuda_array) */
static PyObject *new_surface(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    (void)keywords;
    PyObject *source;
    qp_state *state = qp_state_of(type);
    if (!state || !PyArg_ParseTuple(args, "O!:Surface", state->cuda_array, &source)) {
        return NULL;
    }
    qp_handle_object *self = new_handle(type, state);
    if (!self) {
        return NULL;
    }
    self->device = ((cuda_array *)source)->device;
    return handle_or_raise(self,
                           quern_surface_new(&self->surface, ((cuda_array *)source)->cuda_array));
}

static void dealloc_handle(PyObject *self)
{
    const qp_handle_object *h = (const qp_handle_object *)self;
    Py_BEGIN_ALLOW_THREADS quern_texture_release(h->texture);
    quern_surface_release(h->surface);
    Py_END_ALLOW_THREADS qp_object_free(self);
}

static PyObject *get_handle(PyObject *self, void *unused)
{
    (void)unused;
    const qp_handle_object *h = (const qp_handle_object *)self;
    return PyLong_FromUnsignedLongLong(h->texture ? quern_texture_handle(h->texture)
                                                  : quern_surface_handle(h->surface));
}

static PyGetSetDef handle_facts[] = {
    {"ptr", get_handle, NULL, "the driver's handle, which kernels take", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot texture_slots[] = {
    {Py_tp_new, new_texture},
    {Py_tp_dealloc, dealloc_handle},
    {Py_tp_getset, handle_facts},
    {Py_tp_doc, "What a parameter of type cudaTextureObject_t takes."},
    {0, NULL},
};

PyType_Spec qp_texture_spec = {
    .name = "pyquern.Texture",
    .basicsize = sizeof(qp_handle_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = texture_slots,
};

static PyType_Slot surface_slots[] = {
    {Py_tp_new, new_surface},
    {Py_tp_dealloc, dealloc_handle},
    {Py_tp_getset, handle_facts},
    {Py_tp_doc, "What a parameter of type cudaSurfaceObject_t takes."},
    {0, NULL},
};

PyType_Spec qp_surface_spec = {
    .name = "pyquern.Surface",
    .basicsize = sizeof(qp_handle_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = surface_slots,
};
