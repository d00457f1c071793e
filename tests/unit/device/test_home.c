/* SPDX-License-Identifier: MIT
 *
 * A home and what holds on to it: its owner learns when a stream ends, and when nobody is left.
 */
#include "device/device_internal.h"

#include <criterion/criterion.h>
#include <string.h>

/* A home whose device hands out one stream, and what its owner was told. */
typedef struct place {
    qn_home home; /* first */
    int streams;  /* of the device, not freed yet */
    int ended;    /* calls of `stream_ended` */
    void *last;   /* the handle that it was called with */
    int streams_then;
    int ends;
} place;

static place *place_of(void *p)
{
    return p;
}

static quern_status stream_new(quern_device *device, void **out)
{
    place_of(device)->streams++;
    *out = &place_of(device)->streams;
    return QUERN_OK;
}

static void stream_free(quern_device *device, void *handle)
{
    cr_expect_eq(handle, &place_of(device)->streams);
    place_of(device)->streams--;
}

static void end(qn_home *home)
{
    place_of(home)->ends++;
}

static void stream_ended(qn_home *home, void *handle)
{
    place *p = place_of(home);
    p->ended++;
    p->last = handle;
    p->streams_then = p->streams;
}

static const quern_device_methods methods = {
    .size = sizeof methods, .stream_new = stream_new, .stream_free = stream_free};
static const qn_home_owner owner = {end, stream_ended};

#define PLACE(name)                                                                                \
    {                                                                                              \
        .home = {                                                                                  \
            .object = QN_OBJECT_ENGINE,                                                            \
            .references = 1,                                                                       \
            .methods = &methods,                                                                   \
            .device = (quern_device *)(void *)&(name),                                             \
            .owner = &owner                                                                        \
        }                                                                                          \
    }

Test(home, ends_with_its_last_reference)
{
    place p = PLACE(p);
    qn_home_retain(&p.home);
    qn_home_release(&p.home);
    cr_expect_eq(p.ends, 0);
    qn_home_release(&p.home);
    cr_expect_eq(p.ends, 1);
}

Test(home, outlives_its_owner_while_a_stream_is_held)
{
    place p = PLACE(p);
    quern_stream *stream;
    cr_assert_eq(quern_stream_new(&stream, qn_home_engine(&p.home)), QUERN_OK);
    (void)qn_stream_retain(stream); /* as an array does */
    qn_home_release(&p.home);
    quern_stream_release(stream);
    cr_expect_eq(p.ended, 0);
    cr_expect_eq(p.ends, 0);
    qn_stream_release(stream);
    cr_expect_eq(p.ended, 1);
    cr_expect_eq(p.last, &p.streams);
    cr_expect_eq(p.streams_then, 1, "the device still has the stream when its owner is told");
    cr_expect_eq(p.streams, 0);
    cr_expect_eq(p.ends, 1);
}

Test(home, wrapped_streams_are_not_freed)
{
    place p = PLACE(p);
    quern_stream *stream;
    cr_assert_eq(quern_stream_wrap(&stream, qn_home_engine(&p.home), &p.ends), QUERN_OK);
    cr_expect_eq(qn_stream_handle(&p.home, stream), &p.ends);
    cr_expect_eq(qn_stream_handle(&p.home, NULL), p.home.stream);
    quern_stream_release(stream);
    cr_expect_eq(p.ended, 1);
    cr_expect_eq(p.last, &p.ends);
    qn_home_release(&p.home);
    cr_expect_eq(p.ends, 1);
}

Test(home, streams_of_others_do_not_fit)
{
    place p = PLACE(p), other = PLACE(other);
    memcpy(p.home.place, "soft", sizeof "soft");
    memcpy(other.home.place, "cuda:2", sizeof "cuda:2");
    quern_stream *stream;
    cr_assert_eq(quern_stream_new(&stream, qn_home_engine(&p.home)), QUERN_OK);
    cr_expect(qn_stream_fits(NULL, &p.home), "no stream is the home's own");
    cr_expect(qn_stream_fits(stream, &p.home));
    cr_expect_not(qn_stream_fits(stream, &other.home));
    cr_expect_eq(qn_stream_refuse("some_options", stream, "kernel", &other.home),
                 QUERN_ERROR_INVALID_ARGUMENT);
    cr_expect_str_eq(quern_last_error()->message,
                     "some_options: the stream belongs to another engine than the kernel: it is on "
                     "soft, the kernel on cuda:2");
    const quern_stream *wrong = (const quern_stream *)(const void *)&other;
    cr_expect_not(qn_stream_fits(wrong, &other.home));
    cr_expect_eq(qn_stream_refuse("some_options", wrong, "kernel", &other.home),
                 QUERN_ERROR_INVALID_ARGUMENT);
    cr_expect_str_eq(quern_last_error()->message,
                     "some_options: stream is a quern_engine, not a quern_stream");
    quern_stream_release(stream);
}
