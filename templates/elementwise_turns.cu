// SPDX-License-Identifier: MIT
HOLE_includes
HOLE_types
HOLE_preamble
extern "C" __global__ void HOLE_name(HOLE_parameters)
{
#include "elementwise_texts.inc"
    const _quern_index _quern_block = blockDim.x, _quern_taken = _quern_block * _quern_turns;
    const _quern_index _quern_step = (_quern_index)gridDim.x * _quern_taken;
    for (_quern_index _quern_begin = (_quern_index)blockIdx.x * _quern_taken + threadIdx.x;
         _quern_begin < _quern_walk.packs; _quern_begin += _quern_step) {
        // All reads before the first write, so that they are under way at once. Where sectors are
        // asked for, threads that have fewer turns read the last element again: else each turn would
        // be a branch.
HOLE_values
#pragma unroll
        for (int _quern_turn = 0; _quern_turn < _quern_turns; _quern_turn++) {
            const _quern_index _quern_next = _quern_begin + _quern_turn * _quern_block;
            const _quern_index _quern_pack =
                _quern_early ? min(_quern_next, _quern_walk.packs - 1) : _quern_next;
            if (_quern_early || _quern_next < _quern_walk.packs) {
HOLE_place
HOLE_fetch
            }
        }
#pragma unroll
        for (int _quern_turn = 0; _quern_turn < _quern_turns; _quern_turn++) {
            const _quern_index _quern_next = _quern_begin + _quern_turn * _quern_block;
            const _quern_index _quern_pack =
                _quern_early ? min(_quern_next, _quern_walk.packs - 1) : _quern_next;
            if (_quern_next < _quern_walk.packs) {
HOLE_again
HOLE_body
            }
        }
    }
HOLE_after_loop
}
