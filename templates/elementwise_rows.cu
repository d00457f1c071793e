// SPDX-License-Identifier: MIT
HOLE_includes
HOLE_types
HOLE_preamble
extern "C" __global__ void HOLE_name(HOLE_parameters)
{
#include "elementwise_texts.inc"
    const _quern_index _quern_across = blockDim.x;
    for (_quern_index _quern_group = blockIdx.x; _quern_group < _quern_walk.packs;
         _quern_group += gridDim.x) {
        // A block's part of as many rows as it is high; `head` is how many rows there are, and
        // `row.value` how many parts of one, or (if blocks go across) how many rows.
        const _quern_index _quern_slow = _quern_walk.row.divide(_quern_group);
        const _quern_index _quern_fast = _quern_group - _quern_slow * _quern_walk.row.value;
        const _quern_index _quern_strip = _quern_crosses ? _quern_fast : _quern_slow;
        const _quern_index _quern_part = _quern_crosses ? _quern_slow : _quern_fast;
        const _quern_index _quern_row =
            _quern_strip * (_quern_index)blockDim.y + (_quern_index)threadIdx.y;
        if (_quern_row >= _quern_walk.head) {
            break;
        }
HOLE_offsets
        _quern_index _quern_begin = 0, _quern_packs = _quern_walk.inner;
        if constexpr (_quern_lanes > 1) {
            _quern_begin = HOLE_aligned;
            _quern_begin += _quern_begin < _quern_margin ? _quern_lanes : 0;
            _quern_packs -= _quern_begin + _quern_margin;
            _quern_packs = _quern_packs > 0 ? _quern_packs / _quern_lanes : 0;
        }
        const _quern_index _quern_first =
            _quern_part * (_quern_across * _quern_turns) + (_quern_index)threadIdx.x;
        // All reads before the first write, so that they are under way at once. Where sectors are
        // asked for, threads that have fewer turns read the last element again: else each turn would
        // be a branch.
HOLE_values
#pragma unroll
        for (int _quern_turn = 0; _quern_turn < _quern_turns; _quern_turn++) {
            const _quern_index _quern_next = _quern_first + _quern_turn * _quern_across;
            const _quern_index _quern_pack =
                _quern_early ? min(_quern_next, _quern_packs - 1) : _quern_next;
            if (_quern_early || _quern_next < _quern_packs) {
                [[maybe_unused]] const _quern_index _quern_element =
                    _quern_begin + _quern_pack * _quern_lanes;
HOLE_fetch
            }
        }
        if constexpr (_quern_lanes > 1) {
            // The elements before the first pack and after the last, by the first part's threads.
            const _quern_index _quern_covered = _quern_packs * _quern_lanes;
            if (_quern_part == 0) {
#pragma unroll 1
                for (_quern_index _quern_end = threadIdx.x;
                     _quern_end < _quern_walk.inner - _quern_covered; _quern_end += _quern_across) {
                    [[maybe_unused]] const _quern_index _quern_element =
                        _quern_end < _quern_begin ? _quern_end : _quern_end + _quern_covered;
HOLE_single
                }
            }
        }
#pragma unroll
        for (int _quern_turn = 0; _quern_turn < _quern_turns; _quern_turn++) {
            const _quern_index _quern_next = _quern_first + _quern_turn * _quern_across;
            const _quern_index _quern_pack =
                _quern_early ? min(_quern_next, _quern_packs - 1) : _quern_next;
            if (_quern_next < _quern_packs) {
                [[maybe_unused]] const _quern_index _quern_element =
                    _quern_begin + _quern_pack * _quern_lanes;
HOLE_body
            }
        }
    }
HOLE_after_loop
}
