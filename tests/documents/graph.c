/* SPDX-License-Identifier: MIT
 *
 * docs/arrays-and-streams.md: a graph.
 */
#include "document.h"

int main(void)
{
    quern_engine *engine = new_engine();
    quern_array *x = count_up(engine, 0, 3), *y = NULL;
    quern_kernel *square;
    quern_stream *stream;
    float result[3] = {0};
    must(quern_elementwise(&square, engine, "T x", "T y", "y = x * x", NULL));
    must(quern_stream_new(&stream, engine));
    quern_call_options on_stream = QUERN_CALL_OPTIONS_INIT;
    on_stream.stream = stream;
#include "graph.inc"
    must_be(result[2] == 9, "squares");
    quern_graph_release(graph);
    quern_array_release(x);
    quern_array_release(y);
    quern_kernel_release(square);
    quern_stream_release(stream);
    quern_close(engine);
    return 0;
}
