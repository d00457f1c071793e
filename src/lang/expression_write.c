/* SPDX-License-Identifier: MIT
 *
 * C++ of operations. In: an operation and its operands as C++, converted to the dtypes that it
 * computes with. Out: C++ of its result. The thing to know: halves are computed as float, as NumPy
 * does, and come back when the result is converted.
 */
#include "lang/expressions.h"

#define OWN "quern::expression::"

static bool is_half(quern_dtype dtype)
{
    return dtype == QUERN_FLOAT16 || dtype == QUERN_BFLOAT16;
}

static void add_part(qn_text *out, const qn_written *w, size_t k)
{
    qn_text_printf(out, is_half(w->loop[k]) ? "static_cast<float>(%s)" : "%s", w->parts[k]);
}

static void call(qn_text *out, qn_written *w, const char *name, size_t count)
{
    w->uses_helpers |= strstr(name, OWN) != NULL;
    qn_text_printf(out, "%s(", name);
    for (size_t k = 0; k < count; k++) {
        qn_text_puts(out, k > 0 ? ", " : "");
        add_part(out, w, k);
    }
    qn_text_puts(out, strchr(name, '(') ? "))" : ")"); /* a function of a function */
}

static void infix(qn_text *out, const qn_written *w)
{
    add_part(out, w, 0);
    qn_text_printf(out, " %s ", w->operation->call);
    add_part(out, w, 1);
}

static void logic(qn_text *out, const qn_written *w)
{
    for (size_t k = 0; k < w->operation->count; k++) {
        qn_text_puts(out, w->operation->count == 1 ? "!" : k == 1 ? w->operation->call : "");
        qn_text_puts(out, k == 1 ? " (" : "(");
        add_part(out, w, k);
        const quern_dtype dtype = is_half(w->loop[k]) ? QUERN_FLOAT32 : w->loop[k];
        qn_text_printf(out, " != static_cast<%s>(0))", qn_dtype_find(dtype)->c_name);
        qn_text_puts(out, w->operation->count == 2 && k == 0 ? " " : "");
    }
}

static void compare(qn_text *out, qn_written *w)
{
    const bool exactly = qn_is_integral(w->loop[0]) && w->loop[0] != w->loop[1];
    if (!exactly) { /* C++ takes both as unsigned where one is */
        infix(out, w);
        return;
    }
    call(out, w, OWN "order_of", 2);
    qn_text_printf(out, " %s 0", w->operation->call);
}

static void power(qn_text *out, qn_written *w)
{
    const bool integral = qn_is_integral(w->loop[0]);
    call(out, w,
         w->squares ? OWN "square_of"
         : integral ? OWN "power_of_ints"
                    : "pow",
         w->squares ? 1 : 2);
}

static void size(qn_text *out, qn_written *w)
{
    const qn_dtype_kind kind = qn_dtype_find(w->loop[0])->kind;
    if (kind == QN_KIND_BOOL || kind == QN_KIND_UINT) {
        add_part(out, w, 0);
        return;
    }
    call(out, w, kind == QN_KIND_FLOAT ? "fabs" : "abs", 1);
}

static void part(qn_text *out, const qn_written *w)
{
    if (qn_is_kind(w->loop[0], QN_KIND_COMPLEX)) {
        qn_text_printf(out, "(%s).%s()", w->parts[0], w->operation->call);
    } else if (w->operation->other) {
        qn_text_puts(out, w->operation->other);
    } else {
        add_part(out, w, 0);
    }
}

void qn_expression_write(qn_text *out, qn_written *w)
{
    const qn_operation *o = w->operation;
    const bool integral = qn_is_integral(w->loop[0]);
    const bool is_complex = qn_is_kind(w->loop[0], QN_KIND_COMPLEX);
    switch (o->form) {
    case QN_FORM_INFIX:
        infix(out, w);
        return;
    case QN_FORM_PREFIX:
        qn_text_puts(out, w->loop[0] == QUERN_BOOL ? "!" : o->call);
        add_part(out, w, 0);
        return;
    case QN_FORM_LOGIC:
        logic(out, w);
        return;
    case QN_FORM_COMPARE:
        compare(out, w);
        return;
    case QN_FORM_POWER:
        power(out, w);
        return;
    case QN_FORM_SIZE:
        size(out, w);
        return;
    case QN_FORM_PART:
        part(out, w);
        return;
    case QN_FORM_ASK:
        integral ? qn_text_puts(out, o->other) : call(out, w, o->call, 1);
        return;
    case QN_FORM_EXACT:
        integral ? add_part(out, w, 0) : call(out, w, o->call, 1);
        return;
    case QN_FORM_CONJUGATE:
        is_complex ? call(out, w, o->call, 1) : add_part(out, w, 0);
        return;
    case QN_FORM_KINDS:
        call(out, w, integral ? o->call : o->other, o->count);
        return;
    case QN_FORM_CASES:
        call(out, w, is_complex ? o->other : o->call, o->count);
        return;
    case QN_FORM_CALL:
        call(out, w, o->call, o->count);
        return;
    case QN_FORM_SAME:
        add_part(out, w, 0);
        return;
    }
}

void qn_expression_convert(qn_text *out, const char *text, quern_dtype from, quern_dtype to)
{
    const qn_dtype_info *a = qn_dtype_find(from), *b = qn_dtype_find(to);
    if (a->kind == QN_KIND_COMPLEX && b->kind == QN_KIND_BOOL) {
        qn_text_printf(out, "(%s != %s(0))", text, a->c_name);
    } else if (a->kind == QN_KIND_COMPLEX && b->kind != QN_KIND_COMPLEX) {
        qn_text_printf(out, "static_cast<%s>((%s).real())", b->c_name, text);
    } else {
        qn_text_printf(out, "static_cast<%s>(%s)", b->c_name, text);
    }
}
