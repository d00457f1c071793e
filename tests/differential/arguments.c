/* SPDX-License-Identifier: MIT
 *
 * A case's arguments from their text, in the order of the kernel's parameters:
 *
 *     f32=2.5            a number               i64*8=12,20     eight, the rest zero
 *     &f32[64]edge       an input array         >f32[64]zero    an output that is compared
 *     .i32[4]iota        an array that is not a parameter
 *     { i32=1 &f32[4]edge }   a structure
 *
 * Generators: zero, bits, edge, rand:LOW:HIGH, whole:LOW:HIGH, iota:FIRST, =1,2,3 (repeated), at:K
 * (addresses in array K, 16 bytes apart). After an output's generator: `!5,7` are elements not
 * compared; `%` compares as a set; `~` makes all NaN equal; `/40;3:2;5:9:1e-6` is the period 40,
 * column 3 within 2 ulp, column 5 within 9 ulp or 1e-6.
 */
#include "differential.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
    const char *at;
    diff_arguments *out;
    const diff_case *test;
    uint32_t repeat;
} reader;

static bool wrong(const reader *r, const char *what)
{
    fprintf(stderr, "%s: arguments: %s at \"%.40s\"\n", r->test->name, what, r->at);
    return false;
}

static void skip_spaces(reader *r)
{
    while (*r->at == ' ') {
        r->at++;
    }
}

static bool read_type(reader *r, char *letter, uint32_t *width)
{
    char *end;
    *letter = *r->at;
    if (!strchr("iufBb", *letter) || !*letter) {
        return wrong(r, "a type was expected");
    }
    *width = (uint32_t)strtoul(r->at + 1, &end, 10) / 8;
    r->at = end;
    return *width > 0 || wrong(r, "a width was expected");
}

/* Room for `bytes` in the parameter block; *align becomes the alignment of what holds it. */
static unsigned char *place(diff_arguments *out, size_t bytes, size_t alignment, size_t *align)
{
    out->byte_count = (out->byte_count + alignment - 1) / alignment * alignment;
    *align = QN_MAX(*align, alignment);
    unsigned char *at = out->bytes + out->byte_count;
    out->byte_count += bytes;
    return out->byte_count <= DIFF_PARAMETER_BYTES ? at : NULL;
}

static bool read_number(reader *r, size_t *align)
{
    char letter;
    uint32_t width;
    unsigned long count = 1;
    if (!read_type(r, &letter, &width)) {
        return false;
    }
    if (*r->at == '*') {
        char *end;
        count = strtoul(r->at + 1, &end, 10);
        r->at = end;
    }
    if (*r->at != '=') {
        return wrong(r, "'=' was expected");
    }
    unsigned char *at = place(r->out, width * count, width, align);
    for (unsigned long k = 0; at && k < count && (*r->at == '=' || *r->at == ','); k++) {
        char *end;
        const uint64_t bits = diff_number(letter, width, strtod(r->at + 1, &end));
        memcpy(at + k * width, &bits, width);
        r->at = end;
    }
    return at || wrong(r, "too many bytes");
}

/* The marks after an output's generator. */
static void read_bounds(reader *r, diff_bounds *bounds)
{
    char *end = (char *)r->at;
    for (;; r->at = end) {
        if (*r->at == '%') {
            bounds->sorted = true;
            end = (char *)r->at + 1;
        } else if (*r->at == '~') {
            bounds->any_nan = true;
            end = (char *)r->at + 1;
        } else if (*r->at == '/') {
            bounds->period = (uint32_t)strtoul(r->at + 1, &end, 10);
        } else if (*r->at == ';') {
            const unsigned long column = strtoul(r->at + 1, &end, 10) % DIFF_COLUMNS;
            bounds->ulps[column] = *end == ':' ? strtod(end + 1, &end) : 0;
            bounds->absolute[column] = *end == ':' ? strtod(end + 1, &end) : 0;
        } else if (*r->at == '!' || *r->at == ',') {
            bounds->skipped |= (uint64_t)1 << strtoul(r->at + 1, &end, 10) % 64;
        } else {
            return;
        }
    }
}

static bool read_array(reader *r, size_t *align)
{
    const char mark = *r->at++;
    diff_arguments *out = r->out;
    if (out->array_count == DIFF_ARRAYS || out->pointer_count == DIFF_POINTERS) {
        return wrong(r, "too many arrays");
    }
    diff_array *array = &out->arrays[out->array_count];
    if (!read_type(r, &array->letter, &array->width) || *r->at != '[') {
        return wrong(r, "'[' was expected");
    }
    char *end;
    array->count = strtoul(r->at + 1, &end, 10);
    r->at = end + 1;
    const size_t count = array->count * r->repeat;
    array->host = qn_calloc(count, array->width);
    out->array_count++;
    if (!array->host ||
        !diff_fill(array, count, r->at, &r->at, diff_seed(r->test->name, out->array_count))) {
        return wrong(r, "a generator was expected");
    }
    array->is_output = mark == '>';
    array->bounds.period = 1;
    read_bounds(r, &array->bounds);
    if (mark != '.') {
        unsigned char *at = place(out, 8, 8, align);
        if (!at) {
            return wrong(r, "too many bytes");
        }
        out->pointers[out->pointer_count].at = (size_t)(at - out->bytes);
        out->pointers[out->pointer_count++].array = out->array_count - 1;
    }
    return true;
}

static bool read_item(reader *r, size_t *align, int depth);

static bool read_structure(reader *r, size_t *align, int depth)
{
    size_t own = 1;
    r->at++;
    for (skip_spaces(r); *r->at && *r->at != '}'; skip_spaces(r)) {
        if (!read_item(r, &own, depth + 1)) {
            return false;
        }
    }
    if (*r->at != '}') {
        return wrong(r, "'}' was expected");
    }
    r->at++;
    (void)place(r->out, 0, own, align); /* padding at the end */
    return true;
}

static bool read_item(reader *r, size_t *align, int depth)
{
    if (depth > 4) {
        return wrong(r, "too deep");
    }
    return *r->at == '{'                                     ? read_structure(r, align, depth)
           : *r->at == '&' || *r->at == '>' || *r->at == '.' ? read_array(r, align)
                                                             : read_number(r, align);
}

bool diff_arguments_make(diff_arguments *out, const diff_case *test, uint32_t repeat)
{
    *out = (diff_arguments){0};
    reader r = {test->arguments ? test->arguments : "", out, test, repeat};
    for (skip_spaces(&r); *r.at; skip_spaces(&r)) {
        size_t align = 1;
        if (out->parameter_count == DIFF_PARAMETERS) {
            return wrong(&r, "too many parameters");
        }
        out->byte_count = (out->byte_count + 15) / 16 * 16;
        const bool is_parameter = *r.at != '.';
        out->parameters[out->parameter_count] = out->byte_count;
        if (!read_item(&r, &align, 0)) {
            return false;
        }
        out->parameter_count += is_parameter;
    }
    return true;
}

void diff_arguments_free(diff_arguments *arguments)
{
    for (size_t k = 0; k < arguments->array_count; k++) {
        qn_free(arguments->arrays[k].host);
    }
    *arguments = (diff_arguments){0};
}
