/* SPDX-License-Identifier: MIT
 *
 * The two clocks: one that never jumps, for durations, and the date, for what is written to disk.
 */
#include "base/base.h"

#include <time.h>

double qn_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

int64_t qn_now_seconds(void)
{
    return (int64_t)time(NULL);
}
