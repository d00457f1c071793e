// SPDX-License-Identifier: MIT
//
// Sums of the columns of a matrix of three columns of floats: templates/reduction_spans.cu by hand,
// in spans of four rows. -DSPLIT=1: several blocks share the outputs. -DRAGGED=1: rows are left
// over.
//
//   nvcc -std=c++17 -arch=sm_90 -I templates -ptx -o - -DSPLIT=1 -DRAGGED=1
//   tests/template/drive_reduction_spans.cu
#define DIMENSIONS 3
#include "sum.cuh"

#define HOLE_bounds 256, 4
#define HOLE_form                                                                                  \
    typedef int _quern_index;                                                                      \
    constexpr int _quern_lanes = 4, _quern_batch = 4, _quern_room = 16, _quern_ends = 1;           \
    constexpr int _quern_counters = 32768;                                                         \
    constexpr bool _quern_split = SPLIT, _quern_ragged = RAGGED; \
    CHOICE
#define HOLE_kept
#define HOLE_ends                                                                                  \
    const int _quern_packs = 3, _quern_span = 12, _quern_spans = _quern_walk.units;                \
    constexpr int _quern_head = 0;
#define HOLE_spots
#define HOLE_paces
#define HOLE_advance
#define HOLE_registers quern::pack<float, 4> _quern_registers0[_quern_batch];
#define HOLE_load                                                                                  \
    _quern_registers0[_quern_turn].load(_quern_array0 + (long long)_quern_unit * 12 +              \
                                        _quern_element);
#define HOLE_recall const auto &_quern_register0 = _quern_registers0[_quern_turn];
#define HOLE_position
#define HOLE_arguments _quern_register0.v[_quern_lane],
#define HOLE_spot      0
#define HOLE_take_element                                                                          \
    _quern_take(_quern_own, _quern_has, _quern_map(_quern_array0[_quern_element], 0));
#define HOLE_finish
#define HOLE_results _quern_array1[_quern_mine],
#define HOLE_give

#include "reduction_spans.cu"
