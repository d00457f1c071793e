/* SPDX-License-Identifier: MIT
 *
 * recall: the launch of an earlier call, for one that is like it. In: values. Out: queued work, or
 * "no such call". The thing to know: two calls are alike when their options, the kinds and dtypes
 * of their values, the shapes and strides of their arrays, the way those lie off the alignment of
 * packs, and which of them share memory are the same; then only addresses and scalars differ in
 * what is launched. What is remembered never changes and is freed with its kernel, so it is read
 * without a lock.
 */
#include "engine/recall.h"
#include "engine/tuning.h"
#include <string.h>

/* A call that may be like one of them. */
typedef struct attempt {
    quern_kernel *kernel;
    const quern_value *values;
    quern_stream *stream;
    quern_array *arrays[QUERN_MAX_PARAMETERS]; /* valid up to the kernel's parameters */
    quern_array *made;                         /* the output that is allocated here, or NULL */
} attempt;

/* ---- is it alike? --------------------------------------------------------------------------- */

/* Find the arrays among the values, and the slot that such a call has. False: one of them is none
 * of the engine's, which the whole way will say. */
static bool find_arrays(attempt *at, uint32_t *slot, const quern_call_options *options)
{
    const qn_home *home = &at->kernel->engine->home;
    const uint32_t count = at->kernel->signature.count;
    uint64_t mixed = qn_recall_mix_options(options);
    for (uint32_t p = 0; p < count; p++) {
        const quern_value *v = &at->values[p];
        quern_array *a = NULL;
        if (v->kind == QUERN_VALUE_ARRAY) {
            a = v->as.array;
        } else if (v->kind == QUERN_VALUE_OUTPUT && v->as.output) {
            a = *v->as.output;
        }
        at->arrays[p] = a;
        if (a && !qn_array_fits(a, home)) {
            return false;
        }
        mixed = qn_recall_mix_value(mixed, v, a);
    }
    *slot = qn_recall_slot(mixed);
    return true;
}

static bool array_fits(const qn_seen *s, const quern_array *a)
{
    if ((int32_t)a->dtype != s->dtype || a->ndim != s->ndim || qn_recall_under(a) != s->under ||
        a->reach != s->reach) {
        return false;
    }
    for (int d = 0; d < 2 * s->ndim; d++) {
        if (a->shape[d] != s->extents[d]) {
            return false;
        }
    }
    return true;
}

static bool value_fits(const attempt *at, const qn_seen *s, uint32_t p)
{
    const quern_value *v = &at->values[p];
    const quern_array *a = at->arrays[p];
    if (v->kind != s->kind) {
        return false;
    }
    if (!s->array) {
        return v->dtype == s->dtype;
    }
    if (s->made || !a) {
        return s->made && !a && v->as.output;
    }
    return array_fits(s, a) && !(a->read_only && at->kernel->signature.parameters[p].output);
}

static bool values_fit(const attempt *at, const qn_recalled *r)
{
    const uint32_t count = at->kernel->signature.count;
    uint32_t p = 0;
    while (p < count && value_fits(at, &r->parameters[p], p)) {
        p++;
    }
    return p == count;
}

/* Nothing was measured since that would change the plan of a tuned call. */
static bool tuning_fits(const attempt *at, const qn_recalled *r)
{
    return r->options.tune == 0 ||
           r->tuned_at == atomic_load(&at->kernel->engine->tunings->changes);
}

static bool options_fit(const quern_call_options *was, const quern_call_options *o)
{
    static const quern_call_options none = QUERN_CALL_OPTIONS_INIT;
    o = o ? o : &none;
    if (o->block_size != was->block_size || o->keepdims != was->keepdims || o->tune != was->tune ||
        !o->axes != !was->axes || o->axis_count != was->axis_count ||
        !o->loop_size != !was->loop_size || (o->loop_size && *o->loop_size != *was->loop_size)) {
        return false;
    }
    return !o->axes || memcmp(o->axes, was->axes, o->axis_count * sizeof *o->axes) == 0;
}

/* Outputs and inputs share memory as they did: not at all, or all of it. */
static bool overlaps_fit(const attempt *at, const qn_recalled *r)
{
    const qn_signature *sig = &at->kernel->signature;
    for (uint32_t o = sig->input_count; o < sig->count; o++) {
        const qn_seen *to = &r->parameters[o];
        const uintptr_t data = (uintptr_t)at->arrays[o]->data;
        const uintptr_t low = data + (uintptr_t)to->low, high = data + (uintptr_t)to->high;
        for (uint32_t k = 0; k < sig->input_count; k++) {
            if (!at->arrays[k]) {
                continue;
            }
            const qn_seen *from = &r->parameters[k];
            const uintptr_t other = (uintptr_t)at->arrays[k]->data;
            const bool fits = to->same >> k & 1 ? other == data
                                                : high <= other + (uintptr_t)from->low ||
                                                      other + (uintptr_t)from->high <= low;
            if (!fits) {
                return false;
            }
        }
    }
    return true;
}

/* ---- launching it again --------------------------------------------------------------------- */

/* Allocate the output that was allocated then. */
static quern_status make_output(attempt *at, const qn_recalled *r)
{
    at->made = NULL;
    if (r->place < 0 || !r->parameters[r->place].made) {
        return QUERN_OK;
    }
    const qn_seen *s = &r->parameters[r->place];
    QN_TRY(qn_array_new_on(&at->made, &at->kernel->engine->home, (quern_dtype)s->dtype, s->ndim,
                           s->extents, at->stream));
    at->arrays[r->place] = at->made;
    return QUERN_OK;
}

/* Write what differs into `bytes`, and point to it and to what does not. */
static quern_status fill(void **pointers, unsigned char *bytes, const attempt *at,
                         const qn_recalled *r)
{
    const uint32_t count = at->kernel->signature.count;
    for (uint32_t p = 0; p < count; p++) {
        const qn_seen *s = &r->parameters[p];
        unsigned char *to = bytes + r->offsets[p];
        pointers[p] = to;
        if (!at->arrays[p]) {
            QN_TRY(qn_marshal_scalar(to, at->kernel, p, s->bound, &at->values[p]));
            continue;
        }
        if (s->raw_bytes != 0) {
            memcpy(to, r->bytes + r->offsets[p], s->raw_bytes);
        }
        const char *base = (const char *)at->arrays[p]->data + s->shift;
        memcpy(to, &base, sizeof base);
    }
    for (uint32_t k = count; k < r->pointers; k++) {
        pointers[k] = r->bytes + r->offsets[k];
    }
    return QUERN_OK;
}

static quern_status launch(const attempt *at, const qn_recalled *r)
{
    quern_engine *engine = at->kernel->engine;
    void *pointers[QUERN_MAX_PARAMETERS + 2];
    _Alignas(16) unsigned char bytes[sizeof(((qn_parameter_block *)NULL)->bytes)];
    QN_TRY(fill(pointers, bytes, at, r));
    quern_launch_config config = r->config;
    config.stream = qn_stream_handle(&engine->home, at->stream);
    qn_workspace *workspace = NULL;
    if (r->zeroed_bytes != 0) {
        QN_TRY(qn_workspace_take(&workspace, engine, config.stream, r->zeroed_bytes,
                                 r->scratch_bytes));
        pointers[r->pointers] = &workspace->pointer;
    }
    return qn_call_queue(at->kernel, at->arrays, r->function, &config, pointers, workspace);
}

/* Outputs and inputs share memory as they did, or have no elements that could. */
static bool memory_fits(const attempt *at, const qn_recalled *r)
{
    return !r->function || overlaps_fit(at, r);
}

/* Make the output, launch, and publish it. False: it lies where the plan is another. */
static bool run(quern_status *status, attempt *at, const qn_recalled *r, qn_leaving *leaving)
{
    if (r->function) { /* else outputs have no elements, and no memory is asked for */
        qn_leave(leaving);
    }
    *status = make_output(at, r);
    if (*status != QUERN_OK) {
        return true;
    }
    if ((at->made && !array_fits(&r->parameters[r->place], at->made)) || !memory_fits(at, r)) {
        quern_array_release(at->made);
        return false;
    }
    *status = r->function ? launch(at, r) : QUERN_OK;
    if (*status != QUERN_OK) {
        quern_array_release(at->made);
    } else if (at->made) {
        *at->values[r->place].as.output = at->made;
    }
    return true;
}

bool qn_recall_run(quern_status *status, quern_kernel *kernel, const quern_value *values,
                   size_t count, const quern_call_options *options, qn_leaving *leaving)
{
    const qn_recalls *all = atomic_load_explicit(&kernel->recalls, memory_order_acquire);
    if (!all || !values || count != kernel->signature.count) {
        return false;
    }
    attempt at;
    at.kernel = kernel;
    at.values = values;
    at.stream = options ? options->stream : NULL;
    if (at.stream &&
        (!qn_stream_fits(at.stream, &kernel->engine->home) || qn_stream_captures(at.stream))) {
        return false;
    }
    uint32_t slot;
    if (!find_arrays(&at, &slot, options)) {
        return false;
    }
    const qn_recalled *r = atomic_load_explicit(&all->slots[slot], memory_order_acquire);
    return r && options_fit(&r->options, options) && tuning_fits(&at, r) && values_fit(&at, r) &&
           run(status, &at, r, leaving);
}
