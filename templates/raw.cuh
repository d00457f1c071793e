// SPDX-License-Identifier: MIT
//
// raw: what a `raw` parameter is to a snippet: an array that takes no part in broadcasting. The
// host fills it; layout.h has its fields. C_: the elements lie in C order without gaps.
#pragma once
#define QUERN_HAS_RAW 1

namespace quern
{

template <typename T_> struct raw_element {
    typedef T_ &type;
};

template <typename T_, int N_, bool C_> class raw_array
{
  public:
    typedef typename raw_element<T_>::type element;
    static const int ndim = N_;
    // Element `i` in C order.
    __device__ element operator[](ptrdiff_t i) const
    {
        if (C_) {
            return data_[i];
        }
        long long offset = 0;
#pragma unroll
        for (int d = N_ - 1; d > 0; d--) {
            long long q = i / shape_[d];
            offset += (i - q * shape_[d]) * strides_[d];
            i = q;
        }
        return at(N_ > 0 ? offset + i * strides_[0] : 0);
    }
    // The element at index[0], ..., index[ndim - 1].
    template <typename I_> __device__ element operator[](const I_ *index) const
    {
        long long offset = 0;
#pragma unroll
        for (int d = 0; d < N_; d++) {
            offset += (long long)index[d] * strides_[d];
        }
        return at(offset);
    }
    __device__ ptrdiff_t size() const
    {
        return size_;
    }
    __device__ const ptrdiff_t *shape() const
    {
        return shape_;
    }
    __device__ const ptrdiff_t *strides() const
    {
        return strides_; // bytes
    }

  private:
    __device__ element at(long long offset) const
    {
        return *(T_ *)((char *)data_ + offset);
    }
#define QUERN_RAW_NUMBER(name)     ptrdiff_t name##_;
#define QUERN_RAW_NUMBERS(name, n) ptrdiff_t name##_[QUERN_SOME(n)];
#define QUERN_RAW_POINTER(name)    T_ *name##_;
    QUERN_RAW_ARRAY(QUERN_RAW_NUMBER, QUERN_RAW_NUMBERS, QUERN_RAW_POINTER, N_)
};

} // namespace quern
