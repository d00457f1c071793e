// SPDX-License-Identifier: MIT
//
// complex_exp: the exponential of complex numbers, the hyperbolic functions and sine, cosine and
// tangent. In: complex<T_> of float or double. Out: what C99's Annex G asks for, each part within a
// few ulp. What is not ordinary (infinite, NaN, or e^x near overflow) is left to functions out of
// line, so that ordinary numbers pay one comparison.
#pragma once
#include <quern/complex.cuh>

namespace quern
{

// A whole number close below the logarithm of the largest number, and its exponential.
__device__ inline void exp_limit(float *limit, float *power)
{
    *limit = 88.0f;
    *power = 1.6516362549940018555e+38f;
}
__device__ inline void exp_limit(double *limit, double *power)
{
    *limit = 709.0;
    *power = 8.2184074615549721892e+307;
}

// Whether e^|x| and what is made of it are far from overflow; not so for a NaN.
template <typename T_> __device__ bool exp_is_small(T_ x)
{
    T_ limit, power;
    exp_limit(&limit, &power);
    return fabs(x) < limit;
}

// e^x (c + s i), where e^x alone may overflow although its product with a small c or s does not. A
// zero stays one.
template <typename T_> __device__ complex<T_> exp_times(T_ x, T_ c, T_ s)
{
    T_ limit, power;
    exp_limit(&limit, &power);
    for (int k = 0; k < 2 && x >= limit; k++) {
        x -= limit; /* exact */
        c *= power;
        s *= power;
    }
    T_ e = exp(x);
    return complex<T_>(c == T_(0) ? c : e * c, s == T_(0) ? s : e * s);
}

// y - y, which is a NaN where y is infinite or a NaN, with the bits of that NaN made plain.
template <typename T_> __device__ T_ nan_of(T_ y)
{
    return y - y;
}

template <typename T_> __device__ __noinline__ complex<T_> special_exp(complex<T_> a)
{
    if (a.im == T_(0)) {
        return complex<T_>(exp(a.re), a.im);
    }
    if (isfinite(a.im)) {
        T_ s, c;
        sincos(a.im, &s, &c);
        return exp_times(a.re, c, s);
    }
    if (isinf(a.re)) {
        return a.re < T_(0) ? complex<T_>(T_(0), copysign(T_(0), a.im))
                            : complex<T_>(a.re, nan_of(a.im));
    }
    return complex<T_>(a.re + nan_of(a.im), a.re + nan_of(a.im));
}

// sinh (or cosh) where x is beyond exp_is_small() or y is not finite.
template <typename T_> __device__ __noinline__ complex<T_> special_sinh(complex<T_> a, bool cosine)
{
    T_ turn = cosine ? copysign(T_(1), a.re) : T_(1); /* of the part that is odd in x */
    if (isfinite(a.im) && isfinite(a.re)) {
        T_ s, c, limit, power; /* cosh x = sinh x = e^x / 2 */
        exp_limit(&limit, &power);
        sincos(a.im, &s, &c);
        power *= T_(0.5);
        complex<T_> w = exp_times(fabs(a.re) - limit, c * power, s * power);
        return cosine ? complex<T_>(w.re, turn * w.im)
                      : complex<T_>(copysign(T_(1), a.re) * w.re, w.im);
    }
    if (isinf(a.re)) {
        T_ x = cosine ? T_(INFINITY) : a.re;
        if (a.im == T_(0)) {
            return complex<T_>(x, turn * a.im);
        }
        if (!isfinite(a.im)) {
            return complex<T_>(x, nan_of(a.im));
        }
        T_ s, c;
        sincos(a.im, &s, &c);
        return complex<T_>(x * c, turn * T_(INFINITY) * s);
    }
    T_ none = a.re + nan_of(a.im);
    if (a.re == T_(0)) {
        return cosine ? complex<T_>(nan_of(a.im), a.re) : complex<T_>(a.re, nan_of(a.im));
    }
    return complex<T_>(none, a.im == T_(0) ? a.im : none);
}

template <typename T_> __device__ __noinline__ complex<T_> special_tanh(complex<T_> a)
{
    if (isnan(a.re)) {
        return complex<T_>(a.re, a.im == T_(0) ? a.im : a.re);
    }
    if (!isfinite(a.im) && !isinf(a.re)) {
        return complex<T_>(a.re == T_(0) ? a.re : nan_of(a.im), nan_of(a.im));
    }
    T_ s = copysign(T_(0), a.im), c = T_(1);
    if (isfinite(a.im)) {
        sincos(a.im, &s, &c);
    }
    T_ e =
        exp(-fabs(a.re)); /* cosh^2 would overflow; tanh differs from 1 by less than half an ulp */
    return complex<T_>(copysign(T_(1), a.re), T_(4) * s * c * e * e);
}

} // namespace quern

template <typename T_> __device__ complex<T_> exp(const complex<T_> &a)
{
    if (!quern::exp_is_small(a.re)) {
        return quern::special_exp(a);
    }
    T_ e = exp(a.re), s, c;
    sincos(a.im, &s, &c);
    return complex<T_>(e * c, e * s);
}

// e^x cos y - 1 = (e^x - 1) cos y - 2 sin^2(y/2)
template <typename T_> __device__ complex<T_> expm1(const complex<T_> &a)
{
    if (!quern::exp_is_small(a.re)) {
        complex<T_> w = quern::special_exp(a);
        return complex<T_>(w.re - T_(1), w.im);
    }
    T_ s, c, half = sin(T_(0.5) * a.im), e = expm1(a.re);
    sincos(a.im, &s, &c);
    return complex<T_>(e * c - T_(2) * half * half, (e + T_(1)) * s);
}

template <typename T_> __device__ complex<T_> sinh(const complex<T_> &a)
{
    if (!(quern::exp_is_small(a.re) && isfinite(a.im))) {
        return quern::special_sinh(a, false);
    }
    T_ s, c;
    sincos(a.im, &s, &c);
    return complex<T_>(sinh(a.re) * c, cosh(a.re) * s);
}
template <typename T_> __device__ complex<T_> cosh(const complex<T_> &a)
{
    if (!(quern::exp_is_small(a.re) && isfinite(a.im))) {
        return quern::special_sinh(a, true);
    }
    T_ s, c;
    sincos(a.im, &s, &c);
    return complex<T_>(cosh(a.re) * c, sinh(a.re) * s);
}

// With t = sinh x: (t sqrt(1 + t^2) + i sin y cos y) / (t^2 + cos^2 y). An error of t cancels for
// the most part, because it is in all three.
template <typename T_> __device__ complex<T_> tanh(const complex<T_> &a)
{
    if (!(fabs(a.re) < T_(sizeof(T_) == 4 ? 10 : 20) && isfinite(a.im))) {
        return quern::special_tanh(a);
    }
    T_ s, c, t = sinh(a.re);
    sincos(a.im, &s, &c);
    T_ inverse = T_(1) / (t * t + c * c);
    return complex<T_>(t * sqrt(T_(1) + t * t) * inverse, s * c * inverse);
}

// sin z = -i sinh(i z), and so on.
template <typename T_> __device__ complex<T_> sin(const complex<T_> &a)
{
    complex<T_> w = sinh(complex<T_>(-a.im, a.re));
    return complex<T_>(w.im, -w.re);
}
template <typename T_> __device__ complex<T_> cos(const complex<T_> &a)
{
    return cosh(complex<T_>(-a.im, a.re));
}
template <typename T_> __device__ complex<T_> tan(const complex<T_> &a)
{
    complex<T_> w = tanh(complex<T_>(-a.im, a.re));
    return complex<T_>(w.im, -w.re);
}
