/* SPDX-License-Identifier: MIT
 *
 * ask: what a kernel is made of, and what a call of it would give. In: a kernel, and values as for
 * a call. Out: texts, parameters, dtypes and shapes. The thing to know: inferring is the first half
 * of a call, with arrays that have no memory, so the two cannot differ.
 */
#include "engine/engine_internal.h"
#include <string.h>

/* ---- what it is made of --------------------------------------------------------------------- */

/* A text that may be missing: NULL where it is. */
static const char *optional(const quern_kernel *kernel, qn_text_id id)
{
    const char *text = kernel->texts[id].text;
    return text[0] != '\0' ? text : NULL;
}

quern_status quern_kernel_get_info(quern_kernel_info *info, quern_kernel *kernel)
{
    qn_error_reset();
    QN_TO_GIVE(quern_kernel_info, own, info);
    QN_CHECK_OBJECT(kernel, QN_OBJECT_KERNEL);
    const qn_signature *s = &kernel->signature;
    own.kind = (int32_t)kernel->kind->number;
    own.in_count = s->input_count;
    own.out_count = s->count - s->input_count;
    own.parameter_count = s->count;
    own.name = kernel->name;
    own.in = s->in_text;
    own.out = s->out_text;
    if (kernel->kind->number == QUERN_KERNEL_ELEMENTWISE) {
        own.operation = kernel->texts[QN_OPERATION].text;
    } else {
        own.map = kernel->texts[QN_MAP].text;
        own.reduce = kernel->texts[QN_REDUCE].text;
        own.post = kernel->texts[QN_POST].text;
    }
    own.identity = optional(kernel, QN_IDENTITY);
    own.reduce_type = optional(kernel, QN_REDUCE_TYPE);
    own.preamble = optional(kernel, QN_PREAMBLE);
    own.loop_prep = optional(kernel, QN_LOOP_PREP);
    own.after_loop = optional(kernel, QN_AFTER_LOOP);
    QN_GIVE(quern_kernel_info, own, info);
    return QUERN_OK;
}

quern_status quern_kernel_sources(size_t *count, const char **sources, size_t capacity,
                                  quern_kernel *kernel)
{
    qn_error_reset();
    QN_CHECK_NOT_NULL(count);
    *count = 0;
    QN_CHECK_OBJECT(kernel, QN_OBJECT_KERNEL);
    if (capacity > 0) {
        QN_CHECK_NOT_NULL(sources);
    }
    const qn_specialization *z =
        atomic_load_explicit(&kernel->specializations, memory_order_acquire);
    for (; z; z = z->next) {
        if (*count < capacity) {
            sources[*count] = z->source;
        }
        ++*count;
    }
    return QUERN_OK;
}

quern_status quern_kernel_get_parameter(quern_parameter_info *info, quern_kernel *kernel,
                                        size_t index)
{
    qn_error_reset();
    QN_TO_GIVE(quern_parameter_info, own, info);
    QN_CHECK_OBJECT(kernel, QN_OBJECT_KERNEL);
    if (index >= kernel->signature.count) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "%s has no parameter %zu: it has %u, counted from 0", kernel->name, index,
                       kernel->signature.count);
    }
    const qn_parameter *p = &kernel->signature.parameters[index];
    own.dtype = (int32_t)p->dtype;
    own.name = kernel->parameter_names[index];
    own.type = kernel->parameter_types[index];
    own.is_output = p->output;
    own.is_raw = p->raw;
    own.is_const = p->is_const;
    QN_GIVE(quern_parameter_info, own, info);
    return QUERN_OK;
}

/* ---- what a call would give ----------------------------------------------------------------- */

static void describe(quern_array_info *own, const quern_array *array)
{
    own->dtype = (int32_t)array->dtype;
    own->ndim = array->ndim;
    if (array->ndim > 0) {
        memcpy(own->shape, array->shape, (size_t)array->ndim * sizeof *own->shape);
    }
}

/* Fill the caller's entries. Each is as large as the first one's `size` says. */
static void give_outputs(quern_array_info *outputs, size_t capacity, const qn_call *call)
{
    const qn_signature *s = &call->kernel->signature;
    uint32_t stride = capacity > 0 ? outputs->size : 0;
    for (uint32_t k = 0; k < s->count - s->input_count && k < capacity; k++) {
        quern_array_info own = QUERN_ARRAY_INFO_INIT;
        quern_array_info *to = (quern_array_info *)((unsigned char *)outputs + (size_t)k * stride);
        describe(&own, call->arrays[s->input_count + k]);
        to->size = stride;
        QN_GIVE(quern_array_info, own, to);
    }
}

/* The first half of a call, whose outputs may be left out: `all` has room for those. */
static quern_status begin(qn_call *call, quern_value *all, quern_kernel *kernel,
                          const quern_value *values, size_t count,
                          const quern_call_options *options)
{
    const qn_signature *s = &kernel->signature;
    if (count == s->input_count && (values || count == 0)) {
        memset(all, 0, s->count * sizeof *all); /* no output is given */
        if (count > 0) {
            memcpy(all, values, count * sizeof *all);
        }
        values = all;
        count = s->count;
    }
    return qn_call_begin(call, kernel, values, count, options, QN_TO_INFER);
}

quern_status quern_kernel_infer(quern_array_info *outputs, size_t capacity, quern_kernel *kernel,
                                const quern_value *values, size_t count,
                                const quern_call_options *options)
{
    qn_error_reset();
    if (capacity > 0) {
        QN_TRY(qn_prefix_check(QN_PREFIX(quern_array_info), __func__, "outputs", outputs));
    }
    QN_CHECK_OBJECT(kernel, QN_OBJECT_KERNEL);
    QN_TAKE_IN_PLACE(quern_call_options, options);
    quern_value all[QUERN_MAX_PARAMETERS];
    qn_call call;
    quern_status status = begin(&call, all, kernel, values, count, options);
    if (status == QUERN_OK) {
        give_outputs(outputs, capacity, &call);
    }
    qn_call_end(&call);
    return status;
}

quern_status qn_kernel_prepare(quern_kernel *kernel, const quern_value *values, size_t count,
                               const quern_call_options *options)
{
    QN_TAKE_IN_PLACE(quern_call_options, options);
    quern_value all[QUERN_MAX_PARAMETERS];
    qn_call call;
    quern_status status = begin(&call, all, kernel, values, count, options);
    if (status == QUERN_OK && !call.empty) {
        qn_specialization *made;
        status = qn_specialize(&made, &call);
    }
    qn_call_end(&call);
    return status;
}
