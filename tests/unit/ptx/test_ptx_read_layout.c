/* SPDX-License-Identifier: MIT
 *
 * The order of instructions: if two lanes part at a branch and the one at the lower position always
 * runs, they must meet at the branch's immediate post-dominator at the latest. Post-dominators are
 * found here in another way than in the layout.
 */
#include "ptx/read/reader.h"
#include "test_ptx_read_corpus.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define WALKS      100  /* random walks for each branch */
#define WALK_STEPS 4000 /* blocks; a longer walk says nothing */

typedef struct tally {
    unsigned branches, misses;
} tally;

/* ---- post-dominators, as sets of blocks ----------------------------------------------------- */

typedef struct sets {
    uint64_t *bits;
    uint32_t words;
} sets;

static bool has(const sets *s, uint32_t block, uint32_t member)
{
    return s->bits[(size_t)block * s->words + member / 64] >> member % 64 & 1;
}

static bool narrow(sets *s, const qn_flow *flow, uint32_t block)
{
    const qn_flow_block *here = &flow->blocks[block];
    uint64_t *own = s->bits + (size_t)block * s->words;
    bool changed = false;
    for (uint32_t w = 0; w < s->words; w++) {
        uint64_t both = here->count ? UINT64_MAX : 0;
        for (uint32_t k = 0; k < here->count; k++) {
            both &= s->bits[(size_t)flow->edges[here->first + k] * s->words + w];
        }
        both |= block / 64 == w ? 1ull << block % 64 : 0;
        changed |= own[w] != both;
        own[w] = both;
    }
    return changed;
}

static sets post_dominators(const qn_flow *flow)
{
    sets s = {.words = flow->block_count / 64 + 1};
    size_t bytes = (size_t)flow->block_count * s.words * sizeof(uint64_t);
    s.bits = qn_alloc(bytes);
    memset(s.bits, 0xff, bytes);
    bool changed = true;
    while (changed) {
        changed = false;
        for (uint32_t b = flow->block_count; b-- > 0;) {
            changed |= narrow(&s, flow, b);
        }
    }
    return s;
}

/* The nearest strict post-dominator: the one that all the others post-dominate. */
static uint32_t nearest(const sets *s, const qn_flow *flow, uint32_t block)
{
    for (uint32_t p = 0; p < flow->block_count; p++) {
        bool is_nearest = p != block && has(s, block, p);
        for (uint32_t q = 0; is_nearest && q < flow->block_count; q++) {
            is_nearest = q == block || !has(s, block, q) || has(s, p, q);
        }
        if (is_nearest) {
            return p;
        }
    }
    return QN_NO_BLOCK;
}

/* ---- two lanes ------------------------------------------------------------------------------ */

static uint32_t random_state = 1;

static uint32_t step(const qn_flow *flow, uint32_t block)
{
    const qn_flow_block *here = &flow->blocks[block];
    random_state = random_state * 1664525u + 1013904223u;
    return here->count ? flow->edges[here->first + (random_state >> 8) % here->count] : QN_NO_BLOCK;
}

/* True when one lane runs past the meeting point while the other has not come there. */
static bool misses(const qn_flow *flow, uint32_t a, uint32_t b, uint32_t meeting)
{
    for (int i = 0; i < WALK_STEPS && a != b; i++) {
        uint32_t *lower = a < b ? &a : &b; /* blocks lie in the order of their numbers */
        if (*lower == meeting) {
            return true;
        }
        *lower = step(flow, *lower);
        if (*lower == QN_NO_BLOCK) {
            return false;
        }
    }
    return false;
}

static bool branch_misses(const qn_flow *flow, const qn_flow_block *block, uint32_t meeting)
{
    for (uint32_t x = 0; x < block->count; x++) {
        for (uint32_t y = 0; y < block->count; y++) {
            uint32_t a = flow->edges[block->first + x], b = flow->edges[block->first + y];
            for (int i = 0; a != b && i < WALKS; i++) {
                if (misses(flow, a, b, meeting)) {
                    return true;
                }
            }
        }
    }
    return false;
}

static void count_misses(const qn_flow *flow, tally *total)
{
    sets s = post_dominators(flow);
    for (uint32_t b = 0; b < flow->block_count; b++) {
        uint32_t meeting = flow->blocks[b].count > 1 ? nearest(&s, flow, b) : QN_NO_BLOCK;
        if (flow->blocks[b].count > 1) {
            total->branches++;
            total->misses +=
                meeting != QN_NO_BLOCK && branch_misses(flow, &flow->blocks[b], meeting);
        }
    }
    qn_free(s.bits);
}

static void check_function(const qn_ptx_function *function, tally *total)
{
    qn_arena scratch = {0};
    qn_flow flow;
    cr_assert_eq(qn_flow_build(&flow, function, &scratch), QUERN_OK);
    count_misses(&flow, total);
    qn_arena_free(&scratch);
}

static void check_module(const char *path, const qn_ptx_module *module, void *context)
{
    tally *total = context;
    unsigned before = total->misses;
    for (uint32_t i = 0; i < module->function_count; i++) {
        if (module->functions[i]->has_body) {
            check_function(module->functions[i], total);
        }
    }
    cr_expect_eq(total->misses, before, "%s: %u branches do not meet", path,
                 total->misses - before);
}

Test(ptx_read_layout, lanes_meet_at_post_dominators)
{
    tally total = {0};
    unsigned files = corpus_visit(check_module, &total);
    fprintf(stderr, "%u branches of %u files, %u misses\n", total.branches, files, total.misses);
    cr_expect_gt(files, 20);
    cr_expect_gt(total.branches, 100);
    cr_expect_eq(total.misses, 0);
}

/* A loop whose exit lies in its middle, laid out badly: 0 -> 1 -> {2 exit, 3}, 3 -> {1, 2}. The
 * checker must see that a lane at the exit runs ahead of one in block 3. */
Test(ptx_read_layout, the_check_sees_a_bad_order)
{
    qn_flow_block blocks[] = {{.first = 0, .count = 1},
                              {.first = 1, .count = 2},
                              {.first = 3, .count = 0},
                              {.first = 3, .count = 2}};
    uint32_t edges[] = {1, 2, 3, 1, 2};
    qn_flow flow = {.blocks = blocks, .block_count = 4, .edges = edges, .edge_count = 5};
    tally total = {0};
    count_misses(&flow, &total);
    cr_expect_eq(total.branches, 2);
    cr_expect_eq(total.misses, 2);
}

/* ---- forms ---------------------------------------------------------------------------------- */

#define HEAD ".version 9.0\n.target sm_75\n.address_size 64\n"
#define BODY(text)                                                                                 \
    HEAD ".visible .entry k(.param .u64 a)\n{ .reg .pred %p<9>; .reg .b32 %r<9>;\n" text "}\n"

typedef struct layout_case {
    const char *text, *expected; /* opcodes; a branch with the position that it goes to */
} layout_case;

static const layout_case cases[] = {
    {BODY("ret;"), "ret"},
    {BODY(""), "ret"},
    {BODY("bra.uni A; A: ret;"), "ret"},
    {BODY("bra.uni A; mov.b32 %r1, 1; A: exit;"), "exit"},
    {BODY("@%p1 bra A; mov.b32 %r1, 1; A: ret;"), "@bra 2 mov.b32 ret"},
    {BODY("@%p1 bra A; A: ret;"), "ret"},
    {BODY("L: bra L;"), "bra.uni 0"},
    {BODY("@%p1 ret; mov.b32 %r1, 1; trap;"), "@ret mov.b32 trap"},
    /* the exit in the text's middle goes after the loop */
    {BODY("L: @%p1 bra X; bra.uni B; X: exit; B: add.s32 %r1, %r1, 1; @%p2 bra L; bra.uni X;"),
     "@bra 3 add.s32 @bra 0 exit"},
    {BODY("ts: .branchtargets A, B, A; brx.idx %r1, ts; A: mov.b32 %r1, 1; B: ret;"),
     "brx.idx mov.b32 ret"},
    {BODY("{ bra A; A: mov.b32 %r1, 1; } { bra A; A: mov.b32 %r1, 2; } ret;"),
     "mov.b32 mov.b32 ret"},
};

Test(ptx_read_layout, forms)
{
    for (size_t i = 0; i < QN_COUNT(cases); i++) {
        qn_ptx_module *module = corpus_read(cases[i].text);
        const qn_ptx_function *k = qn_ptx_kernel(module, "k");
        qn_text got = {0};
        for (uint32_t n = 0; n < k->instruction_count; n++) {
            const qn_ptx_instruction *instruction = &k->instructions[n];
            qn_text_printf(&got, "%s%s%s", n ? " " : "", instruction->guard >= 0 ? "@" : "",
                           instruction->opcode);
            if (qn_flow_kind_of(instruction) == QN_FLOW_BRANCH) {
                qn_text_printf(&got, " %u", instruction->operands[0].target);
            }
        }
        cr_expect_str_eq(got.data, cases[i].expected, "%s", cases[i].text);
        qn_text_free(&got);
        qn_ptx_free(module);
    }
}

Test(ptx_read_layout, targets_of_an_indexed_branch_are_positions)
{
    qn_ptx_module *module = corpus_read(
        BODY("ts: .branchtargets A, B, A; brx.idx %r1, ts; B: ret; A: mov.b32 %r1, 1; bra.uni B;"));
    const qn_ptx_function *k = qn_ptx_kernel(module, "k");
    const qn_ptx_operand *list = &k->instructions[0].operands[1];
    cr_assert_eq(list->kind, QN_OPERAND_LIST);
    const qn_ptx_targets *targets = &k->targets[list->target];
    cr_expect_str_eq(list->name, "ts");
    cr_assert_eq(targets->count, 3);
    cr_expect_str_eq(k->instructions[targets->instructions[0]].opcode, "mov.b32");
    cr_expect_str_eq(k->instructions[targets->instructions[1]].opcode, "ret");
    cr_expect_eq(targets->instructions[2], targets->instructions[0]);
    qn_ptx_free(module);
}
