/* SPDX-License-Identifier: MIT
 *
 * Two streams and the events between them. One stream makes batches, the other sums them, so that a
 * GPU does both at once. Two buffers take turns: a batch is summed once it is made, and its buffer
 * is used again once it is summed. The host queues all of it and waits once, at the end.
 */
#include "sample.h"

#define BATCHES 6
#define BUFFERS 2
#define COUNT   100000

/* A call on a stream. */
static void call_on(quern_stream *stream, quern_kernel *kernel, const quern_value *values,
                    size_t count)
{
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    options.stream = stream;
    must(quern_call_n(kernel, values, count, &options));
}

static double host_sum(int batch)
{
    double sum = 0;
    for (int i = 0; i < COUNT; i++) {
        sum += batch * (i % 10);
    }
    return sum;
}

int main(void)
{
    quern_engine *engine;
    quern_kernel *make, *sum;
    quern_stream *maker, *summer;
    quern_event *begin, *end, *made[BUFFERS], *summed[BUFFERS];
    quern_array *buffers[BUFFERS], *sums[BATCHES] = {NULL};
    double milliseconds;

    must(quern_open(&engine, NULL));
    must(
        quern_elementwise(&make, engine, "int32 batch", "float32 x", "x = batch * (i % 10)", NULL));
    must(quern_reduction(&sum, engine, "float32 x", "float64 y", "x", "a + b", "y = a", "0", NULL));
    must(quern_stream_new(&maker, engine));
    must(quern_stream_new(&summer, engine));
    must(quern_event_new(&begin, engine));
    must(quern_event_new(&end, engine));
    for (int k = 0; k < BUFFERS; k++) {
        must(quern_array_new(&buffers[k], engine, QUERN_FLOAT32, 1, (int64_t[]){COUNT}));
        must(quern_event_new(&made[k], engine));
        must(quern_event_new(&summed[k], engine));
    }
    must(quern_synchronize(engine)); /* the buffers were allocated in the order of another stream */

    must(quern_event_record(begin, maker));
    for (int batch = 0; batch < BATCHES; batch++) {
        int k = batch % BUFFERS;
        if (batch >= BUFFERS) {
            must(quern_stream_wait_event(maker, summed[k]));
        }
        call_on(maker, make, (quern_value[]){QUERN_VALUES(batch, buffers[k])}, 2);
        must(quern_event_record(made[k], maker));

        must(quern_stream_wait_event(summer, made[k]));
        call_on(summer, sum, (quern_value[]){QUERN_VALUES(buffers[k], &sums[batch])}, 2);
        must(quern_event_record(summed[k], summer));
    }
    must(quern_event_record(end, summer));
    must(quern_event_wait(end)); /* the one wait */

    for (int batch = 0; batch < BATCHES; batch++) {
        double got;
        must(quern_array_read(sums[batch], &got, sizeof got));
        must_be_near(got, host_sum(batch), 0);
        printf("batch %d: %.0f\n", batch, got);
        quern_array_release(sums[batch]);
    }
    must(quern_event_elapsed(&milliseconds, begin, end));
    puts(milliseconds > 0 ? "and the events tell how long the device took" : "in no time?");

    for (int k = 0; k < BUFFERS; k++) {
        quern_array_release(buffers[k]);
        quern_event_release(made[k]);
        quern_event_release(summed[k]);
    }
    quern_event_release(begin);
    quern_event_release(end);
    quern_stream_release(maker);
    quern_stream_release(summer);
    quern_kernel_release(make);
    quern_kernel_release(sum);
    quern_close(engine);
    return 0;
}
