/* SPDX-License-Identifier: MIT
 *
 * resolve: the arguments of one call, checked. In: a kernel and values. Out: a qn_call with bound
 * types, all its arrays, and the plan of its kind. The thing to know: arrays that are made here
 * (outputs, copies of inputs that an output overlaps) are owned by the call until they are
 * published or released at its end.
 */
#include "engine/folding.h"
#include "engine/tuning.h"
#include <string.h>

quern_status qn_call_fail_argument(quern_status status, const qn_call *call, uint32_t p,
                                   const char *what)
{
    const qn_signature *s = &call->kernel->signature;
    const qn_parameter *q = &s->parameters[p];
    const char *text = q->output ? s->out_text : s->in_text;
    return qn_fail_at(status, q->output ? "out" : "in", qn_str_of(text), q->name_begin, q->name_end,
                      "'%.*s' (argument %u): %s", (int)q->name.length, q->name.data, p + 1, what);
}

/* A new array that the call owns; without memory where the call is not launched. */
static quern_status make_array(quern_array **out, qn_call *call, quern_dtype dtype, int ndim,
                               const int64_t *shape)
{
    qn_home *home = &call->kernel->engine->home;
    QN_TRY(call->dry ? qn_array_without_memory(out, home, dtype, ndim, shape)
                     : qn_array_new_on(out, home, dtype, ndim, shape, call->stream));
    call->owned[call->owned_count++] = *out;
    return QUERN_OK;
}

/* ---- values to arrays and types ------------------------------------------------------------- */

/* Attribute the failure that was just recorded to argument `p`. */
static quern_status blame(quern_status status, const qn_call *call, uint32_t p)
{
    char *said = qn_strdup(quern_last_error()->message);
    status = qn_call_fail_argument(status, call, p, said ? said : "no such array");
    qn_free(said);
    return status;
}

static quern_status take_array(qn_call *call, uint32_t p, quern_array *array)
{
    if (!qn_array_fits(array, &call->kernel->engine->home)) {
        return blame(qn_array_refuse(array, "kernel", &call->kernel->engine->home), call, p);
    }
    if (array->read_only && call->kernel->signature.parameters[p].output) {
        return qn_call_fail_argument(
            QUERN_ERROR_INVALID_ARGUMENT, call, p,
            "the array is read-only, and cannot be an output; pass a copy of it "
            "(quern_array_copy)");
    }
    call->arrays[p] = array;
    return QUERN_OK;
}

/* An array without memory: only its dtype and shape are known. */
static quern_status take_like(qn_call *call, uint32_t p)
{
    const quern_value *v = &call->values[p];
    if (!call->infers) {
        return qn_call_fail_argument(
            QUERN_ERROR_TYPE, call, p,
            "a dtype and a shape without memory are for quern_kernel_infer(); a "
            "call takes arrays");
    }
    if (v->as.like.ndim < 0 || v->as.like.ndim > QUERN_MAX_NDIM ||
        (v->as.like.ndim > 0 && !v->as.like.shape)) {
        return qn_call_fail_argument(QUERN_ERROR_INVALID_ARGUMENT, call, p,
                                     !v->as.like.shape ? "the shape is NULL"
                                                       : "an array has 0 to 32 dimensions");
    }
    quern_status status = make_array(&call->arrays[p], call, (quern_dtype)v->dtype,
                                     (int)v->as.like.ndim, v->as.like.shape);
    return status == QUERN_OK ? QUERN_OK : blame(status, call, p);
}

static quern_status take_number(qn_call *call, uint32_t p, qn_argument_type *type)
{
    const quern_value *v = &call->values[p];
    const qn_parameter *q = &call->kernel->signature.parameters[p];
    quern_dtype dtype = (quern_dtype)v->dtype;
    bool literal = v->kind == QUERN_VALUE_LITERAL;
    if (q->output) {
        return qn_call_fail_argument(QUERN_ERROR_TYPE, call, p,
                                     "an output must be an array, not a number");
    }
    if (!qn_dtype_find(dtype) || (literal && dtype != QUERN_INT64 && dtype != QUERN_FLOAT64 &&
                                  dtype != QUERN_BOOL && dtype != QUERN_COMPLEX128)) {
        return qn_call_fail_argument(
            QUERN_ERROR_INVALID_ARGUMENT, call, p,
            literal ? "a literal is bool, int64, float64 or complex128; another "
                      "dtype makes it a scalar"
                    : "the scalar's dtype is unknown");
    }
    *type = (qn_argument_type){literal ? QN_ARGUMENT_LITERAL : QN_ARGUMENT_SCALAR, dtype};
    return QUERN_OK;
}

static quern_status take_value(qn_call *call, uint32_t p, qn_argument_type *type)
{
    const quern_value *v = &call->values[p];
    const qn_parameter *q = &call->kernel->signature.parameters[p];
    call->arrays[p] = NULL;
    *type = (qn_argument_type){QN_ARGUMENT_ABSENT, QUERN_DTYPE_NONE};
    switch (v->kind) {
    case QUERN_VALUE_ARRAY:
        QN_TRY(take_array(call, p, v->as.array));
        break;
    case QUERN_VALUE_OUTPUT:
        if (!q->output || !v->as.output) {
            return qn_call_fail_argument(QUERN_ERROR_INVALID_ARGUMENT, call, p,
                                         q->output
                                             ? "the place for the output is NULL"
                                             : "an input cannot be given as a place for an output; "
                                               "pass the array itself");
        }
        if (*v->as.output) {
            QN_TRY(take_array(call, p, *v->as.output));
        }
        break;
    case QUERN_VALUE_NONE:
        if (!q->output) {
            return qn_call_fail_argument(QUERN_ERROR_INVALID_ARGUMENT, call, p,
                                         "the input is missing");
        }
        break;
    case QUERN_VALUE_LITERAL:
    case QUERN_VALUE_SCALAR:
        return take_number(call, p, type);
    case QUERN_VALUE_LIKE:
        QN_TRY(take_like(call, p));
        break;
    case QUERN_VALUE_POINTER:
        return qn_call_fail_argument(
            QUERN_ERROR_TYPE, call, p,
            "a pointer is for functions of modules; wrap it as an array, which "
            "says how many elements there are (quern_array_wrap)");
    case QUERN_VALUE_STRUCT:
        return qn_call_take_record(call, p, type);
    case QUERN_VALUE_TEXTURE:
    case QUERN_VALUE_SURFACE:
        return qn_call_fail_argument(QUERN_ERROR_TYPE, call, p,
                                     "textures and surfaces are for functions of modules");
    default:
        return qn_call_fail_argument(QUERN_ERROR_INVALID_ARGUMENT, call, p,
                                     "not a quern_value: its kind is unknown");
    }
    if (call->arrays[p]) {
        *type = (qn_argument_type){QN_ARGUMENT_ARRAY, call->arrays[p]->dtype};
        call->reaches |= call->arrays[p]->reach;
    }
    return QUERN_OK;
}

/* One place cannot take two outputs. */
static quern_status check_places(const qn_call *call)
{
    const qn_signature *s = &call->kernel->signature;
    for (uint32_t p = s->input_count; p < s->count; p++) {
        for (uint32_t q = s->input_count; q < p; q++) {
            if (call->values[p].kind == QUERN_VALUE_OUTPUT &&
                call->values[q].kind == QUERN_VALUE_OUTPUT &&
                call->values[p].as.output == call->values[q].as.output) {
                return qn_call_fail_argument(QUERN_ERROR_INVALID_ARGUMENT, call, p,
                                             "another output was given the same place");
            }
        }
    }
    return QUERN_OK;
}

static quern_status check_count(const quern_kernel *kernel, const quern_value *values, size_t count)
{
    const qn_signature *s = &kernel->signature;
    if (!values && count != 0) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "values is NULL, but count is %zu", count);
    }
    if (count != s->count) {
        return qn_fail(QUERN_ERROR_ARGUMENT_COUNT,
                       "%s takes %u input%s and %u output%s, so %u arguments, but %zu were given",
                       kernel->name, s->input_count, s->input_count == 1 ? "" : "s",
                       s->count - s->input_count, s->count - s->input_count == 1 ? "" : "s",
                       s->count, count);
    }
    return QUERN_OK;
}

/* ---- the loop ------------------------------------------------------------------------------- */

static qn_operand operand_of(const qn_call *call, uint32_t p)
{
    const quern_array *a = call->arrays[p];
    const qn_parameter *q = &call->kernel->signature.parameters[p];
    return (qn_operand){.shape = a->shape,
                        .strides = a->strides,
                        .data = a->data,
                        .ndim = a->ndim,
                        .item_size = a->item_size,
                        .output = q->output,
                        .name = q->name,
                        .loose = a->loose};
}

static void add_operand(qn_call *call, uint32_t p)
{
    call->operand_parameter[call->operand_count] = (uint8_t)p;
    call->operands[call->operand_count++] = operand_of(call, p);
}

static void collect_operands(qn_call *call)
{
    const qn_signature *s = &call->kernel->signature;
    call->operand_count = call->input_operands = 0;
    for (uint32_t p = 0; p < s->count; p++) {
        if (call->arrays[p] && !s->parameters[p].raw) {
            add_operand(call, p);
            call->input_operands += p < s->input_count;
        }
    }
}

/* The loop's shape: what the first `operand_count` operands broadcast to, or the size in the
 * options when there is none. */
static quern_status loop(qn_call *call, uint32_t operand_count, const quern_call_options *options)
{
    const int64_t *size = options ? options->loop_size : NULL;
    if (operand_count != 0) {
        if (size) {
            return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                           "a size may only be given when all arrays are raw; here '%.*s' already "
                           "decides it",
                           (int)call->operands[0].name.length, call->operands[0].name.data);
        }
        return qn_plan_shape(&call->ndim, call->shape, &call->count, call->operands, operand_count);
    }
    if (!size) {
        return qn_fail(
            QUERN_ERROR_INVALID_ARGUMENT,
            "how many elements to loop over is undecided, because no array takes part in "
            "broadcasting: give a size (quern_call_options.loop_size)");
    }
    if (*size < 0) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "the size is %lld, but must not be negative",
                       (long long)*size);
    }
    call->ndim = 1;
    call->shape[0] = call->count = *size;
    return QUERN_OK;
}

/* ---- outputs and overlap -------------------------------------------------------------------- */

/* Allocate the outputs that the caller did not give, with this shape. */
static quern_status make_outputs(qn_call *call, int ndim, const int64_t *shape)
{
    const qn_signature *s = &call->kernel->signature;
    uint32_t owned_before = call->owned_count;
    for (uint32_t p = s->input_count; p < s->count; p++) {
        if (call->arrays[p]) {
            continue;
        }
        QN_TRY(make_array(&call->arrays[p], call, call->types.parameters[p], ndim, shape));
    }
    if (call->owned_count != owned_before) {
        collect_operands(call);
    }
    return QUERN_OK;
}

/* An output that repeats its elements would be written many times over. */
static quern_status check_output(const qn_call *call, uint32_t k)
{
    const qn_operand *o = &call->operands[k];
    for (int d = 0; d < o->ndim; d++) {
        if (o->strides[d] == 0 && o->shape[d] > 1) {
            return qn_call_fail_argument(
                QUERN_ERROR_SHAPE, call, call->operand_parameter[k],
                "an output cannot be a broadcast view, whose elements share memory; "
                "pass a copy");
        }
    }
    return QUERN_OK;
}

static quern_status copy_array(qn_call *call, uint32_t p)
{
    quern_array *a = call->arrays[p], *copy;
    call->overlaps = true;
    QN_TRY(make_array(&copy, call, a->dtype, a->ndim, a->shape));
    if (!call->dry) {
        QN_TRY(qn_array_copy_to(copy, a, call->stream));
    }
    call->arrays[p] = copy;
    return QUERN_OK;
}

static quern_status copy_input(qn_call *call, uint32_t k)
{
    uint32_t p = call->operand_parameter[k];
    QN_TRY(copy_array(call, p));
    call->operands[k] = operand_of(call, p);
    return QUERN_OK;
}

static bool overlaps_output(const qn_call *call, uint32_t p)
{
    const qn_signature *s = &call->kernel->signature;
    const qn_operand input = operand_of(call, p);
    for (uint32_t o = s->input_count; o < s->count; o++) {
        if (call->arrays[o]) {
            const qn_operand output = operand_of(call, o);
            if (qn_operands_overlap(&output, &input) != QN_OVERLAP_NONE) {
                return true;
            }
        }
    }
    return false;
}

/* Any element of a raw input may be read at any time, so it is copied even if it is exactly an
 * output. */
static quern_status copy_raw_inputs(qn_call *call)
{
    const qn_signature *s = &call->kernel->signature;
    for (uint32_t p = 0; p < s->input_count; p++) {
        if (s->parameters[p].raw && call->arrays[p] && overlaps_output(call, p)) {
            QN_TRY(copy_array(call, p));
        }
    }
    return QUERN_OK;
}

/* Refuse outputs that repeat elements, and copy inputs that an output overlaps. An input that is
 * exactly an output needs no copy (call->aliased) where the kind allows it and no text reads others
 * of its elements. */
static quern_status separate(qn_call *call)
{
    for (uint32_t o = 0; o < call->operand_count; o++) {
        if (!call->operands[o].output) {
            continue;
        }
        QN_TRY(check_output(call, o));
        for (uint32_t k = 0; k < call->operand_count; k++) {
            if (call->operands[k].output) {
                continue;
            }
            qn_overlap overlap = qn_operands_overlap(&call->operands[o], &call->operands[k]);
            if (overlap == QN_OVERLAP_SAME && call->kernel->kind->in_place &&
                !call->kernel->uses_array[call->operand_parameter[k]]) {
                call->aliased = true;
            } else if (overlap != QN_OVERLAP_NONE) {
                QN_TRY(copy_input(call, k));
            }
        }
    }
    return copy_raw_inputs(call);
}

/* ---- the whole ------------------------------------------------------------------------------ */

static quern_status check_options(const quern_kernel *kernel, const quern_call_options *o)
{
    if (!o) {
        return QUERN_OK;
    }
    if (!o->axes && o->axis_count != 0) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "axes is NULL, but axis_count is %zu",
                       o->axis_count);
    }
    if (o->axis_count > QUERN_MAX_NDIM) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "axis_count is %zu, and an array has at most %d axes", o->axis_count,
                       QUERN_MAX_NDIM);
    }
    if (o->tune > 1) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "tune is %u, which is neither 0 nor 1",
                       o->tune);
    }
    if (!qn_stream_fits(o->stream, &kernel->engine->home)) {
        return qn_stream_refuse("quern_call_options", o->stream, "kernel", &kernel->engine->home);
    }
    return QUERN_OK;
}

/* Loop, outputs, overlaps, and the kind's plan where there is something to do. */
static quern_status plan(qn_call *call, const quern_call_options *options)
{
    const qn_kind *kind = call->kernel->kind;
    if (kind->check_options && options) {
        QN_TRY(kind->check_options(call->kernel, options));
    }
    QN_TRY(
        loop(call, kind->outputs_broadcast ? call->operand_count : call->input_operands, options));
    if (kind->has_axes) {
        QN_TRY(qn_call_axes(call, options));
        QN_TRY(qn_fold_check_value(call));
    }
    int ndim = call->ndim;
    int64_t own[QUERN_MAX_NDIM], count = call->count;
    const int64_t *shape = call->shape;
    if (kind->output_shape) {
        QN_TRY(kind->output_shape(&ndim, own, &count, call));
        shape = own;
    }
    QN_TRY(qn_plan_outputs(call->operands, call->operand_count, ndim, shape));
    QN_TRY(make_outputs(call, ndim, shape));
    call->empty = count == 0;
    if (call->empty) {
        return QUERN_OK;
    }
    QN_TRY(separate(call));
    if (call->reaches != 0) {
        QN_TRY(qn_call_check_reach(call));
    }
    kind->plan(call);
    const bool tunes = options && options->tune != 0 && !call->set_by && !call->infers;
    QN_TRY(tunes ? call->kernel->engine->tunings->tune(call, options) : QUERN_OK);
    return qn_call_arrange(call);
}

quern_status qn_call_begin(qn_call *call, quern_kernel *kernel, const quern_value *values,
                           size_t count, const quern_call_options *options, qn_call_use use)
{
    return qn_call_begin_set(call, kernel, values, count, options, use, NULL);
}

quern_status qn_call_begin_set(qn_call *call, quern_kernel *kernel, const quern_value *values,
                               size_t count, const quern_call_options *options, qn_call_use use,
                               const qn_setting *setting)
{
    call->kernel = kernel;
    call->owned_count = 0;
    call->mapped = call->aliased = call->overlaps = call->empty = call->structures = false;
    call->reaches = 0;
    call->arranged = 0;
    call->zeroed_bytes = call->scratch_bytes = 0;
    call->dry = use != QN_TO_LAUNCH;
    call->infers = use == QN_TO_INFER;
    call->values = values;
    call->setting = setting ? *setting : (qn_setting){0};
    call->set_by = setting ? "given" : NULL;
    call->tuned_at = 0;
    QN_TRY(check_options(kernel, options));
    QN_TRY(check_count(kernel, values, count));
    call->stream = options ? options->stream : NULL;
    call->block_size = options ? options->block_size : 0;
    call->keepdims = options && options->keepdims != 0;
    qn_argument_type types[QUERN_MAX_PARAMETERS];
    for (uint32_t p = 0; p < count; p++) {
        QN_TRY(take_value(call, p, &types[p]));
    }
    QN_TRY(check_places(call));
    QN_TRY(qn_bind_types(&call->types, &kernel->signature, types));
    if (call->structures) {
        QN_TRY(qn_call_check_records(call));
    }
    collect_operands(call);
    return plan(call, options);
}

void qn_call_publish(qn_call *call)
{
    const qn_signature *s = &call->kernel->signature;
    for (uint32_t p = s->input_count; p < s->count; p++) {
        const quern_value *v = &call->values[p];
        if (v->kind == QUERN_VALUE_OUTPUT && !*v->as.output) {
            *v->as.output = quern_array_retain(qn_call_array(call, p));
        }
    }
}

void qn_call_end(qn_call *call)
{
    for (uint32_t k = 0; k < call->owned_count; k++) {
        quern_array_release(call->owned[k]);
    }
    call->owned_count = 0;
}
