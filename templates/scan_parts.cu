// SPDX-License-Identifier: MIT
#include "fold_opening.inc"

extern "C" __global__ void __launch_bounds__(HOLE_bounds) HOLE_name(HOLE_parameters)
{
#include "scan_texts.inc"
    extern __shared__ __align__(16) uint4 _quern_words[];
    // A strip is some rows of the block's part, which a warp has.
#include "strips_tile.inc"
    [[maybe_unused]] const _quern_index _quern_output = _quern_group;
    // where the part begins along the rows
    [[maybe_unused]] _quern_index _quern_element = 0;
HOLE_kept
    const int _quern_strip = _quern_row;
    // Columns of the part that are there, and those that are its own.
    const _quern_index _quern_rest = _quern_walk.head - _quern_element;
    const bool _quern_begins = _quern_element == 0, _quern_ends = _quern_rest <= 32 * _quern_lanes;
    const int _quern_columns = _quern_ends ? (int)_quern_rest : 32 * _quern_lanes;
    const int _quern_mine = _quern_ends ? (int)_quern_rest : 32 * _quern_lanes - _quern_over;
    // Rows of the tile, strips that have any, and those of this one.
    const _quern_index _quern_base = (_quern_index)_quern_place * (_quern_strips * _quern_steps);
    const int _quern_length = (int)min(_quern_walk.units - _quern_base,
                                       (_quern_index)(_quern_strips * _quern_steps));
    const int _quern_there = quern::quotient(_quern_length + _quern_steps - 1, _quern_steps);
    const int _quern_count = max(min(_quern_length - _quern_strip * _quern_steps, _quern_steps), 0);
    const _quern_index _quern_from = _quern_base + _quern_strip * _quern_steps;
    const bool _quern_first = _quern_from == 0, _quern_last = _quern_from + _quern_count == _quern_walk.units;
    const bool _quern_own = _quern_count > 0;
HOLE_begin
HOLE_bring
    quern::await_words();
    __syncwarp();
    if (_quern_columns < 32 * _quern_lanes) {
HOLE_fill
        __syncwarp();
    }

    _quern_slot _quern_sum[_quern_lanes], _quern_total;
    if (_quern_own) {
        constexpr int _quern_step = 0;
        constexpr bool _quern_has = false;
#include "parts_sum.inc"
    }
#pragma unroll 1
    for (int _quern_step = 1; _quern_step < _quern_count; _quern_step++) {
        constexpr bool _quern_has = true;
#include "parts_sum.inc"
    }
#include "strips_front.inc"
    int _quern_at = 0;
    if (!_quern_front[0].has && _quern_own) {
        constexpr int _quern_step = 0;
        constexpr bool _quern_has = false;
#include "parts_give.inc"
        _quern_at = 1;
    }
#pragma unroll 1
    for (int _quern_step = _quern_at; _quern_step < _quern_count; _quern_step++) {
        constexpr bool _quern_has = true;
#include "parts_give.inc"
    }
    __syncwarp();
HOLE_keep
}
