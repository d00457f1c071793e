// SPDX-License-Identifier: MIT
//
// y[j][i], the sums of x[i][j] along j: templates/scan_boxed.cu by hand. A box has 64 rows of x,
// and a piece of them at a time. -DEXCLUSIVE=1: without the element itself; -DSTRIPS=1: a scan has
// several threads. -DTILES=1: each piece has a block of its own, templates/scan_boxed_tiles.cu.
//
//   nvcc -std=c++17 -arch=sm_90 -I templates -ptx -o - -DEXCLUSIVE=0 -DSTRIPS=0 -DTILES=0
//     tests/template/drive_scan_boxed.cu
#define DIMENSIONS 3
#include "sum.cuh"
// in this order
#include "box.cuh"
#include "scan.cuh"
// in this order
#include "strips.cuh"

#define HOLE_bounds 256, 3
#define HOLE_form                                                                                  \
    typedef int _quern_index;                                                                      \
    constexpr bool _quern_exclusive = EXCLUSIVE, _quern_pieces = true, _quern_bundles = true;      \
    constexpr int _quern_together = 4, _quern_known = 0, _quern_lanes = 1, _quern_bunch = 5;
#define HOLE_strips STRIPS
#define HOLE_find
#define HOLE_site                                                                                  \
    const char *const x = (const char *)_quern_array0 + _quern_output * _quern_walk.stride[0][0];  \
    char *const y = (char *)_quern_array1 + _quern_output * _quern_walk.stride[1][0];              \
    const int here = min(_quern_scans, (int)(_quern_walk.results - _quern_output * _quern_scans)); \
    const int _quern_length = (int)min(_quern_walk.units, _quern_walk.covered - _quern_start);
#define HOLE_seek
#define HOLE_room                                                                                  \
    const int _quern_scans = (int)_quern_walk.chunk;                                               \
    const quern::part scans(_quern_scans), piece((int)_quern_walk.units);                          \
    const int pitch = quern::box_pitch<4>(piece.by);                                               \
    float *const room = (float *)_quern_memory;
#define HOLE_initial _quern_initial.begin(0);
// by rows of x, then by columns
#define HOLE_fetch                                                                                 \
    for (int at = threadIdx.x; at < _quern_scans * piece.by; at += 256) {                          \
        const int row = piece.of(at), spot = at - row * piece.by;                                  \
        if (row < here && spot < _quern_length) {                                                  \
            quern::bring_word<4>(room + row * pitch + spot,                                        \
                                 x + row * _quern_walk.stride[0][1] + (_quern_start + spot) * 4);  \
        }                                                                                          \
    }
#define HOLE_keep                                                                                  \
    for (int at = threadIdx.x; at < _quern_scans * _quern_length; at += 256) {                     \
        const int spot = scans.of(at), row = at - spot * _quern_scans;                             \
        if (row < here) {                                                                          \
            *(float *)(y + row * 4 + (_quern_start + spot) * _quern_walk.stride[1][2]) =           \
                room[row * pitch + spot];                                                          \
        }                                                                                          \
    }
#define HOLE_row const bool _quern_inside = _quern_number < here;
#define HOLE_take                                                                                  \
    float taken[_quern_together];                                                                  \
    for (int item = 0; item < _quern_batch; item++) {                                              \
        taken[item] = room[_quern_number * pitch + _quern_at + item];                              \
    }
#define HOLE_item      float &element = room[_quern_number * pitch + _quern_spot];
#define HOLE_arguments taken[_quern_item], 0
#define HOLE_give      _quern_post(element, element, 0, _quern_value.value);

#if TILES
#include "scan_boxed_tiles.cu"
#else
#include "scan_boxed.cu"
#endif
