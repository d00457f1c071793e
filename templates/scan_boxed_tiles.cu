// SPDX-License-Identifier: MIT
#include "fold_opening.inc"

extern "C" __global__ void __launch_bounds__(HOLE_bounds) HOLE_name(HOLE_parameters)
{
#include "scan_texts.inc"
    extern __shared__ __align__(16) char _quern_memory[];
    // A tile is a box: of as many scans as threads are side by side, a piece each.
#include "strips_tile.inc"
    const int _quern_strip = _quern_row, _quern_number = _quern_side;
    const _quern_index _quern_output = _quern_group;
    const _quern_index _quern_start = (_quern_index)_quern_place * _quern_walk.units;
HOLE_room
HOLE_find
HOLE_site
HOLE_fetch
    quern::await_words();
    __syncthreads();
HOLE_row
    // Strips that have any elements, and those of this one.
    const int _quern_each = quern::quotient(_quern_length + _quern_strips - 1, _quern_strips);
    const int _quern_there = quern::quotient(_quern_length + _quern_each - 1, _quern_each);
    const int _quern_from = _quern_strip * _quern_each;
    const int _quern_count =
        _quern_strip < _quern_there ? min(_quern_length - _quern_from, _quern_each) : 0;
    const int _quern_end = _quern_from + _quern_count;
    const bool _quern_own = _quern_inside && _quern_count > 0;
    _quern_slot _quern_total;
#include "scan_boxed_strip_sum.inc"
#include "strips_front.inc"
#include "scan_boxed_strip_give.inc"
    __syncthreads();
HOLE_keep
}
