/* SPDX-License-Identifier: MIT
 *
 * call_records: records as arguments, and arrays whose elements nothing may refer to. In: a call on
 * its way. Out: structures checked against the parameters that they are for; an error for what
 * would need a reference to an element that lies off its alignment.
 */
#include "engine/engine_internal.h"
#include <stdio.h>

/* A record by value. One that states its dtype counts as a scalar; else the bytes must fit what the
 * parameter turns out to be. */
quern_status qn_call_take_record(qn_call *call, uint32_t p, qn_argument_type *type)
{
    const quern_value *v = &call->values[p];
    const qn_parameter *q = &call->kernel->signature.parameters[p];
    if (q->output) {
        return qn_call_fail_argument(QUERN_ERROR_TYPE, call, p,
                                     "an output must be an array, not a structure");
    }
    if (!v->as.block.data) {
        return qn_call_fail_argument(QUERN_ERROR_INVALID_ARGUMENT, call, p,
                                     "the structure's address is NULL");
    }
    if (v->dtype != QUERN_DTYPE_NONE && !qn_record_info((quern_dtype)v->dtype)) {
        return qn_call_fail_argument(QUERN_ERROR_INVALID_ARGUMENT, call, p,
                                     "the structure's dtype is not a record");
    }
    if (v->dtype != QUERN_DTYPE_NONE) {
        *type = (qn_argument_type){QN_ARGUMENT_SCALAR, (quern_dtype)v->dtype};
    }
    call->structures = true;
    return QUERN_OK;
}

/* Structures and the parameters they are for, once those have types. */
quern_status qn_call_check_records(const qn_call *call)
{
    for (uint32_t p = 0; p < call->kernel->signature.count; p++) {
        const quern_value *v = &call->values[p];
        const qn_dtype_info *info = qn_dtype_find(call->types.parameters[p]);
        bool record = info->kind == QN_KIND_RECORD;
        if (v->kind != QUERN_VALUE_STRUCT ||
            (record && v->as.block.bytes == info->size &&
             (v->dtype == QUERN_DTYPE_NONE || v->dtype == (int32_t)info->dtype))) {
            continue;
        }
        char what[200];
        if (!record) {
            snprintf(what, sizeof what, "a structure is for records, and the parameter is %s",
                     info->name);
        } else if (v->as.block.bytes == info->size) {
            snprintf(what, sizeof what,
                     "the structure is the record %.60s, and the parameter is %.60s",
                     quern_dtype_name((quern_dtype)v->dtype), info->name);
        } else {
            snprintf(what, sizeof what, "the structure has %llu bytes, and a %.100s has %u",
                     (unsigned long long)v->as.block.bytes, info->name, info->size);
        }
        return qn_call_fail_argument(QUERN_ERROR_TYPE, call, p, what);
    }
    return QUERN_OK;
}

/* A reference to an element that is less aligned than its type would be a fault on a GPU. */
quern_status qn_call_check_reach(const qn_call *call)
{
    const quern_kernel *kernel = call->kernel;
    for (uint32_t p = 0; p < kernel->signature.count; p++) {
        const quern_array *a = call->arrays[p];
        const qn_parameter *q = &kernel->signature.parameters[p];
        bool refers = (q->raw && (q->output || kernel->names & QN_NAMES_CARRAY)) ||
                      kernel->uses_reference[p] || kernel->uses_by_address[p] ||
                      kernel->uses_array[p];
        if (a && qn_array_is_packed(a) && refers) {
            const char *use =
                q->raw && q->output ? "write to those of a raw output" : "take their address";
            char what[200];
            if (a->packed) {
                snprintf(what, sizeof what,
                         "%.80s has fields off their alignment, and to %s needs aligned ones",
                         quern_dtype_name(a->dtype), use);
            } else {
                snprintf(what, sizeof what,
                         "its elements lie at multiples of %u byte%s, and to %s needs multiples of "
                         "%u: pass a copy (quern_array_copy)",
                         a->reach, a->reach == 1 ? "" : "s", use, a->alignment);
            }
            return qn_call_fail_argument(QUERN_ERROR_SHAPE, call, p, what);
        }
    }
    return QUERN_OK;
}
