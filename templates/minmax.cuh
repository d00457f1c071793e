// SPDX-License-Identifier: MIT
//
// minmax: min and max of two different types, which NVRTC's own overloads leave ambiguous. The common
// type is that of a sum, so that min(float, int) is a float.
#pragma once

template <typename A, typename B> __device__ auto min(A a, B b) -> decltype(a + b)
{
    typedef decltype(a + b) C;
    return min((C)a, (C)b);
}

template <typename A, typename B> __device__ auto max(A a, B b) -> decltype(a + b)
{
    typedef decltype(a + b) C;
    return max((C)a, (C)b);
}
