// SPDX-License-Identifier: MIT
#include "fold_opening.inc"

extern "C" __global__ void __launch_bounds__(256) HOLE_name(HOLE_parameters)
{
#include "reduction_texts.inc"
    const _quern_index _quern_begin =
        (_quern_index)blockIdx.x * (256 * _quern_outputs) + threadIdx.x;
    // Where the thread's outputs lie. Those beyond the last are the last, and not given.
HOLE_spots
#pragma unroll
    for (int _quern_lane = 0; _quern_lane < _quern_outputs; _quern_lane++) {
        const _quern_index _quern_here = _quern_begin + _quern_lane * 256;
        const _quern_index _quern_output =
            _quern_here < _quern_walk.outputs ? _quern_here : _quern_walk.outputs - 1;
        [[maybe_unused]] _quern_index _quern_element = 0;
HOLE_kept
HOLE_keep
    }
    _quern_slot _quern_values[_quern_outputs];
    // All reads of a batch of elements come before the first is combined.
#pragma unroll 1
    for (_quern_index _quern_start = 0; _quern_start < (_quern_whole ? 1 : _quern_walk.units);
         _quern_start += _quern_batch) {
HOLE_registers
#pragma unroll
        for (int _quern_turn = 0; _quern_turn < _quern_batch; _quern_turn++) {
            [[maybe_unused]] const _quern_index _quern_unit = _quern_start + _quern_turn;
            if (_quern_whole || _quern_unit < _quern_walk.units) {
HOLE_load
            }
        }
#pragma unroll
        for (int _quern_turn = 0; _quern_turn < _quern_batch; _quern_turn++) {
            const _quern_index _quern_unit = _quern_start + _quern_turn;
            if (!_quern_whole && _quern_unit >= _quern_walk.units) {
                break;
            }
#pragma unroll
            for (int _quern_lane = 0; _quern_lane < _quern_outputs; _quern_lane++) {
                const _type_reduce _quern_next = _quern_map(HOLE_arguments);
                _quern_values[_quern_lane].value =
                    _quern_unit > 0 ? _quern_reduce(_quern_values[_quern_lane].value, _quern_next)
                                    : _quern_next;
            }
        }
    }
#pragma unroll
    for (int _quern_lane = 0; _quern_lane < _quern_outputs; _quern_lane++) {
        if (_quern_begin + _quern_lane * 256 < _quern_walk.outputs) {
HOLE_finish
            _quern_post(HOLE_results _quern_values[_quern_lane].value);
        }
    }
}
