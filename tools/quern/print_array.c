/* SPDX-License-Identifier: MIT
 *
 * Arrays as NumPy prints them: nested brackets, aligned columns, lines of at most 75 characters,
 * and above 1000 elements the first and last three of each axis with an ellipsis between. In: an
 * array in C order on the host. Out: standard output.
 */
#include "cli.h"

#include <stdio.h>
#include <string.h>

#define LINE_WIDTH 75
#define THRESHOLD  1000
#define EDGE       3

typedef struct printer {
    quern_dtype dtype;
    size_t element;
    int ndim;
    const int64_t *shape;
    const char *data;
    int indent; /* of the label */
    bool summarise;
    cli_column column;
    char *text; /* of an element */
} printer;

/* True when index `k` of an axis of `size` is left out. An ellipsis is printed for the first of
 * them. */
static bool left_out(const printer *pr, int64_t k, int64_t size)
{
    return pr->summarise && size > 2 * EDGE && k >= EDGE && k < size - EDGE;
}

/* Visit the elements that are shown, in order. */
static void visit(const printer *pr, int axis, const char *p, int64_t bytes,
                  void (*visitor)(void *context, const char *p), void *context)
{
    if (axis == pr->ndim) {
        visitor(context, p);
        return;
    }
    int64_t size = pr->shape[axis], inner = bytes / size;
    for (int64_t k = 0; k < size; k++) {
        if (left_out(pr, k, size)) {
            k = size - EDGE;
        }
        visit(pr, axis + 1, p + k * inner, inner, visitor, context);
    }
}

/* What is shown, to choose how wide it is printed. */
typedef struct survey {
    const char **elements;
    size_t count;
} survey;

static void survey_element(void *context, const char *p)
{
    survey *s = context;
    s->elements[s->count++] = p;
}

static int64_t shown_count(const printer *pr)
{
    int64_t count = 1;
    for (int k = 0; k < pr->ndim; k++) {
        bool cut = pr->summarise && pr->shape[k] > 2 * EDGE;
        count *= cut ? 2 * EDGE : pr->shape[k];
    }
    return count;
}

static bool choose_format(printer *pr, int64_t bytes)
{
    survey s = {.elements = cli_data_new((size_t)shown_count(pr) * sizeof *s.elements)};
    pr->text = cli_data_new(cli_column_room(pr->dtype));
    bool good = s.elements && pr->text;
    if (good) {
        visit(pr, 0, pr->data, bytes, survey_element, &s);
        good = cli_column_choose(&pr->column, pr->dtype, s.elements, s.count);
    }
    cli_data_free(s.elements);
    return good;
}

/* One row of elements, wrapped at `width`; `indent` is where its lines begin. The blanks that align
 * an element are dropped at the end of a line that wraps, and kept before the bracket. */
static void print_row(const printer *pr, const char *p, int64_t size, int indent, int width)
{
    int column = indent, blanks = 0; /* `blanks`: due before the next element */
    char *text = pr->text;
    for (int64_t k = 0; k < size; k++) {
        if (left_out(pr, k, size)) {
            strcpy(text, "...");
            k = size - EDGE - 1;
        } else {
            cli_column_text(text, &pr->column, p + k * (int64_t)pr->element);
        }
        int length = (int)strlen(text), end = length;
        while (end > 0 && text[end - 1] == ' ') {
            end--;
        }
        if (column > indent && column + length > width) {
            printf("\n%*s", indent, "");
            column = indent;
            blanks = 0;
        }
        printf("%*s%.*s", blanks, "", end, text);
        bool last = k == size - 1;
        blanks = length - end + !last;
        column += length + !last;
    }
    printf("%*s", blanks, "");
}

/* The array from `axis` on; what precedes the first bracket on its line is printed already. */
static void print_nested(const printer *pr, int axis, const char *p, int64_t bytes)
{
    int64_t size = pr->shape[axis], inner = bytes / size;
    int indent = pr->indent + axis + 1;
    putchar('[');
    if (axis == pr->ndim - 1) {
        print_row(pr, p, size, indent, LINE_WIDTH - pr->ndim);
    } else {
        for (int64_t k = 0; k < size; k++) {
            if (k > 0) {
                for (int line = axis; line < pr->ndim - 1; line++) {
                    putchar('\n');
                }
                printf("%*s", indent, "");
            }
            if (left_out(pr, k, size)) {
                fputs("...", stdout);
                k = size - EDGE - 1;
            } else {
                print_nested(pr, axis + 1, p + k * inner, inner);
            }
        }
    }
    putchar(']');
}

void cli_print_array(const char *label, quern_dtype dtype, int ndim, const int64_t *shape,
                     const void *data)
{
    int64_t bytes = 0;
    cli_shape_bytes(&bytes, ndim, shape, quern_dtype_size(dtype));
    printer pr = {.dtype = dtype,
                  .element = quern_dtype_size(dtype),
                  .ndim = ndim,
                  .shape = shape,
                  .data = data,
                  .indent = (int)strlen(label)};
    pr.summarise = bytes / (int64_t)pr.element > THRESHOLD;
    fputs(label, stdout);
    if (ndim == 0) {
        char *text = cli_data_new(cli_column_room(dtype));
        if (text) {
            cli_element_text(text, dtype, data);
            fputs(text, stdout);
        }
        cli_data_free(text);
    } else if (bytes == 0) {
        fputs("[]", stdout);
    } else if (choose_format(&pr, bytes)) {
        print_nested(&pr, 0, data, bytes);
    } else {
        fputs("(not enough memory to print it)", stdout);
    }
    cli_data_free(pr.text);
    putchar('\n');
}
