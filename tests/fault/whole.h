/* SPDX-License-Identifier: MIT
 *
 * Tests that try something very often do a part of it, so that they take seconds, and all of it
 * when the environment variable QUERN_WHOLE is set.
 */
#ifndef QN_TESTS_FAULT_WHOLE_H
#define QN_TESTS_FAULT_WHOLE_H

#include <stdlib.h>

static inline int whole_or(int whole, int part)
{
    return getenv("QUERN_WHOLE") ? whole : part;
}

#endif /* QN_TESTS_FAULT_WHOLE_H */
