/* SPDX-License-Identifier: MIT
 *
 * Expressions: a part of lang with a header of its own. In: an expression in the manner of C, such
 * as "sqrt(x*x + y*y)", and what each of its names stands for. Out: the texts of an elementwise
 * kernel, and the dtype of its output. The thing to know: every operation has the dtype and the
 * meaning that NumPy 2 gives it, and a plain number is *weak*: it widens no array.
 *
 *     text  --token-->  tokens  --expression-->  operations  --types, write-->  C++
 */
#ifndef QN_EXPRESSION_H
#define QN_EXPRESSION_H

#include "lang/lang.h"

#define QN_EXPRESSION_HEADER "#include <quern/expression.cuh>\n"

/** The type of a part of an expression. Weak: bool never, int64, float64, complex128. */
typedef struct qn_value_type {
    quern_dtype dtype;
    bool weak;
} qn_value_type;

/* ---- expression_token.c --------------------------------------------------------------------- */

typedef enum qn_token_class {
    QN_CLASS_END,
    QN_CLASS_NAME,
    QN_CLASS_INTEGER,
    QN_CLASS_REAL,
    QN_CLASS_IMAGINARY, /**< a number that ends in j */
    QN_CLASS_OPERATOR,  /**< one of those that expressions have, or a parenthesis or a comma */
} qn_token_class;

/** Bytes [begin, end) of the text. */
typedef struct qn_expression_token {
    qn_token_class class;
    size_t begin, end;
} qn_expression_token;

/** The token from byte `at` on. QUERN_ERROR_SIGNATURE: what stands there has no meaning. */
quern_status qn_expression_next(qn_expression_token *out, qn_str text, size_t at);
/** Fail about bytes [begin, end) of the expression. */
#define QN_REFUSE(status, text, begin, end, ...)                                                   \
    qn_fail_at((status), "expression", (text), (begin), (end), __VA_ARGS__)

/* ---- expression_types.c: NumPy's types ------------------------------------------------------ */

/** How NumPy finds the types of an operation. The comments say what is special. */
typedef enum qn_type_rule {
    QN_RULE_COMMON,     /**< the operands' common type */
    QN_RULE_NUMBER,     /**< no bool */
    QN_RULE_QUOTIENT,   /**< integers become float64 */
    QN_RULE_REAL,       /**< bool becomes int8, and complex is refused */
    QN_RULE_POWER,      /**< bool becomes int8 */
    QN_RULE_BITS,       /**< bool and integers */
    QN_RULE_SHIFT,      /**< integers; bool becomes int8 */
    QN_RULE_LOGIC,      /**< each operand as it is; the result is bool */
    QN_RULE_ORDER,      /**< the common type, exact for integers; the result is bool */
    QN_RULE_FLOAT,      /**< small integers become small floats */
    QN_RULE_REAL_FLOAT, /**< the same without complex */
    QN_RULE_SIGN_BIT,   /**< the same; the result is bool */
    QN_RULE_ROUND,      /**< as it is; no complex */
    QN_RULE_SIZE,       /**< as it is; the result is real */
    QN_RULE_CONJUGATE,  /**< as it is; bool becomes int8 */
    QN_RULE_ASK,        /**< as it is; the result is bool */
} qn_type_rule;

/** The type that values of both types become together; a weak one only if both are. */
qn_value_type qn_value_types_meet(qn_value_type a, qn_value_type b);
/** The dtypes `loop` that an operation's `count` operands are converted to, and its result's.
 * False: NumPy has no such operation. No operand is weak, or they are not all. */
bool qn_rule_apply(quern_dtype *loop, quern_dtype *result, qn_type_rule rule,
                   const qn_value_type *operands, size_t count);
static inline bool qn_is_kind(quern_dtype dtype, qn_dtype_kind kind)
{
    return qn_dtype_find(dtype)->kind == kind;
}
/** bool, signed, unsigned. */
static inline bool qn_is_integral(quern_dtype dtype)
{
    return qn_dtype_find(dtype)->kind <= QN_KIND_UINT;
}
/** A type as messages name it: "float32", or of plain numbers "float". */
const char *qn_value_type_name(qn_value_type operand);

/* ---- expression_functions.c: operators and functions ---------------------------------------- */

/** How an operation is written in C++: `call` is a function, and `other` a second one. */
typedef enum qn_form {
    QN_FORM_INFIX,   /**< x call y */
    QN_FORM_PREFIX,  /**< call x; of a bool always !x */
    QN_FORM_LOGIC,   /**< the same of what is not 0 */
    QN_FORM_COMPARE, /**< x call y, also of integers with and without a sign */
    QN_FORM_CALL,    /**< call(x, y) */
    QN_FORM_KINDS,   /**< call() of integers, other() of floats */
    QN_FORM_CASES,   /**< call() of reals, other() of complex numbers */
    QN_FORM_POWER,
    QN_FORM_EXACT,     /**< call(x), which leaves integers as they are */
    QN_FORM_ASK,       /**< call(x), which is `other` of integers */
    QN_FORM_SIZE,      /**< abs(x), or x where it has no sign */
    QN_FORM_CONJUGATE, /**< call(x) of complex numbers */
    QN_FORM_PART,      /**< x.call() of complex numbers; of others x, or `other` where it is set */
    QN_FORM_SAME,      /**< x */
} qn_form;

typedef struct qn_operation {
    const char *name; /**< as it is written in an expression */
    uint8_t count;    /**< operands */
    qn_type_rule rule;
    qn_form form;
    const char *call, *other;
} qn_operation;

/** The operator of one or two operands, or the function, of that name; NULL: there is none. */
const qn_operation *qn_operator_find(qn_str name, size_t count);
const qn_operation *qn_function_find(qn_str name);
/** The name close to `name` of a function or a conversion, or NULL. */
const char *qn_function_suggest(qn_str name);
/** "float32" as a function; QUERN_DTYPE_NONE: it is none. */
quern_dtype qn_conversion_find(qn_str name);

/* ---- expression_write.c: C++ of one operation ------------------------------------------------ */

/** One operation, its operands as C++ of the dtypes `loop`. */
typedef struct qn_written {
    const qn_operation *operation;
    const char *parts[3];
    quern_dtype loop[3];
    bool squares;      /**< the second operand is the number 2 */
    bool uses_helpers; /**< set: the C++ names functions of quern/expression.cuh */
} qn_written;

/** C++ of it, added to `out`. Halves are computed as float. */
void qn_expression_write(qn_text *out, qn_written *w);
/** C++ `text` of a dtype as a value of another, added to `out`. */
void qn_expression_convert(qn_text *out, const char *text, quern_dtype from, quern_dtype to);

/* ---- expression_names.c: names that stand for values ---------------------------------------- */

/** A name, and what it stands for. */
typedef struct qn_expression_name {
    qn_str name;
    qn_value_type type;
    quern_dtype narrow; /**< of a weak integer: the dtype that it must fit, or NONE */
    bool used;
    const char *parameter; /**< what it is called in C++ */
} qn_expression_name;

/** Choose names for C++: the same, where it means nothing there. False: out of memory. */
bool qn_expression_rename(qn_arena *arena, qn_expression_name *names, size_t count);
/** An integer that is a plain number becomes `dtype`. False: it is to be another dtype elsewhere,
 * and no dtype holds just what fits both. */
bool qn_expression_narrow(qn_expression_name *name, quern_dtype dtype);
/** The dtype of its parameter. */
quern_dtype qn_expression_parameter_dtype(const qn_expression_name *name);

/* ---- expression.c: the grammar -------------------------------------------------------------- */

/** The texts of a kernel; all are in the arena. */
typedef struct qn_expression {
    quern_dtype dtype; /**< of the output */
    const char *in, *out, *operation, *preamble;
} qn_expression;

/** Parse. `names` has `count` entries, whose last three fields need not be set; their parameters
 * have their order. `dtype`: of the output; QUERN_DTYPE_NONE: the one that NumPy's rules give.
 * Errors, with a span of "expression": QUERN_ERROR_SIGNATURE, _NAME, _TYPE, _VALUE,
 * _ARGUMENT_COUNT. */
quern_status qn_expression_make(qn_expression *out, qn_arena *arena, const char *text,
                                qn_expression_name *names, size_t count, quern_dtype dtype);

#endif /* QN_EXPRESSION_H */
