/* SPDX-License-Identifier: MIT
 *
 * Fuzz target: signatures. The input is both lists, cut at its first newline.
 *
 * Holds for every text: the parser returns; a refusal has a span inside the wrong text, and is
 * readable text; an accepted signature has all its positions inside the text, and each parameter,
 * cut out at its positions, is the same parameter when it is alone.
 */
#include "holds.h"
#include "lang/lang.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_refusal(const char *in, const char *out)
{
    const quern_error *e = quern_last_error();
    HOLDS(e->status == QUERN_ERROR_SIGNATURE);
    HOLDS(e->message[0] != '\0');
    HOLDS(strcmp(e->text, strcmp(e->text_name, "in") == 0 ? in : out) == 0);
    HOLDS(e->begin < e->end && e->end <= strlen(e->text));
    const char *text = quern_last_error_text();
    HOLDS(strchr(text, '^') && text[strlen(text) - 1] == '\n');
}

static void check_positions(const qn_signature *s, const qn_parameter *p)
{
    const char *text = p->output ? s->out_text : s->in_text;
    HOLDS(p->type_begin < p->type_end && p->type_end < p->name_begin);
    HOLDS(p->name_begin < p->name_end && p->name_end <= strlen(text));
    HOLDS(p->type.data == text + p->type_begin && p->type.length == p->type_end - p->type_begin);
    HOLDS(p->name.data == text + p->name_begin && p->name.length == p->name_end - p->name_begin);
    HOLDS((p->letter >= 0) == (p->dtype == QUERN_DTYPE_NONE));
    HOLDS(p->letter < (int)s->letter_count);
    HOLDS(p->letter < 0 || s->letters[p->letter] == p->type.data[0]);
}

/* Write `p` as a signature of its own, parse it, and compare. */
static void check_alone(const qn_parameter *p)
{
    qn_text text = {0};
    qn_text_printf(&text, "%s%s%.*s %.*s", p->raw ? "raw " : "", p->is_const ? "const " : "",
                   (int)p->type.length, p->type.data, (int)p->name.length, p->name.data);
    qn_arena arena = {0};
    qn_signature s;
    HOLDS(qn_signature_parse(&s, &arena, p->output ? "" : text.data, p->output ? text.data : "") ==
          QUERN_OK);
    const qn_parameter *q = s.parameters;
    HOLDS(s.count == 1 && s.input_count == !p->output);
    HOLDS(qn_str_same(p->name, q->name) && qn_str_same(p->type, q->type));
    HOLDS(p->raw == q->raw && p->is_const == q->is_const && p->output == q->output);
    HOLDS(p->dtype == q->dtype && (p->letter >= 0) == (q->letter >= 0));
    qn_arena_free(&arena);
    qn_text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *in = malloc(size + 2);
    HOLDS(in != NULL);
    memcpy(in, data, size);
    in[size] = in[size + 1] = '\0';
    char *out = in + strcspn(in, "\n");
    if (*out == '\n') {
        *out = '\0';
    }
    out++;

    qn_arena arena = {0};
    qn_signature s;
    qn_error_reset();
    if (qn_signature_parse(&s, &arena, in, out) != QUERN_OK) {
        check_refusal(in, out);
    }
    for (uint32_t k = 0; k < s.count; k++) {
        check_positions(&s, &s.parameters[k]);
        check_alone(&s.parameters[k]);
    }
    qn_arena_free(&arena);
    free(in);
    return 0;
}
