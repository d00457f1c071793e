# SPDX-License-Identifier: MIT
# What the software device looks for on request, and not otherwise.
. "$CASE_LIB"
# run CHECK SNIPPET ARGUMENT...; the instruction and its line depend on the compiler
run() {
    QUERN_DEVICE=$1
    export QUERN_DEVICE
    shift
    try quern elementwise 'int32 x' 'int32 y' "$@" | sed "s/ ('[^)]*)//g"
}
gap='__shared__ volatile int s[64];
if (x != 3) s[x] = x;
y = s[x] + 1'
race='__shared__ volatile int s[64];
s[x] = x;
y = s[x ^ 1]'
right='__shared__ volatile int s[64];
s[x] = x;
y = s[x]'
run soft:check=init "$gap" x=arange:int32:5
run soft:2,check=races "$race" x=arange:int32:6
run soft:check=all "$right" x=arange:int32:6
run soft:check=races "$gap" x=arange:int32:5 | tail -n 1
run soft:check=init 'y = x' x=empty:int32:3 | sed 's/0x[0-9a-f]*/ADDRESS/; s/, at .*//'
run soft:check=twice 'y = x' x=arange:int32:3 | cut -c1-60
cat >meet.cu <<'SOURCE'
extern "C" __global__ void masks(int *y)
{
    int t = threadIdx.x;
    if (t < 16)
        y[t] = __ballot_sync(0xffffffff, 1);
    else
        y[t] = __ballot_sync(0xffff0000, 1);
}
extern "C" __global__ void gone(int *y)
{
    if (threadIdx.x >= 16) return;
    y[threadIdx.x] = __shfl_sync(0xffffffff, threadIdx.x, 20);
}
extern "C" __global__ void apart(int *y)
{
    int t = threadIdx.x;
    if (t % 2) {
        __syncthreads();
        y[t] = 1;
    } else {
        y[t] = 3;
        __syncthreads();
    }
}
extern "C" __global__ void large(int *y, int k)
{
    volatile int a[200000];
    a[k] = 1;
    y[0] = a[y[1]];
}
SOURCE
for kernel in masks gone apart; do
    for check in races sync; do
        QUERN_DEVICE=soft:check=$check try quern raw meet.cu --kernel $kernel --grid 1 --block 32 --quiet \
            zeros:int32:64 | sed "s/ ('[^)]*)//g"
    done
done
QUERN_DEVICE=soft:check=limits try quern raw meet.cu --kernel large --grid 1 --block 1 zeros:int32:2 int32:3
QUERN_DEVICE=soft:check=limits try quern raw meet.cu --kernel gone --grid 4000 --block 256 --cooperative \
    zeros:int32:256
QUERN_DEVICE=soft:check=div try quern elementwise 'int32 x' 'int32 y' 'y = 12 / x' x=arange:int32:3 |
    sed "s/ ('[^)]*)//g"
QUERN_DEVICE=soft:check=div try quern elementwise 'int32 x' 'int32 y' 'y = x != 0 ? 12 / x : 0' \
    x=arange:int32:3
# a view knows where it ends; its array, and an image that was made without the check, do not
view() {
    QUERN_DEVICE=$1
    export QUERN_DEVICE
    shift
    try quern elementwise "$@" | sed "s/0x[0-9a-f]*/ADDRESS/g; s/ ('[^)]*)//g"
}
for device in soft soft:check=bounds soft:check=all soft:check=init; do
    view $device 'raw T w' 'T y' 'y = w[15]' 'w=arange:float32:20[0:3]' --size 1
done
view soft:check=bounds 'raw T w' 'T y' 'y = w[i - 1]' 'w=arange:int8:20[5:8]' --size 2
view soft:check=bounds 'raw T w' 'T y' 'int at[] = {1, (int)i}; y = w[at]' \
    'w=arange:float32:5x4[1:4,::2]' --size 3
view soft:check=bounds '' 'raw int o' 'atomicAdd(&o[i], 1)' 'o=zeros:int32:20[2:14:3]' --size 5
view soft:check=bounds 'raw T w' 'T y' 'T s = 0;
for (const T *p = &w[0]; p != &w[w.size()]; p++) s += *p;
y = s' 'w=arange:float32:20[0:3]' --size 1
