// SPDX-License-Identifier: MIT
#include "fold_opening.inc"

extern "C" __global__ void __launch_bounds__(HOLE_bounds) HOLE_name(HOLE_parameters)
{
#include "reduction_texts.inc"
    // As many lanes of all threads are combined at once as need no more than 16 KB.
    constexpr int _quern_most = 64 / sizeof(_type_reduce);
    constexpr int _quern_together = _quern_most < _quern_lanes ? _quern_most : _quern_lanes;
    constexpr int _quern_slots =
        _quern_room > 256 * _quern_together ? _quern_room : 256 * _quern_together;
    __shared__ alignas(_type_reduce) char _quern_shared[_quern_slots * sizeof(_type_reduce)];
    _quern_slot *const _quern_put = (_quern_slot *)_quern_shared;

    const unsigned _quern_parts = _quern_split ? (unsigned)_quern_walk.splits : 1;
    const _quern_index _quern_output = _quern_split ? blockIdx.x / _quern_parts : blockIdx.x;
    const unsigned _quern_part = blockIdx.x - (unsigned)_quern_output * _quern_parts;
    // where a pack begins in its line
    [[maybe_unused]] _quern_index _quern_element = 0;
HOLE_kept
    // Elements of a line before the first span; packs and elements of a span.
HOLE_ends

    // The packs of a span that this block has, and its share of the spans.
    const int _quern_groups = (_quern_packs + _quern_walk.beside - 1) / _quern_walk.beside;
    const int _quern_share = _quern_split ? _quern_part / _quern_groups : 0;
    const int _quern_group = _quern_part - _quern_share * _quern_groups;
    const int _quern_left_packs = _quern_packs - _quern_group * _quern_walk.beside;
    const int _quern_beside =
        _quern_left_packs < _quern_walk.beside ? _quern_left_packs : _quern_walk.beside;
    const int _quern_worker = threadIdx.x / _quern_walk.beside;
    const int _quern_at = threadIdx.x - _quern_worker * _quern_walk.beside;
    const bool _quern_live = _quern_worker < _quern_walk.workers && _quern_at < _quern_beside;
    const _quern_index _quern_front =
        _quern_head + (_quern_index)_quern_group * _quern_walk.beside * _quern_lanes;
    _quern_element = _quern_front + _quern_at * _quern_lanes;
    const _quern_index _quern_begin = _quern_share * _quern_walk.chunk;
    const _quern_index _quern_all = _quern_walk.units - _quern_begin;
    const _quern_index _quern_count = _quern_all < _quern_walk.chunk ? _quern_all : _quern_walk.chunk;
    const int _quern_step = _quern_walk.workers;
    const _quern_index _quern_first = _quern_begin + _quern_worker;
    const _quern_index _quern_last = _quern_live ? _quern_begin + _quern_count : 0;
    const auto _quern_wanted = [](int) { return true; };

#include "reduction_batches.inc"

    // The threads of a pack combine theirs: the upper half gives to the lower, again and again.
    const int _quern_active =
        _quern_count < _quern_walk.workers ? (int)_quern_count : (int)_quern_walk.workers;
#pragma unroll
    for (int _quern_from = 0; _quern_from < _quern_lanes; _quern_from += _quern_together) {
#pragma unroll 1
        for (int _quern_some = _quern_active; _quern_some > 1;) {
            const int _quern_half = (_quern_some + 1) / 2;
            if (_quern_live && _quern_worker >= _quern_half && _quern_worker < _quern_some) {
#pragma unroll
                for (int k = 0; k < _quern_together; k++) {
                    _quern_put[k * 256 + threadIdx.x] = _quern_values[_quern_from + k];
                }
            }
            __syncthreads();
            if (_quern_live && _quern_worker + _quern_half < _quern_some) {
                const int _quern_other = threadIdx.x + _quern_half * (int)_quern_walk.beside;
#pragma unroll
                for (int k = 0; k < _quern_together; k++) {
                    _quern_take(_quern_values[_quern_from + k], true,
                                _quern_put[k * 256 + _quern_other].value);
                }
            }
            __syncthreads();
            _quern_some = _quern_half;
        }
    }
    if (_quern_live && _quern_worker == 0) {
#pragma unroll
        for (int _quern_lane = 0; _quern_lane < _quern_lanes; _quern_lane++) {
            _quern_put[_quern_at * _quern_lanes + _quern_lane] = _quern_values[_quern_lane];
        }
    }
    __syncthreads();

    // Then each output has some threads of a warp, or one that has several outputs, a block apart. They
    // take its lanes, and what no span covers.
    const int _quern_each = 1 << _quern_walk.shift;
    const int _quern_first_output = threadIdx.x >> _quern_walk.shift;
    const int _quern_one = threadIdx.x & (_quern_each - 1);
    const int _quern_across = _quern_walk.across;
    const int _quern_run = _quern_walk.run, _quern_period = _quern_across * _quern_run;
    _quern_slot _quern_owns[_quern_ends];
    bool _quern_have[_quern_ends];
#pragma unroll
    for (int _quern_end = 0; _quern_end < _quern_ends; _quern_end++) {
        const int _quern_mine = _quern_first_output + 256 * _quern_end;
        const bool _quern_there = _quern_mine < _quern_across;
        _quern_slot &_quern_own = _quern_owns[_quern_end];
        bool &_quern_has = _quern_have[_quern_end];
        _quern_has = false;
        if (_quern_there) {
            const int _quern_before = _quern_front % _quern_period;
            const int _quern_here = _quern_beside * _quern_lanes;
            const int _quern_members =
                (_quern_before + _quern_here + _quern_period - 1) / _quern_period * _quern_run;
            for (int _quern_member = _quern_one; _quern_member < _quern_members;
                 _quern_member += _quern_each) {
                const int _quern_row = _quern_member / _quern_run;
                const int _quern_spot = _quern_row * _quern_period + _quern_mine * _quern_run +
                                        (_quern_member - _quern_row * _quern_run) - _quern_before;
                if (_quern_spot >= 0 && _quern_spot < _quern_here) {
                    _quern_take(_quern_own, _quern_has, _quern_put[_quern_spot].value);
                    _quern_has = true;
                }
            }
        }
        if (_quern_ragged && _quern_there) {
            // Positions of the output before the first span and behind the last, in a line.
            const _quern_index _quern_tail = _quern_head + _quern_spans * _quern_span;
            const _quern_index _quern_whole = _quern_spans * _quern_span + _quern_walk.rest;
            const _quern_index _quern_ahead = (_quern_head + _quern_period - 1) / _quern_period;
            const _quern_index _quern_skipped = _quern_tail / _quern_period - _quern_ahead;
            const _quern_index _quern_members =
                (_quern_whole / _quern_period - _quern_skipped) * _quern_run;
            const _quern_index _quern_lines = _quern_walk.units / _quern_spans;
#pragma unroll 1
            for (_quern_index _quern_line = _quern_part; _quern_line < _quern_lines;
                 _quern_line += _quern_parts) {
#pragma unroll 1
                for (_quern_index _quern_member = _quern_one; _quern_member < _quern_members;
                     _quern_member += _quern_each) {
                    _quern_index _quern_row = _quern_member / _quern_run;
                    const _quern_index _quern_in_run = _quern_member - _quern_row * _quern_run;
                    _quern_row += _quern_row >= _quern_ahead ? _quern_skipped : 0;
                    const _quern_index _quern_element =
                        _quern_row * _quern_period + _quern_mine * _quern_run + _quern_in_run;
                    if (_quern_element >= _quern_head && _quern_element < _quern_tail) {
                        continue;
                    }
                    [[maybe_unused]] const _quern_index _quern_unit = _quern_line * _quern_spans;
HOLE_take_element
                    _quern_has = true;
                }
            }
        }
    }
    // Several blocks an output: each leaves its values, and the last one of a bunch combines them.
    quern::left_values<true> _quern_others(_quern_part, _quern_parts, _quern_output);
#pragma unroll 1
    for (bool _quern_ended = !_quern_split;; _quern_ended = _quern_others.are_all()) {
#pragma unroll 1
        for (int _quern_distance = 1; _quern_distance < _quern_each; _quern_distance *= 2) {
            const _quern_slot _quern_other = quern::shuffle_down(_quern_owns[0], _quern_distance);
            const bool _quern_more = __shfl_down_sync(0xffffffffu, _quern_have[0], _quern_distance);
            if (_quern_one + _quern_distance < _quern_each && _quern_more) {
                _quern_take(_quern_owns[0], _quern_have[0], _quern_other.value);
                _quern_have[0] = true;
            }
        }
        if (_quern_ended) {
            break;
        }
        if constexpr (_quern_split) {
            _quern_slot *const _quern_left =
                (_quern_slot *)(_quern_workspace + _quern_counters) +
                (long long)_quern_output * _quern_across * _quern_parts;
            for (int _quern_end = 0; _quern_end < _quern_ends; _quern_end++) {
                const int _quern_mine = _quern_first_output + 256 * _quern_end;
                if (_quern_mine < _quern_across && _quern_one == 0) {
                    _quern_left[_quern_others.own() * _quern_across + _quern_mine] =
                        _quern_owns[_quern_end];
                }
            }
            // Neighbouring threads read neighbouring values; then those of an output meet again.
            const int _quern_rows = _quern_ends > 1 ? 1 : 256 / _quern_across;
            const int _quern_row = _quern_ends > 1 ? 0 : threadIdx.x / _quern_across;
            if (!_quern_others.are_there((unsigned *)_quern_workspace, gridDim.x / _quern_parts,
                                         _quern_rows)) {
                return;
            }
#pragma unroll
            for (int _quern_end = 0; _quern_end < _quern_ends; _quern_end++) {
                const int _quern_mine =
                    threadIdx.x - _quern_row * _quern_across + 256 * _quern_end;
                _quern_slot &_quern_own = _quern_owns[_quern_end];
                bool &_quern_has = _quern_have[_quern_end];
                _quern_has = false;
                if (_quern_row < _quern_rows && _quern_mine < _quern_across) {
#pragma unroll 8
                    for (unsigned _quern_unit = _quern_row; _quern_unit < _quern_others.count;
                         _quern_unit += _quern_rows) {
                        _quern_take(_quern_own, _quern_has,
                                    _quern_left[_quern_others.at(_quern_unit) * _quern_across +
                                                _quern_mine]
                                        .value);
                        _quern_has = true;
                    }
                }
            }
            if constexpr (_quern_ends == 1) {
                if (_quern_row < _quern_rows) {
                    _quern_put[threadIdx.x] = _quern_owns[0];
                }
                __syncthreads();
                _quern_have[0] = false;
                if (_quern_first_output < _quern_across) {
                    for (int _quern_unit = _quern_one;
                         _quern_unit < _quern_rows && _quern_unit < (int)_quern_others.count;
                         _quern_unit += _quern_each) {
                        _quern_take(
                            _quern_owns[0], _quern_have[0],
                            _quern_put[_quern_unit * _quern_across + _quern_first_output].value);
                        _quern_have[0] = true;
                    }
                }
            }
        }
    }
#pragma unroll
    for (int _quern_end = 0; _quern_end < _quern_ends; _quern_end++) {
        const int _quern_mine = _quern_first_output + 256 * _quern_end;
        _quern_slot &_quern_own = _quern_owns[_quern_end];
        if (_quern_mine < _quern_across && _quern_one == 0) {
HOLE_finish
            _quern_post(HOLE_results _quern_own.value);
HOLE_give
        }
    }
}
