// SPDX-License-Identifier: MIT
#include "fold_opening.inc"

extern "C" __global__ void __launch_bounds__(HOLE_bounds) HOLE_name(HOLE_parameters)
{
#include "scan_texts.inc"
    constexpr int _quern_share = 32 * _quern_run; // elements of a warp
    const int _quern_warp = threadIdx.x / 32, _quern_mine = threadIdx.x % 32;
    // The elements of a warp, input by input and output by output.
HOLE_room
#include "scan_row_tile.inc"
    // The row begins `skip` elements inside the first tile, so that words are aligned. Of the
    // warp's elements, from position `start` on, `low` ... `high` - 1 are in the row.
HOLE_skip
HOLE_located
HOLE_same
    const _quern_index _quern_start = (_quern_index)_quern_tile * _quern_walk.chunk +
                                      _quern_warp * _quern_share - _quern_skip;
    const bool _quern_whole =
        _quern_start >= 0 && _quern_walk.covered - _quern_start >= _quern_share;
    int _quern_low = 0, _quern_high = _quern_share;
    if (!_quern_whole) {
        _quern_low = _quern_start < 0 ? (int)-_quern_start : 0;
        _quern_high = (int)min(max(_quern_walk.covered - _quern_start, (_quern_index)0),
                               (_quern_index)_quern_share);
    }
    // Of this lane's, `lead` ... `end` - 1.
    const int _quern_first = _quern_mine * _quern_run;
    const int _quern_lead = max(_quern_low - _quern_first, 0);
    const int _quern_end = min(_quern_high - _quern_first, _quern_run);
    const int _quern_from_lane = _quern_low / _quern_run,
              _quern_to_lane = (_quern_high + _quern_run - 1) / _quern_run;
    if (_quern_whole) {
HOLE_bring
    } else {
HOLE_bring_part
    }
HOLE_put_each
    // Ask for what this warp of a later tile reads, if the row has all of that.
    if (_quern_whole && _quern_walk.beside > 0 &&
        _quern_walk.covered - _quern_start >= _quern_share + _quern_walk.beside) {
        [[maybe_unused]] const _quern_index _quern_later = _quern_start + (_quern_index)_quern_walk.beside;
HOLE_ahead
    }
HOLE_await
    __syncwarp();
    // Units that the row has in part go element by element.
    const auto _quern_inside = [&](int _quern_on) {
        return _quern_whole ||
               (_quern_on >= _quern_lead && _quern_on + _quern_lanes <= _quern_end);
    };
    _quern_slot _quern_sums[1];
    _quern_slot &_quern_sum = _quern_sums[0];
    bool _quern_summed = false;
#pragma unroll 1
    for (int _quern_on = 0; _quern_on < _quern_run; _quern_on += _quern_lanes) {
        if (_quern_inside(_quern_on)) {
HOLE_run
#pragma unroll
            for (int _quern_lane = 0; _quern_lane < _quern_lanes; _quern_lane++) {
HOLE_take
                const _type_reduce _quern_mapped = _quern_map(HOLE_arguments);
                if (_quern_lane == 0 && !_quern_summed) {
                    _quern_sum.value = _quern_mapped;
                } else {
                    _quern_sum.value = _quern_scan(_quern_sum.value, _quern_mapped);
                }
            }
            _quern_summed = true;
            continue;
        }
        const int _quern_unit = _quern_on;
#pragma unroll 1
        for (int _quern_on = max(_quern_unit, _quern_lead);
             _quern_on < min(_quern_unit + _quern_lanes, _quern_end); _quern_on++) {
            constexpr int _quern_lanes = 1, _quern_lane = 0;
HOLE_run
HOLE_take
            const _type_reduce _quern_mapped = _quern_map(HOLE_arguments);
            if (!_quern_summed) {
                _quern_sum.value = _quern_mapped;
            } else {
                _quern_sum.value = _quern_scan(_quern_sum.value, _quern_mapped);
            }
            _quern_summed = true;
        }
    }
    quern::scan_lanes(_quern_sums, _quern_from_lane, _quern_to_lane, _quern_scan);
    if (_quern_mine == _quern_to_lane - 1) {
        _quern_totals[_quern_warp] = _quern_sum;
    }
    const _quern_slot _quern_before = quern::shuffle(_quern_sum, 1, true);
    // how many warps have elements of the row: asked of the first, which has some
    const int _quern_warps =
        (int)min((_quern_walk.covered - _quern_start + _quern_share - 1) / _quern_share,
                 (_quern_index)quern::scan_warps);
    const bool _quern_any = _quern_high > 0;
#include "scan_row_fronts.inc"
    if (_quern_mine > _quern_from_lane) {
        _quern_front.append(_quern_before, _quern_scan);
    }
    // Those in part, or all of a warp whose results do not go back in words, go to memory one by one.
    const int _quern_kept_low = (_quern_low + _quern_lanes - 1) / _quern_lanes * _quern_lanes,
              _quern_kept_high = _quern_high / _quern_lanes * _quern_lanes;
#pragma unroll 1
    for (int _quern_from = 0; _quern_from < _quern_run; _quern_from += _quern_piece) {
#pragma unroll 1
        for (int _quern_on = _quern_from; _quern_on < _quern_from + _quern_piece;
             _quern_on += _quern_lanes) {
            if (_quern_whole || (_quern_words && _quern_inside(_quern_on))) {
HOLE_run
HOLE_results
#pragma unroll
                for (int _quern_lane = 0; _quern_lane < _quern_lanes; _quern_lane++) {
HOLE_take
                    const _quern_slot _quern_value = quern::next_value<_quern_exclusive>(
                        _quern_front, _quern_map(HOLE_arguments), _quern_scan);
HOLE_give
                }
HOLE_keep
                continue;
            }
            const int _quern_unit = _quern_on;
#pragma unroll 1
            for (int _quern_on = max(_quern_unit, _quern_lead);
                 _quern_on < min(_quern_unit + _quern_lanes, _quern_end); _quern_on++) {
                constexpr int _quern_lanes = 1, _quern_lane = 0;
HOLE_run
HOLE_take
                const _quern_slot _quern_value = quern::next_value<_quern_exclusive>(
                    _quern_front, _quern_map(HOLE_arguments), _quern_scan);
HOLE_give_one
            }
        }
        __syncwarp();
HOLE_store
        if (_quern_piece < _quern_run) {
            __syncwarp();
        }
    }
}
