/* SPDX-License-Identifier: MIT
 *
 * Expressions: their types beside NumPy's own answers, for every operation and every pair of types,
 * and what is refused, with its place.
 */
#include "lang/expressions.h"

#include <criterion/criterion.h>
#include <stdio.h>

static const char codes[] = "?bBhHiIlLeEfdFDnrc";

/* The types in the order of `codes`. */
static const qn_value_type types[] = {
    {QUERN_BOOL, false},    {QUERN_INT8, false},      {QUERN_UINT8, false},
    {QUERN_INT16, false},   {QUERN_UINT16, false},    {QUERN_INT32, false},
    {QUERN_UINT32, false},  {QUERN_INT64, false},     {QUERN_UINT64, false},
    {QUERN_FLOAT16, false}, {QUERN_BFLOAT16, false},  {QUERN_FLOAT32, false},
    {QUERN_FLOAT64, false}, {QUERN_COMPLEX64, false}, {QUERN_COMPLEX128, false},
    {QUERN_INT64, true},    {QUERN_FLOAT64, true},    {QUERN_COMPLEX128, true},
};

static quern_dtype dtype_of(char code)
{
    const char *at = strchr(codes, code);
    return at ? types[at - codes].dtype : QUERN_DTYPE_NONE;
}

/* The dtype of an expression of x and perhaps y; NONE: it is refused. */
static quern_dtype find(const char *text, qn_value_type x, const qn_value_type *y)
{
    qn_expression_name names[2] = {{QN_STR("x"), x}};
    qn_arena arena = {0};
    qn_expression e;
    if (y) {
        names[1] = (qn_expression_name){QN_STR("y"), *y};
    }
    quern_status status = qn_expression_make(&e, &arena, text, names, y ? 2 : 1, QUERN_DTYPE_NONE);
    cr_expect(status == QUERN_OK || status == QUERN_ERROR_TYPE, "%s: %s", text,
              quern_last_error_text());
    qn_arena_free(&arena);
    return e.dtype;
}

/* One line of the table: "sqrt(x): ee..." or "b x + y: ee...". */
static size_t check_line(char *line)
{
    char *answers = strrchr(line, ':') + 2;
    const bool binary = line[1] == ' ' && line[2] != '\0' && strchr(codes, line[0]) != NULL;
    answers[-2] = '\0';
    for (size_t k = 0; k < QN_COUNT(types); k++) {
        const char *text = binary ? line + 2 : line;
        const qn_value_type x = types[binary ? strchr(codes, line[0]) - codes : (ptrdiff_t)k];
        const quern_dtype got = find(text, x, binary ? &types[k] : NULL);
        cr_expect(answers[k] == '*' || got == dtype_of(answers[k]), "%s for %s and %s: %s, not %c",
                  text, qn_value_type_name(x), qn_value_type_name(types[k]),
                  got == QUERN_DTYPE_NONE ? "refused" : quern_dtype_name(got), answers[k]);
    }
    return QN_COUNT(types);
}

Test(expression, types_of_numpy)
{
    char line[128];
    size_t checked = 0;
    FILE *file = fopen(NUMPY_TYPES, "r");
    cr_assert_not_null(file);
    while (fgets(line, sizeof line, file)) {
        checked += line[0] != '#' ? check_line(line) : 0;
    }
    fclose(file);
    cr_expect_gt(checked, 8000);
}

static const struct {
    const char *text;
    quern_status status;
    size_t begin, end;
    const char *message;
} refused[] = {
    {"", QUERN_ERROR_SIGNATURE, 0, 0, "ends too early"},
    {"x + ", QUERN_ERROR_SIGNATURE, 2, 3, "ends too early"},
    {"(x", QUERN_ERROR_SIGNATURE, 1, 2, "ends too early"},
    {"x )", QUERN_ERROR_SIGNATURE, 2, 3, "\")\" was not expected here"},
    {"x $ 1", QUERN_ERROR_SIGNATURE, 2, 3, "\"$\" has no meaning here"},
    {"x \001", QUERN_ERROR_SIGNATURE, 2, 3, "the character 0x01"},
    {"x and 1", QUERN_ERROR_SIGNATURE, 2, 5, "\"and\" is no operator here: write &&"},
    {"x & 1 == 0", QUERN_ERROR_SIGNATURE, 0, 10, "one thing in C and another in Python"},
    {"0 < x < 2", QUERN_ERROR_SIGNATURE, 0, 9, "\"<\" beside \"<\""},
    {"x + 010", QUERN_ERROR_SIGNATURE, 4, 7, "octal"},
    {"x ** -1", QUERN_ERROR_SIGNATURE, 0, 7, "write x ** -1.0"},
    {"x + 0x1j", QUERN_ERROR_SIGNATURE, 4, 8, "decimal digits"},
    {"sqroot(x)", QUERN_ERROR_NAME, 0, 6, "no function \"sqroot\"; did you mean \"sqrt\"?"},
    {"x + speeed", QUERN_ERROR_NAME, 4, 10, "give its value, speeed=..."},
    {"x & 1.5", QUERN_ERROR_TYPE, 0, 7, "\"&\" is not defined for uint8 and float, as in NumPy"},
    {"x < 2j", QUERN_ERROR_TYPE, 0, 6, "has no order"},
    {"x + 300", QUERN_ERROR_VALUE, 4, 7, "300 does not fit uint8"},
    {"x - -1", QUERN_ERROR_VALUE, 4, 6, "-1 does not fit uint8"},
    {"x + (200 + 100)", QUERN_ERROR_VALUE, 4, 15, "300 does not fit uint8"},
    {"x + 2 ** 8", QUERN_ERROR_VALUE, 4, 10, "256 does not fit uint8"},
    {"x + 99999999999999999999", QUERN_ERROR_VALUE, 4, 24, "fits no integer dtype"},
    {"x + -9999999999999999999", QUERN_ERROR_VALUE, 4, 24, "fits no integer dtype"},
    {"min(x)", QUERN_ERROR_ARGUMENT_COUNT, 0, 6, "min() takes 2 values, and is given 1"},
    {"abs(x, x, x, x, x)", QUERN_ERROR_ARGUMENT_COUNT, 0, 18, "takes 1 value, and is given 5"},
    {"1 + 1", QUERN_ERROR_ARGUMENT_COUNT, 0, 0, "the expression has no \"x\""},
};

Test(expression, refused)
{
    for (size_t k = 0; k < QN_COUNT(refused); k++) {
        qn_expression_name name = {QN_STR("x"), {QUERN_UINT8, false}};
        qn_arena arena = {0};
        qn_expression e;
        quern_status status =
            qn_expression_make(&e, &arena, refused[k].text, &name, 1, QUERN_DTYPE_NONE);
        const quern_error *error = quern_last_error();
        cr_expect_eq(status, refused[k].status, "%s: %s", refused[k].text, error->message);
        cr_expect(strstr(error->message, refused[k].message), "%s: %s", refused[k].text,
                  error->message);
        cr_expect(error->begin == refused[k].begin && error->end == refused[k].end, "%s: %u to %u",
                  refused[k].text, error->begin, error->end);
        cr_expect_str_eq(error->text_name, "expression");
        cr_expect_str_eq(error->stage, "expression");
        qn_arena_free(&arena);
    }
}

static const struct {
    const char *text, *operation;
} written[] = {
    {"x", "result = x"},
    {"x * 1e999", "result = static_cast<float>(x * static_cast<float>(INFINITY))"},
    {"x * 0.0001e312", "result = static_cast<float>(x * static_cast<float>(0.0001e312))"},
    {"x * 1000000e303", "result = static_cast<float>(x * static_cast<float>(INFINITY))"},
    {"x * 0e9999", "result = static_cast<float>(x * static_cast<float>(0e9999))"},
    {"x - .5", "result = static_cast<float>(x - static_cast<float>(.5))"},
    {"-2.5 + x", "result = static_cast<float>(static_cast<float>((-2.5)) + x)"},
    {"x + 7 // -2 * 2", "result = static_cast<float>(x + static_cast<float>((-8ll)))"},
    {"x + 7 % -4", "result = static_cast<float>(x + static_cast<float>((-1ll)))"},
    {"x < 1", "result = static_cast<bool>(x < static_cast<float>(1ll))"},
    {"x ? 1 : 0", "result = static_cast<long long>((static_cast<bool>(x) ? "
                  "static_cast<long long>(1ll) : static_cast<long long>(0ll)))"},
};

Test(expression, written)
{
    for (size_t k = 0; k < QN_COUNT(written); k++) {
        qn_expression_name name = {QN_STR("x"), {QUERN_FLOAT32, false}};
        qn_arena arena = {0};
        qn_expression e;
        cr_assert_eq(QUERN_OK,
                     qn_expression_make(&e, &arena, written[k].text, &name, 1, QUERN_DTYPE_NONE),
                     "%s: %s", written[k].text, quern_last_error_text());
        cr_expect_str_eq(e.operation, written[k].operation, "%s: %s", written[k].text, e.operation);
        qn_arena_free(&arena);
    }
}

/* Names that mean something in C++ are others there, and no two become one. */
Test(expression, names)
{
    static const char *const given[] = {"i",     "double", "result", "sqrt", "in_i",    "_x",
                                        "speed", "NAN",    "T",      "r2",   "\xc3\xa9"};
    static const char expected[] =
        "int8 in_i, int8 in_double, int8 in_result, int8 in_sqrt, int8 in_in_i, int8 in__x, "
        "int8 speed, int8 in_NAN, int8 in_T, int8 r2, int8 un_10";
    qn_expression_name names[QN_COUNT(given)];
    qn_text text = {0};
    for (size_t k = 0; k < QN_COUNT(given); k++) {
        names[k] = (qn_expression_name){qn_str_of(given[k]), {QUERN_INT8, false}};
        qn_text_printf(&text, "%s%s", k > 0 ? " + " : "", given[k]);
    }
    qn_arena arena = {0};
    qn_expression e;
    cr_assert_eq(
        QUERN_OK,
        qn_expression_make(&e, &arena, text.data, names, QN_COUNT(given), QUERN_DTYPE_NONE), "%s",
        quern_last_error_text());
    cr_expect_str_eq(e.in, expected);
    cr_expect_str_eq(e.out, "int8 result");
    qn_arena_free(&arena);
    qn_text_free(&text);
}

static const struct {
    const char *text;
    quern_dtype dtype; /* of the parameter of n; NONE: refused */
} narrowed[] = {
    {"x + n", QUERN_UINT8},
    {"x + n * 2", QUERN_INT64},
    {"x + n + (z + n)", QUERN_UINT8}, /* a uint8 is an int16 */
    {"z + n + (x + n)", QUERN_UINT8},
    {"x + n + (w + n)", QUERN_DTYPE_NONE}, /* 0 to 127 */
    {"x + n + (w + int8(n))", QUERN_UINT8},
    {"x < n", QUERN_INT64}, /* any number can be compared */
    {"x * 2.5 + n", QUERN_INT64},
};

/* A plain integer has a parameter of the dtype that it must fit. */
Test(expression, plain_integers)
{
    for (size_t k = 0; k < QN_COUNT(narrowed); k++) {
        qn_expression_name names[4] = {{QN_STR("n"), {QUERN_INT64, true}},
                                       {QN_STR("x"), {QUERN_UINT8, false}}};
        size_t count = 2;
        for (const char *c = "zw"; *c; c++) {
            if (strchr(narrowed[k].text, *c)) {
                names[count++] =
                    (qn_expression_name){{c, 1}, {*c == 'z' ? QUERN_INT16 : QUERN_INT8, false}};
            }
        }
        qn_arena arena = {0};
        qn_expression e;
        quern_status status =
            qn_expression_make(&e, &arena, narrowed[k].text, names, count, QUERN_DTYPE_NONE);
        cr_expect_eq(status, narrowed[k].dtype ? QUERN_OK : QUERN_ERROR_TYPE, "%s: %s",
                     narrowed[k].text, quern_last_error_text());
        if (narrowed[k].dtype) {
            cr_expect_eq(qn_expression_parameter_dtype(&names[0]), narrowed[k].dtype, "%s",
                         narrowed[k].text);
        }
        qn_arena_free(&arena);
    }
}

/* A long sum is no deep one, and a deep text is refused before it ends the stack. */
Test(expression, long_and_deep)
{
    static char text[100000];
    qn_expression_name name = {QN_STR("x"), {QUERN_INT8, false}};
    qn_arena arena = {0};
    qn_expression e;
    memset(text, '+', 40000);
    for (size_t k = 0; k < 40000; k += 2) {
        text[k] = 'x';
    }
    text[39999] = '\0';
    cr_expect_eq(QUERN_OK, qn_expression_make(&e, &arena, text, &name, 1, QUERN_DTYPE_NONE));
    static const char opening[] = "(-!~?";
    for (const char *c = opening; *c; c++) {
        memset(text, *c, sizeof text - 1);
        for (size_t k = 0; *c == '?' && k < sizeof text - 1; k += 2) {
            text[k] = 'x';
        }
        cr_expect_eq(QUERN_ERROR_SIGNATURE,
                     qn_expression_make(&e, &arena, text, &name, 1, QUERN_DTYPE_NONE));
        cr_expect(strstr(quern_last_error()->message, "nested too deeply"), "%c: %s", *c,
                  quern_last_error()->message);
    }
    qn_arena_free(&arena);
}

Test(expression, out_of_memory)
{
    static const char text[] = "clip(sqrt(x*x + 2.5), 0, n) ? 1e999 : -(2 + 3) + 2j";
    quern_status status = QUERN_ERROR_OUT_OF_MEMORY;
    for (uint64_t n = 1; status != QUERN_OK; n++) {
        qn_expression_name names[] = {{QN_STR("x"), {QUERN_FLOAT16, false}},
                                      {QN_STR("n"), {QUERN_INT64, true}}};
        qn_arena arena = {0};
        qn_expression e;
        qn_memory_fail_after(n, true);
        status = qn_expression_make(&e, &arena, text, names, 2, QUERN_DTYPE_NONE);
        qn_memory_fail_after(0, false);
        cr_assert(status == QUERN_OK || status == QUERN_ERROR_OUT_OF_MEMORY, "%d", (int)status);
        qn_arena_free(&arena);
    }
}
