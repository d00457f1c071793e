// SPDX-License-Identifier: MIT
//
// z = 2 x + y over short rows of floats with gaps, eight of them a thread: by hand
// templates/elementwise_slabs.cu.
//
//   nvcc -std=c++17 -arch=sm_90 -I templates -ptx -o - tests/template/drive_slabs.cu
#include "axpy.cuh"

#define HOLE_form                                                                                  \
    typedef int _quern_index;                                                                      \
    constexpr int _quern_turns = 8;                                                                \
    constexpr bool _quern_listed = false;
#define HOLE_shared
#define HOLE_offsets
#define HOLE_aligned                                                                               \
    const float *const x0 = (const float *)((const char *)_quern_array0 +                          \
                                            (int)threadIdx.x * _quern_walk.stride[0][1]);          \
    const float *const y0 = (const float *)((const char *)_quern_array1 +                          \
                                            (int)threadIdx.x * _quern_walk.stride[1][1]);          \
    float *const z0 =                                                                              \
        (float *)((char *)_quern_array2 + (int)threadIdx.x * _quern_walk.stride[2][1]);
#define HOLE_values float x[_quern_turns], y[_quern_turns];
#define HOLE_place
#define HOLE_fetch                                                                                 \
    x[_quern_turn] =                                                                               \
        *(const float *)((const char *)x0 + (long long)_quern_pack * _quern_walk.stride[0][0]);    \
    y[_quern_turn] =                                                                               \
        *(const float *)((const char *)y0 + (long long)_quern_pack * _quern_walk.stride[1][0]);
#define HOLE_body                                                                                  \
    _quern_operation(x[_quern_turn], y[_quern_turn],                                               \
                     *(float *)((char *)z0 + (long long)_quern_pack * _quern_walk.stride[2][0]),   \
                     _quern_pack);

#include "elementwise_slabs.cu"
