// SPDX-License-Identifier: MIT
//
// complex_pow_wide: what complex_pow.cuh computes of floats in pairs, as doubles, for GPUs that are
// fast at these. In: complex numbers of float. Out: log a with 2^-34 of error, and the exponential
// of b log a. Both are in units of ln 2: logarithms have the base 2, so that exponents are whole
// numbers as they are, and angles are divided by ln 2.
//
// The constants that need more than 21 bits lie in constant memory, which takes one instruction; in
// the code they would take two. The last terms of a polynomial have no more bits, so that they fit
// their instruction. Polynomials are the best of their degree, fitted from the last term to the
// first.
#pragma once
#include <quern/complex_log.cuh>

namespace quern
{

template <typename T_>
__constant__ T_ wide_constants[] = {
    /* artanh(s) / s for s^2 <= 0.0295, and arctan(s) / s for s^2 <= 0.172: the first terms */
    1.4426950408957775, 0.4808983365884203, 1.4426950408590449, -0.48089832968385415,
    0.28853736943253017, -0.2060406785197231,
    /* pi / 4; 2 / pi and -pi / 2 */
    1.1330900354567985, 0.4412712003053032, -2.266180070913597};

// a / b, with 2^-37 of error.
__device__ inline double rough_quotient(double a, double b)
{
    double r = rough_inverse(b);
    return a * fused(r, fused(-b, r, 1.0), r);
}

// log2|m + i n|
__device__ inline double wide_log(double m, double n)
{
    const double *c = wide_constants<double>;
    double mm = m * m, w = fused(n, n, mm);
    int exponent = (high_bits(w) - 0x3fe6a09e) & 0xfff00000; /* times 2^20, of w sqrt(2) */
    double half = with_high_bits(0x3ff00000 - exponent, 0.0);
    double f = fused(n * half, n, fused(mm, half, -1.0)), s = rough_quotient(f, 2.0 + f), q = s * s;
    double p = fused(q, fused(q, 0.1703641414642334, 0.20583641529083252), 0.2885417938232422);
    /* the upper word of a number from 2^19 to 2^20 counts halves */
    double k = with_high_bits((exponent >> 20) + 0x41280000, 0.0) - 786432.0;
    return fused(s, fused(q, fused(q, p, c[1]), c[0]), k);
}

// The angle of x + i y: that of the diagonal `near` it, or else of the axis, and what remains. n /
// m is the tangent from the axis, with the sign of what it adds to the angle.
__device__ inline double wide_angle(float n, double m, bool near, bool steep, float x, float y)
{
    const double *c = wide_constants<double>;
    bool left = high_bits(x) < 0;
    int by = near ? (high_bits(n) & 0x80000000) | 0x3ff00000 : 0;
    int k = left ? 0x40100000 : 0; /* the upper words of 4, 2, 3 and 1 */
    k = steep ? 0x40000000 : k;
    k = near ? left ? 0x40080000 : 0x3ff00000 : k;
    double slope = with_high_bits(by, 0.0), l = n;
    double s = rough_quotient(fused(-slope, m, l), fused(slope, l, m)), q = s * s;
    double p = fused(q, fused(q, 0.06801313161849976, -0.12204897403717041), 0.15929067134857178);
    p = fused(q, fused(q, fused(q, fused(q, p, c[5]), c[4]), c[3]), c[2]);
    return fused(s, p, turned(with_high_bits(k, 0.0), high_bits(y)) * c[6]);
}

// log a = l + i t. What the sums below lack is nothing in doubles.
__device__ inline void log_parts(complex<float> a, double *l, double *, double *t, double *)
{
    bool steep = size_of(a.im) > size_of(a.re);
    float m = steep ? a.im : a.re, n = turned(steep ? -a.re : a.im, high_bits(m)),
          size = size_of(m);
    *l = wide_log(size, n);
    *t = wide_angle(n, size, size_of(n) > 0.41421356f * size, steep, a.re, a.im);
}

// a p + b q
__device__ inline double add_products(float a, double p, double, float b, double q, double,
                                      double *)
{
    return fused((double)a, p, b * q);
}

// y less so many turns: within a turn or two.
__device__ inline double turned_back(double y, double)
{
    double c = 0.1103178000763258, p = product(y, c),
           lo = fused(y, c, -p) + y * -3.7308607694767066e-18;
    return (p - nearest(p) + (lo - nearest(lo))) * 9.064720283654388;
}

// e^(x + i y) = 2^k e (c + i s) i^n, x and y in that unit, of which k and n are whole numbers.
__device__ inline int exp_parts(double x, double, double y, double, float *e, float *s, float *c,
                                int *n)
{
    const double *d = wide_constants<double>;
    /* the lower word of a number from 2^20 to 2^21 is the fraction, the upper one counts ones */
    double sum = x + 1572864.0, turns = fused(y, d[7], 6755399441055744.0);
    int fraction = last_bits(sum);
    float r = (float)fraction * 2.3283064365386963e-10f;
    float p = fused(fused(0.0001532118622f, r, 0.001339016599f), r, 0.009618526325f);
    p = fused(fused(fused(p, r, 0.0555036217f), r, 0.2402264774f), r, 0.6931471825f);
    *e = fused(p, r, 1.0f);
    float v = (float)fused(turns - 6755399441055744.0, d[8], y), q = v * v;
    p = fused(fused(-1.500212875e-5f, q, 0.001333168242f), q, -0.05550406873f);
    p = fused(p, q, 5.76999905e-8f);
    *s = fused(v, 0.693147123f, v * p); /* two parts of ln 2, both positive */
    p = fused(fused(1.299274459e-6f, q, -0.0001540108206f), q, 0.009618118405f);
    *c = fused(fused(p, q, -0.2402265072f), q, 1.0f);
    *n = last_bits(turns);
    return high_bits(sum) + ((unsigned)fraction >> 31);
}

} // namespace quern
