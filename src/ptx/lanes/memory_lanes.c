/* SPDX-License-Identifier: MIT
 *
 * Addresses and elements of 32 lanes. This file is built once for each CPU level, as the lanes_*.c
 * are; QN_LEVEL names the build. In: a register of addresses and a mask; out: the addresses with
 * what is known of them (least, greatest, stride), and loads and stores of one element per lane.
 * Nothing is checked here: memory_check.c has done so before an element function is called.
 *
 * Lanes that are neighbours in memory are the common case, so a constant stride is found first.
 */
#include "ptx/lanes/levels.h"
#include "ptx/run/run.h"

#include <string.h>

#ifndef QN_LEVEL
#error "memory_lanes.c is built with QN_LEVEL set to the name of a CPU level"
#endif

/* Inactive lanes get the address of an active one, so that nothing after this needs the mask. */
static inline void fill(qn_addresses *out, uint32_t mask)
{
    uint64_t *at = out->at;
    const uint64_t some = at[__builtin_ctz(mask)];
    for (int lane = 0; lane < QN_LANES; lane++) {
        at[lane] = mask >> lane & 1 ? at[lane] : some;
    }
    uint64_t low = some, high = some, bits = some;
    for (int lane = 0; lane < QN_LANES; lane++) {
        low = at[lane] < low ? at[lane] : low;
        high = at[lane] > high ? at[lane] : high;
        bits |= at[lane];
    }
    out->strided = false;
    out->low = low;
    out->high = high;
    out->bits = bits;
}

/* Addresses of registers of either width. Whether the stride is constant is asked of each address
 * by itself, in the loop that makes them: a second loop over what was just stored would wait for
 * it. */
#define ADDRESSES(bits_)                                                                           \
    static void addresses##bits_(qn_addresses *restrict out, const uint##bits_##_t *restrict base, \
                                 int64_t offset, uint32_t mask)                                    \
    {                                                                                              \
        const uint##bits_##_t more = (uint##bits_##_t)offset;                                      \
        const uint64_t first = (uint##bits_##_t)(base[0] + more);                                  \
        const uint64_t stride = (uint##bits_##_t)(base[1] + more) - first;                         \
        uint64_t different = 0;                                                                    \
        for (int lane = 0; lane < QN_LANES; lane++) {                                              \
            const uint64_t at = (uint##bits_##_t)(base[lane] + more);                              \
            different |= at ^ (first + (uint64_t)lane * stride);                                   \
            out->at[lane] = at;                                                                    \
        }                                                                                          \
        /* only if no address wraps: then the first is the least and the last the greatest. Any    \
         * bit in which an address is not aligned shows in the first or in the stride. */          \
        const uint64_t last = first + (QN_LANES - 1) * stride;                                     \
        if (mask == QN_ALL_LANES && different == 0 && stride <= UINT64_MAX / QN_LANES &&           \
            last >= first) {                                                                       \
            out->strided = true;                                                                   \
            out->stride = (int64_t)stride;                                                         \
            out->low = first;                                                                      \
            out->high = last;                                                                      \
            out->bits = first | stride;                                                            \
            return;                                                                                \
        }                                                                                          \
        fill(out, mask);                                                                           \
    }
ADDRESSES(64)
ADDRESSES(32)

/* memory type, register type, names */
#define ELEMENTS(X)                                                                                \
    X(uint8_t, uint16_t, 8, false, 16)                                                             \
    X(uint8_t, uint32_t, 8, false, 32)                                                             \
    X(uint8_t, uint64_t, 8, false, 64)                                                             \
    X(int8_t, uint16_t, 8, true, 16)                                                               \
    X(int8_t, uint32_t, 8, true, 32)                                                               \
    X(int8_t, uint64_t, 8, true, 64)                                                               \
    X(uint16_t, uint16_t, 16, false, 16)                                                           \
    X(uint16_t, uint32_t, 16, false, 32)                                                           \
    X(uint16_t, uint64_t, 16, false, 64)                                                           \
    X(int16_t, uint16_t, 16, true, 16)                                                             \
    X(int16_t, uint32_t, 16, true, 32)                                                             \
    X(int16_t, uint64_t, 16, true, 64)                                                             \
    X(uint32_t, uint32_t, 32, false, 32)                                                           \
    X(uint32_t, uint64_t, 32, false, 64)                                                           \
    X(int32_t, uint32_t, 32, true, 32)                                                             \
    X(int32_t, uint64_t, 32, true, 64)                                                             \
    X(uint64_t, uint64_t, 64, false, 64)                                                           \
    X(int64_t, uint64_t, 64, true, 64)

/* All lanes, `step` bytes apart; a constant step becomes a vector loop. */
#define LOAD_STEP(memory, step)                                                                    \
    for (int lane = 0; lane < QN_LANES; lane++) {                                                  \
        out[lane] = *(const memory *)(p + (uint64_t)lane * (step));                                \
    }
#define STORE_STEP(memory, step)                                                                   \
    for (int lane = 0; lane < QN_LANES; lane++) {                                                  \
        *(memory *)(p + (uint64_t)lane * (step)) = (memory)in[lane];                               \
    }
#define BY_STRIDE(addresses, LOOP, memory)                                                         \
    switch ((addresses)->stride) {                                                                 \
    case sizeof(memory):                                                                           \
        LOOP(memory, sizeof(memory))                                                               \
        return;                                                                                    \
    case 2 * sizeof(memory):                                                                       \
        LOOP(memory, 2 * sizeof(memory))                                                           \
        return;                                                                                    \
    case 4 * sizeof(memory):                                                                       \
        LOOP(memory, 4 * sizeof(memory))                                                           \
        return;                                                                                    \
    default:                                                                                       \
        break;                                                                                     \
    }

#define DEFINE(memory, reg, memory_bits, is_signed, register_bits)                                 \
    static void load_##memory##_##reg(void *d, const qn_addresses *from, uint64_t delta,           \
                                      uint32_t mask)                                               \
    {                                                                                              \
        reg *restrict out = d;                                                                     \
        if (mask == QN_ALL_LANES) {                                                                \
            if (from->strided) {                                                                   \
                const unsigned char *restrict p =                                                  \
                    (const unsigned char *)(uintptr_t)(from->at[0] + delta);                       \
                if (from->stride == 0) {                                                           \
                    const reg value = (reg) * (const memory *)p;                                   \
                    for (int lane = 0; lane < QN_LANES; lane++) {                                  \
                        out[lane] = value;                                                         \
                    }                                                                              \
                    return;                                                                        \
                }                                                                                  \
                BY_STRIDE(from, LOAD_STEP, memory)                                                 \
            }                                                                                      \
            for (int lane = 0; lane < QN_LANES; lane++) {                                          \
                out[lane] = (reg) * (const memory *)(uintptr_t)(from->at[lane] + delta);           \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        for (; mask; mask &= mask - 1) {                                                           \
            int lane = __builtin_ctz(mask);                                                        \
            out[lane] = (reg) * (const memory *)(uintptr_t)(from->at[lane] + delta);               \
        }                                                                                          \
    }                                                                                              \
    static void store_##memory##_##reg(const void *s, const qn_addresses *to, uint64_t delta,      \
                                       uint32_t mask)                                              \
    {                                                                                              \
        const reg *restrict in = s;                                                                \
        if (mask == QN_ALL_LANES && to->strided) {                                                 \
            unsigned char *restrict p = (unsigned char *)(uintptr_t)(to->at[0] + delta);           \
            BY_STRIDE(to, STORE_STEP, memory)                                                      \
        }                                                                                          \
        for (; mask; mask &= mask - 1) {                                                           \
            int lane = __builtin_ctz(mask);                                                        \
            *(memory *)(uintptr_t)(to->at[lane] + delta) = (memory)in[lane];                       \
        }                                                                                          \
    }
ELEMENTS(DEFINE)

/* 128 bits: the low and the high half are separate lines of the register. */
static void load_128(void *d, const qn_addresses *from, uint64_t delta, uint32_t mask)
{
    load_uint64_t_uint64_t(d, from, delta, mask);
    load_uint64_t_uint64_t((uint64_t *)d + QN_LANES, from, delta + 8, mask);
}

static void store_128(const void *s, const qn_addresses *to, uint64_t delta, uint32_t mask)
{
    store_uint64_t_uint64_t(s, to, delta, mask);
    store_uint64_t_uint64_t((const uint64_t *)s + QN_LANES, to, delta + 8, mask);
}

/* ---- vectors --------------------------------------------------------------------------------- */

#define VECTORS(X)                                                                                 \
    X(uint16_t, 2)                                                                                 \
    X(uint16_t, 4)                                                                                 \
    X(uint32_t, 2)                                                                                 \
    X(uint32_t, 4)                                                                                 \
    X(uint64_t, 2)

/* A lane's elements move together, and are sorted into their registers, or out of them, in rows of
 * all lanes. */
#define DEFINE_VECTOR(type, n)                                                                     \
    static void load_##n##_##type(void *const *d, const qn_addresses *from, uint64_t delta,        \
                                  uint32_t mask)                                                   \
    {                                                                                              \
        type rows[QN_LANES * n], sorted[n][QN_LANES];                                              \
        const type *p = (const type *)(uintptr_t)(from->at[0] + delta);                            \
        if (!from->strided || from->stride != sizeof(type) * n) {                                  \
            for (int lane = 0; lane < QN_LANES; lane++) {                                          \
                memcpy(rows + (size_t)lane * n, (const void *)(uintptr_t)(from->at[lane] + delta), \
                       sizeof(type) * n);                                                          \
            }                                                                                      \
            p = rows;                                                                              \
        }                                                                                          \
        for (int lane = 0; lane < QN_LANES; lane++) {                                              \
            for (int k = 0; k < n; k++) {                                                          \
                sorted[k][lane] = p[lane * n + k];                                                 \
            }                                                                                      \
        }                                                                                          \
        for (int k = 0; k < n; k++) {                                                              \
            type *restrict out = d[k];                                                             \
            for (int lane = 0; mask != QN_ALL_LANES && lane < QN_LANES; lane++) {                  \
                sorted[k][lane] = mask >> lane & 1 ? sorted[k][lane] : out[lane];                  \
            }                                                                                      \
            memcpy(out, sorted[k], sizeof sorted[k]);                                              \
        }                                                                                          \
    }                                                                                              \
    static void store_##n##_##type(const void *const *s, const qn_addresses *to, uint64_t delta,   \
                                   uint32_t mask)                                                  \
    {                                                                                              \
        type rows[QN_LANES * n];                                                                   \
        for (int lane = 0; lane < QN_LANES; lane++) {                                              \
            for (int k = 0; k < n; k++) {                                                          \
                rows[lane * n + k] = ((const type *)s[k])[lane];                                   \
            }                                                                                      \
        }                                                                                          \
        if (mask == QN_ALL_LANES && to->strided && to->stride == sizeof(type) * n) {               \
            memcpy((void *)(uintptr_t)(to->at[0] + delta), rows, sizeof rows);                     \
            return;                                                                                \
        }                                                                                          \
        for (; mask; mask &= mask - 1) {                                                           \
            const size_t lane = (size_t)__builtin_ctz(mask);                                       \
            memcpy((void *)(uintptr_t)(to->at[lane] + delta), rows + lane * n, sizeof(type) * n);  \
        }                                                                                          \
    }
VECTORS(DEFINE_VECTOR)

#define LIST(memory, reg, memory_bits, is_signed, register_bits)                                   \
    {memory_bits, is_signed, register_bits, load_##memory##_##reg, store_##memory##_##reg},
static const qn_element elements[] = {
    ELEMENTS(LIST){128, false, 128, load_128, store_128},
};

#define LIST_VECTOR(type, n) {8 * sizeof(type), n, load_##n##_##type, store_##n##_##type},
static const qn_vector vectors[] = {VECTORS(LIST_VECTOR)};

extern const qn_memory_lanes QN_OF_LEVEL(qn_memory_lanes, QN_LEVEL);
const qn_memory_lanes QN_OF_LEVEL(qn_memory_lanes, QN_LEVEL) = {
    .addresses64 = addresses64,
    .addresses32 = addresses32,
    .elements = elements,
    .element_count = QN_COUNT(elements),
    .vectors = vectors,
    .vector_count = QN_COUNT(vectors),
};
