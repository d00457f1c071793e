// SPDX-License-Identifier: MIT
//
// z = x.T + y over matrices of floats, by tiles: templates/elementwise_tiled.cu by hand.
//
//   nvcc -std=c++17 -arch=sm_90 -I templates -ptx -o - tests/template/drive_tiled.cu
#include "layout.h"
// in this order
#include "index.cuh"

#define HOLE_includes
#define HOLE_types
#define HOLE_preamble
#define HOLE_name add_transposed
#define HOLE_parameters                                                                            \
    const float *__restrict__ _quern_array0, const float *__restrict__ _quern_array1,              \
        float *__restrict__ _quern_array2, const quern::space<int, 1, 3> _quern_walk
#define HOLE_loop_prep
#define HOLE_operands  const float &x, const float &y, float &z, const ptrdiff_t i
#define HOLE_operation z = x + y;
#define HOLE_form                                                                                  \
    typedef int _quern_index;                                                                      \
    constexpr int _quern_tile = 64, _quern_slack = 8;
#define HOLE_shared __shared__ float tile[72][65];
#define HOLE_offsets                                                                               \
    const int _quern_tile_line = _quern_row * 64;                                                  \
    const char *const from =                                                                       \
        (const char *)_quern_array0 +                                                              \
        (long long)(_quern_tile_line + _quern_along) * _quern_walk.stride[0][0] +                  \
        (long long)_quern_tile_element * _quern_walk.stride[0][1];
// element (line, element) of operand k
#define AT(k)                                                                                      \
    *(float *)((char *)_quern_array##k + (long long)_quern_line * _quern_walk.stride[k][0] +       \
               (long long)_quern_element * _quern_walk.stride[k][1])
#define HOLE_fetch                                                                                 \
    tile[_quern_across][_quern_along] =                                                            \
        *(const float *)(from + (long long)_quern_across * _quern_walk.stride[0][1]);
#define HOLE_aligned                                                                               \
    (int)((0u -                                                                                    \
           ((unsigned)(size_t)_quern_array2 +                                                      \
            (unsigned)_quern_line * (unsigned)_quern_walk.stride[2][0]) /                          \
               4u -                                                                                \
           (unsigned)_quern_tile_element) %                                                        \
          _quern_slack)
#define HOLE_body _quern_operation(tile[_quern_column][_quern_across], AT(1), AT(2), 0);
#define HOLE_after_loop

#include "elementwise_tiled.cu"
