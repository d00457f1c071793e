/* SPDX-License-Identifier: MIT
 *
 * docs/expressions.md: a kernel that an expression defines.
 */
#include "document.h"

int main(void)
{
    quern_engine *engine = new_engine();
    quern_array *x, *z = NULL;
    float host[2] = {0, 1.5f};
    must(quern_array_from(&x, engine, QUERN_FLOAT32, 1, (int64_t[]){2}, host));
#include "hypotenuse.inc"
    must(quern_array_read(z, host, sizeof host));
    must_be(host[0] == 2 && host[1] == 2.5f, "the hypotenuse of 1.5 and 2");
    quern_kernel_release(hypotenuse);
    quern_array_release(z);
    quern_array_release(x);
    quern_close(engine);
    return 0;
}
