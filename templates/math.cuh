// SPDX-License-Identifier: MIT
//
// math: the functions of CUDA's mathematics for arguments of any numbers, as <cmath> overloads them:
// integers and bools count as double, and where float (or a half) meets double the call is in double. In:
// the names of the functions, which the generated source gives to the macros below, so that a kernel
// pays for those that it calls. What CUDA resolves without help stays with CUDA.
//
// All have a pack of further arguments behind those they look at: it is what makes them the worse
// match beside any function of the same name in a preamble.
#pragma once

namespace quern
{

template <bool, typename R_> struct math_if {
};
template <typename R_> struct math_if<true, R_> {
    typedef R_ type;
};

} // namespace quern

// One integer in front, as in sqrt(i) and ldexp(i, 2).
#define QUERN_MATH_1(NAME)                                                                         \
    template <typename A_, typename... Q_>                                                         \
    __device__ __forceinline__ auto NAME(A_ a, Q_... rest) ->                                      \
        typename quern::math_if<A_(1) / 2 == 0, decltype(NAME(double(a), rest...))>::type          \
    {                                                                                              \
        return NAME((double)a, rest...);                                                           \
    }

// Two numbers of which the sum is an integer or a double.
#define QUERN_MATH_2(NAME)                                                                         \
    template <typename A_, typename B_, typename... Q_>                                            \
    __device__ __forceinline__ auto NAME(A_ a, B_ b, Q_... rest) ->                                \
        typename quern::math_if<decltype(a + b)(1) / 2 == 0 || sizeof(a + b) == 8,                 \
                                decltype(NAME(double(a), double(b), rest...))>::type               \
    {                                                                                              \
        return NAME((double)a, (double)b, rest...);                                                \
    }

#define QUERN_MATH_3(NAME)                                                                         \
    template <typename A_, typename B_, typename C_, typename... Q_>                               \
    __device__ __forceinline__ auto NAME(A_ a, B_ b, C_ c, Q_...) ->                               \
        typename quern::math_if<(decltype(a + b + c)(1) / 2 == 0 || sizeof(a + b + c) == 8) &&     \
                                    sizeof...(Q_) == 0,                                            \
                                double>::type                                                      \
    {                                                                                              \
        return NAME((double)a, (double)b, (double)c);                                              \
    }

// An order, then an integer: jn, yn.
#define QUERN_MATH_ORDER(NAME)                                                                     \
    template <typename A_, typename... Q_>                                                         \
    __device__ __forceinline__ auto NAME(int n, A_ a, Q_...) ->                                    \
        typename quern::math_if<A_(1) / 2 == 0 && sizeof...(Q_) == 0, double>::type                \
    {                                                                                              \
        return NAME(n, (double)a);                                                                 \
    }

// copysign, which CUDA does not resolve where a float meets an integer.
#define QUERN_MATH_SIGN(NAME)                                                                      \
    QUERN_MATH_2(NAME)                                                                             \
    template <typename A_, typename B_, typename... Q_>                                            \
    __device__ __forceinline__ auto NAME(A_ a, B_ b, Q_...) ->                                     \
        typename quern::math_if<decltype(a + b)(1) / 2 != 0 && sizeof(a + b) == 4 &&               \
                                    sizeof...(Q_) == 0,                                            \
                                float>::type                                                       \
    {                                                                                              \
        return NAME((float)a, (float)b);                                                           \
    }

// pow, whose float CUDA knows beside an int alone: the others are a float to it.
#define QUERN_MATH_POW(NAME)                                                                       \
    QUERN_MATH_2(NAME)                                                                             \
    template <typename A_, typename B_, typename... Q_>                                            \
    __device__ __forceinline__ auto NAME(A_ a, B_ b, Q_...) ->                                     \
        typename quern::math_if<decltype(a + b)(1) / 2 != 0 && sizeof(a + b) == 4 &&               \
                                    B_(1) / 2 == 0 &&                                              \
                                    (sizeof(b) == 8 || decltype(b + 0)(-1) / 2 != 0) &&            \
                                    sizeof...(Q_) == 0,                                            \
                                float>::type                                                       \
    {                                                                                              \
        return NAME((float)a, (float)b);                                                           \
    }

// abs of an unsigned number, which CUDA has for no type.
#define QUERN_MATH_ABS(NAME)                                                                       \
    template <typename A_, typename... Q_>                                                         \
    __device__ __forceinline__ auto NAME(A_ a, Q_...) ->                                           \
        typename quern::math_if<A_(1) / 2 == 0 && decltype(a + 0)(-1) / 2 != 0 &&                  \
                                    sizeof...(Q_) == 0,                                            \
                                A_>::type                                                          \
    {                                                                                              \
        return a;                                                                                  \
    }
