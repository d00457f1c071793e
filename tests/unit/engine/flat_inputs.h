/* SPDX-License-Identifier: MIT
 *
 * What the tests of flat packs share: inputs over three axes that lie in numbered memory, and what
 * they add up to. In: memory, a shape, and how an input lies. Out: the input, and a failed test
 * where a result is not theirs.
 */
#ifndef QUERN_TEST_FLAT_INPUTS_H
#define QUERN_TEST_FLAT_INPUTS_H

#include "numbered.h"

enum { INPUTS = 3 };

static uint64_t seed = 3;

static inline int64_t draw(int64_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((seed >> 33) % (uint64_t)below);
}

/** An input, and where its elements lie in the numbered memory. */
typedef struct input {
    quern_array *array;
    int64_t offset, stride[3];
} input;

/** Over (a, b, c) from element `offset` on: the bits of `repeated` are the axes along which it is,
 * the lowest the first; `gap` elements lie behind each row. */
static inline input input_of(quern_array *memory, const int64_t *shape, int64_t offset,
                             int repeated, int64_t gap)
{
    input in = {.offset = offset};
    int64_t own[3], pitch = 1;
    for (int d = 2; d >= 0; d--) {
        const bool once = repeated >> d & 1;
        own[d] = once ? 1 : shape[d];
        in.stride[d] = once ? 0 : pitch;
        pitch *= own[d] + (d == 2 ? gap : 0);
    }
    quern_array *run, *table;
    OK(quern_array_slice(&run, memory, 1, (quern_slice[]){{offset, offset + pitch, 1}}));
    OK(quern_array_reshape(&table, run, SHAPE(own[0], own[1], own[2] + gap)));
    OK(quern_array_slice(&in.array, table, 3,
                         (quern_slice[]){{0, own[0], 1}, {0, own[1], 1}, {0, own[2], 1}}));
    quern_array_release(run);
    quern_array_release(table);
    return in;
}

/** A kernel of three inputs and an output of bytes, `(a * 3 + b) * 3 + c`. */
static inline quern_kernel *mixing_kernel(void)
{
    return kernel_of("A a, B b, C c", "uint8 y",
                     "y = ((unsigned)a * 3 + (unsigned)b) * 3 + (unsigned)c");
}

/** `got` is what that kernel makes of the inputs. */
static inline void expect_mixed(const uint8_t *got, const input *in, const int64_t *shape,
                                const char *plan)
{
    int64_t at[3], e = 0;
    for (at[0] = 0; at[0] < shape[0]; at[0]++) {
        for (at[1] = 0; at[1] < shape[1]; at[1]++) {
            for (at[2] = 0; at[2] < shape[2]; at[2]++, e++) {
                unsigned expected = 0;
                for (int k = 0; k < INPUTS; k++) {
                    int64_t place = in[k].offset;
                    for (int d = 0; d < 3; d++) {
                        place += at[d] * in[k].stride[d];
                    }
                    expected = expected * 3 + numbered(place);
                }
                cr_assert_eq(got[e], (uint8_t)expected, "element %ld of (%ld, %ld, %ld): %s",
                             (long)e, (long)shape[0], (long)shape[1], (long)shape[2], plan);
            }
        }
    }
}

#endif /* QUERN_TEST_FLAT_INPUTS_H */
