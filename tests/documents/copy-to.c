/* SPDX-License-Identifier: MIT
 *
 * docs/memory.md: an array of another engine.
 */
#include "document.h"

int main(void)
{
    quern_engine *engine = new_engine(), *other = new_engine();
    quern_array *x = count_up(other, 0, 3), *y = NULL;
    quern_kernel *square;
    must(quern_elementwise(&square, engine, "T x", "T y", "y = x * x", NULL));
#include "copy-to.inc"
    MUST_HOLD(y, QUERN_FLOAT32, float, 1, 4, 9);
    quern_array_release(x);
    quern_array_release(y);
    quern_array_release(there);
    quern_kernel_release(square);
    quern_close(engine);
    quern_close(other);
    return 0;
}
