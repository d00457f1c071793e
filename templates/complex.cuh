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
#ifdef QUERN_HAS_HALF
    __device__ complex(float16 r) : re(r), im(0)
    {
    }
    __device__ complex(bfloat16 r) : re(r), im(0)
    {
    }
#endif
#ifdef QUERN_HAS_FLOAT8
    __device__ complex(float8_e4m3fn r) : re(r), im(0)
    {
    }
    __device__ complex(float8_e5m2 r) : re(r), im(0)
    {
    }
#endif
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
#ifdef QUERN_HAS_HALF
template <> struct real_number<float16> {
    typedef float type;
};
template <> struct real_number<bfloat16> {
    typedef float type;
};
#endif

template <typename A_, typename B_> using sum_type = decltype(A_() + B_());

// The type in which functions of a real number are computed: double for integers.
template <typename T_> struct floating_type {
    typedef double type;
};
template <> struct floating_type<float> {
    typedef float type;
};
template <typename T_> using floating = typename floating_type<T_>::type;

// The bits of a float, the upper half of those of a double; and a number with others in their
// place. Instructions are written out here and where logarithms and powers are computed: each
// function of CUDA that a kernel names takes a hundredth of the time that it takes to compile.
__device__ inline int high_bits(float v)
{
    int r;
    asm("mov.b32 %0, %1;" : "=r"(r) : "f"(v));
    return r;
}
__device__ inline int high_bits(double v)
{
    int r;
    asm("{.reg .b32 t; mov.b64 {t, %0}, %1;}" : "=r"(r) : "d"(v));
    return r;
}
__device__ inline float with_high_bits(int bits, float)
{
    float r;
    asm("mov.b32 %0, %1;" : "=f"(r) : "r"(bits));
    return r;
}
__device__ inline double with_high_bits(int bits, double v)
{
    int low;
    double r;
    asm("{.reg .b32 t; mov.b64 {%0, t}, %1;}" : "=r"(low) : "d"(v));
    asm("mov.b64 %0, {%1, %2};" : "=d"(r) : "r"(low), "r"(bits));
    return r;
}

// A power of two s whose inverse is a normal number too, so that 1 <= m s < 2 for a number m >= 0
// but for the ends: below 4 next to overflow, and far from underflow for a subnormal m.
template <typename T_> __device__ T_ inverse_power(T_ m)
{
    constexpr int one = sizeof(T_) == 4 ? 0x00800000 : 0x00100000;
    constexpr int twice = sizeof(T_) == 4 ? 0x7f000000 : 0x7fe00000;
    int e = twice - (high_bits(m) & (twice + one));
    e = e > twice - one ? twice - one : e;
    return with_high_bits(e < one ? one : e, T_(0));
}

// |x + i y|, which overflows only where it is too large, and is infinite beside a NaN too.
template <typename C_> __device__ C_ magnitude(C_ x, C_ y)
{
    C_ m = fmax(fabs(x), fabs(y)), scale = inverse_power(m), u = x * scale, v = y * scale;
    return m == C_(INFINITY) ? m : sqrt(u * u + v * v) * inverse_power(scale);
}

// a b + c d within 1.5 ulp, because the error of one product is added again (W. Kahan; proved by
// Jeannerod, Louvet and Muller, "Further analysis of Kahan's algorithm for the accurate computation
// of 2x2 determinants", 2013).
template <typename C_> __device__ C_ sum_of_products(C_ a, C_ b, C_ c, C_ d)
{
    C_ p = c * d;
    return fma(a, b, p) - fma(-c, d, p); /* less +0 keeps -0 */
}

// The corner of the unit square in whose direction an infinite number lies; of a finite one a zero.
template <typename C_> __device__ complex<C_> corner(complex<C_> a)
{
    return complex<C_>(copysign(C_(isinf(a.re)), a.re), copysign(C_(isinf(a.im)), a.im));
}
#ifdef QUERN_ANNEX_G
template <typename C_> __device__ C_ zero_for_nan(C_ v)
{
    return isnan(v) ? copysign(C_(0), v) : v;
}

// A product whose parts are both NaN: infinite where a factor is, or where what is no NaN overflows
// (C, Annex G.5.1). Out of line, because it is rare.
template <typename C_>
__device__ __noinline__ complex<C_> multiply_again(complex<C_> a, complex<C_> b)
{
    bool infinite =
        isinf(a.re * b.re) || isinf(a.im * b.im) || isinf(a.re * b.im) || isinf(a.im * b.re);
    if (isinf(a.re) || isinf(a.im)) {
        a = corner(a);
        infinite = true;
    }
    if (isinf(b.re) || isinf(b.im)) {
        b = corner(b);
        infinite = true;
    }
    C_ scale = infinite ? C_(INFINITY) : C_(NAN);
    a = complex<C_>(zero_for_nan(a.re), zero_for_nan(a.im));
    b = complex<C_>(zero_for_nan(b.re), zero_for_nan(b.im));
    return complex<C_>(scale * (a.re * b.re - a.im * b.im), scale * (a.re * b.im + a.im * b.re));
}
#endif

// The plain product, as of NumPy, CuPy and Thrust: it has NaN where infinities meet 0 or each
// other. Looking for that costs a sixth of the time that a small kernel takes to compile, so that
// it is done on request alone.
template <typename C_> __device__ complex<C_> multiply(complex<C_> a, complex<C_> b)
{
    complex<C_> c(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
#ifdef QUERN_ANNEX_G
    if (isnan(c.re) && isnan(c.im)) {
        return multiply_again(a, b);
    }
#endif
    return c;
}

// a conj(b) / |b|^2, with a and |b|^2 scaled as if b was near 1. Where b is larger it is not scaled
// down in the product, because a small part of it would underflow beside a large part of a. What
// overflows on the way although the quotient does not is left to divide_again().
template <typename C_> __device__ complex<C_> divide_scaled(complex<C_> a, complex<C_> b)
{
    C_ scale = inverse_power(fmax(fabs(b.re), fabs(b.im)));
    C_ up = fmax(scale, C_(1)), down = fmin(scale, C_(1)), u = b.re * scale, v = b.im * scale;
    C_ inverse = C_(1) / (u * u + v * v);
    a = complex<C_>(a.re * scale, a.im * scale);
    b = complex<C_>(b.re * up, b.im * up);
    return complex<C_>(sum_of_products(a.re, b.re, a.im, b.im) * inverse * down,
                       sum_of_products(a.im, b.re, -a.re, b.im) * inverse * down);
}

// A quotient that is not finite (C, Annex G.5.1). Out of line, because it is rare.
template <typename C_>
__device__ __noinline__ complex<C_> divide_again(complex<C_> a, complex<C_> b)
{
    C_ m = fmax(fabs(a.re), fabs(a.im)), n = fmax(fabs(b.re), fabs(b.im)), infinity = C_(INFINITY);
    if (b.re == C_(0) && b.im == C_(0)) {
        infinity = copysign(infinity, b.re);
        return complex<C_>(infinity * a.re, infinity * a.im);
    }
    if (m == infinity || n == infinity) {
        C_ part = C_(1), scale = m == infinity ? infinity : C_(0);
        if (m == n) {
            scale = C_(NAN);
        } else if (m == infinity) {
            a = corner(a);
        } else {
            part = fmin(fabs(a.re), fabs(a.im)) > part ? C_(0.5) : part; /* for a finite sum */
            b = corner(b);
        }
        a = complex<C_>(a.re * part, a.im * part);
        return complex<C_>(scale * (a.re * b.re + a.im * b.im),
                           scale * (a.im * b.re - a.re * b.im));
    }
    C_ down = m > C_(sizeof(C_) == 4 ? 1e37 : 1e307) ? C_(0.0625) : C_(1), back = C_(1) / down;
    C_ up = fmax(inverse_power(n), C_(1)), more = fmax(inverse_power(n * up), C_(1));
    a = divide_scaled(complex<C_>(a.re * down, a.im * down),
                      complex<C_>(b.re * up * more, b.im * up * more));
    return complex<C_>(a.re * up * more * back, a.im * up * more * back);
}

template <typename C_> __device__ complex<C_> divide(complex<C_> a, complex<C_> b)
{
    complex<C_> c = divide_scaled(a, b);
    return fabs(c.re) + fabs(c.im) < C_(INFINITY) ? c : divide_again(a, b);
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
