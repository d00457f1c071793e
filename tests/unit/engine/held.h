/* SPDX-License-Identifier: MIT
 *
 * For tests of scans whose blocks hold their tiles: numbers small enough for all integer types,
 * whose sums wrap around, and an operation whose order counts.
 */
#ifndef QUERN_TEST_HELD_H
#define QUERN_TEST_HELD_H

#include "whole.h"

typedef struct element {
    quern_dtype dtype;
    int64_t size;
} element;

static inline int64_t number_at(int64_t place)
{
    return place * 7 % 11 - 5;
}

/* `all` elements of `size` bytes. */
static inline void fill_numbers(char *to, int64_t all, int64_t size)
{
    for (int64_t k = 0; k < all; k++) {
        const int64_t value = number_at(k);
        memcpy(to + k * size, &value, (size_t)size);
    }
}

/* Functions v -> v * f + s of a uint32, one after the other, without an identity, of values that
 * are wider than what arrays have. */
static inline quern_kernel *ordered_kernel(void)
{
    const quern_scan_options options = {
        .size = sizeof options,
        .preamble = "typedef unsigned long long step;\n"
                    "__device__ step then(step a, step b) {\n"
                    "    unsigned f = (unsigned)(b >> 32);\n"
                    "    return (step)((unsigned)(a >> 32) * f) << 32 | ((unsigned)a * f + "
                    "(unsigned)b);\n"
                    "}\n"
                    "__device__ step step_of(unsigned x) {\n"
                    "    return (step)(2 * x + 1) << 32 | (x ^ 85);\n"
                    "}",
        .scan_type = "unsigned long long"};
    quern_kernel *kernel;
    OK(quern_scan(&kernel, engine, "uint32 x", "uint32 y", "step_of(x)", "then(a, b)",
                  "y = (unsigned)a ^ x", NULL, &options));
    return kernel;
}

static inline void fill_steps(char *to, int64_t all)
{
    for (int64_t k = 0; k < all; k++) {
        ((uint32_t *)to)[k] = (uint32_t)(k * 2654435761u >> 7);
    }
}

/* Make an element its result. `sum`: of the elements before; then with this one. */
static inline void take_step(uint32_t *own, uint32_t *sum)
{
    *sum = *sum * (2 * *own + 1) + (*own ^ 85);
    *own ^= *sum;
}

/* Compare `bytes` of memory. Returns how many differ. */
static inline int64_t differing(quern_array *memory, const char *expected, int64_t bytes)
{
    char *got = malloc((size_t)bytes);
    cr_assert(got);
    OK(quern_array_read(memory, got, (size_t)bytes));
    int64_t wrong = 0;
    for (int64_t k = 0; k < bytes; k++) {
        wrong += got[k] != expected[k];
    }
    free(got);
    return wrong;
}

/* Call along axis 1. The plan has the words `way`. */
static inline void call_along(quern_kernel *kernel, const quern_value *values, size_t count,
                              const char *way)
{
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    options.axes = (int[]){1};
    options.axis_count = 1;
    quern_explanation *e;
    OK(quern_explain(&e, kernel, values, count, &options));
    cr_expect(strstr(e->plan, way), "%s", e->plan);
    quern_explanation_release(e);
    OK(quern_call_n(kernel, values, count, &options));
}

#endif /* QUERN_TEST_HELD_H */
