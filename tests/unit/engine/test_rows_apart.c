/* SPDX-License-Identifier: MIT
 *
 * Sums of short rows that are no packs, of which a thread has several a block apart: rows of drawn
 * lengths at any element, with and without gaps, into an array that lies the other way round.
 * Results are compared with a loop on the host.
 */
#include "draw.h"
#include "numbered.h"

TestSuite(rows_apart, .init = whole_open_small, .fini = whole_close);

enum { DRAWN = 30, PLANES = 5, MOST_ROWS = 3000, MOST_LENGTH = 18, OFFSET = 7, GAP = 2 };
enum { ROOM = PLANES * MOST_ROWS * (MOST_LENGTH + GAP) + OFFSET };

/* Returns whether a thread had outputs a block apart. */
static bool check(int n, quern_kernel *kernel)
{
    static const quern_dtype dtypes[] = {QUERN_UINT8, QUERN_UINT16, QUERN_INT64};
    const int64_t rows = draw(1000, MOST_ROWS), length = draw(1, MOST_LENGTH);
    const int64_t pitch = length + draw(0, GAP), offset = draw(0, OFFSET);
    quern_array *memory = numbered_memory(dtypes[n % 3], ROOM), *run, *all, *x, *y, *turned;
    OK(quern_array_slice(&run, memory, 1,
                         (quern_slice[]){{offset, offset + PLANES * rows * pitch, 1}}));
    OK(quern_array_reshape(&all, run, SHAPE(PLANES, rows, pitch)));
    OK(quern_array_slice(&x, all, 3,
                         (quern_slice[]){{0, PLANES, 1}, {0, rows, 1}, {0, length, 1}}));
    OK(quern_array_new(&y, engine, QUERN_INT64, SHAPE(rows, PLANES)));
    OK(quern_array_transpose(&turned, y, (int[]){1, 0}));
    quern_call_options o = QUERN_CALL_OPTIONS_INIT;
    o.axis_count = 1;
    o.axes = (int[]){2};
    const quern_value values[] = {QUERN_VALUES(x, turned)};
    quern_explanation *e;
    OK(quern_explain(&e, kernel, values, 2, &o));
    OK(quern_call_n(kernel, values, 2, &o));
    static int64_t got[MOST_ROWS * PLANES];
    OK(quern_array_read(y, got, (size_t)(rows * PLANES) * sizeof *got));
    int64_t wrong = 0;
    for (int64_t k = 0; k < rows * PLANES; k++) {
        int64_t sum = 0;
        for (int64_t at = 0; at < length; at++) {
            sum += numbered(offset + (k % PLANES * rows + k / PLANES) * pitch + at);
        }
        wrong += got[k] != sum;
    }
    cr_expect_eq(wrong, 0, "case %d, rows of %lld: %s", n, (long long)length, e->plan);
    const bool apart = strstr(e->plan, "a block apart") != NULL;
    cr_expect(!apart || length <= 16, "rows of %lld: %s", (long long)length, e->plan);
    quern_explanation_release(e);
    quern_array *arrays[] = {run, all, x, y, turned, memory};
    for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++) {
        quern_array_release(arrays[a]);
    }
    return apart;
}

Test(rows_apart, of_drawn_lengths)
{
    quern_kernel *kernel;
    OK(quern_reduction(&kernel, engine, "T x", "int64 y", "(long long)x", "a + b", "y = a", "0",
                       NULL));
    const int cases = drawn(DRAWN);
    int apart = 0;
    state = 9;
    for (int n = 0; n < cases; n++) {
        apart += check(n, kernel);
    }
    cr_expect(!whole_is_soft() || apart > cases / 6, "%d of %d", apart, cases);
    quern_kernel_release(kernel);
}
