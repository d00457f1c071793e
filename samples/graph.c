/* SPDX-License-Identifier: MIT
 *
 * A graph: one step of a simulation is recorded once and launched many times. Heat spreads along a
 * rod: each step computes the new temperatures of all points from the old ones, twice, so that the
 * arrays are back in their places, and copies one of them to the host.
 */
#include "sample.h"

#define COUNT 1000
#define STEPS 200

static void step_on(quern_stream *stream, quern_kernel *spread, quern_array *from, quern_array *to)
{
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    options.stream = stream;
    must(quern_call_with(spread, &options, from, COUNT, to));
}

static void host_step(const double *from, double *to)
{
    for (int i = 0; i < COUNT; i++) {
        double left = from[i > 0 ? i - 1 : 0], right = from[i < COUNT - 1 ? i + 1 : i];
        to[i] = from[i] + 0.25 * (left - 2 * from[i] + right);
    }
}

int main(void)
{
    static double rod[COUNT], other[COUNT];
    quern_engine *engine;
    quern_kernel *spread;
    quern_stream *stream;
    quern_array *now, *next;
    quern_graph *graph;

    rod[COUNT / 2] = 1000;
    must(quern_open(&engine, NULL));
    must(quern_stream_new(&stream, engine));
    must(quern_elementwise(&spread, engine, "raw float64 t, int32 n", "float64 out",
                           "double left = t[i > 0 ? i - 1 : 0], right = t[i < n - 1 ? i + 1 : i];"
                           "out = t[i] + 0.25 * (left - 2 * t[i] + right)",
                           NULL));
    must(quern_array_from(&now, engine, QUERN_FLOAT64, 1, (int64_t[]){COUNT}, rod));
    must(quern_array_from(&next, engine, QUERN_FLOAT64, 1, (int64_t[]){COUNT}, rod));

    must(quern_stream_capture(stream));
    step_on(stream, spread, now, next);
    step_on(stream, spread, next, now);
    must(quern_stream_end_capture(&graph, stream));

    for (int step = 0; step < STEPS; step += 2) {
        must(quern_graph_launch(graph, stream));
        host_step(rod, other);
        host_step(other, rod);
    }
    must(quern_array_read_on(now, other, sizeof other, stream));
    must(quern_stream_wait(stream));
    for (int i = 0; i < COUNT; i++) {
        must_be_near(other[i], rod[i], 1e-9);
    }
    printf("the middle of the rod is at %.2f after %d steps\n", other[COUNT / 2], STEPS);

    quern_graph_release(graph);
    quern_array_release(now);
    quern_array_release(next);
    quern_kernel_release(spread);
    quern_stream_release(stream);
    quern_close(engine);
    return 0;
}
