/* SPDX-License-Identifier: MIT
 *
 * What a fuzz target asks of every input.
 */
#ifndef FUZZ_HOLDS_H
#define FUZZ_HOLDS_H

#include <stdio.h>
#include <stdlib.h>

/* Unlike assert(), also in builds with NDEBUG. */
#define HOLDS(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "does not hold: %s\n", #condition);                                    \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#endif /* FUZZ_HOLDS_H */
