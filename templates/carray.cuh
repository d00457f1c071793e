// SPDX-License-Identifier: MIT
//
// carray: the names by which CuPy's texts know arrays and positions: CArray, CIndexer, CUPY_FOR and
// cupy::type_traits. In: a CArray as the host fills it (layout.h: QUERN_RAW_ARRAY), or made from a
// pointer and a shape. Out: its elements by position in C order, or by an index for each axis.
#pragma once

#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif

// A loop over the positions 0 to n - 1, each of which one thread of the grid takes.
#define CUPY_FOR(i, n)                                                                             \
    for (ptrdiff_t i = (ptrdiff_t)blockIdx.x * blockDim.x + threadIdx.x; i < (n);                  \
         i += (ptrdiff_t)blockDim.x * gridDim.x)

namespace cupy
{
namespace type_traits
{

template <bool, typename T_, typename F_> struct conditional {
    typedef T_ type;
};
template <typename T_, typename F_> struct conditional<false, T_, F_> {
    typedef F_ type;
};
template <bool, typename T_ = void> struct enable_if {
};
template <typename T_> struct enable_if<true, T_> {
    typedef T_ type;
};
template <typename A_, typename B_> struct is_same {
    static const bool value = false;
};
template <typename A_> struct is_same<A_, A_> {
    static const bool value = true;
};

} // namespace type_traits
} // namespace cupy

// C_: the elements lie in C order without gaps. I_: offsets in bytes fit 32 bits. Elements of a
// const array are const.
template <typename T_, int N_, bool C_ = false, bool I_ = false> class CArray
{
  public:
    static const int ndim = N_;
    static const bool c_contiguous = C_;
    typedef typename cupy::type_traits::conditional<I_, int, ptrdiff_t>::type index_t;

    __device__ CArray() : data_(nullptr), size_(1), shape_(), strides_()
    {
    }
    template <typename A_, typename B_>
    __device__ CArray(T_ *data, const A_ *shape, const B_ *strides) : data_(data), size_(1)
    {
        for (int d = 0; d < N_; d++) {
            size_ *= shape[d];
            shape_[d] = shape[d];
            strides_[d] = strides[d]; // bytes
        }
    }
    template <typename A_, typename B_>
    __device__ CArray(T_ *data, std::initializer_list<A_> shape, std::initializer_list<B_> strides)
        : CArray(data, shape.begin(), strides.begin())
    {
    }
    // Without strides: in C order.
    template <typename A_> __device__ CArray(T_ *data, const A_ *shape) : data_(data), size_(1)
    {
        static_assert(C_ || N_ == 0, "a CArray that is not contiguous needs strides");
        for (int d = N_ - 1; d >= 0; d--) {
            shape_[d] = shape[d];
            strides_[d] = size_ * (ptrdiff_t)sizeof(T_);
            size_ *= shape[d];
        }
    }
    template <typename A_>
    __device__ CArray(T_ *data, std::initializer_list<A_> shape) : CArray(data, shape.begin())
    {
    }
    // One of no dimensions.
    __device__ explicit CArray(T_ *data) : CArray(data, (const int *)nullptr, (const int *)nullptr)
    {
        static_assert(N_ == 0, "a CArray needs a shape");
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
        return strides_;
    }

    // Element `i` in C order.
    __device__ const T_ &operator[](ptrdiff_t i) const
    {
        return *at(i);
    }
    __device__ T_ &operator[](ptrdiff_t i)
    {
        return *at(i);
    }
    // The element at index[0], ..., index[ndim - 1].
    template <typename A_> __device__ const T_ &operator[](const A_ *index) const
    {
        return *at(index);
    }
    template <typename A_> __device__ T_ &operator[](const A_ *index)
    {
        return *at(index);
    }
    template <typename A_> __device__ const T_ &operator[](std::initializer_list<A_> index) const
    {
        return *at(index.begin());
    }
    template <typename A_> __device__ T_ &operator[](std::initializer_list<A_> index)
    {
        return *at(index.begin());
    }

  private:
    __device__ T_ *at(ptrdiff_t i) const
    {
        if (C_) {
            return data_ + i;
        }
        index_t rest = (index_t)i, offset = 0;
#pragma unroll
        for (int d = N_ - 1; d > 0; d--) {
            const index_t extent = (index_t)shape_[d], quotient = rest / extent;
            offset += (rest - quotient * extent) * (index_t)strides_[d];
            rest = quotient;
        }
        return (T_ *)((char *)data_ + (N_ > 0 ? offset + rest * (index_t)strides_[0] : 0));
    }
    template <typename A_> __device__ T_ *at(const A_ *index) const
    {
        index_t offset = 0;
#pragma unroll
        for (int d = 0; d < N_; d++) {
            offset += (index_t)index[d] * (index_t)strides_[d];
        }
        return (T_ *)((char *)data_ + offset);
    }

    T_ *data_;
    ptrdiff_t size_;
    ptrdiff_t shape_[N_ > 0 ? N_ : 1];
    ptrdiff_t strides_[N_ > 0 ? N_ : 1];
};

namespace quern
{

// `_in_ind` and `_out_ind` of a text that asks for more than quern::indexer has.
template <int N_> struct axes {
    static const int ndim = N_;
    ptrdiff_t at[N_ > 0 ? N_ : 1];
    ptrdiff_t count;
    __device__ ptrdiff_t size() const
    {
        return count;
    }
    __device__ const ptrdiff_t *get() const
    {
        return at;
    }
};

} // namespace quern

// A position along every axis of a shape, also `_ind` of such a text.
template <int N_, bool I_ = false> struct CIndexer : quern::axes<N_> {
    ptrdiff_t extent[N_ > 0 ? N_ : 1];
    using quern::axes<N_>::at;
    using quern::axes<N_>::count;

    __device__ CIndexer()
    {
        count = 1;
        for (int d = 0; d < N_; d++) {
            extent[d] = at[d] = 0;
        }
    }
    template <typename A_> __device__ explicit CIndexer(const A_ *shape) : CIndexer()
    {
        for (int d = 0; d < N_; d++) {
            extent[d] = shape[d];
            count *= shape[d];
        }
    }
    template <typename A_, typename B_>
    __device__ CIndexer(const A_ *shape, const B_ *index) : CIndexer(shape)
    {
        for (int d = 0; d < N_; d++) {
            at[d] = index[d];
        }
    }
    template <typename A_>
    __device__ CIndexer(std::initializer_list<A_> shape) : CIndexer(shape.begin())
    {
    }
    template <typename A_, typename B_>
    __device__ CIndexer(std::initializer_list<A_> shape, std::initializer_list<B_> index)
        : CIndexer(shape.begin(), index.begin())
    {
    }
    // Go to position `i` in C order.
    __device__ void set(ptrdiff_t i)
    {
#pragma unroll
        for (int d = N_ - 1; d > 0; d--) {
            const ptrdiff_t quotient = i / extent[d];
            at[d] = i - quotient * extent[d];
            i = quotient;
        }
        at[0] = i;
    }
};
