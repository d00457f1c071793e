/* SPDX-License-Identifier: MIT
 *
 * cvt between integers, f32 and f64. Registers of 8-bit types are 16 bits wide here and only their
 * low byte counts. Floating to integer saturates; NaN gives zero, or the top bit where the
 * source is f64 or the destination 64 bits wide.
 */
#include "ptx/lanes/lanes_convert.h"

/* ---- integer to integer --------------------------------------------------------------------- */

static inline s64 saturate(s64 x, s64 least, s64 most)
{
    return x < least ? least : x > most ? most : x;
}

static inline s64 whole_u64(u64 x)
{
    return x > INT64_MAX ? INT64_MAX : (s64)x;
}

/* A source as s64. Only u64 does not fit; what is cut off would saturate anyway. */
#define WHOLE_u8(x)       (x)
#define WHOLE_s8(x)       (x)
#define WHOLE_u16(x)      (x)
#define WHOLE_s16(x)      (x)
#define WHOLE_u32(x)      (x)
#define WHOLE_s32(x)      (x)
#define WHOLE_u64(x)      whole_u64(x)
#define WHOLE_s64(x)      (x)
#define SATURATE(D, S, x) saturate(WHOLE_##S(x), LEAST_##D, MOST_##D)

/* clang-format off */
#define INT_PAIR(X, D, S)                                                                          \
    X(cvt_##D##_##S, "cvt." #D "." #S, OP, store_##D, S, none, none, (D)a)                         \
    X(cvt_sat_##D##_##S, "cvt.sat." #D "." #S, OP, store_##D, S, none, none, SATURATE_##D(D, S))
#define SATURATE_u8(D, S)  SATURATE(D, S, a)
#define SATURATE_s8(D, S)  SATURATE(D, S, a)
#define SATURATE_u16(D, S) SATURATE(D, S, a)
#define SATURATE_s16(D, S) SATURATE(D, S, a)
#define SATURATE_u32(D, S) SATURATE(D, S, a)
#define SATURATE_s32(D, S) SATURATE(D, S, a)
#define SATURATE_s64(D, S) SATURATE(D, S, a)
#define SATURATE_u64(D, S) TO_U64_##S(a)
#define TO_U64_u8(x)       (x)
#define TO_U64_s8(x)       ((x) < 0 ? 0 : (x))
#define TO_U64_u16(x)      (x)
#define TO_U64_s16(x)      ((x) < 0 ? 0 : (x))
#define TO_U64_u32(x)      (x)
#define TO_U64_s32(x)      ((x) < 0 ? 0 : (x))
#define TO_U64_u64(x)      (x)
#define TO_U64_s64(x)      ((x) < 0 ? 0 : (x))
#define INTEGERS(X)                                                                                \
    TO_INTS(X, INT_PAIR, u8) TO_INTS(X, INT_PAIR, s8)                                              \
    TO_INTS(X, INT_PAIR, u16) TO_INTS(X, INT_PAIR, s16)                                            \
    TO_INTS(X, INT_PAIR, u32) TO_INTS(X, INT_PAIR, s32)                                            \
    TO_INTS(X, INT_PAIR, u64) TO_INTS(X, INT_PAIR, s64)
/* clang-format on */

/* ---- integer to floating -------------------------------------------------------------------- */

/** An integer to f64 where it does not fit: compare the nearest with it, in integers. */
static inline f64 int_to64(s128 x, int mode)
{
    const f64 nearest = (f64)x;
    const s128 back = (s128)nearest;
    const u64 u = bits64(nearest);
    const bool negative = x < 0;
    const bool outward_wanted =
        mode == UP ? back < x && !negative : back > x && negative && mode == DOWN;
    const bool beyond = negative ? back < x : back > x;
    const bool inward_wanted = beyond && (mode == TO_ZERO || (mode == UP ? negative : !negative));
    return mode == TO_NEAREST ? nearest
                              : from64(outward_wanted  ? u + 1
                                       : inward_wanted ? u - 1
                                                       : u);
}

/* clang-format off */
#define INT_TO_F32(X, D, S)                                                                        \
    X(cvt_rn_f32_##S, "cvt.rn.f32." #S, OP, f32, S, none, none, (f32)a)                            \
    X(cvt_rz_f32_##S, "cvt.rz.f32." #S, OP, f32, S, none, none, round32(WIDEN_##S(a), TO_ZERO))    \
    X(cvt_rm_f32_##S, "cvt.rm.f32." #S, OP, f32, S, none, none, round32(WIDEN_##S(a), DOWN))       \
    X(cvt_rp_f32_##S, "cvt.rp.f32." #S, OP, f32, S, none, none, round32(WIDEN_##S(a), UP))
#define INT_TO_F64(X, D, S)                                                                        \
    X(cvt_rn_f64_##S, "cvt.rn.f64." #S, OP, f64, S, none, none, (f64)a)                            \
    X(cvt_rz_f64_##S, "cvt.rz.f64." #S, SLOW, f64, S, none, none, int_to64(a, TO_ZERO))            \
    X(cvt_rm_f64_##S, "cvt.rm.f64." #S, SLOW, f64, S, none, none, int_to64(a, DOWN))               \
    X(cvt_rp_f64_##S, "cvt.rp.f64." #S, SLOW, f64, S, none, none, int_to64(a, UP))
#define TO_FLOATS(X) FROM_INTS(X, INT_TO_F32, f32) FROM_INTS(X, INT_TO_F64, f64)
/* clang-format on */

/* ---- floating to integer -------------------------------------------------------------------- */

/* NaN of f64 gives the top bit in every type. */
#define NAN_f64_u8  0x80
#define NAN_f64_s8  0x80
#define NAN_f64_u16 0x8000
#define NAN_f64_s16 0x8000
#define NAN_f64_u32 SIGN32
#define NAN_f64_s32 SIGN32
#define NAN_f64_u64 SIGN64
#define NAN_f64_s64 SIGN64

/* clang-format off */
#define TO_INT_ROW(X, id, name, D, S, value)                                                       \
    X(cvt_##id##_##D##_##S, "cvt." name "." #D "." #S, OP, store_##D, S, none, none,               \
      INTEGRAL(D, value, NAN_##S##_##D))                                                           \
    X(cvt_##id##_##D##_##S, "cvt." name ".sat." #D "." #S, SAME, store_##D, S, none, none, )
#define F32_TO_INT(X, D, S)                                                                        \
    TO_INT_ROW(X, rni, "rni", D, f32, rintf(a))                                                    \
    TO_INT_ROW(X, rzi, "rzi", D, f32, truncf(a))                                                   \
    TO_INT_ROW(X, rmi, "rmi", D, f32, floorf(a))                                                   \
    TO_INT_ROW(X, rpi, "rpi", D, f32, ceilf(a))                                                    \
    TO_INT_ROW(X, rni_ftz, "rni.ftz", D, f32, rintf(flush32(a, 1)))                                \
    TO_INT_ROW(X, rzi_ftz, "rzi.ftz", D, f32, truncf(flush32(a, 1)))                               \
    TO_INT_ROW(X, rmi_ftz, "rmi.ftz", D, f32, floorf(flush32(a, 1)))                               \
    TO_INT_ROW(X, rpi_ftz, "rpi.ftz", D, f32, ceilf(flush32(a, 1)))
#define F64_TO_INT(X, D, S)                                                                        \
    TO_INT_ROW(X, rni, "rni", D, f64, rint(a))                                                     \
    TO_INT_ROW(X, rzi, "rzi", D, f64, trunc(a))                                                    \
    TO_INT_ROW(X, rmi, "rmi", D, f64, floor(a))                                                    \
    TO_INT_ROW(X, rpi, "rpi", D, f64, ceil(a))
#define FROM_FLOATS(X) TO_INTS(X, F32_TO_INT, f32) TO_INTS(X, F64_TO_INT, f64)

/* ---- floating to floating ------------------------------------------------------------------- */

#define F32_ROW(X, id, name, S, value, ftz)                                                        \
    X(cvt_##id, "cvt" name ".f32." #S, OP, f32, S, none, none, result32(value, ftz, 0))            \
    X(cvt_sat_##id, "cvt" name ".sat.f32." #S, OP, f32, S, none, none, result32(value, ftz, 1))
#define F32_OF_F64(X, id, name, mode)                                                              \
    X(cvt_##id, "cvt" name ".f32.f64", OP, f32, f64, none, none, round32(a, mode))                 \
    X(cvt_sat_##id, "cvt" name ".sat.f32.f64", OP, f32, f64, none, none,                           \
      clamp_unit32(round32(a, mode), 1))                                                           \
    X(cvt_ftz_##id, "cvt" name ".ftz.f32.f64", OP, f32, f64, none, none,                           \
      flush_exact32(round32(a, mode), a, mode))                                                          \
    X(cvt_ftz_sat_##id, "cvt" name ".ftz.sat.f32.f64", OP, f32, f64, none, none,                   \
      clamp_unit32(flush_exact32(round32(a, mode), a, mode), 1))
#define F32_INTEGRAL(X, id, name, function)                                                        \
    F32_ROW(X, id, name, f32, function(a), 0)                                                      \
    F32_ROW(X, id##_ftz, name ".ftz", f32, function(flush32(a, 1)), 1)
#define F64_ROW(X, id, name, S, value)                                                             \
    X(cvt_##id, "cvt" name ".f64." #S, OP, f64, S, none, none, quiet64(value))                 \
    X(cvt_sat_##id, "cvt" name ".sat.f64." #S, OP, f64, S, none, none, clamp_unit64(value, 1))
#define FLOATS(X)                                                                                  \
    F32_OF_F64(X, rn_32_64, ".rn", TO_NEAREST)                                      \
    F32_OF_F64(X, rz_32_64, ".rz", TO_ZERO)                                         \
    F32_OF_F64(X, rm_32_64, ".rm", DOWN)                                            \
    F32_OF_F64(X, rp_32_64, ".rp", UP)                                              \
    X(cvt_32_32, "cvt.f32.f32", OP, u32, u32, none, none, a)                                       \
    X(cvt_sat_32_32, "cvt.sat.f32.f32", OP, f32, f32, none, none, clamp_unit32(a, 1))              \
    F32_ROW(X, 32_32_ftz, ".ftz", f32, a, 1)                                                       \
    F32_INTEGRAL(X, rni_32, ".rni", rintf)                                                         \
    F32_INTEGRAL(X, rzi_32, ".rzi", truncf)                                                        \
    F32_INTEGRAL(X, rmi_32, ".rmi", floorf)                                                        \
    F32_INTEGRAL(X, rpi_32, ".rpi", ceilf)                                                         \
    F64_ROW(X, 64_32, "", f32, a)                                                                  \
    F64_ROW(X, 64_32_ftz, ".ftz", f32, canonical32(flush32(a, 1))) \
    X(cvt_64_64, "cvt.f64.f64", OP, u64, u64, none, none, a) \
    X(cvt_sat_64_64, "cvt.sat.f64.f64", OP, f64, f64, none, none, clamp_unit64(a, 1)) \
    F64_ROW(X, rni_64, ".rni", f64, rint(a))                                                       \
    F64_ROW(X, rzi_64, ".rzi", f64, trunc(a))                                                      \
    F64_ROW(X, rmi_64, ".rmi", f64, floor(a))                                                      \
    F64_ROW(X, rpi_64, ".rpi", f64, ceil(a))
/* clang-format on */

#define ALL(X) INTEGERS(X) TO_FLOATS(X) FROM_FLOATS(X) FLOATS(X)
ALL(DEFINE)
PUBLISH(convert, ALL(ENTRY))
