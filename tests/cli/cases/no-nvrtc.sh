# SPDX-License-Identifier: MIT
# Without NVRTC, kernels in the cache run; for any other, the error says what is missing.
. "$CASE_LIB"
QUERN_CACHE_DIR=$PWD/cache
export QUERN_CACHE_DIR
copy x=arange:int32:3
raw() {
    quern raw k.cu --kernel 'twice<int>' --grid 1 --block 3 arange:int32:3:-
}
echo 'template <typename T> __global__ void twice(T *x) { x[threadIdx.x] *= 2; }' >k.cu
raw
QUERN_NVRTC=$PWD/none.so
export QUERN_NVRTC
copy x=arange:int32:3
raw
quern elementwise 'T x' 'T y' 'y = x + 77' x=arange:int32:3 >said 2>&1
echo "-> $?"
grep -c NVRTC said
QUERN_NVRTC=$(command -v sh)
quern elementwise 'T x' 'T y' 'y = x + 78' x=arange:int32:3 >said 2>&1
echo "-> $?"
grep -c "$QUERN_NVRTC" said
