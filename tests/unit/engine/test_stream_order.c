/* SPDX-License-Identifier: MIT
 *
 * check=streams of the software device: work that does not wait for what another stream does is
 * reported, with both streams, both pieces of work and the array; and nothing else is. Most of it
 * is generated: random programs of calls, transfers, events and waits over a few streams and
 * arrays, beside a model that knows by itself which work waits for which.
 */
#include "whole.h"

#include <stdbool.h>
#include <stdio.h>

static quern_stream *a, *b;

static quern_stream *named(const char *name)
{
    quern_stream *stream;
    quern_stream_options options = QUERN_STREAM_OPTIONS_INIT;
    options.name = name;
    OK(quern_stream_new_with(&stream, engine, &options));
    return stream;
}

static void open_checked(void)
{
    setenv("QUERN_DEVICE", "soft:2,check=streams", 1);
    whole_open();
    a = named("a");
    b = named("b");
}

static void close_checked(void)
{
    quern_stream_release(a);
    quern_stream_release(b);
    whole_close();
}

TestSuite(stream_order, .init = open_checked, .fini = close_checked);

static quern_kernel *kernel_named(const char *name, const char *in, const char *operation)
{
    quern_kernel *k;
    quern_kernel_options options = QUERN_KERNEL_OPTIONS_INIT;
    options.name = name;
    OK(quern_elementwise(&k, engine, in, "T y", operation, &options));
    return k;
}

static quern_status call_on(quern_stream *stream, quern_kernel *k, quern_array *x, quern_array *y)
{
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    options.stream = stream;
    return quern_call_with(k, &options, x, y);
}

static quern_array *numbers(void)
{
    return array_of(QUERN_INT32, SHAPE(6), (int32_t[]){1, 2, 3, 4, 5, 6});
}

/* ---- one by one ----------------------------------------------------------------------------- */

Test(stream_order, a_finding_names_streams_kernels_and_array)
{
    quern_array *x = numbers(), *y = numbers(), *z = numbers();
    quern_kernel *square = kernel_named("square", "T x", "y = x * x");
    quern_kernel *twice = kernel_named("twice", "T x", "y = 2 * x");
    OK(call_on(a, square, x, y));
    FAILS(QUERN_ERROR_ACCESS, call_on(b, twice, y, z));
    SAYS("kernel 'twice'");
    SAYS("of 'x', which has 6");
    SAYS("on stream 'b', which does not wait for the write by kernel 'square' on stream 'a'");
    SAYS("y = 2 * x");
    FAILS(QUERN_ERROR_ACCESS, call_on(b, twice, z, y));
    SAYS("of 'y', which has 6");
    FAILS(QUERN_ERROR_ACCESS, call_on(b, twice, z, x));
    SAYS("does not wait for the read by kernel 'square' on stream 'a'");
    int32_t host[6];
    FAILS(QUERN_ERROR_ACCESS, quern_array_read(y, host, sizeof host));
    SAYS("a copy to the host, which reads the array at 0x");
    SAYS("on the engine's own stream, which does not wait for the write by kernel 'square' on");
    OK(quern_stream_wait(a));
    OK(quern_array_read(y, host, sizeof host));
    OK(call_on(b, twice, y, z));
    FAILS(QUERN_ERROR_ACCESS, quern_array_fill(z, host, 4));
    SAYS("a fill, which writes to the array at 0x");
    quern_array_release(x);
    quern_array_release(y);
    quern_array_release(z);
    quern_kernel_release(square);
    quern_kernel_release(twice);
}

Test(stream_order, memory_is_there_in_the_order_of_its_stream)
{
    quern_array *x = numbers(), *y;
    quern_kernel *k = kernel_named("k", "T x", "y = x");
    OK(quern_array_new(&y, engine, QUERN_INT32, SHAPE(6)));
    FAILS(QUERN_ERROR_ACCESS, call_on(a, k, x, y));
    SAYS("does not wait for the write by the allocation of the array on the engine's own stream");
    OK(quern_synchronize(engine));
    OK(call_on(a, k, x, y));
    quern_array_release(x);
    quern_array_release(y);
    quern_kernel_release(k);
}

Test(stream_order, parts_of_an_array_are_told_apart)
{
    quern_array *x = numbers(), *from = numbers(), *even, *odd;
    quern_kernel *k = kernel_named("k", "raw T w, int32 n", "y = w[2 * i] + n");
    OK(quern_array_slice(&even, x, 1, &(quern_slice){0, 6, 2}));
    OK(quern_array_slice(&odd, x, 1, &(quern_slice){1, 6, 2}));
    quern_call_options on_a = QUERN_CALL_OPTIONS_INIT, on_b = on_a;
    on_a.stream = a;
    on_b.stream = b;
    OK(quern_call_with(k, &on_a, from, 1, odd));
    OK(quern_call_with(k, &on_b, from, 1, even)); /* reads what that reads, writes beside it */
    FAILS(QUERN_ERROR_ACCESS, quern_call_with(k, &on_b, from, 1, odd));
    SAYS("the write by kernel 'k' on stream 'a'");
    quern_array_release(x);
    quern_array_release(from);
    quern_array_release(even);
    quern_array_release(odd);
    quern_kernel_release(k);
}

Test(stream_order, atomics_on_several_streams_are_in_order)
{
    quern_array *count = numbers(), *x = numbers();
    quern_kernel *k;
    OK(quern_elementwise(&k, engine, "T x", "raw T n", "atomicAdd(&n[0], x)", NULL));
    quern_call_options on_a = QUERN_CALL_OPTIONS_INIT, on_b = on_a;
    on_a.stream = a;
    on_b.stream = b;
    OK(quern_call_with(k, &on_a, x, count));
    OK(quern_call_with(k, &on_b, x, count));
    FAILS(QUERN_ERROR_ACCESS, quern_array_fill(count, &(int32_t){0}, 4));
    SAYS("the atomic access by kernel");
    quern_array_release(count);
    quern_array_release(x);
    quern_kernel_release(k);
}

Test(stream_order, default_streams_keep_the_order_of_others)
{
    quern_stream *legacy, *free_stream;
    quern_array *x = numbers(), *y = numbers();
    quern_kernel *k = kernel_named("k", "T x", "y = x + 1");
    OK(quern_stream_wrap(&legacy, engine, NULL));
    quern_stream_options options = QUERN_STREAM_OPTIONS_INIT;
    options.non_blocking = 1;
    OK(quern_stream_new_with(&free_stream, engine, &options));
    OK(call_on(a, k, x, y));
    OK(call_on(legacy, k, y, x));
    OK(call_on(b, k, x, y));
    FAILS(QUERN_ERROR_ACCESS, call_on(free_stream, k, x, y));
    quern_stream_release(legacy);
    quern_stream_release(free_stream);
    quern_array_release(x);
    quern_array_release(y);
    quern_kernel_release(k);
}

Test(stream_order, graphs_are_work_of_the_stream_that_launches_them)
{
    quern_array *x = numbers(), *y = numbers();
    quern_kernel *k = kernel_named("k", "T x", "y = x + 1");
    quern_graph *graph;
    OK(quern_stream_capture(a));
    OK(call_on(a, k, x, y));
    OK(quern_stream_end_capture(&graph, a));
    OK(quern_graph_launch(graph, a));
    OK(quern_graph_launch(graph, b)); /* launches wait for each other */
    FAILS(QUERN_ERROR_ACCESS, call_on(a, k, y, x));
    SAYS("by kernel 'k' on stream 'b'");
    quern_graph_release(graph); /* waits */
    OK(call_on(a, k, y, x));
    quern_array_release(x);
    quern_array_release(y);
    quern_kernel_release(k);
}

Test(stream_order, branches_of_a_graph_wait_for_each_other_or_do_not)
{
    quern_array *x = numbers(), *y = numbers(), *z = numbers();
    quern_kernel *k = kernel_named("k", "T x", "y = x + 1");
    quern_event *fork, *join;
    OK(quern_event_new(&fork, engine));
    OK(quern_event_new(&join, engine));
    for (int waits = 0; waits < 2; waits++) {
        quern_graph *graph;
        OK(quern_stream_capture(a));
        OK(quern_event_record(fork, a));
        OK(quern_stream_wait_event(b, fork));
        OK(call_on(b, k, x, y));
        OK(quern_event_record(join, b));
        if (waits) {
            OK(quern_stream_wait_event(a, join));
        }
        OK(call_on(a, k, y, z));
        OK(quern_stream_wait_event(a, join));
        OK(quern_stream_end_capture(&graph, a));
        if (waits) {
            OK(quern_graph_launch(graph, a));
            OK(quern_graph_launch(graph, b));
            OK(call_on(b, k, z, x));
        } else {
            FAILS(QUERN_ERROR_ACCESS, quern_graph_launch(graph, a));
            SAYS("of parameter 1");
            SAYS("on stream 'a', which does not wait for the write by kernel 'k' on branch 2 of a");
        }
        quern_graph_release(graph);
        OK(quern_synchronize(engine));
    }
    quern_event_release(fork);
    quern_event_release(join);
    quern_array_release(x);
    quern_array_release(y);
    quern_array_release(z);
    quern_kernel_release(k);
}

/* The next call that queues or waits tells. */
Test(stream_order, memory_that_is_released_while_others_use_it)
{
    quern_array *x = numbers(), *y = numbers(), *z = numbers();
    quern_kernel *k = kernel_named("k", "T x", "y = x + 1");
    OK(call_on(a, k, x, y));
    quern_array_release(x); /* what is allocated next on the engine's stream may have its memory */
    FAILS(QUERN_ERROR_ACCESS, quern_stream_wait(a));
    SAYS("an array of 24 bytes at 0x");
    SAYS("was released too early: its memory goes back on the engine's own stream, which does not "
         "wait for the read by kernel 'k' on stream 'a'");
    OK(quern_stream_wait(a)); /* once */
    OK(call_on(a, k, y, z));
    OK(quern_stream_wait(a));
    quern_array_release(y);
    OK(quern_synchronize(engine));
    quern_event *event;
    OK(quern_event_new(&event, engine));
    OK(call_on(b, k, z, z));
    OK(quern_event_record(event, b));
    OK(quern_stream_wait_event(NULL, event));
    quern_array_release(z);
    OK(quern_synchronize(engine));
    quern_event_release(event);
    quern_kernel_release(k);
}

/* ---- generated ------------------------------------------------------------------------------ */

enum { STREAMS = 4, ARRAYS = 5, EVENTS = 3, STEPS = 60, PROGRAMS = 200, WORKS = STEPS + ARRAYS };

/* knows[s][w]: what is queued on stream s now waits for work w. The host and events likewise. */
typedef struct model {
    bool knows[STREAMS][WORKS], host[WORKS], events[EVENTS][WORKS];
    int writer[ARRAYS], works;
    bool readers[ARRAYS][WORKS];
} model;

static uint32_t seed;

static uint32_t random_below(uint32_t limit)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % limit;
}

static void join(bool *to, const bool *from)
{
    for (int w = 0; w < WORKS; w++) {
        to[w] |= from[w];
    }
}

/* May this stream write or read the array now? If so it does. */
static bool allowed(model *m, int s, int array, bool writes)
{
    bool fine = m->writer[array] < 0 || m->knows[s][m->writer[array]];
    for (int w = 0; writes && w < m->works; w++) {
        fine &= !m->readers[array][w] || m->knows[s][w];
    }
    return fine;
}

static void done(model *m, int s, int from, int to)
{
    const int w = m->works++;
    m->knows[s][w] = true;
    if (from >= 0) {
        m->readers[from][w] = true;
    }
    if (to >= 0) {
        m->writer[to] = w;
        memset(m->readers[to], 0, sizeof m->readers[to]);
    }
}

typedef struct program {
    model model;
    quern_stream *streams[STREAMS];
    quern_array *arrays[ARRAYS];
    quern_event *events[EVENTS];
    quern_kernel *kernel;
    int found, fine, early;
} program;

static int32_t host[6];

/* Work on stream s: a call, a copy to or from the host, a fill. Only what the model allows is done,
 * so that a finding leaves no traces; what it does not allow must be found. */
static void work(program *p, int s, bool may_fail)
{
    const int from = (int)random_below(ARRAYS), to = (int)random_below(ARRAYS);
    const uint32_t kind = random_below(4);
    const bool reads = kind <= 1, writes = kind != 1;
    join(p->model.knows[s], p->model.host);
    const bool fine = (!reads || allowed(&p->model, s, from, false)) &&
                      (!writes || allowed(&p->model, s, to, true));
    if ((!fine && !may_fail) || (kind == 0 && from == to)) {
        return;
    }
    quern_stream *stream = p->streams[s];
    quern_array *x = p->arrays[from], *y = p->arrays[to];
    quern_status status = kind == 0   ? call_on(stream, p->kernel, x, y)
                          : kind == 1 ? quern_array_read_on(x, host, sizeof host, stream)
                          : kind == 2 ? quern_array_write_on(y, host, sizeof host, stream)
                                      : quern_array_fill_on(y, host, 4, stream);
    cr_assert_eq(status == QUERN_OK, fine, "work %d on stream %d: from %d to %d: %s", (int)kind, s,
                 from, to, fine ? quern_last_error_text() : "nothing was found");
    p->fine += fine;
    p->found += !fine;
    if (fine) {
        done(&p->model, s, reads ? from : -1, writes ? to : -1);
    }
}

static void wait_for_something(program *p, int s)
{
    model *m = &p->model;
    const int e = (int)random_below(EVENTS);
    switch (random_below(6)) {
    case 0:
    case 1:
        OK(quern_event_record(p->events[e], p->streams[s]));
        join(m->knows[s], m->host);
        memcpy(m->events[e], m->knows[s], sizeof m->events[e]);
        break;
    case 2:
    case 3:
        OK(quern_stream_wait_event(p->streams[s], p->events[e]));
        join(m->knows[s], m->events[e]);
        break;
    case 4:
        OK(quern_event_wait(p->events[e]));
        join(m->host, m->events[e]);
        break;
    default:
        if (p->streams[s] && random_below(3) == 0) {
            OK(quern_stream_wait(p->streams[s]));
            join(m->host, m->knows[s]);
        }
    }
}

static void begin(program *p, uint32_t number, quern_kernel *k)
{
    *p = (program){.streams = {NULL, a, b, named("c")}, .kernel = k};
    seed = number;
    for (int n = 0; n < ARRAYS; n++) {
        p->arrays[n] = numbers();
        p->model.writer[n] = -1;
    }
    for (int n = 0; n < EVENTS; n++) {
        OK(quern_event_new(&p->events[n], engine));
    }
    OK(quern_synchronize(engine));
}

/* On the engine's own stream, the first: whether that waits for what uses them. Where a finding has
 * stopped a piece of work in the middle the model does not know. */
static void release_arrays(program *p)
{
    join(p->model.knows[0], p->model.host);
    for (int n = 0; n < ARRAYS; n++) {
        p->early += !allowed(&p->model, 0, n, true);
        quern_array_release(p->arrays[n]);
    }
    const quern_status status = quern_synchronize(engine);
    cr_expect(p->found || (status == QUERN_OK) == (p->early == 0), "%d early: %s", p->early,
              status == QUERN_OK ? "nothing was found" : quern_last_error_text());
}

static void end(program *p)
{
    release_arrays(p);
    for (int n = 0; n < EVENTS; n++) {
        quern_event_release(p->events[n]);
    }
    quern_stream_release(p->streams[3]);
    OK(quern_synchronize(engine));
}

/* A capture that begins on stream 1, in which streams 2 and 3 take part: random work, events and
 * waits between the branches. Nothing is found before the launch, which finds what the model does.
 */
static int run_captured(uint32_t number, quern_kernel *k)
{
    program p;
    quern_graph *graph;
    begin(&p, number * 2654435761u, k);
    OK(quern_stream_capture(a));
    OK(quern_event_record(p.events[0], a));
    OK(quern_stream_wait_event(b, p.events[0]));
    OK(quern_stream_wait_event(p.streams[3], p.events[0]));
    for (int step = 0; step < 8; step++) {
        const int s = 1 + (int)random_below(3), e = (int)random_below(EVENTS);
        const int from = (int)random_below(ARRAYS), to = (int)random_below(ARRAYS);
        switch (random_below(4)) {
        case 0:
            OK(quern_event_record(p.events[e], p.streams[s]));
            memcpy(p.model.events[e], p.model.knows[s], sizeof p.model.events[e]);
            break;
        case 1:
            OK(quern_stream_wait_event(p.streams[s], p.events[e]));
            join(p.model.knows[s], p.model.events[e]);
            break;
        default:
            if (from != to) {
                OK(call_on(p.streams[s], k, p.arrays[from], p.arrays[to]));
                p.found += !allowed(&p.model, s, from, false) || !allowed(&p.model, s, to, true);
                done(&p.model, s, from, to);
            }
        }
    }
    for (int s = 2; s < STREAMS; s++) {
        OK(quern_event_record(p.events[0], p.streams[s]));
        OK(quern_stream_wait_event(a, p.events[0]));
    }
    OK(quern_stream_end_capture(&graph, a));
    for (int launches = 0; launches < 2; launches++) {
        const quern_status status = quern_graph_launch(graph, launches ? b : NULL);
        cr_expect_eq(status == QUERN_OK, p.found == 0, "program %u, launch %d: %d wrong, %s",
                     number, launches, p.found, status == QUERN_OK ? "" : quern_last_error_text());
    }
    quern_graph_release(graph); /* waits */
    memset(p.model.host, true, sizeof p.model.host);
    end(&p);
    return p.found != 0;
}

/* Returns how many findings the program ended with. */
static int run_program(uint32_t number, quern_kernel *k, bool may_fail)
{
    program p;
    begin(&p, number * 2654435761u + may_fail, k);
    for (int step = 0; step < STEPS && p.found == 0; step++) {
        const int s = (int)random_below(STREAMS);
        if (random_below(2) == 0) {
            wait_for_something(&p, s);
        } else {
            work(&p, s, may_fail);
        }
    }
    end(&p);
    return p.found + p.early;
}

Test(stream_order, random_programs_that_wait_give_no_alarm)
{
    quern_kernel *k = kernel_named("k", "T x", "y = x + 1");
    for (uint32_t n = 0; n < PROGRAMS; n++) {
        (void)run_program(n, k, false);
    }
    quern_kernel_release(k);
}

Test(stream_order, random_graphs)
{
    quern_kernel *k = kernel_named("k", "T x", "y = x + 1");
    int wrong = 0;
    for (uint32_t n = 0; n < PROGRAMS; wrong += run_captured(n++, k)) {
    }
    cr_expect(wrong > PROGRAMS / 4 && wrong < PROGRAMS * 3 / 4, "%d", wrong);
    quern_kernel_release(k);
}

Test(stream_order, random_programs_that_lack_a_wait_are_found)
{
    quern_kernel *k = kernel_named("k", "T x", "y = x + 1");
    int found = 0;
    for (uint32_t n = 0; n < PROGRAMS; n++) {
        found += run_program(n, k, true);
    }
    cr_expect_gt(found, PROGRAMS / 2, "%d", found);
    quern_kernel_release(k);
}
