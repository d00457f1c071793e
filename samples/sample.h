/* SPDX-License-Identifier: MIT
 *
 * What every sample does after a failure: print the explanation and end. It does the same if a
 * result is not what the host computes.
 */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <math.h>
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

/* End unless `got`, from the device, is within `tolerance` of `want`, from the host. */
static inline void must_be_near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance)) {
        fprintf(stderr, "error: the device computed %.17g, the host %.17g\n", got, want);
        exit(1);
    }
}

#endif /* SAMPLE_H */
