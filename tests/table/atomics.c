/* SPDX-License-Identifier: MIT
 *
 * atomics: every atomic function of every dtype, on arrays of 1 to 17 elements that lie at every
 * offset in memory of several kinds, with a thousand threads at once on neighbouring elements. In:
 * `table_atomics [PART/PARTS]`, the device from QUERN_DEVICE. Out: one line with how many rows were
 * right, and one for each that was not; status 1 if there was any.
 *
 * How a row is judged: each thread reports the value that it found, so the host knows which value
 * it left. Whatever the order was, the start value and all values left must be, together, all
 * values found and the end value. Where the order cannot matter, the end value must also be that of
 * a loop on the host. No byte around the elements may change.
 */
#include "table.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 1024, LENGTHS = 17, OFFSETS = 4, GUARD = 64, GUARD_BYTE = 0xa5, WIDEST = 16 };

/* ---- the functions -------------------------------------------------------------------------- */

static bool all_but_bool(quern_dtype d)
{
    return d != QUERN_BOOL;
}

static bool one_word(quern_dtype d)
{
    return d != QUERN_COMPLEX128;
}

static bool bits(quern_dtype d)
{
    return integers(d) || d == QUERN_BOOL;
}

typedef enum operation {
    ADD,
    SUB,
    EXCH,
    CAS,
    MIN,
    MAX,
    INC,
    DEC,
    AND,
    OR,
    XOR,
    OPERATIONS
} operation;

static const struct {
    const char *name;
    bool (*takes)(quern_dtype dtype);
    bool any_order; /* the end does not depend on it */
} table_atomics[OPERATIONS] = {
    [ADD] = {"atomicAdd", all_but_bool, true}, [SUB] = {"atomicSub", all_but_bool, true},
    [EXCH] = {"atomicExch", one_word, false},  [CAS] = {"atomicCAS", one_word, false},
    [MIN] = {"atomicMin", any_ordered, true},  [MAX] = {"atomicMax", any_ordered, true},
    [INC] = {"atomicInc", integers, false},    [DEC] = {"atomicDec", integers, false},
    [AND] = {"atomicAnd", bits, true},         [OR] = {"atomicOr", bits, true},
    [XOR] = {"atomicXor", bits, true},
};

static bool is_unsigned(quern_dtype d)
{
    return d >= QUERN_UINT8 && d <= QUERN_UINT64;
}

static bool below(quern_dtype d, number a, number b)
{
    if (!integers(d)) {
        return a.re < b.re || (a.re == b.re && signbit(a.re) && !signbit(b.re));
    }
    return is_unsigned(d) ? (uint64_t)a.whole < (uint64_t)b.whole : a.whole < b.whole;
}

static number choose(quern_dtype d, number old, number by, bool least)
{
    if (isnan(old.re) || isnan(by.re)) {
        return isnan(old.re) ? by : old;
    }
    return below(d, least ? by : old, least ? old : by) ? by : old;
}

static number together(number a, number b, int sign)
{
    return (number){a.re + sign * b.re, a.im + sign * b.im,
                    (int64_t)((uint64_t)a.whole + (uint64_t)(sign * b.whole))};
}

/* What the function leaves. */
static number left_by(operation op, quern_dtype d, number old, number by, number seen)
{
    switch (op) {
    case ADD:
        return together(old, by, 1);
    case SUB:
        return together(old, by, -1);
    case EXCH:
        return by;
    case CAS:
        return old.re == seen.re && old.im == seen.im ? by : old;
    case MIN:
    case MAX:
        return choose(d, old, by, op == MIN);
    case INC:
        return below(d, old, by) ? together(old, whole(1), 1) : whole(0);
    case DEC:
        return !below(d, whole(0), old) || below(d, by, old) ? by : together(old, whole(1), -1);
    case AND:
        return whole(old.whole & by.whole);
    case OR:
        return whole(old.whole | by.whole);
    default:
        return whole(old.whole ^ by.whole);
    }
}

/* ---- what the threads bring ----------------------------------------------------------------- */

typedef struct values {
    quern_dtype dtype;
    size_t size;
    unsigned char by[THREADS * WIDEST], seen[THREADS * WIDEST];
    quern_array *by_array, *seen_array, *old;
} values;

/* Small enough for exact sums, except of halves; with NaN, infinity and both zeros for minima and
 * maxima of floats. */
static void set_values(values *v, operation op, unsigned seed)
{
    static const double specials[] = {NAN, -0.0, 0.0, INFINITY, -INFINITY, 1.5};
    const bool special = (op == MIN || op == MAX) && !integers(v->dtype);
    for (int k = 0; k < THREADS; k++) {
        const unsigned r = (seed + (unsigned)k) * 2654435761u >> 7;
        number by = whole(r % 3), seen = whole(r / 3 % 3);
        if (op != ADD && op != SUB) {
            by = whole((int64_t)(r % 5) - (is_unsigned(v->dtype) ? 0 : 2));
        }
        if (special) {
            by.re = specials[r % 6];
        }
        if (op == INC || op == DEC) {
            by = whole(3 + r % 4);
        }
        if (complexes(v->dtype)) {
            by.im = (double)(r % 2);
        }
        number_store(v->by + (size_t)k * v->size, v->dtype, by);
        number_store(v->seen + (size_t)k * v->size, v->dtype, seen);
    }
    check(quern_array_write(v->by_array, v->by, THREADS * v->size), "values");
    check(quern_array_write(v->seen_array, v->seen, THREADS * v->size), "values");
}

/* ---- where the elements lie ----------------------------------------------------------------- */

typedef enum memory { OWN, VIEW, WRAPPED, EXACT, KINDS } memory;
static const char *const kind_names[KINDS] = {"array", "view", "wrapped memory",
                                              "memory of malloc"};

/* Elements and the block of bytes around them. */
typedef struct place {
    quern_array *block, *elements;
    unsigned char *host;          /* of the block, where it is the host's own memory */
    size_t bytes, before, inside; /* of the block, before the elements, of the elements */
} place;

static void place_make(place *p, quern_engine *engine, quern_dtype dtype, memory kind,
                       int64_t length, int offset, bool on_host)
{
    const size_t size = quern_dtype_size(dtype);
    *p = (place){.inside = (size_t)length * size};
    p->before = kind == WRAPPED ? GUARD + (size_t)offset * size
                : kind == VIEW  ? (size_t)offset * size
                                : 0;
    p->bytes = p->before + p->inside + (kind == WRAPPED ? GUARD : 0);
    if (on_host && kind >= WRAPPED) {
        p->host = malloc(p->bytes);
        memset(p->host, GUARD_BYTE, p->bytes);
        check(quern_array_wrap(&p->elements, engine, dtype, 1, &length, NULL, p->host + p->before,
                               NULL, NULL),
              "wrap");
        return;
    }
    unsigned char guards[2 * GUARD + (LENGTHS + OFFSETS) * WIDEST];
    memset(guards, GUARD_BYTE, sizeof guards);
    const int64_t count = (int64_t)(p->bytes / size);
    check(quern_array_new(&p->block, engine, dtype, 1, &count), "array");
    check(quern_array_write(p->block, guards, p->bytes), "guards");
    if (kind == WRAPPED) {
        check(quern_array_wrap(&p->elements, engine, dtype, 1, &length, NULL,
                               (char *)quern_array_pointer(p->block) + p->before, NULL, NULL),
              "wrap");
    } else {
        quern_slice slice = {offset, offset + length, 1};
        check(quern_array_slice(&p->elements, p->block, 1, &slice), "view");
    }
}

/* The elements as they are now; false when a byte around them has changed. */
static bool place_read(const place *p, unsigned char *elements)
{
    unsigned char block[2 * GUARD + (LENGTHS + OFFSETS) * WIDEST];
    if (p->host) {
        memcpy(block, p->host, p->bytes);
    } else {
        check(quern_array_read(p->block, block, p->bytes), "read");
    }
    memcpy(elements, block + p->before, p->inside);
    bool kept = true;
    for (size_t k = 0; k < p->bytes; k++) {
        kept &= (k >= p->before && k < p->before + p->inside) || block[k] == GUARD_BYTE;
    }
    return kept;
}

static void place_free(place *p)
{
    quern_array_release(p->elements);
    quern_array_release(p->block);
    free(p->host);
}

/* ---- one row -------------------------------------------------------------------------------- */

static size_t compared_bytes;

static int by_bytes(const void *a, const void *b)
{
    return memcmp(a, b, compared_bytes);
}

/* One part of a complex number, or the whole of any other: the parts are summed separately. */
typedef struct part {
    quern_dtype dtype;
    size_t size, at, stride;
} part;

static number part_load(const part *p, const unsigned char *elements, size_t k)
{
    return number_load(elements + k * p->stride + p->at, p->dtype);
}

static void part_store(const part *p, unsigned char *to, number v)
{
    if (isnan(v.re)) {
        v.re = (double)NAN; /* one of all */
    }
    number_store(to, p->dtype, v);
}

/* Whether what thread after thread found at element `e` and left there fits together. */
static bool fits(const part *p, operation op, const values *v, const unsigned char *old,
                 const unsigned char *end, size_t e, size_t length)
{
    unsigned char found[(THREADS + 1) * WIDEST], left[(THREADS + 1) * WIDEST];
    size_t count = 0;
    number loop = whole(0);
    unsigned char last[WIDEST];
    part_store(p, left, loop);
    for (size_t k = e; k < THREADS; k += length, count++) {
        const number was = part_load(p, old, k), by = part_load(p, v->by, k),
                     seen = part_load(p, v->seen, k);
        part_store(p, found + count * p->size, was);
        part_store(p, left + (count + 1) * p->size, left_by(op, p->dtype, was, by, seen));
        part_store(p, last, left_by(op, p->dtype, loop, by, seen));
        loop = number_load(last, p->dtype);
    }
    part_store(p, found + count * p->size, part_load(p, end, e));
    part_store(p, last, loop);
    const bool exact = (p->dtype != QUERN_BFLOAT16 && !eighths(p->dtype)) || op == MIN || op == MAX;
    if (table_atomics[op].any_order && exact &&
        memcmp(last, found + count * p->size, p->size) != 0) {
        return false;
    }
    compared_bytes = p->size;
    qsort(found, count + 1, p->size, by_bytes);
    qsort(left, count + 1, p->size, by_bytes);
    return memcmp(found, left, (count + 1) * p->size) == 0;
}

static bool fits_everywhere(operation op, const values *v, const unsigned char *old,
                            const unsigned char *end, int64_t length)
{
    const bool parts = complexes(v->dtype) && (op == ADD || op == SUB);
    const size_t size = parts ? v->size / 2 : v->size;
    const quern_dtype dtype = !parts                        ? v->dtype
                              : v->dtype == QUERN_COMPLEX64 ? QUERN_FLOAT32
                                                            : QUERN_FLOAT64;
    bool good = true;
    for (size_t at = 0; at < v->size; at += size) {
        const part p = {dtype, size, at, v->size};
        for (int64_t e = 0; e < length; e++) {
            good &= fits(&p, op, v, old, end, (size_t)e, (size_t)length);
        }
    }
    return good;
}

typedef struct table {
    quern_engine *engine;
    bool on_host; /* the device's memory is the host's */
    rows rows;
    quern_kernel *kernel;
    values values;
} table;

static void run_row(table *t, operation op, memory kind, int64_t length, int offset)
{
    values *v = &t->values;
    place p;
    unsigned char old[THREADS * WIDEST], end[LENGTHS * WIDEST];
    place_make(&p, t->engine, v->dtype, kind, length, offset, t->on_host);
    memset(end, 0, sizeof end);
    check(quern_array_write(p.elements, end, p.inside), "zeros");
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    options.loop_size = &(int64_t){THREADS};
    const quern_value arguments[] = {
        quern_value_array(v->by_array), quern_value_array(v->seen_array),
        quern_literal_int(op),          quern_literal_int(length),
        quern_value_array(p.elements),  quern_value_array(v->old)};
    check(quern_call_n(t->kernel, arguments, 6, &options), table_atomics[op].name);
    check(quern_array_read(v->old, old, THREADS * v->size), "old values");
    const bool kept = place_read(&p, end);
    const bool right = fits_everywhere(op, v, old, end, length);
    t->rows.run++;
    if (!kept || !right) {
        t->rows.failed++;
        printf("FAILED: %s of %s, %lld elements, %s at offset %d: %s\n", table_atomics[op].name,
               quern_dtype_name(v->dtype), (long long)length, kind_names[kind], offset,
               right ? "a byte beside the elements changed" : "values that do not fit together");
    }
    place_free(&p);
}

/* ---- the table ------------------------------------------------------------------------------ */

static quern_kernel *define(quern_engine *engine, quern_dtype dtype)
{
    char text[2048], in[64], out[64];
    size_t used = (size_t)snprintf(text, sizeof text, "T *at = &y[i %% n];\nswitch (op) {\n");
    for (operation op = 0; op < OPERATIONS; op++) {
        if (table_atomics[op].takes(dtype)) {
            used += (size_t)snprintf(text + used, sizeof text - used,
                                     "case %d: old[i] = %s(at, %sby[i]); break;\n", (int)op,
                                     table_atomics[op].name, op == CAS ? "seen[i], " : "");
        }
    }
    snprintf(text + used, sizeof text - used, "}");
    snprintf(in, sizeof in, "raw T by, raw T seen, int32 op, int32 n");
    snprintf(out, sizeof out, "raw T y, raw T old");
    quern_kernel *kernel;
    check(quern_elementwise(&kernel, engine, in, out, text, NULL), "kernel");
    return kernel;
}

static void run_dtype(table *t, quern_dtype dtype)
{
    values *v = &t->values;
    const int64_t threads = THREADS;
    *v = (values){.dtype = dtype, .size = quern_dtype_size(dtype)};
    check(quern_array_new(&v->by_array, t->engine, dtype, 1, &threads), "values");
    check(quern_array_new(&v->seen_array, t->engine, dtype, 1, &threads), "values");
    check(quern_array_new(&v->old, t->engine, dtype, 1, &threads), "values");
    t->kernel = define(t->engine, dtype);
    for (operation op = 0; op < OPERATIONS; op++) {
        if (!table_atomics[op].takes(dtype)) {
            continue;
        }
        set_values(v, op, (unsigned)dtype * 31 + op);
        for (int row = 0; row < LENGTHS * KINDS * OFFSETS; row++) {
            const memory kind = (memory)(row / OFFSETS % KINDS);
            const int offset = row % OFFSETS;
            const bool one = kind == OWN || kind == EXACT; /* that begins where it begins */
            if (!(one && offset > 0) && !(kind == EXACT && !t->on_host) && rows_next(&t->rows)) {
                run_row(t, op, kind, 1 + row / OFFSETS / KINDS, offset);
            }
        }
    }
    quern_kernel_release(t->kernel);
    quern_array_release(v->by_array);
    quern_array_release(v->seen_array);
    quern_array_release(v->old);
}

int main(int argc, char **argv)
{
    table *t = calloc(1, sizeof *t);
    quern_device_info info = {.size = sizeof info};
    t->rows = rows_asked(argc, argv);
    check(quern_open(&t->engine, NULL), "open");
    check(quern_device_get_info(&info, t->engine), "device");
    t->on_host = strncmp(info.id, "soft", 4) == 0;
    for (quern_dtype d = QUERN_BOOL; d <= QUERN_FLOAT8_E5M2; d++) {
        run_dtype(t, d);
    }
    quern_close(t->engine);
    const int status = rows_report(&t->rows, "rows of atomics");
    free(t);
    return status;
}
