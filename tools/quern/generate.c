/* SPDX-License-Identifier: MIT
 *
 * Generators: empty, zeros, ones, arange and random arrays. In: KIND:DTYPE:SHAPE and a seed. Out:
 * the elements in C order.
 *
 * Random numbers come from a counter: element k of stream s is Philox-4x32-10 of (k, s) under the
 * seed, so that it depends on nothing but these. Floats are uniform in [0, 1) with all bits of
 * their fraction; integers are uniform over their whole range.
 */
#include "cli.h"

#include <ctype.h>
#include <string.h>

static const char *const kinds[] = {
    [CLI_EMPTY] = "empty",   [CLI_ZEROS] = "zeros",   [CLI_ONES] = "ones",
    [CLI_ARANGE] = "arange", [CLI_RANDOM] = "random",
};

static bool find_kind(const char *text, cli_generator_kind *kind)
{
    size_t length = strcspn(text, ":");
    for (size_t k = 0; text[length] && k < CLI_COUNT(kinds); k++) {
        if (strlen(kinds[k]) == length && memcmp(kinds[k], text, length) == 0) {
            *kind = (cli_generator_kind)k;
            return true;
        }
    }
    return false;
}

bool cli_is_generator(const char *text)
{
    cli_generator_kind kind;
    return find_kind(text, &kind);
}

bool cli_shape_bytes(int64_t *bytes, int ndim, const int64_t *shape, size_t element)
{
    int64_t product = (int64_t)element;
    bool empty = false;
    for (int k = 0; k < ndim; k++) { /* extents of other axes have to fit beside a zero too */
        empty |= shape[k] == 0;
        int64_t extent = shape[k] == 0 ? 1 : shape[k];
        if (extent < 0 || product > INT64_MAX / extent) {
            return false;
        }
        product *= extent;
    }
    *bytes = empty ? 0 : product;
    return true;
}

/* shape := "()" | digits ("x" digits)* */
static bool parse_shape(cli_generator *out, const char *text, const char **rest, const char *p,
                        cli_problem *problem)
{
    const char *from = p;
    out->ndim = 0;
    if (strncmp(p, "()", 2) == 0) {
        *rest = p + 2;
        return true;
    }
    for (;; p++) {
        size_t at = (size_t)(p - text);
        if (!isdigit((unsigned char)*p)) {
            return cli_problem_set(problem, at, at + 1,
                                   "a shape such as 1000x200, 5 or () should stand here");
        }
        if (out->ndim == QUERN_MAX_NDIM) {
            return cli_problem_set(problem, at, at + 1, "the shape has more than %d dimensions",
                                   QUERN_MAX_NDIM);
        }
        int64_t extent = 0;
        for (; isdigit((unsigned char)*p); p++) {
            int digit = *p - '0';
            extent = extent > (INT64_MAX - digit) / 10 ? INT64_MAX : extent * 10 + digit;
        }
        out->shape[out->ndim++] = extent;
        if (*p != 'x') {
            break;
        }
    }
    int64_t bytes;
    if (!cli_shape_bytes(&bytes, out->ndim, out->shape, quern_dtype_size(out->dtype))) {
        return cli_problem_set(problem, (size_t)(from - text), (size_t)(p - text),
                               "an array of this shape is larger than any memory");
    }
    *rest = p;
    return true;
}

bool cli_generator_parse(cli_generator *out, const char *text, size_t *length, cli_problem *problem)
{
    find_kind(text, &out->kind);
    const char *p = text + strcspn(text, ":") + 1;
    size_t begin = (size_t)(p - text), end = begin + strcspn(p, ":");
    const char *name = cli_strndup(p, end - begin);
    out->dtype = quern_dtype_from_name(name);
    if (out->dtype == QUERN_DTYPE_NONE) {
        size_t count;
        const char *const *names = cli_dtype_names(&count);
        return cli_problem_set(problem, begin, end > begin ? end : begin + 1,
                               "there is no dtype \"%s\"%s", name,
                               cli_did_you_mean(name, names, count));
    }
    if (!text[end]) {
        return cli_problem_set(problem, end, end + 1, "a shape is missing, such as %s:%s:1000x200",
                               kinds[out->kind], name);
    }
    const char *rest = text + end + 1;
    if (!parse_shape(out, text, &rest, rest, problem)) {
        return false;
    }
    *length = (size_t)(rest - text);
    return true;
}

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
        if (generator->kind == CLI_RANDOM) {
            random_element(to, generator->dtype, k, seed, stream);
        } else {
            whole_element(to, generator->dtype, generator->kind == CLI_ONES ? 1 : k);
        }
    }
}
