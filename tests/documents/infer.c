/* SPDX-License-Identifier: MIT
 *
 * docs/asking.md: the shape of an output whose input no machine could hold.
 */
#include "document.h"

int main(void)
{
    quern_engine *engine = new_engine();
    quern_kernel *sum;
    must(quern_reduction(&sum, engine, "T x", "T y", "x", "a + b", "y = a", "0", NULL));
#include "infer.inc"
    quern_kernel_release(sum);
    quern_close(engine);
    return 0;
}
