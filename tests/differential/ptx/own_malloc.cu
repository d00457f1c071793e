/* SPDX-License-Identifier: MIT
 *
 * Device heap: blocks of several sizes, filled, read by neighbours, freed.
 */
extern "C" __global__ void k(const int *x, int *o)
{
    __shared__ int *table[64];
    int t = threadIdx.x, n = t % 7 + 1;
    int *p = (int *)malloc(n * 16);
    table[t] = p;
    for (int i = 0; i < n * 4; i++)
        p[i] = x[t] * i + t;
    __syncthreads();
    int u = (t + 5) & 63, m = u % 7 + 1, s = 0;
    for (int i = 0; i < m * 4; i++)
        s = s * 31 + table[u][i];
    __syncthreads();
    free(p);
    void *none = malloc(0);
    free(none);
    free(0);
    o[t] = s;
}
