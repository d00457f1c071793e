/* SPDX-License-Identifier: MIT
 *
 * table: what the table of reductions is made of. A row is a layout (shape and view), the axes, an
 * operator and a dtype. The inputs hold small whole numbers, so that every operator has one right
 * answer in every dtype; where rounding is what is tested, the operator says how far it may go.
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

/** Write `value` as an element; integers wrap. */
void number_store(void *bytes, quern_dtype dtype, number value);
number number_load(const void *bytes, quern_dtype dtype);
bool is_integer(quern_dtype dtype);
bool is_complex(quern_dtype dtype);
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

enum { TABLE_VIEWS = 7 };
/** Make the input of a shape in one of the views; false where the view does not apply. `seed`
 * chooses the numbers. */
bool layout_make(layout_input *out, quern_engine *engine, quern_dtype dtype, const shape *shape,
                 int view, unsigned seed);
void layout_free(layout_input *input);
/** The element at a position along each axis. */
number layout_at(const layout_input *input, const int64_t *at);

/* ---- operators.c ---------------------------------------------------------------------------- */

/** The value of an output while it is folded on the host. */
typedef struct state {
    bool some;
    number sum;
    int64_t at, count;
    double best, least;
    uint32_t factor, term;
} state;

/** One element on its way into a fold. */
typedef struct element {
    number x;
    int64_t j;            /**< position along the reduced axes */
    const int64_t *in_at; /**< position along all axes */
    int ndim;
} element;

typedef struct operator
{
    const char *name;
    bool (*takes)(quern_dtype dtype);
    const char *in, *out, *map, *reduce, *post, *identity, *reduce_type, *preamble;
    bool ordered;
    int outputs;
    quern_dtype output; /**< QUERN_DTYPE_NONE: that of the input */
    void (*step)(state * s, const element *e);
    /** The outputs; `kept` is the first kept position, 0 when there is none. */
    void (*finish)(number * outputs, const state *s, int64_t kept);
    double tolerance; /**< relative, times the square root of the length; 0: equal bits */
}
operator;

extern const operator table_operators[];
extern const size_t table_operator_count;

#endif /* QUERN_TABLE_H */
