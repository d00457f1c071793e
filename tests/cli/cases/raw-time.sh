# SPDX-License-Identifier: MIT
# One line on standard error; what is saved and printed is of the first launch.
cat >k.cu <<'END'
extern "C" __global__ void add(int *x, const int *y, int n) { x[threadIdx.x] += y[threadIdx.x] + n; }
END
quern raw k.cu --kernel add --grid 1 --block 8 arange:int32:8:x.npy ones:int32:8 int32:10 --time
quern elementwise 'T x' 'T y' 'y = x' x=x.npy
