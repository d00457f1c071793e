// SPDX-License-Identifier: MIT
HOLE_includes
HOLE_types
HOLE_preamble
extern "C" __global__ void __launch_bounds__(HOLE_bounds) HOLE_name(HOLE_parameters)
{
#include "elementwise_texts.inc"
    // Shared memory has what a box has of the inputs that lie otherwise than the output.
HOLE_shared
    // Where the thread's words lie in a box, and its packs, and where it takes their elements: the same
    // in all boxes.
HOLE_place
    unsigned _quern_whole = 0, _quern_last = 0;
#pragma unroll
    for (int _quern_turn = 0; _quern_turn < _quern_turns; _quern_turn++) {
        _quern_index _quern_outer = ((int)threadIdx.x + 256 * _quern_turn) * _quern_lanes;
HOLE_aligned
    }
    _quern_last &= _quern_whole;
    // The words of a box are under way while the packs of the one before are worked on; the packs of
    // the inputs that lie as the output does, while its words go to shared memory.
    const auto _quern_fetch = [&](_quern_index _quern_pack) __attribute__((always_inline)) {
HOLE_offsets
HOLE_fetch
    };
    _quern_fetch(blockIdx.x);
    for (_quern_index _quern_pack = blockIdx.x; _quern_pack < _quern_walk.packs;
         _quern_pack += gridDim.x) {
HOLE_offsets
        const unsigned _quern_gives = _quern_part ? _quern_last : _quern_whole;
HOLE_single
HOLE_keep
        __syncthreads();
        if (_quern_pack + (_quern_index)gridDim.x < _quern_walk.packs) {
            _quern_fetch(_quern_pack + (_quern_index)gridDim.x);
        }
#pragma unroll
        for (int _quern_turn = 0; _quern_turn < _quern_turns; _quern_turn++) {
            if (_quern_gives >> _quern_turn & 1) {
HOLE_body
            }
        }
        __syncthreads();
    }
HOLE_after_loop
}
