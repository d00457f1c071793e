// SPDX-License-Identifier: MIT
//
// reach: elements that lie at an alignment other than their type's. In: a type, and the alignment that
// all elements of an operand have. Out: types through which the compiler makes accesses of that width:
// more and narrower ones where elements are packed, wider ones where records happen to lie at
// multiples of their size.
#pragma once

namespace quern
{

// An element as words of W_, of which its size is a multiple. What is read is a copy: a reference would
// forget how the element lies.
template <typename T_, typename W_> struct packed {
    static constexpr int count = sizeof(T_) / sizeof(W_);
    union element {
        T_ value;
        W_ word[count];
        __device__ element()
        {
        }
    };
    W_ word[count];
    __device__ __forceinline__ operator T_() const
    {
        element e;
#pragma unroll
        for (int k = 0; k < count; k++) {
            e.word[k] = word[k];
        }
        return e.value;
    }
    __device__ __forceinline__ packed &operator=(const T_ &v)
    {
        element e;
        e.value = v;
#pragma unroll
        for (int k = 0; k < count; k++) {
            word[k] = e.word[k];
        }
        return *this;
    }
};

template <typename T_, int A_> struct alignas(A_) aligned {
    T_ value;
};

// An output that is assigned, or read, through a reference: a value of its own, which goes back.
template <typename T_, typename W_> struct packed_output {
    packed<T_, W_> *at;
    T_ value;
    __device__ __forceinline__ packed_output(void *to)
        : at((packed<T_, W_> *)to), value(*(const packed<T_, W_> *)to)
    {
    }
    __device__ __forceinline__ ~packed_output()
    {
        *at = value;
    }
    __device__ __forceinline__ operator T_ &()
    {
        return value;
    }
};

#ifdef QUERN_HAS_RAW
template <typename T_, typename W_> struct raw_element<const packed<T_, W_>> {
    typedef T_ type;
};
#endif

} // namespace quern
