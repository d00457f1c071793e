// SPDX-License-Identifier: MIT
//
// layout: the structures that the host fills and a kernel reads, each as one list of its fields in
// their order. In: macros for the kinds of fields. Out: with those of index.cuh, fold.cuh and
// raw.cuh the structures of the device; with those of src/engine/calls/device_layout.c what the
// host fills in, and the bytes that it writes. The thing to know: all fields are numbers of 4 or 8
// bytes or multiples of 16 bytes, so there is no padding between them. D: dimensions, K: operands.
// C++ has no array of no elements, so a field with a count of 0 still has one (QUERN_SOME), which
// nobody reads.
//
// NUMBER(name)           a position or a count
// NUMBERS(name, n)       n of them
// POINTER(name)          an address
// DIVIDER(name)          a number to divide by (quern::divider)
// DIVIDERS(name, n)      n of them
// TABLE(name, n, m)      a row of m numbers for each of n operands
#pragma once

#define QUERN_SOME(n) ((n) > 0 ? (n) : 1)

// quern::space: the walk of an elementwise kernel, the innermost dimension in packs. D counts the
// outer dimensions.
//
// packs    whole packs (or tiles) of the walk
// inner    elements of the innermost dimension
// head     elements before the first pack; with tiles, of the last dimension but one; with boxes,
//          of the last one along the first dimension that is cut, in 16 bits, then in 8 bits how
//          many groups of threads of a box in runs are from one to the next, then as an exponent
//          how many are a group; and `inner` along the second and third
// count    elements of the whole walk
// row      packs (or tiles) of a row
// outer    extents, outermost first; of flat packs in phases the first is packs from one of a
//          thread to its next, since their place is found without that extent
// stride   bytes, outermost first, the innermost last
#define QUERN_SPACE(NUMBER, DIVIDER, DIVIDERS, TABLE, D, K)                                        \
    NUMBER(packs)                                                                                  \
    NUMBER(inner)                                                                                  \
    NUMBER(head)                                                                                   \
    NUMBER(count)                                                                                  \
    DIVIDER(row)                                                                                   \
    DIVIDERS(outer, D)                                                                             \
    TABLE(stride, K, D + 1)

// quern::fold: the walk of a reduction or scan (src/array/fold.h), the kept dimensions first.
//
// outputs   of a launch, in packs of lanes where they lie along the kept dimensions
// units     of an output
// head      elements before the first unit; boxes: along the dimension that is cut
// rest      elements that no unit covers
// covered   elements that units cover
// chunk     units of a block for an output
// splits    blocks for an output
// workers   threads of a block for an output, a power of two but for spans and boxes
// shift     its exponent
// results   outputs, in elements
// beside    spans: packs of one that a block has side by side; phases: blocks for a row; boxes:
//           threads with outputs side by side; runs, held, lines: elements from a tile to the
//           one whose memory it asks for, 0: none
// across    spans, boxes: outputs of one; phases: columns of a row
// run       spans: reduced elements of an output side by side in one; boxes: all in one
// place     reductions: the position of the element where the walk starts; packed: elements of a
//           tile, at most
// extent    in units along the dimension in which their lanes lie
// stride    bytes; behind those of operands, where it is needed, what a step adds to a position
#define QUERN_FOLD(NUMBER, DIVIDERS, TABLE, D, K)                                                  \
    NUMBER(outputs)                                                                                \
    NUMBER(units)                                                                                  \
    NUMBER(head)                                                                                   \
    NUMBER(rest)                                                                                   \
    NUMBER(covered)                                                                                \
    NUMBER(chunk)                                                                                  \
    NUMBER(splits)                                                                                 \
    NUMBER(workers)                                                                                \
    NUMBER(shift)                                                                                  \
    NUMBER(results)                                                                                \
    NUMBER(beside)                                                                                 \
    NUMBER(across)                                                                                 \
    NUMBER(run)                                                                                    \
    NUMBER(place)                                                                                  \
    DIVIDERS(extent, D)                                                                            \
    TABLE(stride, K, D)

// quern::raw_array, always in 64 bits. size: elements; strides: bytes.
#define QUERN_RAW_ARRAY(NUMBER, NUMBERS, POINTER, D)                                               \
    POINTER(data)                                                                                  \
    NUMBER(size)                                                                                   \
    NUMBERS(shape, D)                                                                              \
    NUMBERS(strides, D)

// That of raw_checked.cuh. parameter: which it is, from 0.
#define QUERN_RAW_CHECKED(NUMBER, NUMBERS, POINTER, D)                                             \
    QUERN_RAW_ARRAY(NUMBER, NUMBERS, POINTER, D)                                                   \
    NUMBER(parameter)
