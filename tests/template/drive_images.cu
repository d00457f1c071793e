// SPDX-License-Identifier: MIT
//
// z[i][j] = 2 x[j][i] + y[i][j]: templates/elementwise_images.cu by hand. A box has 64 columns of
// x, and a piece of 16 of each. -DKNOWN=16: the compiler knows how many.
//
//   nvcc -std=c++17 -arch=sm_90 -I templates -ptx -o - -DKNOWN=0 tests/template/drive_images.cu
#include "axpy.cuh"
// in this order
#include "fold.cuh"
#include "scan.cuh"
// in this order
#include "box.cuh"
#include "strips.cuh"

#undef HOLE_parameters
#define HOLE_parameters                                                                            \
    const float *__restrict__ _quern_array0, const float *__restrict__ _quern_array1,              \
        float *__restrict__ _quern_array2, const quern::fold<int, 2, 3> _quern_walk
#define HOLE_form                                                                                  \
    typedef int _quern_index;                                                                      \
    constexpr int _quern_together = 4, _quern_known = KNOWN;
#define HOLE_shared                                                                                \
    constexpr int _quern_scans = 64, _quern_shares = KNOWN ? 1 : 4;                                \
    const int _quern_each = (int)_quern_walk.units / _quern_shares;                                \
    const quern::part _quern_sharing(_quern_scans);                                                \
    float *const room = (float *)_quern_memory;
#define HOLE_offsets
#define HOLE_place                                                                                 \
    const int from = _quern_output * _quern_scans;                                                 \
    const int here = min(_quern_scans, (int)_quern_walk.results - from);                           \
    const int _quern_length = KNOWN ? KNOWN : (int)_quern_walk.units;
#define HOLE_fetch                                                                                 \
    for (int at = threadIdx.x; at < _quern_scans * _quern_length; at += 256) {                     \
        const int row = at % _quern_scans, spot = at / _quern_scans;                               \
        if (row < here) {                                                                          \
            quern::bring_word<4>(room + spot * _quern_scans + row,                                 \
                                 _quern_array0 + spot * _quern_walk.results + from + row);         \
        }                                                                                          \
    }
#define HOLE_again
#define HOLE_aligned const bool _quern_inside = _quern_number < here;
#define HOLE_single                                                                                \
    float taken[_quern_together];                                                                  \
    for (int item = 0; item < _quern_batch; item++) {                                              \
        taken[item] = room[(_quern_at + item) * _quern_scans + _quern_number];                     \
    }
#define HOLE_body                                                                                  \
    const float x = taken[_quern_item];                                                            \
    const float y = _quern_array1[(from + _quern_number) * _quern_length + _quern_spot];           \
    _quern_operation(x, y, room[_quern_spot * _quern_scans + _quern_number], 0);
#define HOLE_keep                                                                                  \
    for (int at = threadIdx.x; at < here * _quern_length; at += 256) {                             \
        const int row = at / _quern_length, spot = at % _quern_length;                             \
        _quern_array2[from * _quern_length + at] = room[spot * _quern_scans + row];                \
    }

#include "elementwise_images.cu"
