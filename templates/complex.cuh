// SPDX-License-Identifier: MIT
//
// complex: complex<float> and complex<double> for snippets, with arithmetic among complex and real
// numbers of any type. The functions of complex_math.cuh come only when a text names one.
#pragma once
#define QUERN_HAS_COMPLEX 1

template <typename T> struct alignas(2 * sizeof(T)) complex {
    T re, im;
    typedef T value_type;
    __device__ complex() : re(0), im(0) {}
    __device__ complex(T r) : re(r), im(0) {}
    __device__ complex(T r, T i) : re(r), im(i) {}
    template <typename U> __device__ complex(const complex<U> &v) : re((T)v.re), im((T)v.im) {}
    __device__ T real() const { return re; }
    __device__ T imag() const { return im; }
    __device__ void real(T v) { re = v; }
    __device__ void imag(T v) { im = v; }
    template <typename U> __device__ complex &operator+=(const U &v) { return *this = *this + v; }
    template <typename U> __device__ complex &operator-=(const U &v) { return *this = *this - v; }
    template <typename U> __device__ complex &operator*=(const U &v) { return *this = *this * v; }
    template <typename U> __device__ complex &operator/=(const U &v) { return *this = *this / v; }
};

namespace quern {

// The real numbers that mix with complex ones.
template <typename T> struct real_number;
#define QUERN_REAL(T)                                                                              \
    template <> struct real_number<T> {                                                            \
        typedef T type;                                                                            \
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

template <typename A, typename B> using sum_type = decltype(A() + B());

// Quotient with the divisor scaled by the sum of its parts' magnitudes, so that nothing overflows
// early.
template <typename C> __device__ complex<C> divide(complex<C> a, complex<C> b)
{
    C scale = C(1) / (fabs(b.re) + fabs(b.im));
    C ar = a.re * scale, ai = a.im * scale, br = b.re * scale, bi = b.im * scale;
    scale = C(1) / (br * br + bi * bi);
    return complex<C>((ar * br + ai * bi) * scale, (ai * br - ar * bi) * scale);
}

template <typename C> __device__ complex<C> multiply(complex<C> a, complex<C> b)
{
    return complex<C>(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
}

}  // namespace quern

template <typename T> __device__ complex<T> operator+(const complex<T> &a) { return a; }
template <typename T> __device__ complex<T> operator-(const complex<T> &a)
{
    return complex<T>(-a.re, -a.im);
}

// complex with complex, complex with real, real with complex; the result has the wider parts.
#define QUERN_COMPLEX_OPERATOR(OP, BOTH, COMPLEX_REAL, REAL_COMPLEX)                               \
    template <typename A, typename B, typename C = quern::sum_type<A, B>>                          \
    __device__ complex<C> operator OP(const complex<A> &x, const complex<B> &y)                    \
    {                                                                                              \
        complex<C> a(x), b(y);                                                                     \
        return BOTH;                                                                               \
    }                                                                                              \
    template <typename A, typename B, typename R = typename quern::real_number<B>::type,           \
              typename C = quern::sum_type<A, R>>                                                  \
    __device__ complex<C> operator OP(const complex<A> &x, const B &y)                             \
    {                                                                                              \
        complex<C> a(x);                                                                           \
        C b = (C)y;                                                                                \
        return COMPLEX_REAL;                                                                       \
    }                                                                                              \
    template <typename A, typename B, typename R = typename quern::real_number<A>::type,           \
              typename C = quern::sum_type<R, B>>                                                  \
    __device__ complex<C> operator OP(const A &x, const complex<B> &y)                             \
    {                                                                                              \
        C a = (C)x;                                                                                \
        complex<C> b(y);                                                                           \
        return REAL_COMPLEX;                                                                       \
    }

QUERN_COMPLEX_OPERATOR(+, complex<C>(a.re + b.re, a.im + b.im), complex<C>(a.re + b, a.im),
                       complex<C>(a + b.re, b.im))
QUERN_COMPLEX_OPERATOR(-, complex<C>(a.re - b.re, a.im - b.im), complex<C>(a.re - b, a.im),
                       complex<C>(a - b.re, -b.im))
QUERN_COMPLEX_OPERATOR(*, quern::multiply(a, b), complex<C>(a.re * b, a.im * b),
                       complex<C>(a * b.re, a * b.im))
QUERN_COMPLEX_OPERATOR(/, quern::divide(a, b), complex<C>(a.re / b, a.im / b),
                       quern::divide(complex<C>(a), b))
#undef QUERN_COMPLEX_OPERATOR

template <typename A, typename B>
__device__ bool operator==(const complex<A> &a, const complex<B> &b)
{
    return a.re == b.re && a.im == b.im;
}
template <typename A, typename B, typename R = typename quern::real_number<B>::type>
__device__ bool operator==(const complex<A> &a, const B &b)
{
    return a.re == b && a.im == A(0);
}
template <typename A, typename B, typename R = typename quern::real_number<A>::type>
__device__ bool operator==(const A &a, const complex<B> &b)
{
    return b == a;
}
template <typename A, typename B> __device__ auto operator!=(const A &a, const complex<B> &b) -> decltype(a == b)
{
    return !(a == b);
}
template <typename A, typename B, typename R = typename quern::real_number<B>::type>
__device__ bool operator!=(const complex<A> &a, const B &b)
{
    return !(a == b);
}

template <typename T> __device__ complex<T> conj(const complex<T> &a)
{
    return complex<T>(a.re, -a.im);
}
template <typename T> __device__ T real(const complex<T> &a) { return a.re; }
template <typename T> __device__ T imag(const complex<T> &a) { return a.im; }
// The square of the magnitude.
template <typename T> __device__ T norm(const complex<T> &a) { return a.re * a.re + a.im * a.im; }
