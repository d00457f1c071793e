/* SPDX-License-Identifier: MIT
 *
 * Scans along columns whose rows lie at any alignment (src/array/fold_swath.c, fold_parts.c),
 * beside results made on the host. Each case is drawn: the types, how many columns there are and
 * how long, how far apart positions and matrices lie, where memory begins, what the texts do.
 * Arrays end where their memory does, so that whatever is read beside a row is memory's or is
 * found.
 */
#include "draw.h"
#include "held.h"

/* The shared memory of a large GPU, and few processors, so that there are columns enough for each.
 */
static void open_swaths(void)
{
    whole_open_on("soft:1,shared=227");
}

TestSuite(swaths, .init = open_swaths, .fini = whole_close);

enum { DRAWN = 60 };

/* Matrices one behind the other, of which each column is scanned. */
typedef struct view {
    int64_t offset, pitch, apart, all; /* elements; `all` of the memory */
} view;

typedef struct shape {
    int64_t matrices, length, count;
    int gap; /* rows lie a multiple of it apart, beside their elements */
} shape;

static view draw_view(const shape *s)
{
    view v = {.offset = rand() % 18, .pitch = s->count + rand() % 4 * s->gap};
    v.apart = s->length * v.pitch + rand() % 4;
    v.all = v.offset + (s->matrices - 1) * v.apart + (s->length - 1) * v.pitch + s->count;
    return v;
}

static int64_t place_of(const view *v, int64_t matrix, int64_t position, int64_t column)
{
    return v->offset + matrix * v->apart + position * v->pitch + column;
}

/* On a GPU matrices are so many that each processor has enough. */
static shape draw_swaths(void)
{
    const bool soft = whole_is_soft();
    const shape s = {.length = 1 + rand() % 24 + rand() % 2 * 64,
                     .count = 260 + rand() % 1500 + rand() % 2 * 1800,
                     .matrices = soft ? 4 + rand() % 4 : 700 + rand() % 9,
                     .gap = 1};
    return s;
}

/* Few columns, and long ones. */
static shape draw_parts(void)
{
    const shape s = {.length = 130 + rand() % 400 + rand() % 2 * 800,
                     .count = 57 + rand() % 200 + rand() % 3 * (rand() % 300),
                     .matrices = 1 + rand() % 2,
                     .gap = rand() % 2 ? 1 : 4};
    return s;
}

static quern_array *wrap(quern_array *memory, element t, const shape *s, const view *v)
{
    quern_array *a;
    OK(quern_array_wrap(&a, engine, t.dtype, SHAPE(s->matrices, s->length, s->count),
                        (int64_t[]){v->apart * t.size, v->pitch * t.size, t.size},
                        (char *)quern_array_pointer(memory) + v->offset * t.size, NULL, NULL));
    return a;
}

/* Numbers, of which an output keeps the even ones of its input where a text says so. */
typedef struct way {
    const char *post;
    bool exclusive, keeps, product;
} way;

static const way ways[] = {
    {"y = a", false, false, false},
    {"y = a", true, false, false},
    {"if (x % 2 != 0) y = a", false, true, false},
    {"y = a", false, false, true},
};

static int64_t value_at(int64_t place, const way *w)
{
    const int64_t x = number_at(place);
    return w->product ? x * x + 2 : x;
}

static void expect(char *to, element t, const shape *s, const view *in, const view *out,
                   const way *w)
{
    for (int64_t m = 0; m < s->matrices; m++) {
        for (int64_t c = 0; c < s->count; c++) {
            int64_t sum = 0;
            for (int64_t p = 0; p < s->length; p++) {
                const int64_t from = place_of(in, m, p, c), before = sum;
                sum += value_at(from, w);
                if (!w->keeps || number_at(from) % 2 != 0) {
                    memcpy(to + place_of(out, m, p, c) * t.size, w->exclusive ? &before : &sum,
                           (size_t)t.size);
                }
            }
        }
    }
}

static quern_kernel *scan_of(const way *w)
{
    const quern_scan_options options = {.size = sizeof options, .exclusive = w->exclusive};
    quern_kernel *kernel;
    OK(w->product
           ? quern_scan(&kernel, engine, "T x, T u, int64 c", "U y", "x * u + c", "a + b", w->post,
                        "0", &options)
           : quern_scan(&kernel, engine, "T x", "U y", "x", "a + b", w->post, "0", &options));
    return kernel;
}

/* Returns whether the plan has these words. */
static bool check(int n, const way *w, element from, element to, shape s, const char *words)
{
    const view in = draw_view(&s), out = draw_view(&s);
    char *numbers = malloc((size_t)(in.all * from.size)),
         *want = malloc((size_t)(out.all * to.size));
    cr_assert(numbers && want);
    fill_numbers(numbers, in.all, from.size);
    fill_numbers(want, out.all, to.size);
    quern_array *memory, *room;
    OK(quern_array_from(&memory, engine, from.dtype, SHAPE(in.all), numbers));
    OK(quern_array_from(&room, engine, to.dtype, SHAPE(out.all), want));
    expect(want, to, &s, &in, &out, w);
    quern_array *x = wrap(memory, from, &s, &in), *y = wrap(room, to, &s, &out);
    quern_kernel *kernel = scan_of(w);
    const quern_value one[] = {QUERN_VALUES(x, y)}, two[] = {QUERN_VALUES(x, x, 2, y)};
    quern_call_options o = QUERN_CALL_OPTIONS_INIT;
    o.axis_count = 1;
    o.axes = (int[]){1};
    quern_explanation *e;
    OK(quern_explain(&e, kernel, w->product ? two : one, w->product ? 4 : 2, &o));
    OK(quern_call_n(kernel, w->product ? two : one, w->product ? 4 : 2, &o));
    cr_expect_eq(differing(room, want, out.all * to.size), 0, "case %d: %lld x %lld x %lld: %s", n,
                 (long long)s.matrices, (long long)s.length, (long long)s.count, e->plan);
    const bool so = strstr(e->plan, words) != NULL;
    quern_explanation_release(e);
    quern_kernel_release(kernel);
    quern_array *arrays[] = {x, y, memory, room};
    for (int k = 0; k < 4; k++) {
        quern_array_release(arrays[k]);
    }
    free(numbers);
    free(want);
    return so;
}

/* Integers of all widths, into those as wide and into wider ones, in all ways. */
static void check_drawn(int cases, shape (*draw_shape)(void), const char *words)
{
    static const element types[] = {
        {QUERN_INT8, 1}, {QUERN_INT16, 2}, {QUERN_INT32, 4}, {QUERN_INT64, 8}};
    int so = 0;
    srand(55);
    for (int n = 0; n < cases; n++) {
        const int from = n % 4, to = rand() % 3 == 0 ? from + rand() % (4 - from) : from;
        so += check(n, &ways[n / 4 % 4], types[from], types[to], draw_shape(), words);
    }
    cr_expect_gt(so, cases / 2, "%d of %d%s", so, cases, words);
}

Test(swaths, of_drawn_shapes)
{
    check_drawn(whole_is_soft() ? drawn(DRAWN) : 16, draw_swaths, " in swaths");
}

Test(swaths, parts_of_drawn_shapes)
{
    check_drawn(whole_is_soft() ? drawn(DRAWN) : 16, draw_parts, " parts of rows");
}

/* An input that all columns share, the position, and two outputs, which have room of their own. */
Test(swaths, parts_of_more_operands)
{
    enum { LENGTH = 4000, COUNT = 101 };
    static int8_t x[LENGTH][COUNT], w[LENGTH];
    static int64_t sums[LENGTH][COUNT];
    static int16_t twice[LENGTH][COUNT];
    fill_numbers((char *)x, sizeof x, 1);
    fill_numbers((char *)w, sizeof w, 1);
    quern_kernel *kernel;
    OK(quern_scan(&kernel, engine, "int8 x, int8 w", "int64 y, int16 z", "x * w + _J % 3", "a + b",
                  "y = a; z = a * 2", "0", NULL));
    quern_array *own, *row, *shared, *y, *z;
    OK(quern_array_from(&own, engine, QUERN_INT8, SHAPE(LENGTH, COUNT), x));
    OK(quern_array_from(&row, engine, QUERN_INT8, SHAPE(LENGTH), w));
    OK(quern_array_wrap(&shared, engine, QUERN_INT8, SHAPE(LENGTH, COUNT), (int64_t[]){1, 0},
                        quern_array_pointer(row), NULL, NULL));
    OK(quern_array_from(&y, engine, QUERN_INT64, SHAPE(LENGTH, COUNT), sums));
    OK(quern_array_from(&z, engine, QUERN_INT16, SHAPE(LENGTH, COUNT), twice));
    const quern_value values[] = {QUERN_VALUES(own, shared, y, z)};
    quern_call_options o = QUERN_CALL_OPTIONS_INIT;
    o.axis_count = 1;
    o.axes = (int[]){0};
    quern_explanation *e;
    OK(quern_explain(&e, kernel, values, 4, &o));
    cr_expect(strstr(e->plan, " parts of rows"), "%s", e->plan);
    quern_explanation_release(e);
    OK(quern_call_n(kernel, values, 4, &o));
    for (int c = 0; c < COUNT; c++) {
        int64_t sum = 0;
        for (int p = 0; p < LENGTH; p++) {
            sum += x[p][c] * w[p] + p % 3;
            sums[p][c] = sum;
            twice[p][c] = (int16_t)(sum * 2);
        }
    }
    cr_expect_eq(differing(y, (const char *)sums, sizeof sums), 0);
    cr_expect_eq(differing(z, (const char *)twice, sizeof twice), 0);
    quern_kernel_release(kernel);
    quern_array *arrays[] = {own, shared, row, y, z};
    for (int k = 0; k < 5; k++) {
        quern_array_release(arrays[k]);
    }
}

/* Results may take the place of elements that other warps have yet to read: not by swaths, as which
 * 9 rows would go, nor by parts, as which 150 would. */
static void check_in_place(int length)
{
    enum { COUNT = 1001 };
    static int16_t numbers[150][COUNT];
    const size_t bytes = (size_t)length * sizeof *numbers;
    fill_numbers((char *)numbers, (int64_t)length * COUNT, 2);
    quern_kernel *kernel = scan_of(&ways[0]);
    quern_array *x;
    OK(quern_array_from(&x, engine, QUERN_INT16, SHAPE(1, length, COUNT), numbers));
    const quern_value values[] = {QUERN_VALUES(x, x)};
    call_along(kernel, values, 2, ", in place");
    for (int p = 1; p < length; p++) {
        for (int c = 0; c < COUNT; c++) {
            numbers[p][c] = (int16_t)(numbers[p][c] + numbers[p - 1][c]);
        }
    }
    cr_expect_eq(differing(x, (const char *)numbers, (int64_t)bytes), 0);
    quern_array_release(x);
    quern_kernel_release(kernel);
}

Test(swaths, in_place)
{
    check_in_place(9);
    check_in_place(150);
}
