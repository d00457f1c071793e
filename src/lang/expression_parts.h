/* SPDX-License-Identifier: MIT
 *
 * What the parser of expressions has in hand: the state of one text, and its parts, which are made
 * of others by expression_apply.c.
 */
#ifndef QN_EXPRESSION_PARTS_H
#define QN_EXPRESSION_PARTS_H

#include "lang/expressions.h"

/** A part of the expression. */
typedef struct qn_part {
    qn_value_type type;
    const char *text;         /**< its C++, in the arena */
    size_t begin, end;        /**< in the expression */
    uint32_t depth;           /**< of operations in `text` */
    const char *mark;         /**< the operator that it is, unless it is in parentheses; or NULL */
    qn_expression_name *name; /**< of the value that it is, or NULL */
    bool is_number;           /**< a plain number of the text that is not complex */
    bool is_integer;          /**< the same: an integer, whose value is known */
    bool is_truth;            /**< a bool that is made of plain numbers alone */
    bool negative;
    uint64_t magnitude;
} qn_part;

typedef struct qn_parser {
    qn_arena *arena;
    qn_str text;
    qn_expression_name *names;
    size_t name_count;
    qn_expression_token token; /**< the next one */
    uint32_t depth;            /**< of what is open */
    qn_text statements;        /**< parts that were put in front, because they are deep */
    uint32_t statement_count;
    bool uses_helpers;
} qn_parser;

/* ---- expression_number.c: numbers of the text ----------------------------------------------- */

/** The number of the current token. */
quern_status qn_part_number(qn_part *out, qn_parser *parser);
/** The number that a known name stands for (pi, true); false: it is none. */
bool qn_part_constant(qn_part *out, qn_str name, size_t begin, size_t end);
/** The same number with the other sign. */
quern_status qn_part_negate(qn_part *out, qn_parser *parser, const qn_part *number, size_t begin);
/** A truth as Python counts it: a plain integer, 1 or 0. */
quern_status qn_part_count_truth(qn_part *part, qn_parser *parser);
/** Compute with two integers of the text, as Python does, or (*computed false) leave it to the
 * device. */
quern_status qn_part_compute(bool *computed, qn_part *out, qn_parser *parser,
                             const qn_operation *operation, const qn_part *parts);
/** A known integer's C++. */
quern_status qn_part_write_integer(qn_part *part, qn_parser *parser);

/* ---- expression_apply.c: operations --------------------------------------------------------- */

/** C++ of a part as a value of a dtype. `checks`: a plain integer must fit it. */
quern_status qn_part_convert(const char **out, qn_parser *parser, qn_part *part, quern_dtype dtype,
                             bool checks);
/** The operation of `count` parts, [begin, end) of the text. */
quern_status qn_part_apply(qn_part *out, qn_parser *parser, const qn_operation *operation,
                           qn_part *parts, size_t count, size_t begin, size_t end);
/** condition ? yes : no, of three parts. */
quern_status qn_part_choose(qn_part *out, qn_parser *parser, qn_part *parts, size_t begin);

/** The text in the arena, and `text` freed. */
quern_status qn_part_keep(const char **out, qn_parser *parser, qn_text *text);

#endif /* QN_EXPRESSION_PARTS_H */
