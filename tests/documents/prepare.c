/* SPDX-License-Identifier: MIT
 *
 * docs/asking.md: two kernels compiled ahead, so that their calls compile nothing.
 */
#include "document.h"

int main(void)
{
    quern_engine *engine = new_engine();
    quern_kernel *sum, *scale;
    must(quern_reduction(&sum, engine, "T x", "T y", "x", "a + b", "y = a", "0", NULL));
    must(quern_elementwise(&scale, engine, "T x, T y", "T z", "z = x * y", NULL));
#include "prepare.inc"
    must_be(list[0].status == QUERN_OK && list[1].status == QUERN_OK, "both are prepared");
    quern_kernel_release(sum);
    quern_kernel_release(scale);
    quern_close(engine);
    return 0;
}
