/* SPDX-License-Identifier: MIT
 *
 * Allocators: device memory from functions of C or of Python, or of a shared library. In: addresses
 * of functions, or objects to call. Out: an engine whose arrays come from there. The thing to know:
 * what was allocated goes back to the allocator that it came from, so an allocator lives as long as
 * any of its memory; the GIL is taken only for what is written in Python.
 */
#include "pyquern.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { RETIRED = 16 };

typedef void *(*malloc_function)(void *param, size_t bytes, int device);
typedef void (*free_function)(void *param, void *pointer, int device);

typedef struct allocator {
    atomic_size_t holds; /* the engine's, and one for each piece of memory */
    int device;          /* that functions are told: the GPU's number */
    void *param;
    malloc_function malloc_c; /* NULL: the two below */
    free_function free_c;
    PyObject *malloc, *free; /* free NULL: malloc gives objects that have .ptr */
    bool tells_stream;       /* malloc gets the device and the stream's handle, too */
    PyObject *given;         /* dict: address -> such an object */
    PyObject *owner;
    struct allocator *next; /* of those that are free */
    bool is_free;
} allocator;

static allocator *free_ones; /* guarded, as what follows */

static _Thread_local PyObject *failure;

PyObject *qp_allocator_failure(void)
{
    PyObject *taken = failure;
    failure = NULL;
    return taken;
}

/* The structure itself is never freed, as another thread may be about to ask it; it is used again.
 * What it gives then goes back to it, whatever it is by then. */
static void let_go(allocator *a)
{
    if (atomic_fetch_sub(&a->holds, 1) > 1 || !Py_IsInitialized()) {
        return;
    }
    PyGILState_STATE gil = PyGILState_Ensure();
    qp_lock();
    const bool is_mine = !a->is_free && atomic_load(&a->holds) == 0; /* nobody asked it meanwhile */
    a->is_free |= is_mine;
    qp_unlock();
    if (is_mine) {
        Py_CLEAR(a->malloc);
        Py_CLEAR(a->free);
        Py_CLEAR(a->given);
        Py_CLEAR(a->owner);
        a->malloc_c = NULL;
        qp_lock();
        a->next = free_ones;
        free_ones = a;
        qp_unlock();
    }
    PyGILState_Release(gil);
}

/* Remember the exception; takes it over. */
static void fail(PyObject *exception)
{
    Py_XDECREF(failure);
    failure = exception;
}

/* ---- what the library calls ----------------------------------------------------------------- */

/* The address in what malloc returned, which is kept where it is an object; NULL with an
 * exception. */
static void *address_of(allocator *a, PyObject *result)
{
    PyObject *address = a->free ? Py_NewRef(result) : PyObject_GetAttrString(result, "ptr");
    void *pointer = address ? PyLong_AsVoidPtr(address) : NULL;
    if (pointer && !PyErr_Occurred() && a->given && PyDict_SetItem(a->given, address, result) < 0) {
        pointer = NULL;
    }
    if (!pointer && !PyErr_Occurred()) {
        PyErr_SetString(PyExc_MemoryError, "the allocator gave no memory");
    }
    Py_XDECREF(address);
    return PyErr_Occurred() ? NULL : pointer;
}

static PyObject *call_python(const allocator *a, size_t bytes, void *stream)
{
    if (!a->malloc) {
        return PyErr_Format(PyExc_MemoryError, "the allocator is no longer in use");
    }
    return a->tells_stream ? PyObject_CallFunction(a->malloc, "niK", (Py_ssize_t)bytes, a->device,
                                                   (unsigned long long)(uintptr_t)stream)
           : a->free       ? PyObject_CallFunction(a->malloc, "ni", (Py_ssize_t)bytes, a->device)
                           : PyObject_CallFunction(a->malloc, "n", (Py_ssize_t)bytes);
}

static void *call_malloc(allocator *a, size_t bytes, void *stream)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *result = call_python(a, bytes, stream);
    void *pointer = result ? address_of(a, result) : NULL;
    Py_XDECREF(result);
    if (!pointer) {
        fail(PyErr_GetRaisedException());
    }
    PyGILState_Release(gil);
    return pointer;
}

static void call_free(allocator *a, void *pointer)
{
    if (!Py_IsInitialized()) {
        return;
    }
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *pending = PyErr_GetRaisedException();
    PyObject *address = PyLong_FromVoidPtr(pointer);
    if (address && a->free) {
        PyObject *result = PyObject_CallFunction(a->free, "Oi", address, a->device);
        Py_XDECREF(result);
    } else if (address) {
        PyDict_DelItem(a->given, address);
    }
    if (PyErr_Occurred()) {
        PyErr_WriteUnraisable(a->free ? a->free : a->malloc);
    }
    Py_XDECREF(address);
    PyErr_SetRaisedException(pending);
    PyGILState_Release(gil);
}

static void give_back(allocator *a, void *pointer)
{
    if (a->malloc_c) {
        a->free_c(a->param, pointer, a->device);
    } else {
        call_free(a, pointer);
    }
}

static void refuse(allocator *a, void *pointer, size_t alignment)
{
    give_back(a, pointer);
    PyGILState_STATE gil = PyGILState_Ensure();
    PyErr_Format(PyExc_MemoryError, "the allocator gave memory at %p, not aligned to %zu bytes",
                 pointer, alignment);
    fail(PyErr_GetRaisedException());
    PyGILState_Release(gil);
}

/* Functions of CuPy's manner are told no stream: they must not order by one. What is freed goes
 * back in the order of the stream that it was allocated on. */
static void *allocate(void *context, size_t bytes, size_t alignment, void *stream)
{
    allocator *a = context;
    atomic_fetch_add(&a->holds, 1); /* from now on, as it may wait for the GIL */
    void *pointer =
        a->malloc_c ? a->malloc_c(a->param, bytes, a->device) : call_malloc(a, bytes, stream);
    if (pointer && ((uintptr_t)pointer & (alignment - 1)) != 0) {
        refuse(a, pointer, alignment);
        pointer = NULL;
    }
    if (!pointer) {
        let_go(a);
    }
    return pointer;
}

static void release(void *context, void *pointer, size_t bytes, void *stream)
{
    (void)bytes;
    (void)stream;
    allocator *a = context;
    give_back(a, pointer);
    let_go(a);
}

/* ---- putting one in ------------------------------------------------------------------------- */

/* Let go of an allocator that is no longer asked, once enough others followed it: another thread
 * may have chosen it a moment ago, and be on its way to ask it. */
static void retire(allocator *a)
{
    static allocator *retired[RETIRED];
    static size_t next;
    qp_lock();
    allocator *oldest = retired[next];
    retired[next] = a;
    next = (next + 1) % RETIRED;
    qp_unlock();
    if (oldest) {
        let_go(oldest);
    }
}

static int put_in(qp_state *state, int place, const quern_allocator *table, allocator *a)
{
    static allocator *in_use[QP_MAX_DEVICES]; /* by place */
    qp_lock(); /* so that both say the same; the engine only takes note of it */
    quern_status status = quern_engine_set_allocator(state->devices[place].engine, table);
    allocator *before = status == QUERN_OK ? in_use[place] : NULL;
    in_use[place] = status == QUERN_OK ? a : in_use[place];
    qp_unlock();
    if (qp_check(state, status) < 0) {
        return -1;
    }
    if (before) {
        retire(before);
    }
    return 0;
}

static allocator *make(qp_state *state, int place, PyObject *owner)
{
    qp_lock();
    allocator *a = free_ones;
    free_ones = a ? a->next : NULL;
    qp_unlock();
    a = a ? a : calloc(1, sizeof *a);
    if (!a) {
        PyErr_NoMemory();
        return NULL;
    }
    a->is_free = false;
    atomic_fetch_add(&a->holds, 1);
    a->device = state->devices[place].number;
    a->owner = Py_XNewRef(owner);
    return a;
}

static PyObject *install(qp_state *state, int place, allocator *a)
{
    quern_allocator table = QUERN_ALLOCATOR_INIT;
    table.allocate = allocate;
    table.release = release;
    table.context = a;
    if (put_in(state, place, &table, a) < 0) {
        let_go(a);
        return NULL;
    }
    Py_RETURN_NONE;
}

static int check_place(const qp_state *state, int place)
{
    if (place >= 0 && place < state->device_count) {
        return 0;
    }
    PyErr_SetString(PyExc_ValueError, "no such device is open");
    return -1;
}

/* allocator_c(place, param, malloc, free, owner): addresses of functions, as CuPy's
 * CFunctionAllocator has them */
static PyObject *from_c(PyObject *module, PyObject *args)
{
    qp_state *state = PyModule_GetState(module);
    int place;
    PyObject *param, *malloc_address, *free_address, *owner;
    if (!PyArg_ParseTuple(args, "iOOOO:allocator_c", &place, &param, &malloc_address, &free_address,
                          &owner) ||
        check_place(state, place) < 0) {
        return NULL;
    }
    void *context = PyLong_AsVoidPtr(param), *to_malloc = NULL, *to_free = NULL;
    if (!PyErr_Occurred()) {
        to_malloc = PyLong_AsVoidPtr(malloc_address);
    }
    if (!PyErr_Occurred()) {
        to_free = PyLong_AsVoidPtr(free_address);
    }
    if (!PyErr_Occurred() && (!to_malloc || !to_free)) {
        PyErr_SetString(PyExc_ValueError, "malloc and free are addresses of functions, not 0");
    }
    allocator *a = PyErr_Occurred() ? NULL : make(state, place, owner);
    if (!a) {
        return NULL;
    }
    a->param = context;
    a->malloc_c = (malloc_function)(uintptr_t)to_malloc;
    a->free_c = (free_function)(uintptr_t)to_free;
    return install(state, place, a);
}

/* allocator_python(place, malloc, free or None, tells_stream): malloc(bytes, device) gives an
 * address, and free(address, device) takes it back; or malloc(bytes) gives an object that has .ptr.
 * tells_stream: either is malloc(bytes, device, handle of the stream) */
static PyObject *from_python(PyObject *module, PyObject *args)
{
    qp_state *state = PyModule_GetState(module);
    int place;
    int tells_stream;
    PyObject *to_malloc, *to_free;
    if (!PyArg_ParseTuple(args, "iOOp:allocator_python", &place, &to_malloc, &to_free,
                          &tells_stream) ||
        check_place(state, place) < 0) {
        return NULL;
    }
    PyObject *wrong = !PyCallable_Check(to_malloc)                       ? to_malloc
                      : to_free != Py_None && !PyCallable_Check(to_free) ? to_free
                                                                         : NULL;
    if (wrong) {
        return PyErr_Format(PyExc_TypeError, "%R cannot be called", Py_TYPE(wrong));
    }
    allocator *a = make(state, place, NULL);
    if (!a) {
        return NULL;
    }
    a->malloc = Py_NewRef(to_malloc);
    a->free = to_free == Py_None ? NULL : Py_NewRef(to_free);
    a->given = a->free ? NULL : PyDict_New();
    a->tells_stream = tells_stream;
    return install(state, place, a);
}

/* allocator_library(place, path, allocate, release): functions that a shared library exports */
static PyObject *from_library(PyObject *module, PyObject *args)
{
    qp_state *state = PyModule_GetState(module);
    int place;
    const char *path, *to_allocate, *to_release;
    quern_allocator table = QUERN_ALLOCATOR_INIT;
    if (!PyArg_ParseTuple(args, "isss:allocator_library", &place, &path, &to_allocate,
                          &to_release) ||
        check_place(state, place) < 0) {
        return NULL;
    }
    if (qp_check(state, quern_allocator_from_library(&table, path, to_allocate, to_release,
                                                     state->devices[place].number)) < 0 ||
        put_in(state, place, &table, NULL) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* allocator_none(place): the device's own pool again */
static PyObject *none(PyObject *module, PyObject *args)
{
    qp_state *state = PyModule_GetState(module);
    int place;
    if (!PyArg_ParseTuple(args, "i:allocator_none", &place) || check_place(state, place) < 0 ||
        put_in(state, place, NULL, NULL) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyMethodDef qp_allocator_functions[] = {
    {"allocator_c", from_c, METH_VARARGS, NULL},
    {"allocator_python", from_python, METH_VARARGS, NULL},
    {"allocator_library", from_library, METH_VARARGS, NULL},
    {"allocator_none", none, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
