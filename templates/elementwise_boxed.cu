// SPDX-License-Identifier: MIT
HOLE_includes
HOLE_types
HOLE_preamble
// Where shared memory keeps an element: a word is left out after each 128 bytes, and another after
// each square of that, so that threads whose elements are a power of two apart meet other banks.
template <int bytes_> __device__ constexpr int _quern_spread(int element)
{
    constexpr int word = bytes_ < 4 ? 4 / bytes_ : 1, row = bytes_ < 4 ? 32 : 128 / bytes_;
    return element + word * (element / (word * row) + element / (word * row * row));
}
extern "C" __global__ void __launch_bounds__(256, 4) HOLE_name(HOLE_parameters)
{
#include "elementwise_texts.inc"
HOLE_shared
    // Where the thread's elements lie in a box, in the order of fetching and in that of the walk:
    // the same in all boxes. Whether they lie in it at all, or in the last one along a dimension
    // that is cut, is a bit for each turn.
HOLE_values
    unsigned _quern_fetched[_quern_cuts + 1] = {}, _quern_given[_quern_cuts + 1] = {};
#pragma unroll
    for (int _quern_turn = 0; _quern_turn < _quern_turns; _quern_turn++) {
        const int _quern_at = (int)threadIdx.x + 256 * _quern_turn;
        {
            _quern_index _quern_outer = _quern_at, _quern_coordinate;
HOLE_place
            _quern_fetched[_quern_cuts] |= (unsigned)(_quern_outer == 0) << _quern_turn;
        }
        {
            _quern_index _quern_outer = _quern_at, _quern_coordinate;
HOLE_aligned
            _quern_given[_quern_cuts] |= (unsigned)(_quern_outer == 0) << _quern_turn;
        }
    }
    for (_quern_index _quern_pack = blockIdx.x; _quern_pack < _quern_walk.packs;
         _quern_pack += gridDim.x) {
        unsigned _quern_fetches = _quern_fetched[_quern_cuts];
        unsigned _quern_gives = _quern_given[_quern_cuts];
HOLE_offsets
        // All reads before the first write, and none in a branch, so that they are under way at
        // once: an element that the box does not have is read where the box begins.
#pragma unroll
        for (int _quern_turn = 0; _quern_turn < _quern_turns; _quern_turn++) {
            [[maybe_unused]] const int _quern_at = (int)threadIdx.x + 256 * _quern_turn;
            [[maybe_unused]] const bool _quern_whole = _quern_fetches >> _quern_turn & 1;
HOLE_fetch
        }
#pragma unroll
        for (int _quern_turn = 0; _quern_turn < _quern_turns; _quern_turn++) {
            [[maybe_unused]] const int _quern_at = (int)threadIdx.x + 256 * _quern_turn;
            [[maybe_unused]] const bool _quern_whole = _quern_gives >> _quern_turn & 1;
HOLE_single
        }
#pragma unroll
        for (int _quern_turn = 0; _quern_turn < _quern_turns; _quern_turn++) {
            [[maybe_unused]] const int _quern_at = (int)threadIdx.x + 256 * _quern_turn;
HOLE_keep
        }
        __syncthreads();
#pragma unroll
        for (int _quern_turn = 0; _quern_turn < _quern_turns; _quern_turn++) {
            [[maybe_unused]] const int _quern_at = (int)threadIdx.x + 256 * _quern_turn;
HOLE_again
        }
#pragma unroll
        for (int _quern_turn = 0; _quern_turn < _quern_turns; _quern_turn++) {
            [[maybe_unused]] const int _quern_at = (int)threadIdx.x + 256 * _quern_turn;
            [[maybe_unused]] constexpr bool _quern_whole = true;
            if (_quern_gives >> _quern_turn & 1) {
HOLE_body
            }
        }
        __syncthreads();
    }
HOLE_after_loop
}
