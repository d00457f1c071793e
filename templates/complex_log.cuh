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
    return __fmul_rn(a, b);
}
__device__ inline double product(double a, double b)
{
    return __dmul_rn(a, b);
}

// A number as the sum of two, of which the second is below half an ulp of the first.
template <typename T_> struct alignas(2 * sizeof(T_)) pair {
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

// The polynomials meet their functions at the Chebyshev nodes of the interval.
template <typename T_, int = 0> struct log_constants; // so that only what is used is emitted
template <int K_> struct log_constants<float, K_> {
    /* 1/3 + q/5 + q^2/7 + ... for q <= 0.0295, and with alternating signs for q <= 1 */
    static constexpr float artanh[] = {0.3333334258f, 0.1999436592f, 0.1479107947f};
    static constexpr float arctan[] = {-0.3333333173f,  0.1999973933f,  -0.1427856875f,
                                       0.1103376412f,   -0.0865688043f, 0.06250169445f,
                                       -0.03587153898f, 0.01350777143f, -0.002386997317f};
    /* high bits: of 1, of sqrt(1/2), of the exponent, of the least and the largest ordinary size */
    static constexpr int one = 0x3f800000, root = 0x3f3504f3, exponent = 0xff800000;
    static constexpr int least = 0x21800000, most = 0x5d800000;       /* 2^-60, 2^60 */
    static constexpr float unit = 4.13147915e-8f, units = 8388608.0f; /* ln 2 / 2^24, 2^23 */
};
template <int K_> struct log_constants<double, K_> {
    static constexpr double artanh[] = {
        0.33333333333333349,  0.19999999999949096,  0.14285714313285102, 0.11111105518908294,
        0.090914480917415433, 0.076657436179328666, 0.073096717267563076};
    /* for q <= 0.0655 */
    static constexpr double arctan[] = {
        -0.3333333333333329,   0.19999999999915611,  -0.14285714258594546,  0.11111107783596597,
        -0.090907079767726099, 0.076856736637396117, -0.065442542708382006, 0.046779811190298481};
    static constexpr int one = 0x3ff00000, root = 0x3fe6a09e, exponent = 0xfff00000;
    static constexpr int least = 0x20b00000, most = 0x5f300000; /* 2^-500, 2^500 */
    static constexpr double unit = 3.30518331794712691e-7, units = 1048576.0;
};

// c[0] + q c[1] + ...
template <typename T_, int N_> __device__ T_ polynomial(const T_ (&c)[N_], T_ q)
{
    T_ p = c[N_ - 1];
#pragma unroll
    for (int k = N_ - 2; k >= 0; k--) {
        p = fma(p, q, c[k]);
    }
    return p;
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
    double r = rough_inverse(b), e = fma(-b, r, 1.0);
    return fma(r, fma(e, e, e), r); /* r (1 + e + e^2) */
}

// Signs and comparisons by the bits of a double: they take half the time of its arithmetic.
__device__ inline int high_bits(float v)
{
    return __float_as_int(v);
}
__device__ inline int high_bits(double v)
{
    return __double2hiint(v);
}
__device__ inline float with_high_bits(int bits, float)
{
    return __int_as_float(bits);
}
__device__ inline double with_high_bits(int bits, double v)
{
    return __hiloint2double(bits, __double2loint(v));
}
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

// m^2 + n^2 = 2^exponent (1 + a + b + (u + v) half), where a + b is between sqrt(1/2) - 1 and
// sqrt(2)
// - 1; u and v are the rounding errors of the squares. a and b, which are differences from 1 and 0
// or from 3/4 and 1/4, are exact, and so is their sum if it cancels. The exponent is in units.
template <typename T_> struct square {
    T_ a, b, u, v, half, exponent;
};
template <typename T_> __device__ square<T_> square_of(T_ m, T_ n)
{
    typedef log_constants<T_> C;
    T_ mm = product(m, m), nn = product(n, n);
    int e = (high_bits(mm + nn) - C::root) & C::exponent;
    T_ half = with_high_bits(C::one - e, T_(0));
    T_ c = high_bits(nn) - e > high_bits(T_(0.125)) ? T_(0.25) : T_(0);
    return {
        fma(mm, half, c - T_(1)), fma(nn, half, -c), fma(m, m, -mm), fma(n, n, -nn), half, T_(e)};
}

// log|z| of an ordinary z, whose larger part is m and smaller one n, and `more` units. With |z|^2 =
// 2^e (1 + f), log(1 + f) / 2 is artanh(s) for s = f / (2 + f).
template <typename T_> __device__ T_ log_of(T_ m, T_ n, T_ more)
{
    typedef log_constants<T_> C;
    square<T_> z = square_of(m, n);
    pair<T_> rest = sum_ordered(z.u, z.v);
    T_ f = fma(rest.lo, z.half, fma(rest.hi, z.half, z.a + z.b));
    T_ s = f * inverse_of(T_(2) + f), q = s * s, g = T_(0.5) * f;
    return fma(more + z.exponent, C::unit, fma(s, fma(q, polynomial(C::artanh, q), -g), g));
}

// The arctangent of n / m, for 0 <= n <= m and an ordinary m; as a double the angle of one of three
// directions, of slopes 0, c and 1, and what remains.
__device__ inline float arc_tangent(float m, float n)
{
    float inverse = inverse_of(m), s = n * inverse;
    s = fma(fma(-s, m, n), inverse, s);
    float q = s * s;
    return fma(s * q, polynomial(log_constants<float>::arctan, q), s);
}
__device__ inline double arc_tangent(double m, double n)
{
    bool low = is_above(0.2553 * m, n), near = is_above(n, 0.6956 * m);
    double c = low ? 0.0 : near ? 1.0 : 0.45824284853443237;
    double base = low ? 0.0 : near ? 0.78539816339744831 : 0.4296875;
    double a = fma(-c, m, n), b = fma(c, n, m), inverse = inverse_of(b), s = a * inverse;
    s = fma(fma(-s, b, a), inverse, s);
    double q = s * s;
    return base + fma(s * q, polynomial(log_constants<double>::arctan, q), s);
}

// The larger part of x + i y and the smaller one, without signs.
template <typename T_> __device__ pair<T_> ordered(T_ x, T_ y, bool *steep)
{
    x = size_of(x);
    y = size_of(y);
    *steep = is_above(y, x);
    return *steep ? pair<T_>{y, x} : pair<T_>{x, y};
}

// atan2(y, x), where the larger of the two is ordinary.
template <typename T_> __device__ T_ angle_of(T_ x, T_ y)
{
    bool steep, left = signbit(x);
    pair<T_> p = ordered(x, y, &steep);
    T_ t = arc_tangent(p.hi, p.lo), k = steep ? T_(1) : left ? T_(2) : T_(0);
    t = turned(t, high_bits(x) ^ -(int)steep);
    return turned(fma(k, T_(1.57079632679489661923), t), high_bits(y));
}

template <typename T_> __device__ bool is_ordinary(complex<T_> a)
{
    typedef log_constants<T_> C;
    int size = max(high_bits(size_of(a.re)), high_bits(size_of(a.im)));
    return (unsigned)(size - C::least) < (unsigned)(C::most - C::least);
}

// Brings *a near 1, whose larger part is m > 0. Out: how many units its logarithm lost.
template <typename T_> __device__ T_ scale(complex<T_> *a, T_ m)
{
    pair<T_> by = normalizer(m);
    *a = complex<T_>(a->re * by.hi * by.lo, a->im * by.hi * by.lo);
    return T_(2 * (inverse_exponent(by.hi) + inverse_exponent(by.lo))) * log_constants<T_>::units;
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
    pair<T_> a = sum(x + x, yy), b = sum(a.hi, xx);
    pair<T_> c = sum(fma(x, x, -xx), fma(y, y, -yy));
    pair<T_> d = sum(b.hi, a.lo), e = sum(d.hi, c.hi);
    T_ l = T_(0.5) * log1p(e.hi + (e.lo + (d.lo + (b.lo + c.lo))));
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
    quern::pair<T_> p = quern::ordered(b.re, b.im, &steep);
    return complex<T_>(quern::log_of(p.hi, p.lo, more), quern::angle_of(b.re, b.im));
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
