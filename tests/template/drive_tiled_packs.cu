// SPDX-License-Identifier: MIT
//
// z = x.T + y over matrices of bytes, by tiles in squares: templates/elementwise_tiled_packs.cu by
// hand.
//
//   nvcc -std=c++17 -arch=sm_90 -I templates -ptx -o - tests/template/drive_tiled_packs.cu
#include "layout.h"
#include "types.cuh"
// in this order
#include "index.cuh"
#include "pack.cuh"
#include "square.cuh"
#include "words.cuh"

#define HOLE_includes
#define HOLE_types
#define HOLE_preamble
#define HOLE_name add_transposed
#define HOLE_parameters                                                                            \
    const char *__restrict__ _quern_array0, const char *__restrict__ _quern_array1,                \
        char *__restrict__ _quern_array2, const quern::space<int, 1, 3> _quern_walk
#define HOLE_loop_prep
#define HOLE_operands  const char &x, const char &y, char &z, const ptrdiff_t i
#define HOLE_operation z = x + y;
#define HOLE_form                                                                                  \
    typedef int _quern_index;                                                                      \
    constexpr int _quern_tile = 128, _quern_slack = 32, _quern_lanes = 4, _quern_margin = 4;
#define HOLE_shared __shared__ alignas(16) unsigned char tile[_quern_tile * _quern_pitch];
#define HOLE_offsets                                                                               \
    const int _quern_tile_line = _quern_row * _quern_tile;                                         \
    const char *const from =                                                                       \
        _quern_array0 + (long long)(_quern_tile_line + _quern_along) +                             \
        (long long)_quern_tile_element * _quern_walk.stride[0][1];
// element (line, element) of operand k
#define AT(k)                                                                                      \
    _quern_array##k[(long long)_quern_line * _quern_walk.stride[k][0] + _quern_element]
#define HOLE_again quern::square<1, _quern_lanes> square[_quern_squares];
#define HOLE_fetch                                                                                 \
    square[_quern_turn].load_shifted(from +                                                        \
                                         (long long)_quern_across * _quern_walk.stride[0][1],      \
                                     _quern_walk.stride[0][1]);
#define HOLE_give                                                                                  \
    square[_quern_turn].store(&tile[_quern_spot(_quern_along) + _quern_across],                    \
                              _quern_side * _quern_pitch);
#define HOLE_aligned                                                                               \
    (int)((0u - (unsigned)(size_t)&_quern_array2[(long long)_quern_line *                          \
                                                     _quern_walk.stride[2][0] +                    \
                                                 _quern_tile_element]) %                           \
          _quern_slack)
#define HOLE_body                                                                                  \
    quern::pack<char, 4> x, y, z;                                                                  \
    quern::shifted<decltype(x)> held;                                                              \
    held.load(&tile[_quern_spot(_quern_across) + _quern_column]);                                  \
    held.give(x);                                                                                  \
    y.load(&AT(1));                                                                                \
    for (int k = 0; k < 4; k++) {                                                                  \
        _quern_operation(x.v[k], y.v[k], z.v[k], 0);                                               \
    }                                                                                              \
    z.store(&AT(2));
#define HOLE_values unsigned char held[_quern_turns];
#define HOLE_place                                                                                 \
    held[_quern_turn] =                                                                            \
        _quern_array0[(long long)_quern_line + _quern_element * _quern_walk.stride[0][1]];
#define HOLE_keep tile[_quern_spot(_quern_beside) + _quern_across] = held[_quern_turn];
#define HOLE_single                                                                                \
    _quern_operation((char)tile[_quern_spot(_quern_across) + _quern_column], AT(1), AT(2), 0);
#define HOLE_after_loop

#include "elementwise_tiled_packs.cu"
