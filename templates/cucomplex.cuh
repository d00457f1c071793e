// SPDX-License-Identifier: MIT
//
// cucomplex: the names of CUDA's cuComplex.h for Quern's complex numbers: what #include
// <cuComplex.h> gives where it is asked for (translate_cucomplex). So its types have operators, and
// each function is an ordinary expression.
#pragma once
#include <quern/complex_all.cuh>

typedef complex<float> cuFloatComplex, cuComplex;
typedef complex<double> cuDoubleComplex;

#define QUERN_CUCOMPLEX(REAL, SUFFIX, MAKE)                                                        \
    __device__ __forceinline__ complex<REAL> MAKE(REAL x, REAL y)                                  \
    {                                                                                              \
        return complex<REAL>(x, y);                                                                \
    }                                                                                              \
    __device__ __forceinline__ REAL cuCreal##SUFFIX(complex<REAL> z)                               \
    {                                                                                              \
        return z.re;                                                                               \
    }                                                                                              \
    __device__ __forceinline__ REAL cuCimag##SUFFIX(complex<REAL> z)                               \
    {                                                                                              \
        return z.im;                                                                               \
    }                                                                                              \
    __device__ __forceinline__ complex<REAL> cuConj##SUFFIX(complex<REAL> z)                       \
    {                                                                                              \
        return conj(z);                                                                            \
    }                                                                                              \
    __device__ __forceinline__ complex<REAL> cuCadd##SUFFIX(complex<REAL> x, complex<REAL> y)      \
    {                                                                                              \
        return x + y;                                                                              \
    }                                                                                              \
    __device__ __forceinline__ complex<REAL> cuCsub##SUFFIX(complex<REAL> x, complex<REAL> y)      \
    {                                                                                              \
        return x - y;                                                                              \
    }                                                                                              \
    __device__ __forceinline__ complex<REAL> cuCmul##SUFFIX(complex<REAL> x, complex<REAL> y)      \
    {                                                                                              \
        return x * y;                                                                              \
    }                                                                                              \
    __device__ __forceinline__ complex<REAL> cuCdiv##SUFFIX(complex<REAL> x, complex<REAL> y)      \
    {                                                                                              \
        return x / y;                                                                              \
    }                                                                                              \
    __device__ __forceinline__ REAL cuCabs##SUFFIX(complex<REAL> z)                                \
    {                                                                                              \
        return abs(z);                                                                             \
    }                                                                                              \
    __device__ __forceinline__ complex<REAL> cuCfma##SUFFIX(complex<REAL> x, complex<REAL> y,      \
                                                            complex<REAL> z)                       \
    {                                                                                              \
        return x * y + z;                                                                          \
    }
QUERN_CUCOMPLEX(float, f, make_cuFloatComplex)
QUERN_CUCOMPLEX(double, , make_cuDoubleComplex)
#undef QUERN_CUCOMPLEX

__device__ __forceinline__ complex<float> make_cuComplex(float x, float y)
{
    return complex<float>(x, y);
}
__device__ __forceinline__ complex<double> cuComplexFloatToDouble(complex<float> z)
{
    return complex<double>(z);
}
__device__ __forceinline__ complex<float> cuComplexDoubleToFloat(complex<double> z)
{
    return complex<float>(z);
}
