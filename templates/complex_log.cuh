// SPDX-License-Identifier: MIT
//
// complex_log: logarithms of complex numbers. In: complex<T_> of float or double. Out: each part
// within a few ulp, also where the magnitude is near 1 and its logarithm near 0: the square of the
// magnitude less 1 is summed without loss.
#pragma once
#include <quern/complex.cuh>

namespace quern
{

// Products that the compiler does not join with a sum: their rounding errors are needed.
__device__ inline float product(float a, float b)
{
    return __fmul_rn(a, b);
}
__device__ inline double product(double a, double b)
{
    return __dmul_rn(a, b);
}

// A number as the sum of two, of which the second is below half an ulp of the first.
template <typename T_> struct pair {
    T_ hi, lo;
};

// a + b where the exponent of a is not below that of b, or a is 0 (T. Dekker, 1971).
template <typename T_> __device__ pair<T_> sum_ordered(T_ a, T_ b)
{
    T_ s = a + b;
    return {s, b - (s - a)};
}
// a + b (D. Knuth).
template <typename T_> __device__ pair<T_> sum(T_ a, T_ b)
{
    T_ s = a + b, t = s - a;
    return {s, (a - (s - t)) + (b - t)};
}

// The exponent of 1 / s, for a power of two s.
__device__ inline int inverse_exponent(float s)
{
    return 127 - (__float_as_int(s) >> 23);
}
__device__ inline int inverse_exponent(double s)
{
    return 1023 - (__double2hiint(s) >> 20);
}

// For a finite m > 0: two powers of two, by whose product m becomes at least 1 and less than 2
// (less than 4 next to overflow). A subnormal m needs both.
template <typename T_> __device__ pair<T_> normalizer(T_ m)
{
    bool small = m < T_(sizeof(T_) == 4 ? 1.1754943508222875e-38 : 2.2250738585072014e-308);
    T_ up = small ? T_(18014398509481984.0) : T_(1);
    return {up, inverse_power(m * up)};
}

// |z|^2 = 2^exponent (1 + f), where f is between 1/sqrt(2) - 1 and sqrt(2) - 1 and exact but for a
// rounding of its lower part. z has a finite part that is not 0, and no other.
template <typename T_> __device__ pair<T_> square_less_one(T_ x, T_ y, int *exponent)
{
    T_ m = fmax(fabs(x), fabs(y));
    pair<T_> by = normalizer(m);
    T_ u = m * by.hi * by.lo, v = fmin(fabs(x), fabs(y)) * by.hi * by.lo;
    T_ uu = product(u, u), vv = product(v, v);
    T_ ul = fma(u, u, -uu), vl = fma(v, v, -vv);
    T_ half = inverse_power(product(uu + vv, T_(1.41421356237309504880)));
    *exponent = 2 * (inverse_exponent(by.hi) + inverse_exponent(by.lo)) + inverse_exponent(half);
    pair<T_> a = sum_ordered(T_(-1), product(uu, half)), b = sum(a.hi, product(vv, half));
    pair<T_> c = sum(product(ul, half), product(vl, half)), d = sum(b.hi, c.hi);
    return sum_ordered(d.hi, d.lo + (b.lo + (a.lo + c.lo)));
}

// log|z|
template <typename T_> __device__ T_ log_of(T_ x, T_ y)
{
    int exponent;
    T_ f = log1p(square_less_one(x, y, &exponent).hi), m = fmax(fabs(x), fabs(y));
    T_ l = T_(0.5) * fma(T_(exponent), T_(0.693147180559945309417), f);
    l = isnan(x) || isnan(y) ? T_(NAN) : m == T_(0) ? -T_(INFINITY) : l;
    return m == T_(INFINITY) ? m : l;
}

// log|1 + z| where |z| < 1/2: 2x + x^2 + y^2, summed without loss.
template <typename T_> __device__ T_ log_near_one(T_ x, T_ y)
{
    T_ xx = product(x, x), yy = product(y, y);
    pair<T_> a = sum(x + x, yy), b = sum(a.hi, xx);
    pair<T_> c = sum(fma(x, x, -xx), fma(y, y, -yy));
    pair<T_> d = sum(b.hi, a.lo), e = sum(d.hi, c.hi);
    T_ l = T_(0.5) * log1p(e.hi + (e.lo + (d.lo + (b.lo + c.lo))));
    return l == T_(0) && y == T_(0) ? x : l;
}

} // namespace quern

template <typename T_> __device__ complex<T_> log(const complex<T_> &a)
{
    return complex<T_>(quern::log_of(a.re, a.im), atan2(a.im, a.re));
}
template <typename T_> __device__ complex<T_> log2(const complex<T_> &a)
{
    return log(a) * T_(1.44269504088896340736);
}
template <typename T_> __device__ complex<T_> log10(const complex<T_> &a)
{
    return log(a) * T_(0.434294481903251827651);
}
template <typename T_> __device__ complex<T_> log1p(const complex<T_> &a)
{
    bool near = fabs(a.re) < T_(0.5) && fabs(a.im) < T_(0.5);
    T_ x = T_(1) + a.re;
    return complex<T_>(near ? quern::log_near_one(a.re, a.im) : quern::log_of(x, a.im),
                       atan2(a.im, x));
}
