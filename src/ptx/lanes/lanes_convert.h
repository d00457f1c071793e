/* SPDX-License-Identifier: MIT
 *
 * lanes_convert: what conversions of all types share: 8-bit registers, the ranges of integers,
 * integers to f64, and floats to integers.
 */
#ifndef QN_LANES_CONVERT_H
#define QN_LANES_CONVERT_H

#include "ptx/lanes/lanes_math.h"

/* 8-bit types in their 16-bit registers. */
#define BITS_u8    16
#define BITS_s8    16
#define READ_u8(p) (u8)((const reg_u16 *)(p))[l]
#define READ_s8(p) (s8)((const reg_u16 *)(p))[l]
typedef u32 work_u8;
typedef s32 work_s8;

/* What a result is stored as: 8-bit values are widened by their sign. */
typedef u16 store_u8;
typedef s16 store_s8;
typedef u16 store_u16;
typedef s16 store_s16;
typedef u32 store_u32;
typedef s32 store_s32;
typedef u64 store_u64;
typedef s64 store_s64;

#define BITS_store_u8  16
#define BITS_store_s8  16
#define BITS_store_u16 16
#define BITS_store_s16 16
#define BITS_store_u32 32
#define BITS_store_s32 32
#define BITS_store_u64 64
#define BITS_store_s64 64

#define LEAST_u8  0
#define LEAST_s8  INT8_MIN
#define LEAST_u16 0
#define LEAST_s16 INT16_MIN
#define LEAST_u32 0
#define LEAST_s32 INT32_MIN
#define LEAST_u64 0
#define LEAST_s64 INT64_MIN
#define MOST_u8   UINT8_MAX
#define MOST_s8   INT8_MAX
#define MOST_u16  UINT16_MAX
#define MOST_s16  INT16_MAX
#define MOST_u32  UINT32_MAX
#define MOST_s32  INT32_MAX
#define MOST_u64  UINT64_MAX
#define MOST_s64  INT64_MAX

/** A 64-bit magnitude as f64, exact or rounded to odd: where it may be too long and any of its low
 * 11 bits is set, those become 0 and the bit above them 1. */
static inline f64 odd_u64(u64 x)
{
    const u64 lost = x & 0x7ff;
    return (f64)(x >> 53 == 0 || lost == 0 ? x : (x & ~(u64)0x7ff) | 0x800);
}

static inline f64 odd_s64(s64 x)
{
    const f64 magnitude = odd_u64(x < 0 ? 0u - (u64)x : (u64)x);
    return x < 0 ? -magnitude : magnitude;
}

static inline f64 whole_f64(f64 x)
{
    return x;
}

/** An integer as f64, exact or rounded to odd. */
#define WIDEN(x) _Generic((x), u64 : odd_u64, s64 : odd_s64, default : whole_f64)(x)

/* The first power of two above D's range, exact in both floating types. */
#define ABOVE_u8  256.0f
#define ABOVE_s8  128.0f
#define ABOVE_u16 65536.0f
#define ABOVE_s16 32768.0f
#define ABOVE_u32 4294967296.0f
#define ABOVE_s32 2147483648.0f
#define ABOVE_u64 18446744073709551616.0f
#define ABOVE_s64 9223372036854775808.0f

/* An integral x of type S that D can hold. A finite f16 fits into 32 bits, which more CPUs have
 * vectors for. */
#define WITHIN_f32(D, x)     (D)(x)
#define WITHIN_ftz_f32(D, x) (D)(x)
#define WITHIN_f64(D, x)     (D)(x)
#define WITHIN_bf16(D, x)    (D)(x)
#define WITHIN_f16(D, x)     (D)(s32)(x)

/** An integral x of type S, or NaN, as D. */
#define INTEGRAL(D, S, x, nan)                                                                     \
    ((x) >= ABOVE_##D        ? (D)MOST_##D                                                         \
     : (x) > (f32)LEAST_##D  ? WITHIN_##S(D, x)                                                    \
     : (x) <= (f32)LEAST_##D ? (D)LEAST_##D                                                        \
                             : (D)(nan))

/* clang-format off */
/** To the integer D from a float that is read as S and named `from`, in four roundings; `nan` is
 * what NaN gives. f is f where the lane's value is an f32. It saturates anyway, so .sat is another
 * name. A family, because there would be 320 rows. */
#define TO_INTEGER(X, D, S, flags, from, f, nan)                                                   \
    X(cvt_rni_##D##_##S, "cvt.rni" flags "." #D "." from, OP, store_##D, S, none, none,            \
      INTEGRAL(D, S, rint##f(a), nan))                                                             \
    X(cvt_rni_##D##_##S, "cvt.rni" flags ".sat." #D "." from, SAME, store_##D, S, none, none, )    \
    X(cvt_rzi_##D##_##S, "cvt.rzi" flags "." #D "." from, OP, store_##D, S, none, none,            \
      INTEGRAL(D, S, trunc##f(a), nan))                                                            \
    X(cvt_rzi_##D##_##S, "cvt.rzi" flags ".sat." #D "." from, SAME, store_##D, S, none, none, )    \
    X(cvt_rmi_##D##_##S, "cvt.rmi" flags "." #D "." from, OP, store_##D, S, none, none,            \
      INTEGRAL(D, S, floor##f(a), nan))                                                            \
    X(cvt_rmi_##D##_##S, "cvt.rmi" flags ".sat." #D "." from, SAME, store_##D, S, none, none, )    \
    X(cvt_rpi_##D##_##S, "cvt.rpi" flags "." #D "." from, OP, store_##D, S, none, none,            \
      INTEGRAL(D, S, ceil##f(a), nan))                                                             \
    X(cvt_rpi_##D##_##S, "cvt.rpi" flags ".sat." #D "." from, SAME, store_##D, S, none, none, )
/* clang-format on */

#endif /* QN_LANES_CONVERT_H */
