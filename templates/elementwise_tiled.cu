// SPDX-License-Identifier: MIT
HOLE_includes
HOLE_types
HOLE_preamble
extern "C" __global__ void __launch_bounds__(256) HOLE_name(HOLE_parameters)
{
#include "elementwise_texts.inc"
HOLE_shared
    // With slack each line of a tile begins where a sector of the output's memory does, up to so
    // many elements before the tile: the columns in front of it are fetched as well.
    const int _quern_along = threadIdx.x % _quern_tile, _quern_first = threadIdx.x / _quern_tile;
    constexpr int _quern_fetched = _quern_slack + _quern_tile;
    for (_quern_index _quern_pack = blockIdx.x; _quern_pack < _quern_walk.packs;
         _quern_pack += gridDim.x) {
        // The tile's first element along the last two dimensions; `head` is the extent of the
        // former.
        const _quern_index _quern_row = _quern_walk.row.divide(_quern_pack);
        const _quern_index _quern_tile_element =
            (_quern_pack - _quern_row * _quern_walk.row.value) * _quern_tile - _quern_slack;
HOLE_offsets
        if (_quern_tile_line + _quern_tile <= _quern_walk.head &&
            _quern_tile_element >= 0 && _quern_tile_element + _quern_fetched <= _quern_walk.inner) {
            // A whole tile: no element needs a look at the sides, so many loads are under way at
            // once.
#pragma unroll 8
            for (int _quern_across = _quern_first; _quern_across < _quern_fetched;
                 _quern_across += 256 / _quern_tile) {
HOLE_fetch
            }
            __syncthreads();
#pragma unroll 4
            for (int _quern_across = _quern_first; _quern_across < _quern_tile;
                 _quern_across += 256 / _quern_tile) {
                const _quern_index _quern_line = _quern_tile_line + _quern_across;
                const int _quern_column = _quern_along + HOLE_aligned;
                const _quern_index _quern_element = _quern_tile_element + _quern_column;
HOLE_body
            }
        } else {
#pragma unroll 1
            for (int _quern_across = _quern_first; _quern_across < _quern_fetched;
                 _quern_across += 256 / _quern_tile) {
                const _quern_index _quern_line = _quern_tile_line + _quern_along;
                const _quern_index _quern_element = _quern_tile_element + _quern_across;
                if (_quern_line < _quern_walk.head && _quern_element >= 0 &&
                    _quern_element < _quern_walk.inner) {
HOLE_fetch
                }
            }
            __syncthreads();
#pragma unroll 1
            for (int _quern_across = _quern_first; _quern_across < _quern_tile;
                 _quern_across += 256 / _quern_tile) {
                const _quern_index _quern_line = _quern_tile_line + _quern_across;
                const int _quern_column = _quern_along + HOLE_aligned;
                const _quern_index _quern_element = _quern_tile_element + _quern_column;
                if (_quern_line < _quern_walk.head && _quern_element >= 0 &&
                    _quern_element < _quern_walk.inner) {
HOLE_body
                }
            }
        }
        __syncthreads();
    }
HOLE_after_loop
}
