/* SPDX-License-Identifier: MIT
 *
 * Generic addresses of every space, vectors, bytes, and a stack that recursion grows.
 */
__constant__ float table[4] = {1, 2, 4, 8};
__device__ float world[4] = {3, 5, 7, 9};
struct pair {
    short a;
    char b;
    double c;
};
__device__ __noinline__ float sum(const float *p, int n)
{
    float s = 0;
    for (int i = 0; i < n; i++)
        s = s * 0.5f + p[i];
    return s;
}
__device__ __noinline__ int depth(int n, const unsigned char *bytes)
{
    unsigned char mine[8];
    for (int i = 0; i < 8; i++)
        mine[i] = bytes[i] + n;
    return n <= 0 ? mine[3] : mine[n & 7] + depth(n - 1, mine);
}
extern "C" __global__ void k(const float *x, const unsigned char *b, float *o, int *q, pair *r)
{
    __shared__ __align__(16) float sh[64];
    float own[4];
    int t = threadIdx.x;
    sh[t] = x[t];
    for (int i = 0; i < 4; i++)
        own[i] = x[t] * i;
    __syncthreads();
    const float *p = t % 4 == 0 ? table : t % 4 == 1 ? world : t % 4 == 2 ? sh + (t & 56) : own;
    o[t] = sum(p, 4);
    float4 w = *(const float4 *)(sh + (t & 60));
    o[64 + t] = w.x - w.y + w.z * w.w;
    q[t] = depth(t & 7, b + (t & 7));
    q[64 + t] = __isShared(p) * 1 + __isGlobal(p) * 2 + __isLocal(p) * 4 + __isConstant(p) * 8;
    pair m = r[t];
    m.a = (short)(m.a * 3 + m.b);
    m.b = (char)(m.a >> 3);
    m.c = m.c * m.a;
    r[t] = m;
    *(volatile short *)((char *)q + 512 + t * 4) = (short)(x[t] * 100);
}
