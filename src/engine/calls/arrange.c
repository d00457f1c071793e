/* SPDX-License-Identifier: MIT
 *
 * arrange: inputs of a scan or a reduction that are copied first, because they lie in another order
 * than the output of the scan, or than the widest input of the reduction: the model; and outputs
 * that lie otherwise, and are copied afterwards: those of a reduction, and of a scan of all
 * elements, which has an order of its own. In: a call that is planned. Out: the same, or with
 * arrays of its own in the place of these, planned again. The thing to know: whether that pays is
 * decided without memory, so that explaining, preparing and binding a call find what a launch will
 * find; the arrays get theirs when the call is launched, and where there is none left, it goes by
 * the plan without them.
 */
#include "array/fold_scans.h"
#include "engine/engine_internal.h"
#include <string.h>

/* Instructions of a processor while one more launch begins, and its caller looks up two calls. */
#define LAUNCH_COST 2e6

#define ALIGNMENT 256 /* of every allocation */

/* Where arrays lie until they have memory: somewhere aligned. */
static _Alignas(ALIGNMENT) char nowhere[ALIGNMENT];

static bool scans(const qn_call *call)
{
    return call->kernel->kind->number == QUERN_KERNEL_SCAN;
}

static const qn_operand *model(const qn_call *call)
{
    const qn_operand *o = &call->operands[scans(call) ? call->input_operands : 0];
    for (uint32_t k = 1; !scans(call) && k < call->input_operands; k++) {
        o = call->operands[k].item_size > o->item_size ? &call->operands[k] : o;
    }
    return o;
}

/* The axes of a call in the order in which they lie in the model, outermost first; of a scan of all
 * elements, as they are. */
static void order_axes(int *order, const qn_call *call)
{
    const int64_t *strides = model(call)->strides;
    const bool all =
        scans(call) && (call->ndim == 0 || call->axes == UINT32_MAX >> (32 - call->ndim));
    for (int d = 0; d < call->ndim; d++) {
        int at = d;
        for (; !all && at > 0 && qn_magnitude(strides[order[at - 1]]) < qn_magnitude(strides[d]);
             at--) {
            order[at] = order[at - 1];
        }
        order[at] = d;
    }
}

/* True when an operand has each element of the call once. */
static bool lies_alone(const qn_operand *o, const qn_call *call)
{
    bool alone = o->ndim == call->ndim;
    for (int d = 0; d < call->ndim && alone; d++) {
        alone = o->shape[d] == call->shape[d] && (o->strides[d] != 0 || o->shape[d] == 1);
    }
    return alone;
}

/* The axis of operand `k` that is axis `d` of the call; -1: it has none. */
static int own_axis(const qn_call *call, uint32_t k, int d)
{
    if (!call->operands[k].output || scans(call) || call->keepdims) {
        return d;
    }
    const uint32_t before = call->axes & ((UINT32_C(1) << d) - 1);
    return call->axes >> d & 1 ? -1 : d - __builtin_popcount(before);
}

/* True when the elements of operand `k`, if it has each once, follow each other in another order.
 */
static bool lies_otherwise(const qn_call *call, uint32_t k, const int *order)
{
    const qn_operand *o = &call->operands[k];
    int64_t outer = INT64_MAX;
    bool otherwise = false;
    if (o->loose || !((o->output && !scans(call)) || lies_alone(o, call))) {
        return false;
    }
    for (int at = 0; at < call->ndim; at++) {
        const int d = own_axis(call, k, order[at]);
        if (d >= 0 && o->shape[d] > 1) {
            const int64_t stride = qn_magnitude(o->strides[d]);
            otherwise |= stride > outer;
            outer = stride;
        }
    }
    return otherwise;
}

/* An array as operand `k` that lies as the model does, without gaps and without memory. Axes run
 * backwards where the model's do, so that both can be walked forwards; but not those of a scan. */
static quern_status make_like(quern_array **out, const qn_call *call, uint32_t k, const int *order)
{
    const uint32_t p = call->operand_parameter[k];
    const qn_operand *o = &call->operands[k];
    quern_array *a = qn_array_header(NULL, call->arrays[p]->dtype, o->ndim);
    if (!a) {
        return qn_fail_memory("arranging an operand");
    }
    int64_t stride = a->item_size, before = 0;
    for (int at = call->ndim - 1; at >= 0; at--) {
        const int d = order[at], own = own_axis(call, k, d);
        if (own >= 0) {
            const bool back =
                model(call)->strides[d] < 0 && !(scans(call) && (call->axes >> d & 1) != 0);
            a->shape[own] = o->shape[own];
            a->strides[own] = back ? -stride : stride;
            before += back ? stride * (o->shape[own] - 1) : 0;
            stride *= o->shape[own];
        }
    }
    a->data = nowhere + before;
    qn_array_finish(a);
    *out = a;
    return QUERN_OK;
}

static void put_operand(qn_call *call, uint32_t k, quern_array *a)
{
    qn_operand *o = &call->operands[k];
    call->arrays[call->operand_parameter[k]] = a;
    o->shape = a->shape;
    o->strides = a->strides;
    o->data = a->data;
}

static void plan_again(qn_call *call)
{
    call->zeroed_bytes = call->scratch_bytes = 0;
    call->kernel->kind->plan(call);
}

static bool is_arranged(const qn_call *call, uint32_t k)
{
    return (call->arranged >> call->operand_parameter[k] & 1) != 0;
}

/* The operands as they were. */
static void put_back(qn_call *call)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (is_arranged(call, k)) {
            put_operand(call, k, call->from[call->operand_parameter[k]]);
        }
    }
    call->arranged = 0;
}

/* True when the texts leave no element of the only output as it was: `y = ...`, and no more. */
static bool overwrites(const qn_call *call)
{
    const char *text = call->kernel->texts[QN_POST].text;
    const char *name = call->kernel->parameter_names[call->operand_parameter[call->input_operands]];
    const size_t length = strlen(name);
    text += strspn(text, " \t\n");
    if (call->operand_count != call->input_operands + 1 || strncmp(text, name, length) != 0) {
        return false;
    }
    text += length;
    text += strspn(text, " \t\n");
    const char *end = text + strcspn(text, ";");
    end += end[0] == ';';
    return text[0] == '=' && text[1] != '=' && end[strspn(end, " \t\n")] == '\0' &&
           !strpbrk(text, "{}#") && !qn_text_uses(text, name);
}

/* Bytes from one element of an operand to the next, along the axis where that is least. */
static int64_t closest(const qn_operand *o)
{
    int64_t least = INT64_MAX;
    for (int axis = 0; axis < o->ndim; axis++) {
        if (o->shape[axis] > 1 && o->strides[axis] != 0) {
            least = QN_MIN(least, qn_magnitude(o->strides[axis]));
        }
    }
    return least == INT64_MAX ? 0 : least;
}

/* Put arrays in the place of all operands that lie otherwise. `cost`: what their copies cost for an
 * element. */
static quern_status replace(double *cost, qn_call *call, const int *order)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        const uint32_t p = call->operand_parameter[k];
        if (!lies_otherwise(call, k, order)) {
            continue;
        }
        quern_array *made = NULL;
        QN_TRY(make_like(&made, call, k, order));
        call->owned[call->owned_count++] = made;
        call->from[p] = call->arrays[p];
        call->arranged |= UINT64_C(1) << p;
        const bool twice = k >= call->input_operands && !overwrites(call);
        const double share = (double)made->count / (double)call->count;
        *cost += qn_fold_copy_cost(made->item_size, closest(&call->operands[k])) * (twice ? 2 : 1) *
                 share;
        put_operand(call, k, made);
    }
    return QUERN_OK;
}

/* True when the texts see nothing of the operands but their values. */
static bool may_arrange(const qn_call *call)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (call->kernel->uses_array[call->operand_parameter[k]]) {
            return false;
        }
    }
    return call->kernel->kind->arranges && call->input_operands > 0 &&
           call->operand_count > call->input_operands && call->reaches == 0 && !call->overlaps &&
           (scans(call) || lies_alone(model(call), call));
}

/* Of an element, as far as it changes with the order of inputs. */
static double cost(const qn_call *call)
{
    return scans(call) ? call->fold.cost : call->fold.reach;
}

quern_status qn_call_arrange(qn_call *call)
{
    const double least =
        LAUNCH_COST * call->kernel->engine->processors / (double)QN_MAX(call->count, 1);
    if (!may_arrange(call) || cost(call) <= least) {
        return QUERN_OK;
    }
    const double before = cost(call);
    int order[QUERN_MAX_NDIM];
    double copies = 0;
    order_axes(order, call);
    QN_TRY(replace(&copies, call, order));
    if (call->arranged != 0) {
        const qn_fold planned = call->fold;
        const size_t zeroed = call->zeroed_bytes, scratch = call->scratch_bytes;
        plan_again(call);
        if (cost(call) + copies + least >= before) {
            put_back(call);
            call->fold = planned;
            call->zeroed_bytes = zeroed;
            call->scratch_bytes = scratch;
        }
    }
    return QUERN_OK;
}

/* Give the array of an operand memory, and copy the operand into it, unless all of it is written.
 */
static quern_status lay(qn_call *call, uint32_t k)
{
    const uint32_t p = call->operand_parameter[k];
    quern_array *a = call->arrays[p], *memory;
    QN_TRY(qn_array_new_on(&memory, &call->kernel->engine->home, a->dtype, 1, &a->count,
                           call->stream));
    a->buffer = memory->buffer;
    qn_buffer_retain(a->buffer);
    a->data = (char *)memory->data + ((char *)a->data - nowhere);
    quern_array_release(memory);
    call->operands[k].data = a->data;
    return k >= call->input_operands && overwrites(call)
               ? QUERN_OK
               : qn_array_copy_to(a, call->from[p], call->stream);
}

quern_status qn_call_lay(qn_call *call)
{
    if (call->arranged == 0) {
        return QUERN_OK;
    }
    quern_status status = QUERN_OK;
    for (uint32_t k = 0; k < call->operand_count && status == QUERN_OK; k++) {
        status = is_arranged(call, k) ? lay(call, k) : QUERN_OK;
    }
    if (status == QUERN_ERROR_DEVICE_MEMORY) {
        qn_error_reset();
        put_back(call);
        plan_again(call);
        return QUERN_OK;
    }
    plan_again(call);
    return status;
}

quern_status qn_call_carry(const qn_call *call)
{
    for (uint32_t k = call->input_operands; k < call->operand_count && call->arranged != 0; k++) {
        const uint32_t p = call->operand_parameter[k];
        if (is_arranged(call, k)) {
            QN_TRY(qn_array_copy_to(call->from[p], call->arrays[p], call->stream));
        }
    }
    return QUERN_OK;
}
