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

// ---- tables and series ----------------------------------------------------------------------

// -log(1 + i/32) / 2 for i < 32, and arctan(i/16) for i <= 16.
template <typename T_, int = 0> struct power_tables; // so that only what is used is emitted
template <int K_> struct power_tables<float, K_> {
    // clang-format off
    static constexpr pair<float> logs[] = {
        {0, 0}, {-0.015380859f, -4.9699584e-06f}, {-0.030319214f, 6.902959e-06f},
        {-0.044799805f, -6.274657e-06f}, {-0.058898926f, 7.407953e-06f},
        {-0.07258606f, -4.945352e-06f}, {-0.08592224f, -2.8872524e-06f},
        {-0.09890747f, -5.400962e-06f}, {-0.111572266f, 4.899679e-07f},
        {-0.123916626f, -1.4559757e-06f}, {-0.13597107f, 4.211594e-06f},
        {-0.1477356f, 3.4892562e-06f}, {-0.15922546f, -1.4016921e-06f},
        {-0.17045593f, -7.360868e-06f}, {-0.18145752f, 4.7726866e-06f},
        {-0.1921997f, -6.142424e-06f}, {-0.20272827f, -4.2825697e-06f},
        {-0.21304321f, 1.0152352e-06f}, {-0.22314453f, 9.799358e-07f},
        {-0.23304749f, 2.6203893e-06f}, {-0.24275208f, -1.8326955e-06f},
        {-0.25227356f, -4.445806e-06f}, {-0.2616272f, 3.12538335e-06f},
        {-0.27079773f, -9.1172418e-07f}, {-0.27980042f, -7.4789286e-06f},
        {-0.2886505f, -7.1698221e-06f}, {-0.29734802f, -5.5314124e-06f},
        {-0.3059082f, 7.432572e-06f}, {-0.31430054f, -3.7926018e-06f},
        {-0.3225708f, 1.82009446e-06f}, {-0.33070374f, 4.494229e-06f},
        {-0.33869934f, -7.097559e-08f}};
    static constexpr pair<float> arcs[] = {
        {0, 0}, {0.062418938f, -1.2768715e-07f}, {0.124355316f, -3.2161535e-07f},
        {0.18534756f, 3.9292782e-07f}, {0.2449789f, -2.4159726e-07f},
        {0.30288506f, -1.8716702e-07f}, {0.35877037f, 2.9978717e-07f},
        {0.41241074f, -2.944866e-07f}, {0.46364784f, -2.3340642e-07f}, {0.5123892f, 2.772663e-07f},
        {0.5585995f, -1.5670234e-07f}, {0.6022873f, 5.3654495e-08f}, {0.6435013f, -1.72945e-07f},
        {0.6823168f, -2.2521558e-07f}, {0.7188301f, -1.0902095e-07f}, {0.75315094f, 3.4102079e-07f},
        {0.7853985f, -3.1987892e-07f}};
    // clang-format on
};
template <int K_> struct power_tables<double, K_> {
    // clang-format off
    static constexpr pair<double> logs[] = {
        {0, 0}, {-0.015385829333354195, -2.2649071288954644e-14},
        {-0.030312310908129803, -8.761873452593351e-14},
        {-0.044806079344880345, 3.6778851097175143e-14},
        {-0.058891517828215, 2.3273648737992224e-14}, {-0.07259100492228754, 3.859000668414049e-14},
        {-0.08592512846325917, -7.044063968555568e-14},
        {-0.09891287166487928, -8.066411333620412e-14},
        {-0.11157177565701204, -9.283785479898005e-14},
        {-0.12391808195229714, 6.514898586654332e-15},
        {-0.13596685774177786, -4.3021533864043664e-14},
        {-0.1477321064469379, 1.996708192193922e-14}, {-0.15922686555927612, 8.812715656086331e-15},
        {-0.17046329348522704, -6.956420606098783e-14},
        {-0.18145274684479773, 1.1350329487303428e-13},
        {-0.1922058494551493, -1.6728551347720412e-14},
        {-0.20273255405413693, 5.47354356830332e-14},
        {-0.21304219765534071, -1.0931671646607955e-13},
        {-0.22314355131425145, 4.169796584527195e-14},
        {-0.23304486496226673, -3.288329884290031e-14},
        {-0.2427539078908012, -4.9202326391163135e-14},
        {-0.2522780053761835, -1.4142899304533947e-14},
        {-0.2616240718823519, 7.800908442102543e-14},
        {-0.27079864121628816, -8.402513914289372e-14},
        {-0.2798078939676998, -1.1559746919002689e-14},
        {-0.2886576825173961, -1.570520400252248e-14},
        {-0.29735355387333584, -1.0553994578921149e-14},
        {-0.3059007705530803, 8.384053723892369e-14},
        {-0.31430432971114897, -3.8102419115946855e-14},
        {-0.3225689806868104, 1.8040656802112787e-14},
        {-0.33069924112260196, -8.054287876966229e-14},
        {-0.3386994117959148, 1.1713901818989535e-14}};
    static constexpr pair<double> arcs[] = {
        {0, 0}, {0.0624188099959575, -1.5420474151678852e-16},
        {0.12435499454676169, -2.5292550468311415e-16}, {0.1853479499956947, 5.969184350010091e-17},
        {0.24497866312686423, -7.256797122815228e-17},
        {0.30288486837497164, -2.330554328280327e-16}, {0.3587706702705722, 3.088733564861919e-17},
        {0.4124104415973875, -1.8240997597148038e-16},
        {0.46364760900080615, -3.281237377829614e-17},
        {0.5123894603107377, -2.5462781472855804e-17}, {0.558599315343562, 4.38633579301471e-16},
        {0.6022873461349638, 3.6257121475983097e-16}, {0.6435011087932843, 1.2685708751395994e-16},
        {0.6823165548747481, 6.943223671560008e-18}, {0.7188299996216241, 4.2261082140560565e-16},
        {0.7531512809621947, -3.57323842046729e-16}, {0.7853981633974483, 3.061616997868383e-17}};
    // clang-format on
};

// (log(1 + 2g) / 2 - g + g^2) / g^3 for |g| <= 2^-7
__device__ inline float log_series(float g)
{
    return fused(fused(fused(-5.33431f, g, 3.2004187f), g, -2.0f), g, 1.3333334f);
}
__device__ inline double log_series(double g)
{
    double p = fused(fused(fused(-51.220855712890625, g, 28.454391479492188), g, -16.0), g,
                     9.142856817552575);
    p = fused(fused(fused(p, g, -5.33333333329445), g, 3.2000000000029782), g, -2.000000000000001);
    return fused(p, g, 1.3333333333333333);
}
// (arctan(s) / s - 1) / s^2 of q = s^2, s <= 1/32
__device__ inline float arc_series(float q)
{
    return fused(0.19986002f, q, -0.33333333f);
}
__device__ inline double arc_series(double q)
{
    double p =
        fused(fused(fused(-0.0907207727432251, q, 0.11111092567443848), q, -0.14285714276540307), q,
              0.19999999999997842);
    return fused(p, q, -0.3333333333333333);
}
// e^r for |r| <= ln(2) / 2
__device__ inline float exp_series(float r)
{
    float p = fused(fused(fused(0.001392618359f, r, 0.008363179053f), r, 0.04166655462f), r,
                    0.1666657699f);
    return fused(fused(fused(p, r, 0.5f), r, 1.0f), r, 1.0f);
}
__device__ inline double exp_series(double r)
{
    double p = fused(
        fused(fused(2.5100476364059432e-08, r, 2.7613918973656837e-07), r, 2.755727109615691e-06),
        r, 2.480153428992829e-05);
    p = fused(fused(fused(p, r, 0.00019841269856783202), r, 0.0013888888908835028), r,
              0.008333333333334149);
    p = fused(fused(fused(p, r, 0.041666666666642656), r, 0.1666666666666666), r, 0.5);
    return fused(fused(p, r, 1.0), r, 1.0);
}
// (sin r) / r and cos r of q = r^2, |r| <= pi/4
__device__ inline float sine_series(float q)
{
    return fused(fused(fused(-0.0001958784052f, q, 0.008332748038f), q, -0.1666666466f), q, 1.0f);
}
__device__ inline double sine_series(double q)
{
    double p = fused(
        fused(fused(1.5918100171319338e-10, q, -2.5051113389588754e-08), q, 2.7557315877857667e-06),
        q, -0.00019841269835895798);
    return fused(fused(fused(p, q, 0.008333333333329886), q, -0.16666666666666663), q, 1.0);
}
__device__ inline float cosine_series(float q)
{
    float p = fused(fused(fused(2.454789162e-5f, q, -0.00138883028f), q, 0.04166666466f), q, -0.5f);
    return fused(p, q, 1.0f);
}
__device__ inline double cosine_series(double q)
{
    double p = fused(
        fused(fused(-1.1382617071120649e-11, q, 2.087613637513641e-09), q, -2.7557317151250574e-07),
        q, 2.480158729827618e-05);
    p = fused(fused(fused(p, q, -0.0013888888888886662), q, 0.041666666666666664), q, -0.5);
    return fused(p, q, 1.0);
}

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

// Where e^x overflows, the part of the power that is small beside the other one may
// be large, and its angle counts, however small it is. So the angle of a is taken from the nearest
// axis. If a turn by b takes that axis to another one, *turns are the quarters to this, and what
// remains is *y; of a real b also, in radians, *tiny times *by 2^*lift: their product may
// underflow.
template <typename T_, typename N_>
__device__ void from_axis(complex<T_> a, complex<T_> b, N_ l, N_ *y, N_ *y_lo, int *turns, T_ *tiny,
                          T_ *by, int *lift)
{
    constexpr int bit = sizeof(T_) == 4 ? 23 : 20, one = sizeof(T_) == 4 ? 127 : 1023;
    constexpr T_ small = T_(sizeof(T_) == 4 ? 0x1p-13 : 0x1p-27);
    constexpr T_ most = T_(sizeof(T_) == 4 ? 0x1p127 : 0x1p1023);
    bool steep = is_above(size_of(a.im), size_of(a.re));
    T_ p = steep ? -a.re : a.im, q = steep ? a.im : a.re, size = size_of(q);
    int k = steep ? 1 : high_bits(a.re) < 0 ? 2 : 0;
    T_ scale = inverse_power(size < most ? size : most);
    T_ inverse = inverse_of((size < most ? q : turned(most, high_bits(q))) * scale) * b.re;
    T_ turn = b.re * T_(high_bits(a.im) < 0 ? -k : k) * T_(0.25), slope = p * scale;
    turn = (turn - nearest(turn)) * T_(4);
    N_ v = N_(slope * inverse) * power_parts<T_>::unit + b.im * l;
    if (T_((int)turn) == turn && size_of(slope) < small && size_of(v) < N_(0.5)) {
        *tiny = b.im == T_(0) && size_of(v) < N_(small) ? p : T_(0);
        *by = inverse * T_(4);
        *lift = (high_bits(scale) >> bit) - one - 2;
        *turns = (int)turn;
        *y = v;
        *y_lo = v * N_(0); /* a zero has its sign in both parts */
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
    T_ e, s, c, tiny = T_(0), by = T_(1);
    int n, turns = 0, lift = 0;
    log_parts(a, &l, &l_lo, &t, &t_lo);
    x = add_products(b.re, l, l_lo, -b.im, t, t_lo, &x_lo);
    y = add_products(b.re, t, t_lo, b.im, l, l_lo, &y_lo);
    float i = size_of(rough(x)), j = size_of(rough(y));
    bool far = !(i < rough(parts::x) && j < rough(parts::y) && j > 0.0f);
    if (far) {
        if (is_special(a, b, t, &x, &y, &y_lo, &power)) {
            return power;
        }
        if (x >= parts::x) {
            from_axis(a, b, l, &y, &y_lo, &turns, &tiny, &by, &lift);
        }
        if (size_of(x) >= parts::most) {
            x = turned(typename parts::type(parts::most), high_bits(x));
            x_lo = 0;
        }
        if (size_of(y) >= parts::y) {
            y = turned_back(y, y_lo);
            y_lo = 0;
        }
    }
    int k = exp_parts(x, x_lo, y, y_lo, &e, &s, &c, &n);
    n += turns;
    if (far) {
        k = (short)k; /* of which the first bits do not count */
        c = scaled(e * c, k);
        s = tiny != T_(0) ? scaled(tiny, k + lift) * (e * by) : scaled(e * s, k);
        e = T_(1);
    } else {
        e = with_high_bits(high_bits(e) + (k << bit), e);
    }
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
