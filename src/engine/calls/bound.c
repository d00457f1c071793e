/* SPDX-License-Identifier: MIT
 *
 * bound: a call that is checked and packed once and launched many times. In: the same values as a
 * call. Out: a parameter block and a launch that only goes to the driver. The thing to know: a
 * bound call holds its arrays and its stream; replacing one goes through all checks again,
 * launching goes through none.
 */
#include "engine/workspace.h"
#include <string.h>

struct quern_bound {
    uint32_t object; /* QN_OBJECT_BOUND */
    atomic_uint references;
    quern_kernel *kernel; /* retained */
    quern_device *device;
    quern_status (*launch)(quern_device *, void *, const quern_launch_config *, void **);
    void *function;
    quern_launch_config config;
    bool empty;  /* nothing to do: no elements */
    bool copies; /* operands are copied: each launch is a call, with memory of its own */
    bool failed; /* the last launch failed; it may have left counters in the workspace */
    quern_call_options options; /* stream retained */
    int axes[QUERN_MAX_NDIM];   /* those of the options */
    int64_t loop_size;          /* that of the options */
    qn_types types;
    qn_setting setting;                       /* of its plan, whatever is measured later */
    quern_value values[QUERN_MAX_PARAMETERS]; /* arrays retained; outputs as arrays */
    size_t count;
    qn_workspace *workspace; /* its own; NULL: none is needed */
    qn_parameter_block block;
};

static void release_values(quern_bound *bound)
{
    for (size_t p = 0; p < bound->count; p++) {
        if (bound->values[p].kind == QUERN_VALUE_ARRAY) {
            quern_array_release(bound->values[p].as.array);
        } else if (bound->values[p].kind == QUERN_VALUE_STRUCT) {
            qn_free((void *)bound->values[p].as.block.data);
        }
    }
}

/* For later calls on the stream, unless a launch that failed may have left counters in it. */
static void give_back_workspace(quern_bound *bound)
{
    if (bound->failed) {
        qn_workspace_free(bound->workspace);
    } else {
        qn_workspace_put(bound->workspace);
    }
}

/* Check `call`, which has all its arrays, and pack it into `bound`. */
static quern_status pack(quern_bound *bound, qn_call *call)
{
    if (call->overlaps) {
        return qn_fail(
            QUERN_ERROR_INVALID_ARGUMENT,
            "an output partly overlaps an input, which would have to be copied before each "
            "launch: bind separate arrays, or use quern_call");
    }
    if (call->empty) {
        bound->types = call->types;
        bound->empty = true;
        return QUERN_OK;
    }
    qn_specialization *z;
    quern_launch_config config;
    qn_workspace *workspace;
    QN_TRY(qn_specialize(&z, call));
    bound->copies = call->arranged != 0;
    QN_TRY(qn_call_pack(&bound->block, &config, &workspace, call, z));
    give_back_workspace(bound);
    bound->workspace = workspace;
    bound->failed = false;
    bound->types = call->types;
    bound->setting = call->setting;
    bound->empty = false;
    bound->config = config;
    bound->function = z->function;
    return QUERN_OK;
}

/* Copies of the structures among the values, which are the caller's only during the call. */
static quern_status keep_structures(quern_bound *bound, const qn_call *call, size_t count)
{
    for (size_t p = 0; p < count && call->structures; p++) {
        if (call->values[p].kind == QUERN_VALUE_STRUCT) {
            const size_t bytes = call->values[p].as.block.bytes;
            void *copy = qn_alloc(bytes);
            if (!copy) {
                return qn_fail_memory("binding a call");
            }
            memcpy(copy, call->values[p].as.block.data, bytes);
            bound->values[p] = call->values[p];
            bound->values[p].as.block.data = copy;
        }
        bound->count = p + 1; /* for release_values(), should a later one fail */
    }
    return QUERN_OK;
}

/* Keep the values of a call: outputs become arrays. */
static void keep_values(quern_bound *bound, const qn_call *call)
{
    for (size_t p = 0; p < bound->count; p++) {
        if (call->values[p].kind == QUERN_VALUE_STRUCT) {
            continue;
        }
        bound->values[p] = call->values[p];
        if (call->arrays[p]) {
            quern_array *own = qn_call_array(call, (uint32_t)p);
            bound->values[p] = quern_value_array(quern_array_retain(own));
        }
    }
}

/* Keep the options of a call that has been checked, and what they point to. */
static void keep_options(quern_bound *bound, const quern_call_options *options)
{
    bound->options = (quern_call_options)QUERN_CALL_OPTIONS_INIT;
    if (options) {
        bound->options = *options;
        (void)qn_stream_retain(options->stream);
    }
    if (bound->options.axes) {
        memcpy(bound->axes, options->axes, options->axis_count * sizeof *bound->axes);
        bound->options.axes = bound->axes;
    }
    if (bound->options.loop_size) {
        bound->loop_size = *options->loop_size;
        bound->options.loop_size = &bound->loop_size;
    }
}

/* Memory of the call would belong to the graph. */
static quern_status refuse_captured(const char *function, const quern_stream *stream)
{
    return qn_stream_captures(stream)
               ? qn_capture_refuse(function, ": bind, and replace arrays, before its capture; "
                                             "launches are recorded")
               : QUERN_OK;
}

quern_status quern_bind(quern_bound **bound, quern_kernel *kernel, const quern_value *values,
                        size_t count, const quern_call_options *options)
{
    qn_error_reset();
    QN_CHECK_OUT(bound);
    QN_CHECK_OBJECT(kernel, QN_OBJECT_KERNEL);
    QN_TAKE_IN_PLACE(quern_call_options, options);
    if (options && qn_object_is(options->stream, QN_OBJECT_STREAM)) {
        QN_TRY(refuse_captured(__func__, options->stream));
    }
    quern_bound *made = qn_calloc(1, sizeof *made);
    if (!made) {
        return qn_fail_memory("binding a call");
    }
    qn_call call;
    quern_status status = qn_call_begin(&call, kernel, values, count, options, QN_TO_LAUNCH);
    if (status == QUERN_OK) {
        status = keep_structures(made, &call, count);
    }
    if (status == QUERN_OK) {
        status = pack(made, &call);
    }
    if (status != QUERN_OK) {
        qn_call_end(&call);
        release_values(made);
        qn_free(made);
        return status;
    }
    made->object = QN_OBJECT_BOUND;
    atomic_init(&made->references, 1);
    made->count = count;
    made->kernel = quern_kernel_retain(kernel);
    made->device = kernel->engine->home.device;
    made->launch = kernel->engine->home.methods->launch;
    keep_options(made, options);
    keep_values(made, &call);
    qn_call_publish(&call);
    qn_call_end(&call);
    *bound = made;
    return QUERN_OK;
}

static void argument(const void *context, uint32_t index, qn_str *name, const quern_array **array)
{
    const quern_bound *bound = context;
    const qn_signature *s = &bound->kernel->signature;
    if (index < s->count) {
        *name = s->parameters[index].name;
        *array =
            bound->values[index].kind == QUERN_VALUE_ARRAY ? bound->values[index].as.array : NULL;
    }
}

static void tell(const quern_bound *bound)
{
    if (bound->kernel->engine->tells_launches) {
        qn_tell_launch(bound->kernel->engine, bound->kernel->name, &bound->config);
    }
}

static quern_status explained(const quern_bound *bound, quern_status status)
{
    if (status != QUERN_OK) {
        qn_explain_failure(&(qn_failure){bound->kernel->texts, QN_TEXTS, argument, bound});
    }
    return status;
}

/* A launch that is recorded keeps its arrays, and has a workspace of its own: the graph may be
 * launched beside this call. */
static quern_status record(quern_bound *bound)
{
    qn_workspace *own = NULL;
    void *pointers[QN_COUNT(bound->block.pointers)];
    quern_stream *stream = bound->options.stream;
    memcpy(pointers, bound->block.pointers, sizeof pointers);
    QN_TRY(qn_capture_use(stream));
    QN_TRY(qn_values_keep(bound->values, bound->count, stream));
    if (bound->workspace) {
        QN_TRY(qn_workspace_capture(&own, bound->kernel->engine, stream, bound->workspace->zeroed,
                                    bound->workspace->bytes - bound->workspace->zeroed));
        pointers[bound->block.count - 1] = &own->pointer;
    }
    tell(bound);
    return explained(bound,
                     bound->launch(bound->device, bound->function, &bound->config, pointers));
}

quern_status quern_launch(quern_bound *bound)
{
    qn_error_reset();
    QN_CHECK_OBJECT(bound, QN_OBJECT_BOUND);
    if (bound->empty) {
        return QUERN_OK;
    }
    if (bound->copies) {
        return qn_call_run(bound->kernel, bound->values, bound->count, &bound->options);
    }
    if (qn_stream_captures(bound->options.stream)) {
        return record(bound);
    }
    if (bound->failed && bound->workspace) {
        QN_TRY(qn_workspace_clear(bound->workspace));
    }
    tell(bound);
    const quern_status status =
        explained(bound, bound->launch(bound->device, bound->function, &bound->config,
                                       bound->block.pointers));
    bound->failed = status != QUERN_OK;
    return status;
}

/* ---- replacing arguments -------------------------------------------------------------------- */

static quern_status check_index(const quern_bound *bound, size_t index, quern_value_kind kind)
{
    if (index >= bound->count) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "there is no argument %zu: the call was bound with %zu, counted from 0",
                       index, bound->count);
    }
    bool array = bound->values[index].kind == QUERN_VALUE_ARRAY;
    if (array != (kind == QUERN_VALUE_ARRAY)) {
        return qn_fail(QUERN_ERROR_TYPE, "argument %zu was bound as %s", index,
                       array ? "an array" : "a number");
    }
    return QUERN_OK;
}

static quern_status fail_layout(size_t index, const char *what, const char *unit, qn_text *was,
                                qn_text *is)
{
    quern_status status =
        qn_fail(QUERN_ERROR_SHAPE,
                "argument %zu was bound with %s %s%s, but this array has %s; a replacement must "
                "have the same dtype, shape and strides",
                index, what, was->data ? was->data : "", unit, is->data ? is->data : "");
    qn_text_free(was);
    qn_text_free(is);
    return status;
}

/* Refuse an array with another dtype, shape or strides; say what was bound and what was given. */
static quern_status check_layout(size_t index, const quern_array *old, const quern_array *array)
{
    size_t bytes = (size_t)old->ndim * sizeof(int64_t);
    qn_text was = {0}, is = {0};
    if (array->dtype != old->dtype) {
        qn_text_puts(&was, quern_dtype_name(old->dtype));
        qn_text_puts(&is, quern_dtype_name(array->dtype));
        return fail_layout(index, "dtype", "", &was, &is);
    }
    if (array->ndim != old->ndim || memcmp(array->shape, old->shape, bytes) != 0) {
        qn_shape_print(&was, old->ndim, old->shape);
        qn_shape_print(&is, array->ndim, array->shape);
        return fail_layout(index, "shape", "", &was, &is);
    }
    if (memcmp(array->strides, old->strides, bytes) != 0) {
        qn_shape_print(&was, old->ndim, old->strides);
        qn_shape_print(&is, array->ndim, array->strides);
        return fail_layout(index, "strides", " in bytes", &was, &is);
    }
    return QUERN_OK;
}

quern_status quern_bound_set_array(quern_bound *bound, size_t index, quern_array *array)
{
    qn_error_reset();
    QN_CHECK_OBJECT(bound, QN_OBJECT_BOUND);
    QN_TRY(check_index(bound, index, QUERN_VALUE_ARRAY));
    QN_CHECK_OBJECT(array, QN_OBJECT_ARRAY);
    QN_TRY(refuse_captured(__func__, bound->options.stream));
    quern_array *old = bound->values[index].as.array;
    QN_TRY(check_layout(index, old, array));
    bound->values[index].as.array = array;
    qn_call call;
    quern_status status = qn_call_begin_set(&call, bound->kernel, bound->values, bound->count,
                                            &bound->options, QN_TO_LAUNCH, &bound->setting);
    if (status == QUERN_OK) {
        status = pack(bound, &call);
    }
    qn_call_end(&call);
    if (status != QUERN_OK) {
        bound->values[index].as.array = old;
        return status;
    }
    (void)quern_array_retain(array);
    quern_array_release(old);
    return QUERN_OK;
}

/* Another structure of the same size in the place of one. */
static quern_status replace_structure(quern_bound *bound, size_t index, const quern_value *value)
{
    const quern_value *old = &bound->values[index];
    if (value->kind != QUERN_VALUE_STRUCT || value->as.block.bytes != old->as.block.bytes ||
        !value->as.block.data ||
        (value->dtype != QUERN_DTYPE_NONE &&
         value->dtype != (int32_t)bound->types.parameters[index])) {
        return qn_fail(QUERN_ERROR_TYPE,
                       "argument %zu was bound as a %s, and can only be replaced by another "
                       "structure of %llu bytes",
                       index, quern_dtype_name(bound->types.parameters[index]),
                       (unsigned long long)old->as.block.bytes);
    }
    memcpy((void *)old->as.block.data, value->as.block.data, old->as.block.bytes);
    if (!bound->empty) {
        memcpy(bound->block.pointers[index], value->as.block.data, old->as.block.bytes);
    }
    return QUERN_OK;
}

quern_status quern_bound_set_scalar(quern_bound *bound, size_t index, quern_value value)
{
    qn_error_reset();
    QN_CHECK_OBJECT(bound, QN_OBJECT_BOUND);
    QN_TRY(check_index(bound, index, QUERN_VALUE_SCALAR));
    if (bound->values[index].kind == QUERN_VALUE_STRUCT) {
        return replace_structure(bound, index, &value);
    }
    if (value.kind != QUERN_VALUE_LITERAL && value.kind != QUERN_VALUE_SCALAR) {
        return qn_fail(QUERN_ERROR_TYPE, "argument %zu can only be replaced by a number", index);
    }
    if (!bound->empty) {
        QN_TRY(qn_marshal_scalar(bound->block.pointers[index], bound->kernel, (uint32_t)index,
                                 bound->types.parameters[index], &value));
    }
    if (bound->empty) {
        bound->values[index] = value;
    } else { /* a new number takes the dtype that the parameter is bound to */
        bound->values[index] =
            qn_scalar_value(bound->types.parameters[index], bound->block.pointers[index]);
    }
    return QUERN_OK;
}

quern_bound *quern_bound_retain(quern_bound *bound)
{
    if (qn_object_is(bound, QN_OBJECT_BOUND)) {
        atomic_fetch_add_explicit(&bound->references, 1, memory_order_relaxed);
    }
    return bound;
}

void quern_bound_release(quern_bound *bound)
{
    if (!qn_object_can_free(__func__, bound, QN_OBJECT_BOUND) ||
        atomic_fetch_sub_explicit(&bound->references, 1, memory_order_acq_rel) != 1) {
        return;
    }
    qn_object_end(&bound->object);
    release_values(bound);
    give_back_workspace(bound);
    qn_stream_release(bound->options.stream);
    quern_kernel_release(bound->kernel);
    qn_free(bound);
}
