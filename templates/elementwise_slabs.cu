// SPDX-License-Identifier: MIT
HOLE_includes
HOLE_types
HOLE_preamble
extern "C" __global__ void HOLE_name(HOLE_parameters)
{
#include "elementwise_texts.inc"
HOLE_shared
    // The thread's place in a slab, the same in all of them; `head` is how many there are.
HOLE_aligned
    const _quern_index _quern_beside = blockDim.y, _quern_taken = _quern_beside * _quern_turns;
    const _quern_index _quern_step = (_quern_index)gridDim.x * _quern_taken;
    for (_quern_index _quern_first = (_quern_index)blockIdx.x * _quern_taken;
         _quern_first < _quern_walk.head; _quern_first += _quern_step) {
        if constexpr (_quern_listed) {
            // Where the slabs of the block lie is found out once for all threads.
            __syncthreads();
            for (_quern_index _quern_at = threadIdx.y * blockDim.x + threadIdx.x;
                 _quern_at < _quern_taken; _quern_at += blockDim.x * blockDim.y) {
                const _quern_index _quern_pack = _quern_first + _quern_at;
                if (_quern_pack < _quern_walk.head) {
HOLE_offsets
                }
            }
            __syncthreads();
        }
        const _quern_index _quern_begin = _quern_first + threadIdx.y;
HOLE_values
        if (_quern_begin + (_quern_turns - 1) * _quern_beside < _quern_walk.head) {
            // All reads before the first write, so that they are under way at once.
#pragma unroll
            for (int _quern_turn = 0; _quern_turn < _quern_turns; _quern_turn++) {
                const _quern_index _quern_pack = _quern_begin + _quern_turn * _quern_beside;
HOLE_place
HOLE_fetch
            }
#pragma unroll
            for (int _quern_turn = 0; _quern_turn < _quern_turns; _quern_turn++) {
                [[maybe_unused]] const _quern_index _quern_pack =
                    _quern_begin + _quern_turn * _quern_beside;
HOLE_body
            }
        } else {
            constexpr int _quern_turn = 0;
#pragma unroll 1
            for (_quern_index _quern_pack = _quern_begin; _quern_pack < _quern_walk.head;
                 _quern_pack += _quern_beside) {
HOLE_place
HOLE_fetch
HOLE_body
            }
        }
    }
HOLE_after_loop
}
