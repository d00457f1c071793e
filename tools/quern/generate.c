/* SPDX-License-Identifier: MIT
 *
 * The elements of a generator, in C order. In: what generator.c has read, and a seed.
 *
 * Random numbers come from a counter: element k of stream s is Philox-4x32-10 of (k, s) under the
 * seed, and depends on nothing else. Floats are uniform in [0, 1) with all bits of their fraction;
 * integers are uniform over their whole range.
 *
 * arange and linspace go through the same operations as NumPy's, so that they give the same bits.
 */
#include "cli.h"

#include <math.h>
#include <string.h>

/* Philox-4x32 with 10 rounds: 128 random bits from a counter and a key. */
static void philox(uint32_t out[4], uint64_t counter, uint64_t stream, uint64_t seed)
{
    uint32_t c[4] = {(uint32_t)counter, (uint32_t)(counter >> 32), (uint32_t)stream,
                     (uint32_t)(stream >> 32)};
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)c[0] * 0xD2511F53u, b = (uint64_t)c[2] * 0xCD9E8D57u;
        uint32_t next[4] = {(uint32_t)(b >> 32) ^ c[1] ^ k0, (uint32_t)b,
                            (uint32_t)(a >> 32) ^ c[3] ^ k1, (uint32_t)a};
        memcpy(c, next, sizeof c);
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    memcpy(out, c, sizeof c);
}

/* Bits of a fraction that every number in [0, 1) of a float or complex dtype has. */
static int fraction_bits(quern_dtype dtype)
{
    switch (dtype) {
    case QUERN_FLOAT16:
        return 11;
    case QUERN_BFLOAT16:
        return 8;
    case QUERN_FLOAT8_E4M3:
        return 4;
    case QUERN_FLOAT8_E5M2:
        return 3;
    case QUERN_FLOAT32:
    case QUERN_COMPLEX64:
        return 24;
    default:
        return 53;
    }
}

/* A uniform number in [0, 1) with `bits` random bits. */
static double uniform(uint64_t random, int bits)
{
    return (double)(random >> (64 - bits)) / (double)((uint64_t)1 << bits);
}

static void random_element(void *to, quern_dtype dtype, uint64_t k, uint64_t seed, uint64_t stream)
{
    union {
        uint32_t words[4];
        uint64_t halves[2];
    } r;
    philox(r.words, k, stream, seed);
    int bits = fraction_bits(dtype);
    cli_element_store(to, dtype, uniform(r.halves[0], bits), uniform(r.halves[1], bits),
                      dtype == QUERN_BOOL ? r.halves[0] & 1 : r.halves[0]);
}

/* The whole number `k` as an element; integers wrap. */
static void whole_element(void *to, quern_dtype dtype, uint64_t k)
{
    cli_element_store(to, dtype, (double)k, 0, dtype == QUERN_BOOL ? k != 0 : k);
}

/* arange with bounds: NumPy sets the first two elements, rounded, and continues with their
 * difference; float16 is computed in float32. */
static void range_element(void *to, const cli_generator *g, uint64_t k)
{
    double first = g->start[0], second = g->stop[0], value;
    switch (g->dtype) {
    case QUERN_FLOAT16:
    case QUERN_BFLOAT16:
    case QUERN_FLOAT8_E4M3:
    case QUERN_FLOAT8_E5M2:
        first = cli_small_to_double(cli_small_from_double(first, g->dtype), g->dtype);
        second = cli_small_to_double(cli_small_from_double(second, g->dtype), g->dtype);
        value = (double)((float)first + (float)k * ((float)second - (float)first));
        break;
    case QUERN_FLOAT32:
    case QUERN_COMPLEX64:
        value = (double)((float)first + (float)k * ((float)second - (float)first));
        break;
    default:
        value = first + (double)k * (second - first);
    }
    if (k < 2) {
        value = k == 0 ? first : second;
    }
    cli_element_store(to, g->dtype, value, 0, g->first + k * g->step);
}

/* One part of `k` times a complex number: `own` is that part of it, `other` the other one. NumPy
 * multiplies by k + 0j, so the product with zero is there as well: it can change the sign of a
 * zero, and infinity into NaN. */
static double times(double k, double own, double other, bool imaginary)
{
    return imaginary ? k * own + 0 * other : k * own - 0 * other;
}

static void linspace_element(void *to, const cli_generator *g, uint64_t k)
{
    double last = (double)(g->shape[0] - 1), delta[2], step[2], parts[2] = {0, 0};
    for (int part = 0; part < 2;
         part++) { /* as NumPy does, which divides a complex number by multiplying */
        delta[part] = g->stop[part] - g->start[part];
        step[part] = g->is_complex ? delta[part] * (1 / last) : delta[part] / last;
    }
    bool stays = g->shape[0] < 2 || (step[0] == 0 && step[1] == 0);
    const double *factor = stays ? delta : step;
    double position = stays && g->shape[0] > 1 ? (double)k / last : (double)k;
    for (int part = 0; part < 1 + g->is_complex; part++) {
        parts[part] = g->is_complex ? times(position, factor[part], factor[1 - part], part == 1)
                                    : position * factor[part];
        parts[part] += g->start[part];
    }
    const double *value = k > 0 && k + 1 == (uint64_t)g->shape[0] ? g->stop : parts;
    double down = floor(value[0]);
    uint64_t bits = down < 0 ? 0 - (uint64_t)-down : (uint64_t)down;
    cli_element_store(to, g->dtype, value[0], value[1],
                      g->dtype == QUERN_BOOL ? value[0] != 0 : bits);
}

static void one_element(void *to, const cli_generator *g, uint64_t k, uint64_t seed,
                        uint64_t stream)
{
    switch (g->kind) {
    case CLI_RANDOM:
        random_element(to, g->dtype, k, seed, stream);
        break;
    case CLI_ARANGE:
        if (g->bounded) {
            range_element(to, g, k);
        } else {
            whole_element(to, g->dtype, k);
        }
        break;
    case CLI_LINSPACE:
        linspace_element(to, g, k);
        break;
    case CLI_EYE: {
        uint64_t columns = (uint64_t)g->shape[g->ndim - 1];
        whole_element(to, g->dtype, k / columns == k % columns);
        break;
    }
    case CLI_FULL:
        memcpy(to, g->element, quern_dtype_size(g->dtype));
        break;
    default:
        whole_element(to, g->dtype, 1);
    }
}

bool cli_generator_is_uniform(const cli_generator *g)
{
    return g->kind == CLI_ZEROS || g->kind == CLI_ONES || g->kind == CLI_FULL;
}

void cli_generate(const cli_generator *generator, void *data, int64_t count, uint64_t seed,
                  uint64_t stream)
{
    size_t size = quern_dtype_size(generator->dtype);
    char *to = data;
    if (generator->kind == CLI_ZEROS) {
        memset(data, 0, (size_t)count * size);
        return;
    }
    for (uint64_t k = 0; k < (uint64_t)count; k++, to += size) {
        one_element(to, generator, k, seed, stream);
    }
}
