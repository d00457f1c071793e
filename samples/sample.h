/* SPDX-License-Identifier: MIT
 *
 * What every sample does with a failure: print the explanation and end.
 */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <quern/quern.h>
#include <stdio.h>
#include <stdlib.h>

static inline void must(quern_status status)
{
    if (status != QUERN_OK) {
        fputs(quern_last_error_text(), stderr);
        exit(1);
    }
}

#endif /* SAMPLE_H */
