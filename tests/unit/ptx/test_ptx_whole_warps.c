/* SPDX-License-Identifier: MIT
 *
 * What the executor does for all lanes at once, beside what each lane should get: vectors between
 * memory and registers, shuffles and votes, drawn with masks and addresses of all kinds.
 */
#include "../engine/draw.h"
#include "run_support.h"

#include <stdio.h>

enum { LANES = 32, SLOTS = 64, MOST = 4 };

static const char head[] = ".version 8.0\n.target sm_75\n.address_size 64\n"
                           ".visible .entry k(.param .u64 x, .param .u64 y, .param .u64 p)\n{\n"
                           ".reg .b64 %rd<8>; .reg .b32 %r<8>; .reg .pred %p<4>;\n"
                           "ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];\n"
                           "ld.param.u64 %rd3, [p];\nmov.u32 %r1, %tid.x;\n"
                           "mul.wide.u32 %rd4, %r1, 16; add.s64 %rd3, %rd3, %rd4;\n";

/* ---- vectors -------------------------------------------------------------------------------- */

/* What each lane does: where it reads and writes, in vectors, and whether. */
typedef struct lane_plan {
    uint32_t from, to, reads, writes;
} lane_plan;

/* The slots that lanes use: one after the other, a step apart, backwards, all the same, or drawn;
 * no two the same if they are written to. */
static void draw_slots(uint32_t slots[LANES], bool distinct)
{
    const int64_t kind = draw(0, distinct ? 3 : 4), first = draw(0, SLOTS - 2 * LANES + 1);
    uint32_t bag[SLOTS];
    for (uint32_t k = 0; k < SLOTS; k++) {
        bag[k] = k;
    }
    for (uint32_t lane = 0; lane < LANES; lane++) {
        const uint32_t at = (uint32_t)draw(lane, SLOTS - 1), drawn = bag[at];
        bag[at] = bag[lane];
        bag[lane] = drawn;
        slots[lane] = kind == 0   ? (uint32_t)first + lane
                      : kind == 1 ? 2 * lane
                      : kind == 2 ? SLOTS - 1 - lane
                      : kind == 3 ? drawn
                                  : (uint32_t)first;
    }
}

static uint32_t draw_mask(void)
{
    const int64_t kind = draw(0, 3);
    const uint32_t drawn = draw_word();
    return kind == 0 ? 1u << draw(0, LANES - 1) : kind == 1 ? drawn : 0xffffffffu;
}

static void draw_plans(lane_plan plans[LANES])
{
    uint32_t from[LANES], to[LANES];
    draw_slots(from, false);
    draw_slots(to, true);
    const uint32_t reads = draw_mask(), writes = draw_mask();
    for (unsigned lane = 0; lane < LANES; lane++) {
        plans[lane] = (lane_plan){from[lane], to[lane], reads >> lane & 1, writes >> lane & 1};
    }
}

/* Registers hold all ones, then what was read; what is written is that with its elements turned
 * round, so that each register has a place of its own. */
static void write_vector_kernel(char *text, size_t size, int bits, int count)
{
    static const char *const lists[][2] = {{"{%v0, %v1}", "{%v1, %v0}"},
                                           {"{%v0, %v1, %v2, %v3}", "{%v3, %v2, %v1, %v0}"}};
    const char *const *list = lists[count == 4];
    const int bytes = bits / 8 * count, wide = bits < 16 ? 16 : bits;
    int n = snprintf(text, size,
                     "%s.reg .b%d %%v<4>;\nld.global.v4.u32 {%%r2, %%r3, %%r4, %%r5}, [%%rd3];\n"
                     "mul.wide.u32 %%rd5, %%r2, %d; add.s64 %%rd5, %%rd1, %%rd5;\n"
                     "mul.wide.u32 %%rd6, %%r3, %d; add.s64 %%rd6, %%rd2, %%rd6;\n"
                     "setp.ne.u32 %%p1, %%r4, 0; setp.ne.u32 %%p2, %%r5, 0;\n",
                     head, wide, bytes, bytes);
    for (int k = 0; k < count; k++) {
        n += snprintf(text + n, size - (size_t)n, "mov.b%d %%v%d, -1;\n", wide, k);
    }
    snprintf(
        text + n, size - (size_t)n,
        "@%%p1 ld.global.v%d.b%d %s, [%%rd5];\n@%%p2 st.global.v%d.b%d [%%rd6], %s;\nret;\n}\n",
        count, bits, list[0], count, bits, list[1]);
}

static void expect_vectors(unsigned char *y, const unsigned char *x, const lane_plan *plans,
                           size_t element, size_t count)
{
    for (unsigned lane = 0; lane < LANES; lane++) {
        const lane_plan *own = &plans[lane];
        for (size_t k = 0; own->writes && k < count; k++) {
            unsigned char *to = y + (own->to * count + k) * element;
            memset(to, 0xff, element);
            if (own->reads) {
                memcpy(to, x + (own->from * count + count - 1 - k) * element, element);
            }
        }
    }
}

Test(ptx_whole_warps, vectors)
{
    static const int forms[][2] = {{8, 2}, {8, 4}, {16, 2}, {16, 4}, {32, 2}, {32, 4}, {64, 2}};
    for (size_t f = 0; f < QN_COUNT(forms); f++) {
        const size_t element = (size_t)forms[f][0] / 8, count = (size_t)forms[f][1];
        const size_t bytes = SLOTS * element * count;
        char text[2048];
        write_vector_kernel(text, sizeof text, forms[f][0], forms[f][1]);
        bench b = bench_of(text);
        unsigned char *x = bench_buffer(&b, bytes), *y = bench_buffer(&b, bytes);
        unsigned char expected[SLOTS * MOST * 8];
        lane_plan *plans = bench_buffer(&b, LANES * sizeof *plans);
        for (int round = 0; round < 300; round++) {
            draw_plans(plans);
            for (size_t k = 0; k < bytes; k++) {
                x[k] = (unsigned char)draw(0, 255);
                y[k] = expected[k] = (unsigned char)draw(0, 255);
            }
            expect_vectors(expected, x, plans, element, count);
            bench_good(&b, "k", PARAMETERS(&x, &y, &plans));
            cr_assert_eq(memcmp(y, expected, bytes), 0, "%d bits by %d, round %d", forms[f][0],
                         forms[f][1], round);
        }
        qn_free(x);
        qn_free(y);
        qn_free(plans);
        bench_close(&b);
    }
}

/* ---- shuffles and votes --------------------------------------------------------------------- */

/* As the PTX ISA writes it down under shfl.sync: lanes of the same segment, and a bound. */
static bool shuffled(char form, unsigned lane, uint32_t b, uint32_t c, unsigned *source)
{
    const unsigned segment = c >> 8 & 31, bound = c & 31;
    const unsigned most = (lane & segment) | (bound & ~segment), least = lane & segment;
    const int by = (int)(b & 31);
    int j = (int)lane;
    bool good = false;
    switch (form) {
    case 'u':
        j -= by;
        good = j >= (int)most;
        break;
    case 'd':
        j += by;
        good = j <= (int)most;
        break;
    case 'b':
        j = (int)lane ^ by;
        good = j <= (int)most;
        break;
    default:
        j = (int)(least | ((unsigned)by & ~segment));
        good = j <= (int)most;
    }
    *source = good ? (unsigned)j : lane;
    return good;
}

/* Each lane gives x; y receives two words: what came, and 1 if the source was inside. */
static void write_shuffle_kernel(char *text, size_t size, const char *form)
{
    snprintf(text, size,
             "%sld.global.v4.u32 {%%r2, %%r3, %%r4, %%r5}, [%%rd3];\n"
             "mul.wide.u32 %%rd5, %%r1, 4; add.s64 %%rd5, %%rd1, %%rd5;\n"
             "mul.wide.u32 %%rd6, %%r1, 8; add.s64 %%rd6, %%rd2, %%rd6;\n"
             "ld.global.u32 %%r6, [%%rd5];\n"
             "shfl.sync.%s.b32 %%r6|%%p1, %%r6, %%r2, %%r3, 0xffffffff;\n"
             "selp.u32 %%r7, 1, 0, %%p1;\nst.global.v2.u32 [%%rd6], {%%r6, %%r7};\nret;\n}\n",
             head, form);
}

Test(ptx_whole_warps, shuffles)
{
    static const char *const forms[] = {"up", "down", "bfly", "idx"};
    static const uint32_t segments[] = {0, 16, 24, 28, 30, 31};
    for (size_t f = 0; f < QN_COUNT(forms); f++) {
        char text[2048];
        write_shuffle_kernel(text, sizeof text, forms[f]);
        bench b = bench_of(text);
        uint32_t *x = bench_buffer(&b, LANES * sizeof *x), *y = bench_buffer(&b, 2 * LANES * 4);
        uint32_t(*plans)[4] = bench_buffer(&b, LANES * sizeof *plans);
        for (int round = 0; round < 300; round++) {
            const bool alike = draw(0, 1);
            for (unsigned lane = 0; lane < LANES; lane++) {
                x[lane] = draw_word();
                const uint32_t segment = segments[draw(0, QN_COUNT(segments) - 1)];
                plans[lane][0] = (uint32_t)draw(0, 40);
                plans[lane][1] = segment << 8 | (uint32_t)(draw(0, 1) ? 31 : draw(0, 31));
                memcpy(plans[lane], plans[alike ? 0 : lane], sizeof *plans);
            }
            bench_good(&b, "k", PARAMETERS(&x, &y, &plans));
            for (unsigned lane = 0; lane < LANES; lane++) {
                unsigned source;
                const bool good =
                    shuffled(*forms[f], lane, plans[lane][0], plans[lane][1], &source);
                cr_assert(y[2 * lane] == x[source] && y[2 * lane + 1] == good,
                          "%s, round %d, lane %u: %u, %u", forms[f], round, lane, plans[lane][0],
                          plans[lane][1]);
            }
        }
        qn_free(x);
        qn_free(y);
        qn_free(plans);
        bench_close(&b);
    }
}

Test(ptx_whole_warps, votes)
{
    char text[2048];
    snprintf(text, sizeof text,
             "%sld.global.u32 %%r2, [%%rd3];\nsetp.ne.u32 %%p1, %%r2, 0;\n"
             "vote.sync.ballot.b32 %%r3, %%p1, -1;\nvote.sync.all.pred %%p2, %%p1, -1;\n"
             "selp.u32 %%r4, 1, 0, %%p2;\nvote.sync.any.pred %%p2, %%p1, -1;\n"
             "selp.u32 %%r5, 1, 0, %%p2;\nvote.sync.uni.pred %%p2, !%%p1, -1;\n"
             "selp.u32 %%r6, 1, 0, %%p2;\nadd.s64 %%rd4, %%rd4, %%rd2;\n"
             "st.global.v4.u32 [%%rd4], {%%r3, %%r4, %%r5, %%r6};\nret;\n}\n",
             head);
    bench b = bench_of(text);
    uint32_t(*x)[4] = bench_buffer(&b, LANES * sizeof *x);
    uint32_t(*y)[4] = bench_buffer(&b, LANES * sizeof *y);
    for (int round = 0; round < 100; round++) {
        const int64_t kind = draw(0, 3);
        const uint32_t bits = kind == 0 ? 0 : kind == 1 ? 0xffffffffu : draw_mask();
        const bool all = bits == 0xffffffffu;
        for (unsigned lane = 0; lane < LANES; lane++) {
            x[lane][0] = bits >> lane & 1;
        }
        bench_good(&b, "k", PARAMETERS(&x, &y, &x));
        for (unsigned lane = 0; lane < LANES; lane++) {
            const uint32_t expected[] = {bits, all, bits != 0, all || bits == 0};
            cr_assert_eq(memcmp(y[lane], expected, sizeof expected), 0, "%08x, lane %u", bits,
                         lane);
        }
    }
    qn_free(x);
    qn_free(y);
    bench_close(&b);
}
