// SPDX-License-Identifier: MIT
#include "fold_opening.inc"

extern "C" __global__ void __launch_bounds__(HOLE_bounds) HOLE_name(HOLE_parameters)
{
#include "reduction_texts.inc"
    constexpr int _quern_block = 256, _quern_block_shift = 8, _quern_together = 1;
    __shared__ alignas(16) alignas(_type_reduce) char
        _quern_shared[_quern_block / 32 * sizeof(_type_reduce)];

    // All threads of a block, or of several, work on one output.
    constexpr bool _quern_whole = _quern_split, _quern_live = true;
    constexpr int _quern_shift = _quern_block_shift, _quern_workers = _quern_block,
                  _quern_beside = 1, _quern_step = _quern_block;
    const int _quern_worker = threadIdx.x;
    const unsigned _quern_splits = _quern_split ? (unsigned)_quern_walk.splits : 1;
    const unsigned _quern_groups = gridDim.x / _quern_splits;
    const _quern_index _quern_part = _quern_split ? blockIdx.x / _quern_groups : 0;
    const unsigned _quern_group = blockIdx.x - (unsigned)_quern_part * _quern_groups;
    const _quern_index _quern_output = _quern_group;
HOLE_kept

    // A step is what a warp asks at once: some packs of each of its threads, side by side in a line.
    constexpr int _quern_warps = _quern_block / 32, _quern_side = 32 * _quern_lanes;
    const int _quern_warp = threadIdx.x / 32, _quern_thread = threadIdx.x % 32;
    const _quern_index _quern_first = _quern_part * _quern_walk.chunk;
    const _quern_index _quern_last = min(_quern_first + _quern_walk.chunk, _quern_walk.units);
    const _quern_index _quern_length = _quern_walk.extent[_quern_line_dim].value;
HOLE_spots

    // Where positions rise in memory, blocks walk so that of equal elements the one that is wanted
    // comes first. Then only better ones count; else as good ones may, by their positions.
    constexpr bool _quern_back = _quern_turned != (_quern_rises && _quern_lasts);
    // The best element that the warp has seen, known to all of its threads. It begins with that from
    // which all blocks together walk.
    _quern_slot _quern_values[_quern_outputs];
    _quern_slot &_quern_best = _quern_values[0];
    const auto _quern_take = [&](_quern_slot &_quern_to, bool _quern_more,
                                 _type_reduce _quern_next) __attribute__((always_inline)) {
        _quern_to.value = _quern_more ? _quern_reduce(_quern_to.value, _quern_next) : _quern_next;
    };
    {
        const _quern_index _quern_line =
            _quern_back ? _quern_walk.units / _quern_walk.head - 1 : 0;
        const _quern_index _quern_element = _quern_back ? _quern_length - 1 : 0;
HOLE_ends
HOLE_load_element
        _quern_best.value = _quern_map(HOLE_arguments _quern_base + _quern_located(_quern_element));
    }
    // Better than one at a level, whatever their positions; or as good.
    const auto _quern_better = [&](_quern_plain _quern_level, _quern_plain _quern_own)
                                   __attribute__((always_inline)) {
        return _quern_beats(_quern_level, _quern_own) && !_quern_beats(_quern_own, _quern_level);
    };
    const auto _quern_contends = [&](_quern_plain _quern_level, _quern_plain _quern_own)
                                     __attribute__((always_inline)) {
        return _quern_beats(_quern_level, _quern_own) || !_quern_beats(_quern_own, _quern_level);
    };
    // One of two elements, whichever comes first here: all threads of a warp find the same.
    const auto _quern_choose = [&](const _type_reduce &_quern_one, const _type_reduce &_quern_other) {
        const bool _quern_in_order = _quern_one.HOLE_spot <= _quern_other.HOLE_spot;
        const bool _quern_takes_second =
            _quern_in_order ? _quern_beats(_quern_rank(_quern_one), _quern_rank(_quern_other))
                         : _quern_beats(_quern_rank(_quern_other), _quern_rank(_quern_one));
        return _quern_in_order == _quern_takes_second ? _quern_other : _quern_one;
    };
HOLE_paces
#pragma unroll 1
    for (_quern_index _quern_number = _quern_first + _quern_warp; _quern_number < _quern_last;
         _quern_number += _quern_warps) {
        const _quern_index _quern_unit =
            _quern_back ? _quern_last - 1 - (_quern_number - _quern_first) : _quern_number;
        const _quern_index _quern_line = _quern_lines ? _quern_unit / _quern_walk.head : 0;
HOLE_ends
        // Packs are aligned: those at the ends of a line may have elements that are not its own.
        const _quern_index _quern_begin =
            (_quern_unit - _quern_line * _quern_walk.head) * (_quern_batch * _quern_side) -
            _quern_off;
        // Which packs of the thread are whole, and which are there in part.
        unsigned _quern_wholes = 0, _quern_parts = 0;
HOLE_registers
        if (_quern_begin >= 0 && _quern_begin + _quern_batch * _quern_side <= _quern_length) {
            _quern_wholes = (1u << _quern_batch) - 1;
#pragma unroll
            for (int _quern_turn = 0; _quern_turn < _quern_batch; _quern_turn++) {
                const _quern_index _quern_element =
                    _quern_begin + _quern_turn * _quern_side + _quern_thread * _quern_lanes;
HOLE_load
            }
        } else {
#pragma unroll
            for (int _quern_turn = 0; _quern_turn < _quern_batch; _quern_turn++) {
                const _quern_index _quern_element =
                    _quern_begin + _quern_turn * _quern_side + _quern_thread * _quern_lanes;
                if (_quern_element >= 0 && _quern_element + _quern_lanes <= _quern_length) {
                    _quern_wholes |= 1u << _quern_turn;
HOLE_load
                } else if (_quern_element + _quern_lanes > 0 && _quern_element < _quern_length) {
                    _quern_parts |= 1u << _quern_turn;
                }
            }
        }
        // Which may have better elements than one at `_quern_level`, or as good ones.
        unsigned _quern_asked;
        const auto _quern_ask = [&](_quern_plain _quern_level, bool _quern_with_equals)
                                    __attribute__((always_inline)) {
            _quern_asked = _quern_parts;
#pragma unroll
            for (int _quern_turn = 0; _quern_turn < _quern_batch; _quern_turn++) {
                if (_quern_wholes >> _quern_turn & 1) {
HOLE_recall
                    bool _quern_any = false;
#pragma unroll
                    for (int _quern_lane = 0; _quern_lane < _quern_lanes; _quern_lane++) {
                        const _quern_plain _quern_own = _quern_rank(_quern_map(HOLE_lane 0));
                        _quern_any |= _quern_with_equals
                                          ? _quern_contends(_quern_level, _quern_own)
                                          : _quern_better(_quern_level, _quern_own);
                    }
                    _quern_asked |= _quern_any ? 1u << _quern_turn : 0;
                }
            }
        };
        // Elements as good as the best count only where one may be further in front (or further back,
        // where of equal ones the last is wanted).
        const auto _quern_counts = [&](_quern_index _quern_from, _quern_index _quern_to) {
            const ptrdiff_t _quern_spot =
                _quern_base + _quern_utmost(max(_quern_from, (_quern_index)0), _quern_to - 1);
            return _quern_lasts ? _quern_spot >= _quern_best.value.HOLE_spot
                                : _quern_spot <= _quern_best.value.HOLE_spot;
        };
#if HOLE_keys
        // Bytes are asked four at a time, as they lie in memory, whether one is above a limit: bit 7
        // of a byte then, of the sum with what 127 is above the limit. Those from 128 on have their
        // own bit 7 apart. What a byte carries into the next it has only if it is above itself.
        const auto _quern_ask_bytes = [&](bool _quern_high, int _quern_limit)
                                          __attribute__((always_inline)) {
            const unsigned _quern_more = ((_quern_high ? 255 : 127) - _quern_limit) * 0x01010101u;
            _quern_asked = _quern_parts;
#pragma unroll
            for (int _quern_turn = 0; _quern_turn < _quern_batch; _quern_turn++) {
                if (_quern_wholes >> _quern_turn & 1) {
                    unsigned _quern_words[_quern_lanes / 4], _quern_above = 0;
                    memcpy(_quern_words, &HOLE_keep, sizeof _quern_words);
#pragma unroll
                    for (int _quern_lane = 0; _quern_lane < _quern_lanes / 4; _quern_lane++) {
                        const unsigned _quern_word = _quern_words[_quern_lane] ^ _quern_flip;
                        _quern_above |= _quern_high ? ((_quern_word & 0x7f7f7f7fu) + _quern_more) &
                                                          _quern_word
                                                    : (_quern_word + _quern_more) | _quern_word;
                    }
                    _quern_asked |= (_quern_above & 0x80808080u) != 0 ? 1u << _quern_turn : 0;
                }
            }
        };
#endif
        // How many threads of the warp have packs to look into.
        const auto _quern_askers = [&] {
            return __popc(__ballot_sync(0xffffffffu, _quern_asked != 0));
        };
        constexpr int _quern_many = 12;
        // Of few elements none may be as good, so they are asked before positions are.
        constexpr bool _quern_few = !_quern_rises && _quern_lanes <= 4;
        const _quern_index _quern_end = min(_quern_begin + _quern_batch * _quern_side, _quern_length);
        quern::slot<_quern_plain> _quern_level;
        _quern_level.value = _quern_rank(_quern_best.value);
        bool _quern_ties = !_quern_rises && (_quern_few || _quern_counts(_quern_begin, _quern_end));
        unsigned _quern_equals = 0; // packs with elements as good as the best, if none are better
#pragma unroll 1
        for (bool _quern_last_time = false;;) {
#if HOLE_keys
            if constexpr (_quern_bytes) {
                const int _quern_limit = _quern_limit_of(_quern_level.value, _quern_ties);
                if (_quern_limit >= 128) {
                    _quern_ask_bytes(true, _quern_limit);
                } else {
                    _quern_ask_bytes(false, _quern_limit);
                }
            } else
#endif
            {
                if (_quern_ties) {
                    _quern_ask(_quern_level.value, true);
                } else {
                    _quern_ask(_quern_level.value, false);
                }
            }
            const int _quern_count = _quern_askers();
            if (_quern_last_time || _quern_count == 0) {
                break;
            }
            if (_quern_ties) {
                _quern_ties = false;
                if (!_quern_few || _quern_counts(_quern_begin, _quern_end)) {
                    _quern_equals = _quern_asked;
                }
                continue;
            }
            if (_quern_count <= _quern_many) {
                break;
            }
            // As in the beginning: only those that are as good as the best of them. Read once more,
            // by a loop, so that the code is short.
#pragma unroll 1
            for (int _quern_pack = 0; _quern_pack < _quern_batch; _quern_pack++) {
                const _quern_index _quern_element =
                    _quern_begin + _quern_pack * _quern_side + _quern_thread * _quern_lanes;
                if (_quern_wholes >> _quern_pack & 1) {
                    constexpr int _quern_turn = 0;
HOLE_registers
                    {
HOLE_load
                    }
HOLE_recall
#pragma unroll
                    for (int _quern_lane = 0; _quern_lane < _quern_lanes; _quern_lane++) {
                        const _quern_plain _quern_own = _quern_rank(_quern_map(HOLE_lane 0));
                        if (_quern_beats(_quern_level.value, _quern_own)) {
                            _quern_level.value = _quern_own;
                        }
                    }
                }
            }
#pragma unroll 1
            for (int _quern_distance = 1; _quern_distance < 32; _quern_distance *= 2) {
                const auto _quern_other = quern::exchanged(_quern_level, _quern_distance);
                if (_quern_beats(_quern_level.value, _quern_other.value)) {
                    _quern_level = _quern_other;
                }
            }
            _quern_ties = _quern_last_time = true;
            _quern_equals = 0;
        }
        // Seldom: the best elements of packs, with positions. Then the warp's threads tell each other.
        bool _quern_found = false;
#pragma unroll 1
        for (unsigned _quern_left = _quern_asked | _quern_equals; _quern_left != 0;
             _quern_left &= _quern_left - 1) {
            const int _quern_pack_number = __ffs(_quern_left) - 1;
            const _quern_index _quern_pack =
                _quern_begin + _quern_pack_number * _quern_side + _quern_thread * _quern_lanes;
            const bool _quern_whole_pack = _quern_wholes >> _quern_pack_number & 1;
            if (!(_quern_asked >> _quern_pack_number & 1) &&
                (_quern_better(_quern_level.value, _quern_rank(_quern_best.value)) ||
                 !_quern_counts(_quern_pack, min(_quern_pack + _quern_lanes, _quern_length)))) {
                continue;
            }
            // Which lanes have the best elements.
            unsigned _quern_takes = (1u << _quern_lanes) - 1;
            if (_quern_whole_pack) {
                const _quern_index _quern_element = _quern_pack;
                constexpr int _quern_turn = 0;
HOLE_registers
                {
HOLE_load
                }
HOLE_recall
                _quern_plain _quern_top = _quern_rank(_quern_best.value);
                _quern_takes = 0;
#pragma unroll
                for (int _quern_lane = 0; _quern_lane < _quern_lanes; _quern_lane++) {
                    const _quern_plain _quern_own = _quern_rank(_quern_map(HOLE_lane 0));
                    const bool _quern_tops = _quern_better(_quern_top, _quern_own);
                    _quern_takes = _quern_tops ? 0 : _quern_takes;
                    _quern_takes |= _quern_better(_quern_own, _quern_top) ? 0 : 1u << _quern_lane;
                    _quern_top = _quern_tops ? _quern_own : _quern_top;
                }
                // Positions rise or fall along a pack, unless it goes on in the next row of the line.
                if (_quern_takes != 0 && _quern_rest(_quern_pack) >= _quern_lanes) {
                    _quern_takes = _quern_climbs == _quern_lasts
                                       ? 0x80000000u >> __clz(_quern_takes)
                                       : _quern_takes & -_quern_takes;
                }
            }
#pragma unroll 1
            for (; _quern_takes != 0; _quern_takes &= _quern_takes - 1) {
                const _quern_index _quern_element = _quern_pack + __ffs(_quern_takes) - 1;
                if (_quern_element >= 0 && _quern_element < _quern_length) {
HOLE_load_element
                    if (_quern_contends(_quern_rank(_quern_best.value),
                                        _quern_rank(_quern_map(HOLE_arguments 0)))) {
                        const ptrdiff_t _quern_before = _quern_best.value.HOLE_spot;
                        _quern_best.value = _quern_choose(
                            _quern_best.value, _quern_map(HOLE_arguments _quern_base +
                                                          _quern_located(_quern_element)));
                        _quern_found |= _quern_best.value.HOLE_spot != _quern_before;
                    }
                }
            }
        }
#pragma unroll 1
        for (int _quern_distance = __any_sync(0xffffffffu, _quern_found) ? 1 : 32;
             _quern_distance < 32; _quern_distance *= 2) {
            _quern_best.value = _quern_choose(
                _quern_best.value, quern::exchanged(_quern_best, _quern_distance).value);
        }
    }
    _quern_index _quern_active = _quern_block;
#include "reduction_ends.inc"
}
