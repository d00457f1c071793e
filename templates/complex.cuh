// SPDX-License-Identifier: MIT
//
// complex: complex<float> and complex<double> for snippets, with arithmetic among complex and real
// numbers of any type. The functions of complex_math.cuh come only when a text names one.
#pragma once
#define QUERN_HAS_COMPLEX 1

template <typename T_> struct alignas(2 * sizeof(T_)) complex {
    T_ re, im;
    typedef T_ value_type;
    __device__ complex() : re(0), im(0)
    {
    }
    __device__ complex(T_ r) : re(r), im(0)
    {
    }
    __device__ complex(T_ r, T_ i) : re(r), im(i)
    {
    }
    template <typename U_> __device__ complex(const complex<U_> &v) : re((T_)v.re), im((T_)v.im)
    {
    }
    __device__ T_ real() const
    {
        return re;
    }
    __device__ T_ imag() const
    {
        return im;
    }
    __device__ void real(T_ v)
    {
        re = v;
    }
    __device__ void imag(T_ v)
    {
        im = v;
    }
    template <typename U_> __device__ complex &operator+=(const U_ &v)
    {
        return *this = *this + v;
    }
    template <typename U_> __device__ complex &operator-=(const U_ &v)
    {
        return *this = *this - v;
    }
    template <typename U_> __device__ complex &operator*=(const U_ &v)
    {
        return *this = *this * v;
    }
    template <typename U_> __device__ complex &operator/=(const U_ &v)
    {
        return *this = *this / v;
    }
};

namespace quern
{

// The real numbers that mix with complex ones.
template <typename T_> struct real_number;
#define QUERN_REAL(T_)                                                                             \
    template <> struct real_number<T_> {                                                           \
        typedef T_ type;                                                                           \
    };
QUERN_REAL(bool)
QUERN_REAL(char)
QUERN_REAL(signed char)
QUERN_REAL(unsigned char)
QUERN_REAL(short)
QUERN_REAL(unsigned short)
QUERN_REAL(int)
QUERN_REAL(unsigned)
QUERN_REAL(long)
QUERN_REAL(unsigned long)
QUERN_REAL(long long)
QUERN_REAL(unsigned long long)
QUERN_REAL(float)
QUERN_REAL(double)
#undef QUERN_REAL

template <typename A_, typename B_> using sum_type = decltype(A_() + B_());

// Quotient with the divisor scaled by the sum of its parts' magnitudes, so that nothing overflows
// early.
template <typename C_> __device__ complex<C_> divide(complex<C_> a, complex<C_> b)
{
    C_ scale = C_(1) / (fabs(b.re) + fabs(b.im));
    C_ ar = a.re * scale, ai = a.im * scale, br = b.re * scale, bi = b.im * scale;
    scale = C_(1) / (br * br + bi * bi);
    return complex<C_>((ar * br + ai * bi) * scale, (ai * br - ar * bi) * scale);
}

template <typename C_> __device__ complex<C_> multiply(complex<C_> a, complex<C_> b)
{
    return complex<C_>(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
}

} // namespace quern

template <typename T_> __device__ complex<T_> operator+(const complex<T_> &a)
{
    return a;
}
template <typename T_> __device__ complex<T_> operator-(const complex<T_> &a)
{
    return complex<T_>(-a.re, -a.im);
}

// complex with complex, complex with real, real with complex; the result has the wider parts.
#define QUERN_COMPLEX_OPERATOR(OP, BOTH, COMPLEX_REAL, REAL_COMPLEX)                               \
    template <typename A_, typename B_, typename C_ = quern::sum_type<A_, B_>>                     \
    __device__ complex<C_> operator OP(const complex<A_> &x, const complex<B_> &y)                 \
    {                                                                                              \
        complex<C_> a(x), b(y);                                                                    \
        return BOTH;                                                                               \
    }                                                                                              \
    template <typename A_, typename B_, typename R_ = typename quern::real_number<B_>::type,       \
              typename C_ = quern::sum_type<A_, R_>>                                               \
    __device__ complex<C_> operator OP(const complex<A_> &x, const B_ &y)                          \
    {                                                                                              \
        complex<C_> a(x);                                                                          \
        C_ b = (C_)y;                                                                              \
        return COMPLEX_REAL;                                                                       \
    }                                                                                              \
    template <typename A_, typename B_, typename R_ = typename quern::real_number<A_>::type,       \
              typename C_ = quern::sum_type<R_, B_>>                                               \
    __device__ complex<C_> operator OP(const A_ &x, const complex<B_> &y)                          \
    {                                                                                              \
        C_ a = (C_)x;                                                                              \
        complex<C_> b(y);                                                                          \
        return REAL_COMPLEX;                                                                       \
    }

QUERN_COMPLEX_OPERATOR(+, complex<C_>(a.re + b.re, a.im + b.im), complex<C_>(a.re + b, a.im),
                       complex<C_>(a + b.re, b.im))
QUERN_COMPLEX_OPERATOR(-, complex<C_>(a.re - b.re, a.im - b.im), complex<C_>(a.re - b, a.im),
                       complex<C_>(a - b.re, -b.im))
QUERN_COMPLEX_OPERATOR(*, quern::multiply(a, b), complex<C_>(a.re *b, a.im *b),
                       complex<C_>(a *b.re, a *b.im))
QUERN_COMPLEX_OPERATOR(/, quern::divide(a, b), complex<C_>(a.re / b, a.im / b),
                       quern::divide(complex<C_>(a), b))
#undef QUERN_COMPLEX_OPERATOR

template <typename A_, typename B_>
__device__ bool operator==(const complex<A_> &a, const complex<B_> &b)
{
    return a.re == b.re && a.im == b.im;
}
template <typename A_, typename B_, typename R_ = typename quern::real_number<B_>::type>
__device__ bool operator==(const complex<A_> &a, const B_ &b)
{
    return a.re == b && a.im == A_(0);
}
template <typename A_, typename B_, typename R_ = typename quern::real_number<A_>::type>
__device__ bool operator==(const A_ &a, const complex<B_> &b)
{
    return b == a;
}
template <typename A_, typename B_>
__device__ auto operator!=(const A_ &a, const complex<B_> &b) -> decltype(a == b)
{
    return !(a == b);
}
template <typename A_, typename B_, typename R_ = typename quern::real_number<B_>::type>
__device__ bool operator!=(const complex<A_> &a, const B_ &b)
{
    return !(a == b);
}

template <typename T_> __device__ complex<T_> conj(const complex<T_> &a)
{
    return complex<T_>(a.re, -a.im);
}
template <typename T_> __device__ T_ real(const complex<T_> &a)
{
    return a.re;
}
template <typename T_> __device__ T_ imag(const complex<T_> &a)
{
    return a.im;
}
// The square of the magnitude.
template <typename T_> __device__ T_ norm(const complex<T_> &a)
{
    return a.re * a.re + a.im * a.im;
}
