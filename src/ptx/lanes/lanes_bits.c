/* SPDX-License-Identifier: MIT
 *
 * Bits: mov, logic, shifts, fields, counts, permutations, and the selections that look at no number
 * (selp). Shift amounts beyond the width give what PTX says, not what the CPU does.
 */
#include "ptx/lanes/lanes_op.h"

static inline u64 shl64(u64 a, u32 n)
{
    return n > 63 ? 0 : a << (n & 63);
}

static inline u64 shr64(u64 a, u32 n)
{
    return n > 63 ? 0 : a >> (n & 63);
}

static inline u32 shl32(u32 a, u32 n)
{
    return n > 31 ? 0 : a << (n & 31);
}

static inline u32 shr32(u32 a, u32 n)
{
    return n > 31 ? 0 : a >> (n & 31);
}

#define CLAMP(n, most) ((n) > (most) ? (most) : (n))

/* A mask of the low n bits, all of them when n >= 32 or 64. */
static inline u32 ones32(u32 n)
{
    return n > 31 ? 0xffffffffu : (1u << (n & 31)) - 1;
}

static inline u64 ones64(u32 n)
{
    return n > 63 ? ~(u64)0 : ((u64)1 << (n & 63)) - 1;
}

/* The high word of hi:lo shifted left by n, 0 to 32; right gives the low word. */
static inline u32 funnel_left(u32 lo, u32 hi, u32 n)
{
    return (u32)((((u64)hi << 32 | lo) << n) >> 32);
}

static inline u32 funnel_right(u32 lo, u32 hi, u32 n)
{
    return (u32)(((u64)hi << 32 | lo) >> n);
}

/* Bit fields. As on GPUs, the 32-bit forms take position and length modulo 256, others whole. */
static inline u64 field_u(u64 a, u32 pos, u32 len)
{
    return shr64(a, pos) & ones64(len);
}

/* `bits`: 32 or 64. Past bit `top`, where the field or the register ends, the sign repeats. */
static inline u64 field_s(s64 a, u32 pos, u32 len, u32 bits)
{
    const u64 end = (u64)pos + len - 1;
    const u32 top = end < bits - 1 ? (u32)end : bits - 1;
    const u64 sign = (u64)a >> (top & 63) & 1 ? ~(u64)0 : 0;
    const u64 keep = pos > top ? 0 : ones64(top - pos + 1);
    return len == 0 ? 0 : ((u64)(a >> CLAMP(pos, 63)) & keep) | (sign & ~keep);
}

static inline u64 insert(u64 a, u64 b, u32 pos, u32 len, u32 bits)
{
    const u64 place = pos >= bits ? 0 : shl64(ones64(len), pos);
    return (b & ~place) | (shl64(a, pos) & place);
}

#define BYTE(x) ((x)&0xff)

/* Position of the highest bit set; none: all ones. For signed types, `a` comes with its bits
 * flipped if it is negative. */
static inline u32 find64(u64 a)
{
    return a == 0 ? 0xffffffffu : 63 - (u32)__builtin_clzll(a);
}

static inline u32 find32(u32 a)
{
    return a == 0 ? 0xffffffffu : 31 - (u32)__builtin_clz(a);
}

static inline u32 shift_amount(u32 found, u32 most)
{
    return found == 0xffffffffu ? found : most - found;
}

static inline u32 reverse32(u32 a)
{
    a = (a >> 1 & 0x55555555u) | (a & 0x55555555u) << 1;
    a = (a >> 2 & 0x33333333u) | (a & 0x33333333u) << 2;
    a = (a >> 4 & 0x0f0f0f0fu) | (a & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(a);
}

static inline u64 reverse64(u64 a)
{
    return (u64)reverse32((u32)a) << 32 | reverse32((u32)(a >> 32));
}

/* The n-th set bit from `base`: upward for n > 0, downward for n < 0. */
static inline u32 find_nth(u32 bits, u32 base, s32 n)
{
    if (n == 0) {
        return base < 32 && (bits >> base & 1) ? base : 0xffffffffu;
    }
    const s32 step = n > 0 ? 1 : -1;
    u32 left = n > 0 ? (u32)n : 0u - (u32)n;
    for (s64 at = base; at >= 0 && at < 32; at += step) {
        left -= bits >> at & 1;
        if (left == 0) {
            return (u32)at;
        }
    }
    return 0xffffffffu;
}

static inline u32 mask_clamp(u32 pos, u32 width)
{
    return shl32(ones32(width), pos);
}

static inline u32 extend_s(u32 a, u32 n)
{
    return n == 0 ? 0 : n > 31 ? a : (u32)((s32)(a << (32 - n)) >> (32 - n));
}

static inline u32 lop3(u32 a, u32 b, u32 c, u32 table)
{
    u32 r = 0;
    r |= table & 0x01 ? ~a & ~b & ~c : 0;
    r |= table & 0x02 ? ~a & ~b & c : 0;
    r |= table & 0x04 ? ~a & b & ~c : 0;
    r |= table & 0x08 ? ~a & b & c : 0;
    r |= table & 0x10 ? a & ~b & ~c : 0;
    r |= table & 0x20 ? a & ~b & c : 0;
    r |= table & 0x40 ? a & b & ~c : 0;
    r |= table & 0x80 ? a & b & c : 0;
    return r;
}

/* prmt: bytes 0 to 7 of b:a; a selector's bit 3 repeats the byte's sign. */
static inline u32 byte_of(u64 ab, u32 selector)
{
    const u32 byte = ab >> (selector & 7) * 8 & 0xff;
    return selector & 8 ? (byte & 0x80 ? 0xff : 0) : byte;
}

static inline u32 permute(u32 a, u32 b, u32 s0, u32 s1, u32 s2, u32 s3)
{
    const u64 ab = (u64)b << 32 | a;
    return byte_of(ab, s0) | byte_of(ab, s1) << 8 | byte_of(ab, s2) << 16 | byte_of(ab, s3) << 24;
}

/* clang-format off */
#define MOVES(X)                                                                                   \
    X(mov_16, "mov.b16", OP, u16, u16, none, none, a)                                              \
    X(mov_16, "mov.u16", SAME, u16, u16, none, none, )                                             \
    X(mov_16, "mov.s16", SAME, u16, u16, none, none, )                                             \
    X(mov_32, "mov.b32", OP, u32, u32, none, none, a)                                              \
    X(mov_32, "mov.u32", SAME, u32, u32, none, none, )                                             \
    X(mov_32, "mov.s32", SAME, u32, u32, none, none, )                                             \
    X(mov_32, "mov.f32", SAME, u32, u32, none, none, )                                             \
    X(mov_64, "mov.b64", OP, u64, u64, none, none, a)                                              \
    X(mov_64, "mov.u64", SAME, u64, u64, none, none, )                                             \
    X(mov_64, "mov.s64", SAME, u64, u64, none, none, )                                             \
    X(mov_64, "mov.f64", SAME, u64, u64, none, none, )                                             \
    X(mov_pred, "mov.pred", BITWORD, pred, pred, none, none, a)

#define BITWISE(X, id, op, ...)                                                                    \
    X(id##_16, op ".b16", OP, u16, u16, u16, none, __VA_ARGS__)                                    \
    X(id##_32, op ".b32", OP, u32, u32, u32, none, __VA_ARGS__)                                    \
    X(id##_64, op ".b64", OP, u64, u64, u64, none, __VA_ARGS__)                                    \
    X(id##_pred, op ".pred", BITWORD, pred, pred, pred, none, __VA_ARGS__)

#define LOGIC(X)                                                                                   \
    BITWISE(X, and, "and", a & b)                                                                  \
    BITWISE(X, or, "or", a | b)                                                                    \
    BITWISE(X, xor, "xor", a ^ b)                                                                  \
    X(not_16, "not.b16", OP, u16, u16, none, none, ~a)                                             \
    X(not_32, "not.b32", OP, u32, u32, none, none, ~a)                                             \
    X(not_64, "not.b64", OP, u64, u64, none, none, ~a)                                             \
    X(not_pred, "not.pred", BITWORD, pred, pred, none, none, ~a)                                   \
    X(cnot_16, "cnot.b16", OP, u16, u16, none, none, a == 0)                                       \
    X(cnot_32, "cnot.b32", OP, u32, u32, none, none, a == 0)                                       \
    X(cnot_64, "cnot.b64", OP, u64, u64, none, none, a == 0)                                       \
    X(lop3_b32, "lop3.b32", OP4, u32, u32, u32, u32, lop3(a, b, c, e))

#define SHIFTS(X)                                                                                  \
    X(shl_16, "shl.b16", OP, u16, u16, u32, none, shl32(a, b))                                     \
    X(shl_32, "shl.b32", OP, u32, u32, u32, none, shl32(a, b))                                     \
    X(shl_64, "shl.b64", OP, u64, u64, u32, none, shl64(a, b))                                     \
    X(shr_16, "shr.u16", OP, u16, u16, u32, none, shr32(a, b))                                     \
    X(shr_16, "shr.b16", SAME, u16, u16, u32, none, )                                              \
    X(shr_32, "shr.u32", OP, u32, u32, u32, none, shr32(a, b))                                     \
    X(shr_32, "shr.b32", SAME, u32, u32, u32, none, )                                              \
    X(shr_64, "shr.u64", OP, u64, u64, u32, none, shr64(a, b))                                     \
    X(shr_64, "shr.b64", SAME, u64, u64, u32, none, )                                              \
    X(sar_16, "shr.s16", OP, u16, s16, u32, none, a >> CLAMP(b, 15))                               \
    X(sar_32, "shr.s32", OP, u32, s32, u32, none, a >> CLAMP(b, 31))                               \
    X(sar_64, "shr.s64", OP, u64, s64, u32, none, a >> CLAMP(b, 63))                               \
    X(shf_l_wrap, "shf.l.wrap.b32", OP, u32, u32, u32, u32, funnel_left(a, b, c & 31))             \
    X(shf_r_wrap, "shf.r.wrap.b32", OP, u32, u32, u32, u32, funnel_right(a, b, c & 31))            \
    X(shf_l_clamp, "shf.l.clamp.b32", OP, u32, u32, u32, u32, funnel_left(a, b, CLAMP(c, 32)))     \
    X(shf_r_clamp, "shf.r.clamp.b32", OP, u32, u32, u32, u32, funnel_right(a, b, CLAMP(c, 32)))

#define FIELDS(X)                                                                                  \
    X(bfe_u32, "bfe.u32", OP, u32, u32, u32, u32, field_u(a, BYTE(b), BYTE(c)))                    \
    X(bfe_s32, "bfe.s32", OP, u32, s32, u32, u32, field_s(a, BYTE(b), BYTE(c), 32))                \
    X(bfe_u64, "bfe.u64", OP, u64, u64, u32, u32, field_u(a, b, c))                                \
    X(bfe_s64, "bfe.s64", OP, u64, s64, u32, u32, field_s(a, b, c, 64))                            \
    X(bfi_32, "bfi.b32", OP4, u32, u32, u32, u32, insert(a, b, BYTE(c), BYTE(e), 32))              \
    X(bfi_64, "bfi.b64", OP4, u64, u64, u64, u32, insert(a, b, c, e, 64))                          \
    X(bfind_u32, "bfind.u32", OP, u32, u32, none, none, find32(a))                                 \
    X(bfind_s32, "bfind.s32", OP, u32, s32, none, none, find32((u32)(a < 0 ? ~a : a)))             \
    X(bfind_u64, "bfind.u64", OP, u32, u64, none, none, find64(a))                                 \
    X(bfind_s64, "bfind.s64", OP, u32, s64, none, none, find64((u64)(a < 0 ? ~a : a)))             \
    X(left_u32, "bfind.shiftamt.u32", OP, u32, u32, none, none, shift_amount(find32(a), 31))       \
    X(left_s32, "bfind.shiftamt.s32", OP, u32, s32, none, none,                                    \
      shift_amount(find32((u32)(a < 0 ? ~a : a)), 31))                                             \
    X(left_u64, "bfind.shiftamt.u64", OP, u32, u64, none, none, shift_amount(find64(a), 63))       \
    X(left_s64, "bfind.shiftamt.s64", OP, u32, s64, none, none,                                    \
      shift_amount(find64((u64)(a < 0 ? ~a : a)), 63))                                             \
    X(brev_32, "brev.b32", OP, u32, u32, none, none, reverse32(a))                                 \
    X(brev_64, "brev.b64", OP, u64, u64, none, none, reverse64(a))                                 \
    X(clz_32, "clz.b32", OP, u32, u32, none, none, 31 - find32(a))                                 \
    X(clz_64, "clz.b64", OP, u32, u64, none, none, 63 - find64(a))                                 \
    X(popc_32, "popc.b32", OP, u32, u32, none, none, __builtin_popcount(a))                        \
    X(popc_64, "popc.b64", OP, u32, u64, none, none, __builtin_popcountll(a))                      \
    X(fns_32, "fns.b32", SLOW, u32, u32, u32, s32, find_nth(a, b, c))                              \
    X(bmsk_clamp, "bmsk.clamp.b32", OP, u32, u32, u32, none, mask_clamp(a, b))                     \
    X(bmsk_wrap, "bmsk.wrap.b32", OP, u32, u32, u32, none, mask_clamp(a & 31, b & 31))             \
    X(szext_clamp_u, "szext.clamp.u32", OP, u32, u32, u32, none, a & ones32(b))                    \
    X(szext_clamp_s, "szext.clamp.s32", OP, u32, u32, u32, none, extend_s(a, b))                   \
    X(szext_wrap_u, "szext.wrap.u32", OP, u32, u32, u32, none, a & ones32(b & 31))                 \
    X(szext_wrap_s, "szext.wrap.s32", OP, u32, u32, u32, none, extend_s(a, b & 31))

#define PERMUTES(X)                                                                                \
    X(prmt_any, "prmt.b32", OP, u32, u32, u32, u32,                                                \
      permute(a, b, c & 15, c >> 4 & 15, c >> 8 & 15, c >> 12 & 15))                               \
    X(prmt_f4e, "prmt.b32.f4e", OP, u32, u32, u32, u32,                                            \
      permute(a, b, c & 3, (c & 3) + 1, (c & 3) + 2, (c & 3) + 3))                                 \
    X(prmt_b4e, "prmt.b32.b4e", OP, u32, u32, u32, u32,                                            \
      permute(a, b, c & 3, ((c & 3) + 7) & 7, ((c & 3) + 6) & 7, ((c & 3) + 5) & 7))               \
    X(prmt_rc8, "prmt.b32.rc8", OP, u32, u32, u32, u32, permute(a, b, c & 3, c & 3, c & 3, c & 3)) \
    X(prmt_ecl, "prmt.b32.ecl", OP, u32, u32, u32, u32,                                            \
      permute(a, b, c & 3, (c & 3) < 1 ? 1 : c & 3, (c & 3) < 2 ? 2 : c & 3, 3))                   \
    X(prmt_ecr, "prmt.b32.ecr", OP, u32, u32, u32, u32,                                            \
      permute(a, b, 0, (c & 3) > 1 ? 1 : c & 3, (c & 3) > 2 ? 2 : c & 3, c & 3))                   \
    X(prmt_rc16, "prmt.b32.rc16", OP, u32, u32, u32, u32,                                          \
      permute(a, b, (c & 1) * 2, (c & 1) * 2 + 1, (c & 1) * 2, (c & 1) * 2 + 1))

#define SELECTS(X)                                                                                 \
    X(selp_16, "selp.b16", OP, u16, u16, u16, pred, c ? a : b)                                     \
    X(selp_16, "selp.u16", SAME, u16, u16, u16, pred, )                                            \
    X(selp_16, "selp.s16", SAME, u16, u16, u16, pred, )                                            \
    X(selp_32, "selp.b32", OP, u32, u32, u32, pred, c ? a : b)                                     \
    X(selp_32, "selp.u32", SAME, u32, u32, u32, pred, )                                            \
    X(selp_32, "selp.s32", SAME, u32, u32, u32, pred, )                                            \
    X(selp_32, "selp.f32", SAME, u32, u32, u32, pred, )                                            \
    X(selp_64, "selp.b64", OP, u64, u64, u64, pred, c ? a : b)                                     \
    X(selp_64, "selp.u64", SAME, u64, u64, u64, pred, )                                            \
    X(selp_64, "selp.s64", SAME, u64, u64, u64, pred, )                                            \
    X(selp_64, "selp.f64", SAME, u64, u64, u64, pred, )

/* slct looks at the sign of c; a subnormal counts as zero with .ftz, NaN as negative. A family for
 * each width, and its other names. */
#define SLCT(X, width)                                                                             \
    X(slct_s32_##width, "slct.b" #width ".s32", OP, u##width, u##width, u##width, s32,             \
      c >= 0 ? a : b)                                                                              \
    X(slct_f32_##width, "slct.b" #width ".f32", OP, u##width, u##width, u##width, f32,             \
      c >= 0 ? a : b)                                                                              \
    X(slct_ftz_##width, "slct.ftz.b" #width ".f32", OP, u##width, u##width, u##width, f32,         \
      c > -0x1p-126f ? a : b)
#define SLCT_NAMES(X, type, width)                                                                 \
    X(slct_s32_##width, "slct." type ".s32", SAME, u##width, u##width, u##width, s32, )            \
    X(slct_f32_##width, "slct." type ".f32", SAME, u##width, u##width, u##width, f32, )            \
    X(slct_ftz_##width, "slct.ftz." type ".f32", SAME, u##width, u##width, u##width, f32, )
#define SLCTS(X)                                                                                   \
    SLCT(X, 16) SLCT_NAMES(X, "u16", 16) SLCT_NAMES(X, "s16", 16)                                  \
    SLCT(X, 32) SLCT_NAMES(X, "u32", 32) SLCT_NAMES(X, "s32", 32) SLCT_NAMES(X, "f32", 32)         \
    SLCT(X, 64) SLCT_NAMES(X, "u64", 64) SLCT_NAMES(X, "s64", 64) SLCT_NAMES(X, "f64", 64)
/* clang-format on */

#define ALL(X) MOVES(X) LOGIC(X) SHIFTS(X) FIELDS(X) PERMUTES(X) SELECTS(X) SLCTS(X)
ALL(DEFINE)
PUBLISH(bits, ALL(ENTRY))
