// SPDX-License-Identifier: MIT
//
// z = 2 x + y of which x and y have rows of three floats and z has a plane for each of them, two rows
// a thread: templates/elementwise_thin.cu by hand.
//
//   nvcc -std=c++17 -arch=sm_90 -I templates -ptx -o - tests/template/drive_thin.cu
#define OUTER 2
#include "axpy.cuh"

#define HOLE_form                                                                                  \
    typedef int _quern_index;                                                                      \
    constexpr int _quern_lanes = 2, _quern_places = 3;                                             \
    constexpr bool _quern_rows = false;
#define HOLE_offsets                                                                               \
    const float *const x = _quern_array0, *const y = _quern_array1;                                \
    const auto plane = [&](int place) {                                                            \
        return (float *)((char *)_quern_array2 + place * _quern_walk.stride[2][1]);                \
    };
#define HOLE_body                                                                                  \
    quern::run<float, 6, 8> xs, ys;                                                                \
    xs.load(x + 3 * _quern_element);                                                               \
    ys.load(y + 3 * _quern_element);                                                               \
    for (int k = 0; k < _quern_places; k++) {                                                      \
        quern::pack<float, 2> zs;                                                                  \
        for (int row = 0; row < _quern_lanes; row++) {                                             \
            _quern_operation(xs.v[3 * row + k], ys.v[3 * row + k], zs.v[row], 0);                  \
        }                                                                                          \
        zs.store(plane(k) + _quern_element);                                                       \
    }
#define HOLE_single                                                                                \
    _quern_operation(x[3 * _quern_at + _quern_place], y[3 * _quern_at + _quern_place],             \
                     plane(_quern_place)[_quern_at], 0);

#include "elementwise_thin.cu"
