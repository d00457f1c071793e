// SPDX-License-Identifier: MIT
//
// Sums down the columns of a matrix of floats with three rows, a thread down two that lie a block
// apart: templates/scan_apart.cu by hand. -DEXCLUSIVE=1: without the element itself.
//
//   nvcc -std=c++17 -arch=sm_90 -I templates -ptx -o - -DEXCLUSIVE=0
//     tests/template/drive_scan_apart.cu
#include "sum.cuh"
// in this order
#include "scan.cuh"

#define HOLE_bounds 256, 5
#define HOLE_form                                                                                  \
    typedef int _quern_index;                                                                      \
    constexpr int _quern_outputs = 2, _quern_steps = 3;                                            \
    constexpr bool _quern_exclusive = EXCLUSIVE;
#define HOLE_spots int spots[_quern_outputs];
#define HOLE_kept
#define HOLE_keep    spots[_quern_lane] = _quern_output;
#define HOLE_initial _quern_initial.begin(0);
#define HOLE_registers float x[_quern_steps][_quern_outputs];
#define HOLE_unit      const int row = _quern_unit * (_quern_walk.stride[0][1] / 4);
#define HOLE_load      x[_quern_turn][_quern_lane] = _quern_array0[spots[_quern_lane] + row];
#define HOLE_result    const int row = _quern_unit * (_quern_walk.stride[1][1] / 4);
#define HOLE_arguments x[_quern_turn][_quern_lane], 0
#define HOLE_give                                                                                  \
    _quern_post(x[_quern_turn][_quern_lane], _quern_array1[spots[_quern_lane] + row], 0,           \
                _quern_value.value);

#include "scan_apart.cu"
