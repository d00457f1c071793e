/* SPDX-License-Identifier: MIT
 *
 * records: structures of random fields, aligned as C does it, packed as NumPy does it, or with gaps
 * anywhere, in arrays that lie anywhere. In: `table_records [PART/PARTS]`, the device from
 * QUERN_DEVICE. Out: one line with how many rows were right, and one for each answer that was not;
 * status 1 if there was any.
 *
 * Of each record: a copy keeps all bytes, gaps too; every field is read and written in a kernel;
 * its view has the elements; its descr gives the same record again, also by the array interface,
 * out and in. The host knows fields by their offsets.
 */
#include <quern/interop.h>

#include "table.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 120, COUNT = 37, FIELDS = 6, ROOM = 65536, DTYPES = QUERN_FLOAT8_E5M2 };

typedef enum manner { NATURAL, PACKED, GAPS, MANNERS } manner;

typedef struct table {
    quern_engine *engine;
    rows rows;
    unsigned seed;
} table;

/* A record and an array of it over bytes. */
typedef struct subject {
    char names[FIELDS][8];
    int64_t extents[FIELDS][1];
    quern_field fields[FIELDS];
    quern_record record;
    quern_dtype dtype;
    quern_array *bytes, *array;
    unsigned char host[ROOM];
    int64_t at, stride;
} subject;

static unsigned draw(table *t, unsigned below)
{
    t->seed = t->seed * 1664525u + 1013904223u;
    return (t->seed >> 8) % below;
}

static void complain(table *t, const char *what, const subject *s)
{
    printf("FAILED: %s of %s, at %lld, stride %lld: %s\n", what, quern_dtype_descr(s->dtype),
           (long long)s->at, (long long)s->stride, quern_last_error_text());
    t->rows.failed++;
}

/* Whether all bytes are equal; tells the first that are not. */
static bool same_bytes(const unsigned char *got, const unsigned char *expected, size_t count,
                       int64_t record)
{
    for (size_t k = 0; k < count; k++) {
        if (got[k] != expected[k]) {
            printf("record %lld, byte %zu: %02x, expected %02x\n", (long long)record, k, got[k],
                   expected[k]);
            return false;
        }
    }
    return true;
}

/* ---- subjects ------------------------------------------------------------------------------- */

static size_t elements(const quern_field *field)
{
    return field->ndim > 0 ? (size_t)field->shape[0] : 1;
}

static void draw_record(table *t, subject *s, manner how)
{
    uint64_t at = 0;
    size_t widest = 1;
    s->record = (quern_record)QUERN_RECORD_INIT;
    s->record.name = "Thing";
    s->record.fields = s->fields;
    s->record.field_count = 1 + draw(t, FIELDS);
    for (size_t k = 0; k < s->record.field_count; k++) {
        quern_field *field = &s->fields[k];
        const quern_dtype dtype = (quern_dtype)(1 + draw(t, DTYPES));
        const size_t size = quern_dtype_size(dtype);
        snprintf(s->names[k], sizeof s->names[k], "f%zu", k);
        s->extents[k][0] = 1 + draw(t, 3);
        *field = (quern_field){.name = s->names[k], .dtype = (int32_t)dtype};
        if (draw(t, 4) == 0) {
            field->ndim = 1;
            field->shape = s->extents[k];
        }
        at += how == GAPS ? draw(t, 4) : 0;
        at = how == NATURAL ? (at + size - 1) / size * size : at;
        field->offset = at;
        at += size * elements(field);
        widest = size > widest ? size : widest;
    }
    s->record.bytes =
        how == NATURAL ? (at + widest - 1) / widest * widest : at + (how == GAPS ? draw(t, 4) : 0);
    check(quern_record_new(&s->dtype, &s->record), "record");
}

static unsigned char *place(subject *s, int64_t n, const quern_field *field)
{
    return s->host + s->at + n * s->stride + field->offset;
}

static void draw_array(table *t, subject *s)
{
    const int64_t room = ROOM, count = COUNT;
    const bool tight = draw(t, 2) == 0;
    s->at = tight ? 0 : draw(t, 9);
    s->stride = (int64_t)s->record.bytes + (tight ? 0 : draw(t, 9));
    for (int k = 0; k < ROOM; k++) {
        s->host[k] = (unsigned char)draw(t, 256);
    }
    for (int64_t n = 0; n < COUNT; n++) {
        for (size_t k = 0; k < s->record.field_count; k++) {
            const quern_dtype dtype = (quern_dtype)s->fields[k].dtype;
            for (size_t e = 0; e < elements(&s->fields[k]); e++) {
                number v = whole((int64_t)draw(t, 7));
                v.im = draw(t, 3);
                number_store(place(s, n, &s->fields[k]) + e * quern_dtype_size(dtype), dtype, v);
            }
        }
    }
    check(quern_array_from(&s->bytes, t->engine, QUERN_UINT8, 1, &room, s->host), "bytes");
    check(quern_array_wrap(&s->array, t->engine, s->dtype, 1, &count, &s->stride,
                           (char *)quern_array_pointer(s->bytes) + s->at, NULL, NULL),
          "wrap");
}

static void end(subject *s)
{
    quern_array_release(s->array);
    quern_array_release(s->bytes);
}

/* ---- what is tried -------------------------------------------------------------------------- */

/* A copy has all bytes of all records. */
static void run_copy(table *t, subject *s)
{
    static unsigned char got[ROOM];
    const size_t bytes = s->record.bytes;
    quern_array *copy = NULL;
    bool right = quern_array_copy(&copy, s->array) == QUERN_OK &&
                 quern_array_read(copy, got, COUNT * bytes) == QUERN_OK;
    for (int64_t n = 0; n < COUNT && right; n++) {
        right = same_bytes(got + (size_t)n * bytes, s->host + s->at + n * s->stride, bytes, n);
    }
    if (!right) {
        complain(t, "a copy", s);
    }
    quern_array_release(copy);
}

/* The text that adds up all elements of a field, and of the host. */
static size_t write_sum(char *text, const quern_field *field)
{
    size_t used = 0;
    for (size_t e = 0; e < elements(field); e++) {
        used += (size_t)sprintf(text + used,
                                field->ndim > 0 ? "%scomplex<double>(p.%s[%zu])"
                                                : "%scomplex<double>(p.%s)",
                                e > 0 ? " + " : "", field->name, e);
    }
    return used;
}

static number sum_of(subject *s, int64_t n, const quern_field *field)
{
    number sum = {0, 0, 0};
    const quern_dtype dtype = (quern_dtype)field->dtype;
    for (size_t e = 0; e < elements(field); e++) {
        number v = number_load(place(s, n, field) + e * quern_dtype_size(dtype), dtype);
        sum.re += v.re;
        sum.im += v.im;
    }
    return sum;
}

/* Each field is read, and set to another number in a copy. */
static void run_kernel(table *t, subject *s)
{
    char text[4096];
    size_t used = (size_t)sprintf(text, "q = p;\n");
    quern_kernel *kernel;
    quern_array *q = NULL, *z = NULL;
    static double got[COUNT * FIELDS * 2];
    static unsigned char records[ROOM];
    const int64_t sums = COUNT * FIELDS, count = COUNT;
    for (size_t k = 0; k < s->record.field_count; k++) {
        used += (size_t)sprintf(text + used, "z[i * %d + %zu] = ", FIELDS, k);
        used += write_sum(text + used, &s->fields[k]);
        used += (size_t)sprintf(text + used, ";\nq.%s%s = %d;\n", s->fields[k].name,
                                s->fields[k].ndim > 0 ? "[0]" : "", s->fields[k].dtype == 1);
    }
    check(quern_array_new(&z, t->engine, QUERN_COMPLEX128, 1, &sums), "sums");
    check(quern_array_new(&q, t->engine, s->dtype, 1, &count), "records");
    check(quern_elementwise(&kernel, t->engine, draw(t, 2) ? "T p" : "Thing p",
                            "raw complex128 z, T q", text, NULL),
          "kernel");
    bool right = quern_call_n(kernel,
                              (quern_value[]){quern_value_array(s->array), quern_value_array(z),
                                              quern_value_array(q)},
                              3, NULL) == QUERN_OK &&
                 quern_array_read(z, got, sizeof got) == QUERN_OK &&
                 quern_array_read(q, records, COUNT * s->record.bytes) == QUERN_OK;
    for (int64_t n = 0; n < COUNT && right; n++) {
        unsigned char *record = s->host + s->at + n * s->stride;
        for (size_t k = 0; k < s->record.field_count; k++) {
            const number sum = sum_of(s, n, &s->fields[k]);
            const double *is = got + 2 * (n * FIELDS + (int64_t)k);
            if (is[0] != sum.re || is[1] != sum.im) {
                printf("record %lld, field %zu: %g%+gi, expected %g%+gi\n", (long long)n, k, is[0],
                       is[1], sum.re, sum.im);
                right = false;
            }
            number_store(record + s->fields[k].offset, (quern_dtype)s->fields[k].dtype,
                         whole(s->fields[k].dtype == 1));
        }
        right &= same_bytes(records + (size_t)n * s->record.bytes, record, s->record.bytes, n);
    }
    if (!right) {
        complain(t, "reading and writing", s);
    }
    quern_kernel_release(kernel);
    quern_array_release(q);
    quern_array_release(z);
}

/* Views of fields, and a sum of one by a reduction that maps from the record. */
static void run_fields(table *t, subject *s)
{
    static unsigned char got[ROOM];
    for (size_t k = 0; k < s->record.field_count; k++) {
        const quern_field *field = &s->fields[k];
        const size_t bytes = elements(field) * quern_dtype_size((quern_dtype)field->dtype);
        quern_array *view = NULL;
        bool right = quern_array_field(&view, s->array, field->name) == QUERN_OK &&
                     quern_array_ndim(view) == 1 + field->ndim &&
                     quern_array_read(view, got, COUNT * bytes) == QUERN_OK;
        for (int64_t n = 0; n < COUNT && right; n++) {
            right = memcmp(got + (size_t)n * bytes, place(s, n, field), bytes) == 0;
        }
        if (!right) {
            complain(t, field->name, s);
        }
        quern_array_release(view);
    }
}

static void run_sum(table *t, subject *s)
{
    char map[1024];
    double got[2], re = 0, im = 0;
    quern_kernel *kernel;
    quern_array *sum = NULL;
    write_sum(map, &s->fields[0]);
    for (int64_t n = 0; n < COUNT; n++) {
        re += sum_of(s, n, &s->fields[0]).re;
        im += sum_of(s, n, &s->fields[0]).im;
    }
    check(quern_array_new(&sum, t->engine, QUERN_COMPLEX128, 0, NULL), "sum");
    check(quern_reduction(&kernel, t->engine, "T p", "complex128 z", map, "a + b", "z = a", "0",
                          NULL),
          "reduction");
    if (quern_call_n(kernel, (quern_value[]){quern_value_array(s->array), quern_value_array(sum)},
                     2, NULL) != QUERN_OK ||
        quern_array_read(sum, got, sizeof got) != QUERN_OK || got[0] != re || got[1] != im) {
        complain(t, "a sum", s);
    }
    quern_kernel_release(kernel);
    quern_array_release(sum);
}

/* NumPy has names for the dtypes of all fields. */
static bool is_named(const subject *s)
{
    bool named = true;
    for (size_t k = 0; k < s->record.field_count; k++) {
        named &= s->fields[k].dtype != QUERN_BFLOAT16 && s->fields[k].dtype != QUERN_FLOAT8_E4M3;
    }
    return named;
}

/* NumPy's text gives the record again. */
static void run_descr(table *t, subject *s)
{
    const char *descr = quern_dtype_descr(s->dtype);
    quern_dtype again;
    const bool named = is_named(s);
    quern_status status = quern_dtype_from_descr(&again, "Thing", descr);
    if (named ? status != QUERN_OK || strcmp(quern_dtype_descr(again), descr) != 0 ||
                    quern_dtype_size(again) != s->record.bytes
              : status != QUERN_ERROR_TYPE) {
        complain(t, "the descr", s);
    }
}

/* Is it the same records in the same memory? A view as the record itself has its name. */
static bool is_same(quern_array *array, subject *s)
{
    static unsigned char got[ROOM];
    quern_array *view = NULL;
    bool same =
        strcmp(quern_dtype_descr(quern_array_dtype(array)), quern_dtype_descr(s->dtype)) == 0 &&
        quern_array_pointer(array) == quern_array_pointer(s->array) &&
        quern_array_view(&view, array, s->dtype) == QUERN_OK &&
        quern_array_read(view, got, COUNT * s->record.bytes) == QUERN_OK;
    for (int64_t n = 0; n < COUNT && same; n++) {
        same = memcmp(got + (size_t)n * s->record.bytes, s->host + s->at + n * s->stride,
                      s->record.bytes) == 0;
    }
    quern_array_release(view);
    return same;
}

/* Out by the array interface, and in again. */
static void run_interface(table *t, subject *s)
{
    quern_array_interface entries = QUERN_ARRAY_INTERFACE_INIT;
    quern_array *array = NULL;
    const size_t bytes = s->record.bytes;
    bool right = quern_array_get_interface(&entries, s->array, NULL) == QUERN_OK &&
                 entries.typestr[1] == 'V' && strtoul(entries.typestr + 2, NULL, 10) == bytes &&
                 strcmp(entries.descr, quern_dtype_descr(s->dtype)) == 0;
    quern_status status = quern_array_from_interface(&array, t->engine, &entries, NULL, NULL);
    right &= is_named(s) ? status == QUERN_OK && is_same(array, s) : status == QUERN_ERROR_TYPE;
    if (!right) {
        complain(t, "the array interface", s);
    }
    quern_array_release(array);
}

int main(int argc, char **argv)
{
    static subject s;
    table t = {.rows = rows_asked(argc, argv)};
    check(quern_open(&t.engine, NULL), "open");
    for (unsigned row = 0; row < ROWS; row++) {
        if (!rows_next(&t.rows)) {
            continue;
        }
        t.rows.run++;
        t.seed = row;
        draw_record(&t, &s, (manner)(row % MANNERS));
        draw_array(&t, &s);
        run_copy(&t, &s);
        run_fields(&t, &s);
        run_sum(&t, &s);
        run_descr(&t, &s);
        run_interface(&t, &s);
        run_kernel(&t, &s);
        end(&s);
    }
    quern_close(t.engine);
    return rows_report(&t.rows, "rows of records");
}
