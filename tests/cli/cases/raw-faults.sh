# SPDX-License-Identifier: MIT
# Kernels that loop forever, wait forever, or touch what is not theirs.
. "$CASE_LIB"
export QUERN_DEVICE=soft # a GPU stops no loop, and after a bad access works no more
cat >k.cu <<'END'
extern "C" __global__ void forever(volatile int *x) { while (*x) { } }
extern "C" __global__ void half_wait(int *x)
{
    if (threadIdx.x < 32) {
        __syncthreads();
    } else {
        asm volatile("barrier.sync 1, 64;");
    }
    *x = 1;
}
extern "C" __global__ void past(int *x)
{
    int i = threadIdx.x;
    x[i] = i;
}
extern "C" __global__ void shared(int *x)
{
    __shared__ int s[4];
    s[threadIdx.x] = 1;
    *x = s[0];
}
extern "C" __global__ void null(int *x) { *x = 1; }
extern "C" __global__ void odd(char *x) { *(int *)(x + 1) = 1; }
extern "C" __global__ void stop(int *x) { if (*x == 1) __trap(); }
template <typename T> __global__ void over(T *x) { x[1] = 1; }
END
k() {
    kernel=$1 grid=$2 block=$3
    shift 3
    try quern raw k.cu --kernel "$kernel" --grid "$grid" --block "$block" "$@" |
        sed 's/0x[0-9a-f]*/0x.../g; s/PTX line [0-9]*/PTX line .../g; s/seconds;.*/seconds/'
}
timeout --foreground --preserve-status -s INT 2 \
    quern raw k.cu --kernel forever --grid 1 --block 32 ones:int32:1:o.npy 2>said
echo "-> $?"
cat said
k forever 1 32 ones:int32:1:o.npy --device soft:limit=0.5
k half_wait 1 64 ones:int32:1:o.npy
k past 1 32 ones:int32:31:o.npy
k shared 1 32 ones:int32:1:o.npy
k null 1 1 null
k odd 1 1 zeros:uint8:8:o.npy
k stop 1 1 ones:int32:1:o.npy
k 'over<int>' 1 1 ones:int32:1:o.npy
ls
