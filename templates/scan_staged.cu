// SPDX-License-Identifier: MIT
#include "fold_opening.inc"

extern "C" __global__ void __launch_bounds__(HOLE_bounds) HOLE_name(HOLE_parameters)
{
#include "scan_texts.inc"
    typedef quern::stage<_type_reduce> _quern_stage_type;
    typedef quern::tour<_quern_line_in, _quern_paced && !_quern_across_in> _quern_tour_in;
    typedef quern::tour<_quern_line_out, _quern_paced && !_quern_across_out> _quern_tour_out;
    constexpr int _quern_lane = 0;
    __shared__ alignas(_type_reduce) char
        _quern_shared[_quern_stage_type::room(quern::stage_threads * _quern_steps)];

    // The tile: `beside` outputs from `first` on, and of each `length` positions from `begin` on.
    const int _quern_splits = _quern_tiles ? (int)_quern_walk.splits : 1;
    const int _quern_groups = _quern_tiles && !_quern_single ? (int)gridDim.x / _quern_splits : 1;
    unsigned long long _quern_ticket = 0;
    if constexpr (_quern_tiles) {
        _quern_ticket = quern::own_ticket(_quern_workspace);
    }
    const int _quern_group = _quern_tiles ? (int)blockIdx.x % _quern_groups : (int)blockIdx.x;
    const int _quern_tile = _quern_tiles ? (int)blockIdx.x / _quern_groups : 0;
    const _quern_index _quern_first =
        _quern_lone ? _quern_group : (_quern_index)_quern_group * _quern_walk.workers;
    const _quern_index _quern_begin = (_quern_index)_quern_tile * _quern_walk.chunk;
    const int _quern_beside =
        _quern_lone ? 1 : (int)min(_quern_walk.workers, _quern_walk.outputs - _quern_first);
    const int _quern_length = (int)min(_quern_walk.chunk, _quern_walk.units - _quern_begin);
    const int _quern_inner = _quern_across_in ? (int)min(_quern_walk.head, _quern_beside) : 1;
    const int _quern_count = _quern_beside * _quern_length;
    const _quern_stage_type _quern_stage = {(_quern_slot *)_quern_shared, _quern_length,
                                            _quern_inner};

HOLE_list
    // In as memory lies: all reads, then what becomes of them. What is not there repeats the
    // thread's first.
    [[maybe_unused]] _quern_index _quern_element = 0;
HOLE_registers
    {
        _quern_tour_in _quern_tour(_quern_across_in ? _quern_beside : _quern_length, threadIdx.x);
#pragma unroll
        for (int _quern_step = 0; _quern_step < _quern_steps; _quern_step++, _quern_tour.next()) {
            const bool _quern_there = _quern_tour.element < _quern_count;
            if (_quern_step == 0 || _quern_there) {
                const int _quern_on = _quern_there ? _quern_tour.element : 0;
                const int _quern_line = _quern_there ? _quern_tour.row : 0;
                const int _quern_place = _quern_there ? _quern_tour.place : 0;
                const int _quern_beside_at = _quern_line_in     ? 0
                                             : _quern_across_in ? _quern_place
                                                                : _quern_line;
                [[maybe_unused]] const _quern_index _quern_output = _quern_first + _quern_beside_at;
                [[maybe_unused]] const _quern_index _quern_unit =
                    _quern_begin + (_quern_line_in     ? (_quern_across_in ? 0 : _quern_on)
                                    : _quern_across_in ? _quern_line
                                                       : _quern_place);
HOLE_kept
                _quern_element += _quern_line_in && _quern_across_in ? _quern_on : 0;
                {
HOLE_load
                }
            }
        }
    }
    {
        _quern_tour_in _quern_tour(_quern_across_in ? _quern_beside : _quern_length, threadIdx.x);
#pragma unroll
        for (int _quern_step = 0; _quern_step < _quern_steps; _quern_step++, _quern_tour.next()) {
            const bool _quern_there = _quern_tour.element < _quern_count;
            const int _quern_beside_at = _quern_line_in || !_quern_there ? 0
                                         : _quern_across_in              ? _quern_tour.place
                                                                         : _quern_tour.row;
            [[maybe_unused]] const _quern_index _quern_output = _quern_first + _quern_beside_at;
            [[maybe_unused]] const _quern_index _quern_unit =
                _quern_begin + (!_quern_there      ? 0
                                : _quern_line_in   ? _quern_tour.element
                                : _quern_across_in ? _quern_tour.row
                                                   : _quern_tour.place);
            if (_quern_step > 0 && !_quern_there) {
HOLE_repeat
            }
HOLE_kept
            {
HOLE_unit
HOLE_lane
                const _type_reduce _quern_mapped = _quern_map(HOLE_arguments);
                if constexpr (!_quern_tour_in::paced) {
                    _quern_stage.taken(_quern_step).value = _quern_mapped;
                } else if (_quern_there) {
                    _quern_stage[_quern_tour.element].value = _quern_mapped;
                }
            }
        }
    }

    quern::front<_type_reduce> _quern_initial;
HOLE_initial
    if constexpr (_quern_alone) {
        __syncthreads();
#pragma unroll 1
        for (int _quern_row = threadIdx.x; _quern_row < _quern_beside;
             _quern_row += quern::stage_threads) {
            quern::scan_output<!_quern_across_in, _quern_exclusive>(_quern_stage, _quern_row,
                                                                    _quern_initial, _quern_scan);
        }
        __syncthreads();
    } else {
        const auto _quern_look = [&](_quern_slot *values, int used) {
            quern::look_back_all<_quern_lone ? 1 : 4>(
                _quern_workspace, _quern_ticket, _quern_groups, _quern_splits, values,
                (int)_quern_walk.workers, used, _quern_initial, _quern_group, _quern_tile,
                _quern_scan);
        };
        quern::scan_stage<_quern_steps, _quern_lone, !_quern_across_in, _quern_tiles,
                          _quern_exclusive>(
            _quern_stage, _quern_beside, (int)_quern_walk.workers,
            (int)_quern_walk.chunk / _quern_steps, _quern_initial, _quern_tile > 0, _quern_look,
            _quern_scan);
        if constexpr (_quern_tiles) {
            quern::return_ticket(_quern_workspace, (int)gridDim.x);
        }
    }

    // Out as memory lies, which is worked out anew: kept from the way in, it took so many registers that
    // reads waited for each other. Post may ask for the inputs again; where it does not, no one reads
    // them.
    _quern_tour_out _quern_tour(_quern_across_out ? _quern_beside : _quern_length,
                                quern::anew((int)threadIdx.x));
#pragma unroll
    for (int _quern_step = 0; _quern_step < _quern_steps; _quern_step++, _quern_tour.next()) {
        const int _quern_on = _quern_tour.element;
        const int _quern_beside_at = _quern_line_out     ? 0
                                     : _quern_across_out ? _quern_tour.place
                                                         : _quern_tour.row;
        const int _quern_along = _quern_line_out     ? (_quern_across_out ? 0 : _quern_on)
                                 : _quern_across_out ? _quern_tour.row
                                                     : _quern_tour.place;
        _quern_slot _quern_values[1];
        if constexpr (_quern_across_in == _quern_across_out && !_quern_tour_out::paced) {
            _quern_values[0] = _quern_stage.taken(_quern_step);
        }
        if (_quern_on < _quern_count) {
            if constexpr (_quern_across_in == _quern_across_out && _quern_tour_out::paced) {
                _quern_values[0] = _quern_stage[_quern_on];
            }
            [[maybe_unused]] const _quern_index _quern_output = _quern_first + _quern_beside_at;
            [[maybe_unused]] const _quern_index _quern_unit = _quern_begin + _quern_along;
            if constexpr (_quern_across_in != _quern_across_out) {
                _quern_values[0] =
                    _quern_stage[_quern_across_in ? _quern_along * _quern_beside + _quern_beside_at
                                                  : _quern_beside_at * _quern_length + _quern_along];
            }
HOLE_kept
            _quern_element += _quern_line_out && _quern_across_out ? _quern_on : 0;
            {
HOLE_load
            }
            {
HOLE_result
HOLE_give
            }
        }
    }
}
