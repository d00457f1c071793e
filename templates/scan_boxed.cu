// SPDX-License-Identifier: MIT
#include "fold_opening.inc"

extern "C" __global__ void __launch_bounds__(HOLE_bounds) HOLE_name(HOLE_parameters)
{
#include "scan_texts.inc"
    extern __shared__ __align__(16) char _quern_memory[];
HOLE_room
    quern::front<_type_reduce> _quern_initial;
HOLE_initial
#if HOLE_strips
    // A scan has `_quern_strips` threads: this one has strip `_quern_strip` of scan `_quern_number`.
    __shared__ alignas(_type_reduce) char _quern_sums[384 * sizeof(_type_reduce)];
    _quern_slot *const _quern_passed = (_quern_slot *)_quern_sums, *const _quern_last = _quern_passed + 256;
    const int _quern_strips = (int)_quern_walk.workers;
    const int _quern_strip = (int)threadIdx.x / _quern_scans;
    const int _quern_number = (int)threadIdx.x - _quern_strip * _quern_scans;
#endif
    // Where boxes and pieces lie each thread finds by itself, or a few for all, while the one before is
    // worked on.
HOLE_find
    _quern_index _quern_start = 0;
    // What lies in front of the piece, of the thread's scan. Boxes without pieces may have more of them.
    [[maybe_unused]] quern::front<_type_reduce> _quern_carried = _quern_initial;
#pragma unroll 1
    for (_quern_index _quern_output = blockIdx.x; _quern_output < _quern_walk.beside;) {
HOLE_site
        const bool _quern_on = _quern_pieces && _quern_start + _quern_length < _quern_walk.covered;
        const _quern_index _quern_next = _quern_output + (_quern_on ? 0 : (_quern_index)gridDim.x);
        const _quern_index _quern_after = _quern_on ? _quern_start + _quern_length : 0;
HOLE_fetch
        quern::await_words();
        __syncthreads();
HOLE_seek
#if HOLE_strips
        {
HOLE_row
            const int _quern_each = (_quern_length + _quern_strips - 1) / _quern_strips;
            const int _quern_from = _quern_strip * _quern_each;
            const int _quern_end = _quern_inside && _quern_strip < _quern_strips
                                       ? min(_quern_from + _quern_each, _quern_length)
                                       : 0;
            const bool _quern_own = _quern_from < _quern_end;
#include "scan_boxed_strip_sum.inc"
            if (_quern_own) {
                _quern_passed[threadIdx.x] = _quern_sum[0];
            }
            __syncthreads();
            quern::front<_type_reduce> _quern_front[1] = {_quern_initial};
            if (_quern_pieces && _quern_start > 0) {
                _quern_front[0].begin(_quern_last[_quern_number].value);
            }
            if (_quern_own) {
#pragma unroll 1
                for (int _quern_at = _quern_number; _quern_at < (int)threadIdx.x;
                     _quern_at += _quern_scans) {
                    _quern_front[0].append(_quern_passed[_quern_at], _quern_scan);
                }
            }
#include "scan_boxed_strip_give.inc"
            __syncthreads();
            if (_quern_pieces && _quern_own && _quern_end == _quern_length) {
                _quern_last[_quern_number] = _quern_front[0].value;
            }
        }
#else
#pragma unroll 1
        for (int _quern_number = threadIdx.x; _quern_number < _quern_scans; _quern_number += 256) {
HOLE_row
            if (!_quern_inside) {
                continue;
            }
            quern::front<_type_reduce> _quern_front[1] = {_quern_pieces ? _quern_carried
                                                                        : _quern_initial};
            const int _quern_end = _quern_length;
            int _quern_first = 0;
            if (!_quern_front[0].has) {
                constexpr int _quern_at = 0, _quern_batch = 1;
                constexpr bool _quern_has = false;
#include "scan_boxed_give.inc"
                _quern_first = 1;
            }
#include "scan_boxed_rest.inc"
            _quern_carried = _quern_front[0];
        }
        __syncthreads();
#endif
HOLE_keep
        if (_quern_pieces && !_quern_on) {
            _quern_carried = _quern_initial;
        }
        _quern_output = _quern_next;
        _quern_start = _quern_after;
        __syncthreads();
    }
}
