// SPDX-License-Identifier: MIT
//
// complex_pow: powers of complex numbers. In: complex and real numbers of any types, one of the two
// complex. Out: complex of the wider type. a^b = exp(b log a) multiplies the error of log a by what
// may be hundreds, so that log a and b log a are computed with more bits than the type has: as
// doubles for floats where the GPU is fast at these, else as pairs of numbers. What is not ordinary
// (0, infinite, NaN, far beyond overflow) shows in b log a, so that ordinary numbers pay one test.
// Small whole exponents are products, exact where these are.
//
// log a takes two tables: of the logarithms of numbers with few bits, by which |a|^2 is brought
// next to 1, and of the angles of slopes in 16ths, from which that of a is next to nothing. So its
// series are short, and only their first terms need more bits than the type has. The polynomials
// meet their functions at the Chebyshev nodes of the interval.
#pragma once
#include <quern/complex_log.cuh>
#include <quern/complex_pow_tables.cuh>

// Whether double is half as fast as float. It is on the large GPU of each generation; the others
// have a 32nd or a 64th.
#ifndef QUERN_FAST_DOUBLE
#define QUERN_FAST_DOUBLE                                                                          \
    (__CUDA_ARCH__ % 100 == 0 && __CUDA_ARCH__ >= 600 && __CUDA_ARCH__ <= 1000)
#endif
#if QUERN_FAST_DOUBLE
#include <quern/complex_pow_wide.cuh>
#endif

namespace quern
{

// Infinity of the type of a number.
template <typename T_> __device__ T_ infinite(T_)
{
    return with_high_bits(sizeof(T_) == 4 ? 0x7f800000 : 0x7ff00000, T_(0));
}

// ---- log a and b log a in pairs -------------------------------------------------------------

// log|a|, m being the larger part of an ordinary a and n the smaller one, and `more` units. r is
// about 1 / |a|^2 and has so few bits that g = (r |a|^2 - 1) / 2 is exact; log|a| is that of 1 +
// 2g, halved, less that of r from the table. Where |a| is near 1 the error is small beside the
// angle alone; for log() log_of() does better.
template <typename T_> __device__ T_ log_pair(T_ m, T_ n, T_ more, T_ *lo)
{
    constexpr bool single = sizeof(T_) == 4;
    constexpr T_ ln_2_high = T_(single ? 0.693115234375 : 0.6931471805592082091607);
    constexpr T_ ln_2_low = T_(single ? 3.19461849453094e-5 : 7.37100256516779890183e-13);
    constexpr int bit = single ? 23 : 20, shift = bit - 5, one = 1 << bit, mask = -one;
    T_ mm = product(m, m), nn = product(n, n), w = mm + nn;
    T_ w_lo = (mm - w) + nn + (fused(m, m, -mm) + fused(n, n, -nn));
    int bits = (high_bits(rough_inverse(w)) + (1 << (shift - 1)) - one) & -(1 << shift);
    T_ r = with_high_bits(bits, T_(0)), g = fused(r, w, T_(-0.5)), g_lo = r * w_lo;
    T_ q = product(g, g), s = g - q, s_lo = ((g - s) - q) - fused(g, g, -q), rest;
    s_lo = fused(g * q, log_series(g), fused(g_lo, fused(T_(-2), g, T_(1)), s_lo));
    pair<T_> base = power_tables<T_>::logs[bits >> shift & 31];
    T_ e = (more + T_((single ? 0x3f800000 : 0x3ff00000) - one - (bits & mask))) * T_(0.5 / one);
    T_ l = sum_ordered(fused(e, ln_2_high, base.hi), s, &rest);
    *lo = rest + fused(e, ln_2_low, base.lo + s_lo);
    return l;
}

// The angle of a without its sign: of a direction of slope c, which is so many 16ths, and what
// remains, taken from a half turn or a quarter if a is `left` or `steep`. n / m is taken for a
// little less than it is, so that n - c m is exact. The approximate quotient is mended by what it
// leaves.
template <typename T_> __device__ T_ angle_pair(T_ m, T_ n, bool steep, bool left, T_ *lo)
{
    constexpr bool single = sizeof(T_) == 4;
    constexpr T_ half_pi_high = T_(single ? 1.570796 : 1.5707963267948966);
    constexpr T_ half_pi_low = T_(single ? 3.1391648e-7 : 6.1232339957367659e-17);
    const T_ rounder = T_(single ? 12582912.0 : 6755399441055744.0) * T_(0.0625);
    T_ inverse = rough_inverse(m);
    inverse = with_high_bits(high_bits(inverse) - (single ? 8192 : 1024), inverse);
    T_ near = fused(n, inverse, rounder), c = near - rounder, cm = product(c, m),
       b = fused(c, n, m);
    unsigned slope = last_bits(near) - last_bits(rounder);
    pair<T_> base = power_tables<T_>::arcs[slope < 16 ? slope : 16];
    T_ a = n - cm, a_lo = fused(-c, m, cm), b_lo = fused(c, n, m - b);
    inverse = inverse_of(b);
    T_ s = product(a, inverse), s_lo = (fused(-s, b, a) + fused(-s, b_lo, a_lo)) * inverse;
    T_ q = s * s, sign = steep != left ? T_(-1) : T_(1), k = steep ? T_(1) : left ? T_(2) : T_(0);
    s_lo = fused(s * q, arc_series(q), s_lo);
    T_ whole = fused(sign, base.hi, k * half_pi_high); /* exact */
    T_ rest = fused(sign, base.lo, k * half_pi_low), t = fused(sign, s, whole);
    *lo = fused(sign, s, whole - t) + fused(sign, s_lo, rest);
    return t;
}

// log a = l + i t
template <typename T_> __device__ void log_parts(complex<T_> a, T_ *l, T_ *l_lo, T_ *t, T_ *t_lo)
{
    T_ more = T_(0), n, m;
    bool steep;
    if (!is_ordinary(a)) {
        more = scale(&a, ordered(a.re, a.im, &n, &steep));
    }
    m = ordered(a.re, a.im, &n, &steep);
    *l = log_pair(m, n, more, l_lo);
    *t = turned(angle_pair(m, n, steep, high_bits(a.re) < 0, t_lo), high_bits(a.im));
    *t_lo = turned(*t_lo, high_bits(a.im));
}

// a p + b q, p and q being pairs.
template <typename T_> __device__ T_ add_products(T_ a, T_ p, T_ p_lo, T_ b, T_ q, T_ q_lo, T_ *lo)
{
    T_ u = product(a, p), v = product(b, q), rest, s = sum(u, v, &rest);
    *lo = rest + (fused(a, p_lo, fused(a, p, -u)) + fused(b, q_lo, fused(b, q, -v)));
    return s;
}

// x / (2 pi) less a whole number, times 2 pi: within a turn or two.
template <typename T_> __device__ T_ turned_back(T_ x, T_ x_lo)
{
    constexpr bool single = sizeof(T_) == 4;
    constexpr T_ high = single ? 0.159154937f : 0.15915494309189535;
    constexpr T_ low = single ? 6.42063314e-9f : -9.8393383375912435e-18;
    T_ p = product(x, high), lo = fused(x, high, -p) + fused(x, low, x_lo * high);
    return (p - nearest(p) + (lo - nearest(lo))) * T_(6.283185307179586);
}

// e^(x + i y) = 2^k e (cos v + i sin v) i^n, of which k and n are whole numbers.
template <typename T_>
__device__ int exp_parts(T_ x, T_ x_lo, T_ y, T_ y_lo, T_ *e, T_ *s, T_ *c, int *n)
{
    constexpr bool single = sizeof(T_) == 4;
    constexpr T_ ln_2_high = T_(single ? 0.693115234375 : 0.6931471805592082091607);
    constexpr T_ ln_2_low = T_(single ? 3.19461849453094e-5 : 7.37100256516779890183e-13);
    constexpr T_ half_pi_high = T_(single ? 1.570796 : 1.5707963267948966);
    constexpr T_ half_pi_low = T_(single ? 3.1391648e-7 : 6.1232339957367659e-17);
    const T_ rounder = T_(single ? 12582912.0 : 6755399441055744.0);
    T_ by = fused(x + x_lo, T_(1.44269504088896341), rounder);
    T_ turns = fused(y + y_lo, T_(0.636619772367581343), rounder);
    int k = last_bits(by); /* of which the first do not count */
    *n = last_bits(turns);
    by = -(by - rounder);
    turns = -(turns - rounder); /* so that -0 stays one */
    *e = exp_series(fused(by, ln_2_high, x) + fused(by, ln_2_low, x_lo));
    T_ v = fused(turns, half_pi_high, y) + fused(turns, half_pi_low, y_lo), q = v * v;
    *s = v * sine_series(q);
    *c = cosine_series(q);
    return k;
}

// ---- powers ---------------------------------------------------------------------------------

// As what log a and b log a are computed, and the limits of the latter: from x on its exponential
// may overflow, from `most` on it does, also beside the least angle that there is, and from y on a
// turn has few bits left. A radian is so many units.
template <typename T_> struct power_parts {
    typedef T_ type;
    static constexpr T_ x = sizeof(T_) == 4 ? 86 : 700, most = sizeof(T_) == 4 ? 600 : 3000;
    static constexpr T_ y = sizeof(T_) == 4 ? 1048576 : 1073741824, unit = 1;
};
#if QUERN_FAST_DOUBLE
template <> struct power_parts<float> {
    typedef double type;
    static constexpr double x = 124, most = 900, y = 1073741824, unit = 1.4426950408889634;
};
#endif

// What orders numbers by their size, all but a millionth of it, in one instruction.
__device__ inline float rough(float v)
{
    return v;
}
__device__ inline float rough(double v)
{
    return with_high_bits(high_bits(v), 0.0f);
}

// a^n for 2 <= |n| <= 8, by squaring. Whether it is far from overflow and underflow, so that its
// way there was too.
template <typename T_> __device__ bool pow_whole(complex<T_> a, int n, complex<T_> *power)
{
    T_ x = a.re, y = a.im, u = x, v = y, far = T_(sizeof(T_) == 4 ? 1e36 : 1e300), w;
#pragma unroll 1
    for (int k = (n < 0 ? -n : n) - 1; k > 0; k >>= 1) {
        if (k & 1) {
            w = u * x - v * y;
            v = u * y + v * x;
            u = w;
        }
        w = x * x - y * y;
        y = T_(2) * x * y;
        x = w;
    }
    T_ size = size_of(u) + size_of(v);
    if (n < 0) {
        T_ by = inverse_power(size);
        u *= by;
        v *= by;
        by *= inverse_of(u * u + v * v);
        u *= by;
        v *= -by;
    }
    power->re = u;
    power->im = v;
    return size < far && size * far > T_(1);
}

// v 2^k, rounded once: in three steps, as 2^k alone may overflow or underflow.
template <typename T_> __device__ T_ scaled(T_ v, int k)
{
    constexpr int bit = sizeof(T_) == 4 ? 23 : 20, one = sizeof(T_) == 4 ? 127 : 1023;
    constexpr int most = 3 * (one - 3);
    k = k > most ? most : k < -most ? -most : k;
    T_ by = with_high_bits((k / 3 + one) << bit, T_(0));
    return v * by * by * with_high_bits((k - k / 3 * 2 + one) << bit, T_(0));
}

// Where e^x overflows, the part of the power that is small beside the other one may be large, and
// its angle counts, however small it is. So the angle of a is taken from the nearest axis or
// diagonal. If b turns that to an axis, *turns are the quarters to this, and what remains is *y. If
// it is small it is also, in radians, *tiny times *by 2^*lift: their product may underflow.
template <typename T_, typename N_>
__device__ void from_axis(complex<T_> a, complex<T_> b, N_ l, N_ *y, N_ *y_lo, int *turns, T_ *tiny,
                          T_ *by, int *lift)
{
    constexpr int bit = sizeof(T_) == 4 ? 23 : 20, one = sizeof(T_) == 4 ? 127 : 1023;
    constexpr T_ small = T_(sizeof(T_) == 4 ? 0x1p-13 : 0x1p-27);
    constexpr T_ most = T_(sizeof(T_) == 4 ? 0x1.fffffep127 : 0x1.fffffffffffffp1023);
    T_ u = size_of(a.re), v = size_of(a.im), size = u < v ? v : u;
    bool steep = u < v, left = high_bits(a.re) < 0, real = b.im == T_(0);
    T_ p = steep ? -a.re : a.im, q = steep ? a.im : a.re;
    T_ scale = inverse_power(size <= most ? size : most);
    int k = steep ? 2 : left ? 4 : 0; /* eighths of a turn */
    q = (size <= most ? q : turned(most, high_bits(q))) * scale;
    if (size_of(p) > T_(0.5) * size) {
        u *= scale;
        v *= scale;
        p = turned(v - u, high_bits(a.re) ^ high_bits(a.im));
        q = u + v;
        k = left ? 3 : 1;
        scale = T_(1);
    }
    T_ inverse = inverse_of(q) * b.re, slope = p * scale;
    T_ turn = b.re * T_(high_bits(a.im) < 0 ? -k : k) * T_(0.125);
    turn = (turn - nearest(turn)) * T_(4);
    N_ angle = N_(slope * inverse) * power_parts<T_>::unit + b.im * l;
    if (T_((int)turn) == turn && size_of(slope) < small && size_of(angle) < N_(0.5)) {
        T_ rest = real ? p : T_(angle * (1 / power_parts<T_>::unit));
        *tiny = size_of(angle) < N_(small) ? rest : T_(0);
        *by = (real ? inverse : T_(1)) * T_(4);
        *lift = (real ? (high_bits(scale) >> bit) - one : 0) - 2;
        *turns = (int)turn;
        *y = angle;
        *y_lo = angle * N_(0); /* a zero has its sign in both parts */
    }
}

// Where b log a, which is x + i y, is not ordinary: whether that makes the power itself special,
// which is *power then. Else what zeros and infinities make of x + i y. t is the angle of a.
template <typename T_, typename N_>
__device__ bool is_special(complex<T_> a, complex<T_> b, N_ t, N_ *x, N_ *y, N_ *y_lo,
                           complex<T_> *power)
{
    typedef power_parts<T_> parts;
    const T_ big = infinite(T_()), none = with_high_bits(0x7fffffff, T_(0));
    T_ re = (T_)*x, u = size_of(a.re), v = size_of(a.im);
    N_ im = *y;
    bool real = b.im == T_(0), zero = u == T_(0) && v == T_(0), endless = u == big || v == big;
    if (real) {
        im = N_(b.re) * t; /* whose sign counts where it is 0 */
    }
    if (zero) {
        re = b.re * -big;
        im = none;
    } else if (endless) { /* the angle is that of a corner or a side of the square */
        int left = a.re < T_(0), side = v == big ? 1 + 2 * left : 4 * left;
        T_ angle = turned(T_(u == big ? side : 2) * T_(0.785398163397448309616), high_bits(a.im));
        t = a.re != a.re || a.im != a.im ? none : angle;
        re = real ? b.re * big : b.re * big - b.im * T_(t);
        im = real ? b.re * t : b.re * t + b.im * big;
        *y = im * parts::unit;
        *y_lo = N_(0);
    }
    if (real && t == N_(0) && (endless || v == T_(0)) && !zero) {
        im = turned(t, high_bits(b.re)); /* for an infinite exponent too */
    }
    if (im == N_(0)) {
        *y = *y_lo = im;
    }
    if (re != re || !(size_of(im) < N_(big))) {
        bool none_left = re == -big;
        power->re = none_left ? T_(0) : size_of(re) == big ? re : none;
        power->im = none_left ? T_(0) : im == N_(0) ? T_(im) : none;
        return true;
    }
    *x = zero || endless ? N_(re) : *x;
    return false;
}

// a^b for a whole b up to 8 in magnitude; or returns false.
template <typename T_> __device__ bool pow_real(complex<T_> a, T_ b, complex<T_> *power)
{
    if (!(size_of(b) <= T_(8) && b == T_((int)b))) {
        return false;
    }
    if (b == T_(0) || b == T_(1)) {
        power->re = b == T_(0) ? T_(1) : a.re;
        power->im = b == T_(0) ? T_(0) : a.im;
        return true;
    }
    return pow_whole(a, (int)b, power);
}

// a^b where b log a, which is x + i y, is not ordinary; l and t are the parts of log a.
template <typename T_, typename N_>
__device__ __noinline__ complex<T_> pow_far(complex<T_> a, complex<T_> b, N_ l, N_ t, N_ x, N_ x_lo,
                                            N_ y, N_ y_lo)
{
    typedef power_parts<T_> parts;
    complex<T_> power;
    if (is_special(a, b, t, &x, &y, &y_lo, &power)) {
        return power;
    }
    T_ e, s, c, tiny = T_(0), by = T_(1);
    int n, turns = 0, lift = 0;
    if (x >= parts::x) {
        from_axis(a, b, l, &y, &y_lo, &turns, &tiny, &by, &lift);
    }
    if (size_of(x) >= parts::most) {
        x = turned(N_(parts::most), high_bits(x));
        x_lo = 0;
    }
    if (size_of(y) >= parts::y) {
        y = turned_back(y, y_lo);
        y_lo = 0;
    }
    int k = (short)exp_parts(x, x_lo, y, y_lo, &e, &s, &c, &n); /* the first bits do not count */
    n += turns;
    c = scaled(e * c, k);
    bool few = tiny != T_(0);
    s = scaled(few ? tiny : e * s, few ? k + lift : k) * (few ? e * by : T_(1));
    power.re = turned(n & 1 ? s : c, (n + 1) << 30);
    power.im = turned(n & 1 ? c : s, n << 30);
    return power;
}

// Out of line: of complex64 this is 3 % faster on an H200, and compiles sooner.
template <typename T_> __device__ __noinline__ complex<T_> pow_of(complex<T_> a, complex<T_> b)
{
    typedef power_parts<T_> parts;
    constexpr int bit = sizeof(T_) == 4 ? 23 : 20;
    complex<T_> power;
    if (b.im == T_(0) && pow_real(a, b.re, &power)) {
        return power;
    }
    typename parts::type l, l_lo, t, t_lo, x, x_lo, y, y_lo;
    T_ e, s, c;
    int n;
    log_parts(a, &l, &l_lo, &t, &t_lo);
    x = add_products(b.re, l, l_lo, -b.im, t, t_lo, &x_lo);
    y = add_products(b.re, t, t_lo, b.im, l, l_lo, &y_lo);
    float i = size_of(rough(x)), j = size_of(rough(y));
    if (!(i < rough(parts::x) && j < rough(parts::y) && j > 0.0f)) {
        return pow_far(a, b, l, t, x, x_lo, y, y_lo);
    }
    int k = exp_parts(x, x_lo, y, y_lo, &e, &s, &c, &n);
    e = with_high_bits(high_bits(e) + (k << bit), e);
    power.re = e * turned(n & 1 ? s : c, (n + 1) << 30);
    power.im = e * turned(n & 1 ? c : s, n << 30);
    return power;
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
