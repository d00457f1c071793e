// SPDX-License-Identifier: MIT
HOLE_includes
HOLE_types
HOLE_preamble
extern "C" __global__ void __launch_bounds__(256, QUERN_BLOCKS(5)) HOLE_name(HOLE_parameters)
{
#include "elementwise_texts.inc"
    // A tile as in elementwise_tiled.cu, but threads fetch squares of elements and give packs of
    // them. Shared memory has a tile by lines: first each `_quern_lanes`th one, then those after
    // them. So threads that have neighbouring squares meet different banks, and those that have
    // neighbouring packs as well.
    constexpr int _quern_side = _quern_tile / _quern_lanes, _quern_fetched = _quern_slack + _quern_tile;
    constexpr int _quern_pitch = _quern_fetched + _quern_lanes, _quern_step = 256 / _quern_side;
    constexpr int _quern_turns = 8; // elements of a thread on their way, at the sides of an array
    constexpr int _quern_squares = (_quern_fetched / _quern_lanes + _quern_step - 1) / _quern_step;
    const auto _quern_spot = [](unsigned line) {
        return (line % _quern_lanes * _quern_side + line / _quern_lanes) * _quern_pitch;
    };
HOLE_shared
    const int _quern_along = threadIdx.x % _quern_side * _quern_lanes;
    const int _quern_first = threadIdx.x / _quern_side;
    for (_quern_index _quern_pack = blockIdx.x; _quern_pack < _quern_walk.packs;
         _quern_pack += gridDim.x) {
        const _quern_index _quern_row = _quern_walk.row.divide(_quern_pack);
        const _quern_index _quern_tile_element =
            (_quern_pack - _quern_row * _quern_walk.row.value) * _quern_tile - _quern_slack;
HOLE_offsets
        if (_quern_tile_line >= _quern_margin &&
            _quern_tile_line + _quern_tile + _quern_margin <= _quern_walk.head &&
            _quern_tile_element >= 0 && _quern_tile_element + _quern_fetched <= _quern_walk.inner) {
HOLE_again
#pragma unroll
            for (int _quern_turn = 0; _quern_turn < _quern_squares; _quern_turn++) {
                const int _quern_across = (_quern_first + _quern_turn * _quern_step) * _quern_lanes;
                if (_quern_fetched % (_quern_step * _quern_lanes) == 0 ||
                    _quern_across < _quern_fetched) {
HOLE_fetch
                }
            }
#pragma unroll
            for (int _quern_turn = 0; _quern_turn < _quern_squares; _quern_turn++) {
                const int _quern_across = (_quern_first + _quern_turn * _quern_step) * _quern_lanes;
                if (_quern_fetched % (_quern_step * _quern_lanes) == 0 ||
                    _quern_across < _quern_fetched) {
HOLE_give
                }
            }
            __syncthreads();
#pragma unroll 8
            for (int _quern_turn = 0; _quern_turn < _quern_tile / _quern_step; _quern_turn++) {
                const int _quern_across = _quern_first + _quern_turn * _quern_step;
                const _quern_index _quern_line = _quern_tile_line + _quern_across;
                const int _quern_column = _quern_along + HOLE_aligned;
                const _quern_index _quern_element = _quern_tile_element + _quern_column;
HOLE_body
            }
        } else {
            // Element by element; one that the array does not have is read where the nearest is.
            const int _quern_beside = threadIdx.x % _quern_tile;
            const int _quern_begin = threadIdx.x / _quern_tile;
#pragma unroll 1
            for (int _quern_from = _quern_begin; _quern_from < _quern_fetched;
                 _quern_from += 256 / _quern_tile * _quern_turns) {
HOLE_values
#pragma unroll
                for (int _quern_turn = 0; _quern_turn < _quern_turns; _quern_turn++) {
                    const int _quern_across = _quern_from + 256 / _quern_tile * _quern_turn;
                    const _quern_index _quern_line =
                        min(_quern_tile_line + _quern_beside, _quern_walk.head - 1);
                    const _quern_index _quern_element =
                        min(max(_quern_tile_element + _quern_across, (_quern_index)0),
                            _quern_walk.inner - 1);
HOLE_place
                }
#pragma unroll
                for (int _quern_turn = 0; _quern_turn < _quern_turns; _quern_turn++) {
                    const int _quern_across = _quern_from + 256 / _quern_tile * _quern_turn;
                    if (_quern_across < _quern_fetched) {
HOLE_keep
                    }
                }
            }
            __syncthreads();
#pragma unroll 4
            for (int _quern_across = _quern_begin; _quern_across < _quern_tile;
                 _quern_across += 256 / _quern_tile) {
                const _quern_index _quern_line = _quern_tile_line + _quern_across;
                const int _quern_column = _quern_beside + HOLE_aligned;
                const _quern_index _quern_element = _quern_tile_element + _quern_column;
                if (_quern_line < _quern_walk.head && _quern_element >= 0 &&
                    _quern_element < _quern_walk.inner) {
HOLE_single
                }
            }
        }
        __syncthreads();
    }
HOLE_after_loop
}
