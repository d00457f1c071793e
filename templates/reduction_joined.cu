// SPDX-License-Identifier: MIT
#include "fold_opening.inc"

extern "C" __global__ void __launch_bounds__(HOLE_bounds) HOLE_name(HOLE_parameters)
{
#include "reduction_texts.inc"
    // Two boxes, of which one is on its way while the other is taken; in the end values of threads.
    __shared__ alignas(128) char _quern_pool[2 * _quern_bytes];
    static_assert(sizeof(_type_reduce) * 256 <= sizeof _quern_pool, "room for all values");

    const unsigned _quern_parts = _quern_split ? (unsigned)_quern_walk.splits : 1;
    const unsigned _quern_groups = gridDim.x / _quern_parts;
    const unsigned _quern_part = _quern_split ? blockIdx.x / _quern_groups : 0;
    const _quern_index _quern_output = blockIdx.x - _quern_part * _quern_groups;
    [[maybe_unused]] _quern_index _quern_element = 0;
HOLE_kept
    // Slices of a box along the dimension that is cut, and outputs of this block's boxes.
HOLE_ends
    const int _quern_beside = _quern_outputs > 1 ? 256 : (int)_quern_walk.beside;
    const int _quern_workers = _quern_outputs > 1 ? 1 : (int)_quern_walk.workers;
    const int _quern_worker =
        _quern_along ? (int)threadIdx.x % _quern_workers : (int)threadIdx.x / _quern_beside;
    const int _quern_at = _quern_along ? (int)threadIdx.x / _quern_workers
                                       : (int)threadIdx.x - _quern_worker * _quern_beside;
    const bool _quern_live =
        _quern_worker < _quern_workers && _quern_at < _quern_beside && _quern_at < _quern_here;
    // Elements of each of its outputs that the thread takes of a box with `count` of them.
    const auto _quern_own_of = [&](int count) {
        return (count - _quern_worker + _quern_workers - 1) / _quern_workers;
    };
    const int _quern_run = _quern_walk.run, _quern_own = _quern_own_of(_quern_run);
    constexpr int _quern_flight = _quern_outputs > 2 ? 1 : _quern_outputs > 1 ? 2 : 4;
    // Where inputs have room in a box; where the thread's outputs lie there, and its elements of
    // each: the first, and from one to the next.
HOLE_spots
    const _quern_index _quern_first = (_quern_index)_quern_part * _quern_walk.chunk;
    const _quern_index _quern_last = min(_quern_first + _quern_walk.chunk, _quern_walk.units);
    const auto _quern_take = [&](_quern_slot &_quern_to, bool _quern_more,
                                 _type_reduce _quern_next) __attribute__((always_inline)) {
        _quern_to.value = _quern_more ? _quern_reduce(_quern_to.value, _quern_next) : _quern_next;
    };
    _quern_slot _quern_values[_quern_outputs];
#if HOLE_chooses
    // Of a reduction that only chooses: what the thread's elements come to, whose positions rise.
    _quern_nth _quern_near[_quern_outputs];
#endif
    bool _quern_has = false;
    int _quern_count = 0, _quern_most = 0, _quern_room = 0;
HOLE_registers
#pragma unroll 1
    for (_quern_index _quern_unit = _quern_first;; _quern_unit++) {
        int _quern_next_count = _quern_run;
        if (_quern_unit < _quern_last) {
HOLE_load
        }
        if (_quern_unit > _quern_first && _quern_live) {
            int _quern_left = _quern_count == _quern_run ? _quern_own : _quern_own_of(_quern_count);
HOLE_paces
            // Outputs that are not there have the elements of one that is.
            if (!_quern_has && _quern_left > 0) {
#pragma unroll
                for (int _quern_lane = 0; _quern_lane < _quern_outputs; _quern_lane++) {
HOLE_recall
#if HOLE_chooses
                    _quern_near[_quern_lane] = {_quern_placed(_quern_map(HOLE_arguments), 0),
                                                HOLE_position};
#else
                    _quern_values[_quern_lane].value = _quern_map(HOLE_arguments);
#endif
                }
HOLE_lane
                _quern_left--;
                _quern_has = true;
            }
#pragma unroll _quern_flight
            for (; _quern_left > 0; _quern_left--) {
#pragma unroll
                for (int _quern_lane = 0; _quern_lane < _quern_outputs; _quern_lane++) {
HOLE_recall
#if HOLE_chooses
                    _quern_near[_quern_lane] = _quern_nearer(
                        _quern_near[_quern_lane],
                        {_quern_placed(_quern_map(HOLE_arguments), 0), HOLE_position});
#else
                    _quern_take(_quern_values[_quern_lane], true, _quern_map(HOLE_arguments));
#endif
                }
HOLE_lane
            }
        }
        if (_quern_unit >= _quern_last) {
            break;
        }
HOLE_keep
        _quern_count = _quern_next_count;
        _quern_most = max(_quern_most, _quern_count);
        _quern_room = _quern_bytes - _quern_room;
        quern::await_words();
        __syncthreads();
    }

#if HOLE_chooses
#pragma unroll
    for (int _quern_lane = 0; _quern_lane < _quern_outputs && _quern_has; _quern_lane++) {
        _quern_values[_quern_lane].value =
            _quern_placed(_quern_near[_quern_lane].value, _quern_near[_quern_lane].number);
    }
#endif

    // The threads of an output combine theirs: the upper half gives to the lower, again and again.
    // Several blocks an output: each leaves its values, and the last one of a bunch combines them. A
    // loop, so that the code that combines is there once.
    quern::left_values<true> _quern_others(_quern_part, _quern_parts, _quern_output);
    _quern_slot *const _quern_put = (_quern_slot *)_quern_pool;
    int _quern_active = min(_quern_workers, _quern_most);
#pragma unroll 1
    for (bool _quern_ended = !_quern_split;; _quern_ended = _quern_others.are_all()) {
        if constexpr (_quern_outputs == 1) {
#pragma unroll 1
            while (_quern_active > 1) {
                const int _quern_half = (_quern_active + 1) / 2;
                __syncthreads();
                if (_quern_live && _quern_worker >= _quern_half && _quern_worker < _quern_active) {
                    _quern_put[_quern_worker * _quern_beside + _quern_at] = _quern_values[0];
                }
                __syncthreads();
                if (_quern_live && _quern_worker + _quern_half < _quern_active) {
                    const int _quern_other = _quern_worker + _quern_half;
                    _quern_take(_quern_values[0], true,
                                _quern_put[_quern_other * _quern_beside + _quern_at].value);
                }
                _quern_active = _quern_half;
            }
        }
        if (_quern_ended) {
            break;
        }
        if constexpr (_quern_split) {
            const int _quern_across = _quern_walk.across;
            _quern_slot *const _quern_left =
                (_quern_slot *)(_quern_workspace + _quern_counters) +
                (long long)_quern_output * _quern_parts * _quern_across + _quern_at;
#pragma unroll
            for (int _quern_lane = 0; _quern_lane < _quern_outputs; _quern_lane++) {
                if (_quern_live && _quern_worker == 0 &&
                    _quern_at + 256 * _quern_lane < _quern_here) {
                    _quern_left[(long long)_quern_others.own() * _quern_across + 256 * _quern_lane] =
                        _quern_values[_quern_lane];
                }
            }
            if (!_quern_others.are_there((unsigned *)_quern_workspace, _quern_groups,
                                         _quern_workers)) {
                return;
            }
            _quern_active = min(_quern_workers, (int)_quern_others.count);
            // Four values of each thread are under way at once.
            constexpr int _quern_turns = _quern_outputs < 4 ? 4 / _quern_outputs : 1;
#pragma unroll _quern_turns
            for (int _quern_unit = _quern_worker; _quern_unit < (int)_quern_others.count;
                 _quern_unit += _quern_workers) {
                const _quern_slot *const _quern_other =
                    _quern_left + (long long)_quern_others.at(_quern_unit) * _quern_across;
#pragma unroll
                for (int _quern_lane = 0; _quern_lane < _quern_outputs; _quern_lane++) {
                    if (_quern_live && _quern_at + 256 * _quern_lane < _quern_here) {
                        _quern_take(_quern_values[_quern_lane], _quern_unit > _quern_worker,
                                    _quern_other[256 * _quern_lane].value);
                    }
                }
            }
        }
    }
    if (_quern_live && _quern_worker == 0) {
#pragma unroll
        for (int _quern_lane = 0; _quern_lane < _quern_outputs; _quern_lane++) {
            const int _quern_mine = _quern_at + 256 * _quern_lane;
            if (_quern_lane > 0 && _quern_mine >= _quern_here) {
                continue;
            }
HOLE_finish
            _quern_post(HOLE_results _quern_values[_quern_lane].value);
HOLE_give
        }
    }
}
