/* SPDX-License-Identifier: MIT
 *
 * Fuzz target: expressions. The first two bytes say the types of x and y, and the rest is the text.
 *
 * Holds for every text: the parser returns; a refusal is readable text with a span inside the
 * expression; what is accepted is a signature that parses, and an operation whose parentheses
 * match.
 */
#include "holds.h"
#include "lang/expressions.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static qn_value_type type_of(uint8_t byte)
{
    static const quern_dtype plain[] = {QUERN_INT64, QUERN_FLOAT64, QUERN_COMPLEX128};
    const unsigned k = byte % (QUERN_COMPLEX128 + QN_COUNT(plain));
    return k < QUERN_COMPLEX128 ? (qn_value_type){(quern_dtype)(k + 1), false}
                                : (qn_value_type){plain[k - QUERN_COMPLEX128], true};
}

static void check_refusal(const char *text)
{
    const quern_error *e = quern_last_error();
    HOLDS(e->status == QUERN_ERROR_SIGNATURE || e->status == QUERN_ERROR_NAME ||
          e->status == QUERN_ERROR_TYPE || e->status == QUERN_ERROR_VALUE ||
          e->status == QUERN_ERROR_ARGUMENT_COUNT);
    HOLDS(e->message[0] != '\0' && strcmp(e->text, text) == 0);
    HOLDS(e->begin <= e->end && e->end <= strlen(text));
    const char *whole = quern_last_error_text();
    HOLDS(whole[strlen(whole) - 1] == '\n');
}

static void check_accepted(qn_arena *arena, const qn_expression *e, size_t count)
{
    qn_signature s;
    HOLDS(qn_signature_parse(&s, arena, e->in, e->out) == QUERN_OK);
    HOLDS(s.count == count + 1 && s.input_count == count);
    HOLDS(s.parameters[count].dtype == e->dtype);
    int open = 0;
    for (const char *c = e->operation; *c; c++) {
        open += (*c == '(') - (*c == ')');
        HOLDS(open >= 0);
    }
    HOLDS(open == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) {
        return 0;
    }
    char *text = calloc(size - 1, 1);
    HOLDS(text != NULL);
    memcpy(text, data + 2, size - 2);
    qn_expression_name names[2] = {{QN_STR("x"), type_of(data[0])},
                                   {QN_STR("y"), type_of(data[1])}};
    const size_t count = strchr(text, 'y') ? 2 : 1;
    qn_arena arena = {0};
    qn_expression e;
    qn_error_reset();
    if (qn_expression_make(&e, &arena, text, names, count, QUERN_DTYPE_NONE) == QUERN_OK) {
        check_accepted(&arena, &e, count);
    } else {
        check_refusal(text);
    }
    qn_arena_free(&arena);
    free(text);
    return 0;
}
