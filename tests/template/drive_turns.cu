// SPDX-License-Identifier: MIT
//
// z = 2 x + y over rows of floats that no packs fit, four elements a thread: by hand
// templates/elementwise_turns.cu. -DEARLY=1: as where sectors are asked for, all turns read.
//
//   nvcc -std=c++17 -arch=sm_90 -DEARLY=0 -I templates -ptx -o - tests/template/drive_turns.cu
#include "axpy.cuh"

#define HOLE_form                                                                                  \
    typedef int _quern_index;                                                                      \
    constexpr int _quern_turns = 4;                                                                \
    constexpr bool _quern_early = EARLY;
#define HOLE_values                                                                                \
    float x[_quern_turns], y[_quern_turns];                                                        \
    unsigned kept[_quern_turns];
#define HOLE_place                                                                                 \
    const int row = _quern_walk.row.divide(_quern_pack);                                           \
    const int element = _quern_pack - row * _quern_walk.row.value;                                 \
    const float *const from0 =                                                                     \
        (const float *)((const char *)_quern_array0 + (long long)row * _quern_walk.stride[0][0]);  \
    const float *const from1 =                                                                     \
        (const float *)((const char *)_quern_array1 + (long long)row * _quern_walk.stride[1][0]);
#define HOLE_again
#define HOLE_fetch                                                                                 \
    x[_quern_turn] = from0[element];                                                               \
    y[_quern_turn] = from1[element];                                                               \
    kept[_quern_turn] = (unsigned)row * _quern_walk.stride[2][0] + element * 4u;
#define HOLE_body                                                                                  \
    _quern_operation(x[_quern_turn], y[_quern_turn],                                               \
                     *(float *)((char *)_quern_array2 + (int)kept[_quern_turn]), _quern_pack);

#include "elementwise_turns.cu"
