/* SPDX-License-Identifier: MIT
 *
 * The kernels of test_ptx_run*.c. run.ptx is what NVRTC 13.0 makes of this file with
 * --gpu-architecture=compute_75 -lineinfo; the tests read that, so that they need no compiler.
 */
typedef unsigned u32;
typedef unsigned long long u64;
extern "C" {
int printf(const char *, ...);
__device__ void __assertfail(const char *, const char *, u32, const char *, size_t);

__global__ void saxpy(float a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
__global__ void pack(const float4 *x, float4 *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float4 v = x[i];
        y[i] = make_float4(v.w, v.z + 1, v.y, v.x);
    }
}
__global__ void bytes(const signed char *x, const unsigned char *y, short *z, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) z[i] = (short)(x[i] * 2 + y[n - 1 - i]);
}
__global__ void collatz(const u32 *x, u32 *steps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u32 v = x[i], count = 0;
    while (v != 1) {
        if (v & 1) v = 3 * v + 1;
        else v >>= 1;
        count++;
        if (count > 500) break;
    }
    steps[i] = count;
}
__global__ void reduce(const float *x, float *out, int n)
{
    __shared__ float s[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k >>= 1) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
__global__ void dynamic(const double *x, double *y, u32 *sizes)
{
    extern __shared__ double d[];
    u32 *tail = (u32 *)(d + blockDim.x);
    int t = threadIdx.x;
    d[t] = x[t];
    tail[t] = t;
    __syncthreads();
    y[t] = d[blockDim.x - 1 - t];
    sizes[t] = tail[blockDim.x - 1 - t];
}
__global__ void shuffles(const int *x, int *out)
{
    int t = threadIdx.x, v = x[t];
    int sum = v;
    for (int k = 16; k; k >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, k);
    out[t] = sum;
    out[32 + t] = __shfl_up_sync(0xffffffffu, v, 3);
    out[64 + t] = __shfl_xor_sync(0xffffffffu, v, 5);
    out[96 + t] = __shfl_sync(0xffffffffu, v, t * 7);
    out[128 + t] = __shfl_down_sync(0xffffffffu, v, 2, 8);
    out[160 + t] = t & 1 ? __shfl_sync(0xaaaaaaaau, v, 31) : __shfl_sync(0x55555555u, v, 30);
}
__global__ void votes(const int *x, u32 *out)
{
    int t = threadIdx.x, v = x[t];
    out[t] = __ballot_sync(0xffffffffu, v > 3);
    out[32 + t] = __any_sync(0xffffffffu, v == 7);
    out[64 + t] = __all_sync(0xffffffffu, v >= 0);
    out[96 + t] = __match_any_sync(0xffffffffu, v);
    if (t < 10) out[128 + t] = __activemask();
    int same;
    out[160 + t] = __match_all_sync(0xffffffffu, v > 100, &same) + same;
    out[192 + t] = __syncthreads_count(v > 3);
    out[224 + t] = __syncthreads_or(v == 7) * 2 + __syncthreads_and(v >= 0);
}
__global__ void histogram(const unsigned char *x, u32 *bins, int n)
{
    __shared__ u32 s[16];
    if (threadIdx.x < 16) s[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&s[x[i] & 15], 1u);
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], s[threadIdx.x]);
}
__global__ void atomics(int *i, u32 *u, u64 *l, float *f, double *d)
{
    int t = threadIdx.x;
    atomicMin(&i[0], -t);
    atomicMax(&i[1], t);
    atomicExch(&i[2], 77);
    atomicSub(&i[3], 2);
    atomicInc(&u[0], 9);
    atomicDec(&u[1], 9);
    atomicAnd(&u[2], ~(1u << (t & 31)));
    atomicOr(&u[3], 1u << (t & 31));
    atomicXor(&u[4], 1u << (t & 31));
    atomicMax(&u[5], 0x80000000u + t);
    atomicAdd(&l[0], 0x100000001ull);
    atomicMax(&l[1], 1ull << (t & 63));
    u64 seen, next = l[2];
    do {
        seen = next;
        next = atomicCAS(&l[2], seen, seen + 3);
    } while (next != seen);
    atomicAdd(&f[0], 0.5f);
    atomicAdd(&d[0], 0.25);
}
__device__ __noinline__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__global__ void recursion(const int *n, int *out)
{
    out[threadIdx.x] = fibonacci(n[threadIdx.x]);
}
__device__ __noinline__ int chain(int n)
{
    return n <= 0 ? 1 : chain(n - 1) * 3 ^ n;
}
__global__ void deep(int *out)
{
    out[threadIdx.x] = chain(out[threadIdx.x]);
}
typedef int (*function)(int, int);
__device__ __noinline__ int plus(int a, int b) { return a + b; }
__device__ __noinline__ int times(int a, int b) { return a * b; }
__device__ __noinline__ int minus(int a, int b) { return a - b; }
__device__ function table[3] = {plus, times, minus};
__global__ void pointers(const int *which, const int *x, int *out)
{
    int t = threadIdx.x;
    out[t] = table[which[t]](x[t], t);
}
struct big {
    int n;
    float c[10];
    const float *p;
    struct { short a; char b; } in[3];
};
__global__ void structure(const __grid_constant__ big b, float *out, int j)
{
    int t = threadIdx.x;
    out[t] = b.c[j] + b.p[t] + b.in[t % 3].a + b.in[j].b + b.n;
}
__global__ void locals(const int *x, int *out, int n)
{
    int a[16];
    for (int k = 0; k < 16; k++) a[k] = x[k] * threadIdx.x;
    for (int k = 0; k < n; k++) a[x[k] & 15] += a[(x[k] + k) & 15];
    int sum = 0;
    for (int k = 0; k < 16; k++) sum = sum * 31 + a[k];
    out[threadIdx.x] = sum;
}
__device__ int lock_word;
__global__ void spin(int *counter)
{
    while (atomicCAS(&lock_word, 0, 1) != 0) ;
    *(volatile int *)counter = *(volatile int *)counter + 1;
    __threadfence();
    atomicExch(&lock_word, 0);
}
__device__ volatile int flag;
__global__ void handshake(int *out)
{
    if (threadIdx.x < 32) {
        while (flag == 0) ;
        out[threadIdx.x] = 5;
    } else {
        out[threadIdx.x] = 6;
        __threadfence();
        flag = 1;
    }
}
__global__ void prints(int n)
{
    int t = threadIdx.x;
    if (t < n) printf("block %d thread %d: %5.2f %s %lld %%|%c|%-4u|%x\n", blockIdx.x, t, t * 0.5, "text",
                      t * 10000000000ll, 'a' + t, (u32)t, 255);
}
__constant__ int weights[4] = {1, 10, 100, 1000};
__device__ int global_count = 3;
__global__ void globals(int *out)
{
    out[threadIdx.x] = weights[threadIdx.x & 3] * global_count;
}
__global__ void out_of_bounds(int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = i;
}
__global__ void misaligned(const char *x, int *out)
{
    out[threadIdx.x] = *(const int *)(x + 4 * threadIdx.x + 2 * (threadIdx.x == 3));
}
__global__ void shared_out_of_bounds(int *x, int n)
{
    __shared__ int s[8];
    s[threadIdx.x % 8] = 1;
    __syncthreads();
    x[threadIdx.x] = s[threadIdx.x + n];
}
__global__ void local_out_of_bounds(int *x, int n)
{
    int a[4] = {1, 2, 3, (int)threadIdx.x};
    a[x[0]] = n;
    x[threadIdx.x] = a[n & 3];
}
__global__ void deadlock(int *x)
{
    if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;");
    else __syncthreads();
    x[threadIdx.x] = 1;
}
__global__ void lost_lane(int *x)
{
    int v = x[threadIdx.x];
    if (threadIdx.x < 16) v = __shfl_sync(0xffffffffu, v, 3);
    else __syncthreads();
    x[threadIdx.x] = v;
}
__global__ void not_a_member(int *x)
{
    x[threadIdx.x] = __shfl_sync(0x0000ffffu, x[threadIdx.x], 3);
}
__global__ void endless(volatile int *x)
{
    while (x[0] == 0) ;
    x[1] = 1;
}
__global__ void trapped(int *x)
{
    if (x[threadIdx.x]) __trap();
}
__global__ void exits(int *x)
{
    int t = threadIdx.x;
    if (t % 3 == 0) return;
    __syncthreads();
    x[t] = __popc(__activemask());
}
__global__ void heap(u64 *out, int n)
{
    int *p = (int *)malloc(n * sizeof(int));
    for (int k = 0; k < n; k++) p[k] = threadIdx.x + k;
    int sum = 0;
    for (int k = 0; k < n; k++) sum += p[k];
    out[threadIdx.x] = sum;
    free(p);
    if (out[0] == 0) out[1] = p[n - 1];
}
__global__ void grid_barrier(int *x, int *y)
{
    u32 low, high;
    asm volatile("mov.u32 %0, %%envreg2;" : "=r"(low));
    asm volatile("mov.u32 %0, %%envreg1;" : "=r"(high));
    u32 *workspace = (u32 *)((u64)high << 32 | low);
    int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = i + 1;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(workspace + 1, 1);
        while (*(volatile u32 *)(workspace + 1) < gridDim.x) ;
    }
    __syncthreads();
    y[i] = ((volatile int *)x)[(i + blockDim.x) % n];
}
__global__ void asserts(int *x)
{
    x[threadIdx.x] = 1;
    if (threadIdx.x == 5) __assertfail("x > 5", "run.cu", 12, "asserts", 1);
}
}
