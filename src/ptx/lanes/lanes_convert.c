/* SPDX-License-Identifier: MIT
 *
 * cvt between integers, f32 and f64. Registers of 8-bit types are 16 bits wide here and only their
 * low byte counts. Floating to integer saturates; NaN gives zero, or the top bit where the
 * source is f64 or the destination 64 bits wide.
 */
#include "ptx/lanes/lanes_convert.h"

/* ---- from integers -------------------------------------------------------------------------- */

static inline s64 saturate(s64 x, s64 least, s64 most)
{
    return x < least ? least : x > most ? most : x;
}

static inline s64 whole_u64(u64 x)
{
    return x > INT64_MAX ? INT64_MAX : (s64)x;
}

static inline s64 whole_s64(s64 x)
{
    return x;
}

/* An integer as s64. Only u64 does not fit; what is cut off would saturate anyway. */
#define WHOLE(x) _Generic((x), u64 : whole_u64, default : whole_s64)(x)

/* An integer to f64 that may not hold it: compare it with the nearest f64, in integers. Adding 1 to
 * the bits of an f64 is a step away from zero, subtracting 1 a step towards it. */
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
/* From S to every type. A family, because there would be 192 rows. */
#define FROM_INTEGER(X, S)                                                                         \
    X(cvt_u8_##S, "cvt.u8." #S, OP, store_u8, S, none, none, (u8)a)                                \
    X(cvt_s8_##S, "cvt.s8." #S, OP, store_s8, S, none, none, (s8)a)                                \
    X(cvt_u16_##S, "cvt.u16." #S, OP, store_u16, S, none, none, (u16)a)                            \
    X(cvt_s16_##S, "cvt.s16." #S, OP, store_s16, S, none, none, (s16)a)                            \
    X(cvt_u32_##S, "cvt.u32." #S, OP, store_u32, S, none, none, (u32)a)                            \
    X(cvt_s32_##S, "cvt.s32." #S, OP, store_s32, S, none, none, (s32)a)                            \
    X(cvt_u64_##S, "cvt.u64." #S, OP, store_u64, S, none, none, (u64)a)                            \
    X(cvt_s64_##S, "cvt.s64." #S, OP, store_s64, S, none, none, (s64)a)                            \
    X(cvt_sat_u8_##S, "cvt.sat.u8." #S, OP, store_u8, S, none, none,                               \
      saturate(WHOLE(a), 0, UINT8_MAX))                                                            \
    X(cvt_sat_s8_##S, "cvt.sat.s8." #S, OP, store_s8, S, none, none,                               \
      saturate(WHOLE(a), INT8_MIN, INT8_MAX))                                                      \
    X(cvt_sat_u16_##S, "cvt.sat.u16." #S, OP, store_u16, S, none, none,                            \
      saturate(WHOLE(a), 0, UINT16_MAX))                                                           \
    X(cvt_sat_s16_##S, "cvt.sat.s16." #S, OP, store_s16, S, none, none,                            \
      saturate(WHOLE(a), INT16_MIN, INT16_MAX))                                                    \
    X(cvt_sat_u32_##S, "cvt.sat.u32." #S, OP, store_u32, S, none, none,                            \
      saturate(WHOLE(a), 0, UINT32_MAX))                                                           \
    X(cvt_sat_s32_##S, "cvt.sat.s32." #S, OP, store_s32, S, none, none,                            \
      saturate(WHOLE(a), INT32_MIN, INT32_MAX))                                                    \
    X(cvt_sat_u64_##S, "cvt.sat.u64." #S, OP, store_u64, S, none, none, a > 0 ? a : 0)             \
    X(cvt_sat_s64_##S, "cvt.sat.s64." #S, OP, store_s64, S, none, none, WHOLE(a))                  \
    X(cvt_rn_f32_##S, "cvt.rn.f32." #S, OP, f32, S, none, none, (f32)a)                            \
    X(cvt_rz_f32_##S, "cvt.rz.f32." #S, OP, f32, S, none, none, round32(WIDEN(a), TO_ZERO))        \
    X(cvt_rm_f32_##S, "cvt.rm.f32." #S, OP, f32, S, none, none, round32(WIDEN(a), DOWN))           \
    X(cvt_rp_f32_##S, "cvt.rp.f32." #S, OP, f32, S, none, none, round32(WIDEN(a), UP))             \
    X(cvt_rn_f64_##S, "cvt.rn.f64." #S, OP, f64, S, none, none, (f64)a)                            \
    X(cvt_rz_f64_##S, "cvt.rz.f64." #S, SLOW, f64, S, none, none, int_to64(a, TO_ZERO))            \
    X(cvt_rm_f64_##S, "cvt.rm.f64." #S, SLOW, f64, S, none, none, int_to64(a, DOWN))               \
    X(cvt_rp_f64_##S, "cvt.rp.f64." #S, SLOW, f64, S, none, none, int_to64(a, UP))

#define INTEGERS(X)                                                                                \
    FROM_INTEGER(X, u8)                                                                            \
    FROM_INTEGER(X, s8)                                                                            \
    FROM_INTEGER(X, u16)                                                                           \
    FROM_INTEGER(X, s16)                                                                           \
    FROM_INTEGER(X, u32)                                                                           \
    FROM_INTEGER(X, s32)                                                                           \
    FROM_INTEGER(X, u64)                                                                           \
    FROM_INTEGER(X, s64)

/* ---- to integers ---------------------------------------------------------------------------- */

/* NaN gives 0, or the top bit of the destination where one of the two has 64 bits. */
#define TO_INTEGERS(X)                                                                             \
    TO_INTEGER(X, u8, f32, "", "f32", f, 0)                                                        \
    TO_INTEGER(X, s8, f32, "", "f32", f, 0)                                                        \
    TO_INTEGER(X, u16, f32, "", "f32", f, 0)                                                       \
    TO_INTEGER(X, s16, f32, "", "f32", f, 0)                                                       \
    TO_INTEGER(X, u32, f32, "", "f32", f, 0)                                                       \
    TO_INTEGER(X, s32, f32, "", "f32", f, 0)                                                       \
    TO_INTEGER(X, u64, f32, "", "f32", f, SIGN64)                                                  \
    TO_INTEGER(X, s64, f32, "", "f32", f, SIGN64)                                                  \
    TO_INTEGER(X, u8, ftz_f32, ".ftz", "f32", f, 0)                                                \
    TO_INTEGER(X, s8, ftz_f32, ".ftz", "f32", f, 0)                                                \
    TO_INTEGER(X, u16, ftz_f32, ".ftz", "f32", f, 0)                                               \
    TO_INTEGER(X, s16, ftz_f32, ".ftz", "f32", f, 0)                                               \
    TO_INTEGER(X, u32, ftz_f32, ".ftz", "f32", f, 0)                                               \
    TO_INTEGER(X, s32, ftz_f32, ".ftz", "f32", f, 0)                                               \
    TO_INTEGER(X, u64, ftz_f32, ".ftz", "f32", f, SIGN64)                                          \
    TO_INTEGER(X, s64, ftz_f32, ".ftz", "f32", f, SIGN64)                                          \
    TO_INTEGER(X, u8, f64, "", "f64", , 0x80)                                                      \
    TO_INTEGER(X, s8, f64, "", "f64", , 0x80)                                                      \
    TO_INTEGER(X, u16, f64, "", "f64", , 0x8000)                                                   \
    TO_INTEGER(X, s16, f64, "", "f64", , 0x8000)                                                   \
    TO_INTEGER(X, u32, f64, "", "f64", , SIGN32)                                                   \
    TO_INTEGER(X, s32, f64, "", "f64", , SIGN32)                                                   \
    TO_INTEGER(X, u64, f64, "", "f64", , SIGN64)                                                   \
    TO_INTEGER(X, s64, f64, "", "f64", , SIGN64)

/* ---- floating to floating ------------------------------------------------------------------- */

/* From f64 to f32, or to an integral f32, in one rounding, with all flags. */
#define F32_OF_F64(X, id, name, mode)                                                              \
    X(cvt_##id, "cvt" name ".f32.f64", OP, f32, f64, none, none, round32(a, mode))                 \
    X(cvt_sat_##id, "cvt" name ".sat.f32.f64", OP, f32, f64, none, none,                           \
      clamp_unit32(round32(a, mode), 1))                                                           \
    X(cvt_ftz_##id, "cvt" name ".ftz.f32.f64", OP, f32, f64, none, none,                           \
      flush_exact32(round32(a, mode), a, mode))                                                    \
    X(cvt_ftz_sat_##id, "cvt" name ".ftz.sat.f32.f64", OP, f32, f64, none, none,                   \
      clamp_unit32(flush_exact32(round32(a, mode), a, mode), 1))
#define INTEGRAL_F32(X, id, name, value)                                                           \
    X(cvt_##id##_32, "cvt" name ".f32.f32", OP, f32, f32, none, none, canonical32(value))          \
    X(cvt_sat_##id##_32, "cvt" name ".sat.f32.f32", OP, f32, f32, none, none,                      \
      clamp_unit32(value, 1))                                                                      \
    X(cvt_ftz_##id##_32, "cvt" name ".ftz.f32.f32", OP, f32, ftz_f32, none, none,                  \
      canonical32(value))                                                                          \
    X(cvt_ftz_sat_##id##_32, "cvt" name ".ftz.sat.f32.f32", OP, f32, ftz_f32, none, none,          \
      clamp_unit32(value, 1))

#define FLOATS(X)                                                                                  \
    F32_OF_F64(X, rn_32_64, ".rn", TO_NEAREST)                                                     \
    F32_OF_F64(X, rz_32_64, ".rz", TO_ZERO)                                                        \
    F32_OF_F64(X, rm_32_64, ".rm", DOWN)                                                           \
    F32_OF_F64(X, rp_32_64, ".rp", UP)                                                             \
    X(cvt_32_32, "cvt.f32.f32", OP, u32, u32, none, none, a)                                       \
    X(cvt_sat_32_32, "cvt.sat.f32.f32", OP, f32, f32, none, none, clamp_unit32(a, 1))              \
    X(cvt_ftz_32_32, "cvt.ftz.f32.f32", OP, f32, ftz_f32, none, none, canonical32(a))              \
    X(cvt_ftz_sat_32_32, "cvt.ftz.sat.f32.f32", OP, f32, ftz_f32, none, none, clamp_unit32(a, 1))  \
    INTEGRAL_F32(X, rni, ".rni", rintf(a))                                                         \
    INTEGRAL_F32(X, rzi, ".rzi", truncf(a))                                                        \
    INTEGRAL_F32(X, rmi, ".rmi", floorf(a))                                                        \
    INTEGRAL_F32(X, rpi, ".rpi", ceilf(a))                                                         \
    X(cvt_64_32, "cvt.f64.f32", OP, f64, f32, none, none, quiet64(a))                              \
    X(cvt_sat_64_32, "cvt.sat.f64.f32", OP, f64, f32, none, none, clamp_unit64(a, 1))              \
    X(cvt_ftz_64_32, "cvt.ftz.f64.f32", OP, f64, ftz_f32, none, none, canonical32(a))              \
    X(cvt_ftz_sat_64_32, "cvt.ftz.sat.f64.f32", OP, f64, ftz_f32, none, none, clamp_unit64(a, 1))  \
    X(cvt_64_64, "cvt.f64.f64", OP, u64, u64, none, none, a)                                       \
    X(cvt_sat_64_64, "cvt.sat.f64.f64", OP, f64, f64, none, none, clamp_unit64(a, 1))              \
    X(cvt_rni_64, "cvt.rni.f64.f64", OP, f64, f64, none, none, quiet64(rint(a)))                   \
    X(cvt_sat_rni_64, "cvt.rni.sat.f64.f64", OP, f64, f64, none, none, clamp_unit64(rint(a), 1))   \
    X(cvt_rzi_64, "cvt.rzi.f64.f64", OP, f64, f64, none, none, quiet64(trunc(a)))                  \
    X(cvt_sat_rzi_64, "cvt.rzi.sat.f64.f64", OP, f64, f64, none, none, clamp_unit64(trunc(a), 1))  \
    X(cvt_rmi_64, "cvt.rmi.f64.f64", OP, f64, f64, none, none, quiet64(floor(a)))                  \
    X(cvt_sat_rmi_64, "cvt.rmi.sat.f64.f64", OP, f64, f64, none, none, clamp_unit64(floor(a), 1))  \
    X(cvt_rpi_64, "cvt.rpi.f64.f64", OP, f64, f64, none, none, quiet64(ceil(a)))                   \
    X(cvt_sat_rpi_64, "cvt.rpi.sat.f64.f64", OP, f64, f64, none, none, clamp_unit64(ceil(a), 1))
/* clang-format on */

#define ALL(X) INTEGERS(X) TO_INTEGERS(X) FLOATS(X)
ALL(DEFINE)
PUBLISH(convert, ALL(ENTRY))
