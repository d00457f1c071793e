/* SPDX-License-Identifier: MIT
 *
 * scalars: every number with every dtype. In: `table_scalars [PART/PARTS]`, the device from
 * QUERN_DEVICE. A row is a number, the dtype that is stated for it or none, and the dtype of the
 * parameter. It goes through the C interface as a program makes it, and as the command makes it
 * from its text, into elementwise, reduction and scan kernels and into a function of a module. All
 * of them must give the same bytes, or all must refuse it, exactly where the rule of
 * docs/signatures.md, written once more below, says so. Out: a line for each row that went wrong,
 * and one with how many were right.
 */
#include "cli.h"
#include "table.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the numbers ---------------------------------------------------------------------------- */

typedef enum kind { TRUTH, WHOLE, REAL, COMPLEX } kind;

/* As it is typed, and what it is. */
typedef struct row_value {
    const char *text;
    kind kind;
    bool negative;
    uint64_t magnitude; /* of a whole number */
    double re, im;
} row_value;

#define TRUE_OR_FALSE(text, v)                                                                     \
    {                                                                                              \
        text, TRUTH, false, v, v, 0                                                                \
    }
#define PLUS(n)                                                                                    \
    {                                                                                              \
#n, WHOLE, false, UINT64_C(n), (double)UINT64_C(n), 0                                      \
    }
#define MINUS(n)                                                                                   \
    {                                                                                              \
        "-" #n, WHOLE, true, UINT64_C(n), -(double)UINT64_C(n), 0                                  \
    }
#define FLOAT(v)                                                                                   \
    {                                                                                              \
#v, REAL, false, 0, v, 0                                                                   \
    }
#define SPECIAL(text, v)                                                                           \
    {                                                                                              \
        text, REAL, false, 0, v, 0                                                                 \
    }
#define PARTS(text, a, b)                                                                          \
    {                                                                                              \
        text, COMPLEX, false, 0, a, b                                                              \
    }

static const row_value numbers[] = {
    TRUE_OR_FALSE("true", 1),
    TRUE_OR_FALSE("False", 0),
    PLUS(0),
    PLUS(1),
    PLUS(2),
    PLUS(100),
    PLUS(127),
    PLUS(128),
    PLUS(255),
    PLUS(256),
    PLUS(32767),
    PLUS(32768),
    PLUS(65504),
    PLUS(65519),
    PLUS(65520),
    PLUS(65535),
    PLUS(65536),
    PLUS(2147483647),
    PLUS(2147483648),
    PLUS(4294967295),
    PLUS(4294967296),
    PLUS(9007199254740992),
    PLUS(9223372036854775807),
    PLUS(9223372036854775808),
    PLUS(18446744073709551615),
    MINUS(1),
    MINUS(128),
    MINUS(129),
    MINUS(32768),
    MINUS(32769),
    MINUS(65520),
    MINUS(2147483648),
    MINUS(2147483649),
    MINUS(9223372036854775807),
    FLOAT(0.0),
    FLOAT(-0.0),
    FLOAT(0.5),
    FLOAT(-0.5),
    FLOAT(1.7),
    FLOAT(2.0),
    FLOAT(-3.0),
    FLOAT(-3.5),
    FLOAT(1e2),
    FLOAT(255.0),
    FLOAT(65519.99),
    FLOAT(65520.0),
    FLOAT(1e5),
    FLOAT(-2147483648.0),
    FLOAT(4294967295.5),
    FLOAT(9223372036854775808.0),
    FLOAT(1.8446744073709552e19),
    FLOAT(3.39e38),
    FLOAT(3.3962e38),
    FLOAT(3.4028235e38),
    FLOAT(-3.4028236e38),
    FLOAT(1e39),
    FLOAT(-1e300),
    FLOAT(1e-320),
    SPECIAL("inf", INFINITY),
    SPECIAL("-inf", -INFINITY),
    SPECIAL("nan", NAN),
    PARTS("1+2j", 1, 2),
    PARTS("2+0j", 2, 0),
    PARTS("0j", 0, 0),
    PARTS("1e39-1j", 1e39, -1),
    PARTS("1+1e39j", 1, 1e39),
    PARTS("-inf+infj", -INFINITY, INFINITY),
};

static const quern_dtype dtypes[] = {
    QUERN_BOOL,    QUERN_INT8,    QUERN_INT16,    QUERN_INT32,     QUERN_INT64,
    QUERN_UINT8,   QUERN_UINT16,  QUERN_UINT32,   QUERN_UINT64,    QUERN_FLOAT16,
    QUERN_FLOAT32, QUERN_FLOAT64, QUERN_BFLOAT16, QUERN_COMPLEX64, QUERN_COMPLEX128,
};
enum { DTYPES = CLI_COUNT(dtypes) };

/* ---- the rule ------------------------------------------------------------------------------- */

/* The least magnitude that rounds to infinity: half a step beyond the largest number. */
static double float_limit(quern_dtype dtype)
{
    return dtype == QUERN_FLOAT16                               ? 65520.0
           : dtype == QUERN_BFLOAT16                            ? 0x1.ffp127
           : dtype == QUERN_FLOAT32 || dtype == QUERN_COMPLEX64 ? 0x1.ffffffp127
                                                                : INFINITY;
}

static bool part_fits(double part, quern_dtype dtype)
{
    return !isfinite(part) || fabs(part) < float_limit(dtype);
}

/* A whole number of any kind; with `cut`, also a number with a fraction. False for anything
 * else. */
static bool as_whole(row_value *v, bool cut)
{
    if (v->kind == REAL) {
        double whole = trunc(v->re);
        if (!isfinite(whole) || (!cut && whole != v->re) || fabs(whole) >= 0x1p64) {
            return false;
        }
        v->magnitude = (uint64_t)fabs(whole);
        v->negative = whole < 0;
    }
    return true;
}

static bool whole_fits(const row_value *v, quern_dtype dtype)
{
    unsigned bits = 8 * (unsigned)quern_dtype_size(dtype);
    uint64_t most = UINT64_MAX >> (64 - bits);
    if (dtype <= QUERN_INT64) { /* the signed ones come first */
        most >>= 1;
        return v->magnitude <= most + v->negative;
    }
    return v->magnitude <= most && (!v->negative || v->magnitude == 0);
}

/* Make `v` a number of `dtype`, which is that of the parameter, or (not `cut`) stated with it;
 * false where it is to be refused. `bytes` are its element. */
static bool convert(row_value *v, quern_dtype dtype, bool cut, unsigned char bytes[16])
{
    bool is_complex = complexes(dtype);
    if (v->kind == COMPLEX && !is_complex) {
        return false;
    }
    if (integers(dtype)) {
        if (!as_whole(v, cut) || !whole_fits(v, dtype)) {
            return false;
        }
        uint64_t bits = v->negative ? 0 - v->magnitude : v->magnitude;
        number_store(bytes, dtype, (number){.whole = (int64_t)bits});
        v->kind = WHOLE;
        v->re = v->negative ? -(double)v->magnitude : (double)v->magnitude;
        return true;
    }
    if (dtype == QUERN_BOOL) {
        bytes[0] = v->re != 0;
        *v = (row_value){.kind = TRUTH, .magnitude = bytes[0], .re = bytes[0]};
        return true;
    }
    if (!part_fits(v->re, dtype) || !part_fits(v->im, dtype)) {
        return false;
    }
    number_store(bytes, dtype, (number){v->re, v->im, 0});
    number rounded = number_load(bytes, dtype);
    *v = (row_value){.kind = is_complex ? COMPLEX : REAL, .re = rounded.re, .im = rounded.im};
    return true;
}

/* ---- the number as a program passes it ------------------------------------------------------ */

static quern_value literal_of(const row_value *v)
{
    switch (v->kind) {
    case TRUTH:
        return quern_literal_bool((int)v->magnitude);
    case WHOLE:
        return v->negative ? quern_literal_int((long long)(0 - v->magnitude))
                           : quern_literal_uint(v->magnitude);
    case REAL:
        return quern_literal_double(v->re);
    default:
        return quern_literal_complex(v->re, v->im);
    }
}

/* False where the interface has no way to say it. */
static bool scalar_of(quern_value *out, const row_value *v, quern_dtype own)
{
    if (complexes(own)) {
        *out = quern_scalar_complex(own, v->re, v->im);
    } else if (v->kind == COMPLEX) {
        return false;
    } else if (own == QUERN_BOOL || integers(own)) {
        bool natural = own == QUERN_UINT64;
        if (v->kind == REAL || (natural ? v->negative : v->magnitude > INT64_MAX)) {
            return false;
        }
        *out = quern_scalar_int(own, (int64_t)(v->negative ? 0 - v->magnitude : v->magnitude));
    } else {
        *out = quern_scalar_real(own, v->re);
    }
    return true;
}

/* ---- the kernels ---------------------------------------------------------------------------- */

/* What a parameter of one dtype is passed to. */
typedef struct target {
    quern_kernel *kernels[3];
    quern_function *function;
    quern_array *result;
} target;

static void make_target(target *t, quern_engine *engine, quern_module *module, int index)
{
    const char *name = quern_dtype_name(dtypes[index]);
    char in[40], out[40], function[16];
    snprintf(in, sizeof in, "%s a", name);
    snprintf(out, sizeof out, "%s y", name);
    snprintf(function, sizeof function, "copy%zu", quern_dtype_size(dtypes[index]));
    check(quern_elementwise(&t->kernels[0], engine, in, out, "y = a", NULL), "elementwise");
    snprintf(in, sizeof in, "%s v", name);
    check(quern_reduction(&t->kernels[1], engine, in, out, "v", "a", "y = a", NULL, NULL),
          "reduction");
    check(quern_scan(&t->kernels[2], engine, in, out, "v", "a", "y = a", NULL, NULL), "scan");
    check(quern_module_function(&t->function, module, function), "function");
    check(quern_array_new(&t->result, engine, dtypes[index], 1, (int64_t[]){1}), "array");
}

static const char source[] =
    "struct alignas(16) wide { double parts[2]; };\n"
    "extern \"C\" __global__ void copy1(char *y, char a) { *y = a; }\n"
    "extern \"C\" __global__ void copy2(short *y, short a) { *y = a; }\n"
    "extern \"C\" __global__ void copy4(int *y, int a) { *y = a; }\n"
    "extern \"C\" __global__ void copy8(long long *y, long long a) { *y = a; }\n"
    "extern \"C\" __global__ void copy16(wide *y, wide a) { *y = a; }\n";

static quern_status call(const target *t, int which, quern_value value)
{
    if (which == 3) {
        quern_launch_options launch = QUERN_LAUNCH_OPTIONS_INIT;
        launch.grid[0] = launch.block[0] = 1;
        const quern_value values[] = {quern_value_array(t->result), value};
        return quern_function_call_n(t->function, values, 2, &launch);
    }
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    quern_array *result = t->result;
    if (which == 1) { /* a reduction of all elements has no dimension */
        check(quern_array_reshape(&result, t->result, 0, NULL), "reshape");
    }
    const int64_t one = 1;
    options.loop_size = which > 0 ? &one : NULL; /* an elementwise kernel goes by its output */
    const quern_value values[] = {value, quern_value_array(result)};
    quern_status status = quern_call_n(t->kernels[which], values, 2, &options);
    if (which == 1) {
        quern_array_release(result);
    }
    return status;
}

/* ---- a row ---------------------------------------------------------------------------------- */

/* True when this way of passing the number does what the rule says. */
static bool try_call(const target *t, int which, quern_value value, bool fits,
                     const unsigned char *expected)
{
    unsigned char got[16], fill[16];
    size_t size = quern_dtype_size(quern_array_dtype(t->result));
    memset(fill, 0xa5, sizeof fill);
    check(quern_array_write(t->result, fill, size), "write");
    quern_status status = call(t, which, value);
    if (status != QUERN_OK) {
        return !fits && (status == QUERN_ERROR_VALUE || status == QUERN_ERROR_TYPE);
    }
    check(quern_array_read(t->result, got, size), "read");
    return fits && memcmp(got, expected, size) == 0;
}

static bool try_all(const target *t, quern_value value, bool stated_here, bool fits,
                    const unsigned char *expected)
{
    bool good = true;
    for (int which = 0; which < 3 + stated_here; which++) {
        good &= try_call(t, which, value, fits, expected);
    }
    return good;
}

static bool run_row(const row_value *given, quern_dtype own, const target *t)
{
    quern_dtype dtype = quern_array_dtype(t->result);
    row_value v = *given;
    unsigned char expected[16] = {0};
    bool stated = own != QUERN_DTYPE_NONE;
    bool fits_own = !stated || convert(&v, own, false, expected);
    bool fits = fits_own && convert(&v, dtype, true, expected);
    quern_value value;
    cli_problem problem;
    bool good = true, sayable = true;
    if (stated) {
        sayable = scalar_of(&value, given, own);
    } else {
        value = literal_of(given);
    }
    if (sayable) {
        good = try_all(t, value, own == dtype, fits, expected);
    }
    bool taken = cli_number_parse(&value, given->text, own, &problem);
    cli_free_all();
    return good && taken == fits_own && (!taken || try_all(t, value, own == dtype, fits, expected));
}

/* Keep quiet about dropped fractions: here they are rows like any other. */
static void keep_quiet(void *context, const char *level, const char *message)
{
    (void)context, (void)level, (void)message;
}

int main(int argc, char **argv)
{
    rows r = rows_asked(argc, argv);
    quern_engine *engine;
    quern_module *module;
    target targets[DTYPES] = {0};
    quern_options options = QUERN_OPTIONS_INIT;
    options.log = keep_quiet;
    check(quern_open(&engine, &options), "engine");
    check(quern_module_new(&module, engine, source, NULL), "module");
    for (int k = 0; k < DTYPES; k++) {
        make_target(&targets[k], engine, module, k);
    }
    for (size_t n = 0; n < CLI_COUNT(numbers); n++) {
        for (int own = -1; own < DTYPES; own++) {
            for (int k = 0; k < DTYPES; k++) {
                quern_dtype stated = own < 0 ? QUERN_DTYPE_NONE : dtypes[own];
                if (!rows_next(&r)) {
                    continue;
                }
                r.run++;
                if (!run_row(&numbers[n], stated, &targets[k])) {
                    r.failed++;
                    printf("FAILED %s%s%s for %s\n", own < 0 ? "" : quern_dtype_name(stated),
                           own < 0 ? "" : ":", numbers[n].text, quern_dtype_name(dtypes[k]));
                }
            }
        }
    }
    for (int k = 0; k < DTYPES; k++) {
        for (int j = 0; j < 3; j++) {
            quern_kernel_release(targets[k].kernels[j]);
        }
        quern_function_release(targets[k].function);
        quern_array_release(targets[k].result);
    }
    quern_module_release(module);
    quern_close(engine);
    return rows_report(&r, "scalars");
}
