/* SPDX-License-Identifier: MIT
 *
 * Operations of expressions. In: an operation and its parts. Out: a part with its type and its C++.
 * The thing to know: C++ that has become deep is put in front, as a variable of its own, so that no
 * compiler has to nest what a person wrote as a long sum.
 */
#include "base/cpp_text.h"
#include "lang/expression_parts.h"
#include <inttypes.h>

#define DEEP 64 /* operations within each other */

/* ---- conversions ---------------------------------------------------------------------------- */

static bool fits(const qn_part *part, quern_dtype dtype)
{
    const qn_dtype_info *info = qn_dtype_find(dtype);
    const unsigned bits = info->size * 8;
    if (info->kind == QN_KIND_UINT) {
        return !part->negative && (bits == 64 || part->magnitude >> bits == 0);
    }
    const uint64_t limit = UINT64_C(1) << (bits - 1);
    return part->magnitude < limit || (part->negative && part->magnitude == limit);
}

static quern_status check_fits(const qn_parser *parser, qn_part *part, quern_dtype dtype)
{
    const char *name = quern_dtype_name(dtype);
    if (part->is_integer && !fits(part, dtype)) {
        return QN_REFUSE(QUERN_ERROR_VALUE, parser->text, part->begin, part->end,
                         "%s%" PRIu64 " does not fit %s", part->negative ? "-" : "",
                         part->magnitude, name);
    }
    if (part->name && !qn_expression_narrow(part->name, dtype)) {
        return QN_REFUSE(QUERN_ERROR_TYPE, parser->text, part->begin, part->end,
                         "%.*s becomes %s here, and %s elsewhere: convert it in one place, as by "
                         "%s(%.*s)",
                         (int)part->name->name.length, part->name->name.data, name,
                         quern_dtype_name(part->name->narrow), name, (int)part->name->name.length,
                         part->name->name.data);
    }
    return QUERN_OK;
}

quern_status qn_part_convert(const char **out, qn_parser *parser, qn_part *part, quern_dtype dtype,
                             bool checks)
{
    const qn_dtype_kind kind = qn_dtype_find(dtype)->kind;
    if (checks && part->type.weak && part->type.dtype == QUERN_INT64 &&
        (kind == QN_KIND_INT || kind == QN_KIND_UINT)) {
        QN_TRY(check_fits(parser, part, dtype));
    }
    *out = part->text;
    if (part->type.dtype == dtype && !part->type.weak) {
        return QUERN_OK;
    }
    qn_text text = {0};
    qn_expression_convert(&text, part->text, part->type.dtype, dtype);
    return qn_part_keep(out, parser, &text);
}

/* Finish a part whose C++ is in `text`: it may be put in front. */
static quern_status finish(qn_part *part, qn_parser *parser, qn_text *text)
{
    QN_TRY(qn_part_keep(&part->text, parser, text));
    if (part->depth < DEEP) {
        return QUERN_OK;
    }
    qn_text name = {0};
    qn_text_printf(&parser->statements, "const auto _part%u = %s;\n", parser->statement_count,
                   part->text);
    qn_text_printf(&name, "_part%u", parser->statement_count++);
    part->depth = 0;
    return qn_part_keep(&part->text, parser, &name);
}

static uint32_t depth_over(const qn_part *parts, size_t count)
{
    uint32_t depth = 0;
    for (size_t k = 0; k < count; k++) {
        depth = QN_MAX(depth, parts[k].depth);
    }
    return depth + 1;
}

/* ---- operations ----------------------------------------------------------------------------- */

static quern_status refuse_types(const qn_parser *parser, const qn_operation *operation,
                                 const qn_part *parts, size_t count, size_t begin, size_t end)
{
    return QN_REFUSE(QUERN_ERROR_TYPE, parser->text, begin, end,
                     "\"%s\" is not defined for %s%s%s, as in NumPy", operation->name,
                     qn_value_type_name(parts[0].type), count > 1 ? " and " : "",
                     count > 1 ? qn_value_type_name(parts[1].type) : "");
}

/* What NumPy would do, but seldom as it is meant, or not at all. */
static quern_status check_meaning(const qn_parser *parser, const qn_written *w,
                                  const qn_part *parts, size_t begin, size_t end)
{
    const qn_operation *o = w->operation;
    if (o->form == QN_FORM_COMPARE && qn_is_kind(w->loop[0], QN_KIND_COMPLEX) &&
        (o->call[0] == '<' || o->call[0] == '>')) {
        return QN_REFUSE(QUERN_ERROR_TYPE, parser->text, begin, end,
                         "\"%s\" of complex numbers has no order: compare abs() or real()",
                         o->name);
    }
    if (o->form == QN_FORM_POWER && qn_is_integral(w->loop[0]) && parts[1].is_integer &&
        parts[1].negative) {
        return QN_REFUSE(QUERN_ERROR_SIGNATURE, parser->text, begin, end,
                         "an integer has no negative power that is one: write x ** -%" PRIu64 ".0",
                         parts[1].magnitude);
    }
    return QUERN_OK;
}

/* Plain numbers alone are computed with their own types, and what they give is plain, too. */
static bool all_weak(const qn_part *parts, size_t count)
{
    bool weak = true;
    for (size_t k = 0; k < count; k++) {
        weak &= parts[k].type.weak;
    }
    return weak;
}

/* True and False are 1 and 0 where Python computes with plain numbers alone, that is, with
 * operators other than comparisons, and those of bits of two truths. *plain: they are alone. */
static quern_status count_truths(bool *plain, qn_parser *parser, const qn_operation *operation,
                                 qn_part *parts, size_t count)
{
    bool numbers = count == 1;
    *plain = true;
    for (size_t k = 0; k < count; k++) {
        *plain &= parts[k].type.weak || parts[k].is_truth;
        numbers |= parts[k].type.weak;
    }
    const qn_type_rule rule = operation->rule;
    if (!*plain || qn_is_word(operation->name[0]) || rule == QN_RULE_LOGIC ||
        rule == QN_RULE_ORDER || (rule == QN_RULE_BITS && !numbers)) {
        return QUERN_OK;
    }
    for (size_t k = 0; k < count; k++) {
        if (parts[k].is_truth) {
            QN_TRY(qn_part_count_truth(&parts[k], parser));
        }
    }
    return QUERN_OK;
}

static qn_value_type result_of(quern_dtype dtype, bool weak)
{
    return (qn_value_type){dtype, weak && dtype != QUERN_BOOL};
}

quern_status qn_part_apply(qn_part *out, qn_parser *parser, const qn_operation *operation,
                           qn_part *parts, size_t count, size_t begin, size_t end)
{
    qn_written w = {.operation = operation};
    qn_value_type operands[3] = {0};
    quern_dtype result;
    bool plain;
    QN_TRY(count_truths(&plain, parser, operation, parts, count));
    const bool weak = all_weak(parts, count);
    for (size_t k = 0; k < count; k++) {
        operands[k] = (qn_value_type){parts[k].type.dtype, parts[k].type.weak && !weak};
    }
    if (!qn_rule_apply(w.loop, &result, operation->rule, operands, count)) {
        return refuse_types(parser, operation, parts, count, begin, end);
    }
    QN_TRY(check_meaning(parser, &w, parts, begin, end));
    qn_part made = {.depth = depth_over(parts, count), .type = result_of(result, weak)};
    made.is_truth = plain && result == QUERN_BOOL;
    bool computed = false;
    if (count == 2 && weak) {
        QN_TRY(qn_part_compute(&computed, &made, parser, operation, parts));
    }
    if (computed) {
        made.begin = begin;
        made.end = end;
        *out = made;
        return QUERN_OK;
    }
    const bool exact = operation->rule == QN_RULE_ORDER && w.loop[0] != w.loop[1];
    for (size_t k = 0; k < count; k++) {
        QN_TRY(qn_part_convert(&w.parts[k], parser, &parts[k], w.loop[k], !weak && !exact));
    }
    w.squares = count == 2 && parts[1].is_integer && !parts[1].negative && parts[1].magnitude == 2;
    qn_text text = {0};
    qn_text_printf(&text, "static_cast<%s>(", qn_dtype_find(result)->c_name);
    qn_expression_write(&text, &w);
    qn_text_puts(&text, ")");
    parser->uses_helpers |= w.uses_helpers;
    made.begin = begin;
    made.end = end;
    *out = made;
    return finish(out, parser, &text);
}

quern_status qn_part_choose(qn_part *out, qn_parser *parser, qn_part *parts, size_t begin)
{
    const char *condition, *yes, *no;
    const qn_value_type met = qn_value_types_meet(parts[1].type, parts[2].type);
    qn_part made = {.depth = depth_over(parts, 3), .begin = begin, .end = parts[2].end};
    made.type = result_of(met.dtype, met.weak);
    QN_TRY(qn_part_convert(&condition, parser, &parts[0], QUERN_BOOL, true));
    QN_TRY(qn_part_convert(&yes, parser, &parts[1], met.dtype, !met.weak));
    QN_TRY(qn_part_convert(&no, parser, &parts[2], met.dtype, !met.weak));
    qn_text text = {0};
    qn_text_printf(&text, "(%s ? %s : %s)", condition, yes, no);
    *out = made;
    return finish(out, parser, &text);
}
