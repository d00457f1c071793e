// SPDX-License-Identifier: MIT
//
// Sums up to each element of the rows of a matrix of floats, by runs: templates/scan_runs.cu by
// hand. -DEXCLUSIVE=1: without the element itself.
//
//   nvcc -std=c++17 -arch=sm_90 -I templates -ptx -o - -DEXCLUSIVE=0
//   tests/template/drive_scan_runs.cu
#include "sum.cuh"
// in this order
#include "scan.cuh"
// in this order
#include "runs.cuh"

#define HOLE_bounds 256, 5
#define HOLE_form                                                                                  \
    typedef int _quern_index;                                                                      \
    constexpr int _quern_run = 44, _quern_lanes = 4, _quern_piece = 44;                            \
    constexpr bool _quern_words = true, _quern_single = false;                                     \
    constexpr bool _quern_exclusive = EXCLUSIVE;
#define HOLE_room                                                                                  \
    typedef quern::lot<4, 44> lot;                                                                 \
    __shared__ alignas(128) uint4 room[8 * lot::bytes / 16];                                       \
    char *const own = (char *)room + _quern_warp * lot::bytes;
#define HOLE_initial _quern_initial.begin(0);
#define HOLE_kept                                                                                  \
    const float *const from = _quern_array0 + (size_t)_quern_output * _quern_walk.covered;         \
    float *const to = _quern_array1 + (size_t)_quern_output * _quern_walk.covered;
// How many elements of the first tile lie before the row, which may begin inside a sector.
#define HOLE_skip const int _quern_skip = (int)((size_t)from / 4 % 8);
#define HOLE_located
#define HOLE_same
#define HOLE_bring lot::bring(own, (const char *)(from + _quern_start));
#define HOLE_bring_part                                                                            \
    lot::bring_part(own, (const char *)(from + _quern_start), 4 * _quern_low, 4 * _quern_high);
#define HOLE_put_each
#define HOLE_ahead                                                                                 \
    quern::ask_ahead((const char *)(from + _quern_later), _quern_share * (int)sizeof *from);
#define HOLE_await quern::await_words();
#define HOLE_run                                                                                   \
    char *const run = own + _quern_mine * lot::pace + 4 * _quern_on;                               \
    const int position = _quern_start + _quern_first + _quern_on;                                  \
    float taken[_quern_lanes];                                                                     \
    lot::take(taken, run);
#define HOLE_take      const float element = taken[_quern_lane];
#define HOLE_arguments element, position + _quern_lane
#define HOLE_results   float results[_quern_lanes];
#define HOLE_give                                                                                  \
    _quern_post(element, results[_quern_lane], position + _quern_lane, _quern_value.value);
#define HOLE_keep     lot::keep(run, results);
#define HOLE_give_one _quern_post(element, to[position], position, _quern_value.value);
#define HOLE_store                                                                                 \
    if (_quern_whole) {                                                                            \
        lot::give(own, (char *)(to + _quern_start), 4 * _quern_run);                               \
    } else {                                                                                       \
        lot::give_part(own, (char *)(to + _quern_start), 4 * _quern_run, 4 * _quern_kept_low,      \
                       4 * _quern_kept_high);                                                      \
    }

#include "scan_runs.cu"
