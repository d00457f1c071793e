/* SPDX-License-Identifier: MIT
 *
 * lanes_op: how a lane-wise operation is written. Every lanes_<subject>.c holds lists of rows, one
 * for each instruction that PTX can write:
 *
 *     X(id, "name", KIND, D, A, B, C, expression)
 *     X(hi_s32, "mul.hi.s32", OP, u32, s32, s32, none, (s64)a * b >> 32)
 *
 * Read it so: mul.hi.s32 has two sources of type s32 and no third one; each lane computes the
 * expression from its values a and b and stores it as u32; KIND says how the lanes are walked (OP:
 * all at once). A type says how a register is read, so `ftz_f32` is an f32 whose subnormals are
 * read as zeros, and the expression needs no word about it.
 *
 * A list is a macro of X alone. DEFINE in the place of X makes the function of each row, ENTRY its
 * line in the set that lanes_table.c searches. A row of KIND SAME is another name for the function
 * of the same id.
 *
 * Where an instruction comes in variants (types, roundings, flags), a family stands for their rows:
 * a macro of X and what differs, whose body is rows and nothing else. A family never uses another,
 * so what a line of a list makes is read in one place. tests/house/check enforces that.
 *
 * These files are compiled once per CPU level (QN_LEVEL), and their results must not depend on the
 * CPU. Results go through a local array, because a destination may overlap a source in any way.
 */
#ifndef QN_LANES_OP_H
#define QN_LANES_OP_H

#include "ptx/lanes/lanes.h"
#include "ptx/lanes/lanes_set.h"
#include <string.h>

typedef uint8_t u8;
typedef int8_t s8;
typedef uint16_t u16;
typedef int16_t s16;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;
typedef float f32;
typedef double f64;
typedef __int128 s128;
typedef unsigned __int128 u128;

/* Registers are read as whatever type an instruction names. */
#define REGISTER(T) typedef T reg_##T __attribute__((may_alias))
REGISTER(u16);
REGISTER(s16);
REGISTER(u32);
REGISTER(s32);
REGISTER(f32);
REGISTER(u64);
REGISTER(s64);
REGISTER(f64);

#define LANES for (int l = 0; l < QN_LANES; l++)

/* A register type: its bits, what a lane's value is computed in, and how it is read. */
#define BITS_none 0
#define BITS_pred 1
#define BITS_u16  16
#define BITS_s16  16
#define BITS_u32  32
#define BITS_s32  32
#define BITS_f32  32
#define BITS_u64  64
#define BITS_s64  64
#define BITS_f64  64

typedef u32 work_none;
typedef u32 work_pred;
typedef u32 work_u16; /* 16-bit products must not overflow an int */
typedef s32 work_s16;
typedef u32 work_u32;
typedef s32 work_s32;
typedef f32 work_f32;
typedef u64 work_u64;
typedef s64 work_s64;
typedef f64 work_f64;

#define READ_none(p) ((void)(p), 0)
#define READ_pred(p) (*(const reg_u32 *)(p) >> l & 1)
#define READ_u16(p)  ((const reg_u16 *)(p))[l]
#define READ_s16(p)  ((const reg_s16 *)(p))[l]
#define READ_u32(p)  ((const reg_u32 *)(p))[l]
#define READ_s32(p)  ((const reg_s32 *)(p))[l]
#define READ_f32(p)  ((const reg_f32 *)(p))[l]
#define READ_u64(p)  ((const reg_u64 *)(p))[l]
#define READ_s64(p)  ((const reg_s64 *)(p))[l]
#define READ_f64(p)  ((const reg_f64 *)(p))[l]

#define SOURCES(A, B, C)                                                                           \
    const work_##A a = READ_##A(ap);                                                               \
    const work_##B b = READ_##B(bp);                                                               \
    const work_##C c = READ_##C(cp);                                                               \
    (void)a, (void)b, (void)c

#define LANE_FUNCTION(id)                                                                          \
    static void id(void *dp, const void *ap, const void *bp, const void *cp, u32 mask, u32 *carry)
#define NO_CARRY (void)carry

/* ---- writing results ------------------------------------------------------------------------ */

/* Each level has its own copies: a shared inline function could be taken from the wrong level. */
static inline void blend16(reg_u16 *restrict d, const reg_u16 *restrict r, u32 mask)
{
    LANES d[l] = mask >> l & 1 ? r[l] : d[l];
}

static inline void blend32(reg_u32 *restrict d, const reg_u32 *restrict r, u32 mask)
{
    LANES d[l] = mask >> l & 1 ? r[l] : d[l];
}

static inline void blend64(reg_u64 *restrict d, const reg_u64 *restrict r, u32 mask)
{
    LANES d[l] = mask >> l & 1 ? r[l] : d[l];
}

static __attribute__((noinline, unused)) void blend(void *d, const void *r, size_t bytes, u32 mask)
{
    switch (bytes / QN_LANES) {
    case 2:
        blend16(d, r, mask);
        break;
    case 4:
        blend32(d, r, mask);
        break;
    default:
        blend64(d, r, mask);
        break;
    }
}

/** Write a lane-wise result of `bytes` (all lanes) where `mask` says. */
static inline void put(void *d, const void *r, size_t bytes, u32 mask)
{
    if (mask == 0xffffffffu) {
        memcpy(d, r, bytes);
    } else {
        blend(d, r, bytes, mask);
    }
}

static inline void put_pred(void *d, u32 bits, u32 mask)
{
    u32 old;
    memcpy(&old, d, sizeof old);
    old = (old & ~mask) | (bits & mask);
    memcpy(d, &old, sizeof old);
}

/* ---- kinds of rows -------------------------------------------------------------------------- */

/** All lanes at once; the compiler vectorises it. */
#define OP(id, D, A, B, C, expression)                                                             \
    LANE_FUNCTION(id)                                                                              \
    {                                                                                              \
        D r[QN_LANES];                                                                             \
        NO_CARRY;                                                                                  \
        LANES                                                                                      \
        {                                                                                          \
            SOURCES(A, B, C);                                                                      \
            r[l] = (D)(expression);                                                                \
        }                                                                                          \
        put(dp, r, sizeof r, mask);                                                                \
    }

/** As OP on f32 with .ftz. The expression computes the exact value only when `exact` is set, which
 * is when some result is the least normal number. A separate loop looks for that, because compilers
 * vectorise two loops, but not one that does both. */
#define OP_FTZ(id, D, A, B, C, expression)                                                         \
    LANE_FUNCTION(id)                                                                              \
    {                                                                                              \
        D r[QN_LANES];                                                                             \
        u32 least = 0;                                                                             \
        NO_CARRY;                                                                                  \
        LANES                                                                                      \
        {                                                                                          \
            const bool exact = false;                                                              \
            SOURCES(A, B, C);                                                                      \
            r[l] = (D)(expression);                                                                \
        }                                                                                          \
        LANES least |= fabsf(r[l]) == 0x1p-126f;                                                   \
        for (int l = 0; least != 0 && l < QN_LANES; l++) {                                         \
            const bool exact = true;                                                               \
            SOURCES(A, B, C);                                                                      \
            r[l] = (D)(expression);                                                                \
        }                                                                                          \
        put(dp, r, sizeof r, mask);                                                                \
    }

/** Lane by lane over the mask, for what does not vectorise. */
#define SLOW(id, D, A, B, C, expression)                                                           \
    LANE_FUNCTION(id)                                                                              \
    {                                                                                              \
        D r[QN_LANES] = {0};                                                                       \
        NO_CARRY;                                                                                  \
        for (u32 rest = mask; rest != 0; rest &= rest - 1) {                                       \
            const int l = __builtin_ctz(rest);                                                     \
            SOURCES(A, B, C);                                                                      \
            r[l] = (D)(expression);                                                                \
        }                                                                                          \
        put(dp, r, sizeof r, mask);                                                                \
    }

/** Four sources: c and e come through a qn_lane_more; e is 32 bits wide. */
#define OP4(id, D, A, B, C, expression)                                                            \
    LANE_FUNCTION(id)                                                                              \
    {                                                                                              \
        D r[QN_LANES];                                                                             \
        const reg_u32 *ep = ((const qn_lane_more *)cp)->d;                                         \
        NO_CARRY;                                                                                  \
        cp = ((const qn_lane_more *)cp)->c;                                                        \
        LANES                                                                                      \
        {                                                                                          \
            SOURCES(A, B, C);                                                                      \
            const u32 e = ep[l];                                                                   \
            r[l] = (D)(expression);                                                                \
        }                                                                                          \
        put(dp, r, sizeof r, mask);                                                                \
    }

/** A predicate: the lanes for which the expression is not zero. */
#define TEST(id, D, A, B, C, expression)                                                           \
    LANE_FUNCTION(id)                                                                              \
    {                                                                                              \
        u32 bits = 0;                                                                              \
        NO_CARRY;                                                                                  \
        LANES                                                                                      \
        {                                                                                          \
            SOURCES(A, B, C);                                                                      \
            bits |= (u32)((expression) != 0) << l;                                                 \
        }                                                                                          \
        put_pred(dp, bits, mask);                                                                  \
    }

/** Predicates: a, b and c are whole words of bits. */
#define BITWORD(id, D, A, B, C, expression)                                                        \
    LANE_FUNCTION(id)                                                                              \
    {                                                                                              \
        const u32 a = *(const reg_u32 *)ap;                                                        \
        const u32 b = BITS_##B != 0 ? *(const reg_u32 *)bp : 0;                                    \
        (void)b, (void)cp;                                                                         \
        NO_CARRY;                                                                                  \
        put_pred(dp, expression, mask);                                                            \
    }

/** Reads the condition code as `cin`; CC also writes it from `cout`, which the expression sets. */
#define CARRY_LOOP(D, A, B, C, expression)                                                         \
    D r[QN_LANES];                                                                                 \
    const u32 in = *carry;                                                                         \
    u32 out = 0;                                                                                   \
    LANES                                                                                          \
    {                                                                                              \
        SOURCES(A, B, C);                                                                          \
        const u32 cin = in >> l & 1;                                                               \
        u32 cout = 0;                                                                              \
        (void)cin;                                                                                 \
        r[l] = (D)(expression);                                                                    \
        out |= cout << l;                                                                          \
    }                                                                                              \
    put(dp, r, sizeof r, mask)
#define CIN(id, D, A, B, C, expression)                                                            \
    LANE_FUNCTION(id)                                                                              \
    {                                                                                              \
        CARRY_LOOP(D, A, B, C, expression);                                                        \
        (void)out;                                                                                 \
    }
#define CC(id, D, A, B, C, expression)                                                             \
    LANE_FUNCTION(id)                                                                              \
    {                                                                                              \
        CARRY_LOOP(D, A, B, C, expression);                                                        \
        put_pred(carry, out, mask);                                                                \
    }

/** Another name of the function of an earlier row. */
#define SAME(id, D, A, B, C, expression)

#define FOURTH_OP      false
#define FOURTH_OP_FTZ  false
#define FOURTH_SLOW    false
#define FOURTH_OP4     true
#define FOURTH_TEST    false
#define FOURTH_BITWORD false
#define FOURTH_CIN     false
#define FOURTH_CC      false
#define FOURTH_SAME    false

/* The detour lets a row's types and kind be macros themselves. */
#define DEFINE(...)                              DEFINE_(__VA_ARGS__)
#define ENTRY(...)                               ENTRY_(__VA_ARGS__)
#define DEFINE_(id, name, KIND, D, A, B, C, ...) KIND(id, D, A, B, C, (__VA_ARGS__))
#define ENTRY_(id, name, KIND, D, A, B, C, ...)                                                    \
    {name, id, BITS_##D, BITS_##A, BITS_##B, BITS_##C, NULL, FOURTH_##KIND},

/** The set of a file: all its rows, under the name of this level. */
#define PUBLISH(subject, ...)                                                                      \
    static const qn_lane_form forms[] = {__VA_ARGS__};                                             \
    const qn_lane_set QN_LANE_SET(subject, QN_LEVEL) = {forms, QN_COUNT(forms)};

#endif /* QN_LANES_OP_H */
