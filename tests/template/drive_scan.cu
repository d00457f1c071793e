// SPDX-License-Identifier: MIT
//
// Sums up to each element of the rows, or columns, of a matrix of floats: templates/scan.cu by
// hand. The form is given by -DCOLUMNS=1 (along columns), -DBLOCK=1 (a block an output), -DTILES=1
// besides (several), -DEXCLUSIVE=1 (without the element itself).
//
//   nvcc -std=c++17 -arch=sm_90 -I templates -ptx -o - -DBLOCK=1 tests/template/drive_scan.cu
#include "sum.cuh"
// in this order
#include "scan.cuh"

#define HOLE_bounds 256, 4
#define HOLE_form                                                                                  \
    typedef int _quern_index;                                                                      \
    constexpr int _quern_steps = 4, _quern_lanes = 4, _quern_tracks = COLUMNS ? 4 : 1;             \
    constexpr int _quern_abreast = COLUMNS ? 8 : 1;                                                \
    constexpr bool _quern_columns = COLUMNS, _quern_block = BLOCK, _quern_tiles = TILES;           \
    constexpr bool _quern_single = false, _quern_ragged = false, _quern_exclusive = EXCLUSIVE;     \
    constexpr bool _quern_again = false, _quern_spread = false, _quern_whole = true;               \
    constexpr bool _quern_asks = TILES && !COLUMNS;
// What a unit adds to the address of its first element: along rows, or down the columns.
#if COLUMNS
#define HOLE_ahead
#define HOLE_kept _quern_element = _quern_output * 4;
#define HOLE_unit                                                                                  \
    const long long offset = (long long)_quern_unit * _quern_walk.stride[0][1];                    \
    constexpr int _quern_position = 0;
#else
#define HOLE_ahead                                                                                 \
    quern::ask_ahead((const char *)(_quern_array0 + _quern_later) + row, _quern_share * 4);
#define HOLE_kept const long long row = (long long)_quern_output * _quern_walk.stride[0][0];
#define HOLE_unit                                                                                  \
    const long long offset = row;                                                                  \
    constexpr int _quern_position = 0;                                                             \
    _quern_element = _quern_unit * 4;
#endif
#define HOLE_skip      constexpr int _quern_skip = 0;
#define HOLE_initial   _quern_initial.begin(0);
#define HOLE_registers quern::pack<float, 4> _quern_register0[_quern_steps];
#define HOLE_load                                                                                  \
    HOLE_unit _quern_register0[_quern_step].load((const char *)(_quern_array0 + _quern_element) +  \
                                                 offset);
#define HOLE_lane
#define HOLE_arguments _quern_register0[_quern_step].v[_quern_lane], 0
#define HOLE_result    HOLE_unit
#define HOLE_spread
#define HOLE_load_whole
#define HOLE_renew
#define HOLE_give                                                                                  \
    quern::pack<float, 4> y;                                                                       \
    for (int lane = 0; lane < 4; lane++) {                                                         \
        _quern_post(_quern_register0[_quern_step].v[lane], y.v[lane], 0,                           \
                    _quern_values[lane].value);                                                    \
    }                                                                                              \
    y.store((char *)(_quern_array1 + _quern_element) + offset);

#include "scan.cu"
