/* SPDX-License-Identifier: MIT
 *
 * Elementwise kernels over rows, by flat packs, by slabs and by blocks: outputs without gaps, while
 * inputs are repeated along any axes, have gaps between rows, or begin anywhere; and rows in many
 * dimensions, of which each input walks some backwards. Drawn shapes and operands are compared with
 * a loop on the host. The thing to know: what is checked of plans alone, for many more operands, is
 * in test_plan.c; here their code runs.
 */
#include "flat_inputs.h"

TestSuite(flat_rows, .init = whole_open, .fini = whole_close);

enum { MOST = 1 << 15 };

/* Repeated along some axes, with `gap` elements behind each row, or neither. */
static input draw_input(quern_array *memory, const int64_t *shape, int how, bool even)
{
    const int repeated = how == 0 ? 0 : how == 1 ? 1 + (int)draw(7) : (int)draw(4);
    const int64_t gap = how != 2 ? 0 : even ? 2 + 2 * draw(2) : 1 + draw(5);
    const int64_t offset = even ? 2 * draw(8) : draw(16);
    return input_of(memory, shape, offset, repeated, gap);
}

/* Returns whether packs went on across rows, and whether in steps of several elements. */
static bool check(quern_kernel *k, quern_array *const *memory, bool *steps)
{
    static const int64_t lengths[] = {2, 3, 4, 5, 6, 8, 12, 26, 49};
    const int64_t length = lengths[draw(sizeof lengths / sizeof *lengths)];
    const int64_t shape[] = {2 + draw(9), 20 + draw(30), length};
    const int64_t offset = draw(17), count = shape[0] * shape[1] * shape[2];
    input in[INPUTS];
    for (int i = 0; i < INPUTS; i++) {
        in[i] = draw_input(memory[draw(3)], shape, i == 0 ? 0 : 1 + (int)draw(2), draw(3) != 0);
    }
    quern_array *wide, *part, *y;
    OK(quern_array_new(&wide, engine, QUERN_UINT8, SHAPE(count + offset)));
    OK(quern_array_slice(&part, wide, 1, (quern_slice[]){{offset, offset + count, 1}}));
    OK(quern_array_reshape(&y, part, 3, shape));
    const quern_value v[] = {QUERN_VALUES(in[0].array, in[1].array, in[2].array, y)};
    quern_explanation *e;
    OK(quern_explain(&e, k, v, 4, NULL));
    OK(quern_call_n(k, v, 4, NULL));
    static uint8_t got[MOST];
    OK(quern_array_read(y, got, (size_t)count));
    expect_mixed(got, in, shape, e->plan);
    const bool flat = strstr(e->plan, "flat") != NULL;
    const char *access = strstr(e->plan, "access ");
    *steps = flat && strpbrk(access ? access + strlen("access ") : "", "ph") != NULL;
    quern_explanation_release(e);
    quern_array *all[] = {in[0].array, in[1].array, in[2].array, wide, part, y};
    for (size_t a = 0; a < sizeof all / sizeof *all; a++) {
        quern_array_release(all[a]);
    }
    return flat;
}

Test(flat_rows, of_many_kinds)
{
    const quern_dtype dtypes[] = {QUERN_UINT8, QUERN_UINT16, QUERN_FLOAT32};
    quern_array *memory[3];
    for (int d = 0; d < 3; d++) {
        memory[d] = numbered_memory(dtypes[d], MOST * 2);
    }
    quern_kernel *k = mixing_kernel();
    int flat = 0, stepped = 0, calls = 90;
    for (int n = 0; n < calls; n++) {
        bool steps;
        flat += check(k, memory, &steps);
        stepped += steps;
    }
    cr_expect(flat > calls / 3 && stepped > calls / 10, "%d of %d flat, %d in steps", flat, calls,
              stepped);
    for (int d = 0; d < 3; d++) {
        quern_array_release(memory[d]);
    }
    quern_kernel_release(k);
}

/* ---- many dimensions ------------------------------------------------------------------------- */

enum { RANK = 5 };

/* A part of the numbered memory with `gap` elements left out behind each row, walked backwards
 * along the axes of `backwards`. In `in`: its first element, and its strides. */
static quern_array *part_of(quern_array *memory, const int64_t *shape, int64_t gap, int backwards,
                            int64_t *stride, int64_t *offset)
{
    int64_t whole[RANK], pitch = 1;
    quern_slice cut[RANK];
    *offset = draw(5);
    for (int d = RANK - 1; d >= 0; d--) {
        const bool back = backwards >> d & 1;
        whole[d] = shape[d] + (d == RANK - 1 ? gap : 0);
        stride[d] = back ? -pitch : pitch;
        cut[d] = back ? (quern_slice){shape[d] - 1, QUERN_SLICE_NONE, -1}
                      : (quern_slice){0, shape[d], 1};
        pitch *= whole[d];
    }
    quern_array *run, *table, *part;
    OK(quern_array_slice(&run, memory, 1, (quern_slice[]){{*offset, *offset + pitch, 1}}));
    OK(quern_array_reshape(&table, run, RANK, whole));
    OK(quern_array_slice(&part, table, RANK, cut));
    for (int d = 0; d < RANK; d++) {
        *offset -= stride[d] < 0 ? stride[d] * (shape[d] - 1) : 0;
    }
    quern_array_release(run);
    quern_array_release(table);
    return part;
}

/* Where element `e` of the loop lies. */
static int64_t place_of(int64_t e, const int64_t *shape, const int64_t *stride, int64_t offset)
{
    for (int d = RANK - 1; d >= 0; d--) {
        offset += e % shape[d] * stride[d];
        e /= shape[d];
    }
    return offset;
}

/* Rows of inputs that face each their own way, to an output with `gap`, of which nothing but its
 * elements is written. What was done is in *e, for the caller to release. */
static void check_facing(quern_kernel *k, quern_array *memory, const int64_t *shape, int64_t gap,
                         quern_explanation **e)
{
    static uint8_t got[MOST];
    static bool written[MOST];
    int64_t stride[3][RANK], offset[3], count = 1, pitch = shape[RANK - 1] + gap;
    for (int d = 0; d < RANK; d++) {
        count *= shape[d];
    }
    const int64_t rows = count / shape[RANK - 1];
    quern_array *x = part_of(memory, shape, 1, draw(2) ? 5 : 10, stride[0], &offset[0]);
    quern_array *y = part_of(memory, shape, 2, 0, stride[1], &offset[1]);
    quern_array *wide, *z;
    OK(quern_array_new(&wide, engine, QUERN_UINT8, SHAPE(rows * pitch + 4)));
    OK(quern_array_fill(wide, &(uint8_t){255}, 1));
    z = part_of(wide, shape, gap, 0, stride[2], &offset[2]);
    const quern_value v[] = {QUERN_VALUES(x, y, z)};
    OK(quern_explain(e, k, v, 3, NULL));
    OK(quern_call_n(k, v, 3, NULL));
    OK(quern_array_read(wide, got, (size_t)(rows * pitch + 4)));
    memset(written, 0, sizeof written);
    for (int64_t at = 0; at < count; at++) {
        const unsigned expected = numbered(place_of(at, shape, stride[0], offset[0])) * 2 +
                                  numbered(place_of(at, shape, stride[1], offset[1]));
        const int64_t place = place_of(at, shape, stride[2], offset[2]);
        cr_assert_eq(got[place], (uint8_t)expected, "element %ld: %s", (long)at, (*e)->plan);
        written[place] = true;
    }
    for (int64_t place = 0; place < rows * pitch + 4; place++) {
        cr_assert(written[place] || got[place] == 255, "byte %ld: %s", (long)place, (*e)->plan);
    }
    quern_array *all[] = {x, y, z, wide};
    for (size_t a = 0; a < sizeof all / sizeof *all; a++) {
        quern_array_release(all[a]);
    }
}

Test(flat_rows, slabs_in_many_dimensions)
{
    quern_array *memory = numbered_memory(QUERN_UINT8, MOST);
    quern_kernel *k = kernel_of("T x, T y", "T z", "z = x * 2 + y");
    int listed = 0, calls = 40;
    for (int n = 0; n < calls; n++) {
        const int64_t shape[RANK] = {2 + draw(2), 3 + draw(3), 4, 3 + draw(3), 5 + 2 * draw(12)};
        quern_explanation *e;
        check_facing(k, memory, shape, n % 3, &e);
        listed += strstr(e->source, "_quern_list[") != NULL; /* where slabs lie is found once */
        quern_explanation_release(e);
    }
    cr_expect(listed > calls / 3, "%d of %d", listed, calls);
    quern_array_release(memory);
    quern_kernel_release(k);
}

/* Rows that blocks walk, of any number of packs: where divisions cost more than memory, warps have
 * parts of two rows, so that no thread is without a pack. */
Test(flat_rows, rows_of_blocks)
{
    quern_array *memory = numbered_memory(QUERN_UINT8, MOST);
    quern_kernel *k = kernel_of("T x, T y", "T z", "z = x * 2 + y");
    int rows = 0, tight = 0, calls = 60;
    for (int n = 0; n < calls; n++) {
        const int64_t shape[RANK] = {2 + draw(2), 3, 2, 2 + draw(2), 100 + draw(500)};
        quern_explanation *e;
        check_facing(k, memory, shape, n % 3, &e);
        rows += strncmp(e->plan, "by rows", 7) == 0;
        tight += (e->block[0] & (e->block[0] - 1)) != 0 && e->block[0] % 32 != 0;
        quern_explanation_release(e);
    }
    cr_expect(rows > calls / 2 && tight > calls / 4, "%d and %d of %d", rows, tight, calls);
    quern_array_release(memory);
    quern_kernel_release(k);
}
