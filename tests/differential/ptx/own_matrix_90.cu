/* SPDX-License-Identifier: MIT
 *
 * Products of a warp that compute capability 7.5 lacks: bf16, tf32, f64, 8-bit floats, m16n8k16 of
 * f16, and the order of rounding in each. For compute capability 9.0.
 */
#include <mma.h>
using namespace nvcuda;
typedef unsigned u32;
template<int M, int N, int K, typename F, typename S, typename T>
static __device__ void product(const S *a, const S *b, const T *c, T *d)
{
    wmma::fragment<wmma::matrix_a, M, N, K, F, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, F, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, M, N, K, T> fc;
    wmma::load_matrix_sync(fa, a, K);
    wmma::load_matrix_sync(fb, b, K);
    wmma::load_matrix_sync(fc, c, N, wmma::mem_row_major);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(d, fc, N, wmma::mem_row_major);
}
#define MMA(op, a, b)                                                                              \
    asm volatile("mma.sync.aligned." op " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "           \
                 "{%10, %11, %12, %13};"                                                           \
                 : "=f"(r[0]), "=f"(r[1]), "=f"(r[2]), "=f"(r[3])                                  \
                 : "r"(a[t]), "r"(a[t + 32]), "r"(a[t + 64]), "r"(a[t + 96]), "r"(b[t]),           \
                   "r"(b[t + 32]), "f"(c[t]), "f"(c[t + 32]), "f"(c[t + 64]), "f"(c[t + 96]));     \
    for (int i = 0; i < 4; i++) *out++ = r[i], out += 31
extern "C" __global__ void k(const __nv_bfloat16 *x, const float *c, float *d, const float *y,
                             const double *z, double *w, const half *h, const u32 *e, float *out)
{
    int t = threadIdx.x;
    float r[4];
    product<16, 16, 16, __nv_bfloat16>(x, x + 256, c, d);
    product<32, 8, 16, __nv_bfloat16>(x, x + 512, c, d + 256);
    product<16, 16, 8, wmma::precision::tf32>(y, y + 128, c, d + 512);
    product<8, 8, 4, double>(z, z + 32, z + 64, w);
    const u32 *a = (const u32 *)h, *b = a + 128, *g = e + 128, *v = (const u32 *)x;
    const u32 *n = (const u32 *)y;
    out += t;
    MMA("m16n8k16.row.col.f32.f16.f16.f32", a, b);
    MMA("m16n8k16.row.col.f32.bf16.bf16.f32", v, v);
    MMA("m16n8k8.row.col.f32.tf32.tf32.f32", n, n);
    MMA("m16n8k32.row.col.f32.e4m3.e4m3.f32", e, g);
    MMA("m16n8k32.row.col.f32.e5m2.e4m3.f32", e, g);
}
