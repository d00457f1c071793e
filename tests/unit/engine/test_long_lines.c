/* SPDX-License-Identifier: MIT
 *
 * Reductions over several axes whose long lines do not follow each other in memory: parts of longer
 * rows, from any element on, any axis forwards or backwards, alone and with an array that is off
 * the alignment alike or not. What is expected comes from a loop on the host; a line's first and
 * last elements, which no pack covers, count as much as all others. The thing to know: on as many
 * processors as a large GPU has, blocks share lines, and lines share blocks.
 */
#include "base/base.h"
#include "draw.h"
#include "numbered.h"
#include "reduced.h"

TestSuite(long_lines, .init = whole_open_large, .fini = whole_close);

enum { DRAWN = 40, OUTER = 4, MIDDLE = 7, LONGEST = 1400 };

/* A view of lines that are `pitch` elements apart. */
typedef struct view {
    int64_t extent[3], offset, pitch;
    bool back[3];
} view;

static view draw_view(void)
{
    view v = {.extent = {draw(1, OUTER), draw(1, MIDDLE), draw(130, LONGEST)},
              .offset = draw(0, 17)};
    v.pitch = v.extent[2] + draw(0, 2) * draw(0, 9);
    for (int d = 0; d < 3; d++) {
        v.back[d] = draw(0, 3) == 0;
    }
    return v;
}

static int64_t place(const view *v, const int64_t *at)
{
    int64_t own[3];
    for (int d = 0; d < 3; d++) {
        own[d] = v->back[d] ? v->extent[d] - 1 - at[d] : at[d];
    }
    return v->offset + (own[0] * v->extent[1] + own[1]) * v->pitch + own[2];
}

static quern_array *array_in(quern_dtype dtype, const view *v)
{
    const int64_t lines = v->extent[0] * v->extent[1];
    quern_array *memory = numbered_memory(dtype, v->offset + lines * v->pitch);
    quern_array *run, *table, *all;
    OK(quern_array_slice(&run, memory, 1,
                         (quern_slice[]){{v->offset, v->offset + lines * v->pitch, 1}}));
    OK(quern_array_reshape(&table, run, SHAPE(v->extent[0], v->extent[1], v->pitch)));
    quern_slice slices[3];
    for (int d = 0; d < 3; d++) {
        slices[d] = v->back[d] ? (quern_slice){v->extent[d] - 1, QUERN_SLICE_NONE, -1}
                               : (quern_slice){0, v->extent[d], 1};
    }
    OK(quern_array_slice(&all, table, 3, slices));
    quern_array_release(memory);
    quern_array_release(run);
    quern_array_release(table);
    return all;
}

/* The sum over the axes in `reduced` of x * z, where the two lie in `v` and in `w`. */
static void expect(const int64_t *got, const view *v, const view *w, uint32_t reduced,
                   const char *plan)
{
    static int64_t sum[OUTER * MIDDLE * LONGEST];
    memset(sum, 0, sizeof sum);
    int64_t at[3];
    for (at[0] = 0; at[0] < v->extent[0]; at[0]++) {
        for (at[1] = 0; at[1] < v->extent[1]; at[1]++) {
            for (at[2] = 0; at[2] < v->extent[2]; at[2]++) {
                int64_t y = 0;
                for (int d = 0; d < 3; d++) {
                    y = reduced >> d & 1 ? y : y * v->extent[d] + at[d];
                }
                sum[y] += (int64_t)numbered(place(v, at)) * numbered(place(w, at));
            }
        }
    }
    for (int64_t y = 0; y < outputs_over(v->extent, 3, reduced); y++) {
        cr_assert_eq(got[y], sum[y], "output %ld of (%ld, %ld, %ld) over %u: %s", (long)y,
                     (long)v->extent[0], (long)v->extent[1], (long)v->extent[2], reduced, plan);
    }
}

/* Returns whether lines have packs of their own. */
static bool check(quern_kernel *k, quern_dtype dtype, quern_dtype other, const view *v,
                  const view *w, uint32_t reduced)
{
    static int64_t got[OUTER * MIDDLE * LONGEST];
    quern_array *x = array_in(dtype, v), *z = array_in(other, w), *y = NULL;
    int axes[3];
    const quern_call_options o = over_axes(axes, 3, reduced);
    const quern_value values[] = {QUERN_VALUES(x, z, &y)};
    quern_explanation *e;
    OK(quern_explain(&e, k, values, 3, &o));
    OK(quern_call_n(k, values, 3, &o));
    OK(quern_array_read(y, got, (size_t)outputs_over(v->extent, 3, reduced) * sizeof *got));
    expect(got, v, w, reduced, e->plan);
    const bool lines = strstr(e->plan, "of a line") != NULL;
    quern_explanation_release(e);
    quern_array_release(x);
    quern_array_release(z);
    quern_array_release(y);
    return lines;
}

/* The other array lies as the first, or otherwise. */
static void check_drawn(quern_dtype dtype, quern_dtype other, int least)
{
    quern_kernel *k;
    OK(quern_reduction(&k, engine, "T x, U z", "int64 y", "(long long)x * (long long)z", "a + b",
                       "y = a", "0", NULL));
    int lines = 0;
    for (int n = 0; n < drawn(DRAWN); n++) {
        const view v = draw_view();
        view w = v;
        w.offset = draw(0, 1) ? v.offset : draw(0, 17);
        lines += check(k, dtype, other, &v, &w, (uint32_t)draw(4, 7));
    }
    cr_assert_geq(lines, drawn(least), "%d of %d", lines, drawn(DRAWN));
    quern_kernel_release(k);
}

Test(long_lines, drawn)
{
    static const quern_dtype pairs[][2] = {{QUERN_UINT8, QUERN_UINT8},
                                           {QUERN_UINT16, QUERN_UINT16},
                                           {QUERN_FLOAT32, QUERN_FLOAT32},
                                           {QUERN_INT64, QUERN_INT64},
                                           {QUERN_UINT16, QUERN_FLOAT32}};
    for (size_t k = 0; k < QN_COUNT(pairs); k++) {
        check_drawn(pairs[k][0], pairs[k][1], DRAWN / 6);
    }
}

/* Columns of which all inputs run backwards go by packs: the outputs run backwards then. */
Test(long_lines, backward_columns)
{
    enum { ROWS = 300, COLUMNS = 64 };
    quern_kernel *k;
    OK(quern_reduction(&k, engine, "T x", "int64 y", "x", "a + b", "y = a", "0", NULL));
    const view v = {.extent = {1, ROWS, COLUMNS}, .pitch = COLUMNS, .back = {false, true, true}};
    quern_array *x = array_in(QUERN_UINT8, &v), *y = NULL;
    quern_call_options o = QUERN_CALL_OPTIONS_INIT;
    o.axes = (int[]){1};
    o.axis_count = 1;
    const quern_value values[] = {QUERN_VALUES(x, &y)};
    quern_explanation *e;
    OK(quern_explain(&e, k, values, 2, &o));
    cr_expect(strstr(e->plan, "access v"), "%s", e->plan);
    quern_explanation_release(e);
    OK(quern_call_n(k, values, 2, &o));
    int64_t got[COLUMNS];
    OK(quern_array_read(y, got, sizeof got));
    for (int64_t c = 0; c < COLUMNS; c++) {
        int64_t sum = 0;
        for (int64_t r = 0; r < ROWS; r++) {
            sum += numbered(place(&v, (int64_t[]){0, r, c}));
        }
        cr_expect_eq(got[c], sum, "column %ld: %ld, not %ld", (long)c, (long)got[c], (long)sum);
    }
    quern_array_release(x);
    quern_array_release(y);
    quern_kernel_release(k);
}
