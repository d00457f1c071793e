/* SPDX-License-Identifier: MIT
 *
 * docs/memory.md: how much is used, and how much may be.
 */
#include "document.h"

int main(void)
{
    quern_engine *engine = new_engine();
    quern_array *x = count_up(engine, 0, 60), *y = count_up(engine, 0, 40), *large;
#include "stats.inc"
    must_be(!large, "no array beyond the limit");
    quern_array_release(x);
    quern_array_release(y);
    quern_close(engine);
    return 0;
}
