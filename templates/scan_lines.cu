// SPDX-License-Identifier: MIT
#include "fold_opening.inc"

extern "C" __global__ void __launch_bounds__(HOLE_bounds) HOLE_name(HOLE_parameters)
{
#include "scan_texts.inc"
    __shared__ alignas(_type_reduce) char
        _quern_shared[quern::line_threads * (_quern_lanes + 2) * sizeof(_type_reduce)];
HOLE_shared

    // The tile of this block, which is of whole lines, and the thread's strip of it.
    const unsigned long long _quern_ticket = quern::take_ticket(_quern_workspace, (int)gridDim.x);
    const int _quern_splits = (int)_quern_walk.splits, _quern_beside = (int)_quern_walk.workers;
    const int _quern_groups = (int)gridDim.x / _quern_splits;
    const int _quern_place = (int)(unsigned)_quern_ticket / _quern_groups;
    const int _quern_group = (int)(unsigned)_quern_ticket - _quern_place * _quern_groups;
    const int _quern_strips = quern::line_threads / _quern_beside;
    const int _quern_strip = (int)threadIdx.x / _quern_beside;
    const int _quern_side = (int)threadIdx.x - _quern_strip * _quern_beside;
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
    const int _quern_there = (_quern_lines + _quern_length - 1) / _quern_length;
    const int _quern_above = _quern_strip * _quern_length;
    const int _quern_count =
        _quern_strip < _quern_there ? min(_quern_lines - _quern_above, _quern_length) : 0;
HOLE_begin
HOLE_fetch
    quern::await_runs();
    __syncthreads();

    quern::front<_type_reduce> _quern_so_far[_quern_lanes];
#pragma unroll
    for (int _quern_lane = 0; _quern_lane < _quern_lanes; _quern_lane++) {
        _quern_so_far[_quern_lane].has = false;
    }
    int _quern_at = 0;
#pragma unroll 1
    for (; _quern_at + _quern_steps <= _quern_count; _quern_at += _quern_steps) {
HOLE_registers
#pragma unroll
        for (int _quern_step = 0; _quern_step < _quern_steps; _quern_step++) {
HOLE_load
        }
#pragma unroll
        for (int _quern_step = 0; _quern_step < _quern_steps; _quern_step++) {
HOLE_unit
#pragma unroll
            for (int _quern_lane = 0; _quern_lane < _quern_lanes; _quern_lane++) {
HOLE_lane
                _quern_slot _quern_mapped;
                _quern_mapped.value = _quern_map(HOLE_arguments);
                _quern_so_far[_quern_lane].append(_quern_mapped, _quern_scan);
            }
        }
    }
#pragma unroll 1
    for (; _quern_at < _quern_count; _quern_at++) {
HOLE_registers
        constexpr int _quern_step = 0;
        {
HOLE_load
        }
HOLE_unit
#pragma unroll
        for (int _quern_lane = 0; _quern_lane < _quern_lanes; _quern_lane++) {
HOLE_lane
            _quern_slot _quern_mapped;
            _quern_mapped.value = _quern_map(HOLE_arguments);
            _quern_so_far[_quern_lane].append(_quern_mapped, _quern_scan);
        }
    }
    _quern_slot _quern_sum[_quern_lanes], _quern_total;
#pragma unroll
    for (int _quern_lane = 0; _quern_lane < _quern_lanes; _quern_lane++) {
        _quern_sum[_quern_lane] = _quern_so_far[_quern_lane].value;
    }

    // What lies in front of the strip within the tile, and the sum of the tile for those behind it.
    const quern::strip_sums<_type_reduce, _quern_lanes> _quern_sums(_quern_shared, _quern_strips,
                                                                    _quern_beside);
    const quern::ledger<_type_reduce, _quern_lanes, _quern_bunch> _quern_ledger(
        _quern_workspace, _quern_ticket, (int)gridDim.x, _quern_groups, _quern_beside);
    const bool _quern_follows = _quern_place + 1 < _quern_splits;
    if (_quern_sums.find(_quern_total, _quern_sum, _quern_count > 0, _quern_strip, _quern_side,
                         _quern_beside, _quern_there, _quern_scan) &&
        _quern_follows) {
        _quern_ledger.write(_quern_ledger.at(_quern_ledger.tiles, _quern_place, _quern_group) +
                                _quern_sums.column,
                            _quern_total);
    }
    __syncthreads();
    if (_quern_strip > 0 && _quern_count > 0) {
        _quern_sums.in_front(_quern_sum, _quern_strip, _quern_side, _quern_beside, _quern_scan);
    }

    // What lies in front of the tile: the bunches before its own, and the tiles before it. The last
    // tile of a bunch adds up all of that first.
    constexpr int _quern_most = (1 << _quern_bunch) - 1;
    const int _quern_bunches = _quern_place >> _quern_bunch;
    const int _quern_first = _quern_place & ~_quern_most;
    const int _quern_before = _quern_bunches + _quern_place - _quern_first;
    const bool _quern_closes = _quern_follows && _quern_place - _quern_first == _quern_most;
#pragma unroll 1
    for (int _quern_turn = _quern_closes ? 0 : 1; _quern_turn < 1 + (_quern_before > 0);
         _quern_turn++) {
        if (_quern_ledger.find(_quern_sums, _quern_total, _quern_strip, _quern_strips, _quern_side,
                               _quern_group, _quern_turn * _quern_bunches, _quern_first,
                               _quern_turn > 0 ? _quern_before : _quern_most + 1, _quern_scan) &&
            _quern_turn == 0) {
            _quern_ledger.write(
                _quern_ledger.at(_quern_ledger.bunches, _quern_bunches, _quern_group) +
                    _quern_sums.column,
                _quern_total);
        }
    }
    __syncthreads();
    quern::front<_type_reduce> _quern_initial, _quern_front[_quern_lanes];
HOLE_initial
#pragma unroll
    for (int _quern_lane = 0; _quern_lane < _quern_lanes; _quern_lane++) {
        _quern_front[_quern_lane] = _quern_initial;
        if (_quern_before > 0) {
            _quern_front[_quern_lane].append(
                _quern_sums.all[_quern_lane * _quern_beside + _quern_side], _quern_scan);
        }
        if (_quern_strip > 0) {
            _quern_front[_quern_lane].append(_quern_sum[_quern_lane], _quern_scan);
        }
    }
#pragma unroll 1
    for (_quern_at = 0; _quern_at + _quern_steps <= _quern_count; _quern_at += _quern_steps) {
HOLE_registers
#pragma unroll
        for (int _quern_step = 0; _quern_step < _quern_steps; _quern_step++) {
HOLE_load
        }
#pragma unroll
        for (int _quern_step = 0; _quern_step < _quern_steps; _quern_step++) {
            _quern_slot _quern_values[_quern_lanes];
HOLE_result
#pragma unroll
            for (int _quern_lane = 0; _quern_lane < _quern_lanes; _quern_lane++) {
HOLE_lane
                _quern_slot _quern_mapped;
                _quern_mapped.value = _quern_map(HOLE_arguments);
                if constexpr (_quern_exclusive) {
                    _quern_values[_quern_lane] = _quern_front[_quern_lane].value;
                }
                _quern_front[_quern_lane].append(_quern_mapped, _quern_scan);
                if constexpr (!_quern_exclusive) {
                    _quern_values[_quern_lane] = _quern_front[_quern_lane].value;
                }
            }
HOLE_give
        }
    }
#pragma unroll 1
    for (; _quern_at < _quern_count; _quern_at++) {
HOLE_registers
        constexpr int _quern_step = 0;
        {
HOLE_load
        }
        _quern_slot _quern_values[_quern_lanes];
HOLE_result
#pragma unroll
        for (int _quern_lane = 0; _quern_lane < _quern_lanes; _quern_lane++) {
HOLE_lane
            _quern_slot _quern_mapped;
            _quern_mapped.value = _quern_map(HOLE_arguments);
            if constexpr (_quern_exclusive) {
                _quern_values[_quern_lane] = _quern_front[_quern_lane].value;
            }
            _quern_front[_quern_lane].append(_quern_mapped, _quern_scan);
            if constexpr (!_quern_exclusive) {
                _quern_values[_quern_lane] = _quern_front[_quern_lane].value;
            }
        }
HOLE_give
    }
HOLE_keep
}
