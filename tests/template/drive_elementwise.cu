// SPDX-License-Identifier: MIT
//
// z = 2 x + y over contiguous floats, in packs of four: templates/elementwise.cu by hand.
//
//   nvcc -std=c++17 -arch=sm_90 -I templates -ptx -o - tests/template/drive_elementwise.cu
#include "layout.h"
// in this order
#include "index.cuh"
#include "pack.cuh"

#define HOLE_includes
#define HOLE_types
#define HOLE_preamble
#define HOLE_name axpy
#define HOLE_parameters                                                                            \
    const float *__restrict__ _quern_array0, const float *__restrict__ _quern_array1,              \
        float *__restrict__ _quern_array2, const quern::space<int, 0, 3> _quern_walk
#define HOLE_loop_prep
#define HOLE_operands  const float &x, const float &y, float &z, const ptrdiff_t i
#define HOLE_operation z = 2 * x + y;
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
#define HOLE_after_loop

#include "elementwise.cu"
