/* SPDX-License-Identifier: MIT
 *
 * Arrays as NumPy prints them: nested brackets, aligned columns, lines of at most 75 characters,
 * and above 1000 elements the first and last three of each axis with an ellipsis between. In: an
 * array in C order on the host. Out: standard output.
 */
#include "cli.h"

#include <inttypes.h>
#include <math.h>
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
    int width; /* of an integer */
    cli_float_format real, imag;
} printer;

/* Real and imaginary part of the float element at `p`. */
static void read_float(double parts[2], const void *p, quern_dtype dtype)
{
    float f[2] = {0, 0};
    uint16_t bits;
    parts[0] = parts[1] = 0;
    switch (dtype) {
    case QUERN_FLOAT16:
    case QUERN_BFLOAT16:
        memcpy(&bits, p, sizeof bits);
        parts[0] = cli_small_to_double(bits, dtype);
        break;
    case QUERN_FLOAT32:
    case QUERN_COMPLEX64:
        memcpy(f, p, cli_is_complex(dtype) ? 8 : 4);
        parts[0] = (double)f[0];
        parts[1] = (double)f[1];
        break;
    default:
        memcpy(parts, p, cli_is_complex(dtype) ? 16 : 8);
    }
}

/* An integer as text. */
static int integer_text(char *out, const void *p, quern_dtype dtype)
{
    size_t size = quern_dtype_size(dtype);
    if (dtype >= QUERN_UINT8) {
        uint64_t value = 0;
        memcpy(&value, p, size);
        return sprintf(out, "%" PRIu64, value);
    }
    int64_t value = 0;
    memcpy(&value, p, size);
    int unused = 64 - (int)size * 8;
    return sprintf(out, "%" PRId64, (int64_t)((uint64_t)value << unused) >> unused);
}

/* The element at `p`, as wide as every element. */
static void element_text(char *out, const printer *pr, const char *p)
{
    if (pr->dtype == QUERN_BOOL) {
        strcpy(out, *p ? " True" : "False");
    } else if (pr->dtype < QUERN_FLOAT16) {
        char text[32];
        integer_text(text, p, pr->dtype);
        sprintf(out, "%*s", pr->width, text);
    } else {
        double parts[2];
        read_float(parts, p, pr->dtype);
        cli_float_text(out, &pr->real, parts[0]);
        if (cli_is_complex(pr->dtype)) {
            char imag[CLI_NUMBER_TEXT];
            cli_float_text(imag, &pr->imag, parts[1]);
            size_t end = strlen(imag);
            while (end > 0 && imag[end - 1] == ' ') {
                end--;
            }
            sprintf(out + strlen(out), "%.*sj%s", (int)end, imag, imag + end);
        }
    }
}

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

/* What is shown, read once to choose how wide it is printed. */
typedef struct survey {
    const printer *printer;
    int width;
    size_t count;
    double *parts;
} survey;

static void survey_element(void *context, const char *p)
{
    survey *s = context;
    quern_dtype dtype = s->printer->dtype;
    if (dtype < QUERN_FLOAT16) {
        char text[32];
        int length = integer_text(text, p, dtype);
        s->width = length > s->width ? length : s->width;
    } else {
        read_float(s->parts + 2 * s->count, p, dtype);
    }
    s->count++;
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
    survey s = {.printer = pr};
    if (pr->dtype >= QUERN_FLOAT16) {
        s.parts = cli_data_new((size_t)shown_count(pr) * 2 * sizeof *s.parts);
        if (!s.parts) {
            return false;
        }
    }
    visit(pr, 0, pr->data, bytes, survey_element, &s);
    pr->width = s.width;
    if (s.parts) {
        cli_float_format_choose(&pr->real, s.parts, s.count, 2, pr->dtype, false);
        cli_float_format_choose(&pr->imag, s.parts + 1, s.count, 2, pr->dtype, true);
    }
    cli_data_free(s.parts);
    return true;
}

/* One row of elements, wrapped at `width`; `indent` is where its lines begin. The blanks that align
 * an element are dropped at the end of a line that wraps, and kept before the bracket. */
static void print_row(const printer *pr, const char *p, int64_t size, int indent, int width)
{
    int column = indent, blanks = 0; /* `blanks`: due before the next element */
    char text[2 * CLI_NUMBER_TEXT];
    for (int64_t k = 0; k < size; k++) {
        if (left_out(pr, k, size)) {
            strcpy(text, "...");
            k = size - EDGE - 1;
        } else {
            element_text(text, pr, p + k * (int64_t)pr->element);
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

/* An array without dimensions prints as its element does. */
static void print_scalar(quern_dtype dtype, const void *data)
{
    char text[2 * CLI_NUMBER_TEXT] = "", imag[CLI_NUMBER_TEXT];
    if (dtype == QUERN_BOOL) {
        strcpy(text, *(const char *)data ? "True" : "False");
    } else if (dtype < QUERN_FLOAT16) {
        integer_text(text, data, dtype);
    } else {
        double parts[2];
        read_float(parts, data, dtype);
        cli_scalar_text(text, parts[0], dtype, !cli_is_complex(dtype));
        if (cli_is_complex(dtype)) {
            cli_scalar_text(imag, parts[1], dtype, false);
            bool bare = parts[0] == 0 && !signbit(parts[0]);
            bool plus = imag[0] != '-';
            printf("%s%s%s%sj%s", bare ? "" : "(", bare ? "" : text, bare || !plus ? "" : "+", imag,
                   bare ? "" : ")");
            return;
        }
    }
    fputs(text, stdout);
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
        print_scalar(dtype, data);
    } else if (bytes == 0) {
        fputs("[]", stdout);
    } else if (choose_format(&pr, bytes)) {
        print_nested(&pr, 0, data, bytes);
    } else {
        fputs("(not enough memory to print it)", stdout);
    }
    putchar('\n');
}
