/* SPDX-License-Identifier: MIT
 *
 * Devices: an engine for each, opened when it is first asked for, and the one that a thread works
 * on. In: names such as "cuda:0" or "soft". Out: places in the state's table. The thing to know: an
 * engine stays open as long as the module, so that a place names it for good; Ctrl-C stops a
 * launch of the software device, because its handler asks all engines to.
 */
#include "pyquern.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

/* The thread's device; -1: the process's default. */
static _Thread_local int current = -1;

/* ---- Ctrl-C --------------------------------------------------------------------------------- */

/* Read by the signal's handler: filled before the count is raised, and never taken away while the
 * handler is installed. */
static quern_engine *soft_engines[QP_MAX_DEVICES];
static volatile sig_atomic_t soft_count;
static struct sigaction before;

static void on_interrupt(int number, siginfo_t *info, void *context)
{
    for (int k = 0; k < soft_count; k++) {
        quern_interrupt(soft_engines[k]);
    }
    if (before.sa_flags & SA_SIGINFO) {
        before.sa_sigaction(number, info, context);
    } else if (before.sa_handler != SIG_IGN && before.sa_handler != SIG_DFL) {
        before.sa_handler(number);
    }
}

/* Whether a function is the interpreter's. Compilers, too, put handlers of theirs in front, which
 * raise the signal again for the one that they found: in front of those nobody may stand. */
static bool is_pythons(void (*function)(int))
{
    Dl_info its, pythons;
    return dladdr((void *)(uintptr_t)function, &its) != 0 &&
           dladdr((void *)(uintptr_t)PyErr_CheckSignals, &pythons) != 0 &&
           its.dli_fbase == pythons.dli_fbase;
}

/* Stand in front of Python's own handler, which only makes a note until the interpreter is back. */
static void stand_in_front(void)
{
    struct sigaction now, ours = {.sa_sigaction = on_interrupt};
    if (sigaction(SIGINT, NULL, &now) != 0 || (now.sa_flags & SA_SIGINFO) ||
        now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN || !is_pythons(now.sa_handler)) {
        return;
    }
    ours.sa_flags = SA_SIGINFO | (now.sa_flags & (SA_RESTART | SA_ONSTACK));
    before = now;
    sigaction(SIGINT, &ours, NULL);
}

static void watch_interrupts(quern_engine *engine)
{
    soft_engines[soft_count] = engine;
    soft_count = soft_count + 1;
    stand_in_front();
}

void qp_watch_interrupts(void)
{
    static atomic_llong last; /* in milliseconds */
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    const long long milliseconds = now.tv_sec * 1000LL + now.tv_nsec / 1000000;
    if (milliseconds - atomic_load_explicit(&last, memory_order_relaxed) < 10) {
        return;
    }
    atomic_store_explicit(&last, milliseconds, memory_order_relaxed);
    qp_lock();
    stand_in_front();
    qp_unlock();
}

/* ---- engines -------------------------------------------------------------------------------- */

static int find(const qp_state *state, const char *id)
{
    for (int k = 0; k < state->device_count; k++) {
        if (strcmp(state->devices[k].id, id) == 0) {
            return k;
        }
    }
    return -1;
}

/* Let Python say where NVRTC is, before the first device is used: it knows what pip installed. */
static int choose_compiler(qp_state *state, uint32_t driver_version)
{
    PyObject *choose = state->choose_compiler;
    PyObject *done = choose && state->device_count == 0
                         ? PyObject_CallFunction(choose, "I", driver_version)
                         : Py_NewRef(Py_None);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

/* Takes the device over: its place in the table, -1 where that is full. It may be there already,
 * under its plain name, or because another thread was quicker. */
static int add(qp_state *state, const qp_device *device)
{
    qp_lock();
    int place = find(state, device->id);
    const bool is_new = place < 0 && state->device_count < QP_MAX_DEVICES;
    if (is_new) {
        place = state->device_count;
        state->devices[place] = *device;
        state->gpu_count += device->is_gpu;
        quern_dlpack_use(device->engine); /* what has no place in DLPack does without */
        if (!device->is_gpu) {
            watch_interrupts(device->engine);
        }
        state->device_count++; /* last: it says that the device is there */
    }
    qp_unlock();
    if (!is_new) {
        quern_stream_release(device->usual);
        quern_close(device->engine);
    }
    return place;
}

/* Paths for quern_options.packs, to be freed with PyMem_Free(); NULL with an exception. */
static const char **list_packs(PyObject *packs)
{
    const Py_ssize_t count = packs ? PyTuple_Size(packs) : 0;
    const char **list = PyMem_Calloc((size_t)count + 1, sizeof *list);
    for (Py_ssize_t k = 0; list && k < count; k++) {
        list[k] = PyBytes_AsString(PyTuple_GetItem(packs, k));
    }
    return list ? list : (const char **)PyErr_NoMemory();
}

/* The engine of a device, with the packs that Python named; NULL with an exception. */
static quern_engine *open_engine(qp_state *state, const char *id)
{
    PyObject *packs = Py_XNewRef(state->packs); /* which another thread may exchange */
    quern_options options = QUERN_OPTIONS_INIT;
    quern_engine *engine = NULL;
    quern_status status;
    const char **list = list_packs(packs);
    if (list) {
        options.device = id;
        options.packs = list;
        Py_BEGIN_ALLOW_THREADS /* a driver takes its time */
            status = quern_open(&engine, &options);
        Py_END_ALLOW_THREADS if (qp_check(state, status) < 0)
        {
            engine = NULL;
        }
    }
    PyMem_Free(list);
    Py_XDECREF(packs);
    return engine;
}

int qp_device_open(qp_state *state, const char *id)
{
    int place = id ? find(state, id) : -1;
    if (place >= 0) {
        return place;
    }
    quern_device_info info = QUERN_DEVICE_INFO_INIT;
    quern_engine *engine = open_engine(state, id);
    if (!engine) {
        return -1;
    }
    if (qp_check(state, quern_device_get_info(&info, engine)) < 0 ||
        choose_compiler(state, info.driver_version) < 0) {
        quern_close(engine);
        return -1;
    }
    bool is_gpu = strncmp(info.id, "cuda:", 5) == 0;
    const char *name = is_gpu || !id ? info.id : id;
    qp_device device = {.engine = engine, .is_gpu = is_gpu};
    if (qp_check(state, quern_stream_wrap(&device.usual, engine, NULL)) < 0) {
        quern_close(engine);
        return -1;
    }
    PyOS_snprintf(device.id, sizeof device.id, "%s", name);
    device.number = is_gpu ? atoi(info.id + 5) : 0;
    place = add(state, &device);
    if (place < 0) {
        PyErr_SetString(PyExc_RuntimeError, "too many devices are open");
    }
    return place;
}

int qp_device_current(qp_state *state)
{
    if (current >= 0 && current < state->device_count) {
        return current;
    }
    return state->device_count > 0 ? 0 : qp_device_open(state, NULL);
}

int qp_device_host(qp_state *state)
{
    int place = qp_device_current(state);
    return place < 0 || !state->devices[place].is_gpu ? place : qp_device_open(state, "soft");
}

int qp_device_gpu(qp_state *state, int32_t number)
{
    for (int k = 0; k < state->device_count; k++) {
        if (state->devices[k].is_gpu && state->devices[k].number == number) {
            return k;
        }
    }
    char id[32];
    PyOS_snprintf(id, sizeof id, "cuda:%d", (int)number);
    return qp_device_open(state, id);
}

/* ---- functions ------------------------------------------------------------------------------ */

static PyObject *describe(qp_state *state, int place)
{
    const qp_device *device = &state->devices[place];
    quern_device_info info = QUERN_DEVICE_INFO_INIT;
    if (qp_check(state, quern_device_get_info(&info, device->engine)) < 0) {
        return NULL;
    }
    return Py_BuildValue("{s:i,s:i,s:s,s:s,s:s,s:s,s:K,s:I,s:O}", "place", place, "number",
                         device->is_gpu ? (int)device->number : -1, "id", device->id, "name",
                         info.name, "target", info.target, "uuid", info.uuid, "memory",
                         (unsigned long long)info.memory_bytes, "processors", info.processors,
                         "is_gpu", device->is_gpu ? Py_True : Py_False);
}

/* device_open(id or None) -> facts */
static PyObject *open_device(PyObject *module, PyObject *id)
{
    qp_state *state = PyModule_GetState(module);
    const char *name = id == Py_None ? NULL : PyUnicode_AsUTF8AndSize(id, NULL);
    if (id != Py_None && !name) {
        return NULL;
    }
    int place = name ? qp_device_open(state, name) : qp_device_current(state);
    return place < 0 ? NULL : describe(state, place);
}

quern_engine *qp_device_engine(qp_state *state, long place)
{
    if (place < 0 || place >= state->device_count) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_ValueError, "no such device is open");
        }
        return NULL;
    }
    return state->devices[place].engine;
}

/* device_at(place) -> facts */
static PyObject *device_at(PyObject *module, PyObject *number)
{
    qp_state *state = PyModule_GetState(module);
    long place = PyLong_AsLong(number);
    return qp_device_engine(state, place) ? describe(state, (int)place) : NULL;
}

/* packs_use(paths, a tuple of bytes): for devices that are opened from now on */
static PyObject *use_packs(PyObject *module, PyObject *paths)
{
    qp_state *state = PyModule_GetState(module);
    if (state->device_count > 0) {
        return PyErr_Format(PyExc_ValueError, "%s is open already: packs are chosen before that",
                            state->devices[0].id);
    }
    PyObject *old = state->packs;
    state->packs = Py_NewRef(paths);
    Py_XDECREF(old);
    Py_RETURN_NONE;
}

/* device_use(place) -> the place before; -1 is the process's default */
static PyObject *use_device(PyObject *module, PyObject *args)
{
    qp_state *state = PyModule_GetState(module);
    int place, was = current;
    if (!PyArg_ParseTuple(args, "i:device_use", &place)) {
        return NULL;
    }
    if (place != -1 && !qp_device_engine(state, place)) {
        return NULL;
    }
    current = place;
    return PyLong_FromLong(was);
}

/* synchronize(): wait for all work of the thread's device */
static PyObject *synchronize(PyObject *module, PyObject *unused)
{
    (void)unused;
    qp_state *state = PyModule_GetState(module);
    int place = qp_device_current(state);
    if (place < 0) {
        return NULL;
    }
    quern_status status;
    Py_BEGIN_ALLOW_THREADS status = quern_synchronize(state->devices[place].engine);
    Py_END_ALLOW_THREADS if (qp_check(state, status) < 0)
    {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *use_compiler(PyObject *module, PyObject *path)
{
    const char *text = PyUnicode_AsUTF8AndSize(path, NULL);
    if (!text || qp_check(PyModule_GetState(module), quern_compiler_use(text)) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyMethodDef qp_device_methods[] = {
    {"device_open", open_device, METH_O, NULL},
    {"device_at", device_at, METH_O, NULL},
    {"device_use", use_device, METH_VARARGS, NULL},
    {"synchronize", synchronize, METH_NOARGS, NULL},
    {"compiler_use", use_compiler, METH_O, NULL},
    {"packs_use", use_packs, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
