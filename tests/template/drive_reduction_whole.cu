// SPDX-License-Identifier: MIT
//
// Sums of rows of three bytes, four for a thread: templates/reduction_whole.cu by hand. -DHELD=shifted: the
// rows begin at any byte; held: at whole words. -DRELAYED=1: through shared memory. -DHALVES=1: rows are
// folded by halves.
//
//   nvcc -std=c++17 -arch=sm_90 -I templates -ptx -o - -DHELD=held -DRELAYED=0 tests/template/drive_reduction_whole.cu
#define ELEMENT unsigned char
#define SUM     int
#include "sum.cuh"

#ifndef HALVES
#define HALVES 0
#endif
#define HOLE_form                                                                                  \
    typedef int _quern_index;                                                                      \
    constexpr int _quern_lanes = 4, _quern_length = 3, _quern_margin = 4;                          \
    constexpr bool _quern_relayed = RELAYED, _quern_halves = HALVES;
#define HOLE_kept   _quern_element = _quern_output * 4;
#define HOLE_finish return _quern_from.value;
#if RELAYED
#define HOLE_load                                                                                  \
    typedef quern::run<unsigned char, 12, 4> run_type;                                             \
    quern::relay<12> relay;                                                                        \
    relay.load(_quern_array0 + (long long)(_quern_element - _quern_before) * 3);                   \
    __shared__ alignas(16) char stage[256 * 12];                                                   \
    relay.put(stage + threadIdx.x / 32 * 32 * 12);                                                 \
    __syncwarp();                                                                                  \
    quern::held<run_type> held;                                                                    \
    held.load(stage + threadIdx.x * 12);                                                           \
    run_type run;                                                                                  \
    held.give(run);
#else
#define HOLE_load                                                                                  \
    typedef quern::run<unsigned char, 12, 4> run_type;                                             \
    quern::HELD<run_type> held;                                                                    \
    held.load(_quern_array0 + (long long)_quern_element * 3);                                      \
    run_type run;                                                                                  \
    held.give(run);
#endif
#define HOLE_recall
#define HOLE_arguments run.v[_quern_lane * _quern_length + _quern_unit], 0
#define HOLE_registers                                                                             \
    quern::pack<int, 4> results;                                                                   \
    results.load(_quern_array1 + _quern_element);
#define HOLE_results results.v[_quern_lane],
#define HOLE_give    results.store(_quern_array1 + _quern_element);
#define HOLE_load_element                                                                          \
    const unsigned char x =                                                                        \
        _quern_array0[(long long)(_quern_element + _quern_lane) * 3 + _quern_unit];
#define HOLE_take_element   x, 0
#define HOLE_single_results _quern_array1[_quern_element + _quern_lane],

#include "reduction_whole.cu"
