/* SPDX-License-Identifier: MIT
 *
 * Scans of few elements, of which a thread has several a block apart: along the first axis of drawn
 * lengths and widths, of narrow and of wide elements, wherever rows begin and however far they lie
 * apart, exclusive and not, in place. Results are compared with a loop on the host.
 */
#include "numbered.h"

TestSuite(scans_apart, .init = whole_open_small, .fini = whole_close);

enum {
    DRAWN = 40,
    MOST_LENGTH = 16,
    MOST_WIDTH = 20000,
    ROOM = (MOST_WIDTH + 3) * MOST_LENGTH + 8
};

static uint64_t state = 5;

static int draw(int least, int most)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return least + (int)((state >> 33) % (uint64_t)(most - least + 1));
}

/* Rows of `width` that lie `pitch` elements apart, the first at `offset`. */
static quern_array *rows_of(quern_array *memory, int length, int width, int pitch, int offset)
{
    quern_array *part, *whole, *rows;
    OK(quern_array_slice(&part, memory, 1,
                         (quern_slice[]){{offset, offset + (int64_t)length * pitch, 1}}));
    OK(quern_array_reshape(&whole, part, SHAPE(length, pitch)));
    OK(quern_array_slice(&rows, whole, 2, (quern_slice[]){{0, length, 1}, {0, width, 1}}));
    quern_array_release(part);
    quern_array_release(whole);
    return rows;
}

static void expect(quern_array *memory, int length, int width, int pitch, int offset,
                   bool exclusive, const char *plan)
{
    static int64_t got[ROOM];
    OK(quern_array_read(memory, got, sizeof got));
    for (int column = 0; column < width; column++) {
        int64_t sum = 0;
        for (int row = 0; row < length; row++) {
            const int64_t place = offset + (int64_t)row * pitch + column;
            const int64_t before = sum;
            sum += numbered(place);
            cr_assert_eq(got[place], exclusive ? before : sum, "%d x %d at %d, %d: %ld: %s", length,
                         width, row, column, (long)got[place], plan);
        }
    }
}

/* Returns whether the plan is the one this is about. */
static bool check(quern_kernel *k, quern_dtype dtype, bool exclusive)
{
    const int length = draw(1, MOST_LENGTH), width = draw(5000, MOST_WIDTH);
    const int pitch = width + (draw(0, 2) == 0 ? 3 : 0), offset = draw(0, 7);
    quern_array *in = numbered_memory(dtype, ROOM), *out = numbered_memory(QUERN_INT64, ROOM);
    const bool in_place = dtype == QUERN_INT64 && draw(0, 1) == 0;
    quern_array *x = rows_of(in_place ? out : in, length, width, pitch, offset);
    quern_array *y = rows_of(out, length, width, pitch, offset);
    quern_call_options o = QUERN_CALL_OPTIONS_INIT;
    o.axis_count = 1;
    o.axes = (int[]){0};
    const quern_value values[] = {QUERN_VALUES(x, y)};
    quern_explanation *e;
    OK(quern_explain(&e, k, values, 2, &o));
    OK(quern_call_n(k, values, 2, &o));
    expect(out, length, width, pitch, offset, exclusive, e->plan);
    const bool apart = strstr(e->plan, "scans a thread, a block apart") != NULL;
    quern_explanation_release(e);
    quern_array_release(x);
    quern_array_release(y);
    quern_array_release(in);
    quern_array_release(out);
    return apart;
}

Test(scans_apart, of_drawn_lengths_and_widths)
{
    static const quern_dtype dtypes[] = {QUERN_UINT8, QUERN_UINT16, QUERN_INT64};
    quern_scan_options exclusive = QUERN_SCAN_OPTIONS_INIT;
    exclusive.exclusive = true;
    quern_kernel *sums, *before;
    OK(quern_scan(&sums, engine, "T x", "int64 y", "x", "a + b", "y = a", "0", NULL));
    OK(quern_scan(&before, engine, "T x", "int64 y", "x", "a + b", "y = a", "0", &exclusive));
    int apart = 0;
    for (int n = 0; n < DRAWN; n++) {
        const bool first = n % 4 == 0;
        apart += check(first ? before : sums, dtypes[n % 3], first);
    }
    cr_assert(!whole_is_soft() || (apart > 4 && apart < DRAWN), "%d of %d", apart, DRAWN);
    quern_kernel_release(sums);
    quern_kernel_release(before);
}
