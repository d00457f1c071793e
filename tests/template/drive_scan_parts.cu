// SPDX-License-Identifier: MIT
//
// Sums down the columns of a matrix of floats by parts of rows: templates/scan_parts.cu by hand,
// whose results take the place of the elements. -DEXCLUSIVE=1: without the element itself.
//
//   nvcc -std=c++17 -arch=sm_90 -I templates -ptx -o - -DEXCLUSIVE=0
//     tests/template/drive_scan_parts.cu
#include "sum.cuh"
// in this order
#include "scan.cuh"
// in this order
#include "strips.cuh"
// in this order
#include "parts.cuh"

#define HOLE_bounds 256, 2
#define HOLE_form                                                                                  \
    typedef int _quern_index;                                                                      \
    constexpr int _quern_steps = 24, _quern_lanes = 3, _quern_over = 4, _quern_bunch = 5,          \
                  _quern_known = 32;                                                               \
    constexpr bool _quern_bundles = true, _quern_exclusive = EXCLUSIVE;
#define HOLE_kept    _quern_element = _quern_output * (32 * 3 - 4);
#define HOLE_initial _quern_initial.begin(0);
#define HOLE_begin                                                                                 \
    const long long line = _quern_walk.stride[0][1];                                               \
    const char *const tile = (const char *)(_quern_array0 + _quern_element) + _quern_from * line;  \
    char *const result = (char *)(_quern_array1 + _quern_element) + _quern_from * line;            \
    const quern::part<4, 32 * 3> part(line, _quern_count, _quern_columns * 4, _quern_mine * 4);    \
    char *const shelf = (char *)_quern_words + threadIdx.x / 32 * (24 * (32 * 3 * 4 + 46)) +  \
                        (size_t)tile % 16;
#define HOLE_bring part.bring(shelf, tile, _quern_first, _quern_last);
#define HOLE_fill  part.fill(shelf);
#define HOLE_load                                                                                  \
    float x[_quern_lanes];                                                                         \
    float *const row = (float *)(shelf + _quern_step * part.pitch) + _quern_side;                  \
    for (int lane = 0; lane < _quern_lanes; lane++) {                                              \
        x[lane] = row[32 * lane];                                                                  \
    }
#define HOLE_arguments x[_quern_lane], 0
#define HOLE_result    float y[_quern_lanes];
#define HOLE_give      _quern_post(x[_quern_lane], y[_quern_lane], 0, _quern_value.value);
#define HOLE_store                                                                                 \
    __syncwarp();                                                                                  \
    for (int lane = 0; lane < _quern_lanes; lane++) {                                              \
        if (_quern_side + 32 * lane < _quern_columns) {                                            \
            row[32 * lane] = y[lane];                                                              \
        }                                                                                          \
    }
#define HOLE_keep part.take_back(result, shelf, _quern_begins, _quern_ends);

#include "scan_parts.cu"
