/* SPDX-License-Identifier: MIT
 *
 * The operators and functions that expressions have. In: a name. Out: its row, which says the rule
 * of its types and how it is written in C++. Where C++ does something else than NumPy (% of
 * negative numbers, min of NaN), the row names a function of templates/expression.cuh, by its
 * namespace.
 */
#include "lang/expressions.h"

#define OWN "quern::expression::"

static const qn_operation operators[] = {
    {"+", 2, QN_RULE_COMMON, QN_FORM_INFIX, "+", NULL},
    {"-", 2, QN_RULE_NUMBER, QN_FORM_INFIX, "-", NULL},
    {"*", 2, QN_RULE_COMMON, QN_FORM_INFIX, "*", NULL},
    {"/", 2, QN_RULE_QUOTIENT, QN_FORM_INFIX, "/", NULL},
    {"//", 2, QN_RULE_REAL, QN_FORM_KINDS, OWN "quotient_of_ints", OWN "quotient_of"},
    {"%", 2, QN_RULE_REAL, QN_FORM_KINDS, OWN "rest_of_ints", OWN "rest_of"},
    {"**", 2, QN_RULE_POWER, QN_FORM_POWER, NULL, NULL},
    {"&", 2, QN_RULE_BITS, QN_FORM_INFIX, "&", NULL},
    {"|", 2, QN_RULE_BITS, QN_FORM_INFIX, "|", NULL},
    {"^", 2, QN_RULE_BITS, QN_FORM_INFIX, "^", NULL},
    {"<<", 2, QN_RULE_SHIFT, QN_FORM_CALL, OWN "shift_left", NULL},
    {">>", 2, QN_RULE_SHIFT, QN_FORM_CALL, OWN "shift_right", NULL},
    {"&&", 2, QN_RULE_LOGIC, QN_FORM_LOGIC, "&&", NULL},
    {"||", 2, QN_RULE_LOGIC, QN_FORM_LOGIC, "||", NULL},
    {"<", 2, QN_RULE_ORDER, QN_FORM_COMPARE, "<", NULL},
    {"<=", 2, QN_RULE_ORDER, QN_FORM_COMPARE, "<=", NULL},
    {">", 2, QN_RULE_ORDER, QN_FORM_COMPARE, ">", NULL},
    {">=", 2, QN_RULE_ORDER, QN_FORM_COMPARE, ">=", NULL},
    {"==", 2, QN_RULE_ORDER, QN_FORM_COMPARE, "==", NULL},
    {"!=", 2, QN_RULE_ORDER, QN_FORM_COMPARE, "!=", NULL},
    {"-", 1, QN_RULE_NUMBER, QN_FORM_PREFIX, "-", NULL},
    {"+", 1, QN_RULE_NUMBER, QN_FORM_SAME, NULL, NULL},
    {"~", 1, QN_RULE_BITS, QN_FORM_PREFIX, "~", NULL},
    {"!", 1, QN_RULE_LOGIC, QN_FORM_LOGIC, "!", NULL},
};

#define FLOAT(name)                                                                                \
    {                                                                                              \
#name, 1, QN_RULE_FLOAT, QN_FORM_CALL, #name, NULL                                         \
    }
#define INVERSE(name) {"arc" #name, 1, QN_RULE_FLOAT, QN_FORM_CALL, "a" #name, NULL}, FLOAT(a##name)
#define REAL_FLOATS(name, cpp)                                                                     \
    {                                                                                              \
        name, 2, QN_RULE_REAL_FLOAT, QN_FORM_CALL, cpp, NULL                                       \
    }
#define LEAST(name)                                                                                \
    {                                                                                              \
        name, 2, QN_RULE_COMMON, QN_FORM_CALL, OWN "least_of", NULL                                \
    }
#define MOST(name)                                                                                 \
    {                                                                                              \
        name, 2, QN_RULE_COMMON, QN_FORM_CALL, OWN "most_of", NULL                                 \
    }
#define POWER(name)                                                                                \
    {                                                                                              \
        name, 2, QN_RULE_POWER, QN_FORM_POWER, NULL, NULL                                          \
    }
#define ROUNDING(name)                                                                             \
    {                                                                                              \
#name, 1, QN_RULE_ROUND, QN_FORM_EXACT, #name, NULL                                        \
    }
#define ASKING(name, of_ints)                                                                      \
    {                                                                                              \
#name, 1, QN_RULE_ASK, QN_FORM_ASK, #name, of_ints                                         \
    }

static const qn_operation functions[] = {
    FLOAT(sqrt),
    FLOAT(exp),
    {"exp2", 1, QN_RULE_FLOAT, QN_FORM_CASES, "exp2", "exp(" OWN "power_of_e"},
    FLOAT(expm1),
    FLOAT(log),
    FLOAT(log2),
    FLOAT(log10),
    FLOAT(log1p),
    FLOAT(sin),
    FLOAT(cos),
    FLOAT(tan),
    FLOAT(sinh),
    FLOAT(cosh),
    FLOAT(tanh),
    INVERSE(sin),
    INVERSE(cos),
    INVERSE(tan),
    INVERSE(sinh),
    INVERSE(cosh),
    INVERSE(tanh),
    FLOAT(rint),
    {"round", 1, QN_RULE_FLOAT, QN_FORM_CALL, "rint", NULL},
    {"cbrt", 1, QN_RULE_REAL_FLOAT, QN_FORM_CALL, "cbrt", NULL},
    {"fabs", 1, QN_RULE_REAL_FLOAT, QN_FORM_CALL, "fabs", NULL},
    {"signbit", 1, QN_RULE_SIGN_BIT, QN_FORM_CALL, "signbit", NULL},
    REAL_FLOATS("hypot", "hypot"),
    REAL_FLOATS("copysign", "copysign"),
    REAL_FLOATS("atan2", "atan2"),
    REAL_FLOATS("arctan2", "atan2"),
    LEAST("min"),
    LEAST("minimum"),
    MOST("max"),
    MOST("maximum"),
    {"fmin", 2, QN_RULE_COMMON, QN_FORM_KINDS, OWN "least_of", "fmin"},
    {"fmax", 2, QN_RULE_COMMON, QN_FORM_KINDS, OWN "most_of", "fmax"},
    {"fmod", 2, QN_RULE_REAL, QN_FORM_KINDS, OWN "fmod_of_ints", "fmod"},
    POWER("pow"),
    POWER("power"),
    ROUNDING(floor),
    ROUNDING(ceil),
    ROUNDING(trunc),
    {"sign", 1, QN_RULE_NUMBER, QN_FORM_CASES, OWN "sign_of", OWN "direction_of"},
    {"abs", 1, QN_RULE_SIZE, QN_FORM_SIZE, NULL, NULL},
    {"conj", 1, QN_RULE_CONJUGATE, QN_FORM_CONJUGATE, "conj", NULL},
    {"real", 1, QN_RULE_SIZE, QN_FORM_PART, "real", NULL},
    {"imag", 1, QN_RULE_SIZE, QN_FORM_PART, "imag", "0"},
    ASKING(isnan, "false"),
    ASKING(isinf, "false"),
    ASKING(isfinite, "true"),
    {"where", 3, QN_RULE_COMMON, QN_FORM_SAME, NULL, NULL}, /* these two are operations of others */
    {"clip", 3, QN_RULE_COMMON, QN_FORM_SAME, NULL, NULL},
};

static const qn_operation *find(const qn_operation *rows, size_t rows_count, qn_str name,
                                size_t count)
{
    for (size_t k = 0; k < rows_count; k++) {
        if (qn_str_is(name, rows[k].name) && (count == 0 || rows[k].count == count)) {
            return &rows[k];
        }
    }
    return NULL;
}

const qn_operation *qn_operator_find(qn_str name, size_t count)
{
    return find(operators, QN_COUNT(operators), name, count);
}

const qn_operation *qn_function_find(qn_str name)
{
    return find(functions, QN_COUNT(functions), name, 0);
}

quern_dtype qn_conversion_find(qn_str name)
{
    if (qn_str_is(name, "int")) {
        return QUERN_INT64; /* Python's and NumPy's names, not C's */
    }
    if (qn_str_is(name, "float")) {
        return QUERN_FLOAT64;
    }
    for (int d = QUERN_BOOL; d <= QUERN_COMPLEX128; d++) {
        if (qn_str_is(name, quern_dtype_name((quern_dtype)d))) {
            return (quern_dtype)d;
        }
    }
    return QUERN_DTYPE_NONE;
}

const char *qn_function_suggest(qn_str name)
{
    const char *known[QN_COUNT(functions) + QUERN_COMPLEX128];
    size_t count = 0;
    for (; count < QN_COUNT(functions); count++) {
        known[count] = functions[count].name;
    }
    for (int d = QUERN_BOOL; d <= QUERN_COMPLEX128; d++) {
        known[count++] = quern_dtype_name((quern_dtype)d);
    }
    return qn_name_suggest(name, known, count);
}
