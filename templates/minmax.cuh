// SPDX-License-Identifier: MIT
//
// minmax: min and max of two different types, which NVRTC's own overloads leave ambiguous. The
// common type is that of a sum, so that min(float, int) is a float.
#pragma once

template <typename A_, typename B_> __device__ auto min(A_ a, B_ b) -> decltype(a + b)
{
    typedef decltype(a + b) C_;
    return min((C_)a, (C_)b);
}

template <typename A_, typename B_> __device__ auto max(A_ a, B_ b) -> decltype(a + b)
{
    typedef decltype(a + b) C_;
    return max((C_)a, (C_)b);
}
