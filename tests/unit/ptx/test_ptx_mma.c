/* SPDX-License-Identifier: MIT
 *
 * mma, ldmatrix, stmatrix and movmatrix on the software device, and the order of wmma's fragments.
 * The registers of each lane are filled and read here by the element formulas of the PTX ISA.
 */
#include "matrix_support.h"
#include "run_support.h"

#include <math.h>

typedef struct mma_case {
    const char *kernel;
    unsigned m, n, k;
    element a, b, sums;
    bool older; /* in the text for compute capability 7.5 too */
    bool exclusive, saturate;
} mma_case;

static const mma_case cases[] = {
    {"mma_f16_8", 16, 8, 8, F16, F16, F32, 1, 0, 0},
    {"mma_f16h_8", 16, 8, 8, F16, F16, F16, 1, 0, 0},
    {"mma_s8_8_16", 8, 8, 16, S8, U8, S32, 1, 0, 0},
    {"mma_s4_8_32", 8, 8, 32, S4, U4, S32, 1, 0, 1},
    {"mma_b1_8_128", 8, 8, 128, B1, B1, S32, 1, 1, 0},
    {"mma_f16_16", 16, 8, 16, F16, F16, F32, 0, 0, 0},
    {"mma_f16h_16", 16, 8, 16, F16, F16, F16, 0, 0, 0},
    {"mma_bf16_8", 16, 8, 8, BF16, BF16, F32, 0, 0, 0},
    {"mma_bf16_16", 16, 8, 16, BF16, BF16, F32, 0, 0, 0},
    {"mma_tf32_4", 16, 8, 4, TF32, TF32, F32, 0, 0, 0},
    {"mma_tf32_8", 16, 8, 8, TF32, TF32, F32, 0, 0, 0},
    {"mma_e4m3_16", 16, 8, 16, E4M3, E5M2, F32, 0, 0, 0},
    {"mma_e4m3_32", 16, 8, 32, E4M3, E4M3, F32, 0, 0, 0},
    {"mma_e5m2h_32", 16, 8, 32, E5M2, E4M3, F16, 0, 0, 0},
    {"mma_f64_8_4", 8, 8, 4, F64, F64, F64, 0, 0, 0},
    {"mma_f64_4", 16, 8, 4, F64, F64, F64, 0, 0, 0},
    {"mma_f64_8", 16, 8, 8, F64, F64, F64, 0, 0, 0},
    {"mma_f64_16", 16, 8, 16, F64, F64, F64, 0, 0, 0},
    {"mma_s8_16", 16, 8, 16, S8, S8, S32, 0, 0, 1},
    {"mma_u8_32", 16, 8, 32, U8, S8, S32, 0, 0, 0},
    {"mma_u4_32", 16, 8, 32, U4, S4, S32, 0, 0, 0},
    {"mma_s4_64", 16, 8, 64, S4, S4, S32, 0, 0, 0},
    {"mma_b1_128", 16, 8, 128, B1, B1, S32, 0, 0, 0},
    {"mma_b1_256", 16, 8, 256, B1, B1, S32, 0, 1, 0},
};

/* How many elements a register holds: one of 64 bits, or what fits into 32. */
static unsigned in_register(element type)
{
    return element_bits(type) == 64 ? 1 : 32 / element_bits(type);
}

/* Element i of a lane's part of A: a_i of the ISA's figures. */
static void place_a(const mma_case *test, unsigned lane, unsigned i, unsigned *row, unsigned *k)
{
    const unsigned each = in_register(test->a), number = i / each, down = test->m / 8;
    *row = lane / 4 + number % down * 8;
    *k = lane % 4 * each + i % each + number / down * 4 * each;
}

static void place_b(const mma_case *test, unsigned lane, unsigned i, unsigned *k, unsigned *column)
{
    const unsigned each = in_register(test->b);
    *k = lane % 4 * each + i % each + i / each * 4 * each;
    *column = lane / 4;
}

static void place_c(unsigned lane, unsigned i, unsigned *row, unsigned *column)
{
    *row = lane / 4 + i / 2 * 8;
    *column = lane % 4 * 2 + i % 2;
}

/* Where element i of a lane is in a buffer of registers, register r of lane l at r * 32 + l. */
static size_t at(element type, unsigned lane, unsigned i)
{
    const unsigned each = in_register(type);
    return (size_t)(i / each * 32 + lane) * each + i % each;
}

static void fill_lane(const mma_case *test, const product *p, unsigned lane, void *a, void *b,
                      void *c)
{
    unsigned row, column, k;
    for (unsigned i = 0; i < p->m * p->k / 32; i++) {
        place_a(test, lane, i, &row, &k);
        element_put(a, test->a, at(test->a, lane, i), p->a[row * p->k + k]);
    }
    for (unsigned i = 0; i < p->k * p->n / 32; i++) {
        place_b(test, lane, i, &k, &column);
        element_put(b, test->b, at(test->b, lane, i), p->b[k * p->n + column]);
    }
    for (unsigned i = 0; i < p->m * p->n / 32; i++) {
        place_c(lane, i, &row, &column);
        element_put(c, test->sums, at(test->sums, lane, i), p->c[row * p->n + column]);
    }
}

static void check_lane(const mma_case *test, const product *p, unsigned lane, const void *d)
{
    for (unsigned i = 0; i < p->m * p->n / 32; i++) {
        unsigned row, column;
        place_c(lane, i, &row, &column);
        double wanted = product_exact(p, row, column);
        wanted = test->sums == S32 ? product_wrap(wanted, test->saturate) : wanted;
        const double got = element_get(d, test->sums, at(test->sums, lane, i));
        cr_assert(got == wanted, "%s lane %u element %u: %.17g instead of %.17g", test->kernel,
                  lane, i, got, wanted);
    }
}

static void check_all(const char *file, bool older)
{
    static product p;
    bench b = bench_file(file);
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        const mma_case *test = &cases[k];
        if (older && !test->older) {
            continue;
        }
        void *x = bench_buffer(&b, 2048), *y = bench_buffer(&b, 1024), *c = bench_buffer(&b, 1024),
             *d = bench_buffer(&b, 2048);
        p = (product){.m = test->m, .n = test->n, .k = test->k, .exclusive = test->exclusive};
        product_fill(&p, test->a, test->b, test->sums);
        for (unsigned lane = 0; lane < 32; lane++) {
            fill_lane(test, &p, lane, x, y, c);
        }
        bench_good(&b, test->kernel, PARAMETERS(&x, &y, &c, &d));
        for (unsigned lane = 0; lane < 32; lane++) {
            check_lane(test, &p, lane, d);
        }
        qn_free(x);
        qn_free(y);
        qn_free(c);
        qn_free(d);
    }
    bench_close(&b);
}

Test(ptx_mma, products_of_compute_75)
{
    check_all("matrix_75.ptx", true);
}

Test(ptx_mma, products_of_compute_90)
{
    check_all("matrix_90.ptx", false);
}

/* As ptxas writes them: products along k of every other pair, from zero, then the other pairs, and
 * the accumulator is added last and rounded to nearest. */
static const struct {
    const char *what;
    double first, third, c; /* a_0 b_0, a_2 b_2 and c of element (0, 0) */
    double wanted;
} eighths[] = {
    {"the accumulator is added last", 1, 0, 0x1.8p-24, 1 + 0x1p-23},
    {"it may cancel what was kept", 0x1p-9, 0x1p-9, -0x1p-9, 0x1p-9},
    {"pairs are summed one after the other", 256, -256, 0, 0},
    {"a sum that is not a number", 256, 256, NAN, NAN},
};

Test(ptx_mma, floats_of_8_bits_are_rounded_as_f16_are)
{
    static product p;
    const mma_case test = {"mma_e4m3_32", 16, 8, 32, E4M3, E4M3, F32, 0, 0, 0};
    bench b = bench_file("matrix_90.ptx");
    for (size_t k = 0; k < QN_COUNT(eighths); k++) {
        void *x = bench_buffer(&b, 512), *y = bench_buffer(&b, 256);
        float *c = bench_buffer(&b, 512), *d = bench_buffer(&b, 512);
        p = (product){.m = test.m, .n = test.n, .k = test.k};
        p.a[0] = p.a[2] = 1;
        p.b[0] = eighths[k].first;
        p.b[2 * p.n] = eighths[k].third;
        for (unsigned lane = 0; lane < 32; lane++) {
            fill_lane(&test, &p, lane, x, y, c);
        }
        c[0] = (float)eighths[k].c;
        bench_good(&b, test.kernel, PARAMETERS(&x, &y, &c, &d));
        const double wanted = eighths[k].wanted;
        cr_expect(d[0] == wanted || (isnan(wanted) && isnan(d[0])), "%s: %.9g instead of %.9g",
                  eighths[k].what, (double)d[0], wanted);
        qn_free(x);
        qn_free(y);
        qn_free(c);
        qn_free(d);
    }
    bench_close(&b);
}

/* ---- m8n8k4 of f16: four products ----------------------------------------------------------- */

static const struct {
    const char *kernel;
    bool columns_a, columns_b;
    element c, d;
} quads[] = {
    {"quad_rc", 0, 1, F32, F32},
    {"quad_cr", 1, 0, F32, F32},
    {"quad_rr", 0, 0, F16, F16},
    {"quad_cc", 1, 1, F16, F32},
};

static void place_quad(element type, unsigned lane, unsigned i, unsigned *row, unsigned *column)
{
    const unsigned more = lane < 16 ? 0 : 4;
    *row = type == F16 ? lane % 4 + more : (lane & 1) + (i & 2) + more;
    *column = type == F16 ? i : (i & 4) + (lane & 2) + (i & 1);
}

Test(ptx_mma, four_products_of_quads)
{
    static product p[4];
    bench b = bench_file("matrix_75.ptx");
    for (size_t k = 0; k < QN_COUNT(quads); k++) {
        void *x = bench_buffer(&b, 256), *y = bench_buffer(&b, 256), *c = bench_buffer(&b, 1024),
             *d = bench_buffer(&b, 1024);
        for (unsigned quad = 0; quad < 4; quad++) {
            p[quad] = (product){.m = 8, .n = 8, .k = 4};
            product_fill(&p[quad], F16, F16, quads[k].c);
        }
        for (unsigned lane = 0; lane < 32; lane++) {
            const product *own = &p[lane / 4 % 4];
            const unsigned more = lane < 16 ? 0 : 4;
            for (unsigned i = 0; i < 4; i++) {
                element_put(x, F16, at(F16, lane, i),
                            quads[k].columns_a ? own->a[(i + more) * 4 + lane % 4]
                                               : own->a[(lane % 4 + more) * 4 + i]);
                element_put(y, F16, at(F16, lane, i),
                            quads[k].columns_b ? own->b[i * 8 + lane % 4 + more]
                                               : own->b[lane % 4 * 8 + i + more]);
            }
            for (unsigned i = 0; i < 8; i++) {
                unsigned row, column;
                place_quad(quads[k].c, lane, i, &row, &column);
                element_put(c, quads[k].c, at(quads[k].c, lane, i), own->c[row * 8 + column]);
            }
        }
        bench_good(&b, quads[k].kernel, PARAMETERS(&x, &y, &c, &d));
        for (unsigned lane = 0; lane < 32; lane++) {
            for (unsigned i = 0; i < 8; i++) {
                unsigned row, column;
                place_quad(quads[k].d, lane, i, &row, &column);
                cr_assert_eq(element_get(d, quads[k].d, at(quads[k].d, lane, i)),
                             product_exact(&p[lane / 4 % 4], row, column), "%s lane %u element %u",
                             quads[k].kernel, lane, i);
            }
        }
        qn_free(x);
        qn_free(y);
        qn_free(c);
        qn_free(d);
    }
    bench_close(&b);
}

/* ---- fragments of wmma ---------------------------------------------------------------------- */

/* The order of ptxas 13.0 for compute capability 9.0. Each register of two elements of A or B, and
 * each pair of elements of C, by how many rows and columns it is away from the first: lane l has
 * (l / 4, 2 (l % 4)) and its right neighbour there. B is seen by columns, and C of m8n32k16 too. */
static const struct {
    const char *kernel;
    unsigned n;
    bool c_by_columns;
    struct {
        uint8_t row, column;
    } a[8], b[8], c[4];
} orders[] = {
    {"order_16_16",
     16,
     false,
     {{0, 0}, {8, 0}, {0, 8}, {8, 8}, {0, 0}, {8, 0}, {0, 8}, {8, 8}},
     {{0, 0}, {0, 8}, {8, 0}, {8, 8}, {0, 0}, {0, 8}, {8, 0}, {8, 8}},
     {{0, 0}, {8, 0}, {0, 8}, {8, 8}}},
    {"order_32_8",
     8,
     false,
     {{0, 0}, {8, 0}, {0, 8}, {8, 8}, {16, 0}, {24, 0}, {16, 8}, {24, 8}},
     {{0, 0}, {0, 8}, {0, 0}, {0, 8}, {0, 0}, {0, 8}, {0, 0}, {0, 8}},
     {{0, 0}, {8, 0}, {16, 0}, {24, 0}}},
    {"order_8_32",
     32,
     true,
     {{0, 0}, {0, 8}, {0, 0}, {0, 8}, {0, 0}, {0, 8}, {0, 0}, {0, 8}},
     {{0, 0}, {8, 0}, {0, 8}, {8, 8}, {16, 0}, {24, 0}, {16, 8}, {24, 8}},
     {{0, 0}, {8, 0}, {16, 0}, {24, 0}}},
};

Test(ptx_mma, fragments_hold_what_ptxas_puts_there)
{
    bench b = bench_file("matrix_75.ptx");
    void *x = bench_buffer(&b, 1024), *fa = bench_buffer(&b, 1024), *fb = bench_buffer(&b, 1024);
    float *y = bench_buffer(&b, 1024), *fc = bench_buffer(&b, 1024);
    for (unsigned i = 0; i < 512; i++) {
        element_put(x, F16, i, i);
        y[i / 2] = (float)(i / 2);
    }
    for (size_t k = 0; k < QN_COUNT(orders); k++) {
        bench_good(&b, orders[k].kernel, PARAMETERS(&x, &y, &fa, &fb, &fc));
        for (unsigned at = 0; at < 512; at++) {
            const unsigned lane = at % 32, i = at / 32, row = lane / 4,
                           column = lane % 4 * 2 + i % 2;
            cr_assert_eq(element_get(fa, F16, at),
                         (row + orders[k].a[i / 2].row) * 16 + column + orders[k].a[i / 2].column);
            cr_assert_eq(element_get(fb, F16, at),
                         (row + orders[k].b[i / 2].row) * 16 + column + orders[k].b[i / 2].column);
            if (i < 8) {
                const unsigned major = row + orders[k].c[i / 2].row;
                const unsigned minor = column + orders[k].c[i / 2].column;
                cr_assert_eq(fc[at], orders[k].c_by_columns ? minor * orders[k].n + major
                                                            : major * orders[k].n + minor);
            }
        }
    }
    qn_free(x);
    qn_free(y);
    qn_free(fa);
    qn_free(fb);
    qn_free(fc);
    bench_close(&b);
}

/* ---- tiles of 8 by 8 ------------------------------------------------------------------------ */

/* Element (row, column) of tile k, of rows of 8 halves that lane 8 k + row brought. */
static uint16_t element_of(const uint16_t *x, unsigned tile, unsigned row, unsigned column)
{
    return x[(tile * 8 + row) * 8 + column];
}

static const struct {
    const char *kernel;
    unsigned count;
    bool turned;
} loads[] = {
    {"tiles_1", 1, false},
    {"tiles_2_trans", 2, true},
    {"tiles_4", 4, false},
    {"tiles_4_trans", 4, true},
};

Test(ptx_mma, ldmatrix)
{
    bench b = bench_file("matrix_75.ptx");
    uint16_t *x = bench_buffer(&b, 512);
    uint32_t *y = bench_buffer(&b, 512);
    for (unsigned i = 0; i < 256; i++) {
        x[i] = (uint16_t)(i * 251 + 7);
    }
    for (size_t k = 0; k < QN_COUNT(loads); k++) {
        for (int pitch = 16; pitch <= 32; pitch += 16) {
            int shift = 0;
            bench_good(&b, loads[k].kernel, PARAMETERS(&x, &y, &pitch, &shift));
            for (unsigned i = 0; i < 128; i++) {
                const unsigned tile = i / 32, row = i % 32 / 4, column = i % 4 * 2;
                const bool turned = loads[k].turned;
                uint32_t wanted = turned ? element_of(x, tile, column, row) |
                                               (uint32_t)element_of(x, tile, column + 1, row) << 16
                                         : element_of(x, tile, row, column) |
                                               (uint32_t)element_of(x, tile, row, column + 1) << 16;
                wanted = tile < loads[k].count ? wanted : 0;
                cr_assert_eq(y[i], wanted, "%s %u: %08x instead of %08x", loads[k].kernel, i, y[i],
                             wanted);
            }
        }
    }
    qn_free(x);
    qn_free(y);
    bench_close(&b);
}

Test(ptx_mma, ldmatrix_checks_its_rows)
{
    bench b = bench_file("matrix_75.ptx");
    uint16_t *x = bench_buffer(&b, 512);
    uint32_t *y = bench_buffer(&b, 512);
    int pitch = 16, shift = 8, far = 1024;
    bench_bad(&b, "tiles_4", PARAMETERS(&x, &y, &pitch, &shift), QUERN_ERROR_ACCESS,
              "which is misaligned: it must be a multiple of 16");
    bench_bad(&b, "tiles_1", PARAMETERS(&x, &y, &pitch, &far), QUERN_ERROR_ACCESS,
              "read of 16 bytes at 0x410 of shared memory, of which the block has 1040 bytes");
    bench_shape(&b, 1, 8);
    bench_bad(&b, "tiles_1", PARAMETERS(&x, &y, &pitch, &shift), QUERN_ERROR_LAUNCH,
              "lanes 0xffffff00 do not exist in this block");
    qn_free(x);
    qn_free(y);
    bench_close(&b);
}

Test(ptx_mma, stmatrix_and_movmatrix)
{
    bench b = bench_file("matrix_90.ptx");
    uint32_t *x = bench_buffer(&b, 512), *y = bench_buffer(&b, 512), *z = bench_buffer(&b, 128);
    int pitch = 32;
    for (unsigned i = 0; i < 128; i++) {
        x[i] = i * 0x10003 + 5;
    }
    const uint16_t *halves = (const uint16_t *)x, *turned = (const uint16_t *)y;
    for (int turn = 0; turn < 2; turn++) {
        bench_good(&b, "tiles_back", PARAMETERS(&x, &y, &pitch, &turn));
        for (unsigned i = 0; i < 256; i++) {
            const unsigned tile = i / 64, row = i % 64 / 8, column = i % 8;
            cr_assert_eq(turned[i], turn ? element_of(halves, tile, column, row) : halves[i]);
        }
    }
    bench_good(&b, "tile_turned", PARAMETERS(&x, &z));
    cr_assert_arr_eq(z, y, 128); /* the first tile, turned by stmatrix above */
    qn_free(x);
    qn_free(y);
    qn_free(z);
    bench_close(&b);
}
