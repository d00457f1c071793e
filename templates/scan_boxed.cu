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
    // This lane's place among the `width` of its scan.
    const int _quern_width = _quern_again ? (int)_quern_walk.workers : 1;
    const int _quern_at = threadIdx.x & (_quern_width - 1);
    // What lies in front of the piece, of the thread's scan. Boxes without pieces may have more of them.
    quern::front<_type_reduce> _quern_carried = _quern_initial;
    for (_quern_index _quern_start = 0;;) {
        const int _quern_length =
            _quern_pieces ? (int)min(_quern_walk.units, _quern_walk.covered - _quern_start)
                          : (int)_quern_walk.units;
        const int _quern_each = (_quern_length + _quern_width - 1) / _quern_width;
        const int _quern_from = min(_quern_at * _quern_each, _quern_length);
        const int _quern_to = min(_quern_from + _quern_each, _quern_length);
HOLE_fetch
        quern::await_words();
        __syncthreads();
#pragma unroll 1
        for (int _quern_turn = 0; _quern_turn < _quern_scans; _quern_turn += 256 / _quern_width) {
            const int _quern_row = _quern_turn + (int)threadIdx.x / _quern_width;
HOLE_row
            quern::front<_type_reduce> _quern_front = _quern_pieces ? _quern_carried : _quern_initial;
            const int _quern_end = _quern_there ? _quern_to : _quern_from;
            if constexpr (_quern_again) {
                _quern_slot _quern_sum;
#pragma unroll 4
                for (int _quern_spot = _quern_from; _quern_spot < _quern_end; _quern_spot++) {
HOLE_take
                    const _type_reduce _quern_mapped = _quern_map(HOLE_arguments);
                    _quern_sum.value = _quern_spot == _quern_from
                                           ? _quern_mapped
                                           : _quern_scan(_quern_sum.value, _quern_mapped);
                }
#pragma unroll 1
                for (int _quern_distance = 1; _quern_distance < _quern_width; _quern_distance *= 2) {
                    const _quern_slot _quern_other = quern::shuffle(_quern_sum, _quern_distance, true);
                    if (_quern_at >= _quern_distance && _quern_from < _quern_end) {
                        _quern_sum.value = _quern_scan(_quern_other.value, _quern_sum.value);
                    }
                }
                const _quern_slot _quern_before = quern::shuffle(_quern_sum, 1, true);
                if (_quern_at > 0 && _quern_from < _quern_end) {
                    _quern_front.append(_quern_before, _quern_scan);
                }
            }
#pragma unroll 4
            for (int _quern_spot = _quern_from; _quern_spot < _quern_end; _quern_spot++) {
HOLE_take
                const _quern_slot _quern_value = quern::next_value<_quern_exclusive>(
                    _quern_front, _quern_map(HOLE_arguments), _quern_scan);
HOLE_give
            }
            _quern_carried = _quern_front;
        }
        // The last lane of a scan has what lies in front of its next piece: full ones leave no lane
        // without elements.
        if constexpr (_quern_pieces && _quern_again) {
            _quern_carried.value = quern::shuffle(_quern_carried.value,
                                                  (int)threadIdx.x % 32 | (_quern_width - 1), false);
            _quern_carried.has = true;
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
