/* SPDX-License-Identifier: MIT
 *
 * Scans by boxes (src/array/fold_boxes.c) beside results made on the host. Each case is drawn: the
 * types, the extents, in which order each operand lies in memory, what is left out between its
 * elements, which axes run backwards, along which axis the scan goes, what the texts do.
 */
#include "draw.h"
#include "lying.h"

static void open_boxes(void)
{
    whole_open_on("soft:1,shared=227"); /* so that small arrays have boxes enough */
}

TestSuite(boxed_scans, .init = open_boxes, .fini = whole_close);

enum { DRAWN = 48, OPERANDS = 3, MOST = 1 << 22 };

/* Shorter, so that the host's loops are done soon: arrays for a GPU may have too many elements. */
static void limit(int64_t *shape, int axis)
{
    int64_t all = shape[0] * shape[1] * shape[2] * shape[3];
    for (int d = 0; d < DIMS && all > MOST; d++) {
        const int64_t others = all / shape[d], least = d == axis ? 2 : 1;
        shape[d] = shape[d] > least && MOST / others > least ? MOST / others : least;
        all = others * shape[d];
    }
}

/* Few scans of thousands of elements, whose pieces have blocks of their own. */
static void draw_long_shape(int64_t *shape, int axis)
{
    for (int d = 0; d < DIMS; d++) {
        shape[d] = 1 + rand() % 3 + (rand() % 3 == 0 ? rand() % 7 : 0);
    }
    shape[axis] = (whole_is_soft() ? 700 : 70000) + rand() % 5000;
    limit(shape, axis);
}

/* Few thousand to a few ten thousand elements, along an axis that is short or in pieces. */
static void draw_shape(int64_t *shape, int axis)
{
    for (int d = 0; d < DIMS; d++) {
        shape[d] = 1 + rand() % 5 + (rand() % 3 == 0 ? rand() % 14 : 0);
    }
    shape[axis] = 2 + rand() % 9 + rand() % 2 * (rand() % 900);
    shape[(axis + 1 + rand() % 3) % DIMS] *= whole_is_soft() ? 24 : 1200; /* for all processors */
    limit(shape, axis);
}

typedef struct way {
    const char *post;
    bool exclusive, keeps, product, adds;
} way;

static const way ways[] = {
    {"y = a", .product = true},
    {"y = a", .exclusive = true},
    {"if (x % 2 != 0) y = a", .keeps = true},
    {"y = a + 2 * x", .adds = true},
};

/* The output's numbers in one scan, from `at` on. */
static void expect_one(lying *a, int64_t length, int axis, int64_t *at, const way *w)
{
    int64_t sum = 0;
    for (at[axis] = 0; at[axis] < length; at[axis]++) {
        const int64_t x = lying_at(&a[0], at), before = sum;
        sum += w->product ? x * lying_at(&a[1], at) : x;
        const int64_t result = (w->exclusive ? before : sum) + (w->adds ? 2 * x : 0);
        if (!w->keeps || x % 2 != 0) {
            lying_expect(&a[2], at, result);
        }
    }
    at[axis] = 0;
}

static void expect(lying *a, const int64_t *shape, int axis, const way *w)
{
    for (int64_t n = 0; n < shape[0] * shape[1] * shape[2] * shape[3]; n++) {
        int64_t at[DIMS];
        position_of(at, shape, n);
        if (at[axis] == 0) {
            expect_one(a, shape[axis], axis, at, w);
        }
    }
}

static quern_kernel *scan_of(const way *w)
{
    const quern_scan_options options = {.size = sizeof options, .exclusive = w->exclusive};
    quern_kernel *kernel;
    OK(quern_scan(&kernel, engine, "T x, U u", "V y", w->product ? "x * u" : "x", "a + b", w->post,
                  w->exclusive ? "0" : NULL, &options));
    return kernel;
}

/* How many plans were those this is about; in pieces, with several threads a scan, in tiles, with
 * operands by runs, and with some that go by elements. */
typedef struct counts {
    int boxes, pieces, threads, tiles, runs, elements;
} counts;

/* `in_place`: the output is the first input. */
static void check(int n, bool longs, bool in_place, const way *w, const element *types,
                  counts *seen)
{
    const int axis = rand() % DIMS;
    int64_t shape[DIMS];
    lying a[OPERANDS];
    (longs ? draw_long_shape : draw_shape)(shape, axis);
    for (int k = 0; k < OPERANDS; k++) {
        if (in_place && k == 2) {
            a[k] = lay_same(&a[0]);
        } else {
            const layout l = draw_layout(shape, k == 1);
            a[k] = lay(types[k], shape, &l);
        }
    }
    expect(a, shape, axis, w);
    quern_kernel *kernel = scan_of(w);
    const quern_value values[] = {QUERN_VALUES(a[0].array, a[1].array, a[2].array)};
    quern_call_options o = QUERN_CALL_OPTIONS_INIT;
    o.axis_count = 1;
    o.axes = &axis;
    quern_explanation *e;
    OK(quern_explain(&e, kernel, values, OPERANDS, &o));
    OK(quern_call_n(kernel, values, OPERANDS, &o));
    cr_expect_eq(lying_differing(&a[2]), 0, "case %d: %lld x %lld x %lld x %lld along %d: %s", n,
                 (long long)shape[0], (long long)shape[1], (long long)shape[2], (long long)shape[3],
                 axis, e->plan);
    const char *access = strstr(e->plan, ", access ");
    if (strstr(e->plan, "by boxes of") && access) {
        seen->boxes++;
        seen->pieces += strstr(e->plan, ", in pieces of") != NULL;
        seen->threads += strstr(e->plan, " threads a scan") != NULL;
        seen->tiles += strstr(e->plan, " tiles, ") != NULL;
        seen->runs += strchr(access + 9, 't') != NULL;
        seen->elements += strchr(access + 9, 's') != NULL;
    }
    quern_explanation_release(e);
    quern_kernel_release(kernel);
    for (int k = 0; k < OPERANDS; k++) {
        lying_release(&a[k]);
    }
}

static counts check_drawn(bool longs, int cases)
{
    static const element types[] = {
        {QUERN_INT32, 4}, {QUERN_INT64, 8}, {QUERN_INT8, 1}, {QUERN_INT16, 2}};
    counts seen = {0};
    for (int n = 0; n < cases; n++) {
        const bool in_place = n % 5 == 4;
        element own[OPERANDS] = {types[rand() % 4], types[rand() % 4], types[rand() % 4]};
        own[2] = own[in_place ? 0 : 2];
        check(n, longs, in_place, &ways[n % 4], own, &seen);
    }
    return seen;
}

Test(boxed_scans, of_few_long_scans)
{
    const int cases = whole_is_soft() ? drawn(24) : 12;
    whole_close();
    whole_open_on("soft:8,shared=227");
    srand(5);
    const counts seen = check_drawn(true, cases);
    cr_expect(!whole_is_soft() || seen.tiles >= cases / 4, "%d in tiles", seen.tiles);
}

Test(boxed_scans, of_drawn_layouts)
{
    const int cases = whole_is_soft() ? drawn(DRAWN) : 12;
    srand(71);
    const counts seen = check_drawn(false, cases);
    const bool all = whole_is_soft() && drawn_part() == 1;
    cr_expect_gt(seen.boxes, all ? cases / 2 : 0);
    cr_expect(!all ||
                  (seen.pieces >= 3 && seen.threads >= 3 && seen.runs >= 12 && seen.elements >= 12),
              "%d boxes, %d in pieces, %d with threads, %d by runs, %d by elements", seen.boxes,
              seen.pieces, seen.threads, seen.runs, seen.elements);
}
