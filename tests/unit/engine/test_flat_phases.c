/* SPDX-License-Identifier: MIT
 *
 * Elementwise kernels by flat packs in phases: a thread's packs lie so far apart that each has the
 * same columns, which it reads once where rows share them. Rows of drawn lengths, in two and three
 * dimensions; inputs that rows or columns share, with gaps, and that begin anywhere; compared with
 * a loop on the host, with what lies before and behind the output.
 */
#include "flat_inputs.h"

TestSuite(flat_phases, .init = whole_open, .fini = whole_close);

enum { MEMORY = 1 << 20, EDGE = 32 };

/* How packs went: whether in phases, and whether any were paired. */
typedef struct tally {
    int phases, pairs;
} tally;

static void check(quern_kernel *k, quern_array *const *memory, tally *seen)
{
    static const int64_t lengths[] = {3, 7, 12, 49, 113, 129, 517, 1001, 1003};
    const int64_t length = lengths[draw(sizeof lengths / sizeof *lengths)];
    const int64_t outer = draw(3) == 0 ? 3 : 1, rows = 300000 / length / outer;
    const int64_t shape[] = {rows, outer, length}, count = rows * outer * length;
    const int64_t offset = draw(17);
    static const int shares[] = {0, 1, 3, 3, 4, 5};
    input in[INPUTS];
    for (int i = 0; i < INPUTS; i++) {
        const int shared = i == 0 ? 0 : shares[draw(6)];
        const int64_t gap = i == 0 && draw(3) == 0 ? draw(6) : 0;
        in[i] = input_of(memory[draw(3)], shape, draw(16), shared, gap);
    }
    quern_array *wide, *part, *y;
    OK(quern_array_new(&wide, engine, QUERN_UINT8, SHAPE(count + 2 * EDGE)));
    OK(quern_array_fill(wide, &(uint8_t){255}, 1));
    OK(quern_array_slice(&part, wide, 1, (quern_slice[]){{offset, offset + count, 1}}));
    OK(quern_array_reshape(&y, part, 3, shape));
    const quern_value v[] = {QUERN_VALUES(in[0].array, in[1].array, in[2].array, y)};
    quern_explanation *e;
    OK(quern_explain(&e, k, v, 4, NULL));
    OK(quern_call_n(k, v, 4, NULL));
    uint8_t *got = malloc((size_t)count + 2 * EDGE);
    OK(quern_array_read(wide, got, (size_t)count + 2 * EDGE));
    expect_mixed(got + offset, in, shape, e->plan);
    for (int64_t b = 0; b < 2 * EDGE; b++) {
        cr_assert_eq(got[b < offset ? b : b + count], 255, "byte %ld beside the output", (long)b);
    }
    free(got);
    const bool phases = strstr(e->plan, "flat in phases") != NULL;
    seen->phases += phases;
    seen->pairs += phases && strchr(strstr(e->plan, "access "), 'x') != NULL;
    quern_explanation_release(e);
    quern_array *all[] = {in[0].array, in[1].array, in[2].array, wide, part, y};
    for (size_t a = 0; a < sizeof all / sizeof *all; a++) {
        quern_array_release(all[a]);
    }
}

Test(flat_phases, of_any_rows)
{
    const quern_dtype dtypes[] = {QUERN_UINT8, QUERN_UINT16, QUERN_FLOAT32};
    quern_array *memory[3];
    for (int d = 0; d < 3; d++) {
        memory[d] = numbered_memory(dtypes[d], MEMORY);
    }
    quern_kernel *k = mixing_kernel();
    tally seen = {0};
    for (int n = 0; n < 50; n++) {
        check(k, memory, &seen);
    }
    cr_expect(seen.phases > 15 && seen.pairs > 5, "%d in phases, %d with pairs", seen.phases,
              seen.pairs);
    for (int d = 0; d < 3; d++) {
        quern_array_release(memory[d]);
    }
    quern_kernel_release(k);
}

static quern_array *bools(int64_t rows, int64_t columns, int64_t by)
{
    static const uint8_t bytes[] = {0, 1, 2, 128, 0, 255, 0};
    uint8_t *host = malloc((size_t)(rows * columns));
    for (int64_t n = 0; n < rows * columns; n++) {
        host[n] = bytes[n * by % 7];
    }
    quern_array *a = array_of(QUERN_BOOL, SHAPE(rows, columns), host);
    free(host);
    return a;
}

/* In memory any byte but 0 is true, however packs come. */
Test(flat_phases, bools_of_any_byte)
{
    enum { ROWS = 2000, COLUMNS = 129 };
    static uint8_t got[ROWS * COLUMNS];
    quern_kernel *k = kernel_of("bool x, bool b, bool c", "uint8 y", "y = x + 2 * b + 4 * c");
    quern_array *x = bools(ROWS, COLUMNS, 3), *b = bools(1, COLUMNS, 1), *c = bools(ROWS, 1, 2);
    quern_array *y = NULL;
    const quern_value v[] = {QUERN_VALUES(x, b, c, &y)};
    quern_explanation *e;
    OK(quern_explain(&e, k, v, 4, NULL));
    cr_expect(strstr(e->plan, "flat in phases"), "%s", e->plan);
    quern_explanation_release(e);
    OK(quern_call_n(k, v, 4, NULL));
    OK(quern_array_read(y, got, sizeof got));
    static const uint8_t truth[] = {0, 1, 1, 1, 0, 1, 0};
    for (int64_t n = 0; n < ROWS * COLUMNS; n++) {
        const int64_t row = n / COLUMNS, column = n % COLUMNS;
        cr_assert_eq(got[n], truth[n * 3 % 7] + 2 * truth[column % 7] + 4 * truth[row * 2 % 7],
                     "element %ld", (long)n);
    }
    quern_array *all[] = {x, b, c, y};
    for (size_t a = 0; a < sizeof all / sizeof *all; a++) {
        quern_array_release(all[a]);
    }
    quern_kernel_release(k);
}
