/* SPDX-License-Identifier: MIT
 *
 * Bytes and halves inside a word: dot products (dp4a, dp2a) and the SIMD video instructions, such
 * as vabsdiff4. The latter are rare: each row is a small function around one that does them all.
 */
#include "ptx/lanes/lanes_op.h"

/** Component `k` of `bits` bits, by its type. */
static inline s32 part(u32 word, int k, int bits, bool is_signed)
{
    const u32 x = word << (32 - bits * (k + 1));
    return is_signed ? (s32)x >> (32 - bits) : (s32)(x >> (32 - bits));
}

static inline u32 dot4(u32 a, bool a_signed, u32 b, bool b_signed, u32 c)
{
    for (int k = 0; k < 4; k++) {
        c += (u32)(part(a, k, 8, a_signed) * part(b, k, 8, b_signed));
    }
    return c;
}

/** Halves of a with bytes 0, 1 (`first` 0) or 2, 3 (`first` 2) of b. */
static inline u32 dot2(u32 a, bool a_signed, u32 b, bool b_signed, u32 c, int first)
{
    for (int k = 0; k < 2; k++) {
        c += (u32)part(a, k, 16, a_signed) * (u32)part(b, first + k, 8, b_signed);
    }
    return c;
}

enum { ADD, SUB, AVERAGE, ABSOLUTE_DIFFERENCE, LEAST, MOST };
enum { PLAIN, SATURATE, ACCUMULATE };

static s32 combine(int op, s32 x, s32 y)
{
    switch (op) {
    case ADD:
        return x + y;
    case SUB:
        return x - y;
    case AVERAGE:
        return (x + y + (x + y >= 0)) >> 1;
    case ABSOLUTE_DIFFERENCE:
        return x > y ? x - y : y - x;
    case LEAST:
        return x < y ? x : y;
    default:
        return x > y ? x : y;
    }
}

static s32 saturate(s32 x, int bits, bool is_signed)
{
    const s32 most = is_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
    const s32 least = is_signed ? -most - 1 : 0;
    return x < least ? least : x > most ? most : x;
}

/** All SIMD video instructions: signs are those of d, a and b. */
static __attribute__((noinline)) u32 video(int op, int bits, int mode, const bool signs[3], u32 a,
                                           u32 b, u32 c)
{
    u32 packed = 0, sum = c;
    for (int k = 0; k < 32 / bits; k++) {
        s32 x = combine(op, part(a, k, bits, signs[1]), part(b, k, bits, signs[2]));
        if (mode == SATURATE) {
            x = saturate(x, bits, signs[0]);
        }
        packed |= ((u32)x & ((1u << bits) - 1)) << bits * k;
        sum += (u32)x;
    }
    return mode == ACCUMULATE ? sum : packed;
}

#define SIGN_u 0
#define SIGN_s 1

/* clang-format off */
#define DOTS(X, t, u)                                                                              \
    X(dp4a_##t##u, "dp4a." #t "32." #u "32", OP, u32, u32, u32, u32,                               \
      dot4(a, SIGN_##t, b, SIGN_##u, c))                                                           \
    X(dp2a_lo_##t##u, "dp2a.lo." #t "32." #u "32", OP, u32, u32, u32, u32,                         \
      dot2(a, SIGN_##t, b, SIGN_##u, c, 0))                                                        \
    X(dp2a_hi_##t##u, "dp2a.hi." #t "32." #u "32", OP, u32, u32, u32, u32,                         \
      dot2(a, SIGN_##t, b, SIGN_##u, c, 2))

#define VIDEO(X, id, name, op, bits, d, t, u)                                                      \
    X(id##_##d##t##u, name "." #d "32." #t "32." #u "32", SLOW, u32, u32, u32, u32,                \
      video(op, bits, PLAIN, (const bool[]){SIGN_##d, SIGN_##t, SIGN_##u}, a, b, c))               \
    X(id##_sat_##d##t##u, name "." #d "32." #t "32." #u "32.sat", SLOW, u32, u32, u32, u32,        \
      video(op, bits, SATURATE, (const bool[]){SIGN_##d, SIGN_##t, SIGN_##u}, a, b, c))            \
    X(id##_add_##d##t##u, name "." #d "32." #t "32." #u "32.add", SLOW, u32, u32, u32, u32,        \
      video(op, bits, ACCUMULATE, (const bool[]){SIGN_##d, SIGN_##t, SIGN_##u}, a, b, c))
#define SIGNS(X, id, name, op, bits)                                                               \
    VIDEO(X, id, name, op, bits, u, u, u) VIDEO(X, id, name, op, bits, u, u, s)                    \
    VIDEO(X, id, name, op, bits, u, s, u) VIDEO(X, id, name, op, bits, u, s, s)                    \
    VIDEO(X, id, name, op, bits, s, u, u) VIDEO(X, id, name, op, bits, s, u, s)                    \
    VIDEO(X, id, name, op, bits, s, s, u) VIDEO(X, id, name, op, bits, s, s, s)
/* Of compute capability 9.0: two halves that stay within theirs. */
#define HALVES(X, id, name, op)                                                                    \
    X(id##_u16x2, name ".u16x2", SLOW, u32, u32, u32, none,                                        \
      video(op, 16, PLAIN, (const bool[]){0, 0, 0}, a, b, 0))                                      \
    X(id##_s16x2, name ".s16x2", SLOW, u32, u32, u32, none,                                        \
      video(op, 16, PLAIN, (const bool[]){1, 1, 1}, a, b, 0))
#define BOTH_WIDTHS(X, id, name, op)                                                               \
    SIGNS(X, id##4, name "4", op, 8)                                                               \
    SIGNS(X, id##2, name "2", op, 16)
#define ALL(X)                                                                                     \
    DOTS(X, u, u) DOTS(X, u, s) DOTS(X, s, u) DOTS(X, s, s)                                        \
    BOTH_WIDTHS(X, vadd, "vadd", ADD)                                                              \
    BOTH_WIDTHS(X, vsub, "vsub", SUB)                                                              \
    BOTH_WIDTHS(X, vavrg, "vavrg", AVERAGE)                                                        \
    BOTH_WIDTHS(X, vabsdiff, "vabsdiff", ABSOLUTE_DIFFERENCE)                                      \
    BOTH_WIDTHS(X, vmin, "vmin", LEAST)                                                            \
    BOTH_WIDTHS(X, vmax, "vmax", MOST)                                                             \
    HALVES(X, add, "add", ADD) HALVES(X, min, "min", LEAST) HALVES(X, max, "max", MOST)
/* clang-format on */

ALL(DEFINE)
PUBLISH(video, ALL(ENTRY))
