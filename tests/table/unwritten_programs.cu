// SPDX-License-Identifier: MIT
//
// Kernels that read memory that nobody wrote. Those called right_* make nothing of it; those called
// wrong_* do, in the line that says "here". x is written, u is not, out is not either; k is 3.
#define T threadIdx.x

struct padded {
    char c;
    double d;
    short s;
};

struct bits {
    unsigned a : 3, b : 7, c : 13;
};

struct alignas(16) wide {
    float x, y, z;
};

// ---- nothing comes of it ------------------------------------------------------------------------

extern "C" __global__ void right_unread(const int *x, int *u, int *out, int k)
{
    out[T] = u[T] * 0 == 1 && x[T] == -1 ? u[T] : x[T];
}

extern "C" __global__ void right_branches(const int *x, int *u, int *out, int k)
{
    int v = u[T];
    if (x[T] >= 0) v = x[T];
    out[T] = v;
}

extern "C" __global__ void right_short_circuit(const int *x, int *u, int *out, int k)
{
    const bool known = x[T] < 0;
    out[T] = known && u[T] > 3 ? 1 : 2;
    out[T + 64] = !known || u[T] > 3 ? 1 : 2;
}

extern "C" __global__ void right_select(const int *x, int *u, int *out, int k)
{
    out[T] = x[T] < 0 ? u[T] : x[T];
}

extern "C" __global__ void right_masked(const int *x, int *u, int *out, int k)
{
    out[T] = (u[T] & 0) | (x[T] & 0xff);
    out[T + 64] = (u[T] | -1) ^ x[T];
}

extern "C" __global__ void right_write_back(const int *x, int *u, int *out, int k)
{
    uint4 v = ((uint4 *)out)[T];
    v.y = x[T];
    ((uint4 *)out)[T] = v;
}

extern "C" __global__ void right_byte_of_word(const int *x, int *u, int *out, int k)
{
    unsigned v = ((unsigned *)out)[T];
    v = (v & 0xffff00ffu) | (unsigned)(x[T] & 0xff) << 8;
    ((unsigned *)out)[T] = v;
}

extern "C" __global__ void right_halves_of_word(const int *x, int *u, int *out, int k)
{
    ushort2 v = ((ushort2 *)out)[T];
    v.y = (unsigned short)x[T];
    ((ushort2 *)out)[T] = v;
}

extern "C" __global__ void right_bit_fields(const int *x, int *u, int *out, int k)
{
    __shared__ bits f[64];
    f[T].b = x[T];
    __syncthreads();
    out[T] = f[63 - T].b + 1;
}

extern "C" __global__ void right_bit_fields_out(const int *x, int *u, int *out, int k)
{
    ((bits *)out)[T].b = x[T];
    ((bits *)out)[T].c = x[T] + 1;
}

extern "C" __global__ void right_structures(const int *x, int *u, int *out, int k)
{
    __shared__ padded s[64];
    padded p;
    p.c = (char)x[T];
    p.d = x[T];
    p.s = (short)x[T];
    s[T] = p;
    __syncthreads();
    ((padded *)out)[T] = s[63 - T];
}

extern "C" __global__ void right_structures_by_bytes(const int *x, int *u, int *out, int k)
{
    __shared__ padded s[64];
    s[T].c = (char)x[T];
    s[T].d = x[T];
    s[T].s = (short)x[T];
    __syncthreads();
    const char *from = (const char *)&s[63 - T];
    char *to = (char *)&((padded *)out)[T];
    for (int n = 0; n < k * 8; n++) to[n] = from[n];
}

extern "C" __global__ void right_structures_by_memcpy(const int *x, int *u, int *out, int k)
{
    __shared__ wide s[64];
    s[T].x = x[T];
    s[T].y = x[T];
    s[T].z = x[T];
    __syncthreads();
    memcpy(&((wide *)out)[T], &s[63 - T], sizeof(wide));
}

extern "C" __global__ void right_local_structures(const int *x, int *u, int *out, int k)
{
    padded p[4];
    for (int n = 0; n < 4; n++) {
        p[n].c = (char)n;
        p[n].d = x[n];
        p[n].s = (short)n;
    }
    ((padded *)out)[T] = p[x[T] & 3];
}

__device__ __noinline__ padded pass(padded p, int k)
{
    p.s = (short)(p.s + k);
    return p;
}

extern "C" __global__ void right_structures_in_calls(const int *x, int *u, int *out, int k)
{
    padded p;
    p.c = (char)x[T];
    p.d = x[T];
    p.s = (short)x[T];
    ((padded *)out)[T] = pass(p, k);
}

__device__ __noinline__ int choose(int which, int a, int b)
{
    return which ? a : b;
}

extern "C" __global__ void right_argument(const int *x, int *u, int *out, int k)
{
    out[T] = choose(x[T] >= 0, x[T], u[T]);
}

extern "C" __global__ void right_vector(const int *x, int *u, int *out, int k)
{
    __shared__ int4 s[64];
    s[T].x = x[T];
    s[T].w = x[T];
    __syncthreads();
    const int4 v = s[63 - T];
    out[T] = v.x + v.w;
}

extern "C" __global__ void right_shuffle(const int *x, int *u, int *out, int k)
{
    __shared__ int s[64];
    if (T % 32 < 16) s[T] = x[T];
    __syncwarp();
    int v = s[T];
    const int other = __shfl_down_sync(~0u, v, 8);
    const int same = __shfl_sync(~0u, v, k);
    if (T % 32 < 8) v += other;
    out[T] = T % 32 < 8 ? v : same;
}

extern "C" __global__ void right_ballot(const int *x, int *u, int *out, int k)
{
    const unsigned seen = __ballot_sync(~0u, T % 32 < 16 ? x[T] >= 0 : u[T] > 0);
    out[T] = seen & 0xffff;
    out[T + 64] = __any_sync(~0u, T % 32 == 0 || u[T] > 0);
    out[T + 128] = __all_sync(~0u, T % 32 != 0 && u[T] > 0);
}

extern "C" __global__ void right_tree(const int *x, int *u, int *out, int k)
{
    __shared__ int s[128];
    s[T] = x[T];
    __syncthreads();
    int v = s[T];
    for (int n = 1; n < 64; n *= 2) {
        const int other = s[T + n]; // beyond the end for the last ones
        __syncthreads();
        if (T + n < 64) v += other;
        s[T] = v;
        __syncthreads();
    }
    if (T == 0) out[0] = v;
}

extern "C" __global__ void right_bytes_compared(const int *x, int *u, int *out, int k)
{
    __shared__ unsigned char s[256];
    s[4 * T] = 7;
    __syncthreads();
    out[T] = *(unsigned *)&s[4 * T] == 9 ? 1 : 2; // the byte that is written decides
}

extern "C" __global__ void right_exchange(const int *x, int *u, int *out, int k)
{
    __shared__ int s[64];
    const int before = atomicExch(&s[T], x[T]);
    out[T] = x[T] < 0 ? before : s[T];
}

extern "C" __global__ void right_half_words(const int *x, int *u, int *out, int k)
{
    short *small = (short *)out;
    small[2 * T] = 0;
    unsigned *word = (unsigned *)&small[2 * T], old = *word, seen;
    do {
        seen = old;
        old = atomicCAS(word, seen, (seen & 0xffff0000u) | ((seen + x[T]) & 0xffffu));
    } while (old != seen);
}

extern "C" __global__ void right_sort(const int *x, int *u, int *out, int k)
{
    __shared__ int s[65];
    s[T] = x[63 - T];
    __syncthreads();
    for (int n = 0; n < 64; n++) {
        const int at = 2 * (T / 1) + n % 2;
        const int a = at < 65 ? s[at] : 0, b = at + 1 < 65 ? s[at + 1] : 0;
        __syncthreads();
        if (at + 1 < 64 && a > b) {
            s[at] = b;
            s[at + 1] = a;
        }
        __syncthreads();
    }
    out[T] = s[T];
}

extern "C" __global__ void right_malloc(const int *x, int *u, int *out, int k)
{
    int *own = (int *)malloc(8 * sizeof(int));
    own[k] = x[T];
    out[T] = own[k];
    free(own);
}

// ---- something does -----------------------------------------------------------------------------

extern "C" __global__ void wrong_copy(const int *x, int *u, int *out, int k)
{
    out[T] = u[T]; // here
}

extern "C" __global__ void wrong_sum(const int *x, int *u, int *out, int k)
{
    int v = u[T]; // here
    v = v * 3 + x[T];
    out[T] = v;
}

extern "C" __global__ void wrong_branch(const int *x, int *u, int *out, int k)
{
    if (u[T] > 3) out[T] = 1; // here
}

extern "C" __global__ void wrong_loop(const int *x, int *u, int *out, int k)
{
    int n = 0;
    while (n < u[T]) n += x[T] + 1; // here
    out[T] = n;
}

extern "C" __global__ void wrong_address(const int *x, int *u, int *out, int k)
{
    out[u[T] & 63] = 1; // here
}

extern "C" __global__ void wrong_read_address(const int *x, int *u, int *out, int k)
{
    out[T] = x[u[T] & 63]; // here
}

extern "C" __global__ void wrong_atomic(const int *x, int *u, int *out, int k)
{
    atomicAdd(&out[T], x[T]); // here
}

extern "C" __global__ void wrong_atomic_operand(const int *x, int *u, int *out, int k)
{
    out[T] = 0;
    atomicMax(&out[T], u[T]); // here
}

extern "C" __global__ void wrong_shared(const int *x, int *u, int *out, int k)
{
    __shared__ int s[64];
    if (T != 5) s[T] = x[T];
    __syncthreads();
    out[T] = s[63 - T]; // here
}

extern "C" __global__ void wrong_local(const int *x, int *u, int *out, int k)
{
    int a[8];
    for (int n = 0; n < 7; n++) a[n] = x[n];
    out[T] = a[x[T] & 7]; // here
}

extern "C" __global__ void wrong_shuffle(const int *x, int *u, int *out, int k)
{
    int v = 0;
    if (T % 32 < 31) v = x[T];
    else v = u[T];
    out[T] = __shfl_down_sync(~0u, v, 1); // here
}

extern "C" __global__ void wrong_ballot(const int *x, int *u, int *out, int k)
{
    out[T] = __ballot_sync(~0u, u[T] > 0); // here
}

extern "C" __global__ void wrong_any(const int *x, int *u, int *out, int k)
{
    out[T] = __any_sync(~0u, T % 32 == 3 && u[T] > 0); // here
}

extern "C" __global__ void wrong_barrier(const int *x, int *u, int *out, int k)
{
    out[T] = __syncthreads_or(u[T] > 0); // here
}

extern "C" __global__ void wrong_switch(const int *x, int *u, int *out, int k)
{
    switch (u[T]) { // here
    case 0: out[T] = 7; break;
    case 1: out[T] = x[T]; break;
    case 2: out[T] = 5; break;
    case 3: out[T] = x[T + 1]; break;
    case 4: out[T] = 6; break;
    default: out[T] = 1;
    }
}

extern "C" __global__ void wrong_argument(const int *x, int *u, int *out, int k)
{
    out[T] = choose(x[T] < 0, x[T], u[T]); // here
}

extern "C" __global__ void wrong_bit_field(const int *x, int *u, int *out, int k)
{
    __shared__ bits f[64];
    f[T].b = x[T];
    __syncthreads();
    out[T] = f[63 - T].c + 1; // here
}

extern "C" __global__ void wrong_member(const int *x, int *u, int *out, int k)
{
    __shared__ padded s[64];
    s[T].c = (char)x[T];
    s[T].s = (short)x[T];
    __syncthreads();
    out[T] = (int)s[63 - T].d; // here
}

extern "C" __global__ void wrong_vector(const int *x, int *u, int *out, int k)
{
    __shared__ int4 s[64];
    s[T].x = x[T];
    s[T].w = x[T];
    __syncthreads();
    const int4 v = s[63 - T]; // here
    out[T] = v.x + v.y;
}

extern "C" __global__ void wrong_printf(const int *x, int *u, int *out, int k)
{
    if (T == 40) printf("%d\n", u[T]); // here
}

extern "C" __global__ void wrong_malloc(const int *x, int *u, int *out, int k)
{
    int *own = (int *)malloc(8 * sizeof(int));
    own[k] = x[T];
    out[T] = own[k + 1] + 1; // here
    free(own);
}

extern "C" __global__ void wrong_float(const int *x, int *u, int *out, int k)
{
    const float v = ((float *)u)[T]; // here
    out[T] = (int)(sqrtf(v) + x[T]);
}

extern "C" __global__ void wrong_by_way_of_shared(const int *x, int *u, int *out, int k)
{
    __shared__ int s[64];
    s[T] = u[T]; // here
    __syncthreads();
    out[T] = s[63 - T];
}
