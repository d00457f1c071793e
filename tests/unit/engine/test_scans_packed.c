/* SPDX-License-Identifier: MIT
 *
 * Scans of rows, and of columns of few beside each other, that a block takes as one run of memory:
 * of drawn lengths, of which the code knows those up to 8, from any element on, of narrow and of
 * wide elements, exclusive and not, in place, of one input and of two. Results are compared with a
 * loop on the host.
 */
#include "draw.h"
#include "numbered.h"

TestSuite(scans_packed, .init = whole_open_small, .fini = whole_close);

enum { DRAWN = 60, MOST_ROWS = 9000, MOST_LENGTH = 20, MOST_BESIDE = 7, OFFSET = 9 };
enum { ROOM = MOST_ROWS * MOST_LENGTH * MOST_BESIDE / 4 + OFFSET };

/* Matrices of `length` rows of `beside` elements, one after the other from `offset` on. */
typedef struct matrices {
    int64_t count, length, beside, offset;
} matrices;

static matrices draw_matrices(void)
{
    matrices m = {.beside = draw(0, 1) == 0 ? 1 : draw(2, MOST_BESIDE), .offset = draw(0, OFFSET)};
    m.length = draw(0, 3) == 0 ? draw(9, MOST_LENGTH) : draw(2, 8);
    m.count = draw(500, (ROOM - OFFSET) / (m.length * m.beside));
    return m;
}

static quern_array *view_of(quern_array *memory, const matrices *m)
{
    const int64_t all = m->count * m->length * m->beside;
    quern_array *run, *view;
    OK(quern_array_slice(&run, memory, 1, (quern_slice[]){{m->offset, m->offset + all, 1}}));
    OK(quern_array_reshape(&view, run, SHAPE(m->count, m->length, m->beside)));
    quern_array_release(run);
    return view;
}

/* Elements that are not the sums of `factor` times those up to them, or before them. */
static int64_t wrong(quern_array *memory, const matrices *m, bool exclusive, int64_t factor)
{
    int64_t *const got = malloc(ROOM * sizeof *got), bad = 0;
    cr_assert(got);
    OK(quern_array_read(memory, got, ROOM * sizeof *got));
    for (int64_t column = 0; column < m->count * m->beside; column++) {
        const int64_t first =
            m->offset + column / m->beside * m->length * m->beside + column % m->beside;
        int64_t sum = 0;
        for (int64_t k = 0; k < m->length; k++) {
            const int64_t place = first + k * m->beside, before = sum;
            sum += factor * numbered(place);
            bad += got[place] != (exclusive ? before : sum);
        }
    }
    free(got);
    return bad;
}

typedef struct kernels {
    quern_kernel *sums, *before, *products;
} kernels;

/* Returns whether the plan is the one this is about. */
static bool check(int n, const kernels *k)
{
    static const quern_dtype dtypes[] = {QUERN_UINT8, QUERN_UINT16, QUERN_INT64};
    const matrices m = draw_matrices();
    const quern_dtype dtype = dtypes[n % 3];
    quern_array *in = numbered_memory(dtype, ROOM), *out = numbered_memory(QUERN_INT64, ROOM);
    quern_array *x = view_of(dtype == QUERN_INT64 && draw(0, 1) == 0 ? out : in, &m), *w;
    quern_array *y = view_of(out, &m);
    OK(quern_array_new(&w, engine, QUERN_UINT8, SHAPE(1)));
    OK(quern_array_fill(w, &(uint8_t){3}, 1));
    quern_call_options o = QUERN_CALL_OPTIONS_INIT;
    o.axis_count = 1;
    o.axes = (int[]){1};
    const bool products = n % 5 == 0, exclusive = !products && n % 4 == 0;
    const quern_value two[] = {QUERN_VALUES(x, y)}, three[] = {QUERN_VALUES(x, w, y)};
    quern_kernel *kernel = products ? k->products : exclusive ? k->before : k->sums;
    quern_explanation *e;
    OK(quern_explain(&e, kernel, products ? three : two, 2 + products, &o));
    OK(quern_call_n(kernel, products ? three : two, 2 + products, &o));
    cr_expect_eq(wrong(out, &m, exclusive, products ? 3 : 1), 0, "case %d: %s", n, e->plan);
    const bool packed = strstr(e->plan, "as one run of memory") != NULL;
    quern_explanation_release(e);
    quern_array *arrays[] = {x, w, y, in, out};
    for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++) {
        quern_array_release(arrays[a]);
    }
    return packed;
}

Test(scans_packed, of_drawn_rows_and_columns)
{
    const quern_scan_options exclusive = {.size = sizeof exclusive, .exclusive = true};
    kernels k;
    OK(quern_scan(&k.sums, engine, "T x", "int64 y", "x", "a + b", "y = a", "0", NULL));
    OK(quern_scan(&k.before, engine, "T x", "int64 y", "x", "a + b", "y = a", "0", &exclusive));
    OK(quern_scan(&k.products, engine, "T x, U w", "int64 y", "(long long)x * w", "a + b", "y = a",
                  "0", NULL));
    const int cases = drawn(DRAWN);
    int packed = 0;
    state = 6;
    for (int n = 0; n < cases; n++) {
        packed += check(n, &k);
    }
    cr_expect(!whole_is_soft() || packed > cases / 4, "%d of %d", packed, cases);
    quern_kernel_release(k.sums);
    quern_kernel_release(k.before);
    quern_kernel_release(k.products);
}
