/* SPDX-License-Identifier: MIT
 *
 * docs/interop.md: a tensor of another library, which is taken by a kernel.
 */
#include "document.h"
#include <quern/interop.h>

static int deleted;

static void delete_it(quern_dl_managed_versioned *self)
{
    (void)self;
    deleted++;
}

int main(void)
{
    quern_engine *engine = new_engine();
    quern_array *theirs = count_up(engine, 0, 3); /* the other library's memory, on any device */
    quern_kernel *square;
    quern_dl_managed_versioned other = {.version = {1, 3}, .deleter = delete_it}, *tensor = &other;
    must(quern_array_to_dltensor(&other.dl_tensor, theirs));
    must(quern_elementwise(&square, engine, "T x", "T y", "y = x * x", NULL));
#include "tensor-in.inc"
    must_be(deleted == 1, "the deleter was called once");
    MUST_HOLD(y, QUERN_FLOAT32, float, 1, 4, 9);
    quern_array_release(theirs);
    quern_array_release(y);
    quern_kernel_release(square);
    quern_close(engine);
    return 0;
}
