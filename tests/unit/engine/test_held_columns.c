/* SPDX-License-Identifier: MIT
 *
 * Scans along columns whose blocks hold their tiles (src/array/fold_strips.c), beside results made
 * on the host. Each case is drawn: the type, how many columns there are and how long, how far apart
 * positions lie, and whether results go where the elements came from. The software device gets the
 * shared memory of a large GPU, and so many processors that there are few columns for each.
 */
#include "draw.h"
#include "held.h"

static void open_held(void)
{
    whole_open_on("soft:16,shared=227");
}

TestSuite(held_columns, .init = open_held, .fini = whole_close);

enum { SECTOR = 32 }; /* bytes */

/* Matrices one behind the other, of which each column is scanned, and what their scans are. */
typedef struct columns {
    int64_t matrices, length, count, pitch, apart, offset, all; /* elements; `all` of the memory */
    char *from, *expected;
} columns;

static int64_t place_of(const columns *c, int64_t matrix, int64_t position, int64_t k)
{
    return c->offset + matrix * c->apart + position * c->pitch + k;
}

/* Every position begins a sector, as words need it. */
static columns draw_columns(int64_t size)
{
    const int64_t sector = SECTOR / size;
    columns c = {.matrices = 1 + rand() % 2, .length = 900 + rand() % 3000};
    c.count = (2 + rand() % 24) * sector;
    c.pitch = c.count + rand() % 3 * sector;
    c.apart = c.length * c.pitch + rand() % 3 * sector;
    c.offset = rand() % 4 * sector;
    c.all = c.offset + c.matrices * c.apart + sector;
    c.from = malloc((size_t)(c.all * size));
    c.expected = malloc((size_t)(c.all * size));
    cr_assert(c.from && c.expected);
    return c;
}

static void release_columns(columns *c)
{
    free(c->from);
    free(c->expected);
}

static quern_array *view_of(quern_array *memory, element t, const columns *c)
{
    quern_array *view;
    OK(quern_array_wrap(&view, engine, t.dtype, SHAPE(c->matrices, c->length, c->count),
                        (int64_t[]){c->apart * t.size, c->pitch * t.size, t.size},
                        (char *)quern_array_pointer(memory) + c->offset * t.size, NULL, NULL));
    return view;
}

/* Bytes of the output, and around it, that are not as expected. */
static int64_t wrong_bytes(quern_kernel *kernel, element t, const columns *c, bool in_place)
{
    quern_array *x, *y;
    OK(quern_array_from(&x, engine, t.dtype, SHAPE(c->all), c->from));
    OK(quern_array_from(&y, engine, t.dtype, SHAPE(c->all), c->from));
    quern_array *in = view_of(in_place ? y : x, t, c), *out = view_of(y, t, c);
    const quern_value values[] = {QUERN_VALUES(in, out)};
    call_along(kernel, values, 2, ", held, ");
    const int64_t wrong = differing(y, c->expected, c->all * t.size);
    quern_array *arrays[] = {in, out, x, y};
    for (int n = 0; n < 4; n++) {
        quern_array_release(arrays[n]);
    }
    return wrong;
}

/* Numbers small enough for all types; sums wrap around. */
static void fill(const columns *c, int64_t size, bool exclusive)
{
    fill_numbers(c->from, c->all, size);
    memcpy(c->expected, c->from, (size_t)(c->all * size));
    for (int64_t k = 0; k < c->matrices * c->count; k++) {
        int64_t sum = 0;
        for (int64_t p = 0; p < c->length; p++) {
            const int64_t place = place_of(c, k / c->count, p, k % c->count), before = sum;
            sum += number_at(place);
            memcpy(c->expected + place * size, exclusive ? &before : &sum, (size_t)size);
        }
    }
}

static void check_sums(bool exclusive)
{
    static const element types[] = {
        {QUERN_INT8, 1}, {QUERN_INT16, 2}, {QUERN_INT32, 4}, {QUERN_INT64, 8}};
    const quern_scan_options options = {.size = sizeof options, .exclusive = exclusive};
    quern_kernel *kernel;
    OK(quern_scan(&kernel, engine, "T x", "T y", "x", "a + b", "y = a", "0", &options));
    srand(exclusive ? 5 : 3);
    for (int n = 0; n < drawn(24); n++) {
        const element t = types[n % 4];
        columns c = draw_columns(t.size);
        fill(&c, t.size, exclusive);
        cr_expect_eq(wrong_bytes(kernel, t, &c, n % 5 == 4), 0,
                     "case %d: %lld columns of %lld, %lld bytes", n, (long long)c.count,
                     (long long)c.length, (long long)t.size);
        release_columns(&c);
    }
    quern_kernel_release(kernel);
}

Test(held_columns, sums)
{
    check_sums(false);
}

Test(held_columns, exclusive_sums)
{
    check_sums(true);
}

Test(held_columns, order_counts)
{
    const element t = {QUERN_UINT32, 4};
    quern_kernel *kernel = ordered_kernel();
    srand(8);
    for (int n = 0; n < 8; n++) {
        columns c = draw_columns(t.size);
        fill_steps(c.from, c.all);
        memcpy(c.expected, c.from, (size_t)(c.all * t.size));
        for (int64_t k = 0; k < c.matrices * c.count; k++) {
            uint32_t sum = 0;
            for (int64_t p = 0; p < c.length; p++) {
                uint32_t *own = (uint32_t *)c.expected + place_of(&c, k / c.count, p, k % c.count);
                take_step(own, &sum);
            }
        }
        cr_expect_eq(wrong_bytes(kernel, t, &c, n % 2 == 1), 0, "case %d", n);
        release_columns(&c);
    }
    quern_kernel_release(kernel);
}

/* Two inputs, a number, an output that is wider, and one that counts. */
Test(held_columns, several_operands)
{
    enum { LENGTH = 1501, COUNT = 264 };
    static int32_t from[LENGTH][COUNT], places[LENGTH][COUNT];
    static int64_t sums[LENGTH][COUNT];
    for (int k = 0; k < LENGTH * COUNT; k++) {
        from[k / COUNT][k % COUNT] = k % 13 - 6;
    }
    quern_kernel *kernel;
    OK(quern_scan(&kernel, engine, "int32 x, int32 w, int32 c", "int64 y, int32 z",
                  "(long long)x * w + c", "a + b", "y = a; z = _J", "0", NULL));
    quern_array *x, *w, *y = NULL, *z = NULL;
    OK(quern_array_from(&x, engine, QUERN_INT32, SHAPE(1, LENGTH, COUNT), from));
    OK(quern_array_from(&w, engine, QUERN_INT32, SHAPE(1, LENGTH, COUNT), from));
    const quern_value values[] = {QUERN_VALUES(x, w, 3, &y, &z)};
    call_along(kernel, values, 5, ", held, ");
    OK(quern_array_read(y, sums, sizeof sums));
    OK(quern_array_read(z, places, sizeof places));
    int64_t wrong = 0;
    for (int k = 0; k < COUNT; k++) {
        int64_t sum = 0;
        for (int p = 0; p < LENGTH; p++) {
            sum += (int64_t)from[p][k] * from[p][k] + 3;
            wrong += sums[p][k] != sum || places[p][k] != p;
        }
    }
    cr_expect_eq(wrong, 0);
    quern_array *arrays[] = {x, w, y, z};
    for (int n = 0; n < 4; n++) {
        quern_array_release(arrays[n]);
    }
    quern_kernel_release(kernel);
}
