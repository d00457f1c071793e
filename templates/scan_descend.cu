// SPDX-License-Identifier: MIT
#include "fold_opening.inc"

extern "C" __global__ void __launch_bounds__(HOLE_bounds) HOLE_name(HOLE_parameters)
{
#include "scan_texts.inc"
    // The thread's columns, side by side.
    const _quern_index _quern_output = (_quern_index)blockIdx.x * blockDim.x + threadIdx.x;
    if (_quern_output >= _quern_walk.outputs) {
        return;
    }
    // where a unit begins along the dimension of its lanes
    [[maybe_unused]] _quern_index _quern_element = 0;
HOLE_kept
    quern::front<_type_reduce> _quern_initial, _quern_front[_quern_lanes];
HOLE_initial
#pragma unroll
    for (int _quern_lane = 0; _quern_lane < _quern_lanes; _quern_lane++) {
        _quern_front[_quern_lane] = _quern_initial;
    }
    const _quern_index _quern_last = _quern_walk.units - 1;
    [[maybe_unused]] constexpr _quern_index _quern_from = 0;
HOLE_begin
#pragma unroll 1
    for (_quern_index _quern_base = 0; _quern_base <= _quern_last; _quern_base += _quern_steps) {
        // Warps that have parts of the same sectors write them at about the same time: when they drift
        // apart, memory gets each part by itself. Threads that have returned are not waited for.
        __syncthreads();
        // How many positions are there. Loads of a whole batch have no condition.
        const int _quern_count = (int)min(_quern_last - _quern_base, (_quern_index)_quern_steps) + 1;
HOLE_registers
        if (_quern_count >= _quern_steps) {
#pragma unroll
            for (int _quern_step = 0; _quern_step < _quern_steps; _quern_step++) {
                [[maybe_unused]] const _quern_index _quern_unit = _quern_base + _quern_step;
HOLE_unit
HOLE_load
            }
        } else {
#pragma unroll
            for (int _quern_step = 0; _quern_step < _quern_steps; _quern_step++) {
                [[maybe_unused]] const _quern_index _quern_unit = _quern_base + _quern_step;
HOLE_unit
                if (_quern_step < _quern_count) {
HOLE_load
                }
            }
        }
#pragma unroll
        for (int _quern_step = 0; _quern_step < _quern_steps; _quern_step++) {
            [[maybe_unused]] const _quern_index _quern_unit = _quern_base + _quern_step;
            if (_quern_step >= _quern_count) {
                return;
            }
            _quern_slot _quern_values[_quern_lanes];
HOLE_result
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
