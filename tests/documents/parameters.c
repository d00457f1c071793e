/* SPDX-License-Identifier: MIT
 *
 * docs/asking.md: what a kernel is made of.
 */
#include "document.h"

int main(void)
{
    quern_engine *engine = new_engine();
    quern_kernel *kernel;
    quern_kernel_options options = QUERN_KERNEL_OPTIONS_INIT;
    options.name = "mix";
    must(quern_elementwise(&kernel, engine, "T x, raw float32 w", "T z", "z = x * w[i % 3]",
                           &options));
#include "parameters.inc"
    quern_kernel_release(kernel);
    quern_close(engine);
    return 0;
}
