/* SPDX-License-Identifier: MIT
 *
 * Small arrays of a batch that operands have in different orders, as of images with channels last
 * and first: of 2 to 4 dimensions, whole or so large that they go in parts; batches that end within
 * a box, with gaps, backwards, or with one array for all; memory off the alignment; inputs of
 * different widths beside one in the output's order and one with a value for each array. Results
 * are compared with a loop on the host, and what lies beside the output with what it was.
 */
#include "numbered.h"
#include <math.h>

TestSuite(box_words, .init = whole_open, .fini = whole_close);

enum { DRAWN = 140, DIMS = 5, ROOM = 120000 };

/* Elements of a memory of ROOM, by the batch and then the dimensions of a small array. */
typedef struct layout {
    int64_t stride[DIMS], first;
} layout;

static uint64_t state = 11;

static int draw(int least, int most)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return least + (int)((state >> 33) % (uint64_t)(most - least + 1));
}

static bool chance(int of)
{
    return draw(1, of) == 1;
}

/* The extents of a batch of small arrays: `extent[0]` of them. */
static int draw_extents(int64_t *extent)
{
    const int inner = draw(2, DIMS - 1);
    static const int most[] = {0, 0, 160, 28, 12};
    int64_t elements = 1;
    for (int d = 1; d <= inner; d++) {
        extent[d] = chance(2) ? 8 * draw(1, most[inner] / 8) : draw(2, most[inner]);
        elements *= extent[d];
    }
    extent[0] = ROOM / 2 / elements;
    extent[0] = extent[0] > 4 ? extent[0] - draw(0, 3) : 1 + (extent[0] > 1);
    return inner + 1;
}

/* The dimensions of the small arrays in some order, or in their own. */
static layout draw_layout(int ndim, const int64_t *extent, bool own, bool output)
{
    layout l = {.first = chance(6) ? draw(1, 16) : 0};
    int order[DIMS];
    int64_t stride = 1;
    for (int d = 1; d < ndim; d++) {
        order[d] = d;
    }
    for (int d = ndim - 1; d > 1 && !own; d--) {
        const int other = draw(1, d), was = order[d];
        order[d] = order[other];
        order[other] = was;
    }
    for (int d = ndim - 1; d > 0; d--) {
        l.stride[order[d]] = stride;
        stride *= extent[order[d]];
    }
    l.stride[0] = stride + (chance(4) ? 16 : 0);
    if (l.first + l.stride[0] * extent[0] > ROOM) {
        l.stride[0] = stride;
    }
    if (chance(6)) {
        l.first += l.stride[0] * (extent[0] - 1);
        l.stride[0] = -l.stride[0];
    } else if (!output && chance(6)) {
        l.stride[0] = 0;
    }
    return l;
}

static int64_t place_of(const layout *l, int ndim, const int64_t *extent, int64_t at)
{
    int64_t place = l->first;
    for (int d = ndim - 1; d >= 0; d--) {
        place += at % extent[d] * l->stride[d];
        at /= extent[d];
    }
    return place;
}

static quern_array *view(quern_array *memory, const layout *l, int ndim, const int64_t *extent)
{
    const int64_t size = (int64_t)quern_dtype_size(quern_array_dtype(memory));
    int64_t strides[DIMS];
    for (int d = 0; d < ndim; d++) {
        strides[d] = l->stride[d] * size;
    }
    quern_array *a;
    OK(quern_array_wrap(&a, engine, quern_array_dtype(memory), ndim, extent, strides,
                        (char *)quern_array_pointer(memory) + l->first * size, NULL, NULL));
    return a;
}

static double element(const void *host, quern_dtype dtype, int64_t at)
{
    return dtype == QUERN_UINT8    ? ((const uint8_t *)host)[at]
           : dtype == QUERN_UINT16 ? ((const uint16_t *)host)[at]
           : dtype == QUERN_INT64  ? (double)((const int64_t *)host)[at]
                                   : ((const float *)host)[at];
}

/* What a drawn call went by. */
typedef struct count {
    int words, parts, ends;
} count;

static void check(quern_kernel *k, quern_dtype from, quern_dtype to, count *seen)
{
    static int64_t host[ROOM];
    static double want[ROOM];
    int64_t extent[DIMS], all = 1;
    const int ndim = draw_extents(extent);
    for (int d = 0; d < ndim; d++) {
        all *= extent[d];
    }
    const layout own = draw_layout(ndim, extent, true, true);
    const layout lies[] = {draw_layout(ndim, extent, false, false),
                           draw_layout(ndim, extent, chance(2), false),
                           {.stride = {chance(2) ? 1 : 0}}};
    quern_array *memories[] = {numbered_memory(from, ROOM), numbered_memory(QUERN_UINT8, ROOM),
                               numbered_memory(QUERN_FLOAT32, ROOM), numbered_memory(to, ROOM)};
    quern_array *x[4];
    for (int n = 0; n < 4; n++) {
        x[n] = view(memories[n], n < 3 ? &lies[n] : &own, ndim, extent);
    }
    const quern_value values[] = {QUERN_VALUES(x[0], x[1], x[2], x[3])};
    quern_explanation *e;
    OK(quern_explain(&e, k, values, 4, NULL));
    OK(quern_call_n(k, values, 4, NULL));
    for (int64_t at = 0; at < ROOM; at++) {
        want[at] = numbered(at);
    }
    for (int64_t at = 0; at < all; at++) {
        const int64_t place[] = {place_of(&lies[0], ndim, extent, at),
                                 place_of(&lies[1], ndim, extent, at),
                                 place_of(&lies[2], ndim, extent, at)};
        want[place_of(&own, ndim, extent, at)] =
            numbered(place[0]) + numbered(place[1]) % 50 + numbered(place[2]) % 50;
    }
    OK(quern_array_read(memories[3], host, ROOM * quern_dtype_size(to)));
    for (int64_t at = 0; at < ROOM; at++) {
        cr_assert_eq(element(host, to, at), want[at], "%ld of %ld x %ld x %ld: %g, not %g: %s",
                     (long)at, (long)extent[0], (long)extent[1], (long)extent[2],
                     element(host, to, at), want[at], e->plan);
    }
    const char *boxes = strstr(e->plan, "boxes of ");
    if (boxes && strstr(e->plan, " by words")) {
        const long long first = atoll(boxes + strlen("boxes of "));
        seen->words++;
        seen->parts += strtol(e->plan, NULL, 10) > ndim;
        seen->ends += first < extent[0] && extent[0] % first != 0;
    }
    quern_explanation_release(e);
    for (int n = 0; n < 4; n++) {
        quern_array_release(x[n]);
        quern_array_release(memories[n]);
    }
}

Test(box_words, of_drawn_batches)
{
    static const quern_dtype dtypes[] = {QUERN_UINT8, QUERN_UINT16, QUERN_FLOAT32, QUERN_INT64};
    quern_kernel *k =
        kernel_of("S x0, uint8 x1, float32 x2", "T y", "y = x0 + x1 % 50 + (int)x2 % 50");
    count seen = {0};
    for (int n = 0; n < DRAWN; n++) {
        check(k, dtypes[n % 4], dtypes[n / 4 % 4], &seen);
    }
    cr_assert(seen.words > DRAWN / 5 && seen.words < DRAWN && seen.parts > 2 && seen.ends > 2,
              "%d, %d, %d", seen.words, seen.parts, seen.ends);
    quern_kernel_release(k);
}

/* Inputs that are each rounded up to words of all threads: shared memory has room for all of them.
 */
Test(box_words, of_many_inputs)
{
    enum { MOST = 8, IMAGES = 5, LEAST_BOX = 28 * 1024 };
    static const quern_dtype dtypes[] = {QUERN_UINT8, QUERN_FLOAT32, QUERN_INT64};
    static int64_t got[IMAGES * LEAST_BOX];
    int by_words = 0;
    for (int n = 2; n <= 3 * MOST; n++) {
        const quern_dtype dtype = dtypes[n % 3];
        const int inputs = 2 + n % (MOST - 1), size = (int)quern_dtype_size(dtype);
        const int64_t rows = 32, columns = LEAST_BOX / (inputs * size * rows) / 8 * 8;
        const int64_t all = rows * columns;
        char text[16 * MOST] = "", sum[8 * MOST] = "y = 0";
        quern_array *memory = numbered_memory(dtype, IMAGES * all), *x[MOST + 1];
        for (int k = 0; k < inputs; k++) {
            (void)snprintf(text + strlen(text), 16, "%sT x%d", k ? ", " : "", k);
            (void)snprintf(sum + strlen(sum), 8, " + x%d", k);
            OK(quern_array_wrap(&x[k], engine, dtype, SHAPE(IMAGES, rows, columns),
                                (const int64_t[]){size * all, size, size * rows},
                                quern_array_pointer(memory), NULL, NULL));
        }
        OK(quern_array_new(&x[inputs], engine, dtype, SHAPE(IMAGES, rows, columns)));
        quern_kernel *kernel = kernel_of(text, "T y", sum);
        quern_value values[MOST + 1];
        for (int k = 0; k <= inputs; k++) {
            values[k] = quern_value_array(x[k]);
        }
        quern_explanation *e;
        OK(quern_explain(&e, kernel, values, (size_t)inputs + 1, NULL));
        if (strstr(e->plan, "by words")) {
            by_words++;
            cr_assert_leq(e->shared_bytes, 48 * 1024, "%d inputs: %s", inputs, e->plan);
        }
        quern_explanation_release(e);
        OK(quern_call_n(kernel, values, (size_t)inputs + 1, NULL));
        OK(quern_array_read(x[inputs], got, (size_t)(IMAGES * all * size)));
        for (int64_t at = 0; at < IMAGES * all; at++) {
            const int64_t place = at / all * all + at % columns * rows + at % all / columns;
            const double want = numbered(place) * inputs;
            cr_assert_eq(element(got, dtype, at), dtype == QUERN_UINT8 ? fmod(want, 256) : want,
                         "%ld of %d inputs", (long)at, inputs);
        }
        for (int k = 0; k <= inputs; k++) {
            quern_array_release(x[k]);
        }
        quern_array_release(memory);
        quern_kernel_release(kernel);
    }
    cr_assert_geq(by_words, MOST, "%d", by_words);
}

/* Wide outputs that packs of one element fit alone, many for each thread; or images so far from
 * each other that no box has two. */
Test(box_words, off_alignment_and_far_apart)
{
    enum { IMAGES = 12, ROWS = 64, COLUMNS = 49, ALL = ROWS * COLUMNS, APART = 200000 };
    static int64_t got[IMAGES * ALL + 1];
    quern_kernel *k = kernel_of("uint8 x", "int64 y", "y = x");
    for (int far = 0; far < 2; far++) {
        const int64_t apart = far ? APART : ALL;
        quern_array *in = numbered_memory(QUERN_UINT8, IMAGES * apart), *x, *y;
        quern_array *out = numbered_memory(QUERN_INT64, IMAGES * ALL + 1);
        const int64_t turned[] = {apart, 1, ROWS}, own[] = {8 * ALL, 8 * COLUMNS, 8};
        OK(quern_array_wrap(&x, engine, QUERN_UINT8, SHAPE(IMAGES, ROWS, COLUMNS), turned,
                            quern_array_pointer(in), NULL, NULL));
        OK(quern_array_wrap(&y, engine, QUERN_INT64, SHAPE(IMAGES, ROWS, COLUMNS), own,
                            (char *)quern_array_pointer(out) + 8, NULL, NULL));
        OK(quern_call_n(k, (const quern_value[]){QUERN_VALUES(x, y)}, 2, NULL));
        OK(quern_array_read(out, got, sizeof got));
        for (int at = 0; at < IMAGES * ALL; at++) {
            const int image = at / ALL, row = at / COLUMNS % ROWS, column = at % COLUMNS;
            cr_assert_eq(got[at + 1], numbered(image * apart + column * ROWS + row), "%d", at);
        }
        quern_array *arrays[] = {in, out, x, y};
        for (int n = 0; n < 4; n++) {
            quern_array_release(arrays[n]);
        }
    }
    quern_kernel_release(k);
}

/* In memory any byte but 0 is true, through shared memory and beside it. */
Test(box_words, bools_of_any_byte)
{
    enum { IMAGES = 20, ROWS = 24, COLUMNS = 36, ALL = IMAGES * ROWS * COLUMNS };
    static uint8_t host[ALL], want[ALL], got[ALL];
    for (int at = 0; at < ALL; at++) {
        host[at] = (uint8_t)(at % 7 == 0 ? 0 : at % 5 + 1);
    }
    quern_array *bytes = array_of(QUERN_UINT8, SHAPE(ALL), host), *x[2], *y;
    const int64_t turned[] = {ROWS * COLUMNS, 1, ROWS}, own[] = {ROWS * COLUMNS, COLUMNS, 1};
    for (int n = 0; n < 2; n++) {
        OK(quern_array_wrap(&x[n], engine, QUERN_BOOL, SHAPE(IMAGES, ROWS, COLUMNS),
                            n == 0 ? turned : own, quern_array_pointer(bytes), NULL, NULL));
    }
    OK(quern_array_new(&y, engine, QUERN_UINT8, SHAPE(IMAGES, ROWS, COLUMNS)));
    quern_kernel *k = kernel_of("bool a, bool b", "uint8 y", "y = a + 2 * b");
    const quern_value values[] = {QUERN_VALUES(x[0], x[1], y)};
    quern_explanation *e;
    OK(quern_explain(&e, k, values, 3, NULL));
    cr_assert(strstr(e->plan, "by words"), "%s", e->plan);
    quern_explanation_release(e);
    OK(quern_call_n(k, values, 3, NULL));
    for (int at = 0; at < ALL; at++) {
        const int image = at / (ROWS * COLUMNS), row = at / COLUMNS % ROWS, column = at % COLUMNS;
        want[at] = (uint8_t)((host[image * ROWS * COLUMNS + column * ROWS + row] != 0) +
                             2 * (host[at] != 0));
    }
    OK(quern_array_read(y, got, sizeof got));
    cr_assert_arr_eq(got, want, sizeof got);
    quern_array *arrays[] = {bytes, x[0], x[1], y};
    for (int n = 0; n < 4; n++) {
        quern_array_release(arrays[n]);
    }
    quern_kernel_release(k);
}
