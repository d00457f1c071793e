// SPDX-License-Identifier: MIT
#include "fold_opening.inc"

extern "C" __global__ void __launch_bounds__(HOLE_bounds) HOLE_name(HOLE_parameters)
{
#include "scan_texts.inc"
    extern __shared__ __align__(128) uint4 _quern_room[];
HOLE_room
#include "scan_row_tile.inc"
    const int _quern_warp = quern::own_warp(), _quern_mine = threadIdx.x % 32;
    // Units begin behind `lead` elements of the row, where words are aligned.
HOLE_lead
HOLE_same
    const _quern_index _quern_units =
        (_quern_walk.covered - _quern_lead + _quern_lanes - 1) / _quern_lanes;
    // A warp has 32 units in each of its rounds: in full tiles, before the `head`th, in shared memory
    // and registers; in those behind, where the row ends, in shared memory alone, and the row has
    // `there` in all of them. A lane without a unit of its own repeats the row's last one.
    const int _quern_head = (int)_quern_walk.head;
    const bool _quern_full = _quern_tile < _quern_head;
    const int _quern_rounds = _quern_full ? _quern_steps : _quern_parked;
    const _quern_index _quern_begin =
        ((_quern_index)_quern_tile * quern::scan_warps + _quern_warp) * (32 * _quern_rounds) +
        (_quern_full ? 0
                     : (_quern_index)_quern_head *
                           (32 * quern::scan_warps * (_quern_steps - _quern_parked)));
    const int _quern_there = (int)min(max(_quern_units - _quern_begin, (_quern_index)0),
                                      (_quern_index)(32 * _quern_rounds));
    const _quern_index _quern_first = _quern_begin + _quern_mine, _quern_end = _quern_units - 1;
    // Units come in words; where the row's last may hang over its end, element by element.
    const bool _quern_whole = !_quern_ragged || _quern_begin + 32 * _quern_parked < _quern_units;
    if (_quern_whole) {
#pragma unroll HOLE_batch
        for (int _quern_step = 0; _quern_step < _quern_parked; _quern_step++) {
            const _quern_index _quern_position =
                min(_quern_first + 32 * _quern_step, _quern_end) * _quern_lanes + _quern_lead;
HOLE_bring
        }
    } else {
#pragma unroll 1
        for (int _quern_step = 0; _quern_step < _quern_parked; _quern_step++) {
            const _quern_index _quern_position =
                min(_quern_first + 32 * _quern_step, _quern_end) * _quern_lanes + _quern_lead;
HOLE_put
        }
    }
    if (_quern_full) {
#pragma unroll
        for (int _quern_step = _quern_parked; _quern_step < _quern_steps; _quern_step++) {
            const _quern_index _quern_position =
                (_quern_first + 32 * _quern_step) * _quern_lanes + _quern_lead;
HOLE_load
        }
        // Ask for what this warp of a later tile reads, if the row has all of that.
        constexpr int _quern_share = 32 * _quern_steps * _quern_lanes;
        const _quern_index _quern_start = _quern_begin * _quern_lanes + _quern_lead;
        if (_quern_walk.beside > 0 &&
            _quern_walk.covered - _quern_start >= _quern_share + _quern_walk.beside) {
            [[maybe_unused]] const _quern_index _quern_later = _quern_start + (_quern_index)_quern_walk.beside;
HOLE_ahead
        }
    }
    quern::await_words();

    // What lies in front of the warp, from the values of all.
    _quern_slot _quern_sum;
#pragma unroll 1
    for (int _quern_step = 0; _quern_step < _quern_parked; _quern_step += _quern_batch) {
        constexpr bool _quern_registers = false;
#include "scan_held_sum.inc"
    }
#pragma unroll
    for (int _quern_step = _quern_parked; _quern_step < _quern_steps;
         _quern_step += _quern_batch) {
        constexpr bool _quern_registers = true;
        if (_quern_full) {
#include "scan_held_sum.inc"
        }
    }
    // The elements in front of all units are the first warp's, too.
    const bool _quern_leads = _quern_ragged && _quern_lead > 0 && _quern_tile + _quern_warp == 0;
    quern::front<_type_reduce> _quern_led;
    _quern_led.has = false;
    if (_quern_leads) {
        for (int _quern_position = 0; _quern_position < _quern_lead; _quern_position++) {
            [[maybe_unused]] constexpr int _quern_lane = 0;
HOLE_one
            quern::next_value<false>(_quern_led, _quern_map(HOLE_arguments), _quern_scan);
        }
        _quern_sum.value = _quern_scan(_quern_led.value.value, _quern_sum.value);
    }
    // The last lane's, if it has a unit: the value counts where another warp follows.
    if (_quern_mine == 31 && _quern_there > 0) {
        _quern_totals[_quern_warp] = _quern_sum;
    }
    // how many warps have units of the row: asked of the first, which has some
    const int _quern_warps = (int)min((_quern_units - _quern_begin + 32 * _quern_rounds - 1) /
                                          (32 * _quern_rounds),
                                      (_quern_index)quern::scan_warps);
    const bool _quern_any = _quern_there > 0;
#include "scan_row_fronts.inc"
    if (_quern_leads) {
        quern::front<_type_reduce> _quern_lead_front = _quern_front;
        _quern_front.append(_quern_led.value, _quern_scan);
        if (_quern_mine == 0) {
            for (int _quern_position = 0; _quern_position < _quern_lead; _quern_position++) {
                [[maybe_unused]] constexpr int _quern_lane = 0;
HOLE_one
                const _quern_slot _quern_value = quern::next_value<_quern_exclusive>(
                    _quern_lead_front, _quern_map(HOLE_arguments), _quern_scan);
HOLE_give_one
            }
        }
    }
#pragma unroll 1
    for (int _quern_step = 0; _quern_step < _quern_parked; _quern_step += _quern_batch) {
        constexpr bool _quern_registers = false;
#include "scan_held_give.inc"
    }
#pragma unroll
    for (int _quern_step = _quern_parked; _quern_step < _quern_steps;
         _quern_step += _quern_batch) {
        constexpr bool _quern_registers = true;
        if (_quern_full) {
#include "scan_held_give.inc"
        }
    }
}
