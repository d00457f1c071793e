// SPDX-License-Identifier: MIT
//
// atomic: the atomic functions that CUDA lacks, for every type of Quern (the table is in
// docs/signatures.md). In: the address of an element and a value. Out: the element as it was
// before. They are templates, so that a function that a preamble defines itself goes first.
//
// The thing to know: nothing but the element is touched, except with types of one byte. There the
// aligned two bytes in which it lies are exchanged as one, and the other byte stays as it is; the
// devices see to it that memory of Quern's own never ends between the two.
#pragma once

namespace quern
{

// ---- words: the one thing that CUDA gives for 2, 4 and 8 bytes is compare-and-swap --------------

template <int BYTES> struct atomic_word;
template <> struct atomic_word<2> {
    typedef unsigned short type;
};
template <> struct atomic_word<4> {
    typedef unsigned type;
};
template <> struct atomic_word<8> {
    typedef unsigned long long type;
};

template <typename W_> __device__ __forceinline__ W_ atomic_cas_word(W_ *at, W_ seen, W_ next)
{
    return atomicCAS(at, seen, next);
}

#if __CUDA_ARCH__ >= 700
// Not a volatile load, which is no atomic to those who look for races.
__device__ __forceinline__ unsigned short atomic_load(unsigned short *at)
{
    unsigned short v;
    asm volatile("ld.relaxed.gpu.b16 %0, [%1];" : "=h"(v) : "l"(at) : "memory");
    return v;
}
__device__ __forceinline__ unsigned atomic_load(unsigned *at)
{
    unsigned v;
    asm volatile("ld.relaxed.gpu.b32 %0, [%1];" : "=r"(v) : "l"(at) : "memory");
    return v;
}
__device__ __forceinline__ unsigned long long atomic_load(unsigned long long *at)
{
    unsigned long long v;
    asm volatile("ld.relaxed.gpu.b64 %0, [%1];" : "=l"(v) : "l"(at) : "memory");
    return v;
}
#else
template <typename W_> __device__ __forceinline__ W_ atomic_load(W_ *at)
{
    return *(volatile W_ *)at;
}
// Older GPUs swap no less than 4 bytes.
__device__ inline unsigned short atomic_cas_word(unsigned short *at, unsigned short seen,
                                                 unsigned short next)
{
    const unsigned shift = (unsigned)((unsigned long long)at & 2) * 8, mask = 0xffffu << shift;
    unsigned *word = (unsigned *)((char *)at - shift / 8), now = atomic_load(word), old;
    do {
        old = now;
        if ((unsigned short)(old >> shift) != seen) {
            break;
        }
        now = atomicCAS(word, old, (old & ~mask) | (unsigned)next << shift);
    } while (now != old);
    return (unsigned short)(old >> shift);
}
#endif

// ---- elements as words --------------------------------------------------------------------------

template <typename T_> union atomic_bits {
    typename atomic_word<sizeof(T_)>::type w;
    T_ v;
    __device__ atomic_bits() : w(0)
    {
    }
    __device__ atomic_bits(T_ value) : w(0)
    {
        v = value;
    }
};

// One byte as an element: its value, its bits, and whether atomicCAS takes two for the same.
template <typename T_> struct atomic_byte {
    static __device__ __forceinline__ T_ value(unsigned byte)
    {
        return (T_)(unsigned char)byte;
    }
    static __device__ __forceinline__ unsigned bits(T_ v)
    {
        return (unsigned char)v;
    }
    static __device__ __forceinline__ bool same(T_ a, T_ b)
    {
        return a == b;
    }
};
#ifdef QUERN_HAS_FLOAT8
template <typename T_> struct atomic_float8 {
    static __device__ __forceinline__ T_ value(unsigned byte)
    {
        T_ v;
        v.bits = (unsigned char)byte;
        return v;
    }
    static __device__ __forceinline__ unsigned bits(T_ v)
    {
        return v.bits;
    }
    static __device__ __forceinline__ bool same(T_ a, T_ b)
    {
        return a.bits == b.bits;
    }
};
template <> struct atomic_byte<float8_e4m3fn> : atomic_float8<float8_e4m3fn> {
};
template <> struct atomic_byte<float8_e5m2> : atomic_float8<float8_e5m2> {
};
#endif

// Replace *at by change(*at).
template <int BYTES> struct atomic_loop {
    template <typename T_, typename F_>
    static __device__ __forceinline__ T_ run(T_ *at, const F_ &change)
    {
        typedef typename atomic_word<BYTES>::type word;
        atomic_bits<T_> seen;
        word now = atomic_load((word *)at);
        do {
            seen.w = now;
            now = atomic_cas_word((word *)at, seen.w, atomic_bits<T_>(change(seen.v)).w);
        } while (now != seen.w);
        return seen.v;
    }
};

// The first guess is that both bytes are zero: the swap itself tells what they are.
template <> struct atomic_loop<1> {
    template <typename T_, typename F_>
    static __device__ __forceinline__ T_ run(T_ *at, const F_ &change)
    {
        const unsigned shift = (unsigned)((unsigned long long)at & 1) * 8, mask = 0xffu << shift;
        unsigned short *both = (unsigned short *)((char *)at - shift / 8);
        unsigned seen, now = 0;
        do {
            seen = now;
            const unsigned next =
                atomic_byte<T_>::bits(change(atomic_byte<T_>::value(seen >> shift)));
            now = atomic_cas_word(both, (unsigned short)seen,
                                  (unsigned short)((seen & ~mask) | next << shift));
        } while (now != seen);
        return atomic_byte<T_>::value(seen >> shift);
    }
};

// Of 4 or 8 bytes.
template <typename T_> __device__ __forceinline__ T_ atomic_exchange(T_ *at, T_ by)
{
    atomic_bits<T_> bits(by);
    bits.w = atomicExch((typename atomic_word<sizeof(T_)>::type *)at, bits.w);
    return bits.v;
}

template <typename T_, typename F_>
__device__ __forceinline__ T_ atomic_change(T_ *at, const F_ &change)
{
    return atomic_loop<sizeof(T_)>::run(at, change);
}

// ---- the functions: loops, and the shorter ways of some types -----------------------------------
//
// All are members of templates, so that a kernel pays for those alone that it calls.

enum { ATOMIC_LOOP, ATOMIC_LONG, ATOMIC_FLOAT, ATOMIC_FLOAT8, ATOMIC_HALF, ATOMIC_COMPLEX };

#define QUERN_ATOMIC_LOOP(NAME, NEXT)                                                              \
    static __device__ T_ NAME(T_ *at, T_ by)                                                       \
    {                                                                                              \
        return atomic_change(at, [=](T_ v) { return T_(NEXT); });                                  \
    }
template <typename T_, int WAY_> struct atomics {
    QUERN_ATOMIC_LOOP(add, v + by)
    QUERN_ATOMIC_LOOP(sub, v - by)
    QUERN_ATOMIC_LOOP(exch, by)
    QUERN_ATOMIC_LOOP(least, by < v ? by : v)
    QUERN_ATOMIC_LOOP(most, v < by ? by : v)
    QUERN_ATOMIC_LOOP(inc, v < by ? v + 1 : 0)
    QUERN_ATOMIC_LOOP(dec, v <= 0 || by < v ? by : v - 1)
    QUERN_ATOMIC_LOOP(both, v &by)
    QUERN_ATOMIC_LOOP(any, v | by)
    QUERN_ATOMIC_LOOP(one, v ^ by)
};

#define QUERN_ATOMIC_AS(NAME, FUNCTION, AS_, BY)                                                   \
    static __device__ T_ NAME(T_ *at, T_ by)                                                       \
    {                                                                                              \
        return (T_)FUNCTION((AS_ *)at, (AS_)(BY));                                                 \
    }
template <bool SIGNED_> struct atomic_longs {
    typedef unsigned long long type;
};
template <> struct atomic_longs<true> {
    typedef long long type;
};
template <typename T_> struct atomics<T_, ATOMIC_LONG> : atomics<T_, ATOMIC_LOOP> {
    typedef unsigned long long word;
    typedef typename atomic_longs<(T_(-1) < T_(1))>::type same;
    QUERN_ATOMIC_AS(add, atomicAdd, word, by)
    QUERN_ATOMIC_AS(sub, atomicAdd, word, 0 - (word)by)
    QUERN_ATOMIC_AS(exch, atomicExch, word, by)
    QUERN_ATOMIC_AS(least, atomicMin, same, by)
    QUERN_ATOMIC_AS(most, atomicMax, same, by)
    QUERN_ATOMIC_AS(both, atomicAnd, word, by)
    QUERN_ATOMIC_AS(any, atomicOr, word, by)
    QUERN_ATOMIC_AS(one, atomicXor, word, by)
};

// A NaN loses against a number, as with fmin and fmax.
template <typename T_> struct atomics<T_, ATOMIC_FLOAT> : atomics<T_, ATOMIC_LOOP> {
    QUERN_ATOMIC_AS(sub, atomicAdd, T_, -by)
    static __device__ T_ exch(T_ *at, T_ by)
    {
        return atomic_exchange(at, by);
    }
    QUERN_ATOMIC_LOOP(least, fmin(v, by))
    QUERN_ATOMIC_LOOP(most, fmax(v, by))
};
#undef QUERN_ATOMIC_AS

#ifdef QUERN_HAS_FLOAT8
// As with floats; one of both is kept as it is, because an infinity would not be stored again.
template <typename T_> struct atomics<T_, ATOMIC_FLOAT8> : atomics<T_, ATOMIC_LOOP> {
    QUERN_ATOMIC_LOOP(least, is(fminf(v, by), v) ? v : by)
    QUERN_ATOMIC_LOOP(most, is(fmaxf(v, by), v) ? v : by)

  private:
    static __device__ __forceinline__ bool is(float chosen, float v)
    {
        return __float_as_uint(chosen) == __float_as_uint(v);
    }
};
#endif

#ifdef QUERN_HAS_HALF
// GPUs that add halves themselves do so here; a difference is the sum with the negative, which is
// exact.
#define QUERN_ATOMIC_ADD_HALF(H_, TYPE)                                                            \
    static __device__ H_ add_half(H_ *at, H_ by)                                                   \
    {                                                                                              \
        asm volatile("atom.add.noftz." TYPE " %0, [%1], %0;"                                       \
                     : "+h"(by.bits)                                                               \
                     : "l"(at)                                                                     \
                     : "memory");                                                                  \
        return by;                                                                                 \
    }
template <typename T_> struct atomics<T_, ATOMIC_HALF> : atomics<T_, ATOMIC_LOOP> {
    QUERN_ATOMIC_LOOP(least, fminf(v, by))
    QUERN_ATOMIC_LOOP(most, fmaxf(v, by))
    static __device__ T_ sub(T_ *at, T_ by)
    {
        by.bits ^= 0x8000;
        return atomics<T_, ATOMIC_HALF>::add(at, by);
    }
    static __device__ T_ add(T_ *at, T_ by)
    {
        return add_half(at, by);
    }

  private:
    template <typename H_> static __device__ H_ add_half(H_ *at, H_ by)
    {
        return atomics<T_, ATOMIC_LOOP>::add(at, by);
    }
#if __CUDA_ARCH__ >= 700
    QUERN_ATOMIC_ADD_HALF(float16, "f16")
#endif
#if __CUDA_ARCH__ >= 900
    QUERN_ATOMIC_ADD_HALF(bfloat16, "bf16")
#endif
};
#undef QUERN_ATOMIC_ADD_HALF
#endif

#ifdef QUERN_HAS_COMPLEX
// The parts are added one after the other; each is atomic, the pair is not, which a sum cannot
// tell.
template <typename T_>
struct atomics<complex<T_>, ATOMIC_COMPLEX> : atomics<complex<T_>, ATOMIC_LOOP> {
    static __device__ complex<T_> exch(complex<T_> *at, complex<T_> by)
    {
        return atomic_exchange(at, by);
    }
    static __device__ complex<T_> add(complex<T_> *at, complex<T_> by)
    {
        const T_ re = atomicAdd(&((T_ *)at)[0], by.real());
        const T_ im = atomicAdd(&((T_ *)at)[1], by.imag());
        return complex<T_>(re, im);
    }
    static __device__ complex<T_> sub(complex<T_> *at, complex<T_> by)
    {
        return add(at, -by);
    }
};
#endif
#undef QUERN_ATOMIC_LOOP

// Bits are compared, as with integers; of a bool and other bytes the values.
template <int BYTES> struct atomic_swap {
    template <typename T_> static __device__ T_ run(T_ *at, T_ seen, T_ next)
    {
        typedef typename atomic_word<BYTES>::type word;
        atomic_bits<T_> old;
        old.w = atomic_cas_word((word *)at, atomic_bits<T_>(seen).w, atomic_bits<T_>(next).w);
        return old.v;
    }
};
template <> struct atomic_swap<1> {
    template <typename T_> static __device__ T_ run(T_ *at, T_ seen, T_ next)
    {
        return atomic_change(at, [=](T_ v) { return atomic_byte<T_>::same(v, seen) ? next : v; });
    }
};

// ---- which types lack which function ------------------------------------------------------------

enum {
    ATOMIC_ADD = 1,
    ATOMIC_SUB = 2,
    ATOMIC_EXCH = 4,
    ATOMIC_CAS = 8,
    ATOMIC_MIN_MAX = 16,
    ATOMIC_INC_DEC = 32,
    ATOMIC_BITS = 64,
    ATOMIC_NUMBER = ATOMIC_ADD | ATOMIC_SUB | ATOMIC_EXCH | ATOMIC_CAS | ATOMIC_MIN_MAX,
    ATOMIC_ALL = ATOMIC_NUMBER | ATOMIC_INC_DEC | ATOMIC_BITS
};

template <typename T_> struct atomic_lacks {
    static constexpr int set = 0, way = ATOMIC_LOOP;
};
#define QUERN_ATOMIC_LACKS(T_, WAY, SET)                                                           \
    template <> struct atomic_lacks<T_> {                                                          \
        static constexpr int set = SET, way = WAY;                                                 \
    };
QUERN_ATOMIC_LACKS(bool, ATOMIC_LOOP, ATOMIC_EXCH | ATOMIC_CAS | ATOMIC_BITS)
QUERN_ATOMIC_LACKS(char, ATOMIC_LOOP, ATOMIC_ALL)
QUERN_ATOMIC_LACKS(signed char, ATOMIC_LOOP, ATOMIC_ALL)
QUERN_ATOMIC_LACKS(unsigned char, ATOMIC_LOOP, ATOMIC_ALL)
QUERN_ATOMIC_LACKS(short, ATOMIC_LOOP, ATOMIC_ALL)
#if __CUDA_ARCH__ >= 700
QUERN_ATOMIC_LACKS(unsigned short, ATOMIC_LOOP, ATOMIC_ALL & ~ATOMIC_CAS)
#else
QUERN_ATOMIC_LACKS(unsigned short, ATOMIC_LOOP, ATOMIC_ALL)
#endif
QUERN_ATOMIC_LACKS(int, ATOMIC_LOOP, ATOMIC_INC_DEC)
QUERN_ATOMIC_LACKS(long, ATOMIC_LONG, ATOMIC_ALL)
QUERN_ATOMIC_LACKS(unsigned long, ATOMIC_LONG, ATOMIC_ALL)
QUERN_ATOMIC_LACKS(long long, ATOMIC_LONG, ATOMIC_ALL & ~ATOMIC_MIN_MAX & ~ATOMIC_BITS)
QUERN_ATOMIC_LACKS(unsigned long long, ATOMIC_LONG, ATOMIC_SUB | ATOMIC_INC_DEC)
QUERN_ATOMIC_LACKS(float, ATOMIC_FLOAT, ATOMIC_SUB | ATOMIC_CAS | ATOMIC_MIN_MAX)
QUERN_ATOMIC_LACKS(double, ATOMIC_FLOAT, ATOMIC_NUMBER & ~ATOMIC_ADD)
#ifdef QUERN_HAS_FLOAT8
QUERN_ATOMIC_LACKS(float8_e4m3fn, ATOMIC_FLOAT8, ATOMIC_NUMBER)
QUERN_ATOMIC_LACKS(float8_e5m2, ATOMIC_FLOAT8, ATOMIC_NUMBER)
#endif
#ifdef QUERN_HAS_HALF
QUERN_ATOMIC_LACKS(float16, ATOMIC_HALF, ATOMIC_NUMBER)
QUERN_ATOMIC_LACKS(bfloat16, ATOMIC_HALF, ATOMIC_NUMBER)
#endif
#ifdef QUERN_HAS_COMPLEX
QUERN_ATOMIC_LACKS(complex<float>, ATOMIC_COMPLEX,
                   ATOMIC_ADD | ATOMIC_SUB | ATOMIC_EXCH | ATOMIC_CAS)
QUERN_ATOMIC_LACKS(complex<double>, ATOMIC_COMPLEX, ATOMIC_ADD | ATOMIC_SUB)
#endif
#undef QUERN_ATOMIC_LACKS

// T where the function is one of Quern's, nothing where it is CUDA's.
template <typename T_, int F_, bool = (atomic_lacks<T_>::set & F_) != 0> struct atomic_of {
};
template <typename T_, int F_> struct atomic_of<T_, F_, true> {
    typedef T_ type;
};

} // namespace quern

// The address alone decides the type; the value is converted to it.
#define QUERN_ATOMIC(NAME, FUNCTION, F_)                                                           \
    template <typename T_>                                                                         \
    __device__ __forceinline__ typename quern::atomic_of<T_, quern::F_>::type NAME(                \
        T_ *at, typename quern::atomic_of<T_, quern::F_>::type by)                                 \
    {                                                                                              \
        return quern::atomics<T_, quern::atomic_lacks<T_>::way>::FUNCTION(at, by);                 \
    }
QUERN_ATOMIC(atomicAdd, add, ATOMIC_ADD)
QUERN_ATOMIC(atomicSub, sub, ATOMIC_SUB)
QUERN_ATOMIC(atomicExch, exch, ATOMIC_EXCH)
QUERN_ATOMIC(atomicMin, least, ATOMIC_MIN_MAX)
QUERN_ATOMIC(atomicMax, most, ATOMIC_MIN_MAX)
QUERN_ATOMIC(atomicInc, inc, ATOMIC_INC_DEC)
QUERN_ATOMIC(atomicDec, dec, ATOMIC_INC_DEC)
QUERN_ATOMIC(atomicAnd, both, ATOMIC_BITS)
QUERN_ATOMIC(atomicOr, any, ATOMIC_BITS)
QUERN_ATOMIC(atomicXor, one, ATOMIC_BITS)
#undef QUERN_ATOMIC

template <typename T_>
__device__ __forceinline__ typename quern::atomic_of<T_, quern::ATOMIC_CAS>::type
atomicCAS(T_ *at, typename quern::atomic_of<T_, quern::ATOMIC_CAS>::type seen,
          typename quern::atomic_of<T_, quern::ATOMIC_CAS>::type next)
{
    return quern::atomic_swap<sizeof(T_)>::run(at, seen, next);
}
