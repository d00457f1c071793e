/* SPDX-License-Identifier: MIT
 *
 * docs/conventions.md: a call that fails, and what it says.
 */
#include "document.h"

#undef stderr
#define stderr stdout

int main(void)
{
    quern_engine *engine = new_engine();
    quern_array *x = count_up(engine, 0, 4), *y = count_up(engine, 0, 4), *z = NULL;
    quern_kernel *kernel;
    must(quern_elementwise(&kernel, engine, "T x, T y", "T z", "z = x + w", NULL));
#include "failure.inc"
    must_be(!z, "an output that is left as it was");
    quern_array_release(x);
    quern_array_release(y);
    quern_kernel_release(kernel);
    quern_close(engine);
    return 0;
}
