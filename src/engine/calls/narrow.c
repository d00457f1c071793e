/* SPDX-License-Identifier: MIT
 *
 * narrow: reductions that add up narrow integers in 64 bits, as sums of int8 and counts do; and
 * those that choose the greatest or the least of bytes. In: a call whose types are bound. Out:
 * whether it is one, and the text of map without its cast to the type of the sums. The thing to
 * know: an addition of 64 bits takes a GPU two instructions, after one or two that widen the
 * element; so the kernel adds up a batch of units in 32 bits, and adds only the result to its sum.
 * The sums are the same, since no element has more than 16 bits. Whether map gives such elements,
 * the compiler finds out (quern::mapped in templates/fold.cuh).
 */
#include "base/cpp_text.h"
#include "engine/folding.h"
#include <stdio.h>
#include <string.h>

bool qn_text_adds(const char *text)
{
    qn_str rest = qn_str_of(text);
    bool is = true;
    for (const char *const *word = (const char *const[]){"a", "+", "b", NULL}; *word; word++) {
        is &= qn_str_is(qn_cpp_next(&rest).text, *word);
    }
    return is && qn_cpp_next(&rest).kind == QN_CPP_END;
}

bool qn_fold_adds_narrow(const qn_call *call)
{
    const qn_dtype_info *info = qn_fold_value(call);
    const quern_kernel *kernel = call->kernel;
    bool narrow = false;
    for (uint32_t k = 0; k < call->input_operands; k++) {
        const quern_dtype dtype = call->types.parameters[call->operand_parameter[k]];
        narrow |= dtype >= QUERN_BOOL && dtype <= QUERN_UINT64 && call->operands[k].item_size <= 2;
    }
    return kernel->adds && narrow && info && info->size == 8 &&
           (qn_fold_is_exact(call) || info->dtype == QUERN_FLOAT64);
}

int qn_call_key(const qn_call *call)
{
    const qn_choice *c = &call->kernel->choice;
    for (uint32_t k = 0; c->filled && !c->cast && k < call->input_operands; k++) {
        const uint32_t p = call->operand_parameter[k];
        const quern_dtype dtype = call->types.parameters[p];
        if (strcmp(c->filled, call->kernel->parameter_names[p]) == 0 && dtype >= QUERN_BOOL &&
            dtype <= QUERN_UINT64 && call->operands[k].item_size == 1) {
            return (int)k;
        }
    }
    return -1;
}

/* The text behind `cast`, word by word; NULL: it begins otherwise. */
static const char *behind(const char *text, const char *cast)
{
    qn_str rest = qn_str_of(text), words = qn_str_of(cast);
    qn_cpp_token word = qn_cpp_next(&words);
    for (; word.kind != QN_CPP_END; word = qn_cpp_next(&words)) {
        if (!qn_str_same(qn_cpp_next(&rest).text, word.text)) {
            return NULL;
        }
    }
    return rest.data;
}

/* True for a name, or what stands between brackets, and no more. */
static bool is_primary(const char *text)
{
    qn_str rest = qn_str_of(text);
    qn_cpp_token t = qn_cpp_next(&rest);
    int depth = qn_str_is(t.text, "(");
    const bool word = t.kind == QN_CPP_WORD;
    while (depth > 0 && (t = qn_cpp_next(&rest)).kind != QN_CPP_END) {
        depth += qn_str_is(t.text, "(") - qn_str_is(t.text, ")");
    }
    return (word || qn_str_is(t.text, ")")) && qn_cpp_next(&rest).kind == QN_CPP_END;
}

const char *qn_fold_uncast(const qn_call *call)
{
    const char *text = call->kernel->texts[QN_MAP].text;
    char cast[32];
    (void)snprintf(cast, sizeof cast, "(%s)", qn_fold_value(call)->c_name);
    const char *rest = behind(text, cast);
    return rest && is_primary(rest) ? rest : text;
}
