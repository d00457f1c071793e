// SPDX-License-Identifier: MIT
#include "fold_opening.inc"

extern "C" __global__ void __launch_bounds__(HOLE_bounds) HOLE_name(HOLE_parameters)
{
#include "scan_texts.inc"
HOLE_shared
    // Tiles are of whole lines.
#include "strips_tile.inc"
    const int _quern_strip = _quern_row;
    [[maybe_unused]] const _quern_index _quern_output =
        (_quern_index)_quern_group * _quern_beside + _quern_side;
    // where a unit begins along the dimension of its lanes
    [[maybe_unused]] _quern_index _quern_element = 0;
HOLE_kept

    // Lines of the tile, strips that have any, and lines of this one.
    const int _quern_length = (int)_quern_walk.chunk;
    const _quern_index _quern_base = (_quern_index)_quern_place * (_quern_strips * _quern_length);
    const int _quern_lines =
        (int)min(_quern_walk.units - _quern_base, (_quern_index)(_quern_strips * _quern_length));
    const int _quern_there = quern::quotient(_quern_lines + _quern_length - 1, _quern_length);
    const int _quern_above = _quern_strip * _quern_length;
    const int _quern_count =
        _quern_strip < _quern_there ? min(_quern_lines - _quern_above, _quern_length) : 0;
HOLE_begin
HOLE_fetch
    // Ask for what a later tile reads, if all its lines are there.
    if (_quern_walk.beside > 0 &&
        _quern_walk.units - _quern_base >= _quern_lines + _quern_walk.beside) {
HOLE_ahead
    }
    quern::await_words();
    __syncthreads();

    quern::front<_type_reduce> _quern_so_far[_quern_lanes];
#pragma unroll
    for (int _quern_lane = 0; _quern_lane < _quern_lanes; _quern_lane++) {
        _quern_so_far[_quern_lane].has = false;
    }
    int _quern_at = 0;
#pragma unroll 1
    for (; _quern_at + _quern_steps <= _quern_count; _quern_at += _quern_steps) {
        constexpr int _quern_some = _quern_steps;
#include "lines_sum.inc"
    }
#pragma unroll 1
    for (; _quern_at < _quern_count; _quern_at++) {
        constexpr int _quern_some = 1;
#include "lines_sum.inc"
    }
    _quern_slot _quern_sum[_quern_lanes], _quern_total;
#pragma unroll
    for (int _quern_lane = 0; _quern_lane < _quern_lanes; _quern_lane++) {
        _quern_sum[_quern_lane] = _quern_so_far[_quern_lane].value;
    }

    const bool _quern_own = _quern_count > 0;
#include "strips_front.inc"
#pragma unroll 1
    for (_quern_at = 0; _quern_at + _quern_steps <= _quern_count; _quern_at += _quern_steps) {
        constexpr int _quern_some = _quern_steps;
#include "lines_give.inc"
    }
#pragma unroll 1
    for (; _quern_at < _quern_count; _quern_at++) {
        constexpr int _quern_some = 1;
#include "lines_give.inc"
    }
HOLE_keep
}
