/* SPDX-License-Identifier: MIT
 *
 * docs/arrays-and-streams.md: the time between two events.
 */
#include "document.h"

int main(void)
{
    quern_engine *engine = new_engine();
    quern_array *x = count_up(engine, 0, 3), *y = NULL;
    quern_kernel *square;
    quern_bound *bound;
    quern_event *begin, *end;
    must(quern_elementwise(&square, engine, "T x", "T y", "y = x * x", NULL));
    must(quern_bind(&bound, square, (quern_value[]){QUERN_VALUES(x, &y)}, 2, NULL));
    must(quern_event_new(&begin, engine));
    must(quern_event_new(&end, engine));
#include "elapsed.inc"
    must_be(milliseconds > 0, "a time");
    quern_event_release(begin);
    quern_event_release(end);
    quern_bound_release(bound);
    quern_array_release(x);
    quern_array_release(y);
    quern_kernel_release(square);
    quern_close(engine);
    return 0;
}
