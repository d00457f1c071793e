// SPDX-License-Identifier: MIT
//
// bool: bools in memory, of which any byte but 0 is true: whoever wrote them may not have been C.
// In: addresses. Out: bools that are 0 or 1, which is what the compiler takes every bool for.
#pragma once

namespace quern
{

__device__ __forceinline__ bool truth(const void *at)
{
    return *(const unsigned char *)at != 0;
}

// An output that is assigned, or read, through a reference: a bool of its own, which goes back.
struct bool_output {
    unsigned char *at;
    bool value;
    __device__ __forceinline__ bool_output(void *to) : at((unsigned char *)to), value(truth(to))
    {
    }
    __device__ __forceinline__ ~bool_output()
    {
        *(bool *)at = value;
    }
    __device__ __forceinline__ operator bool &()
    {
        return value;
    }
};

// An element of a raw array.
struct boolean {
    unsigned char byte;
    __device__ operator bool() const
    {
        return byte != 0;
    }
    __device__ boolean &operator=(bool v)
    {
        byte = v;
        return *this;
    }
    __device__ boolean &operator=(const boolean &v)
    {
        return *this = (bool)v;
    }
#define QUERN_BOOLEAN(OP)                                                                          \
    template <typename T_> __device__ boolean &operator OP##=(const T_ &v)                         \
    {                                                                                              \
        return *this = (bool)(*this OP v);                                                         \
    }
    QUERN_BOOLEAN(&)
    QUERN_BOOLEAN(|)
    QUERN_BOOLEAN(^)
    QUERN_BOOLEAN(+)
    QUERN_BOOLEAN(-)
    QUERN_BOOLEAN(*)
    QUERN_BOOLEAN(/)
    QUERN_BOOLEAN(%)
    QUERN_BOOLEAN(<<)
    QUERN_BOOLEAN(>>)
#undef QUERN_BOOLEAN
};

#ifdef QUERN_HAS_RAW
// Inputs are read as what they mean.
template <> struct raw_element<const boolean> {
    typedef bool type;
};
#endif

#ifdef QUERN_HAS_PACK
// At most 16 of them: one word.
template <int L_> struct alignas(L_) pack<bool, L_> {
    typedef typename word<L_>::type word_type;
    bool v[L_];

    // Each byte is tested where it lies in its word: a mask and no shift. The compiler knows then
    // that it is 0 or 1, which saves it more than the test costs.
    __device__ __forceinline__ void load(const void *from)
    {
        union {
            word_type whole;
            unsigned part[(L_ + 3) / 4];
        } in;
        in.whole = *(const word_type *)from;
#pragma unroll
        for (int k = 0; k < L_; k++) {
            v[k] = (in.part[k / 4] & 0xffu << k % 4 * 8) != 0;
        }
    }
    __device__ __forceinline__ void store(void *to) const
    {
        store_word(to, *(const word_type *)this);
    }
};
#endif

} // namespace quern
