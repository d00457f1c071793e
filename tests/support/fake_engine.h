/* SPDX-License-Identifier: MIT
 *
 * An engine for tests of arrays: a device in host memory that counts what it hands out, and the few
 * functions that arrays ask of their engine. It compiles and launches nothing.
 */
#ifndef QUERN_TESTS_FAKE_ENGINE_H
#define QUERN_TESTS_FAKE_ENGINE_H

#include "array/array_internal.h"

struct quern_engine {
    uint32_t object; /* QN_OBJECT_ENGINE, as in a real one */
    int references;  /* the test's own is one */
    int live;        /* pieces of memory that were allocated and not released */
    size_t live_bytes;
    int adopted; /* pieces of foreign memory that kernels may touch */
    void *last_adopted;
    size_t last_adopted_bytes;
    int copies;     /* calls of the device's copy */
    int strided;    /* calls of qn_engine_copy */
    int fail_after; /* the device's N-th call from now fails; 0: none does */
    bool no_adopt;  /* the device has no such slot */
};

/* An engine at rest. */
#define FAKE_ENGINE                                                                                \
    {                                                                                              \
        .object = QN_OBJECT_ENGINE, .references = 1                                                \
    }

#endif
