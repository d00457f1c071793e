/* SPDX-License-Identifier: MIT
 *
 * arguments: random numbers of ordinary size, of any size, near 1, i and the unit circle, near
 * branch cuts, near zeros and poles, and near overflow and underflow; and all combinations of nasty
 * parts. They are the same each time.
 */
#include "complex_test.h"
#include <math.h>
#include <stdlib.h>

static uint64_t seed = 1;

static uint64_t next_bits(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed * 0x2545f4914f6cdd1dull;
}

static double uniform(double from, double to)
{
    return from + (to - from) * (double)(next_bits() >> 11) * 0x1p-53;
}

/* Of either sign, and of a size between two powers of 2. */
static double spread(double least, double most)
{
    double size = exp2(fmod(uniform(least, most), 4096));
    return next_bits() & 1 ? size : -size;
}

static double around(double center, const format *t)
{
    return center + (next_bits() % 4 == 0 ? 0 : spread(-2 * t->bits, -1));
}

/* Sizes at which something happens in some function. */
static double nasty(const format *t)
{
    static const double ordinary[] = {0,   0.5,   1,          2,  0.70710678118654752, M_PI, M_PI_2,
                                      -20, 16384, 1073741824, 10, 3 * M_PI_2};
    double edge = t->most * M_LN2, tiny = ldexp(1, t->least), most = ldexp(1, t->most - 1);
    double own[] = {edge,        edge - 1, edge + 30, -edge,      tiny,       4 * tiny,
                    tiny * 0.37, most,     most / 3,  sqrt(most), sqrt(tiny), ldexp(1, -t->bits)};
    uint64_t n = next_bits() % 24;
    double v = n < 12 ? ordinary[n] : own[n - 12];
    v *= next_bits() & 1 ? 1 : 1 + (double)(int)(next_bits() % 9 - 4) * ldexp(1, -t->bits + 1);
    return next_bits() & 1 ? v : -v;
}

static void argument(const format *t, unsigned kind, double *a)
{
    double angle, least = t->least - t->bits;
    switch (kind % 12) {
    case 0:
    case 1:
        a[0] = uniform(-4, 4), a[1] = uniform(-4, 4);
        break;
    case 2:
        a[0] = spread(-20, 20), a[1] = spread(-20, 20);
        break;
    case 3:
        a[0] = spread(least, t->most), a[1] = spread(least, t->most);
        break;
    case 4:
        a[0] = around(next_bits() & 1 ? 1 : -1, t), a[1] = around(0, t);
        break;
    case 5:
        a[0] = around(0, t), a[1] = around(next_bits() & 1 ? 1 : -1, t);
        break;
    case 6:
        angle = uniform(-M_PI, M_PI);
        a[0] = cos(angle) * around(1, t), a[1] = sin(angle);
        break;
    case 7:
        a[0] = uniform(-3, 3), a[1] = spread(least, 0);
        break;
    case 8:
        a[0] = spread(least, 0), a[1] = uniform(-3, 3);
        break;
    case 9: /* e^x near overflow or underflow, beside any angle */
        a[0] = uniform(0.9, 2) * t->most * M_LN2 * (next_bits() & 1 ? 1 : -1);
        a[1] = next_bits() & 1 ? uniform(-4, 4) : spread(least, 10);
        break;
    case 10: /* multiples of pi/2, and what turns them by 90 degrees */
        a[0] = around(0, t), a[1] = around((double)(int)(next_bits() % 9 - 4) * M_PI_2, t);
        break;
    default:
        a[0] = nasty(t), a[1] = nasty(t);
    }
    if (next_bits() & 1 && (kind % 12 == 9 || kind % 12 == 10)) {
        double swap = a[0];
        a[0] = a[1], a[1] = swap;
    }
}

/* An exponent, mostly such that the power is neither huge nor tiny. */
static void exponent(const format *t, const double *base, unsigned kind, double *b)
{
    double log_size = hypot(log(hypot(base[0], base[1])), atan2(base[1], base[0]));
    double most = t->most * M_LN2 * 1.02 / (log_size > 1e-300 ? log_size : 1);
    switch (kind / 12 % 4) {
    case 0:
        b[0] = (double)(int)(next_bits() % 21 - 10), b[1] = 0;
        break;
    case 1:
        b[0] = uniform(-4, 4), b[1] = uniform(-4, 4);
        break;
    case 2:
        b[0] = uniform(-most, most), b[1] = 0;
        break;
    default:
        b[0] = uniform(-most, most) * 0.7, b[1] = uniform(-most, most) * 0.7;
    }
}

/* For powers: a base next to overflow or underflow, or on or beside an axis, and an exponent that
 * is whole, half of a whole number, or whole beside a large imaginary part, so that the larger part
 * of the power overflows and the smaller one may be anything. */
static void extremes(const format *t, double *a, double *b)
{
    double most = ldexp(1, t->most - 1), tiny = ldexp(1, t->least);
    double least = ldexp(1, t->least - t->bits + 1);
    const double sizes[] = {most * 1.9, most / 3, sqrt(most), 330000, 1,  1,
                            sqrt(tiny), tiny,     tiny / 5,   least,  0., 3 * least};
    for (int part = 0; part < 2; part++) {
        double v = sizes[next_bits() % 12];
        a[part] = v == 0 || next_bits() & 1 ? v : -v; /* MPC takes -0 for 0 there */
    }
    b[0] = (double)(int)(next_bits() % 33 - 16) * (next_bits() % 4 ? 1 : 0.5);
    b[1] = next_bits() % 3 || fabs(a[0]) + fabs(a[1]) != 1 ? 0 : spread(5, 11);
}

void make_arguments(precision p, const function *f, size_t count, double *x, double *z)
{
    const format *t = &formats[p];
    seed = 0x9e3779b97f4a7c15ull + (uint64_t)p;
    for (size_t k = 0; k < count; k++) {
        argument(t, (unsigned)k, &x[2 * k]);
        x[2 * k] = rounded(p, x[2 * k]), x[2 * k + 1] = rounded(p, x[2 * k + 1]);
        if (f->arity == 2 && !f->libm && k % 8 == 7) {
            extremes(t, &x[2 * k], &z[2 * k]);
            x[2 * k] = rounded(p, x[2 * k]), x[2 * k + 1] = rounded(p, x[2 * k + 1]);
        } else if (f->arity == 2 && !f->libm) {
            exponent(t, &x[2 * k], (unsigned)k, &z[2 * k]);
        } else {
            argument(t, (unsigned)(k + k / 12), &z[2 * k]);
        }
        z[2 * k] = rounded(p, z[2 * k]), z[2 * k + 1] = rounded(p, z[2 * k + 1]);
    }
}
