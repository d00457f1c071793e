// SPDX-License-Identifier: MIT
//
// Sums up to each element of the rows of a matrix of floats, which blocks take as runs of memory:
// templates/scan_packed.cu by hand. -DAGAIN=1: a row has several lanes. -DEXCLUSIVE=1: without the
// element itself. -DWOVEN=1: along columns, which take turns.
//
//   nvcc -std=c++17 -arch=sm_90 -I templates -ptx -o - -DAGAIN=1 -DEXCLUSIVE=0 -DWOVEN=0
//     tests/template/drive_scan_packed.cu
#include "sum.cuh"
// in this order
#include "scan.cuh"
// in this order
#include "lines.cuh"

#define HOLE_bounds 256, 5
#define HOLE_form                                                                                  \
    typedef int _quern_index;                                                                      \
    constexpr bool _quern_again = AGAIN, _quern_exclusive = EXCLUSIVE, _quern_woven = WOVEN;
#define HOLE_kept                                                                                  \
    const float *const _quern_place0 = _quern_array0 + (size_t)_quern_output * _quern_length;      \
    float *const _quern_place1 = _quern_array1 + (size_t)_quern_output * _quern_length;
#define HOLE_shared                                                                                \
    __shared__ alignas(16) char _quern_room0[8192 * 4 + 16];                                       \
    char *const _quern_shelf0 = _quern_room0 + ((size_t)_quern_place0 & 15);
#define HOLE_fetch     quern::bring<4>(_quern_room0, (const char *)_quern_place0, _quern_count * 4);
#define HOLE_initial   _quern_initial.begin(0);
#define HOLE_take      float &element = ((float *)_quern_shelf0)[_quern_line + _quern_spot * _quern_apart];
#define HOLE_arguments element, 0
#define HOLE_give      _quern_post(element, element, 0, _quern_value.value);
#define HOLE_keep      quern::take_back<4>((char *)_quern_place1, _quern_room0, _quern_count * 4);

#include "scan_packed.cu"
