/* SPDX-License-Identifier: MIT
 *
 * docs/scans.md: a cumulative sum over all elements, and along an axis.
 */
#include "document.h"

int main(void)
{
    quern_engine *engine = new_engine();
    quern_array *x = count_up(engine, 2, 3), *y = NULL, *z = NULL;
#include "cumsum.inc"
    MUST_HOLD(y, QUERN_FLOAT32, float, 1, 3, 6, 10, 15, 21);
    MUST_HOLD(z, QUERN_FLOAT32, float, 1, 3, 6, 4, 9, 15);
    quern_array_release(x);
    quern_array_release(y);
    quern_array_release(z);
    quern_kernel_release(cumsum);
    quern_close(engine);
    return 0;
}
