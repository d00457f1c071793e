/* SPDX-License-Identifier: MIT
 *
 * The types of operations as NumPy 2 has them. In: the operands' types. Out: what they are
 * converted to, and the result's dtype. The thing to know: tests/unit/lang/numpy_types.txt has
 * NumPy's own answers for every rule and every pair of types. bfloat16 is as ml_dtypes has it.
 */
#include "lang/expressions.h"

/* ---- what two types become together --------------------------------------------------------- */

static quern_dtype signed_of(uint32_t size)
{
    return size == 1 ? QUERN_INT8 : size == 2 ? QUERN_INT16 : size == 4 ? QUERN_INT32 : QUERN_INT64;
}

/* The float that holds every number of an integer dtype, as far as float64 does. */
static quern_dtype float_of(quern_dtype integer)
{
    const uint32_t size = qn_dtype_find(integer)->size;
    return size == 1 ? QUERN_FLOAT16 : size == 2 ? QUERN_FLOAT32 : QUERN_FLOAT64;
}

static quern_dtype integers_meet(const qn_dtype_info *a, const qn_dtype_info *b)
{
    if (a->kind == b->kind || a->kind == QN_KIND_BOOL || b->kind == QN_KIND_BOOL) {
        const bool first =
            a->kind != QN_KIND_BOOL && (b->kind == QN_KIND_BOOL || a->size > b->size);
        return first ? a->dtype : b->dtype;
    }
    const qn_dtype_info *i = a->kind == QN_KIND_INT ? a : b, *u = i == a ? b : a;
    if (i->size > u->size) {
        return i->dtype;
    }
    return u->size == 8 ? QUERN_FLOAT64 : signed_of(2 * u->size);
}

static quern_dtype floats_meet(const qn_dtype_info *a, const qn_dtype_info *b)
{
    if (a->size == b->size) {
        return a->dtype == b->dtype ? a->dtype : QUERN_FLOAT32; /* float16 and bfloat16 */
    }
    return a->size > b->size ? a->dtype : b->dtype;
}

/* Of a complex dtype the dtype of its parts, of a bool or an integer the float that goes with
 * `other`, which a small integer does not widen. */
static const qn_dtype_info *as_float(const qn_dtype_info *a, const qn_dtype_info *other)
{
    if (a->kind == QN_KIND_COMPLEX) {
        return qn_dtype_find(a->size == 8 ? QUERN_FLOAT32 : QUERN_FLOAT64);
    }
    if (a->kind == QN_KIND_FLOAT) {
        return a;
    }
    return a->size == 1 && other->kind == QN_KIND_FLOAT ? other : qn_dtype_find(float_of(a->dtype));
}

static quern_dtype strong_meet(quern_dtype one, quern_dtype two)
{
    const qn_dtype_info *a = qn_dtype_find(one), *b = qn_dtype_find(two);
    if (a->kind <= QN_KIND_UINT && b->kind <= QN_KIND_UINT) {
        return integers_meet(a, b);
    }
    const quern_dtype real = floats_meet(as_float(a, b), as_float(b, a));
    if (a->kind != QN_KIND_COMPLEX && b->kind != QN_KIND_COMPLEX) {
        return real;
    }
    return real == QUERN_FLOAT64 ? QUERN_COMPLEX128 : QUERN_COMPLEX64;
}

/* A plain number with an array: it widens only to another kind. */
static quern_dtype weak_meet(quern_dtype array, quern_dtype number)
{
    const qn_dtype_info *a = qn_dtype_find(array), *n = qn_dtype_find(number);
    if (a->kind == QN_KIND_BOOL) {
        return number;
    }
    if (n->kind == QN_KIND_INT || a->kind == QN_KIND_COMPLEX) {
        return array;
    }
    if (a->kind != QN_KIND_FLOAT) {
        return number;
    }
    if (n->kind == QN_KIND_COMPLEX) {
        return array == QUERN_FLOAT64 ? QUERN_COMPLEX128 : QUERN_COMPLEX64;
    }
    return array == QUERN_BFLOAT16 ? QUERN_FLOAT32 : array; /* which ml_dtypes widens */
}

qn_value_type qn_value_types_meet(qn_value_type a, qn_value_type b)
{
    qn_value_type met = {QUERN_DTYPE_NONE, a.weak && b.weak};
    met.dtype = a.weak == b.weak ? strong_meet(a.dtype, b.dtype)
                : a.weak         ? weak_meet(b.dtype, a.dtype)
                                 : weak_meet(a.dtype, b.dtype);
    return met;
}

/* ---- rules ---------------------------------------------------------------------------------- */

static quern_dtype without_bool(quern_dtype dtype)
{
    return dtype == QUERN_BOOL ? QUERN_INT8 : dtype;
}

static quern_dtype real_of(quern_dtype dtype)
{
    return dtype == QUERN_COMPLEX64    ? QUERN_FLOAT32
           : dtype == QUERN_COMPLEX128 ? QUERN_FLOAT64
                                       : dtype;
}

/* The float that a function computes with: of two integers the larger of theirs, although their
 * common type may be larger still. */
static quern_dtype float_for(quern_dtype common, const qn_value_type *operands, size_t count)
{
    if (!qn_is_integral(common)) {
        return common;
    }
    quern_dtype most = QUERN_FLOAT16;
    for (size_t k = 0; k < count; k++) {
        const bool follows = operands[k].weak && operands[1 - k].dtype != QUERN_BOOL;
        const quern_dtype own = follows ? QUERN_FLOAT16 : float_of(operands[k].dtype);
        most = strong_meet(most, own);
    }
    return most;
}

/* The dtype that all operands are converted to; QUERN_DTYPE_NONE: they are refused. */
static quern_dtype loop_of(qn_type_rule rule, quern_dtype common, const qn_value_type *operands,
                           size_t count)
{
    const bool is_complex = qn_is_kind(common, QN_KIND_COMPLEX);
    switch (rule) {
    case QN_RULE_NUMBER:
        return common == QUERN_BOOL ? QUERN_DTYPE_NONE : common;
    case QN_RULE_QUOTIENT:
        return qn_is_integral(common) ? QUERN_FLOAT64 : common;
    case QN_RULE_REAL:
        return is_complex ? QUERN_DTYPE_NONE : without_bool(common);
    case QN_RULE_ROUND:
        return is_complex ? QUERN_DTYPE_NONE : common;
    case QN_RULE_POWER:
    case QN_RULE_CONJUGATE:
        return without_bool(common);
    case QN_RULE_BITS:
        return qn_is_integral(common) ? common : QUERN_DTYPE_NONE;
    case QN_RULE_SHIFT:
        return qn_is_integral(common) ? without_bool(common) : QUERN_DTYPE_NONE;
    case QN_RULE_REAL_FLOAT:
    case QN_RULE_SIGN_BIT:
        return is_complex ? QUERN_DTYPE_NONE : float_for(common, operands, count);
    case QN_RULE_FLOAT:
        return float_for(common, operands, count);
    default:
        return common;
    }
}

/* Integers with and without a sign are compared as they are, and a plain integer as one of 64 bits,
 * so that no number is taken for another. */
static void compare_exactly(quern_dtype *loop, const qn_value_type *operands)
{
    for (size_t k = 0; k < 2; k++) {
        if (!qn_is_integral(operands[k].dtype)) {
            return;
        }
    }
    const bool weak = operands[0].weak != operands[1].weak;
    if (weak || !qn_is_integral(loop[0])) {
        loop[0] = operands[0].dtype;
        loop[1] = operands[1].dtype;
    }
}

bool qn_rule_apply(quern_dtype *loop, quern_dtype *result, qn_type_rule rule,
                   const qn_value_type *operands, size_t count)
{
    qn_value_type met = operands[0];
    for (size_t k = 1; k < count; k++) {
        met = qn_value_types_meet(met, operands[k]);
    }
    const quern_dtype common = loop_of(rule, met.dtype, operands, count);
    if (common == QUERN_DTYPE_NONE) {
        return false;
    }
    for (size_t k = 0; k < count; k++) {
        loop[k] = rule == QN_RULE_LOGIC ? operands[k].dtype : common;
    }
    if (rule == QN_RULE_ORDER) {
        compare_exactly(loop, operands);
    }
    const bool asks = rule == QN_RULE_LOGIC || rule == QN_RULE_ORDER || rule == QN_RULE_ASK ||
                      rule == QN_RULE_SIGN_BIT;
    *result = asks ? QUERN_BOOL : rule == QN_RULE_SIZE ? real_of(common) : common;
    return true;
}

const char *qn_value_type_name(qn_value_type operand)
{
    if (!operand.weak) {
        return quern_dtype_name(operand.dtype);
    }
    return operand.dtype == QUERN_INT64     ? "int"
           : operand.dtype == QUERN_FLOAT64 ? "float"
                                            : "complex";
}
