/* SPDX-License-Identifier: MIT
 *
 * What the files of the stand-in for libcuda share: its functions by number, their log, the current
 * context. Compiled with FAKE_OLD_DRIVER it lacks the functions that came with CUDA 12.4.
 */
#ifndef FAKE_LIBCUDA_INSIDE_H
#define FAKE_LIBCUDA_INSIDE_H

#include "fake_libcuda.h"

#include <stdlib.h>

#ifdef FAKE_OLD_DRIVER
#undef CU_NEWER_FUNCTIONS
#define CU_NEWER_FUNCTIONS(X)
#endif

#define DECLARE(field, symbol, parameters) cu_result symbol parameters;
CU_FUNCTIONS(DECLARE)
CU_NEWER_FUNCTIONS(DECLARE)
#undef DECLARE

enum {
#define NUMBER(field, symbol, parameters) AT_##symbol,
    CU_FUNCTIONS(NUMBER) CU_NEWER_FUNCTIONS(NUMBER)
#undef NUMBER
        FUNCTIONS
};

enum { FAKE_PROCESSORS = 132, FAKE_SHARED_OPTIN = 227 * 1024 };

struct CUctx_st {
    int retained;
};
extern _Thread_local cu_context fake_current;
extern fake_cuda fake_control;

/** The number of the device whose primary context this is. */
int fake_device(cu_context context);

/** What memory was allocated as, and so is freed by. */
typedef enum fake_memory { FAKE_PLAIN, FAKE_POOL, FAKE_HOST, FAKE_MANAGED } fake_memory;
/** Memory of the current context's device. */
cu_result fake_take(cu_pointer *pointer, size_t bytes, fake_memory kind);
/** Free it; it must be of one of `kinds`, a bit for each. */
cu_result fake_give(cu_pointer pointer, unsigned kinds);
/** How many pieces there are of `kinds`. */
int fake_pieces(unsigned kinds);
/** See fake_cuda.declare. */
void fake_declare(void *memory, size_t bytes, int type, int ordinal, int managed, unsigned flags);
/* ---- what is queued: done at once, or kept by the graph of a capture ------------------------- */

typedef enum fake_kind { FAKE_COPY, FAKE_SET, FAKE_LAUNCH, FAKE_CALL } fake_kind;

typedef struct fake_node {
    fake_kind kind;
    struct fake_node *next;
    void *to;
    const void *from;
    size_t bytes, pitch, width, height; /* of a set: bytes of a unit */
    unsigned char value[4];
    cu_function function;
    void (*call)(void *context);
    void *context;
    unsigned char parameters[8][8];
} fake_node;

/** How many there are. */
int fake_streams(void);
int fake_graphs(void);
int fake_texels(void);
/** Is work on the stream recorded? */
bool fake_captures(cu_stream stream);
/** Make every capture of the current context invalid, as a wait for all of it does; false: there is
 * none. */
bool fake_stop_captures(void);
cu_result fake_queue(cu_stream stream, const fake_node *node, void **parameters);
/** fake_libcuda_code.c: run a function; how large a parameter may be, and how many there are. */
void fake_launch(cu_function function, void **parameters);
size_t fake_parameter_bytes(cu_function function, unsigned *count);

/** What asking about work answers: not ready where a test has said so. */
cu_result fake_readiness(cu_result result);

/** Count a call; returns what it must answer if a test has said so. */
cu_result fake_enter(int function);

/** Begin a function that needs no context, and one that does. */
#define FREE(symbol)                                                                               \
    do {                                                                                           \
        cu_result entered_ = fake_enter(AT_##symbol);                                              \
        if (entered_ != CU_SUCCESS) {                                                              \
            return entered_;                                                                       \
        }                                                                                          \
    } while (0)
#define BOUND(symbol)                                                                              \
    FREE(symbol);                                                                                  \
    if (!fake_current || fake_current->retained == 0) {                                            \
        return CU_INVALID_CONTEXT;                                                                 \
    }                                                                                              \
    (void)0

/** Begin one that may not be called during captures of a strict mode. */
cu_result fake_unsafe(void);
#define UNSAFE(symbol)                                                                             \
    BOUND(symbol);                                                                                 \
    do {                                                                                           \
        cu_result unsafe_ = fake_unsafe();                                                         \
        if (unsafe_ != CU_SUCCESS) {                                                               \
            return unsafe_;                                                                        \
        }                                                                                          \
    } while (0)

#define DOES_NOTHING(symbol, parameters, handle)                                                   \
    cu_result symbol parameters                                                                    \
    {                                                                                              \
        BOUND(symbol);                                                                             \
        (void)(handle);                                                                            \
        return CU_SUCCESS;                                                                         \
    }

#endif /* FAKE_LIBCUDA_INSIDE_H */
