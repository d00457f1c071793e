// SPDX-License-Identifier: MIT
//
// complex_math: functions of complex numbers. The inverse functions follow W. Kahan, "Branch Cuts
// for Complex Elementary Functions" (1987), so that signs of zero choose the side of a cut.
#pragma once
#include <quern/complex.cuh>

template <typename T_> __device__ T_ abs(const complex<T_> &a)
{
    return hypot(a.re, a.im);
}
template <typename T_> __device__ T_ arg(const complex<T_> &a)
{
    return atan2(a.im, a.re);
}
template <typename T_> __device__ bool isnan(const complex<T_> &a)
{
    return isnan(a.re) || isnan(a.im);
}
template <typename T_> __device__ bool isinf(const complex<T_> &a)
{
    return isinf(a.re) || isinf(a.im);
}
template <typename T_> __device__ bool isfinite(const complex<T_> &a)
{
    return isfinite(a.re) && isfinite(a.im);
}
template <typename T_> __device__ complex<T_> proj(const complex<T_> &a)
{
    return isinf(a) ? complex<T_>(T_(INFINITY), copysign(T_(0), a.im)) : a;
}
template <typename T_> __device__ complex<T_> polar(T_ magnitude, T_ angle)
{
    return complex<T_>(magnitude * cos(angle), magnitude * sin(angle));
}

// Lexicographic, as NumPy orders complex numbers; a NaN is passed on.
template <typename T_> __device__ complex<T_> min(const complex<T_> &a, const complex<T_> &b)
{
    bool first = a.re < b.re || (a.re == b.re && a.im <= b.im);
    return isnan(a) ? a : isnan(b) ? b : first ? a : b;
}
template <typename T_> __device__ complex<T_> max(const complex<T_> &a, const complex<T_> &b)
{
    bool first = a.re > b.re || (a.re == b.re && a.im >= b.im);
    return isnan(a) ? a : isnan(b) ? b : first ? a : b;
}

template <typename T_> __device__ complex<T_> exp(const complex<T_> &a)
{
    T_ e = exp(a.re);
    return a.im == T_(0) ? complex<T_>(e, a.im) : complex<T_>(e * cos(a.im), e * sin(a.im));
}
template <typename T_> __device__ complex<T_> log(const complex<T_> &a)
{
    return complex<T_>(log(abs(a)), arg(a));
}
template <typename T_> __device__ complex<T_> log2(const complex<T_> &a)
{
    return log(a) * T_(1.44269504088896340736);
}
template <typename T_> __device__ complex<T_> log10(const complex<T_> &a)
{
    return log(a) * T_(0.434294481903251827651);
}

// The root in the right half plane. Halving before adding keeps large parts from overflowing.
template <typename T_> __device__ complex<T_> sqrt(const complex<T_> &a)
{
    if (a.re == T_(0) && a.im == T_(0)) {
        return complex<T_>(T_(0), a.im);
    }
    if (isinf(a.im)) {
        return complex<T_>(T_(INFINITY), a.im);
    }
    T_ half = sqrt(fabs(a.re) * T_(0.5) + hypot(a.re * T_(0.5), a.im * T_(0.5)));
    T_ other = fabs(a.im) / (half + half);
    return a.re >= T_(0) ? complex<T_>(half, copysign(other, a.im))
                         : complex<T_>(other, copysign(half, a.im));
}

template <typename T_> __device__ complex<T_> pow(const complex<T_> &a, const complex<T_> &b)
{
    if (a.re == T_(0) && a.im == T_(0)) {
        bool one = b.re == T_(0) && b.im == T_(0);
        return complex<T_>(one ? T_(1) : T_(0));
    }
    return exp(b * log(a));
}
template <typename T_, typename U_, typename R_ = typename quern::real_number<U_>::type>
__device__ complex<T_> pow(const complex<T_> &a, U_ b)
{
    return pow(a, complex<T_>((T_)b));
}
template <typename T_, typename U_, typename R_ = typename quern::real_number<U_>::type>
__device__ complex<T_> pow(U_ a, const complex<T_> &b)
{
    return pow(complex<T_>((T_)a), b);
}

template <typename T_> __device__ complex<T_> sinh(const complex<T_> &a)
{
    return complex<T_>(sinh(a.re) * cos(a.im), cosh(a.re) * sin(a.im));
}
template <typename T_> __device__ complex<T_> cosh(const complex<T_> &a)
{
    return complex<T_>(cosh(a.re) * cos(a.im), sinh(a.re) * sin(a.im));
}
template <typename T_> __device__ complex<T_> tanh(const complex<T_> &a)
{
    if (fabs(a.re) > T_(20)) { /* cosh^2 would overflow; the imaginary part is below 4 e^-40 */
        return complex<T_>(copysign(T_(1), a.re),
                           T_(4) * sin(a.im) * cos(a.im) * exp(T_(-2) * fabs(a.re)));
    }
    T_ s = sinh(a.re), c = cos(a.im), d = c * c + s * s;
    return complex<T_>(s * cosh(a.re) / d, sin(a.im) * c / d);
}
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

template <typename T_> __device__ complex<T_> asin(const complex<T_> &a)
{
    complex<T_> p = sqrt(complex<T_>(T_(1) + a.re, a.im)),
                q = sqrt(complex<T_>(T_(1) - a.re, -a.im));
    return complex<T_>(atan2(a.re, (p * q).re), asinh((conj(q) * p).im));
}
template <typename T_> __device__ complex<T_> acos(const complex<T_> &a)
{
    complex<T_> p = sqrt(complex<T_>(T_(1) + a.re, a.im)),
                q = sqrt(complex<T_>(T_(1) - a.re, -a.im));
    return complex<T_>(T_(2) * atan2(q.re, p.re), asinh((conj(p) * q).im));
}
template <typename T_> __device__ complex<T_> acosh(const complex<T_> &a)
{
    complex<T_> p = sqrt(complex<T_>(a.re - T_(1), a.im)),
                q = sqrt(complex<T_>(a.re + T_(1), a.im));
    return complex<T_>(asinh((conj(p) * q).re), T_(2) * atan2(p.im, q.re));
}
template <typename T_> __device__ complex<T_> atanh(const complex<T_> &a)
{
    T_ y2 = a.im * a.im, u = T_(1) - a.re;
    return complex<T_>(log1p(T_(4) * a.re / (u * u + y2)) * T_(0.25),
                       atan2(T_(2) * a.im, u * (T_(1) + a.re) - y2) * T_(0.5));
}
template <typename T_> __device__ complex<T_> asinh(const complex<T_> &a)
{
    complex<T_> w = asin(complex<T_>(-a.im, a.re));
    return complex<T_>(w.im, -w.re);
}
template <typename T_> __device__ complex<T_> atan(const complex<T_> &a)
{
    complex<T_> w = atanh(complex<T_>(-a.im, a.re));
    return complex<T_>(w.im, -w.re);
}
