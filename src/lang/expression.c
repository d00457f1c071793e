/* SPDX-License-Identifier: MIT
 *
 * The grammar of expressions: C's, with ** and // of Python. In: a text, and what its names are.
 * Out: the texts of an elementwise kernel.
 *
 *     ternary = binary ("?" ternary ":" ternary)?
 *     binary  = unary (operator unary)*              by `levels`, from || to *
 *     unary   = ("-" | "+" | "!" | "~") unary | power
 *     power   = primary ("**" unary)?
 *     primary = number | name | name "(" ternary ("," ternary)* ")" | "(" ternary ")"
 *
 * Each rule has a function of its name. Where C and Python read a text differently, parentheses are
 * asked for.
 */
#include "lang/expression_parts.h"

#define MOST_OPEN 200 /* parentheses, calls and signs within each other */

static const char *const levels[][5] = {
    {"||"},
    {"&&"},
    {"|"},
    {"^"},
    {"&"},
    {"==", "!="},
    {"<", "<=", ">", ">="},
    {"<<", ">>"},
    {"+", "-"},
    {"*", "/", "//", "%"},
};

/* Words of Python, and what is written here. */
static const struct {
    const char *word, *meant;
} words[] = {{"and", "&&"}, {"or", "||"}, {"not", "!"}, {"if", "condition ? value : other value"}};

static quern_status ternary(qn_part *out, qn_parser *p);

/* ---- tokens --------------------------------------------------------------------------------- */

static qn_str token_text(const qn_parser *p)
{
    return (qn_str){p->text.data + p->token.begin, p->token.end - p->token.begin};
}

static quern_status advance(qn_parser *p)
{
    return qn_expression_next(&p->token, p->text, p->token.end);
}

static bool is_at(const qn_parser *p, const char *operator)
{
    return p->token.class == QN_CLASS_OPERATOR && qn_str_is(token_text(p), operator);
}

static const char *meant_by(qn_str word)
{
    for (size_t k = 0; k < QN_COUNT(words); k++) {
        if (qn_str_is(word, words[k].word)) {
            return words[k].meant;
        }
    }
    return NULL;
}

static quern_status unexpected(const qn_parser *p)
{
    const qn_expression_token *t = &p->token;
    const qn_str word = token_text(p);
    if (t->class == QN_CLASS_END) { /* shown at what is there last */
        size_t end = t->end;
        while (end > 0 && (unsigned char)p->text.data[end - 1] <= ' ') {
            end--;
        }
        return QN_REFUSE(QUERN_ERROR_SIGNATURE, p->text, end - (end > 0), end,
                         "the expression ends too early");
    }
    const char *meant = meant_by(word);
    if (meant) {
        return QN_REFUSE(QUERN_ERROR_SIGNATURE, p->text, t->begin, t->end,
                         "\"%.*s\" is no operator here: write %s", (int)word.length, word.data,
                         meant);
    }
    return QN_REFUSE(QUERN_ERROR_SIGNATURE, p->text, t->begin, t->end,
                     "\"%.*s\" was not expected here", (int)word.length, word.data);
}

static quern_status need(qn_parser *p, const char *operator)
{
    return is_at(p, operator) ? advance(p) : unexpected(p);
}

/* ---- names and calls ------------------------------------------------------------------------ */

static quern_status unknown_value(const qn_parser *p, qn_str name, size_t begin)
{
    const char *known[QUERN_MAX_PARAMETERS + 3];
    size_t count = 0;
    for (; count < p->name_count; count++) {
        known[count] =
            qn_arena_strndup(p->arena, p->names[count].name.data, p->names[count].name.length);
        if (!known[count]) {
            return qn_fail_memory("parsing an expression");
        }
    }
    known[count++] = "pi";
    known[count++] = "true";
    known[count++] = "false";
    const char *near = qn_name_suggest(name, known, count);
    if (near) {
        return QN_REFUSE(QUERN_ERROR_NAME, p->text, begin, begin + name.length,
                         "\"%.*s\" is not known; did you mean \"%s\"?", (int)name.length, name.data,
                         near);
    }
    return QN_REFUSE(QUERN_ERROR_NAME, p->text, begin, begin + name.length,
                     "\"%.*s\" is not known: give its value, %.*s=...", (int)name.length, name.data,
                     (int)name.length, name.data);
}

static quern_status named(qn_part *out, qn_parser *p, qn_str name, size_t begin)
{
    *out = (qn_part){.begin = begin, .end = begin + name.length};
    for (size_t k = 0; k < p->name_count; k++) {
        if (qn_str_same(name, p->names[k].name)) {
            p->names[k].used = true;
            out->name = &p->names[k];
            out->type = p->names[k].type;
            out->text = p->names[k].parameter;
            return QUERN_OK;
        }
    }
    return qn_part_constant(out, name, begin, begin + name.length) ? QUERN_OK
                                                                   : unknown_value(p, name, begin);
}

static quern_status unknown_function(const qn_parser *p, qn_str name, size_t begin)
{
    const char *near = qn_function_suggest(name);
    return QN_REFUSE(QUERN_ERROR_NAME, p->text, begin, begin + name.length,
                     "there is no function \"%.*s\"%s%s%s", (int)name.length, name.data,
                     near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

/* The arguments of a call, behind its parenthesis, and the end of it. */
static quern_status arguments(qn_part *parts, size_t *count, size_t *end, qn_parser *p)
{
    *count = 0;
    do {
        qn_part part;
        QN_TRY(*count > 0 ? advance(p) : QUERN_OK);
        QN_TRY(ternary(&part, p));
        parts[QN_MIN(*count, 3)] = part;
        ++*count;
    } while (is_at(p, ","));
    *end = p->token.end;
    return need(p, ")");
}

static quern_status clip(qn_part *out, qn_parser *p, qn_part *parts, size_t begin, size_t end)
{
    qn_part both[2];
    QN_TRY(qn_part_apply(&both[0], p, qn_function_find(QN_STR("max")), parts, 2, begin, end));
    both[1] = parts[2];
    return qn_part_apply(out, p, qn_function_find(QN_STR("min")), both, 2, begin, end);
}

static quern_status called(qn_part *out, qn_parser *p, qn_str name, size_t begin)
{
    qn_part parts[4] = {0};
    size_t count, end;
    QN_TRY(arguments(parts, &count, &end, p));
    const quern_dtype dtype = qn_conversion_find(name);
    const qn_operation *function = qn_function_find(name);
    if (dtype == QUERN_DTYPE_NONE && !function) {
        return unknown_function(p, name, begin);
    }
    const size_t takes = function ? function->count : 1;
    if (count != takes) {
        return QN_REFUSE(QUERN_ERROR_ARGUMENT_COUNT, p->text, begin, end,
                         "%.*s() takes %zu value%s, and is given %zu", (int)name.length, name.data,
                         takes, takes == 1 ? "" : "s", count);
    }
    if (!function) {
        *out = (qn_part){.type = {dtype, false}, .begin = begin, .end = end};
        out->depth = parts[0].depth + 1;
        return qn_part_convert(&out->text, p, &parts[0], dtype, false);
    }
    if (takes < 3) {
        return qn_part_apply(out, p, function, parts, count, begin, end);
    }
    return qn_str_is(name, "clip") ? clip(out, p, parts, begin, end)
                                   : qn_part_choose(out, p, parts, begin);
}

/* ---- rules ---------------------------------------------------------------------------------- */

static quern_status primary(qn_part *out, qn_parser *p)
{
    const size_t begin = p->token.begin;
    const qn_str name = token_text(p);
    if (p->token.class == QN_CLASS_NAME && !meant_by(name)) {
        QN_TRY(advance(p));
        if (!is_at(p, "(")) {
            return named(out, p, name, begin);
        }
        QN_TRY(advance(p));
        return called(out, p, name, begin);
    }
    if (p->token.class == QN_CLASS_END || p->token.class == QN_CLASS_NAME) {
        return unexpected(p);
    }
    if (p->token.class != QN_CLASS_OPERATOR) {
        QN_TRY(qn_part_number(out, p));
        return advance(p);
    }
    QN_TRY(need(p, "("));
    QN_TRY(ternary(out, p));
    out->begin = begin;
    out->end = p->token.end;
    out->mark = NULL;
    return need(p, ")");
}

static quern_status unary(qn_part *out, qn_parser *p);

static quern_status power(qn_part *out, qn_parser *p)
{
    qn_part parts[2];
    QN_TRY(primary(&parts[0], p));
    *out = parts[0];
    if (!is_at(p, "**")) {
        return QUERN_OK;
    }
    QN_TRY(advance(p));
    QN_TRY(unary(&parts[1], p));
    return qn_part_apply(out, p, qn_operator_find(QN_STR("**"), 2), parts, 2, parts[0].begin,
                         parts[1].end);
}

/* So that no text, whoever wrote it, ends our stack. */
static quern_status open_one(qn_parser *p)
{
    if (++p->depth <= MOST_OPEN) {
        return QUERN_OK;
    }
    return QN_REFUSE(QUERN_ERROR_SIGNATURE, p->text, p->token.begin, p->token.end,
                     "the expression is nested too deeply: compute it in parts");
}

static quern_status signed_part(qn_part *out, qn_parser *p)
{
    const size_t begin = p->token.begin;
    const qn_operation *operation =
        p->token.class == QN_CLASS_OPERATOR ? qn_operator_find(token_text(p), 1) : NULL;
    if (!operation) {
        return power(out, p);
    }
    qn_part x;
    QN_TRY(advance(p));
    QN_TRY(unary(&x, p));
    if (operation->name[0] == '-' && x.is_number) {
        return qn_part_negate(out, p, &x, begin);
    }
    return qn_part_apply(out, p, operation, &x, 1, begin, x.end);
}

static quern_status unary(qn_part *out, qn_parser *p)
{
    QN_TRY(open_one(p));
    QN_TRY(signed_part(out, p));
    p->depth--;
    return QUERN_OK;
}

static bool is_comparison(const char *mark)
{
    return mark && (mark[0] == '=' || (mark[0] == '!' && mark[1] != '\0') ||
                    ((mark[0] == '<' || mark[0] == '>') && mark[1] != mark[0]));
}

/* C compares before & and Python after it, and 0 < x < 2 is another thing in each. */
static quern_status check_reading(const qn_parser *p, const qn_part *parts, const char *operator)
{
    for (size_t k = 0; k < 2; k++) {
        if (is_comparison(parts[k].mark) &&
            (is_comparison(operator) || (strchr("&|^", operator[0]) && operator[1] == '\0'))) {
            return QN_REFUSE(QUERN_ERROR_SIGNATURE, p->text, parts[0].begin, parts[1].end,
                             "\"%s\" beside \"%s\" means one thing in C and another in Python: "
                             "write parentheses",
                             parts[k].mark, operator);
        }
    }
    return QUERN_OK;
}

/* The operator of a level that the next token is, or NULL. */
static const qn_operation *operator_at(const qn_parser *p, size_t level)
{
    for (const char *const *o = levels[level]; *o; o++) {
        if (is_at(p, *o)) {
            return qn_operator_find(qn_str_of(*o), 2);
        }
    }
    return NULL;
}

static quern_status binary(qn_part *out, qn_parser *p, size_t level)
{
    if (level == QN_COUNT(levels)) {
        return unary(out, p);
    }
    qn_part parts[2];
    QN_TRY(binary(&parts[0], p, level + 1));
    for (const qn_operation *o; (o = operator_at(p, level));) {
        QN_TRY(advance(p));
        QN_TRY(binary(&parts[1], p, level + 1));
        QN_TRY(check_reading(p, parts, o->name));
        QN_TRY(qn_part_apply(&parts[0], p, o, parts, 2, parts[0].begin, parts[1].end));
        parts[0].mark = o->name;
    }
    *out = parts[0];
    return QUERN_OK;
}

static quern_status ternary(qn_part *out, qn_parser *p)
{
    qn_part parts[3];
    QN_TRY(open_one(p));
    QN_TRY(binary(&parts[0], p, 0));
    p->depth--;
    *out = parts[0];
    if (!is_at(p, "?")) {
        return QUERN_OK;
    }
    QN_TRY(open_one(p));
    QN_TRY(advance(p));
    QN_TRY(ternary(&parts[1], p));
    QN_TRY(need(p, ":"));
    QN_TRY(ternary(&parts[2], p));
    p->depth--;
    return qn_part_choose(out, p, parts, parts[0].begin);
}

/* ---- the whole ------------------------------------------------------------------------------ */

static quern_status check_used(const qn_parser *p)
{
    for (size_t k = 0; k < p->name_count; k++) {
        if (!p->names[k].used) {
            return QN_REFUSE(QUERN_ERROR_ARGUMENT_COUNT, p->text, 0, 0,
                             "the expression has no \"%.*s\", for which a value is given",
                             (int)p->names[k].name.length, p->names[k].name.data);
        }
    }
    return p->name_count > 0 ? QUERN_OK
                             : QN_REFUSE(QUERN_ERROR_SIGNATURE, p->text, 0, p->text.length,
                                         "the expression has no names: nothing is to be computed");
}

static quern_status texts(qn_expression *out, qn_parser *p, qn_part *root)
{
    qn_text in = {0}, result = {0}, operation = {0};
    const char *value;
    for (size_t k = 0; k < p->name_count; k++) {
        qn_text_printf(&in, "%s%s %s", k > 0 ? ", " : "",
                       quern_dtype_name(qn_expression_parameter_dtype(&p->names[k])),
                       p->names[k].parameter);
    }
    QN_TRY(qn_part_keep(&out->in, p, &in));
    qn_text_printf(&result, "%s result", quern_dtype_name(out->dtype));
    QN_TRY(qn_part_keep(&out->out, p, &result));
    QN_TRY(qn_part_convert(&value, p, root, out->dtype, false));
    qn_text_printf(&operation, "%sresult = %s", p->statements.data ? p->statements.data : "",
                   value);
    operation.failed |= p->statements.failed;
    out->preamble = p->uses_helpers ? QN_EXPRESSION_HEADER : "";
    return qn_part_keep(&out->operation, p, &operation);
}

static quern_status whole(qn_expression *out, qn_parser *p, quern_dtype dtype)
{
    qn_part root;
    if (p->text.length > INT32_MAX) {
        return qn_fail(QUERN_ERROR_SIGNATURE, "the expression is longer than 2 GiB");
    }
    if (!qn_expression_rename(p->arena, p->names, p->name_count)) {
        return qn_fail_memory("parsing an expression");
    }
    QN_TRY(advance(p));
    QN_TRY(ternary(&root, p));
    if (p->token.class != QN_CLASS_END) {
        return unexpected(p);
    }
    QN_TRY(check_used(p));
    out->dtype = dtype != QUERN_DTYPE_NONE ? dtype : root.type.dtype;
    return texts(out, p, &root);
}

quern_status qn_expression_make(qn_expression *out, qn_arena *arena, const char *text,
                                qn_expression_name *names, size_t count, quern_dtype dtype)
{
    qn_parser p = {.arena = arena, .text = qn_str_of(text), .names = names, .name_count = count};
    *out = (qn_expression){0};
    for (size_t k = 0; k < count; k++) {
        names[k].used = false;
        names[k].narrow = QUERN_DTYPE_NONE;
    }
    const quern_status status = whole(out, &p, dtype);
    qn_text_free(&p.statements);
    if (status != QUERN_OK) {
        qn_error_stage("expression");
    }
    return status;
}
