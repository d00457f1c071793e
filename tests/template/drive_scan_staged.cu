// SPDX-License-Identifier: MIT
//
// Sums up to each element of the rows, or columns, of a matrix of floats: templates/scan_staged.cu
// by hand. The form is given by -DALONE=1 (a thread an output), -DCOLUMNS=1 (along columns),
// -DTILES=1 (several blocks an output), -DEXCLUSIVE=1 (without the element itself),
// -DPACED=1 (along rows, whole ones at a time).
//
//   nvcc -std=c++17 -arch=sm_90 -I templates -ptx -o - -DALONE=1 -DCOLUMNS=0 -DTILES=0
//     -DEXCLUSIVE=0 tests/template/drive_scan_staged.cu
#include "sum.cuh"
// in this order
#include "scan.cuh"
// in this order
#include "stage.cuh"

#ifndef PACED
#define PACED 0
#endif

#define HOLE_bounds 256, 4
#define HOLE_form                                                                                  \
    typedef int _quern_index;                                                                      \
    constexpr int _quern_steps = 16;                                                               \
    constexpr bool _quern_alone = ALONE, _quern_lone = false, _quern_tiles = TILES;                \
    constexpr bool _quern_single = false, _quern_exclusive = EXCLUSIVE;                            \
    constexpr bool _quern_across_in = COLUMNS, _quern_across_out = COLUMNS;                        \
    constexpr bool _quern_line_in = !COLUMNS && !PACED, _quern_line_out = _quern_line_in;          \
    constexpr bool _quern_paced = PACED;
// An element's place: its output and its position.
#define HOLE_kept                                                                                  \
    const long long _quern_row = (long long)_quern_output * _quern_walk.stride[0][0] +             \
                                 (long long)_quern_unit * _quern_walk.stride[0][1];
#define HOLE_list
#define HOLE_initial   _quern_initial.begin(0);
#define HOLE_registers float _quern_register0[_quern_steps];
#define HOLE_load                                                                                  \
    _quern_register0[_quern_step] = *(const float *)((const char *)_quern_array0 + _quern_row);
#define HOLE_repeat _quern_register0[_quern_step] = _quern_register0[0];
#define HOLE_unit
#define HOLE_lane
#define HOLE_arguments _quern_register0[_quern_step], 0
#define HOLE_result
#define HOLE_give                                                                                  \
    _quern_post(_quern_register0[_quern_step], *(float *)((char *)_quern_array1 + _quern_row), 0,  \
                _quern_values[0].value);

#include "scan_staged.cu"
