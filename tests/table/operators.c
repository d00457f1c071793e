/* SPDX-License-Identifier: MIT
 *
 * operators: what is reduced, in Quern's words and in C. In: elements in C order. Out: what each
 * output must be. The thing to know: sums of small whole numbers are exact in every dtype that
 * `takes` lets through, so equal bits are asked for wherever `tolerance` is 0.
 */
#include "table.h"
#include <math.h>

/* ---- steps ---------------------------------------------------------------------------------- */

static void add(state *s, const element *e)
{
    s->sum.re += e->x.re;
    s->sum.im += e->x.im;
    s->sum.whole += e->x.whole;
}
static void add_square(state *s, const element *e)
{
    s->sum.re += e->x.re * e->x.re;
}
static void multiply_signs(state *s, const element *e)
{
    double sign = e->x.re > 0 ? 1 : -1;
    s->sum.re = (s->some ? s->sum.re : 1) * sign;
    s->sum.whole = (s->some ? s->sum.whole : 1) * (int64_t)sign;
    s->some = true;
}
static void look_for_extremes(state *s, const element *e)
{
    if (!s->some || e->x.re > s->best) {
        s->best = e->x.re;
        s->at = e->j;
    }
    if (!s->some || e->x.re < s->least) {
        s->least = e->x.re;
        s->least_at = e->j;
    }
    s->some = true;
}
static void count_zeros(state *s, const element *e)
{
    s->count += e->x.re == 0 && e->x.im == 0;
    s->some = true;
    s->at++;
}
static void exclusive_or(state *s, const element *e)
{
    s->sum.whole ^= e->x.whole;
}
static void compose(state *s, const element *e)
{
    uint32_t factor = (uint32_t)(2 * e->x.whole + 1), term = (uint32_t)e->x.whole;
    /* first what came before, then x -> factor x + term */
    s->term = s->some ? factor * s->term + term : term;
    s->factor = s->some ? factor * s->factor : factor;
    s->some = true;
}
static void weigh(state *s, const element *e)
{
    s->sum.whole += e->x.whole * (e->j % 5);
}
static void add_places(state *s, const element *e)
{
    for (int d = 0; d < e->ndim; d++) {
        s->sum.whole += e->in_at[d] * (d == 0 ? 3 : 0);
    }
    s->sum.whole += e->x.whole;
}
static void add_fractions(state *s, const element *e)
{
    s->sum.re += sin(e->x.re + 0.25 * (double)(e->j % 7));
}

/* ---- finishes ------------------------------------------------------------------------------- */

static number sum_of(const state *s)
{
    return s->sum;
}
static number sum_and_ten(const state *s)
{
    return (number){s->sum.re + 10, s->sum.im, s->sum.whole + 10};
}
static number sum_and_place(const state *s)
{
    return whole(s->sum.whole + 1000 * s->kept);
}
static number root_of(const state *s)
{
    return (number){sqrt(s->sum.re), 0, 0};
}
static number product_of(const state *s)
{
    return s->some ? s->sum : whole(1);
}
static number best_of(const state *s)
{
    return whole((int64_t)s->best);
}
static number least_of(const state *s)
{
    return whole((int64_t)s->least);
}
static number place_of(const state *s)
{
    return whole(s->at);
}
static number least_place_of(const state *s)
{
    return whole(s->least_at);
}
static number any_of(const state *s)
{
    return whole(s->count < s->at);
}
static number all_of(const state *s)
{
    return whole(s->count == 0);
}
static number affine_of(const state *s)
{
    return whole((int64_t)(s->factor ^ s->term));
}

/* ---- the table ------------------------------------------------------------------------------ */

#define PAIR                                                                                       \
    "struct pair { float v; long long at; };\n"                                                    \
    "__device__ pair better(pair a, pair b) { return a.v > b.v || (a.v == b.v && a.at < b.at) ? "  \
    "a : b; }"
#define LEAST                                                                                      \
    "struct least { T v; int at; };\n"                                                             \
    "__device__ least smaller(least a, least b) { return b.v < a.v || (b.v == a.v && b.at < a.at)" \
    " ? b : a; }"
#define AFFINE                                                                                     \
    "struct affine { unsigned factor, term; };\n"                                                  \
    "__device__ affine then(affine a, affine b) { return affine{b.factor * a.factor, b.factor * "  \
    "a.term + b.term}; }"

/* clang-format off: a row reads as a command line */
const reduction table_reductions[] = {
    {"sum", any_number, "T y", "x", "a + b", "y = a", .identity = "0", .step = add,
     .finish = {sum_of}},
    {"sum of halves in float", halves, "T y", "x", "a + b", "y = a", .identity = "0",
     .reduce_type = "float", .step = add, .finish = {sum_of}},
    {"sum in int64", narrow_integers, "int64 y", "x", "a + b", "y = a", .identity = "0",
     .step = add, .finish = {sum_of}},
    {"sum with identity 10", any_number, "T y", "x", "a + b", "y = a", .identity = "10",
     .step = add, .finish = {sum_and_ten}},
    {"product of signs", any_real, "T y", "x > T(0) ? 1 : -1", "a * b", "y = a", .identity = "1",
     .reduce_type = "long long", .step = multiply_signs, .finish = {product_of}},
    {"root of squares", wide_floats, "T y", "x * x", "a + b", "y = sqrt(a)", .identity = "0",
     .step = add_square, .finish = {root_of}},
    {"maximum without identity", any_real, "T y", "x", "max(a, b)", "y = a",
     .step = look_for_extremes, .finish = {best_of}},
    {"two outputs, statements", any_real, "T low, T high",
     "limits r; r.low = x; r.high = x; return r;",
     "limits r = a; if (b.low < r.low) { r.low = b.low; } "
     "if (b.high > r.high) { r.high = b.high; } return r;",
     "low = a.low; high = a.high", .reduce_type = "limits",
     .preamble = "struct limits { T low, high; };", .step = look_for_extremes,
     .finish = {least_of, best_of}},
    {"argmax", any_real, "int64 y", "pair{(float)x, _J}", "better(a, b)", "y = a.at",
     .reduce_type = "pair", .preamble = PAIR, .step = look_for_extremes, .finish = {place_of}},
    {"argmin with its value", any_real, "T low, int16 y", "least{x, (int)_J}", "smaller(a, b)",
     "low = a.v; y = a.at", .reduce_type = "least", .preamble = LEAST, .step = look_for_extremes,
     .finish = {least_of, least_place_of}},
    {"argmin as float8", any_real, "int64 y, float8_e4m3fn low", "least{x, (int)_J}",
     "smaller(a, b)", "low = a.v; y = a.at", .reduce_type = "least", .preamble = LEAST,
     .step = look_for_extremes, .finish = {least_place_of, least_of}},
    {"sum of halves in double", halves, "float64 y", "x", "a + b", "y = a", .identity = "0",
     .step = add, .finish = {sum_of}},
    {"sum as float8", any_real, "float8_e4m3fn y", "x", "a + b", "y = a", .identity = "0",
     .reduce_type = "float", .step = add, .finish = {sum_of}},
    {"sum as the wider float8", any_real, "float8_e5m2 y", "x", "a + b", "y = a", .identity = "0",
     .reduce_type = "double", .step = add, .finish = {sum_of}},
    {"extremes of two widths", any_real, "float8_e5m2 low, float32 high",
     "limits r; r.low = x; r.high = x; return r;",
     "limits r = a; if (b.low < r.low) { r.low = b.low; } "
     "if (b.high > r.high) { r.high = b.high; } return r;",
     "low = a.low; high = a.high", .reduce_type = "limits",
     .preamble = "struct limits { float8_e5m2 low; T high; };", .step = look_for_extremes,
     .finish = {least_of, best_of}},
    {"any", any_dtype, "bool y", "x != T(0)", "a || b", "y = a", .identity = "false",
     .step = count_zeros, .finish = {any_of}},
    {"all", any_dtype, "bool y", "x != T(0)", "a && b", "y = a", .identity = "true",
     .step = count_zeros, .finish = {all_of}},
    {"exclusive or", integers, "T y", "x", "a ^ b", "y = a", .identity = "0", .step = exclusive_or,
     .finish = {sum_of}},
    {"composition, in order", integers, "uint32 y",
     "affine{(unsigned)(2 * (long long)x + 1), (unsigned)x}", "then(a, b)", "y = a.factor ^ a.term",
     .reduce_type = "affine", .preamble = AFFINE, .ordered = true, .step = compose,
     .finish = {affine_of}},
    {"weights by position", integers, "int64 y", "(long long)x * (_J % 5)", "a + b", "y = a",
     .identity = "0", .step = weigh, .finish = {sum_of}},
    {"positions along axes", only_int32, "int64 y", "x + 3 * _in_ind.get()[0]", "a + b",
     "y = a + 1000 * (_out_ind.size() > 1 ? _out_ind.get()[0] : 0)", .identity = "0",
     .step = add_places, .finish = {sum_and_place}},
    {"sum of sines in double", only_float32, "float64 y", "sin((double)x + 0.25 * (_J % 7))",
     "a + b", "y = a", .identity = "0", .step = add_fractions, .finish = {sum_of},
     .tolerance = 1e-14},
};
/* clang-format on */
const size_t table_reduction_count = sizeof table_reductions / sizeof *table_reductions;
