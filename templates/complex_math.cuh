// SPDX-License-Identifier: MIT
//
// complex_math: magnitude, angle and order of complex numbers, and the square root. In: complex<T_>
// of float or double. Out: what C99's Annex G asks for, special values and signs of zeros included.
// The exponential and its kin, logarithms, powers and inverse functions have headers of their own.
#pragma once
#include <quern/complex.cuh>

template <typename T_> __device__ T_ abs(const complex<T_> &a)
{
    return quern::magnitude(a.re, a.im);
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
template <typename T_> __device__ complex<T_> rint(const complex<T_> &a)
{
    return complex<T_>(rint(a.re), rint(a.im));
}

// An angle of 0 leaves an infinite magnitude on the real axis.
template <typename A_, typename B_ = A_, typename R_ = typename quern::real_number<A_>::type,
          typename S_ = typename quern::real_number<B_>::type,
          typename C_ = quern::floating<quern::sum_type<R_, S_>>>
__device__ complex<C_> polar(A_ magnitude, B_ angle = B_(0))
{
    C_ m = (C_)magnitude, t = (C_)angle, s, c;
    sincos(t, &s, &c);
    return complex<C_>(m * c, t == C_(0) && isinf(m) ? t * copysign(C_(1), m) : m * s);
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

namespace quern
{

// A power of 4 that brings m >= 0 near 1, as far as a normal one can, and the root of its inverse.
__device__ inline float inverse_square(float m, float *root)
{
    int e = max(__float_as_int(m) >> 23, 1) - 127, even = e & ~1;
    *root = __int_as_float((127 + (even >> 1)) << 23);
    return __int_as_float((127 - even) << 23);
}
__device__ inline double inverse_square(double m, double *root)
{
    int e = max(__double2hiint(m) >> 20, 1) - 1023, even = e & ~1;
    *root = __hiloint2double((1023 + (even >> 1)) << 20, 0);
    return __hiloint2double((1023 - even) << 20, 0);
}

// The root of 0, of infinities and of NaNs.
template <typename T_> __device__ __noinline__ complex<T_> special_root(complex<T_> a)
{
    if (isinf(a.im)) {
        return complex<T_>(T_(INFINITY), a.im);
    }
    if (isnan(a.re)) {
        return complex<T_>(a.re, a.re);
    }
    if (isinf(a.re)) {
        T_ other = a.im - a.im; /* 0 or NaN */
        return a.re > T_(0) ? complex<T_>(a.re, copysign(other, a.im))
                            : complex<T_>(fabs(other), copysign(T_(INFINITY), a.im));
    }
    return isnan(a.im) ? complex<T_>(a.im, a.im) : complex<T_>(T_(0), a.im);
}

} // namespace quern

// The root in the right half plane: sqrt((|x| + |z|) / 2), with z scaled by a power of 4, and what
// that leaves of y; no part is a difference.
template <typename T_> __device__ complex<T_> sqrt(const complex<T_> &a)
{
    T_ m = fmax(fabs(a.re), fabs(a.im)), back;
    if (!(m > T_(0) && m < T_(INFINITY) && !isnan(a))) {
        return quern::special_root(a);
    }
    T_ scale = quern::inverse_square(m, &back), u = fabs(a.re) * scale, v = a.im * scale;
    T_ half = sqrt(T_(0.5) * (u + sqrt(u * u + v * v))) * back;
    T_ other = fabs(a.im) / (half + half);
    return a.re >= T_(0) ? complex<T_>(half, copysign(other, a.im))
                         : complex<T_>(other, copysign(half, a.im));
}
