/* SPDX-License-Identifier: MIT
 *
 * Calls that are remembered, beside calls that are not. Drawn calls of kernels of every kind, over
 * views of one piece of memory, so that dtypes, shapes, strides, alignments, overlaps, numbers,
 * options and streams alternate: what is launched with what a kernel remembers must be, byte for
 * byte, what it launches when it remembers nothing. The launches are recorded, and not done.
 */
#include "drawn_calls.h"
#include "engine/recall.h"
#include <stdio.h>

/* ---- one call ------------------------------------------------------------------------------- */

static quern_array *array_at(const layout *l)
{
    quern_array *a, *fixed;
    OK(quern_array_wrap(&a, engine, l->dtype, l->ndim, l->shape, l->strides,
                        pool + MIDDLE + l->offset, NULL, NULL));
    if (!l->read_only) {
        return a;
    }
    OK(quern_array_read_only(&fixed, a));
    quern_array_release(a);
    return fixed;
}

static quern_value number_of(uint32_t which)
{
    switch (which) {
    case 0:
        return quern_literal_int(3);
    case 1:
        return quern_literal_double(2.5);
    case 2:
        return quern_scalar_int(QUERN_INT8, -3);
    case 3:
        return quern_scalar_real(QUERN_FLOAT32, 0.5);
    case 4:
        return quern_literal_double(1e300);
    default:
        return quern_scalar_real(QUERN_FLOAT64, 7);
    }
}

/* What a call made. Addresses of memory that it allocated are zeroed: they differ each time. */
typedef struct outcome {
    quern_status status;
    char said[300];
    size_t count;
    launched launches[LAUNCHES];
} outcome;

static bool in_pool(const void *at)
{
    uintptr_t address;
    memcpy(&address, at, sizeof address);
    return address >= (uintptr_t)pool && address < (uintptr_t)pool + POOL;
}

static bool is_own(const quern_kernel *kernel, const void *function)
{
    const qn_specialization *z = atomic_load(&kernel->specializations);
    while (z && z->function != function) {
        z = z->next;
    }
    return z != NULL;
}

/* Of the kernel's own launches it is known which parameters are addresses; launches that copy have
 * them wherever 8 bytes are. */
static void settle_addresses(outcome *o, const subject *s, const form *f)
{
    const uint32_t count = s->kernel->signature.count;
    for (size_t n = 0; n < o->count; n++) {
        launched *l = &o->launches[n];
        const bool own = is_own(s->kernel, l->function);
        for (size_t k = 0; k < l->parameters; k++) {
            unsigned char *at = l->bytes + l->offset[k];
            const bool address = !own        ? l->size[k] == sizeof(void *)
                                 : k < count ? f->how[k] != NUMBER
                                             : k > count; /* behind the walk: the workspace */
            if (address && !in_pool(at)) {
                memset(at, 0, sizeof(void *));
            }
        }
    }
}

static void call_once(outcome *o, const subject *s, const form *f, quern_array *const *arrays)
{
    const uint32_t count = s->kernel->signature.count;
    quern_array *places[ARGUMENTS];
    quern_value values[ARGUMENTS];
    for (uint32_t p = 0; p < count; p++) {
        places[p] = f->how[p] == EMPTY_PLACE ? NULL : arrays[p];
        values[p] = f->how[p] == NUMBER    ? number_of(f->numbers[p])
                    : f->how[p] == ARRAY   ? quern_value_array(arrays[p])
                    : f->how[p] == DROPPED ? (quern_value){.kind = QUERN_VALUE_NONE}
                                           : quern_value_output(&places[p]);
    }
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    options.axes = f->has_axes ? f->axes : NULL;
    options.axis_count = (size_t)f->axis_count;
    options.keepdims = f->keepdims;
    options.block_size = f->block_size;
    options.loop_size = f->has_loop_size ? &f->loop_size : NULL;
    options.stream = f->stream ? streams[f->stream - 1] : NULL;
    launch_count = 0;
    o->status = quern_call_n(s->kernel, values, count, f->has_options ? &options : NULL);
    snprintf(o->said, sizeof o->said, "%s", o->status ? quern_last_error_text() : "");
    o->count = launch_count;
    memcpy(o->launches, launches, sizeof launches);
    settle_addresses(o, s, f);
    for (uint32_t p = 0; p < count; p++) {
        if (f->how[p] == EMPTY_PLACE) {
            cr_assert_eq(places[p] != NULL, o->status == QUERN_OK);
            quern_array_release(places[p]);
        }
    }
}

/* Have it looked at for every call, and not only where the slots are the same. */
static void put_newest_everywhere(qn_recalls *all)
{
    for (size_t k = 0; all && all->newest && k < QN_RECALL_SLOTS; k++) {
        atomic_store(&all->slots[k], all->newest);
    }
}

/* The same call without what is remembered, and with it. */
static bool compare(const subject *s, const form *f, int number)
{
    static outcome whole, recalled;
    quern_array *arrays[ARGUMENTS];
    const uint32_t count = s->kernel->signature.count;
    for (uint32_t p = 0; p < count; p++) {
        arrays[p] = array_at(&f->arrays[p]);
    }
    qn_recalls *kept = atomic_exchange(&s->kernel->recalls, NULL);
    call_once(&whole, s, f, arrays);
    qn_recalls_free(s->kernel);
    atomic_store(&s->kernel->recalls, kept);
    if (below(2) == 0) {
        put_newest_everywhere(kept);
    }
    call_once(&recalled, s, f, arrays);
    cr_assert_eq(whole.status, recalled.status, "call %d: %s, %s", number, whole.said,
                 recalled.said);
    cr_assert_str_eq(whole.said, recalled.said, "call %d", number);
    cr_assert_eq(whole.count, recalled.count, "call %d launches", number);
    for (size_t n = 0; n < whole.count; n++) {
        const launched *a = &whole.launches[n], *b = &recalled.launches[n];
        cr_assert_eq(a->function, b->function, "call %d, launch %zu: function", number, n);
        cr_assert_eq(memcmp(&a->config, &b->config, sizeof a->config), 0,
                     "call %d, launch %zu: grid or stream", number, n);
        cr_assert_eq(memcmp(a->bytes, b->bytes, BYTES), 0,
                     "call %d of subject %u, launch %zu: parameters", number, f->subject, n);
    }
    for (uint32_t p = 0; p < count; p++) {
        quern_array_release(arrays[p]);
    }
    return whole.status == QUERN_OK;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static unsigned misses_of(const subject *s)
{
    const qn_recalls *all = atomic_load(&s->kernel->recalls);
    return all ? atomic_load(&all->misses) : 0;
}

/* As if the kernel were new; returns how many of its calls went the whole way. */
static unsigned forget(const subject *s)
{
    const unsigned missed = misses_of(s);
    qn_recalls_free(s->kernel);
    atomic_store(&s->kernel->recalls, NULL);
    return missed;
}

enum { FORMS = 6, CALLS = 6000, EACH = 100 };

/* A kernel remembers only some calls, so each forgets again and again. */
Test(recall_drawn, launches_what_the_whole_way_launches, .timeout = 240)
{
    whole_open();
    subject subjects[SUBJECTS];
    form forms[FORMS];
    make_subjects(subjects);
    for (int k = 0; k < STREAMS; k++) {
        OK(quern_stream_new(&streams[k], engine));
    }
    engine->table.launch = record;
    unsigned missed = 0, good = 0;
    const char *seed = getenv("QUERN_SEED");
    state = seed ? strtoull(seed, NULL, 10) : 1;
    for (int number = 0; number < drawn(CALLS); number++) {
        if (number % EACH == 0) {
            for (uint32_t k = 0; k < SUBJECTS; k++) {
                missed += forget(&subjects[k]);
            }
            for (uint32_t k = 0; k < FORMS; k++) {
                forms[k] = draw_form(subjects);
            }
        }
        form *f = &forms[below(FORMS)];
        if (below(4) == 0) {
            vary(f, subjects);
        }
        good += compare(&subjects[f->subject], f, number);
    }
    for (uint32_t k = 0; k < SUBJECTS; k++) {
        missed += forget(&subjects[k]);
        quern_kernel_release(subjects[k].kernel);
    }
    for (int k = 0; k < STREAMS; k++) {
        quern_stream_release(streams[k]);
    }
    printf("%d calls, %u good, of which %u went the whole way\n", drawn(CALLS), good, missed);
    cr_assert_lt(missed, good * 3 / 4);
    whole_close();
}
