/* SPDX-License-Identifier: MIT
 *
 * For tests that draw their cases: arrays of three axes, of which one is wide, and often another
 * long; as parts of memory at any element, with gaps, in any order of axes.
 */
#ifndef QUERN_TEST_DRAWN_VIEW_H
#define QUERN_TEST_DRAWN_VIEW_H

#include "base/base.h"
#include "draw.h"
#include "whole.h"

enum { VIEW_AXES = 3 };

/** One axis is wide, of whole packs or not; in two cases of three another one is long. */
static inline void draw_extents(int64_t *shape)
{
    for (int d = 0; d < VIEW_AXES; d++) {
        shape[d] = draw(1, 9);
    }
    const int longest = (int)draw(0, 2), wide = (int)draw(0, 2);
    shape[wide] = draw(1, 2) == 1 ? draw(20, 400) : 16 * draw(1, 20);
    if (longest != wide) {
        const int64_t others = shape[0] * shape[1] * shape[2] / shape[longest];
        shape[longest] = draw(1000, 200000 / QN_MAX(others, 1) + 1001);
    }
}

/** A part of `memory` from `offset` on, with a gap behind each row, and its axes in another order,
 * which `order` names. It has at most extent[0] * extent[1] * (extent[2] + 16) + 9 elements of it.
 */
static inline quern_array *draw_view(quern_array *memory, int64_t *extent, const char **order)
{
    static const int orders[][VIEW_AXES] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {2, 1, 0}};
    static const char *const names[] = {"0 1 2", "0 2 1", "1 0 2", "2 1 0"};
    const int64_t offset = draw(0, 9), gap = draw(0, 2) == 0 ? draw(1, 16) : 0;
    const int64_t row = extent[2] + gap, count = extent[0] * extent[1] * row;
    const int turn = draw(0, 1) == 0 ? 0 : (int)draw(1, 3);
    quern_array *run, *table, *part, *turned;
    OK(quern_array_slice(&run, memory, 1, (quern_slice[]){{offset, offset + count, 1}}));
    OK(quern_array_reshape(&table, run, SHAPE(extent[0], extent[1], row)));
    const bool back = draw(0, 3) == 0;
    OK(quern_array_slice(&part, table, VIEW_AXES,
                         (quern_slice[]){QUERN_SLICE_ALL, QUERN_SLICE_ALL,
                                         back ? (quern_slice){extent[2] - 1, QUERN_SLICE_NONE, -1}
                                              : (quern_slice){0, extent[2], 1}}));
    OK(quern_array_transpose(&turned, part, orders[turn]));
    *order = names[turn];
    quern_array_release(run);
    quern_array_release(table);
    quern_array_release(part);
    return turned;
}

#endif /* QUERN_TEST_DRAWN_VIEW_H */
