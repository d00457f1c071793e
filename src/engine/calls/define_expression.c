/* SPDX-License-Identifier: MIT
 *
 * define_expression: kernels that are defined by an expression. In: a text, names and their values.
 * Out: an elementwise kernel, whose texts lang/expressions.h has made.
 */
#include "engine/engine_internal.h"
#include "lang/expressions.h"
#include <quern/expression.h>

/* What the type of a value is; of its number or its memory nothing is needed. */
static quern_status type_of(qn_value_type *out, const quern_value *value, const char *name)
{
    switch (value->kind) {
    case QUERN_VALUE_ARRAY:
        QN_CHECK_OBJECT(value->as.array, QN_OBJECT_ARRAY);
        out->dtype = value->as.array->dtype;
        break;
    case QUERN_VALUE_LITERAL:
        out->dtype = (quern_dtype)value->dtype;
        out->weak = value->dtype != QUERN_BOOL;
        break;
    case QUERN_VALUE_SCALAR:
    case QUERN_VALUE_LIKE:
        out->dtype = (quern_dtype)value->dtype;
        break;
    default:
        return qn_fail(QUERN_ERROR_TYPE,
                       "the value of \"%s\" is neither an array nor a number: an expression has no "
                       "others",
                       name);
    }
    const bool plain =
        out->dtype == QUERN_INT64 || out->dtype == QUERN_FLOAT64 || out->dtype == QUERN_COMPLEX128;
    const qn_dtype_info *info = qn_dtype_find(out->dtype);
    if (!info || out->dtype < QUERN_BOOL || out->dtype > QUERN_COMPLEX128 ||
        (out->weak && !plain)) {
        return qn_fail(QUERN_ERROR_TYPE,
                       "\"%s\" is %s, which expressions do not know: they have bool, integers, "
                       "floats of 16 bits and more, and complex numbers",
                       name, info ? info->name : "of no dtype");
    }
    return QUERN_OK;
}

/* A name that the text could not have. */
static quern_status check_name(const char *name, qn_expression_name *names, size_t k)
{
    qn_expression_token token;
    const qn_str text = qn_str_of(name);
    if (qn_expression_next(&token, text, 0) != QUERN_OK || token.class != QN_CLASS_NAME ||
        token.begin > 0 || token.end < text.length) {
        return qn_fail(QUERN_ERROR_NAME,
                       "\"%s\" cannot be a name in an expression: use letters, digits and "
                       "underscores, and no digit first",
                       name);
    }
    for (size_t j = 0; j < k; j++) {
        if (qn_str_same(names[j].name, text)) {
            return qn_fail(QUERN_ERROR_NAME, "\"%s\" is given two values", name);
        }
    }
    names[k].name = text;
    return QUERN_OK;
}

static quern_status take_values(qn_expression_name *out, const char *const *names,
                                const quern_value *values, size_t count)
{
    if (count > QUERN_MAX_PARAMETERS - 1) {
        return qn_fail(QUERN_ERROR_ARGUMENT_COUNT,
                       "%zu values are given, and an expression has at most %d", count,
                       QUERN_MAX_PARAMETERS - 1);
    }
    for (size_t k = 0; k < count; k++) {
        if (!names[k]) {
            return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "name %zu is NULL", k);
        }
        out[k] = (qn_expression_name){0};
        QN_TRY(check_name(names[k], out, k));
        QN_TRY(type_of(&out[k].type, &values[k], names[k]));
    }
    return QUERN_OK;
}

static quern_status check_dtype(quern_dtype dtype)
{
    if (dtype >= QUERN_DTYPE_NONE && dtype <= QUERN_COMPLEX128) {
        return QUERN_OK;
    }
    return qn_fail(QUERN_ERROR_TYPE, "the output of an expression cannot be of dtype %d%s%s%s",
                   (int)dtype, qn_dtype_find(dtype) ? " (" : "",
                   qn_dtype_find(dtype) ? qn_dtype_find(dtype)->name : "",
                   qn_dtype_find(dtype) ? ")" : "");
}

static quern_status define(quern_kernel **kernel, quern_engine *engine, const qn_expression *texts,
                           const quern_expression_options *o)
{
    return qn_kernel_new(kernel, engine,
                         &(qn_definition){
                             .kind = &qn_elementwise_kind,
                             .in = texts->in,
                             .out = texts->out,
                             .name = o->name ? o->name : "quern_expression",
                             .texts = {[QN_OPERATION] = {"operation", texts->operation},
                                       [QN_PREAMBLE] = {"preamble", texts->preamble},
                                       [QN_LOOP_PREP] = {"loop_prep", NULL},
                                       [QN_AFTER_LOOP] = {"after_loop", NULL}},
                             .options = o->options,
                             .option_count = o->option_count,
                         });
}

quern_status quern_expression(quern_kernel **kernel, quern_engine *engine, const char *expression,
                              const char *const *names, const quern_value *values, size_t count,
                              const quern_expression_options *options)
{
    qn_error_reset();
    QN_CHECK_OUT(kernel);
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    QN_CHECK_NOT_NULL(expression);
    if (count > 0) {
        QN_CHECK_NOT_NULL(names);
        QN_CHECK_NOT_NULL(values);
    }
    QN_TAKE(quern_expression_options, o, options);
    QN_TRY(check_dtype((quern_dtype)o.dtype));
    qn_expression_name own[QUERN_MAX_PARAMETERS];
    QN_TRY(take_values(own, names, values, count));
    qn_arena arena = {0};
    qn_expression texts;
    quern_status status =
        qn_expression_make(&texts, &arena, expression, own, count, (quern_dtype)o.dtype);
    if (status == QUERN_OK) {
        status = define(kernel, engine, &texts, &o);
    }
    qn_arena_free(&arena);
    return status;
}
