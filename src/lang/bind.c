/* SPDX-License-Identifier: MIT
 *
 * Letters to dtypes. In: a signature and what is known of each argument. Out: the dtype of every
 * letter and parameter.
 *
 * Arrays decide first, outputs before inputs, and are never converted. What no array decides is
 * decided by its scalars: one that states a dtype, else the widest literal. Several records may
 * have one name: which of them a parameter has that is declared so is decided in the same way.
 */
#include "lang/lang.h"

#include <string.h>

#define SHOW(str) (int)(str).length, (str).data

/* QUERN_ERROR_TYPE about the type of `p`. */
#define MISMATCH(s, p, ...)                                                                        \
    qn_fail_at(QUERN_ERROR_TYPE, (p)->output ? "out" : "in",                                       \
               qn_str_of((p)->output ? (s)->out_text : (s)->in_text), (p)->type_begin,             \
               (p)->name_end, __VA_ARGS__)

/* What decided a letter so far: a parameter, and the dtype that its argument has. */
typedef struct decision {
    const qn_parameter *by;
    quern_dtype dtype;
} decision;

static void nothing_decided(decision *decisions, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) {
        decisions[k] = (decision){0};
    }
}

/* The argument of `p` has `dtype`, which can only be its letter's. */
static quern_status decide(decision *letter, const qn_signature *s, const qn_parameter *p,
                           quern_dtype dtype)
{
    if (!letter->by) {
        *letter = (decision){p, dtype};
    } else if (letter->dtype != dtype) {
        return MISMATCH(s, p,
                        "%.*s is %s because of \"%.*s\", but \"%.*s\" is %s: pass both as one "
                        "dtype, or give them different letters",
                        SHOW(p->type), quern_dtype_name(letter->dtype), SHOW(letter->by->name),
                        SHOW(p->name), quern_dtype_name(dtype));
    }
    return QUERN_OK;
}

/* What is decided of the record that `p` is declared as: by any parameter that is declared so. */
static decision *record_of(decision *records, const qn_signature *s, const qn_parameter *p)
{
    const qn_parameter *first = s->parameters;
    while (first->dtype != p->dtype) {
        first++;
    }
    return &records[first - s->parameters];
}

static bool same_name(quern_dtype a, quern_dtype b)
{
    return a >= QUERN_DTYPE_RECORD && b >= QUERN_DTYPE_RECORD &&
           strcmp(quern_dtype_name(a), quern_dtype_name(b)) == 0;
}

static quern_status decide_record(decision *record, const qn_signature *s, const qn_parameter *p,
                                  quern_dtype dtype)
{
    if (record->by && record->dtype != dtype) {
        return MISMATCH(s, p,
                        "\"%.*s\" and \"%.*s\" are two different records, both called %s: pass "
                        "arrays of one, or declare them with letters",
                        SHOW(record->by->name), SHOW(p->name), quern_dtype_name(dtype));
    }
    *record = (decision){p, dtype};
    return QUERN_OK;
}

static quern_status bind_array(decision *letters, decision *records, const qn_signature *s,
                               const qn_parameter *p, quern_dtype dtype)
{
    if (p->letter >= 0) {
        return decide(&letters[p->letter], s, p, dtype);
    }
    if (records && same_name(p->dtype, dtype)) {
        return decide_record(record_of(records, s, p), s, p, dtype);
    }
    if (p->dtype != dtype) {
        return MISMATCH(s, p,
                        "\"%.*s\" is %s in the signature, but the array passed is %s: arrays "
                        "are not converted; write \"%s %.*s\", or a letter for any dtype",
                        SHOW(p->name), quern_dtype_name(p->dtype), quern_dtype_name(dtype),
                        quern_dtype_name(dtype), SHOW(p->name));
    }
    return QUERN_OK;
}

/* Arrays of parameters [first, last). */
static quern_status bind_arrays(decision *letters, decision *records, const qn_signature *s,
                                const qn_argument_type *arguments, uint32_t first, uint32_t last)
{
    for (uint32_t k = first; k < last; k++) {
        if (arguments[k].kind == QN_ARGUMENT_ARRAY) {
            QN_TRY(bind_array(letters, records, s, &s->parameters[k], arguments[k].dtype));
        }
    }
    return QUERN_OK;
}

/* Stated dtypes of the letters that no array has decided. */
static quern_status bind_scalars(decision *letters, decision *records, const qn_signature *s,
                                 const qn_argument_type *arguments)
{
    bool by_array[QUERN_MAX_PARAMETERS];
    for (uint32_t k = 0; k < s->letter_count; k++) {
        by_array[k] = letters[k].by != NULL;
    }
    for (uint32_t k = 0; k < s->count; k++) {
        const qn_parameter *p = &s->parameters[k];
        if (arguments[k].kind == QN_ARGUMENT_SCALAR && p->letter >= 0 && !by_array[p->letter]) {
            QN_TRY(decide(&letters[p->letter], s, p, arguments[k].dtype));
        }
        if (records && arguments[k].kind == QN_ARGUMENT_SCALAR &&
            same_name(p->dtype, arguments[k].dtype)) {
            QN_TRY(decide_record(record_of(records, s, p), s, p, arguments[k].dtype));
        }
    }
    return QUERN_OK;
}

/* The widest literal of the letters that nothing else has decided. The dtypes of literals (bool,
 * int64, float64, complex128) are numbered in the order of their width. */
static void bind_literals(decision *letters, const qn_signature *s,
                          const qn_argument_type *arguments)
{
    decision widest[QUERN_MAX_PARAMETERS];
    nothing_decided(widest, s->letter_count);
    for (uint32_t k = 0; k < s->count; k++) {
        const qn_parameter *p = &s->parameters[k];
        if (arguments[k].kind == QN_ARGUMENT_LITERAL && p->letter >= 0 &&
            arguments[k].dtype > widest[p->letter].dtype) {
            widest[p->letter] = (decision){p, arguments[k].dtype};
        }
    }
    for (uint32_t k = 0; k < s->letter_count; k++) {
        if (!letters[k].by) {
            letters[k] = widest[k];
        }
    }
}

static quern_status refuse_undecided(const qn_signature *s, const qn_parameter *p)
{
    return MISMATCH(s, p,
                    "nothing decides what %.*s is: pass an array for \"%.*s\", or write a "
                    "dtype, as in \"float32 %.*s\"",
                    SHOW(p->type), SHOW(p->name), SHOW(p->name));
}

static quern_status bind(qn_types *types, const qn_signature *s, const qn_argument_type *arguments)
{
    decision letters[QUERN_MAX_PARAMETERS], by_parameter[QUERN_MAX_PARAMETERS];
    decision *records = NULL; /* where types are the names of some */
    nothing_decided(letters, s->letter_count);
    if (s->names_records) {
        nothing_decided(by_parameter, s->count);
        records = by_parameter;
    }
    QN_TRY(bind_arrays(letters, records, s, arguments, s->input_count, s->count));
    QN_TRY(bind_arrays(letters, records, s, arguments, 0, s->input_count));
    QN_TRY(bind_scalars(letters, records, s, arguments));
    bind_literals(letters, s, arguments);
    for (uint32_t k = 0; k < s->count; k++) {
        const qn_parameter *p = &s->parameters[k];
        if (p->letter >= 0 && !letters[p->letter].by) {
            return refuse_undecided(s, p);
        }
        types->parameters[k] = p->letter >= 0 ? letters[p->letter].dtype : p->dtype;
        if (records && p->dtype >= QUERN_DTYPE_RECORD && record_of(records, s, p)->by) {
            types->parameters[k] = record_of(records, s, p)->dtype;
        }
    }
    for (uint32_t k = 0; k < s->letter_count; k++) {
        types->letters[k] = letters[k].dtype;
    }
    return QUERN_OK;
}

quern_status qn_bind_types(qn_types *out, const qn_signature *signature,
                           const qn_argument_type *arguments)
{
    quern_status status = bind(out, signature, arguments); /* fills what the signature has */
    if (status != QUERN_OK) {
        memset(out, 0, sizeof *out);
        qn_error_stage("bind");
    }
    return status;
}
