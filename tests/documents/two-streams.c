/* SPDX-License-Identifier: MIT
 *
 * docs/arrays-and-streams.md: a stream that waits for another.
 */
#include "document.h"

int main(void)
{
    quern_engine *engine = new_engine();
    quern_array *x = count_up(engine, 0, 3), *y = NULL, *z = NULL;
    quern_kernel *square;
    float host[3];
    must(quern_elementwise(&square, engine, "T x", "T y", "y = x * x", NULL));
#include "two-streams.inc"
    must_be(host[0] == 1 && host[1] == 16 && host[2] == 81, "fourth powers");
    quern_event_release(ready);
    quern_stream_release(first);
    quern_stream_release(second);
    quern_array_release(x);
    quern_array_release(y);
    quern_array_release(z);
    quern_kernel_release(square);
    quern_close(engine);
    return 0;
}
