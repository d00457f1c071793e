/* SPDX-License-Identifier: MIT
 *
 * The kernels of test_ptx_matrix*.c. matrix_75.ptx and matrix_90.ptx are what nvcc 13.0 makes of
 * this file with -ptx -arch=compute_75 and compute_90; the tests read those, so that they need no
 * compiler. All products have the parameters a, b, c, d, and those of wmma three strides more.
 */
#include <mma.h>
using namespace nvcuda;
typedef unsigned u32;
#define KERNEL extern "C" __global__ void

/* ---- wmma ---- */
#define WMMA(name, M, N, K, T, S, LA, LB, TC, TD, LC, SATURATE)                                    \
    KERNEL name(const S *a, const S *b, const TC *c, TD *d, int lda, int ldb, int ldc)             \
    {                                                                                              \
        wmma::fragment<wmma::matrix_a, M, N, K, T, wmma::LA##_major> fa;                           \
        wmma::fragment<wmma::matrix_b, M, N, K, T, wmma::LB##_major> fb;                           \
        wmma::fragment<wmma::accumulator, M, N, K, TC> fc;                                         \
        wmma::fragment<wmma::accumulator, M, N, K, TD> fd;                                         \
        wmma::load_matrix_sync(fa, a, lda);                                                        \
        wmma::load_matrix_sync(fb, b, ldb);                                                        \
        wmma::load_matrix_sync(fc, c, ldc, wmma::mem_##LC##_major);                                \
        wmma::mma_sync(fd, fa, fb, fc SATURATE);                                                   \
        wmma::store_matrix_sync(d, fd, ldc, wmma::mem_##LC##_major);                               \
    }
#define SATURATED , true
#define SHAPES(name, T, S, TC)                                                                     \
    WMMA(name##_16_16_rc, 16, 16, 16, T, S, row, col, TC, TC, row, )                               \
    WMMA(name##_16_16_cr, 16, 16, 16, T, S, col, row, TC, TC, col, )                               \
    WMMA(name##_32_8_rc, 32, 8, 16, T, S, row, col, TC, TC, row, )                                 \
    WMMA(name##_32_8_cr, 32, 8, 16, T, S, col, row, TC, TC, col, )                                 \
    WMMA(name##_8_32_rc, 8, 32, 16, T, S, row, col, TC, TC, row, )                                 \
    WMMA(name##_8_32_cr, 8, 32, 16, T, S, col, row, TC, TC, col, )
SHAPES(f16, half, half, float)
SHAPES(f16h, half, half, half)
WMMA(f16_to_half, 16, 16, 16, half, half, row, col, float, half, row, )
WMMA(f16_from_half, 8, 32, 16, half, half, row, col, half, float, row, )
SHAPES(s8, signed char, signed char, int)
SHAPES(u8, unsigned char, unsigned char, int)
WMMA(s8_saturated, 16, 16, 16, signed char, signed char, row, col, int, int, row, SATURATED)
namespace small = wmma::experimental::precision;
WMMA(s4_8_8_rc, 8, 8, 32, small::s4, void, row, col, int, int, row, )
WMMA(u4_8_8_rc, 8, 8, 32, small::u4, void, row, col, int, int, col, )
#define B1(name, OP)                                                                               \
    KERNEL name(const void *a, const void *b, const int *c, int *d, int lda, int ldb, int ldc)     \
    {                                                                                              \
        wmma::fragment<wmma::matrix_a, 8, 8, 128, small::b1, wmma::row_major> fa;                  \
        wmma::fragment<wmma::matrix_b, 8, 8, 128, small::b1, wmma::col_major> fb;                  \
        wmma::fragment<wmma::accumulator, 8, 8, 128, int> fc;                                      \
        wmma::load_matrix_sync(fa, a, lda);                                                        \
        wmma::load_matrix_sync(fb, b, ldb);                                                        \
        wmma::load_matrix_sync(fc, c, ldc, wmma::mem_row_major);                                   \
        wmma::bmma_sync(fc, fa, fb, fc, wmma::experimental::bmmaBitOp##OP);                        \
        wmma::store_matrix_sync(d, fc, ldc, wmma::mem_row_major);                                  \
    }
B1(b1_xor, XOR)

/* A tile of shared memory, through a pointer of the generic space; frag.x[] by index. */
KERNEL shared_scaled(const half *x, float *y, int pitch)
{
    __shared__ half tile[2][16 * 24];
    for (int i = threadIdx.x; i < 256; i += 32) {
        tile[0][i / 16 * pitch + i % 16] = x[i];
        tile[1][i / 16 * pitch + i % 16] = x[i + 256];
    }
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 0.5f);
    wmma::load_matrix_sync(a, tile[0], pitch);
    wmma::load_matrix_sync(b, tile[1], pitch);
    for (int i = 0; i < a.num_elements; i++) a.x[i] = a.x[i] * __float2half(2.0f);
    wmma::mma_sync(c, a, b, c);
    for (int i = 0; i < c.num_elements; i++) c.x[i] = c.x[i] * 3.0f;
    wmma::store_matrix_sync(y, c, 16, wmma::mem_row_major);
}

/* What each lane holds: element i of lane l at i * 32 + l. */
#define ORDER(name, M, N)                                                                          \
    KERNEL name(const half *x, const float *y, half *a, half *b, float *c)                         \
    {                                                                                              \
        wmma::fragment<wmma::matrix_a, M, N, 16, half, wmma::row_major> fa;                        \
        wmma::fragment<wmma::matrix_b, M, N, 16, half, wmma::col_major> fb;                        \
        wmma::fragment<wmma::accumulator, M, N, 16, float> fc;                                     \
        wmma::load_matrix_sync(fa, x, 16);                                                         \
        wmma::load_matrix_sync(fb, x, 16);                                                         \
        wmma::load_matrix_sync(fc, y, N, wmma::mem_row_major);                                     \
        for (int i = 0; i < 16; i++) a[i * 32 + threadIdx.x] = fa.x[i];                            \
        for (int i = 0; i < 16; i++) b[i * 32 + threadIdx.x] = fb.x[i];                            \
        for (int i = 0; i < 8; i++) c[i * 32 + threadIdx.x] = fc.x[i];                             \
    }
ORDER(order_16_16, 16, 16)
ORDER(order_32_8, 32, 8)
ORDER(order_8_32, 8, 32)

/* ---- wrong, and nearly wrong ---- */
KERNEL own_pointers(const half *x, float *y, int step)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::load_matrix_sync(a, x + threadIdx.x * step, 16);
    y[threadIdx.x] = __half2float(a.x[0]);
}
#define PRODUCT                                                                                    \
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %4}, "   \
                 "{%4}, {%5, %5, %5, %5};"                                                         \
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])                                  \
                 : "r"(0x3c003c00), "f"(1.0f))
KERNEL parted(float *y, int limit)
{
    float d[4] = {};
    if ((int)threadIdx.x < limit) {
        PRODUCT;
        y[threadIdx.x] = d[0];
    }
    __syncwarp();
    y[threadIdx.x] += 1;
}
KERNEL apart_for_ever(float *y, int limit)
{
    float d[4] = {};
    if ((int)threadIdx.x < limit) {
        PRODUCT;
        y[threadIdx.x] = d[0];
    } else {
        __syncthreads();
    }
    __syncthreads();
}
KERNEL left(float *y, int limit)
{
    float d[4] = {};
    if ((int)threadIdx.x >= limit) return;
    PRODUCT;
    y[threadIdx.x] = d[0];
}
/* Lanes come one after the other, and the product waits for the last. */
KERNEL late(float *y, int rounds)
{
    float d[4] = {};
    volatile int spent = 0;
    for (int i = 0; i < rounds * (int)threadIdx.x; i++) spent = spent + 1;
    PRODUCT;
    y[threadIdx.x] = d[0] + spent;
}

/* ---- mma: operands lie as registers, register r of lane l at r * 32 + l ---- */
#define A1    "r"(a[t])
#define A2    A1, "r"(a[t + 32])
#define A4    A2, "r"(a[t + 64]), "r"(a[t + 96])
#define B1_   "r"(b[t])
#define B2_   B1_, "r"(b[t + 32])
#define C2_   "r"(c[t]), "r"(c[t + 32])
#define C4_   C2_, "r"(c[t + 64]), "r"(c[t + 96])
#define C8_   C4_, "r"(c[t + 128]), "r"(c[t + 160]), "r"(c[t + 192]), "r"(c[t + 224])
#define D2_   "=r"(r[0]), "=r"(r[1])
#define D4_   D2_, "=r"(r[2]), "=r"(r[3])
#define D8_   D4_, "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7])
#define MMA(name, op, lists, ND, NA, NB, NC)                                                       \
    KERNEL name(const u32 *a, const u32 *b, const u32 *c, u32 *d)                                  \
    {                                                                                              \
        u32 r[8] = {}, t = threadIdx.x;                                                            \
        asm volatile("mma.sync.aligned." op " " lists ";" : D##ND##_ : A##NA, B##NB##_, C##NC##_); \
        for (int i = 0; i < ND; i++) d[i * 32 + t] = r[i];                                         \
    }
#define L2112 "{%0, %1}, {%2}, {%3}, {%4, %5}"
#define L2212 "{%0, %1}, {%2, %3}, {%4}, {%5, %6}"
#define L2422 "{%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %9}"
#define L4214 "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10}"
#define L4424 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13}"
#define L4224 "{%0, %1, %2, %3}, {%4, %5}, {%6, %7}, {%8, %9, %10, %11}"
#define L8228                                                                                      \
    "{%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9}, {%10, %11}, {%12, %13, %14, %15, %16, %17, %18, " \
    "%19}"
#define L8224                                                                                      \
    "{%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9}, {%10, %11}, {%12, %13, %14, %15}"
MMA(mma_f16_8, "m16n8k8.row.col.f32.f16.f16.f32", L4214, 4, 2, 1, 4)
MMA(mma_f16h_8, "m16n8k8.row.col.f16.f16.f16.f16", L2212, 2, 2, 1, 2)
MMA(quad_rc, "m8n8k4.row.col.f32.f16.f16.f32", L8228, 8, 2, 2, 8)
MMA(quad_cr, "m8n8k4.col.row.f32.f16.f16.f32", L8228, 8, 2, 2, 8)
MMA(quad_rr, "m8n8k4.row.row.f16.f16.f16.f16", L4224, 4, 2, 2, 4)
MMA(quad_cc, "m8n8k4.col.col.f32.f16.f16.f16", L8224, 8, 2, 2, 4)
MMA(mma_s8_8_16, "m8n8k16.row.col.s32.s8.u8.s32", L2112, 2, 1, 1, 2)
MMA(mma_s4_8_32, "m8n8k32.row.col.satfinite.s32.s4.u4.s32", L2112, 2, 1, 1, 2)
MMA(mma_b1_8_128, "m8n8k128.row.col.s32.b1.b1.s32.xor.popc", L2112, 2, 1, 1, 2)

/* ---- ldmatrix: 4 tiles of 8 rows, `pitch` bytes apart ---- */
#define TILES(name, op, list, ...)                                                                 \
    KERNEL name(const u32 *x, u32 *y, int pitch, int shift)                                        \
    {                                                                                              \
        __shared__ __align__(16) unsigned char rows[32 * 32 + 16];                                 \
        u32 r[4] = {}, t = threadIdx.x;                                                            \
        for (int i = 0; i < 4; i++) *(u32 *)(rows + t * pitch + i * 4) = x[t * 4 + i];             \
        __syncthreads();                                                                           \
        u32 at = (u32)__cvta_generic_to_shared(rows + t * pitch) + shift;                          \
        asm volatile(op " " list ", [%" __VA_ARGS__ : "r"(at) : "memory");                         \
        for (int i = 0; i < 4; i++) y[i * 32 + t] = r[i];                                          \
    }
#define X1 "{%0}"
#define X2 "{%0, %1}"
#define X4 "{%0, %1, %2, %3}"
TILES(tiles_1, "ldmatrix.sync.aligned.m8n8.x1.shared.b16", X1, "1];" : "=r"(r[0]))
TILES(tiles_2_trans, "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16", X2, "2];" : D2_)
TILES(tiles_4, "ldmatrix.sync.aligned.m8n8.x4.shared.b16", X4, "4];" : D4_)
TILES(tiles_4_trans, "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", X4, "4];" : D4_)
KERNEL tile_turned(const u32 *x, u32 *y)
{
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;"
                 : "=r"(y[threadIdx.x])
                 : "r"(x[threadIdx.x]));
}

#if __CUDA_ARCH__ >= 900
SHAPES(bf16, __nv_bfloat16, __nv_bfloat16, float)
WMMA(tf32_rc, 16, 16, 8, wmma::precision::tf32, float, row, col, float, float, row, )
WMMA(tf32_cr, 16, 16, 8, wmma::precision::tf32, float, col, row, float, float, col, )
WMMA(f64_rc, 8, 8, 4, double, double, row, col, double, double, row, )
WMMA(f64_cr, 8, 8, 4, double, double, col, row, double, double, col, )
B1(b1_and, AND)
MMA(mma_f16_16, "m16n8k16.row.col.f32.f16.f16.f32", L4424, 4, 4, 2, 4)
MMA(mma_f16h_16, "m16n8k16.row.col.f16.f16.f16.f16", L2422, 2, 4, 2, 2)
MMA(mma_bf16_8, "m16n8k8.row.col.f32.bf16.bf16.f32", L4214, 4, 2, 1, 4)
MMA(mma_bf16_16, "m16n8k16.row.col.f32.bf16.bf16.f32", L4424, 4, 4, 2, 4)
MMA(mma_tf32_4, "m16n8k4.row.col.f32.tf32.tf32.f32", L4214, 4, 2, 1, 4)
MMA(mma_tf32_8, "m16n8k8.row.col.f32.tf32.tf32.f32", L4424, 4, 4, 2, 4)
MMA(mma_e4m3_16, "m16n8k16.row.col.f32.e4m3.e5m2.f32", L4214, 4, 2, 1, 4)
MMA(mma_e4m3_32, "m16n8k32.row.col.f32.e4m3.e4m3.f32", L4424, 4, 4, 2, 4)
MMA(mma_e5m2h_32, "m16n8k32.row.col.f16.e5m2.e4m3.f16", L2422, 2, 4, 2, 2)
MMA(mma_s8_16, "m16n8k16.row.col.satfinite.s32.s8.s8.s32", L4214, 4, 2, 1, 4)
MMA(mma_u8_32, "m16n8k32.row.col.s32.u8.s8.s32", L4424, 4, 4, 2, 4)
MMA(mma_u4_32, "m16n8k32.row.col.s32.u4.s4.s32", L4214, 4, 2, 1, 4)
MMA(mma_s4_64, "m16n8k64.row.col.s32.s4.s4.s32", L4424, 4, 4, 2, 4)
MMA(mma_b1_128, "m16n8k128.row.col.s32.b1.b1.s32.and.popc", L4214, 4, 2, 1, 4)
MMA(mma_b1_256, "m16n8k256.row.col.s32.b1.b1.s32.xor.popc", L4424, 4, 4, 2, 4)
#define DMMA(name, op, lists, ND, out, ...)                                                        \
    KERNEL name(const double *a, const double *b, const double *c, double *d)                      \
    {                                                                                              \
        double r[4] = {};                                                                          \
        int t = threadIdx.x;                                                                       \
        asm volatile("mma.sync.aligned." op ".row.col.f64.f64.f64.f64 " lists ";"                  \
                     : out                                                                         \
                     : __VA_ARGS__);                                                               \
        for (int i = 0; i < ND; i++) d[i * 32 + t] = r[i];                                         \
    }
#define F2(x) "d"(x[t]), "d"(x[t + 32])
#define F4(x) F2(x), "d"(x[t + 64]), "d"(x[t + 96])
#define F8(x) F4(x), "d"(x[t + 128]), "d"(x[t + 160]), "d"(x[t + 192]), "d"(x[t + 224])
#define R2    "=d"(r[0]), "=d"(r[1])
#define R4    R2, "=d"(r[2]), "=d"(r[3])
#define PASS(...) __VA_ARGS__
#define DMMA_(name, op, lists, ND, out, in) DMMA(name, op, lists, ND, PASS out, PASS in)
DMMA_(mma_f64_8_4, "m8n8k4", L2112, 2, (R2), ("d"(a[t]), "d"(b[t]), F2(c)))
DMMA_(mma_f64_4, "m16n8k4", L4214, 4, (R4), (F2(a), "d"(b[t]), F4(c)))
DMMA_(mma_f64_8, "m16n8k8", L4424, 4, (R4), (F4(a), F2(b), F4(c)))
DMMA_(mma_f64_16, "m16n8k16",
      "{%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%16, %17, %18, "
      "%19}",
      4, (R4), (F8(a), F4(b), F4(c)))
/* stmatrix, and ldmatrix with a generic address */
KERNEL tiles_back(const u32 *x, u32 *y, int pitch, int turned)
{
    __shared__ __align__(16) unsigned char rows[32 * 32];
    int t = threadIdx.x;
    u32 at = (u32)__cvta_generic_to_shared(rows + t * pitch), r[4];
    if (turned)
        asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};"
                     : : "r"(at), "r"(x[t]), "r"(x[t + 32]), "r"(x[t + 64]), "r"(x[t + 96])
                     : "memory");
    else
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                     : : "r"(at), "r"(x[t]), "r"(x[t + 32]), "r"(x[t + 64]), "r"(x[t + 96])
                     : "memory");
    __syncthreads();
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.b16 {%0, %1, %2, %3}, [%4];"
                 : D4_ : "l"(rows + t * pitch) : "memory");
    for (int i = 0; i < 4; i++) y[i * 32 + t] = r[i];
}
#endif
