/* SPDX-License-Identifier: MIT
 *
 * docs/interop.md: a call between the work of another library's stream.
 */
#include "document.h"
#include <quern/interop.h>

int main(void)
{
    quern_engine *engine = new_engine();
    quern_array *x = count_up(engine, 0, 3), *y = NULL;
    void *theirs = (void *)1;
    quern_kernel *square;
    must(quern_elementwise(&square, engine, "T x", "T y", "y = x * x", NULL));
#include "waits.inc"
    must_be(quern_last_error()->status == QUERN_OK, "all waits");
    MUST_HOLD(y, QUERN_FLOAT32, float, 1, 4, 9);
    quern_array_release(x);
    quern_array_release(y);
    quern_kernel_release(square);
    quern_close(engine);
    return 0;
}
