// SPDX-License-Identifier: MIT
#include "fold_opening.inc"

extern "C" __global__ void __launch_bounds__(HOLE_bounds) HOLE_name(HOLE_parameters)
{
#include "scan_texts.inc"
    constexpr int _quern_share = 32 * _quern_run; // elements of a warp
    const int _quern_warp = threadIdx.x / 32, _quern_mine = threadIdx.x % 32;
    const int _quern_groups = _quern_single ? 1 : (int)_quern_walk.results;
    const int _quern_splits = (int)_quern_walk.splits, _quern_tiles = _quern_groups * _quern_splits;
    // The elements of a warp, input by input and output by output.
HOLE_room
    // Of two tiles, the values of the warps, or what lies in front of each; then what lies in front
    // of the tiles.
    __shared__ alignas(_type_reduce) char _quern_shared[18 * sizeof(_type_reduce)];
    __shared__ unsigned _quern_tickets[2]; // the ticket, and the number of the launch
    _quern_slot *const _quern_fronts = (_quern_slot *)_quern_shared;
    quern::front<_type_reduce> _quern_initial;
HOLE_initial
    const int _quern_count = _quern_tiles + (int)gridDim.x; // of tickets
    if (threadIdx.x == 0) {
        const unsigned long long _quern_both = quern::first_ticket(_quern_workspace, _quern_count);
        _quern_tickets[0] = (unsigned)_quern_both;
        _quern_tickets[1] = (unsigned)(_quern_both >> 32);
    }
    __syncthreads();
    const quern::run_board<_type_reduce> _quern_board(_quern_workspace,
                                                      (unsigned long long)_quern_tickets[1] << 32,
                                                      _quern_groups, _quern_splits, 1);

    // In turn, the value of the tile of ticket `next` is taken, and the results of `last` are
    // given: the same tile, or (if tiles are read again) the one before. `before`: what lies in
    // front of a lane within its warp, of `last`, and (`other`) of `next`. `side`: where the values
    // of the warps of `next` are.
    int _quern_next = (int)_quern_tickets[0], _quern_last = _quern_tiles, _quern_side = 0;
    unsigned _quern_taken = 0;
    bool _quern_gives = false;
    _quern_slot _quern_before, _quern_other;
#pragma unroll 1
    while (true) {
        const int _quern_ticket = _quern_gives ? _quern_last : _quern_next;
        if (_quern_ticket < _quern_tiles) {
            const int _quern_tile = _quern_ticket / _quern_groups;
            [[maybe_unused]] const _quern_index _quern_output =
                _quern_ticket - _quern_tile * _quern_groups;
            [[maybe_unused]] _quern_index _quern_element = 0;
HOLE_kept
            // The row begins `skip` elements inside the first tile, so that words are aligned. Of
            // the warp's elements, from position `start` on, `low` ... `high` - 1 are in the row.
HOLE_skip
HOLE_same
            const _quern_index _quern_start = (_quern_index)_quern_tile * _quern_walk.chunk +
                                              _quern_warp * _quern_share - _quern_skip;
            const bool _quern_whole =
                _quern_start >= 0 && _quern_walk.covered - _quern_start >= _quern_share;
            int _quern_low = 0, _quern_high = _quern_share;
            if (!_quern_whole) {
                _quern_low = _quern_start < 0 ? (int)-_quern_start : 0;
                _quern_high = _quern_walk.covered <= _quern_start ? 0
                              : _quern_walk.covered - _quern_start < _quern_share
                                  ? (int)(_quern_walk.covered - _quern_start)
                                  : _quern_share;
            }
            const int _quern_first = _quern_mine * _quern_run;
            const int _quern_from_lane = _quern_low / _quern_run,
                      _quern_to_lane = (_quern_high + _quern_run - 1) / _quern_run;
            typename quern::run_board<_type_reduce>::question _quern_question;
            if (_quern_gives && _quern_warp == 0) {
                _quern_board.ask(_quern_question, (int)_quern_output, _quern_tile);
            }
            __syncwarp();
            if ((_quern_again || !_quern_gives) && _quern_whole) {
#pragma unroll 1
                for (int _quern_part = 0; _quern_part < _quern_parts; _quern_part++) {
HOLE_fetch
HOLE_put
                }
            }
            if (_quern_again || !_quern_gives) {
HOLE_put_each
            }
            __syncwarp();
            if (!_quern_gives) {
                _quern_slot _quern_sum;
                if (_quern_whole) {
#pragma unroll 1
                    for (int _quern_on = 0; _quern_on < _quern_run; _quern_on += _quern_lanes) {
HOLE_run
#pragma unroll
                        for (int _quern_lane = 0; _quern_lane < _quern_lanes; _quern_lane++) {
HOLE_take
                            const _type_reduce _quern_mapped = _quern_map(HOLE_arguments);
                            if (_quern_lane == 0 && _quern_on == 0) {
                                _quern_sum.value = _quern_mapped;
                            } else {
                                _quern_sum.value = _quern_scan(_quern_sum.value, _quern_mapped);
                            }
                        }
                    }
                } else {
                    const int _quern_lead = max(_quern_low - _quern_first, 0);
                    const int _quern_end = min(_quern_high - _quern_first, _quern_run);
#pragma unroll 1
                    for (int _quern_on = _quern_lead; _quern_on < _quern_end; _quern_on++) {
                        constexpr int _quern_lane = 0;
HOLE_run
HOLE_take
                        const _type_reduce _quern_mapped = _quern_map(HOLE_arguments);
                        if (_quern_on == _quern_lead) {
                            _quern_sum.value = _quern_mapped;
                        } else {
                            _quern_sum.value = _quern_scan(_quern_sum.value, _quern_mapped);
                        }
                    }
                }
                quern::scan_lanes(_quern_sum, _quern_from_lane, _quern_to_lane, _quern_scan);
                _quern_slot *const _quern_totals = _quern_fronts + _quern_side * 8;
                if (_quern_mine == _quern_to_lane - 1) {
                    _quern_totals[_quern_warp] = _quern_sum;
                }
                _quern_other = quern::shuffle(_quern_sum, 1, true);
                __syncthreads();
                if (_quern_warp == 0) {
                    if (_quern_mine == 0) {
                        const int _quern_warps = (int)min(
                            (_quern_walk.covered - _quern_start + _quern_share - 1) / _quern_share,
                            (_quern_index)quern::scan_warps);
                        _quern_sum = _quern_totals[0];
                        quern::pass_warps(_quern_sum, _quern_totals, 1, 1, _quern_warps,
                                          _quern_scan);
                    }
                    _quern_board.publish(_quern_initial, _quern_sum, (int)_quern_output,
                                         _quern_tile, _quern_scan);
                }
            } else {
                quern::front<_type_reduce> _quern_front = _quern_initial;
                if (_quern_warp == 0) {
                    _quern_board.look(_quern_front, _quern_question, _quern_tile, _quern_scan);
                    if (_quern_mine == 0) {
                        _quern_fronts[16 + _quern_side] = _quern_front.value;
                    }
                }
                __syncthreads();
                if (threadIdx.x == 0 && _quern_next < _quern_tiles) {
                    _quern_taken = quern::ask_ticket(_quern_workspace);
                }
                _quern_front.value = _quern_fronts[16 + _quern_side];
                _quern_front.has = _quern_initial.has || _quern_tile > 0;
                if (_quern_warp > 0) {
                    const int _quern_given = _quern_again ? 1 - _quern_side : _quern_side;
                    _quern_front.append(_quern_fronts[_quern_given * 8 + _quern_warp], _quern_scan);
                }
                if (_quern_mine > _quern_from_lane) {
                    _quern_front.append(_quern_before, _quern_scan);
                }
                if (_quern_whole) {
#pragma unroll 1
                    for (int _quern_from = 0; _quern_from < _quern_run;
                         _quern_from += _quern_piece) {
#pragma unroll 1
                        for (int _quern_on = _quern_from; _quern_on < _quern_from + _quern_piece;
                             _quern_on += _quern_lanes) {
HOLE_run
HOLE_results
#pragma unroll
                            for (int _quern_lane = 0; _quern_lane < _quern_lanes; _quern_lane++) {
HOLE_take
                                const _quern_slot _quern_value =
                                    quern::next_value<_quern_exclusive>(
                                        _quern_front, _quern_map(HOLE_arguments), _quern_scan);
HOLE_give
                            }
HOLE_keep
                        }
                        __syncwarp();
HOLE_store
                        if (_quern_piece < _quern_run) {
                            __syncwarp();
                        }
                    }
                } else {
                    const int _quern_end = min(_quern_high - _quern_first, _quern_run);
#pragma unroll 1
                    for (int _quern_on = max(_quern_low - _quern_first, 0); _quern_on < _quern_end;
                         _quern_on++) {
                        constexpr int _quern_lane = 0;
HOLE_run
HOLE_take
                        const _quern_slot _quern_value = quern::next_value<_quern_exclusive>(
                            _quern_front, _quern_map(HOLE_arguments), _quern_scan);
HOLE_give_one
                    }
                }
            }
        }
        if (!_quern_again && !_quern_gives) {
            _quern_last = _quern_next;
            _quern_before = _quern_other;
        }
        if (_quern_gives) {
            if (_quern_next >= _quern_tiles) {
                break;
            }
            // A ticket is taken when there is nothing to wait for any more before its tile's value
            // is published: others wait for that.
            if (threadIdx.x == 0) {
                if (_quern_last >= _quern_tiles) {
                    _quern_taken = quern::ask_ticket(_quern_workspace);
                }
                quern::note_ticket(_quern_workspace, _quern_taken, _quern_count);
                _quern_tickets[0] = _quern_taken;
            }
            __syncthreads();
            if (_quern_again) {
                _quern_last = _quern_next;
                _quern_before = _quern_other;
            }
            _quern_next = (int)_quern_tickets[0];
            _quern_side = 1 - _quern_side;
        }
        _quern_gives = !_quern_gives;
    }
}
