// SPDX-License-Identifier: MIT
//
// complex_pow: powers of complex numbers. In: complex and real numbers of any types, one of the two
// complex. Out: complex of the wider type. a^b = exp(b log a) multiplies the error of log a by what
// may be hundreds, so that log a and b log a are computed with more bits than the type has: as
// doubles for floats where the GPU is fast at these, else as pairs of numbers. What is not ordinary
// (0, infinite, NaN, far beyond overflow) shows in b log a, so that ordinary numbers pay one test.
// Small whole exponents are products, exact where these are.
//
// With |a|^2 = 2^k (1 + f), log|a| = k ln 2 / 2 + artanh(f / (2 + f)). The angle of a is so many
// quarters of pi, plus or minus an arctangent of at most 0.21 (0.42 as a double). The polynomials
// meet their functions at the Chebyshev nodes of the interval.
#pragma once
#include <quern/complex_log.cuh>

// Whether double is half as fast as float. It is on the large GPU of each generation; the others
// have a 32nd or a 64th.
#ifndef QUERN_FAST_DOUBLE
#define QUERN_FAST_DOUBLE                                                                          \
    (__CUDA_ARCH__ % 100 == 0 && __CUDA_ARCH__ >= 600 && __CUDA_ARCH__ <= 1000)
#endif

namespace quern
{

// ---- numbers: what either type has of its own -----------------------------------------------

template <typename T_> struct power_constants;
template <> struct power_constants<float> {
    /* 1/5 + q/7 + q^2/9 + ... for q <= 0.0295, and with alternating signs for q <= 0.0444 */
    static constexpr float artanh[] = {0.1999999995f, 0.1428576623f, 0.1110234471f, 0.09561215199f};
    static constexpr float arctan[] = {0.1999999978f, -0.1428555806f, 0.1109340427f,
                                       -0.08442370204f};
    /* e^r for |r| <= ln(2) / 2; (sin r) / r and cos r, of r^2, for |r| <= pi/4 */
    static constexpr float exp[] = {
        1.0f, 1.0f, 0.5f, 0.1666657699f, 0.04166655462f, 0.008363179053f, 0.001392618359f};
    static constexpr float sine[] = {1.0f, -0.1666666466f, 0.008332748038f, -0.0001958784052f};
    static constexpr float cosine[] = {1.0f, -0.5f, 0.04166666466f, -0.00138883028f,
                                       2.454789162e-5f};
    /* numbers in two parts: of ln 2, pi/4 and arctan 0.4140625 the first is so short that its
     * products with exponents, and sums of a few, are exact */
    static constexpr float third[] = {0.333333343f, -9.93410776e-9f};
    static constexpr float ln_2[] = {0.693115234375f, 3.19461849453094e-5f};
    static constexpr float quarter_pi[] = {0.785398244858f, -8.146033978e-8f};
    static constexpr float middle[] = {0.392570018768f, 1.16243518e-7f};
    static constexpr float half_pi[] = {1.57079637f, -4.37113883e-8f};
    static constexpr float inverse_2_pi[] = {0.159154937f, 6.42063314e-9f};
    /* makes a sum whole, whose last bits are that number */
    static constexpr float rounder = 12582912.0f;
    /* of b log a: beyond x overflow is certain, and beyond y a turn has few bits left */
    static constexpr float x_limit = 138.0f, y_limit = 1048576.0f;
};
template <> struct power_constants<double> {
    /* the last ones have no low bits, so that an instruction has room for them */
    static constexpr double artanh[] = {
        0.19999999999999998, 0.1428571428571522,  0.11111111110668374, 0.09090909187031161,
        0.07692296349018876, 0.06667435169219971, 0.05852702260017395, 0.058628857135772705};
    static constexpr double arctan[] = {
        0.19999999999999993, -0.1428571428570428,  0.1111111110762145,  -0.09090908548799083,
        0.07692263289613618, -0.06664609909057617, 0.05828031897544861, -0.04493117332458496};
    static constexpr double exp[] = {1.0,
                                     1.0,
                                     0.5,
                                     0.1666666666666666,
                                     0.041666666666642656,
                                     0.008333333333334149,
                                     0.0013888888908835028,
                                     0.00019841269856783202,
                                     2.480153428992829e-05,
                                     2.755727109615691e-06,
                                     2.7613918973656837e-07,
                                     2.5100476364059432e-08};
    static constexpr double sine[] = {1.0,
                                      -0.16666666666666663,
                                      0.008333333333329886,
                                      -0.00019841269835895798,
                                      2.7557315877857667e-06,
                                      -2.5051113389588754e-08,
                                      1.5918100171319338e-10};
    static constexpr double cosine[] = {1.0,
                                        -0.5,
                                        0.041666666666666664,
                                        -0.0013888888888886662,
                                        2.480158729827618e-05,
                                        -2.7557317151250574e-07,
                                        2.087613637513641e-09,
                                        -1.1382617071120649e-11};
    static constexpr double third[] = {0.3333333333333333, 1.850371707708594e-17};
    static constexpr double ln_2[] = {0.6931471805592082091607, 7.37100256516779890183e-13};
    static constexpr double quarter_pi[] = {0.785398163397448279, 3.0616169978683829e-17};
    static constexpr double middle[] = {0.39257013501182846937, 1.2579203623078306e-16};
    static constexpr double half_pi[] = {1.5707963267948966, 6.1232339957367659e-17};
    static constexpr double inverse_2_pi[] = {0.15915494309189535, -9.8393383375912435e-18};
    static constexpr double rounder = 6755399441055744.0;
    static constexpr double x_limit = 1400.0, y_limit = 1073741824.0;
};

// The whole number in a sum with `rounder`, and 2^k for a normal one.
__device__ inline int whole_of(float sum)
{
    return __float_as_int(sum) - __float_as_int(power_constants<float>::rounder);
}
__device__ inline int whole_of(double sum)
{
    return __double2loint(sum);
}
__device__ inline float power_of_2(int k, float)
{
    return __int_as_float((k + 127) << 23);
}
__device__ inline double power_of_2(int k, double)
{
    return __hiloint2double((k + 1023) << 20, 0);
}

// ---- log a and b log a in pairs -------------------------------------------------------------

// a / b. The approximate quotient is mended by what it leaves of a.
template <typename T_> __device__ pair<T_> quotient(pair<T_> a, pair<T_> b)
{
    T_ inverse = inverse_of(b.hi), t = product(a.hi, inverse);
    return {t, (fma(-t, b.hi, a.hi) + fma(-t, b.lo, a.lo)) * inverse};
}

// s + s^3 (third + s^2 (c[0] + s^2 (c[1] + ...))) for a small s: its artanh or arctangent.
template <typename T_, int N_>
__device__ pair<T_> arc_pair(pair<T_> s, pair<T_> third, const T_ (&c)[N_])
{
    T_ q = product(s.hi, s.hi), q_lo = fma(s.hi + s.hi, s.lo, fma(s.hi, s.hi, -q));
    T_ more = product(q, polynomial(c, q)), slope = third.hi + more;
    T_ slope_lo = (third.hi - slope) + more + third.lo, r = product(q, slope);
    T_ r_lo = fma(q_lo, slope, fma(q, slope_lo, fma(q, slope, -r))), cube = product(s.hi, r);
    T_ cube_lo = fma(s.lo, r, fma(s.hi, r_lo, fma(s.hi, r, -cube))), whole = s.hi + cube;
    return {whole, (s.hi - whole) + cube + (cube_lo + s.lo)};
}

// log|a|, m being the larger part of an ordinary a and n the smaller one, and `more` units. Where
// |a| is near 1 the error is small beside the angle alone; for log() log_of() does better.
template <typename T_> __device__ pair<T_> log_pair(T_ m, T_ n, T_ more)
{
    typedef power_constants<T_> C;
    const T_ unit = T_(0.5) / log_constants<T_>::units;
    square<T_> z = square_of(m, n);
    pair<T_> f = sum(z.a, z.b), third = {C::third[0], C::third[1]};
    f.lo = fma(z.u + z.v, z.half, f.lo);
    T_ d = T_(2) + f.hi, e = more + z.exponent;
    pair<T_> s = quotient(f, pair<T_>{d, (T_(2) - d) + f.hi + f.lo});
    s = arc_pair(s, third, C::artanh);
    pair<T_> whole = sum_ordered(e * (unit * C::ln_2[0]), s.hi);
    return sum_ordered(whole.hi, whole.lo + fma(e, unit * C::ln_2[1], s.lo));
}

// How many quarters of pi the angle has, to which that of m + n i is added; or subtracted, if
// `steep` is not `left`. Of the latter a quarter is taken away if n is `near` m.
__device__ inline int quarters(bool near, bool steep, bool left)
{
    int count = steep ? 2 - near : (int)near;
    return left ? 4 - count : count;
}

// The angle of a without its sign: that of one of three directions, of slopes 0, c and 1, and what
// remains.
template <typename T_> __device__ pair<T_> angle_pair(T_ m, T_ n, bool steep, bool left)
{
    typedef power_constants<T_> C;
    bool low = is_above(T_(0.21) * m, n), near = is_above(n, T_(0.66) * m);
    T_ c = low ? T_(0) : near ? T_(1) : T_(0.4140625), cm = product(c, m), b = fma(c, n, m);
    pair<T_> s = quotient(pair<T_>{n - cm, fma(-c, m, cm)}, /* n - cm is exact */
                          pair<T_>{b, fma(c, n, m - b)});
    s = arc_pair(s, pair<T_>{-C::third[0], -C::third[1]}, C::arctan);
    T_ sign = steep != left ? T_(-1) : T_(1), mid = low || near ? T_(0) : sign;
    T_ k = T_(quarters(near, steep, left));
    T_ base = fma(mid, C::middle[0], k * C::quarter_pi[0]); /* exact */
    T_ rest = fma(mid, C::middle[1], k * C::quarter_pi[1]), t = fma(sign, s.hi, base);
    return {t, fma(sign, s.hi, base - t) + fma(sign, s.lo, rest)};
}

// log a
template <typename T_> __device__ void log_parts(complex<T_> a, pair<T_> *l, pair<T_> *t)
{
    T_ more = T_(0);
    if (!is_ordinary(a)) {
        more = scale(&a, fmax(fabs(a.re), fabs(a.im)));
    }
    bool steep;
    pair<T_> p = ordered(a.re, a.im, &steep);
    *l = log_pair(p.hi, p.lo, more);
    *t = angle_pair(p.hi, p.lo, steep, signbit(a.re));
    *t = {turned(t->hi, high_bits(a.im)), turned(t->lo, high_bits(a.im))};
}

// a p + b q
template <typename T_> __device__ pair<T_> add_products(T_ a, pair<T_> p, T_ b, pair<T_> q)
{
    T_ u = product(a, p.hi), v = product(b, q.hi);
    pair<T_> s = sum(u, v);
    T_ u_lo = fma(a, p.lo, fma(a, p.hi, -u)), v_lo = fma(b, q.lo, fma(b, q.hi, -v));
    return {s.hi, s.lo + (u_lo + v_lo)};
}
// a p
template <typename T_> __device__ pair<T_> times(T_ a, pair<T_> p)
{
    T_ u = product(a, p.hi);
    return {u, fma(a, p.lo, fma(a, p.hi, -u))};
}

template <typename T_> __device__ T_ high_part(pair<T_> a)
{
    return a.hi;
}

// Whether |y| is below the limit and not 0.
template <typename T_> __device__ bool is_turn(T_ y, T_ limit)
{
    return (unsigned)(high_bits(size_of(y)) - 1) < (unsigned)(high_bits(limit) - 1);
}
template <typename T_> __device__ bool is_ordinary(pair<T_> x, pair<T_> y)
{
    typedef power_constants<T_> C;
    return is_above(C::x_limit, size_of(x.hi)) && is_turn(y.hi, C::y_limit);
}

// What remains of x / step beside the nearest whole number, *n, times step.
template <typename T_>
__device__ T_ remainder_of(pair<T_> x, T_ inverse, const T_ (&step)[2], int *n)
{
    T_ k = fma(x.hi, inverse, power_constants<T_>::rounder);
    *n = whole_of(k);
    k = -(k - power_constants<T_>::rounder); /* so that -0 stays one */
    T_ r = fma(k, step[0], x.hi), lo = fma(k, step[1], x.lo);
    return lo == T_(0) ? r : r + lo;
}

// x / (2 pi) less a whole number, times 2 pi: within a turn or two.
template <typename T_> __device__ pair<T_> turned_back(pair<T_> x)
{
    typedef power_constants<T_> C;
    T_ p = product(x.hi, C::inverse_2_pi[0]);
    T_ lo = fma(x.hi, C::inverse_2_pi[0], -p) +
            fma(x.hi, C::inverse_2_pi[1], x.lo * C::inverse_2_pi[0]);
    return {(p - rint(p) + (lo - rint(lo))) * (T_(4) * C::half_pi[0]), T_(0)};
}

// ---- the same in doubles for floats, with 2^-35 of error ------------------------------------

__device__ inline double rough_quotient(double a, double b)
{
    double r = rough_inverse(b);
    return a * fma(r, fma(-b, r, 1.0), r);
}

__device__ inline double log_wide(double m, double n)
{
    const double series[] = {0.33333333276762681, 0.20000061316849391, 0.14275365422386903,
                             0.11666456402184321};
    double mm = m * m, w = fma(n, n, mm);
    int exponent = (__double2hiint(w) - 0x3fe6a09e) & 0xfff00000; /* times 2^20, of w sqrt(2) */
    double half = __hiloint2double(0x3ff00000 - exponent, 0);
    double f = fma(n * half, n, fma(mm, half, -1.0)), s = rough_quotient(f, 2.0 + f), q = s * s;
    s = fma(s * q, polynomial(series, q), s);
    return fma((double)exponent, 3.30518331794712691e-7, s); /* ln 2 / 2^21 */
}

__device__ inline double angle_wide(double m, double n, bool near, bool steep, bool left)
{
    const double series[] = {-0.33333333331424335, 0.19999998909350557,   -0.1428561189968359,
                             0.1110747813585412,   -0.090287723288353824, 0.071341271237666298,
                             -0.04040695584867371};
    double c = near ? 1.0 : 0.0, s = rough_quotient(fma(-c, m, n), fma(c, n, m)), q = s * s;
    s = fma(s * q, polynomial(series, q), s);
    return fma(steep != left ? -1.0 : 1.0, s, quarters(near, steep, left) * 0.78539816339744828);
}

__device__ inline void log_parts(complex<float> a, double *l, double *t)
{
    float x = fabs(a.re), y = fabs(a.im);
    bool steep = y > x;
    float m = steep ? y : x, n = steep ? x : y;
    *l = log_wide(m, n);
    *t = turned(angle_wide(m, n, n > 0.41421356f * m, steep, signbit(a.re)), high_bits(a.im));
}

__device__ inline double add_products(double a, double p, double b, double q)
{
    return fma(a, p, b * q);
}
__device__ inline double times(double a, double p)
{
    return a * p;
}

__device__ inline float high_part(double a)
{
    return (float)a;
}

__device__ inline bool is_ordinary(double x, double y)
{
    return is_above((double)power_constants<float>::x_limit, size_of(x)) &&
           is_turn(y, power_constants<double>::y_limit);
}

__device__ inline float remainder_of(double x, float inverse, const float (&step)[2], int *n)
{
    double k = fma(x, (double)inverse, power_constants<double>::rounder);
    *n = whole_of(k);
    return (float)fma(-(k - power_constants<double>::rounder), (double)step[0] + step[1], x);
}

__device__ inline double turned_back(double x)
{
    return turned_back(pair<double>{x, 0.0}).hi;
}

// ---- powers ---------------------------------------------------------------------------------

// As what log a and b log a are computed.
template <typename T_> struct power_parts {
    typedef pair<T_> type;
    typedef T_ factor;
    static __device__ type of(T_ v)
    {
        return {v, T_(0)};
    }
};
#if QUERN_FAST_DOUBLE
template <> struct power_parts<float> {
    typedef double type, factor;
    static __device__ type of(float v)
    {
        return v;
    }
};
#endif

// Whether a^n for 2 <= |n| <= 8 is far from overflow and underflow, so that its way there was too;
// then *power is a^n, by squaring.
template <typename T_> __device__ bool pow_whole(complex<T_> a, int n, complex<T_> *power)
{
    complex<T_> z = a;
    for (int k = abs(n) - 1; k > 0; k >>= 1) {
        if (k & 1) {
            z = complex<T_>(z.re * a.re - z.im * a.im, z.re * a.im + z.im * a.re);
        }
        a = complex<T_>(a.re * a.re - a.im * a.im, T_(2) * a.re * a.im);
    }
    T_ size = fabs(z.re) + fabs(z.im), far = T_(sizeof(T_) == 4 ? 1e36 : 1e300);
    if (n < 0) {
        T_ scale = inverse_power(size), u = z.re * scale, v = z.im * scale;
        T_ inverse = inverse_of(u * u + v * v) * scale;
        z = complex<T_>(u * inverse, -v * inverse);
    }
    *power = z;
    return size < far && size * far > T_(1);
}

// e^(x + i y), with the power of 2 in two factors, of which the last may overflow.
template <typename T_, typename P_> __device__ complex<T_> exp_parts(P_ x, P_ y)
{
    typedef power_constants<T_> C;
    int k, n;
    T_ u = remainder_of(x, T_(1.44269504088896341), C::ln_2, &k);
    T_ v = remainder_of(y, T_(0.636619772367581343), C::half_pi, &n), q = v * v;
    T_ s = v * polynomial(C::sine, q), c = polynomial(C::cosine, q);
    T_ re = n & 1 ? s : c, im = n & 1 ? c : s, e = polynomial(C::exp, u) * power_of_2(k >> 1, T_());
    T_ rest = power_of_2(k - (k >> 1), T_());
    return complex<T_>(e * turned(re, (n + 1) << 30) * rest, e * turned(im, n << 30) * rest);
}

// Where b log a, which is x + i y, is not ordinary: makes it so, or else puts the power itself into
// *power and returns true. t is the angle of a.
template <typename T_, typename P_>
__device__ bool far_power(complex<T_> a, complex<T_> b, T_ t, P_ *x, P_ *y, complex<T_> *power)
{
    typedef power_parts<T_> parts;
    T_ re = high_part(*x), im = high_part(*y), limit = power_constants<T_>::x_limit, none = T_(NAN);
    bool real = b.im == T_(0);
    if (a.re == T_(0) && a.im == T_(0)) {
        T_ part = b.re < T_(0) ? T_(INFINITY) : none;
        *power = b.re > T_(0) ? complex<T_>() : complex<T_>(part, none);
        return true;
    }
    if (isinf(a.re) || isinf(a.im)) { /* the angle is that of a corner or a side of the square */
        int left = a.re < T_(0), side = isinf(a.im) ? 1 + 2 * left : 4 * left;
        t = T_(isinf(a.re) ? side : 2) * T_(0.785398163397448309616);
        t = isnan(a.re) || isnan(a.im) ? T_(NAN) : copysign(t, a.im);
        re = real ? b.re * T_(INFINITY) : b.re * T_(INFINITY) - b.im * t;
        im = real ? b.re * t : b.re * t + b.im * T_(INFINITY);
        *y = parts::of(im);
    }
    if (real && t == T_(0)) {
        im = t * copysign(T_(1), b.re); /* for an infinite exponent too */
        *y = parts::of(im);
    }
    if (isnan(re) || !isfinite(im)) {
        *power = re == -T_(INFINITY) ? complex<T_>()
                                     : complex<T_>(isinf(re) ? re : none, im == T_(0) ? im : none);
        return true;
    }
    if (fabs(re) >= limit) {
        *x = parts::of(copysign(limit, re)); /* which is enough */
    }
    if (im != T_(0)) {
        *y = turned_back(*y);
    }
    return false;
}

// Out of line: of complex64 this is 3 % faster on an H200, and compiles sooner.
template <typename T_> __device__ __noinline__ complex<T_> pow_of(complex<T_> a, complex<T_> b)
{
    typedef power_parts<T_> parts;
    complex<T_> power;
    bool real = b.im == T_(0);
    if (real && fabs(b.re) <= T_(8) && b.re == rint(b.re)) {
        if (b.re == T_(0) || b.re == T_(1)) {
            return b.re == T_(0) ? complex<T_>(T_(1)) : a;
        }
        if (pow_whole(a, (int)b.re, &power)) {
            return power;
        }
    }
    typename parts::type l, t, x, y;
    typename parts::factor u = b.re, v = b.im;
    log_parts(a, &l, &t);
    x = add_products(u, l, -v, t);
    y = add_products(u, t, v, l);
    if (!is_ordinary(x, y)) {
        if (real) {
            y = times(u, t); /* whose sign counts where it is 0 */
        }
        if (far_power(a, b, high_part(t), &x, &y, &power)) {
            return power;
        }
    }
    return exp_parts<T_>(x, y);
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
