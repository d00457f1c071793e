/* SPDX-License-Identifier: MIT
 *
 * The kernels of test_ptx_heap.c. heap.ptx is what NVRTC 13.0 makes of this file with
 * --gpu-architecture=compute_75 -lineinfo; the tests read that, so that they need no compiler.
 * Memory is volatile, so that the compiler leaves mistakes as they are.
 */
typedef volatile int memory;

extern "C" {
/* Pieces that live on, and what is done with them by another launch. */
__global__ void keep(memory **kept)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    memory *p = (memory *)malloc(8 * sizeof(int));
    p[7] = i;
    kept[i] = p;
}
__global__ void collect(memory **kept, int *sums)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    sums[i] = kept[i][7];
    free((void *)kept[i]);
}

__global__ void loop(int count, int size)
{
    for (int k = 0; k < count; k++) {
        memory *p = (memory *)malloc(size * sizeof(int));
        p[size - 1] = k;
        free((void *)p);
    }
}
__global__ void is_null(int *null, size_t bytes)
{
    *null = malloc(bytes) == 0;
}

/* Mistakes. */
__global__ void outside(int at)
{
    memory *p = (memory *)malloc(10 * sizeof(int));
    p[at] = 1;
    free((void *)p);
}
__global__ void after_free(int at)
{
    memory *p = (memory *)malloc(10 * sizeof(int));
    p[at] = 1;
    free((void *)p);
    p[at] = 2;
}
__global__ void free_again(int offset)
{
    char *p = (char *)malloc(10 * sizeof(int));
    free(p + offset);
    free(p);
}
/* The first thread frees what the second warp reads once more. */
__global__ void freed_by_another(int at)
{
    __shared__ memory *p;
    if (threadIdx.x == 0) {
        p = (memory *)malloc(10 * sizeof(int));
        p[at] = 1;
    }
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < 2; k++) {
        if (threadIdx.x >= 32) p[at];
        __syncthreads();
        if (threadIdx.x == 0 && k == 0) free((void *)p);
        __syncthreads();
    }
}
}
