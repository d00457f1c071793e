/* SPDX-License-Identifier: MIT
 *
 * Letters to dtypes: who decides, and what is reported if nobody does or two differ.
 */
#include "lang/lang.h"

#include <criterion/criterion.h>
#include <string.h>

/* clang-format off */
#define ARRAY(d) {QN_ARGUMENT_ARRAY, (quern_dtype)(d)}
#define LITERAL(d) {QN_ARGUMENT_LITERAL, (quern_dtype)(d)}
#define SCALAR(d) {QN_ARGUMENT_SCALAR, (quern_dtype)(d)}
#define ABSENT {QN_ARGUMENT_ABSENT, QUERN_DTYPE_NONE}
/* clang-format on */

enum {
    B = QUERN_BOOL,
    I8 = QUERN_INT8,
    I32 = QUERN_INT32,
    I64 = QUERN_INT64,
    F16 = QUERN_FLOAT16,
    F32 = QUERN_FLOAT32,
    F64 = QUERN_FLOAT64,
    C64 = QUERN_COMPLEX64,
    C128 = QUERN_COMPLEX128,
};

static const struct {
    const char *in, *out;
    qn_argument_type arguments[4];
    int letters[3], parameters[4];
} bound[] = {
    {"T x", "T z", {ARRAY(F32), ABSENT}, {F32}, {F32, F32}},
    {"T x", "T z", {ARRAY(F32), ARRAY(F32)}, {F32}, {F32, F32}},
    {"T x, U y", "V z", {ARRAY(F32), ARRAY(I8), ARRAY(F64)}, {F32, I8, F64}, {F32, I8, F64}},
    {"float32 x", "int z", {ARRAY(F32), ABSENT}, {0}, {F32, I32}},
    {"raw T x", "T z", {ARRAY(C64), ABSENT}, {C64}, {C64, C64}},
    /* an array beside scalars of its letter */
    {"T x, T y", "T z", {ARRAY(F32), LITERAL(F64), ABSENT}, {F32}, {F32, F32, F32}},
    {"T x, T y", "T z", {LITERAL(I64), ARRAY(I8), ABSENT}, {I8}, {I8, I8, I8}},
    {"T x, T y", "T z", {ARRAY(F32), SCALAR(F64), ABSENT}, {F32}, {F32, F32, F32}},
    {"T x", "T z", {LITERAL(F64), ARRAY(F16)}, {F16}, {F16, F16}},
    /* scalars alone: a stated dtype before literals */
    {"T x, T y", "T z", {SCALAR(F32), LITERAL(C128), ABSENT}, {F32}, {F32, F32, F32}},
    {"T x, T y", "T z", {LITERAL(F64), SCALAR(I8), ABSENT}, {I8}, {I8, I8, I8}},
    {"T x, T y", "T z", {SCALAR(F32), SCALAR(F32), ABSENT}, {F32}, {F32, F32, F32}},
    /* literals alone: the widest kind */
    {"T x", "T z", {LITERAL(B), ABSENT}, {B}, {B, B}},
    {"T x, T y", "T z", {LITERAL(B), LITERAL(I64), ABSENT}, {I64}, {I64, I64, I64}},
    {"T x, T y", "T z", {LITERAL(F64), LITERAL(I64), ABSENT}, {F64}, {F64, F64, F64}},
    {"T x, T y", "T z", {LITERAL(F64), LITERAL(C128), ABSENT}, {C128}, {C128, C128, C128}},
    /* a stated type takes any scalar */
    {"float32 x, int8 y", "float z", {LITERAL(C128), SCALAR(F64), ABSENT}, {0}, {F32, I8, F32}},
    {"float32 x, T y", "T z", {LITERAL(I64), LITERAL(I64), ABSENT}, {I64}, {F32, I64, I64}},
    /* several letters, each on its own */
    {"T x, U y, T w",
     "U z",
     {LITERAL(I64), SCALAR(F16), ARRAY(I32), ABSENT},
     {I32, F16},
     {I32, F16, I32, F16}},
};

/* Parse and bind. */
static quern_status bind(qn_types *types, const char *in, const char *out,
                         const qn_argument_type *arguments)
{
    qn_arena arena = {0};
    qn_signature s;
    cr_assert_eq(qn_signature_parse(&s, &arena, in, out), QUERN_OK);
    quern_status status = qn_bind_types(types, &s, arguments);
    qn_arena_free(&arena);
    return status;
}

Test(bind, bound)
{
    for (size_t k = 0; k < QN_COUNT(bound); k++) {
        qn_types types = {0}; /* what the signature has not is not written */
        cr_assert_eq(bind(&types, bound[k].in, bound[k].out, bound[k].arguments), QUERN_OK,
                     "case %zu: %s", k, quern_last_error_text());
        for (size_t j = 0; j < QN_COUNT(bound[k].letters); j++) {
            cr_expect_eq((int)types.letters[j], bound[k].letters[j], "case %zu, letter %zu", k, j);
        }
        for (size_t j = 0; j < QN_COUNT(bound[k].parameters); j++) {
            cr_expect_eq((int)types.parameters[j], bound[k].parameters[j],
                         "case %zu, parameter %zu", k, j);
        }
    }
}

static const struct {
    const char *in, *out;
    qn_argument_type arguments[4];
    const char *list;
    uint32_t begin, end;
    const char *message;
} refused[] = {
    {"float32 x",
     "T z",
     {ARRAY(I64), ABSENT},
     "in",
     0,
     9,
     "\"x\" is float32 in the signature, but the array passed is int64: arrays are not converted; "
     "write \"int64 x\", or a letter for any dtype"},
    {"T x",
     "float z",
     {ARRAY(F32), ARRAY(F64)},
     "out",
     0,
     7,
     "\"z\" is float32 in the signature, but the array passed is float64: arrays are not "
     "converted; write \"float64 z\", or a letter for any dtype"},
    {"T x, T y",
     "T z",
     {ARRAY(F32), ARRAY(F64), ABSENT},
     "in",
     5,
     8,
     "T is float32 because of \"x\", but \"y\" is float64: pass both as one dtype, or give them "
     "different letters"},
    /* outputs decide before inputs */
    {"T x",
     "T z",
     {ARRAY(F32), ARRAY(F64)},
     "in",
     0,
     3,
     "T is float64 because of \"z\", but \"x\" is float32: pass both as one dtype, or give them "
     "different letters"},
    {"T x, T y",
     "T z",
     {SCALAR(F32), SCALAR(F64), ABSENT},
     "in",
     5,
     8,
     "T is float32 because of \"x\", but \"y\" is float64: pass both as one dtype, or give them "
     "different letters"},
    {"T x",
     "U z",
     {ARRAY(F32), ABSENT},
     "out",
     0,
     3,
     "nothing decides what U is: pass an array for \"z\", or write a dtype, as in \"float32 z\""},
    {"",
     "T z",
     {ABSENT},
     "out",
     0,
     3,
     "nothing decides what T is: pass an array for \"z\", or write a dtype, as in \"float32 z\""},
};

Test(bind, refused)
{
    for (size_t k = 0; k < QN_COUNT(refused); k++) {
        qn_types types;
        cr_expect_eq(bind(&types, refused[k].in, refused[k].out, refused[k].arguments),
                     QUERN_ERROR_TYPE);
        const quern_error *e = quern_last_error();
        cr_expect_str_eq(e->message, refused[k].message);
        cr_expect_str_eq(e->stage, "bind");
        cr_expect_str_eq(e->text_name, refused[k].list);
        cr_expect_eq(e->begin, refused[k].begin, "case %zu", k);
        cr_expect_eq(e->end, refused[k].end, "case %zu", k);
        cr_expect_eq(types.letters[0], QUERN_DTYPE_NONE);
    }
}
