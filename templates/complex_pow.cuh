// SPDX-License-Identifier: MIT
//
// complex_pow: powers of complex numbers. In: complex and real numbers of any types, one of the two
// complex. Out: complex of the wider type. a^b = exp(b log a) multiplies the error of log a by what
// may be hundreds, so that the logarithm is computed as a pair of numbers here, and b log a too.
// Small whole exponents are products, exact where these are.
#pragma once
#include <quern/complex_exp.cuh>
#include <quern/complex_log.cuh>

namespace quern
{

// q -> 1/5 + q/7 + q^2/9 + ... for |q| <= 0.04: artanh s = s + s^3 (1/3 + q series(q)) with q =
// s^2, and arctan likewise with q = -s^2.
__device__ inline float arc_series(float q)
{
    const float c[] = {1.0f / 11, 1.0f / 9, 1.0f / 7, 1.0f / 5};
    float p = 1.0f / 13;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        p = fma(p, q, c[k]);
    }
    return p;
}
__device__ inline double arc_series(double q)
{
    const double c[] = {1.0 / 27, 1.0 / 25, 1.0 / 23, 1.0 / 21, 1.0 / 19, 1.0 / 17,
                        1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9,  1.0 / 7,  1.0 / 5};
    double p = 1.0 / 29;
#pragma unroll
    for (int k = 0; k < 12; k++) {
        p = fma(p, q, c[k]);
    }
    return p;
}
__device__ inline pair<float> third(float)
{
    return {0.333333343f, -9.93410776e-9f};
}
__device__ inline pair<double> third(double)
{
    return {0.3333333333333333, 1.850371707708594e-17};
}

// ln 2 in two parts, the first so short that its products with exponents are exact.
__device__ inline pair<float> ln_2(float)
{
    return {0.693115234375f, 3.19461849453094e-5f};
}
__device__ inline pair<double> ln_2(double)
{
    return {0.6931471805592082091607, 7.37100256516779890183e-13};
}

// The arctangents of 0, 0.4140625 and 1.
__device__ inline pair<float> angle_of_slope(bool low, bool high, float)
{
    return low    ? pair<float>{0.0f, 0.0f}
           : high ? pair<float>{0.785398185f, -2.18556941e-8f}
                  : pair<float>{0.392570138f, -2.96577141e-9f};
}
__device__ inline pair<double> angle_of_slope(bool low, bool high, double)
{
    return low    ? pair<double>{0.0, 0.0}
           : high ? pair<double>{0.7853981633974483, 3.061616997868383e-17}
                  : pair<double>{0.3925701350118286, 1.4769733768267405e-17};
}

template <typename T_> __device__ pair<T_> add(pair<T_> a, pair<T_> b)
{
    pair<T_> s = sum(a.hi, b.hi);
    return sum_ordered(s.hi, s.lo + (a.lo + b.lo));
}
template <typename T_> __device__ pair<T_> times(T_ a, pair<T_> b)
{
    T_ p = product(a, b.hi);
    return {p, fma(a, b.hi, -p) + a * b.lo};
}

template <typename T_> __device__ pair<T_> less(pair<T_> a, pair<T_> b)
{
    return add(a, pair<T_>{-b.hi, -b.lo});
}

// artanh (sign 1) or arctan (sign -1) of a quotient below 0.2.
template <typename T_> __device__ pair<T_> arc_pair(pair<T_> a, pair<T_> b, T_ sign)
{
    T_ t = a.hi / b.hi;
    pair<T_> s = {t, (fma(-t, b.hi, a.hi) + (a.lo - t * b.lo)) / b.hi};
    pair<T_> q = times(s.hi, s), cube = times(sign * s.hi, q), p = third(T_());
    q.lo += s.hi * s.lo;
    cube.lo += sign * (s.lo * q.hi + s.hi * s.hi * s.lo);
    T_ more = p.lo;
    p = sum_ordered(p.hi, sign * q.hi * arc_series(sign * q.hi));
    p.lo += more;
    pair<T_> tail = times(cube.hi, p), whole = sum_ordered(s.hi, tail.hi);
    return sum_ordered(whole.hi, whole.lo + (s.lo + (tail.lo + cube.lo * p.hi)));
}

// log|z| = exponent ln 2 / 2 + artanh(f / (2 + f))
template <typename T_> __device__ pair<T_> log_pair(T_ x, T_ y)
{
    int exponent;
    pair<T_> f = square_less_one(x, y, &exponent), d = sum_ordered(T_(2), f.hi);
    d.lo += f.lo;
    pair<T_> ln = ln_2(T_()),
             whole = {T_(exponent) * T_(0.5) * ln.hi, T_(exponent) * T_(0.5) * ln.lo};
    return add(whole, arc_pair(f, d, T_(1)));
}

// So many quarters of pi.
template <typename T_> __device__ pair<T_> quarters(int n, T_)
{
    pair<T_> one = angle_of_slope(false, true, T_());
    return {one.hi * T_(n), one.lo * T_(n)};
}

// The angle of z: arctan of the smaller part over the larger is that of one of three directions, of
// slopes 0, c and 1, and the arctangent of at most 0.2.
template <typename T_> __device__ pair<T_> angle_pair(T_ x, T_ y)
{
    T_ m = fmax(fabs(x), fabs(y)), n = fmin(fabs(x), fabs(y));
    pair<T_> by = normalizer(m);
    m = m * by.hi * by.lo;
    n = n * by.hi * by.lo;
    bool low = n<T_(0.2) * m, high = n> T_(0.66) * m;
    T_ c = low ? T_(0) : high ? T_(1) : T_(0.4140625);
    T_ cm = product(c, m), cn = product(c, n);
    pair<T_> a = sum(n, -cm), b = sum(m, cn);
    a.lo -= fma(c, m, -cm);
    b.lo += fma(c, n, -cn);
    pair<T_> t = add(angle_of_slope(low, high, T_()), arc_pair(a, b, T_(-1)));
    if (fabs(y) > fabs(x)) {
        t = less(quarters(2, T_()), t);
    }
    if (signbit(x)) {
        t = less(quarters(4, T_()), t);
    }
    return signbit(y) ? pair<T_>{-t.hi, -t.lo} : t;
}

// a^n by squaring, for |n| <= 8. Out of range it is nothing in particular.
template <typename T_> __device__ complex<T_> pow_whole(complex<T_> a, int n)
{
    complex<T_> power(T_(1));
    bool some = false;
    for (int k = abs(n); k > 0; k >>= 1) {
        if (k & 1) {
            power = some ? complex<T_>(power.re * a.re - power.im * a.im,
                                       power.re * a.im + power.im * a.re)
                         : a;
            some = true;
        }
        a = complex<T_>(a.re * a.re - a.im * a.im, T_(2) * a.re * a.im);
    }
    return n < 0 ? divide_scaled(complex<T_>(T_(1)), power) : power;
}

// Whether the largest part of a power is so far from overflow and underflow that its way there was.
template <typename T_> __device__ bool is_moderate(complex<T_> a)
{
    T_ m = fmax(fabs(a.re), fabs(a.im)), far = T_(sizeof(T_) == 4 ? 1e36 : 1e300);
    return m < far && m * far > T_(1) && !isnan(a.re) && !isnan(a.im);
}

// e^(x + i y). Where x and y come from infinities, this is what exp() makes of them.
template <typename T_> __device__ complex<T_> exp_pair(pair<T_> x, pair<T_> y)
{
    T_ s, c;
    sincos(y.hi, &s, &c);
    T_ cos_y = c - s * y.lo, sin_y = s == T_(0) ? s : s + c * y.lo;
    if (isinf(x.hi) && !isfinite(y.hi)) {
        cos_y = T_(1);
        sin_y = x.hi > T_(0) ? T_(NAN) : T_(0);
    }
    return exp_times(x.hi, cos_y + cos_y * x.lo, sin_y + sin_y * x.lo);
}

// The power of 0.
template <typename T_> __device__ complex<T_> pow_of_zero(complex<T_> b)
{
    T_ none = T_(NAN);
    return b.re > T_(0) ? complex<T_>() : complex<T_>(b.re < T_(0) ? T_(INFINITY) : none, none);
}

// Out of line, because it is long.
template <typename T_> __device__ __noinline__ complex<T_> pow_of(complex<T_> a, complex<T_> b)
{
    if (b.im == T_(0) && fabs(b.re) <= T_(8) && b.re == rint(b.re)) {
        complex<T_> power = pow_whole(a, (int)b.re);
        if (is_moderate(power) || b.re == T_(0)) {
            return b.re == T_(0) ? complex<T_>(T_(1)) : power;
        }
    }
    if (b.re == T_(1) && b.im == T_(0)) {
        return a;
    }
    if (a.re == T_(0) && a.im == T_(0)) {
        return pow_of_zero(b);
    }
    bool infinite = isinf(a.re) || isinf(a.im), none = isnan(a.re) || isnan(a.im);
    complex<T_> z = infinite ? corner(a) : none ? complex<T_>(T_(1)) : a;
    pair<T_> l = log_pair(z.re, z.im), t = angle_pair(z.re, z.im);
    if (infinite || none) {
        l.hi = infinite ? T_(INFINITY) : T_(NAN);
        t.hi = none ? T_(NAN) : t.hi;
    }
    bool real = b.im == T_(0);
    pair<T_> x = times(b.re, l), y = times(b.re, t);
    if (!real) {
        x = less(x, times(b.im, t));
        y = add(y, times(b.im, l));
    }
    if (!(isfinite(x.hi) && isfinite(y.hi))) { /* without the errors, which are NaN */
        x = {real ? b.re * l.hi : b.re * l.hi - b.im * t.hi, T_(0)};
        y = {!real           ? b.re * t.hi + b.im * l.hi
             : t.hi == T_(0) ? t.hi * copysign(T_(1), b.re) /* for an infinite exponent too */
                             : b.re * t.hi,
             T_(0)};
    }
    return exp_pair(x, y);
}

} // namespace quern

template <typename A_, typename B_, typename C_ = quern::sum_type<A_, B_>>
__device__ complex<C_> pow(const complex<A_> &a, const complex<B_> &b)
{
    return quern::pow_of(complex<C_>(a), complex<C_>(b));
}
template <typename A_, typename B_, typename R_ = typename quern::real_number<B_>::type,
          typename C_ = quern::sum_type<A_, R_>>
__device__ complex<C_> pow(const complex<A_> &a, const B_ &b)
{
    return quern::pow_of(complex<C_>(a), complex<C_>((C_)b));
}
template <typename A_, typename B_, typename R_ = typename quern::real_number<A_>::type,
          typename C_ = quern::sum_type<R_, B_>>
__device__ complex<C_> pow(const A_ &a, const complex<B_> &b)
{
    return quern::pow_of(complex<C_>((C_)a), complex<C_>(b));
}
