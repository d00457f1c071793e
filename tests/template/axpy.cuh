// SPDX-License-Identifier: MIT
//
// What drivers of elementwise templates have in common: z = 2 x + y. A driver may define ELEMENT, the
// type of all three, and OUTER, the dimensions of the walk but the last.
#include "layout.h"
#include "types.cuh"
// in this order
#include "index.cuh"
#include "pack.cuh"
// in this order
#include "words.cuh"

#ifndef ELEMENT
#define ELEMENT float
#endif
#ifndef OUTER
#define OUTER 1
#endif

#define HOLE_includes
#define HOLE_types
#define HOLE_preamble
#define HOLE_name axpy
#define HOLE_parameters                                                                            \
    const ELEMENT *__restrict__ _quern_array0, const ELEMENT *__restrict__ _quern_array1,          \
        ELEMENT *__restrict__ _quern_array2, const quern::space<int, OUTER, 3> _quern_walk
#define HOLE_loop_prep
#define HOLE_operands  const ELEMENT &x, const ELEMENT &y, ELEMENT &z, const ptrdiff_t i
#define HOLE_operation z = 2 * x + y;
#define HOLE_after_loop
