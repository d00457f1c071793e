/* SPDX-License-Identifier: MIT
 *
 * D = A B + C of a warp's matrices. This file is built once for each CPU level, as the lanes_*.c
 * are; QN_LEVEL names the build. In: A as rows along k, B as columns along k, C as rows; out: D as
 * rows. Integers are exact. f64 is a chain of fma in the order of k.
 *
 * What a GPU does with floats of at most 19 bits is not documented. Here it is what compute
 * capability 9.0 was found to do: M. Fasi, N. Higham, M. Mikaitis, S. Pranesh, "Numerical behavior
 * of NVIDIA tensor cores" (PeerJ Computer Science 7:e330, 2021) and F. Khattak, M. Mikaitis,
 * "Accurate Models of NVIDIA Tensor Cores" (arXiv:2512.07004, 2025):
 *
 * - Products are exact, and subnormal numbers are numbers.
 * - The products of a block and the accumulator are added at once, as fixed-point numbers: each is
 *   cut off 25 bits below the greatest exponent among them, the products' being the sums of their
 *   factors' exponents. That exponent is at least -133, with an f16 accumulator at least -21.
 * - The sum is cut off to f32, or rounded to the nearest f16 where the accumulator is f16.
 *
 * A block is all of k, except for tf32 in wmma, which ptxas 13.0 splits in two. The same ptxas
 * turns 8-bit floats into f16 and multiplies two blocks, each of every other pair along k, from
 * zero; the accumulator is added last, in ordinary f32 or f16.
 */
#include "ptx/lanes/lanes_half.h"
#include "ptx/lanes/levels.h"
#include "ptx/run/matrix.h"

#ifndef QN_LEVEL
#error "matrix_math.c is built with QN_LEVEL set to the name of a CPU level"
#endif

enum {
    ELEMENTS = 512,  /* the most of a matrix of floats: 32 by 16 */
    COLUMNS = 16,    /* the most that B has */
    DEPTH = 64,      /* the most of k, of integers */
    FRACTION = 25,   /* bits that a block's addends keep below the greatest exponent */
    NOTHING = -10000 /* exponent of zero */
};

/* ---- floats --------------------------------------------------------------------------------- */

/* significand * 2^(exponent - fraction of the type) */
typedef struct factors {
    s32 significand[ELEMENTS], exponent[ELEMENTS];
} factors;

/* Of a type: the bits of its fraction, and its least exponent, which subnormal numbers have. */
static inline int fraction_of(int type)
{
    return type == QN_MATRIX_BF16 ? 7 : 10;
}

static inline int least_of(int type)
{
    return type == QN_MATRIX_BF16 || type == QN_MATRIX_TF32 ? -126 : -14;
}

static inline bool is_8_bits(int type)
{
    return type == QN_MATRIX_E4M3 || type == QN_MATRIX_E5M2;
}

/* A matrix as f32; 8-bit floats become f16 first. */
static void widen(f32 *restrict out, const void *matrix, int type, unsigned count)
{
    const u8 *bytes = matrix;
    const u16 *halves = matrix;
    const u32 *words = matrix;
    switch (type) {
    case QN_MATRIX_F16:
        for (unsigned i = 0; i < count; i++) {
            out[i] = from_f16(halves[i]);
        }
        break;
    case QN_MATRIX_BF16:
        for (unsigned i = 0; i < count; i++) {
            out[i] = from_bf16(halves[i]);
        }
        break;
    case QN_MATRIX_E4M3:
        for (unsigned i = 0; i < count; i++) {
            out[i] = from_f16(from_e4m3(bytes[i]));
        }
        break;
    case QN_MATRIX_E5M2:
        for (unsigned i = 0; i < count; i++) {
            out[i] = from_f16(from_e5m2(bytes[i]));
        }
        break;
    default:
        for (unsigned i = 0; i < count; i++) {
            out[i] = from32(words[i] & (type == QN_MATRIX_TF32 ? ~0x1fffu : ~0u));
        }
        break;
    }
}

/* Is some element an infinity or NaN? */
static bool has_special(const f32 *x, unsigned count)
{
    u32 greatest = 0;
    for (unsigned i = 0; i < count; i++) {
        const u32 magnitude = bits32(x[i]) & ~SIGN32;
        greatest = magnitude > greatest ? magnitude : greatest;
    }
    return greatest >= 0x7f800000u;
}

/* Reorder along k: the even pairs come before the odd ones. */
static void part_pairs(f32 *restrict x, unsigned rows, unsigned depth)
{
    for (unsigned row = 0; row < rows; row++, x += depth) {
        f32 parted[DEPTH] = {0};
        for (unsigned k = 0; k < depth; k++) {
            parted[k / 4 * 2 + k % 2 + k / 2 % 2 * (depth / 2)] = x[k];
        }
        memcpy(x, parted, depth * sizeof *x);
    }
}

/* An f32 as integers: its significand of 24 bits, with its sign, and its exponent. */
static inline void take_apart(f32 x, s32 *significand, s32 *exponent)
{
    const u32 u = bits32(x), magnitude = u & ~SIGN32, biased = magnitude >> 23;
    const s32 s = (s32)((u & 0x7fffff) | (biased ? 0x800000 : 0));
    *significand = u & SIGN32 ? -s : s;
    *exponent = magnitude == 0 ? NOTHING : (s32)(biased ? biased : 1) - 127;
}

/* Cut to the bits that the type has: subnormal numbers of f16 are normal ones of f32. */
static inline void take_factor(f32 x, int fraction, int least, s32 *significand, s32 *exponent)
{
    s32 s, e;
    take_apart(x, &s, &e);
    const s32 lower = e < least && e != NOTHING ? least - e : 0;
    const s32 magnitude = (s < 0 ? -s : s) >> (23 - fraction + (lower < 24 ? lower : 24));
    *significand = s < 0 ? -magnitude : magnitude;
    *exponent = e + lower;
}

static void take_rows(factors *restrict out, const f32 *restrict x, int type, unsigned count)
{
    const int fraction = fraction_of(type), least = least_of(type);
    for (unsigned i = 0; i < count; i++) {
        take_factor(x[i], fraction, least, &out->significand[i], &out->exponent[i]);
    }
}

/* The same for B, transposed: its columns lie along k, the result's rows along n. */
static void take_columns(factors *restrict out, const f32 *restrict x, int type, unsigned columns,
                         unsigned depth)
{
    const int fraction = fraction_of(type), least = least_of(type);
    for (unsigned column = 0; column < columns; column++) {
        for (unsigned k = 0; k < depth; k++) {
            const unsigned at = k * columns + column;
            take_factor(x[column * depth + k], fraction, least, &out->significand[at],
                        &out->exponent[at]);
        }
    }
}

/* A fixed-point magnitude, shifted right; its sign is that of `sign`. */
static inline s32 align(s32 magnitude, s32 distance, s32 sign)
{
    const s32 moved = magnitude >> (distance < 31 ? distance : 31);
    return sign < 0 ? -moved : moved;
}

/* A block of products: a part of a row of A, and the rows of B's n columns that it meets. */
typedef struct factors_at {
    const s32 *a, *a_exponent, *b, *b_exponent;
    unsigned n;
} factors_at;

/* The greatest exponent of the products and of `top` itself. */
static inline void raise_top(s32 *restrict top, const factors_at *at, unsigned block)
{
    for (unsigned k = 0; k < block; k++) {
        const s32 *restrict b = at->b_exponent + k * at->n;
        const s32 a = at->a_exponent[k];
        for (unsigned j = 0; j < at->n; j++) {
            top[j] = a + b[j] > top[j] ? a + b[j] : top[j];
        }
    }
}

/* Products `from` to `end`, aligned to `top`, added to `sum`. `up` brings the significand of a
 * product to FRACTION bits below its exponent. */
static inline void add_products(s32 *restrict sum, const s32 *restrict top, const factors_at *at,
                                unsigned from, unsigned end, int up)
{
    for (unsigned k = from; k < end; k++) {
        const s32 *restrict b = at->b + k * at->n;
        const s32 *restrict exponent = at->b_exponent + k * at->n;
        const s32 a = at->a[k], a_exponent = at->a_exponent[k];
        for (unsigned j = 0; j < at->n; j++) {
            const s32 product = a * b[j];
            const s32 magnitude = (product < 0 ? -product : product) << up;
            sum[j] += align(magnitude, top[j] - (a_exponent + exponent[j]), product);
        }
    }
}

/* Cut off, or rounded to the nearest f16. */
static inline f32 round_sum(f64 exact, bool to_half)
{
    const f32 nearest = (f32)exact;
    const f32 rounded = round32(exact, to_half ? TO_ODD : TO_ZERO);
    const f32 result = fabs(exact) >= 0x1p128 ? nearest : rounded;
    return to_half ? from_f16(to_f16(result, TO_NEAREST)) : result;
}

/* One block of products, added to a row of sums. */
static inline __attribute__((always_inline)) void
add_block(f32 *restrict sum, const factors_at *at, unsigned block, int up, int least, bool to_half)
{
    s32 c[COLUMNS], c_exponent[COLUMNS], top[COLUMNS], low[COLUMNS] = {0}, high[COLUMNS] = {0};
    const unsigned n = at->n;
    for (unsigned j = 0; j < n; j++) {
        take_apart(sum[j], &c[j], &c_exponent[j]);
        top[j] = c_exponent[j] > least ? c_exponent[j] : least;
    }
    raise_top(top, at, block);
    /* in two halves: sixteen products below 4.0 are too many for one sum of 32 bits */
    add_products(low, top, at, 0, block / 2, up);
    add_products(high, top, at, block / 2, block, up);
    for (unsigned j = 0; j < n; j++) {
        const s32 own = align((c[j] < 0 ? -c[j] : c[j]) << 2, top[j] - c_exponent[j], c[j]);
        const f64 unit = from64((u64)(top[j] - FRACTION + 1023) << 52);
        const f32 result = round_sum((f64)((s64)low[j] + high[j] + own) * unit, to_half);
        const bool finite = (bits32(sum[j]) & 0x7f800000u) != 0x7f800000u;
        sum[j] = finite ? result : sum[j];
    }
}

/* Where the plain sum is an infinity or NaN, because an operand is one, that is the result. */
static void settle(const qn_matrix *matrix, const f32 *a, const f32 *b, const f32 *c, f32 *d)
{
    for (unsigned row = 0; row < matrix->m; row++) {
        for (unsigned column = 0; column < matrix->n; column++) {
            f64 sum = c[row * matrix->n + column];
            for (unsigned k = 0; k < matrix->k; k++) {
                sum += (f64)a[row * matrix->k + k] * b[column * matrix->k + k];
            }
            if (sum != sum || fabs(sum) == (f64)INFINITY) {
                d[row * matrix->n + column] = sum == sum ? (f32)sum : NAN_F32;
            }
        }
    }
}

/* Add all products to `sum`, block by block. */
static inline __attribute__((always_inline)) void products(const qn_matrix *matrix, const f32 *a,
                                                           const f32 *b, f32 *sum, bool to_half)
{
    factors fa, fb;
    const unsigned n = matrix->n, k = matrix->k, block = matrix->block;
    const int fraction = fraction_of(matrix->type_a), up = FRACTION - 2 * fraction;
    const int least = to_half ? -21 : -133;
    take_rows(&fa, a, matrix->type_a, matrix->m * k);
    take_columns(&fb, b, matrix->type_b, n, k);
    for (unsigned row = 0; row < matrix->m; row++) {
        for (unsigned at = 0; at < k; at += block) {
            const factors_at begin = {.a = fa.significand + row * k + at,
                                      .a_exponent = fa.exponent + row * k + at,
                                      .b = fb.significand + at * n,
                                      .b_exponent = fb.exponent + at * n,
                                      .n = n};
            add_block(sum + row * n, &begin, block, up, least, to_half);
        }
    }
}

static void add_to_f32(const qn_matrix *matrix, const f32 *a, const f32 *b, f32 *sum)
{
    products(matrix, a, b, sum, false);
}

static void add_to_f16(const qn_matrix *matrix, const f32 *a, const f32 *b, f32 *sum)
{
    products(matrix, a, b, sum, true);
}

static void floats(const qn_matrix *matrix, const void *a, const void *b, const void *c, void *d)
{
    f32 wide_a[ELEMENTS], wide_b[ELEMENTS], wide_c[ELEMENTS], sum[ELEMENTS];
    const unsigned count = matrix->m * matrix->n;
    const bool to_half = matrix->type_c == QN_MATRIX_F16 && matrix->type_d == QN_MATRIX_F16;
    void (*const add)(const qn_matrix *, const f32 *, const f32 *, f32 *) =
        to_half ? add_to_f16 : add_to_f32;
    widen(wide_a, a, matrix->type_a, matrix->m * matrix->k);
    widen(wide_b, b, matrix->type_b, matrix->n * matrix->k);
    widen(wide_c, c, matrix->type_c, count);
    if (is_8_bits(matrix->type_a)) {
        part_pairs(wide_a, matrix->m, matrix->k);
        part_pairs(wide_b, matrix->n, matrix->k);
        memset(sum, 0, count * sizeof *sum);
        add(matrix, wide_a, wide_b, sum);
        for (unsigned i = 0; i < count; i++) {
            sum[i] = canonical32(wide_c[i] + sum[i]);
        }
    } else {
        memcpy(sum, wide_c, count * sizeof *sum);
        add(matrix, wide_a, wide_b, sum);
    }
    if (has_special(wide_a, matrix->m * matrix->k) || has_special(wide_b, matrix->n * matrix->k) ||
        has_special(wide_c, count)) {
        settle(matrix, wide_a, wide_b, wide_c, sum);
    }
    if (matrix->type_d == QN_MATRIX_F32) {
        memcpy(d, sum, count * sizeof *sum);
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        ((u16 *)d)[i] = (u16)to_f16(sum[i], TO_NEAREST);
    }
}

/* ---- integers ------------------------------------------------------------------------------- */

static s32 integer(const u8 *matrix, int type, size_t index)
{
    switch (type) {
    case QN_MATRIX_S8:
        return (s8)matrix[index];
    case QN_MATRIX_U8:
        return matrix[index];
    case QN_MATRIX_S4:
        return (s8)(matrix[index / 2] << (index % 2 ? 0 : 4)) >> 4;
    default:
        return matrix[index / 2] >> (index % 2 ? 4 : 0) & 15;
    }
}

static inline s32 add_integer(s32 c, s32 sum, bool saturate)
{
    const s64 exact = (s64)c + sum;
    const s32 wrapped = (s32)(u32)(u64)exact;
    return !saturate || exact == wrapped ? wrapped : exact < 0 ? INT32_MIN : INT32_MAX;
}

static void integers(const qn_matrix *matrix, const void *a, const void *b, const void *c, void *d)
{
    const unsigned n = matrix->n, depth = matrix->k;
    s32 columns[DEPTH * COLUMNS];
    for (unsigned column = 0; column < n; column++) {
        for (unsigned k = 0; k < depth; k++) {
            columns[k * n + column] = integer(b, matrix->type_b, column * depth + k);
        }
    }
    for (unsigned row = 0; row < matrix->m; row++) {
        s32 sum[COLUMNS] = {0};
        for (unsigned k = 0; k < depth; k++) {
            const s32 factor = integer(a, matrix->type_a, row * depth + k);
            for (unsigned column = 0; column < n; column++) {
                sum[column] += factor * columns[k * n + column];
            }
        }
        for (unsigned column = 0; column < n; column++) {
            const size_t at = row * n + column;
            ((s32 *)d)[at] = add_integer(((const s32 *)c)[at], sum[column], matrix->saturate);
        }
    }
}

static void bits(const qn_matrix *matrix, const void *a, const void *b, const void *c, void *d)
{
    const unsigned words = matrix->k / 32;
    for (unsigned row = 0; row < matrix->m; row++) {
        for (unsigned column = 0; column < matrix->n; column++) {
            const u32 *x = (const u32 *)a + row * words, *y = (const u32 *)b + column * words;
            u32 count = 0;
            for (unsigned k = 0; k < words; k++) {
                count += (u32)__builtin_popcount(matrix->exclusive ? x[k] ^ y[k] : x[k] & y[k]);
            }
            const size_t at = row * matrix->n + column;
            ((u32 *)d)[at] = ((const u32 *)c)[at] + count;
        }
    }
}

/* ---- f64 ------------------------------------------------------------------------------------ */

static void doubles(const qn_matrix *matrix, const void *a, const void *b, const void *c, void *d)
{
    const f64 *x = a, *y = b, *start = c;
    for (unsigned row = 0; row < matrix->m; row++) {
        for (unsigned column = 0; column < matrix->n; column++) {
            f64 sum = start[row * matrix->n + column];
            for (unsigned k = 0; k < matrix->k; k++) {
                const f64 p = x[row * matrix->k + k], q = y[column * matrix->k + k];
                sum = result64(fma(p, q, sum), p, q, sum);
            }
            ((f64 *)d)[row * matrix->n + column] = sum;
        }
    }
}

extern const qn_matrix_math QN_OF_LEVEL(qn_matrix_math, QN_LEVEL);
const qn_matrix_math QN_OF_LEVEL(qn_matrix_math, QN_LEVEL) = {
    .floats = floats,
    .integers = integers,
    .bits = bits,
    .doubles = doubles,
};
