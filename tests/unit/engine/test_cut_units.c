/* SPDX-License-Identifier: MIT
 *
 * Reductions whose units lie anywhere, of two inputs: columns and short rows of drawn extents, at
 * any element, with gaps, backwards and repeated. Each element counts by where it lies, so that one
 * that is taken twice, or not at all, shows. What is expected comes from a loop on the host. The
 * thing to know: memory ends where the last line does, so that the software device finds what is
 * read beyond it.
 */
#include "base/base.h"
#include "draw.h"
#include "numbered.h"
#include "reduced.h"
#include <stdio.h>

TestSuite(cut_units, .init = whole_open, .fini = whole_close);

enum { DRAWN = 90 };

/* A view of `extent`, of which the lines along the last axis are `pitch` elements apart. */
typedef struct view {
    int64_t extent[3], offset, pitch;
    bool back;    /* along the first axis */
    int repeated; /* axis of which the memory has one line; 2: none */
} view;

static view draw_view(void)
{
    view v = {.extent = {draw(1, 24), draw(1, 9), draw(1, 20)}, .offset = draw(0, 5)};
    v.pitch = v.extent[2] + draw(0, 1) * draw(0, 3);
    v.back = draw(0, 2) == 0;
    v.repeated = (int)QN_MIN(draw(0, 6), 2);
    return v;
}

/* Lines of the memory along axis `d`. */
static int64_t held(const view *v, int d)
{
    return d == v->repeated ? 1 : v->extent[d];
}

static int64_t place(const view *v, const int64_t *at)
{
    const int64_t last = held(v, 0) - 1, row = QN_MIN(at[0], last);
    const int64_t line = QN_MIN(at[1], held(v, 1) - 1);
    return v->offset + ((v->back ? last - row : row) * held(v, 1) + line) * v->pitch + at[2];
}

static quern_array *array_in(quern_dtype dtype, const view *v)
{
    const int64_t lines = held(v, 0) * held(v, 1);
    quern_array *memory = numbered_memory(dtype, v->offset + lines * v->pitch), *run, *table, *part,
                *all;
    OK(quern_array_slice(&run, memory, 1,
                         (quern_slice[]){{v->offset, v->offset + lines * v->pitch, 1}}));
    OK(quern_array_reshape(&table, run, SHAPE(held(v, 0), held(v, 1), v->pitch)));
    const quern_slice ahead = {0, held(v, 0), 1}, back = {held(v, 0) - 1, QUERN_SLICE_NONE, -1};
    OK(quern_array_slice(
        &part, table, 3,
        (quern_slice[]){v->back ? back : ahead, {0, held(v, 1), 1}, {0, v->extent[2], 1}}));
    OK(quern_array_broadcast(&all, part, 3, v->extent));
    quern_array_release(part);
    quern_array_release(memory);
    quern_array_release(run);
    quern_array_release(table);
    return all;
}

/* The sum over the axes in `reduced`, of each element by its place among those of its output. */
static void expect(const int64_t *got, const view *v, uint32_t reduced, const char *plan)
{
    int64_t sum[24 * 9 * 20] = {0}, seen[24 * 9 * 20] = {0}, at[3];
    for (at[0] = 0; at[0] < v->extent[0]; at[0]++) {
        for (at[1] = 0; at[1] < v->extent[1]; at[1]++) {
            for (at[2] = 0; at[2] < v->extent[2]; at[2]++) {
                int64_t y = 0;
                for (int d = 0; d < 3; d++) {
                    y = reduced >> d & 1 ? y : y * v->extent[d] + at[d];
                }
                sum[y] += numbered(place(v, at)) * (++seen[y] * 3 + 1);
            }
        }
    }
    for (int64_t y = 0; y < outputs_over(v->extent, 3, reduced); y++) {
        cr_assert_eq(got[y], sum[y], "output %ld of (%ld, %ld, %ld) over %u, offset %ld: %s",
                     (long)y, (long)v->extent[0], (long)v->extent[1], (long)v->extent[2], reduced,
                     (long)v->offset, plan);
    }
}

/* Two inputs that lie alike. Returns whether units are read as words that lie anywhere. */
static bool check(quern_kernel *k, const quern_dtype *dtypes, const view *v, uint32_t reduced)
{
    quern_array *x = array_in(dtypes[0], v), *z = array_in(dtypes[1], v), *y = NULL;
    int axes[3];
    const quern_call_options o = over_axes(axes, 3, reduced);
    const quern_value values[] = {QUERN_VALUES(x, z, &y)};
    quern_explanation *e;
    OK(quern_explain(&e, k, values, 3, &o));
    OK(quern_call_n(k, values, 3, &o));
    int64_t got[24 * 9 * 20];
    OK(quern_array_read(y, got, (size_t)outputs_over(v->extent, 3, reduced) * sizeof *got));
    expect(got, v, reduced, e->plan);
    const bool words = strstr(e->plan, "access w") != NULL;
    quern_explanation_release(e);
    quern_array_release(x);
    quern_array_release(z);
    quern_array_release(y);
    return words;
}

static void check_drawn(quern_dtype dtype, quern_dtype other, int least)
{
    const quern_dtype dtypes[] = {dtype, other};
    quern_kernel *k;
    OK(quern_reduction(&k, engine, "T x, U z", "int64 y",
                       "x == z ? (long long)x * (_J * 3 + 4) : -1", "a + b", "y = a", "0", NULL));
    int words = 0;
    for (int n = 0; n < drawn(DRAWN); n++) {
        const view v = draw_view();
        words += check(k, dtypes, &v, (uint32_t)draw(1, 6));
    }
    cr_assert_geq(words, drawn(least), "%d of %d", words, drawn(DRAWN));
    quern_kernel_release(k);
}

Test(cut_units, of_bytes)
{
    state = 1;
    check_drawn(QUERN_UINT8, QUERN_UINT8, DRAWN / 6);
}

Test(cut_units, of_two_bytes)
{
    state = 2;
    check_drawn(QUERN_UINT16, QUERN_UINT16, DRAWN / 6);
}

Test(cut_units, of_four_bytes)
{
    state = 3;
    check_drawn(QUERN_FLOAT32, QUERN_FLOAT32, 0);
}

/* A unit is of eight elements: two words of bytes, and four. */
Test(cut_units, of_bytes_and_two_bytes)
{
    state = 4;
    check_drawn(QUERN_UINT8, QUERN_UINT16, DRAWN / 6);
}

Test(cut_units, of_two_bytes_and_four)
{
    state = 5;
    check_drawn(QUERN_UINT16, QUERN_FLOAT32, DRAWN / 6);
}

/* Columns of so many lines that several threads go down each, with several units under way; the
 * first and the last line, beyond which there may be no memory, go by themselves. */
Test(cut_units, of_many_lines)
{
    quern_kernel *k;
    OK(quern_reduction(&k, engine, "T x, U z", "int64 y",
                       "x == z ? (long long)x * (_J * 3 + 4) : -1", "a + b", "y = a", "0", NULL));
    static const quern_dtype dtypes[][2] = {
        {QUERN_UINT8, QUERN_UINT8}, {QUERN_UINT16, QUERN_UINT16}, {QUERN_UINT8, QUERN_UINT16}};
    int words = 0;
    state = 6;
    for (int n = 0; n < drawn(DRAWN); n++) {
        view v = {.extent = {draw(1, 2) == 1 ? draw(2, 12) : draw(100, 900), draw(1, 3),
                             2 * draw(5, 60) + 1},
                  .offset = draw(0, 5),
                  .back = draw(0, 2) == 0,
                  .repeated = 2};
        v.pitch = v.extent[2] + draw(0, 1) * draw(0, 3);
        words += check(k, dtypes[n % 3], &v, draw(0, 3) == 0 ? 3 : 1);
    }
    cr_assert_geq(words, DRAWN / 4 / drawn_part(), "%d of %d", words, drawn(DRAWN));
    quern_kernel_release(k);
}
