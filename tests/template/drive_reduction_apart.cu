// SPDX-License-Identifier: MIT
//
// Sums of the columns of a matrix of three rows of floats: templates/reduction_apart.cu by hand.
// -DBATCH=2: rows in batches, not all at once.
//
//   nvcc -std=c++17 -arch=sm_90 -I templates -ptx -o - -DBATCH=3
//   tests/template/drive_reduction_apart.cu
#include "sum.cuh"

#define HOLE_form                                                                                  \
    typedef int _quern_index;                                                                      \
    constexpr int _quern_outputs = 4, _quern_once = BATCH;                                         \
    constexpr int _quern_length = 3;
#define HOLE_spots int spot[_quern_outputs];
#define HOLE_kept
#define HOLE_keep      spot[_quern_lane] = _quern_output;
#define HOLE_registers float held[_quern_batch][_quern_outputs];
#define HOLE_load                                                                                  \
    for (int k = 0; k < _quern_outputs; k++) {                                                     \
        held[_quern_turn][k] =                                                                     \
            _quern_array0[(long long)_quern_unit * _quern_walk.outputs + spot[k]];                 \
    }
#define HOLE_arguments held[_quern_turn][_quern_lane], 0
#define HOLE_finish
#define HOLE_results _quern_array1[spot[_quern_lane]],

#include "reduction_apart.cu"
