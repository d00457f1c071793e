/* SPDX-License-Identifier: MIT
 *
 * A shared library with an allocator over the CUDA runtime, in the words of PyTorch's pluggable
 * allocators and of RMM's exports: cudaMallocAsync and cudaFreeAsync on the stream that is asked
 * for. It remembers what is out, and tells the program that loads it what was asked and whether
 * each piece came back with the numbers that it was asked with.
 */
#include "pool.h"

#include <cuda_runtime_api.h>

enum { PIECES = 256 };

static struct piece {
    void *pointer;
    ssize_t bytes;
    int device;
    cudaStream_t stream;
} out[PIECES];
static pool_stats stats;

void *pool_allocate(ssize_t bytes, int device, cudaStream_t stream);
void pool_deallocate(void *pointer, ssize_t bytes, int device, cudaStream_t stream);

void *pool_allocate(ssize_t bytes, int device, cudaStream_t stream)
{
    int current = -1, k = 0;
    void *pointer;
    while (k < PIECES && out[k].pointer) {
        k++;
    }
    if (k == PIECES || cudaMallocAsync(&pointer, (size_t)bytes, stream) != cudaSuccess) {
        return NULL;
    }
    stats.elsewhere += cudaGetDevice(&current) != cudaSuccess || current != device;
    stats.allocated++;
    stats.live++;
    stats.bytes += bytes;
    stats.last_device = device;
    stats.last_stream = stream;
    out[k] = (struct piece){pointer, bytes, device, stream};
    return pointer;
}

void pool_deallocate(void *pointer, ssize_t bytes, int device, cudaStream_t stream)
{
    for (int k = 0; k < PIECES; k++) {
        if (out[k].pointer == pointer) {
            stats.wrong += out[k].bytes != bytes || out[k].device != device ||
                           out[k].stream != stream || cudaFreeAsync(pointer, stream) != cudaSuccess;
            stats.live--;
            stats.bytes -= bytes;
            out[k].pointer = NULL;
            return;
        }
    }
    stats.wrong++;
}

pool_stats pool_get_stats(void)
{
    return stats;
}
