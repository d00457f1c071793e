// SPDX-License-Identifier: MIT
//
// complex_log: logarithms of complex numbers. In: complex<T_> of float or double. Out: each part
// within a few ulp, also where the magnitude is near 1 and its logarithm near 0: the square of the
// magnitude less 1 is summed without loss. What is not ordinary (0, infinite, NaN, tiny or huge) is
// made so first, so that ordinary numbers pay one test.
#pragma once
#include <quern/complex.cuh>

namespace quern
{

// Products that the compiler does not join with a sum: their rounding errors are needed.
__device__ inline float product(float a, float b)
{
    float r;
    asm("mul.rn.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
    return r;
}
__device__ inline double product(double a, double b)
{
    double r;
    asm("mul.rn.f64 %0, %1, %2;" : "=d"(r) : "d"(a), "d"(b));
    return r;
}

// a b + c, rounded once.
__device__ inline float fused(float a, float b, float c)
{
    float r;
    asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(r) : "f"(a), "f"(b), "f"(c));
    return r;
}
__device__ inline double fused(double a, double b, double c)
{
    double r;
    asm("fma.rn.f64 %0, %1, %2, %3;" : "=d"(r) : "d"(a), "d"(b), "d"(c));
    return r;
}

// 1 / b but for an ulp or two, and but for 2^-19, for a b far from overflow and underflow.
__device__ inline float inverse_of(float b)
{
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(b));
    return r;
}
__device__ inline float rough_inverse(float b)
{
    return inverse_of(b);
}
__device__ inline double rough_inverse(double b)
{
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(b));
    return r;
}
__device__ inline double inverse_of(double b)
{
    double r = rough_inverse(b), e = fused(-b, r, 1.0);
    return fused(r, fused(e, e, e), r); /* r (1 + e + e^2) */
}

// The lower half of the bits of a double, all of those of a float; the nearest whole number.
__device__ inline int last_bits(float v)
{
    return high_bits(v);
}
__device__ inline int last_bits(double v)
{
    int r;
    asm("{.reg .b32 t; mov.b64 {%0, t}, %1;}" : "=r"(r) : "d"(v));
    return r;
}
__device__ inline float nearest(float v)
{
    float r;
    asm("cvt.rni.f32.f32 %0, %1;" : "=f"(r) : "f"(v));
    return r;
}
__device__ inline double nearest(double v)
{
    double r;
    asm("cvt.rni.f64.f64 %0, %1;" : "=d"(r) : "d"(v));
    return r;
}
// Signs and comparisons by the bits of a number: of a double they take half the time of its
// arithmetic.
template <typename T_> __device__ T_ size_of(T_ v)
{
    return with_high_bits(high_bits(v) & 0x7fffffff, v);
}
// v, which is turned about if the highest bit is 1.
template <typename T_> __device__ T_ turned(T_ v, int bits)
{
    return with_high_bits(high_bits(v) ^ (bits & 0x80000000), v);
}
// Whether a > b but for a millionth, for numbers without signs. A NaN is the largest.
template <typename T_> __device__ bool is_above(T_ a, T_ b)
{
    return high_bits(a) > high_bits(b);
}

// (artanh(s) / s - 1) / s^2 of q = s^2 <= 0.0295, and (arctan(s) / s - 1) / s^2 of q <= 1 (0.0655
// for double). The polynomials meet their functions at the Chebyshev nodes of the interval.
__device__ inline float artanh_series(float q)
{
    return fused(fused(0.1479107947f, q, 0.1999436592f), q, 0.3333334258f);
}
__device__ inline double artanh_series(double q)
{
    double p = fused(fused(0.073096717267563076, q, 0.076657436179328666), q, 0.090914480917415433);
    p = fused(fused(p, q, 0.11111105518908294), q, 0.14285714313285102);
    return fused(fused(p, q, 0.19999999999949096), q, 0.33333333333333349);
}
__device__ inline float arctan_series(float q)
{
    float p = fused(fused(-0.002386997317f, q, 0.01350777143f), q, -0.03587153898f);
    p = fused(fused(fused(p, q, 0.06250169445f), q, -0.0865688043f), q, 0.1103376412f);
    return fused(fused(fused(p, q, -0.1427856875f), q, 0.1999973933f), q, -0.3333333173f);
}
__device__ inline double arctan_series(double q)
{
    double p =
        fused(fused(0.046779811190298481, q, -0.065442542708382006), q, 0.076856736637396117);
    p = fused(fused(fused(p, q, -0.090907079767726099), q, 0.11111107783596597), q,
              -0.14285714258594546);
    return fused(fused(p, q, 0.19999999999915611), q, -0.3333333333333329);
}

// A number as the sum of two, of which the second is below half an ulp of the first.
template <typename T_> struct alignas(2 * sizeof(T_)) pair {
    T_ hi, lo;
};

// a + b and, in *lo, what the sum lacks, where the exponent of a is not below that of b, or a is 0
// (T. Dekker, 1971).
template <typename T_> __device__ T_ sum_ordered(T_ a, T_ b, T_ *lo)
{
    T_ s = a + b;
    *lo = b - (s - a);
    return s;
}
// a + b (D. Knuth).
template <typename T_> __device__ T_ sum(T_ a, T_ b, T_ *lo)
{
    T_ s = a + b, t = s - a;
    *lo = (a - (s - t)) + (b - t);
    return s;
}

// log|z| of an ordinary z, whose larger part is m and smaller one n, and `more` units of ln 2 / 2.
// |z|^2 = 2^e (1 + f), and log(1 + f) / 2 is artanh(s) for s = f / (2 + f). 1 + f is between
// sqrt(1/2) and sqrt(2). The squares less 1 and 0 (or 3/4 and 1/4) are exact, and so is their sum
// if it cancels; u and v are the rounding errors of the squares.
template <typename T_> __device__ T_ log_of(T_ m, T_ n, T_ more)
{
    constexpr bool single = sizeof(T_) == 4;
    constexpr int root = single ? 0x3f3504f3 : 0x3fe6a09e;   /* of 1/2 */
    constexpr int eighth = single ? 0x3e000000 : 0x3fc00000; /* of 1/8 */
    T_ mm = product(m, m), nn = product(n, n), u = fused(m, m, -mm), v = fused(n, n, -nn);
    int e = (high_bits(mm + nn) - root) & (single ? 0xff800000 : 0xfff00000);
    T_ half = with_high_bits((single ? 0x3f800000 : 0x3ff00000) - e, T_(0));
    T_ c = high_bits(nn) - e > eighth ? T_(0.25) : T_(0);
    T_ f = fused(mm, half, c - T_(1)) + fused(nn, half, -c), lo;
    u = sum_ordered(u, v, &lo);
    f = fused(lo, half, fused(u, half, f));
    T_ s = f * inverse_of(T_(2) + f), q = s * s, g = T_(0.5) * f;
    T_ unit = T_(single ? 4.13147915e-8 : 3.30518331794712691e-7); /* ln 2 / 2, of 2^23 or 2^20 */
    return fused(more + T_(e), unit, fused(s, fused(q, artanh_series(q), -g), g));
}

// The arctangent of n / m, for 0 <= n <= m and an ordinary m; as a double the angle of one of three
// directions, of slopes 0, c and 1, and what remains.
__device__ inline float arc_tangent(float m, float n)
{
    float inverse = inverse_of(m), s = n * inverse;
    s = fused(fused(-s, m, n), inverse, s);
    float q = s * s;
    return fused(s * q, arctan_series(q), s);
}
__device__ inline double arc_tangent(double m, double n)
{
    bool low = is_above(0.2553 * m, n), near = is_above(n, 0.6956 * m);
    double c = low ? 0.0 : near ? 1.0 : 0.45824284853443237;
    double base = low ? 0.0 : near ? 0.78539816339744831 : 0.4296875;
    double a = fused(-c, m, n), b = fused(c, n, m), inverse = inverse_of(b), s = a * inverse;
    s = fused(fused(-s, b, a), inverse, s);
    double q = s * s;
    return base + fused(s * q, arctan_series(q), s);
}

// The larger part of x + i y and, in *n, the smaller one, without signs.
template <typename T_> __device__ T_ ordered(T_ x, T_ y, T_ *n, bool *steep)
{
    int p = high_bits(x) & 0x7fffffff, q = high_bits(y) & 0x7fffffff;
    x = with_high_bits(p, x);
    y = with_high_bits(q, y);
    *steep = q > p;
    *n = *steep ? x : y;
    return *steep ? y : x;
}

// The angle of x + i y, of which m is the larger part and n the smaller one.
template <typename T_> __device__ T_ angle_of(T_ x, T_ y, T_ m, T_ n, bool steep)
{
    bool left = high_bits(x) < 0;
    T_ t = arc_tangent(m, n), k = steep ? T_(1) : left ? T_(2) : T_(0);
    t = turned(t, high_bits(x) ^ -(int)steep);
    return turned(fused(k, T_(1.57079632679489661923), t), high_bits(y));
}

// Whether the larger part is between 2^-60 and 2^60 (2^-500 and 2^500).
template <typename T_> __device__ bool is_ordinary(complex<T_> a)
{
    constexpr int least = sizeof(T_) == 4 ? 0x21800000 : 0x20b00000;
    constexpr int most = sizeof(T_) == 4 ? 0x5d800000 : 0x5f300000;
    int x = high_bits(a.re) & 0x7fffffff, y = high_bits(a.im) & 0x7fffffff;
    return (unsigned)((x > y ? x : y) - least) < (unsigned)(most - least);
}

// Brings *a, whose larger part is a finite m > 0, near 1, for a subnormal m in two steps. Out: how
// many units its logarithm lost.
template <typename T_> __device__ T_ scale(complex<T_> *a, T_ m)
{
    constexpr bool single = sizeof(T_) == 4;
    bool small = high_bits(m) < (single ? 0x00800000 : 0x00100000);
    T_ up = small ? T_(18014398509481984.0) : T_(1), by = inverse_power(m * up);
    a->re = a->re * up * by;
    a->im = a->im * up * by;
    int bits = (single ? 0x3f800000 : 0x3ff00000) - high_bits(by);
    return T_(2) * T_(bits - (small ? 54 << (single ? 23 : 20) : 0));
}

// Makes *a, which is no NaN, ordinary, with the same angle. Out: how many units its logarithm lost.
template <typename T_> __device__ T_ make_ordinary(complex<T_> *a)
{
    T_ m = fmax(fabs(a->re), fabs(a->im));
    if (m == T_(INFINITY)) {
        *a = corner(*a);
        return m;
    }
    if (m == T_(0)) {
        a->re = copysign(T_(1), a->re);
        return -T_(INFINITY);
    }
    return scale(a, m);
}

// log|1 + z| where |z| < 1/2: 2x + x^2 + y^2, summed without loss.
template <typename T_> __device__ T_ log_near_one(T_ x, T_ y)
{
    T_ xx = product(x, x), yy = product(y, y);
    T_ a_lo, b_lo, c_lo, d_lo, e_lo, a = sum(x + x, yy, &a_lo), b = sum(a, xx, &b_lo);
    T_ c = sum(fused(x, x, -xx), fused(y, y, -yy), &c_lo);
    T_ d = sum(b, a_lo, &d_lo), e = sum(d, c, &e_lo);
    T_ l = T_(0.5) * log1p(e + (e_lo + (d_lo + (b_lo + c_lo))));
    return l == T_(0) && y == T_(0) ? x : l;
}

} // namespace quern

template <typename T_> __device__ complex<T_> log(const complex<T_> &a)
{
    T_ more = T_(0);
    complex<T_> b = a;
    if (!quern::is_ordinary(b)) {
        if (isnan(a.re) || isnan(a.im)) {
            return complex<T_>(isinf(a.re) || isinf(a.im) ? T_(INFINITY) : T_(NAN), T_(NAN));
        }
        more = quern::make_ordinary(&b);
    }
    bool steep;
    T_ n, m = quern::ordered(b.re, b.im, &n, &steep);
    return complex<T_>(quern::log_of(m, n, more), quern::angle_of(b.re, b.im, m, n, steep));
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
    complex<T_> w = log(complex<T_>(T_(1) + a.re, a.im));
    bool near = fabs(a.re) < T_(0.5) && fabs(a.im) < T_(0.5);
    return near ? complex<T_>(quern::log_near_one(a.re, a.im), w.im) : w;
}
