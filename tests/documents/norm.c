/* SPDX-License-Identifier: MIT
 *
 * docs/reductions.md: a norm over all axes, and along the last one.
 */
#include "document.h"

int main(void)
{
    quern_engine *engine = new_engine();
    float host[] = {2, 2, 1, 3, 0, 4};
    quern_array *x, *z = NULL;
    must(quern_array_from(&x, engine, QUERN_FLOAT32, 2, (int64_t[]){2, 3}, host));
#include "norm.inc"
    MUST_HOLD(y, QUERN_FLOAT32, float, sqrtf(34));
    MUST_HOLD(z, QUERN_FLOAT32, float, 3, 5);
    quern_array_release(x);
    quern_array_release(y);
    quern_array_release(z);
    quern_kernel_release(norm);
    quern_close(engine);
    return 0;
}
