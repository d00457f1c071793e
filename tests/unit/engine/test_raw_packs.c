/* SPDX-License-Identifier: MIT
 *
 * Operations with raw arrays and loops, of which threads take packs: neighbours, gathers, scatters,
 * windows, counted loops; of drawn lengths, and at drawn offsets, so that elements before the first
 * pack and after the last are met, too. What is expected comes from a loop on the host.
 */
#include "draw.h"
#include "numbered.h"

TestSuite(raw_packs, .init = whole_open, .fini = whole_close);

enum { MOST = 300, WINDOW = 7, MARGIN = 16 };

/* What an operation gives for element `i` of `count`, of raw numbers that begin at `from`. */
typedef unsigned formula(int64_t i, int64_t count, int64_t from);

static unsigned of_neighbours(int64_t i, int64_t count, int64_t from)
{
    (void)count;
    return numbered(from + i + 1) + 2 * numbered(from + i);
}

static unsigned of_the_other_end(int64_t i, int64_t count, int64_t from)
{
    return numbered(from + count - 1 - i);
}

static unsigned of_a_window(int64_t i, int64_t count, int64_t from)
{
    unsigned most = 0;
    (void)count;
    for (int64_t k = 0; k < WINDOW; k++) {
        most = numbered(from + i + k) > most ? numbered(from + i + k) : most;
    }
    return most;
}

static unsigned of_strangers(int64_t i, int64_t count, int64_t from)
{
    return numbered(from + i * 7 % count);
}

static unsigned of_steps(int64_t i, int64_t count, int64_t from)
{
    unsigned sum = 0;
    for (int64_t k = 0; k < WINDOW; k++) {
        sum = (sum + numbered(from + i)) % 128;
    }
    (void)count;
    return sum;
}

/* Elements of that dtype that fill a large GPU: packs of loops are for so many. */
static int64_t many(quern_dtype dtype)
{
    const int64_t item = (int64_t)quern_dtype_size(dtype);
    return (1 << 18) * ((item > 2 ? 16 : 8) / item);
}

static unsigned got_at(const void *got, quern_dtype dtype, int64_t i)
{
    return dtype == QUERN_UINT8    ? ((const uint8_t *)got)[i]
           : dtype == QUERN_UINT16 ? ((const uint16_t *)got)[i]
           : dtype == QUERN_INT64  ? (unsigned)((const int64_t *)got)[i]
                                   : (unsigned)((const float *)got)[i];
}

static const char *functions; /* that the operations of a test may call */

static void check(const char *operation, formula *expected, quern_dtype dtype, int64_t count,
                  bool packs)
{
    const size_t item = quern_dtype_size(dtype);
    const int64_t from = draw(0, 9), to = draw(0, 9);
    quern_array *x = numbered_memory(dtype, from + count + MARGIN), *memory = NULL, *raw, *y;
    OK(quern_array_new(&memory, engine, dtype, SHAPE(to + count)));
    OK(quern_array_slice(&raw, x, 1, (quern_slice[]){{from, QUERN_SLICE_NONE, 1}}));
    OK(quern_array_slice(&y, memory, 1, (quern_slice[]){{to, QUERN_SLICE_NONE, 1}}));
    quern_kernel *k;
    const quern_kernel_options options = {.size = sizeof options, .preamble = functions};
    OK(quern_elementwise(&k, engine, "raw T x, int32 n, int32 w", "T y", operation, &options));
    const quern_value values[] = {QUERN_VALUES(raw, (int32_t)count, (int32_t)WINDOW, y)};
    quern_explanation *e;
    OK(quern_explain(&e, k, values, 4, NULL));
    cr_expect_eq(!strstr(e->plan, "1 element "), packs, "%s: %s", operation, e->plan);
    quern_explanation_release(e);
    OK(quern_call_n(k, values, 4, NULL));
    void *got = malloc((size_t)count * item);
    OK(quern_array_read(y, got, (size_t)count * item));
    for (int64_t i = 0; i < count; i++) {
        cr_assert_eq(got_at(got, dtype, i), expected(i, count, from), "%s, %ld of %ld from %ld",
                     operation, (long)i, (long)count, (long)from);
    }
    free(got);
    quern_kernel_release(k);
    quern_array_release(x);
    quern_array_release(raw);
    quern_array_release(y);
    quern_array_release(memory);
}

static const quern_dtype dtypes[] = {QUERN_UINT8, QUERN_UINT16, QUERN_FLOAT32, QUERN_INT64};

Test(raw_packs, drawn_lengths)
{
    for (int n = 0; n < 60; n++) {
        const quern_dtype dtype = dtypes[n % 4];
        const int64_t count = draw(32, MOST);
        check("y = T((int)x[i + 1] + 2 * (int)x[i]) % 256", of_neighbours, QUERN_INT64, count,
              true);
        check("y = x[n - 1 - i]", of_the_other_end, dtype, count, true);
        check("y = x[i * 7 % n]", of_strangers, dtype, count, true);
    }
}

Test(raw_packs, loops_on_many)
{
    for (int n = 0; n < 4; n++) {
        const int64_t count = many(dtypes[n]) + draw(0, 40);
        check("y = 0; for (int k = 0; k < w; k++) y = max(y, x[i + k])", of_a_window, dtypes[n],
              count, true);
        check("int s = 0; for (int k = 0; k < 7; k++) s = (s + (int)x[i]) % 128; y = s", of_steps,
              dtypes[n], count, true);
    }
}

Test(raw_packs, loops_of_functions)
{
    functions = "#define STEPS 7\n"
                "template <int N> __device__ int steps(int x)\n"
                "{ int s = 0; for (int k = 0; k < N; k++) s = (s + x) % 128; return s; }";
    for (int n = 0; n < 4; n++) {
        const int64_t count = many(dtypes[n]) + draw(0, 40);
        check("y = steps<STEPS>(x[i])", of_steps, dtypes[n], count, true);
    }
    functions = "__device__ int steps(int x, int n)\n"
                "{ int s = 0; while (n--) s = (s + x) % 128; return s; }";
    check("y = steps(x[i], 7)", of_steps, QUERN_FLOAT32, many(QUERN_FLOAT32), false);
}

/* Few elements, loops that end when they like, and rows that each element reads by itself. */
Test(raw_packs, loops_of_one_element)
{
    const int64_t least = many(QUERN_FLOAT32);
    check("y = 0; for (int k = 0; k < w; k++) y = max(y, x[i + k])", of_a_window, QUERN_FLOAT32,
          least - 1, false);
    check("int s = 0, k = 0; while (k++ < w) s = (s + (int)x[i]) % 128; y = s", of_steps,
          QUERN_FLOAT32, least, false);
    check("int a = i; y = 0; for (int k = 0; k < w; k++) y = max(y, x[a + k])", of_a_window,
          QUERN_FLOAT32, least, false);
}

/* What is written to raw arrays: y[at[i]] = x[i], for all positions in another order. */
Test(raw_packs, scatters)
{
    for (int n = 0; n < 20; n++) {
        const quern_dtype dtype = dtypes[n % 4];
        const int64_t count = 7 * draw(4, MOST / 7) + 1; /* which 7 does not divide */
        quern_array *x = numbered_memory(dtype, count), *y = NULL;
        OK(quern_array_new(&y, engine, dtype, SHAPE(count)));
        quern_kernel *k;
        OK(quern_elementwise(&k, engine, "T x, int32 n", "raw T y", "y[i * 7 % n] = x", NULL));
        OK(quern_call(k, x, (int32_t)count, y));
        int64_t got[MOST + 1];
        OK(quern_array_read(y, got, (size_t)count * quern_dtype_size(dtype)));
        for (int64_t i = 0; i < count; i++) {
            cr_assert_eq(got_at(got, dtype, i * 7 % count), numbered(i), "%ld of %ld", (long)i,
                         (long)count);
        }
        quern_kernel_release(k);
        quern_array_release(x);
        quern_array_release(y);
    }
}

/* Along rows: with loops in their texts reductions go by packs, but not with raw arrays, too. */
static void sum_rows(const char *in, const char *map, size_t count, bool packs)
{
    enum { ROWS = 9, WIDTH = 64 };
    quern_kernel *k;
    OK(quern_reduction(&k, engine, in, "int64 y", map, "a + b", "y = a", "0", NULL));
    quern_array *line = numbered_memory(QUERN_FLOAT32, ROWS * WIDTH), *x, *y = NULL;
    OK(quern_array_reshape(&x, line, SHAPE(ROWS, WIDTH)));
    quern_call_options o = QUERN_CALL_OPTIONS_INIT;
    o.axes = (int[]){1};
    o.axis_count = 1;
    const quern_value both[] = {QUERN_VALUES(x, line, &y)}, one[] = {QUERN_VALUES(x, &y)};
    const quern_value *values = count == 3 ? both : one;
    quern_explanation *e;
    OK(quern_explain(&e, k, values, count, &o));
    cr_expect_eq(strstr(e->plan, "4 elements at once") != NULL, packs, "%s", e->plan);
    quern_explanation_release(e);
    OK(quern_call_n(k, values, count, &o));
    int64_t got[ROWS];
    OK(quern_array_read(y, got, sizeof got));
    for (int64_t r = 0; r < ROWS; r++) {
        int64_t sum = 0;
        for (int64_t c = 0; c < WIDTH; c++) {
            sum += 3 * numbered(r * WIDTH + c);
        }
        cr_expect_eq(got[r], sum, "%s: row %ld: %ld, not %ld", map, (long)r, (long)got[r],
                     (long)sum);
    }
    quern_array_release(line);
    quern_array_release(x);
    quern_array_release(y);
    quern_kernel_release(k);
}

Test(raw_packs, loops_of_reductions)
{
    sum_rows("T x", "long long s = 0; for (int k = 0; k < 3; k++) s += x; return s", 2, true);
    sum_rows("T x, raw T r", "long long s = 0; for (int k = 0; k < 3; k++) s += x + r[0]; return s",
             3, false);
}
