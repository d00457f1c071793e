// SPDX-License-Identifier: MIT
#include "fold_opening.inc"

extern "C" __global__ void __launch_bounds__(HOLE_bounds) HOLE_name(HOLE_parameters)
{
#include "scan_texts.inc"
    const _quern_index _quern_begin =
        (_quern_index)blockIdx.x * (256 * _quern_outputs) + threadIdx.x;
    // Where the thread's scans lie. Those beyond the last are not there.
HOLE_spots
    bool _quern_there[_quern_outputs];
#pragma unroll
    for (int _quern_lane = 0; _quern_lane < _quern_outputs; _quern_lane++) {
        const _quern_index _quern_output = _quern_begin + _quern_lane * 256;
        _quern_there[_quern_lane] = _quern_output < _quern_walk.outputs;
        [[maybe_unused]] _quern_index _quern_element = 0;
HOLE_kept
HOLE_keep
    }
    // All elements are on their way before the first is combined.
HOLE_registers
#pragma unroll
    for (int _quern_turn = 0; _quern_turn < _quern_steps; _quern_turn++) {
        [[maybe_unused]] constexpr _quern_index _quern_element = 0;
        [[maybe_unused]] const _quern_index _quern_unit = _quern_turn;
HOLE_unit
#pragma unroll
        for (int _quern_lane = 0; _quern_lane < _quern_outputs; _quern_lane++) {
            if (_quern_there[_quern_lane]) {
HOLE_load
            }
        }
    }
    quern::front<_type_reduce> _quern_initial, _quern_front[_quern_outputs];
HOLE_initial
#pragma unroll
    for (int _quern_lane = 0; _quern_lane < _quern_outputs; _quern_lane++) {
        _quern_front[_quern_lane] = _quern_initial;
    }
#pragma unroll
    for (int _quern_turn = 0; _quern_turn < _quern_steps; _quern_turn++) {
        [[maybe_unused]] constexpr _quern_index _quern_element = 0;
        [[maybe_unused]] const _quern_index _quern_unit = _quern_turn;
HOLE_result
#pragma unroll
        for (int _quern_lane = 0; _quern_lane < _quern_outputs; _quern_lane++) {
            if (_quern_there[_quern_lane]) {
                const _quern_slot _quern_value = quern::next_value<_quern_exclusive>(
                    _quern_front[_quern_lane], _quern_map(HOLE_arguments), _quern_scan);
HOLE_give
            }
        }
    }
}
