// SPDX-License-Identifier: MIT
//
// Sums of the rows, or columns, of a matrix of floats: templates/reduction.cu by hand. The form is
// given by -DCOLUMNS=1 (sums of columns), -DSPLIT=1 (several blocks an output), -DORDERED=1 (from left
// to right), -DBATCH=8 (units that are read at once; 1), -DLINED=1 (rows of lines that lie apart, each
// with packs of its own), -DHALVES=1 (the lanes of a unit by halves), -DEDGED=1 (columns: the first and the
// last unit by elements).
//
//   nvcc -std=c++17 -arch=sm_90 -I templates -ptx -o - -DSPLIT=1 tests/template/drive_reduction.cu
#include "sum.cuh"

#ifndef BATCH
#define BATCH 1
#endif
#ifndef EDGED
#define EDGED 0
#endif
#ifndef HALVES
#define HALVES 0
#endif
#ifndef LINED
#define LINED 0
#endif
#define HOLE_form                                                                                  \
    typedef int _quern_index;                                                                      \
    constexpr int _quern_own = 0;                                                                  \
    constexpr int _quern_lanes = 4, _quern_outputs = COLUMNS ? 4 : 1, _quern_flight = 2;           \
    constexpr int _quern_counters = 32768, _quern_batch = BATCH, _quern_known = 0;                 \
    constexpr bool _quern_columns = COLUMNS, _quern_split = SPLIT, _quern_single = false;          \
    constexpr bool _quern_ordered = ORDERED, _quern_ragged = !COLUMNS && !ORDERED && !LINED;       \
    constexpr bool _quern_cut = false, _quern_lined = LINED, _quern_halves = HALVES;   \
    CHOICE
#define HOLE_registers quern::pack<float, 4> _quern_registers0[_quern_batch];
#define HOLE_ends                                                                                  \
    const int _quern_units = _quern_walk.units;                                                    \
    [[maybe_unused]] const int _quern_head = _quern_walk.head, _quern_rest = _quern_walk.rest;
#define HOLE_edged EDGED
#define HOLE_paces
#define HOLE_advance
#define HOLE_bounds    256
#define HOLE_recall    const auto &_quern_register0 = _quern_registers0[_quern_turn];
#define HOLE_arguments _quern_register0.v[_quern_lane], 0
#if COLUMNS
#define HOLE_kept _quern_element = _quern_output * 4;
#define HOLE_element_registers
#define HOLE_load_element
#define HOLE_take_element
#define HOLE_take_line_end
#define HOLE_load                                                                                  \
    const float *const first =                                                                     \
        (const float *)((const char *)(_quern_array0 + _quern_element) +                           \
                        (long long)_quern_unit * _quern_walk.stride[0][1]);                        \
    if (_quern_at_edge) {                                                                          \
        for (int lane = 0; lane < _quern_lanes; lane++) {                                          \
            _quern_registers0[_quern_turn].v[lane] = first[lane];                                  \
        }                                                                                          \
    } else {                                                                                       \
        _quern_registers0[_quern_turn].load(first);                                                \
    }
#define HOLE_results _quern_array1[_quern_element + _quern_lane],
#else
#define HOLE_kept                                                                                  \
    const float *const row =                                                                       \
        (const float *)((const char *)_quern_array0 +                                              \
                        (long long)_quern_output * _quern_walk.stride[0][0]);
#define HOLE_element_registers float _quern_single0;
#define HOLE_load_element      _quern_single0 = row[_quern_element];
#define HOLE_take_element                                                                          \
    _quern_take(_quern_values[0], _quern_has, _quern_map(_quern_single0, _quern_element));
#if LINED
#define IN_FRONT(line) (int)(-((size_t)(line) / 4) % 4)
#define HOLE_take_line_end                                                                         \
    const float *const line =                                                                      \
        (const float *)((const char *)row + _quern_unit / 8 * _quern_walk.stride[0][1]);           \
    const int at = _quern_unit % 8;                                                                \
    if (at >= _quern_walk.head) {                                                                  \
        continue;                                                                                  \
    }                                                                                              \
    const int covered = _quern_walk.extent[1].value * 4;                                           \
    _quern_take(_quern_values[0], true,                                                            \
                _quern_map(line[at < IN_FRONT(line) ? at : at + covered], 0));
#define HOLE_load                                                                                  \
    const int number = _quern_walk.extent[1].divide(_quern_unit);                                  \
    const float *const line =                                                                      \
        (const float *)((const char *)row + number * _quern_walk.stride[0][1]);                    \
    _quern_element = (_quern_unit - number * _quern_walk.extent[1].value) * 4 + IN_FRONT(line);    \
    _quern_registers0[_quern_turn].load(line + _quern_element);
#else
#define HOLE_take_line_end
#define HOLE_load                                                                                  \
    _quern_element = _quern_unit * 4 + _quern_head;                                                \
    _quern_registers0[_quern_turn].load(row + _quern_element);
#endif
#define HOLE_results _quern_array1[_quern_output],
#endif
#define HOLE_position 0
#define HOLE_lane
#define HOLE_finish
#define HOLE_room
#define HOLE_givers
#define HOLE_give

#include "reduction.cu"
