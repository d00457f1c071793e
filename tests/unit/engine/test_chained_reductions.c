/* SPDX-License-Identifier: MIT
 *
 * Reductions whose values are structures that remember which positions they hold. In: rows of drawn
 * lengths, at any element, with gaps. Out: for each row whether its values were combined from the
 * first position to the last, each with its neighbour, and what they add up to. The thing to know:
 * combining is associative and not commutative, so that a value that is taken twice, not at all or
 * too early shows, whatever the plan folds first.
 */
#include "base/base.h"
#include "draw.h"
#include "numbered.h"
#include <stdio.h>

TestSuite(chained_reductions, .init = whole_open, .fini = whole_close);

enum { DRAWN = 40 };

/* What goes before the kernel: values that know where they begin and end. `broken` stays. */
static const char chain_text[] =
    "struct chain { long long first, last, sum; bool broken; };\n"
    "__device__ chain joined(chain a, chain b)\n"
    "{\n"
    "    return chain{a.first, b.last, a.sum + b.sum,\n"
    "                 a.broken || b.broken || a.last + 1 != b.first};\n"
    "}\n";

static quern_kernel *chain_kernel(void)
{
    const quern_reduction_options o = {
        .size = sizeof o, .ordered = 1, .preamble = chain_text, .reduce_type = "chain"};
    quern_kernel *k;
    OK(quern_reduction(&k, engine, "T x", "int64 y", "chain{_J, _J, (long long)x, false}",
                       "joined(a, b)", "y = a.broken || a.first != 0 ? -1 - a.last : a.sum", NULL,
                       &o));
    return k;
}

/* Rows of `length` elements, `pitch` apart, from element `offset` of memory on. */
static quern_array *rows_of(quern_dtype dtype, int64_t rows, int64_t length, int64_t pitch,
                            int64_t offset)
{
    const quern_slice run = {offset, offset + rows * pitch, 1};
    const quern_slice part[] = {{0, rows, 1}, {0, length, 1}};
    quern_array *memory = numbered_memory(dtype, offset + rows * pitch), *cut, *whole, *view;
    OK(quern_array_slice(&cut, memory, 1, &run));
    OK(quern_array_reshape(&whole, cut, SHAPE(rows, pitch)));
    OK(quern_array_slice(&view, whole, 2, part));
    quern_array_release(memory);
    quern_array_release(cut);
    quern_array_release(whole);
    return view;
}

/* Returns whether the plan takes several elements at once. */
static bool check(quern_kernel *k, quern_dtype dtype)
{
    const int64_t rows = draw(0, 3) == 0 ? 1 : draw(1, 60);
    const int64_t length = draw(0, 2) == 0 ? draw(1, 40) : draw(1, 60000 / rows);
    const int64_t pitch = length + (draw(0, 2) == 0 ? draw(1, 20) : 0), offset = draw(0, 9);
    quern_array *const x = rows_of(dtype, rows, length, pitch, offset);
    quern_explanation *e;
    int64_t *const got = reduced_along(&e, k, x, 1, rows);
    for (int64_t n = 0; n < rows; n++) {
        int64_t want = 0;
        for (int64_t j = 0; j < length; j++) {
            want += numbered(offset + n * pitch + j);
        }
        cr_assert_eq(got[n], want, "%ld for %ld: row %ld of %ld of %ld elements, %ld apart: %s",
                     (long)got[n], (long)want, (long)n, (long)rows, (long)length, (long)pitch,
                     e->plan);
    }
    free(got);
    const bool packs = strstr(e->plan, "elements at once") != NULL;
    quern_explanation_release(e);
    quern_array_release(x);
    return packs;
}

Test(chained_reductions, of_each_size)
{
    static const quern_dtype dtypes[] = {QUERN_UINT8, QUERN_UINT16, QUERN_FLOAT32, QUERN_INT64};
    quern_kernel *const k = chain_kernel();
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        state = d + 1;
        int packs = 0;
        for (int n = 0; n < drawn(DRAWN); n++) {
            packs += check(k, dtypes[d]);
        }
        cr_assert(packs >= drawn(DRAWN) / 8, "%d of %d", packs, drawn(DRAWN));
    }
    quern_kernel_release(k);
}
