/* SPDX-License-Identifier: MIT
 *
 * Where the greatest element lies, by boxes (src/array/fold_joined.c) and by search
 * (src/array/fold_search.c), beside results made on the host. Each case is drawn: the type, the
 * extents, in which order the axes lie in memory, which run backwards, which are reduced. Of equal
 * elements, which are many, the first or the last in C order counts.
 */
#include "base/base.h"
#include "draw.h"
#include "lying.h"
#include "reduced.h"

static void open_choices(void)
{
    whole_open_on("soft:4");
}

TestSuite(lying_choices, .init = open_choices, .fini = whole_close);

enum { DRAWN = 60, LEAST_ELEMENTS = 60000 };

/* By search there are at least four steps, of 2048 bytes, for each of 32 warps of a processor. */
static int64_t searched_bytes(void)
{
    quern_device_info info = QUERN_DEVICE_INFO_INIT;
    OK(quern_device_get_info(&info, engine));
    return (int64_t)info.processors * 32 * 4 * 2048;
}

/* Of equal elements the first or the last one. */
static quern_kernel *argmax_of(bool last)
{
    char preamble[256];
    snprintf(preamble, sizeof preamble,
             "struct best { long long value, at; };\n"
             "__device__ best better(const best &a, const best &b) {\n"
             "    return a.value > b.value || (a.value == b.value && a.at %s b.at) ? a : b;\n"
             "}",
             last ? ">=" : "<=");
    const quern_reduction_options options = {
        .size = sizeof options, .preamble = preamble, .reduce_type = "best"};
    quern_kernel *kernel;
    OK(quern_reduction(&kernel, engine, "T x", "int64 y", "best{(long long)x, _J}", "better(a, b)",
                       "y = a.at", NULL, &options));
    return kernel;
}

/* The last axis and others by turns, as boxes have them; the first is long. */
static unsigned draw_boxed(int64_t *shape)
{
    int64_t inner = 1;
    for (int d = 1; d < DIMS; d++) {
        shape[d] = 2 + rand() % 9;
        inner *= shape[d];
    }
    shape[0] = LEAST_ELEMENTS / inner + rand() % 50;
    return rand() % 2 == 0 ? 1u | 1u << 2 : 1u << 1 | 1u << 3;
}

/* All axes, or all but one; any of them is long. */
static unsigned draw_searched(int64_t *shape, int64_t elements)
{
    int64_t inner = 1;
    const int longest = rand() % DIMS, kept = rand() % (3 * DIMS);
    for (int d = 0; d < DIMS; d++) {
        shape[d] = d == longest ? 1 : 1 + rand() % 9;
        inner *= shape[d];
    }
    shape[longest] = elements / inner + 1 + rand() % 50;
    return kept < DIMS && kept != longest ? 15u & ~(1u << kept) : 15u;
}

/* The position of the greatest of each output's elements, among them in C order. */
static void expect(int64_t *to, int64_t *best, const int64_t *shape, unsigned reduced,
                   const lying *a, bool last)
{
    for (int64_t n = 0; n < shape[0] * shape[1] * shape[2] * shape[3]; n++) {
        int64_t at[DIMS], output = 0, position = 0;
        position_of(at, shape, n);
        for (int d = 0; d < DIMS; d++) {
            int64_t *const along = reduced >> d & 1 ? &position : &output;
            *along = *along * shape[d] + at[d];
        }
        const int64_t x = lying_at(a, at);
        if (position == 0 || x > best[output] ||
            (x == best[output] && (position > to[output]) == last)) {
            best[output] = x;
            to[output] = position;
        }
    }
}

/* How many plans were those this is about, without comparing positions, and in another order. */
typedef struct counts {
    int boxes, risen, searches, unordered;
} counts;

static void count_plan(counts *seen, const char *plan)
{
    const bool boxes = strstr(plan, "by boxes of") != NULL;
    const bool search = strstr(plan, "by search") != NULL;
    seen->boxes += boxes;
    seen->risen += boxes && strstr(plan, "no positions compared") != NULL;
    seen->searches += search;
    seen->unordered += search && strstr(plan, "in the order of memory") != NULL;
}

static void check(int n, element type, const int64_t *shape, const layout *l, unsigned reduced,
                  bool last, counts *seen)
{
    int axes[DIMS];
    const quern_call_options o = over_axes(axes, DIMS, reduced);
    const size_t outputs = (size_t)outputs_over(shape, DIMS, reduced);
    int64_t *expected = calloc(outputs, sizeof *expected);
    int64_t *best = calloc(outputs, sizeof *best);
    cr_assert(expected && best);
    lying x = lay(type, shape, l);
    expect(expected, best, shape, reduced, &x, last);
    quern_kernel *kernel = argmax_of(last);
    quern_explanation *e = reduced_how(kernel, x.array, &o);
    int64_t *got = reduced_values(kernel, x.array, &o, outputs);
    cr_expect_arr_eq(got, expected, outputs * sizeof *got,
                     "case %d: %lld x %lld x %lld x %lld, axes %x: %s", n, (long long)shape[0],
                     (long long)shape[1], (long long)shape[2], (long long)shape[3], reduced,
                     e->plan);
    count_plan(seen, e->plan);
    quern_explanation_release(e);
    quern_kernel_release(kernel);
    lying_release(&x);
    free(got);
    free(expected);
    free(best);
}

static const element types[] = {{QUERN_INT8, 1}, {QUERN_INT16, 2}, {QUERN_INT32, 4}};

Test(lying_choices, by_boxes)
{
    counts seen = {0};
    srand(3);
    const int cases = whole_is_soft() ? drawn(DRAWN) : 16;
    for (int n = 0; n < cases; n++) {
        const element type = types[rand() % 3];
        int64_t shape[DIMS];
        const unsigned reduced = draw_boxed(shape);
        layout l = draw_layout(shape, false);
        if (n % 2 == 0) {
            l = in_c_order(shape, 0);
        }
        check(n, type, shape, &l, reduced, n % 5 == 1, &seen);
    }
    const bool all = whole_is_soft() && drawn_part() == 1;
    cr_expect(!all || (seen.risen >= 8 && seen.boxes > seen.risen), "%d boxes, %d in order",
              seen.boxes, seen.risen);
}

Test(lying_choices, by_search)
{
    counts seen = {0};
    srand(5);
    const int cases = whole_is_soft() ? drawn(DRAWN) : 12;
    for (int n = 0; n < cases; n++) {
        const element type = types[rand() % 3];
        const int64_t elements = searched_bytes() / type.size;
        int64_t shape[DIMS];
        const unsigned reduced = draw_searched(shape, elements);
        layout l = draw_layout_with(shape, false, rand() % 4 == 0);
        if (n % 6 == 0) { /* lines, each off the alignment in its own way */
            memcpy(shape, (int64_t[]){2 + rand() % 3, 1, 1 + rand() % 3, rand() % 999},
                   sizeof shape);
            shape[3] += elements / (shape[0] * shape[2]) + 1;
            l = in_c_order(shape, 1 + rand() % 2);
        }
        check(n, type, shape, &l, reduced, n % 5 == 1, &seen);
    }
    const bool all = whole_is_soft() && drawn_part() == 1;
    cr_expect(!all || (seen.unordered >= 15 && seen.searches > seen.unordered),
              "%d searches, %d in another order", seen.searches, seen.unordered);
}

/* Many bytes in C order or, from the last to the first, against it: with few different ones, the
 * best is there again and again, and any of them may be the first in memory. */
Test(lying_choices, by_search_of_many_bytes)
{
    enum { VALUES = 11 }; /* of number_at() */
    const element bytes = {QUERN_INT8, 1};
    const int64_t shapes[][DIMS] = {{1, 1, 1, 3300000}, {3, 4, 281, 1000}};
    counts seen = {0};
    for (int n = 0; n < 2 * VALUES; n++) {
        const int64_t *shape = shapes[n % 2];
        layout l = in_c_order(shape, 0);
        l.all += n / 2 - l.first;
        l.first = n / 2;
        const bool forwards = n % 4 == 3;
        for (int d = 0; d < DIMS && !forwards; d++) {
            turn_around(&l, shape, d);
        }
        check(n, bytes, shape, &l, 15, false, &seen);
    }
    cr_expect(!whole_is_soft() || (seen.searches == 2 * VALUES && seen.unordered == 0),
              "%d searches, %d in another order", seen.searches, seen.unordered);
}

/* A reduce that looks at no positions: any of the greatest may be given, and threads of a warp must
 * agree on one. */
Test(lying_choices, by_search_with_ties_left_open)
{
    int64_t side = 1;
    while (4 * side * side < searched_bytes()) {
        side++;
    }
    const int64_t shape[DIMS] = {1, 1, side, side};
    const layout l = {.strides = {1, 1, 1, side}, .all = side * side};
    lying x = lay((element){QUERN_INT32, 4}, shape, &l);
    const quern_reduction_options options = {.size = sizeof options,
                                             .preamble =
                                                 "struct best { int value; long long at; };",
                                             .reduce_type = "best"};
    quern_kernel *kernel;
    OK(quern_reduction(&kernel, engine, "T x", "int64 y", "best{x, _J}",
                       "a.value >= b.value ? a : b", "y = a.at", NULL, &options));
    quern_array *y = NULL;
    const quern_value values[] = {QUERN_VALUES(x.array, &y)};
    quern_explanation *e;
    OK(quern_explain(&e, kernel, values, 2, NULL));
    cr_expect(strstr(e->plan, "by search"), "%s", e->plan);
    OK(quern_call_n(kernel, values, 2, NULL));
    int64_t at[DIMS], got, greatest = 0;
    OK(quern_array_read(y, &got, sizeof got));
    for (int64_t n = 0; n < l.all; n++) {
        greatest = QN_MAX(greatest, number_at(n));
    }
    position_of(at, shape, got);
    cr_expect_eq(lying_at(&x, at), greatest, "at %lld: %s", (long long)got, e->plan);
    quern_explanation_release(e);
    quern_kernel_release(kernel);
    quern_array_release(y);
    lying_release(&x);
}

/* Two lines so far apart that offsets take 64 bits, side by side or one after the other. */
Test(lying_choices, by_search_of_lines_far_apart)
{
    const int64_t length = searched_bytes() / 2 + 1, best[] = {length / 3, length / 2};
    const int64_t apart = ((int64_t)1 << 31) + 65;
    const int64_t shapes[][2] = {{2, length}, {length, 2}}, strides[][2] = {{apart, 1}, {1, apart}};
    quern_array *memory, *x, *y = NULL;
    quern_explanation *e;
    int8_t *numbers = calloc((size_t)length, 1);
    cr_assert(numbers);
    OK(quern_array_new(&memory, engine, QUERN_INT8, SHAPE(apart + length)));
    for (int k = 0; k < 2; k++) {
        char *const at = (char *)quern_array_pointer(memory) + k * apart;
        numbers[best[k]] = 7;
        OK(quern_array_wrap(&x, engine, QUERN_INT8, 1, &length, NULL, at, NULL, NULL));
        OK(quern_array_write(x, numbers, (size_t)length));
        quern_array_release(x);
        numbers[best[k]] = 0;
    }
    free(numbers);
    quern_kernel *kernel = argmax_of(false);
    for (int across = 0; across < 2; across++) {
        OK(quern_array_wrap(&x, engine, QUERN_INT8, 2, shapes[across], strides[across],
                            quern_array_pointer(memory), NULL, NULL));
        const quern_value values[] = {QUERN_VALUES(x, &y)};
        OK(quern_explain(&e, kernel, values, 2, NULL));
        cr_expect(strstr(e->plan, "by search") && strstr(e->plan, "64-bit index"), "%s", e->plan);
        OK(quern_call_n(kernel, values, 2, NULL));
        const int64_t expected = across ? 2 * best[0] : best[0];
        cr_expect_eq(differing(y, (const char *)&expected, sizeof expected), 0, "%s", e->plan);
        quern_explanation_release(e);
        quern_array_release(x);
    }
    quern_array_release(y);
    quern_array_release(memory);
    quern_kernel_release(kernel);
}
