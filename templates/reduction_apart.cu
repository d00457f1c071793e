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
    // The code knows how many elements there are, so no batch asks for its end.
    constexpr int _quern_rest = _quern_length % _quern_once;
#pragma unroll 1
    for (_quern_index _quern_start = 0; _quern_start < _quern_length - _quern_rest;
         _quern_start += _quern_once) {
        constexpr int _quern_batch = _quern_once;
#include "reduction_apart_batch.inc"
    }
    if constexpr (_quern_rest > 0) {
        constexpr _quern_index _quern_start = _quern_length - _quern_rest;
        constexpr int _quern_batch = _quern_rest > 0 ? _quern_rest : 1;
#include "reduction_apart_batch.inc"
    }
#pragma unroll
    for (int _quern_lane = 0; _quern_lane < _quern_outputs; _quern_lane++) {
        if (_quern_begin + _quern_lane * 256 < _quern_walk.outputs) {
HOLE_finish
            _quern_post(HOLE_results _quern_values[_quern_lane].value);
        }
    }
}
