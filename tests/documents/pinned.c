/* SPDX-License-Identifier: MIT
 *
 * docs/memory.md: an array that the host and a kernel both use.
 */
#include "document.h"

int main(void)
{
    quern_engine *engine = new_engine();
    quern_kernel *square;
    must(quern_elementwise(&square, engine, "T x", "T y", "y = x * x", NULL));
#include "pinned.inc"
    MUST_HOLD(x, QUERN_FLOAT32, float, 0, 1, 4, 9);
    quern_array_release(x);
    quern_kernel_release(square);
    quern_close(engine);
    return 0;
}
