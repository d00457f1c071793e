/* SPDX-License-Identifier: MIT
 *
 * Boxes whose inputs go in runs: arrays of drawn extents in another order than the output, at any
 * element, with gaps and backwards. Each element counts by where it lies, so that one that is taken
 * from elsewhere, or put elsewhere, shows; gaps of the output must stay as they are. The thing to
 * know: memory ends where the last line does, so that the software device finds what is read or
 * written beyond it.
 */
#include "base/base.h"
#include "draw.h"
#include "numbered.h"
#include <stdio.h>

TestSuite(box_runs, .init = whole_open, .fini = whole_close);

enum { DRAWN = 24, MOST = 24 * 4 * 1600, MOST_OF_THREE = 40 * 40 * 304 };

/* A view of three axes, of which the lines along the last are `pitch` elements apart. */
typedef struct view {
    int64_t extent[3], offset, pitch;
    bool back; /* along the last axis */
    quern_array *memory, *array;
} view;

static int64_t bytes_of(quern_dtype dtype)
{
    return dtype == QUERN_UINT8 ? 1 : dtype == QUERN_UINT16 ? 2 : 4;
}

static void open_view(view *v, quern_dtype dtype, int64_t a, int64_t b, int64_t c)
{
    *v = (view){.extent = {a, b, c}, .offset = draw(0, 5), .pitch = c + draw(0, 1) * draw(0, 4)};
    v->back = draw(0, 3) == 0;
    const int64_t count = a * b * v->pitch;
    quern_array *run, *table;
    v->memory = numbered_memory(dtype, v->offset + count);
    OK(quern_array_slice(&run, v->memory, 1, (quern_slice[]){{v->offset, v->offset + count, 1}}));
    OK(quern_array_reshape(&table, run, SHAPE(a, b, v->pitch)));
    const quern_slice ahead = {0, c, 1};
    const quern_slice back = {c - 1, QUERN_SLICE_NONE, -1};
    OK(quern_array_slice(&v->array, table, 3,
                         (quern_slice[]){{0, a, 1}, {0, b, 1}, v->back ? back : ahead}));
    quern_array_release(run);
    quern_array_release(table);
}

static void close_view(view *v)
{
    quern_array_release(v->array);
    quern_array_release(v->memory);
}

static int64_t place(const view *v, int64_t a, int64_t b, int64_t c)
{
    return v->offset + (a * v->extent[1] + b) * v->pitch + (v->back ? v->extent[2] - 1 - c : c);
}

static unsigned element(const unsigned char *memory, quern_dtype dtype, int64_t at)
{
    if (dtype == QUERN_FLOAT32) {
        float value;
        memcpy(&value, memory + at * 4, 4);
        return (unsigned)value;
    }
    return dtype == QUERN_UINT8 ? memory[at] : memory[2 * at] | (unsigned)memory[2 * at + 1] << 8;
}

/* Returns whether the call went by boxes in runs: y (a, b, c) = 2 y + x, where x is (c, b, a) in
 * memory. */
static bool check(quern_kernel *k, quern_dtype from, quern_dtype to, int64_t a, int64_t b,
                  int64_t c)
{
    static unsigned char got[MOST * 4 + 64];
    static bool given[MOST + 16];
    view x, y;
    open_view(&x, from, c, b, a);
    open_view(&y, to, a, b, c);
    quern_array *turned;
    OK(quern_array_transpose(&turned, x.array, NULL));
    const quern_value values[] = {QUERN_VALUES(turned, y.array)};
    quern_explanation *e;
    OK(quern_explain(&e, k, values, 2, NULL));
    OK(quern_call_n(k, values, 2, NULL));
    const int64_t count = y.offset + a * b * y.pitch;
    OK(quern_array_read(y.memory, got, (size_t)(count * bytes_of(to))));
    memset(given, 0, sizeof given);
    const unsigned mask = to == QUERN_UINT8 ? 0xff : 0xffff;
    for (int64_t n = 0; n < a * b * c; n++) {
        const int64_t i = n / (b * c), j = n / c % b, l = n % c;
        const int64_t at = place(&y, i, j, l);
        given[at] = true;
        cr_assert_eq(element(got, to, at), (2 * numbered(at) + numbered(place(&x, l, j, i))) & mask,
                     "(%ld, %ld, %ld) of (%ld, %ld, %ld): %s", (long)i, (long)j, (long)l, (long)a,
                     (long)b, (long)c, e->plan);
    }
    for (int64_t at = 0; at < count; at++) {
        cr_assert(given[at] || element(got, to, at) == numbered(at), "gap at %ld: %s", (long)at,
                  e->plan);
    }
    const bool runs = strstr(e->plan, "in runs") != NULL;
    quern_explanation_release(e);
    quern_array_release(turned);
    close_view(&x);
    close_view(&y);
    return runs;
}

static void check_drawn(quern_dtype from, quern_dtype to, int least)
{
    quern_kernel *k = kernel_of("S x", "T y", "y = y * 2 + x");
    int runs = 0;
    for (int n = 0; n < drawn(DRAWN); n++) {
        const int64_t a = draw(3, 24), b = draw(1, 4);
        runs += check(k, from, to, a, b, draw(5000 / a / b + 40, 1500));
    }
    cr_assert_geq(runs, drawn(least), "%d of %d", runs, drawn(DRAWN));
    quern_kernel_release(k);
}

/* ---- batches of matrices --------------------------------------------------------------------- */

/* y (n, a, b) = 2 y + x, where x is (n, b, a) in memory. Returns whether it went by runs. */
static bool turn_matrices(quern_kernel *k, quern_dtype dtype, int64_t n, int64_t a, int64_t b)
{
    static unsigned char got[MOST * 4 + 64];
    view x, y;
    open_view(&x, dtype, n, b, a);
    open_view(&y, dtype, n, a, b);
    quern_array *turned;
    OK(quern_array_transpose(&turned, x.array, (int[]){0, 2, 1}));
    const quern_value values[] = {QUERN_VALUES(turned, y.array)};
    quern_explanation *e;
    OK(quern_explain(&e, k, values, 2, NULL));
    OK(quern_call_n(k, values, 2, NULL));
    OK(quern_array_read(y.memory, got, (size_t)((y.offset + n * a * y.pitch) * bytes_of(dtype))));
    const unsigned mask = dtype == QUERN_UINT8 ? 0xff : 0xffff;
    for (int64_t at = 0; at < n * a * b; at++) {
        const int64_t i = at / (a * b), j = at / b % a, l = at % b, to = place(&y, i, j, l);
        cr_assert_eq(element(got, dtype, to),
                     (2 * numbered(to) + numbered(place(&x, i, l, j))) & mask,
                     "(%ld, %ld, %ld) of (%ld, %ld, %ld): %s", (long)i, (long)j, (long)l, (long)n,
                     (long)a, (long)b, e->plan);
    }
    const bool runs = strstr(e->plan, "in runs") != NULL;
    quern_explanation_release(e);
    quern_array_release(turned);
    close_view(&x);
    close_view(&y);
    return runs;
}

Test(box_runs, batches_of_matrices)
{
    const quern_dtype dtypes[] = {QUERN_UINT8, QUERN_UINT16, QUERN_FLOAT32};
    quern_kernel *k = kernel_of("S x", "S y", "y = y * 2 + x");
    int runs = 0;
    state = 5;
    for (int round = 0; round < drawn(DRAWN); round++) {
        const int64_t a = draw(33, 200), b = draw(33, 120);
        runs += turn_matrices(k, dtypes[round % 3], draw(2, 5), a, b);
    }
    cr_assert(runs > drawn(DRAWN) / 4, "%d of %d", runs, drawn(DRAWN));
    quern_kernel_release(k);
}

/* ---- pieces in shared memory ----------------------------------------------------------------- */

/* The device looks for threads that write to one place. */
static void open_watched(void)
{
    setenv("QUERN_DEVICE", "soft:2,check=races", 1);
    whole_open();
}

TestSuite(box_races, .init = open_watched, .fini = whole_close);

/* y = x, where x is `parts` of lines with a gap behind each part. Returns whether it went by runs.
 */
static bool copy_lines(quern_kernel *k, quern_dtype dtype, int64_t each, int64_t gap)
{
    enum { PARTS = 4, LINES = 71 };
    const int64_t part = LINES * each;
    quern_array *memory = numbered_memory(dtype, PARTS * (part + gap)), *table, *cut, *x, *turned;
    quern_array *y = NULL;
    OK(quern_array_reshape(&table, memory, SHAPE(PARTS, part + gap)));
    OK(quern_array_slice(&cut, table, 2, (quern_slice[]){QUERN_SLICE_ALL, {0, part, 1}}));
    OK(quern_array_reshape(&x, cut, SHAPE(PARTS, LINES, each)));
    OK(quern_array_transpose(&turned, x, (int[]){2, 0, 1}));
    const quern_value values[] = {QUERN_VALUES(turned), quern_value_output(&y)};
    quern_explanation *e;
    OK(quern_explain(&e, k, values, 2, NULL));
    OK(quern_call_n(k, values, 2, NULL));
    OK(quern_synchronize(engine));
    const bool runs = strstr(e->plan, "in runs") != NULL;
    quern_explanation_release(e);
    quern_array *all[] = {memory, table, cut, x, turned, y};
    for (size_t a = 0; a < sizeof all / sizeof *all; a++) {
        quern_array_release(all[a]);
    }
    return runs;
}

/* Lines that are read across lie an odd number of words from each other, wherever their parts lie:
 * the pieces of two parts keep apart all the same. */
Test(box_races, parts_of_lines)
{
    quern_kernel *k = kernel_of("T x", "T y", "y = x");
    int runs = 0, calls = 0;
    for (int64_t gap = 1; gap < 16; gap += 2) {
        for (int64_t each = 16; each <= 24; each += 8, calls += 2) {
            runs += copy_lines(k, QUERN_UINT8, each, gap);
            runs += copy_lines(k, QUERN_UINT16, each, gap);
        }
    }
    cr_expect_geq(runs, calls / 2, "%d of %d", runs, calls);
    quern_kernel_release(k);
}

/* ---- drawn arrays ---------------------------------------------------------------------------- */

Test(box_runs, of_bytes)
{
    state = 1;
    check_drawn(QUERN_UINT8, QUERN_UINT8, DRAWN / 3);
}

Test(box_runs, of_two_bytes)
{
    state = 2;
    check_drawn(QUERN_UINT16, QUERN_UINT16, DRAWN / 3);
}

Test(box_runs, narrow_to_wide)
{
    state = 3;
    check_drawn(QUERN_UINT8, QUERN_FLOAT32, DRAWN / 3);
}

Test(box_runs, wide_to_narrow)
{
    state = 4;
    check_drawn(QUERN_FLOAT32, QUERN_UINT16, DRAWN / 3);
}

/* y (a, b, c) = x0 + 2 x1 + something of their size, where x0 is (c, b, a) in memory and x1 is
 * (a, c, b): each lies side by side along another axis. Returns whether the call went by boxes of
 * several elements along each. */
static bool check_three(quern_kernel *k, quern_dtype from, quern_dtype to, int64_t a, int64_t b,
                        int64_t c)
{
    static unsigned char got[MOST_OF_THREE * 4 + 64];
    view x[2], y;
    open_view(&x[0], from, c, b, a);
    open_view(&x[1], from, a, c, b);
    open_view(&y, to, a, b, c);
    quern_array *turned[2];
    OK(quern_array_transpose(&turned[0], x[0].array, (int[]){2, 1, 0}));
    OK(quern_array_transpose(&turned[1], x[1].array, (int[]){0, 2, 1}));
    const quern_value values[] = {QUERN_VALUES(turned[0], turned[1], y.array)};
    quern_explanation *e;
    OK(quern_explain(&e, k, values, 3, NULL));
    OK(quern_call_n(k, values, 3, NULL));
    const int64_t count = y.offset + a * b * y.pitch;
    OK(quern_array_read(y.memory, got, (size_t)(count * bytes_of(to))));
    const unsigned mask = to == QUERN_UINT8 ? 0xff : 0xffff;
    for (int64_t n = 0; n < a * b * c; n++) {
        const int64_t i = n / (b * c), j = n / c % b, l = n % c;
        const unsigned want = numbered(place(&x[0], l, j, i)) +
                              2 * numbered(place(&x[1], i, l, j)) + (unsigned)(a * b * c % 64);
        cr_assert_eq(element(got, to, place(&y, i, j, l)), want & mask,
                     "(%ld, %ld, %ld) of (%ld, %ld, %ld): %s", (long)i, (long)j, (long)l, (long)a,
                     (long)b, (long)c, e->plan);
    }
    int along[3] = {0};
    const char *boxes = strstr(e->plan, "boxes of");
    const bool all =
        boxes && sscanf(boxes, "boxes of %d x %d x %d", along, along + 1, along + 2) == 3;
    quern_explanation_release(e);
    for (int v = 0; v < 2; v++) {
        quern_array_release(turned[v]);
        close_view(&x[v]);
    }
    close_view(&y);
    return all && along[0] > 1 && along[1] > 1 && along[2] > 1;
}

/* Extents of at least so many: from 32 on it would go by tiles, which have one of the two orders.
 */
static void check_three_drawn(quern_dtype from, quern_dtype to, int64_t least)
{
    quern_kernel *k = kernel_of("S x0, S x1", "T y", "y = x0 + 2 * x1 + _ind.size() % 64");
    for (int n = 0; n < DRAWN / 4; n++) {
        const int64_t a = draw(least, least + 3), b = draw(least, least + 3);
        cr_assert(check_three(k, from, to, a, b, draw(260, 300)), "%ld x %ld", (long)a, (long)b);
    }
    quern_kernel_release(k);
}

Test(box_runs, of_bytes_in_three_orders)
{
    state = 5;
    check_three_drawn(QUERN_UINT8, QUERN_UINT8, 16);
    check_three_drawn(QUERN_UINT8, QUERN_UINT8, 33);
}

Test(box_runs, of_two_bytes_in_three_orders)
{
    state = 6;
    check_three_drawn(QUERN_UINT16, QUERN_UINT16, 16);
    check_three_drawn(QUERN_UINT16, QUERN_UINT16, 33);
}

Test(box_runs, of_four_bytes_in_three_orders)
{
    state = 7;
    check_three_drawn(QUERN_FLOAT32, QUERN_FLOAT32, 16);
    check_three_drawn(QUERN_FLOAT32, QUERN_FLOAT32, 33);
}
