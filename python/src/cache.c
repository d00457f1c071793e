/* SPDX-License-Identifier: MIT
 *
 * A device's cache of compiled kernels, and its remote store. In: the device's place. Out:
 * dictionaries, of counts under the names of quern_cache_stats and quern_remote_stats with what
 * there is to say in words, and of entries; a smaller cache; packs. The thing to know: whatever may
 * wait for the database lets the GIL go.
 */
#include "pyquern.h"

#include <quern/remote.h>
#include <stddef.h>

typedef struct count {
    const char *name;
    size_t offset;
    bool real; /* a double: milliseconds */
} count;

#define COUNT(name)                                                                                \
    {                                                                                              \
#name, offsetof(STATS, name), false                                                        \
    }
#define MS(name)                                                                                   \
    {                                                                                              \
#name, offsetof(STATS, name), true                                                         \
    }

#define STATS quern_cache_stats
static const count of_cache[] = {
    COUNT(entries),
    COUNT(bytes),
    COUNT(file_bytes),
    COUNT(limit),
    COUNT(hits),
    COUNT(misses),
    COUNT(compiled),
    MS(compile_ms),
    MS(saved_ms),
    COUNT(compiled_new),
    COUNT(compiled_changed),
    COUNT(compiled_compiler),
    COUNT(compiled_damaged),
    COUNT(compiled_unread),
    COUNT(compiled_opaque),
    COUNT(faults),
    COUNT(faults_locked),
    COUNT(faults_full),
    COUNT(faults_io),
    COUNT(corrupt),
    COUNT(rejected),
    COUNT(set_aside),
    COUNT(evicted),
    COUNT(declined),
    COUNT(waits),
    MS(waited_ms),
    COUNT(unlocked),
    COUNT(packs),
    COUNT(pack_entries),
    COUNT(pack_hits),
    COUNT(pack_faults),
};
#undef STATS

#define STATS quern_remote_stats
static const count of_remote[] = {
    COUNT(hits), COUNT(misses),  COUNT(refused), COUNT(faults), COUNT(skipped),
    COUNT(puts), COUNT(dropped), COUNT(waits),   MS(waited_ms), MS(looking_ms),
};
#undef STATS

/* ---- counts --------------------------------------------------------------------------------- */

/* Takes over `value`, which may be NULL. */
static int put(PyObject *dict, const char *name, PyObject *value)
{
    int status = value ? PyDict_SetItemString(dict, name, value) : -1;
    Py_XDECREF(value);
    return status;
}

static int put_text(PyObject *dict, const char *name, const char *text)
{
    return put(dict, name, PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace"));
}

static int put_counts(PyObject *dict, const void *stats, const count *counts, size_t length)
{
    for (size_t k = 0; k < length; k++) {
        const void *field = (const char *)stats + counts[k].offset;
        PyObject *value = counts[k].real ? PyFloat_FromDouble(*(const double *)field)
                                         : PyLong_FromUnsignedLongLong(*(const uint64_t *)field);
        if (put(dict, counts[k].name, value) < 0) {
            return -1;
        }
    }
    return 0;
}

static PyObject *done(PyObject *dict, int status)
{
    if (status < 0) {
        Py_CLEAR(dict);
    }
    return dict;
}

/* cache_stats(place): of a database that cannot be read, what this engine counted. */
static PyObject *cache_stats(PyObject *module, PyObject *number)
{
    qp_state *state = PyModule_GetState(module);
    quern_engine *engine = qp_device_engine(state, PyLong_AsLong(number));
    quern_cache_stats stats = QUERN_CACHE_STATS_INIT;
    quern_cache_miss miss = QUERN_CACHE_MISS_INIT;
    quern_status status;
    if (!engine) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS /* which wait for whoever writes to the database */
        status = quern_cache_get_stats(&stats, engine);
    if (status == QUERN_OK || status == QUERN_ERROR_CACHE) {
        status = quern_cache_last_miss(&miss, engine);
    }
    Py_END_ALLOW_THREADS PyObject *dict = qp_check(state, status) < 0 ? NULL : PyDict_New();
    return !dict ? NULL
                 : done(dict, put(dict, "enabled", PyBool_FromLong(stats.enabled != 0)) < 0 ||
                                      put_text(dict, "path", quern_cache_path(engine)) < 0 ||
                                      put_text(dict, "problem", quern_cache_problem(engine)) < 0 ||
                                      put_text(dict, "last_miss", miss.why) < 0 ||
                                      put_counts(dict, &stats, of_cache,
                                                 sizeof of_cache / sizeof *of_cache) < 0
                                  ? -1
                                  : 0);
}

/* remote_stats(place) */
static PyObject *remote_stats(PyObject *module, PyObject *number)
{
    qp_state *state = PyModule_GetState(module);
    quern_engine *engine = qp_device_engine(state, PyLong_AsLong(number));
    quern_remote_stats stats = QUERN_REMOTE_STATS_INIT;
    quern_status status;
    if (!engine) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS status = quern_remote_get_stats(&stats, engine);
    Py_END_ALLOW_THREADS PyObject *dict = qp_check(state, status) < 0 ? NULL : PyDict_New();
    return !dict ? NULL
                 : done(dict, put(dict, "enabled", PyBool_FromLong(stats.enabled != 0)) < 0 ||
                                      put_text(dict, "problem", quern_remote_problem(engine)) < 0 ||
                                      put_counts(dict, &stats, of_remote,
                                                 sizeof of_remote / sizeof *of_remote) < 0
                                  ? -1
                                  : 0);
}

/* ---- entries -------------------------------------------------------------------------------- */

/* A visit in which every entry becomes a dictionary. */
typedef struct visit {
    PyObject *list;
    PyThreadState *thread; /* NULL while the GIL is held */
} visit;

static PyObject *describe_entry(const quern_cache_entry *e)
{
    PyObject *dict =
        Py_BuildValue("{s:K,s:L,s:L,s:k,s:d}", "image_bytes", (unsigned long long)e->image_bytes,
                      "created", (long long)e->created, "last_used", (long long)e->last_used,
                      "days", (unsigned long)e->hits + 1, "compile_ms", e->compile_ms);
    return !dict ? NULL
                 : done(dict, put_text(dict, "key", e->key) < 0 ||
                                      put_text(dict, "name", e->name) < 0 ||
                                      put_text(dict, "kind", e->kind) < 0 ||
                                      put_text(dict, "target", e->target) < 0 ||
                                      put_text(dict, "compiler", e->compiler) < 0 ||
                                      put_text(dict, "source", e->source) < 0
                                  ? -1
                                  : 0);
}

static int add_entry(void *context, const quern_cache_entry *entry)
{
    visit *v = context;
    PyEval_RestoreThread(v->thread);
    PyObject *one = describe_entry(entry);
    const int failed = !one || PyList_Append(v->list, one) < 0 || PyErr_CheckSignals() < 0;
    Py_XDECREF(one);
    v->thread = PyEval_SaveThread();
    return failed;
}

/* cache_entries(place, digits): the most recently used first */
static PyObject *cache_entries(PyObject *module, PyObject *args)
{
    qp_state *state = PyModule_GetState(module);
    int place;
    const char *digits;
    quern_engine *engine = PyArg_ParseTuple(args, "is:cache_entries", &place, &digits)
                               ? qp_device_engine(state, place)
                               : NULL;
    visit v = {.list = engine ? PyList_New(0) : NULL};
    if (!v.list) {
        return NULL;
    }
    v.thread = PyEval_SaveThread();
    const quern_status status = quern_cache_visit(engine, digits, add_entry, &v);
    PyEval_RestoreThread(v.thread);
    if (PyErr_Occurred() || qp_check(state, status) < 0) {
        Py_CLEAR(v.list);
    }
    return v.list;
}

/* ---- keeping -------------------------------------------------------------------------------- */

/* A number of entries, or NULL with an exception. */
static PyObject *counted(qp_state *state, quern_status status, uint64_t number)
{
    return qp_check(state, status) < 0 ? NULL : PyLong_FromUnsignedLongLong(number);
}

/* cache_prune(place, bytes, days) -> how many were removed */
static PyObject *cache_prune(PyObject *module, PyObject *args)
{
    qp_state *state = PyModule_GetState(module);
    int place;
    long long bytes, days;
    uint64_t removed = 0;
    quern_status status;
    quern_engine *engine = PyArg_ParseTuple(args, "iLL:cache_prune", &place, &bytes, &days)
                               ? qp_device_engine(state, place)
                               : NULL;
    if (!engine) {
        return NULL;
    }
    if (bytes < 0 || days < 0 || days > UINT32_MAX) {
        return PyErr_Format(PyExc_ValueError, "to=%lld, unused=%lld: bytes, and at most %u days",
                            bytes, days, UINT32_MAX);
    }
    Py_BEGIN_ALLOW_THREADS /* others write */
        status = quern_cache_prune(&removed, engine, (uint64_t)bytes, (uint32_t)days);
    Py_END_ALLOW_THREADS return counted(state, status, removed);
}

/* cache_clear(place) -> how many were removed */
static PyObject *cache_clear(PyObject *module, PyObject *number)
{
    qp_state *state = PyModule_GetState(module);
    quern_engine *engine = qp_device_engine(state, PyLong_AsLong(number));
    uint64_t removed = 0;
    quern_status status;
    if (!engine) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS /* others write */
        status = quern_cache_clear(&removed, engine);
    Py_END_ALLOW_THREADS return counted(state, status, removed);
}

/* Ctrl-C ends it: nonzero. `context`: the thread's state, put back while Python is asked. */
static int look_for_signals(void *context, uint64_t done, uint64_t all)
{
    PyThreadState **thread = context;
    (void)done;
    (void)all;
    PyEval_RestoreThread(*thread);
    const int stop = PyErr_CheckSignals();
    *thread = PyEval_SaveThread();
    return stop;
}

/* cache_verify(place) -> (how many were read, how many of them removed) */
static PyObject *cache_verify(PyObject *module, PyObject *number)
{
    qp_state *state = PyModule_GetState(module);
    quern_engine *engine = qp_device_engine(state, PyLong_AsLong(number));
    uint64_t checked = 0, removed = 0;
    if (!engine) {
        return NULL;
    }
    PyThreadState *thread = PyEval_SaveThread();
    const quern_status status =
        quern_cache_verify(&checked, &removed, engine, look_for_signals, &thread);
    PyEval_RestoreThread(thread);
    if (PyErr_Occurred() || qp_check(state, status) < 0) {
        return NULL;
    }
    return Py_BuildValue("(KK)", (unsigned long long)checked, (unsigned long long)removed);
}

/* ---- packs ---------------------------------------------------------------------------------- */

/* cache_export(place, path, digits, without_source, level) -> how many were written */
static PyObject *cache_export(PyObject *module, PyObject *args)
{
    qp_state *state = PyModule_GetState(module);
    int place, without_source, level;
    PyObject *path = NULL, *result = NULL;
    quern_export_options options = QUERN_EXPORT_OPTIONS_INIT;
    uint64_t written = 0;
    quern_status status;
    if (!PyArg_ParseTuple(args, "iO&spi:cache_export", &place, PyUnicode_FSConverter, &path,
                          &options.key_prefix, &without_source, &level)) {
        return NULL;
    }
    quern_engine *engine = qp_device_engine(state, place);
    if (engine) {
        options.without_source = (uint32_t)without_source;
        options.level = level;
        const char *file = PyBytes_AsString(path);
        Py_BEGIN_ALLOW_THREADS /* it packs */
            status = quern_cache_export(&written, engine, file, &options);
        Py_END_ALLOW_THREADS result = counted(state, status, written);
    }
    Py_DECREF(path);
    return result;
}

/* cache_import(place, path) -> how many were added */
static PyObject *cache_import(PyObject *module, PyObject *args)
{
    qp_state *state = PyModule_GetState(module);
    int place;
    PyObject *path = NULL, *result = NULL;
    uint64_t added = 0;
    quern_status status;
    if (!PyArg_ParseTuple(args, "iO&:cache_import", &place, PyUnicode_FSConverter, &path)) {
        return NULL;
    }
    quern_engine *engine = qp_device_engine(state, place);
    if (engine) {
        const char *file = PyBytes_AsString(path);
        Py_BEGIN_ALLOW_THREADS /* it writes */
            status = quern_cache_import(&added, engine, file);
        Py_END_ALLOW_THREADS result = counted(state, status, added);
    }
    Py_DECREF(path);
    return result;
}

PyMethodDef qp_cache_functions[] = {
    {"cache_stats", cache_stats, METH_O, NULL},
    {"remote_stats", remote_stats, METH_O, NULL},
    {"cache_entries", cache_entries, METH_VARARGS, NULL},
    {"cache_prune", cache_prune, METH_VARARGS, NULL},
    {"cache_clear", cache_clear, METH_O, NULL},
    {"cache_verify", cache_verify, METH_O, NULL},
    {"cache_export", cache_export, METH_VARARGS, NULL},
    {"cache_import", cache_import, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
