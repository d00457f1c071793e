// SPDX-License-Identifier: MIT
#include "fold_opening.inc"

extern "C" __global__ void __launch_bounds__(HOLE_bounds) HOLE_name(HOLE_parameters)
{
#include "scan_texts.inc"
HOLE_room
    const _quern_index _quern_output =
        (_quern_index)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (_quern_output >= _quern_walk.outputs) {
        return;
    }
    // What the warp has of its swath, and the lane.
    [[maybe_unused]] _quern_index _quern_element = 0;
HOLE_kept
    const _quern_index _quern_begin = _quern_element; // of the swath
    const int _quern_mine = threadIdx.x % 32;
    const bool _quern_first = _quern_begin == 0;
    // Elements of the row in front of the swath, and from it on, as far as they matter.
    const int _quern_before = (int)min(_quern_begin, (_quern_index)16);
    const int _quern_after = (int)min(_quern_walk.head - _quern_begin, (_quern_index)(34 * _quern_lanes));
    const bool _quern_ends = _quern_first || _quern_after < 34 * _quern_lanes;
    // From the lane's unit on. Of the last unit no one brings the second word.
    const int _quern_behind = _quern_after - _quern_mine * _quern_lanes;
    // Lanes that have no unit do what the last one does that has, so many lanes away, and nothing
    // becomes of it. Of its unit the row has `filled` elements.
    const int _quern_aside =
        min(min(_quern_mine, 30), (_quern_after - 1) / _quern_lanes) - _quern_mine;
    const int _quern_filled = min(_quern_behind - _quern_aside * _quern_lanes, _quern_lanes);
    quern::front<_type_reduce> _quern_initial, _quern_front[_quern_lanes];
HOLE_initial
#pragma unroll
    for (int _quern_lane = 0; _quern_lane < _quern_lanes; _quern_lane++) {
        _quern_front[_quern_lane] = _quern_initial;
    }
    const _quern_index _quern_last = _quern_walk.units - 1;
HOLE_begin
#pragma unroll 1
    for (_quern_index _quern_from = 0; _quern_from <= _quern_last; _quern_from += _quern_steps) {
        // As in scan_descend.cu: what lies side by side is written at about the same time.
        __syncthreads();
        const int _quern_count = (int)min(_quern_last - _quern_from + 1, (_quern_index)_quern_steps);
#pragma unroll
        for (int _quern_step = 0; _quern_step < _quern_steps; _quern_step++) {
HOLE_bring
        }
        // Beside the first and the last row there may be no memory.
        if (_quern_ends) {
#pragma unroll 1
            for (int _quern_step = 0; _quern_step < _quern_count; _quern_step++) {
                const bool _quern_alone = _quern_from + _quern_step == 0 ||
                                          _quern_from + _quern_step == _quern_last;
HOLE_bring_some
            }
        }
        quern::await_words();
        __syncwarp();
        // Something lies in front of all rows but the first, if there is no initial value.
        if (_quern_from > 0 || _quern_initial.has) {
#pragma unroll 1
            for (int _quern_step = 0; _quern_step < _quern_count; _quern_step++) {
                constexpr bool _quern_has = true;
#include "swath_give.inc"
            }
        } else {
#pragma unroll 1
            for (int _quern_step = 0; _quern_step < _quern_count; _quern_step++) {
                const bool _quern_has = _quern_step > 0;
#include "swath_give.inc"
            }
        }
        __syncwarp();
HOLE_move
    }
}
