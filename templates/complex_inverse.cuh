// SPDX-License-Identifier: MIT
//
// complex_inverse: the inverse sine, cosine and tangent of complex numbers, and the hyperbolic
// ones. In: complex<T_> of float or double. Out: what C99's Annex G asks for, signs of zeros
// choosing the side of a cut (W. Kahan, "Branch Cuts for Complex Elementary Functions", 1987), each
// part within a few ulp: the sums are those of Hull, Fairgrieve and Tang, "Implementing the complex
// arcsine and arccosine functions using exception handling" (1997), arranged so that none is a
// difference and that one form serves on both sides of 1.
#pragma once
#include <quern/complex_log.cuh>

namespace quern
{

// atan2(y, x), where the larger of the two is ordinary.
template <typename T_> __device__ T_ angle_of(T_ x, T_ y)
{
    bool steep;
    T_ n, m = ordered(x, y, &n, &steep);
    return angle_of(x, y, m, n, steep);
}

// Of z in the first quadrant: asin z = atan2(x, w) + i l, acos z = atan2(w, x) - i l.
template <typename T_> struct arc {
    T_ x, w, l;
};

// With r = |z + 1|, s = |z - 1|, a = (r + s) / 2: w = sqrt((a - x)(a + x)), and l = log(a + sqrt((a
// - 1)(a + 1))). The differences come from r - (x + 1) = y^2 / (r + x + 1) and s - |x - 1| = y^2 /
// (s + |x - 1|). One of a - x and a - 1 holds s + |x - 1|; the other is y times q.
template <typename T_> __device__ arc<T_> arc_of(T_ x, T_ y)
{
    T_ r = magnitude(x + T_(1), y), gap = fabs(x - T_(1)), s = magnitude(gap, y);
    T_ a = T_(0.5) * (r + s), wide = s + gap;
    T_ p = y / (r + (x + T_(1))), q = p + (wide > T_(0) ? y / wide : T_(0));
    T_ small = y * q, large = y * p + wide; /* twice the differences */
    bool inside = x < T_(1);
    T_ other = T_(0.5) * (a + (inside ? T_(1) : x)), same = T_(0.5) * (a + (inside ? x : T_(1)));
    T_ thin = sqrt(y) * sqrt(q * other), thick = sqrt(large * same);
    return {x, inside ? thick : thin,
            log1p(T_(0.5) * (inside ? small : large) + (inside ? thin : thick))};
}

// Where z is not below 2^14 (2^30 for doubles), infinite or NaN: w / x is y / x, l is log|2z|.
template <typename T_> __device__ __noinline__ arc<T_> large_arc(T_ x, T_ y)
{
    T_ l = log(complex<T_>(x, y)).re + T_(0.693147180559945309417);
    if (isnan(x) || isnan(y)) {
        return {x, x == T_(0) ? T_(1) : T_(NAN), l};
    }
    complex<T_> a(x, y);
    make_ordinary(&a);
    return {a.re, a.im, l};
}

template <typename T_> __device__ arc<T_> arc_anywhere(complex<T_> a)
{
    T_ x = fabs(a.re), y = fabs(a.im), limit = T_(sizeof(T_) == 4 ? 16384.0 : 1073741824.0);
    return x < limit && y < limit ? arc_of(x, y) : large_arc(x, y);
}

// atanh where (1 - x)^2 + y^2 is out of range: near 1, large, infinite or NaN.
template <typename T_> __device__ __noinline__ complex<T_> special_atanh(complex<T_> a)
{
    T_ x = fabs(a.re), y = fabs(a.im), m = fmax(x, y), half_pi = T_(1.57079632679489661923);
    if (isinf(m)) {
        return complex<T_>(copysign(T_(0), a.re), isnan(a.im) ? a.im : copysign(half_pi, a.im));
    }
    if (isnan(x) || isnan(y)) {
        return complex<T_>(a.re == T_(0) ? a.re : x + y, x + y);
    }
    if (m < T_(2)) { /* x is 1, and y^2 may be 0 */
        return complex<T_>(copysign(T_(0.5) * (T_(0.693147180559945309417) - log(y)), a.re),
                           T_(0.5) * atan2(a.im, y > T_(0) ? T_(0) : y));
    }
    T_ scale = inverse_power(m), u = x * scale, v = y * scale;
    return complex<T_>(copysign(u / (u * u + v * v) * scale, a.re), copysign(half_pi, a.im));
}

} // namespace quern

template <typename T_> __device__ complex<T_> asin(const complex<T_> &a)
{
    quern::arc<T_> t = quern::arc_anywhere(a);
    return complex<T_>(copysign(quern::angle_of(t.w, t.x), a.re), copysign(t.l, a.im));
}
template <typename T_> __device__ complex<T_> acos(const complex<T_> &a)
{
    quern::arc<T_> t = quern::arc_anywhere(a);
    return complex<T_>(quern::angle_of(copysign(t.x, a.re), t.w), copysign(t.l, -a.im));
}
template <typename T_> __device__ complex<T_> acosh(const complex<T_> &a)
{
    complex<T_> w = acos(a);
    return complex<T_>(fabs(w.im), copysign(w.re, a.im));
}
template <typename T_> __device__ complex<T_> asinh(const complex<T_> &a)
{
    complex<T_> w = asin(complex<T_>(-a.im, a.re));
    return complex<T_>(w.im, -w.re);
}

// log(1 + 4x / ((1 - x)^2 + y^2)) / 4 + i atan2(2y, (1 - x)(1 + x) - y^2) / 2, for x >= 0.
template <typename T_> __device__ complex<T_> atanh(const complex<T_> &a)
{
    T_ x = fabs(a.re), u = T_(1) - x, d = u * u + a.im * a.im;
    T_ far = T_(sizeof(T_) == 4 ? 1e30 : 1e290);
    if (!(d < far && d * far > T_(1))) {
        return quern::special_atanh(a);
    }
    return complex<T_>(copysign(T_(0.25) * log1p(T_(4) * x / d), a.re),
                       T_(0.5) * atan2(T_(2) * a.im, u * (T_(1) + x) - a.im * a.im));
}
template <typename T_> __device__ complex<T_> atan(const complex<T_> &a)
{
    complex<T_> w = atanh(complex<T_>(-a.im, a.re));
    return complex<T_>(w.im, -w.re);
}
