# SPDX-License-Identifier: MIT
# Names, grids, blocks and shared memory that cannot be.
. "$CASE_LIB"
export QUERN_DEVICE=soft # the limits are its own
cat >k.cu <<'END'
extern "C" __global__ void first(int *x) { __shared__ int s[1000]; s[0] = *x; *x += s[0]; }
extern "C" __global__ void second(int *x) { *x += 1; }
template <typename T> __global__ void scale(T *x) { *x *= 2; }
__device__ int not_a_kernel(int x) { return x; }
END
k() {
    try quern raw k.cu ones:int32:4 "$@" | grep -v '^ \|^$\|^__nv_name_map\|detected in' # NVRTC's log
}
k --grid 1 --block 1
k --kernel first --block 1
k --kernel first --grid 1
try quern raw --kernel first --grid 1 --block 1
echo '-- names'
k --kernel frist --grid 1 --block 1
k --kernel not_a_kernel --grid 1 --block 1
k --kernel scale --grid 1 --block 1
k --kernel 'ns::scale' --grid 1 --block 1
k --kernel 'scale<integer>' --grid 1 --block 1
k --kernel 'scael<int>' --grid 1 --block 1
k --kernel 'scale<int' --grid 1 --block 1
k --kernel 'scale<int>' --grid 1 --block 1
k --kernel '' --grid 1 --block 1
echo '-- sizes'
k --kernel first --grid 0 --block 1
k --kernel first --grid 1,2,3,4 --block 1
k --kernel first --grid 1x2 --block 1
k --kernel first --grid 5000000000 --block 1
k --kernel first --grid 4294967295 --block 1
k --kernel first --grid 1,70000 --block 1
k --kernel first --grid 1 --block 1025
k --kernel first --grid 1 --block 1,1,65
k --kernel first --grid 1 --block 64,32
k --kernel first --grid 1 --block 1 --shared 100000000
k --kernel first --grid 1 --block 1 --shared 227500
k --kernel first --grid 1 --block 1 --shared -1
k --kernel first --grid 1 --block 1 --cluster 2
