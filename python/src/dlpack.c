/* SPDX-License-Identifier: MIT
 *
 * Our arrays go out, and capsules come in: DLPack, its table of functions, and the interface of
 * CUDA arrays. In: arrays; capsules. Out: capsules; arrays. The thing to know: a capsule that
 * nobody took deletes its tensor when it goes; one that was taken has another name by then.
 */
#include "pyquern.h"

#define VERSIONED "dltensor_versioned"
#define LEGACY    "dltensor"
#define LATEST    ((quern_dl_version){1, 3})

/* The functions of the table get no module, of which a process has one. */
static qp_state *the_state;

/* ---- capsules ------------------------------------------------------------------------------- */

static void drop_versioned(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, VERSIONED)) {
        quern_dl_managed_versioned *t = PyCapsule_GetPointer(capsule, VERSIONED);
        PyObject *raised = PyErr_GetRaisedException();
        t->deleter(t);
        PyErr_SetRaisedException(raised);
    }
}

static void drop_legacy(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, LEGACY)) {
        quern_dl_managed *t = PyCapsule_GetPointer(capsule, LEGACY);
        PyObject *raised = PyErr_GetRaisedException();
        t->deleter(t);
        PyErr_SetRaisedException(raised);
    }
}

static PyObject *give(qp_state *state, quern_array *array, bool versioned, uint64_t flags)
{
    quern_dl_managed_versioned *t;
    quern_dl_managed *old;
    PyObject *capsule;
    if (versioned) {
        if (qp_check(state, quern_array_to_dlpack(&t, array, flags)) < 0) {
            return NULL;
        }
        capsule = PyCapsule_New(t, VERSIONED, drop_versioned);
        if (!capsule) {
            t->deleter(t);
        }
        return capsule;
    }
    if (quern_array_is_read_only(array)) {
        PyErr_SetString(PyExc_BufferError,
                        "the array is read-only, which DLPack can only say since 1.0: ask with "
                        "max_version=(1, 0)");
        return NULL;
    }
    if (qp_check(state, quern_array_to_dlpack_legacy(&old, array)) < 0) {
        return NULL;
    }
    capsule = PyCapsule_New(old, LEGACY, drop_legacy);
    if (!capsule) {
        old->deleter(old);
    }
    return capsule;
}

/* The consumer's stream waits for what is queued here. */
static int let_wait(qp_array *a, PyObject *stream)
{
    const qp_device *device = &a->state->devices[a->device];
    long long handle = 1; /* None is the legacy default stream */
    if (stream && stream != Py_None) {
        handle = PyLong_AsLongLong(stream);
        if (handle == -1 && PyErr_Occurred()) {
            return -1;
        }
    }
    if (handle == -1) {
        return 0; /* the consumer waits by itself */
    }
    if (!device->is_gpu) {
        if (stream && stream != Py_None) {
            PyErr_SetString(PyExc_BufferError,
                            "the array is in memory of the host, where stream must be None");
            return -1;
        }
        return 0; /* work of the software device is done by now */
    }
    if (handle == 0) {
        PyErr_SetString(PyExc_BufferError,
                        "stream 0 is ambiguous: 1 is the legacy default stream, 2 the thread's");
        return -1;
    }
    return qp_check(a->state,
                    quern_stream_lead(device->engine, qp_stream_current(a->state, a->device),
                                      (void *)(intptr_t)handle));
}

static int device_of(qp_array *a, quern_dl_device *out)
{
    quern_dl_tensor t;
    if (qp_check(a->state, quern_array_to_dltensor(&t, a->array)) < 0) {
        return -1;
    }
    *out = t.device;
    return 0;
}

PyObject *qp_array_dlpack_device(PyObject *self, PyObject *unused)
{
    (void)unused;
    quern_dl_device device;
    return device_of((qp_array *)self, &device) < 0
               ? NULL
               : Py_BuildValue("(ii)", (int)device.device_type, (int)device.device_id);
}

int qp_two_ints(PyObject *value, const char *name, int *first, int *second)
{
    if (PyTuple_Check(value) && PyArg_ParseTuple(value, "ii", first, second)) {
        return 0;
    }
    PyErr_Clear();
    PyErr_Format(PyExc_TypeError, "%s is a tuple of two ints, not %R", name, value);
    return -1;
}

PyObject *qp_array_dlpack(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"stream", "max_version", "dl_device", "copy", NULL};
    PyObject *stream = Py_None, *version = Py_None, *device = Py_None, *copy = Py_None;
    qp_array *a = (qp_array *)self;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$OOOO:__dlpack__", names, &stream, &version,
                                     &device, &copy)) {
        return NULL;
    }
    int major = 0, minor = 0, type, number;
    if (version != Py_None && qp_two_ints(version, "max_version", &major, &minor) < 0) {
        return NULL;
    }
    if (device != Py_None) {
        quern_dl_device own;
        if (qp_two_ints(device, "dl_device", &type, &number) < 0 || device_of(a, &own) < 0) {
            return NULL;
        }
        if (type != (int)own.device_type || number != own.device_id) {
            return PyErr_Format(PyExc_BufferError,
                                "the array is on device (%d, %d), and goes to (%d, %d) by .to() or "
                                ".get() only",
                                (int)own.device_type, (int)own.device_id, type, number);
        }
    }
    bool copies = copy != Py_None && PyObject_IsTrue(copy) == 1;
    quern_array *array = quern_array_retain(a->array);
    if (copies) {
        quern_array_release(array);
        quern_status status;
        Py_BEGIN_ALLOW_THREADS status = quern_array_copy(&array, a->array);
        Py_END_ALLOW_THREADS if (qp_check(a->state, status) < 0)
        {
            return NULL;
        }
    }
    PyObject *capsule = let_wait(a, stream) < 0
                            ? NULL
                            : give(a->state, array, major >= 1, copies ? QUERN_DL_IS_COPIED : 0);
    quern_array_release(array);
    return capsule;
}

/* Which of our devices has the memory; -1 with an exception. */
static int place_of(qp_state *state, quern_dl_device device)
{
    return device.device_type == QUERN_DL_CUDA  ? qp_device_gpu(state, device.device_id)
           : device.device_type == QUERN_DL_CPU ? qp_device_host(state)
                                                : qp_device_current(state);
}

/* Where it is; -1 with an exception, also where a driver knows that it is not the host's. */
static int told_place(qp_state *state, const quern_dl_tensor *tensor)
{
    quern_pointer_info info = QUERN_POINTER_INFO_INIT;
    for (int k = 0; k < state->device_count && tensor->device.device_type == QUERN_DL_CPU; k++) {
        if (state->devices[k].is_gpu && tensor->data &&
            quern_pointer_get_info(&info, state->devices[k].engine, tensor->data) == QUERN_OK &&
            info.memory == QUERN_MEMORY_DEVICE) {
            PyErr_Format(PyExc_ValueError,
                         "the tensor says that its data at %p is in host memory (kDLCPU), but the "
                         "driver says that it is memory of GPU %d",
                         tensor->data, (int)info.device);
            return -1;
        }
    }
    return place_of(state, tensor->device);
}

quern_array *qp_dlpack_take(qp_state *state, PyObject *capsule, int *device)
{
    quern_array *array;
    quern_status status;
    if (PyCapsule_IsValid(capsule, VERSIONED)) {
        quern_dl_managed_versioned *t = PyCapsule_GetPointer(capsule, VERSIONED);
        bool is_known = t->version.major == LATEST.major;
        *device = is_known ? told_place(state, &t->dl_tensor) : qp_device_current(state);
        if (*device < 0) {
            return NULL;
        }
        status = quern_array_from_dlpack(&array, state->devices[*device].engine, t);
        if (status == QUERN_OK) {
            PyCapsule_SetName(capsule, "used_" VERSIONED);
        }
    } else if (PyCapsule_IsValid(capsule, LEGACY)) {
        quern_dl_managed *t = PyCapsule_GetPointer(capsule, LEGACY);
        *device = told_place(state, &t->dl_tensor);
        if (*device < 0) {
            return NULL;
        }
        status = quern_array_from_dlpack_legacy(&array, state->devices[*device].engine, t);
        if (status == QUERN_OK) {
            PyCapsule_SetName(capsule, "used_" LEGACY);
        }
    } else {
        PyErr_Format(PyExc_TypeError,
                     "a capsule of DLPack is named \"dltensor\" or \"dltensor_versioned\", and is "
                     "taken once; this is %R",
                     capsule);
        return NULL;
    }
    return qp_check(state, status) < 0 ? NULL : array;
}

/* ---- the interface of CUDA arrays ----------------------------------------------------------- */

PyObject *qp_array_cuda_interface(PyObject *self, void *unused)
{
    (void)unused;
    qp_array *a = (qp_array *)self;
    if (!a->state->devices[a->device].is_gpu) {
        PyErr_SetString(PyExc_AttributeError,
                        "__cuda_array_interface__: the array is not on a GPU");
        return NULL;
    }
    quern_array_interface i = QUERN_ARRAY_INTERFACE_INIT;
    if (qp_check(a->state, quern_array_get_interface(&i, a->array,
                                                     qp_stream_current(a->state, a->device))) < 0) {
        return NULL;
    }
    PyObject *shape = qp_tuple(i.shape, i.ndim);
    PyObject *strides = i.strides ? qp_tuple(i.strides, i.ndim) : Py_NewRef(Py_None);
    PyObject *made =
        shape && strides
            ? Py_BuildValue("{s:i,s:O,s:O,s:s,s:(KO),s:L}", "version", 3, "shape", shape, "strides",
                            strides, "typestr", i.typestr, "data",
                            (unsigned long long)(uintptr_t)i.data, i.read_only ? Py_True : Py_False,
                            "stream", (long long)i.stream)
            : NULL;
    Py_XDECREF(shape);
    Py_XDECREF(strides);
    return made;
}

/* ---- the table of functions ----------------------------------------------------------------- */

static int from_object(void *object, quern_dl_managed_versioned **out)
{
    qp_array *a = object;
    return qp_check(a->state, quern_array_to_dlpack(out, a->array, 0));
}

static int to_object(quern_dl_managed_versioned *tensor, void **out)
{
    quern_array *array;
    int device = place_of(the_state, tensor->dl_tensor.device);
    *out = NULL;
    if (device < 0 ||
        qp_check(the_state,
                 quern_array_from_dlpack(&array, the_state->devices[device].engine, tensor)) < 0) {
        return -1;
    }
    *out = qp_array_over(the_state, array, device, Py_None);
    return *out ? 0 : -1;
}

static int lend(void *object, quern_dl_tensor *out)
{
    qp_array *a = object;
    return qp_check(a->state, quern_array_to_dltensor(out, a->array));
}

/* The stream that this thread works on. */
static int work_stream(quern_dl_device_type type, int32_t id, void **out)
{
    for (int k = 0; k < the_state->device_count; k++) {
        const qp_device *d = &the_state->devices[k];
        if (d->is_gpu && type == QUERN_DL_CUDA && d->number == id) {
            *out = quern_stream_handle(qp_stream_current(the_state, k));
            return 0;
        }
    }
    return quern_dlpack_current_stream(type, id, out);
}

PyObject *qp_dlpack_exchange(qp_state *state)
{
    static quern_dl_exchange table = {
        .managed_tensor_allocator = quern_dlpack_allocate,
        .managed_tensor_from_py_object_no_sync = from_object,
        .managed_tensor_to_py_object_no_sync = to_object,
        .dltensor_from_py_object_no_sync = lend,
        .current_work_stream = work_stream,
    };
    table.header.version = LATEST;
    the_state = state;
    return PyCapsule_New(&table, "dlpack_exchange_api", NULL);
}
