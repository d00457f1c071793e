// SPDX-License-Identifier: MIT
//
// z = 2 x + y over rows of halves' bits, LANES of them (8, or 1) by rows, of which x comes by words:
// templates/elementwise_rows.cu by hand.
//
//   nvcc -std=c++17 -arch=sm_90 -I templates -ptx -o - -DLANES=8 tests/template/drive_rows.cu
#define ELEMENT short
#include "axpy.cuh"

#define HOLE_form                                                                                  \
    typedef int _quern_index;                                                                      \
    constexpr int _quern_turns = 2, _quern_lanes = LANES, _quern_margin = LANES > 1;         \
    constexpr bool _quern_early = LANES == 1, _quern_crosses = false;
#define HOLE_offsets                                                                               \
    const short *const x =                                                                         \
        (const short *)((const char *)_quern_array0 +                                              \
                        (int)((unsigned)_quern_row * _quern_walk.stride[0][0]));                   \
    const short *const y =                                                                         \
        (const short *)((const char *)_quern_array1 +                                              \
                        (int)((unsigned)_quern_row * _quern_walk.stride[1][0]));                   \
    short *const z = (short *)((char *)_quern_array2 +                                             \
                               (int)((unsigned)_quern_row * _quern_walk.stride[2][0]));
#define HOLE_aligned (int)(-(size_t)z & 15) / 2
#define HOLE_single                                                                                \
    _quern_operation(x[_quern_element], y[_quern_element], z[_quern_element], _quern_element);
#if LANES > 1
#define HOLE_values                                                                                \
    quern::shifted<quern::pack<short, 8>> xs[_quern_turns];                                        \
    quern::held<quern::pack<short, 8>> ys[_quern_turns];
#define HOLE_fetch                                                                                 \
    xs[_quern_turn].load(x + _quern_element);                                                      \
    ys[_quern_turn].load(y + _quern_element);
#define HOLE_body                                                                                  \
    quern::pack<short, 8> xp, yp, zp;                                                              \
    xs[_quern_turn].give(xp);                                                                      \
    ys[_quern_turn].give(yp);                                                                      \
    for (int k = 0; k < _quern_lanes; k++) {                                                       \
        _quern_operation(xp.v[k], yp.v[k], zp.v[k], _quern_element);                               \
    }                                                                                              \
    zp.store(z + _quern_element);
#else
#define HOLE_values short xs[_quern_turns], ys[_quern_turns];
#define HOLE_fetch                                                                                 \
    xs[_quern_turn] = x[_quern_element];                                                           \
    ys[_quern_turn] = y[_quern_element];
#define HOLE_body                                                                                  \
    _quern_operation(xs[_quern_turn], ys[_quern_turn], z[_quern_element], _quern_element);
#endif

#include "elementwise_rows.cu"
