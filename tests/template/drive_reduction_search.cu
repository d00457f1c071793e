// SPDX-License-Identifier: MIT
//
// Where the greatest of a run of bytes lies, which is two dimensions in Fortran order:
// templates/reduction_search.cu by hand. -DSPLIT=1: several blocks share the output. -DTURNED=1:
// from their ends. -DKEYS=1: bytes are asked four at a time.
//
//   nvcc -std=c++17 -arch=sm_90 -I templates -ptx -o - -DSPLIT=1 -DTURNED=0 -DKEYS=1
//   tests/template/drive_reduction_search.cu
#define ELEMENT    unsigned char
#define SUM        int
#define DIMENSIONS 3
#include "sum.cuh"

#undef HOLE_value_type
#undef HOLE_keys
#undef HOLE_map
#undef HOLE_reduce
#undef HOLE_post
#define HOLE_value_type                                                                            \
    struct _type_reduce {                                                                          \
        int value;                                                                                 \
        long long at;                                                                              \
    };
#define HOLE_map                                                                                   \
    {                                                                                              \
        return {x, _J};                                                                            \
    }
#define HOLE_reduce                                                                                \
    {                                                                                              \
        return b.value > a.value || (b.value == a.value && b.at < a.at) ? b : a;                   \
    }
#define HOLE_keys KEYS
#define HOLE_post y = (int)a.at;

#define HOLE_bounds 256, 4
#define HOLE_form                                                                                  \
    typedef int _quern_index;                                                                      \
    constexpr int _quern_lanes = 16, _quern_batch = 4, _quern_outputs = 1, _quern_line_dim = 0;    \
    constexpr int _quern_counters = 32768;                                                         \
    constexpr bool _quern_split = SPLIT, _quern_turned = TURNED, _quern_lines = false;             \
    constexpr bool _quern_rises = false, _quern_lasts = false, _quern_columns = false,             \
                   _quern_ordered = false;                                                         \
    typedef int _quern_plain;                                                                      \
    const auto _quern_rank = [](const _type_reduce &of) { return of.value; };                      \
    constexpr auto _quern_beats = [](int a, int b) { return b > a; };
#define HOLE_kept const unsigned char *const _quern_place0 = _quern_array0;
#define HOLE_spots                                                                                 \
    const int rows = _quern_walk.extent[2].value, step = _quern_walk.stride[1][2];                 \
    const auto _quern_located = [&](int at) -> ptrdiff_t {                                         \
        const int column = _quern_walk.extent[2].divide(at);                                       \
        return column + (ptrdiff_t)(at - column * rows) * step;                                    \
    };                                                                                             \
    const auto _quern_utmost = [&](int from, int to) -> ptrdiff_t {                                \
        return from == to ? _quern_located(from) : _quern_walk.extent[2].divide(from);             \
    };                                                                                             \
    const auto _quern_rest = [&](int at) {                                                         \
        return (_quern_walk.extent[2].divide(at) + 1) * rows - at;                                 \
    };                                                                                             \
    const bool _quern_climbs = step > 0;
#define HOLE_paces                                                                                 \
    constexpr unsigned _quern_flip = 0;                                                            \
    constexpr bool _quern_bytes = true;                                                            \
    const auto _quern_limit_of = [](int level, bool ties) { return level - ties; };
#define HOLE_keep _quern_registers0[_quern_turn]
#define HOLE_ends                                                                                  \
    [[maybe_unused]] const int _quern_off = (int)((size_t)_quern_place0 % _quern_lanes);           \
    const ptrdiff_t _quern_base = 0;
#define HOLE_registers quern::held<quern::pack<unsigned char, 16>> _quern_registers0[_quern_batch];
#define HOLE_load      _quern_registers0[_quern_turn].load(_quern_place0 + _quern_element);
#define HOLE_recall                                                                                \
    quern::pack<unsigned char, 16> _quern_register0;                                               \
    _quern_registers0[_quern_turn].give(_quern_register0);
#define HOLE_lane         _quern_register0.v[_quern_lane],
#define HOLE_load_element const unsigned char x = _quern_place0[_quern_element];
#define HOLE_arguments    x,
#define HOLE_spot         at
#define HOLE_givers
#define HOLE_room
#define HOLE_finish
#define HOLE_results *_quern_array1,
#define HOLE_give

#include "reduction_search.cu"
