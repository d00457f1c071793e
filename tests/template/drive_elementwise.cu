// SPDX-License-Identifier: MIT
//
// z = 2 x + y over contiguous floats, in packs of four: templates/elementwise.cu by hand.
//
//   nvcc -std=c++17 -arch=sm_90 -I templates -ptx -o - tests/template/drive_elementwise.cu
#define OUTER 0
#include "axpy.cuh"

#define HOLE_form                                                                                  \
    typedef int _quern_index;                                                                      \
    constexpr int _quern_lanes = 4;                                                                \
    constexpr bool _quern_rows = false, _quern_ragged = true;
#define HOLE_single                                                                                \
    _quern_operation(_quern_array0[_quern_element], _quern_array1[_quern_element],                 \
                     _quern_array2[_quern_element], _quern_element);
#define HOLE_offsets
#define HOLE_body                                                                                  \
    quern::pack<float, 4> x, y, z;                                                                 \
    x.load(_quern_array0 + _quern_element);                                                        \
    y.load(_quern_array1 + _quern_element);                                                        \
    for (int lane = 0; lane < 4; lane++) {                                                         \
        _quern_operation(x.v[lane], y.v[lane], z.v[lane], _quern_element + lane);                  \
    }                                                                                              \
    z.store(_quern_array2 + _quern_element);

#include "elementwise.cu"
