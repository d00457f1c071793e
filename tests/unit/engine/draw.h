/* SPDX-License-Identifier: MIT
 *
 * For tests that draw their cases: numbers that are the same in each run, on every machine. In:
 * `state`, which a test sets. Out: a number between two; and how many cases to draw. The constants
 * are those of MMIX (D. E. Knuth, "The Art of Computer Programming", volume 2, 3.3.4).
 */
#ifndef QUERN_TEST_DRAW_H
#define QUERN_TEST_DRAW_H

#include <stdint.h>
#include <stdlib.h>

static uint64_t state = 1;

static inline int64_t draw(int64_t least, int64_t most)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return least + (int64_t)((state >> 33) % (uint64_t)(most - least + 1));
}

/* 32 bits, each drawn. */
static inline uint32_t draw_word(void)
{
    const uint32_t high = (uint32_t)draw(0, 0xffff);
    return high << 16 | (uint32_t)draw(0, 0xffff);
}

/* One of how many cases is drawn: instruments make each slow, and `./dev asan` asks for a part. */
static inline int drawn_part(void)
{
    const char *part = getenv("QUERN_DRAWN_PART");
    const int of = part ? atoi(part) : 1;
    return of > 1 ? of : 1;
}

/* How many of `count` cases are drawn: at least one. */
static inline int drawn(int count)
{
    return (count + drawn_part() - 1) / drawn_part();
}

#endif /* QUERN_TEST_DRAW_H */
