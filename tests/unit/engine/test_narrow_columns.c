/* SPDX-License-Identifier: MIT
 *
 * Scans along columns of few beside each other, as of (n, 100, 3) along axis 1, which blocks take
 * as runs of memory: drawn lengths and widths of narrow and wide elements, wherever memory begins,
 * exclusive and not, in place, with an order that matters, and with a text that leaves some outputs
 * as they are. Results are compared with a loop on the host, and what lies beside with what it was.
 */
#include "numbered.h"

TestSuite(narrow_columns, .init = whole_open_small, .fini = whole_close);

enum { DRAWN = 48, ROOM = 60000 };

static uint64_t state = 13;

static int draw(int least, int most)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return least + (int)((state >> 33) % (uint64_t)(most - least + 1));
}

/* Matrices of `length` rows and `width` columns, the first at `offset`. */
typedef struct batch {
    int64_t matrices, length, width, offset;
} batch;

static batch draw_batch(void)
{
    batch b = {.length = draw(2, 90), .width = draw(2, 12), .offset = draw(0, 9)};
    b.matrices = (ROOM - 16) / (b.length * b.width) - draw(0, 2);
    return b;
}

static quern_array *view(quern_array *memory, const batch *b)
{
    const int64_t size = (int64_t)quern_dtype_size(quern_array_dtype(memory));
    quern_array *a;
    OK(quern_array_wrap(&a, engine, quern_array_dtype(memory),
                        SHAPE(b->matrices, b->length, b->width), NULL,
                        (char *)quern_array_pointer(memory) + b->offset * size, NULL, NULL));
    return a;
}

/* What each element of a column becomes: `keep` says whether the output stays as it is. */
typedef struct way {
    const char *scan, *post, *identity;
    int64_t (*combine)(int64_t a, int64_t b);
    int64_t (*keep)(int64_t x);
    bool exclusive;
} way;

static int64_t add(int64_t a, int64_t b)
{
    return a + b;
}

/* The last that is no multiple of 3: the order matters. */
static int64_t last(int64_t a, int64_t b)
{
    return b % 3 != 0 ? b : a;
}

static int64_t no(int64_t x)
{
    (void)x;
    return 0;
}

static int64_t even(int64_t x)
{
    return x % 2 == 0;
}

static const way ways[] = {
    {"a + b", "y = a", "0", add, no, false},
    {"a + b", "y = a", "0", add, no, true},
    {"b % 3 != 0 ? b : a", "y = a", NULL, last, no, false},
    {"a + b", "if (x % 2 != 0) y = a", "0", add, even, false},
};

static void expect(const int64_t *got, const batch *b, const way *w, const char *plan)
{
    static int64_t want[ROOM];
    for (int64_t at = 0; at < ROOM; at++) {
        want[at] = numbered(at);
    }
    for (int64_t column = 0; column < b->matrices * b->width; column++) {
        const int64_t matrix = column / b->width;
        const int64_t first =
            b->offset + matrix * b->length * b->width + column - matrix * b->width;
        int64_t all = 0;
        for (int64_t row = 0; row < b->length; row++) {
            const int64_t place = first + row * b->width, x = numbered(place), before = all;
            all = row == 0 ? x : w->combine(all, x);
            want[place] = w->keep(x) ? (int64_t)numbered(place) : w->exclusive ? before : all;
        }
    }
    for (int64_t at = 0; at < ROOM; at++) {
        cr_assert_eq(got[at], want[at], "%ld of %ld x %ld x %ld: %ld, not %ld: %s", (long)at,
                     (long)b->matrices, (long)b->length, (long)b->width, (long)got[at],
                     (long)want[at], plan);
    }
}

/* Returns whether the plan is the one this is about. */
static bool check(const way *w, quern_dtype dtype)
{
    static int64_t got[ROOM];
    const batch b = draw_batch();
    quern_scan_options options = QUERN_SCAN_OPTIONS_INIT;
    options.exclusive = w->exclusive;
    quern_kernel *k;
    OK(quern_scan(&k, engine, "T x", "int64 y", "x", w->scan, w->post, w->identity, &options));
    quern_array *in = numbered_memory(dtype, ROOM), *out = numbered_memory(QUERN_INT64, ROOM);
    quern_array *x = view(dtype == QUERN_INT64 && draw(0, 1) == 0 ? out : in, &b);
    quern_array *y = view(out, &b);
    quern_call_options o = QUERN_CALL_OPTIONS_INIT;
    o.axis_count = 1;
    o.axes = (int[]){1};
    const quern_value values[] = {QUERN_VALUES(x, y)};
    quern_explanation *e;
    OK(quern_explain(&e, k, values, 2, &o));
    OK(quern_call_n(k, values, 2, &o));
    OK(quern_array_read(out, got, sizeof got));
    expect(got, &b, w, e->plan);
    const bool woven = strstr(e->plan, "a column") != NULL;
    quern_explanation_release(e);
    quern_array *arrays[] = {x, y, in, out};
    for (int n = 0; n < 4; n++) {
        quern_array_release(arrays[n]);
    }
    quern_kernel_release(k);
    return woven;
}

Test(narrow_columns, of_drawn_lengths_and_widths)
{
    static const quern_dtype dtypes[] = {QUERN_UINT8, QUERN_UINT16, QUERN_INT64};
    int woven = 0;
    for (int n = 0; n < DRAWN; n++) {
        woven += check(&ways[n % 4], dtypes[n / 4 % 3]);
    }
    cr_assert(!whole_is_soft() || (woven > DRAWN / 4 && woven < DRAWN), "%d of %d", woven, DRAWN);
}
