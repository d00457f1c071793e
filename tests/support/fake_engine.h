/* SPDX-License-Identifier: MIT
 *
 * An engine for tests of arrays: a home with a device in host memory that counts what it hands out.
 * It compiles and launches nothing; copies between layouts are loops here.
 */
#ifndef QUERN_TESTS_FAKE_ENGINE_H
#define QUERN_TESTS_FAKE_ENGINE_H

#include "array/array_internal.h"

struct quern_engine {
    qn_home home; /* of the references, the test's own is one */
    int live;     /* pieces of memory that were allocated and not released */
    size_t live_bytes;
    int adopted; /* pieces of foreign memory that kernels may touch */
    void *last_adopted;
    size_t last_adopted_bytes;
    int copies;     /* calls of the device's copy */
    int strided;    /* calls of qn_array_copy_to */
    int fail_after; /* the device's N-th call from now fails; 0: none does */
};

extern const quern_device_methods fake_methods;
extern const quern_device_methods fake_methods_without_adopt;

/* `name`, an engine at rest, which is its own device. */
#define FAKE_ENGINE(name)                                                                          \
    {                                                                                              \
        .home = {                                                                                  \
            .object = QN_OBJECT_ENGINE,                                                            \
            .references = 1,                                                                       \
            .methods = &fake_methods,                                                              \
            .device = (quern_device *)(void *)&(name)                                              \
        }                                                                                          \
    }

#endif
