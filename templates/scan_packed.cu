// SPDX-License-Identifier: MIT
#include "fold_opening.inc"

extern "C" __global__ void __launch_bounds__(HOLE_bounds) HOLE_name(HOLE_parameters)
{
#include "scan_texts.inc"
    // The tile: whole rows from `output` on that lie on in memory. `beside` tiles have the `across`
    // rows of the last kept dimension. Columns of which `apart` lie side by side take turns in it;
    // those too long for a tile come in pieces.
    const int _quern_width = (int)_quern_walk.workers;
    const int _quern_block = (int)blockIdx.x / (int)_quern_walk.beside;
    const int _quern_tile = (int)blockIdx.x - _quern_block * (int)_quern_walk.beside;
    const _quern_index _quern_inner = _quern_walk.across;
    const _quern_index _quern_first = (_quern_index)_quern_tile * _quern_walk.chunk;
    const _quern_index _quern_output = _quern_block * _quern_inner + _quern_first;
    const int _quern_rows = (int)min(_quern_walk.chunk, _quern_inner - _quern_first);
    const int _quern_apart = _quern_woven ? (int)_quern_walk.run : 1;
HOLE_kept
    quern::front<_type_reduce> _quern_initial;
HOLE_initial
    // This lane's place among the `width` of its row, and which row that is of those `abreast`. Lanes
    // of a row are neighbours or, if strewn, lie apart, so that neighbours have columns side by side.
    // Threads left over have a place behind the last.
    const int _quern_abreast = (int)blockDim.x / _quern_width;
    const int _quern_own =
        _quern_strewn ? (int)threadIdx.x / _quern_abreast : threadIdx.x & (_quern_width - 1);
    const int _quern_beside = _quern_strewn ? (int)threadIdx.x - _quern_own * _quern_abreast
                                            : (int)threadIdx.x / _quern_width;
    const int _quern_each = (int)_quern_walk.head;
    // What lies in front of each row's piece; and the values of the warps of broad rows, or of all
    // strewn lanes.
    __shared__ alignas(_type_reduce) char
        _quern_shared[((_quern_pieces ? 256 : 1) + (_quern_strewn ? 256
                                                    : _quern_broad ? quern::scan_warps
                                                                   : 0)) *
                      sizeof(_type_reduce)];
    [[maybe_unused]] _quern_slot *const _quern_carried = (_quern_slot *)_quern_shared;
    [[maybe_unused]] _quern_slot *const _quern_totals = _quern_carried + (_quern_pieces ? 256 : 1);
    extern __shared__ __align__(128) char _quern_rooms[];
HOLE_outer
    for (_quern_index _quern_start = 0;;) {
        const int _quern_length =
            _quern_pieces ? (int)min(_quern_walk.units, _quern_walk.covered - _quern_start)
                          : (int)_quern_walk.units;
        const int _quern_count = _quern_rows * _quern_length;
        const int _quern_from = min(_quern_own * _quern_each, _quern_length);
HOLE_piece
HOLE_shared
HOLE_fetch
        quern::await_words();
        __syncthreads();
        // Where the row lies: below so many rows or blocks of columns, and which of the latter.
        int _quern_above = _quern_beside / _quern_apart, _quern_column = _quern_beside % _quern_apart;
#pragma unroll 1
        for (int _quern_turn = 0; _quern_turn < _quern_rows; _quern_turn += _quern_abreast) {
            const int _quern_row = _quern_turn + _quern_beside;
            const int _quern_line = _quern_above * _quern_length * _quern_apart + _quern_column;
            _quern_above += _quern_abreast / _quern_apart;
            _quern_column += _quern_abreast % _quern_apart;
            if (_quern_column >= _quern_apart) {
                _quern_column -= _quern_apart;
                _quern_above++;
            }
            if (_quern_known > 0 && _quern_row >= _quern_rows) {
                continue;
            }
            const int _quern_begin = _quern_known > 0 ? 0 : _quern_from;
            const int _quern_to = _quern_known > 0 ? _quern_known
                                  : _quern_row < _quern_rows
                                      ? min(_quern_from + _quern_each, _quern_length)
                                      : _quern_from;
            quern::front<_type_reduce> _quern_front = _quern_initial;
            if (_quern_start > 0 && _quern_row < _quern_rows) {
                _quern_front.value = _quern_carried[_quern_row];
                _quern_front.has = true;
            }
            if constexpr (_quern_again) {
                _quern_slot _quern_sum;
                quern::in_batches<_quern_together, 0>(
                    _quern_begin, _quern_to,
                    [&](const int _quern_at, const int _quern_batch) __attribute__((always_inline)) {
HOLE_take
#pragma unroll
                        for (int _quern_item = 0; _quern_item < _quern_batch; _quern_item++) {
                            [[maybe_unused]] const int _quern_spot = _quern_at + _quern_item;
HOLE_item
                            const _type_reduce _quern_mapped = _quern_map(HOLE_arguments);
                            _quern_sum.value = _quern_spot == _quern_from
                                                   ? _quern_mapped
                                                   : _quern_scan(_quern_sum.value, _quern_mapped);
                        }
                    });
                const quern::share _quern_share = {_quern_own, _quern_from < _quern_to,
                                                   _quern_to == _quern_length};
                if constexpr (_quern_strewn) {
                    quern::join_strewn(_quern_front, _quern_sum, _quern_share, _quern_width,
                                       _quern_abreast, _quern_totals, _quern_scan);
                } else {
                    quern::join_neighbours<_quern_broad>(_quern_front, _quern_sum, _quern_share,
                                                         _quern_width, _quern_totals, _quern_scan);
                }
            }
            // All inputs of a batch are read before its first result is kept: the compiler would not
            // read an element past a store to the memory of others.
            quern::in_batches<_quern_together, _quern_known>(
                _quern_begin, _quern_to,
                [&](const int _quern_at, const int _quern_batch) __attribute__((always_inline)) {
HOLE_take
#pragma unroll
                    for (int _quern_item = 0; _quern_item < _quern_batch; _quern_item++) {
                        const int _quern_spot = _quern_at + _quern_item;
HOLE_item
                        const _quern_slot _quern_value = quern::next_value<_quern_exclusive>(
                            _quern_front, _quern_map(HOLE_arguments), _quern_scan);
HOLE_give
                    }
                });
            if (_quern_pieces && _quern_from < _quern_to && _quern_to == _quern_length) {
                _quern_carried[_quern_row] = _quern_front.value;
            }
            if constexpr (_quern_broad || _quern_strewn) {
                __syncthreads(); // the next rows have values, too
            }
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
