// SPDX-License-Identifier: MIT
//
// Sums of the columns of a matrix of bytes whose rows begin anywhere: templates/reduction_phases.cu
// by hand. -DSPLIT=1: several blocks share the outputs. -DRAGGED=1: rows are left over.
//
//   nvcc -std=c++17 -arch=sm_90 -I templates -ptx -o - -DSPLIT=1 -DRAGGED=1
//   tests/template/drive_reduction_phases.cu
#define ELEMENT unsigned char
#define SUM     int
#include "sum.cuh"

#define HOLE_bounds 256, 3
#define HOLE_form                                                                                  \
    typedef int _quern_index;                                                                      \
    constexpr int _quern_lanes = 16, _quern_batch = 4, _quern_counters = 32768;                    \
    constexpr bool _quern_split = SPLIT, _quern_ragged = RAGGED, _quern_careful = RAGGED; \
    CHOICE
#define HOLE_kept
#define HOLE_ends                                                                                  \
    const int _quern_off = (int)(((unsigned long long)_quern_array0 + _quern_front) % 16);         \
    const int _quern_shift = _quern_all % 16, _quern_spans = _quern_walk.units;
#define HOLE_spots
#define HOLE_paces
#define HOLE_advance
#define HOLE_registers quern::held<quern::pack<unsigned char, 16>> _quern_registers0[_quern_batch];
#define HOLE_load                                                                                  \
    const unsigned char *const from = _quern_array0 +                                              \
                                      (long long)(_quern_unit * 16 + _quern_phase) * _quern_all +  \
                                      _quern_element;                                              \
    if ((_quern_first_edge && _quern_unit == 0) ||                                                 \
        (_quern_last_edge && _quern_unit == _quern_walk.units - 1)) {                              \
        _quern_registers0[_quern_turn].load_some(from, _quern_low, _quern_high);                   \
    } else {                                                                                       \
        _quern_registers0[_quern_turn].load(from);                                                 \
    }
#define HOLE_recall                                                                                \
    quern::pack<unsigned char, 16> _quern_register0;                                               \
    _quern_registers0[_quern_turn].give(_quern_register0);
#define HOLE_position
#define HOLE_arguments _quern_register0.v[_quern_lane],
#define HOLE_spot      0
#define HOLE_take_element                                                                          \
    _quern_take(                                                                                   \
        _quern_own, true,                                                                          \
        _quern_map(_quern_array0[(long long)(16 * (_quern_unit + 1) + _quern_row) * _quern_all +   \
                                 _quern_element],                                                  \
                   0));
#define HOLE_finish
#define HOLE_results _quern_array1[_quern_element],

#include "reduction_phases.cu"
