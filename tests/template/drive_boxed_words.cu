// SPDX-License-Identifier: MIT
//
// z = 2 x + y of which x has images of 64 x 48 floats turned, and y and z have them as they are walked:
// templates/elementwise_boxed_words.cu by hand, a box for each image.
//
//   nvcc -std=c++17 -arch=sm_90 -I templates -ptx -o - tests/template/drive_boxed_words.cu
#define OUTER 2
#include "axpy.cuh"
// in this order
#include "freight.cuh"

#define HOLE_bounds 256, 4
#define HOLE_form                                                                                  \
    typedef int _quern_index;                                                                      \
    constexpr int _quern_turns = 3, _quern_lanes = 4, lines = 64, columns = 48;
#define HOLE_shared                                                                                \
    quern::freight<4, 7, 16, 3> words;                                                             \
    __shared__ alignas(16) unsigned char tile[words.room];                                         \
    quern::berths<_quern_turns * _quern_lanes> berths;                                             \
    int kept[_quern_turns];
#define HOLE_place                                                                                 \
    words.whole = words.last = 7;                                                                  \
    for (int turn = 0; turn < 3; turn++) {                                                         \
        words.from[turn] = ((int)threadIdx.x + 256 * turn) * 16;                                   \
    }
#define HOLE_aligned                                                                               \
    _quern_whole |= 1u << _quern_turn;                                                             \
    kept[_quern_turn] = _quern_outer * 4;                                                          \
    for (int lane = 0; lane < _quern_lanes; lane++) {                                              \
        const int line = (_quern_outer + lane) / columns, column = (_quern_outer + lane) % columns; \
        berths.set(_quern_turn * _quern_lanes + lane,                                              \
                   quern::berth<4, 7>((column * lines + line) * 4));                               \
    }
#define HOLE_offsets                                                                               \
    const int base = _quern_pack * lines * columns * 4;                                            \
    const bool _quern_part = false;
#define HOLE_fetch words.load((const char *)_quern_array0 + base, _quern_part);
#define HOLE_single                                                                                \
    quern::pack<float, 4> ys[_quern_turns], zs[_quern_turns];                                      \
    for (int turn = 0; turn < _quern_turns; turn++) {                                              \
        ys[turn].load((const char *)_quern_array1 + base + kept[turn]);                            \
    }
#define HOLE_keep words.put(tile);
#define HOLE_body                                                                                  \
    for (int lane = 0; lane < _quern_lanes; lane++) {                                              \
        const float x = *(float *)(tile + berths[_quern_turn * _quern_lanes + lane]);              \
        _quern_operation(x, ys[_quern_turn].v[lane], zs[_quern_turn].v[lane], 0);                  \
    }                                                                                              \
    zs[_quern_turn].store((char *)_quern_array2 + base + kept[_quern_turn]);

#include "elementwise_boxed_words.cu"
