/* SPDX-License-Identifier: MIT
 *
 * operators: what is reduced, in Quern's words and in C. In: elements in C order. Out: what each
 * output must be. The thing to know: sums of small whole numbers are exact in every dtype that
 * `takes` lets through, so equal bits are asked for wherever `tolerance` is 0.
 */
#include "table.h"
#include <math.h>

/* ---- dtypes --------------------------------------------------------------------------------- */

static bool any_number(quern_dtype d)
{
    return d != QUERN_BOOL && d != QUERN_FLOAT16 && d != QUERN_BFLOAT16;
}
static bool any_real(quern_dtype d)
{
    return !is_complex(d);
}
static bool any_dtype(quern_dtype d)
{
    return d != QUERN_DTYPE_NONE;
}
static bool integers(quern_dtype d)
{
    return is_integer(d);
}
static bool wide_floats(quern_dtype d)
{
    return d == QUERN_FLOAT32 || d == QUERN_FLOAT64;
}
static bool halves(quern_dtype d)
{
    return d == QUERN_FLOAT16 || d == QUERN_BFLOAT16;
}
static bool narrow(quern_dtype d)
{
    return quern_dtype_size(d) <= 2 && !halves(d);
}
static bool only_float32(quern_dtype d)
{
    return d == QUERN_FLOAT32;
}
static bool only_int32(quern_dtype d)
{
    return d == QUERN_INT32;
}

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
    s->least = !s->some || e->x.re < s->least ? e->x.re : s->least;
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

static number whole(int64_t value)
{
    return (number){(double)value, 0, value};
}

static void sum_out(number *out, const state *s, int64_t kept)
{
    (void)kept;
    out[0] = s->sum;
}
static void sum_and_ten(number *out, const state *s, int64_t kept)
{
    (void)kept;
    out[0] = (number){s->sum.re + 10, s->sum.im, s->sum.whole + 10};
}
static void root_out(number *out, const state *s, int64_t kept)
{
    (void)kept;
    out[0] = (number){sqrt(s->sum.re), 0, 0};
}
static void product_out(number *out, const state *s, int64_t kept)
{
    (void)kept;
    out[0] = s->some ? s->sum : whole(1);
}
static void best_out(number *out, const state *s, int64_t kept)
{
    (void)kept;
    out[0] = whole((int64_t)s->best);
}
static void extremes_out(number *out, const state *s, int64_t kept)
{
    (void)kept;
    out[0] = whole((int64_t)s->least);
    out[1] = whole((int64_t)s->best);
}
static void at_out(number *out, const state *s, int64_t kept)
{
    (void)kept;
    out[0] = whole(s->at);
}
static void any_out(number *out, const state *s, int64_t kept)
{
    (void)kept;
    out[0] = whole(s->count < s->at);
}
static void all_out(number *out, const state *s, int64_t kept)
{
    (void)kept;
    out[0] = whole(s->count == 0);
}
static void affine_out(number *out, const state *s, int64_t kept)
{
    (void)kept;
    out[0] = whole((int64_t)(uint32_t)(s->factor ^ s->term));
}
static void sum_and_place(number *out, const state *s, int64_t kept)
{
    out[0] = whole(s->sum.whole + 1000 * kept);
}

/* ---- the table ------------------------------------------------------------------------------ */

#define PAIR                                                                                       \
    "struct pair { float v; long long at; };\n"                                                    \
    "__device__ pair better(pair a, pair b) { return a.v > b.v || (a.v == b.v && a.at < b.at) ? "  \
    "a : b; }"
#define AFFINE                                                                                     \
    "struct affine { unsigned factor, term; };\n"                                                  \
    "__device__ affine then(affine a, affine b) { return affine{b.factor * a.factor, b.factor * "  \
    "a.term + b.term}; }"

const operator table_operators[] = {
    {.name = "sum",
     .takes = any_number,
     .in = "T x",
     .out = "T y",
     .map = "x",
     .reduce = "a + b",
     .post = "y = a",
     .identity = "0",
     .outputs = 1,
     .step = add,
     .finish = sum_out},
    {.name = "sum of halves in float",
     .takes = halves,
     .in = "T x",
     .out = "T y",
     .map = "x",
     .reduce = "a + b",
     .post = "y = a",
     .identity = "0",
     .reduce_type = "float",
     .outputs = 1,
     .step = add,
     .finish = sum_out},
    {.name = "sum in int64",
     .takes = narrow,
     .in = "T x",
     .out = "int64 y",
     .map = "x",
     .reduce = "a + b",
     .post = "y = a",
     .identity = "0",
     .outputs = 1,
     .output = QUERN_INT64,
     .step = add,
     .finish = sum_out},
    {.name = "sum with identity 10",
     .takes = any_number,
     .in = "T x",
     .out = "T y",
     .map = "x",
     .reduce = "a + b",
     .post = "y = a",
     .identity = "10",
     .outputs = 1,
     .step = add,
     .finish = sum_and_ten},
    {.name = "product of signs",
     .takes = any_real,
     .in = "T x",
     .out = "T y",
     .map = "x > T(0) ? 1 : -1",
     .reduce = "a * b",
     .post = "y = a",
     .identity = "1",
     .reduce_type = "long long",
     .outputs = 1,
     .step = multiply_signs,
     .finish = product_out},
    {.name = "root of squares",
     .takes = wide_floats,
     .in = "T x",
     .out = "T y",
     .map = "x * x",
     .reduce = "a + b",
     .post = "y = sqrt(a)",
     .identity = "0",
     .outputs = 1,
     .step = add_square,
     .finish = root_out},
    {.name = "maximum without identity",
     .takes = any_real,
     .in = "T x",
     .out = "T y",
     .map = "x",
     .reduce = "max(a, b)",
     .post = "y = a",
     .outputs = 1,
     .step = look_for_extremes,
     .finish = best_out},
    {.name = "two outputs, statements",
     .takes = any_real,
     .in = "T x",
     .out = "T low, T high",
     .map = "limits r; r.low = x; r.high = x; return r;",
     .reduce = "limits r = a; if (b.low < r.low) { r.low = b.low; } "
               "if (b.high > r.high) { r.high = b.high; } return r;",
     .post = "low = a.low; high = a.high",
     .reduce_type = "limits",
     .preamble = "struct limits { T low, high; };",
     .outputs = 2,
     .step = look_for_extremes,
     .finish = extremes_out},
    {.name = "argmax",
     .takes = any_real,
     .in = "T x",
     .out = "int64 y",
     .map = "pair{(float)x, _J}",
     .reduce = "better(a, b)",
     .post = "y = a.at",
     .reduce_type = "pair",
     .preamble = PAIR,
     .outputs = 1,
     .output = QUERN_INT64,
     .step = look_for_extremes,
     .finish = at_out},
    {.name = "any",
     .takes = any_dtype,
     .in = "T x",
     .out = "bool y",
     .map = "x != T(0)",
     .reduce = "a || b",
     .post = "y = a",
     .identity = "false",
     .outputs = 1,
     .output = QUERN_BOOL,
     .step = count_zeros,
     .finish = any_out},
    {.name = "all",
     .takes = any_dtype,
     .in = "T x",
     .out = "bool y",
     .map = "x != T(0)",
     .reduce = "a && b",
     .post = "y = a",
     .identity = "true",
     .outputs = 1,
     .output = QUERN_BOOL,
     .step = count_zeros,
     .finish = all_out},
    {.name = "exclusive or",
     .takes = integers,
     .in = "T x",
     .out = "T y",
     .map = "x",
     .reduce = "a ^ b",
     .post = "y = a",
     .identity = "0",
     .outputs = 1,
     .step = exclusive_or,
     .finish = sum_out},
    {.name = "composition, in order",
     .takes = integers,
     .in = "T x",
     .out = "uint32 y",
     .map = "affine{(unsigned)(2 * (long long)x + 1), (unsigned)x}",
     .reduce = "then(a, b)",
     .post = "y = a.factor ^ a.term",
     .reduce_type = "affine",
     .preamble = AFFINE,
     .ordered = true,
     .outputs = 1,
     .output = QUERN_UINT32,
     .step = compose,
     .finish = affine_out},
    {.name = "weights by position",
     .takes = integers,
     .in = "T x",
     .out = "int64 y",
     .map = "(long long)x * (_J % 5)",
     .reduce = "a + b",
     .post = "y = a",
     .identity = "0",
     .outputs = 1,
     .output = QUERN_INT64,
     .step = weigh,
     .finish = sum_out},
    {.name = "positions along axes",
     .takes = only_int32,
     .in = "T x",
     .out = "int64 y",
     .map = "x + 3 * _in_ind.get()[0]",
     .reduce = "a + b",
     .post = "y = a + 1000 * (_out_ind.size() > 1 ? _out_ind.get()[0] : 0)",
     .identity = "0",
     .outputs = 1,
     .output = QUERN_INT64,
     .step = add_places,
     .finish = sum_and_place},
    {.name = "sum of sines in double",
     .takes = only_float32,
     .in = "T x",
     .out = "float64 y",
     .map = "sin((double)x + 0.25 * (_J % 7))",
     .reduce = "a + b",
     .post = "y = a",
     .identity = "0",
     .outputs = 1,
     .output = QUERN_FLOAT64,
     .step = add_fractions,
     .finish = sum_out,
     .tolerance = 1e-14},
};
const size_t table_operator_count = sizeof table_operators / sizeof *table_operators;
