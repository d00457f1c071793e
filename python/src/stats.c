/* SPDX-License-Identifier: MIT
 *
 * What a device's cache and its remote store have done. In: a device. Out: dictionaries of counts,
 * under the names of quern_cache_stats and quern_remote_stats, with what there is to say in words.
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

PyMethodDef qp_stats_functions[] = {
    {"cache_stats", cache_stats, METH_O, NULL},
    {"remote_stats", remote_stats, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
