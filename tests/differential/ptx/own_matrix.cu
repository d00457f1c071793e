/* SPDX-License-Identifier: MIT
 *
 * Products of a warp by wmma and mma: f16 in three shapes with both accumulators, whose sums are
 * rounded, bytes, nibbles and bits, and in which lane each element of a fragment is.
 */
#include <mma.h>
using namespace nvcuda;
namespace small = wmma::experimental::precision;
template<int M, int N, typename T, typename F>
static __device__ void product(const F *a, const F *b, const T *c, T *d)
{
    wmma::fragment<wmma::matrix_a, M, N, 16, F, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, M, N, 16, F, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, M, N, 16, T> fc;
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::load_matrix_sync(fc, c, N, wmma::mem_row_major);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(d, fc, N, wmma::mem_row_major);
}
template<int M, int N, typename T, typename F>
static __device__ void fragments(const F *a, const F *b, const T *c, F *da, F *db, T *dc)
{
    wmma::fragment<wmma::matrix_a, M, N, 16, F, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, M, N, 16, F, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, M, N, 16, T> fc;
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::load_matrix_sync(fc, c, N, wmma::mem_row_major);
    for (int i = 0; i < fa.num_elements; i++) da[i * 32 + threadIdx.x] = fa.x[i];
    for (int i = 0; i < fb.num_elements; i++) db[i * 32 + threadIdx.x] = fb.x[i];
    for (int i = 0; i < fc.num_elements; i++) dc[i * 32 + threadIdx.x] = fc.x[i];
}
extern "C" __global__ void k(const half *a, const half *b, const float *c, const half *h, float *d,
                             half *e, const signed char *p, const signed char *q, const int *r,
                             int *s, signed char *ga)
{
    half *fa = e + 768, *fb = fa + 1536;
    float *fc = d + 768;
    signed char *gb = ga + 1536;
    int *gc = s + 896;
    product<16, 16>(a, b, c, d);
    product<32, 8>(a, b, c, d + 256);
    product<8, 32>(a, b, c, d + 512);
    product<16, 16>(a, b, h, e);
    product<32, 8>(a, b, h, e + 256);
    product<8, 32>(a, b, h, e + 512);
    fragments<16, 16>(a, b, c, fa, fb, fc);
    fragments<32, 8>(a, b, c, fa + 512, fb + 512, fc + 256);
    fragments<8, 32>(a, b, c, fa + 1024, fb + 1024, fc + 512);
    product<16, 16>(p, q, r, s);
    product<32, 8>(p, q, r, s + 256);
    product<8, 32>(p, q, r, s + 512);
    fragments<16, 16>(p, q, r, ga, gb, gc);
    fragments<32, 8>(p, q, r, ga + 512, gb + 512, gc + 256);
    fragments<8, 32>(p, q, r, ga + 1024, gb + 1024, gc + 512);
    wmma::fragment<wmma::matrix_a, 8, 8, 32, small::s4, wmma::row_major> na;
    wmma::fragment<wmma::matrix_b, 8, 8, 32, small::s4, wmma::col_major> nb;
    wmma::fragment<wmma::accumulator, 8, 8, 32, int> nc;
    wmma::load_matrix_sync(na, p, 32);
    wmma::load_matrix_sync(nb, q, 32);
    wmma::load_matrix_sync(nc, r, 8, wmma::mem_row_major);
    wmma::mma_sync(nc, na, nb, nc, true);
    wmma::store_matrix_sync(s + 768, nc, 8, wmma::mem_row_major);
    wmma::fragment<wmma::matrix_a, 8, 8, 128, small::b1, wmma::row_major> ba;
    wmma::fragment<wmma::matrix_b, 8, 8, 128, small::b1, wmma::col_major> bb;
    wmma::fragment<wmma::accumulator, 8, 8, 128, int> bc;
    wmma::load_matrix_sync(ba, p, 128);
    wmma::load_matrix_sync(bb, q, 128);
    wmma::load_matrix_sync(bc, r, 8, wmma::mem_row_major);
    wmma::bmma_sync(bc, ba, bb, bc);
    wmma::store_matrix_sync(s + 832, bc, 8, wmma::mem_row_major);
}
