// SPDX-License-Identifier: MIT
//
// Sums down the columns of a matrix of floats whose rows lie at any alignment:
// templates/scan_swaths.cu by hand. -DEXCLUSIVE=1: without the element itself.
//
//   nvcc -std=c++17 -arch=sm_90 -I templates -ptx -o - -DEXCLUSIVE=0
//     tests/template/drive_scan_swaths.cu
#include "sum.cuh"
// in this order
#include "scan.cuh"
#include "swath.cuh"

#define HOLE_bounds 256, 5
#define HOLE_form                                                                                  \
    typedef int _quern_index;                                                                      \
    constexpr int _quern_steps = 4, _quern_lanes = 4;                                              \
    constexpr bool _quern_exclusive = EXCLUSIVE;
#define HOLE_room                                                                                  \
    typedef quern::swath<float, 4> swath;                                                          \
    __shared__ alignas(16) char in[8][4 * swath::bytes], out[8][2 * swath::bytes];                 \
    char *const from = in[threadIdx.x / 32] + threadIdx.x % 32 * swath::size;                      \
    char *const to = out[threadIdx.x / 32] + threadIdx.x % 32 * swath::size;
#define HOLE_kept    _quern_element = _quern_output * 120;
#define HOLE_initial _quern_initial.begin(0);
#define HOLE_begin                                                                                 \
    const long long shift = 4 * _quern_begin + 16 * _quern_mine;                                   \
    const char *next = (const char *)_quern_array0 + shift;                                        \
    char *result = (char *)_quern_array1 + shift;                                                  \
    const int front = _quern_before * 4 + _quern_mine * 16;                                        \
    const int behind = _quern_after * 4 - _quern_mine * 16;                                        \
    const bool has = swath::has_word(front, behind), gives = swath::gives_word(behind);
#define HOLE_bring                                                                                 \
    if (has && _quern_step < _quern_count) {                                                       \
        swath::bring(from + _quern_step * swath::bytes,                                            \
                     next + _quern_step * _quern_walk.stride[0][1]);                               \
    }
#define HOLE_bring_some                                                                            \
    if (!has) {                                                                                    \
        swath::bring_some(from + _quern_step * swath::bytes,                                       \
                          next + _quern_step * _quern_walk.stride[0][1], front, behind,            \
                          _quern_alone);                                                           \
    }
#define HOLE_same
#define HOLE_results quern::pack<float, 4> y = {};
#define HOLE_take                                                                                  \
    quern::pack<float, 4> x;                                                                       \
    swath::take(x, from + _quern_step * swath::bytes + _quern_aside * swath::size,                 \
                (unsigned)(size_t)(next + _quern_step * _quern_walk.stride[0][1]), _quern_filled);
#define HOLE_arguments x.v[_quern_lane], 0
#define HOLE_give      _quern_post(x.v[_quern_lane], y.v[_quern_lane], 0, _quern_value.value);
#define HOLE_store                                                                                 \
    swath::give(result, y, to + _quern_step % 2 * swath::bytes, behind, gives, _quern_first);      \
    result += _quern_walk.stride[1][1];
#define HOLE_move next += 4 * _quern_walk.stride[0][1];

#include "scan_swaths.cu"
