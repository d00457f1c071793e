/* SPDX-License-Identifier: MIT
 *
 * Rounding of lane-wise floating-point operations against the CPU's own rounding modes, which the
 * operations themselves never use. Inputs are the shared ones, many of them special values.
 */
#include "lanes_inputs.h"
#include <criterion/criterion.h>
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static lanes_inputs in;
static lanes_results out;

static const struct {
    const char *suffix;
    int mode;
} roundings[] = {
    {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};

static float as32(uint64_t bits)
{
    const uint32_t u = (uint32_t)bits;
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static double as64(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* volatile keeps the compiler from computing under another mode. */
static float reference32(const char *op, float x, float y, float z)
{
    volatile float a = x, b = y, c = z, r;
    r = strcmp(op, "add") == 0    ? a + b
        : strcmp(op, "sub") == 0  ? a - b
        : strcmp(op, "mul") == 0  ? a * b
        : strcmp(op, "div") == 0  ? a / b
        : strcmp(op, "rcp") == 0  ? 1.0f / a
        : strcmp(op, "sqrt") == 0 ? sqrtf(a)
                                  : fmaf(a, b, c);
    return r;
}

static double reference64(const char *op, double x, double y, double z)
{
    volatile double a = x, b = y, c = z, r;
    r = strcmp(op, "add") == 0    ? a + b
        : strcmp(op, "sub") == 0  ? a - b
        : strcmp(op, "mul") == 0  ? a * b
        : strcmp(op, "div") == 0  ? a / b
        : strcmp(op, "rcp") == 0  ? 1.0 / a
        : strcmp(op, "sqrt") == 0 ? sqrt(a)
                                  : fma(a, b, c);
    return r;
}

static void check(const char *op, size_t rounding, int bits)
{
    char name[32];
    snprintf(name, sizeof name, "%s.%s.f%d", op, roundings[rounding].suffix, bits);
    for (int level = 0; level < qn_lane_level_count(); level++) {
        const qn_lane_form *form;
        for (size_t i = 0; (form = qn_lane_level_form(level, i)) != NULL; i++) {
            if (strcmp(form->name, name) == 0) {
                break;
            }
        }
        cr_assert_not_null(form, "%s", name);
        lanes_make_inputs(&in, form);
        lanes_run(&out, form, &in, 0xffffffffu, 0);
        for (size_t k = 0; k < LANES_VECTORS; k++) {
            const uint64_t a = in.a[k], b = in.b[k], c = in.c[k];
            uint64_t want = 0;
            bool both_nan;
            fesetround(roundings[rounding].mode);
            if (bits == 32) {
                const float r = reference32(op, as32(a), as32(b), as32(c));
                memcpy(&want, &r, sizeof r);
                want = isnan(r) ? 0x7fffffff : want;
                both_nan = false;
            } else {
                const double r = reference64(op, as64(a), as64(b), as64(c));
                memcpy(&want, &r, sizeof r);
                both_nan = isnan(r) && isnan(as64(out.d[k])); /* payloads: see the GPU's bits */
            }
            fesetround(FE_TONEAREST);
            cr_expect(both_nan || out.d[k] == want,
                      "%s level %d: %llx %llx %llx gives %llx, not %llx", name, level,
                      (unsigned long long)a, (unsigned long long)b, (unsigned long long)c,
                      (unsigned long long)out.d[k], (unsigned long long)want);
        }
    }
}

Test(lanes_round, as_the_cpu_does)
{
    const char *const ops[] = {"add", "sub", "mul", "div", "rcp", "sqrt", "fma"};
    for (size_t i = 0; i < QN_COUNT(ops); i++) {
        for (size_t rounding = 0; rounding < QN_COUNT(roundings); rounding++) {
            check(ops[i], rounding, 32);
            check(ops[i], rounding, 64);
        }
    }
}

/* The approximate forms against libm: `error` relative, or absolute below `floor`. */
static double log2_of(double x)
{
    return log2(x);
}

static double reciprocal(double x)
{
    return 1.0 / x;
}

static double reciprocal_root(double x)
{
    return 1.0 / sqrt(x);
}

Test(lanes_round, approximates_within_the_documented_errors)
{
    static const struct {
        const char *name;
        double (*function)(double);
        double least, most, relative, absolute;
    } cases[] = {
        {"ex2.approx.f32", exp2, -140, 127, 0x1p-22, 0x1p-149},
        {"ex2.approx.ftz.f32", exp2, -125, 127, 0x1p-22, 0},
        {"lg2.approx.f32", log2_of, 1e-44, 3e38, 0x1p-22, 0x1p-22},
        {"lg2.approx.ftz.f32", log2_of, 1.2e-38, 3e38, 0x1p-22, 0x1p-22},
        {"sin.approx.f32", sin, -100, 100, 0, 0x1p-20},
        {"cos.approx.f32", cos, -100, 100, 0, 0x1p-20},
        {"tanh.approx.f32", tanh, -30, 30, 0x1p-11, 0},
        {"rcp.approx.f32", reciprocal, 1e-37, 1e37, 0x1p-23, 0},
        {"rsqrt.approx.f32", reciprocal_root, 1e-44, 3e38, 0x1p-22, 0},
        {"sqrt.approx.f32", sqrt, 1e-44, 3e38, 0x1p-23, 0x1p-149},
    };
    for (size_t i = 0; i < QN_COUNT(cases); i++) {
        const qn_lane_form *form = qn_lane_find(cases[i].name);
        cr_assert_not_null(form, "%s", cases[i].name);
        lanes_make_inputs(&in, form);
        for (size_t k = 0; k < LANES_VECTORS / 2; k++) { /* the rest stays special */
            const bool logarithmic = cases[i].least > 0;
            const double t = (double)k / (LANES_VECTORS / 2 - 1);
            const float x =
                (float)(logarithmic ? exp(log(cases[i].least) +
                                          t * (log(cases[i].most) - log(cases[i].least)))
                                    : cases[i].least + t * (cases[i].most - cases[i].least));
            uint32_t u;
            memcpy(&u, &x, sizeof u);
            in.a[k] = u;
        }
        lanes_run(&out, form, &in, 0xffffffffu, 0);
        for (size_t k = 0; k < LANES_VECTORS / 2; k++) {
            const double want = cases[i].function(as32(in.a[k])), got = as32(out.d[k]);
            cr_expect_leq(fabs(got - want), fabs(want) * cases[i].relative + cases[i].absolute,
                          "%s of %a is %a, not %a", cases[i].name, as32(in.a[k]), got, want);
        }
    }
}

Test(lanes_round, approximations_know_the_special_values)
{
    static const struct {
        const char *name;
        uint32_t a, d;
    } cases[] = {
        {"ex2.approx.f32", 0x7f800000, 0x7f800000},
        {"ex2.approx.f32", 0xff800000, 0},
        {"ex2.approx.f32", 0x7fc00001, 0x7fffffff},
        {"ex2.approx.ftz.f32", 0x80000001, 0x3f800000},
        {"lg2.approx.f32", 0, 0xff800000},
        {"lg2.approx.f32", 0x80000000, 0xff800000},
        {"lg2.approx.f32", 0xbf800000, 0x7fffffff},
        {"lg2.approx.f32", 0x7f800000, 0x7f800000},
        {"lg2.approx.ftz.f32", 1, 0xff800000},
        {"lg2.approx.f32", 1, 0xc3150000},
        {"sin.approx.f32", 0x80000000, 0x80000000},
        {"sin.approx.f32", 0x7f800000, 0x7fffffff},
        {"cos.approx.f32", 0, 0x3f800000},
        {"cos.approx.f32", 0xff800000, 0x7fffffff},
        {"tanh.approx.f32", 0x80000000, 0x80000000},
        {"tanh.approx.f32", 0xff800000, 0xbf800000},
        {"rcp.approx.f32", 0x80000000, 0xff800000},
        {"rcp.approx.ftz.f32", 1, 0x7f800000},
        {"rsqrt.approx.f32", 0x80000000, 0xff800000},
        {"rsqrt.approx.f32", 0xbf800000, 0x7fffffff},
        {"sqrt.approx.f32", 0x80000000, 0x80000000},
        {"sqrt.approx.f32", 0xbf800000, 0x7fffffff},
    };
    for (size_t i = 0; i < QN_COUNT(cases); i++) {
        const uint32_t a[QN_LANES] = {cases[i].a};
        uint32_t d[QN_LANES] = {0}, carry = 0;
        qn_lane_find(cases[i].name)->function(d, a, NULL, NULL, 1, &carry);
        cr_expect_eq(d[0], cases[i].d, "%s of %08x is %08x, not %08x", cases[i].name, cases[i].a,
                     d[0], cases[i].d);
    }
}
