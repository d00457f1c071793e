// SPDX-License-Identifier: MIT
//
// Sums along the first and the last axis of bytes in C order, cut along the first:
// templates/reduction_joined.cu by hand. -DSPLIT=1: several blocks share the outputs. -DOUTPUTS=2: a
// thread has two. -DCHOOSES=1: the greatest elements.
//
//   nvcc -std=c++17 -arch=sm_90 -I templates -ptx -o - -DSPLIT=1 -DOUTPUTS=1
//   tests/template/drive_reduction_joined.cu
#define ELEMENT    unsigned char
#define SUM        int
#define DIMENSIONS 4
#include "sum.cuh"
// in this order
#include "lines.cuh"

#define HOLE_bounds 256, 4
#define HOLE_form                                                                                  \
    typedef int _quern_index;                                                                      \
    constexpr int _quern_bytes = 8192, _quern_outputs = OUTPUTS, _quern_counters = 32768;          \
    constexpr bool _quern_along = false, _quern_split = SPLIT;                                     \
    CHOICE
#define HOLE_kept
#define HOLE_ends                                                                                  \
    const int _quern_slices = _quern_walk.extent[2].value, _quern_here = _quern_walk.across;
#define HOLE_spots                                                                                 \
    const int length = _quern_walk.extent[3].value, slab = _quern_here * length;                   \
    const unsigned char *const memory_end = _quern_array0 + (long long)_quern_walk.head * slab;    \
    int spot[OUTPUTS];                                                                             \
    for (int k = 0; k < OUTPUTS; k++) {                                                            \
        spot[k] = (_quern_at + 256 * k < _quern_here ? _quern_at + 256 * k : _quern_at) * length;  \
    }
#define HOLE_registers int shelf = 0, next_shelf = 0;
#define HOLE_load                                                                                  \
    const unsigned char *const from =                                                              \
        _quern_array0 + (long long)_quern_unit * _quern_slices * slab;                             \
    const int present = min(_quern_slices, _quern_walk.head - _quern_unit * _quern_slices);        \
    _quern_next_count = length * present;                                                          \
    quern::bring_words<1>(_quern_pool + _quern_room, (const char *)from, present *slab,            \
                          (const char *)_quern_array0, (const char *)memory_end);                  \
    next_shelf = _quern_room + (int)((size_t)from & 15);
#define HOLE_paces int at = _quern_worker;
#define HOLE_recall                                                                                \
    const int row = at / length;                                                                   \
    const unsigned char x =                                                                        \
        *(const unsigned char *)(_quern_pool + shelf + row * slab + spot[_quern_lane] + at -       \
                                 row * length);
#define HOLE_arguments x, 0
#define HOLE_position  at
#define HOLE_lane      at += _quern_workers;
#define HOLE_keep      shelf = next_shelf;
#define HOLE_finish
#define HOLE_results _quern_array1[_quern_mine],
#define HOLE_give

#include "reduction_joined.cu"
