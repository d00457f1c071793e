/* SPDX-License-Identifier: MIT
 *
 * The plans that well-known layouts must get, and what operands say of each other: shapes that do
 * not go together, memory that two share. That a plan meets every element is test_plan.c's.
 */
#include "engine/engine_internal.h"
#include <criterion/criterion.h>
#include <string.h>

/* ---- layouts that must get the good plan ---------------------------------------------------- */

typedef struct layout_case {
    const char *what;
    int ndim;
    int64_t shape[3];
    int64_t strides[2][3]; /* elements of float32: input, output */
    int64_t offset[2];     /* elements */
    int walked, lanes;
    const char *access;
} layout_case;

static const layout_case layouts[] = {
    {"contiguous", 1, {1000}, {{1}, {1}}, {0, 0}, 1, 4, "vv"},
    {"contiguous in 3-d", 3, {5, 6, 7}, {{42, 7, 1}, {42, 7, 1}}, {0, 0}, 1, 4, "vv"},
    {"both transposed", 2, {30, 40}, {{1, 30}, {1, 30}}, {0, 0}, 1, 4, "vv"},
    {"both reversed", 1, {1000}, {{-1}, {-1}}, {999, 999}, 1, 4, "vv"},
    {"both offset alike", 1, {1000}, {{1}, {1}}, {1, 1}, 1, 4, "vv"},
    {"offset differently", 1, {1000}, {{1}, {1}}, {1, 0}, 1, 4, "cv"},
    {"every other", 1, {1000}, {{2}, {1}}, {0, 0}, 1, 4, "sv"},
    {"row broadcast", 2, {30, 40}, {{0, 1}, {40, 1}}, {0, 0}, 2, 4, "vv"},
    {"column broadcast", 2, {30, 40}, {{1, 0}, {40, 1}}, {0, 0}, 2, 4, "bv"},
    {"scalar array", 2, {30, 40}, {{0, 0}, {40, 1}}, {0, 0}, 1, 4, "bv"},
    {"padded rows", 2, {30, 40}, {{48, 1}, {40, 1}}, {0, 0}, 2, 4, "vv"},
    {"rows of odd length", 2, {30, 41}, {{48, 1}, {41, 1}}, {0, 0}, 2, 1, "ss"},
    {"long rows of odd length", 2, {30, 401}, {{405, 1}, {401, 1}}, {0, 0}, 2, 4, "vv"},
    {"one transposed", 2, {30, 40}, {{1, 30}, {40, 1}}, {0, 0}, 2, 4, "sv"},
    {"one transposed, large", 2, {300, 400}, {{1, 300}, {400, 1}}, {0, 0}, 3, 4, "tc"},
    {"short rows", 2, {300, 3}, {{4, 1}, {3, 1}}, {0, 0}, 2, 1, "ss"},
    {"short rows to short rows", 2, {300, 3}, {{4, 1}, {4, 1}}, {0, 0}, 2, 1, "cc"},
    {"every other, to every other", 1, {1000}, {{2}, {2}}, {0, 0}, 1, 1, "ss"},
};

Test(plan, known_layouts)
{
    for (size_t c = 0; c < QN_COUNT(layouts); c++) {
        const layout_case *l = &layouts[c];
        qn_operand operands[2];
        int64_t strides[2][3], count = 1;
        for (int d = 0; d < l->ndim; d++) {
            count *= l->shape[d];
        }
        for (int k = 0; k < 2; k++) {
            for (int d = 0; d < l->ndim; d++) {
                strides[k][d] = l->strides[k][d] * 4;
            }
            operands[k] =
                (qn_operand){l->shape,
                             strides[k],
                             (char *)(uintptr_t)((1 + (uint64_t)k) << 40) + 4 * l->offset[k],
                             l->ndim,
                             4,
                             k == 1,
                             QN_STR("x")};
        }
        qn_plan_rules rules = {.pack_bytes = 16};
        qn_plan plan;
        qn_plan_make(&plan, operands, 2, l->ndim, l->shape, count, &rules);
        cr_expect_eq(plan.form.ndim, l->walked, "%s: walks %d dimensions", l->what, plan.form.ndim);
        cr_expect_eq(plan.form.lanes, l->lanes, "%s: %d lanes", l->what, plan.form.lanes);
        cr_expect_arr_eq(plan.form.access, l->access, 2, "%s: access %c%c", l->what,
                         plan.form.access[0], plan.form.access[1]);
    }
}

/* Rows of a contiguous input to rows further apart, which no packs of 16 bytes suit: packs write an
 * element after the other, so where most packs of a row have a sector of their own, or the row is
 * narrow, threads take single elements. */
Test(plan, rows_to_rows_with_gaps)
{
    static const struct {
        uint32_t item;
        int64_t row, pitch;
        bool packs;
    } cases[] = {
        {1, 4, 5, true},   {1, 4, 19, true},   {1, 4, 21, false},  {1, 4, 45, false},
        {1, 16, 17, true}, {1, 16, 27, true},  {2, 20, 21, false}, {2, 24, 27, false},
        {2, 32, 37, true}, {4, 12, 13, false}, {4, 16, 17, true},  {4, 28, 31, true},
        {8, 6, 9, false},  {8, 10, 13, false}, {8, 32, 59, true},
    };
    for (size_t c = 0; c < QN_COUNT(cases); c++) {
        const int64_t item = cases[c].item, extent[] = {100000, cases[c].row};
        const int64_t strides[][2] = {{item * cases[c].row, item}, {item * cases[c].pitch, item}};
        qn_operand operands[2];
        for (int k = 0; k < 2; k++) {
            operands[k] = (qn_operand){
                extent, strides[k], (char *)((uintptr_t)(1 + k) << 30), 2, (uint32_t)item,
                k == 1, QN_STR("x")};
        }
        const qn_plan_rules rules = {.pack_bytes = 16, .torn = true};
        qn_plan plan;
        qn_plan_make(&plan, operands, 2, 2, extent, extent[0] * extent[1], &rules);
        cr_expect_eq(plan.form.lanes > 1, cases[c].packs,
                     "%lld of %lld bytes, %lld apart: %d lanes", (long long)cases[c].row,
                     (long long)item, (long long)cases[c].pitch, plan.form.lanes);
    }
}

/* A contiguous input and an output of int8 with gaps: which of the output's sectors are asked for
 * early. */
static const struct early_case {
    const char *what;
    int64_t extent[2], stride[2]; /* of the output */
    uint8_t early;
} early_cases[] = {
    {"contiguous", {300, 64}, {64, 1}, QN_EARLY_NONE},
    {"whole sectors", {300, 64}, {96, 1}, QN_EARLY_NONE},
    {"short rows with gaps", {300, 23}, {26, 1}, QN_EARLY_FIRST},
    {"short rows off the sectors", {300, 32}, {48, 1}, QN_EARLY_FIRST},
    {"rows of which a sector has several", {300, 4}, {6, 1}, QN_EARLY_FIRST},
    {"every third element", {300, 64}, {192, 3}, QN_EARLY_FIRST},
    {"each element in a sector", {300, 64}, {2600, 40}, QN_EARLY_ALL},
    {"longer rows with gaps", {300, 601}, {640, 1}, QN_EARLY_ENDS},
    {"rows whose ends are little", {30, 10001}, {10240, 1}, QN_EARLY_NONE},
};

Test(plan, sectors_written_in_part_are_asked_for_early)
{
    for (size_t c = 0; c < QN_COUNT(early_cases); c++) {
        const struct early_case *e = &early_cases[c];
        const int64_t dense[] = {e->extent[1], 1};
        const qn_operand operands[] = {
            {e->extent, dense, (char *)((uintptr_t)1 << 40), 2, 1, false, QN_STR("x")},
            {e->extent, e->stride, (char *)((uintptr_t)1 << 41), 2, 1, true, QN_STR("y")},
        };
        const qn_plan_rules rules = {.pack_bytes = 16};
        qn_plan plan;
        qn_plan_make(&plan, operands, 2, 2, e->extent, e->extent[0] * e->extent[1], &rules);
        cr_expect_eq(plan.form.early, e->early, "%s: early %d", e->what, plan.form.early);
    }
}

/* Where memory takes longer for parts of sectors, narrow rows that are no aligned packs are written
 * an element a thread; those of bytes are not, nor longer ones. */
Test(plan, narrow_rows_with_gaps)
{
    static const struct gap_case {
        uint32_t item;
        int64_t row, pitch; /* elements */
        int packs, torn;    /* lanes, where parts of sectors cost nothing, and where they do */
    } gaps[] = {
        {4, 4, 7, 4, 1}, {4, 8, 11, 4, 1},  {2, 4, 7, 4, 1},   {2, 16, 19, 4, 1},
        {4, 4, 8, 4, 4}, {4, 16, 19, 4, 4}, {1, 16, 19, 4, 4}, {1, 4, 7, 4, 4},
    };
    for (size_t c = 0; c < QN_COUNT(gaps); c++) {
        const struct gap_case *g = &gaps[c];
        const int64_t item = g->item, shape[] = {300, g->row};
        const int64_t dense[] = {g->row * item, item}, apart[] = {g->pitch * item, item};
        const qn_operand operands[] = {
            {shape, dense, (char *)(uintptr_t)(1ull << 40), 2, g->item, false, QN_STR("x"), false},
            {shape, apart, (char *)(uintptr_t)(2ull << 40), 2, g->item, true, QN_STR("y"), false}};
        for (int torn = 0; torn < 2; torn++) {
            const qn_plan_rules rules = {.pack_bytes = 4 * g->item, .torn = torn != 0};
            qn_plan plan;
            qn_plan_make(&plan, operands, 2, 2, shape, 300 * g->row, &rules);
            cr_expect_eq(plan.form.lanes, torn ? g->torn : g->packs, "case %zu: %d lanes, torn %d",
                         c, plan.form.lanes, torn);
        }
    }
}

/* Offsets inside of a box stay below 2^30, those of pieces around its last element too: with the
 * second pitch that of all lines would lie at 2^30 - 4, so boxes have fewer. */
Test(plan, boxes_in_runs_are_near)
{
    static const int64_t pitches[] = {5563427, 5563429, 5563431};
    for (int n = 0; n < 3; n++) {
        const int64_t extent[] = {24, 194}, lines[] = {194, 1}, far[] = {1, pitches[n]};
        const qn_operand operands[] = {
            {extent, far, (char *)((uintptr_t)1 << 40), 2, 1, false, QN_STR("x")},
            {extent, lines, (char *)((uintptr_t)1 << 41), 2, 1, true, QN_STR("y")},
        };
        const qn_plan_rules rules = {.pack_bytes = 16};
        qn_plan plan;
        qn_plan_make(&plan, operands, 2, 2, extent, 24 * 194, &rules);
        int64_t reach = 0;
        for (int d = plan.form.box; d < plan.form.ndim; d++) {
            reach += plan.stride[0][d] * (plan.extent[d] - 1);
        }
        cr_expect(plan.form.pool != 0 && reach < (1 << 30) - 64, "lines %lld apart: %lld",
                  (long long)pitches[n], (long long)reach);
        cr_expect_eq(reach >= 193 * pitches[n], n == 0, "lines %lld apart", (long long)pitches[n]);
    }
}

/* Rows of bytes whose planes are off alignment are left to boxes in runs. Beside an input that is
 * no plane, which would go by these, rows of 6 stay whole, four a thread; those of 7, two a thread,
 * go flat. */
Test(plan, thin_rows_that_boxes_do_not_suit)
{
    for (int64_t places = 6; places <= 7; places++) {
        const int64_t extent[] = {4945, places}, rows[] = {places, 1}, planes[] = {1, 4945};
        const qn_operand operands[] = {
            {extent, planes, (char *)((uintptr_t)1 << 40), 2, 1, false, QN_STR("x")},
            {extent, rows, (char *)((uintptr_t)1 << 41), 2, 1, true, QN_STR("y")},
            {extent, rows, (char *)((uintptr_t)1 << 42), 2, 1, false, QN_STR("z")},
        };
        const qn_plan_rules rules = {.pack_bytes = 16, .torn = true};
        for (size_t count = 2; count <= 3; count++) {
            qn_plan plan;
            qn_plan_make(&plan, operands, count, 2, extent, 4945 * places, &rules);
            cr_expect_eq(plan.form.pool != 0, count == 2);
            cr_expect_eq(plan.form.thin, count == 3 && places == 6 ? 6 : 0,
                         "%d, %ld operands, rows of %ld", plan.form.thin, (long)count,
                         (long)places);
        }
    }
}

/* The same of what boxes that begin early have before them. */
Test(plan, boxes_that_begin_early_are_near)
{
    for (int64_t pitch = 1530004; pitch < 1600000; pitch += 9999) {
        const int64_t extent[] = {20, 1300}, lines[] = {1300, 1}, far[] = {1, pitch};
        const qn_operand operands[] = {
            {extent, far, (char *)((uintptr_t)1 << 40), 2, 1, false, QN_STR("x")},
            {extent, lines, (char *)((uintptr_t)1 << 41), 2, 1, true, QN_STR("y")},
        };
        const qn_plan_rules rules = {.pack_bytes = 16, .torn = true};
        qn_plan plan;
        qn_plan_make(&plan, operands, 2, 2, extent, 20 * 1300, &rules);
        int64_t reach = 0;
        for (int d = plan.form.box; plan.form.pool != 0 && d < plan.form.ndim; d++) {
            reach += plan.stride[0][d] * (plan.extent[d] - 1);
        }
        cr_expect_lt(reach, (1 << 30) - 64, "lines %lld apart: %lld, slack %d", (long long)pitch,
                     (long long)reach, plan.form.slack);
    }
}

/* Boxes of whole matrices, of which no dimension is cut: what is not filled in has no say. */
Test(plan, boxes_do_not_depend_on_what_was_there)
{
    static qn_plan plans[2];
    static const int64_t extent[] = {74, 187}, lines[] = {187, 1}, turned[] = {1, 74};
    const qn_operand operands[] = {
        {extent, turned, (char *)((uintptr_t)1 << 40), 2, 1, false, QN_STR("x")},
        {extent, lines, (char *)((uintptr_t)1 << 41), 2, 1, true, QN_STR("y")},
    };
    const qn_plan_rules rules = {.pack_bytes = 16};
    memset(&plans[1], 0x5a, sizeof plans[1]);
    for (int n = 0; n < 2; n++) {
        qn_plan_make(&plans[n], operands, 2, 2, extent, 74 * 187, &rules);
        cr_expect(plans[n].form.pool != 0 && plans[n].form.cuts == 0);
    }
    cr_expect_arr_eq(&plans[0].form, &plans[1].form, sizeof plans[0].form);
    cr_expect_arr_eq(plans[0].last, plans[1].last, sizeof plans[0].last);
    cr_expect_eq(plans[0].stir, plans[1].stir);
    cr_expect_eq(plans[0].by_runs, plans[1].by_runs);
    cr_expect_eq(plans[0].group, plans[1].group);
}

/* Bytes of rows of 16, off the alignment of words, become 16 rows: threads beside each other take
 * the same sector of these, of which four have a word. */
Test(plan, boxes_of_few_runs_are_given_from_run_to_run)
{
    static const int64_t extent[] = {16, 100000}, lines[] = {100000, 1}, turned[] = {1, 16};
    const qn_operand operands[] = {
        {extent, turned, (char *)((uintptr_t)1 << 40) + 13, 2, 1, false, QN_STR("x")},
        {extent, lines, (char *)((uintptr_t)1 << 41), 2, 1, true, QN_STR("y")},
    };
    const qn_plan_rules rules = {.pack_bytes = 16};
    qn_plan plan;
    qn_plan_make(&plan, operands, 2, 2, extent, 1600000, &rules);
    cr_expect(plan.form.pool != 0 && plan.by_runs && plan.stir == 1);
}

/* Rows off the sectors, whose elements boxes would give one by one, go so only where the walk as it
 * is would read memory again and again: 105 lines that a processor's cache holds, or 600. */
Test(plan, boxes_that_give_elements_must_save_much)
{
    for (int far = 0; far < 2; far++) {
        const int64_t rows = far ? 600 : 105, extent[] = {1957, 209, rows};
        const int64_t turned[] = {424 * rows, 2, 424}, lines[] = {2 * 120 * 209, 2 * 120, 2};
        const int64_t wide[] = {2 * 615 * 209, 2 * 615, 2};
        const qn_operand operands[] = {
            {extent, turned, (char *)((uintptr_t)1 << 40), 3, 2, false, QN_STR("x")},
            {extent, far ? wide : lines, (char *)((uintptr_t)1 << 41) + 12, 3, 2, true,
             QN_STR("y")},
        };
        const qn_plan_rules rules = {.pack_bytes = 16, .torn = true};
        qn_plan plan;
        qn_plan_make(&plan, operands, 2, 3, extent, extent[0] * extent[1] * extent[2], &rules);
        cr_expect_eq(plan.form.boxed || plan.form.tile != 0, far == 1, "rows of %lld",
                     (long long)rows);
    }
}

Test(plan, wide_only_when_needed)
{
    qn_plan_rules rules = {.pack_bytes = 16};
    qn_plan plan;
    for (int shift = 20; shift < 34; shift++) {
        int64_t n = INT64_C(1) << shift, stride = 1;
        qn_operand o = {&n, &stride, (char *)(uintptr_t)4096, 1, 1, true, QN_STR("x")};
        qn_plan_make(&plan, &o, 1, 1, &n, n, &rules);
        cr_expect_eq(plan.form.wide, shift >= 31, "2^%d elements", shift);
    }
}

/* ---- broadcasting and overlap --------------------------------------------------------------- */

Test(plan, shapes)
{
    int64_t a[] = {3, 1}, b[] = {4}, c[] = {3, 4}, bad[] = {3}, strides[] = {0, 0};
    qn_operand operands[3] = {{a, strides, NULL, 2, 4, false, QN_STR("a")},
                              {b, strides, NULL, 1, 4, false, QN_STR("b")},
                              {c, strides, NULL, 2, 4, true, QN_STR("c")}};
    int ndim;
    int64_t shape[QUERN_MAX_NDIM], count;
    cr_assert_eq(qn_plan_shape(&ndim, shape, &count, operands, 3), QUERN_OK);
    cr_assert(ndim == 2 && shape[0] == 3 && shape[1] == 4 && count == 12);
    operands[1].shape = bad;
    cr_assert_eq(qn_plan_shape(&ndim, shape, &count, operands, 3), QUERN_ERROR_SHAPE);
    cr_assert(strstr(quern_last_error()->message, "(3, 4)") != NULL);
    operands[1].shape = b;
    operands[2].shape = a; /* an output that would have to be widened */
    cr_assert_eq(qn_plan_shape(&ndim, shape, &count, operands, 3), QUERN_OK);
    cr_assert_eq(qn_plan_outputs(operands, 3, ndim, shape), QUERN_ERROR_SHAPE);
    cr_assert(strstr(quern_last_error()->message, "exactly that shape") != NULL);
}

Test(plan, overlap)
{
    int64_t n = 100, one = 4, two = 8;
    char *base = (char *)(uintptr_t)4096;
    qn_operand x = {&n, &one, base, 1, 4, false, QN_STR("x")};
    qn_operand same = x, later = x, apart = x, stepped = x;
    later.data = base + 4;
    apart.data = base + 400;
    stepped.strides = &two;
    cr_expect_eq(qn_operands_overlap(&x, &same), QN_OVERLAP_SAME);
    cr_expect_eq(qn_operands_overlap(&x, &later), QN_OVERLAP_PARTIAL);
    cr_expect_eq(qn_operands_overlap(&later, &x), QN_OVERLAP_PARTIAL);
    cr_expect_eq(qn_operands_overlap(&x, &apart), QN_OVERLAP_NONE);
    cr_expect_eq(qn_operands_overlap(&x, &stepped), QN_OVERLAP_PARTIAL);
}
