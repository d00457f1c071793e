/* SPDX-License-Identifier: MIT
 *
 * The elements of a generated array: one text for the host's compiler and for NVRTC, so that both
 * make the same bits. In: a recipe, and the number of a block. Out: the 16 bytes of that block.
 *
 * A block depends on its number and on the recipe, and on nothing else: not on the size of the
 * array, nor on who makes it. The text is C and C++ at once and calls nothing but floor(). Neither
 * compiler may fuse a product with a sum: -ffp-contract=off here, --fmad=false there.
 *
 * Random bits are those of Philox4x32-10: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw,
 * "Parallel random numbers: as easy as 1, 2, 3", SC '11, whose multipliers and Weyl constants these
 * are. Its outputs for counters 0, 1, 2, ... of a stream are one long row of bytes, the low byte of
 * a word first, and each element takes as many of them as it is wide.
 */
#ifndef QUERN_CLI_ELEMENTS_H
#define QUERN_CLI_ELEMENTS_H

#ifdef __CUDACC_RTC__
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#define CLI_UNROLL _Pragma("unroll")
#else
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#define CLI_UNROLL
#endif

#define CLI_BLOCK_BYTES 16
#define CLI_ROUNDS      10

/* What a part of an element is: a complex one has two. */
typedef enum cli_part { CLI_PART_BOOL, CLI_PART_WHOLE, CLI_PART_SMALL, CLI_PART_FLOAT } cli_part;

/* A small float: one of 16 or of 8 bits. */
typedef struct cli_small {
    int exponent, fraction; /* bits of them */
    uint32_t infinity;      /* the code of it; of e4m3, which has none, that of NaN */
    uint32_t saturates;     /* 1: finite numbers that are too large become the largest */
} cli_small;

typedef enum cli_recipe_kind {
    CLI_MAKE_RANDOM,
    CLI_MAKE_COUNT,    /* 0, 1, 2, ... */
    CLI_MAKE_STEPS,    /* first + k * step, as integers */
    CLI_MAKE_RANGE,    /* start + k * (stop - start) */
    CLI_MAKE_LINSPACE, /* k * factor + start, and stop at the end */
    CLI_MAKE_EYE,
} cli_recipe_kind;

/* What decides the code that makes an element. */
typedef struct cli_form {
    uint32_t kind, part; /* cli_recipe_kind, cli_part */
    uint32_t width;      /* bytes of a part */
    uint32_t parts;      /* of an element */
    cli_small small;
} cli_form;

typedef struct cli_recipe {
    cli_form form;
    uint64_t bytes; /* of the array */
    uint64_t stream;
    uint32_t keys[2 * CLI_ROUNDS];
    uint64_t first, step; /* integers wrap */
    uint64_t columns;     /* of an eye */
    double start[2], stop[2], factor[2];
    double last;                  /* linspace: the number of the last element */
    uint32_t complex_ends, stays; /* linspace: an end is complex; NumPy's rule for a step of zero */
} cli_recipe;

/* ---- random bits ---------------------------------------------------------------------------- */

static inline uint64_t cli_product(uint32_t a, uint32_t b)
{
#ifdef __CUDACC_RTC__
    uint64_t product; // one instruction; from the C below NVRTC makes it and a sum with zero
    asm("mul.wide.u32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b));
    return product;
#else
    return (uint64_t)a * b;
#endif
}

/* The keys of all rounds, which a kernel reads where its parameters are. */
static inline void cli_philox_keys(uint32_t keys[2 * CLI_ROUNDS], uint64_t seed)
{
    for (uint32_t round = 0; round < CLI_ROUNDS; round++) {
        keys[2 * round] = (uint32_t)seed + round * 0x9E3779B9u;
        keys[2 * round + 1] = (uint32_t)(seed >> 32) + round * 0xBB67AE85u;
    }
}

static inline void cli_philox(uint32_t out[4], uint64_t counter, uint64_t stream,
                              const uint32_t keys[2 * CLI_ROUNDS])
{
    uint32_t c0 = (uint32_t)counter, c1 = (uint32_t)(counter >> 32);
    uint32_t c2 = (uint32_t)stream, c3 = (uint32_t)(stream >> 32);
    CLI_UNROLL
    for (int round = 0; round < CLI_ROUNDS; round++) {
        const uint64_t a = cli_product(c0, 0xD2511F53u), b = cli_product(c2, 0xCD9E8D57u);
        c0 = (uint32_t)(b >> 32) ^ c1 ^ keys[2 * round];
        c2 = (uint32_t)(a >> 32) ^ c3 ^ keys[2 * round + 1];
        c1 = (uint32_t)b;
        c3 = (uint32_t)a;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

/* ---- small floats --------------------------------------------------------------------------- */

/* The code of a number: to nearest, ties to even. */
static inline uint32_t cli_small_code(double value, cli_small f)
{
    uint64_t bits;
    memcpy(&bits, &value, 8);
    const int bias = (1 << (f.exponent - 1)) - 1, power = (int)(bits >> 52 & 2047) - 1023;
    const uint32_t sign = (uint32_t)(bits >> 63) << (f.exponent + f.fraction);
    const uint32_t most = f.infinity - f.saturates; /* what is too large becomes that */
    const bool has_infinity = (f.infinity & ((1u << f.fraction) - 1)) == 0;
    const uint64_t digits = (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52;
    if (power == 1024) {
        const bool infinite = bits << 12 == 0;
        const uint32_t quiet = has_infinity ? 1u << (f.fraction - 1) : 0;
        return sign | (!infinite ? f.infinity | quiet : has_infinity ? f.infinity : most);
    }
    if (power > bias + 1) {
        return sign | most;
    }
    /* In units of the last place. A carry out of the fraction is right as it is: it raises the
     * exponent, even from a subnormal to the first normal number and from the largest to
     * infinity. */
    const int field = power < 1 - bias ? 1 : power + bias;
    const int wanted = field - bias - power + 52 - f.fraction, shift = wanted > 63 ? 63 : wanted;
    const uint64_t rest = digits & (((uint64_t)1 << shift) - 1), half = (uint64_t)1 << (shift - 1);
    uint64_t units = digits >> shift;
    units += rest > half || (rest == half && (units & 1));
    const uint32_t code = (uint32_t)units + ((uint32_t)(field - 1) << f.fraction);
    return sign | (code > most ? most : code);
}

/* The code of m / 2^p, where p = fraction + 1 and m < 2^p: exact, and no subnormal. */
static inline uint32_t cli_small_uniform(uint32_t m, cli_small f)
{
    float value;
    const uint32_t above_one = 0x3f800000u | m << (22 - f.fraction);
    memcpy(&value, &above_one, 4);
    value -= 1.0f;
    uint32_t bits;
    memcpy(&bits, &value, 4);
    const uint32_t bias = (1u << (f.exponent - 1)) - 1;
    return m == 0 ? 0 : (bits >> (23 - f.fraction)) - ((127 - bias) << f.fraction);
}

/* ---- parts of elements ---------------------------------------------------------------------- */

static inline uint32_t cli_float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}

/* A part from its value, rounded, or from its bits where it is whole. Every NaN is the same. */
static inline uint64_t cli_part_of(cli_form f, double value, uint64_t bits)
{
    const uint64_t nan = (uint64_t)0x7ff8 << 48;
    if (value != value) {
        memcpy(&value, &nan, 8);
    }
    if (f.part == CLI_PART_SMALL) {
        bits = cli_small_code(value, f.small);
    } else if (f.part == CLI_PART_FLOAT && f.width == 4) {
        bits = cli_float_bits((float)value);
    } else if (f.part == CLI_PART_FLOAT) {
        memcpy(&bits, &value, 8);
    }
    return bits;
}

/* A part from as many random bits: a number of [0, 1) with all bits of its fraction, or any whole
 * number. */
static inline uint64_t cli_part_random(cli_form f, uint64_t random)
{
    switch (f.part) {
    case CLI_PART_SMALL: {
        const uint32_t top = (uint32_t)random << (32 - 8 * f.width);
        return cli_small_uniform(top >> (31 - f.small.fraction), f.small);
    }
    case CLI_PART_FLOAT: {
        if (f.width == 4) {
            return cli_float_bits((float)((uint32_t)random >> 8) * 0x1p-24f);
        }
        const double value = (double)(random >> 11) * 0x1p-53;
        memcpy(&random, &value, 8);
        return random;
    }
    case CLI_PART_BOOL:
        return random & 1;
    default:
        return random;
    }
}

/* ---- elements ------------------------------------------------------------------------------- */

/* arange with bounds: NumPy sets the first two elements, and continues with their difference; small
 * floats are computed in float32. */
static inline double cli_range_value(const cli_recipe *g, uint64_t k)
{
    const double first = g->start[0], second = g->stop[0];
    if (k < 2) {
        return k == 0 ? first : second;
    }
    if (g->form.width < 8) {
        return (double)((float)first + (float)k * ((float)second - (float)first));
    }
    return first + (double)k * (second - first);
}

/* As NumPy, which multiplies a complex number by k + 0j, so that the product with zero is there as
 * well: it can change the sign of a zero, and infinity into NaN. */
static inline double cli_linspace_value(const cli_recipe *g, uint64_t k, int part)
{
    const double count = (double)k, last = g->last;
    if (k > 0 && count == last) {
        return g->stop[part];
    }
    const double at = g->stays && last > 0 ? count / last : count;
    const double own = at * g->factor[part], other = 0 * g->factor[1 - part];
    const double product = !g->complex_ends ? own : part == 1 ? own + other : own - other;
    return product + g->start[part];
}

/* The integer that a number is rounded down to; what no 64 bits hold, the nearest they do. */
static inline uint64_t cli_floor_bits(double value)
{
    const double down = floor(value), most = 0x1p64;
    if (!(down < 0)) {
        return down < most ? (uint64_t)down : down >= most ? ~(uint64_t)0 : 0;
    }
    return -down < most ? 0 - (uint64_t)-down : (uint64_t)1 << 63;
}

/* Part `part` of element `k`. */
static inline uint64_t cli_part_at(cli_form f, const cli_recipe *g, uint64_t k, int part)
{
    double value = 0;
    uint64_t bits = 0;
    switch (f.kind) {
    case CLI_MAKE_STEPS:
        bits = g->first + k * g->step;
        break;
    case CLI_MAKE_RANGE:
        value = part == 0 ? cli_range_value(g, k) : 0;
        break;
    case CLI_MAKE_LINSPACE:
        value = part == 0 || g->complex_ends ? cli_linspace_value(g, k, part) : 0;
        bits = f.part == CLI_PART_BOOL ? value != 0 : cli_floor_bits(value);
        break;
    default:
        bits = f.kind == CLI_MAKE_EYE ? k / g->columns == k % g->columns : k;
        value = part == 0 ? (double)bits : 0;
        bits = f.part == CLI_PART_BOOL ? bits != 0 : bits;
    }
    return cli_part_of(f, value, bits);
}

/* Bytes [16 * block, 16 * block + 16) of the array, as words, the low byte first. `f` is the form
 * of the recipe, by itself: the device's compiler knows it. */
static inline void cli_make_block(uint32_t out[4], cli_form f, const cli_recipe *g, uint64_t block)
{
    const uint32_t count = CLI_BLOCK_BYTES / f.width;
    const uint64_t mask = ~(uint64_t)0 >> (64 - 8 * f.width);
    uint64_t random[2] = {0, 0}, made[2] = {0, 0};
    if (f.kind == CLI_MAKE_RANDOM) {
        cli_philox(out, block, g->stream, g->keys);
        random[0] = (uint64_t)out[1] << 32 | out[0];
        random[1] = (uint64_t)out[3] << 32 | out[2];
    }
    CLI_UNROLL
    for (uint32_t lane = 0; lane < count; lane++) {
        const uint32_t at = lane * f.width, shift = at % 8 * 8;
        const uint64_t number = block * count + lane;
        const uint64_t part = f.kind == CLI_MAKE_RANDOM
                                  ? cli_part_random(f, random[at / 8] >> shift & mask)
                                  : cli_part_at(f, g, number / f.parts, (int)(number % f.parts));
        made[at / 8] |= (part & mask) << shift;
    }
    for (int k = 0; k < 4; k++) {
        out[k] = (uint32_t)(made[k / 2] >> k % 2 * 32);
    }
}

#endif /* QUERN_CLI_ELEMENTS_H */
