/* SPDX-License-Identifier: MIT
 *
 * What moves between a device's cache and the remote store. In: the device's place, keys, and who
 * is told of each kernel. Out: dictionaries with the names of quern_fleet_report. The thing to
 * know: the GIL is let go but while somebody is told; what that raises, or Ctrl-C, ends the list.
 */
#include "pyquern.h"

#include <quern/remote.h>

typedef struct telling {
    PyObject *progress; /* borrowed; None: nobody */
    PyThreadState *thread;
} telling;

/* progress(done, wanted, key, name) */
static int tell(const telling *t, const quern_fleet_report *r, const char *key, const char *name)
{
    const unsigned long long done = r->had + r->received + r->compiled + r->sent + r->left;
    if (PyErr_CheckSignals() < 0) {
        return -1;
    }
    if (Py_IsNone(t->progress)) {
        return 0;
    }
    PyObject *answer =
        PyObject_CallFunction(t->progress, "KKss", done, (unsigned long long)r->wanted, key, name);
    Py_XDECREF(answer);
    return answer ? 0 : -1;
}

static int tell_of_one(void *context, const quern_fleet_report *report, const char *key,
                       const char *name)
{
    telling *t = context;
    PyEval_RestoreThread(t->thread);
    const int stop = tell(t, report, key, name);
    t->thread = PyEval_SaveThread();
    return stop;
}

static PyObject *describe(qp_state *state, quern_status status, const quern_fleet_report *r)
{
    if (PyErr_Occurred() || qp_check(state, status) < 0) {
        return NULL;
    }
    return Py_BuildValue("{s:K,s:K,s:K,s:K,s:K,s:K}", "wanted", (unsigned long long)r->wanted,
                         "had", (unsigned long long)r->had, "received",
                         (unsigned long long)r->received, "compiled",
                         (unsigned long long)r->compiled, "sent", (unsigned long long)r->sent,
                         "left", (unsigned long long)r->left);
}

/* cache_push(place, digits, progress) */
static PyObject *cache_push(PyObject *module, PyObject *args)
{
    qp_state *state = PyModule_GetState(module);
    int place;
    const char *digits;
    telling t;
    quern_fleet_report report = QUERN_FLEET_REPORT_INIT;
    quern_engine *engine = PyArg_ParseTuple(args, "isO:cache_push", &place, &digits, &t.progress)
                               ? qp_device_engine(state, place)
                               : NULL;
    if (!engine) {
        return NULL;
    }
    t.thread = PyEval_SaveThread();
    const quern_status status = quern_cache_push(&report, engine, digits, tell_of_one, &t);
    PyEval_RestoreThread(t.thread);
    return describe(state, status, &report);
}

/* The texts of a tuple, which owns them; to be given to PyMem_Free(). NULL with an exception. */
static const char **list_texts(PyObject *tuple, size_t count)
{
    const char **texts = PyMem_Calloc(count + 1, sizeof *texts);
    if (!texts) {
        PyErr_NoMemory();
        return NULL;
    }
    for (size_t k = 0; k < count; k++) {
        texts[k] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(tuple, (Py_ssize_t)k), NULL);
        if (!texts[k]) {
            PyMem_Free(texts);
            return NULL;
        }
    }
    return texts;
}

/* cache_prewarm(place, keys, only_receive, progress) */
static PyObject *cache_prewarm(PyObject *module, PyObject *args)
{
    qp_state *state = PyModule_GetState(module);
    int place, only_receive;
    PyObject *keys;
    telling t;
    quern_fleet_report report = QUERN_FLEET_REPORT_INIT;
    if (!PyArg_ParseTuple(args, "iO!pO:cache_prewarm", &place, &PyTuple_Type, &keys, &only_receive,
                          &t.progress)) {
        return NULL;
    }
    const size_t count = (size_t)PyTuple_Size(keys);
    quern_engine *engine = qp_device_engine(state, place);
    const char **texts = engine ? list_texts(keys, count) : NULL;
    if (!texts) {
        return NULL;
    }
    const quern_prewarm_options options = {.size = sizeof options,
                                           .only_receive = (uint32_t)only_receive,
                                           .progress = tell_of_one,
                                           .context = &t};
    t.thread = PyEval_SaveThread();
    const quern_status status = quern_prewarm(&report, engine, texts, count, &options);
    PyEval_RestoreThread(t.thread);
    PyMem_Free(texts);
    return describe(state, status, &report);
}

PyMethodDef qp_fleet_functions[] = {
    {"cache_push", cache_push, METH_VARARGS, NULL},
    {"cache_prewarm", cache_prewarm, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
