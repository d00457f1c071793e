/* SPDX-License-Identifier: MIT
 *
 * Elementwise kernels by boxes (src/array/fold_map.c) beside results made on the host. Each case is
 * drawn: how many operands, their types, the extents, in which order each lies in memory, what is
 * left out between its elements, which axes run backwards or are repeated, what the text does,
 * and whether a second output gets the first input.
 */
#include "draw.h"
#include "lying.h"

static void open_maps(void)
{
    whole_open_on("soft:1,shared=227"); /* so that small arrays are worth it */
}

TestSuite(boxed_maps, .init = open_maps, .fini = whole_close);

enum { DRAWN = 80, MOST = 7, LEAST_ELEMENTS = 1 << 15 };

/* Some ten thousand elements, or some million. */
static int64_t draw_shape(int64_t *shape)
{
    const int64_t least = whole_is_soft() ? LEAST_ELEMENTS : (int64_t)LEAST_ELEMENTS * 132;
    int64_t all = 1;
    for (int d = 0; d < DIMS; d++) {
        shape[d] = 1 + rand() % 5 + (rand() % 3 == 0 ? rand() % 40 : 0);
        all *= shape[d];
    }
    const int longest = rand() % DIMS;
    const int64_t times = (least + all - 1) / all + rand() % 3;
    shape[longest] *= times;
    return all * times;
}

/* What a text does with the sum of its inputs; `keeps`: only where the first input is odd. */
typedef struct way {
    const char *text;
    int64_t times;
    bool keeps;
} way;

static const way ways[] = {
    {"z = ", 1, false}, {"z = 3 * ", 3, false}, {"if (a % 2 != 0) z = ", 1, true}};

static quern_kernel *sum_of(const way *w, int inputs, int outputs)
{
    char in[64] = "", text[96];
    int used = snprintf(text, sizeof text, "%s%s(", outputs > 1 ? "y = a; " : "", w->text);
    for (int k = 0; k < inputs; k++) {
        snprintf(in + strlen(in), sizeof in - strlen(in), "%s%c %c", k > 0 ? ", " : "", 'A' + k,
                 'a' + k);
        used +=
            snprintf(text + used, sizeof text - (size_t)used, "%s%c", k > 0 ? " + " : "", 'a' + k);
    }
    snprintf(text + used, sizeof text - (size_t)used, ")");
    quern_kernel *kernel;
    OK(quern_elementwise(&kernel, engine, in, outputs > 1 ? "Z z, Y y" : "Z z", text, NULL));
    return kernel;
}

/* The outputs' numbers. */
static void expect(lying *a, const int64_t *shape, int64_t all, int outputs, int inputs,
                   const way *w)
{
    for (int64_t n = 0; n < all; n++) {
        int64_t at[DIMS], sum = 0;
        position_of(at, shape, n);
        for (int k = 0; k < inputs; k++) {
            sum += lying_at(&a[k], at);
        }
        const int64_t first = lying_at(&a[0], at);
        if (!w->keeps || first % 2 != 0) {
            lying_expect(&a[inputs], at, sum * w->times);
        }
        if (outputs > 1) {
            lying_expect(&a[inputs + 1], at, first);
        }
    }
}

/* How many plans were those this is about; with operands that go by elements, or are repeated, with
 * two outputs, and with several threads for each scan. */
typedef struct counts {
    int boxes, elements, repeated, outputs, shared;
} counts;

/* An input, but the first, may be repeated along some axes or all of them. */
static layout draw_operand(const int64_t *shape, int k, int inputs)
{
    const bool repeats = k > 0 && k < inputs;
    return repeats && rand() % 8 == 0 ? (layout){.first = rand() % 6, .all = 6}
                                      : draw_layout(shape, repeats);
}

/* `in_place`: the first output is the first input. */
static void check(int n, int inputs, int outputs, bool in_place, const way *w, const element *types,
                  counts *seen)
{
    const int count = inputs + outputs;
    int64_t shape[DIMS];
    lying a[MOST];
    quern_value values[MOST];
    const int64_t all = draw_shape(shape);
    for (int k = 0; k < count; k++) {
        if (in_place && k == inputs) {
            a[k] = lay_same(&a[0]);
        } else {
            const layout l = draw_operand(shape, k, inputs);
            a[k] = lay(types[k], shape, &l);
        }
        values[k] = quern_value_array(a[k].array);
    }
    expect(a, shape, all, outputs, inputs, w);
    quern_kernel *kernel = sum_of(w, inputs, outputs);
    quern_explanation *e;
    OK(quern_explain(&e, kernel, values, (size_t)count, NULL));
    OK(quern_call_n(kernel, values, (size_t)count, NULL));
    for (int k = inputs; k < count; k++) {
        cr_expect_eq(lying_differing(&a[k]), 0, "case %d: %lld x %lld x %lld x %lld: %s", n,
                     (long long)shape[0], (long long)shape[1], (long long)shape[2],
                     (long long)shape[3], e->plan);
    }
    const char *access = strstr(e->plan, ", access ");
    if (strncmp(e->plan, "by boxes of", 11) == 0 && access) {
        seen->boxes++;
        seen->elements += strchr(access + 9, 's') != NULL;
        seen->repeated += strchr(access + 9, 'b') != NULL;
        seen->outputs += outputs > 1;
        seen->shared += strstr(e->plan, "threads a scan") != NULL;
    }
    quern_explanation_release(e);
    quern_kernel_release(kernel);
    for (int k = 0; k < count; k++) {
        lying_release(&a[k]);
    }
}

Test(boxed_maps, of_drawn_layouts)
{
    static const element types[] = {
        {QUERN_INT8, 1}, {QUERN_INT16, 2}, {QUERN_INT32, 4}, {QUERN_INT64, 8}};
    const int cases = whole_is_soft() ? drawn(DRAWN) : 16;
    counts seen = {0};
    srand(29);
    for (int n = 0; n < cases; n++) {
        const int inputs = 1 + rand() % (MOST - 2), outputs = 1 + (n % 3 == 1);
        const bool in_place = n % 6 == 5;
        element own[MOST];
        for (int k = 0; k < MOST; k++) {
            own[k] = types[rand() % (2 + n / 9 % 3)];
        }
        own[inputs] = own[in_place ? 0 : inputs];
        check(n, inputs, outputs, in_place, &ways[n / 3 % 3], own, &seen);
    }
    const bool all = whole_is_soft() && drawn_part() == 1;
    cr_expect_gt(seen.boxes, all ? cases / 8 : 0, "%d boxes", seen.boxes);
    cr_expect(!all ||
                  (seen.elements > 0 && seen.repeated > 0 && seen.outputs > 0 && seen.shared > 0),
              "%d boxes, %d with operands by elements, %d with repeated ones, %d with two outputs, "
              "%d with several threads for each scan",
              seen.boxes, seen.elements, seen.repeated, seen.outputs, seen.shared);
}

/* Whether a copy of bytes that lie in memory at the strides `along`, or a sum of these and of
 * `others` that lie on, goes by boxes, or by flat packs. */
static bool is_boxed(const int64_t *shape, const int64_t *along, bool others)
{
    int64_t reach = 1;
    for (int d = 0; d < 3; d++) {
        reach += along[d] * (shape[d] - 1);
    }
    quern_array *memory, *x, *w, *y = NULL;
    quern_kernel *kernel = others ? kernel_of("T x, T w, T v", "T y", "y = x * w + v")
                                  : kernel_of("T x", "T y", "y = x");
    OK(quern_array_new(&memory, engine, QUERN_INT8, 1, &reach));
    OK(quern_array_wrap(&x, engine, QUERN_INT8, 3, shape, along, quern_array_pointer(memory), NULL,
                        NULL));
    OK(quern_array_new(&w, engine, QUERN_INT8, 3, shape));
    const quern_value one[] = {QUERN_VALUES(x, &y)}, three[] = {QUERN_VALUES(x, w, w, &y)};
    quern_explanation *e;
    OK(quern_explain(&e, kernel, others ? three : one, others ? 4 : 2, NULL));
    const bool boxed = strncmp(e->plan, "by boxes", 8) == 0;
    cr_expect(!whole_is_soft() || boxed || strncmp(e->plan, "flat", 4) == 0, "%s", e->plan);
    quern_explanation_release(e);
    quern_array_release(x);
    quern_array_release(w);
    quern_array_release(y);
    quern_array_release(memory);
    quern_kernel_release(kernel);
    return boxed;
}

/* Packs that go on across rows suit where what they read lies side by side, as of two lines that
 * take turns; but not where that is a few bytes here and there. */
Test(boxed_maps, not_where_flat_packs_read_side_by_side)
{
    const int64_t n = 40000, two[] = {n, 2, 7}, lines[] = {7, 7 * n, 1};
    const int64_t many[] = {300, 603, 17}, pieces[] = {17, 17 * 300, 1};
    cr_expect(!whole_is_soft() || !is_boxed(two, lines, true));
    cr_expect(!whole_is_soft() || is_boxed(many, pieces, false));
}
