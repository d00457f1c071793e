// SPDX-License-Identifier: MIT
HOLE_includes
HOLE_types
HOLE_preamble
extern "C" __global__ void __launch_bounds__(256, QUERN_BLOCKS(5)) HOLE_name(HOLE_parameters)
{
#include "elementwise_texts.inc"
    extern __shared__ __align__(16) char _quern_memory[];
HOLE_shared
    // Where boxes lie each thread finds by itself, or a few for all, while the one before is worked on.
HOLE_offsets
    [[maybe_unused]] constexpr _quern_index _quern_start = 0, _quern_after = 0;
#pragma unroll 1
    for (_quern_index _quern_output = blockIdx.x, _quern_next; _quern_output < _quern_walk.beside;
         _quern_output = _quern_next) {
        _quern_next = _quern_output + (_quern_index)gridDim.x;
HOLE_place
HOLE_fetch
        quern::await_words();
        __syncthreads();
HOLE_again
#pragma unroll 1
        for (int _quern_unit = threadIdx.x; _quern_unit < _quern_scans * _quern_shares;
             _quern_unit += 256) {
            // Several threads share a scan, where there are fewer than threads, or few more.
            const int _quern_share = _quern_shares > 1 ? _quern_sharing.of(_quern_unit) : 0;
            const int _quern_number = _quern_unit - _quern_share * _quern_scans;
            const int _quern_begin = _quern_share * _quern_each;
            const int _quern_end = _quern_known > 0 ? _quern_known
                                                    : min(_quern_length, _quern_begin + _quern_each);
HOLE_aligned
            if (!_quern_inside) {
                continue;
            }
            // All inputs of a batch are read before its first result is kept: the compiler would not
            // read an element past a store to the memory of others.
            const auto _quern_batches = [&](const int _quern_at, const int _quern_batch)
                                            __attribute__((always_inline)) {
HOLE_single
#pragma unroll
                for (int _quern_item = 0; _quern_item < _quern_batch; _quern_item++) {
                    const int _quern_spot = _quern_at + _quern_item;
HOLE_body
                }
            };
            quern::in_batches<_quern_together, _quern_known>(_quern_begin, _quern_end,
                                                             _quern_batches);
        }
        __syncthreads();
HOLE_keep
        __syncthreads();
    }
HOLE_after_loop
}
