// SPDX-License-Identifier: MIT
#include "fold_opening.inc"

extern "C" __global__ void __launch_bounds__(HOLE_bounds) HOLE_name(HOLE_parameters)
{
#include "scan_texts.inc"
#include "strips_tile.inc"
    // A thread without a strip repeats the last.
    const int _quern_strip = min(_quern_row, _quern_strips - 1);
    [[maybe_unused]] _quern_index _quern_output =
        (_quern_index)_quern_group * _quern_beside + _quern_side;
    const bool _quern_own = _quern_row < _quern_strips;
    const bool _quern_live = _quern_own && _quern_output < _quern_walk.outputs;
    _quern_output = min(_quern_output, _quern_walk.outputs - 1);
    // where a unit begins along the dimension of its lanes
    [[maybe_unused]] _quern_index _quern_element = 0;
HOLE_kept

    // Units past the end repeat the last one. Their sums are those of the last tile, and unused.
    const _quern_index _quern_last = _quern_walk.units - 1;
    const _quern_index _quern_from =
        ((_quern_index)_quern_place * _quern_strips + _quern_strip) * _quern_steps;
    const int _quern_room = (int)min(max(_quern_last - _quern_from, (_quern_index)0),
                                     (_quern_index)_quern_steps);
HOLE_begin
HOLE_registers
#pragma unroll
    for (int _quern_step = 0; _quern_step < _quern_steps; _quern_step++) {
        [[maybe_unused]] const _quern_index _quern_unit = _quern_from + _quern_step;
HOLE_load
    }
    _quern_slot _quern_sum[_quern_lanes], _quern_total;
#pragma unroll
    for (int _quern_step = 0; _quern_step < _quern_steps; _quern_step++) {
        [[maybe_unused]] const _quern_index _quern_unit =
            min(_quern_from + _quern_step, _quern_last);
HOLE_unit
HOLE_renew
HOLE_recall
#pragma unroll
        for (int _quern_lane = 0; _quern_lane < _quern_lanes; _quern_lane++) {
HOLE_lane
            const _type_reduce _quern_mapped = _quern_map(HOLE_arguments);
            _quern_slot &_quern_so_far = _quern_sum[_quern_lane];
            _quern_so_far.value =
                _quern_step == 0 ? _quern_mapped : _quern_scan(_quern_so_far.value, _quern_mapped);
        }
    }

    const int _quern_there = _quern_strips;
    constexpr int _quern_count = _quern_steps;
#include "strips_front.inc"
    const _quern_index _quern_end =
        _quern_live ? min(_quern_from + _quern_steps, _quern_walk.units) : _quern_from;
#pragma unroll
    for (int _quern_step = 0; _quern_step < _quern_steps; _quern_step++) {
        const _quern_index _quern_unit = _quern_from + _quern_step;
        if (_quern_unit < _quern_end) {
            _quern_slot _quern_values[_quern_lanes];
HOLE_result
HOLE_renew
HOLE_recall
#pragma unroll
            for (int _quern_lane = 0; _quern_lane < _quern_lanes; _quern_lane++) {
HOLE_lane
                _quern_values[_quern_lane] = quern::next_value<_quern_exclusive>(
                    _quern_front[_quern_lane], _quern_map(HOLE_arguments), _quern_scan);
            }
HOLE_give
        }
    }
}
