/* SPDX-License-Identifier: MIT
 *
 * --time: how long a call takes on the device. The call, bound if possible, is launched back to
 * back between events: for about half a second, at least 10 and at most 1000 times, or as often as
 * --time=N says. Out: one line on standard error; its bytes count each input and each output once.
 */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>

#define LEAST_RUNS 10
#define MOST_RUNS  1000
#define ENOUGH_MS  500.0
#define BATCH      50 /* launches between two waits */

typedef struct timer {
    const cli_job *job;
    const quern_value *values;
    quern_bound *bound; /* NULL for a function of a module */
    quern_event *marks[BATCH + 1];
    double *ms;
    size_t runs, least, most;
    double total;
} timer;

static quern_status launch(const timer *t)
{
    return t->bound ? quern_launch(t->bound) : cli_job_call(t->job, t->values);
}

/* Launch `count` times and note how long each took. */
static quern_status run_batch(timer *t, size_t count)
{
    quern_status status = quern_event_record(t->marks[0], NULL);
    for (size_t k = 0; k < count && status == QUERN_OK; k++) {
        status = launch(t);
        if (status == QUERN_OK) {
            status = quern_event_record(t->marks[k + 1], NULL);
        }
    }
    if (status == QUERN_OK) {
        status = quern_event_wait(t->marks[count]);
    }
    for (size_t k = 0; k < count && status == QUERN_OK; k++) {
        double *ms = &t->ms[t->runs];
        status = quern_event_elapsed(ms, t->marks[k], t->marks[k + 1]);
        t->total += *ms;
        t->runs++;
    }
    return status;
}

static quern_status measure(timer *t)
{
    const cli_job *job = t->job;
    quern_status status = QUERN_OK;
    if (job->kernel) {
        status = quern_bind(&t->bound, job->kernel, t->values, job->parameters.count, &job->call);
    }
    for (size_t k = 0; k <= BATCH && status == QUERN_OK; k++) {
        status = quern_event_new(&t->marks[k], job->engine);
    }
    if (status == QUERN_OK) {
        status = run_batch(t, 1); /* warms up, and says how many fit */
    }
    if (status != QUERN_OK) {
        return status;
    }
    double each = t->total;
    t->runs = 0;
    t->total = 0;
    while (status == QUERN_OK && t->runs < t->most &&
           (t->runs < t->least || t->total < ENOUGH_MS)) {
        double room = each > 0 ? (ENOUGH_MS - t->total) / each : BATCH;
        size_t count = room >= BATCH ? BATCH : room > 1 ? (size_t)room : 1;
        count = count > t->most - t->runs ? t->most - t->runs : count;
        status = run_batch(t, count);
    }
    return status;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static long long bytes_moved(const cli_parameters *parameters)
{
    long long bytes = 0;
    for (size_t k = 0; k < parameters->count; k++) {
        const quern_array *array = parameters->items[k].array;
        if (array) {
            bytes +=
                quern_array_count(array) * (long long)quern_dtype_size(quern_array_dtype(array));
        }
    }
    return bytes;
}

static void report(timer *t, long long bytes)
{
    qsort(t->ms, t->runs, sizeof *t->ms, compare);
    double median = (t->ms[(t->runs - 1) / 2] + t->ms[t->runs / 2]) / 2;
    fprintf(stderr, "time: median_us=%.3f min_us=%.3f gb_per_s=%.3f bytes=%lld runs=%zu\n",
            median * 1e3, t->ms[0] * 1e3, median > 0 ? (double)bytes / median * 1e-6 : 0.0, bytes,
            t->runs);
}

int cli_time(const cli_job *job, const quern_value *values)
{
    timer *t = cli_alloc(sizeof *t);
    size_t asked = (size_t)job->options.time.value;
    t->least = asked ? asked : LEAST_RUNS;
    t->most = asked ? asked : MOST_RUNS;
    t->ms = cli_alloc(t->most * sizeof *t->ms);
    t->job = job;
    t->values = values;
    quern_status measured = measure(t);
    int result = measured == QUERN_OK ? CLI_OK : cli_fail_library(NULL);
    if (result == CLI_OK) {
        report(t, bytes_moved(&job->parameters));
    }
    for (size_t k = 0; k <= BATCH; k++) {
        quern_event_release(t->marks[k]);
    }
    quern_bound_release(t->bound);
    return result;
}
