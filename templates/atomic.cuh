// SPDX-License-Identifier: MIT
//
// atomic: the atomic functions that CUDA lacks: add on 8- and 16-bit numbers, halves, signed 64-bit
// integers and complex numbers; min and max on floats. Each is a loop of compare-and-swap on the
// word that holds the value, and returns the value before.
#pragma once

namespace quern
{

template <int BYTES> struct atomic_word;
template <> struct atomic_word<4> {
    typedef unsigned type;
};
template <> struct atomic_word<8> {
    typedef unsigned long long type;
};

// Replace *at by change(*at), for a T of 4 or 8 bytes.
template <typename T_, typename F_> __device__ T_ atomic_change(T_ *at, F_ change)
{
    typedef typename atomic_word<sizeof(T_)>::type word;
    union both {
        word w;
        T_ v;
        __device__ both() : w(0)
        {
        }
    } seen, next;
    word assumed = *(volatile word *)at;
    do {
        seen.w = assumed;
        next.v = change(seen.v);
        assumed = atomicCAS((word *)at, seen.w, next.w);
    } while (assumed != seen.w);
    return seen.v;
}

// The same for a T of 1 or 2 bytes, inside its aligned word of 4.
template <typename T_, typename F_> __device__ T_ atomic_change_small(T_ *at, F_ change)
{
    typedef unsigned long long address;
    unsigned *word = (unsigned *)((address)at & ~(address)3);
    unsigned shift = (unsigned)((address)at & 3) * 8;
    unsigned mask = (sizeof(T_) == 1 ? 0xffu : 0xffffu) << shift;
    union both {
        unsigned short w;
        T_ v;
        __device__ both() : w(0)
        {
        }
    } seen, next;
    unsigned assumed = *(volatile unsigned *)word, old;
    do {
        old = assumed;
        seen.w = (unsigned short)((old & mask) >> shift);
        next.w = 0;
        next.v = change(seen.v);
        assumed = atomicCAS(word, old, (old & ~mask) | ((unsigned)next.w << shift));
    } while (assumed != old);
    return seen.v;
}

} // namespace quern

#define QUERN_ATOMIC_ADD_SMALL(T_)                                                                 \
    __device__ inline T_ atomicAdd(T_ *at, T_ by)                                                  \
    {                                                                                              \
        return quern::atomic_change_small(at, [=](T_ v) { return (T_)(v + by); });                 \
    }
QUERN_ATOMIC_ADD_SMALL(signed char)
QUERN_ATOMIC_ADD_SMALL(unsigned char)
QUERN_ATOMIC_ADD_SMALL(short)
QUERN_ATOMIC_ADD_SMALL(unsigned short)
#ifdef QUERN_HAS_HALF
QUERN_ATOMIC_ADD_SMALL(float16)
QUERN_ATOMIC_ADD_SMALL(bfloat16)
#endif
#undef QUERN_ATOMIC_ADD_SMALL

__device__ inline long long atomicAdd(long long *at, long long by)
{
    return (long long)atomicAdd((unsigned long long *)at, (unsigned long long)by);
}

// A NaN loses against a number, as with fmin and fmax.
#define QUERN_ATOMIC_CHOOSE(T_, NAME, FUNCTION)                                                    \
    __device__ inline T_ NAME(T_ *at, T_ by)                                                       \
    {                                                                                              \
        return quern::atomic_change(at, [=](T_ v) { return FUNCTION(v, by); });                    \
    }
QUERN_ATOMIC_CHOOSE(float, atomicMin, fminf)
QUERN_ATOMIC_CHOOSE(float, atomicMax, fmaxf)
QUERN_ATOMIC_CHOOSE(double, atomicMin, fmin)
QUERN_ATOMIC_CHOOSE(double, atomicMax, fmax)
#undef QUERN_ATOMIC_CHOOSE

#ifdef QUERN_HAS_COMPLEX
// The parts are added one after the other; each is atomic, the pair is not, which a sum cannot
// tell.
template <typename T_> __device__ void atomicAdd(complex<T_> *at, complex<T_> by)
{
    atomicAdd(&at->re, by.re);
    atomicAdd(&at->im, by.im);
}
#endif
