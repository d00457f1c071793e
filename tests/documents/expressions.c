/* SPDX-License-Identifier: MIT
 *
 * docs/modules.md: an instance of a template.
 */
#include "document.h"

int main(void)
{
    static const char source[] =
        "template <typename T, int N> __global__ void scale(T *x) { x[threadIdx.x] *= N; }";
    quern_engine *engine = new_engine();
    quern_module *module;
    quern_function *scale;
    quern_array *x;
    must(quern_array_from(&x, engine, QUERN_FLOAT64, 1, (int64_t[]){3}, (double[]){1, 2, 3}));
#include "expressions.inc"
    must(quern_function_call(scale, &QUERN_GRID(1, 3), x));
    MUST_HOLD(x, QUERN_FLOAT64, double, 3, 6, 9);
    quern_array_release(x);
    quern_function_release(scale);
    quern_module_release(module);
    quern_close(engine);
    return 0;
}
