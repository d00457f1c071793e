/* SPDX-License-Identifier: MIT
 *
 * docs/modules.md: a function of a module.
 */
#include "document.h"

int main(void)
{
    quern_engine *engine = new_engine();
    quern_array *x, *y;
    static float host[16384];
    must(quern_array_new(&x, engine, QUERN_FLOAT32, 1, (int64_t[]){16384}));
    must(quern_array_new(&y, engine, QUERN_FLOAT32, 1, (int64_t[]){16384}));
    must(quern_array_fill(x, &(float){3}, sizeof(float)));
    must(quern_array_fill(y, &(float){1}, sizeof(float)));
#include "saxpy.inc"
    must(quern_array_read(y, host, sizeof host));
    for (int k = 0; k < 16384; k++) {
        must_be(host[k] == 7, "2 * 3 + 1");
    }
    quern_array_release(x);
    quern_array_release(y);
    quern_function_release(saxpy);
    quern_module_release(module);
    quern_close(engine);
    return 0;
}
