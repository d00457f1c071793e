/* SPDX-License-Identifier: MIT
 *
 * Handles that are not what a function takes: of another kind, freed, closed twice. The promise is
 * that of fault_arguments.c, as far as freed memory still shows what it was.
 */
#include "fault/refuse.h"

TestSuite(handles, .init = open_one, .fini = whole_close);

Test(handles, handles_of_another_kind)
{
    quern_array *a = numbers(), *out;
    quern_kernel *k = kernel_of("T x", "T y", "y = x");
    REFUSE(quern_synchronize((quern_engine *)(void *)a), "engine is a quern_array, not");
    REFUSE_OUT(out, quern_array_copy(&out, (quern_array *)(void *)k), "array is a quern_kernel");
    REFUSE(quern_launch((quern_bound *)(void *)engine), "bound is a quern_engine, not");
    REFUSE(quern_event_wait((quern_event *)(void *)engine), "event is a quern_engine, not");
    quern_value v[2] = {quern_value_array((quern_array *)(void *)engine), quern_value_output(&a)};
    REFUSE(quern_call_n(k, v, 2, NULL), "'x' (argument 1)");
    cr_expect_eq(quern_array_count((quern_array *)(void *)k), 0);
    quern_array_release((quern_array *)(void *)k); /* says so, frees nothing */
    quern_kernel_release((quern_kernel *)(void *)engine);
    quern_array_release(a);
    quern_kernel_release(k);
    quern_close(engine);
    open_one();
}

#ifndef __SANITIZE_ADDRESS__ /* which ends the program where these are reported */
#define TOLD(call) REFUSE(call, "was freed")

Test(handles, freed_handles)
{
    quern_array *volatile a = numbers();
    quern_kernel *volatile k = kernel_of("T x", "T y", "y = x");
    quern_stream *s;
    quern_event *e;
    quern_engine *other;
    OK(quern_stream_new(&s, engine));
    OK(quern_event_new(&e, engine));
    OK(quern_open(&other, NULL));
    quern_stream *volatile freed_stream = s;
    quern_event *volatile freed_event = e;
    quern_engine *volatile closed = other;
    quern_array_release(a);
    quern_kernel_release(k);
    quern_stream_release(s);
    quern_event_release(e);
    quern_close(other);
    int32_t host[6];
    TOLD(quern_array_read(a, host, sizeof host));
    TOLD(quern_call_n(k, NULL, 0, NULL));
    TOLD(quern_stream_wait(freed_stream));
    TOLD(quern_event_wait(freed_event));
    TOLD(quern_synchronize(closed));
    cr_expect_eq(quern_array_count(a), 0);
    quern_array_release(a);
    quern_kernel_release(k);
    quern_stream_release(freed_stream);
    quern_event_release(freed_event);
    quern_close(closed);
    quern_array *still = numbers(); /* the heap is as it was */
    EXPECT(still, int32_t, 0, 1, 2, 3, 4, 5);
    quern_array_release(still);
}
#endif

static int logged;
static void count_log(void *context, const char *level, const char *message)
{
    (void)context;
    logged += strcmp(level, "error") == 0 && strstr(message, "closed before");
}

Test(handles, closed_twice)
{
    quern_options o = QUERN_OPTIONS_INIT;
    o.device = "soft";
    o.log = count_log;
    quern_engine *e;
    quern_array *a;
    OK(quern_open(&e, &o));
    OK(quern_array_new(&a, e, QUERN_INT8, SHAPE(4)));
    quern_close(e);
    quern_close(e); /* the array still holds the engine, and the caller cannot drop that hold */
    cr_expect_eq(logged, 1);
    int8_t host[4];
    OK(quern_array_read(a, host, sizeof host));
    quern_array_release(a);
}
