// SPDX-License-Identifier: MIT
#include "fold_opening.inc"

extern "C" __global__ void __launch_bounds__(HOLE_bounds) HOLE_name(HOLE_parameters)
{
#include "reduction_texts.inc"
    constexpr int _quern_block = 256, _quern_block_shift = 8;
    // Columns: as many outputs side by side are combined at once as need no more shared memory than
    // a single one of the largest type.
    constexpr int _quern_most = 64 / sizeof(_type_reduce);
    constexpr int _quern_together = _quern_most < _quern_outputs ? _quern_most : _quern_outputs;
    constexpr int _quern_slots =
        _quern_columns ? _quern_block * _quern_together : _quern_block / 32;
    __shared__ alignas(16) alignas(_type_reduce) char
        _quern_shared[_quern_slots * sizeof(_type_reduce)];

    // This thread's output, and which of its workers this is. A row that several blocks share has
    // all threads of each, and of short rows the code knows how many. Else by a shift, so that the
    // compiler divides by it without a division.
    constexpr bool _quern_whole = _quern_split && !_quern_columns;
    const int _quern_shift = _quern_whole       ? _quern_block_shift
                             : _quern_known > 0 ? _quern_known - 1
                                                : (int)_quern_walk.shift;
    const int _quern_workers = 1 << _quern_shift, _quern_beside = _quern_block >> _quern_shift;
    const int _quern_worker = _quern_whole     ? threadIdx.x
                              : _quern_columns ? threadIdx.x >> (_quern_block_shift - _quern_shift)
                                               : threadIdx.x & (_quern_workers - 1);
    const int _quern_at =
        _quern_columns ? threadIdx.x & (_quern_beside - 1) : threadIdx.x >> _quern_shift;
    const unsigned _quern_splits = _quern_split ? (unsigned)_quern_walk.splits : 1;
    // Neighbouring blocks have neighbouring outputs: they read sectors that they share at about the
    // same time.
    const unsigned _quern_groups = _quern_single  ? 1
                                   : _quern_split ? gridDim.x / _quern_splits
                                                  : gridDim.x;
    const _quern_index _quern_part = _quern_split ? blockIdx.x / _quern_groups : 0;
    const unsigned _quern_group = blockIdx.x - (unsigned)_quern_part * _quern_groups;
    const _quern_index _quern_output =
        _quern_whole ? _quern_group : (_quern_index)_quern_group * _quern_beside + _quern_at;
    const bool _quern_live = _quern_whole || _quern_output < _quern_walk.outputs;

    // where a unit begins along the dimension of its lanes
    [[maybe_unused]] _quern_index _quern_element = 0;
HOLE_kept
    // The units of this output, and the elements before the first and after the last of them.
HOLE_ends

    // The share of this worker of `count` units from `begin` on. In order: a run of neighbours;
    // else every so many. The workers below `active` have any.
    const _quern_index _quern_begin = _quern_split ? _quern_part * _quern_walk.chunk : 0;
    const _quern_index _quern_count = !_quern_live ? 0
                                      : _quern_split && _quern_part + 1 < _quern_splits
                                          ? _quern_walk.chunk
                                          : _quern_units - _quern_begin;
    const _quern_index _quern_run =
        _quern_ordered ? (_quern_count + _quern_workers - 1) >> _quern_shift : 1;
    const _quern_index _quern_step = _quern_ordered ? 1 : _quern_workers;
    const _quern_index _quern_own_first = _quern_begin + _quern_worker * _quern_run;
    const _quern_index _quern_end = _quern_begin + _quern_count;
    const _quern_index _quern_own_last = _quern_ordered && _quern_end - _quern_own_first >= _quern_run
                                             ? _quern_own_first + _quern_run
                                             : _quern_end;
    _quern_index _quern_active = !_quern_ordered  ? _quern_count
                                 : _quern_run > 0 ? (_quern_count + _quern_run - 1) / _quern_run
                                                  : 0;

    _quern_slot _quern_values[_quern_outputs]; // side by side
    bool _quern_has = false;
    const auto _quern_take = [&](_quern_slot &_quern_to, bool _quern_more,
                                 _type_reduce _quern_next) __attribute__((always_inline)) {
        _quern_to.value = _quern_more ? _quern_reduce(_quern_to.value, _quern_next) : _quern_next;
    };
    // The first element of a worker that no unit covers is on its way while units are.
    const _quern_index _quern_left_over =
        _quern_ragged && (_quern_split ? _quern_part == 0 : _quern_live) ? _quern_rest : 0;
    const auto _quern_left_at = [&](_quern_index _quern_unit) {
        return _quern_unit < _quern_head ? _quern_unit : _quern_unit + _quern_units * _quern_lanes;
    };
HOLE_element_registers
    if constexpr (_quern_ragged) {
        if (!_quern_split && _quern_left_over > _quern_active) {
            _quern_active = _quern_left_over;
        }
        if (_quern_worker < _quern_left_over) {
            const _quern_index _quern_element = _quern_left_at(_quern_worker);
HOLE_load_element
        }
    }
    // Words of the first and of the last unit may reach beyond memory: those units go element by
    // element, each by itself. Where there are none the text is left out, since NVRTC would take longer.
    constexpr bool _quern_edged = HOLE_edged;
    const _quern_index _quern_first =
        _quern_edged && _quern_own_first == 0 ? _quern_step : _quern_own_first;
    const _quern_index _quern_last =
        _quern_edged ? min(_quern_own_last, _quern_units - 1) : _quern_own_last;
HOLE_paces
#if HOLE_chooses
    _quern_nth _quern_near[_quern_outputs]; // what the loop's units come to, where positions rise
#endif
#if HOLE_edged
#pragma unroll 1
    for (int _quern_side = 0; _quern_side < 2; _quern_side++) {
        const _quern_index _quern_start = _quern_side == 0 ? 0 : _quern_units - 1;
        const bool _quern_again = _quern_side == 1 && _quern_start == 0; // the only unit is both
        if (!_quern_again && _quern_start >= _quern_own_first && _quern_start < _quern_own_last &&
            ((_quern_start - _quern_own_first) & (_quern_step - 1)) == 0) {
            constexpr int _quern_batch = 1;
            constexpr bool _quern_at_edge = true;
#include "reduction_units.inc"
        }
    }
#endif
#if HOLE_chooses
    // Those at the ends of memory are not in the order of the others.
    const bool _quern_had = _quern_rises && _quern_has;
    _quern_has = _quern_has && !_quern_rises;
#endif
    // All reads of a batch come before the first value is combined, so that they are under way at
    // once.
#pragma unroll _quern_flight
    for (_quern_index _quern_start = _quern_first; _quern_start < _quern_last;
         _quern_start += _quern_step * _quern_batch) {
        [[maybe_unused]] constexpr bool _quern_at_edge = false;
#include "reduction_units.inc"
    }
#if HOLE_chooses
    if constexpr (_quern_rises) {
#pragma unroll
        for (int _quern_lane = 0; _quern_lane < _quern_outputs && _quern_has; _quern_lane++) {
            _quern_take(_quern_values[_quern_lane], _quern_had,
                        _quern_placed(_quern_near[_quern_lane].value,
                                      _quern_near[_quern_lane].number));
        }
        _quern_has |= _quern_had;
    }
#endif
    if constexpr (_quern_ragged) {
        // A block that has all threads for a row has one for each of these elements.
#pragma unroll 1
        for (_quern_index _quern_unit = _quern_worker; _quern_unit < _quern_left_over;
             _quern_unit += _quern_workers) {
            [[maybe_unused]] const _quern_index _quern_element = _quern_left_at(_quern_unit);
            if (!_quern_split && _quern_unit != _quern_worker) {
HOLE_load_element
            }
HOLE_take_element
            _quern_has = true;
            if (_quern_split) {
                break;
            }
        }
    }
    if constexpr (_quern_lined) {
        // Of each line. The workers that have units share those of their block's lines.
        const _quern_index _quern_ends = _quern_walk.rest / _quern_walk.head * (2 * _quern_lanes);
        const _quern_index _quern_share =
            _quern_split ? (_quern_ends + _quern_splits - 1) / _quern_splits : _quern_ends;
        const _quern_index _quern_from = _quern_part * _quern_share;
        const _quern_index _quern_to = min(_quern_ends, _quern_from + _quern_share);
        const _quern_index _quern_takers = min(_quern_count, (_quern_index)_quern_workers);
#pragma unroll 1
        for (_quern_index _quern_unit = _quern_worker < _quern_takers ? _quern_from + _quern_worker
                                                                      : _quern_to;
             _quern_unit < _quern_to; _quern_unit += _quern_takers) {
HOLE_take_line_end
        }
    }
#include "reduction_ends.inc"
}
