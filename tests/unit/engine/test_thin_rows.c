/* SPDX-License-Identifier: MIT
 *
 * Thin rows into planes and back, as of pixels and color planes: rows of 2 to 8 elements, of four
 * widths, any number of them, in one array or several; rows with a gap, and backwards; beside an
 * operand with a value for each place, or for each row. Results are compared with a loop on the
 * host, and what lies beside the output with what it was.
 */
#include "numbered.h"

TestSuite(thin_rows, .init = whole_open, .fini = whole_close);

enum { DRAWN = 60, MOST_PLACES = 8, MOST_ROWS = 3000, MOST_OUTER = 3 };
enum { ROOM = MOST_OUTER * MOST_ROWS * (MOST_PLACES + 1) + 32 };

/* Elements [outer][place][row] of a memory of ROOM. */
typedef struct layout {
    int64_t outer, place, row, first;
} layout;

static uint64_t state = 9;

static int draw(int least, int most)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return least + (int)((state >> 33) % (uint64_t)(most - least + 1));
}

static layout draw_layout(int places, int rows, bool whole, bool output)
{
    const int gap = !output && draw(0, 4) == 0, first = draw(0, 3) == 0 ? draw(0, 16) : 0;
    const bool back = whole && !output && draw(0, 4) == 0;
    if (!whole) {
        return (layout){(int64_t)places * rows, rows, 1, first};
    }
    const int pitch = places + gap;
    return (layout){(int64_t)pitch * rows, back ? -1 : 1, pitch, first + (back ? places - 1 : 0)};
}

static int64_t place_of(const layout *l, int o, int p, int r)
{
    return l->first + o * l->outer + p * l->place + r * l->row;
}

/* A view of `memory` that lies so. */
static quern_array *view(quern_array *memory, const layout *l, int outer, int places, int rows)
{
    const int64_t size = (int64_t)quern_dtype_size(quern_array_dtype(memory));
    const int64_t strides[] = {l->outer * size, l->place * size, l->row * size};
    quern_array *a;
    OK(quern_array_wrap(&a, engine, quern_array_dtype(memory), SHAPE(outer, places, rows), strides,
                        (char *)quern_array_pointer(memory) + l->first * size, NULL, NULL));
    return a;
}

static double element(const void *host, quern_dtype dtype, int64_t at)
{
    return dtype == QUERN_UINT8    ? ((const uint8_t *)host)[at]
           : dtype == QUERN_UINT16 ? ((const uint16_t *)host)[at]
           : dtype == QUERN_INT64  ? (double)((const int64_t *)host)[at]
                                   : ((const float *)host)[at];
}

static bool check(quern_kernel *k, quern_dtype dtype)
{
    static int64_t host[ROOM];
    static double want[ROOM];
    const int places = draw(2, MOST_PLACES), outer = draw(1, MOST_OUTER);
    const int rows = draw(0, 1) ? 8 * draw(130, MOST_ROWS / 8) : draw(1100, MOST_ROWS);
    const bool whole = draw(0, 1), by_row = draw(0, 1);
    const layout from = draw_layout(places, rows, whole, false);
    const layout to = draw_layout(places, rows, !whole, true);
    const layout beside = {0, by_row ? 0 : 1, by_row ? 1 : 0, 0};
    quern_array *in = numbered_memory(dtype, ROOM), *out = numbered_memory(dtype, ROOM);
    quern_array *bias = numbered_memory(QUERN_UINT8, ROOM);
    quern_array *x = view(in, &from, outer, places, rows);
    quern_array *y = view(out, &to, outer, places, rows);
    quern_array *w = view(bias, &beside, outer, places, rows);
    const quern_value values[] = {QUERN_VALUES(x, w, y)};
    quern_explanation *e;
    OK(quern_explain(&e, k, values, 3, NULL));
    OK(quern_call_n(k, values, 3, NULL));
    for (int64_t at = 0; at < ROOM; at++) {
        want[at] = numbered(at);
    }
    for (int o = 0; o < outer; o++) {
        for (int p = 0; p < places; p++) {
            for (int r = 0; r < rows; r++) {
                want[place_of(&to, o, p, r)] =
                    numbered(place_of(&from, o, p, r)) + numbered(place_of(&beside, o, p, r));
            }
        }
    }
    OK(quern_array_read(out, host, ROOM * quern_dtype_size(dtype)));
    for (int64_t at = 0; at < ROOM; at++) {
        cr_assert_eq(element(host, dtype, at), want[at], "%ld of %d x %d x %d: %g, not %g: %s",
                     (long)at, outer, places, rows, element(host, dtype, at), want[at], e->plan);
    }
    const bool thin = strstr(e->plan, "whole rows of") != NULL;
    quern_explanation_release(e);
    quern_array *arrays[] = {in, out, bias, x, y, w};
    for (int n = 0; n < 6; n++) {
        quern_array_release(arrays[n]);
    }
    return thin;
}

Test(thin_rows, of_drawn_layouts)
{
    static const quern_dtype dtypes[] = {QUERN_UINT8, QUERN_UINT16, QUERN_INT64, QUERN_FLOAT32};
    quern_kernel *k = kernel_of("T x, uint8 w", "T y", "y = x + w");
    int thin = 0;
    for (int n = 0; n < DRAWN; n++) {
        thin += check(k, dtypes[n % 4]);
    }
    cr_assert(thin > DRAWN / 4 && thin < DRAWN, "%d of %d", thin, DRAWN);
    quern_kernel_release(k);
}

/* In memory any byte but 0 is true, in whole rows and in planes. */
Test(thin_rows, bools_of_any_byte)
{
    enum { ROWS = 4099, PLACES = 3 };
    static const uint8_t bytes[] = {0, 1, 2, 128, 0, 255, 0};
    static uint8_t host[ROWS * PLACES], got[ROWS * PLACES];
    for (int n = 0; n < ROWS * PLACES; n++) {
        host[n] = bytes[n * 3 % 7];
    }
    quern_kernel *k = kernel_of("bool x", "uint8 y", "y = x + 1");
    for (int to_planes = 0; to_planes < 2; to_planes++) {
        const int64_t shape[] = {to_planes ? ROWS : PLACES, to_planes ? PLACES : ROWS};
        quern_array *x = array_of(QUERN_BOOL, 2, shape, host), *turned, *y = NULL;
        OK(quern_array_transpose(&turned, x, NULL));
        const quern_value v[] = {QUERN_VALUES(turned, &y)};
        quern_explanation *e;
        OK(quern_explain(&e, k, v, 2, NULL));
        cr_expect(strstr(e->plan, "whole rows of"), "%s", e->plan);
        quern_explanation_release(e);
        OK(quern_call_n(k, v, 2, NULL));
        OK(quern_array_read(y, got, sizeof got));
        for (int64_t n = 0; n < ROWS * PLACES; n++) { /* of y in C order */
            const int64_t at = n % shape[0] * shape[1] + n / shape[0];
            cr_assert_eq(got[n], 1 + (host[at] != 0), "element %ld, to planes: %d", (long)n,
                         to_planes);
        }
        quern_array_release(x);
        quern_array_release(turned);
        quern_array_release(y);
    }
    quern_kernel_release(k);
}
