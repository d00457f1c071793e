// SPDX-License-Identifier: MIT
__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
extern "C" __global__ void f(int* x) { x[threadIdx.x] = fib(threadIdx.x % 12); }
