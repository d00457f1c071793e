// SPDX-License-Identifier: MIT
#include "fold_opening.inc"

extern "C" __global__ void __launch_bounds__(256) HOLE_name(HOLE_parameters)
{
#include "reduction_texts.inc"
    const _quern_index _quern_output = (_quern_index)blockIdx.x * 256 + threadIdx.x; // a pack
    if (_quern_output >= _quern_walk.outputs) {
        return;
    }
    // where the pack begins along the last kept dimension
    [[maybe_unused]] _quern_index _quern_element = 0;
HOLE_kept
    const auto _quern_take = [&](_quern_slot &_quern_to, int _quern_unit, _type_reduce _quern_next)
                                 __attribute__((always_inline)) {
        _quern_to.value = _quern_unit > 0 ? _quern_reduce(_quern_to.value, _quern_next) : _quern_next;
    };
    const auto _quern_finished = [&](const _quern_slot &_quern_from)
                                     __attribute__((always_inline)) -> _type_reduce {
HOLE_finish
    };

    // Outputs of the threads before this one in the warp.
    [[maybe_unused]] const int _quern_before = threadIdx.x % 32 * _quern_lanes;
    const _quern_index _quern_left = _quern_walk.head - _quern_element;
    const bool _quern_whole =
        _quern_relayed
            ? _quern_left + _quern_before >= 32 * _quern_lanes // of the warp
            : _quern_left >= _quern_lanes + _quern_margin && _quern_element >= _quern_margin;
    if (_quern_whole) {
        _quern_slot _quern_values[_quern_lanes];
HOLE_load
#pragma unroll
        for (int _quern_lane = 0; _quern_lane < _quern_lanes; _quern_lane++) {
            if constexpr (_quern_halves) {
                const auto _quern_value = [&](const int _quern_unit)
                                              __attribute__((always_inline)) -> _type_reduce {
HOLE_recall
                    return _quern_map(HOLE_arguments);
                };
                _quern_values[_quern_lane].value =
                    quern::by_halves<0, _quern_length>(_quern_value, _quern_reduce);
            } else {
#pragma unroll
                for (int _quern_unit = 0; _quern_unit < _quern_length; _quern_unit++) {
HOLE_recall
                    _quern_take(_quern_values[_quern_lane], _quern_unit,
                                _quern_map(HOLE_arguments));
                }
            }
        }
HOLE_registers
#pragma unroll
        for (int _quern_lane = 0; _quern_lane < _quern_lanes; _quern_lane++) {
            _quern_post(HOLE_results _quern_finished(_quern_values[_quern_lane]));
        }
HOLE_give
        return;
    }
    // At the end of the outputs, one by one.
#pragma unroll 1
    for (int _quern_lane = 0; _quern_lane < _quern_lanes && _quern_lane < _quern_left;
         _quern_lane++) {
        _quern_slot _quern_value;
#pragma unroll 1
        for (int _quern_unit = 0; _quern_unit < _quern_length; _quern_unit++) {
HOLE_load_element
            _quern_take(_quern_value, _quern_unit, _quern_map(HOLE_take_element));
        }
        _quern_post(HOLE_single_results _quern_finished(_quern_value));
    }
}
