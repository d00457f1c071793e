/* SPDX-License-Identifier: MIT
 *
 * wmma on the software device: every shape, type and layout against products that the host
 * computes, how sums of floats are rounded, and wrong uses.
 */
#include "matrix_support.h"
#include "ptx/run/matrix.h"
#include "run_support.h"

#include <math.h>
#include <stdio.h>

/* ---- shapes, types, layouts ----------------------------------------------------------------- */

typedef struct wmma_case {
    const char *kernel;
    unsigned m, n, k;
    element factors, c, d;
    bool columns_a, columns_b, columns_c; /* .col */
    unsigned padding;                     /* bytes between lines of a, b and c */
    bool older;                           /* in the text for compute capability 7.5 too */
    bool exclusive, saturate;
} wmma_case;

#define SIX(name, type, sums, padding, older)                                                      \
    {name "_16_16_rc", 16, 16, 16, type, sums, sums, 0, 1, 0, padding, older, 0, 0},               \
        {name "_16_16_cr", 16, 16, 16, type, sums, sums, 1, 0, 1, padding, older, 0, 0},           \
        {name "_32_8_rc", 32, 8, 16, type, sums, sums, 0, 1, 0, padding, older, 0, 0},             \
        {name "_32_8_cr", 32, 8, 16, type, sums, sums, 1, 0, 1, padding, older, 0, 0},             \
        {name "_8_32_rc", 8, 32, 16, type, sums, sums, 0, 1, 0, padding, older, 0, 0},             \
    {                                                                                              \
        name "_8_32_cr", 8, 32, 16, type, sums, sums, 1, 0, 1, padding, older, 0, 0                \
    }

static const wmma_case cases[] = {
    SIX("f16", F16, F32, 0, true),
    SIX("f16h", F16, F16, 16, true),
    SIX("bf16", BF16, F32, 48, false),
    SIX("s8", S8, S32, 16, true),
    SIX("u8", U8, S32, 0, true),
    {"f16_to_half", 16, 16, 16, F16, F32, F16, 0, 1, 0, 32, true, 0, 0},
    {"f16_from_half", 8, 32, 16, F16, F16, F32, 0, 1, 0, 16, true, 0, 0},
    {"s8_saturated", 16, 16, 16, S8, S32, S32, 0, 1, 0, 0, true, 0, 1},
    {"s4_8_8_rc", 8, 8, 32, S4, S32, S32, 0, 1, 0, 16, true, 0, 0},
    {"u4_8_8_rc", 8, 8, 32, U4, S32, S32, 0, 1, 1, 0, true, 0, 0},
    {"b1_xor", 8, 8, 128, B1, S32, S32, 0, 1, 0, 16, true, 1, 0},
    {"b1_and", 8, 8, 128, B1, S32, S32, 0, 1, 0, 0, false, 0, 0},
    {"tf32_rc", 16, 16, 8, TF32, F32, F32, 0, 1, 0, 16, false, 0, 0},
    {"tf32_cr", 16, 16, 8, TF32, F32, F32, 1, 0, 1, 0, false, 0, 0},
    {"f64_rc", 8, 8, 4, F64, F64, F64, 0, 1, 0, 16, false, 0, 0},
    {"f64_cr", 8, 8, 4, F64, F64, F64, 1, 0, 1, 0, false, 0, 0},
};

/* A matrix in memory of the device. */
typedef struct stored {
    element type;
    bool by_columns;
    int stride; /* elements */
    void *memory;
} stored;

static stored store(bench *b, element type, const double *values, unsigned rows, unsigned columns,
                    bool by_columns, unsigned padding)
{
    const unsigned line = by_columns ? rows : columns, lines = by_columns ? columns : rows;
    stored s = {.type = type, .by_columns = by_columns};
    s.stride = (int)(line + padding * 8 / element_bits(type));
    /* the last line ends where the buffer does: nothing beyond it may be touched */
    const size_t elements = (size_t)(lines - 1) * (size_t)s.stride + line;
    s.memory = bench_buffer(b, elements * element_bits(type) / 8);
    for (unsigned row = 0; values && row < rows; row++) {
        for (unsigned column = 0; column < columns; column++) {
            const unsigned major = by_columns ? column : row, minor = by_columns ? row : column;
            element_put(s.memory, type, major * (size_t)s.stride + minor,
                        values[row * columns + column]);
        }
    }
    return s;
}

static double stored_at(const stored *s, unsigned row, unsigned column)
{
    return element_get(s->memory, s->type,
                       s->by_columns ? column * (size_t)s->stride + row
                                     : row * (size_t)s->stride + column);
}

/* Launch `test` on the product; `check` looks at each element of the result. */
static void multiply(bench *b, const wmma_case *test, const product *p,
                     void (*check)(const wmma_case *test, const product *p, unsigned row,
                                   unsigned column, double got))
{
    stored a = store(b, test->factors, p->a, p->m, p->k, test->columns_a, test->padding);
    stored f = store(b, test->factors, p->b, p->k, p->n, test->columns_b, test->padding);
    /* one stride serves C and D, so their lines have the same number of elements between */
    const unsigned gap = test->c == test->d ? test->padding : 0;
    stored c = store(b, test->c, p->c, p->m, p->n, test->columns_c, gap);
    stored d = store(b, test->d, NULL, p->m, p->n, test->columns_c, gap);
    bench_good(
        b, test->kernel,
        PARAMETERS(&a.memory, &f.memory, &c.memory, &d.memory, &a.stride, &f.stride, &c.stride));
    for (unsigned row = 0; row < p->m; row++) {
        for (unsigned column = 0; column < p->n; column++) {
            check(test, p, row, column, stored_at(&d, row, column));
        }
    }
    qn_free(a.memory);
    qn_free(f.memory);
    qn_free(c.memory);
    qn_free(d.memory);
}

static void is_exact(const wmma_case *test, const product *p, unsigned row, unsigned column,
                     double got)
{
    double wanted = product_exact(p, row, column);
    if (test->d == S32) {
        wanted = product_wrap(wanted, test->saturate);
    }
    cr_assert(got == wanted, "%s (%u,%u): %.17g instead of %.17g", test->kernel, row, column, got,
              wanted);
}

static void check_all(const char *file, bool older)
{
    static product p;
    bench b = bench_file(file);
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        const wmma_case *test = &cases[k];
        if (older && !test->older) {
            continue;
        }
        p = (product){.m = test->m, .n = test->n, .k = test->k, .exclusive = test->exclusive};
        product_fill(&p, test->factors, test->factors, test->c);
        multiply(&b, test, &p, is_exact);
    }
    bench_close(&b);
}

Test(ptx_matrix, wmma_of_compute_75)
{
    check_all("matrix_75.ptx", true);
}

Test(ptx_matrix, wmma_of_compute_90)
{
    check_all("matrix_90.ptx", false);
}

Test(ptx_matrix, fragments_by_index_in_shared_memory)
{
    bench b = bench_file("matrix_75.ptx");
    static product p = {.m = 16, .n = 16, .k = 16};
    void *x = bench_buffer(&b, 512 * 2);
    float *y = bench_buffer(&b, 256 * 4);
    int pitch = 24;
    product_fill(&p, F16, F16, F32);
    for (unsigned i = 0; i < 256; i++) {
        element_put(x, F16, i, p.a[i]);
        element_put(x, F16, 256 + i, p.b[i]);
        p.a[i] *= 2;
        p.c[i] = 0.5;
    }
    for (int watched = 0; watched < 2; watched++) {
        b.launch.aids = (qn_ptx_aids){.check_init = watched, .check_races = watched};
        bench_good(&b, "shared_scaled", PARAMETERS(&x, &y, &pitch));
        for (unsigned i = 0; i < 256; i++) {
            cr_assert_eq(y[i], 3 * product_exact(&p, i / 16, i % 16));
        }
        memset(y, 0, 256 * 4);
    }
    qn_free(x);
    qn_free(y);
    bench_close(&b);
}

/* ---- rounding ------------------------------------------------------------------------------- */

/* The bound that follows from matrix_math.c: each of k products and the accumulator loses less than
 * 2^-25 of twice the greatest term's power of two, once for each block; the sum loses a unit. */
static void is_near(const wmma_case *test, const product *p, unsigned row, unsigned column,
                    double got)
{
    const double exact = product_exact(p, row, column);
    const double bound = test->d == F16 ? 0x1p-10 : 0x1p-19;
    cr_assert(fabs(got - exact) <= bound * product_size(p, row, column),
              "%s (%u,%u): %.17g is too far from %.17g", test->kernel, row, column, got, exact);
}

Test(ptx_matrix, sums_of_fractions_are_near)
{
    static product p;
    bench b = bench_file("matrix_90.ptx");
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        const wmma_case *test = &cases[k];
        if (test->d == S32) {
            continue;
        }
        p = (product){.m = test->m, .n = test->n, .k = test->k};
        for (unsigned i = 0; i < MOST; i++) {
            /* 7 bits, which all types hold, over some powers of two */
            p.a[i] = ldexp(nearbyint(random_number() * 64), (int)(random_number() * 4) - 6);
            p.b[i] = ldexp(nearbyint(random_number() * 64), (int)(random_number() * 4) - 6);
            p.c[i] = ldexp(nearbyint(random_number() * 64), (int)(random_number() * 4) - 6);
        }
        multiply(&b, test, &p, is_near);
    }
    bench_close(&b);
}

/* One row of A, column of B and element of C, and the bits that come of them. */
static const struct {
    const char *what, *kernel;
    element factors, sums;
    double a[16], b[16], c;
    double wanted; /* NAN: not a number */
} roundings[] = {
    {"25 bits below the greatest count",
     "f16_16_16_rc",
     F16,
     F32,
     {0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13},
     {0x1p-12, 0x1p-12, 0x1p-12, 0x1p-12},
     1,
     1 + 0x1p-23},
    {"26 bits below do not",
     "f16_16_16_rc",
     F16,
     F32,
     {0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13},
     {0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13},
     1,
     1},
    {"a product of 1.5 and 1.5 counts as of exponent 0",
     "f16_16_16_rc",
     F16,
     F32,
     {1.5, 0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13},
     {1.5, 0x1p-12, 0x1p-12, 0x1p-12, 0x1p-12, 0x1p-12, 0x1p-12, 0x1p-12, 0x1p-12},
     0,
     2.25 + 0x1p-22},
    {"the sum is cut off", "f16_16_16_rc", F16, F32, {0x1.8p-12}, {0x1p-11}, 1, 1 + 0x1p-23},
    {"toward zero", "f16_16_16_rc", F16, F32, {0x1.8p-12}, {-0x1p-11}, -1, -1 - 0x1p-23},
    {"the greatest may cancel",
     "f16_16_16_rc",
     F16,
     F32,
     {256, -256, 0x1p-9, 0x1p-10},
     {256, 256, 1, 1},
     0,
     0x1p-9},
    {"subnormal factors", "f16_16_16_rc", F16, F32, {0x1p-24}, {0x1p-24}, 0, 0x1p-48},
    {"subnormal sums", "bf16_16_16_rc", BF16, F32, {0x1p-70}, {0x1p-70}, 0x1p-140, 0x1p-139},
    {"products beyond f32 cancel",
     "bf16_16_16_rc",
     BF16,
     F32,
     {0x1p100, 0x1p100},
     {0x1p100, -0x1p100},
     3,
     0},
    {"too great", "bf16_16_16_rc", BF16, F32, {0x1p100}, {-0x1p100}, 3, -INFINITY},
    {"infinity", "f16_16_16_rc", F16, F32, {INFINITY, 1}, {2, 3}, 4, INFINITY},
    {"infinity times zero", "f16_16_16_rc", F16, F32, {INFINITY, 1}, {0, 3}, 4, NAN},
    {"infinities that cancel", "f16_16_16_rc", F16, F32, {INFINITY}, {1}, -INFINITY, NAN},
    {"an accumulator that is no number", "f16_16_16_rc", F16, F32, {1}, {1}, NAN, NAN},
    {"f16 is rounded to even", "f16h_16_16_rc", F16, F16, {0x1p-6}, {0x1p-5}, 1, 1},
    {"f16 is rounded up", "f16h_16_16_rc", F16, F16, {0x1.8p-6}, {0x1p-5}, 1, 1 + 0x1p-10},
    {"f16 overflows", "f16h_16_16_rc", F16, F16, {256, 256}, {128, 128}, 0, INFINITY},
    {"tf32 is summed in blocks of four",
     "tf32_rc",
     TF32,
     F32,
     {1, 0, 0, 0, 0x1p-15},
     {1, 0, 0, 0, 0x1p-15},
     -1,
     0x1p-30},
    {"tf32 ignores 13 bits", "tf32_rc", TF32, F32, {1 + 0x1p-11}, {1 + 0x1p-10}, 0, 1 + 0x1p-10},
    {"f64 is a chain", "f64_rc", F64, F64, {0x1p53, 1, 1, -0x1p53}, {1, 1, 1, 1}, 0, 0},
};

/* As element_put, for what is infinite or not a number too. */
static void put(void *memory, element type, size_t index, double value)
{
    const unsigned bits = element_bits(type);
    uint64_t code = type == F16 ? 0x7c00 : type == BF16 ? 0x7f80 : 0x7f800000;
    if (isfinite(value)) {
        element_put(memory, type, index, value);
        return;
    }
    code |= isnan(value) ? 1 : (uint64_t)(value < 0) << (bits - 1);
    memcpy((unsigned char *)memory + index * bits / 8, &code, bits / 8);
}

Test(ptx_matrix, sums_are_rounded_as_an_h200_does)
{
    bench b = bench_file("matrix_90.ptx");
    for (size_t k = 0; k < QN_COUNT(roundings); k++) {
        void *a = bench_buffer(&b, 2048), *f = bench_buffer(&b, 2048), *c = bench_buffer(&b, 2048),
             *d = bench_buffer(&b, 2048);
        int stride = 16;
        for (unsigned i = 0; i < (roundings[k].factors == F64 ? 4 : 16); i++) {
            put(a, roundings[k].factors, i, roundings[k].a[i]);
            put(f, roundings[k].factors, i, roundings[k].b[i]);
        }
        put(c, roundings[k].sums, 0, roundings[k].c);
        bench_good(&b, roundings[k].kernel, PARAMETERS(&a, &f, &c, &d, &stride, &stride, &stride));
        const double got = element_get(d, roundings[k].sums, 0), wanted = roundings[k].wanted;
        cr_expect(got == wanted || (isnan(got) && isnan(wanted)), "%s: %.17g instead of %.17g",
                  roundings[k].what, got, wanted);
        qn_free(a);
        qn_free(f);
        qn_free(c);
        qn_free(d);
    }
    bench_close(&b);
}

/* Any bits, numbers or not, at each of the CPU's levels. */
static const qn_matrix level_cases[] = {
    {16, 16, 16, QN_MATRIX_F16, QN_MATRIX_F16, QN_MATRIX_F32, QN_MATRIX_F32, .block = 16},
    {32, 8, 16, QN_MATRIX_F16, QN_MATRIX_F16, QN_MATRIX_F16, QN_MATRIX_F16, .block = 16},
    {16, 8, 8, QN_MATRIX_BF16, QN_MATRIX_BF16, QN_MATRIX_F32, QN_MATRIX_F32, .block = 8},
    {16, 16, 8, QN_MATRIX_TF32, QN_MATRIX_TF32, QN_MATRIX_F32, QN_MATRIX_F32, .block = 4},
    {16, 8, 32, QN_MATRIX_E4M3, QN_MATRIX_E5M2, QN_MATRIX_F32, QN_MATRIX_F32, .block = 16},
    {16, 8, 64, QN_MATRIX_S4, QN_MATRIX_U4, QN_MATRIX_S32, QN_MATRIX_S32, .saturate = true},
    {16, 8, 256, QN_MATRIX_B1, QN_MATRIX_B1, QN_MATRIX_S32, QN_MATRIX_S32, .exclusive = true},
    {16, 8, 16, QN_MATRIX_F64, QN_MATRIX_F64, QN_MATRIX_F64, QN_MATRIX_F64},
};

static void run_level(int level, const qn_matrix *matrix, const void *a, const void *b,
                      const void *c, void *d)
{
    const qn_matrix_math *math = qn_matrix_math_level(level);
    (matrix->type_a == QN_MATRIX_F64  ? math->doubles
     : matrix->type_a == QN_MATRIX_B1 ? math->bits
     : matrix->type_a == QN_MATRIX_S4 ? math->integers
                                      : math->floats)(matrix, a, b, c, d);
}

Test(ptx_matrix, all_levels_of_the_cpu_agree)
{
    static uint64_t in[3][QN_MATRIX_BYTES / 8], first[QN_MATRIX_BYTES / 8],
        other[QN_MATRIX_BYTES / 8];
    for (size_t k = 0; k < 50 * QN_COUNT(level_cases); k++) {
        const qn_matrix *matrix = &level_cases[k % QN_COUNT(level_cases)];
        for (size_t i = 0; i < QN_COUNT(in[0]); i++) {
            for (size_t j = 0; j < 3; j++) {
                const double number = random_number();
                memcpy(&in[j][i], &number, 8);
                in[j][i] *= 0x9e3779b97f4a7c15;
            }
        }
        run_level(0, matrix, in[0], in[1], in[2], first);
        for (int level = 1; level < qn_lane_level_count(); level++) {
            run_level(level, matrix, in[0], in[1], in[2], other);
            cr_assert_arr_eq(first, other, sizeof first, "case %zu, level %d", k, level);
        }
    }
}

/* ---- what is wrong -------------------------------------------------------------------------- */

Test(ptx_matrix, lanes_that_are_missing_are_named)
{
    bench b = bench_file("matrix_75.ptx");
    float *y = bench_buffer(&b, 32 * 4);
    int limit = 8, all = 32;
    bench_bad(&b, "parted", PARAMETERS(&y, &limit), QUERN_ERROR_LAUNCH,
              "only lanes 0x000000ff are here; lanes 0xffffff00 are at ('");
    bench_bad(&b, "parted", PARAMETERS(&y, &limit), QUERN_ERROR_LAUNCH,
              ", at ('mma.sync.aligned.m16n8k8");
    bench_bad(&b, "apart_for_ever", PARAMETERS(&y, &limit), QUERN_ERROR_LAUNCH,
              "lanes 0x000000ff wait for lanes 0xffffff00");
    bench_good(&b, "parted", PARAMETERS(&y, &all));
    cr_assert_eq(y[31], 10); /* 8 products of 1, an accumulator of 1, and 1 */
    bench_bad(&b, "left", PARAMETERS(&y, &limit), QUERN_ERROR_LAUNCH,
              "needs all 32 lanes of the warp, but only lanes 0x000000ff are here; lanes "
              "0xffffff00 have exited");
    bench_shape(&b, 1, 20);
    bench_bad(&b, "left", PARAMETERS(&y, &all), QUERN_ERROR_LAUNCH,
              "lanes 0xfff00000 do not exist in this block");
    qn_free(y);
    bench_close(&b);
}

Test(ptx_matrix, lanes_that_come_late_are_waited_for)
{
    bench b = bench_file("matrix_75.ptx");
    float *y = bench_buffer(&b, 32 * 4);
    int rounds = 40;
    bench_good(&b, "late", PARAMETERS(&y, &rounds));
    for (int i = 0; i < 32; i++) {
        cr_assert_eq(y[i], 9 + i * rounds);
    }
    qn_free(y);
    bench_close(&b);
}

static const struct {
    int stride_a;     /* elements */
    int offset;       /* bytes */
    const char *text; /* of the report */
} wrong[] = {
    {17, 0, "the stride of a matrix is 17 elements of 16 bits: it must be a multiple of 16 bytes"},
    {24, 0, "past the end of array of 512 bytes"},
    {16, 2, "which is misaligned: it must be a multiple of 16"},
    {16, 16, "past the end of array of 512 bytes"},
};

Test(ptx_matrix, bad_addresses_and_strides_are_reported)
{
    bench b = bench_file("matrix_75.ptx");
    char *a = bench_buffer(&b, 512);
    void *f = bench_buffer(&b, 512), *c = bench_buffer(&b, 1024), *d = bench_buffer(&b, 1024);
    int stride = 16, step = 8;
    for (size_t k = 0; k < QN_COUNT(wrong); k++) {
        void *from = a + wrong[k].offset;
        int stride_a = wrong[k].stride_a;
        bench_bad(&b, "f16_16_16_rc", PARAMETERS(&from, &f, &c, &d, &stride_a, &stride, &stride),
                  QUERN_ERROR_ACCESS, wrong[k].text);
    }
    char *end = (char *)d + 512;
    bench_bad(&b, "f16_16_16_rc", PARAMETERS(&a, &f, &c, &end, &stride, &stride, &stride),
              QUERN_ERROR_ACCESS, "write of 16 bytes");
    bench_bad(&b, "own_pointers", PARAMETERS(&a, &d, &step), QUERN_ERROR_LAUNCH,
              "all threads of a warp must give the same address and stride of a matrix");
    qn_free(a);
    qn_free(f);
    qn_free(c);
    qn_free(d);
    bench_close(&b);
}

/* Instructions that no compiler writes for the registers r of 32 bits, f of f32 and d of 64, or
 * that are for other machines. */
static const char *const refused[] = {
    "mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32 {f,f,f,f}, {r,r,r,r}, {r,r}, {f,f,f,f}",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32 {f,f,f,f}, {r,r,r,r}, {r,r}, {f,f,f,f}",
    "mma.sync.aligned.m16n8k16.row.col.bf16.bf16.bf16.bf16 {r,r}, {r,r,r,r}, {r,r}, {r,r}",
    "mma.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32 {f,f,f,f}, {r,r,r,r}, {r,r}, "
    "{f,f,f,f}",
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {f,f,f}, {r,r}, {r}, {f,f,f,f}",
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {f,f,f,f}, {r,r}, {r}",
    "mma.sync.m16n8k8.row.col.f32.f16.f16.f32 {f,f,f,f}, {r,r}, {r}, {f,f,f,f}",
    "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32 {r,r}, r, r, {r,r}",
    "mma.sync.aligned.m8n8k128.row.col.s32.s32.s32.s32.and.popc {r,r}, r, r, {r,r}",
    "mma.sync.aligned.m8n8k4.row.col.rz.f64.f64.f64.f64 {d,d}, {d}, {d}, {d,d}",
    "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e2m1.f32 {f,f,f,f}, {r,r,r,r}, {r,r}, "
    "{f,f,f,f}",
    "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {f,f,f,f}, {r,r}, {r,r}, {f,f,f,f}, r, 0",
    "wmma.load.a.sync.aligned.row.m16n16k32.f16 {r,r,r,r,r,r,r,r}, [d]",
    "wmma.load.a.sync.aligned.row.m8n8k128.f32 {r}, [d]",
    "wmma.load.a.sync.aligned.col.m8n8k32.s4 {r}, [d]",
    "wmma.load.d.sync.aligned.row.m16n16k16.f32 {f,f,f,f,f,f,f,f}, [d]",
    "wmma.store.a.sync.aligned.row.m16n16k16.f16 [d], {r,r,r,r,r,r,r,r}",
    "ldmatrix.sync.aligned.m8n8.x3.shared.b16 {r,r,r}, [r]",
    "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {r,r}, [r]",
    "stmatrix.sync.aligned.m8n8.x2.shared.b16 [r], {r}",
    "movmatrix.sync.aligned.m8n8.b16 r, r",
    "wgmma.fence.sync.aligned",
    "tcgen05.wait::ld.sync.aligned",
};

Test(ptx_matrix, what_is_not_known_is_refused_by_name)
{
    for (size_t k = 0; k < QN_COUNT(refused); k++) {
        char text[600], name[128];
        snprintf(text, sizeof text,
                 ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n"
                 ".reg .b32 r; .reg .f32 f; .reg .b64 d;\n%s;\nret;\n}\n",
                 refused[k]);
        snprintf(name, sizeof name, "does not know the instruction '%.*s'",
                 (int)strcspn(refused[k], " "), refused[k]);
        bench b = bench_of(text);
        bench_bad(&b, "k", NULL, QUERN_ERROR_NOT_SUPPORTED, name);
        bench_close(&b);
    }
}
