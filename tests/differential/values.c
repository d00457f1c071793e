/* SPDX-License-Identifier: MIT
 *
 * Numbers of every type by generator and seed, the same on every machine. In: "edge", "rand:-4:4".
 * Out: bits. Nothing here may depend on the CPU's rounding beyond double arithmetic.
 */
#include "differential.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

uint64_t diff_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

uint64_t diff_seed(const char *name, uint64_t more)
{
    uint64_t h = 0xcbf29ce484222325u + more;
    for (; *name; name++) {
        h = (h ^ (unsigned char)*name) * 0x100000001b3u;
    }
    return h;
}

/* ---- one number ----------------------------------------------------------------------------- */

/* To float16, rounding to nearest; not for NaN, which tests never write as a number. */
static uint64_t half_of(double value)
{
    const double size = fabs(value);
    const uint64_t sign = signbit(value) ? 0x8000 : 0;
    int exponent;
    if (size < 0x1p-14) {
        return sign | (uint64_t)rint(size * 0x1p24);
    }
    if (size >= 65520) {
        return sign | 0x7c00;
    }
    (void)frexp(size, &exponent);
    const uint64_t mantissa = (uint64_t)rint(ldexp(size, 11 - exponent)); /* 1024 to 2048 */
    return sign | (((uint64_t)(exponent + 14) << 10) + mantissa - 1024);
}

uint64_t diff_number(char letter, uint32_t width, double value)
{
    if (letter != 'f' && letter != 'B') {
        const uint64_t bits = value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value;
        return width >= 8 ? bits : bits & (((uint64_t)1 << width * 8) - 1);
    }
    if (width == 8) {
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        return bits;
    }
    if (letter == 'f' && width == 2) {
        return half_of(value);
    }
    const float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    return letter == 'B' ? bits >> 16 : bits;
}

/* Mantissa and exponent of a floating-point type. */
static void shape_of(char letter, uint32_t width, int *mantissa, int *bits)
{
    *bits = (int)width * 8;
    *mantissa = width == 8 ? 52 : width == 4 ? 23 : letter == 'B' ? 7 : 10;
}

static uint64_t float_edge(int mantissa, int bits, uint64_t r)
{
    const uint64_t one_ulp = 1, hidden = (uint64_t)1 << mantissa;
    const uint64_t sign = (r >> 60 & 1) << (bits - 1);
    const uint64_t infinity = (((uint64_t)1 << (bits - 1 - mantissa)) - 1) << mantissa;
    const uint64_t one = (((uint64_t)1 << (bits - 2 - mantissa)) - 1) << mantissa;
    const uint64_t table[] = {
        0,
        one_ulp,
        hidden - 1,
        hidden,
        hidden + 1,
        infinity,
        infinity - 1,
        infinity | 1,
        infinity | hidden >> 1,
        one,
        one + 1,
        one - 1,
        one + hidden,
        one - hidden,
        one | hidden >> 1,
        one + 2 * hidden + hidden / 4,
        one + hidden * (uint64_t)(r >> 32 & 15) + hidden / 2,
        one + hidden * 14 + (r & (hidden - 1)),
        infinity | hidden >> 1 | (r & (hidden / 2 - 1)),
    };
    return sign | table[(r >> 8) % QN_COUNT(table)];
}

static uint64_t integer_edge(int bits, uint64_t r)
{
    const uint64_t top = (uint64_t)1 << (bits - 1);
    const uint64_t table[] = {
        0,        1,   2,   3,       7,   31,      32,  33,           63,           64,
        127,      128, 255, top - 1, top, top + 1, ~0u, (uint64_t)-1, (uint64_t)-2, (uint64_t)-8,
        top >> 1, 10,  100, 1000};
    return table[(r >> 8) % QN_COUNT(table)];
}

uint64_t diff_edge(char letter, uint32_t width, uint64_t *state)
{
    const uint64_t r = diff_random(state), s = diff_random(state);
    const int whole = (int)QN_MIN(width, 8u) * 8; /* of 128 bits each half */
    const uint64_t mask = width >= 8 ? ~(uint64_t)0 : ((uint64_t)1 << whole) - 1;
    if (letter != 'f' && letter != 'B') {
        const uint64_t x = (r & 3) < 2    ? integer_edge(whole, s)
                           : (r & 3) == 2 ? s
                                          : (uint64_t)((int64_t)s >> (r >> 8) % 64);
        return x & mask;
    }
    int mantissa, bits;
    shape_of(letter, width, &mantissa, &bits);
    if ((r & 7) < 3) {
        return float_edge(mantissa, bits, s) & mask;
    }
    if ((r & 7) == 3) {
        return s & mask; /* any pattern */
    }
    if ((r & 7) == 4) {
        return diff_number(letter, width, (double)((int64_t)(s & 1023) - 512) * 0.5);
    }
    /* of moderate size: exponents near one's */
    const uint64_t one = ((uint64_t)1 << (bits - 2 - mantissa)) - 1;
    const uint64_t exponent = one - 4 + (r >> 8 & 7);
    return (s & ((uint64_t)1 << (bits - 1))) | exponent << mantissa |
           (s & (((uint64_t)1 << mantissa) - 1));
}

/* ---- arrays --------------------------------------------------------------------------------- */

typedef enum { ZERO, BITS, EDGE, RAND, WHOLE, IOTA, AT, LIST, UNKNOWN } generator_kind;

typedef struct generator {
    generator_kind kind;
    double low, high;
    double list[64];
    size_t count;
} generator;

static bool read_generator(generator *g, const char *text, const char **end)
{
    static const char *const names[] = {"zero", "bits", "edge", "rand:", "whole:", "iota", "at:"};
    *g = (generator){.kind = UNKNOWN};
    if (*text == '=') {
        g->kind = LIST;
        do {
            char *behind;
            g->list[g->count++] = strtod(text + 1, &behind);
            text = behind;
        } while (*text == ',' && g->count < QN_COUNT(g->list));
        *end = text;
        return true;
    }
    for (size_t k = 0; k < QN_COUNT(names); k++) {
        if (strncmp(text, names[k], strlen(names[k])) == 0) {
            g->kind = (generator_kind)k;
            text += strlen(names[k]);
            break;
        }
    }
    char *behind = (char *)text;
    if (g->kind == IOTA) {
        g->high = 1;
        if (*text == ':') {
            g->low = strtod(text + 1, &behind);
        }
    } else if (g->kind == RAND || g->kind == WHOLE || g->kind == AT) {
        g->low = strtod(text, &behind);
        if (*behind == ':') {
            g->high = strtod(behind + 1, &behind);
        }
    }
    *end = behind;
    return g->kind != UNKNOWN;
}

static uint64_t make(const generator *g, const diff_array *array, size_t index, uint64_t *state)
{
    const uint64_t r = diff_random(state);
    const double unit = (double)(r >> 11) * 0x1p-53;
    switch (g->kind) {
    case BITS:
        return r;
    case EDGE:
        return diff_edge(array->letter, array->width, state);
    case RAND:
        return diff_number(array->letter, array->width, g->low + unit * (g->high - g->low));
    case WHOLE:
        return diff_number(array->letter, array->width, floor(g->low + unit * (g->high - g->low)));
    case IOTA:
        return diff_number(array->letter, array->width, g->low + (double)index);
    case LIST:
        return diff_number(array->letter, array->width, g->list[index % g->count]);
    default:
        return 0;
    }
}

bool diff_fill(diff_array *array, size_t count, const char *text, const char **end, uint64_t seed)
{
    generator g;
    if (!read_generator(&g, text, end)) {
        return false;
    }
    array->points_at = g.kind == AT ? (int)g.low : -1;
    uint64_t state = seed;
    for (size_t k = 0; k < count; k++) {
        for (uint32_t done = 0; done < array->width; done += 8) { /* 128 bits: two words */
            const uint64_t bits = make(&g, array, k, &state);
            memcpy(array->host + k * array->width + done, &bits, QN_MIN(array->width, 8u));
        }
    }
    return true;
}
