// SPDX-License-Identifier: MIT
//
// c = a b, of matrices of n x n in rows. Each block computes TILE x TILE elements of c, and brings
// the tiles of a and b that they need into shared memory, so that each element is read n / TILE
// times and not n times.
#ifndef TILE
#define TILE 16
#endif

extern "C" __global__ void matmul(const float *a, const float *b, float *c, int n)
{
    __shared__ float of_a[TILE][TILE], of_b[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int column = blockIdx.x * TILE + x, row = blockIdx.y * TILE + y;
    float sum = 0;
    for (int k = 0; k < n; k += TILE) {
        of_a[y][x] = row < n && k + x < n ? a[row * n + k + x] : 0;
        of_b[y][x] = k + y < n && column < n ? b[(k + y) * n + column] : 0;
        __syncthreads();
        for (int j = 0; j < TILE; j++) {
            sum += of_a[y][j] * of_b[j][x];
        }
        __syncthreads();
    }
    if (row < n && column < n) {
        c[row * n + column] = sum;
    }
}
