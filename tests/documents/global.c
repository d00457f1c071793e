/* SPDX-License-Identifier: MIT
 *
 * docs/modules.md: a variable of a module.
 */
#include "document.h"

int main(void)
{
    static const char source[] =
        "__constant__ float table[3];\n"
        "extern \"C\" __global__ void get(float *y) { y[threadIdx.x] = table[threadIdx.x]; }";
    const float host[] = {2, 3, 5};
    quern_engine *engine = new_engine();
    quern_module *module;
    quern_function *get;
    quern_array *y = count_up(engine, 0, 3);
    must(quern_module_new(&module, engine, source, NULL));
    must(quern_module_function(&get, module, "get"));
#include "global.inc"
    must(quern_function_call(get, &QUERN_GRID(1, 3), y));
    MUST_HOLD(y, QUERN_FLOAT32, float, 2, 3, 5);
    quern_array_release(y);
    quern_array_release(table);
    quern_function_release(get);
    quern_module_release(module);
    quern_close(engine);
    return 0;
}
