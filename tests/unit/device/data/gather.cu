/* SPDX-License-Identifier: MIT
 *
 * What the images in this folder hold. Made with nvcc of CUDA 13.0:
 *
 *     gather.cubin   nvcc -cubin -arch=sm_90
 *     plain.fatbin   nvcc -fatbin --no-compress, PTX of compute_75 and compute_90
 *     lz4.fatbin     the same with --compress-mode=speed
 *     zstd.fatbin    the same with --compress-mode=size
 */
__device__ int total;
__constant__ float scale;

extern "C" __global__ void gather(int *x)
{
    *x = total + (int)scale;
}
