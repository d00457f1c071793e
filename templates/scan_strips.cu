// SPDX-License-Identifier: MIT
#include "fold_opening.inc"

extern "C" __global__ void __launch_bounds__(HOLE_bounds) HOLE_name(HOLE_parameters)
{
#include "scan_texts.inc"
#include "strips_tile.inc"
#include "strips_own.inc"
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
    // Units past the end repeat the last one here, too, and nothing becomes of them: without a condition
    // they take few instructions.
    const int _quern_gives =
        _quern_live ? (int)min(_quern_walk.units - _quern_from, (_quern_index)_quern_steps) : 0;
#pragma unroll
    for (int _quern_step = 0; _quern_step < _quern_steps; _quern_step++) {
        [[maybe_unused]] const _quern_index _quern_unit =
            min(_quern_from + _quern_step, _quern_last);
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
        if (_quern_step < _quern_gives) {
HOLE_give
        }
    }
}
