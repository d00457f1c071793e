// SPDX-License-Identifier: MIT
HOLE_includes
HOLE_types
HOLE_preamble
extern "C" __global__ void HOLE_name(HOLE_parameters)
{
#include "elementwise_texts.inc"
    const _quern_index _quern_step = (_quern_index)gridDim.x * (_quern_index)blockDim.x;
    const _quern_index _quern_thread =
        (_quern_index)blockIdx.x * (_quern_index)blockDim.x + threadIdx.x;
    if constexpr (_quern_ragged) {
        // The elements before the first pack and after the last, one for each of the first threads.
        const _quern_index _quern_covered = _quern_walk.packs * _quern_lanes;
        if (_quern_thread < _quern_walk.inner - _quern_covered) {
            [[maybe_unused]] const _quern_index _quern_element =
                _quern_thread < _quern_walk.head ? _quern_thread : _quern_thread + _quern_covered;
HOLE_single
        }
    }
    for (_quern_index _quern_pack = _quern_thread; _quern_pack < _quern_walk.packs;
         _quern_pack += _quern_step) {
        const _quern_index _quern_row = _quern_rows ? _quern_walk.row.divide(_quern_pack) : 0;
        [[maybe_unused]] const _quern_index _quern_element =
            _quern_rows ? (_quern_pack - _quern_row * _quern_walk.row.value) * _quern_lanes
                        : _quern_pack * _quern_lanes + _quern_walk.head;
HOLE_offsets
HOLE_body
    }
HOLE_after_loop
}
