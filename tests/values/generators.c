/* SPDX-License-Identifier: MIT
 *
 * generators: random numbers and the elements of generated arrays, made on the host and on the
 * device from QUERN_DEVICE. In: nothing. Out: a line for each check that fails, and one with how
 * many there were; status 1 if any failed.
 *
 * What NumPy makes of arange, linspace, eye and full is in golden.txt.
 */
#include "generate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long checks, failures;

static void check(bool good, const char *what, const char *about, long long at)
{
    checks++;
    if (!good && ++failures < 50) {
        printf("FAILED %s: %s, %lld\n", what, about, at);
    }
}

/* ---- Philox --------------------------------------------------------------------------------- */

static void philox(uint32_t words[4], uint64_t counter, uint64_t stream, uint64_t seed)
{
    uint32_t keys[2 * CLI_ROUNDS];
    cli_philox_keys(keys, seed);
    cli_philox(words, counter, stream, keys);
}

/* The vectors that Random123 publishes for philox4x32 of 10 rounds (kat_vectors). */
static void known_answers(void)
{
    static const struct {
        uint64_t counter, stream, seed;
        uint32_t answer[4];
    } known[] = {
        {0, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {UINT64_MAX, UINT64_MAX, UINT64_MAX, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {0x85a308d3243f6a88,
         0x0370734413198a2e,
         0x299f31d0a4093822,
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t k = 0; k < CLI_COUNT(known); k++) {
        uint32_t words[4];
        philox(words, known[k].counter, known[k].stream, known[k].seed);
        check(memcmp(words, known[k].answer, sizeof words) == 0, "Philox", "known answer",
              (long long)k);
    }
}

/* ---- small floats --------------------------------------------------------------------------- */

/* Every code and every middle between two, and their neighbours, by the list of all values. */
static void small_floats(quern_dtype dtype)
{
    const cli_small f = cli_small_of(dtype);
    for (uint32_t code = 0; code + 1 < f.infinity; code++) {
        const double low = cli_small_to_double((uint16_t)code, dtype);
        const double high = cli_small_to_double((uint16_t)(code + 1), dtype);
        const double middle = (low + high) / 2;
        const uint32_t even = code + (code & 1);
        const char *name = quern_dtype_name(dtype);
        check(cli_small_code(low, f) == code, name, "its own value", code);
        check(cli_small_code(middle, f) == even, name, "halfway", code);
        check(cli_small_code(nextafter(middle, low), f) == code, name, "below halfway", code);
        check(cli_small_code(nextafter(middle, high), f) == code + 1, name, "above", code);
        const uint32_t sign = 1u << (f.exponent + f.fraction);
        check(cli_small_code(-middle, f) == (even | sign), name, "negative", code);
    }
}

/* ---- elements ------------------------------------------------------------------------------- */

typedef struct made {
    const char *text;
    cli_generator generator;
    int64_t count;
    size_t bytes;
} made;

static made parse(const char *text)
{
    made m = {text, {0}, 1, 0};
    cli_problem problem;
    size_t length;
    if (!cli_generator_parse(&m.generator, text, &length, &problem) || text[length]) {
        printf("%s: %s\n", text, problem.text);
        exit(1);
    }
    for (int k = 0; k < m.generator.ndim; k++) {
        m.count *= m.generator.shape[k];
    }
    m.bytes = (size_t)m.count * quern_dtype_size(m.generator.dtype);
    return m;
}

/* The elements as an engine has them. */
static unsigned char *elements(quern_engine *engine, const made *m, uint64_t seed, uint64_t stream,
                               cli_place_made place)
{
    const cli_draw draw = {seed, stream, place};
    unsigned char *data = cli_data_new(m->bytes + 1);
    quern_array *array;
    if (cli_generator_make(&array, engine, &m->generator, &draw) != QUERN_OK ||
        quern_array_read(array, data, m->bytes) != QUERN_OK) {
        printf("%s: %s\n", m->text, quern_last_error_text());
        exit(1);
    }
    quern_array_release(array);
    return data;
}

/* Byte `at` of a stream: of word at / 4 % 4 of counter at / 16. */
static uint64_t random_bytes(uint64_t at, size_t size, uint64_t seed, uint64_t stream)
{
    uint64_t bits = 0;
    for (size_t k = 0; k < size; k++) {
        uint32_t words[4];
        philox(words, (at + k) / 16, stream, seed);
        bits |= (uint64_t)(words[(at + k) / 4 % 4] >> (at + k) % 4 * 8 & 255) << 8 * k;
    }
    return bits;
}

/* A part of a random element by what the manual says of it. */
static void expect_part(void *to, quern_dtype dtype, uint64_t bits)
{
    switch (dtype) {
    case QUERN_BOOL:
        cli_element_store(to, dtype, 0, 0, bits & 1);
        break;
    case QUERN_FLOAT16:
        cli_element_store(to, dtype, ldexp((double)(bits >> 5), -11), 0, 0);
        break;
    case QUERN_BFLOAT16:
        cli_element_store(to, dtype, ldexp((double)(bits >> 8), -8), 0, 0);
        break;
    case QUERN_FLOAT8_E4M3:
        cli_element_store(to, dtype, ldexp((double)(bits >> 4), -4), 0, 0);
        break;
    case QUERN_FLOAT8_E5M2:
        cli_element_store(to, dtype, ldexp((double)(bits >> 5), -3), 0, 0);
        break;
    case QUERN_FLOAT32:
        cli_element_store(to, dtype, ldexp((double)(bits >> 8), -24), 0, 0);
        break;
    case QUERN_FLOAT64:
        cli_element_store(to, dtype, ldexp((double)(bits >> 11), -53), 0, 0);
        break;
    default:
        cli_element_store(to, dtype, 0, 0, bits);
    }
}

static void random_elements(quern_engine *engine, quern_dtype dtype, int64_t count)
{
    const uint64_t seed = 0x123456789abcdef0, stream = 3;
    const char *name = quern_dtype_name(dtype);
    const made m = parse(cli_sprintf("random:%s:%lld", name, (long long)count));
    const quern_dtype part = dtype == QUERN_COMPLEX64    ? QUERN_FLOAT32
                             : dtype == QUERN_COMPLEX128 ? QUERN_FLOAT64
                                                         : dtype;
    const size_t size = quern_dtype_size(part);
    unsigned char *here = elements(engine, &m, seed, stream, CLI_ON_HOST);
    unsigned char *there = elements(engine, &m, seed, stream, CLI_ON_DEVICE);
    check(memcmp(here, there, m.bytes) == 0, name, "host and device differ", count);
    for (size_t at = 0; at < m.bytes; at += size) {
        unsigned char expected[8];
        expect_part(expected, part, random_bytes(at, size, seed, stream));
        check(memcmp(here + at, expected, size) == 0, name, "not as documented", (long long)at);
    }
    cli_data_free(here);
    cli_data_free(there);
}

/* A part of an array is the same numbers: they do not depend on how many there are. Blocks past
 * 2^32 count on in the counter's high word. */
static void far_elements(void)
{
    static const uint64_t blocks[] = {UINT32_MAX - 1, UINT32_MAX, UINT64_C(1) << 32,
                                      (UINT64_C(1) << 32) + 1, UINT64_C(1) << 57};
    const made m = parse("random:uint64:4");
    for (size_t k = 0; k < CLI_COUNT(blocks); k++) {
        cli_recipe recipe;
        uint64_t words[4];
        cli_recipe_of(&recipe, &m.generator, 5, 6);
        cli_recipe_follow(words, &recipe, blocks[k] * CLI_BLOCK_BYTES, sizeof words);
        for (size_t j = 0; j < 4; j++) {
            const uint64_t at = blocks[k] * CLI_BLOCK_BYTES + 8 * j;
            check(words[j] == random_bytes(at, 8, 5, 6), "random", "far element", (long long)k);
        }
    }
}

/* ---- statistics ----------------------------------------------------------------------------- */

/* Chi-square of a uniform distribution over 256 buckets; with 255 degrees of freedom it lies in
 * [185, 336] but once in a thousand times. The seeds are fixed, so it always does. */
static void buckets_are_even(const char *what, const uint64_t buckets[256], uint64_t total)
{
    const double expected = (double)total / 256;
    double sum = 0;
    for (int k = 0; k < 256; k++) {
        sum += ((double)buckets[k] - expected) * ((double)buckets[k] - expected) / expected;
    }
    check(sum > 185 && sum < 336, what, "chi-square", (long long)sum);
}

static void statistics(quern_engine *engine)
{
    enum { COUNT = 1 << 20 };
    const made floats = parse("random:float32:1048576"), bytes = parse("random:uint8:1048576");
    for (uint64_t seed = 0; seed < 4; seed++) {
        uint64_t buckets[2][256] = {{0}}, pairs[256] = {0};
        double mean = 0, square = 0;
        float *f = (float *)elements(engine, &floats, seed, seed, CLI_ON_DEVICE);
        unsigned char *b = elements(engine, &bytes, seed, 7 * seed, CLI_ON_DEVICE);
        for (int k = 0; k < COUNT; k++) {
            mean += (double)f[k] / COUNT;
            square += (double)f[k] * (double)f[k] / COUNT;
            buckets[0][(int)(f[k] * 256)]++;
            buckets[1][b[k]]++;
            pairs[(b[k] >> 4) | (b[(k + 1) % COUNT] & 15) << 4]++; /* neighbours: independent */
        }
        check(fabs(mean - 0.5) < 1.5e-3, "float32", "mean", (long long)seed);
        check(fabs(square - 1.0 / 3) < 1.5e-3, "float32", "mean of squares", (long long)seed);
        buckets_are_even("float32", buckets[0], COUNT);
        buckets_are_even("uint8", buckets[1], COUNT);
        buckets_are_even("pairs of uint8", pairs, COUNT);
        cli_data_free(f);
        cli_data_free(b);
    }
}

/* ---- all generators ------------------------------------------------------------------------- */

/* Each generator with each dtype, in sizes that are no whole blocks. */
static void host_and_device(quern_engine *engine, const char *dtype)
{
    static const char *const texts[] = {"zeros:%s:3x7",       "ones:%s:331",  "arange:%s:2x53",
                                        "arange:%s:0:101",    "eye:%s:7x11",  "eye:%s:5x3",
                                        "linspace:%s:0:9:77", "full:%s:19:1", "arange:%s:0",
                                        "linspace:%s:1:1:5"};
    for (size_t k = 0; k < CLI_COUNT(texts); k++) {
        if (strcmp(dtype, "bool") == 0 && k == 3) {
            continue; /* has no bounds */
        }
        const char *shape = strchr(texts[k], '%') + 2;
        const made m =
            parse(cli_sprintf("%.*s%s%s", (int)(shape - 2 - texts[k]), texts[k], dtype, shape));
        unsigned char *here = elements(engine, &m, 0, 0, CLI_ON_HOST);
        unsigned char *there = elements(engine, &m, 0, 0, CLI_ON_DEVICE);
        check(memcmp(here, there, m.bytes) == 0, m.text, "host and device differ", m.count);
        cli_data_free(here);
        cli_data_free(there);
    }
}

int main(void)
{
    static const quern_dtype small[] = {QUERN_FLOAT16, QUERN_BFLOAT16, QUERN_FLOAT8_E4M3,
                                        QUERN_FLOAT8_E5M2};
    static const int64_t counts[] = {0, 1, 15, 16, 17, 1003};
    quern_engine *engine;
    size_t dtypes;
    if (quern_open(&engine, NULL) != QUERN_OK) {
        printf("%s\n", quern_last_error_text());
        return 1;
    }
    known_answers();
    far_elements();
    for (size_t k = 0; k < CLI_COUNT(small); k++) {
        small_floats(small[k]);
    }
    const char *const *names = cli_dtype_names(&dtypes);
    for (size_t k = 0; k < dtypes; k++) {
        const quern_dtype dtype = quern_dtype_from_name(names[k]);
        for (size_t c = 0; c < CLI_COUNT(counts); c++) {
            random_elements(engine, dtype, counts[c]);
        }
        host_and_device(engine, quern_dtype_name(dtype));
    }
    statistics(engine);
    quern_close(engine);
    cli_free_all();
    printf("%ld checks, %ld failed\n", checks, failures);
    return failures > 0;
}
