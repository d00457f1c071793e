/* SPDX-License-Identifier: MIT
 *
 * docs/interop.md: a read-only array as an output, and what is said of it.
 */
#include "document.h"

#undef stderr
#define stderr stdout

int main(void)
{
    quern_engine *engine = new_engine();
    quern_array *array = count_up(engine, 0, 3);
    quern_kernel *square;
    must(quern_elementwise(&square, engine, "T x", "T y", "y = x * x", NULL));
#include "read-only.inc"
    MUST_HOLD(array, QUERN_FLOAT32, float, 1, 2, 3);
    quern_array_release(array);
    quern_array_release(fixed);
    quern_kernel_release(square);
    quern_close(engine);
    return 0;
}
