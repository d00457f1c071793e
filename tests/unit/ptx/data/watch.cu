/* SPDX-License-Identifier: MIT
 *
 * The kernels of test_ptx_watch.c and test_ptx_trace.c: each mistake and its correct twin. watch.ptx
 * is what NVRTC 13.0 makes of this file with --gpu-architecture=compute_75 -lineinfo; the tests read
 * that, so that they need no compiler.
 */
typedef unsigned u32;
typedef unsigned long long u64;
extern "C" {

/* ---- shared memory, between barriers -------------------------------------------------------- */

/* Each thread reads what its neighbour wrote. */
__global__ void reverse(int *x, int barrier)
{
    __shared__ int tile[64];
    tile[threadIdx.x] = x[threadIdx.x];
    if (barrier) __syncthreads();
    x[threadIdx.x] = tile[63 - threadIdx.x];
}
/* The second turn overwrites what the first may still be read from. */
__global__ void overwrite(int *x, int barrier)
{
    __shared__ int tile[64];
    for (int turn = 0; turn < 2; turn++) {
        tile[threadIdx.x] = x[threadIdx.x] + turn;
        __syncthreads();
        x[threadIdx.x] = tile[63 - threadIdx.x];
        if (barrier) __syncthreads();
    }
}
__global__ void all_write(int *x, int same)
{
    __shared__ int flag;
    flag = same ? 7 : threadIdx.x;
    __syncthreads();
    x[threadIdx.x] = flag;
}
__global__ void warp_sum(int *x, int sync)
{
    __shared__ int s[32];
    s[threadIdx.x] = x[threadIdx.x];
    for (int step = 16; step > 0; step /= 2) {
        if (sync) __syncwarp();
        int other = s[threadIdx.x ^ step];
        if (sync) __syncwarp();
        s[threadIdx.x] += other;
    }
    x[threadIdx.x] = s[threadIdx.x];
}
/* Threads 0 to 31 read while the others write. */
__global__ void named_barrier(int *x, int wait)
{
    __shared__ int box[32];
    u32 t = threadIdx.x;
    if (t >= 32) {
        box[t - 32] = x[t];
        asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
        if (wait) asm volatile("bar.sync 1, 64;" ::: "memory");
        x[t] = box[t];
    }
}
__global__ void histogram(const int *x, u32 *count, int mode)
{
    __shared__ u32 bins[8];
    if (threadIdx.x < 8) bins[threadIdx.x] = 0;
    if (mode != 1) __syncthreads();
    if (mode != 2) atomicAdd(&bins[x[threadIdx.x] & 7], 1);
    else bins[x[threadIdx.x] & 7]++;
    __syncthreads();
    if (threadIdx.x < 8) count[threadIdx.x] = bins[threadIdx.x];
}
/* A lock with its fences orders what it guards. */
__global__ void locked(int *x, int fence)
{
    __shared__ int lock, sum;
    if (threadIdx.x == 0) lock = sum = 0;
    __syncthreads();
    for (bool done = false; !done;) {
        if (atomicCAS(&lock, 0, 1) == 0) {
            if (fence) __threadfence_block();
            sum += x[threadIdx.x];
            if (fence) __threadfence_block();
            atomicExch(&lock, 0);
            done = true;
        }
    }
    __syncthreads();
    x[threadIdx.x] = sum;
}
/* A message and the flag that says it is there. */
__global__ void message(int *x, int ordered)
{
    __shared__ int text, flag;
    u32 at = (u32)__cvta_generic_to_shared(&flag), seen = 0;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x == 32) {
        text = x[0];
        if (ordered) asm volatile("st.release.cta.shared.u32 [%0], 1;" ::"r"(at) : "memory");
        else asm volatile("st.relaxed.cta.shared.u32 [%0], 1;" ::"r"(at) : "memory");
    } else if (threadIdx.x == 0) {
        while (!seen) asm volatile("ld.acquire.cta.shared.u32 %0, [%1];" : "=r"(seen) : "r"(at) : "memory");
        x[1] = text;
    }
}
/* Half of the block has left when the others meet. */
__global__ void leavers(int *x)
{
    __shared__ int s[64];
    s[threadIdx.x] = x[threadIdx.x];
    if (threadIdx.x & 1) return;
    __syncthreads();
    x[threadIdx.x] = s[threadIdx.x + 1];
}
__global__ void bytes_apart(unsigned char *x)
{
    __shared__ unsigned char s[64];
    s[threadIdx.x] = x[threadIdx.x];
    s[threadIdx.x] = (unsigned char)(s[threadIdx.x] + 1);
    x[threadIdx.x] = s[threadIdx.x];
}

/* ---- memory that nobody wrote --------------------------------------------------------------- */

__global__ void shared_gap(int *x, int n)
{
    __shared__ int tile[65];
    if (threadIdx.x < n) tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = tile[63 - threadIdx.x];
}
__global__ void dynamic_gap(int *x, int n)
{
    extern __shared__ int dynamic[];
    __shared__ int fixed;
    fixed = n;
    if (threadIdx.x < n) dynamic[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = dynamic[63 - threadIdx.x] + fixed;
}
__global__ void local_gap(int *x, int n)
{
    int a[16];
    for (int i = 0; i < n; i++) a[i] = x[i];
    int sum = 0;
    for (int i = 0; i < 16; i++) sum += a[(i * 7 + x[0]) & 15];
    x[threadIdx.x + 16] = sum;
}
/* The second call must not find what the first one left. */
__device__ __noinline__ int leaves(int *x, int n, int write)
{
    int a[8];
    for (int i = 0; i < n && write; i++) a[i] = x[i];
    return a[x[n] & 7];
}
__global__ void stale_call(int *x, int again)
{
    int r = leaves(x, 8, 1);
    x[threadIdx.x + 16] = r + leaves(x, 8, again);
}
__global__ void stale_alloca(int *x, int n, int given)
{
    u64 a_address;
    asm volatile("{.reg .u64 a; alloca.u64 a, %1; cvta.local.u64 %0, a;}"
                 : "=l"(a_address) : "l"((u64)n * sizeof(int)));
    int *a = (int *)a_address;
    for (int i = 0; i < given; i++) a[i] = i + x[i];
    x[threadIdx.x + 32] = a[x[n] & 7];
}
__global__ void bad_count(u32 *count, int set)
{
    __shared__ u32 found;
    if (set && threadIdx.x == 0) found = 0;
    __syncthreads();
    atomicAdd(&found, 1);
    __syncthreads();
    count[threadIdx.x] = found;
}
/* Structures are copied with their padding, by words and by bytes. */
struct padded {
    char letter;
    int number;
    char more;
};
struct __align__(16) three {
    float x, y, z;
};
struct large {
    char letter[3];
    int number;
    char filler[3];
    double real[30];
};
__global__ void copies(int *out, int k, float *f)
{
    padded a[4];
    __shared__ padded b[64];
    for (int i = 0; i < 4; i++) {
        a[(i + k) & 3].letter = (char)i;
        a[(i + k) & 3].number = i;
        a[(i + k) & 3].more = (char)(i + 1);
    }
    b[threadIdx.x] = a[(threadIdx.x + k) & 3];
    three t[2];
    for (int i = 0; i < 2; i++) {
        t[(i + k) & 1].x = f[i];
        t[(i + k) & 1].y = f[i];
        t[(i + k) & 1].z = f[i];
    }
    three u = t[k & 1];
    __syncthreads();
    out[threadIdx.x] = b[63 - threadIdx.x].number + (int)u.z;
}
__global__ void large_copies(int *out, int k)
{
    large a[2];
    __shared__ large b[4];
    for (int i = 0; i < 2; i++) {
        a[(i + k) & 1].letter[0] = (char)i;
        a[(i + k) & 1].number = i;
        for (int j = 0; j < 30; j++) a[(i + k) & 1].real[j] = i;
    }
    if (threadIdx.x < 4) b[threadIdx.x] = a[(threadIdx.x + k) & 1];
    __syncthreads();
    out[threadIdx.x] = b[threadIdx.x & 3].number + (int)b[0].real[k & 7];
}
/* What was not written stays so in the copy. */
__global__ void copied_gap(int *out, int k)
{
    padded a[4];
    __shared__ padded b[64];
    for (int i = 0; i < 4; i++) a[(i + k) & 3].letter = (char)i;
    b[threadIdx.x] = a[(threadIdx.x + k) & 3];
    __syncthreads();
    out[threadIdx.x] = b[63 - threadIdx.x].number;
}
/* A field is put into a word of which nothing was written yet. */
struct fields {
    u32 small : 3, wide : 29;
};
__global__ void bit_fields(int *x, int set)
{
    __shared__ fields f[64];
    if (set) f[threadIdx.x].small = threadIdx.x & 7;
    __syncthreads();
    x[threadIdx.x] = f[63 - threadIdx.x].small + 1;
}
__global__ void sum(const float *x, float *y, int n)
{
    u32 t = threadIdx.x;
    if (t < n) y[t] = x[t] + 1;
}
__global__ void from_heap(int *out, int n)
{
    int *a = (int *)malloc(8 * sizeof(int));
    for (int i = 0; i < n; i++) a[i] = i;
    out[threadIdx.x] = a[n & 7];
    free(a);
}

/* ---- for the trace -------------------------------------------------------------------------- */

__device__ __noinline__ int twice(int x)
{
    return 2 * x;
}
__global__ void traced(const float *x, float *y, const int *k, u64 *z, double d)
{
    __shared__ int s[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (k[i] > 0) {
        y[i] = 2 * x[i] + 0.5f;
    } else {
        y[i] = -1;
    }
    s[threadIdx.x] = twice(k[i]);
    __syncthreads();
    z[i] = (u64)(d * s[31 - threadIdx.x]);
}
__global__ void endless(volatile int *x)
{
    while (x[0] == 0) {
    }
}
}
