// SPDX-License-Identifier: MIT
//
// complex_math: functions of complex numbers. The inverse functions follow W. Kahan, "Branch Cuts for
// Complex Elementary Functions" (1987), so that signs of zero choose the side of a cut.
#pragma once
#include <quern/complex.cuh>

template <typename T> __device__ T abs(const complex<T> &a) { return hypot(a.re, a.im); }
template <typename T> __device__ T arg(const complex<T> &a) { return atan2(a.im, a.re); }
template <typename T> __device__ bool isnan(const complex<T> &a)
{
    return isnan(a.re) || isnan(a.im);
}
template <typename T> __device__ bool isinf(const complex<T> &a)
{
    return isinf(a.re) || isinf(a.im);
}
template <typename T> __device__ bool isfinite(const complex<T> &a)
{
    return isfinite(a.re) && isfinite(a.im);
}
template <typename T> __device__ complex<T> proj(const complex<T> &a)
{
    return isinf(a) ? complex<T>(T(INFINITY), copysign(T(0), a.im)) : a;
}
template <typename T> __device__ complex<T> polar(T magnitude, T angle)
{
    return complex<T>(magnitude * cos(angle), magnitude * sin(angle));
}

// Lexicographic, as NumPy orders complex numbers; a NaN is passed on.
template <typename T> __device__ complex<T> min(const complex<T> &a, const complex<T> &b)
{
    bool first = a.re < b.re || (a.re == b.re && a.im <= b.im);
    return isnan(a) ? a : isnan(b) ? b : first ? a : b;
}
template <typename T> __device__ complex<T> max(const complex<T> &a, const complex<T> &b)
{
    bool first = a.re > b.re || (a.re == b.re && a.im >= b.im);
    return isnan(a) ? a : isnan(b) ? b : first ? a : b;
}

template <typename T> __device__ complex<T> exp(const complex<T> &a)
{
    T e = exp(a.re);
    return a.im == T(0) ? complex<T>(e, a.im) : complex<T>(e * cos(a.im), e * sin(a.im));
}
template <typename T> __device__ complex<T> log(const complex<T> &a)
{
    return complex<T>(log(abs(a)), arg(a));
}
template <typename T> __device__ complex<T> log2(const complex<T> &a)
{
    return log(a) * T(1.44269504088896340736);
}
template <typename T> __device__ complex<T> log10(const complex<T> &a)
{
    return log(a) * T(0.434294481903251827651);
}

// The root in the right half plane. Halving before adding keeps large parts from overflowing.
template <typename T> __device__ complex<T> sqrt(const complex<T> &a)
{
    if (a.re == T(0) && a.im == T(0)) {
        return complex<T>(T(0), a.im);
    }
    if (isinf(a.im)) {
        return complex<T>(T(INFINITY), a.im);
    }
    T half = sqrt(fabs(a.re) * T(0.5) + hypot(a.re * T(0.5), a.im * T(0.5)));
    T other = fabs(a.im) / (half + half);
    return a.re >= T(0) ? complex<T>(half, copysign(other, a.im))
                        : complex<T>(other, copysign(half, a.im));
}

template <typename T> __device__ complex<T> pow(const complex<T> &a, const complex<T> &b)
{
    if (a.re == T(0) && a.im == T(0)) {
        bool one = b.re == T(0) && b.im == T(0);
        return complex<T>(one ? T(1) : T(0));
    }
    return exp(b * log(a));
}
template <typename T, typename U, typename R = typename quern::real_number<U>::type>
__device__ complex<T> pow(const complex<T> &a, U b)
{
    return pow(a, complex<T>((T)b));
}
template <typename T, typename U, typename R = typename quern::real_number<U>::type>
__device__ complex<T> pow(U a, const complex<T> &b)
{
    return pow(complex<T>((T)a), b);
}

template <typename T> __device__ complex<T> sinh(const complex<T> &a)
{
    return complex<T>(sinh(a.re) * cos(a.im), cosh(a.re) * sin(a.im));
}
template <typename T> __device__ complex<T> cosh(const complex<T> &a)
{
    return complex<T>(cosh(a.re) * cos(a.im), sinh(a.re) * sin(a.im));
}
template <typename T> __device__ complex<T> tanh(const complex<T> &a)
{
    if (fabs(a.re) > T(20)) { /* cosh^2 would overflow; the imaginary part is below 4 e^-40 */
        return complex<T>(copysign(T(1), a.re), T(4) * sin(a.im) * cos(a.im) * exp(T(-2) * fabs(a.re)));
    }
    T s = sinh(a.re), c = cos(a.im), d = c * c + s * s;
    return complex<T>(s * cosh(a.re) / d, sin(a.im) * c / d);
}
template <typename T> __device__ complex<T> sin(const complex<T> &a)
{
    complex<T> w = sinh(complex<T>(-a.im, a.re));
    return complex<T>(w.im, -w.re);
}
template <typename T> __device__ complex<T> cos(const complex<T> &a)
{
    return cosh(complex<T>(-a.im, a.re));
}
template <typename T> __device__ complex<T> tan(const complex<T> &a)
{
    complex<T> w = tanh(complex<T>(-a.im, a.re));
    return complex<T>(w.im, -w.re);
}

template <typename T> __device__ complex<T> asin(const complex<T> &a)
{
    complex<T> p = sqrt(complex<T>(T(1) + a.re, a.im)), q = sqrt(complex<T>(T(1) - a.re, -a.im));
    return complex<T>(atan2(a.re, (p * q).re), asinh((conj(q) * p).im));
}
template <typename T> __device__ complex<T> acos(const complex<T> &a)
{
    complex<T> p = sqrt(complex<T>(T(1) + a.re, a.im)), q = sqrt(complex<T>(T(1) - a.re, -a.im));
    return complex<T>(T(2) * atan2(q.re, p.re), asinh((conj(p) * q).im));
}
template <typename T> __device__ complex<T> acosh(const complex<T> &a)
{
    complex<T> p = sqrt(complex<T>(a.re - T(1), a.im)), q = sqrt(complex<T>(a.re + T(1), a.im));
    return complex<T>(asinh((conj(p) * q).re), T(2) * atan2(p.im, q.re));
}
template <typename T> __device__ complex<T> atanh(const complex<T> &a)
{
    T y2 = a.im * a.im, u = T(1) - a.re;
    return complex<T>(log1p(T(4) * a.re / (u * u + y2)) * T(0.25),
                      atan2(T(2) * a.im, u * (T(1) + a.re) - y2) * T(0.5));
}
template <typename T> __device__ complex<T> asinh(const complex<T> &a)
{
    complex<T> w = asin(complex<T>(-a.im, a.re));
    return complex<T>(w.im, -w.re);
}
template <typename T> __device__ complex<T> atan(const complex<T> &a)
{
    complex<T> w = atanh(complex<T>(-a.im, a.re));
    return complex<T>(w.im, -w.re);
}
