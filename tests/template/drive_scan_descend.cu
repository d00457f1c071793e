// SPDX-License-Identifier: MIT
//
// Sums down the columns of a matrix of floats, a thread down four: templates/scan_descend.cu by
// hand. -DEXCLUSIVE=1: without the element itself.
//
//   nvcc -std=c++17 -arch=sm_90 -I templates -ptx -o - -DEXCLUSIVE=0
//     tests/template/drive_scan_descend.cu
#include "sum.cuh"
// in this order
#include "scan.cuh"

#define HOLE_bounds 256, 5
#define HOLE_form                                                                                  \
    typedef int _quern_index;                                                                      \
    constexpr int _quern_steps = 4, _quern_lanes = 4;                                              \
    constexpr bool _quern_exclusive = EXCLUSIVE;
#define HOLE_kept    _quern_element = _quern_output * 4;
#define HOLE_initial _quern_initial.begin(0);
#define HOLE_begin                                                                                 \
    const char *_quern_next0 = (const char *)(_quern_array0 + _quern_element);                     \
    char *_quern_next1 = (char *)(_quern_array1 + _quern_element);
#define HOLE_registers quern::held<quern::pack<float, 4>> _quern_words0[_quern_steps];
#define HOLE_unit                                                                                  \
    const char *const _quern_place0 = _quern_next0;                                                \
    _quern_next0 += _quern_walk.stride[0][1];
#define HOLE_load _quern_words0[_quern_step].load(_quern_place0);
#define HOLE_result
#define HOLE_recall                                                                                \
    quern::pack<float, 4> _quern_register0[_quern_steps];                                          \
    _quern_words0[_quern_step].give(_quern_register0[_quern_step]);
#define HOLE_lane
#define HOLE_arguments _quern_register0[_quern_step].v[_quern_lane], 0
#define HOLE_give                                                                                  \
    quern::pack<float, 4> y;                                                                       \
    for (int lane = 0; lane < 4; lane++) {                                                         \
        _quern_post(_quern_register0[_quern_step].v[lane], y.v[lane], 0,                           \
                    _quern_values[lane].value);                                                    \
    }                                                                                              \
    y.store(_quern_next1);                                                                         \
    _quern_next1 += _quern_walk.stride[1][1];

#include "scan_descend.cu"
