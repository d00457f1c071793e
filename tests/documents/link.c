/* SPDX-License-Identifier: MIT
 *
 * docs/modules.md: two sources in one module.
 */
#include "document.h"

int main(void)
{
    static const char solver_source[] = "__device__ float solve(float x) { return 2 * x; }";
    static const char main_source[] =
        "__device__ float solve(float);\n"
        "extern \"C\" __global__ void run(float *y) { y[threadIdx.x] = solve(y[threadIdx.x]); }";
    quern_engine *engine = new_engine();
    quern_module *module;
    quern_function *run;
    quern_array *y = count_up(engine, 0, 3);
#include "link.inc"
    if (quern_last_error()->status == QUERN_ERROR_NVJITLINK_NOT_FOUND) {
        fputs(quern_last_error_text(), stderr);
        return 77;
    }
    must(quern_module_function(&run, module, "run"));
    must(quern_function_call(run, &QUERN_GRID(1, 3), y));
    MUST_HOLD(y, QUERN_FLOAT32, float, 2, 4, 6);
    quern_array_release(y);
    quern_function_release(run);
    quern_module_release(module);
    quern_close(engine);
    return 0;
}
