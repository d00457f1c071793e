/* SPDX-License-Identifier: MIT
 *
 * docs/tuning.md: measuring, and a call that uses what was measured.
 */
#include "document.h"

int main(void)
{
    quern_engine *engine = new_engine();
    quern_kernel *kernel;
    quern_array *x, *y = NULL;
    must(quern_elementwise(&kernel, engine, "T x", "T y", "y = x * x", NULL));
    must(quern_array_new(&x, engine, QUERN_FLOAT32, 1, (int64_t[]){1000}));
    must(quern_array_fill(x, &(float){2}, sizeof(float)));
#include "tune.inc"
    must(quern_synchronize(engine));
    quern_array_release(x);
    quern_array_release(y);
    quern_kernel_release(kernel);
    quern_close(engine);
    return 0;
}
