// SPDX-License-Identifier: MIT
//
// expression: operations of expressions in which NumPy does something else than C++: division of
// integers rounds down, and is 0 by 0; shifts have no limit; NaN is kept. In: numbers of one type, halves
// as float. Out: NumPy's answer, but that nothing is warned of.
#pragma once

namespace quern
{
namespace expression
{

template <typename T_> __device__ __forceinline__ constexpr bool has_sign(T_ *)
{
    return T_(-1) < T_(0);
}

template <typename T_> __device__ T_ quotient_of_ints(T_ x, T_ y)
{
    if (y == 0) {
        return 0;
    }
    if (has_sign(&y) && y == T_(-1)) {
        return T_(0ull - (unsigned long long)x);
    }
    return T_(x / y - ((x % y != 0) && ((x < 0) != (y < 0))));
}

template <typename T_> __device__ T_ fmod_of_ints(T_ x, T_ y)
{
    return y == 0 || (has_sign(&y) && y == T_(-1)) ? T_(0) : T_(x % y);
}

template <typename T_> __device__ T_ rest_of_ints(T_ x, T_ y)
{
    const T_ r = fmod_of_ints(x, y);
    return r != 0 && ((r < 0) != (y < 0)) ? T_(r + y) : r;
}

template <typename T_> __device__ T_ rest_of(T_ x, T_ y)
{
    const T_ r = fmod(x, y);
    return r == 0 ? copysign(T_(0), y) : (r < 0) != (y < 0) ? r + y : r;
}

template <typename T_> __device__ T_ quotient_of(T_ x, T_ y)
{
    if (y == 0) {
        return x / y;
    }
    const T_ r = fmod(x, y);
    T_ q = (x - r) / y;
    if (r != 0 && (r < 0) != (y < 0)) {
        q -= 1;
    }
    return q == 0 ? copysign(T_(0), x / y) : floor(q) + (q - floor(q) > T_(0.5) ? 1 : 0);
}

template <typename T_> __device__ T_ power_of_ints(T_ x, T_ y)
{
    if (y < 0) {
        return x == 1 || (x == T_(-1) && y % 2 == 0) ? 1 : x == T_(-1) ? x : T_(0);
    }
    unsigned long long a = x, p = 1;
    for (unsigned long long n = y; n; n >>= 1, a *= a) {
        p *= n & 1 ? a : 1;
    }
    return T_(p);
}

template <typename T_> __device__ T_ square_of(T_ x)
{
    return T_(x * x);
}

template <typename T_> __device__ T_ shift_left(T_ x, T_ n)
{
    return n >= 0 && n < T_(8 * sizeof(T_)) ? T_((unsigned long long)x << n) : T_(0);
}

template <typename T_> __device__ T_ shift_right(T_ x, T_ n)
{
    return n >= 0 && n < T_(8 * sizeof(T_)) ? T_(x >> n) : x < 0 ? T_(-1) : T_(0);
}

template <typename T_> __device__ T_ least_of(T_ x, T_ y)
{
    return x != x || x <= y ? x : y;
}

template <typename T_> __device__ T_ most_of(T_ x, T_ y)
{
    return x != x || x >= y ? x : y;
}

template <typename T_> __device__ T_ sign_of(T_ x)
{
    return x != x ? x : T_((x > 0) - (x < 0));
}

// The sign of a complex number: the number of size 1 in its direction.
template <typename T_> __device__ T_ direction_of(T_ x)
{
    return x == T_(0) ? x : x / hypot(x.real(), x.imag());
}

// The power of e that is the x-th of 2, for a complex x.
template <typename T_> __device__ T_ power_of_e(T_ x)
{
    const decltype(x.real()) log_of_2 = 0.69314718055994530942;
    return T_(x.real() * log_of_2, x.imag() * log_of_2);
}

// Whether an integer is less than another (-1), equal (0) or greater (1), whatever their signs are.
template <typename T_, typename U_> __device__ int order_of(T_ x, U_ y)
{
    if (has_sign(&x) && x < 0) {
        return has_sign(&y) && y < 0 ? ((long long)x > (long long)y) - ((long long)x < (long long)y) : -1;
    }
    if (has_sign(&y) && y < 0) {
        return 1;
    }
    const unsigned long long a = x, b = y;
    return (a > b) - (a < b);
}

} // namespace expression
} // namespace quern
