// SPDX-License-Identifier: MIT
HOLE_includes
HOLE_types
HOLE_preamble
extern "C" __global__ void HOLE_name(HOLE_parameters)
{
#include "elementwise_texts.inc"
    const _quern_index _quern_threads = (_quern_index)gridDim.x * (_quern_index)blockDim.x;
    const _quern_index _quern_thread =
        (_quern_index)blockIdx.x * (_quern_index)blockDim.x + threadIdx.x;
    const _quern_index _quern_period = _quern_walk.outer[0].value;
    // The elements before the first pack and after the last, one for each of the first threads.
    const _quern_index _quern_covered = _quern_walk.packs * _quern_lanes;
    if (_quern_thread < _quern_walk.inner - _quern_covered) {
        const _quern_index _quern_element =
            _quern_thread < _quern_walk.head ? _quern_thread : _quern_thread + _quern_covered;
HOLE_single
    }
    for (_quern_index _quern_lead = _quern_thread;; _quern_lead += _quern_threads) {
        // A thread's packs are a period apart; the threads of a period are followed by those whose
        // first packs come after the last ones of these.
        const _quern_index _quern_pack =
            _quern_lead +
            _quern_walk.outer[0].divide(_quern_lead) * (_quern_period * (_quern_turns - 1));
        if (_quern_pack >= _quern_walk.packs) {
            break;
        }
        const _quern_index _quern_element = _quern_pack * _quern_lanes + _quern_walk.head;
        const auto _quern_has = [&](int _quern_turn) {
            return _quern_turn == 0 ||
                   _quern_turn * _quern_period < _quern_walk.packs - _quern_pack;
        };
        const auto _quern_place = [&](int _quern_turn) {
            return _quern_element + _quern_turn * _quern_period * _quern_lanes;
        };
HOLE_offsets
HOLE_values
        // All reads before the first write, so that they are under way at once.
#pragma unroll
        for (int _quern_turn = 0; _quern_turn < _quern_turns; _quern_turn++) {
            if (_quern_has(_quern_turn)) {
                const _quern_index _quern_element = _quern_place(_quern_turn);
HOLE_fetch
            }
        }
HOLE_keep
#pragma unroll
        for (int _quern_turn = 0; _quern_turn < _quern_turns; _quern_turn++) {
            if (_quern_has(_quern_turn)) {
                const _quern_index _quern_element = _quern_place(_quern_turn);
HOLE_body
            }
        }
    }
HOLE_after_loop
}
