/* SPDX-License-Identifier: MIT
 *
 * The state of the module pyquern._core: what its objects share. A part of pyquern.h, which
 * includes it behind the headers of Python and of Quern.
 */
#ifndef PYQUERN_STATE_H
#define PYQUERN_STATE_H

enum {
    QP_MAX_DEVICES = 64, /* engines of one process */
    QP_TYPES = 64,       /* foreign types whose ways in are remembered */
    QP_HANDLES = 16,     /* foreign streams that are remembered */
    QP_ERRORS = 26,      /* classes of exceptions: error.c's table, its base, and one more */
    QP_DTYPES = 64,      /* numbers of dtypes, from 1 on, that are not records */
};

/* What threads share is atomic, or guarded: by the GIL, and in a Python without one by this.
 * Nothing between the two runs Python. */
#ifdef Py_GIL_DISABLED
extern PyMutex qp_mutex;
#define qp_lock()   PyMutex_Lock(&qp_mutex)
#define qp_unlock() PyMutex_Unlock(&qp_mutex)
#else
#define qp_lock()   ((void)0)
#define qp_unlock() ((void)0)
#endif

/* Names that are looked up, made once; module.c has their texts. */
enum qp_text {
    QP_DLPACK,
    QP_DLPACK_DEVICE,
    QP_EXCHANGE,
    QP_CUDA_INTERFACE,
    QP_MAX_VERSION,
    QP_STREAM,
    QP_NAME,
    QP_CUDA_STREAM_METHOD,
    QP_CUDA_STREAM,
    QP_PTR,
    QP_DATA,
    QP_DEVICE_ID,
    QP_SHAPE,
    QP_STRIDES,
    QP_DTYPE,
    QP_C_CONTIGUOUS,
    QP_TEXTS
};

/* An engine that was opened, one for each device. */
typedef struct qp_device {
    quern_engine *engine; /* NULL: not opened yet */
    quern_stream
        *usual;  /* where work goes by default: CUDA's legacy default stream, with which
                    CuPy's, PyTorch's and all streams that are not non-blocking keep order */
    char id[32]; /* "cuda:0", "soft" */
    bool is_gpu;
    int32_t number; /* of the GPU */
} qp_device;

/* How objects of a foreign type come in. */
enum qp_way {
    QP_NO_WAY,
    QP_NUMBER,         /* one of NumPy's, by value */
    QP_NUMPY,          /* ndarray, or a class of it: by its own fields */
    QP_MASKED,         /* numpy.ma's arrays, which are refused */
    QP_CUPY,           /* CuPy's, by their attributes */
    QP_TABLE,          /* DLPack 1.3's table of functions */
    QP_BUFFER,         /* the buffer protocol */
    QP_CAPSULE,        /* a capsule of DLPack */
    QP_CUDA_ATTRIBUTE, /* the interface of CUDA arrays */
};

/* What is known of a foreign type, found when it is first seen, and kept as long as the module. */
typedef struct qp_foreign_type {
    PyTypeObject *type; /* owned */
    int way;
    quern_dtype dtype;                 /* of a number */
    const quern_dl_exchange *exchange; /* of a type that gives out the table */
    const void *library;               /* the same for types whose arrays are of one kind */
    bool is_torch, is_fixed;           /* JAX: nothing of this type is written to */
    PyObject *convert;                 /* owned; how outputs are made: _foreign.py */
    _Atomic(PyObject *) allocate;      /* the same; NULL: not asked */
} qp_foreign_type;

/* NumPy's C interface; numpy.c. */
typedef struct qp_numpy {
    atomic_bool is_known;
    void **table;                         /* NULL: of a version that is not known */
    PyTypeObject *array;                  /* borrowed from the table */
    _Atomic(PyObject *) descr[QP_DTYPES]; /* owned; dtypes by their numbers */
} qp_numpy;

/* How an ordinary tensor of torch is told at a glance; torch.c. */
typedef struct qp_torch {
    atomic_bool is_known;
    int impl, keys, meta; /* places, in bytes; impl 0: it cannot be told */
    uint64_t odd;         /* bits of the keys that no ordinary tensor has */
    PyObject *requires_grad;
    descrgetfunc get; /* of that attribute's descriptor */
} qp_torch;

/* A stream of another library, wrapped; handle.c. */
typedef struct qp_handle {
    void *handle;
    quern_stream *stream; /* owned; NULL: none here */
    int device;
} qp_handle;

typedef struct qp_state {
    PyTypeObject *array, *elementwise, *reduction, *scan;
    PyTypeObject *stream, *event, *graph, *bound, *explanation, *tuning;
    PyTypeObject *module, *function, *memory_pointer;
    PyTypeObject *cuda_array, *texture, *surface;
    PyTypeObject *array_class; /* the Python class that arrays are made as: array or one of it */
    _Atomic(allocfunc) array_alloc; /* its tp_alloc; NULL: not looked up */
    PyObject *errors[QP_ERRORS];    /* classes by place in error.c's table; [0]: the base */
    qp_device devices[QP_MAX_DEVICES];
    atomic_int device_count;          /* added to, and never changed */
    atomic_int gpu_count;             /* devices that are GPUs */
    qp_foreign_type *types[QP_TYPES]; /* added to, and never changed */
    atomic_int type_count;
    qp_numpy numpy;
    qp_torch torch;
    qp_handle handles[QP_HANDLES];
    int next_handle;
    PyObject *transfer_warning;
    atomic_bool has_told; /* of a transfer */
    atomic_int captures;  /* captures that go on */
    PyObject *recorded;   /* list of what they call, for their graphs; NULL: none goes on */
    PyObject *dtypes;     /* dict: what names a dtype -> its number */
    PyObject *foreign;    /* the module _foreign.py */
    PyObject *packs;      /* tuple of paths, as bytes, for devices that are opened; NULL: none */
    PyObject *choose_compiler;       /* Python function: called once, with the driver's version */
    _Atomic(PyObject *) cupy_stream; /* its function that says which stream is current, or NULL */
    PyObject *texts[QP_TEXTS];       /* interned */
} qp_state;

#endif /* PYQUERN_STATE_H */
