/* SPDX-License-Identifier: MIT
 *
 * What the files of the stand-in for libcuda share: its functions by number, their log, the current
 * context. Compiled with FAKE_OLD_DRIVER it lacks the functions that came with CUDA 12.4.
 */
#ifndef FAKE_LIBCUDA_INSIDE_H
#define FAKE_LIBCUDA_INSIDE_H

#include "fake_libcuda.h"

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
typedef enum fake_kind { FAKE_PLAIN, FAKE_POOL, FAKE_HOST, FAKE_MANAGED } fake_kind;
/** Memory of the current context's device. */
cu_result fake_take(cu_pointer *pointer, size_t bytes, fake_kind kind);
/** Free it; it must be of one of `kinds`, a bit for each. */
cu_result fake_give(cu_pointer pointer, unsigned kinds);
/** How many pieces there are of `kinds`. */
int fake_pieces(unsigned kinds);

/** See fake_cuda.declare. */
void fake_declare(void *memory, size_t bytes, int type, int ordinal, int managed, unsigned flags);

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

#define DOES_NOTHING(symbol, parameters, handle)                                                   \
    cu_result symbol parameters                                                                    \
    {                                                                                              \
        BOUND(symbol);                                                                             \
        (void)(handle);                                                                            \
        return CU_SUCCESS;                                                                         \
    }

#endif /* FAKE_LIBCUDA_INSIDE_H */
