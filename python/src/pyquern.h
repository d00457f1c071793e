/* SPDX-License-Identifier: MIT
 *
 * The extension module pyquern._core: Python over Quern's public headers, and nothing else of it.
 * This is its one internal header, with a banner for each .c file. The thing to know: it is built
 * for the Limited API of 3.12, so that one file serves that version and all later ones; state is
 * the module's, every object holds it, and the GIL is let go wherever Quern compiles, launches or
 * waits.
 */
#ifndef PYQUERN_H
#define PYQUERN_H

#include <pyconfig.h>
#if !defined Py_LIMITED_API && !defined Py_GIL_DISABLED /* a Python without the GIL has none */
#define Py_LIMITED_API 0x030c0000
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include <quern/interop.h>
#include <quern/quern.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "state.h"

/* ---- module.c: state ------------------------------------------------------------------------ */

/* The state of the module that `type`, or a class that it derives from, belongs to. */
qp_state *qp_state_of(PyTypeObject *type);
/* Let go of an object that the library has held: a release callback, in any thread. */
void qp_let_go(void *context);
/* A heap type of the module, put into it under its name; NULL with an exception. */
PyTypeObject *qp_type_add(PyObject *module, PyType_Spec *spec);

/* An object of a heap type, all zero behind its head; NULL with an exception. */
PyObject *qp_object_new(PyTypeObject *type);
/* The end of its deallocation: the memory, and its hold on the type. */
void qp_object_free(PyObject *self);

/* ---- error.c: failures as exceptions -------------------------------------------------------- */

int qp_errors_init(qp_state *state, PyObject *module);
/* Raise the calling thread's last failure of Quern; returns NULL. Holds the GIL. */
PyObject *qp_raise(qp_state *state);
/* Raise that `function` takes no keyword `word`, and which of `words` ("a, b") is near; `more`:
 * what else it takes. Returns -1. */
int qp_refuse_word(qp_state *state, const char *function, PyObject *word, const char *words,
                   const char *more);
/* -1 and that exception where a dict of keywords, or NULL, has one that is not among `names`. */
int qp_check_words(qp_state *state, const char *function, PyObject *keywords, char **names);
/* 0, or -1 with an exception. */
static inline int qp_check(qp_state *state, quern_status status)
{
    return status == QUERN_OK ? 0 : (qp_raise(state), -1);
}
/* What a method that returns nothing returns. */
static inline PyObject *qp_none(qp_state *state, quern_status status)
{
    return status == QUERN_OK ? Py_NewRef(Py_None) : qp_raise(state);
}

/* ---- device.c: engines, one for each device ------------------------------------------------- */

/* The place in state->devices of the thread's device, which is opened; -1 with an exception. */
int qp_device_current(qp_state *state);
/* The same of the device that `id` opens ("cuda:0", "soft"); NULL: the process's default. */
int qp_device_open(qp_state *state, const char *id);
/* The software device: the thread's own where that is one. */
int qp_device_host(qp_state *state);
/* Of GPU `number`. */
int qp_device_gpu(qp_state *state, int32_t number);
/* The engine at a place that Python gave (PyLong_AsLong's answer will do); NULL with an exception.
 */
quern_engine *qp_device_engine(qp_state *state, long place);
/* Before a call of the software device: be the one that Ctrl-C is told first. signal.signal() takes
 * that place, as notebooks and asyncio do, so it is looked at again, every few milliseconds. */
void qp_watch_interrupts(void);
static inline void qp_before_launch(const qp_state *state, int device)
{
    if (!state->devices[device].is_gpu) {
        qp_watch_interrupts();
    }
}
extern PyMethodDef qp_device_methods[];
extern PyMethodDef qp_cache_functions[]; /* cache.c: of caches and remote stores */
extern PyMethodDef qp_fleet_functions[]; /* fleet.c: what moves between them */

/* ---- dtype.c: dtypes by name, by NumPy's objects, by Python's types ------------------------- */

#define QP_DTYPE_NAMES                                                                             \
    "bool, int8 to int64, uint8 to uint64, float16, bfloat16, float32, float64, complex64, "       \
    "complex128, float8_e4m3fn, float8_e5m2"

/* The dtype that `object` names; QUERN_DTYPE_NONE with an exception. */
quern_dtype qp_dtype(qp_state *state, PyObject *object);
/* The dtype of one element in the buffer protocol ("f", "<i4", "Zd"); QUERN_DTYPE_NONE if none. */
quern_dtype qp_dtype_of_format(const char *format, Py_ssize_t itemsize);
/* The other way; NULL for a dtype that the buffer protocol does not have. */
const char *qp_dtype_format(quern_dtype dtype);

/* ---- array.c, array_view.c, array_host.c: our own arrays ------------------------------------ */

typedef struct qp_array {
    PyObject_HEAD qp_state *state;
    quern_array *array;
    int device;     /* place in state->devices */
    PyObject *base; /* owned: whose memory it is. NULL: its own; None: of what no object is for */
} qp_array;

extern PyType_Spec qp_array_spec;
extern PyMethodDef qp_array_functions[]; /* of the module */
/* Takes over `array`, also when it fails. */
PyObject *qp_array_object(qp_state *state, quern_array *array, int device);
/* The same over memory of `base`, or of what no object is for where that is None. */
PyObject *qp_array_over(qp_state *state, quern_array *array, int device, PyObject *base);
static inline bool qp_array_is(const qp_state *state, PyObject *object)
{
    return Py_TYPE(object) == state->array_class || PyObject_TypeCheck(object, state->array);
}
/* A shape from an int or a sequence of ints; the number of extents, or -1 with an exception. */
int qp_shape(int64_t shape[QUERN_MAX_NDIM], PyObject *object);
PyObject *qp_tuple(const int64_t *values, int count);
/* Release it also where an exception is on its way: the memory's owner may be Python code. */
void qp_release(quern_array *array);

/* array_view.c: what slicing, reshaping and transposing give. */
PyObject *qp_array_subscript(PyObject *self, PyObject *key);
int qp_array_set_subscript(PyObject *self, PyObject *key, PyObject *value);
PyObject *qp_array_reshape(PyObject *self, PyObject *args);
PyObject *qp_array_transpose(PyObject *self, PyObject *args);
PyObject *qp_array_broadcast(PyObject *self, PyObject *shape);
PyObject *qp_array_read_only(PyObject *self, PyObject *unused);
/* In its place a view that nothing is written through; NULL after a failure. */
quern_status qp_array_fix(quern_array **array);
PyObject *qp_array_view(PyObject *self, PyObject *dtype);
PyObject *qp_array_in_place_of(PyObject *self, PyObject *other);

/* array_host.c: elements to and from the host, to other arrays and devices. */
PyObject *qp_array_copy(PyObject *self, PyObject *args);
PyObject *qp_array_assign(PyObject *self, PyObject *args);
PyObject *qp_array_fill(PyObject *self, PyObject *args);
PyObject *qp_array_read(PyObject *self, PyObject *args);
PyObject *qp_array_write(PyObject *self, PyObject *args);
PyObject *qp_array_to_device(PyObject *self, PyObject *id);
PyObject *qp_array_interface(PyObject *self, void *unused);
int qp_array_get_buffer(PyObject *self, Py_buffer *view, int flags);
void qp_array_release_buffer(PyObject *self, Py_buffer *view);

/* ---- dlpack.c: our arrays go out ------------------------------------------------------------ */

PyObject *qp_array_dlpack(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *qp_array_dlpack_device(PyObject *self, PyObject *unused);
PyObject *qp_array_cuda_interface(PyObject *self, void *unused);
/* What protocols say by two numbers; -1 with an exception that calls them by `name`. */
int qp_two_ints(PyObject *value, const char *name, int *first, int *second);
/* The capsule that types give out as __dlpack_c_exchange_api__. */
PyObject *qp_dlpack_exchange(qp_state *state);
/* An array over what a capsule of DLPack holds, which is used up; NULL with an exception. */
quern_array *qp_dlpack_take(qp_state *state, PyObject *capsule, int *device);

/* ---- foreign.c: arrays of others come in ---------------------------------------------------- */

/* A foreign array while a call uses it; on the stack. What is not needed is not set. */
typedef struct qp_foreign {
    PyObject *object;      /* borrowed */
    qp_foreign_type *type; /* what is known of its type */
    qp_foreign_type *made; /* owned: the same where too many types are known; or NULL */
    size_t argument;       /* for messages: counted from 1; 0: of no call */
    size_t place;          /* in the call's values */
    quern_array *array;    /* owned */
    int device;            /* place in state->devices */
    bool is_host;          /* in memory of the host; the device is then a software device */
    bool is_lent;          /* the array holds neither memory nor object */
    bool is_output;
    bool has_view, has_stream;
    void *stream;        /* that the library's work goes to, as quern_stream_follow() wants it */
    quern_array *staged; /* owned: what `array` is a copy of, while the call uses a GPU */
    quern_value value;   /* of a number, which is no array */
    Py_buffer view;
} qp_foreign;

/* 1: `out` is an array; 2: it is a number; 0: the object is neither; -1: an exception. `host`:
 * qp_device_host(), which a call asks for once. */
int qp_foreign_take(qp_foreign *out, qp_state *state, PyObject *object, size_t argument, int host);
/* The same of an object whose type qp_foreign_known() found. */
int qp_foreign_take_as(qp_foreign *out, qp_state *state, PyObject *object, size_t argument,
                       int host, qp_foreign_type *type);
/* What is known of a type, if anything is; or NULL. */
static inline qp_foreign_type *qp_foreign_known(const qp_state *state, const PyTypeObject *type)
{
    for (int k = 0, count = state->type_count; k < count; k++) {
        if (state->types[k]->type == type) {
            return state->types[k];
        }
    }
    return NULL;
}
void qp_foreign_end(qp_foreign *foreign);
/* What a module has under a name, new; NULL without an exception where the program has not loaded
 * the module, or it has nothing of that name. */
PyObject *qp_loaded(const char *module, const char *name);
/* With the module. */
void qp_foreign_forget(qp_state *state);
/* Raise what is wrong with an object: "argument 2 (numpy.ndarray) " and the rest. Returns -1. */
int qp_foreign_refuse(const qp_foreign *f, PyObject *class, const char *format, ...);

/* ---- foreign_new.c: outputs of the inputs' type --------------------------------------------- */

/* Whether the type's library makes outputs: 1, then qp_foreign_new() asks it; 0: they are ours, and
 * type->convert, where it is set, makes the library's own of them; -1: an exception. */
int qp_foreign_makes(qp_state *state, qp_foreign_type *type);
/* A new array of the library of `like`, and ours over it in *out; NULL with an exception. */
PyObject *qp_foreign_new(qp_foreign *out, qp_state *state, const qp_foreign *like, size_t argument,
                         const quern_array_info *info, int host);

/* interface.c: by the interface of CUDA arrays. */
int qp_interface_take(qp_foreign *out, qp_state *state);

/* ---- numpy.c, cupy.c, torch.c: what is special about them ----------------------------------- */

/* Whether arrays of the class can be read by their fields. */
bool qp_numpy_reads(qp_state *state, PyTypeObject *type);
int qp_numpy_take(qp_foreign *out, qp_state *state);
/* A new array; NULL with an exception. */
PyObject *qp_numpy_new(qp_state *state, quern_dtype dtype, int ndim, const int64_t *shape);
/* A number's value and its dtype. */
int qp_numpy_number(qp_foreign *out);
/* Whether its dtypes can be read by their fields; and the one of `descr`, or NONE with an exception
 * that refuses the array. */
bool qp_numpy_knows_dtypes(qp_state *state);
quern_dtype qp_numpy_dtype(const qp_foreign *f, qp_state *state, const void *descr);
/* The same of CuPy's; and the stream that its work on the array's GPU goes to. */
bool qp_cupy_reads(qp_state *state, PyTypeObject *type);
int qp_cupy_take(qp_foreign *out, qp_state *state);
int qp_cupy_stream(qp_foreign *f, qp_state *state);
/* -1 with an exception where a kernel would see other values than torch, or torch miss it. */
int qp_torch_check(const qp_foreign *f, qp_state *state);
extern PyMethodDef qp_torch_functions[]; /* of the module */

/* ---- value.c: arguments --------------------------------------------------------------------- */

/* Everything about the arguments of one call; on the stack. */
typedef struct qp_arguments {
    qp_state *state;
    size_t count, foreign_count;
    int device;                /* that all arrays are on; -1: none so far */
    int host;                  /* the place for memory of the host; -1: not asked for yet */
    size_t decided;            /* the argument that decided that */
    bool has_own;              /* one of our own arrays is among them */
    bool has_host, has_staged; /* memory of the host is among them, which decides nothing */
    bool is_theirs;            /* it runs on the arrays' own stream */
    bool is_mixed;             /* inputs of several libraries are */
    qp_foreign *like;          /* the first foreign input that is an array; NULL: none */
    quern_stream *held;        /* owned: the stream of the call, unless it is the current one */
    int64_t (*likes)[QUERN_MAX_NDIM]; /* shapes of inputs that are told by pairs; NULL: no pairs */
    quern_value values[QUERN_MAX_PARAMETERS];
    qp_foreign foreign[QUERN_MAX_PARAMETERS];
} qp_arguments;

static inline void qp_arguments_begin(qp_arguments *a, qp_state *state)
{
    a->state = state;
    a->count = a->foreign_count = a->decided = 0;
    a->device = a->host = -1;
    a->has_own = a->has_host = a->has_staged = a->is_mixed = a->is_theirs = false;
    a->like = NULL;
    a->held = NULL;
    a->likes = NULL;
}
/* Fill a value, field by field: a copy of a structure that was just written waits for the writes.
 */
static inline void qp_value_put(quern_value *v, quern_array *array)
{
    v->kind = QUERN_VALUE_ARRAY;
    v->dtype = 0;
    v->as.array = array;
}
static inline void qp_arguments_put(qp_arguments *a, quern_array *array)
{
    qp_value_put(&a->values[a->count++], array);
}
/* Add the value of an input, or of an output that is given; -1 with an exception. */
int qp_arguments_add(qp_arguments *arguments, PyObject *object);
int qp_arguments_add_output(qp_arguments *arguments, PyObject *object);
/* infer.c: add an array that a pair (dtype, shape) tells; -1 with an exception. */
int qp_arguments_add_like(qp_arguments *arguments, PyObject *pair);
/* Add a new output of the inputs' library; returns it, new, or NULL with an exception. */
PyObject *qp_arguments_add_new(qp_arguments *arguments, const quern_array_info *info);
void qp_arguments_end(qp_arguments *arguments);

/* ---- order.c: streams of other libraries, and arrays of the host on a GPU -------------------- */

/* Put an array on the call's device in place of one of the host; `copies`: with its elements. */
int qp_order_stage(qp_foreign *f, qp_arguments *arguments, bool copies);
/* All arrays come to the device that the call runs on, which is decided here. */
int qp_arguments_settle(qp_arguments *arguments);
/* The stream that the call's keyword says, which is kept until qp_arguments_end(); -1 with an
 * exception. */
int qp_arguments_stream(qp_arguments *arguments, quern_stream **stream, PyObject *object);
/* The stream to run on, *stream unless the arrays have one of their own, with what it must wait
 * for. */
int qp_arguments_before(qp_arguments *arguments, quern_stream **stream);
/* Others wait for the call; what was copied to the device is copied back. */
int qp_arguments_after(qp_arguments *arguments, quern_stream *stream);

/* ---- kernel.c, call.c: elementwise kernels, reductions, scans ------------------------------- */

/* A definition; the library's kernels are made of it when a device first calls it. */
typedef struct qp_kernel {
    PyObject_HEAD vectorcallfunc vectorcall;
    qp_state *state;
    int kind; /* a quern_kernel_kind */
    size_t in_count, out_count;
    _Atomic(quern_kernel *) made[QP_MAX_DEVICES]; /* by device; NULL: not yet */
    PyObject *texts;   /* dict of str, or None: what it was defined with */
    PyObject *options; /* tuple of str: more options of NVRTC */

    int flag; /* separate_axes, ordered or exclusive, as the kind has it */
    bool returns_tuple, returns_nothing;
} qp_kernel;

extern PyType_Spec qp_elementwise_spec, qp_reduction_spec, qp_scan_spec;
/* The kernel on a device; borrowed; NULL with an exception. */
quern_kernel *qp_kernel_on(qp_kernel *kernel, int device);
/* bind.c: tune(), which scans do not have, then infer(), bind(), explain(), prepare(). */
extern PyMethodDef qp_kernel_methods[];
PyObject *qp_kernel_call(PyObject *self, PyObject *const *args, size_t flagged, PyObject *names);

/* One call on its way; on the stack. */
typedef struct qp_call {
    qp_kernel *kernel;
    quern_kernel *made; /* the kernel on the call's device; borrowed */
    quern_call_options options;
    int axes[QUERN_MAX_NDIM];
    int64_t size;
    bool dry;                                     /* outputs are only spoken of */
    bool is_given;                                /* outputs are given, and borrowed then */
    PyObject *convert;                            /* borrowed: makes others' arrays of ours */
    PyObject *results[QUERN_MAX_PARAMETERS];      /* of the outputs; owned unless given */
    quern_array *allocated[QUERN_MAX_PARAMETERS]; /* outputs that the call allocates */
    qp_arguments arguments;
} qp_call;

/* What is only spoken of: some arguments may then be pairs, where there is room for their shapes.
 */
typedef struct qp_dry {
    int64_t (*likes)[QUERN_MAX_NDIM]; /* NULL: no pairs */
} qp_dry;

/* Take arguments and keywords, and have outputs ready; qp_call_end follows, also after a failure.
 * `dry`: NULL for a call that is made. 0, or -1 with an exception. */
int qp_call_begin(qp_call *call, qp_kernel *kernel, PyObject *const *args, size_t flagged,
                  PyObject *names, const qp_dry *dry);
/* What the call returns. */
PyObject *qp_call_results(qp_call *call);
void qp_call_end(qp_call *call);

extern PyMethodDef qp_expression_functions[]; /* expression.c: kernels of evaluate() */

extern PyMethodDef qp_jax_functions[]; /* jax.c: kernels in programs of XLA */

/* infer.c: the methods infer() and `parameters`. */
PyObject *qp_kernel_infer(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *qp_kernel_parameters(PyObject *self, void *unused);

/* ---- stream.c, event.c: streams, events, graphs --------------------------------------------- */

typedef struct qp_stream {
    PyObject_HEAD qp_state *state;
    quern_stream *stream;
    int device;
    bool captures;
    PyObject *recorded; /* while it captures: state->recorded */
} qp_stream;

/* By device: the streams that this thread chose, or NULL; NULL altogether in a thread that never
 * chose one. */
extern _Thread_local quern_stream **qp_streams;
static inline quern_stream *qp_stream_current(const qp_state *state, int device)
{
    return qp_streams && qp_streams[device] ? qp_streams[device] : state->devices[device].usual;
}
/* The stream that `object` says for work on a device: None is the current one, then our own
 * streams, handles, and whatever has __cuda_stream__. *out is a reference of the caller's, NULL
 * after a failure. 0, or -1 with an exception. */
int qp_stream_take(quern_stream **out, qp_state *state, int device, PyObject *object);
/* Let the engine's own stream wait for the current one, or the other way. */
int qp_stream_order(qp_state *state, int device, bool own_waits);
/* Let go what the calling thread and the module hold. */
void qp_streams_end(qp_state *state);
extern PyType_Spec qp_stream_spec, qp_event_spec, qp_graph_spec;
extern PyMethodDef qp_stream_functions[], qp_event_functions[];
/* event.c: a graph of what a stream recorded; takes over both. */
PyObject *qp_graph_object(qp_state *state, quern_graph *graph, int device, PyObject *recorded);

/* ---- handle.c: streams of others ------------------------------------------------------------ */

/* A foreign stream by its handle, wrapped once and remembered. *out is a reference of the caller's,
 * since another thread may have it forgotten. `owner`: what keeps the stream, and is kept for as
 * long as it is used; or NULL. */
int qp_stream_of_handle(quern_stream **out, qp_state *state, int device, void *handle,
                        PyObject *owner);
/* As quern_stream_wrap(); the stream holds `owner`, which may be NULL. */
quern_status qp_stream_wrap(quern_stream **out, quern_engine *engine, void *handle,
                            PyObject *owner);

/* ---- bind.c, explain.c: calls that are bound, and explained --------------------------------- */

extern PyType_Spec qp_bound_spec, qp_explanation_spec;
/* Takes over `explanation`. */
PyObject *qp_explanation_object(qp_state *state, quern_explanation *explanation);

/* ---- tune.c: choices that are measured ------------------------------------------------------ */

extern PyType_Spec qp_tuning_spec;
/* The method tune(). */
PyObject *qp_kernel_tune(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);

/* ---- raw.c, raw_call.c: modules of CUDA source, and their functions ------------------------- */

typedef struct qp_module {
    PyObject_HEAD qp_state *state;
    PyObject *code, *path;           /* str; one of them is NULL */
    PyObject *options, *expressions; /* tuples of str */
    bool translates;                 /* <cuComplex.h> */
    _Atomic(quern_module *) made[QP_MAX_DEVICES];
} qp_module;

typedef struct qp_function {
    PyObject_HEAD vectorcallfunc vectorcall;
    qp_state *state;
    qp_module *module;
    PyObject *name;
    bool cooperative;
    _Atomic(quern_function *) made[QP_MAX_DEVICES];
    size_t parameter_count; /* whose sizes are known */
    uint64_t sizes[QUERN_MAX_PARAMETERS];
} qp_function;

extern PyType_Spec qp_module_spec, qp_function_spec;
/* The function on a device, compiled if need be; borrowed; NULL with an exception. */
quern_function *qp_function_on(qp_function *function, int device);
PyObject *qp_function_call(PyObject *self, PyObject *const *args, size_t flagged, PyObject *names);

/* ---- memory.c, allocator.c: memory by its address ------------------------------------------- */

typedef struct qp_memory_pointer {
    PyObject_HEAD qp_state *state;
    PyObject *memory; /* what has .ptr and .size, and keeps the memory */
    uint8_t *pointer;
    int64_t size, offset; /* of the memory, INT64_MAX where it is not known; and of the pointer */
    int device;
} qp_memory_pointer;

extern PyType_Spec qp_memory_pointer_spec;
extern PyMethodDef qp_memory_functions[], qp_allocator_functions[];
/* Why an allocator written in Python failed, to be the cause of what is raised; or NULL. Owned by
 * who takes it. */
PyObject *qp_allocator_failure(void);

#endif /* PYQUERN_H */
