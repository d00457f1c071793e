/* SPDX-License-Identifier: MIT
 *
 * docs/interop.md: an array that another library takes.
 */
#include "document.h"
#include <quern/interop.h>

static quern_engine *engine;

static void consume(quern_dl_managed_versioned *tensor)
{
    quern_array *again;
    must_be(tensor->dl_tensor.strides[0] == 1 && tensor->flags == 0, "the tensor");
    must(quern_array_from_dlpack(&again, engine, tensor));
    MUST_HOLD(again, QUERN_FLOAT32, float, 1, 2, 3);
    quern_array_release(again);
}

int main(void)
{
    engine = new_engine();
    quern_array *array = count_up(engine, 0, 3);
#include "tensor-out.inc"
    quern_close(engine);
    return 0;
}
