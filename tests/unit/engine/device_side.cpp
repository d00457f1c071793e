// SPDX-License-Identifier: MIT
//
// device_side: index.cuh, fold.cuh and raw.cuh as the CPU's compiler reads them, so that tests look
// at what the host wrote through the device's own structures. In: the bytes of a parameter. Out:
// its fields, by the lists of layout.h. The thing to know: nothing of the device is written a
// second time here; what CUDA declares is declared, and never called.
#include "device_side.h"
#include <string.h>

#define __device__
#define __forceinline__ static inline

static inline unsigned __umulhi(unsigned a, unsigned b)
{
    return (unsigned)((unsigned long long)a * b >> 32);
}

static struct {
    unsigned x;
} threadIdx;
void __syncthreads();
int __syncthreads_or(int);
void __threadfence();
unsigned atomicInc(unsigned *, unsigned);
unsigned __shfl_down_sync(unsigned, unsigned, int);
unsigned __shfl_xor_sync(unsigned, unsigned, int);

#include "templates/index.cuh"
// in this order
#include "templates/fold.cuh"
#include "templates/raw.cuh"

template <typename I_> static void copy(device_divider *to, const quern::divider<I_> &from)
{
    static_assert(sizeof from == sizeof to->bytes, "dividers have 16 bytes");
    memcpy(to->bytes, &from, sizeof from);
    to->value = from.value;
    to->wide = sizeof(I_) == 8;
}

template <typename I_> static int64_t divide(const device_divider *divider, int64_t n)
{
    quern::divider<I_> own;
    memcpy(&own, divider->bytes, sizeof own);
    return own.divide((I_)n);
}

int64_t device_divide(const device_divider *divider, int64_t n)
{
    return divider->wide ? divide<long long>(divider, n) : divide<int>(divider, n);
}

#define COPY_NUMBER(name)  out->name = s.name;
#define COPY_DIVIDER(name) copy(&out->name, s.name);
#define COPY_DIVIDERS(name, n)                                                                     \
    for (int k = 0; k < (n); k++) {                                                                \
        copy(&out->name[k], s.name[k]);                                                            \
    }
#define COPY_TABLE(name, n, m)                                                                     \
    for (int k = 0; k < (n); k++) {                                                                \
        for (int d = 0; d < (m); d++) {                                                            \
            out->name[k][d] = s.name[k][d];                                                        \
        }                                                                                          \
    }

template <typename I_, int D_, int K_>
static void take_fields(device_space *out, const quern::space<I_, D_, K_> &s)
{
    QUERN_SPACE(COPY_NUMBER, COPY_DIVIDER, COPY_DIVIDERS, COPY_TABLE, D_, K_)
}

template <typename I_, int D_, int K_>
static void take_fields(device_fold *out, const quern::fold<I_, D_, K_> &s)
{
    QUERN_FOLD(COPY_NUMBER, COPY_DIVIDERS, COPY_TABLE, D_, K_)
}

// The structure S_ for numbers of dimensions and operands that are known only at run time.
template <template <typename, int, int> class S_, typename I_, int D_, int K_, typename T_>
static size_t read(T_ *out, const void *bytes, int dims, int operands)
{
    if constexpr (D_ < DEVICE_DIMS) {
        if (dims > D_) {
            return read<S_, I_, D_ + 1, K_>(out, bytes, dims, operands);
        }
    }
    if constexpr (K_ < DEVICE_OPERANDS) {
        if (operands > K_) {
            return read<S_, I_, D_, K_ + 1>(out, bytes, dims, operands);
        }
    }
    if (dims > D_ || operands > K_) {
        return 0;
    }
    S_<I_, D_, K_> s;
    memcpy((void *)&s, bytes, sizeof s);
    take_fields(out, s);
    return sizeof s;
}

size_t device_read_space(device_space *out, const void *bytes, bool wide, int dims, int operands)
{
    return wide ? read<quern::space, long long, 0, 0>(out, bytes, dims, operands)
                : read<quern::space, int, 0, 0>(out, bytes, dims, operands);
}

size_t device_read_fold(device_fold *out, const void *bytes, bool wide, int dims, int operands)
{
    return wide ? read<quern::fold, long long, 0, 0>(out, bytes, dims, operands)
                : read<quern::fold, int, 0, 0>(out, bytes, dims, operands);
}

template <int N_> static size_t read_raw(device_raw_array *out, const void *bytes, int dims)
{
    if constexpr (N_ < DEVICE_DIMS) {
        if (dims > N_) {
            return read_raw<N_ + 1>(out, bytes, dims);
        }
    }
    if (dims > N_) {
        return 0;
    }
    alignas(8) unsigned char copy[sizeof(quern::raw_array<const char, N_, true>)];
    memcpy(copy, bytes, sizeof copy);
    const auto &a = *(const quern::raw_array<const char, N_, true> *)copy;
    out->data = &a[(ptrdiff_t)0];
    out->size = a.size();
    for (int d = 0; d < N_; d++) {
        out->shape[d] = a.shape()[d];
        out->strides[d] = a.strides()[d];
    }
    return sizeof copy;
}

size_t device_read_raw_array(device_raw_array *out, const void *bytes, int dims)
{
    return read_raw<0>(out, bytes, dims);
}
