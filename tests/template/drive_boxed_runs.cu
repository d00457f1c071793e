// SPDX-License-Identifier: MIT
//
// y = x.T for x of n x 64 halves of 16 bits, by boxes of 64 x 64: templates/elementwise_boxed_runs.cu
// by hand, with packs of one element.
//
//   nvcc -std=c++17 -arch=sm_90 -I templates -ptx -o - tests/template/drive_boxed_runs.cu
#include "layout.h"
#include "types.cuh"
// in this order
#include "index.cuh"

#include "pack.cuh"
#include "box.cuh"

#define HOLE_includes
#define HOLE_types
#define HOLE_preamble
#define HOLE_name transpose
#define HOLE_parameters                                                                            \
    const unsigned short *__restrict__ _quern_array0, unsigned short *__restrict__ _quern_array1,  \
        const quern::space<int, 2, 2> _quern_walk
#define HOLE_loop_prep
#define HOLE_operands  const unsigned short &x, unsigned short &y, const ptrdiff_t i
#define HOLE_operation y = x;
#define HOLE_form                                                                                  \
    typedef int _quern_index;                                                                      \
    constexpr int _quern_bytes = 32 * 1024, _quern_operands = 2;
#define HOLE_shared                                                                                \
    const int pitch = quern::pitch(128, 128);                                                      \
    const quern::part line(64), each((128 + 30) / 16);
#define HOLE_values                                                                                \
    unsigned char *const tile = _quern_pool;                                                       \
    int2 *const runs = (int2 *)(_quern_pool + 20 * 1024);
#define HOLE_place                                                                                 \
    for (int run = threadIdx.x; run < 64; run += 256) {                                            \
        runs[run] = quern::box_run(run * 128, run * pitch, (unsigned)(run < _quern_walk.head));        \
    }                                                                                              \
    quern::memory all{0, 2};                                                                       \
    all.reach(((_quern_walk.packs - 1) * 64 + _quern_walk.head) * 128ll - 2);
#define HOLE_offsets                                                                               \
    _quern_need = _quern_pack == _quern_walk.packs - 1 && _quern_walk.head != 64;                  \
    _quern_places[0].begin(_quern_array0, _quern_pack * 64 * 128ll, all);                          \
    _quern_places[1].begin(_quern_array1, _quern_pack * 64 * 2ll, quern::memory{0, 0});
#define HOLE_again  const quern::place x = _quern_places[0], y = _quern_places[1];
#define HOLE_fetch                                                                                 \
    quern::fetch_runs(tile, runs, _quern_need, 64, each, 128, (const char *)_quern_array0, x);
#define HOLE_body                                                                                  \
    for (int at = threadIdx.x; at < 64 * 64; at += 256) {                                          \
        const int column = line.of(at), row = at - column * 64;                                    \
        if (_quern_need == 0 || row < _quern_walk.head) {                                          \
            _quern_operation(                                                                      \
                *(const unsigned short *)(tile + x.past + row * pitch + column * 2),               \
                *(unsigned short *)((char *)_quern_array1 +                                        \
                                    (y.at + y.past - (long long)_quern_array1) +                   \
                                    column * _quern_walk.stride[1][1] + row * 2),                  \
                0);                                                                                \
        }                                                                                          \
    }
#define HOLE_after_loop

#include "elementwise_boxed_runs.cu"
