/* SPDX-License-Identifier: MIT
 *
 * docs/reductions.md: the place of the greatest element.
 */
#include "document.h"

int main(void)
{
    quern_engine *engine = new_engine();
    quern_array *x = count_up(engine, 0, 7), *y = NULL;
    quern_kernel *argmax;
#include "argmax.inc"
    must(quern_call(argmax, x, &y));
    MUST_HOLD(y, QUERN_INT64, int64_t, 6);
    quern_array_release(x);
    quern_array_release(y);
    quern_kernel_release(argmax);
    quern_close(engine);
    return 0;
}
