// SPDX-License-Identifier: MIT
HOLE_includes
HOLE_types
HOLE_preamble
extern "C" __global__ void HOLE_name(HOLE_parameters)
{
#include "elementwise_texts.inc"
    const _quern_index _quern_step = (_quern_index)gridDim.x * (_quern_index)blockDim.x;
    for (_quern_index _quern_pack = (_quern_index)blockIdx.x * (_quern_index)blockDim.x + threadIdx.x;
         _quern_pack < _quern_walk.packs; _quern_pack += _quern_step) {
        // A thread's rows, of `places` elements each, from row `element` of `inner` on.
        const _quern_index _quern_row = _quern_rows ? _quern_walk.row.divide(_quern_pack) : 0;
        const _quern_index _quern_element =
            (_quern_rows ? _quern_pack - _quern_row * _quern_walk.row.value : _quern_pack) *
            _quern_lanes;
HOLE_offsets
        if (_quern_lanes == 1 || _quern_element + _quern_lanes <= _quern_walk.inner) {
HOLE_body
        } else {
#pragma unroll 1
            for (_quern_index _quern_at = _quern_element; _quern_at < _quern_walk.inner;
                 _quern_at++) {
#pragma unroll 1
                for (int _quern_place = 0; _quern_place < _quern_places; _quern_place++) {
HOLE_single
                }
            }
        }
    }
HOLE_after_loop
}
