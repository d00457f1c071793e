/* SPDX-License-Identifier: MIT
 *
 * docs/arrays-and-streams.md: arrays from the host, and filled.
 */
#include "document.h"

int main(void)
{
    quern_engine *engine = new_engine();
#include "make-arrays.inc"
    MUST_HOLD(x, QUERN_FLOAT32, float, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    MUST_HOLD(ones, QUERN_FLOAT32, float, 1, 1, 1, 1, 1);
    quern_array_release(x);
    quern_array_release(ones);
    quern_close(engine);
    return 0;
}
