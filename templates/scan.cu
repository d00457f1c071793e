// SPDX-License-Identifier: MIT
#include "fold_opening.inc"

extern "C" __global__ void __launch_bounds__(HOLE_bounds) HOLE_name(HOLE_parameters)
{
#include "scan_texts.inc"
    constexpr int _quern_rounds = _quern_columns ? 1 : _quern_steps;
    // of a block: the tracks of all outputs that its lanes have side by side
    const int _quern_block_values =
        _quern_columns ? _quern_tracks * 32 / (int)_quern_walk.workers : 1;

    // This lane's place among the `width` of its output, which are `apart` lanes from each other.
    const int _quern_warp_lane = threadIdx.x % 32, _quern_warp = threadIdx.x / 32;
    const int _quern_width = _quern_columns || !_quern_block ? (int)_quern_walk.workers : 32;
    const int _quern_apart = _quern_columns ? 32 / _quern_width : 1;
    const int _quern_at =
        _quern_columns ? _quern_warp_lane / _quern_apart : _quern_warp_lane & (_quern_width - 1);
    const int _quern_side =
        _quern_columns ? _quern_warp_lane % _quern_apart : _quern_warp_lane / _quern_width;

    // The output, the tile that the block has of it, and the lane's first unit in that.
    const int _quern_splits = _quern_tiles ? (int)_quern_walk.splits : 1;
    const int _quern_groups = _quern_tiles && !_quern_single ? (int)gridDim.x / _quern_splits : 1;
    unsigned long long _quern_ticket = 0;
    if constexpr (_quern_tiles) {
        _quern_ticket = quern::own_ticket(_quern_workspace);
    }
    const int _quern_group = _quern_tiles ? (int)blockIdx.x % _quern_groups : (int)blockIdx.x;
    const int _quern_tile = _quern_tiles ? (int)blockIdx.x / _quern_groups : 0;
    const int _quern_turn = _quern_block ? _quern_warp : 0,
              _quern_pace = _quern_columns ? 1 : _quern_width;
    const int _quern_from = _quern_columns ? (_quern_turn * _quern_width + _quern_at) * _quern_steps
                                           : _quern_turn * _quern_steps * _quern_width + _quern_at;
    constexpr bool _quern_whole_block = _quern_block && !_quern_columns;
    [[maybe_unused]] _quern_index _quern_output =
        (_quern_index)(_quern_block ? _quern_group : _quern_group * 8 + _quern_warp) *
            (32 / _quern_width) +
        _quern_side;
    const bool _quern_live = _quern_whole_block || _quern_output < _quern_walk.outputs;
    if constexpr (!_quern_whole_block) {
        _quern_output = min(_quern_output, _quern_walk.outputs - 1);
    }
    // where a unit begins along the dimension of its lanes
    [[maybe_unused]] _quern_index _quern_element = 0;
HOLE_kept

    // The units of the output, and how many of them are this lane's own to scan: a lane that has
    // none reads along with the last. Those of a ragged row begin where vectors are aligned, so the
    // first may have `skip` elements too many.
HOLE_skip
    const _quern_index _quern_length =
        _quern_ragged ? (_quern_walk.covered + _quern_skip + _quern_lanes - 1) / _quern_lanes
                      : _quern_walk.units;
    const _quern_index _quern_units = _quern_live ? _quern_length : 0;

    // Where outputs are not reached by vector, the values of a warp's units in a round.
    constexpr int _quern_spread_count = _quern_spread ? quern::spread_place(32 * _quern_lanes) : 0;
    constexpr int _quern_spread_bytes = 8 * _quern_spread_count * (int)sizeof(_type_reduce);

    // The values of a block's warps, then what lies in front of it, of each track. Tiles park the
    // values of threads where there is room.
    constexpr int _quern_slots = _quern_block ? 9 * _quern_abreast * _quern_tracks : 1;
    __shared__ alignas(_type_reduce) char _quern_shared[_quern_slots * sizeof(_type_reduce)];
    _quern_slot *const _quern_parts = (_quern_slot *)_quern_shared;
    _quern_slot *const _quern_fronts = _quern_parts + 8 * _quern_block_values;
    constexpr bool _quern_park =
        _quern_tiles && !_quern_again &&
        quern::can_park(_quern_steps * _quern_lanes * (int)sizeof(_type_reduce),
                        (int)sizeof _quern_shared + _quern_spread_bytes);

    __shared__ alignas(_type_reduce) char
        _quern_spread_shared[_quern_spread ? _quern_spread_bytes : 1];
    [[maybe_unused]] _quern_slot *const _quern_spread_values =
        (_quern_slot *)_quern_spread_shared + _quern_spread_count * _quern_warp;

    // What lies in front of an output's first element, and of each track.
    quern::front<_type_reduce> _quern_initial, _quern_front[_quern_tracks];
HOLE_initial
    if constexpr (!_quern_block) {
#pragma unroll
        for (int _quern_lane = 0; _quern_lane < _quern_tracks; _quern_lane++) {
            _quern_front[_quern_lane] = _quern_initial;
        }
    }
    for (_quern_index _quern_base = _quern_tiles ? _quern_tile * _quern_walk.chunk : 0;
         _quern_tiles || _quern_base < _quern_walk.units; _quern_base += _quern_walk.chunk) {
        quern::shelf<_type_reduce, _quern_again ? 1 : _quern_steps, _quern_lanes, _quern_park>
            _quern_shelf;
        _quern_slot _quern_before[_quern_rounds][_quern_tracks], _quern_total[_quern_tracks];
        // How many units the output's lanes have in all rounds; of columns, how many lanes have
        // any. In a tile all count: units past the end repeat the last one, and their results are
        // unused.
        const _quern_index _quern_left = _quern_units - _quern_base - _quern_from;
        const _quern_index _quern_there =
            _quern_columns
                ? (_quern_left + _quern_at * _quern_steps + _quern_steps - 1) / _quern_steps
                : _quern_left + _quern_at;
        const int _quern_count = _quern_tiles
                                     ? (_quern_live ? _quern_width * _quern_rounds : 0)
                                     : (int)min(max(_quern_there, (_quern_index)0),
                                                (_quern_index)(_quern_width * _quern_rounds));
HOLE_registers
        // Of a ragged row, most warps have only whole units, whose loads need no condition either.
        const _quern_index _quern_leading = _quern_base + _quern_from - _quern_at;
        const bool _quern_all_whole =
            _quern_ragged && _quern_leading * _quern_lanes >= _quern_skip &&
            (_quern_leading + _quern_steps * _quern_pace) * _quern_lanes - _quern_skip <=
                _quern_walk.covered;
        if (_quern_all_whole) {
#pragma unroll
            for (int _quern_step = 0; _quern_step < _quern_steps; _quern_step++) {
                [[maybe_unused]] const _quern_index _quern_unit =
                    _quern_base + _quern_from + _quern_step * _quern_pace;
HOLE_load_whole
            }
        } else {
#pragma unroll
            for (int _quern_step = 0; _quern_step < _quern_steps; _quern_step++) {
                // Without a condition, so that all loads are under way together.
                const _quern_index _quern_unit =
                    min(_quern_base + _quern_from + _quern_step * _quern_pace, _quern_length - 1);
HOLE_load
            }
        }
        // Ask for what this warp of a later tile reads, if the row has all of that.
        if constexpr (_quern_asks) {
            constexpr int _quern_share = 32 * _quern_steps * _quern_lanes;
            const _quern_index _quern_start = _quern_leading * _quern_lanes - _quern_skip;
            if (_quern_walk.beside > 0 &&
                _quern_walk.covered - _quern_start >= _quern_share + _quern_walk.beside) {
                [[maybe_unused]] const _quern_index _quern_later =
                    _quern_start + (_quern_index)_quern_walk.beside;
HOLE_ahead
            }
        }
#pragma unroll
        for (int _quern_step = 0; _quern_step < _quern_steps; _quern_step++) {
            const _quern_index _quern_own = _quern_base + _quern_from + _quern_step * _quern_pace;
            const _quern_index _quern_unit = min(_quern_own, _quern_length - 1);
            // A unit that is not there repeats the last one. A tile lets that stand: conditions
            // would have every load wait for the one before. Elsewhere, in place, it may be a
            // result by now.
            if (_quern_tiles || _quern_own < _quern_units) {
HOLE_unit
                _quern_slot _quern_values[_quern_lanes];
#pragma unroll
                for (int _quern_lane = 0; _quern_lane < _quern_lanes; _quern_lane++) {
HOLE_lane
                    const _type_reduce _quern_mapped = _quern_map(HOLE_arguments);
                    if constexpr (_quern_columns) {
                        _quern_slot &_quern_sum = _quern_before[0][_quern_lane];
                        if (_quern_step == 0) {
                            _quern_sum.value = _quern_mapped;
                        } else if (_quern_tiles || _quern_own < _quern_units) {
                            _quern_sum.value = _quern_scan(_quern_sum.value, _quern_mapped);
                        }
                    } else {
                        _quern_values[_quern_lane].value = _quern_mapped;
                    }
                }
                if constexpr (_quern_columns) {
                    _quern_shelf.put(_quern_step, (_quern_slot(&)[_quern_lanes])_quern_before[0]);
                } else {
                    if constexpr (_quern_ragged) {
                        quern::scan_unit(_quern_values, _quern_position, _quern_walk.covered,
                                         _quern_scan);
                    } else if constexpr (_quern_lanes > 1) {
                        quern::scan_unit(_quern_values, 0, _quern_lanes, _quern_scan);
                    }
                    _quern_before[_quern_step][0] = _quern_values[_quern_lanes - 1];
                    if constexpr (!_quern_again) {
                        _quern_shelf.put(_quern_step, _quern_values);
                    }
                }
            }
        }
        quern::scan_warp(_quern_before, _quern_total, _quern_count, _quern_at, _quern_apart,
                         _quern_width, _quern_scan);
        if constexpr (_quern_block) {
            // What lies in front of each warp: of the warps before it, and of the block.
#pragma unroll
            for (int _quern_lane = 0; _quern_lane < _quern_tracks; _quern_lane++) {
                if (_quern_at == 0 && _quern_count > 0) {
                    _quern_parts[_quern_warp * _quern_block_values + _quern_side * _quern_tracks +
                                 _quern_lane] = _quern_total[_quern_lane];
                }
            }
            const int _quern_used =
                _quern_columns ? (int)min(_quern_walk.results -
                                              (_quern_index)_quern_group * _quern_block_values,
                                          (_quern_index)_quern_block_values)
                               : 1;
            if constexpr (_quern_tiles) {
                quern::tile_fronts<_quern_tracks>(_quern_workspace, _quern_ticket, _quern_groups,
                                                  _quern_splits, _quern_fronts, _quern_initial,
                                                  _quern_parts, _quern_block_values, _quern_used,
                                                  _quern_group, _quern_tile, _quern_scan);
                quern::return_ticket(_quern_workspace, (int)gridDim.x);
            } else {
                const int _quern_turns = _quern_steps * _quern_width;
                const int _quern_warps =
                    (int)min(max((_quern_columns ? _quern_walk.units : _quern_units) - _quern_base +
                                     _quern_turns - 1,
                                 (_quern_index)0) /
                                 _quern_turns,
                             (_quern_index)quern::scan_warps);
                quern::pass_block(_quern_fronts, _quern_initial, _quern_base > 0, _quern_parts,
                                  _quern_block_values, _quern_used, _quern_warps, _quern_scan);
            }
#pragma unroll
            for (int _quern_lane = 0; _quern_lane < _quern_tracks; _quern_lane++) {
                const int _quern_track = _quern_side * _quern_tracks + _quern_lane;
                const _quern_slot &_quern_part =
                    _quern_parts[_quern_warp * _quern_block_values + _quern_track];
                quern::front<_type_reduce> &_quern_own = _quern_front[_quern_lane];
                if constexpr (_quern_tiles) {
                    _quern_own.value = _quern_fronts[_quern_track];
                    _quern_own.has = _quern_initial.has || _quern_tile > 0;
                    if (_quern_warp > 0 && _quern_count > 0) {
                        _quern_own.append(_quern_part, _quern_scan);
                    }
                } else {
                    _quern_own.value = _quern_part;
                    _quern_own.has = _quern_initial.has || _quern_base > 0 || _quern_warp > 0;
                }
                if constexpr (_quern_columns) {
                    if (_quern_at > 0 && _quern_at < _quern_count) {
                        _quern_own.append(_quern_before[0][_quern_lane], _quern_scan);
                    }
                }
            }
        }
        const _quern_index _quern_first = quern::anew(_quern_base + _quern_from);
#pragma unroll
        for (int _quern_step = 0; _quern_step < _quern_steps; _quern_step++) {
            const _quern_index _quern_unit = _quern_first + _quern_step * _quern_pace;
            if (_quern_unit < _quern_units) {
                _quern_slot _quern_values[_quern_lanes];
HOLE_result
                if constexpr (_quern_columns) {
                    // Exclusive: the value in front is that of the unit before.
                    constexpr int _quern_earlier = _quern_exclusive ? 1 : 0;
                    if (_quern_step >= _quern_earlier) {
                        _quern_shelf.get(_quern_step - _quern_earlier, _quern_values);
                    }
#pragma unroll
                    for (int _quern_lane = 0; _quern_lane < _quern_lanes; _quern_lane++) {
                        quern::front<_type_reduce> _quern_unit_front = _quern_front[_quern_lane];
                        if (_quern_step >= _quern_earlier) {
                            _quern_unit_front.append(_quern_values[_quern_lane], _quern_scan);
                        }
                        _quern_values[_quern_lane] = _quern_unit_front.value;
                    }
                } else {
                    if constexpr (_quern_again) {
HOLE_renew
#pragma unroll
                        for (int _quern_lane = 0; _quern_lane < _quern_lanes; _quern_lane++) {
HOLE_lane
                            _quern_values[_quern_lane].value = _quern_map(HOLE_arguments);
                        }
                        quern::scan_unit(_quern_values, _quern_ragged ? _quern_position : 0,
                                         _quern_ragged ? _quern_walk.covered : _quern_lanes,
                                         _quern_scan);
                    } else {
                        _quern_shelf.get(_quern_step, _quern_values);
                    }
                    quern::front<_type_reduce> _quern_unit_front = _quern_front[0];
                    if (_quern_step > 0 || _quern_at > 0) {
                        _quern_unit_front.append(_quern_before[_quern_step][0], _quern_scan);
                    }
                    if (_quern_exclusive || _quern_unit_front.has) {
                        // Backwards, because an exclusive value is its left neighbour's.
#pragma unroll
                        for (int _quern_lane = _quern_lanes - 1; _quern_lane >= 0; _quern_lane--) {
                            _quern_slot &_quern_own = _quern_values[_quern_lane];
                            if (_quern_ragged && !_quern_whole &&
                                (_quern_position + _quern_lane < 0 ||
                                 _quern_position + _quern_lane >= _quern_walk.covered)) {
                                continue;
                            }
                            if constexpr (!_quern_exclusive) {
                                _quern_own.value =
                                    _quern_scan(_quern_unit_front.value.value, _quern_own.value);
                            } else {
                                _quern_own = _quern_unit_front.value;
                                if (_quern_lane > 0 &&
                                    (!_quern_ragged || _quern_position + _quern_lane > 0)) {
                                    _quern_own.value =
                                        _quern_scan(_quern_unit_front.value.value,
                                                    _quern_values[_quern_lane - 1].value);
                                }
                            }
                        }
                    }
                }
                if constexpr (_quern_spread) {
                    quern::spread_out(_quern_spread_values, _quern_values);
                } else {
HOLE_give
                }
            }
            if constexpr (_quern_spread) {
                // The warp's elements side by side, each written by another lane than has it.
                __syncwarp();
#pragma unroll
                for (int _quern_turn_lane = 0; _quern_turn_lane < _quern_lanes;
                     _quern_turn_lane++) {
                    const int _quern_place = _quern_turn_lane * 32 + _quern_warp_lane;
                    const int _quern_lane = _quern_place % _quern_lanes;
                    const _quern_index _quern_unit = _quern_first - _quern_at +
                                                     _quern_step * _quern_pace +
                                                     _quern_place / _quern_lanes;
                    if (_quern_unit < _quern_units) {
HOLE_result
                        if (!_quern_ragged || (_quern_position + _quern_lane >= 0 &&
                                               _quern_position + _quern_lane <
                                                   _quern_walk.covered)) {
                            const _quern_slot _quern_value =
                                _quern_spread_values[quern::spread_place(_quern_place)];
HOLE_spread
                        }
                    }
                }
                __syncwarp();
            }
        }
        if constexpr (!_quern_block) {
#pragma unroll
            for (int _quern_lane = 0; _quern_lane < _quern_tracks; _quern_lane++) {
                if (_quern_count > 0) {
                    _quern_front[_quern_lane].append(_quern_total[_quern_lane], _quern_scan);
                }
            }
        }
        if (_quern_tiles) {
            break;
        }
    }
}
