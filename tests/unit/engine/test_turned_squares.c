/* SPDX-License-Identifier: MIT
 *
 * Matrices of narrow elements turned into others, which go by tiles of squares: one after the other
 * or several, of any extents, in rows longer than they are, from any element on, into elements of
 * any width. Results are compared with a loop on the host, and what lies beside the output with
 * what it was.
 */
#include "draw.h"
#include "numbered.h"

TestSuite(turned_squares, .init = whole_open, .fini = whole_close);

enum { DRAWN = 40, MOST = 400, GAP = 9, ROOM = 2 * MOST * (MOST + GAP) + 32 };

/* Elements [matrix][row][column] of a memory of ROOM, one of whose last two strides is 1. */
typedef struct layout {
    int64_t matrix, row, column, first;
} layout;

static int64_t place_of(const layout *l, int64_t m, int64_t r, int64_t c)
{
    return l->first + m * l->matrix + r * l->row + c * l->column;
}

/* As whole words lie, or off their alignment. */
static layout draw_layout(int64_t rows, int64_t columns, bool turned, bool aligned)
{
    const int64_t length = turned ? rows : columns, lines = turned ? columns : rows;
    const int64_t gap = aligned ? 0 : draw(0, 2) * draw(0, GAP / 2);
    const int64_t pitch = length + gap, first = aligned ? 0 : draw(0, 2) * draw(0, 8);
    return (layout){pitch * lines, turned ? 1 : pitch, turned ? pitch : 1, first};
}

static quern_array *view(quern_array *memory, const layout *l, const int64_t *shape)
{
    const int64_t size = (int64_t)quern_dtype_size(quern_array_dtype(memory));
    const int64_t strides[] = {l->matrix * size, l->row * size, l->column * size};
    quern_array *a;
    OK(quern_array_wrap(&a, engine, quern_array_dtype(memory), 3, shape, strides,
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

static int64_t draw_extent(bool aligned)
{
    return aligned ? 64 * draw(1, MOST / 64) : draw(64, MOST);
}

/* y = x.T + w. Returns whether it went by squares of four. */
static bool check(quern_kernel *k, quern_dtype from, quern_dtype to)
{
    static int64_t host[ROOM];
    static double want[ROOM];
    const bool aligned = draw(0, 1) == 0;
    const int64_t shape[] = {draw(1, 2), draw_extent(aligned), draw_extent(aligned)};
    const layout turned = draw_layout(shape[1], shape[2], true, aligned);
    const layout beside = draw_layout(shape[1], shape[2], draw(0, 3) == 0, aligned);
    const layout out = draw_layout(shape[1], shape[2], false, aligned);
    quern_array *memory[] = {numbered_memory(from, ROOM), numbered_memory(from, ROOM),
                             numbered_memory(to, ROOM)};
    quern_array *x = view(memory[0], &turned, shape), *w = view(memory[1], &beside, shape);
    quern_array *y = view(memory[2], &out, shape);
    const quern_value values[] = {QUERN_VALUES(x, w, y)};
    quern_explanation *e;
    OK(quern_explain(&e, k, values, 3, NULL));
    OK(quern_call_n(k, values, 3, NULL));
    for (int64_t at = 0; at < ROOM; at++) {
        want[at] = numbered(at);
    }
    for (int64_t m = 0; m < shape[0]; m++) {
        for (int64_t r = 0; r < shape[1]; r++) {
            for (int64_t c = 0; c < shape[2]; c++) {
                want[place_of(&out, m, r, c)] =
                    numbered(place_of(&turned, m, r, c)) + numbered(place_of(&beside, m, r, c));
            }
        }
    }
    OK(quern_array_read(memory[2], host, ROOM * quern_dtype_size(to)));
    for (int64_t at = 0; at < ROOM; at++) {
        cr_assert_eq(element(host, to, at), want[at], "%ld of %ld x %ld x %ld: %g, not %g: %s",
                     (long)at, (long)shape[0], (long)shape[1], (long)shape[2],
                     element(host, to, at), want[at], e->plan);
    }
    const bool squares = strstr(e->plan, "squares of 4 x 4") != NULL;
    quern_explanation_release(e);
    quern_array *arrays[] = {memory[0], memory[1], memory[2], x, w, y};
    for (int n = 0; n < 6; n++) {
        quern_array_release(arrays[n]);
    }
    return squares;
}

Test(turned_squares, of_drawn_matrices)
{
    static const quern_dtype wide[] = {QUERN_UINT8, QUERN_UINT16, QUERN_FLOAT32, QUERN_INT64};
    quern_kernel *k = kernel_of("S x, S w", "T y", "y = (int)x + (int)w");
    int squares = 0;
    for (int n = 0; n < drawn(DRAWN); n++) {
        squares += check(k, n % 2 ? QUERN_UINT8 : QUERN_UINT16, wide[n / 2 % 4]);
    }
    cr_assert(squares >= (drawn_part() > 1 ? 1 : DRAWN / 4), "%d of %d", squares, drawn(DRAWN));
    quern_kernel_release(k);
}
