// SPDX-License-Identifier: MIT
//
// What the drivers of reductions and scans have in common: they add up the elements of an array, by
// map, combination and post of their own hand. A driver may define ELEMENT and SUM, the types of what
// is added and of the sums, and DIMENSIONS, those of the walk. -DCHOOSES=1: reductions give the greatest
// element instead, by CHOICE.
#include "layout.h"
// in this order
#include "index.cuh"
#include "pack.cuh"
// in this order
#include "words.cuh"
// in this order
#include "fold.cuh"

#ifndef ELEMENT
#define ELEMENT float
#define SUM     float
#endif
#ifndef DIMENSIONS
#define DIMENSIONS 2
#endif

#define HOLE_includes
#define HOLE_types
#define HOLE_preamble
#define HOLE_value_type typedef SUM _type_reduce;
#define HOLE_name       sum
#define HOLE_parameters                                                                            \
    const ELEMENT *__restrict__ _quern_array0, SUM *__restrict__ _quern_array1,                    \
        const quern::fold<int, DIMENSIONS, 2> _quern_walk, char *_quern_workspace
#define HOLE_positions
#define HOLE_adds   0
#define HOLE_keys   0
#define HOLE_pairs  0
#define HOLE_key
#define HOLE_mapped -> _type_reduce
#define HOLE_inputs const ELEMENT &x,
#define HOLE_map                                                                                   \
    {                                                                                              \
        return x;                                                                                  \
    }
#define ADDED                                                                           \
    {                                                                                              \
        return a + b;                                                                              \
    }
#define HOLE_reduce   ADDED
#define HOLE_scan     ADDED
#define HOLE_outputs  SUM &y,
#define HOLE_operands HOLE_inputs HOLE_outputs
#define HOLE_post     y = a;

#ifndef CHOOSES
#define CHOOSES 0
#endif
#define HOLE_chooses CHOOSES
#if CHOOSES
#define CHOICE                                                                                     \
    typedef quern::nth<SUM, int> _quern_nth;                                                       \
    constexpr bool _quern_falls = false, _quern_rises = true;                                      \
    const auto _quern_nearer = [](const _quern_nth &a, const _quern_nth &b) {                      \
        return quern::chosen(b.value > a.value, a, b);                                             \
    };                                                                                             \
    const auto _quern_placed = [](SUM value, ptrdiff_t) { return value; };
#else
#define CHOICE
#endif
