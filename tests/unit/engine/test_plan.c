/* SPDX-License-Identifier: MIT
 *
 * The walk of a plan, executed in C as templates/elementwise.cu does it, from the bytes that the
 * marshaller writes, as the device's headers read them. Over random shapes, permutations, steps,
 * broadcasts and misalignments, every element of the loop must be met exactly once, with the right
 * element of every operand, and in C order if that is asked for. test_plan_layouts.c has tables.
 */
#include "device_side.h"
#include "engine/engine_internal.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* ---- the kernel's side, in C ---------------------------------------------------------------- */

typedef void (*visitor)(void *context, int64_t position, char *const *addresses);

static char *base_of(const qn_parameter_block *block, uint32_t k)
{
    char *base;
    memcpy(&base, block->pointers[k], sizeof base);
    return base;
}

/* Element `at` of the row at `offset`, which is element `position` of the loop. */
static void visit_one(const qn_call *call, const qn_parameter_block *block, const int64_t *offset,
                      const device_space *s, int64_t at, int64_t position, visitor visit,
                      void *context)
{
    const qn_plan_form *f = &call->plan.form;
    char *addresses[8];
    for (uint32_t k = 0; k < call->operand_count; k++) {
        int64_t step = f->access[k] == QN_ACCESS_BROADCAST ? 0
                       : f->access[k] == QN_ACCESS_STRIDED || f->access[k] == QN_ACCESS_HELD ||
                               f->access[k] == QN_ACCESS_PAIR
                           ? s->stride[k][f->ndim - 1]
                       : f->access[k] == QN_ACCESS_BACK ? -(int64_t)call->operands[k].item_size
                                                        : call->operands[k].item_size;
        addresses[k] = base_of(block, k) + offset[k] + at * step;
    }
    visit(context, position, addresses);
}

/* Packs that are reached by vector begin at a multiple of their access. */
static void check_alignment(const qn_call *call, const qn_parameter_block *block,
                            const int64_t *offset, int64_t at)
{
    const qn_plan_form *f = &call->plan.form;
    for (uint32_t k = 0; k < call->operand_count; k++) {
        int64_t size = call->operands[k].item_size;
        const bool back = f->access[k] == QN_ACCESS_BACK && !f->rows;
        if (f->access[k] == QN_ACCESS_VECTOR || back) {
            const int64_t first = back ? (1 - at - f->lanes) * size : at * size;
            cr_assert_eq((uintptr_t)(base_of(block, k) + offset[k] + first) %
                             (uintptr_t)QN_MIN(16, size * f->lanes),
                         0, "a pack of operand %u is not aligned", k);
        }
    }
}

/* The words that hold a pack belong to the row, and so do all bytes of theirs. */
static void check_words(const qn_call *call, const int64_t *offset, const device_space *s,
                        int64_t at)
{
    const qn_plan *p = &call->plan;
    for (uint32_t k = 0; k < call->operand_count; k++) {
        const bool back = p->form.access[k] == QN_ACCESS_BACK;
        if (p->form.access[k] == QN_ACCESS_WORDS || back) {
            uintptr_t size = call->operands[k].item_size;
            uintptr_t row = (uintptr_t)p->base[k] + (uintptr_t)offset[k] -
                            (back ? (uintptr_t)(s->inner - 1) * size : 0);
            uintptr_t from = row + size * (uintptr_t)(back ? s->inner - at - p->form.lanes : at);
            uintptr_t last = from + p->form.lanes * size - 1;
            cr_assert_geq(from / 4 * 4, row, "words begin before the row");
            cr_assert_leq(last / 4 * 4 + 4, row + (uintptr_t)s->inner * size,
                          "words end behind the row");
            cr_assert_eq(size * p->form.lanes % 4, 0);
        }
    }
}

/* Part `part` of a row, as the threads of a block do it: templates/elementwise_rows.cu. */
static void walk_row(const qn_call *call, const qn_parameter_block *block, const device_space *s,
                     int64_t row, int64_t part, visitor visit, void *context)
{
    const qn_plan *p = &call->plan;
    const int64_t lanes = p->form.lanes, turns = p->form.turns;
    int64_t offset[8], begin = 0, packs = s->inner;
    device_row_offsets(offset, s, call->plan.form.ndim, call->operand_count, row);
    if (lanes > 1) {
        const qn_operand *o = &call->operands[p->form.anchor];
        uintptr_t at = (uintptr_t)(base_of(block, p->form.anchor) + offset[p->form.anchor]);
        begin = (int64_t)((-at & (qn_pack_alignment(o, (uint32_t)lanes) - 1)) / o->item_size);
        begin += begin < p->form.margin ? lanes : 0;
        packs -= begin + p->form.margin;
        packs = packs > 0 ? packs / lanes : 0;
        for (int64_t e = 0; part == 0 && e < s->inner - packs * lanes; e++) {
            int64_t element = e < begin ? e : e + packs * lanes;
            visit_one(call, block, offset, s, element, row * s->inner + element, visit, context);
        }
    }
    for (int64_t thread = 0; thread < p->across * turns; thread++) {
        int64_t pack = part * p->across * turns + thread, at = begin + pack * lanes;
        if (pack >= packs) {
            break;
        }
        check_alignment(call, block, offset, at);
        check_words(call, offset, s, at);
        for (int64_t e = at; e < at + lanes; e++) {
            visit_one(call, block, offset, s, e, row * s->inner + e, visit, context);
        }
    }
}

static void walk_rows(const qn_call *call, const qn_parameter_block *block, const device_space *s,
                      visitor visit, void *context)
{
    cr_assert_leq(call->plan.across * call->plan.down, 256);
    for (int64_t group = 0; group < s->packs; group++) {
        int64_t strip = device_divide(&s->row, group), part = group - strip * s->row.value;
        for (int y = 0; y < call->plan.down && strip * call->plan.down + y < s->head; y++) {
            walk_row(call, block, s, strip * call->plan.down + y, part, visit, context);
        }
    }
}

/* A step of a flat pack begins at element `e` of the loop, `at` of a row that it does not leave. */
static void check_step(const qn_call *call, const qn_parameter_block *block, const int64_t *offset,
                       const device_space *s, int64_t e, int64_t at)
{
    const qn_plan_form *f = &call->plan.form;
    cr_assert_leq(at + f->step, s->row.value, "a step leaves its row");
    cr_assert(!f->whole || f->step == s->row.value);
    for (uint32_t k = 0; k < call->operand_count; k++) {
        const int64_t size = call->operands[k].item_size, bytes = call->count * size;
        const int64_t from = (int64_t)((uintptr_t)base_of(block, k) % 16) + e * size;
        if (f->access[k] == QN_ACCESS_STEP) {
            cr_assert_eq((uintptr_t)(base_of(block, k) + offset[k] + at * size) %
                             (uintptr_t)(f->step * size),
                         0, "a step of operand %u is not aligned", k);
        } else if (f->access[k] == QN_ACCESS_HELD || f->access[k] == QN_ACCESS_PAIR) {
            cr_assert_eq(s->stride[k][f->ndim - 1], 0);
            cr_assert(f->access[k] == QN_ACCESS_HELD || s->row.value >= f->lanes);
        } else if (f->access[k] == QN_ACCESS_WORDS && (e - s->head) % f->lanes == 0) {
            cr_assert_geq(e * size, from % 4, "words begin before the operand");
            cr_assert_leq(e * size - from % 4 + f->lanes * size + (from % 4 ? 4 : 0), bytes,
                          "words end behind the operand");
        }
    }
}

/* Packs that go on across rows, and the elements before and after them. */
static void walk_flat(const qn_call *call, const qn_parameter_block *block, const device_space *s,
                      visitor visit, void *context)
{
    const qn_plan_form *f = &call->plan.form;
    cr_assert_eq(s->inner, call->count);
    for (int64_t e = 0; e < s->inner; e++) {
        int64_t row = device_divide(&s->row, e), at = e - row * s->row.value, offset[8];
        device_row_offsets(offset, s, f->ndim, call->operand_count, row);
        if (e >= s->head && e < s->head + s->packs * f->lanes && (e - s->head) % f->lanes == 0) {
            check_alignment(call, block, offset, at);
        }
        if (e >= s->head && e < s->head + s->packs * f->lanes && (e - s->head) % f->step == 0) {
            check_step(call, block, offset, s, e, at);
        }
        visit_one(call, block, offset, s, at, e, visit, context);
    }
}

/* Slabs, of each of which a thread has one place: templates/elementwise_slabs.cu. */
static void walk_slabs(const qn_call *call, const qn_parameter_block *block, const device_space *s,
                       visitor visit, void *context)
{
    const qn_plan *p = &call->plan;
    const int dims = p->form.ndim - p->form.slab;
    cr_assert_leq(p->across * p->down, 256);
    cr_assert_eq(s->head * p->across, call->count);
    cr_assert_geq(s->packs * p->down * p->form.turns, s->head);
    for (int64_t e = 0; e < call->count; e++) {
        int64_t slab = e / p->across, within = e % p->across, offset[8];
        device_row_offsets(offset, s, dims + 1, call->operand_count, slab);
        for (int d = p->form.ndim - 1; d >= dims; d--) {
            const device_divider *by = d == p->form.ndim - 1 ? &s->row : &s->outer[d];
            int64_t rest = d > dims ? device_divide(by, within) : 0;
            for (uint32_t k = 0; k < call->operand_count; k++) {
                offset[k] += (within - rest * by->value) * s->stride[k][d];
            }
            within = rest;
        }
        visit_one(call, block, offset, s, 0, e, visit, context);
    }
}

static void walk(const qn_call *call, const qn_parameter_block *block, visitor visit, void *context)
{
    const qn_plan_form *f = &call->plan.form;
    device_space s;
    size_t size = device_read_space(&s, block->pointers[block->count - 1], f->wide, f->ndim - 1,
                                    (int)call->operand_count);
    cr_assert_eq(size, block->used - block->offsets[block->count - 1]);
    cr_assert_eq(s.count, call->count);
    if (f->rows || f->flat || f->slab != 0) {
        (f->rows ? walk_rows : f->flat ? walk_flat : walk_slabs)(call, block, &s, visit, context);
        return;
    }
    bool has_rest = f->lanes > 1 && f->ndim == 1;
    for (int64_t t = 0; has_rest && t < s.inner - s.packs * f->lanes; t++) {
        int64_t at = t < s.head ? t : t + s.packs * f->lanes;
        visit_one(call, block, (const int64_t[8]){0}, &s, at, at, visit, context);
    }
    for (int64_t p = 0; p < s.packs; p++) {
        int64_t r = f->ndim > 1 ? device_divide(&s.row, p) : 0;
        int64_t e = f->ndim > 1 ? (p - r * s.row.value) * f->lanes : p * f->lanes + s.head;
        int64_t offset[8];
        device_row_offsets(offset, &s, f->ndim, call->operand_count, r);
        cr_assert(e >= 0 && e + f->lanes <= s.inner, "a pack leaves its row");
        check_alignment(call, block, offset, e);
        for (int64_t at = e; at < e + f->lanes; at++) {
            visit_one(call, block, offset, &s, at, r * s.inner + at, visit, context);
        }
    }
}

/* ---- random operands ------------------------------------------------------------------------ */

typedef struct operand_memory {
    int64_t shape[QUERN_MAX_NDIM], strides[QUERN_MAX_NDIM];
} operand_memory;

static uint64_t seed = 1;

static int64_t draw(int64_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((seed >> 33) % (uint64_t)below);
}

/* An operand over the loop's shape with a random axis order, random steps (also negative), random
 * broadcasting (inputs only) and a random misalignment. */
static void random_operand(qn_operand *o, operand_memory *m, int ndim, const int64_t *shape,
                           bool output)
{
    static const uint32_t sizes[] = {1, 2, 4, 8, 16};
    uint32_t size = sizes[draw(5)];
    int order[QUERN_MAX_NDIM];
    for (int d = 0; d < ndim; d++) {
        order[d] = d;
    }
    if (draw(2)) {
        for (int d = ndim - 1; d > 0; d--) {
            int other = (int)draw(d + 1), t = order[d];
            order[d] = order[other];
            order[other] = t;
        }
    }
    int64_t stride = size, low = 0;
    for (int k = ndim - 1; k >= 0; k--) {
        int d = order[k];
        bool repeat = !output && draw(5) == 0;
        int64_t step = draw(4) == 0 ? 1 + draw(3) : 1;
        m->shape[d] = repeat ? 1 : shape[d];
        m->strides[d] = stride * step;
        stride *= step * QN_MAX(1, m->shape[d]);
        if (draw(6) == 0) {
            low += m->strides[d] * (m->shape[d] - 1);
            m->strides[d] = -m->strides[d];
        }
    }
    int cut = output ? 0 : (int)draw(ndim + 1) * (int)(draw(4) == 0);
    *o = (qn_operand){.shape = m->shape + cut,
                      .strides = m->strides + cut,
                      .data = (char *)(uintptr_t)(UINT64_C(1) << 32) + low + draw(9) * size,
                      .ndim = ndim - cut,
                      .item_size = size,
                      .output = output,
                      .name = QN_STR("x")};
}

/* ---- the property --------------------------------------------------------------------------- */

typedef struct expectation {
    const qn_call *call;
    char **addresses; /* [position * operands + operand] */
    unsigned char *seen;
    int64_t visits, last;
    bool ordered;
} expectation;

static void expect(void *context, int64_t position, char *const *addresses)
{
    expectation *x = context;
    uint32_t operands = x->call->operand_count;
    cr_assert_lt(x->visits, x->call->count, "more elements than the loop has");
    x->visits++;
    if (x->ordered) {
        cr_assert(memcmp(&x->addresses[position * operands], addresses,
                         operands * sizeof *addresses) == 0,
                  "not the elements of that position");
    }
    for (int64_t k = 0; k <= x->call->count; k++) {
        /* most often it is the first, or the one before the last that was met */
        const int64_t at = k == 0 ? position : (x->last + x->call->count - 2 + k) % x->call->count;
        if (!x->seen[at] &&
            memcmp(&x->addresses[at * operands], addresses, operands * sizeof *addresses) == 0) {
            x->seen[at] = 1;
            x->last = at;
            return;
        }
    }
    cr_assert_fail("elements that do not belong together, or met twice");
}

/* The addresses that position `at` of the loop must meet. */
static void logical_addresses(const qn_call *call, int64_t at, char **addresses)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        const qn_operand *o = &call->operands[k];
        int64_t rest = at;
        addresses[k] = o->data;
        for (int d = call->ndim - 1; d >= 0; d--) {
            int64_t c = rest % call->shape[d];
            int own = d - (call->ndim - o->ndim);
            rest /= call->shape[d];
            if (own >= 0 && o->shape[own] != 1) {
                addresses[k] += c * o->strides[own];
            }
        }
    }
}

static void check_walk(qn_call *call, const qn_plan_rules *rules, bool wide)
{
    qn_plan_make(&call->plan, call->operands, call->operand_count, call->ndim, call->shape,
                 call->count, rules);
    call->plan.form.wide |= wide;
    qn_parameter_block block;
    cr_assert_eq(qn_marshal(&block, call, NULL), QUERN_OK);
    expectation x = {.call = call, .ordered = rules->ordered};
    x.addresses = calloc((size_t)call->count * call->operand_count, sizeof *x.addresses);
    x.seen = calloc((size_t)call->count, 1);
    for (int64_t at = 0; at < call->count; at++) {
        logical_addresses(call, at, &x.addresses[at * call->operand_count]);
    }
    walk(call, &block, expect, &x);
    cr_assert_eq(x.visits, call->count, "%lld of %lld elements met", (long long)x.visits,
                 (long long)call->count);
    free(x.addresses);
    free(x.seen);
}

/* A kernel with `operands` parameters, enough for the marshaller. */
static void fake_kernel(quern_kernel *kernel, quern_array *array, qn_call *call)
{
    static qn_parameter parameters[8];
    memset(kernel, 0, sizeof *kernel);
    kernel->kind = &qn_elementwise_kind;
    kernel->signature.parameters = parameters;
    kernel->signature.count = call->operand_count;
    call->kernel = kernel;
    for (uint32_t p = 0; p < call->operand_count; p++) {
        call->arrays[p] = array;
        call->operand_parameter[p] = (uint8_t)p;
    }
}

/* What measuring may ask of a plan: any value that a setting can have, of some fields. */
static qn_setting random_setting(void)
{
    static const uint16_t walks[] = {0, 1, 2}, packs[] = {0, 1, 2, 4, 8, 16},
                          turns[] = {0, 1, 2, 4, 8}, tiles[] = {0, 32, 64};
    return (qn_setting){.walk = walks[draw(3)],
                        .pack = packs[draw(6)],
                        .turns = turns[draw(5)],
                        .tile = tiles[draw(3)]};
}

Test(plan, every_element_once)
{
    static qn_call call;
    static operand_memory memory[8];
    quern_kernel kernel;
    quern_array *array = calloc(1, sizeof *array);
    for (int round = 0; round < 20000; round++) {
        call.ndim = (int)draw(6);
        call.count = 1;
        for (int d = 0; d < call.ndim; d++) {
            call.shape[d] = 1 + draw(d == call.ndim - 1 && draw(3) == 0 ? 40 : 4);
            call.count *= call.shape[d];
        }
        call.operand_count = 1 + (uint32_t)draw(3);
        for (uint32_t k = 0; k < call.operand_count; k++) {
            random_operand(&call.operands[k], &memory[k], call.ndim, call.shape,
                           k + 1 == call.operand_count);
        }
        fake_kernel(&kernel, array, &call);
        static const uint32_t bytes[] = {0, 8, 16};
        qn_plan_rules rules = {
            .ordered = draw(2) == 0, .keep_dims = draw(3) == 0, .pack_bytes = bytes[draw(3)]};
        rules.setting = random_setting();
        check_walk(&call, &rules, draw(2) == 0);
    }
    free(array);
}

/* Short rows of inputs with gaps and of any facing, to an output without gaps. */
Test(plan, slabs_of_short_rows)
{
    static const uint32_t sizes[] = {1, 2, 4, 8};
    static qn_call call;
    static operand_memory memory[3];
    quern_kernel kernel;
    quern_array *array = calloc(1, sizeof *array);
    long slabs = 0, deep = 0;
    for (int round = 0; round < 3000; round++) {
        call.ndim = 2 + (int)draw(3);
        call.count = 1;
        for (int d = 0; d < call.ndim; d++) {
            call.shape[d] = 1 + draw(d == 0 ? 20 : 6);
            call.count *= call.shape[d];
        }
        call.operand_count = 2 + (uint32_t)draw(2);
        for (uint32_t k = 0; k < call.operand_count; k++) {
            const bool output = k + 1 == call.operand_count;
            qn_operand *o = &call.operands[k];
            random_operand(o, &memory[k], call.ndim, call.shape, output);
            o->item_size = sizes[draw(4)];
            int64_t stride = o->item_size;
            o->data = (char *)(uintptr_t)(UINT64_C(1) << 32) + draw(9) * o->item_size;
            for (int d = call.ndim - 1; d >= 0; d--) {
                memory[k].strides[d] = draw(6) == 0 ? -stride : stride;
                stride *= call.shape[d] + (output ? 0 : draw(3));
            }
        }
        fake_kernel(&kernel, array, &call);
        qn_plan_rules rules = {.ordered = draw(2) == 0, .pack_bytes = 16};
        check_walk(&call, &rules, draw(2) == 0);
        slabs += call.plan.form.slab != 0;
        deep += call.plan.form.slab > 1;
    }
    cr_expect(slabs > 500 && deep > 50, "%ld by slabs, %ld of several dimensions", slabs, deep);
    free(array);
}

/* Rows whose packs begin anywhere: every offset of the input and the output, several pitches. */
Test(plan, rows_of_every_offset)
{
    static const uint32_t sizes[][2] = {{1, 1}, {1, 2}, {1, 4}, {2, 2}, {2, 4}, {4, 2}, {8, 1}};
    static const int64_t inner[] = {31, 64, 131, 517, 9001};
    static qn_call call;
    quern_kernel kernel;
    quern_array *array = calloc(1, sizeof *array);
    long rows = 0, words = 0, parts = 0, back = 0;
    for (int round = 0; round < 16 * 16 * 8; round++) {
        const uint32_t *size = sizes[draw(QN_COUNT(sizes))];
        const int64_t offset[] = {round % 16, round / 16 % 16}, gap[] = {draw(16), draw(16)};
        call.ndim = draw(5) == 0 ? 1 : 2;
        call.shape[0] = 3;
        call.shape[call.ndim - 1] = inner[draw(QN_COUNT(inner))] + draw(16);
        call.count = call.ndim == 1 ? call.shape[0] : 3 * call.shape[1];
        call.operand_count = 2;
        const int64_t backwards = draw(4); /* the input, the output, or none */
        int64_t strides[2][2];
        for (int k = 0; k < 2; k++) {
            const int64_t last = call.shape[call.ndim - 1];
            const int64_t facing = backwards == k ? -1 : 1;
            strides[k][0] = (last + gap[k]) * size[k];
            strides[k][call.ndim - 1] = facing * size[k];
            call.operands[k] =
                (qn_operand){.shape = call.shape,
                             .strides = strides[k],
                             .data = (char *)(uintptr_t)(UINT64_C(1) << 32) +
                                     (offset[k] + (facing < 0 ? last - 1 : 0)) * size[k],
                             .ndim = call.ndim,
                             .item_size = size[k],
                             .output = k == 1,
                             .name = QN_STR("x")};
        }
        fake_kernel(&kernel, array, &call);
        qn_plan_rules rules = {
            .ordered = draw(2) == 0, .pack_bytes = 16, .setting = random_setting()};
        check_walk(&call, &rules, draw(2) == 0);
        rows += call.plan.form.rows;
        words += call.plan.form.margin > 0;
        back += call.plan.form.access[0] == QN_ACCESS_BACK;
        parts += call.plan.form.rows && call.plan.parts > 1;
    }
    cr_expect(rows > 500 && words > 200 && parts > 100 && back > 100,
              "%ld by rows, %ld of them with words, %ld in parts, %ld turned around", rows, words,
              parts, back);
    free(array);
}
