/* SPDX-License-Identifier: MIT
 *
 * Elements as NumPy prints them. In: those that a column shows, and then each of them; or one
 * alone. Out: text. A column of numbers is as wide as the widest of them; records are printed as
 * tuples, each field a column of its own, and a field that is an array in brackets.
 */
#include "cli.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Real and imaginary part of the float element at `p`. */
static void read_float(double parts[2], const void *p, quern_dtype dtype)
{
    float f[2] = {0, 0};
    parts[0] = parts[1] = 0;
    switch (dtype) {
    case QUERN_FLOAT16:
    case QUERN_BFLOAT16:
    case QUERN_FLOAT8_E4M3:
    case QUERN_FLOAT8_E5M2:
        parts[0] = cli_small_load(p, dtype);
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

/* ---- fields --------------------------------------------------------------------------------- */

/* Borrowed from the library for good. */
static quern_record record_of(quern_dtype dtype)
{
    quern_record record = QUERN_RECORD_INIT;
    (void)quern_record_get_info(&record, dtype);
    return record;
}

static size_t field_elements(const quern_field *field)
{
    size_t count = 1;
    for (int d = 0; d < field->ndim; d++) {
        count *= (size_t)field->shape[d];
    }
    return count;
}

size_t cli_column_room(quern_dtype dtype)
{
    if (!cli_is_record(dtype)) {
        return 2 * CLI_NUMBER_TEXT;
    }
    quern_record record = record_of(dtype);
    size_t room = 8;
    for (size_t k = 0; k < record.field_count; k++) { /* and commas and brackets */
        room += (cli_column_room((quern_dtype)record.fields[k].dtype) + 2 * QUERN_MAX_NDIM) *
                field_elements(&record.fields[k]);
    }
    return room;
}

/* ---- columns -------------------------------------------------------------------------------- */

static bool choose_numbers(cli_column *out, const char *const *elements, size_t count)
{
    if (cli_is_whole(out->dtype)) {
        char text[32];
        for (size_t k = 0; k < count; k++) {
            int length = integer_text(text, elements[k], out->dtype);
            out->width = length > out->width ? length : out->width;
        }
        return true;
    }
    double *parts = cli_data_new(count * 2 * sizeof *parts);
    if (!parts) {
        return false;
    }
    for (size_t k = 0; k < count; k++) {
        read_float(parts + 2 * k, elements[k], out->dtype);
    }
    cli_float_format_choose(&out->real, parts, count, 2, out->dtype, false);
    cli_float_format_choose(&out->imag, parts + 1, count, 2, out->dtype, true);
    cli_data_free(parts);
    return true;
}

/* The column of one field: all its elements in all records. */
static bool choose_field(cli_column *out, const quern_field *field, const char *const *elements,
                         size_t count)
{
    const size_t each = field_elements(field), size = quern_dtype_size((quern_dtype)field->dtype);
    const char **inner = cli_data_new(count * each * sizeof *inner);
    for (size_t k = 0; inner && k < count * each; k++) {
        inner[k] = elements[k / each] + field->offset + k % each * size;
    }
    bool good = inner && cli_column_choose(out, (quern_dtype)field->dtype, inner, count * each);
    cli_data_free(inner);
    return good;
}

bool cli_column_choose(cli_column *out, quern_dtype dtype, const char *const *elements,
                       size_t count)
{
    *out = (cli_column){.dtype = dtype};
    if (!cli_is_record(dtype)) {
        return choose_numbers(out, elements, count);
    }
    quern_record record = record_of(dtype);
    out->fields = cli_alloc(record.field_count * sizeof *out->fields);
    bool good = true;
    for (size_t k = 0; k < record.field_count && good; k++) {
        good = choose_field(&out->fields[k], &record.fields[k], elements, count);
    }
    return good;
}

/* ---- text ----------------------------------------------------------------------------------- */

static void number_text(char *out, const cli_column *column, const char *p)
{
    if (column->dtype == QUERN_BOOL) {
        strcpy(out, *p ? " True" : "False");
    } else if (cli_is_whole(column->dtype)) {
        char text[32];
        integer_text(text, p, column->dtype);
        sprintf(out, "%*s", column->width, text);
    } else {
        double parts[2];
        read_float(parts, p, column->dtype);
        cli_float_text(out, &column->real, parts[0]);
        if (cli_is_complex(column->dtype)) {
            char imag[CLI_NUMBER_TEXT];
            cli_float_text(imag, &column->imag, parts[1]);
            size_t end = strlen(imag);
            while (end > 0 && imag[end - 1] == ' ') {
                end--;
            }
            sprintf(out + strlen(out), "%.*sj%s", (int)end, imag, imag + end);
        }
    }
}

/* An element alone, its floats as those of scalars. */
static void alone(char *text, quern_dtype dtype, const void *data)
{
    char imag[CLI_NUMBER_TEXT];
    if (dtype == QUERN_BOOL) {
        strcpy(text, *(const char *)data ? "True" : "False");
    } else if (cli_is_whole(dtype)) {
        integer_text(text, data, dtype);
    } else {
        double parts[2];
        char real[CLI_NUMBER_TEXT];
        read_float(parts, data, dtype);
        cli_scalar_text(real, parts[0], dtype, !cli_is_complex(dtype));
        strcpy(text, real);
        if (cli_is_complex(dtype)) {
            cli_scalar_text(imag, parts[1], dtype, false);
            bool bare = parts[0] == 0 && !signbit(parts[0]);
            bool plus = imag[0] != '-';
            sprintf(text, "%s%s%s%sj%s", bare ? "" : "(", bare ? "" : real,
                    bare || !plus ? "" : "+", imag, bare ? "" : ")");
        }
    }
}

/* The dimensions of a field from `axis` on; returns where the text ends. */
static char *field_text(char *out, const cli_column *column, const quern_field *field, int axis,
                        const char **p)
{
    const quern_dtype dtype = (quern_dtype)field->dtype;
    if (axis == field->ndim) {
        if (column) {
            cli_column_text(out, column, *p);
        } else {
            cli_element_text(out, dtype, *p);
        }
        *p += quern_dtype_size(dtype);
        return out + strlen(out);
    }
    *out++ = '[';
    for (int64_t k = 0; k < field->shape[axis]; k++) {
        out += sprintf(out, "%s", k > 0 ? ", " : "");
        out = field_text(out, column, field, axis + 1, p);
    }
    strcpy(out, "]");
    return out + 1;
}

/* A tuple of the fields: in columns, or (NULL) each alone, but for complex numbers, which NumPy
 * prints as a column of their own. */
static void record_text(char *out, quern_dtype dtype, const cli_column *columns, const char *p)
{
    quern_record record = record_of(dtype);
    *out++ = '(';
    for (size_t k = 0; k < record.field_count; k++) {
        const char *from = p + record.fields[k].offset;
        const cli_column *column = columns ? &columns[k] : NULL;
        cli_column own;
        if (!columns && cli_is_complex((quern_dtype)record.fields[k].dtype)) {
            column = choose_field(&own, &record.fields[k], &p, 1) ? &own : NULL;
        }
        out += sprintf(out, "%s", k > 0 ? ", " : "");
        out = field_text(out, column, &record.fields[k], 0, &from);
    }
    strcpy(out, record.field_count == 1 ? ",)" : ")");
}

void cli_column_text(char *out, const cli_column *column, const char *p)
{
    if (cli_is_record(column->dtype)) {
        record_text(out, column->dtype, column->fields, p);
    } else {
        number_text(out, column, p);
    }
}

void cli_element_text(char *out, quern_dtype dtype, const void *data)
{
    if (cli_is_record(dtype)) {
        record_text(out, dtype, NULL, data);
    } else {
        alone(out, dtype, data);
    }
}
