// SPDX-License-Identifier: MIT
//
// Sums up to each element of the rows of a matrix of floats, whose tiles blocks hold:
// templates/scan_held.cu by hand. -DEXCLUSIVE=1: without the element itself. -DRAGGED=1: rows begin
// and end anywhere.
//
//   nvcc -std=c++17 -arch=sm_90 -I templates -ptx -o - -DRAGGED=1 -DEXCLUSIVE=0
//     tests/template/drive_scan_held.cu
#include "sum.cuh"
// in this order
#include "scan.cuh"
// in this order
#include "stock.cuh"

#define HOLE_bounds 256, 3
#define HOLE_form                                                                                  \
    typedef int _quern_index;                                                                      \
    constexpr int _quern_lanes = 4, _quern_batch = 3, _quern_parked = 18, _quern_steps = 27;       \
    constexpr bool _quern_ragged = RAGGED, _quern_single = false;                                  \
    constexpr bool _quern_exclusive = EXCLUSIVE;
#define HOLE_room    quern::stock<16, _quern_parked, 9, 256> _quern_stock0(_quern_room);
#define HOLE_initial _quern_initial.begin(0);
#define HOLE_kept                                                                                  \
    const float *const _quern_place0 =                                                             \
        _quern_array0 + (size_t)_quern_output * _quern_walk.covered;                               \
    float *const _quern_place1 = _quern_array1 + (size_t)_quern_output * _quern_walk.covered;
#define HOLE_lead const int _quern_lead = RAGGED ? (int)(-(size_t)_quern_place0 / 4 % 4) : 0;
#define HOLE_same
#define HOLE_batch 3
#define HOLE_bring                                                                                 \
    _quern_stock0.bring(_quern_step, (const char *)(_quern_place0 + _quern_position));
#define HOLE_load _quern_stock0.load(_quern_step, (const char *)(_quern_place0 + _quern_position));
#define HOLE_ahead quern::ask_ahead((const char *)(_quern_place0 + _quern_later), _quern_share * 4);
#define HOLE_put                                                                                   \
    float each[4];                                                                                 \
    for (int k = 0; k < 4; k++) {                                                                  \
        each[k] = _quern_place0[min(_quern_position + k, _quern_walk.covered - 1)];                \
    }                                                                                              \
    _quern_stock0.put(_quern_step, each);
#define HOLE_taken                                                                                 \
    float _quern_batch0[3][4];                                                                     \
    _quern_stock0.take(_quern_registers, _quern_step, _quern_batch0);
#define HOLE_round                                                                                 \
    const float(&taken)[4] = _quern_batch0[_quern_round];                                          \
    const int _quern_position =                                                                    \
        min(_quern_first + 32 * (_quern_step + _quern_round), _quern_end) * 4 + _quern_lead;
#define HOLE_element   const float &element = taken[_quern_lane];
#define HOLE_one       const float element = _quern_place0[_quern_position];
#define HOLE_arguments element, 0
#define HOLE_results   float results[4];
#define HOLE_give      _quern_post(element, results[_quern_lane], 0, _quern_value.value);
#define HOLE_give_one  _quern_post(element, _quern_place1[_quern_position], 0, _quern_value.value);
#define HOLE_store                                                                                 \
    if (_quern_position + 4 <= _quern_walk.covered) {                                              \
        quern::give_words((char *)(_quern_place1 + _quern_position), results);                     \
    } else {                                                                                       \
        for (int k = 0; k < _quern_walk.covered - _quern_position; k++) {                          \
            _quern_place1[_quern_position + k] = results[k];                                       \
        }                                                                                          \
    }

#include "scan_held.cu"
