/* SPDX-License-Identifier: MIT
 *
 * Bytes and halves inside a word: dot products (dp4a, dp2a) and the SIMD video instructions, such
 * as vabsdiff4. The latter are rare: each row is a small function around one that does them all.
 */
#include "ptx/lanes/lanes_op.h"

/* Component `k` of `bits` bits, by its type. */
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

/* Halves of a with bytes 0, 1 (`first` 0) or 2, 3 (`first` 2) of b. */
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

/* All SIMD video instructions: signs are those of d, a and b. */
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

/* clang-format off */
#define DOTS(X)                                                                                    \
    X(dp4a_uu, "dp4a.u32.u32", OP, u32, u32, u32, u32, dot4(a, 0, b, 0, c))                        \
    X(dp4a_us, "dp4a.u32.s32", OP, u32, u32, u32, u32, dot4(a, 0, b, 1, c))                        \
    X(dp4a_su, "dp4a.s32.u32", OP, u32, u32, u32, u32, dot4(a, 1, b, 0, c))                        \
    X(dp4a_ss, "dp4a.s32.s32", OP, u32, u32, u32, u32, dot4(a, 1, b, 1, c))                        \
    X(dp2a_lo_uu, "dp2a.lo.u32.u32", OP, u32, u32, u32, u32, dot2(a, 0, b, 0, c, 0))               \
    X(dp2a_lo_us, "dp2a.lo.u32.s32", OP, u32, u32, u32, u32, dot2(a, 0, b, 1, c, 0))               \
    X(dp2a_lo_su, "dp2a.lo.s32.u32", OP, u32, u32, u32, u32, dot2(a, 1, b, 0, c, 0))               \
    X(dp2a_lo_ss, "dp2a.lo.s32.s32", OP, u32, u32, u32, u32, dot2(a, 1, b, 1, c, 0))               \
    X(dp2a_hi_uu, "dp2a.hi.u32.u32", OP, u32, u32, u32, u32, dot2(a, 0, b, 0, c, 2))               \
    X(dp2a_hi_us, "dp2a.hi.u32.s32", OP, u32, u32, u32, u32, dot2(a, 0, b, 1, c, 2))               \
    X(dp2a_hi_su, "dp2a.hi.s32.u32", OP, u32, u32, u32, u32, dot2(a, 1, b, 0, c, 2))               \
    X(dp2a_hi_ss, "dp2a.hi.s32.s32", OP, u32, u32, u32, u32, dot2(a, 1, b, 1, c, 2))

/* The signs of d, a and b. A family, because there would be 288 rows. */
#define SIGNS(X, id, name, end, op, bits, mode)                                                    \
    X(id##_uuu, name ".u32.u32.u32" end, SLOW, u32, u32, u32, u32,                                 \
      video(op, bits, mode, (const bool[]){0, 0, 0}, a, b, c))                                     \
    X(id##_uus, name ".u32.u32.s32" end, SLOW, u32, u32, u32, u32,                                 \
      video(op, bits, mode, (const bool[]){0, 0, 1}, a, b, c))                                     \
    X(id##_usu, name ".u32.s32.u32" end, SLOW, u32, u32, u32, u32,                                 \
      video(op, bits, mode, (const bool[]){0, 1, 0}, a, b, c))                                     \
    X(id##_uss, name ".u32.s32.s32" end, SLOW, u32, u32, u32, u32,                                 \
      video(op, bits, mode, (const bool[]){0, 1, 1}, a, b, c))                                     \
    X(id##_suu, name ".s32.u32.u32" end, SLOW, u32, u32, u32, u32,                                 \
      video(op, bits, mode, (const bool[]){1, 0, 0}, a, b, c))                                     \
    X(id##_sus, name ".s32.u32.s32" end, SLOW, u32, u32, u32, u32,                                 \
      video(op, bits, mode, (const bool[]){1, 0, 1}, a, b, c))                                     \
    X(id##_ssu, name ".s32.s32.u32" end, SLOW, u32, u32, u32, u32,                                 \
      video(op, bits, mode, (const bool[]){1, 1, 0}, a, b, c))                                     \
    X(id##_sss, name ".s32.s32.s32" end, SLOW, u32, u32, u32, u32,                                 \
      video(op, bits, mode, (const bool[]){1, 1, 1}, a, b, c))

#define VIDEO(X)                                                                                   \
    SIGNS(X, vadd4, "vadd4", "", ADD, 8, PLAIN)                                                    \
    SIGNS(X, vadd4_sat, "vadd4", ".sat", ADD, 8, SATURATE)                                         \
    SIGNS(X, vadd4_add, "vadd4", ".add", ADD, 8, ACCUMULATE)                                       \
    SIGNS(X, vadd2, "vadd2", "", ADD, 16, PLAIN)                                                   \
    SIGNS(X, vadd2_sat, "vadd2", ".sat", ADD, 16, SATURATE)                                        \
    SIGNS(X, vadd2_add, "vadd2", ".add", ADD, 16, ACCUMULATE)                                      \
    SIGNS(X, vsub4, "vsub4", "", SUB, 8, PLAIN)                                                    \
    SIGNS(X, vsub4_sat, "vsub4", ".sat", SUB, 8, SATURATE)                                         \
    SIGNS(X, vsub4_add, "vsub4", ".add", SUB, 8, ACCUMULATE)                                       \
    SIGNS(X, vsub2, "vsub2", "", SUB, 16, PLAIN)                                                   \
    SIGNS(X, vsub2_sat, "vsub2", ".sat", SUB, 16, SATURATE)                                        \
    SIGNS(X, vsub2_add, "vsub2", ".add", SUB, 16, ACCUMULATE)                                      \
    SIGNS(X, vavrg4, "vavrg4", "", AVERAGE, 8, PLAIN)                                              \
    SIGNS(X, vavrg4_sat, "vavrg4", ".sat", AVERAGE, 8, SATURATE)                                   \
    SIGNS(X, vavrg4_add, "vavrg4", ".add", AVERAGE, 8, ACCUMULATE)                                 \
    SIGNS(X, vavrg2, "vavrg2", "", AVERAGE, 16, PLAIN)                                             \
    SIGNS(X, vavrg2_sat, "vavrg2", ".sat", AVERAGE, 16, SATURATE)                                  \
    SIGNS(X, vavrg2_add, "vavrg2", ".add", AVERAGE, 16, ACCUMULATE)                                \
    SIGNS(X, vabsdiff4, "vabsdiff4", "", ABSOLUTE_DIFFERENCE, 8, PLAIN)                            \
    SIGNS(X, vabsdiff4_sat, "vabsdiff4", ".sat", ABSOLUTE_DIFFERENCE, 8, SATURATE)                 \
    SIGNS(X, vabsdiff4_add, "vabsdiff4", ".add", ABSOLUTE_DIFFERENCE, 8, ACCUMULATE)               \
    SIGNS(X, vabsdiff2, "vabsdiff2", "", ABSOLUTE_DIFFERENCE, 16, PLAIN)                           \
    SIGNS(X, vabsdiff2_sat, "vabsdiff2", ".sat", ABSOLUTE_DIFFERENCE, 16, SATURATE)                \
    SIGNS(X, vabsdiff2_add, "vabsdiff2", ".add", ABSOLUTE_DIFFERENCE, 16, ACCUMULATE)              \
    SIGNS(X, vmin4, "vmin4", "", LEAST, 8, PLAIN)                                                  \
    SIGNS(X, vmin4_sat, "vmin4", ".sat", LEAST, 8, SATURATE)                                       \
    SIGNS(X, vmin4_add, "vmin4", ".add", LEAST, 8, ACCUMULATE)                                     \
    SIGNS(X, vmin2, "vmin2", "", LEAST, 16, PLAIN)                                                 \
    SIGNS(X, vmin2_sat, "vmin2", ".sat", LEAST, 16, SATURATE)                                      \
    SIGNS(X, vmin2_add, "vmin2", ".add", LEAST, 16, ACCUMULATE)                                    \
    SIGNS(X, vmax4, "vmax4", "", MOST, 8, PLAIN)                                                   \
    SIGNS(X, vmax4_sat, "vmax4", ".sat", MOST, 8, SATURATE)                                        \
    SIGNS(X, vmax4_add, "vmax4", ".add", MOST, 8, ACCUMULATE)                                      \
    SIGNS(X, vmax2, "vmax2", "", MOST, 16, PLAIN)                                                  \
    SIGNS(X, vmax2_sat, "vmax2", ".sat", MOST, 16, SATURATE)                                       \
    SIGNS(X, vmax2_add, "vmax2", ".add", MOST, 16, ACCUMULATE)

/* Of compute capability 9.0: two halves that stay within theirs. */
#define HALVES(X)                                                                                  \
    X(add_u16x2, "add.u16x2", SLOW, u32, u32, u32, none,                                           \
      video(ADD, 16, PLAIN, (const bool[]){0, 0, 0}, a, b, 0))                                     \
    X(add_s16x2, "add.s16x2", SLOW, u32, u32, u32, none,                                           \
      video(ADD, 16, PLAIN, (const bool[]){1, 1, 1}, a, b, 0))                                     \
    X(min_u16x2, "min.u16x2", SLOW, u32, u32, u32, none,                                           \
      video(LEAST, 16, PLAIN, (const bool[]){0, 0, 0}, a, b, 0))                                   \
    X(min_s16x2, "min.s16x2", SLOW, u32, u32, u32, none,                                           \
      video(LEAST, 16, PLAIN, (const bool[]){1, 1, 1}, a, b, 0))                                   \
    X(max_u16x2, "max.u16x2", SLOW, u32, u32, u32, none,                                           \
      video(MOST, 16, PLAIN, (const bool[]){0, 0, 0}, a, b, 0))                                    \
    X(max_s16x2, "max.s16x2", SLOW, u32, u32, u32, none,                                           \
      video(MOST, 16, PLAIN, (const bool[]){1, 1, 1}, a, b, 0))
/* clang-format on */

#define ALL(X) DOTS(X) VIDEO(X) HALVES(X)
ALL(DEFINE)
PUBLISH(video, ALL(ENTRY))
