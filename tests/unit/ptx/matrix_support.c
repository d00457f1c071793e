/* SPDX-License-Identifier: MIT
 *
 * See matrix_support.h.
 */
#include "matrix_support.h"

#include <math.h>
#include <string.h>

static const struct {
    unsigned bits, exponent, fraction; /* exponent 0: integers */
    double least, most;                /* of integers */
} elements[] = {
    [F16] = {16, 5, 10, 0, 0},
    [BF16] = {16, 8, 7, 0, 0},
    [TF32] = {32, 8, 23, 0, 0},
    [E4M3] = {8, 4, 3, 0, 0},
    [E5M2] = {8, 5, 2, 0, 0},
    [F32] = {32, 8, 23, 0, 0},
    [F64] = {64, 11, 52, 0, 0},
    [S8] = {8, 0, 0, -128, 127},
    [U8] = {8, 0, 0, 0, 255},
    [S4] = {4, 0, 0, -8, 7},
    [U4] = {4, 0, 0, 0, 15},
    [B1] = {1, 0, 0, 0, 1},
    [S32] = {32, 0, 0, -2147483648.0, 2147483647.0},
};

unsigned element_bits(element type)
{
    return elements[type].bits;
}

/* Sign, exponent and fraction, rounded to nearest. */
static uint64_t encode(double value, element type)
{
    const unsigned fraction = elements[type].fraction;
    const int bias = (1 << (elements[type].exponent - 1)) - 1;
    const uint64_t sign = (uint64_t)(signbit(value) != 0) << (elements[type].bits - 1);
    int exponent;
    (void)frexp(value, &exponent);
    exponent = value == 0 || exponent - 1 < 1 - bias ? 1 - bias : exponent - 1;
    const double units = nearbyint(ldexp(fabs(value), (int)fraction - exponent));
    return sign | (((uint64_t)(exponent - 1 + bias) << fraction) + (uint64_t)units);
}

static double decode(uint64_t code, element type)
{
    const unsigned fraction = elements[type].fraction;
    const int bias = (1 << (elements[type].exponent - 1)) - 1;
    const uint64_t magnitude = code & ((UINT64_C(1) << (elements[type].bits - 1)) - 1);
    const int biased = (int)(magnitude >> fraction);
    const uint64_t rest = magnitude & ((UINT64_C(1) << fraction) - 1);
    const double units = (double)(biased ? rest | UINT64_C(1) << fraction : rest);
    const double value = biased == 2 * bias + 1
                             ? (rest ? NAN : INFINITY)
                             : ldexp(units, (biased ? biased : 1) - bias - (int)fraction);
    return code >> (elements[type].bits - 1) ? -value : value;
}

void element_put(void *memory, element type, size_t index, double value)
{
    unsigned char *bytes = memory;
    const unsigned bits = elements[type].bits;
    const uint64_t code = elements[type].exponent ? encode(value, type) : (uint64_t)(int64_t)value;
    if (bits >= 8) {
        memcpy(bytes + index * bits / 8, &code, bits / 8);
        return;
    }
    const unsigned shift = (unsigned)(index * bits % 8), mask = (1u << bits) - 1;
    unsigned char *at = bytes + index * bits / 8;
    *at = (unsigned char)((*at & ~(mask << shift)) | ((unsigned)code & mask) << shift);
}

double element_get(const void *memory, element type, size_t index)
{
    uint64_t code = 0;
    memcpy(&code, (const unsigned char *)memory + index * elements[type].bits / 8,
           elements[type].bits / 8);
    return elements[type].exponent ? decode(code, type) : (double)(int32_t)code;
}

double random_number(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(int64_t)state * 0x1p-63;
}

static double some_value(element type)
{
    if (elements[type].exponent) {
        return nearbyint(random_number() * 4);
    }
    return floor(elements[type].least +
                 (random_number() + 1) / 2 * (elements[type].most - elements[type].least + 1));
}

void product_fill(product *p, element a, element b, element c)
{
    for (unsigned i = 0; i < p->m * p->k; i++) {
        p->a[i] = some_value(a);
    }
    for (unsigned i = 0; i < p->k * p->n; i++) {
        p->b[i] = some_value(b);
    }
    for (unsigned i = 0; i < p->m * p->n; i++) {
        p->c[i] = some_value(c);
    }
}

double product_exact(const product *p, unsigned row, unsigned column)
{
    double sum = p->c[row * p->n + column];
    for (unsigned k = 0; k < p->k; k++) {
        const double a = p->a[row * p->k + k], b = p->b[k * p->n + column];
        sum += p->exclusive ? (double)(a != b) : a * b;
    }
    return sum;
}

double product_size(const product *p, unsigned row, unsigned column)
{
    double sum = fabs(p->c[row * p->n + column]);
    for (unsigned k = 0; k < p->k; k++) {
        sum += fabs(p->a[row * p->k + k] * p->b[k * p->n + column]);
    }
    return sum;
}

double product_wrap(double sum, bool saturate)
{
    if (saturate) {
        return fmin(fmax(sum, elements[S32].least), elements[S32].most);
    }
    return (double)(int32_t)(uint32_t)(int64_t)sum;
}
