/* SPDX-License-Identifier: MIT
 *
 * parse_constant: reads integer expressions in sizes, immediates and initial values: C's operators
 * with C's precedence, on 64-bit values. NVRTC writes plain numbers; people write (1 << 5).
 *
 *     expression = binary [ "?" expression ":" expression ]
 *     binary     = unary { operator unary }             by precedence
 *     unary      = ("-" | "+" | "~") unary | "!" unary | number | WARP_SZ | "(" expression ")"
 */
#include "ptx/read/reader.h"

static quern_status expression(qn_reader *reader, uint64_t *value);

typedef struct constant_operator {
    char first, second; /* second: '\0' when the operator has one character */
    uint8_t rank;       /* a higher one binds tighter */
} constant_operator;

/* Operators of two characters come before their first character alone. */
static const constant_operator operators[] = {
    {'<', '<', 8}, {'>', '>', 8}, {'=', '=', 6}, {'!', '=', 6}, {'<', '=', 7}, {'>', '=', 7},
    {'&', '&', 2}, {'|', '|', 1}, {'<', 0, 7},   {'>', 0, 7},   {'+', 0, 9},   {'-', 0, 9},
    {'*', 0, 10},  {'/', 0, 10},  {'%', 0, 10},  {'&', 0, 5},   {'^', 0, 4},   {'|', 0, 3},
};

static const constant_operator *operator_here(const qn_reader *reader)
{
    if (reader->token.kind != QN_TOKEN_MARK) {
        return NULL;
    }
    char next = reader->at < reader->end ? *reader->at : '\0';
    for (size_t i = 0; i < QN_COUNT(operators); i++) {
        if (operators[i].first == reader->token.mark &&
            (operators[i].second == '\0' || operators[i].second == next)) {
            return &operators[i];
        }
    }
    return NULL;
}

static quern_status apply(qn_reader *reader, const constant_operator *op, uint64_t a, uint64_t b,
                          uint64_t *value)
{
    bool twice = op->second == op->first, equal = op->second == '=';
    int64_t sa = (int64_t)a, sb = (int64_t)b;
    if ((op->first == '/' || op->first == '%') && (b == 0 || (sa == INT64_MIN && sb == -1))) {
        return qn_ptx_error(reader, "division by %s in a constant", b == 0 ? "zero" : "-1");
    }
    switch (op->first) {
    case '<':
        *value = twice ? (b < 64 ? a << b : 0) : equal ? sa <= sb : sa < sb;
        break;
    case '>':
        *value = twice ? (uint64_t)(sa >> QN_MIN(b, 63)) : equal ? sa >= sb : sa > sb;
        break;
    case '=':
        *value = a == b;
        break;
    case '!':
        *value = a != b;
        break;
    case '&':
        *value = twice ? a && b : a & b;
        break;
    case '|':
        *value = twice ? a || b : a | b;
        break;
    case '^':
        *value = a ^ b;
        break;
    case '+':
        *value = a + b;
        break;
    case '-':
        *value = a - b;
        break;
    case '*':
        *value = a * b;
        break;
    case '/':
        *value = (uint64_t)(sa / sb);
        break;
    default:
        *value = (uint64_t)(sa % sb);
        break;
    }
    return QUERN_OK;
}

static quern_status deeper(qn_reader *reader)
{
    if (++reader->nesting > QN_PTX_DEPTH) {
        return qn_ptx_error(reader, "constants are nested more than %d deep", QN_PTX_DEPTH);
    }
    return QUERN_OK;
}

static quern_status unary(qn_reader *reader, uint64_t *value)
{
    QN_TRY(deeper(reader));
    char mark = reader->token.kind == QN_TOKEN_MARK ? reader->token.mark : '\0';
    if (mark == '(') {
        QN_TRY(qn_ptx_next(reader));
        QN_TRY(expression(reader, value));
        QN_TRY(qn_ptx_expect(reader, ')'));
    } else if (mark == '-' || mark == '+' || mark == '~' || mark == '!') {
        QN_TRY(qn_ptx_next(reader));
        QN_TRY(unary(reader, value));
        *value = mark == '-' ? 0 - *value : mark == '~' ? ~*value : mark == '!' ? !*value : *value;
    } else if (qn_ptx_is_word(reader, QN_WORD_WARP_SZ)) {
        *value = QN_LANES;
        QN_TRY(qn_ptx_next(reader));
    } else if (reader->token.kind == QN_TOKEN_INTEGER) {
        *value = reader->token.bits;
        QN_TRY(qn_ptx_next(reader));
    } else {
        return qn_ptx_expected(reader, "an operand or a constant");
    }
    reader->nesting--;
    return QUERN_OK;
}

static quern_status binary(qn_reader *reader, uint8_t rank, uint64_t *value)
{
    QN_TRY(unary(reader, value));
    const constant_operator *op;
    while ((op = operator_here(reader)) != NULL && op->rank > rank) {
        uint64_t right;
        QN_TRY(qn_ptx_next(reader));
        if (op->second) {
            QN_TRY(qn_ptx_next(reader));
        }
        QN_TRY(binary(reader, op->rank, &right));
        QN_TRY(apply(reader, op, *value, right, value));
    }
    return QUERN_OK;
}

static quern_status expression(qn_reader *reader, uint64_t *value)
{
    QN_TRY(deeper(reader));
    QN_TRY(binary(reader, 0, value));
    bool choice;
    QN_TRY(qn_ptx_take(reader, '?', &choice));
    if (choice) {
        uint64_t yes, no;
        QN_TRY(expression(reader, &yes));
        QN_TRY(qn_ptx_expect(reader, ':'));
        QN_TRY(expression(reader, &no));
        *value = *value ? yes : no;
    }
    reader->nesting--;
    return QUERN_OK;
}

quern_status qn_parse_constant(qn_reader *reader, uint64_t *value)
{
    return expression(reader, value);
}
