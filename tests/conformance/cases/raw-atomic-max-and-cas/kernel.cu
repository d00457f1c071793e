// SPDX-License-Identifier: MIT
extern "C" __global__ void am(const int* x, int* m, unsigned long long* c) { int i = threadIdx.x; atomicMax(m, x[i]); unsigned long long old = *c, seen; do { seen = old; old = atomicCAS(c, seen, seen + (unsigned long long)(x[i] + 100)); } while (old != seen); }
