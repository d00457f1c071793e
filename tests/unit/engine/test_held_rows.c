/* SPDX-License-Identifier: MIT
 *
 * Scans of rows long enough for blocks to hold their tiles (src/array/fold_held.c), and of many
 * rows that go by runs (fold_runs.c), beside results made on the host. Each case is drawn: the
 * type, where rows begin and end, how many there are, and whether results go where the elements
 * came from. The software device gets the shared memory of a large GPU.
 */
#include "draw.h"
#include "held.h"

static void open_held(void)
{
    whole_open_on("soft:1,shared=227");
}

TestSuite(held_rows, .init = open_held, .fini = whole_close);

enum { TILE = 27 * 4096, SMALL_TILE = 18 * 4096, MARGIN = 64 }; /* bytes; elements */

static int64_t processors(void)
{
    quern_device_info info = QUERN_DEVICE_INFO_INIT;
    OK(quern_device_get_info(&info, engine));
    return info.processors;
}

/* So many tiles of elements of `size` bytes are enough for every block that the device holds at
 * once. */
static int64_t least_tiles(int64_t size)
{
    return (size == 2 ? 12 : size == 4 ? 18 : 24) * processors();
}

/* Rows of elements of `size` bytes in memory, and what their scans are. */
typedef struct rows {
    int64_t count, length, pitch, offset, size, all; /* elements; `all` of the memory */
    char *from, *expected;
} rows;

static int64_t place_of(const rows *r, int64_t row, int64_t k)
{
    return (r->offset + row * r->pitch + k) * r->size;
}

static rows make_rows(int64_t size, int64_t count, int64_t length, int64_t gap)
{
    rows r = {.count = count, .length = length, .size = size};
    r.offset = rand() % MARGIN;
    r.pitch = r.length + gap;
    r.all = r.offset + count * r.pitch + MARGIN;
    r.from = malloc((size_t)(r.all * size));
    r.expected = malloc((size_t)(r.all * size));
    cr_assert(r.from && r.expected);
    return r;
}

static rows draw_rows(int64_t size, int64_t tiles)
{
    const int64_t count = 1 + rand() % 3, per = tiles / count + 2;
    const int64_t ends[] = {0, 1, -1, SMALL_TILE / size, SMALL_TILE / size + 1, rand() % 20000};
    return make_rows(size, count, per * TILE / size + ends[rand() % 6], rand() % MARGIN);
}

static quern_array *view_of(quern_array *memory, element t, const rows *r)
{
    quern_array *view;
    OK(quern_array_wrap(&view, engine, t.dtype, SHAPE(r->count, r->length),
                        (int64_t[]){r->pitch * t.size, t.size},
                        (char *)quern_array_pointer(memory) + r->offset * t.size, NULL, NULL));
    return view;
}

/* Bytes of the output, and around it, that are not as expected. The plan has the words `way`. */
static int64_t wrong_bytes(quern_kernel *kernel, element t, const rows *r, bool in_place,
                           const char *way)
{
    quern_array *x, *y;
    OK(quern_array_from(&x, engine, t.dtype, SHAPE(r->all), r->from));
    OK(quern_array_from(&y, engine, t.dtype, SHAPE(r->all), r->from));
    quern_array *in = view_of(in_place ? y : x, t, r), *out = view_of(y, t, r);
    const quern_value values[] = {QUERN_VALUES(in, out)};
    call_along(kernel, values, 2, way);
    const int64_t wrong = differing(y, r->expected, r->all * t.size);
    quern_array *arrays[] = {in, out, x, y};
    for (int n = 0; n < 4; n++) {
        quern_array_release(arrays[n]);
    }
    return wrong;
}

static void release_rows(rows *r)
{
    free(r->from);
    free(r->expected);
}

/* Numbers small enough for all types; sums wrap around. */
static void fill(const rows *r, bool exclusive)
{
    fill_numbers(r->from, r->all, r->size);
    memcpy(r->expected, r->from, (size_t)(r->all * r->size));
    for (int64_t row = 0; row < r->count; row++) {
        int64_t sum = 0;
        for (int64_t k = 0; k < r->length; k++) {
            const int64_t place = place_of(r, row, k), own = number_at(place / r->size);
            const int64_t before = sum;
            sum += own;
            memcpy(r->expected + place, exclusive ? &before : &sum, (size_t)r->size);
        }
    }
}

static void check_sums(bool exclusive)
{
    static const element types[] = {{QUERN_INT16, 2}, {QUERN_INT32, 4}, {QUERN_INT64, 8}};
    const quern_scan_options options = {.size = sizeof options, .exclusive = exclusive};
    const int cases = processors() > 8 ? 4 : 18;
    quern_kernel *kernel;
    OK(quern_scan(&kernel, engine, "T x", "T y", "x", "a + b", "y = a", "0", &options));
    srand(exclusive ? 5 : 3);
    for (int n = 0; n < drawn(cases); n++) {
        const element t = types[n % 3];
        rows r = draw_rows(t.size, least_tiles(t.size));
        fill(&r, exclusive);
        cr_expect_eq(wrong_bytes(kernel, t, &r, n % 4 == 3, "held in"), 0,
                     "case %d: %lld rows of %lld, %lld bytes", n, (long long)r.count,
                     (long long)r.length, (long long)t.size);
        release_rows(&r);
    }
    quern_kernel_release(kernel);
}

Test(held_rows, sums)
{
    check_sums(false);
}

Test(held_rows, exclusive_sums)
{
    check_sums(true);
}

/* More rows than the device holds blocks, which go in tiles all the same, of one to four a row.
 * They do not lie on, or blocks would take several as one run of memory. */
Test(held_rows, many_rows_by_runs)
{
    static const element types[] = {{QUERN_INT8, 1}, {QUERN_INT16, 2}};
    const int64_t blocks = 4 * processors();
    const int cases = blocks > 100 ? 2 : 24;
    srand(13);
    for (int n = 0; n < drawn(cases); n++) {
        const element t = types[n % 2];
        const quern_scan_options options = {.size = sizeof options, .exclusive = n % 3 == 2};
        quern_kernel *kernel;
        OK(quern_scan(&kernel, engine, "T x", "T y", "x", "a + b", "y = a", "0", &options));
        rows r = make_rows(t.size, blocks + rand() % 5, (16100 + rand() % 140000) / t.size | 1,
                           1 + rand() % MARGIN);
        fill(&r, options.exclusive);
        cr_expect_eq(wrong_bytes(kernel, t, &r, n % 4 == 3, "by rows, runs of"), 0,
                     "case %d: %lld rows of %lld, %lld apart from %lld on", n, (long long)r.count,
                     (long long)r.length, (long long)r.pitch, (long long)r.offset);
        release_rows(&r);
        quern_kernel_release(kernel);
    }
}

/* Inputs of four bytes and of one: five blocks would leave room for 16 elements a lane, and four
 * have 32, in more shared memory than a text may ask for. Rows begin anywhere and end in part. */
Test(held_rows, runs_in_larger_rooms)
{
    quern_kernel *kernel;
    OK(quern_scan(&kernel, engine, "int32 x, int8 w", "int32 y", "x * w", "a + b", "y = a", "0",
                  NULL));
    srand(21);
    for (int n = 0; n < 12; n++) {
        const int64_t length = 60000 + rand() % 90000, first = rand() % 9, all = first + length;
        int32_t *from = malloc((size_t)all * sizeof *from),
                *got = malloc((size_t)all * sizeof *got);
        int8_t *by = malloc((size_t)all);
        cr_assert(from && got && by);
        fill_numbers((char *)from, all, sizeof *from);
        fill_numbers((char *)by, all, 1);
        quern_array *x = array_of(QUERN_INT32, SHAPE(all), from), *w, *y = NULL, *part;
        OK(quern_array_from(&w, engine, QUERN_INT8, SHAPE(all), by));
        OK(quern_array_slice(&part, x, 1, (quern_slice[]){{first, all, 1}}));
        quern_array *other;
        OK(quern_array_slice(&other, w, 1, (quern_slice[]){{0, length, 1}}));
        const quern_value values[] = {QUERN_VALUES(part, other, &y)};
        quern_explanation *e;
        OK(quern_explain(&e, kernel, values, 3, NULL));
        cr_expect(strstr(e->plan, "runs of 32 elements") || !whole_is_soft(), "%s", e->plan);
        cr_expect(strstr(e->source, "extern __shared__") || !whole_is_soft());
        quern_explanation_release(e);
        OK(quern_call_n(kernel, values, 3, NULL));
        OK(quern_array_read(y, got, (size_t)length * sizeof *got));
        int64_t wrong = 0;
        uint32_t sum = 0;
        for (int64_t k = 0; k < length; k++) {
            sum += (uint32_t)(from[first + k] * by[k]);
            wrong += (uint32_t)got[k] != sum;
        }
        cr_expect_eq(wrong, 0, "%lld from %lld on", (long long)length, (long long)first);
        quern_array *arrays[] = {x, w, y, part, other};
        for (int k = 0; k < 5; k++) {
            quern_array_release(arrays[k]);
        }
        free(from);
        free(got);
        free(by);
    }
    quern_kernel_release(kernel);
}

/* Results wider than the elements, which begin anywhere: what is written goes in whole sectors, so
 * that elements come from words that are shifted. */
Test(held_rows, wider_results_off_alignment)
{
    static const element types[] = {{QUERN_INT8, 1}, {QUERN_INT16, 2}, {QUERN_INT32, 4}};
    quern_kernel *kernel;
    OK(quern_scan(&kernel, engine, "T x", "int64 y", "x", "a + b", "y = a", "0", NULL));
    srand(34);
    for (int n = 0; n < drawn(36); n++) {
        const element t = types[n % 3];
        const int64_t count = 1 + rand() % 3, length = 20000 + rand() % 90000;
        const int64_t offset = rand() % 34, all = count * length + offset;
        char *from = malloc((size_t)(all * t.size)), *got = malloc((size_t)all * sizeof(int64_t));
        cr_assert(from && got);
        fill_numbers(from, all, t.size);
        const int64_t untouched = 77;
        for (int64_t k = 0; k < all; k++) {
            memcpy(got + k * (int64_t)sizeof k, &untouched, sizeof untouched);
        }
        const int64_t to = rand() % 2 == 0 ? offset : rand() % (offset + 1);
        quern_array *memory, *room, *x, *y;
        OK(quern_array_from(&memory, engine, t.dtype, SHAPE(all), from));
        OK(quern_array_from(&room, engine, QUERN_INT64, SHAPE(all), got));
        OK(quern_array_wrap(&x, engine, t.dtype, SHAPE(count, length), NULL,
                            (char *)quern_array_pointer(memory) + offset * t.size, NULL, NULL));
        OK(quern_array_wrap(&y, engine, QUERN_INT64, SHAPE(count, length), NULL,
                            (char *)quern_array_pointer(room) + to * (int64_t)sizeof(int64_t), NULL,
                            NULL));
        quern_call_options options = QUERN_CALL_OPTIONS_INIT;
        options.axes = (int[]){1};
        options.axis_count = 1;
        OK(quern_call_with(kernel, &options, x, y));
        OK(quern_array_read(room, got, (size_t)all * sizeof(int64_t)));
        int64_t wrong = 0, sum = 0;
        for (int64_t k = 0; k < all; k++) {
            const bool inside = k >= to && k < to + count * length;
            sum = inside ? ((k - to) % length == 0 ? 0 : sum) + number_at(offset + k - to) : 77;
            wrong += ((int64_t *)(void *)got)[k] != sum;
        }
        cr_expect_eq(wrong, 0, "case %d: %lld rows of %lld, %lld bytes, from %lld to %lld", n,
                     (long long)count, (long long)length, (long long)t.size, (long long)offset,
                     (long long)to);
        quern_array *arrays[] = {x, y, memory, room};
        for (int k = 0; k < 4; k++) {
            quern_array_release(arrays[k]);
        }
        free(from);
        free(got);
    }
    quern_kernel_release(kernel);
}

/* Results narrower than the elements: a word has those of several units. What lies behind the last
 * row stays as it is. */
Test(held_rows, narrower_results)
{
    static const element types[] = {{QUERN_INT16, 2}, {QUERN_INT32, 4}, {QUERN_INT64, 8}};
    quern_kernel *kernel;
    OK(quern_scan(&kernel, engine, "T x", "int8 y", "x", "a + b", "y = a", "0", NULL));
    srand(21);
    for (int n = 0; n < drawn(24); n++) {
        const element t = types[n % 3];
        const int64_t count = 1 + rand() % 3, length = 9000 + rand() % 30000;
        const int64_t all = count * length + MARGIN;
        char *from = calloc((size_t)all, (size_t)t.size), *got = malloc((size_t)all);
        cr_assert(from && got);
        for (int64_t k = 0; k < all; k++) {
            from[k * t.size] = (char)(k % 3);
        }
        memset(got, 77, (size_t)all);
        quern_array *x, *memory, *y;
        OK(quern_array_from(&x, engine, t.dtype, SHAPE(count, length), from));
        OK(quern_array_from(&memory, engine, QUERN_INT8, SHAPE(all), got));
        OK(quern_array_wrap(&y, engine, QUERN_INT8, SHAPE(count, length), NULL,
                            quern_array_pointer(memory), NULL, NULL));
        quern_call_options options = QUERN_CALL_OPTIONS_INIT;
        options.axes = (int[]){1};
        options.axis_count = 1;
        OK(quern_call_with(kernel, &options, x, y));
        OK(quern_array_read(memory, got, (size_t)all));
        int64_t wrong = 0;
        uint8_t sum = 0;
        for (int64_t k = 0; k < all; k++) {
            sum = (uint8_t)((k % length == 0 ? 0 : sum) + k % 3);
            wrong += (uint8_t)got[k] != (k < count * length ? sum : 77);
        }
        cr_expect_eq(wrong, 0, "case %d: %lld rows of %lld", n, (long long)count,
                     (long long)length);
        quern_array *arrays[] = {x, y, memory};
        for (int k = 0; k < 3; k++) {
            quern_array_release(arrays[k]);
        }
        free(from);
        free(got);
    }
    quern_kernel_release(kernel);
}

Test(held_rows, order_counts)
{
    const element t = {QUERN_UINT32, 4};
    quern_kernel *kernel = ordered_kernel();
    srand(8);
    for (int n = 0; n < (processors() > 8 ? 2 : 8); n++) {
        rows r = draw_rows(t.size, least_tiles(t.size));
        fill_steps(r.from, r.all);
        memcpy(r.expected, r.from, (size_t)(r.all * t.size));
        for (int64_t row = 0; row < r.count; row++) {
            uint32_t sum = 0;
            for (int64_t k = 0; k < r.length; k++) {
                uint32_t *own = (uint32_t *)(r.expected + place_of(&r, row, k));
                take_step(own, &sum);
            }
        }
        cr_expect_eq(wrong_bytes(kernel, t, &r, n % 2 == 1, "held in"), 0, "case %d", n);
        release_rows(&r);
    }
    quern_kernel_release(kernel);
}

/* Two inputs, one number for all elements, an output that is wider, and one that counts. */
Test(held_rows, several_operands)
{
    const int64_t length = (least_tiles(4) + 1) * (int64_t)(TILE / 4) + 5;
    int32_t *from = malloc((size_t)length * sizeof *from);
    int64_t *sums = malloc((size_t)length * sizeof *sums);
    int32_t *places = malloc((size_t)length * sizeof *places);
    cr_assert(from && sums && places);
    for (int64_t k = 0; k < length; k++) {
        from[k] = (int32_t)(k % 13 - 6);
    }
    quern_kernel *kernel;
    OK(quern_scan(&kernel, engine, "int32 x, int32 w, int32 c", "int64 y, int32 z",
                  "(long long)x * w + c", "a + b", "y = a; z = _J", "0", NULL));
    quern_array *x, *w, *y = NULL, *z = NULL;
    OK(quern_array_from(&x, engine, QUERN_INT32, SHAPE(length), from));
    OK(quern_array_from(&w, engine, QUERN_INT32, SHAPE(length), from));
    const quern_value values[] = {QUERN_VALUES(x, w, 3, &y, &z)};
    quern_explanation *e;
    OK(quern_explain(&e, kernel, values, 5, NULL));
    cr_expect(strstr(e->plan, "held in"), "%s", e->plan);
    quern_explanation_release(e);
    OK(quern_call_n(kernel, values, 5, NULL));
    OK(quern_array_read(y, sums, (size_t)length * sizeof *sums));
    OK(quern_array_read(z, places, (size_t)length * sizeof *places));
    int64_t sum = 0, wrong = 0;
    for (int64_t k = 0; k < length; k++) {
        sum += (int64_t)from[k] * from[k] + 3;
        wrong += sums[k] != sum || places[k] != k;
    }
    cr_expect_eq(wrong, 0);
    quern_array *arrays[] = {x, w, y, z};
    for (int n = 0; n < 4; n++) {
        quern_array_release(arrays[n]);
    }
    free(from);
    free(sums);
    free(places);
    quern_kernel_release(kernel);
}
