// SPDX-License-Identifier: MIT
//
// Sums down the columns of a matrix of floats, in strips: templates/scan_strips.cu by hand, with
// -DLINES=1 templates/scan_lines.cu, whose results go back through shared memory, or with -DHELD=1
// templates/scan_strips_held.cu. -DEXCLUSIVE=1: without the element itself.
//
//   nvcc -std=c++17 -arch=sm_90 -I templates -ptx -o - -DLINES=0 -DHELD=0 -DEXCLUSIVE=0
//     tests/template/drive_scan_strips.cu
#include "sum.cuh"
// in this order
#include "scan.cuh"
// in this order
#include "lines.cuh"
// in this order
#include "stock.cuh"
// in this order
#include "strips.cuh"

#define HOLE_bounds 256, 4
#define HOLE_form                                                                                  \
    typedef int _quern_index;                                                                      \
    constexpr int _quern_steps = HELD ? 20 : 4, _quern_lanes = 4, _quern_bunch = 5,                \
                  _quern_known = 0;                                                                \
    [[maybe_unused]] constexpr int _quern_parked = 16, _quern_batch = 4;                           \
    constexpr bool _quern_bundles = LINES;                                                         \
    constexpr bool _quern_exclusive = EXCLUSIVE;
#define HOLE_kept    _quern_element = _quern_output * 4;
#define HOLE_initial _quern_initial.begin(0);
#define HOLE_lane
#define HOLE_unit
#define HOLE_arguments _quern_register0[_quern_step].v[_quern_lane], 0
#define HOLE_post_all                                                                              \
    quern::pack<float, 4> y;                                                                       \
    for (int lane = 0; lane < 4; lane++) {                                                         \
        _quern_post(_quern_register0[_quern_step].v[lane], y.v[lane], 0,                           \
                    _quern_values[lane].value);                                                    \
    }
#if LINES
#define HOLE_shared __shared__ alignas(128) char _quern_room0[256 * 4 * 4 * 4 + 128];
#define HOLE_begin                                                                                 \
    const int _quern_line = _quern_walk.stride[0][1];                                              \
    const char *const _quern_tile0 = (const char *)_quern_array0 + _quern_base * _quern_line;      \
    char *const _quern_tile1 = (char *)_quern_array1 + _quern_base * _quern_line;                  \
    char *const _quern_shelf = _quern_room0 + quern::phase(_quern_tile0) +                         \
                               _quern_above * _quern_line + _quern_side * (int)sizeof(float4);
#define HOLE_fetch quern::bring<4>(_quern_room0, _quern_tile0, _quern_lines * _quern_line);
#define HOLE_ahead                                                                                 \
    quern::ask_ahead<256>(_quern_tile0 + (long long)_quern_walk.beside * _quern_line,              \
                          _quern_lines * _quern_line);
#define HOLE_registers quern::pack<float, 4> _quern_register0[_quern_steps];
#define HOLE_load                                                                                  \
    _quern_register0[_quern_step].load(_quern_shelf + (_quern_at + _quern_step) * _quern_line);
#define HOLE_result
#define HOLE_give                                                                                  \
    HOLE_post_all quern::put_pack(_quern_shelf + (_quern_at + _quern_step) * _quern_line, y);
#define HOLE_keep                                                                                  \
    __syncthreads();                                                                               \
    quern::take_back<4>(_quern_tile1, _quern_room0, quern::phase(_quern_tile0),                    \
                        _quern_lines * _quern_line);
#include "scan_lines.cu"
#else
#define HOLE_begin                                                                                 \
    const char *const _quern_begin0 = (const char *)(_quern_array0 + _quern_element) +             \
                                      (long long)_quern_from * _quern_walk.stride[0][1];           \
    char *_quern_next1 = (char *)(_quern_array1 + _quern_element) +                                \
                         (long long)_quern_from * _quern_walk.stride[1][1];
#if HELD
#define HOLE_room  quern::stock<16, _quern_parked, 4, 256> _quern_stock0(_quern_words);
#define HOLE_batch 4
#define HOLE_from                                                                                  \
    _quern_step, _quern_begin0 + (long long)min(_quern_step, _quern_room) * _quern_walk.stride[0][1]
#define HOLE_bring _quern_stock0.bring(HOLE_from);
#define HOLE_load  _quern_stock0.load(HOLE_from);
#define HOLE_taken                                                                                 \
    quern::pack<float, 4> _quern_register0[_quern_batch];                                          \
    _quern_stock0.take(_quern_registers, _quern_at, _quern_register0);
#else
#define HOLE_registers quern::held<quern::pack<float, 4>> _quern_words0[_quern_steps];
#define HOLE_load                                                                                  \
    _quern_words0[_quern_step].load(_quern_begin0 + (long long)min(_quern_step, _quern_room) *     \
                                                        _quern_walk.stride[0][1]);
#define HOLE_renew quern::renew(_quern_words0[_quern_step]);
#define HOLE_recall                                                                                \
    quern::pack<float, 4> _quern_register0[_quern_steps];                                          \
    _quern_words0[_quern_step].give(_quern_register0[_quern_step]);
#endif
#define HOLE_result
#define HOLE_give                                                                                  \
    HOLE_post_all y.store(_quern_next1);                                                           \
    _quern_next1 += _quern_walk.stride[1][1];
#if HELD
#include "scan_strips_held.cu"
#else
#include "scan_strips.cu"
#endif
#endif
