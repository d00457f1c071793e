/* SPDX-License-Identifier: MIT
 *
 * bools: whatever is in a byte of a bool array, a kernel reads 0 or 1 and writes 0 or 1. In:
 * `table_bools [PART/PARTS]`, the device from QUERN_DEVICE. Out: one line with how many rows were
 * right, and one for each that was not; status 1 if there was any. A row is a kernel, a view of
 * memory that holds the bytes 0, 1, 2, 127, 128 and 255, and the owner of that memory.
 */
#include "table.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 70 * 70, VIEWS = 7 };

/* ---- kernels -------------------------------------------------------------------------------- */

typedef enum form { EACH, FOLD, SCAN } form;

/* The input is called x, a second one, its mirror image, y, and the output z. The bits say what it
 * should be: 1 where x, 2 where y, 4 where z was, 8 at odd positions. */
typedef struct kernel {
    form form;
    const char *in, *out, *text; /* operation, or how to combine */
    int (*expected)(int bits);
} kernel;

static int is_x(int bits)
{
    return bits & 1;
}
static int is_not_x(int bits)
{
    return !(bits & 1);
}
static int is_and(int bits)
{
    return (bits & 3) == 3;
}
static int is_different(int bits)
{
    return (bits & 1) != (bits >> 1 & 1);
}
static int is_sum(int bits)
{
    return (bits & 1) + (bits >> 1 & 1);
}
static int is_chosen(int bits)
{
    return bits & 1 ? 7 : -7;
}
static int is_odd_x(int bits)
{
    return bits & 8 ? bits & 1 : bits >> 2 & 1;
}
static int is_xor_z(int bits)
{
    return (bits & 1) ^ (bits >> 2 & 1);
}
static int is_changed(int bits)
{
    const int x = bits & 1, z = bits >> 2 & 1;
    return bits & 8 ? z && !x : z;
}
static int is_z(int bits)
{
    return bits >> 2 & 1;
}

static const kernel kernels[] = {
    {EACH, "bool x", "int32 z", "z = x", is_x},
    {EACH, "bool x", "bool z", "z = x", is_x},
    {EACH, "bool x", "bool z", "z = !x", is_not_x},
    {EACH, "bool x", "int8 z", "z = x", is_x},
    {EACH, "bool x", "float16 z", "z = x", is_x},
    {EACH, "bool x", "float64 z", "z = x", is_x},
    {EACH, "bool x", "complex64 z", "z = x", is_x},
    {EACH, "bool x, bool y", "bool z", "z = x & y", is_and},
    {EACH, "bool x, bool y", "bool z", "z = x ^ y", is_different},
    {EACH, "bool x, bool y", "int32 z", "z = x != y", is_different},
    {EACH, "bool x, bool y", "int64 z", "z = x + y", is_sum},
    {EACH, "bool x", "float32 z", "z = x ? 7 : -7", is_chosen},
    {EACH, "bool x", "bool z", "if (i % 2) z = x", is_odd_x},
    {EACH, "bool x", "bool z", "z ^= x", is_xor_z},
    {EACH, "bool x", "bool z", "if (i < 0) z = x", is_z},
    {EACH, "bool x", "int32 z", "bool copies[2] = {x, x}; z = copies[i % 2]", is_x},
    {EACH, "raw bool x", "int32 z", "z = x[i]", is_x},
    {EACH, "raw bool x, raw bool y", "int32 z", "z = x[i] != y[i]", is_different},
    {EACH, "raw bool x", "raw bool z", "z[i] = x[i]", is_x},
    {EACH, "raw bool x", "raw bool z", "z[i] = z[i] ^ x[i]", is_xor_z},
    {EACH, "raw bool x", "raw bool z", "z[i] ^= x[i]", is_xor_z},
    {EACH, "raw bool x", "raw bool z", "z[i] /= 1; z[i] %= 2; if (i % 2) (z[i] <<= 1) >>= x[i]",
     is_changed},
    {EACH, "raw bool x", "raw bool z", "if (i % 2) z[i] = x[i]; else z[i] = z[i]", is_odd_x},
    {EACH, "raw bool x", "raw bool z", "auto v = z[i]; z[i] = !v; z[i] = !z[i]", is_z},
    {EACH, "raw bool x", "raw bool z", "bool &r(z[i]); r = x[i]", is_x},
    {EACH, "raw bool x", "raw bool z", "[](bool &v, bool w) { v = w; }(z[i], x[i])", is_x},
    {FOLD, "bool x", "int32 z", "a + b", is_x},
    {FOLD, "bool x", "int64 z", "max(a, b)", is_x},
    {FOLD, "bool x", "bool z", "a != b", is_x},
    {FOLD, "bool x", "bool z", "a && b", is_x},
    {SCAN, "bool x", "int32 z", "a + b", is_x},
    {SCAN, "bool x", "bool z", "a != b", is_x},
    {SCAN, "bool x", "bool z", "a || b", is_x},
};

static int combine(const kernel *k, int a, int b)
{
    switch (k->text[2]) {
    case '+':
        return a + b;
    case '!':
        return a != b;
    case '&':
        return a && b;
    case '|':
        return a || b;
    default:
        return a > b ? a : b;
    }
}

static bool has(const char *list, const char *what)
{
    return strstr(list, what) != NULL;
}

static quern_kernel *define(quern_engine *engine, const kernel *k)
{
    quern_kernel *made;
    if (k->form == EACH) {
        check(quern_elementwise(&made, engine, k->in, k->out, k->text, NULL), k->text);
    } else if (k->form == FOLD) {
        check(quern_reduction(&made, engine, k->in, k->out, "x", k->text, "z = a", NULL, NULL),
              k->text);
    } else {
        check(quern_scan(&made, engine, k->in, k->out, "x", k->text, "z = a", NULL, NULL), k->text);
    }
    return made;
}

/* ---- memory --------------------------------------------------------------------------------- */

/* A view of bytes, on the device and on the host. */
typedef struct bytes {
    quern_array *base, *view;
    unsigned char *host;
    int64_t offset; /* of the view's first element */
} bytes;

static unsigned char byte_at(unsigned k)
{
    static const unsigned char all[] = {0, 1, 2, 127, 128, 255};
    return all[k * 2654435761u >> 11 & 1 ? k * 40503u >> 7 % 6 & 1 : (k * 2654435761u >> 9) % 6];
}

/* A view of n x m elements: plain, from an odd byte on, every other, backwards, transposed, a row
 * for all, a column for all. */
static void view_bytes(bytes *b, quern_engine *engine, int view, int64_t n, int64_t m, bool wrapped,
                       unsigned seed)
{
    const bool flipped = view == 4;
    const int64_t whole[2] = {flipped ? m : n,
                              (flipped ? n : m) * (view == 2 ? 2 : 1) + (view == 1)};
    const size_t count = (size_t)(whole[0] * whole[1]);
    b->host = malloc(count + 1);
    for (size_t k = 0; k < count; k++) {
        b->host[k] = byte_at((unsigned)k + seed);
    }
    if (wrapped) {
        check(quern_array_wrap(&b->base, engine, QUERN_BOOL, 2, whole, NULL, b->host, NULL, NULL),
              "wrap");
    } else {
        check(quern_array_from(&b->base, engine, QUERN_BOOL, 2, whole, b->host), "array");
    }
    const quern_slice all = QUERN_SLICE_ALL, none = {QUERN_SLICE_NONE, QUERN_SLICE_NONE, -1};
    const quern_slice from = {1, QUERN_SLICE_NONE, 1}, other = {0, QUERN_SLICE_NONE, 2};
    const quern_slice one = {0, 1, 1};
    quern_slice slices[2] = {all, all};
    const int64_t extent[2] = {n, m};
    quern_array *part = NULL;
    switch (view) {
    case 1:
        slices[1] = from;
        break;
    case 2:
        slices[1] = other;
        break;
    case 3:
        slices[0] = slices[1] = none;
        break;
    case 5:
    case 6:
        slices[view - 5] = one;
        break;
    default:
        break;
    }
    check(quern_array_slice(&part, b->base, 2, slices), "slice");
    if (flipped) {
        check(quern_array_transpose(&b->view, part, NULL), "transpose");
    } else {
        check(quern_array_broadcast(&b->view, part, 2, extent), "broadcast");
    }
    quern_array_release(part);
    b->offset = (char *)quern_array_pointer(b->view) - (char *)quern_array_pointer(b->base);
}

static int truth(const bytes *b, int64_t row, int64_t column)
{
    const int64_t *strides = quern_array_strides(b->view);
    return b->host[b->offset + row * strides[0] + column * strides[1]] != 0;
}

static void free_bytes(bytes *b)
{
    quern_array_release(b->view);
    quern_array_release(b->base);
    free(b->host);
}

/* ---- one row -------------------------------------------------------------------------------- */

typedef struct table {
    quern_engine *engine;
    bool on_host;
    rows rows;
} table;

/* The answers of the host, in C order; returns how many. Bits: the element's of `kernel`. */
static int64_t answer(const kernel *k, const unsigned char *bits, int64_t n, int64_t m, int axes,
                      int *out)
{
    for (int64_t at = 0; k->form != FOLD && at < n * m; at++) {
        out[at] = k->expected(bits[at]);
        const int64_t before = axes == 1 ? at - m : at - 1;
        const bool first = axes == 1 ? at < m : axes == 2 ? at % m == 0 : at == 0;
        if (k->form == SCAN && !first) {
            out[at] = combine(k, out[before], out[at]);
        }
    }
    if (k->form != FOLD) {
        return n * m;
    }
    const int64_t outputs = axes == 1 ? m : axes == 2 ? n : 1;
    for (int64_t at = 0; at < n * m; at++) {
        const int64_t to = axes == 1 ? at % m : axes == 2 ? at / m : 0;
        const bool first = axes == 1 ? at < m : axes == 2 ? at % m == 0 : at == 0;
        const int value = k->expected(bits[at]);
        out[to] = first ? value : combine(k, out[to], value);
    }
    return outputs;
}

static bool same(quern_array *z, const int *expected, int64_t count)
{
    const quern_dtype dtype = quern_array_dtype(z);
    const size_t size = quern_dtype_size(dtype);
    unsigned char *got = malloc((size_t)count * size + 1);
    check(quern_array_read(z, got, (size_t)count * size), "read");
    bool right = quern_array_count(z) == count;
    for (int64_t k = 0; k < count && right; k++) {
        right = number_is(got + (size_t)k * size, dtype, whole(expected[k]), 0);
    }
    free(got);
    return right;
}

/* `axes`: 0 all, 1 the first, 2 the second. */
static void run_row(table *t, const kernel *k, quern_kernel *made, int view, int64_t n, int64_t m,
                    bool wrapped, int axes)
{
    bytes x, y, z;
    view_bytes(&x, t->engine, view, n, m, wrapped, 0);
    view_bytes(&y, t->engine, (view + 1) % 5, n, m, wrapped, 77);
    view_bytes(&z, t->engine, view < 5 ? view : 0, n, m, wrapped, 1234);
    static unsigned char bits[LARGEST];
    static int expected[LARGEST];
    for (int64_t at = 0; at < n * m; at++) {
        const int64_t r = at / m, c = at % m;
        bits[at] = (unsigned char)(truth(&x, r, c) | truth(&y, r, c) << 1 | truth(&z, r, c) << 2 |
                                   (at % 2) << 3);
    }
    const bool given = has(k->out, "bool") && k->form == EACH;
    quern_array *made_z = NULL;
    quern_value values[3];
    size_t count = 0;
    values[count++] = quern_value_array(x.view);
    if (has(k->in, "y")) {
        values[count++] = quern_value_array(y.view);
    }
    values[count++] = given ? quern_value_array(z.view) : quern_value_output(&made_z);
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    const int axis = axes - 1;
    options.axes = axes ? &axis : NULL;
    options.axis_count = axes != 0;
    const int64_t all = n * m;
    options.loop_size = has(k->in, "raw") && has(k->out, "raw") ? &all : NULL;
    if (has(k->in, "raw") && !has(k->out, "raw")) { /* nothing else says how many */
        const int64_t extent[2] = {n, m};
        check(quern_array_new(&made_z, t->engine, quern_dtype_from_name("int32"), 2, extent),
              "new");
        values[count - 1] = quern_value_array(made_z);
    }
    check(quern_call_n(made, values, count, &options), k->text);
    t->rows.run++;
    if (!same(given ? z.view : made_z, expected, answer(k, bits, n, m, axes, expected))) {
        t->rows.failed++;
        printf("FAILED: %s -> %s: %s, view %d of %lld x %lld, %s, axes %d\n", k->in, k->out,
               k->text, view, (long long)n, (long long)m, wrapped ? "wrapped" : "own", axes);
    }
    quern_array_release(made_z);
    free_bytes(&x);
    free_bytes(&y);
    free_bytes(&z);
}

int main(int argc, char **argv)
{
    static const int64_t shapes[][2] = {{1, 1},   {1, 37},  {3, 5},   {7, 64},
                                        {33, 70}, {70, 70}, {1, 4900}};
    table t = {.rows = rows_asked(argc, argv)};
    quern_device_info info = {.size = sizeof info};
    check(quern_open(&t.engine, NULL), "open");
    check(quern_device_get_info(&info, t.engine), "device");
    t.on_host = strncmp(info.id, "soft", 4) == 0;
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        quern_kernel *made = define(t.engine, &kernels[k]);
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            for (int row = 0; row < VIEWS * 2 * 3; row++) {
                const int view = row % VIEWS, axes = row / VIEWS % 3;
                const bool wrapped = row / VIEWS / 3 == 1;
                if ((axes == 0 || kernels[k].form != EACH) &&
                    !(axes == 0 && kernels[k].form == SCAN) && (!wrapped || t.on_host) &&
                    rows_next(&t.rows)) {
                    run_row(&t, &kernels[k], made, view, shapes[s][0], shapes[s][1], wrapped, axes);
                }
            }
        }
        quern_kernel_release(made);
    }
    quern_close(t.engine);
    return rows_report(&t.rows, "rows of bools");
}
