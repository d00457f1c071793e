/* SPDX-License-Identifier: MIT
 *
 * Memory and shuffles at every level that this CPU has: addresses and what is known of them, all
 * elements and vectors, with drawn places and masks, beside a loop over the lanes.
 */
#include "../engine/draw.h"
#include "ptx/lanes/exchange_lanes.h"
#include "ptx/lanes/lanes.h"
#include "ptx/run/run.h"

#include <criterion/criterion.h>
#include <string.h>

enum { SLOTS = 80, MOST = 16, ROUNDS = 200 };

static uint32_t draw_mask(void)
{
    const int64_t kind = draw(0, 2);
    return kind == 0 ? QN_ALL_LANES : kind == 1 ? 1u << draw(0, 31) : draw_word() | 1;
}

/* Places of `bytes` in a memory of SLOTS of them: one after the other, apart, the same, drawn. */
static void draw_places(uint64_t at[QN_LANES], uint64_t memory, uint64_t bytes)
{
    const int64_t kind = draw(0, 4), step = draw(0, 2), first = draw(0, SLOTS - 2 * QN_LANES);
    for (int lane = 0; lane < QN_LANES; lane++) {
        const int64_t slot = kind == 0   ? draw(0, SLOTS - 1)
                             : kind == 1 ? SLOTS - 1 - lane * step
                                         : first + lane * step;
        at[lane] = memory + (uint64_t)slot * bytes;
    }
}

/* Addresses of which nothing is assumed: they may wrap, and low halves alone may count. */
static void check_addresses(const qn_memory_lanes *lanes)
{
    for (int round = 0; round < ROUNDS; round++) {
        const uint32_t mask = draw_mask();
        const int64_t offset = draw(-100, 100);
        const uint64_t memory = draw(0, 1) ? 1 << 20 : UINT64_MAX - 600;
        uint64_t base[QN_LANES];
        uint32_t halves[QN_LANES];
        draw_places(base, memory, 16);
        for (int lane = 0; lane < QN_LANES; lane++) {
            halves[lane] = (uint32_t)base[lane];
        }
        for (int wide = 0; wide < 2; wide++) {
            qn_addresses out;
            wide ? lanes->addresses64(&out, base, offset, mask)
                 : lanes->addresses32(&out, halves, offset, mask);
            uint64_t low = UINT64_MAX, high = 0, bits = 0;
            for (int lane = 0; lane < QN_LANES; lane++) {
                const uint64_t address = wide ? base[lane] + (uint64_t)offset
                                              : (uint32_t)(halves[lane] + (uint32_t)offset);
                if (mask >> lane & 1) {
                    cr_assert_eq(out.at[lane], address);
                    low = QN_MIN(low, address);
                    high = QN_MAX(high, address);
                    bits |= address;
                }
                cr_assert(!out.strided ||
                          out.at[lane] == out.at[0] + (uint64_t)lane * (uint64_t)out.stride);
            }
            cr_assert(out.low == low && out.high == high);
            for (uint64_t size = 1; size <= 16; size *= 2) { /* what is asked of the bits */
                cr_assert_eq((out.bits & (size - 1)) == 0, (bits & (size - 1)) == 0);
            }
        }
    }
}

/* Registers, 128 bits as two lines of 64. */
typedef struct line {
    uint64_t of[2 * QN_LANES];
} line;

static uint64_t in_register(const line *r, unsigned bits, unsigned lane)
{
    return qn_lane_value(r->of, bits, lane);
}

static uint64_t in_memory(const unsigned char *p, const qn_element *e)
{
    uint64_t value = 0;
    memcpy(&value, p, e->memory_bits / 8);
    const unsigned unused = 64u - e->memory_bits;
    value = e->is_signed ? (uint64_t)((int64_t)(value << unused) >> unused) : value;
    return e->register_bits == 64 ? value : value & ((1ull << e->register_bits) - 1);
}

/* Load what lanes point at, and store it where others point. */
static void check_element(const qn_memory_lanes *lanes, const qn_element *e)
{
    const uint64_t bytes = e->memory_bits / 8u;
    for (int round = 0; round < ROUNDS; round++) {
        _Alignas(16) unsigned char memory[SLOTS * MOST], before[SLOTS * MOST];
        for (size_t k = 0; k < sizeof memory; k++) {
            memory[k] = before[k] = (unsigned char)draw(0, 255);
        }
        const uint32_t mask = draw_mask();
        uint64_t places[QN_LANES];
        qn_addresses from;
        line r, old;
        draw_places(places, 0, bytes);
        lanes->addresses64(&from, places, 0, mask);
        for (size_t k = 0; k < QN_COUNT(r.of); k++) {
            r.of[k] = old.of[k] = (uint64_t)draw_word() << 32 | draw_word();
        }
        e->load(r.of, &from, (uint64_t)(uintptr_t)memory, mask);
        for (unsigned lane = 0; lane < QN_LANES; lane++) {
            const uint64_t got = in_register(&r, e->register_bits, lane);
            cr_assert_eq(got, mask >> lane & 1 ? in_memory(memory + places[lane], e)
                                               : in_register(&old, e->register_bits, lane));
        }
        e->store(old.of, &from, (uint64_t)(uintptr_t)memory, mask);
        for (unsigned lane = 0; lane < QN_LANES; lane++) {
            const uint64_t value = in_register(&old, e->register_bits, lane);
            if (mask >> lane & 1) {
                memcpy(before + places[lane], &value, bytes);
            }
        }
        cr_assert_eq(memcmp(memory, before, sizeof memory), 0, "%d bits, round %d", e->memory_bits,
                     round);
    }
}

/* A vector is its elements, one after the other. */
static void check_vector(const qn_memory_lanes *lanes, const qn_vector *v)
{
    const qn_element *element = NULL;
    for (size_t k = 0; k < lanes->element_count && !element; k++) {
        const qn_element *e = &lanes->elements[k];
        element = e->memory_bits == v->bits && e->register_bits == v->bits ? e : NULL;
    }
    cr_assert(element);
    for (int round = 0; round < ROUNDS; round++) {
        const uint64_t bytes = v->bits / 8u;
        _Alignas(16) unsigned char memory[SLOTS * MOST], other[SLOTS * MOST];
        line r[4], same[4];
        void *d[4] = {&r[0], &r[1], &r[2], &r[3]};
        const void *s[4] = {&r[0], &r[1], &r[2], &r[3]};
        for (size_t k = 0; k < sizeof memory; k++) {
            memory[k] = other[k] = (unsigned char)draw(0, 255);
        }
        memset(r, 0xa5, sizeof r);
        memcpy(same, r, sizeof r);
        const uint32_t mask = draw_mask();
        uint64_t places[QN_LANES];
        qn_addresses at;
        draw_places(places, 0, bytes * v->count);
        lanes->addresses64(&at, places, 0, mask);
        v->load(d, &at, (uint64_t)(uintptr_t)memory, mask);
        for (unsigned k = 0; k < v->count; k++) {
            element->load(&same[k], &at, (uint64_t)(uintptr_t)memory + k * bytes, mask);
        }
        cr_assert_eq(memcmp(r, same, sizeof r), 0, "%d bits by %d", v->bits, v->count);
        draw_places(places, 0, bytes * v->count);
        lanes->addresses64(&at, places, 0, mask);
        v->store(s, &at, (uint64_t)(uintptr_t)memory, mask);
        for (unsigned k = 0; k < v->count; k++) {
            element->store(&same[k], &at, (uint64_t)(uintptr_t)other + k * bytes, mask);
        }
        cr_assert_eq(memcmp(memory, other, sizeof memory), 0, "%d bits by %d", v->bits, v->count);
    }
}

Test(ptx_levels, memory)
{
    for (int level = 0; level < qn_lane_level_count(); level++) {
        const qn_memory_lanes *lanes = qn_memory_lanes_level(level);
        check_addresses(lanes);
        for (size_t k = 0; k < lanes->element_count; k++) {
            if (lanes->elements[k].memory_bits <= 64) {
                check_element(lanes, &lanes->elements[k]);
            }
        }
        for (size_t k = 0; k < lanes->vector_count; k++) {
            check_vector(lanes, &lanes->vectors[k]);
        }
    }
}

Test(ptx_levels, shuffles)
{
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t a[QN_LANES], b[QN_LANES], c[QN_LANES], d[QN_LANES];
        for (unsigned lane = 0; lane < QN_LANES; lane++) {
            a[lane] = draw_word();
            b[lane] = (uint32_t)draw(0, 40);
            c[lane] = (uint32_t)draw(0, 0x1fff);
        }
        for (uint32_t form = QN_SYNC_SHFL_UP; form <= QN_SYNC_SHFL_IDX; form++) {
            for (int level = 0; level < qn_lane_level_count(); level++) {
                const uint32_t valid = qn_exchange_lanes_level(level)->shuffle[form](d, a, b, c);
                for (unsigned lane = 0; lane < QN_LANES; lane++) {
                    unsigned source;
                    const bool inside = qn_shuffle_source(&source, form, lane, b[lane], c[lane]);
                    cr_assert(d[lane] == a[source] && (valid >> lane & 1) == inside);
                }
            }
        }
    }
}
