// SPDX-License-Identifier: MIT
#include "fold_opening.inc"

extern "C" __global__ void __launch_bounds__(HOLE_bounds) HOLE_name(HOLE_parameters)
{
#include "reduction_texts.inc"
    // A block has packs side by side, and as many phases as a pack has lanes; of the columns in them
    // one pack less, since they may begin anywhere in the first.
    constexpr int _quern_beside = 256 / _quern_lanes;
    constexpr int _quern_columns = 256 - _quern_lanes + 1;
    constexpr int _quern_most = 128 / sizeof(_type_reduce); // phases that meet at once
    constexpr int _quern_together = _quern_most < _quern_lanes ? _quern_most : _quern_lanes;
    __shared__ alignas(_type_reduce) char
        _quern_shared[_quern_together * 256 * sizeof(_type_reduce)];
    _quern_slot *const _quern_put = (_quern_slot *)_quern_shared;

    const unsigned _quern_parts = _quern_split ? (unsigned)_quern_walk.splits : 1;
    const unsigned _quern_groups = gridDim.x / _quern_parts;
    const unsigned _quern_part = _quern_split ? blockIdx.x / _quern_groups : 0;
    const unsigned _quern_group = blockIdx.x - _quern_part * _quern_groups;
    const _quern_index _quern_output = _quern_group / (unsigned)_quern_walk.beside;
    [[maybe_unused]] _quern_index _quern_element = 0;
HOLE_kept
    // The first column of the block, and how far the first pack lies before it, in each phase.
    const int _quern_all = _quern_walk.across;
    const int _quern_front =
        (int)(_quern_group - (unsigned)_quern_output * (unsigned)_quern_walk.beside) * _quern_columns;
HOLE_ends
    const auto _quern_before = [&](int _quern_phase) {
        return (_quern_off + _quern_phase * _quern_shift) & (_quern_lanes - 1);
    };
    const int _quern_phase = threadIdx.x / _quern_beside, _quern_at = threadIdx.x % _quern_beside;
    _quern_element = _quern_front - _quern_before(_quern_phase) + _quern_at * _quern_lanes;
    const bool _quern_live = _quern_element < _quern_all;
    // Elements of the pack that the row has. Others are its neighbours', but in the first and in the
    // last row: their values are computed too and not used, unless a text could do harm with them.
    const int _quern_low = _quern_element < 0 ? -(int)_quern_element : 0;
    const int _quern_high = _quern_all - (int)_quern_element < _quern_lanes
                                ? _quern_all - (int)_quern_element
                                : _quern_lanes;
    const auto _quern_wanted = [&](int _quern_lane) {
        return !_quern_careful || (_quern_lane >= _quern_low && _quern_lane < _quern_high);
    };
    const bool _quern_first_edge = _quern_phase == 0 && _quern_low > 0;
    const bool _quern_last_edge = _quern_phase == _quern_lanes - 1 && _quern_high < _quern_lanes;

    const _quern_index _quern_first = (_quern_index)_quern_part * _quern_walk.chunk;
    const _quern_index _quern_left_units = _quern_walk.units - _quern_first;
    const _quern_index _quern_last =
        !_quern_live ? 0
                     : _quern_first + (_quern_left_units < _quern_walk.chunk ? _quern_left_units
                                                                             : _quern_walk.chunk);
    [[maybe_unused]] constexpr int _quern_step = 1;
#include "reduction_batches.inc"

    // Each thread has a column now, whose values are those of a lane in each phase.
    const int _quern_mine = threadIdx.x;
    const bool _quern_there = _quern_mine < _quern_columns && _quern_front + _quern_mine < _quern_all;
    _quern_slot _quern_own;
#pragma unroll 1
    for (int _quern_from = 0; _quern_from < _quern_lanes; _quern_from += _quern_together) {
        const int _quern_slot_phase = _quern_phase - _quern_from;
        if (_quern_live && _quern_slot_phase >= 0 && _quern_slot_phase < _quern_together) {
#pragma unroll
            for (int _quern_lane = 0; _quern_lane < _quern_lanes; _quern_lane++) {
                _quern_put[_quern_slot_phase * 256 + _quern_at * _quern_lanes + _quern_lane] =
                    _quern_values[_quern_lane];
            }
        }
        __syncthreads();
        if (_quern_there) {
            for (int k = 0; k < _quern_together; k++) {
                const int _quern_spot = k * 256 + _quern_before(_quern_from + k) + _quern_mine;
                _quern_take(_quern_own, _quern_from + k > 0, _quern_put[_quern_spot].value);
            }
        }
        __syncthreads();
    }
    _quern_element = _quern_front + _quern_mine;
    if (_quern_ragged && _quern_there) {
        // rows that are fewer than the phases, at the end of each line
        const _quern_index _quern_lines = _quern_walk.units / _quern_spans;
#pragma unroll 1
        for (_quern_index _quern_line = _quern_part; _quern_line < _quern_lines;
             _quern_line += _quern_parts) {
            [[maybe_unused]] const _quern_index _quern_unit =
                _quern_line * _quern_spans + _quern_spans - 1;
#pragma unroll 4
            for (int _quern_row = 0; _quern_row < _quern_walk.rest; _quern_row++) {
HOLE_take_element
            }
        }
    }
    // Several blocks an output: each leaves its values, and the last one of a bunch combines them.
    if constexpr (_quern_split) {
        _quern_slot *const _quern_left = (_quern_slot *)(_quern_workspace + _quern_counters) +
                                         (long long)_quern_output * _quern_all + _quern_element;
        quern::left_values<true> _quern_others(_quern_part, _quern_parts, _quern_group);
#pragma unroll 1
        while (!_quern_others.are_all()) {
            if (_quern_there) {
                _quern_left[(long long)_quern_others.own() * _quern_walk.results] = _quern_own;
            }
            if (!_quern_others.are_there((unsigned *)_quern_workspace, _quern_groups, 8)) {
                return;
            }
            if (_quern_there) {
#pragma unroll 16
                for (unsigned _quern_unit = 0; _quern_unit < _quern_others.count; _quern_unit++) {
                    const long long _quern_spot = _quern_others.at(_quern_unit);
                    _quern_take(_quern_own, _quern_unit > 0,
                                _quern_left[_quern_spot * _quern_walk.results].value);
                }
            }
        }
    }
    if (_quern_there) {
HOLE_finish
        _quern_post(HOLE_results _quern_own.value);
    }
}
