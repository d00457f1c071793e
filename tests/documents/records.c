/* SPDX-License-Identifier: MIT
 *
 * docs/records.md: a record, from its structure to the sum of a field.
 */
#include "document.h"
#include <stddef.h>

int main(void)
{
    quern_engine *engine = new_engine();
#include "records.inc"
    must_be(sum == 27, "the masses, each with 10 more");
    quern_array_release(p);
    quern_array_release(heavier);
    quern_array_release(mass);
    quern_kernel_release(add);
    quern_kernel_release(total);
    quern_close(engine);
    return 0;
}
