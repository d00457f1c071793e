// SPDX-License-Identifier: MIT
//
// z = 2 x + y where y is a row that all rows of x share, in packs of four floats, two a thread:
// templates/elementwise_phases.cu by hand.
//
//   nvcc -std=c++17 -arch=sm_90 -I templates -ptx -o - tests/template/drive_phases.cu
#include "axpy.cuh"

#define HOLE_form                                                                                  \
    typedef int _quern_index;                                                                      \
    constexpr int _quern_turns = 2, _quern_lanes = 4;
#define HOLE_offsets                                                                               \
    const int row = _quern_walk.row.divide(_quern_element);                                        \
    const int column = _quern_element - row * _quern_walk.row.value;
#define HOLE_single                                                                                \
    HOLE_offsets _quern_operation(_quern_array0[_quern_element], _quern_array1[column],            \
                                  _quern_array2[_quern_element], _quern_element);
#define HOLE_values quern::held<quern::pack<float, 4>> xs[_quern_turns];
#define HOLE_fetch  xs[_quern_turn].load(_quern_array0 + _quern_element);
#define HOLE_keep                                                                                  \
    float y[_quern_lanes];                                                                         \
    for (int k = 0; k < _quern_lanes; k++) {                                                       \
        const int at = column + k;                                                                 \
        y[k] = _quern_array1[at < _quern_walk.row.value ? at : at - _quern_walk.row.value];        \
    }
#define HOLE_body                                                                                  \
    quern::pack<float, 4> xp, zp;                                                                  \
    xs[_quern_turn].give(xp);                                                                      \
    for (int k = 0; k < _quern_lanes; k++) {                                                       \
        _quern_operation(xp.v[k], y[k], zp.v[k], _quern_element);                                  \
    }                                                                                              \
    zp.store(_quern_array2 + _quern_element);

#include "elementwise_phases.cu"
