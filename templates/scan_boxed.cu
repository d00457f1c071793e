// SPDX-License-Identifier: MIT
#include "fold_opening.inc"

extern "C" __global__ void __launch_bounds__(HOLE_bounds) HOLE_name(HOLE_parameters)
{
#include "scan_texts.inc"
    extern __shared__ __align__(16) char _quern_memory[];
    // The box: where it begins, and how many positions it has along each dimension inside.
    const _quern_index _quern_output = blockIdx.x;
HOLE_kept
HOLE_here
HOLE_room
    quern::front<_type_reduce> _quern_initial;
HOLE_initial
    // What lies in front of the piece, of the thread's scan. Boxes without pieces may have more of them.
    quern::front<_type_reduce> _quern_carried = _quern_initial;
    for (_quern_index _quern_start = 0;;) {
        const int _quern_length =
            _quern_pieces ? (int)min(_quern_walk.units, _quern_walk.covered - _quern_start)
                          : (int)_quern_walk.units;
HOLE_fetch
        quern::await_words();
        __syncthreads();
#pragma unroll 1
        for (int _quern_row = threadIdx.x; _quern_row < _quern_scans; _quern_row += 256) {
HOLE_row
            if (!_quern_there) {
                continue;
            }
            quern::front<_type_reduce> _quern_front = _quern_pieces ? _quern_carried : _quern_initial;
#pragma unroll 4
            for (int _quern_spot = 0; _quern_spot < _quern_length; _quern_spot++) {
HOLE_take
                const _quern_slot _quern_value = quern::next_value<_quern_exclusive>(
                    _quern_front, _quern_map(HOLE_arguments), _quern_scan);
HOLE_give
            }
            _quern_carried = _quern_front;
        }
        __syncthreads();
HOLE_keep
        _quern_start += _quern_length;
        if (!_quern_pieces || _quern_start >= _quern_walk.covered) {
            break;
        }
        __syncthreads();
    }
}
