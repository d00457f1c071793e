/* SPDX-License-Identifier: MIT
 *
 * docs/arrays-and-streams.md: views, which have the strides that the drawing shows.
 */
#include "document.h"

static void must_stride(quern_array *array, int64_t first, int64_t second)
{
    const int64_t *strides = quern_array_strides(array);
    must_be(strides[0] == first && strides[1] == second, "the strides of the drawing");
}

int main(void)
{
    quern_engine *engine = new_engine();
    quern_array *x = count_up(engine, 2, 5), *ones = count_up(engine, 0, 5);
    must_stride(x, 20, 4);
#include "views.inc"
    must_stride(even, 20, 8);
    must_stride(turned, 4, 20);
    must_stride(table, 0, 4);
    MUST_HOLD(even, QUERN_FLOAT32, float, 1, 3, 5, 6, 8, 10);
    MUST_HOLD(turned, QUERN_FLOAT32, float, 1, 6, 2, 7, 3, 8, 4, 9, 5, 10);
    MUST_HOLD(table, QUERN_FLOAT32, float, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5);
    quern_array_release(even);
    quern_array_release(turned);
    quern_array_release(table);
    quern_array_release(ones);
    quern_close(engine);
    return 0;
}
