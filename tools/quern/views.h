/* SPDX-License-Identifier: MIT
 *
 * A part of cli.h: the arrays that an argument names. Views, what each of their steps does, and
 * generators.
 */
#ifndef QUERN_CLI_VIEWS_H
#define QUERN_CLI_VIEWS_H

#include <quern/quern.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cli_problem cli_problem;

/* ---- view_parse.c: views in NumPy's basic syntax -------------------------------------------- */

#define CLI_VIEW_ITEMS 96

typedef enum cli_method {
    CLI_T,
    CLI_MT,
    CLI_TRANSPOSE,
    CLI_SWAPAXES,
    CLI_RESHAPE,
    CLI_RAVEL,
    CLI_FLATTEN,
    CLI_SQUEEZE,
    CLI_COPY,
    CLI_REAL,
    CLI_IMAG,
    CLI_ASTYPE,
    CLI_VIEW,
} cli_method;

typedef enum cli_item_kind {
    CLI_ITEM_INTEGER, /* an index, or a number of a method */
    CLI_ITEM_SLICE,
    CLI_ITEM_ELLIPSIS,
    CLI_ITEM_NEW_AXIS,
    CLI_ITEM_METHOD, /* .T, .reshape(...): the first item of its step */
} cli_item_kind;

typedef struct cli_view_item {
    cli_item_kind kind;
    unsigned step;     /* which bracket or method it belongs to */
    size_t begin, end; /* its place in the text */
    quern_slice slice; /* of a slice; `start` is the position of an integer */
    cli_method method;
    quern_dtype dtype; /* of .astype and .view */
} cli_view_item;

/* A view such as [::2, 1:].T[None].reshape(2, -1). */
typedef struct cli_view {
    cli_view_item items[CLI_VIEW_ITEMS];
    unsigned count;
    unsigned steps;
} cli_view;

/* True when `text` begins with a view: a bracket, or the name of a method. */
bool cli_view_begins(const char *text);
/* Parse the view that `text` begins with; *length says where it ends. `at` is added to the
 * positions, so that they fit a longer text that the view is part of. */
bool cli_view_parse(cli_view *out, const char *text, size_t at, size_t *length,
                    cli_problem *problem);

/* What one step does to an array. */
typedef enum cli_plan_kind {
    CLI_PLAN_SLICE,       /* slice its `axis_count` axes, then take the shape if `new_axes` */
    CLI_PLAN_TRANSPOSE,   /* reorder its axes */
    CLI_PLAN_RESHAPE,     /* take the shape, of a copy where there is no view of it */
    CLI_PLAN_COPY,        /* take the shape, of a copy */
    CLI_PLAN_CAST,        /* convert the elements to `dtype` */
    CLI_PLAN_REINTERPRET, /* take the bytes as `dtype`, from `offset` on */
    CLI_PLAN_ZEROS,       /* zeros of that shape */
} cli_plan_kind;

typedef struct cli_view_plan {
    cli_plan_kind kind;
    bool new_axes;
    quern_slice slices[QUERN_MAX_NDIM];
    int axes[QUERN_MAX_NDIM];
    size_t offset;
    const cli_view_item *item; /* the first of the step */
    quern_dtype dtype;         /* of the result */
    int ndim;                  /* of the result */
    int64_t shape[QUERN_MAX_NDIM];
} cli_view_plan;
bool cli_view_plan_step(cli_view_plan *out, const cli_view *view, unsigned step, quern_dtype dtype,
                        int ndim, const int64_t *shape, cli_problem *problem);

/* ---- view_apply.c --------------------------------------------------------------------------- */

/* Replace *array by one step of a view of it. With `in_place`, where a kernel writes into the view,
 * a step that would copy is a problem. False with an empty problem: the library failed. */
bool cli_view_apply(quern_array **array, const cli_view *view, unsigned step, bool in_place,
                    cli_problem *problem);

/* ---- convert.c ------------------------------------------------------------------------------ */

/* Convert `count` elements as NumPy's astype() does. */
void cli_convert(void *to, quern_dtype to_dtype, const void *from, quern_dtype from_dtype,
                 int64_t count);

/* ---- generator.c, generate.c, generate_array.c ---------------------------------------------- */

typedef enum cli_generator_kind {
    CLI_EMPTY,
    CLI_ZEROS,
    CLI_ONES,
    CLI_ARANGE,
    CLI_RANDOM,
    CLI_FULL,
    CLI_LINSPACE,
    CLI_EYE,
} cli_generator_kind;

typedef struct cli_generator {
    cli_generator_kind kind;
    quern_dtype dtype;
    int ndim;
    int64_t shape[QUERN_MAX_NDIM];
    unsigned char element[16]; /* of full */
    bool bounded;              /* arange: with start, stop and step */
    bool is_complex;           /* linspace: one of its ends is */
    double start[2], stop[2];  /* of linspace; for arange, the first two elements */
    uint64_t first, step;      /* arange of integers, which wrap */
} cli_generator;

/* True when `text` begins with the name of a generator and a colon. */
bool cli_is_generator(const char *text);
/* Their names; *count says how many. */
const char *const *cli_generator_names(size_t *count);
/* Parse it; *length says where it ends. */
bool cli_generator_parse(cli_generator *out, const char *text, size_t *length,
                         cli_problem *problem);
/* True when all elements are one. */
bool cli_generator_is_uniform(const cli_generator *generator);
/* That element. */
void cli_generator_element(void *to, const cli_generator *generator);

typedef enum cli_place_made { CLI_ANYWHERE, CLI_ON_HOST, CLI_ON_DEVICE } cli_place_made;

/* Which random numbers, and where the array is made. */
typedef struct cli_draw {
    uint64_t seed, stream;
    cli_place_made place; /* for tests: else the faster one */
} cli_draw;

/* Make the array. The elements are the same on all devices. */
quern_status cli_generator_make(quern_array **out, quern_engine *engine,
                                const cli_generator *generator, const cli_draw *draw);
/* Bytes of `count` elements of a shape; false when they do not fit in an int64_t. */
bool cli_shape_bytes(int64_t *bytes, int ndim, const int64_t *shape, size_t element);

#endif /* QUERN_CLI_VIEWS_H */
