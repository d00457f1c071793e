// SPDX-License-Identifier: MIT
//
// y = x.T for x of n x 5 floats, by boxes of 5 x 128: templates/elementwise_boxed.cu by hand.
//
//   nvcc -std=c++17 -arch=sm_90 -I templates -ptx -o - tests/template/drive_boxed.cu
#include "layout.h"
// in this order
#include "index.cuh"

#define HOLE_includes
#define HOLE_types
#define HOLE_preamble
#define HOLE_name transpose
#define HOLE_parameters                                                                            \
    const float *__restrict__ _quern_array0, float *__restrict__ _quern_array1,                    \
        const quern::space<int, 2, 2> _quern_walk
#define HOLE_loop_prep
#define HOLE_operands  const float &x, float &y, const ptrdiff_t i
#define HOLE_operation y = x;
#define HOLE_form                                                                                  \
    typedef int _quern_index;                                                                      \
    constexpr int _quern_turns = 3, _quern_cuts = 1;
#define HOLE_shared __shared__ float tile[_quern_spread<4>(256 * _quern_turns - 1) + 1];
#define HOLE_values                                                                                \
    __shared__ int from[256 * _quern_turns], slot[256 * _quern_turns], kept[256 * _quern_turns];
// the next coordinate, along dimension D of the walk
#define ALONG(divider)                                                                             \
    _quern_coordinate = _quern_outer;                                                              \
    _quern_outer = _quern_walk.divider.divide(_quern_outer);                                       \
    _quern_coordinate -= _quern_outer * _quern_walk.divider.value;
#define HOLE_place                                                                                 \
    ALONG(outer[1])                                                                                \
    from[_quern_at] = _quern_coordinate * _quern_walk.stride[0][1];                                \
    ALONG(row)                                                                                     \
    from[_quern_at] += _quern_coordinate * _quern_walk.stride[0][2];                               \
    _quern_fetched[0] |= (unsigned)(_quern_coordinate < _quern_walk.head) << _quern_turn;
#define HOLE_aligned                                                                               \
    ALONG(row)                                                                                     \
    _quern_given[0] |= (unsigned)(_quern_coordinate < _quern_walk.head) << _quern_turn;            \
    kept[_quern_at] = _quern_coordinate * _quern_walk.stride[1][2];                                \
    int place = _quern_coordinate * _quern_walk.outer[1].value;                                    \
    ALONG(outer[1])                                                                                \
    kept[_quern_at] += _quern_coordinate * _quern_walk.stride[1][1];                               \
    slot[_quern_at] = _quern_spread<4>(place + _quern_coordinate);
#define HOLE_offsets                                                                               \
    if (_quern_pack == _quern_walk.packs - 1) {                                                    \
        _quern_fetches &= _quern_fetched[0];                                                       \
        _quern_gives &= _quern_given[0];                                                           \
    }                                                                                              \
    const char *const x = (const char *)_quern_array0 + _quern_pack * _quern_walk.stride[0][0];    \
    char *const y = (char *)_quern_array1 + _quern_pack * _quern_walk.stride[1][0];                \
    float held[_quern_turns], values[_quern_turns];
#define HOLE_fetch                                                                                 \
    held[_quern_turn] = *(const float *)(x + (_quern_whole ? from[_quern_at] : 0));
#define HOLE_single
#define HOLE_keep   tile[_quern_spread<4>(_quern_at)] = held[_quern_turn];
#define HOLE_again  values[_quern_turn] = tile[slot[_quern_at]];
#define HOLE_body                                                                                  \
    _quern_operation(values[_quern_turn],                                                          \
                     *(float *)(y + (_quern_whole ? kept[_quern_at] : 0)), 0);
#define HOLE_after_loop

#include "elementwise_boxed.cu"
