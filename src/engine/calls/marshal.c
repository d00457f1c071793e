/* SPDX-License-Identifier: MIT
 *
 * marshal: the parameters of a call. In: a planned call. Out: the block with every parameter of the
 * generated kernel, in its order: the signature's parameters, the walk, the workspace. The thing to
 * know: the kernel's kind packs the walk, and device_layout.c makes room and writes the structures.
 */
#include "engine/engine_internal.h"
#include <math.h>
#include <string.h>

static quern_status put_raw(qn_parameter_block *block, const qn_call *call, uint32_t p)
{
    const quern_array *a = call->arrays[p];
    const qn_raw_array fields = {.data = a->data,
                                 .size = a->count,
                                 .shape = a->shape,
                                 .strides = a->strides,
                                 .parameter = p};
    const bool checked =
        call->kernel->engine->checks_bounds && !(call->kernel->names & QN_NAMES_CARRAY);
    return qn_put_raw_array(block, call, &fields, checked, a->ndim);
}

/* ---- scalars and the whole ------------------------------------------------------------------ */

/* Losing a fraction is seldom meant: a warning says so, once per parameter. */
static void tell_fraction(quern_kernel *kernel, uint32_t parameter, quern_dtype dtype, double value)
{
    const uint64_t bit = UINT64_C(1) << parameter;
    const qn_str name = kernel->signature.parameters[parameter].name;
    if ((atomic_fetch_or(&kernel->fractions_told, bit) & bit) == 0) {
        qn_log(&kernel->engine->home.logger, QN_WARN,
               "%.15g becomes %.15g for parameter \"%.*s\", which is %s; round it, or declare the "
               "parameter with a float type",
               value, trunc(value), (int)name.length, name.data, quern_dtype_name(dtype));
    }
}

/* The numbers that most calls have: their own dtype, or a literal's in half the bytes. False, and
 * nothing is written: any other, and what may not fit. */
static bool put_common(void *bytes, quern_dtype dtype, const quern_value *v)
{
    const bool own = v->dtype == (int32_t)dtype, literal = v->kind == QUERN_VALUE_LITERAL;
    if (dtype == QUERN_FLOAT32 && (own || (literal && v->dtype == QUERN_FLOAT64))) {
        const float real = (float)v->as.real;
        if (isfinite(real)) {
            memcpy(bytes, &real, sizeof real);
        }
        return isfinite(real);
    }
    if (dtype == QUERN_INT32 && (own || (literal && v->dtype == QUERN_INT64))) {
        const int32_t integer = (int32_t)v->as.integer;
        if (integer == v->as.integer) {
            memcpy(bytes, &integer, sizeof integer);
        }
        return integer == v->as.integer;
    }
    if (own && (dtype == QUERN_FLOAT64 || dtype == QUERN_INT64)) {
        memcpy(bytes, &v->as, 8);
        return true;
    }
    return false;
}

quern_status qn_marshal_scalar(void *bytes, quern_kernel *kernel, uint32_t parameter,
                               quern_dtype dtype, const quern_value *value)
{
    if (value->kind == QUERN_VALUE_STRUCT) { /* its size was checked when types were bound */
        memcpy(bytes, value->as.block.data, quern_dtype_size(dtype));
        return QUERN_OK;
    }
    if (put_common(bytes, dtype, value)) {
        return QUERN_OK;
    }
    unsigned char converted[16];
    bool cut;
    QN_TRY(qn_scalar_convert(converted, dtype, value, kernel->signature.parameters[parameter].name,
                             &cut));
    if (cut) {
        tell_fraction(kernel, parameter, dtype, value->as.real);
    }
    memcpy(bytes, converted, quern_dtype_size(dtype));
    return QUERN_OK;
}

static quern_status put_parameter(qn_parameter_block *block, const qn_call *call, uint32_t p,
                                  const void *base)
{
    const quern_array *a = call->arrays[p];
    const qn_dtype_info *info = a ? NULL : qn_dtype_find(call->types.parameters[p]);
    unsigned char *to;
    QN_TRY(qn_block_reserve(&to, block, call, a ? 8 : info->size, a ? 8 : info->alignment));
    if (a) {
        memcpy(to, &base, 8);
        return QUERN_OK;
    }
    return qn_marshal_scalar(to, call->kernel, p, call->types.parameters[p], &call->values[p]);
}

quern_status qn_marshal(qn_parameter_block *block, const qn_call *call, void *workspace)
{
    const qn_kind *kind = call->kernel->kind;
    const qn_signature *s = &call->kernel->signature;
    char *const *bases = kind->bases(call);
    block->count = block->used = block->extra = 0;
    for (uint32_t p = 0, k = 0; p < s->count; p++) {
        const quern_array *a = call->arrays[p];
        if (a && s->parameters[p].raw) {
            QN_TRY(put_raw(block, call, p));
        } else {
            QN_TRY(put_parameter(block, call, p, a ? bases[k++] : NULL));
        }
    }
    QN_TRY(kind->walk(block, call));
    if (workspace) {
        unsigned char *to;
        QN_TRY(qn_block_reserve(&to, block, call, 8, 8));
        memcpy(to, &workspace, 8);
    }
    return QUERN_OK;
}
