/* SPDX-License-Identifier: MIT
 *
 * table: what the tables of reductions and scans are made of. A row is a layout (shape and view),
 * the axes, an operator and a dtype. The inputs hold small whole numbers, so that every operator
 * has one right answer in every dtype; if rounding is what is tested, the operator says how much it
 * may change.
 */
#ifndef QUERN_TABLE_H
#define QUERN_TABLE_H

#include <quern/quern.h>
#include <stdbool.h>

#define TABLE_NDIM 5

/* ---- values.c: elements on the host --------------------------------------------------------- */

typedef struct number {
    double re, im;
    int64_t whole; /**< exact, for the integer dtypes */
} number;

/** A whole number in every dtype. */
number whole(int64_t value);
/** Write `value` as an element; integers wrap, numbers too large for an 8-bit
 * float become its largest. */
void number_store(void *bytes, quern_dtype dtype, number value);
number number_load(const void *bytes, quern_dtype dtype);
/** Whether the element `got` is the number: bit for bit, or within `reach` relative where that is
 * not 0. */
bool number_is(const void *got, quern_dtype dtype, number expected, double reach);

/** Sets of dtypes, from which an operator chooses those that it takes. */
bool any_dtype(quern_dtype d);
bool any_real(quern_dtype d);
bool any_ordered(quern_dtype d); /**< numbers that are greater or less: neither bool nor complex */
bool any_number(quern_dtype d);  /**< whose sums are exact: neither bool nor a half */
bool integers(quern_dtype d);
bool narrow_integers(quern_dtype d); /**< of 1 or 2 bytes, and bool */
bool wide_floats(quern_dtype d);
bool halves(quern_dtype d);  /**< floats that compute as float32: of 16 and of 8 bits */
bool eighths(quern_dtype d); /**< floats of 8 bits */
bool only_float32(quern_dtype d);
bool only_int32(quern_dtype d);
bool complexes(quern_dtype d);

/** The dtype of an output, counted from 0, in a list of "TYPE NAME"; that of the input for a
 * letter.
 */
quern_dtype output_dtype(const char *list, int output, quern_dtype input);
/** End the program, with the library's explanation, when a call failed. */
void check(quern_status status, const char *what);

/* ---- layouts.c: shapes and views ------------------------------------------------------------ */

/** An input on the device, and where each of its elements lies in its host copy. */
typedef struct layout_input {
    quern_array *base, *view;
    unsigned char *host; /**< of the base */
    const char *name;    /**< of the view */
} layout_input;

typedef struct shape {
    int ndim;
    int64_t extent[TABLE_NDIM];
} shape;

extern const shape table_shapes[];
extern const size_t table_shape_count;

/** Elements along the axes of a set, of which bit k stands for axis k. */
int64_t shape_count(const shape *s, unsigned axes);
/** The n-th position along the axes of a set, in C order, into `at`; others are left as they are.
 */
void shape_position(const shape *s, unsigned axes, int64_t n, int64_t *at);

enum { TABLE_VIEWS = 7 };
/** Make the input of a shape in one of the views; false where the view does not apply. `seed`
 * chooses the numbers. */
bool layout_make(layout_input *out, quern_engine *engine, quern_dtype dtype, const shape *shape,
                 int view, unsigned seed);
void layout_free(layout_input *input);
/** The element at a position along each axis. */
number layout_at(const layout_input *input, const int64_t *at);

/** One element on its way through an operator on the host. */
typedef struct element {
    number x;
    int64_t j;            /**< position along the axes of the operator */
    const int64_t *in_at; /**< position along all axes */
    int ndim;
} element;

/* ---- rows.c: which rows are run, and what came of them -------------------------------------- */

typedef struct rows {
    long part, parts; /**< rows part, part + parts, ... are run */
    long seen, run, failed;
} rows;

/** All rows, or those of PART/PARTS on the command line; ends the program for anything else. */
rows rows_asked(int argc, char **argv);
/** Whether the next row is one of them. */
bool rows_next(rows *r);
/** How far to go from one of `count` things to the next, so that all are met. */
size_t rows_stride(size_t count);
/** Report a row that went wrong. `axes` are those of the operator. */
void rows_complain(const char *what, const char *operator_name, quern_dtype dtype,
                   const layout_input *input, const shape *s, unsigned axes);
/** Print the line at the end; returns the exit status. */
int rows_report(const rows *r, const char *what);

/* ---- operators.c: what is reduced ----------------------------------------------------------- */

/** The value of an output while it is folded on the host. */
typedef struct state {
    bool some;
    number sum;
    int64_t at, least_at, count;
    int64_t kept; /**< the output's position along the first kept axis, 0 where there is none */
    double best, least;
    uint32_t factor, term;
} state;

typedef struct reduction {
    const char *name;
    bool (*takes)(quern_dtype dtype);
    const char *out, *map, *reduce, *post, *identity; /**< the input is T x */
    const char *reduce_type, *preamble;
    bool ordered;
    void (*step)(state *s, const element *e);
    number (*finish[2])(const state *s); /**< one for each output */
    double tolerance; /**< relative, times the square root of the length; 0: equal bits */
} reduction;

extern const reduction table_reductions[];
extern const size_t table_reduction_count;

#endif /* QUERN_TABLE_H */
