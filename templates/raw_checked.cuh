// SPDX-License-Identifier: MIT
//
// raw_checked: raw.cuh for the software device's check=bounds, which includes this in its stead.
// Each index goes through a function of the device along with what is wrong with it, if anything:
// the device reports a load, a store or an atomic of an element that the array does not have. To
// take the address of one is not reported. In: as raw.cuh, and which parameter it is.
#pragma once
#define QUERN_HAS_RAW 1

// Returns `address`. `what`: the bytes of an element; from bit 32 on 0 where the array has it, 1 where
// an index in C order is wrong, 2 + k where one along axis k is; from bit 48 on the number of the
// parameter (src/ptx/element.h).
extern "C" __device__ void *__quern_element(void *address, long long what, long long index);

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
    __device__ __forceinline__ element operator[](ptrdiff_t i) const
    {
        const int wrong = (unsigned long long)i >= (unsigned long long)size_;
        if (C_) {
            return at(i * (long long)sizeof(T_), wrong, i);
        }
        long long offset = 0, rest = i;
#pragma unroll
        for (int d = N_ - 1; d > 0; d--) {
            long long q = rest / (shape_[d] > 0 ? shape_[d] : 1);
            offset += (rest - q * shape_[d]) * strides_[d];
            rest = q;
        }
        return at(N_ > 0 ? offset + rest * strides_[0] : 0, wrong, i);
    }
    // The element at index[0], ..., index[ndim - 1].
    template <typename I_> __device__ __forceinline__ element operator[](const I_ *index) const
    {
        long long offset = 0, which = 0;
        int wrong = 0;
#pragma unroll
        for (int d = N_ - 1; d >= 0; d--) {
            const long long k = (long long)index[d];
            const bool is_wrong = (unsigned long long)k >= (unsigned long long)shape_[d];
            offset += k * strides_[d];
            wrong = is_wrong ? 2 + d : wrong;
            which = is_wrong ? k : which;
        }
        return at(offset, wrong, which);
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
    __device__ __forceinline__ element at(long long offset, int wrong, long long index) const
    {
        const long long what = parameter_ << 48 | (long long)wrong << 32 | (long long)sizeof(T_);
        return *(T_ *)__quern_element((char *)data_ + offset, what, index);
    }
#define QUERN_RAW_NUMBER(name)     ptrdiff_t name##_;
#define QUERN_RAW_NUMBERS(name, n) ptrdiff_t name##_[QUERN_SOME(n)];
#define QUERN_RAW_POINTER(name)    T_ *name##_;
    QUERN_RAW_CHECKED(QUERN_RAW_NUMBER, QUERN_RAW_NUMBERS, QUERN_RAW_POINTER, N_)
};

} // namespace quern
