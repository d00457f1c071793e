// SPDX-License-Identifier: MIT
//
// complex_all: complex numbers with all their functions, also by Thrust's names, for the source of
// modules: what #include <cupy/complex.cuh> gives.
#pragma once

#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif

#include <quern/complex_exp.cuh>
#include <quern/complex_inverse.cuh>
#include <quern/complex_log.cuh>
#include <quern/complex_math.cuh>
#include <quern/complex_pow.cuh>
#include <quern/thrust.cuh>

QUERN_THRUST(abs)
QUERN_THRUST(acos)
QUERN_THRUST(acosh)
QUERN_THRUST(arg)
QUERN_THRUST(asin)
QUERN_THRUST(asinh)
QUERN_THRUST(atan)
QUERN_THRUST(atanh)
QUERN_THRUST(conj)
QUERN_THRUST(cos)
QUERN_THRUST(cosh)
QUERN_THRUST(exp)
QUERN_THRUST(imag)
QUERN_THRUST(log)
QUERN_THRUST(log10)
QUERN_THRUST(norm)
QUERN_THRUST(polar)
QUERN_THRUST(pow)
QUERN_THRUST(proj)
QUERN_THRUST(real)
QUERN_THRUST(sin)
QUERN_THRUST(sinh)
QUERN_THRUST(sqrt)
QUERN_THRUST(tan)
QUERN_THRUST(tanh)
