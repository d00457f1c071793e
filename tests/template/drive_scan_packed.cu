// SPDX-License-Identifier: MIT
//
// Sums up to each element of the rows of a matrix of floats, which blocks take as runs of memory:
// templates/scan_packed.cu by hand. -DAGAIN=1: a row has several lanes, of several warps, or
// strewn. -DEXCLUSIVE=1: without the element itself. -DWOVEN=1: along columns, which take turns and
// come in pieces.
//
//   nvcc -std=c++17 -arch=sm_90 -I templates -ptx -o - -DAGAIN=1 -DEXCLUSIVE=0 -DWOVEN=0
//     tests/template/drive_scan_packed.cu
#include "sum.cuh"
// in this order
#include "scan.cuh"
// in this order
#include "lines.cuh"
// in this order
#include "packed.cuh"

#define HOLE_bounds 256, 5
#define HOLE_form                                                                                  \
    typedef int _quern_index;                                                                      \
    constexpr bool _quern_again = AGAIN, _quern_exclusive = EXCLUSIVE, _quern_woven = WOVEN;       \
    constexpr bool _quern_broad = AGAIN && !WOVEN, _quern_strewn = AGAIN && WOVEN,                 \
                   _quern_pieces = WOVEN;                                                          \
    constexpr int _quern_gap = WOVEN ? 256 : 0, _quern_known = AGAIN || WOVEN ? 0 : 3,             \
                  _quern_together = 3;
#define HOLE_kept                                                                                  \
    const float *const _quern_place0 =                                                             \
        _quern_array0 + (size_t)_quern_output * _quern_walk.covered;                               \
    float *const _quern_place1 = _quern_array1 + (size_t)_quern_output * _quern_walk.covered;
#define HOLE_outer                                                                                 \
    auto *const _quern_outer0 = _quern_place0;                                                     \
    auto *const _quern_outer1 = _quern_place1;
#define HOLE_piece                                                                                 \
    auto *const _quern_place0 = _quern_outer0 + (size_t)_quern_start * _quern_apart;               \
    auto *const _quern_place1 = _quern_outer1 + (size_t)_quern_start * _quern_apart;
#define HOLE_shared                                                                                \
    char *const _quern_room0 = _quern_rooms;                                                       \
    const int _quern_phase0 = quern::phase(_quern_place0);
#define HOLE_fetch                                                                                 \
    quern::bring<4, _quern_gap>(_quern_room0, (const char *)_quern_place0, _quern_count * 4);
#define HOLE_initial _quern_initial.begin(0);
#define SHELF(place)                                                                               \
    (*(float *)(_quern_room0 + quern::spot<_quern_gap>(_quern_phase0 +                             \
                                                       (_quern_line + (place)*_quern_apart) * 4)))
#define HOLE_take                                                                                  \
    float taken[_quern_together];                                                                  \
    for (int item = 0; item < _quern_batch; item++) {                                              \
        taken[item] = SHELF(_quern_at + item);                                                     \
    }
#define HOLE_item      [[maybe_unused]] float &element = SHELF(_quern_spot);
#define HOLE_arguments taken[_quern_item], 0
#define HOLE_give      _quern_post(element, element, 0, _quern_value.value);
#define HOLE_keep                                                                                  \
    quern::take_back<4, _quern_gap>((char *)_quern_place1, _quern_room0, _quern_phase0,            \
                                    _quern_count * 4);

#include "scan_packed.cu"
