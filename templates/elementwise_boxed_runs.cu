// SPDX-License-Identifier: MIT
HOLE_includes
HOLE_types
HOLE_preamble
extern "C" __global__ void __launch_bounds__(256, QUERN_BLOCKS(4)) HOLE_name(HOLE_parameters)
{
#include "elementwise_texts.inc"
    // Shared memory has the runs of inputs, in boxes of them as in memory but closer to each other,
    // and tables of where they lie in memory, and of where a run of the output finds its inputs and
    // where it goes. Only the box's place changes from box to box.
    __shared__ alignas(16) unsigned char _quern_pool[_quern_bytes];
    // Threads that have packs side by side, an exponent, and groups of them from one to the next, which
    // are numbered along runs or from run to run.
    [[maybe_unused]] const int _quern_group = (int)_quern_walk.head >> 24;
    [[maybe_unused]] const int _quern_stir = (int)_quern_walk.head >> 16 & 0x7f;
    [[maybe_unused]] const bool _quern_by_runs = (int)_quern_walk.head >> 23 & 1;
HOLE_shared
HOLE_values
HOLE_place
    // Where a box begins is found by one thread for all, while they work on the box before.
    __shared__ quern::place _quern_places[_quern_operands];
    __shared__ unsigned _quern_asks; // a bit for each dimension of whose boxes this is the last
    __shared__ bool _quern_starts;   // this is the first along the dimension of slack
    const auto _quern_find = [&](_quern_index _quern_pack) {
        unsigned _quern_need = 0;
        [[maybe_unused]] bool _quern_first = false;
HOLE_offsets
        _quern_asks = _quern_need;
        _quern_starts = _quern_first;
    };
    _quern_index _quern_pack = blockIdx.x;
    if (threadIdx.x == 255) {
        _quern_find(_quern_pack);
    }
    __syncthreads();
    for (; _quern_pack < _quern_walk.packs; _quern_pack += gridDim.x) {
        const unsigned _quern_need = _quern_asks;
        [[maybe_unused]] const bool _quern_begins = _quern_starts;
HOLE_again
HOLE_fetch
        quern::await_words();
        __syncthreads();
        if (threadIdx.x == 255 && _quern_pack + (_quern_index)gridDim.x < _quern_walk.packs) {
            _quern_find(_quern_pack + gridDim.x);
        }
HOLE_body
        __syncthreads();
    }
HOLE_after_loop
}
