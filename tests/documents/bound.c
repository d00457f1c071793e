/* SPDX-License-Identifier: MIT
 *
 * docs/arrays-and-streams.md: a bound call, with another scalar and another array.
 */
#include "document.h"

int main(void)
{
    quern_engine *engine = new_engine();
    quern_array *x = count_up(engine, 0, 3), *y = NULL, *z = NULL;
    quern_kernel *scale;
    must(quern_elementwise(&scale, engine, "T x, float32 a", "T y", "y = a * x", NULL));
    must(quern_call(scale, x, 10, &z));
#include "bound.inc"
    MUST_HOLD(y, QUERN_FLOAT32, float, 30, 60, 90);
    quern_bound_release(step);
    quern_array_release(x);
    quern_array_release(y);
    quern_array_release(z);
    quern_kernel_release(scale);
    quern_close(engine);
    return 0;
}
